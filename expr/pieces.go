package expr

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/types"
)

// Preimages are found by bisection: a call that is monotone on known pieces of its argument's values has, on each
// piece, one run of arguments for an interval of results, and its ends are found by evaluating the call some 64 times.

// A Piece is an interval of an argument's values on which a call never falls or never rises. The arguments for which
// it can be evaluated at all have no gap there and reach an end of the piece.
type Piece struct {
	In    types.Interval // a bound that is NULL is the type's end
	Falls bool
	// Mixed is set where the call may rise and fall: it holds the values that it has there.
	Mixed *types.Interval
}

var (
	rises    = []Piece{{}}
	falls    = []Piece{{Falls: true}}
	zero     = types.NewInt(0)
	plusOne  = types.NewInt(1)
	minusOne = types.NewInt(-1)
)

// atZero are pieces up to 0 and from it on: what leaves its type does so at either end.
func atZero(below, above bool) []Piece {
	return []Piece{{In: types.Interval{Hi: zero}, Falls: below}, {In: types.Interval{Lo: zero}, Falls: above}}
}

// besideZero are pieces below 0, of 0 and above it.
func besideZero(below, above bool) []Piece {
	return []Piece{{In: types.Interval{Hi: zero, HiOpen: true}, Falls: below}, {In: types.Point(zero)}, {In: types.Interval{Lo: zero, LoOpen: true}, Falls: above}}
}

// aroundZero are pieces where a result may be too great far from 0 and too small near it, or the other way round.
func aroundZero(below, above bool) []Piece {
	return []Piece{{In: types.Interval{Hi: minusOne}, Falls: below}, {In: types.Interval{Lo: minusOne, Hi: zero, HiOpen: true}, Falls: below}, {In: types.Point(zero)},
		{In: types.Interval{Lo: zero, LoOpen: true, Hi: plusOne}, Falls: above}, {In: types.Interval{Lo: plusOne}, Falls: above}}
}

// allPieces makes an Algebra's Pieces of pieces that are the same for all calls.
func allPieces(p []Piece) func(*Call, types.Interval) []Piece {
	return func(*Call, types.Interval) []Piece { return p }
}

// An axis numbers the values of a type in their order.
type axis struct {
	typ    types.Type
	lo, hi int64 // without those of apart
	apart  []int64
}

// axisOf gives the axis of t; ok is false for types whose values cannot be numbered.
func axisOf(t types.Type) (a axis, ok bool) {
	a.typ = t
	switch {
	case t.IsInteger():
		a.lo, a.hi = types.IntRange(t)
	case t == types.Timestamp:
		a.lo, a.hi = math.MinInt64, math.MaxInt64
	case t == types.Date:
		a.lo, a.hi = -types.MaxDate, types.MaxDate
	case t == types.Time:
		a.hi = types.MillisPerDay - 1
	case t == types.Boolean:
		a.hi = 1
	case t == types.Double || t == types.Float: // infinities and NaN go ways of their own
		most := math.MaxFloat64
		if t == types.Float {
			most = math.MaxFloat32
		}
		a.lo, a.hi = a.rank(types.NewFloatOf(t, -most)), a.rank(types.NewFloatOf(t, most))
		a.apart = []int64{a.lo - 1, a.hi + 1, a.hi + 2}
	default:
		return a, false
	}
	return a, true
}

// rank is the number of v, which is of the axis' type.
func (a axis) rank(v types.Value) int64 {
	var n int64
	switch a.typ {
	case types.Double:
		if n = v.Int() & math.MaxInt64; math.IsNaN(v.Double()) {
			return int64(math.Float64bits(math.Inf(1))) + 1
		}
	case types.Float:
		f := float32(v.Double())
		if n = int64(math.Float32bits(f) &^ (1 << 31)); math.IsNaN(v.Double()) {
			return int64(math.Float32bits(float32(math.Inf(1)))) + 1
		}
	default:
		return v.Int()
	}
	if v.Double() < 0 {
		n = -n
	}
	return n
}

// value is the value with the number n.
func (a axis) value(n int64) types.Value {
	var f float64
	switch a.typ {
	case types.Double:
		f = math.Float64frombits(uint64(max(n, -n)))
	case types.Float:
		f = float64(math.Float32frombits(uint32(max(n, -n))))
	default:
		return types.NewIntOf(a.typ, n)
	}
	if n < 0 {
		f = -f
	}
	return types.NewFloatOf(a.typ, f)
}

// interval holds the values numbered from lo to hi. It is open where it reaches the ends of the axis.
func (a axis) interval(lo, hi int64) types.Interval {
	var iv types.Interval
	first, last := a.lo, a.hi
	if len(a.apart) > 0 {
		first, last = a.apart[0], a.apart[len(a.apart)-1]
	}
	if lo > first {
		iv.Lo = a.value(lo)
	}
	if hi < last {
		iv.Hi = a.value(hi)
	}
	return iv
}

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
		return castPieces(e.X.Type(), e.Typ)
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

// castPieces gives the pieces of a cast. A TIMESTAMP is cast in UTC: see wallPreimage.
func castPieces(from, to types.Type) []Piece {
	float := func(t types.Type) bool { return t == types.Double || t == types.Float }
	switch {
	case from == types.Boolean && (to.IsInteger() || to == types.String), sameNumbers(from, to), from == types.Timestamp && to == types.Date, from == types.Time && to == types.String:
		return rises
	case from.IsInteger() && (float(to) || to == types.Decimal), from == types.Float && to == types.Double, float(from) && to == types.Decimal:
		return rises
	case from.IsNumeric() && to.IsInteger(), from == types.Timestamp && to.IsInteger():
		return atZero(false, false)
	case (from == types.Decimal || from == types.Double) && float(to):
		return aroundZero(false, false)
	case from.IsInteger() && to == types.Boolean:
		return besideZero(false, false)
	case from.IsInteger() && to == types.String:
		return digitPieces(10)
	case (from == types.Date || from == types.Timestamp) && to == types.String:
		return yearPieces(from)
	case from == types.Date && to == types.Timestamp: // but for the ends, where zones go beyond a TIMESTAMP
		return []Piece{{In: types.Interval{Lo: types.NewDate(2 - types.MaxDate), Hi: types.NewDate(types.MaxDate - 2)}}}
	}
	return nil
}

// digitPieces are numbers with as many digits in a base: their texts are in order.
func digitPieces(base int64) []Piece {
	var below, above []Piece
	for lo := int64(1); ; lo *= base {
		up, down := types.Interval{Lo: types.NewInt(lo)}, types.Interval{Hi: types.NewInt(-lo)}
		if lo == 1 {
			up.Lo = zero
		}
		more := lo <= math.MaxInt64/base
		if more {
			up.Hi, down.Lo = types.NewInt(lo*base-1), types.NewInt(1-lo*base)
		}
		above, below = append(above, Piece{In: up}), append(below, Piece{In: down, Falls: true})
		if !more {
			slices.Reverse(below)
			return append(below, above...)
		}
	}
}

// yearPieces are the values of type t, DATE or TIMESTAMP, with as many digits in their years: their texts, which begin
// with the year, are in order. The texts of years below 0 begin with their sign.
func yearPieces(t types.Type) []Piece {
	start := func(year int) types.Value {
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		if t == types.Date {
			at /= types.MillisPerDay
		}
		return types.NewIntOf(t, at)
	}
	out := []Piece{{In: types.Interval{Hi: start(0), HiOpen: true}, Mixed: &types.Interval{Hi: types.NewString("0"), HiOpen: true}}}
	for year := 0; year < 100_000_000; year = max(10*year, 10_000) {
		out = append(out, Piece{In: types.Interval{Lo: start(year), Hi: start(max(10*year, 10_000)), HiOpen: true}})
	}
	return append(out, Piece{In: types.Interval{Lo: start(100_000_000)}})
}
