package expr

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

func (c compiler) caseExpr(e *parser.Case) Expr {
	out := &Case{Pos: e.Pos}
	var results []Expr
	for _, w := range e.Whens {
		cond := w.Cond
		if e.X != nil {
			cond = &parser.Binary{Pos: w.Cond.Position(), Op: "=", X: e.X, Y: w.Cond}
		}
		cx := c.condition(cond)
		then := c.expr(w.Then)
		out.Whens = append(out.Whens, When{cx, then})
		results = append(results, then)
	}
	out.Else = &Const{Pos: e.Pos}
	if e.Else != nil {
		x := c.expr(e.Else)
		out.Else = x
	}
	results, t := c.common(append(results, out.Else), e.Pos)
	out.Typ = t
	for i := range out.Whens {
		out.Whens[i].Then = results[i]
	}
	out.Else = results[len(results)-1]
	return c.fold(out)
}

// common converts expressions to a common type: the first known type, widened for numbers.
func (c compiler) common(xs []Expr, pos parser.Pos) ([]Expr, types.Type) {
	t := types.Null
	for _, x := range xs { // an argument of a Go program is read as the other expressions' type
		if k, ok := x.(*Const); !ok || !k.Val.HasClock() {
			t = Wider(t, x.Type())
		}
	}
	if !t.IsMoment() {
		t = types.Null
		for _, x := range xs {
			t = Wider(t, x.Type())
		}
	}
	for _, x := range xs { // a text constant is read as the other expressions' type
		if k, ok := x.(*Const); (!ok || !k.untyped()) && x.Type() != types.Null && !isName(x.Type()) && t == types.String {
			t = x.Type()
		}
	}
	out := slices.Clone(xs)
	for i, x := range xs {
		c.wants(x, t)
		k, isConst := x.(*Const)
		if isConst && k.Val.HasClock() && t == types.Timestamp {
			out[i] = &Const{Pos: k.Pos, Val: k.Val.WithoutClock(), Typ: t}
		}
		if x.Type() == t {
			continue
		}
		switch {
		case isConst && k.Val.IsNull():
			out[i] = &Const{Pos: k.Pos, Typ: t}
		case (x.Type().IsInteger() || x.Type().IsOID()) && t == types.OID, isName(x.Type()) && t.IsText(), x.Type().IsArray() && t.IsArray(),
			isConst && k.untyped(), x.Type().IsNumeric() && t.IsNumeric(), x.Type().IsMoment() && t.IsMoment():
			out[i] = c.cast(x, t, pos)
		case x.Type() == types.Null:
		default:
			panic(fail.With(parser.Errorf(pos, "%s and %s cannot be combined here", x.Type(), t)))
		}
	}
	return out, t
}

// Coalesce returns COALESCE(x, y).
func Coalesce(x, y Expr, s *Scope, pos parser.Pos) (_ Expr, err error) {
	defer fail.Catch(&err)
	c := compiler{s}
	both, _ := c.common([]Expr{x, y}, pos)
	return c.apply("COALESCE", pos, both), nil
}

// Common converts expressions to the type that holds the values of all. Text constants are read as that type.
func Common(xs []Expr, s *Scope, pos parser.Pos) (out []Expr, t types.Type, err error) {
	defer fail.Catch(&err)
	out, t = compiler{s}.common(xs, pos)
	return out, t, nil
}

// Widen returns the type that holds the values of both a and b; ok is false if there is none. It widens numbers, and a
// DATE to a TIMESTAMP.
func Widen(a, b types.Type) (t types.Type, ok bool) {
	t = Wider(a, b)
	fits := func(x types.Type) bool {
		if x.IsArray() && t.IsArray() {
			_, ok := Widen(x.Elem(), t.Elem())
			return ok
		}
		return x == t || x == types.Null || t == types.OID && (x.IsInteger() || x.IsOID()) || t == types.String && isName(x) || x.IsNumeric() && t.IsNumeric() || x.IsMoment() && t.IsMoment()
	}
	return t, fits(a) && fits(b)
}

func isName(t types.Type) bool { return t == types.Name || t == types.Char }

// Wider returns the type that holds the values of both a and b: the wider number type, a TIMESTAMP for a DATE,
// otherwise the first known type.
func Wider(a, b types.Type) types.Type {
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
		switch {
		case a == types.Double || b == types.Double:
			return types.Double
		case a == types.Float || b == types.Float:
			return types.Float
		}
		return types.Decimal
	case a.IsArray() && b.IsArray():
		return types.ArrayOf(Wider(a.Elem(), b.Elem()))
	case a.IsOID() && b.IsOID():
		return types.OID
	case a.IsInteger() && b.IsOID(), isName(a) && b == types.String:
		return b
	case a.IsMoment() && b == types.Timestamp, a == types.Date && b == types.LocalTimestamp:
		return b
	}
	return a
}

func (c compiler) cast(x Expr, t types.Type, pos parser.Pos) Expr {
	c.wants(x, t)
	if x.Type() == t {
		return x
	}
	if t.IsNamedOID() && c.s.Function != nil && x.Type() != types.Null { // the system catalog finds the name or the number
		return c.apply(t.String(), pos, []Expr{x})
	}
	if of, ok := x.(*Cast); ok && of.Typ == types.Decimal && of.X.Type().IsInteger() && (t.IsInteger() || t == types.Double || t == types.String) {
		return c.cast(of.X, t, pos)
	}
	k := &Cast{Pos: pos, X: x, Typ: t, Zone: cmp.Or(c.s.Loc, time.UTC), Key: c.s.Key}
	if l, ok := x.(*Const); ok {
		v, err := c.converted(l, t)
		if err != nil && l.Val.Type().IsNumeric() && t.IsNumeric() {
			return k // it fails only if it is evaluated
		}
		if err != nil {
			panic(fail.With(parser.Errorf(pos, "%s", err)))
		}
		return &Const{Pos: l.Pos, Val: v, Typ: t}
	}
	return k
}

// castable refuses casts that PostgreSQL does not have; definitions of keys keep them.
func (c compiler) castable(x Expr, t types.Type, pos parser.Pos) {
	from, hint := Declared(x), ""
	switch {
	case c.s.Key:
	case from == types.Boolean && t.IsInteger() && t != types.Int:
		hint = "CAST(x AS INT) makes 0 or 1 of it"
	case t.IsJSON() && !from.IsText() && from != types.Null:
		hint = "TO_JSONB(x) makes JSON of it"
	case t == types.Bytes && from == types.UUID:
		hint = "DECODE(REPLACE(CAST(x AS TEXT), '-', ''), 'hex') gives its bytes"
	}
	if hint != "" {
		panic(fail.With(parser.Errorf(pos, "%s cannot be cast to %s", from, t).WithHint("%s", hint)))
	}
}

// limit converts x to a type with a limit in parentheses: CHAR(3), DECIMAL(10,2).
func (c compiler) limit(x Expr, e *parser.Cast) Expr {
	_, list, ok := strings.Cut(strings.TrimSuffix(e.Type, ")"), "(")
	if !ok || x.Type() != types.String && x.Type() != types.Decimal {
		if k, is := x.(*Column); is && k.Limit != (types.Limit{}) {
			free := *k
			free.Limit = types.Limit{}
			return &free
		}
		return x
	}
	args := []Expr{x}
	for _, s := range strings.Split(list, ",") {
		v, err := types.Cast(types.NewString(s), types.BigInt, nil)
		if err != nil || v.Int() > 1000 && x.Type() == types.Decimal {
			panic(fail.With(parser.Errorf(e.Pos, "%s cannot have the length %s", x.Type(), s)))
		}
		args = append(args, &Const{Pos: e.Pos, Val: v, Typ: v.Type()})
	}
	limit, err := types.ParseLimit(e.Type)
	if err != nil && x.Type() == types.String {
		panic(fail.With(parser.Errorf(e.Pos, "%s", err)))
	}
	if x.Type() == types.String {
		cut := c.apply("LEFT", e.Pos, args)
		if strings.HasPrefix(e.Type, "CHAR") && !strings.Contains(e.Type, "VARYING") { // trailing spaces do not matter
			cut = c.apply("RTRIM", e.Pos, []Expr{cut})
			if k, ok := cut.(*Const); ok {
				k.Limit = limit
			}
		}
		return cut
	}
	return c.apply("DECIMAL", e.Pos, args)
}
