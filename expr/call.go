package expr

import (
	"slices"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

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

// FromRest returns the function that computes e, a key part, from the key bytes after the part; nil if e does not
// depend on these bytes.
func FromRest(e Expr) func(rest []byte) (types.Value, error) {
	if c, ok := e.(*Call); ok && c.Func.Key != nil && c.Func.Key.FromRest != nil {
		return func(rest []byte) (types.Value, error) { return c.Func.Key.FromRest(c, rest) }
	}
	return nil
}

// RestLength returns the greatest number of key bytes after the part e from which e is computed; ok is false if e
// depends on all of them.
func RestLength(e Expr) (n int, ok bool) {
	if c, isCall := e.(*Call); isCall && c.Func.Key != nil && c.Func.Key.RestLength != nil {
		return c.Func.Key.RestLength(c), true
	}
	return 0, false
}

// Volatile returns the name of a function in e whose value may differ at each evaluation, such as RANDOM; "" if there is
// none. Values that are drawn for new rows (see Draw) do not count.
func Volatile(e Expr) (name string) {
	Some(e, func(x Expr) bool {
		if c, ok := x.(*Call); ok && c.Func.Volatile && c.Func.Group != "key" {
			name = c.Func.Name
		}
		return name != ""
	})
	return name
}

// UsesLookup reports whether e contains the number of a name in a dictionary: LOOKUP.
func UsesLookup(e Expr) bool {
	return Some(e, func(x Expr) bool {
		c, ok := x.(*Call)
		return ok && c.Func.Key != nil && c.Func.Key.Lookup != NoDictionary
	})
}

// Draw returns the function that draws a value of e for a new row; nil if e is computed from columns.
func Draw(e Expr) func(env *Env) (types.Value, error) {
	if c, ok := e.(*Call); ok && c.Func.Key != nil && c.Func.Key.Draw != nil {
		return func(env *Env) (types.Value, error) { return c.Func.Key.Draw(c, env) }
	}
	return nil
}

// ConstInt returns the value of argument i if it is an integer constant.
func (c *Call) ConstInt(i int) (int64, bool) {
	if i >= len(c.Args) {
		return 0, false
	}
	k, ok := c.Args[i].(*Const)
	if !ok || !k.Val.Type().IsInteger() {
		return 0, false
	}
	return k.Val.Int(), true
}

// ConstText returns the text of argument i, a constant.
func (c *Call) ConstText(i int) string { return c.Args[i].(*Const).Val.Text() }

// Argument returns the index of the algebra's Argument, or -1 if there is none.
func (c *Call) Argument() int {
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

// EvalWith evaluates c with v as the argument to which c's algebra applies.
func (c *Call) EvalWith(v types.Value) (types.Value, error) { return c.EvalAt(c.Argument(), v) }

// EvalAt evaluates c with v as argument at; the other arguments are constants.
func (c *Call) EvalAt(at int, v types.Value) (types.Value, error) {
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

// Rows returns the values of a set-returning function, none for a NULL argument.
func (c *Call) Rows(env *Env) (RowsOf, error) {
	var items []types.Value
	next := func() (v types.Value, ok bool, err error) {
		if len(items) > 0 {
			v, ok, items = items[0], true, items[1:]
		}
		return v, ok, nil
	}
	if c.Func.Generate != nil {
		var args []types.Value
		for _, a := range c.Args {
			v, err := a.Eval(env)
			if v.IsNull() || err != nil {
				return next, err
			}
			args = append(args, v)
		}
		next, err := c.Func.Generate(env, args)
		if err != nil {
			err = parser.Errorf(c.Pos, "%s", err).Of(err)
		}
		return next, err
	}
	v, err := c.Eval(env)
	if v.IsNull() || err != nil {
		return next, err
	}
	if err := env.RoomForItems(v.Len()); err != nil {
		return nil, parser.Errorf(c.Pos, "%s", err).Of(err)
	}
	items = v.Items()
	if t := c.Type(); t.IsArray() && len(items) > 0 { // the rows are arrays
		var rows []types.Value
		for row := range slices.Chunk(items, v.Dims()[1].Len) {
			rows = append(rows, types.NewArray(t.Elem(), row))
		}
		items = rows
	}
	return next, nil
}

// RowsOf returns one value after the other; ok is false after the last.
type RowsOf = func() (v types.Value, ok bool, err error)
