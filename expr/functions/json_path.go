package functions

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/theory/sqljson/path/ast"
	"github.com/theory/sqljson/path/parser"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

type tree = types.JSONTree

var jsonPaths = []expr.Function{
	pathFunction("JSONB_PATH_EXISTS", types.Boolean, "Whether the SQL/JSON path selects a value. vars has its variables; with silent, errors give NULL.", pathExists),
	pathFunction("@?", types.Boolean, "Whether the SQL/JSON path selects a value; errors give NULL.", pathExists),
	pathFunction("JSONB_PATH_MATCH", types.Boolean, "Whether the condition, an SQL/JSON path, holds.", pathMatch),
	pathFunction("@@", types.Boolean, "Whether the condition, an SQL/JSON path, holds; errors give NULL.", pathMatch),
	pathFunction("JSONB_PATH_QUERY", types.JSONB, "The values that the path selects, a row for each.", func(items []tree, _, _ bool) (types.Value, error) {
		out := make([]types.Value, len(items))
		for i, x := range items {
			out[i] = x.Value()
		}
		return types.NewArray(types.JSONB, out), nil
	}),
	pathFunction("JSONB_PATH_QUERY_ARRAY", types.JSONB, "The values that the path selects, as an array.", func(items []tree, _, _ bool) (types.Value, error) {
		return tree{Kind: types.JSONArray, Items: items}.Value(), nil
	}),
	pathFunction("JSONB_PATH_QUERY_FIRST", types.JSONB, "The first value that the path selects; NULL when there is none.", func(items []tree, _, _ bool) (out types.Value, _ error) {
		if len(items) > 0 {
			out = items[0].Value()
		}
		return out, nil
	}),
	{Name: "JSONPATH", Group: "json", Unknown: "JSON is not looked into", Signature: "CAST(x AS JSONPATH)", Doc: "The text of an SQL/JSON path, in its usual form.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			path, err := pathOfText(a[0].Text())
			if err != nil {
				return types.Value{}, err
			}
			return types.NewString(path.String()), nil
		}},
}

// pathFunction returns a function, or an operator if its name begins with @. The arguments of a function are JSON, a path,
// the path's variables and silent; an operator takes the first two and is always silent. of makes the result from the
// selected values. failed is set if the path failed and silent ignored the error.
func pathFunction(name string, t types.Type, doc string, of func(items []tree, failed, silent bool) (types.Value, error)) expr.Function {
	f := expr.Function{Name: name, Group: "json", Unknown: "JSON is not looked into", Doc: doc, MinArgs: 2, MaxArgs: 4, Set: name == "JSONB_PATH_QUERY", Volatile: name == "JSONB_PATH_QUERY",
		Signature: strings.ToLower(name + "(jsonb, path [, vars [, silent]]) " + t.String()), Result: returns(t, isJSON, isText, isJSON, isTruth)}
	operator := name[0] == '@'
	if operator {
		f.Group, f.Signature, f.MaxArgs = "operator", "jsonb "+name+" path", 2
	}
	f.Eval = func(env *expr.Env, a []types.Value) (types.Value, error) {
		silent := operator || len(a) > 3 && a[3].Bool()
		items, err := pathItems(env, a, name == "JSONB_PATH_EXISTS" || name == "@?")
		_, failed := err.(pathError)
		if err != nil && !(failed && silent) {
			return types.Value{}, err
		}
		return of(items, failed, silent)
	}
	return f
}

func pathExists(items []tree, failed, _ bool) (out types.Value, _ error) {
	if !failed {
		out = types.NewBool(len(items) > 0)
	}
	return out, nil
}

func pathMatch(items []tree, failed, silent bool) (out types.Value, _ error) {
	switch {
	case len(items) == 1 && items[0].Kind == types.JSONBoolean:
		out = types.NewBool(items[0].Text == "true")
	case !failed && !silent && (len(items) != 1 || items[0].Kind != types.JSONNull):
		return out, errors.New("single boolean result is expected: jsonb_path_exists takes a path that selects other values")
	}
	return out, nil
}

var paths kept[*ast.AST]

func pathOfText(text string) (*ast.AST, error) {
	return paths.get(text, func() (*ast.AST, error) {
		path, err := parser.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("invalid JSON path %q: %s", text, strings.TrimPrefix(err.Error(), "parser: "))
		}
		return path, nil
	})
}

// pathRun evaluates a path as PostgreSQL 15 does.
type pathRun struct {
	env           *expr.Env
	root, current *tree
	vars          tree
	lax           bool
	loose         bool // a member or an element that is not there is no error
	length        int  // the length of the array whose subscript is evaluated
}

// pathError is an error that silent, and conditions within the path, ignore.
type pathError struct{ error }

func pathErrorf(format string, args ...any) error {
	return pathError{fmt.Errorf("jsonpath "+format, args...)}
}

// errFound ends an evaluation that has found enough.
var errFound = errors.New("found")

// pathItems returns the items that the path a[1] selects from a[0]; if first, those of a lax path end with the first. a[2] has the
// path's variables. With an error there are the items before it.
func pathItems(env *expr.Env, a []types.Value, first bool) ([]tree, error) {
	root, err := jsonTree(a[0])
	r := pathRun{env: env, root: &root, current: &root}
	if err == nil && len(a) > 2 {
		if r.vars, err = jsonTree(a[2]); err == nil && r.vars.Kind != types.JSONObject {
			err = errors.New(`"vars" argument is not an object: it holds the variables of the path, as '{"name": value}'`)
		}
	}
	path, pathErr := pathOfText(a[1].Text())
	if err = cmp.Or(err, pathErr); err != nil {
		return nil, err
	}
	r.lax, r.loose = path.IsLax(), path.IsLax()
	return r.collect(path.Root(), &root, false, first)
}

// next evaluates the part of the path behind n for x.
func (r pathRun) next(n ast.Node, x *tree, found func(*tree) error) error {
	if n.Next() == nil {
		return found(x)
	}
	return r.item(n.Next(), x, r.lax, found)
}

// missing returns the error for a part of the value that is not there; nil if that is no error.
func (r pathRun) missing(format string, args ...any) error {
	if r.loose {
		return nil
	}
	return pathErrorf(format, args...)
}

func each(items []tree, f func(*tree) error) error {
	for i := range items {
		if err := f(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func textTree(s string) *tree         { return &tree{Kind: types.JSONString, Text: s} }
func numberTree(d *apd.Decimal) *tree { return &tree{Kind: types.JSONNumber, Num: d} }

// pathUnwraps reports whether the step n, applied to an array, is applied to its elements in a lax path.
func pathUnwraps(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyNode:
		return true
	case *ast.MethodNode:
		return n.Name() != ast.MethodType && n.Name() != ast.MethodSize
	case *ast.ConstNode:
		return n.Const() == ast.ConstAnyKey
	case *ast.UnaryNode:
		return n.Operator() == ast.UnaryFilter
	}
	return false
}

// item evaluates the path from n on for x. With unwrap, most steps are evaluated for the elements of an array instead.
func (r pathRun) item(n ast.Node, x *tree, unwrap bool, found func(*tree) error) error {
	if err := r.env.Stopped(); err != nil {
		return err
	}
	next := func(y *tree) error { return r.next(n, y, found) }
	array, object := x.Kind == types.JSONArray, x.Kind == types.JSONObject
	if unwrap && array && pathUnwraps(n) {
		return each(x.Items, func(y *tree) error { return r.item(n, y, false, found) })
	}
	switch n := n.(type) {
	case *ast.ConstNode:
		switch n.Const() {
		case ast.ConstRoot:
			return next(r.root)
		case ast.ConstCurrent:
			return next(r.current)
		case ast.ConstLast:
			return next(numberTree(apd.New(int64(r.length-1), 0)))
		case ast.ConstTrue, ast.ConstFalse:
			return next(truthTree(n.Const() == ast.ConstTrue))
		case ast.ConstNull:
			return next(&tree{})
		}
		switch anyKey := n.Const() == ast.ConstAnyKey; {
		case anyKey && !object:
			return r.missing("wildcard member accessor can only be applied to an object")
		case !anyKey && !array && r.lax:
			return next(x)
		case !anyKey && !array:
			return r.missing("wildcard array accessor can only be applied to an array")
		}
		return each(x.Items, next)
	case *ast.KeyNode:
		if !object {
			return r.missing("member accessor can only be applied to an object")
		}
		if y := x.Member(n.Text()); y != nil {
			return next(y)
		}
		return r.missing("member accessor: JSON object does not contain key %q", n.Text())
	case *ast.ArrayIndexNode:
		return r.elements(n, x, found)
	case *ast.AnyNode:
		r.loose = true
		return r.within(n, x, 0, found)
	case *ast.StringNode:
		return next(textTree(n.Text()))
	case *ast.IntegerNode:
		return next(numberTree(apd.New(n.Int(), 0)))
	case *ast.NumericNode:
		num, _, err := apd.NewFromString(n.Literal())
		if err != nil {
			return err
		}
		return next(numberTree(num))
	case *ast.VariableNode:
		y := r.vars.Member(n.Text())
		if y == nil {
			return fmt.Errorf("could not find jsonpath variable %q", n.Text())
		}
		return next(y)
	case *ast.MethodNode:
		return r.method(n, x, next)
	case *ast.BinaryNode:
		if op := pathArithmetic[n.Operator()]; op != nil {
			var args []types.Value
			for side, operand := range []ast.Node{n.Left(), n.Right()} {
				items, err := r.collect(operand, x, true, false)
				if err == nil && (len(items) != 1 || items[0].Kind != types.JSONNumber) {
					err = pathErrorf("operator %s: its %s operand is not a single numeric value", n.Operator(), []string{"left", "right"}[side])
				}
				if err != nil {
					return err
				}
				args = append(args, types.NewDecimal(items[0].Num))
			}
			v, err := op(r.env, args)
			if err != nil {
				return pathError{err}
			}
			return next(numberTree(v.Decimal()))
		}
	case *ast.UnaryNode:
		switch n.Operator() {
		case ast.UnaryPlus, ast.UnaryMinus:
			items, err := r.collect(n.Operand(), x, true, false)
			if err != nil {
				return err
			}
			return each(items, func(y *tree) error {
				if y.Kind != types.JSONNumber {
					return pathErrorf("operator %s: its operand is not a numeric value", n.Operator())
				}
				if n.Operator() == ast.UnaryMinus {
					y = numberTree(new(apd.Decimal).Neg(y.Num))
				}
				return next(y)
			})
		case ast.UnaryFilter:
			in := r
			in.current = x
			if is, err := in.truth(n.Operand(), x); err != nil || is.Text != "true" {
				return err
			}
			return next(x)
		}
	}
	is, err := r.truth(n, x)
	if err != nil {
		return err
	}
	return next(is)
}

// within evaluates n, **{1 to 2}: x, which is at a level below the value that ** is applied to, and what it contains.
func (r pathRun) within(n *ast.AnyNode, x *tree, level uint32, found func(*tree) error) error {
	scalar := x.Kind != types.JSONArray && x.Kind != types.JSONObject
	if level >= n.First() || scalar && n.First() == math.MaxUint32 {
		if err := r.next(n, x, found); err != nil {
			return err
		}
	}
	if scalar || level >= n.Last() {
		return nil
	}
	return each(x.Items, func(y *tree) error { return r.within(n, y, level+1, found) })
}

// elements evaluates n, which selects elements of an array: [0, 2 to last].
func (r pathRun) elements(n *ast.ArrayIndexNode, x *tree, found func(*tree) error) error {
	items := x.Items
	if x.Kind != types.JSONArray {
		if !r.lax {
			return r.missing("array accessor can only be applied to an array")
		}
		items = []tree{*x}
	}
	in := r
	in.length = len(items)
	index := func(n ast.Node) (int, error) {
		at, err := in.collect(n, x, false, false)
		if err == nil && (len(at) != 1 || at[0].Kind != types.JSONNumber) {
			err = pathErrorf("array subscript is not a single numeric value")
		}
		if err != nil {
			return 0, err
		}
		v, _ := at[0].Num.Float64()
		if v = math.Trunc(v); v != float64(int32(v)) {
			return 0, pathErrorf("array subscript is out of integer range")
		}
		return int(v), nil
	}
	for _, s := range n.Subscripts() {
		s := s.(*ast.BinaryNode)
		from, err := index(s.Left())
		to := from
		if err == nil && s.Right() != nil {
			to, err = index(s.Right())
		}
		if err == nil && (from < 0 || from > to || to >= len(items)) {
			err = r.missing("array subscript is out of bounds")
		}
		if from, to = max(from, 0), min(to+1, len(items)); err == nil && from < to {
			err = each(items[from:to], func(y *tree) error { return r.next(n, y, found) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// collect returns the items that the path n selects from x; with unwrap, the elements of arrays in their place. If first, those of
// a lax path end with the first: an error at a later item is none.
func (r pathRun) collect(n ast.Node, x *tree, unwrap, first bool) (out []tree, err error) {
	err = r.item(n, x, r.lax, func(y *tree) error {
		if unwrap && r.lax && y.Kind == types.JSONArray {
			out = append(out, y.Items...)
		} else {
			out = append(out, *y)
		}
		if first && r.lax {
			return errFound
		}
		return nil
	})
	if err == errFound {
		err = nil
	}
	return out, err
}

var pathArithmetic = map[ast.BinaryOperator]func(*expr.Env, []types.Value) (types.Value, error){
	ast.BinaryAdd: evalArithmetic("+"), ast.BinarySub: evalArithmetic("-"), ast.BinaryMul: evalArithmetic("*"), ast.BinaryDiv: evalArithmetic("/"), ast.BinaryMod: evalArithmetic("%"),
}

func (r pathRun) method(n *ast.MethodNode, x *tree, next func(*tree) error) error {
	switch n.Name() {
	case ast.MethodType:
		return next(textTree(jsonKinds[x.Kind]))
	case ast.MethodSize:
		size := 1
		if x.Kind == types.JSONArray {
			size = len(x.Items)
		} else if !r.lax {
			return r.missing("item method .size() can only be applied to an array")
		}
		return next(numberTree(apd.New(int64(size), 0)))
	case ast.MethodAbs, ast.MethodFloor, ast.MethodCeiling, ast.MethodDouble:
		return r.number(n.Name(), x, next)
	}
	return fmt.Errorf("JSON paths have the methods type(), size(), abs(), floor(), ceiling() and double(), not %s", n.Name())
}

// number evaluates a method of numbers. The method double() reads texts, too.
func (r pathRun) number(method ast.MethodName, x *tree, next func(*tree) error) error {
	num := x.Num
	if x.Kind == types.JSONString && method == ast.MethodDouble {
		v, err := types.Cast(types.NewString(x.Text), types.Double, nil)
		if err == nil && finite(v.Double()) {
			v, err = types.Cast(v, types.Decimal, nil)
		}
		if err != nil || v.Type() != types.Decimal {
			return pathErrorf("string argument of item method %s is not a valid representation of a double precision number", method)
		}
		num = v.Decimal()
	} else if x.Kind != types.JSONNumber {
		return pathErrorf("item method %s can only be applied to a numeric value", method)
	}
	out := new(apd.Decimal)
	var err error
	switch method {
	case ast.MethodAbs:
		out.Abs(num)
	case ast.MethodFloor:
		_, err = apd.BaseContext.Floor(out, num)
	case ast.MethodCeiling:
		_, err = apd.BaseContext.Ceil(out, num)
	default:
		out = num
	}
	if err != nil {
		return err
	}
	return next(numberTree(out))
}

// truthTree returns the value of a condition; the zero value, null, is unknown.
func truthTree(is bool) *tree { return &tree{Kind: types.JSONBoolean, Text: strconv.FormatBool(is)} }

// truth evaluates the condition n. Errors within it make it unknown.
func (r pathRun) truth(n ast.Node, x *tree) (*tree, error) {
	switch n := n.(type) {
	case *ast.RegexNode:
		return r.compared(n.Operand(), nil, x, func(a, _ *tree) *tree {
			if a.Kind != types.JSONString {
				return &tree{}
			}
			return truthTree(n.Regexp().MatchString(a.Text))
		})
	case *ast.BinaryNode:
		op := n.Operator()
		if op != ast.BinaryAnd && op != ast.BinaryOr {
			return r.compared(n.Left(), n.Right(), x, func(a, b *tree) *tree { return pathCompare(op, a, b) })
		}
		decides := strconv.FormatBool(op == ast.BinaryOr)
		a, err := r.truth(n.Left(), x)
		if err != nil || a.Text == decides {
			return a, err
		}
		b, err := r.truth(n.Right(), x)
		if err == nil && b.Text != decides && a.Kind == types.JSONNull {
			b = a
		}
		return b, err
	case *ast.UnaryNode:
		if n.Operator() == ast.UnaryExists {
			items, err := r.collect(n.Operand(), x, false, true)
			if _, failed := err.(pathError); failed {
				return &tree{}, nil
			}
			return truthTree(len(items) > 0), err
		}
		if n.Operator() != ast.UnaryNot && n.Operator() != ast.UnaryIsUnknown {
			break
		}
		is, err := r.truth(n.Operand(), x)
		if err == nil && n.Operator() == ast.UnaryIsUnknown {
			is = truthTree(is.Kind == types.JSONNull)
		} else if err == nil && is.Kind != types.JSONNull {
			is = truthTree(is.Text == "false")
		}
		return is, err
	}
	return nil, fmt.Errorf("JSON paths have no %s", n)
}

// compared reports whether is holds for an item of left and one of right; right may be nil.
func (r pathRun) compared(left, right ast.Node, x *tree, is func(a, b *tree) *tree) (*tree, error) {
	bs := make([]tree, 1)
	as, err := r.collect(left, x, true, false)
	if err == nil && right != nil {
		bs, err = r.collect(right, x, true, false)
	}
	if _, failed := err.(pathError); failed {
		return &tree{}, nil
	}
	out := truthTree(false)
	for i := range as {
		for j := range bs {
			one := is(&as[i], &bs[j])
			if one.Kind == types.JSONNull && !r.lax || one.Text == "true" && r.lax {
				return one, err
			}
			if one.Text == "true" || out.Text == "false" {
				out = one
			}
		}
	}
	return out, err
}

// pathHolds tells whether a comparison holds for an order of -1, 0 and 1.
var pathHolds = map[ast.BinaryOperator][3]bool{
	ast.BinaryEqual: {1: true}, ast.BinaryNotEqual: {0: true, 2: true}, ast.BinaryLess: {0: true}, ast.BinaryLessOrEqual: {0: true, 1: true},
	ast.BinaryGreater: {2: true}, ast.BinaryGreaterOrEqual: {1: true, 2: true},
}

func pathCompare(op ast.BinaryOperator, a, b *tree) *tree {
	switch holds, known := pathHolds[op]; {
	case op == ast.BinaryStartsWith && a.Kind == types.JSONString && b.Kind == types.JSONString:
		return truthTree(strings.HasPrefix(a.Text, b.Text))
	case known && (a.Kind == types.JSONNull) != (b.Kind == types.JSONNull):
		return truthTree(op == ast.BinaryNotEqual)
	case !known, a.Kind != b.Kind, a.Kind >= types.JSONArray:
		return &tree{}
	default:
		return truthTree(holds[a.Compare(*b)+1])
	}
}
