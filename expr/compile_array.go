package expr

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// array compiles ARRAY[items]; all items get the same type.
func (c compiler) array(e *parser.Array) Expr {
	items := c.list(e.Items)
	items, t := c.common(items, e.Pos)
	if t == types.Null { // all items are NULL
		for i, x := range items {
			items[i] = &Const{Pos: x.Position(), Typ: types.String}
		}
	}
	out := typedArray(c.apply("ARRAY", e.Pos, items))
	if k, ok := out.(*Const); ok {
		k.Limit = DeclaredLimit(t, items...)
	}
	return out
}

// typedArray gives a constant array the type of the expression; its elements may all be NULL.
func typedArray(x Expr) Expr {
	if k, ok := x.(*Const); ok && k.Val.Type() != k.Typ && k.Val.Type().IsArray() {
		return &Const{Pos: k.Pos, Val: types.NewArrayOf(k.Typ, k.Val.Dims(), k.Val.Items()), Typ: k.Typ}
	}
	return x
}

// subscript compiles X[i], or a slice if one of the brackets is a slice.
func (c compiler) subscript(e *parser.Subscript) Expr {
	x := c.expr(e.X)
	if x.Type().IsJSON() {
		path := []Expr{x}
		for _, at := range e.At {
			if at.Slice {
				panic(fail.With(parser.Errorf(e.Pos, "a JSON has no slices: JSON_ARRAY_ELEMENTS(json) gives its elements")))
			}
			step := c.expr(at.Lo)
			path = append(path, step)
		}
		return c.apply(strings.Replace("JSON_EXTRACT_PATH", "JSON", x.Type().String(), 1), e.Pos, path)
	}
	if x.Type() == types.Name && len(e.At) == 1 && !e.At[0].Slice { // a NAME of PostgreSQL is an array of characters from 0 on
		one := &parser.Literal{Pos: e.Pos, Kind: parser.NumberLiteral, Text: "1"}
		return c.function("SUBSTR", e.Pos, []parser.Expr{e.X, &parser.Binary{Pos: e.Pos, Op: "+", X: e.At[0].Lo, Y: one}, one})
	}
	if t := x.Type(); !t.IsArray() && t != types.Null {
		panic(fail.With(parser.Errorf(e.Pos, "a %s has no elements: only arrays have subscripts", t)))
	}
	slice := slices.ContainsFunc(e.At, func(at parser.SubscriptItem) bool { return at.Slice })
	args := []Expr{x}
	bound := func(b parser.Expr) {
		if b == nil {
			args = append(args, &Const{Pos: e.Pos, Val: types.NewInt(OpenBound), Typ: types.BigInt})
		} else {
			args = append(args, c.place(c.expr(b), types.BigInt))
		}
	}
	for _, at := range e.At {
		if slice && !at.Slice { // in a slice, [n] means [1:n]
			args = append(args, &Const{Pos: e.Pos, Val: types.NewInt(1), Typ: types.BigInt})
		}
		if bound(at.Lo); at.Slice {
			bound(at.Hi)
		}
	}
	if slice {
		return c.apply("SLICE", e.Pos, args)
	}
	return c.apply("SUBSCRIPT", e.Pos, args)
}

// elementArgs lists, by function, the arguments that are arrays, and those that are elements.
var elementArgs = map[string]struct{ arrays, elements []int }{
	"ARRAY_APPEND": {[]int{0}, []int{1}}, "ARRAY_PREPEND": {[]int{1}, []int{0}}, "ARRAY_REMOVE": {[]int{0}, []int{1}}, "ARRAY_REPLACE": {[]int{0}, []int{1, 2}},
	"SET_ELEMENT": {[]int{0}, []int{1}}, "ARRAY_POSITION": {[]int{0}, []int{1}}, "ARRAY_POSITIONS": {[]int{0}, []int{1}}, "ARRAY_CAT": {arrays: []int{0, 1}}, "@>": {arrays: []int{0, 1}}, "<@": {arrays: []int{0, 1}}, "&&": {arrays: []int{0, 1}},
}

// elements converts the arrays and elements among the arguments of name to a common element type.
func (c compiler) elements(name string, args []Expr) []Expr {
	of, ok := elementArgs[name]
	if !ok {
		return args
	}
	t := types.Null
	if len(args) > 1 && args[0].Type().IsJSON() { // SET_ELEMENT of JSON
		args = slices.Clone(args)
		t := args[0].Type()
		x := c.place(args[1], t)
		args[1] = c.apply("COALESCE", x.Position(), []Expr{x, &Const{Pos: x.Position(), Val: types.NewJSONOf(t, "null"), Typ: t}})
		return args
	}
	for _, i := range of.arrays {
		if i < len(args) && args[i].Type().IsArray() {
			t = Wider(t, args[i].Type().Elem())
		}
	}
	args = slices.Clone(args)
	for _, i := range of.elements {
		if i >= len(args) {
			continue
		}
		if k, ok := args[i].(*Const); ok && t != types.Null {
			if v, err := types.Cast(k.Val, t, c.s.Loc); err == nil && (k.untyped() || k.Typ.IsInteger() && t.IsNumeric()) {
				args[i] = &Const{Pos: k.Pos, Val: v, Typ: t}
				continue
			}
		}
		if at := args[i].Type(); at != types.Null {
			if w, ok := Widen(t, at); ok {
				t = w
			} else {
				panic(fail.With(parser.Errorf(args[i].Position(), "%s is not a valid element of an array of %s", at, t)))
			}
		}
	}
	if t == types.Null {
		return args
	}
	for _, i := range of.elements {
		if i < len(args) {
			c.wants(args[i], t)
		}
		if i < len(args) && args[i].Type() != types.Null {
			args[i] = c.cast(args[i], t, args[i].Position())
		}
	}
	for _, i := range of.arrays {
		if i >= len(args) {
			continue
		}
		c.wants(args[i], types.ArrayOf(t))
		k, text := args[i].(*Const)
		if text = text && k.untyped(); text || args[i].Type().IsArray() && args[i].Type().Elem() != t {
			args[i] = c.cast(args[i], types.ArrayOf(t), args[i].Position())
		}
	}
	return args
}

// joined compiles x || y if one of them is an array.
func (c compiler) joined(x, y Expr, pos parser.Pos) (_ Expr, ok bool) {
	tx, ty := x.Type(), y.Type()
	isNull := func(t types.Type) bool { return t == types.Null }
	text := func(e Expr) bool { // the text of an array
		k, ok := e.(*Const)
		return ok && k.untyped() && !k.Val.IsNull() && strings.HasPrefix(strings.TrimSpace(k.Val.Text()), "{")
	}
	name, args := "ARRAY_CAT", []Expr{x, y}
	switch {
	case !tx.IsArray() && !ty.IsArray():
		return nil, false
	case tx.IsArray() && (ty.IsArray() || text(y) || isNull(ty)), ty.IsArray() && (text(x) || isNull(tx)):
	case tx.IsArray():
		name = "ARRAY_APPEND"
	default:
		name = "ARRAY_PREPEND"
	}
	args = c.elements(name, args)
	out := c.apply(name, pos, args)
	return out, true
}

// items returns the elements of a constant array as constants.
func (k *Const) items() []Expr {
	values := k.Val.Items()
	out := make([]Expr, len(values))
	for i, v := range values {
		out[i] = &Const{Pos: k.Pos, Val: v, Typ: k.Typ.Elem()}
	}
	return out
}

// anyFunction returns the function for x op ANY (array), for arrays that are not constant.
func anyFunction(op CompareOp) *Function {
	return &Function{Name: "ANY " + op.String(), Group: "array", Unknown: "arrays are not looked into", MinArgs: 2, MaxArgs: 2, NullArgs: true, Eval: func(_ *Env, a []types.Value) (types.Value, error) {
		if a[1].IsNull() {
			return types.Value{}, nil
		}
		items := a[1].Items()
		unknown := a[0].IsNull() && len(items) > 0
		for _, y := range items {
			if a[0].IsNull() || y.IsNull() {
				unknown = true
				continue
			}
			c, err := types.Compare(a[0], y)
			if err != nil {
				return types.Value{}, err
			}
			if op.Holds(c) {
				return types.NewBool(true), nil
			}
		}
		if unknown {
			return types.Value{}, nil
		}
		return types.NewBool(false), nil
	}}
}

// anyFunctions are the results of anyFunction by op.
var anyFunctions = [...]*Function{EQ: anyFunction(EQ), NE: anyFunction(NE), LT: anyFunction(LT), LE: anyFunction(LE), GT: anyFunction(GT), GE: anyFunction(GE)}

// anyElement compiles [NOT] x op ANY (y) for a y that is not constant.
func (c compiler) anyElement(pos parser.Pos, op CompareOp, x, y Expr, not bool) Expr {
	tx, elem := x.Type(), y.Type().Elem()
	if k, ok := x.(*Const); ok {
		n := c.adapt(k, elem)
		x, tx = n, n.Typ
	}
	c.comparable(tx, elem, pos)
	if tx.IsMoment() && elem.IsMoment() && tx != elem {
		t := Wider(tx, elem)
		x, y = c.cast(x, t, pos), c.cast(y, types.ArrayOf(t), pos)
	}
	return negatedIf(not, c.fold(&Call{Pos: pos, Func: anyFunctions[op], Args: []Expr{x, y}, Typ: types.Boolean}))
}

// arrayText returns the SQL of calls that are not written with a function name: constructors, subscripts and ANY.
func (c *Call) arrayText() (string, bool) {
	switch {
	case c.Func.Name == "ARRAY":
		return "ARRAY[" + Texts(c.Args) + "]", true
	case strings.HasPrefix(c.Func.Name, "ANY "):
		return operand(c.Args[0]) + strings.TrimPrefix(c.Func.Name, "ANY") + " ANY (" + c.Args[1].String() + ")", true
	case c.Func.Name == "SUBSCRIPT", c.Func.Name == "SLICE":
		var b strings.Builder
		b.WriteString("(" + c.Args[0].String() + ")")
		for i := 1; i < len(c.Args); i++ {
			b.WriteString("[" + c.boundText(i))
			if c.Func.Name == "SLICE" {
				i++
				b.WriteString(":" + c.boundText(i))
			}
			b.WriteString("]")
		}
		return b.String(), true
	}
	return "", false
}

func (c *Call) boundText(i int) string {
	if n, ok := c.ConstInt(i); ok && n == OpenBound {
		return ""
	}
	return operand(c.Args[i])
}

// OpenBound replaces a missing bound of a slice: no array has such a subscript.
const OpenBound = -1 << 62
