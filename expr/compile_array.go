package expr

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// array compiles ARRAY[items]; all items get the same type.
func (c compiler) array(e *parser.Array) (Expr, error) {
	items, err := c.list(e.Items)
	if err != nil {
		return nil, err
	}
	items, t, err := c.common(items, e.Pos)
	if err != nil {
		return nil, err
	}
	if t == types.Null { // all items are NULL
		for i, x := range items {
			items[i] = &Const{Pos: x.Position(), Typ: types.String}
		}
	}
	out, err := c.apply("ARRAY", e.Pos, items)
	out = typedArray(out)
	if k, ok := out.(*Const); ok {
		k.Limit = DeclaredLimit(t, items...)
	}
	return out, err
}

// typedArray gives a constant array the type of the expression; its elements may all be NULL.
func typedArray(x Expr) Expr {
	if k, ok := x.(*Const); ok && k.Val.Type() != k.Typ && k.Val.Type().IsArray() {
		return &Const{Pos: k.Pos, Val: types.NewArrayOf(k.Typ, k.Val.Dims(), k.Val.Items()), Typ: k.Typ}
	}
	return x
}

// subscript compiles X[i], or a slice if one of the brackets is a slice.
func (c compiler) subscript(e *parser.Subscript) (Expr, error) {
	x, err := c.expr(e.X)
	if err != nil {
		return nil, err
	}
	if x.Type() == types.JSON {
		path := []Expr{x}
		for _, at := range e.At {
			if at.Slice {
				return nil, parser.Errorf(e.Pos, "a JSON has no slices: JSON_ARRAY_ELEMENTS(json) gives its elements")
			}
			step, err := c.expr(at.Lo)
			if err != nil {
				return nil, err
			}
			path = append(path, step)
		}
		return c.apply("JSON_EXTRACT_PATH", e.Pos, path)
	}
	if x.Type() == types.Name && len(e.At) == 1 && !e.At[0].Slice { // a NAME of PostgreSQL is an array of characters from 0 on
		one := &parser.Literal{Pos: e.Pos, Kind: parser.NumberLiteral, Text: "1"}
		return c.function("SUBSTR", e.Pos, []parser.Expr{e.X, &parser.Binary{Pos: e.Pos, Op: "+", X: e.At[0].Lo, Y: one}, one})
	}
	if t := x.Type(); !t.IsArray() && t != types.Null {
		return nil, parser.Errorf(e.Pos, "a %s has no elements: only arrays have subscripts", t)
	}
	slice := slices.ContainsFunc(e.At, func(at parser.SubscriptItem) bool { return at.Slice })
	args := []Expr{x}
	bound := func(b parser.Expr) error {
		if b == nil {
			args = append(args, &Const{Pos: e.Pos, Val: types.NewInt(OpenBound), Typ: types.BigInt})
			return nil
		}
		k, err := c.expr(b)
		if err == nil {
			k, err = c.place(k, types.BigInt)
		}
		args = append(args, k)
		return err
	}
	for _, at := range e.At {
		switch {
		case !slice:
			err = bound(at.Lo)
		case !at.Slice: // in a slice, [n] means [1:n]
			args = append(args, &Const{Pos: e.Pos, Val: types.NewInt(1), Typ: types.BigInt})
			err = bound(at.Lo)
		default:
			if err = bound(at.Lo); err == nil {
				err = bound(at.Hi)
			}
		}
		if err != nil {
			return nil, err
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
func (c compiler) elements(name string, args []Expr) (_ []Expr, err error) {
	of, ok := elementArgs[name]
	if !ok {
		return args, nil
	}
	t := types.Null
	if args[0].Type() == types.JSON && len(args) > 1 { // SET_ELEMENT of JSON
		args = slices.Clone(args)
		if args[1], err = c.place(args[1], types.JSON); err == nil {
			args[1], err = c.apply("COALESCE", args[1].Position(), []Expr{args[1], &Const{Pos: args[1].Position(), Val: types.NewJSON("null"), Typ: types.JSON}})
		}
		return args, err
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
				return nil, parser.Errorf(args[i].Position(), "%s is not a valid element of an array of %s", at, t)
			}
		}
	}
	if t == types.Null {
		return args, nil
	}
	for _, i := range of.elements {
		if i < len(args) {
			c.wants(args[i], t)
		}
		if i < len(args) && args[i].Type() != types.Null {
			if args[i], err = c.cast(args[i], t, args[i].Position()); err != nil {
				return nil, err
			}
		}
	}
	for _, i := range of.arrays {
		if i >= len(args) {
			continue
		}
		c.wants(args[i], types.ArrayOf(t))
		k, text := args[i].(*Const)
		if text = text && k.untyped(); text || args[i].Type().IsArray() && args[i].Type().Elem() != t {
			if args[i], err = c.cast(args[i], types.ArrayOf(t), args[i].Position()); err != nil {
				return nil, err
			}
		}
	}
	return args, nil
}

// joined compiles x || y if one of them is an array.
func (c compiler) joined(x, y Expr, pos parser.Pos) (_ Expr, ok bool, err error) {
	tx, ty := x.Type(), y.Type()
	isNull := func(t types.Type) bool { return t == types.Null }
	text := func(e Expr) bool { // the text of an array
		k, ok := e.(*Const)
		return ok && k.untyped() && !k.Val.IsNull() && strings.HasPrefix(strings.TrimSpace(k.Val.Text()), "{")
	}
	name, args := "ARRAY_CAT", []Expr{x, y}
	switch {
	case !tx.IsArray() && !ty.IsArray():
		return nil, false, nil
	case tx.IsArray() && (ty.IsArray() || text(y) || isNull(ty)), ty.IsArray() && (text(x) || isNull(tx)):
	case tx.IsArray():
		name = "ARRAY_APPEND"
	default:
		name = "ARRAY_PREPEND"
	}
	if args, err = c.elements(name, args); err != nil {
		return nil, true, err
	}
	out, err := c.apply(name, pos, args)
	return out, true, err
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
func (c compiler) anyElement(pos parser.Pos, op CompareOp, x, y Expr, not bool) (Expr, error) {
	tx, elem := x.Type(), y.Type().Elem()
	if k, ok := x.(*Const); ok {
		n, err := c.adapt(k, elem)
		if err != nil {
			return nil, err
		}
		x, tx = n, n.Typ
	}
	if err := c.comparable(tx, elem, pos); err != nil {
		return nil, err
	}
	if tx.IsMoment() && elem.IsMoment() && tx != elem {
		t := Wider(tx, elem)
		var err error
		if x, err = c.cast(x, t, pos); err == nil {
			y, err = c.cast(y, types.ArrayOf(t), pos)
		}
		if err != nil {
			return nil, err
		}
	}
	return negatedIf(not, c.fold(&Call{Pos: pos, Func: anyFunctions[op], Args: []Expr{x, y}, Typ: types.Boolean})), nil
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
