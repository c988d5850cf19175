package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

// The functions in this file extend Algebra from one call to a tree over a single column, f(g(col)). col is the index of
// the column. If e has other columns, too, they return "unknown".

// argument returns the index of the algebra's argument, or -1 if there is none.
func (c *Call) argument() int {
	a := c.Func.Key
	if a == nil {
		return -1
	}
	if a.Arg != AnyArg {
		return min(a.Arg, len(c.Args)-1)
	}
	for i, x := range c.Args {
		if _, isConst := x.(*Const); !isConst {
			return i
		}
	}
	return 0
}

// algebra returns the algebra's argument of c and the algebra, if all other arguments are constant.
func (c *Call) algebra() (arg Expr, a *Algebra, ok bool) {
	at := c.argument()
	if at < 0 {
		return nil, nil, false
	}
	for i, x := range c.Args {
		if _, isConst := x.(*Const); i != at && !isConst {
			return nil, nil, false
		}
	}
	return c.Args[at], c.Func.Key, true
}

// sameNumbers reports whether a cast keeps the number that represents a value: a TIMESTAMP and its milliseconds, or an
// integer in a wider type.
func sameNumbers(from, to types.Type) bool {
	if from.IsTimestamp() && to.IsTimestamp() {
		return from == to
	}
	return (from.IsInteger() || from.IsTimestamp()) && (to == types.BigInt || to.IsTimestamp() || from.IsInteger() && to.IsInteger() && to >= from)
}

// sameNumber reports whether the cast e keeps the number that represents a value.
func (e *Cast) sameNumber() bool {
	return sameNumbers(e.X.Type(), e.Typ) || e.X.Type().IsTimestamp() && e.Typ.IsTimestamp() && e.Zone == time.UTC
}

// recast returns s with values of type t and the same numbers.
func recast(s types.Set, t types.Type) types.Set {
	out := slices.Clone(s)
	for i := range out {
		for _, end := range []*types.Value{&out[i].Lo, &out[i].Hi} {
			switch {
			case end.IsNull():
			case t == types.Bytes:
				*end = types.NewBytes(end.Text())
			default:
				*end = types.NewIntOf(t, end.Int())
			}
		}
	}
	return out
}

// spelledUUIDs returns the UUIDs whose texts are in out: texts sort like their UUIDs.
func spelledUUIDs(out types.Set) types.Set {
	// from returns the least UUID whose text is s or sorts after it, or with behind sorts after it; NULL if there is none.
	from := func(s string, behind bool) types.Value {
		before := func(b []byte) bool {
			c := strings.Compare(types.NewUUID(string(b)).String(), s)
			return c < 0 || c == 0 && behind
		}
		b := make([]byte, 16)
		if !before(b) {
			return types.NewUUID(string(b))
		}
		for bit := range 128 { // the greatest UUID before it
			if b[bit/8] |= 0x80 >> (bit % 8); !before(b) {
				b[bit/8] &^= 0x80 >> (bit % 8)
			}
		}
		for i := len(b) - 1; i >= 0; i-- {
			if b[i]++; b[i] != 0 {
				return types.NewUUID(string(b))
			}
		}
		return types.Value{}
	}
	var ivs []types.Interval
	for _, iv := range out {
		var of types.Interval
		if !iv.Lo.IsNull() {
			if of.Lo = from(iv.Lo.Text(), iv.LoOpen); of.Lo.IsNull() {
				continue
			}
		}
		if !iv.Hi.IsNull() {
			of.Hi, of.HiOpen = from(iv.Hi.Text(), !iv.HiOpen), true
		}
		if iv.IsPoint() && !of.Lo.IsNull() && of.Lo.String() == iv.Lo.Text() {
			of = types.Point(of.Lo)
		}
		ivs = append(ivs, of)
	}
	return types.SetOf(ivs...)
}

// with evaluates c with v as its algebra's argument.
func (c *Call) with(v types.Value) (types.Value, error) { return c.at(c.argument(), v) }

// at evaluates c with v as argument i; the others are constants.
func (c *Call) at(at int, v types.Value) (types.Value, error) {
	args := make([]types.Value, len(c.Args))
	for i, x := range c.Args {
		if args[i] = v; i != at {
			args[i] = x.(*Const).Val
		}
		if args[i].IsNull() && !c.Func.NullArgs {
			return types.Value{}, nil
		}
	}
	return c.Func.Eval(&Env{}, args)
}

// Preimage returns the values of column col in within for which e is in out.
func Preimage(e Expr, col int, out, within types.Set) (types.Set, bool) {
	s, _, ok := preimage(e, col, out, within)
	return s, ok
}

// preimage is Preimage; exact reports whether e is in out for all of the returned values.
func preimage(e Expr, col int, out, within types.Set) (s types.Set, exact, ok bool) {
	if c, isCol := e.(*Column); isCol {
		return out.Intersect(within), true, c.Index == col
	}
	x, pre, sure, ok := inverse(e, out, func(x Expr) Window {
		return Window{In: func() types.Set {
			if s, ok := listed(x, col, within); ok {
				return s
			}
			return types.All()
		}}
	})
	if !ok {
		return nil, false, false
	}
	s, exact, ok = preimage(x, col, pre, within)
	return s, exact && sure, ok
}

// inverse returns the values of x, a subexpression of e, for which e, a call or cast of x, is in out. within returns the
// values that x can have.
func inverse(e Expr, out types.Set, within func(x Expr) Window) (x Expr, pre types.Set, exact, ok bool) {
	switch e := e.(type) {
	case *Cast:
		switch {
		case e.sameNumber():
			return e.X, recast(out, e.X.Type()), true, true
		case e.X.Type() == types.Bytes && e.Typ == types.String:
			return e.X, recast(out, types.Bytes), true, true
		case e.X.Type() == types.UUID && e.Typ == types.String:
			return e.X, spelledUUIDs(out), true, true
		case e.X.Type() == types.Decimal && e.Typ == types.Double:
			return e.X, roundedTo(out), false, true
		case e.X.Type().IsInteger() && e.Typ == types.String:
			if pre, ok = writtenAs(out, e.X.Type()); ok {
				return e.X, pre, true, true
			}
		case e.X.Type() == types.String && e.Typ == types.UUID:
			return e.X, uuidReading.texts(out), false, true
		case e.X.Type() == types.String && isMoment(e.Typ):
			return e.X, isoReading(e.Typ).texts(out), false, true
		case e.Zone == nil && (e.X.Type() == types.Timestamp || e.Typ == types.Timestamp): // Compile makes no such cast
			return nil, nil, false, false
		case e.X.Type() == types.LocalTimestamp && e.Typ == types.Timestamp:
			pre, exact = toWall(out, e.Zone)
			return e.X, pre, exact, true
		case e.X.Type() == types.Timestamp && e.Typ == types.LocalTimestamp:
			return e.X, fromWall(out, e.Zone), true, true
		case e.X.Type() == types.Timestamp && e.Zone != time.UTC: // the wall-clock time is cast
			c, _, ok := newChain(&Cast{X: e.X, Typ: e.Typ, Zone: time.UTC}, onAxis)
			if ok {
				pre, exact, ok = c.preimage(out, types.All())
			}
			return e.X, fromWall(pre, e.Zone), exact, ok
		}
	case *Call:
		arg, a, ok := e.algebra()
		if !ok {
			break
		}
		if a.Inverse != nil {
			if pre, exact, ok = a.Inverse(e, out, within(arg)); ok {
				return arg, pre, exact, true
			}
		}
	}
	c, x, ok := newChain(e, onAxis)
	if !ok {
		if x, pre, ok = ofDecimals(e, out); ok {
			return x, pre, false, true
		}
		if cast, isCast := e.(*Cast); isCast && cast.X.Type() == types.String && cast.Typ.IsInteger() {
			pre, ok = numerals(out, within(cast.X).Width)
			return cast.X, pre, false, ok
		}
		return nil, nil, false, false
	}
	pre, exact, ok = c.preimage(out, within(x).In())
	return x, pre, exact, ok
}

// roundedTo returns DECIMALs that include all those that a cast to DOUBLE maps to out. Casting a DOUBLE to DECIMAL keeps
// 15 digits.
func roundedTo(out types.Set) types.Set {
	end := func(v types.Value, toward float64) types.Value {
		if v.IsNull() || math.IsNaN(v.Double()) {
			return types.Value{}
		}
		f := math.Nextafter(v.Double(), toward)
		d, err := types.Cast(types.NewDouble(f+math.Copysign(math.Abs(f)*1e-14, toward)), types.Decimal, nil)
		if err != nil { // infinite
			return types.Value{}
		}
		return d
	}
	pre := make(types.Set, len(out))
	for i, iv := range out {
		pre[i] = types.Interval{Lo: end(iv.Lo, math.Inf(-1)), Hi: end(iv.Hi, math.Inf(1))}
	}
	return types.SetOf(pre...)
}

// writtenAs returns the integers of type t whose texts are in out, if out or its complement consists of single texts.
func writtenAs(out types.Set, t types.Type) (pre types.Set, ok bool) {
	single := func(s types.Set) bool {
		return !slices.ContainsFunc(s, func(iv types.Interval) bool { return !iv.IsPoint() })
	}
	texts, others := out, false
	if !single(out) {
		texts, others = out.Complement(), true
	}
	if !single(texts) {
		return nil, false
	}
	var vs []types.Value
	for _, iv := range texts {
		if v, err := types.Cast(iv.Lo, t, nil); err == nil && v.String() == iv.Lo.Text() {
			vs = append(vs, v)
		}
	}
	if pre = types.Points(vs...); others {
		pre = pre.Complement()
	}
	return pre, true
}

// maxZeros bounds the number of leading zeros, or other trimmed characters, for which separate intervals are made.
const maxZeros = 20

// numerals returns texts of at most width characters (0: any length) that include all those that a cast maps to an integer
// in out: digits with an optional sign, leading zeros and spaces, and trailing spaces. It returns separate
// intervals for each number of leading zeros.
func numerals(out types.Set, width int) (pre types.Set, ok bool) {
	if len(out) > maxListed {
		return nil, false
	}
	spans := make([]types.Interval, 0, len(out)) // of digits without leading zeros
	shortest := math.MaxInt
	for _, iv := range out {
		s := spanOf(iv)
		if s.lo <= 0 && s.hi >= 0 {
			spans, shortest = append(spans, PrefixInterval("0")), 1
		}
		if s.lo <= 0 {
			spans, shortest = append(spans, PrefixInterval("-")), min(shortest, 1)
		}
		for least, most := range SameDigits { // positive numbers with equally many digits are in order
			if lo, hi := max(s.lo, least, 1), min(s.hi, most); lo <= hi {
				from, to := strconv.FormatInt(lo, 10), strconv.FormatInt(hi, 10)+"!" // the first text that continues with a character other than a space
				if width == 0 || len(from) <= width {
					spans, shortest = append(spans, types.Interval{Lo: types.NewString(from), Hi: types.NewString(to), HiOpen: true}), min(shortest, len(from))
				}
			}
		}
	}
	ivs := behindMany(spans, "0", width, shortest)
	if width == 0 || shortest < width {
		ivs = append(ivs, PrefixInterval("+"), PrefixInterval(" "), types.Interval{Lo: types.NewString("\t"), Hi: types.NewString("\x0e"), HiOpen: true})
	}
	return types.SetOf(ivs...), true
}

// behindMany returns the texts of at most width characters in ivs, those that consist of any number of c before one of
// these, and some others. ivs contain no text with fewer than shortest characters.
func behindMany(ivs []types.Interval, c string, width, shortest int) []types.Interval {
	more := maxZeros / 2
	if width > 0 {
		more = min(maxZeros, width-shortest)
	}
	if len(ivs)*more > maxListed/maxHeads {
		return append(ivs, PrefixInterval(c))
	}
	out := ivs
	for n := 1; n <= more; n++ {
		for _, iv := range ivs {
			out = append(out, behindText(types.String, iv, strings.Repeat(c, n)))
		}
	}
	if width == 0 || more == maxZeros {
		out = append(out, PrefixInterval(strings.Repeat(c, more+1)))
	}
	return out
}

// behindText returns the texts of type t that consist of head and a text in iv.
func behindText(t types.Type, iv types.Interval, head string) types.Interval {
	all := begins(t, head)
	if !iv.Lo.IsNull() {
		all.Lo, all.LoOpen = textOf(t, head+iv.Lo.Text()), iv.LoOpen
	}
	if !iv.Hi.IsNull() {
		all.Hi, all.HiOpen = textOf(t, head+iv.Hi.Text()), iv.HiOpen
	}
	return all
}

// LikeImage turns a pattern that x matches into one that e, which is made of x, matches.
func LikeImage(e, x Expr, p *Pattern) (*Pattern, bool) {
	if Same(e, x) {
		return p, true
	}
	if e, ok := e.(*Call); ok {
		arg, a, ok := e.algebra()
		if !ok || a.Like == nil {
			return nil, false
		}
		if sub, ok := LikeImage(arg, x, p); ok {
			return a.Like(e, sub)
		}
	}
	return nil, false
}

// Width returns the fixed number of bytes of e's text; 0: it is not fixed.
func Width(e Expr) int {
	switch e := e.(type) {
	case *Const:
		return len(e.Val.Text())
	case *Call:
		if a := e.Func.Key; a != nil && a.Width != nil {
			return a.Width(e)
		}
	}
	return 0
}

// FromRest returns the function that computes e from the key bytes after its part; nil if e is not such a function.
func FromRest(e Expr) func(rest []byte) (types.Value, error) {
	if c, ok := e.(*Call); ok && c.Func.Key != nil && c.Func.Key.FromRest != nil {
		return func(rest []byte) (types.Value, error) { return c.Func.Key.FromRest(c, rest) }
	}
	return nil
}

// RestLength returns the number of bytes after its part from which e is computed at most; ok is false if it uses all of
// them.
func RestLength(e Expr) (n int, ok bool) {
	if c, isCall := e.(*Call); isCall && c.Func.Key != nil && c.Func.Key.RestLength != nil {
		return c.Func.Key.RestLength(c), true
	}
	return 0, false
}

// Volatile returns the name of a function in e whose value may differ at each evaluation, such as RANDOM; "" if there is
// none. Values that are drawn for new rows (see Draw) do not count.
func Volatile(e Expr) string {
	if c, ok := e.(*Call); ok && c.Func.Volatile && c.Func.Group != "key" {
		return c.Func.Name
	}
	for _, x := range Children(e) {
		if name := Volatile(x); name != "" {
			return name
		}
	}
	return ""
}

// UsesLookup reports whether e contains the number of a name in a dictionary: LOOKUP.
func UsesLookup(e Expr) bool {
	if c, ok := e.(*Call); ok && c.Func.Key != nil && c.Func.Key.Lookup != NoDictionary {
		return true
	}
	return slices.ContainsFunc(Children(e), UsesLookup)
}

// Draw returns the function that draws a value of e for a new row; nil if e is computed from columns.
func Draw(e Expr) func(env *Env) (types.Value, error) {
	if c, ok := e.(*Call); ok && c.Func.Key != nil && c.Func.Key.Draw != nil {
		return func(env *Env) (types.Value, error) { return c.Func.Key.Draw(c, env) }
	}
	return nil
}

// Sarg converts a predicate on one column, which is not true if the column is NULL, to the set of the column's values for
// which it can be true; exact reports that it is true for all of them. ok is false for other predicates.
func Sarg(e Expr) (col int, s types.Set, exact, ok bool) {
	col, s, null, exact, ok := Truth(e)
	return col, s, exact, ok && !null
}

// RejectsNull reports whether e, a condition, is not true in any row in which column col is NULL.
func RejectsNull(e Expr, col int) bool {
	c := new(Solver).Solve(e)
	return !c.allowsNull(col)
}

// PrefixInterval returns the strings that begin with p.
func PrefixInterval(p string) types.Interval {
	if end := types.PrefixEnd([]byte(p)); end != nil {
		return types.Interval{Lo: types.NewString(p), Hi: types.NewString(string(end)), HiOpen: true}
	}
	if p == "" {
		return types.Interval{}
	}
	return types.Interval{Lo: types.NewString(p)}
}
