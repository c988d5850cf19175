package expr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Compile resolves, types and normalizes e: it folds constants, moves NOT into comparisons, converts BETWEEN and row
// values to AND and OR, and flattens AND and OR.
func Compile(e parser.Expr, s *Scope) (_ Expr, err error) {
	defer fail.Catch(&err)
	return compiler{s}.expr(e), nil
}

// CompileAll works like Compile for several expressions.
func CompileAll(es []parser.Expr, s *Scope) (_ []Expr, err error) {
	defer fail.Catch(&err)
	return compiler{s}.list(es), nil
}

// CompileCondition compiles e, the condition of a WHERE or ON, which must be BOOLEAN.
func CompileCondition(e parser.Expr, s *Scope) (_ Expr, err error) {
	defer fail.Catch(&err)
	return compiler{s}.condition(e), nil
}

func (c compiler) condition(e parser.Expr) Expr {
	out := c.place(c.expr(e), types.Boolean)
	if t := out.Type(); t != types.Boolean && t != types.Null {
		panic(fail.With(parser.Errorf(e.Position(), "a condition must be BOOLEAN, not %s", t)))
	}
	return out
}

type compiler struct{ s *Scope }

func (c compiler) fold(e Expr) Expr { return FoldNode(e, c.s.Loc) }

// expr compiles e: one case for each kind of expression.
func (c compiler) expr(e parser.Expr) Expr {
	if c.s.Stop != nil {
		if c.s.steps++; c.s.steps%256 == 0 {
			fail.On(c.s.Stop())
		}
	}
	switch e := e.(type) {
	case *parser.Literal:
		return c.literal(e)
	case *parser.Param:
		if c.s.Param == nil {
			panic(fail.With(parser.Errorf(e.Pos, "a parameter is not allowed here")))
		}
		v := fail.Must(c.s.Param(e))
		typ := v.Type()
		if v.IsNull() {
			typ = c.s.Parameters.typeOf(e)
		}
		return &Const{Pos: e.Pos, Val: v, Typ: typ, Limit: types.Untyped}
	case *parser.ColumnRef:
		if c.s.Column == nil {
			panic(fail.With(parser.Errorf(e.Pos, "a column is not allowed here")))
		}
		return fail.Must(c.s.Column(e))
	case *parser.Unary:
		return c.unary(e)
	case *parser.Binary:
		return c.binary(e)
	case *parser.Between:
		return c.between(e)
	case *parser.In:
		return c.in(e)
	case *parser.Quantified:
		return c.quantified(e)
	case *parser.Array:
		return c.array(e)
	case *parser.Subscript:
		return c.subscript(e)
	case *parser.Like:
		return c.like(e)
	case *parser.Is:
		return c.is(e)
	case *parser.Call:
		if c.s.Call != nil {
			x, ok, err := c.s.Call(e)
			if fail.On(err); ok {
				return x
			}
		}
		return c.call(e)
	case *parser.Case:
		return c.caseExpr(e)
	case *parser.Cast:
		if a, ok := e.X.(*parser.Array); ok && len(a.Items) == 0 && strings.HasSuffix(e.Type, "[]") { // '{}' has elements of the cast's type
			e = &parser.Cast{Pos: e.Pos, X: &parser.Literal{Pos: a.Pos, Kind: parser.StringLiteral, Text: "{}"}, Type: e.Type}
		}
		t, ok := types.ParseType(types.WrittenType(e.Type))
		if e.Type == "JSONPATH" {
			return c.function("JSONPATH", e.Pos, []parser.Expr{e.X})
		}
		if !ok {
			panic(fail.With(UnknownType(e.Type, e.Pos)))
		}
		x := c.expr(e.X)
		c.castable(x, t, e.Pos)
		x = c.cast(x, t, e.Pos)
		switch k := x.(type) {
		case *Const:
			if e.Type == "TEXT" || t.ElemOrSelf().IsInteger() { // spaces at the end of the text count
				x = &Const{Pos: k.Pos, Val: k.Val, Typ: k.Typ}
			}
		case *Cast:
			x = &Cast{Pos: k.Pos, X: k.X, Typ: k.Typ, Zone: k.Zone, Key: k.Key, Written: true}
		default:
			if t == types.BigInt && Declared(x) != t && !c.s.Key {
				x = &Cast{Pos: e.Pos, X: x, Typ: t, Zone: cmp.Or(c.s.Loc, time.UTC), Written: true}
			}
		}
		return c.limit(x, e)
	case *parser.AtTimeZone:
		return c.function("TIMEZONE", e.Pos, []parser.Expr{e.Zone, e.X})
	case *parser.SubqueryExpr:
		use := Subquery{Pos: e.Pos, Kind: ScalarSubquery, Columns: e.Columns, Column: e.Column}
		if e.Exists {
			use.Kind = ExistsSubquery
		} else if e.Array {
			use.Kind = ArraySubquery
		}
		return c.subquery(e.Query, use)
	case *parser.Tuple:
		return c.function("ROW", e.Pos, e.Items)
	case *parser.RangeArg:
		panic(fail.With(parser.Errorf(e.Pos, "TO is allowed only among the values of SALT and RING")))
	case *parser.EncodedArg:
		return c.encoded(e)
	}
	panic(fmt.Sprintf("expr: unknown node %T", e))
}

func (c compiler) subquery(q *parser.Select, use Subquery) Expr {
	if c.s.Subquery == nil {
		panic(fail.With(parser.Errorf(use.Pos, "a sub-query is not allowed here")))
	}
	return fail.Must(c.s.Subquery(q, use))
}

func (c compiler) literal(l *parser.Literal) Expr {
	k := &Const{Pos: l.Pos}
	var err error
	switch l.Kind {
	case parser.NullLiteral:
	case parser.BoolLiteral:
		k.Val = types.NewBool(strings.EqualFold(l.Text, "true"))
	case parser.NumberLiteral:
		k.Val, err = number(l.Text)
		k.Limit = types.Untyped
	case parser.StringLiteral:
		k.Val, k.Limit = types.NewString(l.Text), types.Untyped
	case parser.IntervalLiteral:
		k.Val, err = types.ParseInterval(l.Text)
	case parser.BytesLiteral:
		k.Val = types.NewBytes(l.Text)
	default:
		t := map[parser.LiteralKind]types.Type{parser.DateLiteral: types.Date, parser.TimeLiteral: types.Time, parser.TimestampLiteral: types.Timestamp}[l.Kind]
		k.Val, err = c.converted(&Const{Pos: l.Pos, Val: types.NewString(l.Text)}, t)
	}
	if err != nil {
		panic(fail.With(parser.Errorf(l.Pos, "%s", err)))
	}
	k.Typ = k.Val.Type()
	return k
}

// converted returns a constant as a value of type t. It reports texts that are moments to Scope.Moment.
func (c compiler) converted(k *Const, t types.Type) (v types.Value, err error) {
	if c.s.Key {
		v, err = types.Cast(k.Val, t, c.s.Loc)
	} else {
		v, err = types.Read(k.Val, t, c.s.Now, c.s.Loc)
	}
	if err == nil && t == types.Timestamp && k.Val.Type() == types.String && c.s.Moment != nil {
		c.s.Moment(k.Pos, v)
	}
	return v, err
}

// number parses a number as a BIGINT if it fits, otherwise as a DECIMAL.
func number(text string) (types.Value, error) {
	if !strings.ContainsAny(text, ".eE") {
		if v, err := types.Cast(types.NewString(text), types.BigInt, nil); err == nil {
			return v, nil
		}
	}
	return types.ParseDecimal(text)
}

func (c compiler) unary(e *parser.Unary) Expr {
	if e.Op == "-" {
		if l, ok := e.X.(*parser.Literal); ok && l.Kind == parser.NumberLiteral { // the least BIGINT is not the negative of a BIGINT
			if v, err := types.Cast(types.NewString("-"+l.Text), types.BigInt, nil); err == nil && !strings.ContainsAny(l.Text, ".eE") {
				return &Const{Pos: e.Pos, Val: v, Typ: v.Type(), Limit: types.Untyped}
			}
		}
	}
	x := c.expr(e.X)
	switch e.Op {
	case "NOT":
		return Negate(c.truth(x, "NOT", e.Pos))
	case "+": // it returns any value unchanged, as in SQLite and MySQL
		return x
	}
	if e.Op == "~" {
		if t := x.Type(); t.IsText() {
			panic(fail.With(parser.Errorf(e.Pos, "~ in front of a %s: it inverts the bits of an integer", t)))
		}
		return c.apply("BIT_NOT", e.Pos, []Expr{x})
	}
	if x.Type() == types.Duration {
		return c.negative(x, e.Pos)
	}
	return c.apply("NEGATE", e.Pos, []Expr{x})
}

// truth returns x, the operand of what, which must be BOOLEAN.
func (c compiler) truth(x Expr, what string, pos parser.Pos) Expr {
	x = c.place(x, types.Boolean)
	if t := x.Type(); t != types.Boolean && t != types.Null {
		panic(fail.With(parser.Errorf(pos, "%s takes a condition, not %s", what, t)))
	}
	return x
}

// terms compiles a AND b AND c, or OR, in one step: adding terms one by one would copy the list each time.
func (c compiler) terms(e *parser.Binary) Expr {
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
	out = append(out, c.truth(c.expr(first.X), e.Op, first.Pos))
	for _, b := range slices.Backward(chain) {
		out = append(out, c.truth(c.expr(b.Y), e.Op, b.Pos))
	}
	if e.Op == "AND" {
		return conjunction(out...)
	}
	return disjunction(out...)
}

func (c compiler) binary(e *parser.Binary) Expr {
	if e.Op == "AND" || e.Op == "OR" {
		return c.terms(e)
	}
	op, compares := compareOps[e.Op]
	if distinct := e.Op == "IS DISTINCT FROM"; distinct || compares {
		tx, ty := c.tuple(e.X), c.tuple(e.Y)
		switch {
		case tx == nil && ty == nil:
		case tx == nil || ty == nil:
			panic(fail.With(parser.Errorf(e.Pos, "a row value can only be compared with another row value")))
		case distinct && len(tx.Items) == len(ty.Items):
			var some []Expr
			for i := range tx.Items {
				x := c.binary(&parser.Binary{Pos: e.Pos, Op: e.Op, X: tx.Items[i], Y: ty.Items[i]})
				some = append(some, x)
			}
			return disjunction(some...)
		case parser.Expr(tx) != e.X && parser.Expr(ty) != e.Y && len(tx.Items) == len(ty.Items): // of rows of tables NULLs are alike, unlike those of ROW(...)
			same := recordComparison(op, tx, ty, e.Pos)
			missing := &parser.Binary{Pos: e.Pos, Op: "OR", X: &parser.Is{Pos: e.Pos, X: e.X, What: "NULL"}, Y: &parser.Is{Pos: e.Pos, X: e.Y, What: "NULL"}} // of an outer join
			null := &parser.Literal{Pos: e.Pos, Kind: parser.NullLiteral}
			return c.expr(&parser.Case{Pos: e.Pos, Whens: []parser.When{{Cond: missing, Then: null}}, Else: same})
		default:
			return c.tuples(op, tx, ty, e.Pos)
		}
	}
	x := c.expr(e.X)
	y := c.expr(e.Y)
	if compares {
		c.s.Parameters.Want(e.X, y.Type())
		c.s.Parameters.Want(e.Y, x.Type())
		return c.compare(op, x, y, e.Pos)
	}
	x, y = c.operands(e.Op, x, y)
	switch e.Op {
	case "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		same := c.compare(EQ, x, y, e.Pos)
		// Equal or both NULL; the result is never unknown.
		eq := disjunction(conjunction(&IsNull{Pos: e.Pos, X: x}, &IsNull{Pos: e.Pos, X: y}),
			conjunction(&IsNull{Pos: e.Pos, X: x, Not: true}, &IsNull{Pos: e.Pos, X: y, Not: true}, same))
		if e.Op == "IS DISTINCT FROM" {
			return Negate(eq)
		}
		return eq
	case "+", "-":
		if e.Op == "-" && x.Type().IsJSON() {
			return c.apply("JSONB_DELETE", e.Pos, []Expr{x, y})
		}
		if tx, ty := Declared(x), Declared(y); !c.s.Key && (tx == types.Date && ty == types.BigInt || tx == types.BigInt && ty == types.Date) {
			panic(fail.With(parser.Errorf(e.Pos, "%s %s %s is not defined", tx, e.Op, ty).WithHint("CAST(n AS INT) is a number of days")))
		}
		if k, ok := x.(*Const); ok && e.Op == "-" && k.Typ == types.Null && y.Type().IsTimestamp() { // NULL, or a parameter without a value
			x = &Const{Pos: k.Pos, Typ: y.Type()}
		}
		if out, ok := c.moved(e.Op, x, y, e.Pos); ok {
			return out
		}
		if e.Op == "-" && x.Type().IsMoment() && y.Type().IsMoment() && (x.Type().IsTimestamp() || y.Type().IsTimestamp()) {
			return c.difference(x, y, e.Pos)
		}
	case "@>", "<@", "&&":
		if x.Type().IsJSON() || y.Type().IsJSON() {
			if e.Op == "<@" {
				x, y = y, x
			}
			if e.Op != "&&" {
				return c.apply("JSONB_CONTAINS", e.Pos, []Expr{x, y})
			}
		}
		args := c.elements(e.Op, []Expr{x, y})
		return c.apply(e.Op, e.Pos, args)
	case "||":
		if out, ok := c.joined(x, y, e.Pos); ok {
			return out
		}
		joins := func(t types.Type) bool { return t.IsText() || t == types.Null || t == types.Bytes || t.IsJSON() }
		if tx, ty := x.Type(), y.Type(); !c.s.Key && !joins(tx) && !joins(ty) {
			panic(fail.With(parser.Errorf(e.Pos, "%s || %s is not defined", tx, ty).WithHint("|| joins a text and another value; CONCAT(a, b) joins any two")))
		}
	case "^":
		return c.apply("POWER", e.Pos, []Expr{x, y})
	case "*", "/":
		if out, ok := c.scaled(e.Op, x, y, e.Pos); ok {
			return out
		}
	}
	return c.apply(e.Op, e.Pos, []Expr{x, y})
}

// recordComparison returns the comparison of two rows of tables, whose NULLs are equal, and greater than all else.
func recordComparison(op CompareOp, x, y *parser.Tuple, pos parser.Pos) (out parser.Expr) {
	if op == GT || op == LE {
		x, y = y, x
	}
	out = &parser.Binary{Pos: pos, Op: "IS DISTINCT FROM", X: x, Y: y}
	if op != EQ && op != NE {
		out = &parser.Literal{Pos: pos, Kind: parser.BoolLiteral, Text: "false"}
		for i := len(x.Items) - 1; i >= 0; i-- {
			less := &parser.Call{Pos: pos, Name: "COALESCE", Args: []parser.Expr{&parser.Binary{Pos: pos, Op: "<", X: x.Items[i], Y: y.Items[i]},
				&parser.Is{Pos: pos, X: x.Items[i], Not: true, What: "NULL"}}}
			out = &parser.Binary{Pos: pos, Op: "OR", X: less, Y: &parser.Binary{Pos: pos, Op: "AND",
				X: &parser.Binary{Pos: pos, Op: "IS NOT DISTINCT FROM", X: x.Items[i], Y: y.Items[i]}, Y: out}}
		}
	}
	if op == EQ || op == LE || op == GE {
		out = &parser.Unary{Pos: pos, Op: "NOT", X: out}
	}
	return out
}

// tuple returns the row value e, which may be the name of a table, or nil.
func (c compiler) tuple(e parser.Expr) *parser.Tuple {
	if ref, ok := e.(*parser.ColumnRef); ok && c.s.Row != nil {
		return c.s.Row(ref)
	}
	t, _ := e.(*parser.Tuple)
	return t
}

// binOffset recognizes x - DATE_BIN(w, x), the offset within the bin.
func (c compiler) binOffset(x, y Expr, pos parser.Pos) (Expr, bool) {
	bin := y
	if k, ok := bin.(*Cast); ok {
		bin = k.X
	}
	call, ok := bin.(*Call)
	if !ok || call.Func.Name != "DATE_BIN" || len(call.Args) != 2 {
		return nil, false
	}
	if !x.Type().IsTimestamp() || !Same(call.Args[1], x) {
		return nil, false
	}
	off, err := fail.Try(func() Expr { return c.apply("BIN_OFFSET", pos, []Expr{call.Args[0], x}) })
	return off, err == nil
}
