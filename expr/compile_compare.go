package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

var compareOps = map[string]CompareOp{"=": EQ, "<>": NE, "!=": NE, "<": LT, "<=": LE, ">": GT, ">=": GE}

func (c compiler) tuples(op CompareOp, x, y *parser.Tuple, pos parser.Pos) (Expr, error) {
	if len(x.Items) != len(y.Items) {
		return nil, parser.Errorf(pos, "row values of %d and %d items cannot be compared", len(x.Items), len(y.Items))
	}
	all, err := c.list(slices.Concat(x.Items, y.Items))
	if err != nil {
		return nil, err
	}
	return c.compareRows(op, all[:len(x.Items)], all[len(x.Items):], pos)
}

// compareRows converts (a, b) > (1, 2) to a > 1 OR (a = 1 AND b > 2).
func (c compiler) compareRows(op CompareOp, xs, ys []Expr, pos parser.Pos) (Expr, error) {
	strict := op
	if op == LE {
		strict = LT
	} else if op == GE {
		strict = GT
	}
	var alts []Expr
	same := make([]Expr, len(xs))
	for i := range xs {
		var err error
		if same[i], err = c.compare(EQ, xs[i], ys[i], pos); err != nil {
			return nil, err
		}
		o := strict
		if i == len(xs)-1 {
			o = op
		}
		t, err := c.compare(o, xs[i], ys[i], pos)
		if err != nil {
			return nil, err
		}
		alts = append(alts, conjunction(append(slices.Clone(same[:i]), t)...))
	}
	switch op {
	case EQ:
		return conjunction(same...), nil
	case NE:
		return Negate(conjunction(same...)), nil
	}
	return disjunction(alts...), nil
}

func (c compiler) list(es []parser.Expr) ([]Expr, error) {
	out := make([]Expr, len(es))
	for i, e := range es {
		x, err := c.expr(e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// compare returns x op y after converting both to a common type.
func (c compiler) compare(op CompareOp, x, y Expr, pos parser.Pos) (Expr, error) {
	if _, ok := x.(*Const); ok {
		if _, ok := y.(*Const); !ok {
			x, y, op = y, x, op.Flip()
		}
	}
	x, ys, err := c.narrowed(x, []Expr{y})
	if err != nil {
		return nil, err
	}
	y = ys[0]
	x, y = c.unpadded(y, x), c.unpadded(x, y)
	if k, ok := y.(*Const); ok && k.Val.HasClock() {
		if y, err = c.adapt(k, x.Type()); err != nil {
			return nil, err
		}
	}
	if k, ok := y.(*Const); ok && x.Type() == types.Date && k.Val.Type().IsTimestamp() {
		return c.compareDay(op, x, k, pos), nil
	}
	if x, y, err = c.meet(x, y, pos); err != nil {
		return nil, err
	}
	return c.fold(&Compare{Pos: pos, Op: op, X: x, Y: y}), nil
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
func (c compiler) narrowed(x Expr, ys []Expr) (_ Expr, _ []Expr, err error) {
	of, ok := x.(*Cast)
	if !ok || !of.X.Type().IsInteger() || of.Typ != types.Decimal && of.Typ != types.Double {
		return c.inMillis(x, ys)
	}
	out := make([]Expr, len(ys))
	for i, y := range ys {
		if y, err = c.place(y, of.Typ); err != nil {
			return nil, nil, err
		}
		if same, ok := y.(*Cast); ok && same.Typ == types.Decimal && of.Typ == types.Decimal {
			y = same.X
		}
		k, constant := y.(*Const)
		if constant && of.Typ == types.Double && k.Typ.IsNumeric() {
			if y, err = c.cast(k, of.Typ, k.Pos); err != nil {
				return nil, nil, err
			}
			k, constant = y.(*Const)
		}
		switch {
		case constant && k.Val.IsNull(), !constant && of.Typ == types.Decimal && y.Type().IsInteger():
		case !constant || !k.Typ.IsNumeric() || roundedBeside(of.X, k):
			return x, ys, nil
		default:
			if whole, err := types.Cast(k.Val, types.BigInt, nil); err == nil {
				if d, err := types.Compare(whole, k.Val); err == nil && d == 0 {
					y = &Const{Pos: k.Pos, Val: whole, Typ: types.BigInt}
				}
			}
		}
		out[i] = y
	}
	return of.X, out, nil
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
func (c compiler) meet(x, y Expr, pos parser.Pos) (Expr, Expr, error) {
	tx, ty := x.Type(), y.Type()
	c.wants(x, ty)
	c.wants(y, tx)
	if tx == types.Null || ty == types.Null || tx == ty {
		return x, y, nil
	}
	var err error
	switch {
	case tx.IsMoment() && ty.IsMoment(): // moments without a zone are in the session's time zone
		return c.moments(x, y, pos)
	case roundedBeside(x, y): // the other operand of a DOUBLE becomes a DOUBLE, as in PostgreSQL
		x, err = c.cast(x, types.Double, pos)
	case roundedBeside(y, x):
		y, err = c.cast(y, types.Double, pos)
	}
	if err != nil {
		return nil, nil, err
	}
	k, constant := x.(*Const)
	text := constant && x.Type() == types.String // a text constant is read as the other side's type
	if right, ok := y.(*Const); ok && !text {
		y, err = c.adapt(right, x.Type())
	} else if constant {
		x, err = c.adapt(k, y.Type())
	}
	if err != nil {
		return nil, nil, err
	}
	return x, y, c.comparable(x.Type(), y.Type(), pos)
}

// moments casts two moments to the wider one of their types.
func (c compiler) moments(x, y Expr, pos parser.Pos) (_, _ Expr, err error) {
	t := Wider(x.Type(), y.Type())
	if x, err = c.cast(x, t, pos); err == nil {
		y, err = c.cast(y, t, pos)
	}
	return x, y, err
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

func (c compiler) comparable(a, b types.Type, pos parser.Pos) error {
	switch {
	case a == b, a == types.Null, b == types.Null, a.IsNumeric() && b.IsNumeric(), a.IsText() && b.IsText(),
		a.IsOID() && (b.IsOID() || b.IsInteger()), a.IsInteger() && b.IsOID(),
		a.IsArray() && b.IsArray() && c.comparable(a.Elem(), b.Elem(), pos) == nil,
		a.IsMoment() && b.IsMoment(): // see meet
		return nil
	}
	err := parser.Errorf(pos, "%s and %s cannot be compared", a, b)
	if a == types.Duration && b.IsInteger() || b == types.Duration && a.IsInteger() {
		return err.WithHint("INTERVAL_MS(n) is an interval of so many milliseconds")
	}
	if a.IsTimestamp() && b.IsInteger() || b.IsTimestamp() && a.IsInteger() {
		return err.WithHint("CAST(n AS TIMESTAMP) is the moment so many milliseconds after 1970, TO_TIMESTAMP(n) so many seconds")
	}
	return err
}

// untyped reports whether k is a text that takes the type of its place: a literal, but no CAST to TEXT.
func (k *Const) untyped() bool { return k.Typ == types.String && k.Limit == types.Untyped }

// adapt casts the constant k to type t if its meaning stays: it reads text as a t, and converts a number to a double; in
// keys also an integer to a TIMESTAMP's milliseconds.
func (c compiler) adapt(k *Const, t types.Type) (*Const, error) {
	from := k.Typ
	cast := false
	switch {
	case from == t || k.Val.IsNull():
		return k, nil
	case from == types.String && !k.untyped():
		return k, nil
	case from == types.String && t.IsNamedOID():
		if x, err := c.cast(k, t, k.Pos); err != nil {
			return nil, err
		} else if named, ok := x.(*Const); ok {
			return named, nil
		}
		return k, nil
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
		return k, nil
	}
	v, err := c.converted(k, t)
	if err != nil && from == types.String && t.IsInteger() { // '1.5', or a number outside the type's range
		v, err = types.ParseDecimal(k.Val.Text())
	}
	if err != nil {
		return nil, parser.Errorf(k.Pos, "%s is not a valid %s: %s", k.Val.SQL(), t, err)
	}
	return &Const{Pos: k.Pos, Val: v, Typ: v.Type(), Limit: k.Limit}, nil
}

func (c compiler) between(e *parser.Between) (Expr, error) {
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
	both, err := c.expr(&parser.Binary{Pos: e.Pos, Op: "AND", X: lo, Y: hi})
	if err != nil {
		return nil, err
	}
	return negatedIf(e.Not, both), nil
}

func (c compiler) in(e *parser.In) (Expr, error) {
	if e.Query != nil {
		xs, err := c.row(e.X)
		if err != nil {
			return nil, err
		}
		return c.subquery(e.Query, Subquery{Pos: e.Pos, Kind: InSubquery, X: xs, Not: e.Not})
	}
	if t, ok := e.X.(*parser.Tuple); ok {
		return c.inRows(e, t)
	}
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	items, err := c.list(e.List)
	if err != nil {
		return nil, err
	}
	return c.inList(e.Pos, x, e.Not, items)
}

// row compiles the items of a row value, or a single expression.
func (c compiler) row(e parser.Expr) ([]Expr, error) {
	if t, ok := e.(*parser.Tuple); ok {
		return c.list(t.Items)
	}
	return c.list([]parser.Expr{e})
}

// quantified compiles x op ANY or ALL for a query or an array. x < ALL is NOT x >= ANY.
func (c compiler) quantified(e *parser.Quantified) (Expr, error) {
	op := compareOps[e.Op]
	if e.All {
		op = op.Negate()
	}
	xs, err := c.row(e.X)
	if err != nil {
		return nil, err
	}
	if s, ok := e.Y.(*parser.SubqueryExpr); ok {
		return c.subquery(s.Query, Subquery{Pos: e.Pos, Kind: InSubquery, X: xs, Op: op, Not: e.All})
	}
	if _, ok := e.X.(*parser.Tuple); ok {
		return nil, parser.Errorf(e.X.Position(), "a row value cannot be compared with an array").WithHint("(a, b) IN ((1, 2), (3, 4)) takes rows")
	}
	if list, ok := e.Y.(*parser.Array); ok { // the items may have several types
		ys, err := c.list(list.Items)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(ys, func(y Expr) bool { return y.Type().IsArray() }) {
			return c.anyOf(e.Pos, op, xs[0], e.All, ys)
		}
	}
	y, err := c.expr(e.Y)
	if err == nil {
		elem := xs[0].Type()
		if elem == types.Null || elem.IsArray() {
			elem = types.String
		}
		y, err = c.place(y, types.ArrayOf(elem))
	}
	if err != nil {
		return nil, err
	}
	switch k, constant := y.(*Const); {
	case y.Type() == types.Null, constant && k.Val.IsNull():
		if c.s.Parameters != nil {
			c.s.Parameters.want(y.Position(), ParameterType{Type: xs[0].Type(), List: true})
		}
		return &Const{Pos: e.Pos, Typ: types.Boolean}, nil
	case !y.Type().IsArray():
		return nil, parser.Errorf(y.Position(), "ANY and ALL take a query or an array, not a %s", y.Type()).WithHint("= ANY (ARRAY[1, 2]) is IN (1, 2)")
	case constant:
		return c.anyOf(e.Pos, op, xs[0], e.All, k.items())
	}
	return c.anyElement(e.Pos, op, xs[0], y, e.All)
}

// anyOf compiles [NOT] x op ANY (items).
func (c compiler) anyOf(pos parser.Pos, op CompareOp, x Expr, not bool, items []Expr) (Expr, error) {
	if len(items) == 0 {
		return &Const{Pos: pos, Val: types.NewBool(not), Typ: types.Boolean}, nil
	}
	if op == EQ {
		return c.inList(pos, x, not, items)
	}
	items, err := c.decisive(op, x, items)
	if err != nil {
		return nil, err
	}
	alts := make([]Expr, len(items))
	for i, y := range items {
		if alts[i], err = c.compare(op, x, y, pos); err != nil {
			return nil, err
		}
	}
	return negatedIf(not, disjunction(alts...)), nil
}

func negatedIf(not bool, x Expr) Expr {
	if not {
		return Negate(x)
	}
	return x
}

// decisive omits items that do not affect x op ANY (items). Among the constants of one type it keeps a NULL, and the greatest
// one for <, the least one for >, and two different ones for <>.
func (c compiler) decisive(op CompareOp, x Expr, items []Expr) ([]Expr, error) {
	var out []Expr
	var null, low, high *Const
	for _, y := range items {
		k, constant := y.(*Const)
		if constant {
			var err error
			if k, err = c.adapt(k, x.Type()); err != nil {
				return nil, err
			}
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
				return nil, parser.Errorf(k.Pos, "%s", err)
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
	return out, nil
}

// inList compiles x [NOT] IN (items): an In with the constants, and comparisons with the other items.
func (c compiler) inList(pos parser.Pos, x Expr, not bool, items []Expr) (Expr, error) {
	t := types.Null
	for _, y := range items {
		if k, ok := y.(*Const); !ok || !k.untyped() { // a text constant is read as the type of the others
			t = Wider(t, y.Type())
		}
	}
	x, err := c.place(x, t)
	if err == nil {
		x, items, err = c.narrowed(x, items)
	}
	if err != nil {
		return nil, err
	}
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
				var err error
				if l, err = c.adapt(l, x.Type()); err != nil {
					return nil, err
				}
				if err := c.comparable(x.Type(), l.Typ, l.Pos); err != nil {
					return nil, err
				}
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
		return nil, parser.Errorf(pos, "the values of an IN list must be comparable: %s", sortErr)
	}
	if len(others)+len(floats) == 0 {
		return c.fold(in), nil
	}
	in.Not = false
	alts := []Expr{in}
	if len(in.List) == 0 && !in.HasNull {
		alts = nil
	}
	if len(floats) > 0 {
		rounded, err := c.cast(x, types.Double, pos)
		if err != nil {
			return nil, err
		}
		equal, err := c.inList(pos, rounded, false, floats)
		if err != nil {
			return nil, err
		}
		alts = append(alts, equal)
	}
	for _, y := range others {
		eq, err := c.compare(EQ, x, y, pos)
		if err != nil {
			return nil, err
		}
		alts = append(alts, eq)
	}
	return negatedIf(not, disjunction(alts...)), nil
}

// anyRow compiles [NOT] (xs) op ANY (rows); values has the items of all rows, one row after the other.
func (c compiler) anyRow(pos parser.Pos, op CompareOp, xs []Expr, not bool, values []Expr) (Expr, error) {
	if op == EQ {
		any, err := c.equalsRow(pos, xs, values)
		if err != nil {
			return nil, err
		}
		return negatedIf(not, any), nil
	}
	var alts []Expr
	for row := range slices.Chunk(values, len(xs)) {
		t, err := c.compareRows(op, xs, row, pos)
		if err != nil {
			return nil, err
		}
		alts = append(alts, t)
	}
	return negatedIf(not, disjunction(alts...)), nil
}

// equalsRow compiles (xs) IN (rows). It combines rows with equal first items: a = 1 AND b IN (2, 3) OR a = 2 AND b IN (1).
func (c compiler) equalsRow(pos parser.Pos, xs, values []Expr) (Expr, error) {
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
		first, err := c.compare(EQ, xs[0], g.first, pos)
		if err != nil {
			return nil, err
		}
		rest, err := c.equalsRow(pos, xs[1:], g.rest)
		if err != nil {
			return nil, err
		}
		alts[i] = conjunction(first, rest)
	}
	return disjunction(alts...), nil
}

func (c compiler) inRows(e *parser.In, t *parser.Tuple) (Expr, error) {
	xs, err := c.list(t.Items)
	if err != nil {
		return nil, err
	}
	var values []Expr
	for _, item := range e.List {
		row, ok := item.(*parser.Tuple)
		if !ok || len(row.Items) != len(xs) {
			return nil, parser.Errorf(item.Position(), "expected a row value of %d items", len(xs))
		}
		ys, err := c.list(row.Items)
		if err != nil {
			return nil, err
		}
		values = append(values, ys...)
	}
	return c.anyRow(e.Pos, EQ, xs, e.Not, values)
}

func (c compiler) like(e *parser.Like) (Expr, error) {
	of := []parser.Expr{e.X, e.Pattern}
	if e.Escape != nil {
		of = append(of, e.Escape)
	}
	args, err := c.list(of)
	if err != nil {
		return nil, err
	}
	x, p := args[0], args[1]
	for _, side := range args[:2] {
		c.wants(side, types.String)
		if t := side.Type(); !t.IsText() && t != types.Null && t != types.Bytes {
			return nil, parser.Errorf(e.Pos, "%s takes text, not %s", e.Op, t)
		}
	}
	if e.Op == "SIMILAR TO" {
		re, err := c.apply("SIMILAR_TO", e.Pos, args)
		if err != nil {
			return nil, err
		}
		return negatedIf(e.Not, re), nil
	}
	l := &Like{Pos: e.Pos, X: x, Not: e.Not, Pattern: p}
	if e.Op == "ILIKE" {
		l.Lower = c.registry().Lookup("LOWER")
	}
	if e.Escape != nil {
		ek, ok := args[2].(*Const)
		if !ok || !ek.Typ.IsText() {
			return nil, parser.Errorf(e.Escape.Position(), "ESCAPE takes a text constant")
		}
		esc := ek.Val.Text()
		l.Escape = &esc
	}
	if k, ok := p.(*Const); ok && !k.Val.IsNull() {
		s := k.Val.Text()
		if l.Lower != nil {
			s = strings.ToLower(s)
		}
		if l.Fixed, err = ParsePattern(s, l.escape()); err != nil {
			return nil, parser.Errorf(e.Pattern.Position(), "%s", err)
		}
		if lit, exact, _ := l.Fixed.Prefix(); exact && l.Lower == nil && x.Type() == types.String { // a pattern without wildcards is an equality
			op := EQ
			if l.Not {
				op = NE
			}
			return c.compare(op, x, &Const{Pos: k.Pos, Val: types.NewString(lit), Typ: types.String}, e.Pos)
		}
	}
	return c.fold(l), nil
}

func (c compiler) is(e *parser.Is) (Expr, error) {
	if row := c.tuple(e.X); row != nil && e.What == "NULL" { // all of its values are NULL, or none is
		var all []Expr
		for _, item := range row.Items {
			x, err := c.is(&parser.Is{Pos: e.Pos, Not: e.Not, X: item, What: e.What})
			if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
		return conjunction(all...), nil
	}
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	if e.What == "NULL" || e.What == "UNKNOWN" {
		return c.fold(&IsNull{Pos: e.Pos, X: x, Not: e.Not}), nil
	}
	if x, err = c.truth(x, "IS "+e.What, e.Pos); err != nil {
		return nil, err
	}
	want := x
	if e.What == "FALSE" {
		want = Negate(x)
	}
	out := conjunction(&IsNull{Pos: e.Pos, X: x, Not: true}, want)
	return negatedIf(e.Not, out), nil
}

// Equal returns x = y, or an error if the types cannot be compared.
func Equal(x, y Expr, s *Scope, pos parser.Pos) (Expr, error) {
	return compiler{s}.compare(EQ, x, y, pos)
}
