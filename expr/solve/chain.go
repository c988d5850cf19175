package solve

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"
	"time"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// run is a stretch of the inner values of a chain on which the outer expression is monotone and never fails.
type run struct {
	stretch
	falls    bool
	from, to types.Value // the values at lo and hi
	// even: the values are texts as in Piece.Even; loose: neighbours may have equal values.
	even, loose bool
}

// stretch is the numbers of an axis from lo to hi.
type stretch struct{ lo, hi int64 }

// chain has the calls and casts that lead from an inner expression to an outer one: in f(g(x)), the inner expression is
// x, and the links are g and f. The inner values are on an axis. runs, mixed and rest are stretches of that axis.
type chain struct {
	axis
	links []link // from the inner expression outwards
	runs  []run
	mixed []unsorted
	rest  []stretch // stretches about which nothing is known
}

// unsorted is a stretch on which an expression rises and falls; its values are in values.
type unsorted struct {
	stretch
	values types.Set
	width  int // the number of bytes of each text in values; 0: unknown
}

// link is a call or cast of a chain. A link without e is the last one: it only restricts the values to those that can
// be stored.
type link struct {
	e      expr.Expr
	stored *Stored
	env    expr.Env
	args   []types.Value // the arguments of a call
	at     []int         // the indexes of the chain's value in args
}

func newLink(e expr.Expr) link {
	l := link{e: e}
	if c, ok := e.(*expr.Call); ok {
		l.args = make([]types.Value, len(c.Args))
		for i, x := range c.Args {
			if k, ok := x.(*expr.Const); ok {
				l.args[i] = k.Val
			} else {
				l.at = append(l.at, i)
			}
		}
	}
	return l
}

// apply evaluates l for the argument v; ok is false if the result is NULL or an error.
func (l *link) apply(v types.Value) (out types.Value, ok bool) {
	var err error
	switch e := l.e.(type) {
	case nil:
		return v, l.stored.Width == 0 || len(v.Text()) <= l.stored.Width
	case *expr.Cast:
		out, err = types.Cast(v, e.Typ, e.Zone)
	case *expr.Call:
		for _, i := range l.at {
			l.args[i] = v
		}
		if !e.Func.NullArgs && slices.ContainsFunc(l.args, types.Value.IsNull) {
			return out, false
		}
		out, err = e.Func.Eval(&l.env, l.args)
	}
	return out, err == nil && !out.IsNull()
}

// pieces returns the pieces of l for arguments in in.
func (l *link) pieces(in types.Interval) []expr.Piece {
	switch e := l.e.(type) {
	case nil:
		return []expr.Piece{{In: l.stored.In, Even: true, Strict: true}}
	case *expr.Cast:
		return CastPieces(e.X.Type(), e.Typ, in)
	case *expr.Call:
		return e.Func.Key.Pieces(e, in)
	}
	return nil
}

// noise returns the relative and the absolute error of l: by that much it may rise where it should fall, or fall where it
// should rise.
func (l *link) noise() (relative, absolute float64) {
	if c, ok := l.e.(*expr.Call); ok && c.Func.Key.Noise != nil {
		return c.Func.Key.Noise(c)
	}
	return 0, 0
}

func (l *link) noisy() bool {
	of, _ := l.noise()
	return of > 0
}

// piecewise returns the argument of a call or cast whose pieces may be known. The argument may occur twice, as in k * k.
func piecewise(e expr.Expr) (arg expr.Expr, ok bool) {
	switch e := e.(type) {
	case *expr.Cast: // for casts that depend on a time zone see inverse
		return e.X, e.X.Type() != types.Timestamp || e.Zone == time.UTC || keepsNumber(e)
	case *expr.Call:
		if e.Func.Key == nil || e.Func.Key.Pieces == nil || e.Func.NullArgs || e.Func.First {
			break
		}
		for i, x := range e.Args {
			_, isConst := x.(*expr.Const)
			switch {
			case isConst:
			case arg != nil && !expr.Same(arg, x), e.Func.Key.Arg != expr.AnyArg && e.Func.Key.Arg != i:
				return nil, false
			default:
				arg = x
			}
		}
		return arg, arg != nil
	}
	return nil, false
}

// reworded returns the equivalent expression that Algebra.As gives for e, or e itself.
func reworded(e expr.Expr) expr.Expr {
	if c, ok := e.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.As != nil {
		if as := c.Func.Key.As(c); as != nil {
			return as
		}
	}
	return e
}

// onAxis reports whether values of e's type can be numbered.
func onAxis(e expr.Expr) bool { _, ok := axisOf(e.Type()); return ok }

// newChain returns the chain from e down to the first inner expression for which stop returns true. The values of that
// expression must be on an axis.
func newChain(e expr.Expr, stop func(expr.Expr) bool) (c *chain, inner expr.Expr, ok bool) {
	c, inner = &chain{}, e
	for {
		inner = reworded(inner)
		arg, ok := piecewise(inner)
		if !ok {
			return nil, nil, false
		}
		c.links = append(c.links, newLink(inner))
		if n := len(c.links) - 1; n > 0 {
			if call, isCall := inner.(*expr.Call); c.links[n].noisy() || isCall && !call.Func.Strict {
				return nil, nil, false // the links above would have to consider its error and its NULLs
			}
		}
		if inner = arg; stop(inner) {
			c.axis, ok = axisOf(inner.Type())
			slices.Reverse(c.links)
			return c, inner, ok
		}
	}
}

// eval evaluates the first n links for the value with number x.
func (c *chain) eval(n int, x int64) (v types.Value, ok bool) {
	v, ok = c.value(x), true
	for i := range c.links[:n] {
		if v, ok = c.links[i].apply(v); !ok {
			return v, false
		}
	}
	return v, true
}

// preimage returns the inner values in within for which the chain's value is in out; exact reports that it is in out for
// all of them.
func (c *chain) preimage(out, within types.Set) (s types.Set, exact, ok bool) {
	const most = 20_000 // number of intervals to invert one by one
	if len(out) > most {
		return nil, false, false
	}
	const many = 64 // number of intervals to evaluate one by one
	if len(within) > many {
		within = types.SetOf(types.Interval{Lo: within[0].Lo, Hi: within[len(within)-1].Hi})
	}
	c.start(within)
	for n := range c.links {
		c.extend(n)
	}
	return c.solve(out, within)
}

// Inverse inverts an expression of one column as Preimage does, for all values of the column, but faster. It may be shared.
type Inverse struct{ chain chain }

// NewInverse returns the Inverse of e, an expression of column col; nil if it is unknown.
func NewInverse(e expr.Expr, col int) *Inverse {
	c, inner, ok := newChain(e, func(x expr.Expr) bool { _, is := x.(*expr.Column); return is })
	if !ok || slices.ContainsFunc(c.links, func(l link) bool {
		call, is := l.e.(*expr.Call)
		return is && call.Func.Key.Inverse != nil || l.noisy()
	}) {
		return nil
	}
	if of, is := inner.(*expr.Column); !is || of.Index != col || !c.through(types.All()) || len(c.runs) == 0 {
		return nil
	}
	return &Inverse{*c}
}

// Of returns the values of the column for which the expression is in out.
func (i *Inverse) Of(out types.Set) (types.Set, bool) {
	c := i.chain
	c.links, c.rest = slices.Clone(c.links), slices.Clip(c.rest)
	for n := range c.links {
		c.links[n].args = slices.Clone(c.links[n].args)
	}
	pre, _, ok := c.solve(out, types.All())
	return pre, ok
}

// solve does the work of preimage once the runs are made.
func (c *chain) solve(out, within types.Set) (s types.Set, exact, ok bool) {
	if len(c.runs) == 0 {
		return nil, false, false // nothing is known, or every evaluation fails: then evaluating the expression reports the error
	}
	found := make([]stretch, 0, len(out))
	top := &c.links[len(c.links)-1]
	if of, _ := top.noise(); of > 0.1 {
		return nil, false, false
	}
	for _, r := range c.runs {
		order := slices.All(out)
		if r.falls {
			order = slices.Backward(out)
		}
		for _, iv := range order {
			if top.noisy() {
				found = append(found, c.noisy(r, iv)...)
				continue
			}
			s, ok := c.where(len(c.links), r, iv)
			if !ok {
				continue
			}
			if found = append(found, s); s.hi == r.hi {
				break
			}
			r.lo = s.hi + 1 // the intervals are sorted
			r.from, _ = c.eval(len(c.links), r.lo)
		}
	}
	for _, m := range c.mixed {
		if !m.values.Intersect(out).IsEmpty() {
			c.rest = append(c.rest, m.stretch)
		}
	}
	exact = len(c.rest) == 0
	return c.set(append(found, c.rest...)).Intersect(within), exact, true
}

// start sets c.runs to the stretches of values of the innermost expression that lie in within, before any link is applied.
func (c *chain) start(within types.Set) {
	add := func(lo, hi int64) {
		if lo <= hi {
			c.runs = append(c.runs, run{stretch: stretch{lo, hi}, from: c.value(lo), to: c.value(hi)})
		}
	}
	for _, n := range c.apart {
		if within.Contains(c.value(n)) {
			add(n, n)
		}
	}
	for _, iv := range within {
		lo, hi := c.lo, c.hi
		if !iv.Lo.IsNull() {
			lo = max(lo, c.rank(iv.Lo))
		}
		if !iv.Hi.IsNull() {
			hi = min(hi, c.rank(iv.Hi))
		}
		add(lo, hi)
	}
}

// through makes the runs of the whole chain for inner values in in; ok is false if their ends are uncertain.
func (c *chain) through(in types.Set) (ok bool) {
	c.start(in)
	for n := range c.links {
		if c.links[n].noisy() {
			return false
		}
		c.extend(n)
	}
	return true
}

// toIntegers reports whether all links return numbers and the last one an integer. The result is then the same for 0
// and -0.
func (c *chain) toIntegers() bool {
	var last types.Type
	for i := range c.links {
		if e := c.links[i].e; e != nil {
			if last = e.Type(); !last.IsNumeric() {
				return false
			}
		}
	}
	return last.IsInteger()
}

// image returns the values of the chain for inner values in in.
func (c *chain) image(in types.Set) (types.Set, bool) {
	if len(c.apart) > 0 && !c.toIntegers() || !c.through(in) || len(c.rest) > 0 { // a set does not distinguish 0 and -0
		return nil, false
	}
	ivs := make([]types.Interval, 0, len(c.runs)+len(c.mixed))
	for _, r := range c.runs {
		iv := types.Interval{Lo: r.from, Hi: r.to}
		end, begin := r.hi == c.hi, r.lo == c.lo // at an end of the axis: no bound is needed
		if r.falls {
			iv.Lo, iv.Hi, begin, end = r.to, r.from, end, begin
		}
		if end && r.lo != r.hi {
			iv.Hi = types.Value{}
		}
		if begin && r.lo != r.hi && !notNegative(iv.Lo) { // keep the bound if it shows that values are not negative
			iv.Lo = types.Value{}
		}
		ivs = append(ivs, iv)
	}
	for _, m := range c.mixed {
		ivs = append(ivs, m.values...)
	}
	return types.SetOf(ivs...), true
}

// slope works like Monotone for the chain's value as a function of the inner value.
func (c *chain) slope() (dir int, strict bool) {
	if !c.through(types.All()) || len(c.rest) > 0 || len(c.mixed) > 0 || len(c.runs) == 0 {
		return 0, false
	}
	slices.SortFunc(c.runs, func(a, b run) int { return cmp.Compare(a.lo, b.lo) })
	strict = true
	turn := func(of int) bool {
		ok := of == 0 || dir == 0 || dir == of
		if of != 0 {
			dir = of
		}
		return ok
	}
	for i, r := range c.runs {
		d, err := types.Compare(r.to, r.from)
		if err != nil || !turn(d) {
			return 0, false
		}
		strict = strict && (!r.loose || r.lo == r.hi)
		if i > 0 {
			d, err = types.Compare(r.from, c.runs[i-1].to)
			if err != nil || !turn(d) {
				return 0, false
			}
			strict = strict && d != 0
		}
	}
	if dir == 0 {
		return 0, false
	}
	return dir, strict
}

// extend replaces the runs for links[:n] by the runs for links[:n+1].
func (c *chain) extend(n int) {
	l := &c.links[n]
	c.extendMixed(l)
	var next []run
	text := n > 0 && len(c.runs) > 0 && c.runs[0].from.Type() == types.String
	add := func(s stretch, of run, p expr.Piece) { // restrict s to where the link can be evaluated
		from, ok1 := c.eval(n+1, s.lo)
		to, ok2 := c.eval(n+1, s.hi)
		can := func(x int64) bool { _, ok := c.eval(n+1, x); return ok }
		full := s
		switch {
		case !ok1 && !ok2:
			return
		case !ok1:
			s.lo = first(s.lo, s.hi, can)
			from, _ = c.eval(n+1, s.lo)
		case !ok2:
			s.hi = last(s.lo, s.hi, can)
			to, _ = c.eval(n+1, s.hi)
		}
		if l.noisy() { // the end of the range where it can be evaluated is uncertain, too
			if s.lo > full.lo {
				c.rest = append(c.rest, stretch{max(full.lo, types.SubClamp(s.lo, c.blur(s.lo))), s.lo - 1})
			}
			if s.hi < full.hi {
				c.rest = append(c.rest, stretch{s.hi + 1, min(full.hi, types.AddClamp(s.hi, c.blur(s.hi)))})
			}
		}
		next = append(next, run{s, of.falls != p.Falls, from, to, p.Even && (of.even || !text), of.loose || !p.Strict})
	}
	for _, r := range c.runs {
		if r.lo == r.hi {
			add(r.stretch, run{even: true}, expr.Piece{Even: true, Strict: true})
			continue
		}
		in := types.Interval{Lo: r.from, Hi: r.to}
		if r.falls {
			in.Lo, in.Hi = r.to, r.from
		}
		var held []stretch
		for _, p := range l.pieces(in) {
			s, ok := c.where(n, r, p.In)
			uneven := p.IfEven && !r.even
			if !ok || uneven && p.Mixed == nil {
				continue
			}
			held = append(held, s)
			if p.Mixed == nil || p.IfEven && !uneven {
				add(s, r, p)
				continue
			}
			m := unsorted{s, types.SetOf(*p.Mixed), 0}
			if v, ok := c.eval(n+1, s.lo); p.Even && ok {
				m.width = len(v.Text())
			}
			c.mixed = append(c.mixed, m)
		}
		if l.e != nil { // other values cannot be stored, so no row has them
			c.rest = append(c.rest, stretch{r.lo, r.hi}.without(held)...)
		}
	}
	c.runs = next
}

// extendMixed applies link l to the stretches in c.mixed, on which the values rise and fall. It keeps a set that
// contains the results on each stretch; a stretch without such a set moves to c.rest.
func (c *chain) extendMixed(l *link) {
	var left []unsorted
	for _, m := range c.mixed {
		values, ok := l.over(m.values)
		switch {
		case !ok:
			c.rest = append(c.rest, m.stretch)
		case l.e != nil:
			left = append(left, unsorted{m.stretch, values, 0})
		case !values.IsEmpty() && (l.stored.Width == 0 || m.width <= l.stored.Width):
			left = append(left, unsorted{m.stretch, values, m.width})
		}
	}
	c.mixed = left
}

// over returns a set that contains the values of l for all arguments in in; ok is false if some of these values are
// unknown.
func (l *link) over(in types.Set) (out types.Set, ok bool) {
	if l.e == nil { // other values cannot be stored
		return in.Intersect(types.SetOf(l.stored.In)), true
	}
	arg, _ := piecewise(l.e)
	end := func(v types.Value) types.Value { // NULL where it fails: there is no bound
		if out, ok := l.apply(v); ok && !v.IsNull() {
			return out
		}
		return types.Value{}
	}
	var ivs, held []types.Interval
	for _, iv := range in {
		for _, p := range l.pieces(iv) {
			if p.IfEven && p.Mixed == nil {
				continue
			}
			for _, of := range types.SetOf(valuesOf(p, arg.Type())).Intersect(types.SetOf(iv)) {
				to := types.Interval{Lo: end(of.Lo), Hi: end(of.Hi)}
				switch {
				case p.Mixed != nil:
					to = *p.Mixed
				case p.Falls:
					to.Lo, to.Hi = to.Hi, to.Lo
				}
				held, ivs = append(held, of), append(ivs, to)
			}
		}
	}
	return types.SetOf(ivs...), !l.noisy() && in.SubsetOf(types.SetOf(held...))
}

// last returns the greatest number from lo to hi-1 for which ok is true. ok must be true for lo, and from some number on
// false.
func last(lo, hi int64, ok func(int64) bool) int64 {
	for uint64(hi)-uint64(lo) > 1 {
		if mid := lo + int64((uint64(hi)-uint64(lo))/2); ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// first returns the least number from lo+1 to hi for which ok is true. ok must be true for hi, and true for all greater
// numbers once it is true.
func first(lo, hi int64, ok func(int64) bool) int64 {
	return last(lo, hi, func(x int64) bool { return !ok(x) }) + 1
}

// where returns the stretch of r on which the first n links have values in iv.
func (c *chain) where(n int, r run, iv types.Interval) (stretch, bool) {
	at := func(v types.Value) int {
		if r.falls {
			return -iv.Side(v)
		}
		return iv.Side(v)
	}
	eval := func(x int64) int {
		v, _ := c.eval(n, x)
		return at(v)
	}
	lo, hi := r.lo, r.hi
	if x, step, ok := c.guess(n, r, iv); ok && eval(x) == 0 {
		if lo, hi = x, x; iv.IsPoint() && !r.loose {
			return stretch{lo, hi}, true
		}
		for ; lo > r.lo && eval(lo) == 0 || hi < r.hi && eval(hi) == 0; step = types.AddClamp(step, step) { // the ends are usually near the guess
			if lo, hi = types.SubClamp(x, step), types.AddClamp(x, step); step == math.MaxInt64 {
				lo, hi = r.lo, r.hi
				break
			}
		}
		if lo = max(lo, r.lo); eval(lo) < 0 {
			lo = first(lo, x, func(x int64) bool { return eval(x) >= 0 })
		}
		if hi = min(hi, r.hi); eval(hi) > 0 {
			hi = last(x, hi, func(x int64) bool { return eval(x) <= 0 })
		}
		return stretch{lo, hi}, true
	}
	from, to := at(r.from), at(r.to)
	if from > 0 || to < 0 {
		return stretch{}, false
	}
	for from < 0 && to > 0 { // until a value inside is found, or the two meet
		if uint64(hi)-uint64(lo) <= 1 {
			return stretch{}, false
		}
		mid := lo + int64((uint64(hi)-uint64(lo))/2)
		switch eval(mid) {
		case -1:
			lo = mid
		case 1:
			hi = mid
		default:
			lo = first(lo, mid, func(x int64) bool { return eval(x) >= 0 })
			return stretch{lo, last(mid, hi, func(x int64) bool { return eval(x) <= 0 })}, true
		}
	}
	if from < 0 {
		lo = first(lo, hi, func(x int64) bool { return eval(x) >= 0 })
	}
	if to > 0 {
		hi = last(lo, hi, func(x int64) bool { return eval(x) <= 0 })
	}
	return stretch{lo, hi}, true
}

// guess returns a number of r at which the first n links probably have a value in iv, and the expected distance to values
// in iv. For a text it uses the inverse cast. For a number it interpolates between the ends of r.
func (c *chain) guess(n int, r run, iv types.Interval) (x, step int64, ok bool) {
	v := iv.Lo
	if v.IsNull() {
		v = iv.Hi
	}
	if cast, isCast := c.links[0].e.(*expr.Cast); n == 1 && isCast && iv.IsPoint() && cast.Typ == types.String {
		v, err := types.Cast(v, cast.X.Type(), cast.Zone)
		if err != nil || v.IsNull() {
			return 0, 0, false
		}
		x = c.rank(v)
		return x, 1, x >= r.lo && x <= r.hi
	}
	of := func(v types.Value) bool {
		return v.Type().IsInteger() || v.Type().IsTimestamp() || v.Type() == types.Date
	}
	if len(c.apart) > 0 || v.IsNull() || !of(v) || !of(r.from) || !of(r.to) {
		return 0, 0, false
	}
	wide, high, at := uint64(r.hi)-uint64(r.lo), apartBy(r.from, r.to), apartBy(r.from, v)
	if high == 0 || at > high {
		return 0, 0, false
	}
	most, least := bits.Mul64(at, wide)
	q, _ := bits.Div64(most, least, high)
	return r.lo + int64(q), int64(min(max(wide/high, 1), 1<<62)), true
}

// apartBy returns the distance of two integers.
func apartBy(a, b types.Value) uint64 {
	return uint64(max(a.Int(), b.Int())) - uint64(min(a.Int(), b.Int()))
}

// without returns the parts of s outside of others.
func (s stretch) without(others []stretch) (left []stretch) {
	slices.SortFunc(others, func(a, b stretch) int { return cmp.Compare(a.lo, b.lo) })
	for _, o := range others {
		if o.lo > s.lo {
			left = append(left, stretch{s.lo, o.lo - 1})
		}
		if o.hi >= s.hi {
			return left
		}
		s.lo = max(s.lo, o.hi+1)
	}
	return append(left, s)
}

// set returns the values in any of ss.
func (c *chain) set(ss []stretch) types.Set {
	slices.SortFunc(ss, func(a, b stretch) int { return cmp.Compare(a.lo, b.lo) })
	ivs := make([]types.Interval, 0, len(ss))
	for i := 0; i < len(ss); {
		s := ss[i]
		for i++; i < len(ss) && (s.hi == math.MaxInt64 || ss[i].lo <= s.hi+1); i++ {
			s.hi = max(s.hi, ss[i].hi)
		}
		ivs = append(ivs, c.interval(s.lo, s.hi))
	}
	return types.SetOf(ivs...)
}

// CommonPrefix returns characters with which all texts in iv begin; whole reports that iv contains all texts that begin
// with these characters.
func CommonPrefix(iv types.Interval) (p string, whole bool) {
	if iv.Lo.IsNull() || iv.Hi.IsNull() {
		return "", iv.Lo.IsNull() && iv.Hi.IsNull()
	}
	lo, hi := iv.Lo.Text(), iv.Hi.Text()
	n := sort.Search(len(lo), func(n int) bool { // texts that begin with one more character end before hi
		end := string(types.PrefixEnd([]byte(lo[:n+1])))
		return end != "" && (end < hi || end == hi && !iv.HiOpen)
	})
	p = lo[:n]
	whole = n == len(lo) && !iv.LoOpen && iv.HiOpen && string(types.PrefixEnd([]byte(lo))) == hi
	if len(p) > MaxCuts {
		p, whole = p[:MaxCuts], false
	}
	for !utf8.ValidString(p) {
		p, whole = p[:len(p)-1], false
	}
	return p, whole
}

// notNegative reports whether v is a finite number that is at least 0.
func notNegative(v types.Value) bool {
	if !v.IsFinite() {
		return false
	}
	c, err := types.Compare(v, types.NewInt(0))
	return err == nil && c >= 0
}
