package expr

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

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

// common converts expressions to a common type: the first known type, widened for numbers.
func (c compiler) common(xs []Expr, pos parser.Pos) ([]Expr, types.Type, error) {
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
			y, err := c.cast(x, t, pos)
			if err != nil {
				return nil, t, err
			}
			out[i] = y
		case x.Type() == types.Null:
		default:
			return nil, t, parser.Errorf(pos, "%s and %s cannot be combined here", x.Type(), t)
		}
	}
	return out, t, nil
}

// Coalesce returns COALESCE(x, y).
func Coalesce(x, y Expr, s *Scope, pos parser.Pos) (Expr, error) {
	c := compiler{s}
	both, _, err := c.common([]Expr{x, y}, pos)
	if err != nil {
		return nil, err
	}
	return c.apply("COALESCE", pos, both)
}

// Common converts expressions to the type that holds the values of all. Text constants are read as that type.
func Common(xs []Expr, s *Scope, pos parser.Pos) ([]Expr, types.Type, error) {
	return compiler{s}.common(xs, pos)
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

func (c compiler) cast(x Expr, t types.Type, pos parser.Pos) (Expr, error) {
	c.wants(x, t)
	if x.Type() == t {
		return x, nil
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
			return k, nil // it fails only if it is evaluated
		}
		if err != nil {
			return nil, parser.Errorf(pos, "%s", err)
		}
		return &Const{Pos: l.Pos, Val: v, Typ: t}, nil
	}
	return k, nil
}

// castable refuses casts that PostgreSQL does not have; definitions of keys keep them.
func (c compiler) castable(x Expr, t types.Type, pos parser.Pos) error {
	from, hint := Declared(x), ""
	switch {
	case c.s.Key:
	case from == types.Boolean && t.IsInteger() && t != types.Int:
		hint = "CAST(x AS INT) makes 0 or 1 of it"
	case t == types.JSON && !from.IsText() && from != types.Null:
		hint = "TO_JSONB(x) makes JSON of it"
	case t == types.Bytes && from == types.UUID:
		hint = "DECODE(REPLACE(CAST(x AS TEXT), '-', ''), 'hex') gives its bytes"
	}
	if hint == "" {
		return nil
	}
	return parser.Errorf(pos, "%s cannot be cast to %s", from, t).WithHint("%s", hint)
}

// limit converts x to a type with a limit in parentheses: CHAR(3), DECIMAL(10,2).
func (c compiler) limit(x Expr, e *parser.Cast) (Expr, error) {
	_, list, ok := strings.Cut(strings.TrimSuffix(e.Type, ")"), "(")
	if !ok || x.Type() != types.String && x.Type() != types.Decimal {
		if k, is := x.(*Column); is && k.Limit != (types.Limit{}) {
			free := *k
			free.Limit = types.Limit{}
			return &free, nil
		}
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
	limit, err := types.ParseLimit(e.Type)
	if err != nil && x.Type() == types.String {
		return nil, parser.Errorf(e.Pos, "%s", err)
	}
	if x.Type() == types.String {
		cut, err := c.apply("LEFT", e.Pos, args)
		if err == nil && strings.HasPrefix(e.Type, "CHAR") && !strings.Contains(e.Type, "VARYING") { // trailing spaces do not matter
			cut, err = c.apply("RTRIM", e.Pos, []Expr{cut})
			if k, ok := cut.(*Const); ok {
				k.Limit = limit
			}
		}
		return cut, err
	}
	return c.apply("DECIMAL", e.Pos, args)
}
