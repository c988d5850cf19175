package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

var compareOps = map[string]CompareOp{"=": EQ, "<>": NE, "!=": NE, "<": LT, "<=": LE, ">": GT, ">=": GE}

func (c compiler) tuples(op CompareOp, x, y *parser.Tuple, pos parser.Pos) Expr {
	if len(x.Items) != len(y.Items) {
		panic(fail.With(parser.Errorf(pos, "row values of %d and %d items cannot be compared", len(x.Items), len(y.Items))))
	}
	all := c.list(slices.Concat(x.Items, y.Items))
	return c.compareRows(op, all[:len(x.Items)], all[len(x.Items):], pos)
}

// compareRows converts (a, b) > (1, 2) to a > 1 OR (a = 1 AND b > 2).
func (c compiler) compareRows(op CompareOp, xs, ys []Expr, pos parser.Pos) Expr {
	strict := op
	if op == LE {
		strict = LT
	} else if op == GE {
		strict = GT
	}
	var alts []Expr
	same := make([]Expr, len(xs))
	for i := range xs {
		same[i] = c.compare(EQ, xs[i], ys[i], pos)
		o := strict
		if i == len(xs)-1 {
			o = op
		}
		t := c.compare(o, xs[i], ys[i], pos)
		alts = append(alts, conjunction(append(slices.Clone(same[:i]), t)...))
	}
	switch op {
	case EQ:
		return conjunction(same...)
	case NE:
		return Negate(conjunction(same...))
	}
	return disjunction(alts...)
}

func (c compiler) list(es []parser.Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		x := c.expr(e)
		out[i] = x
	}
	return out
}

// compare returns x op y after converting both to a common type.
func (c compiler) compare(op CompareOp, x, y Expr, pos parser.Pos) Expr {
	if _, ok := x.(*Const); ok {
		if _, ok := y.(*Const); !ok {
			x, y, op = y, x, op.Flip()
		}
	}
	x, ys := c.narrowed(x, []Expr{y})
	y = ys[0]
	x, y = c.unpadded(y, x), c.unpadded(x, y)
	if k, ok := y.(*Const); ok && k.Val.HasClock() {
		y = c.adapt(k, x.Type())
	}
	if k, ok := y.(*Const); ok && x.Type() == types.Date && k.Val.Type().IsTimestamp() {
		return c.compareDay(op, x, k, pos)
	}
	x, y = c.meet(x, y, pos)
	return c.fold(&Compare{Pos: pos, Op: op, X: x, Y: y})
}

// unpadded returns y without spaces at its end if x is a CHAR(n) and y's type ignores such spaces; otherwise it returns
// y.
func (c compiler) unpadded(x, y Expr) Expr {
	if y.Type() != types.String || !limitOf(x).Blank() || !limitOf(y).Loose() {
		return y
	}
	return c.fold(&Call{Pos: y.Position(), Func: c.registry().Lookup("RTRIM"), Args: []Expr{y}, Typ: types.String})
}

// narrowed returns x and ys, the two sides of a comparison, as milliseconds or integers, which keys and filters hold: x is
// the time between two moments, or an integer as a number with fractions, and the ys do not need more.
func (c compiler) narrowed(x Expr, ys []Expr) (Expr, []Expr) {
	of, ok := x.(*Cast)
	if !ok || !of.X.Type().IsInteger() || of.Typ != types.Decimal && of.Typ != types.Double {
		return c.inMillis(x, ys)
	}
	out := make([]Expr, len(ys))
	for i, y := range ys {
		y = c.place(y, of.Typ)
		if same, ok := y.(*Cast); ok && same.Typ == types.Decimal && of.Typ == types.Decimal {
			y = same.X
		}
		k, constant := y.(*Const)
		if constant && of.Typ == types.Double && k.Typ.IsNumeric() {
			y = c.cast(k, of.Typ, k.Pos)
			k, constant = y.(*Const)
		}
		switch {
		case constant && k.Val.IsNull(), !constant && of.Typ == types.Decimal && y.Type().IsInteger():
		case !constant || !k.Typ.IsNumeric() || roundedBeside(of.X, k):
			return x, ys
		default:
			if whole, err := types.Cast(k.Val, types.BigInt, nil); err == nil {
				if d, err := types.Compare(whole, k.Val); err == nil && d == 0 {
					y = &Const{Pos: k.Pos, Val: whole, Typ: types.BigInt}
				}
			}
		}
		out[i] = y
	}
	return of.X, out
}

// limitOf returns the limit of e's type, as far as it is known.
func limitOf(e Expr) types.Limit {
	switch e := e.(type) {
	case *Column:
		return e.Limit
	case *Const:
		return e.Limit
	case *Subquery:
		return e.limit(0)
	}
	return types.Limit{}
}

// compareDay compares the midnight of x, a DATE, with the TIMESTAMP k. It converts k to days, because keys and filters
// hold days.
func (c compiler) compareDay(op CompareOp, x Expr, k *Const, pos parser.Pos) Expr {
	from, after := types.DaysAt(k.Val, c.s.Loc)
	day := func(op CompareOp, d types.Value) Expr {
		return c.fold(&Compare{Pos: pos, Op: op, X: x, Y: &Const{Pos: k.Pos, Val: d, Typ: types.Date}})
	}
	if after.Int() == from.Int()+1 && (op == EQ || op == NE) {
		return day(op, from)
	}
	switch op {
	case LT, GE:
		return day(op, from)
	case LE:
		return day(LT, after)
	case GT:
		return day(GE, after)
	case NE:
		return disjunction(day(LT, from), day(GE, after))
	}
	return conjunction(day(GE, from), day(LT, after))
}

// meet prepares x and y for a comparison: it converts a constant to the type of the other side. It fails if the types
// cannot be compared.
func (c compiler) meet(x, y Expr, pos parser.Pos) (Expr, Expr) {
	tx, ty := x.Type(), y.Type()
	c.wants(x, ty)
	c.wants(y, tx)
	if tx == types.Null || ty == types.Null || tx == ty {
		return x, y
	}
	switch {
	case tx.IsMoment() && ty.IsMoment(): // moments without a zone are in the session's time zone
		return c.moments(x, y, pos)
	case roundedBeside(x, y): // the other operand of a DOUBLE becomes a DOUBLE, as in PostgreSQL
		x = c.cast(x, types.Double, pos)
	case roundedBeside(y, x):
		y = c.cast(y, types.Double, pos)
	}
	k, constant := x.(*Const)
	text := constant && x.Type() == types.String // a text constant is read as the other side's type
	if right, ok := y.(*Const); ok && !text {
		y = c.adapt(right, x.Type())
	} else if constant {
		x = c.adapt(k, y.Type())
	}
	c.comparable(x.Type(), y.Type(), pos)
	return x, y
}

// moments casts two moments to the wider one of their types.
func (c compiler) moments(x, y Expr, pos parser.Pos) (_, _ Expr) {
	t := Wider(x.Type(), y.Type())
	return c.cast(x, t, pos), c.cast(y, t, pos)
}

// roundedBeside reports whether x is an exact number that must be rounded to be compared with y, a DOUBLE.
func roundedBeside(x, y Expr) bool {
	t, float := x.Type(), y.Type() == types.Double || y.Type() == types.Float
	if !float || !t.IsInteger() && t != types.Decimal {
		return false
	}
	if _, constant := x.(*Const); constant || x.Type() == types.Decimal {
		return true
	}
	k, ok := y.(*Const)
	const exact = 1 << 53 // smaller integers are exact as DOUBLEs
	return !ok || !k.Val.IsNull() && math.Abs(k.Val.Double()) < math.Inf(1) && math.Abs(k.Val.Double()) >= exact
}

// canCompare reports whether values of the types a and b can be compared; for moments see meet.
func canCompare(a, b types.Type) bool {
	return a == b || a == types.Null || b == types.Null || a.IsNumeric() && b.IsNumeric() || a.IsText() && b.IsText() ||
		a.IsOID() && (b.IsOID() || b.IsInteger()) || a.IsInteger() && b.IsOID() ||
		a.IsArray() && b.IsArray() && canCompare(a.Elem(), b.Elem()) || a.IsMoment() && b.IsMoment()
}

// comparable refuses types whose values cannot be compared.
func (c compiler) comparable(a, b types.Type, pos parser.Pos) {
	if canCompare(a, b) {
		return
	}
	err := parser.Errorf(pos, "%s and %s cannot be compared", a, b)
	if a == types.Duration && b.IsInteger() || b == types.Duration && a.IsInteger() {
		err = err.WithHint("INTERVAL_MS(n) is an interval of so many milliseconds")
	}
	if a.IsTimestamp() && b.IsInteger() || b.IsTimestamp() && a.IsInteger() {
		err = err.WithHint("CAST(n AS TIMESTAMP) is the moment so many milliseconds after 1970, TO_TIMESTAMP(n) so many seconds")
	}
	panic(fail.With(err))
}

// untyped reports whether k is a text that takes the type of its place: a literal, but no CAST to TEXT.
func (k *Const) untyped() bool { return k.Typ == types.String && k.Limit == types.Untyped }

// adapt casts the constant k to type t if its meaning stays: it reads text as a t, and converts a number to a double; in
// keys also an integer to a TIMESTAMP's milliseconds.
func (c compiler) adapt(k *Const, t types.Type) *Const {
	from := k.Typ
	cast := false
	switch {
	case from == t || k.Val.IsNull():
		return k
	case from == types.String && !k.untyped():
		return k
	case from == types.String && t.IsNamedOID():
		if named, ok := c.cast(k, t, k.Pos).(*Const); ok {
			return named
		}
		return k
	case from == types.String:
		cast = t != types.String
	case from.IsNamedOID() && t == types.OID, from.IsInteger() && t == types.OID && k.Val.Int() >= 0 && k.Val.Int() < 1<<32:
		cast = true
	case from.IsMoment() && t.IsMoment():
		cast = Wider(from, t) == t || k.Val.HasClock()
	case from.IsInteger() && t.IsTimestamp() && c.s.Key, from == types.Bytes && (t == types.String || t == types.UUID), from == types.UUID && (t == types.String || t == types.Bytes):
		cast = true
	case from.IsNumeric() && (t == types.Double || t == types.Float):
		t = types.Double // FLOAT columns hold doubles
		cast = true
	case from.IsInteger() && t == types.Decimal:
		cast = true
	}
	if !cast {
		return k
	}
	v, err := c.converted(k, t)
	if err != nil && from == types.String && t.IsInteger() { // '1.5', or a number outside the type's range
		v, err = types.ParseDecimal(k.Val.Text())
	}
	if err != nil {
		panic(fail.With(parser.Errorf(k.Pos, "%s is not a valid %s: %s", k.Val.SQL(), t, err)))
	}
	return &Const{Pos: k.Pos, Val: v, Typ: v.Type(), Limit: k.Limit}
}

func (c compiler) between(e *parser.Between) Expr {
	if e.Symmetric {
		one, two := *e, *e
		one.Symmetric, one.Not, two.Symmetric, two.Not = false, false, false, false
		two.Lo, two.Hi = e.Hi, e.Lo
		var out parser.Expr = &parser.Binary{Pos: e.Pos, Op: "OR", X: &one, Y: &two}
		if e.Not {
			out = &parser.Unary{Pos: e.Pos, Op: "NOT", X: out}
		}
		return c.expr(out)
	}
	lo := &parser.Binary{Pos: e.Pos, Op: ">=", X: e.X, Y: e.Lo}
	hi := &parser.Binary{Pos: e.Pos, Op: "<=", X: e.X, Y: e.Hi}
	both := c.expr(&parser.Binary{Pos: e.Pos, Op: "AND", X: lo, Y: hi})
	return negatedIf(e.Not, both)
}

func (c compiler) in(e *parser.In) Expr {
	if e.Query != nil {
		xs := c.row(e.X)
		return c.subquery(e.Query, Subquery{Pos: e.Pos, Kind: InSubquery, X: xs, Not: e.Not})
	}
	if t, ok := e.X.(*parser.Tuple); ok {
		return c.inRows(e, t)
	}
	x := c.expr(e.X)
	items := c.list(e.List)
	return c.inList(e.Pos, x, e.Not, items)
}

// row compiles the items of a row value, or a single expression.
func (c compiler) row(e parser.Expr) []Expr {
	if t, ok := e.(*parser.Tuple); ok {
		return c.list(t.Items)
	}
	return c.list([]parser.Expr{e})
}

// quantified compiles x op ANY or ALL for a query or an array. x < ALL is NOT x >= ANY.
func (c compiler) quantified(e *parser.Quantified) Expr {
	op := compareOps[e.Op]
	if e.All {
		op = op.Negate()
	}
	xs := c.row(e.X)
	if s, ok := e.Y.(*parser.SubqueryExpr); ok {
		return c.subquery(s.Query, Subquery{Pos: e.Pos, Kind: InSubquery, X: xs, Op: op, Not: e.All})
	}
	if _, ok := e.X.(*parser.Tuple); ok {
		panic(fail.With(parser.Errorf(e.X.Position(), "a row value cannot be compared with an array").WithHint("(a, b) IN ((1, 2), (3, 4)) takes rows")))
	}
	if list, ok := e.Y.(*parser.Array); ok { // the items may have several types
		ys := c.list(list.Items)
		if !slices.ContainsFunc(ys, func(y Expr) bool { return y.Type().IsArray() }) {
			return c.anyOf(e.Pos, op, xs[0], e.All, ys)
		}
	}
	elem := xs[0].Type()
	if elem == types.Null || elem.IsArray() {
		elem = types.String
	}
	y := c.place(c.expr(e.Y), types.ArrayOf(elem))
	c.wants(xs[0], y.Type().ElemOrSelf())
	switch k, constant := y.(*Const); {
	case y.Type() == types.Null, constant && k.Val.IsNull():
		if c.s.Parameters != nil {
			c.s.Parameters.want(y.Position(), ParameterType{Type: xs[0].Type(), List: true})
		}
		return &Const{Pos: e.Pos, Typ: types.Boolean}
	case !y.Type().IsArray():
		panic(fail.With(parser.Errorf(y.Position(), "ANY and ALL take a query or an array, not a %s", y.Type()).WithHint("= ANY (ARRAY[1, 2]) is IN (1, 2)")))
	case constant:
		return c.anyOf(e.Pos, op, xs[0], e.All, k.items())
	}
	return c.anyElement(e.Pos, op, xs[0], y, e.All)
}

// anyOf compiles [NOT] x op ANY (items).
func (c compiler) anyOf(pos parser.Pos, op CompareOp, x Expr, not bool, items []Expr) Expr {
	if len(items) == 0 {
		return &Const{Pos: pos, Val: types.NewBool(not), Typ: types.Boolean}
	}
	if op == EQ {
		return c.inList(pos, x, not, items)
	}
	items = c.decisive(op, x, items)
	alts := make([]Expr, len(items))
	for i, y := range items {
		alts[i] = c.compare(op, x, y, pos)
	}
	return negatedIf(not, disjunction(alts...))
}

func negatedIf(not bool, x Expr) Expr {
	if not {
		return Negate(x)
	}
	return x
}

// decisive omits items that do not affect x op ANY (items). Among the constants of one type it keeps a NULL, and the greatest
// one for <, the least one for >, and two different ones for <>.
func (c compiler) decisive(op CompareOp, x Expr, items []Expr) []Expr {
	var out []Expr
	var null, low, high *Const
	for _, y := range items {
		k, constant := y.(*Const)
		if constant {
			k = c.adapt(k, x.Type())
		}
		switch {
		case !constant || low != nil && !k.Val.IsNull() && k.Typ != low.Typ:
			out = append(out, y)
		case k.Val.IsNull():
			null = k
		case low == nil:
			low, high = k, k
		default:
			below, err := types.Compare(k.Val, low.Val)
			if err != nil {
				panic(fail.With(parser.Errorf(k.Pos, "%s", err)))
			}
			above, _ := types.Compare(k.Val, high.Val)
			if below < 0 {
				low = k
			}
			if above > 0 {
				high = k
			}
		}
	}
	if null != nil {
		out = append(out, null)
	}
	switch {
	case low == nil:
	case op == GT || op == GE:
		out = append(out, low)
	case op == LT || op == LE || low == high:
		out = append(out, high)
	default:
		out = append(out, low, high)
	}
	return out
}

// inList compiles x [NOT] IN (items): an In with the constants, and comparisons with the other items.
func (c compiler) inList(pos parser.Pos, x Expr, not bool, items []Expr) Expr {
	t := types.Null
	for _, y := range items {
		if k, ok := y.(*Const); !ok || !k.untyped() { // a text constant is read as the type of the others
			t = Wider(t, y.Type())
		}
	}
	x, items = c.narrowed(c.place(x, t), items)
	in := &In{Pos: pos, X: x, Not: not, List: make([]types.Value, 0, len(items))}
	var others, floats []Expr
	for _, y := range items {
		if l, ok := y.(*Const); ok {
			if l.Val.IsNull() {
				c.wants(l, x.Type())
				in.HasNull = true
				continue
			}
			if k, ok := c.unpadded(x, l).(*Const); ok {
				l = k
			}
			if roundedBeside(x, l) {
				floats = append(floats, l)
				continue
			}
			if x.Type() != types.Null {
				l = c.adapt(l, x.Type())
				c.comparable(x.Type(), l.Typ, l.Pos)
				if x.Type().IsMoment() && l.Typ != x.Type() {
					others = append(others, l)
					continue
				}
			}
			in.List = append(in.List, l.Val)
			continue
		}
		others = append(others, y)
	}
	var sortErr error
	order := func(a, b types.Value) int {
		r, err := types.Compare(a, b)
		if err != nil {
			sortErr = err
		}
		return r
	}
	slices.SortFunc(in.List, order)
	in.List = slices.CompactFunc(in.List, func(a, b types.Value) bool { return order(a, b) == 0 })
	if sortErr != nil {
		panic(fail.With(parser.Errorf(pos, "the values of an IN list must be comparable: %s", sortErr)))
	}
	if len(others)+len(floats) == 0 {
		return c.fold(in)
	}
	in.Not = false
	alts := []Expr{in}
	if len(in.List) == 0 && !in.HasNull {
		alts = nil
	}
	if len(floats) > 0 {
		rounded := c.cast(x, types.Double, pos)
		equal := c.inList(pos, rounded, false, floats)
		alts = append(alts, equal)
	}
	for _, y := range others {
		eq := c.compare(EQ, x, y, pos)
		alts = append(alts, eq)
	}
	return negatedIf(not, disjunction(alts...))
}

// anyRow compiles [NOT] (xs) op ANY (rows); values has the items of all rows, one row after the other.
func (c compiler) anyRow(pos parser.Pos, op CompareOp, xs []Expr, not bool, values []Expr) Expr {
	if op == EQ {
		any := c.equalsRow(pos, xs, values)
		return negatedIf(not, any)
	}
	var alts []Expr
	for row := range slices.Chunk(values, len(xs)) {
		t := c.compareRows(op, xs, row, pos)
		alts = append(alts, t)
	}
	return negatedIf(not, disjunction(alts...))
}

// equalsRow compiles (xs) IN (rows). It combines rows with equal first items: a = 1 AND b IN (2, 3) OR a = 2 AND b IN (1).
func (c compiler) equalsRow(pos parser.Pos, xs, values []Expr) Expr {
	switch {
	case len(values) == 1:
		return c.compare(EQ, xs[0], values[0], pos)
	case len(xs) == 1:
		return c.inList(pos, xs[0], false, values)
	}
	type group struct {
		first Expr
		rest  []Expr
	}
	var groups []*group
	known := map[string]*group{}
	for row := range slices.Chunk(values, len(xs)) {
		c.wants(row[0], xs[0].Type()) // parameters are alike, and only the first one is compared
		var key string
		if k, constant := row[0].(*Const); constant {
			key = string(k.Val.AppendBinary(nil))
		}
		g := known[key]
		if g == nil || key == "" {
			g = &group{first: row[0]}
			known[key], groups = g, append(groups, g)
		}
		g.rest = append(g.rest, row[1:]...)
	}
	alts := make([]Expr, len(groups))
	for i, g := range groups {
		first := c.compare(EQ, xs[0], g.first, pos)
		rest := c.equalsRow(pos, xs[1:], g.rest)
		alts[i] = conjunction(first, rest)
	}
	return disjunction(alts...)
}

func (c compiler) inRows(e *parser.In, t *parser.Tuple) Expr {
	xs := c.list(t.Items)
	var values []Expr
	for _, item := range e.List {
		row, ok := item.(*parser.Tuple)
		if !ok || len(row.Items) != len(xs) {
			panic(fail.With(parser.Errorf(item.Position(), "expected a row value of %d items", len(xs))))
		}
		ys := c.list(row.Items)
		values = append(values, ys...)
	}
	return c.anyRow(e.Pos, EQ, xs, e.Not, values)
}

func (c compiler) like(e *parser.Like) Expr {
	of := []parser.Expr{e.X, e.Pattern}
	if e.Escape != nil {
		of = append(of, e.Escape)
	}
	args := c.list(of)
	x, p := args[0], args[1]
	for _, side := range args[:2] {
		c.wants(side, types.String)
		if t := side.Type(); !t.IsText() && t != types.Null && t != types.Bytes {
			panic(fail.With(parser.Errorf(e.Pos, "%s takes text, not %s", e.Op, t)))
		}
	}
	if e.Op == "SIMILAR TO" {
		return negatedIf(e.Not, c.apply("SIMILAR_TO", e.Pos, args))
	}
	l := &Like{Pos: e.Pos, X: x, Not: e.Not, Pattern: p}
	if e.Op == "ILIKE" {
		l.Lower = c.registry().Lookup("LOWER")
	}
	if e.Escape != nil {
		ek, ok := args[2].(*Const)
		if !ok || !ek.Typ.IsText() {
			panic(fail.With(parser.Errorf(e.Escape.Position(), "ESCAPE takes a text constant")))
		}
		esc := ek.Val.Text()
		l.Escape = &esc
	}
	if k, ok := p.(*Const); ok && !k.Val.IsNull() {
		s := k.Val.Text()
		if l.Lower != nil {
			s = strings.ToLower(s)
		}
		var err error
		if l.Fixed, err = ParsePattern(s, l.escape()); err != nil {
			panic(fail.With(parser.Errorf(e.Pattern.Position(), "%s", err)))
		}
		if lit, exact, _ := l.Fixed.Prefix(); exact && l.Lower == nil && x.Type() == types.String { // a pattern without wildcards is an equality
			op := EQ
			if l.Not {
				op = NE
			}
			return c.compare(op, x, &Const{Pos: k.Pos, Val: types.NewString(lit), Typ: types.String}, e.Pos)
		}
	}
	return c.fold(l)
}

func (c compiler) is(e *parser.Is) Expr {
	if row := c.tuple(e.X); row != nil && e.What == "NULL" { // all of its values are NULL, or none is
		var all []Expr
		for _, item := range row.Items {
			x := c.is(&parser.Is{Pos: e.Pos, Not: e.Not, X: item, What: e.What})
			all = append(all, x)
		}
		return conjunction(all...)
	}
	x := c.expr(e.X)
	if e.What == "NULL" || e.What == "UNKNOWN" {
		return c.fold(&IsNull{Pos: e.Pos, X: x, Not: e.Not})
	}
	x = c.truth(x, "IS "+e.What, e.Pos)
	want := x
	if e.What == "FALSE" {
		want = Negate(x)
	}
	out := conjunction(&IsNull{Pos: e.Pos, X: x, Not: true}, want)
	return negatedIf(e.Not, out)
}

// Equal returns x = y, or an error if the types cannot be compared.
func Equal(x, y Expr, s *Scope, pos parser.Pos) (_ Expr, err error) {
	defer fail.Catch(&err)
	return compiler{s}.compare(EQ, x, y, pos), nil
}
