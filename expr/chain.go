package expr

import (
	"cmp"
	"math"
	"slices"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/types"
)

// A run is a stretch of an axis on which an expression is monotone and can be evaluated everywhere.
type run struct {
	stretch
	falls    bool
	from, to types.Value // at lo and at hi
}

// stretch are the numbers of an axis from lo to hi.
type stretch struct{ lo, hi int64 }

// A chain is the part of an expression above an inner one whose values are on an axis.
type chain struct {
	axis
	links []link // from the inner one outwards
	runs  []run
	mixed []unsorted
	rest  []stretch // what is not known
}

// unsorted is a stretch where the values of an expression lie in values, rising and falling.
type unsorted struct {
	stretch
	values types.Interval
}

// A link is a call or cast of a chain.
type link struct {
	e    Expr
	env  Env
	args []types.Value // of a call
	at   []int         // where its argument stands among them
}

func newLink(e Expr) link {
	l := link{e: e}
	if c, ok := e.(*Call); ok {
		l.args = make([]types.Value, len(c.Args))
		for i, x := range c.Args {
			if k, ok := x.(*Const); ok {
				l.args[i] = k.Val
			} else {
				l.at = append(l.at, i)
			}
		}
	}
	return l
}

// apply evaluates l with v for its argument; ok is false where that is NULL or fails.
func (l *link) apply(v types.Value) (out types.Value, ok bool) {
	var err error
	switch e := l.e.(type) {
	case *Cast:
		out, err = types.Cast(v, e.Typ, e.Zone)
	case *Call:
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

// pieces gives the pieces of l for arguments in in.
func (l *link) pieces(in types.Interval) []Piece {
	switch e := l.e.(type) {
	case *Cast:
		return castPieces(e.X.Type(), e.Typ, in)
	case *Call:
		return e.Func.Key.Pieces(e, in)
	}
	return nil
}

// noise is the error of what l computes, of the value and beside it, with which it may rise a little where it falls.
func (l *link) noise() (of, beside float64) {
	if c, ok := l.e.(*Call); ok && c.Func.Key.Noise != nil {
		return c.Func.Key.Noise(c)
	}
	return 0, 0
}

func (l *link) noisy() bool {
	of, _ := l.noise()
	return of > 0
}

// piecewise gives the argument of a call or cast of which pieces may be known. It may stand there twice: k * k.
func piecewise(e Expr) (arg Expr, ok bool) {
	switch e := e.(type) {
	case *Cast:
		return e.X, true
	case *Call:
		if e.Func.Key == nil || e.Func.Key.Pieces == nil || e.Func.NullArgs || e.Func.First {
			break
		}
		for i, x := range e.Args {
			_, isConst := x.(*Const)
			switch {
			case isConst:
			case arg != nil && !Same(arg, x), e.Func.Key.Arg != AnyArg && e.Func.Key.Arg != i:
				return nil, false
			default:
				arg = x
			}
		}
		return arg, arg != nil
	}
	return nil, false
}

// newChain gives the chain from e down to the next inner expression whose values are on an axis.
func newChain(e Expr) (c *chain, inner Expr, ok bool) {
	c, inner = &chain{}, e
	for {
		arg, ok := piecewise(inner)
		if !ok {
			return nil, nil, false
		}
		c.links = append(c.links, newLink(inner))
		if n := len(c.links) - 1; n > 0 {
			if call, isCall := inner.(*Call); c.links[n].noisy() || isCall && !call.Func.strict {
				return nil, nil, false // what is above would have to allow for its noise, and for its NULLs
			}
		}
		inner = arg
		if c.axis, ok = axisOf(inner.Type()); ok {
			slices.Reverse(c.links)
			return c, inner, true
		}
	}
}

// eval evaluates the first n links for the value numbered x.
func (c *chain) eval(n int, x int64) (v types.Value, ok bool) {
	v, ok = c.value(x), true
	for i := range c.links[:n] {
		if v, ok = c.links[i].apply(v); !ok {
			return v, false
		}
	}
	return v, true
}

// preimage gives the inner values in within for which the chain's value lies in out; exact: it is so for them all.
func (c *chain) preimage(out, within types.Set) (s types.Set, exact, ok bool) {
	const most = 20_000 // intervals that are looked for one by one
	if len(out) > most {
		return nil, false, false
	}
	c.start(within)
	for n := range c.links {
		c.extend(n)
	}
	if len(c.runs) == 0 {
		return nil, false, false // nothing is known, or nothing can be evaluated: who does will hear of it
	}
	var found []stretch
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
			r.lo = s.hi + 1 // the intervals are in order
			r.from, _ = c.eval(len(c.links), r.lo)
		}
	}
	for _, m := range c.mixed {
		if !types.SetOf(m.values).Intersect(out).IsEmpty() {
			c.rest = append(c.rest, m.stretch)
		}
	}
	exact = len(c.rest) == 0
	return c.set(append(found, c.rest...)).Intersect(within), exact, true
}

// start makes the runs of the inner expression itself, whose values lie in within.
func (c *chain) start(within types.Set) {
	add := func(lo, hi int64) {
		if lo <= hi {
			c.runs = append(c.runs, run{stretch{lo, hi}, false, c.value(lo), c.value(hi)})
		}
	}
	for _, n := range c.apart {
		if within.Contains(c.value(n)) {
			add(n, n)
		}
	}
	const most = 64 // intervals that are looked at one by one
	if len(within) > most {
		within = types.SetOf(types.Interval{Lo: within[0].Lo, Hi: within[len(within)-1].Hi})
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

// extend makes the runs of links[:n] those of links[:n+1].
func (c *chain) extend(n int) {
	l := &c.links[n]
	var next []run
	add := func(s stretch, falls bool) { // cut to where it can be evaluated
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
		if l.noisy() { // nor is the end of what can be evaluated sharp
			if s.lo > full.lo {
				c.rest = append(c.rest, stretch{max(full.lo, subClamp(s.lo, c.blur(s.lo))), s.lo - 1})
			}
			if s.hi < full.hi {
				c.rest = append(c.rest, stretch{s.hi + 1, min(full.hi, addClamp(s.hi, c.blur(s.hi)))})
			}
		}
		next = append(next, run{s, falls, from, to})
	}
	for _, r := range c.runs {
		if r.lo == r.hi {
			add(stretch{r.lo, r.hi}, false)
			continue
		}
		in := types.Interval{Lo: r.from, Hi: r.to}
		if r.falls {
			in.Lo, in.Hi = r.to, r.from
		}
		var held []stretch
		for _, p := range l.pieces(in) {
			s, ok := c.where(n, r, p.In)
			if !ok {
				continue
			}
			held = append(held, s)
			switch {
			case p.Mixed == nil:
				add(s, r.falls != p.Falls)
			case n+1 == len(c.links):
				c.mixed = append(c.mixed, unsorted{s, *p.Mixed})
			default:
				c.rest = append(c.rest, s)
			}
		}
		c.rest = append(c.rest, stretch{r.lo, r.hi}.without(held)...)
	}
	c.runs = next
}

// blur is how many values beside the one numbered n noise may take for it.
func (c *chain) blur(n int64) int64 {
	if len(c.apart) > 0 {
		return 1 << 22
	}
	return magnitudeClamp(n)>>30 + 1
}

func magnitudeClamp(n int64) int64 { return int64(min(magnitude(n), math.MaxInt64)) }

// last gives the greatest number from lo to hi-1 with ok, which holds at lo and from there on up to somewhere below hi.
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

// first gives the least number from lo+1 to hi with ok, which holds at hi and from there on down to somewhere above lo.
func first(lo, hi int64, ok func(int64) bool) int64 {
	return last(lo, hi, func(x int64) bool { return !ok(x) }) + 1
}

// side is -1, 0 or +1 for a value below, in or above iv.
func side(v types.Value, iv types.Interval) int {
	if !iv.Lo.IsNull() {
		if c, _ := types.Compare(v, iv.Lo); c < 0 || c == 0 && iv.LoOpen {
			return -1
		}
	}
	if !iv.Hi.IsNull() {
		if c, _ := types.Compare(v, iv.Hi); c > 0 || c == 0 && iv.HiOpen {
			return 1
		}
	}
	return 0
}

// where gives the stretch of r on which the first n links have values in iv.
func (c *chain) where(n int, r run, iv types.Interval) (stretch, bool) {
	at := func(v types.Value) int {
		if r.falls {
			return -side(v, iv)
		}
		return side(v, iv)
	}
	eval := func(x int64) int {
		v, _ := c.eval(n, x)
		return at(v)
	}
	lo, hi := r.lo, r.hi
	from, to := at(r.from), at(r.to)
	if from > 0 || to < 0 {
		return stretch{}, false
	}
	if x, ok := c.guess(n, r, iv); ok && eval(x) == 0 {
		step := int64(1)
		for lo, hi = subClamp(x, step), addClamp(x, step); lo > r.lo && eval(lo) == 0 || hi < r.hi && eval(hi) == 0; step *= 2 {
			lo, hi = subClamp(x, 2*step), addClamp(x, 2*step) // the ends are near, mostly
		}
		if lo = max(lo, r.lo); eval(lo) < 0 {
			lo = first(lo, x, func(x int64) bool { return eval(x) >= 0 })
		}
		if hi = min(hi, r.hi); eval(hi) > 0 {
			hi = last(x, hi, func(x int64) bool { return eval(x) <= 0 })
		}
		return stretch{lo, hi}, true
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

// guess gives a value of r that is probably cast to the one in iv: what that is cast back to.
func (c *chain) guess(n int, r run, iv types.Interval) (x int64, ok bool) {
	cast, ok := c.links[0].e.(*Cast)
	if n != 1 || !ok || !iv.IsPoint() || cast.Typ != types.String {
		return 0, false
	}
	v, err := types.Cast(iv.Lo, cast.X.Type(), cast.Zone)
	if err != nil || v.IsNull() {
		return 0, false
	}
	x = c.rank(v)
	return x, x >= r.lo && x <= r.hi
}

// noisy is where, for values of a relative error: what may lie in iv. Where few values are uncertain, each is looked at;
// else they are in rest.
func (c *chain) noisy(r run, iv types.Interval) (found []stretch) {
	n := len(c.links)
	of, beside := c.links[n-1].noise()
	moved := true // as far as asked for
	move := func(v types.Value, by float64) types.Value {
		if v.IsNull() || !isFinite(v) {
			return v
		}
		if v.Decimal() == nil {
			f := v.Double()
			return types.NewDouble(f + by*(math.Abs(f)*of+beside+math.SmallestNonzeroFloat64))
		}
		d, err := movedDecimal(v, by*of)
		moved = moved && err == nil
		return d
	}
	wide, ok := c.where(n, r, types.Interval{Lo: move(iv.Lo, -1), Hi: move(iv.Hi, 1)}) // without end where that cannot be told
	if !ok {
		return nil
	}
	narrow := types.Interval{Lo: move(iv.Lo, 1), Hi: move(iv.Hi, -1), LoOpen: iv.LoOpen, HiOpen: iv.HiOpen}
	sure, ok := c.where(n, r, narrow)
	ok = ok && moved
	edges := []stretch{wide}
	if ok {
		found = append(found, sure)
		edges = wide.without(found)
	}
	const few = 64
	for _, e := range edges {
		if uint64(e.hi)-uint64(e.lo) >= few {
			c.rest = append(c.rest, e)
			continue
		}
		for x := e.lo; ; x++ {
			if v, ok := c.eval(n, x); ok && side(v, iv) == 0 {
				found = append(found, stretch{x, x})
			}
			if x == e.hi {
				break
			}
		}
	}
	return found
}

// movedDecimal is v and that share of its size.
func movedDecimal(v types.Value, share float64) (types.Value, error) {
	by, err := types.Cast(types.NewDouble(share), types.Decimal, nil)
	if err == nil {
		by, err = decimalOp("*", v, by)
	}
	if err == nil && v.Decimal().Negative {
		by = types.NewDecimal(new(apd.Decimal).Neg(by.Decimal()))
	}
	if err != nil {
		return types.Value{}, err
	}
	return decimalOp("+", v, by)
}

// without gives what is left of s beside others.
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

// set gives the values in any of ss.
func (c *chain) set(ss []stretch) types.Set {
	slices.SortFunc(ss, func(a, b stretch) int { return cmp.Compare(a.lo, b.lo) })
	var ivs []types.Interval
	for i := 0; i < len(ss); {
		s := ss[i]
		for i++; i < len(ss) && (s.hi == math.MaxInt64 || ss[i].lo <= s.hi+1); i++ {
			s.hi = max(s.hi, ss[i].hi)
		}
		ivs = append(ivs, c.interval(s.lo, s.hi))
	}
	return types.SetOf(ivs...)
}
