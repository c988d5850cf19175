package solve

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// The functions in this file extend Algebra from one call to a tree over a single column, f(g(col)). col is the index of
// the column. If e has other columns, too, they return "unknown".

// algebraOf returns the algebra's argument of c and the algebra, if all other arguments are constant.
func algebraOf(c *expr.Call) (arg expr.Expr, a *expr.Algebra, ok bool) {
	at := c.Argument()
	if at < 0 {
		return nil, nil, false
	}
	for i, x := range c.Args {
		if _, isConst := x.(*expr.Const); i != at && !isConst {
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

// keepsNumber reports whether the cast e keeps the number that represents a value.
func keepsNumber(e *expr.Cast) bool {
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
	// from returns the least UUID whose text is at least s or, with behind, greater than s; NULL if there is none.
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

// Preimage returns the values of column col in within for which e is in out.
func Preimage(e expr.Expr, col int, out, within types.Set) (types.Set, bool) {
	s, _, ok := preimage(e, col, out, within)
	return s, ok
}

// preimage is Preimage; exact reports whether e is in out for all of the returned values.
func preimage(e expr.Expr, col int, out, within types.Set) (s types.Set, exact, ok bool) {
	if c, isCol := e.(*expr.Column); isCol {
		return out.Intersect(within), true, c.Index == col
	}
	x, pre, sure, ok := inverse(e, out, func(x expr.Expr) expr.Window {
		return expr.Window{In: func() types.Set {
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
func inverse(e expr.Expr, out types.Set, within func(x expr.Expr) expr.Window) (x expr.Expr, pre types.Set, exact, ok bool) {
	switch e := e.(type) {
	case *expr.Cast:
		switch {
		case keepsNumber(e):
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
		case e.X.Type() == types.String && e.Typ.IsMoment():
			return e.X, isoReading(e.Typ).texts(out), false, true
		case e.Zone == nil && (e.X.Type() == types.Timestamp || e.Typ == types.Timestamp): // Compile makes no such cast
			return nil, nil, false, false
		case e.X.Type() == types.LocalTimestamp && e.Typ == types.Timestamp:
			pre, exact = ToWall(out, e.Zone)
			return e.X, pre, exact, true
		case e.X.Type() == types.Timestamp && e.Typ == types.LocalTimestamp:
			return e.X, FromWall(out, e.Zone), true, true
		case e.X.Type() == types.Timestamp && e.Zone != time.UTC: // the wall-clock time is cast
			c, _, ok := newChain(&expr.Cast{X: e.X, Typ: e.Typ, Zone: time.UTC}, onAxis)
			if ok {
				pre, exact, ok = c.preimage(out, types.All())
			}
			return e.X, FromWall(pre, e.Zone), exact, ok
		}
	case *expr.Call:
		arg, a, ok := algebraOf(e)
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
		if cast, isCast := e.(*expr.Cast); isCast && cast.X.Type() == types.String && cast.Typ.IsInteger() {
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
	texts, others := out, false
	if !out.IsList() {
		texts, others = out.Complement(), true
	}
	if !texts.IsList() {
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
	if len(out) > MaxListed {
		return nil, false
	}
	spans := make([]types.Interval, 0, len(out)) // of digits without leading zeros
	shortest := math.MaxInt
	for _, iv := range out {
		from, to := iv.Ints()
		if from <= 0 && to >= 0 {
			spans, shortest = append(spans, types.PrefixInterval(types.String, "0")), 1
		}
		if from <= 0 {
			spans, shortest = append(spans, types.PrefixInterval(types.String, "-")), min(shortest, 1)
		}
		for least, most := range SameDigits { // positive numbers with equally many digits are in order
			if lo, hi := max(from, least, 1), min(to, most); lo <= hi {
				first, behind := strconv.FormatInt(lo, 10), strconv.FormatInt(hi, 10)+"!" // the first text that continues with a character other than a space
				if width == 0 || len(first) <= width {
					spans, shortest = append(spans, types.Interval{Lo: types.NewString(first), Hi: types.NewString(behind), HiOpen: true}), min(shortest, len(first))
				}
			}
		}
	}
	ivs := BehindMany(spans, "0", width, shortest)
	if width == 0 || shortest < width {
		ivs = append(ivs, types.PrefixInterval(types.String, "+"), types.PrefixInterval(types.String, " "), types.Interval{Lo: types.NewString("\t"), Hi: types.NewString("\x0e"), HiOpen: true})
	}
	return types.SetOf(ivs...), true
}

// BehindMany returns intervals of texts of at most width characters (0: any length): those in ivs, those that consist
// of copies of c and a text in ivs, and some others. ivs contain no text with fewer than shortest characters.
func BehindMany(ivs []types.Interval, c string, width, shortest int) []types.Interval {
	more := maxZeros / 2
	if width > 0 {
		more = min(maxZeros, width-shortest)
	}
	if len(ivs)*more > MaxListed/maxEnds {
		return append(ivs, types.PrefixInterval(types.String, c))
	}
	out := ivs
	for n := 1; n <= more; n++ {
		for _, iv := range ivs {
			out = append(out, BehindText(types.String, iv, strings.Repeat(c, n)))
		}
	}
	if width == 0 || more == maxZeros {
		out = append(out, types.PrefixInterval(types.String, strings.Repeat(c, more+1)))
	}
	return out
}

// BehindText returns the texts of type t that consist of head and a text in iv.
func BehindText(t types.Type, iv types.Interval, head string) types.Interval {
	all := types.PrefixInterval(t, head)
	if !iv.Lo.IsNull() {
		all.Lo, all.LoOpen = types.NewTextOf(t, head+iv.Lo.Text()), iv.LoOpen
	}
	if !iv.Hi.IsNull() {
		all.Hi, all.HiOpen = types.NewTextOf(t, head+iv.Hi.Text()), iv.HiOpen
	}
	return all
}

// LikeImage turns a pattern that x matches into one that e, which is made of x, matches.
func LikeImage(e, x expr.Expr, p *expr.Pattern) (*expr.Pattern, bool) {
	if expr.Same(e, x) {
		return p, true
	}
	if e, ok := e.(*expr.Call); ok {
		arg, a, ok := algebraOf(e)
		if !ok || a.Like == nil {
			return nil, false
		}
		if sub, ok := LikeImage(arg, x, p); ok {
			return a.Like(e, sub)
		}
	}
	return nil, false
}

// Sarg converts a predicate on one column, which is not true if the column is NULL, to the set of the column's values for
// which it can be true; exact reports that it is true for all of them. ok is false for other predicates.
func Sarg(e expr.Expr) (col int, s types.Set, exact, ok bool) {
	if col, ok = soleColumn(e); !ok {
		return 0, nil, false, false
	}
	c := new(Solver).Solve(e)
	s, null, exact := c.Column(col)
	_, pattern := e.(*expr.Like)
	return col, s, exact, !null && (exact || pattern || !s.IsAll())
}

// RejectsNull reports whether e, a condition, is not true in any row in which column col is NULL.
func RejectsNull(e expr.Expr, col int) bool {
	c := new(Solver).Solve(e)
	return !c.allowsNull(col)
}

// CanBegin reports whether a value of e can begin with p.
func CanBegin(e expr.Expr, p string) bool {
	if _, column := e.(*expr.Column); column {
		return true
	}
	_, pre, _, ok := inverse(e, types.SetOf(types.PrefixInterval(types.String, p)), func(expr.Expr) expr.Window { return expr.Window{In: types.All} })
	return !ok || !pre.IsEmpty()
}
