package expr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Compile resolves, types and normalises e: constants are folded, NOT is pushed
// down to comparisons, BETWEEN and row values become AND and OR, AND and OR are flattened.
func Compile(e parser.Expr, s *Scope) (Expr, error) {
	c := compiler{s}
	out, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CompileCondition compiles e, which must be BOOLEAN, as a WHERE or ON.
func CompileCondition(e parser.Expr, s *Scope) (Expr, error) {
	out, err := Compile(e, s)
	if err != nil {
		return nil, err
	}
	if t := out.Type(); t != types.Boolean && t != types.Null {
		return nil, parser.Errorf(e.Position(), "a condition must be BOOLEAN, not %s", t)
	}
	return out, nil
}

type compiler struct{ s *Scope }

func (c compiler) fold(e Expr) Expr { return fold(e, c.s.Loc) }

func (c compiler) expr(e parser.Expr) (Expr, error) {
	switch e := e.(type) {
	case *parser.Literal:
		return c.literal(e)
	case *parser.Param:
		if c.s.Param == nil {
			return nil, parser.Errorf(e.Pos, "a parameter cannot stand here")
		}
		v, err := c.s.Param(e)
		if err != nil {
			return nil, err
		}
		return &Const{Pos: e.Pos, Val: v, Typ: v.Type()}, nil
	case *parser.ColumnRef:
		if c.s.Column == nil {
			return nil, parser.Errorf(e.Pos, "a column cannot stand here")
		}
		return c.s.Column(e)
	case *parser.Unary:
		return c.unary(e)
	case *parser.Binary:
		return c.binary(e)
	case *parser.Between:
		return c.between(e)
	case *parser.In:
		return c.in(e)
	case *parser.Like:
		return c.like(e)
	case *parser.Is:
		return c.is(e)
	case *parser.Call:
		if c.s.Call != nil {
			if x, ok, err := c.s.Call(e); ok || err != nil {
				return x, err
			}
		}
		return c.call(e)
	case *parser.Case:
		return c.caseExpr(e)
	case *parser.Cast:
		t, ok := types.ParseType(e.Type)
		if !ok {
			return nil, parser.Errorf(e.Pos, "unknown type %s", e.Type)
		}
		x, err := c.expr(e.X)
		if err != nil {
			return nil, err
		}
		if x, err = c.cast(x, t, e.Pos); err != nil {
			return nil, err
		}
		return c.limit(x, e)
	case *parser.AtTimeZone:
		return c.function("TIMEZONE", e.Pos, []parser.Expr{e.Zone, e.X})
	case *parser.SubqueryExpr:
		if c.s.Subquery == nil {
			return nil, parser.Errorf(e.Pos, "a sub-query cannot stand here")
		}
		return c.s.Subquery(e.Query, e.Pos, e.Exists, nil, false)
	case *parser.Tuple:
		return nil, parser.Errorf(e.Pos, "a row value can only be compared with another row value")
	case *parser.RangeArg:
		return nil, parser.Errorf(e.Pos, "TO can only stand among the values of SALT and RING")
	}
	panic(fmt.Sprintf("expr: unknown node %T", e))
}

func (c compiler) literal(l *parser.Literal) (Expr, error) {
	k := &Const{Pos: l.Pos}
	var err error
	switch l.Kind {
	case parser.NullLiteral:
	case parser.BoolLiteral:
		k.Val = types.NewBool(strings.EqualFold(l.Text, "true"))
	case parser.NumberLiteral:
		k.Val, err = number(l.Text)
	case parser.StringLiteral:
		k.Val = types.NewString(l.Text)
	case parser.IntervalLiteral:
		return nil, parser.Errorf(l.Pos, "an INTERVAL can only be added to a DATE, TIME or TIMESTAMP, taken from one, or be the width of DATE_BIN").
			WithHint("instead of b - a > INTERVAL '2 hours' write b > a + INTERVAL '2 hours'")
	case parser.BytesLiteral:
		k.Val = types.NewBytes(l.Text)
	case parser.DateLiteral:
		k.Val, err = types.Cast(types.NewString(l.Text), types.Date, c.s.Loc)
	case parser.TimeLiteral:
		k.Val, err = types.Cast(types.NewString(l.Text), types.Time, c.s.Loc)
	case parser.TimestampLiteral:
		k.Val, err = types.Cast(types.NewString(l.Text), types.Timestamp, c.s.Loc)
	}
	if err != nil {
		return nil, parser.Errorf(l.Pos, "%s", err)
	}
	k.Typ = k.Val.Type()
	return k, nil
}

// number reads an unsigned number: BIGINT where it fits, else DECIMAL.
func number(text string) (types.Value, error) {
	if !strings.ContainsAny(text, ".eE") {
		if v, err := types.Cast(types.NewString(text), types.BigInt, nil); err == nil {
			return v, nil
		}
	}
	return types.ParseDecimal(text)
}

func (c compiler) unary(e *parser.Unary) (Expr, error) {
	if e.Op == "-" {
		if l, ok := e.X.(*parser.Literal); ok && l.Kind == parser.NumberLiteral { // the least BIGINT has no positive twin
			if v, err := types.Cast(types.NewString("-"+l.Text), types.BigInt, nil); err == nil && !strings.ContainsAny(l.Text, ".eE") {
				return &Const{Pos: e.Pos, Val: v, Typ: v.Type()}, nil
			}
		}
	}
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case "NOT":
		if err := c.needBool(x, "NOT", e.Pos); err != nil {
			return nil, err
		}
		return Negate(x), nil
	case "+": // leaves any value as it is, as SQLite and MySQL have it
		return x, nil
	}
	return c.apply("NEGATE", e.Pos, []Expr{x})
}

func (c compiler) needBool(x Expr, what string, pos parser.Pos) error {
	if t := x.Type(); t != types.Boolean && t != types.Null {
		return parser.Errorf(pos, "%s takes a condition, not %s", what, t)
	}
	return nil
}

var compareOps = map[string]CompareOp{"=": EQ, "<>": NE, "!=": NE, "<": LT, "<=": LE, ">": GT, ">=": GE}

// terms compiles a AND b AND c, or with OR, at once: added one by one they would be copied each time.
func (c compiler) terms(e *parser.Binary) (Expr, error) {
	chain := []*parser.Binary{e}
	for {
		left, ok := chain[len(chain)-1].X.(*parser.Binary)
		if !ok || left.Op != e.Op {
			break
		}
		chain = append(chain, left)
	}
	first := chain[len(chain)-1]
	out := make([]Expr, 0, len(chain)+1)
	add := func(tree parser.Expr, pos parser.Pos) error {
		x, err := c.expr(tree)
		if err == nil {
			err = c.needBool(x, e.Op, pos)
		}
		out = append(out, x)
		return err
	}
	if err := add(first.X, first.Pos); err != nil {
		return nil, err
	}
	for _, b := range slices.Backward(chain) {
		if err := add(b.Y, b.Pos); err != nil {
			return nil, err
		}
	}
	if e.Op == "AND" {
		return conjunction(out...), nil
	}
	return disjunction(out...), nil
}

func (c compiler) binary(e *parser.Binary) (Expr, error) {
	if e.Op == "AND" || e.Op == "OR" {
		return c.terms(e)
	}
	if op, ok := compareOps[e.Op]; ok {
		if tx, ok := e.X.(*parser.Tuple); ok {
			ty, ok := e.Y.(*parser.Tuple)
			if !ok {
				return nil, parser.Errorf(e.Pos, "a row value can only be compared with another row value")
			}
			return c.tuples(op, tx, ty, e.Pos)
		}
	}
	if il, sign, other := intervalOperand(e); il != nil {
		base, err := c.expr(other)
		if err != nil {
			return nil, err
		}
		return c.apply("DATE_ADD_INTERVAL", e.Pos, []Expr{base, intervalText(il, sign)})
	}
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	y, err := c.expr(e.Y)
	if err != nil {
		return nil, err
	}
	if op, ok := compareOps[e.Op]; ok {
		return c.compare(op, x, y, e.Pos)
	}
	switch e.Op {
	case "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		same, err := c.compare(EQ, x, y, e.Pos)
		if err != nil {
			return nil, err
		}
		// same, or both NULL; never unknown
		eq := disjunction(conjunction(&IsNull{Pos: e.Pos, X: x}, &IsNull{Pos: e.Pos, X: y}),
			conjunction(&IsNull{Pos: e.Pos, X: x, Not: true}, &IsNull{Pos: e.Pos, X: y, Not: true}, same))
		if e.Op == "IS DISTINCT FROM" {
			return Negate(eq), nil
		}
		return eq, nil
	case "-":
		if off, ok := c.binOffset(x, y, e.Pos); ok {
			return off, nil
		}
	}
	if x, err = c.asNumber(e, x, y); err != nil {
		return nil, err
	}
	if y, err = c.asNumber(e, y, x); err != nil {
		return nil, err
	}
	return c.apply(e.Op, e.Pos, []Expr{x, y})
}

// asNumber reads a text constant x, which is operand of e, as a number where the other operand y is one: as in
// comparisons it has the type that its place wants.
func (c compiler) asNumber(e *parser.Binary, x, y Expr) (Expr, error) {
	k, ok := x.(*Const)
	if !ok || k.Typ != types.String || !y.Type().IsNumeric() || !strings.Contains("+-*/%", e.Op) {
		return x, nil
	}
	return c.adapt(k, y.Type())
}

// intervalOperand finds the INTERVAL literal of x ± INTERVAL and the other side.
func intervalOperand(e *parser.Binary) (l *parser.Literal, sign string, other parser.Expr) {
	if e.Op != "+" && e.Op != "-" {
		return nil, "", nil
	}
	if l, ok := e.Y.(*parser.Literal); ok && l.Kind == parser.IntervalLiteral {
		if e.Op == "-" {
			sign = "- "
		}
		return l, sign, e.X
	}
	if l, ok := e.X.(*parser.Literal); ok && l.Kind == parser.IntervalLiteral && e.Op == "+" {
		return l, "", e.Y
	}
	return nil, "", nil
}

func intervalText(l *parser.Literal, sign string) *Const {
	return &Const{Pos: l.Pos, Val: types.NewString(sign + l.Text), Typ: types.String}
}

// binOffset recognises x - DATE_BIN(w, x), the offset in the bin.
func (c compiler) binOffset(x, y Expr, pos parser.Pos) (Expr, bool) {
	bin := y
	if k, ok := bin.(*Cast); ok {
		bin = k.X
	}
	call, ok := bin.(*Call)
	if !ok || call.Func.Name != "DATE_BIN" || len(call.Args) != 2 {
		return nil, false
	}
	if x.Type() != types.Timestamp || !Same(call.Args[1], x) {
		return nil, false
	}
	off, err := c.apply("BIN_OFFSET", pos, []Expr{call.Args[0], x})
	return off, err == nil
}

func (c compiler) tuples(op CompareOp, x, y *parser.Tuple, pos parser.Pos) (Expr, error) {
	if len(x.Items) != len(y.Items) {
		return nil, parser.Errorf(pos, "row values of %d and %d items cannot be compared", len(x.Items), len(y.Items))
	}
	xs, err := c.list(x.Items)
	if err != nil {
		return nil, err
	}
	ys, err := c.list(y.Items)
	if err != nil {
		return nil, err
	}
	return c.compareRows(op, xs, ys, pos)
}

// compareRows lowers (a, b) > (1, 2) to a > 1 OR (a = 1 AND b > 2).
func (c compiler) compareRows(op CompareOp, xs, ys []Expr, pos parser.Pos) (Expr, error) {
	if op == EQ || op == NE {
		terms := make([]Expr, len(xs))
		for i := range xs {
			t, err := c.compare(EQ, xs[i], ys[i], pos)
			if err != nil {
				return nil, err
			}
			terms[i] = t
		}
		all := conjunction(terms...)
		if op == NE {
			return Negate(all), nil
		}
		return all, nil
	}
	strict := op
	if op == LE {
		strict = LT
	} else if op == GE {
		strict = GT
	}
	var alts []Expr
	var same []Expr
	for i := range xs {
		o := strict
		if i == len(xs)-1 {
			o = op
		}
		t, err := c.compare(o, xs[i], ys[i], pos)
		if err != nil {
			return nil, err
		}
		alts = append(alts, conjunction(append(slices.Clone(same), t)...))
		eq, err := c.compare(EQ, xs[i], ys[i], pos)
		if err != nil {
			return nil, err
		}
		same = append(same, eq)
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

// compare makes x op y after making the types meet.
func (c compiler) compare(op CompareOp, x, y Expr, pos parser.Pos) (Expr, error) {
	if _, ok := x.(*Const); ok {
		if _, ok := y.(*Const); !ok {
			x, y, op = y, x, op.Flip()
		}
	}
	if k, ok := y.(*Const); ok && x.Type() == types.Date && k.Val.Type() == types.Timestamp {
		return c.compareDay(op, x, k, pos), nil
	}
	x, y, err := c.meet(x, y, pos)
	if err != nil {
		return nil, err
	}
	return c.fold(&Compare{Pos: pos, Op: op, X: x, Y: y}), nil
}

// compareDay compares the midnights of x, a DATE, with the moment k, by days: keys and filters hold days.
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

// meet casts a constant to the other side's type, or refuses types that cannot be compared.
func (c compiler) meet(x, y Expr, pos parser.Pos) (Expr, Expr, error) {
	tx, ty := x.Type(), y.Type()
	if tx == types.Null || ty == types.Null || tx == ty {
		return x, y, nil
	}
	switch { // a DATE beside a TIMESTAMP is its midnight in the session's zone
	case tx == types.Date && ty == types.Timestamp:
		x, err := c.cast(x, ty, pos)
		return x, y, err
	case tx == types.Timestamp && ty == types.Date:
		y, err := c.cast(y, tx, pos)
		return x, y, err
	}
	_, constant := x.(*Const)
	text := constant && tx == types.String // is read as the other, be that constant or not
	if k, ok := y.(*Const); ok && !text {
		n, err := c.adapt(k, tx)
		if err != nil {
			return nil, nil, err
		}
		return x, n, c.comparable(tx, n.Type(), pos)
	}
	if k, ok := x.(*Const); ok {
		n, err := c.adapt(k, ty)
		if err != nil {
			return nil, nil, err
		}
		return n, y, c.comparable(n.Type(), ty, pos)
	}
	return x, y, c.comparable(tx, ty, pos)
}

func (c compiler) comparable(a, b types.Type, pos parser.Pos) error {
	switch {
	case a == b, a == types.Null, b == types.Null, a.IsNumeric() && b.IsNumeric(), a.IsText() && b.IsText(),
		a == types.Date && b == types.Timestamp, a == types.Timestamp && b == types.Date: // see meet
		return nil
	}
	return parser.Errorf(pos, "%s and %s cannot be compared", a, b)
}

// adapt casts the constant k to type t where that keeps its meaning: text is
// read as a t, a number becomes a double beside a double, an integer a TIMESTAMP's milliseconds.
func (c compiler) adapt(k *Const, t types.Type) (*Const, error) {
	from := k.Typ
	cast := false
	switch {
	case from == t || k.Val.IsNull():
		return k, nil
	case from == types.String:
		cast = !t.IsText()
	case from == types.Date && t == types.Timestamp, from.IsInteger() && t == types.Timestamp, from == types.Bytes && t == types.String:
		cast = true
	case from.IsNumeric() && (t == types.Double || t == types.Float):
		t = types.Double // FLOAT columns are kept as doubles
		cast = true
	case from.IsInteger() && t == types.Decimal:
		cast = true
	}
	if !cast {
		return k, nil
	}
	v, err := types.Cast(k.Val, t, c.s.Loc)
	if err != nil && from == types.String && t.IsInteger() { // '1.5' or a number beyond the type
		v, err = types.ParseDecimal(k.Val.Text())
	}
	if err != nil {
		return nil, parser.Errorf(k.Pos, "%s is no %s: %s", k.Val.SQL(), t, err)
	}
	return &Const{Pos: k.Pos, Val: v, Typ: v.Type()}, nil
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
	x, err := c.binary(lo)
	if err != nil {
		return nil, err
	}
	y, err := c.binary(hi)
	if err != nil {
		return nil, err
	}
	both := conjunction(x, y)
	if e.Not {
		return Negate(both), nil
	}
	return both, nil
}

func (c compiler) in(e *parser.In) (Expr, error) {
	if e.Query != nil {
		if c.s.Subquery == nil {
			return nil, parser.Errorf(e.Pos, "a sub-query cannot stand here")
		}
		x, err := c.expr(e.X)
		if err != nil {
			return nil, err
		}
		return c.s.Subquery(e.Query, e.Pos, false, x, e.Not)
	}
	if t, ok := e.X.(*parser.Tuple); ok {
		return c.inRows(e, t)
	}
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	items := make([]Expr, len(e.List))
	for i, item := range e.List {
		if items[i], err = c.expr(item); err != nil {
			return nil, err
		}
	}
	return c.inList(e.Pos, x, e.Not, items)
}

// inList is x [NOT] IN (items): an In of the constants, and comparisons with the others.
func (c compiler) inList(pos parser.Pos, x Expr, not bool, items []Expr) (Expr, error) {
	in := &In{Pos: pos, X: x, Not: not, List: make([]types.Value, 0, len(items))}
	var others []Expr
	for _, y := range items {
		if l, ok := y.(*Const); ok {
			if l.Val.IsNull() {
				in.HasNull = true
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
				if x.Type() == types.Date && l.Typ == types.Timestamp {
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
	if len(others) == 0 {
		return c.fold(in), nil
	}
	in.Not = false
	alts := []Expr{in}
	if len(in.List) == 0 && !in.HasNull {
		alts = nil
	}
	for _, y := range others {
		eq, err := c.compare(EQ, x, y, pos)
		if err != nil {
			return nil, err
		}
		alts = append(alts, eq)
	}
	any := disjunction(alts...)
	if not {
		return Negate(any), nil
	}
	return any, nil
}

func (c compiler) inRows(e *parser.In, t *parser.Tuple) (Expr, error) {
	xs, err := c.list(t.Items)
	if err != nil {
		return nil, err
	}
	alts := make([]Expr, 0, len(e.List))
	for _, item := range e.List {
		row, ok := item.(*parser.Tuple)
		if !ok || len(row.Items) != len(xs) {
			return nil, parser.Errorf(item.Position(), "expected a row value of %d items", len(xs))
		}
		ys, err := c.list(row.Items)
		if err != nil {
			return nil, err
		}
		eq, err := c.compareRows(EQ, xs, ys, e.Pos)
		if err != nil {
			return nil, err
		}
		alts = append(alts, eq)
	}
	any := disjunction(alts...)
	if e.Not {
		return Negate(any), nil
	}
	return any, nil
}

func (c compiler) like(e *parser.Like) (Expr, error) {
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	p, err := c.expr(e.Pattern)
	if err != nil {
		return nil, err
	}
	for _, side := range []Expr{x, p} {
		if t := side.Type(); !t.IsText() && t != types.Null && t != types.Bytes {
			return nil, parser.Errorf(e.Pos, "%s takes text, not %s", e.Op, t)
		}
	}
	if e.Op == "SIMILAR TO" {
		args := []Expr{x, p}
		if e.Escape != nil {
			k, err := c.expr(e.Escape)
			if err != nil {
				return nil, err
			}
			args = append(args, k)
		}
		re, err := c.apply("SIMILAR_TO", e.Pos, args)
		if err != nil {
			return nil, err
		}
		if e.Not {
			return Negate(re), nil
		}
		return re, nil
	}
	l := &Like{Pos: e.Pos, X: x, Not: e.Not, Fold: e.Op == "ILIKE", Pattern: p}
	if e.Escape != nil {
		k, err := c.expr(e.Escape)
		if err != nil {
			return nil, err
		}
		ek, ok := k.(*Const)
		if !ok || !ek.Typ.IsText() {
			return nil, parser.Errorf(e.Escape.Position(), "ESCAPE takes a text constant")
		}
		esc := ek.Val.Text()
		l.Escape = &esc
	}
	if k, ok := p.(*Const); ok && !k.Val.IsNull() {
		s := k.Val.Text()
		if l.Fold {
			s = strings.ToLower(s)
		}
		if l.Fixed, err = ParsePattern(s, l.escape()); err != nil {
			return nil, parser.Errorf(e.Pattern.Position(), "%s", err)
		}
		if lit, exact, _ := l.Fixed.Prefix(); exact && !l.Fold && x.Type() == types.String { // no wildcard: equality
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
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	if e.What == "NULL" || e.What == "UNKNOWN" {
		return c.fold(&IsNull{Pos: e.Pos, X: x, Not: e.Not}), nil
	}
	if err := c.needBool(x, "IS "+e.What, e.Pos); err != nil {
		return nil, err
	}
	want := x
	if e.What == "FALSE" {
		want = Negate(x)
	}
	out := conjunction(&IsNull{Pos: e.Pos, X: x, Not: true}, want)
	if e.Not {
		return Negate(out), nil
	}
	return out, nil
}

func (c compiler) caseExpr(e *parser.Case) (Expr, error) {
	out := &Case{Pos: e.Pos}
	var results []Expr
	for _, w := range e.Whens {
		cond := w.Cond
		if e.X != nil {
			cond = &parser.Binary{Pos: w.Cond.Position(), Op: "=", X: e.X, Y: w.Cond}
		}
		cx, err := CompileCondition(cond, c.s)
		if err != nil {
			return nil, err
		}
		then, err := c.expr(w.Then)
		if err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, When{cx, then})
		results = append(results, then)
	}
	out.Else = &Const{Pos: e.Pos}
	if e.Else != nil {
		x, err := c.expr(e.Else)
		if err != nil {
			return nil, err
		}
		out.Else = x
	}
	results, t, err := c.common(append(results, out.Else), e.Pos)
	if err != nil {
		return nil, err
	}
	out.Typ = t
	for i := range out.Whens {
		out.Whens[i].Then = results[i]
	}
	out.Else = results[len(results)-1]
	return c.fold(out), nil
}

// common gives expressions one type: that of the first which has one, widened among numbers.
func (c compiler) common(xs []Expr, pos parser.Pos) ([]Expr, types.Type, error) {
	t := types.Null
	for _, x := range xs {
		t = widen(t, x.Type())
	}
	for _, x := range xs { // a text constant beside another type is read as that type
		if k, ok := x.(*Const); (!ok || k.Typ != types.String) && x.Type() != types.Null && t == types.String {
			t = x.Type()
		}
	}
	out := slices.Clone(xs)
	for i, x := range xs {
		if x.Type() == t {
			continue
		}
		k, isConst := x.(*Const)
		switch {
		case isConst && k.Val.IsNull():
			out[i] = &Const{Pos: k.Pos, Typ: t}
		case isConst && k.Typ == types.String, x.Type().IsNumeric() && t.IsNumeric(), x.Type() == types.Date && t == types.Timestamp:
			y, err := c.cast(x, t, pos)
			if err != nil {
				return nil, t, err
			}
			out[i] = y
		case x.Type() == types.Null:
		default:
			return nil, t, parser.Errorf(pos, "%s and %s cannot stand side by side here", x.Type(), t)
		}
	}
	return out, t, nil
}

// Equal is x = y; types that cannot be compared are an error.
func Equal(x, y Expr, pos parser.Pos) (Expr, error) {
	return compiler{&Scope{}}.compare(EQ, x, y, pos)
}

// Coalesce is COALESCE(x, y).
func Coalesce(x, y Expr, pos parser.Pos) (Expr, error) {
	c := compiler{&Scope{}}
	both, _, err := c.common([]Expr{x, y}, pos)
	if err != nil {
		return nil, err
	}
	return c.apply("COALESCE", pos, both)
}

// Common gives expressions one type, the one that holds the values of all; text constants are read as it.
func Common(xs []Expr, s *Scope, pos parser.Pos) ([]Expr, types.Type, error) {
	return compiler{s}.common(xs, pos)
}

// Widen gives the type that holds the values of both, ok false where there is none: numbers
// widen, a DATE goes into a TIMESTAMP.
func Widen(a, b types.Type) (t types.Type, ok bool) {
	t = widen(a, b)
	if a == types.Timestamp && b == types.Date {
		t = a
	}
	fits := func(x types.Type) bool {
		return x == t || x == types.Null || x.IsNumeric() && t.IsNumeric() || x == types.Date && t == types.Timestamp
	}
	return t, fits(a) && fits(b)
}

// widen gives the type that holds both: the wider number, a TIMESTAMP over a DATE, else the first that is known.
func widen(a, b types.Type) types.Type {
	switch {
	case a == types.Null:
		return b
	case b == types.Null:
		return a
	case a.IsInteger() && b.IsInteger():
		return max(a, b)
	case a == b:
		return a
	case a.IsNumeric() && b.IsNumeric():
		if a == types.Double || b == types.Double || a == types.Float || b == types.Float {
			return types.Double
		}
		return types.Decimal
	case a == types.Date && b == types.Timestamp:
		return b
	}
	return a
}

func (c compiler) cast(x Expr, t types.Type, pos parser.Pos) (Expr, error) {
	if x.Type() == t {
		return x, nil
	}
	k := &Cast{Pos: pos, X: x, Typ: t, Zone: cmp.Or(c.s.Loc, time.UTC)}
	if l, ok := x.(*Const); ok {
		v, err := types.Cast(l.Val, t, c.s.Loc)
		if err != nil && l.Val.Type().IsNumeric() && t.IsNumeric() {
			return k, nil // fails if it is evaluated
		}
		if err != nil {
			return nil, parser.Errorf(pos, "%s", err)
		}
		return &Const{Pos: l.Pos, Val: v, Typ: t}, nil
	}
	return k, nil
}

// limit cuts x to what stands in parentheses behind a CAST's type: CHAR(3), DECIMAL(10,2).
func (c compiler) limit(x Expr, e *parser.Cast) (Expr, error) {
	_, list, ok := strings.Cut(strings.TrimSuffix(e.Type, ")"), "(")
	if !ok || x.Type() != types.String && x.Type() != types.Decimal {
		return x, nil
	}
	args := []Expr{x}
	for _, s := range strings.Split(list, ",") {
		v, err := types.Cast(types.NewString(s), types.BigInt, nil)
		if err != nil || v.Int() > 1000 && x.Type() == types.Decimal {
			return nil, parser.Errorf(e.Pos, "%s cannot have the length %s", x.Type(), s)
		}
		args = append(args, &Const{Pos: e.Pos, Val: v, Typ: v.Type()})
	}
	if x.Type() == types.String {
		return c.apply("LEFT", e.Pos, args)
	}
	return c.apply("DECIMAL", e.Pos, args)
}

func (c compiler) registry() *Registry {
	if c.s.Funcs != nil {
		return c.s.Funcs
	}
	return Builtins()
}

func misplaced(pos parser.Pos, aggregate string) error {
	return parser.Errorf(pos, "%s is an aggregate, which cannot stand here", aggregate).
		WithHint("aggregates stand in SELECT, HAVING and ORDER BY: HAVING has the conditions on groups, WHERE those on rows")
}

func (c compiler) call(e *parser.Call) (Expr, error) {
	if e.Star || e.Distinct || e.Filter != nil || len(e.OrderBy) > 0 {
		switch f := c.registry().Lookup(e.Name); {
		case f == nil: // which is what it says
		case f.Group == "aggregate":
			return nil, misplaced(e.Pos, e.Name)
		default:
			return nil, parser.Errorf(e.Pos, "%s is no aggregate: it takes no *, DISTINCT, ORDER BY or FILTER", e.Name)
		}
	}
	return c.function(e.Name, e.Pos, e.Args)
}

func (c compiler) function(name string, pos parser.Pos, args []parser.Expr) (Expr, error) {
	var flat []Expr
	for i, a := range args {
		if r, ok := a.(*parser.RangeArg); ok {
			items, err := c.rangeArg(r)
			if err != nil {
				return nil, err
			}
			flat = append(flat, items...)
			continue
		}
		if name == "LOOKUP" && i == 0 { // the first argument names a table's column
			ref, ok := a.(*parser.ColumnRef)
			if !ok || ref.Table == "" {
				return nil, parser.Errorf(a.Position(), "LOOKUP takes table.column first")
			}
			flat = append(flat, &Const{Pos: ref.Pos, Val: types.NewString(ref.Table + "." + ref.Name), Typ: types.String})
			continue
		}
		if l, ok := a.(*parser.Literal); ok && l.Kind == parser.IntervalLiteral && i == 0 && (name == "DATE_BIN" || name == "BIN_OFFSET") {
			flat = append(flat, intervalText(l, ""))
			continue
		}
		x, err := c.expr(a)
		if err != nil {
			return nil, err
		}
		flat = append(flat, x)
	}
	switch name {
	case "NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE":
		if c.s.Key {
			return nil, parser.Errorf(pos, "%s differs each time: a key with it could not be found again", name)
		}
	}
	if f := fieldFunctions[name]; f != "" && len(flat) == 1 {
		return c.apply("EXTRACT", pos, []Expr{&Const{Pos: pos, Val: types.NewString(f), Typ: types.String}, flat[0]})
	}
	switch name {
	case "NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP":
		return &Const{Pos: pos, Val: types.NewTimestamp(c.s.Now), Typ: types.Timestamp}, nil
	case "CURRENT_DATE":
		v, err := types.Cast(types.NewTimestamp(c.s.Now), types.Date, c.s.Loc)
		return &Const{Pos: pos, Val: v, Typ: types.Date}, err
	case "COALESCE", "GREATEST", "LEAST", "IFNULL", "NVL":
		xs, _, err := c.common(flat, pos)
		if err != nil {
			return nil, err
		}
		flat = xs
	case "NULLIF":
		if len(flat) == 2 {
			eq, err := c.compare(EQ, flat[0], flat[1], pos)
			if err != nil {
				return nil, err
			}
			return c.fold(&Case{Pos: pos, Whens: []When{{eq, &Const{Pos: pos, Typ: flat[0].Type()}}}, Else: flat[0], Typ: flat[0].Type()}), nil
		}
	}
	return c.apply(name, pos, flat)
}

// fieldFunctions are functions that are EXTRACTs.
var fieldFunctions = map[string]string{"YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "DAYOFMONTH": "day", "DAYOFYEAR": "doy", "HOUR": "hour", "MINUTE": "minute", "SECOND": "second"}

// rangeArg lists 'a' TO 'b' of equal-width decimal numbers, or of integers.
func (c compiler) rangeArg(r *parser.RangeArg) ([]Expr, error) {
	lo, err := c.expr(r.Lo)
	if err != nil {
		return nil, err
	}
	hi, err := c.expr(r.Hi)
	if err != nil {
		return nil, err
	}
	a, ok1 := lo.(*Const)
	b, ok2 := hi.(*Const)
	if !ok1 || !ok2 || a.Typ != b.Typ {
		return nil, parser.Errorf(r.Pos, "TO takes two constants of one type")
	}
	const most = 1 << 16
	var from, to int64
	width := 0
	switch {
	case a.Typ == types.BigInt:
		from, to = a.Val.Int(), b.Val.Int()
	case a.Typ == types.String && len(a.Val.Text()) == len(b.Val.Text()):
		width = len(a.Val.Text())
		va, err1 := types.Cast(a.Val, types.BigInt, nil)
		vb, err2 := types.Cast(b.Val, types.BigInt, nil)
		if err1 != nil || err2 != nil {
			return nil, parser.Errorf(r.Pos, "TO takes numbers, or texts of digits of one width")
		}
		from, to = va.Int(), vb.Int()
	default:
		return nil, parser.Errorf(r.Pos, "TO takes numbers, or texts of digits of one width")
	}
	if to < from || to-from >= most {
		return nil, parser.Errorf(r.Pos, "%s TO %s is not a range of at most %d values", a, b, most)
	}
	var out []Expr
	for i := from; i <= to; i++ {
		v := types.NewInt(i)
		if width > 0 {
			v = types.NewString(fmt.Sprintf("%0*d", width, i))
		}
		out = append(out, &Const{Pos: r.Pos, Val: v, Typ: v.Type()})
	}
	return out, nil
}

// apply makes a call of the function called name.
func (c compiler) apply(name string, pos parser.Pos, args []Expr) (Expr, error) {
	f := c.registry().Lookup(name)
	switch {
	case f == nil:
		return nil, Suggest(parser.Errorf(pos, "unknown function %s", name), name, slices.Sorted(maps.Keys(c.registry().funcs)))
	case f.Group == "key" && !c.s.Key:
		return nil, parser.Errorf(pos, "%s stands only in key parts", name)
	}
	if len(args) < f.MinArgs || f.MaxArgs >= 0 && len(args) > f.MaxArgs {
		return nil, parser.Errorf(pos, "%s takes %s, not %d", f.Name, f.arity(), len(args))
	}
	if c.s.Key && f.Group == "operator" {
		for i, a := range args {
			if a.Type() == types.Timestamp {
				args = slices.Clone(args)
				args[i] = &Cast{Pos: a.Position(), X: a, Typ: types.BigInt}
			}
		}
	}
	if f.Eval == nil {
		return nil, misplaced(pos, f.Name)
	}
	t, err := f.Result(args)
	if err != nil {
		return nil, parser.Errorf(pos, "%s", err)
	}
	return c.fold(&Call{Pos: pos, Func: f, Args: args, Typ: t}), nil
}
