package functions

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// setElementFunction is what SET a[i] = x becomes.
var setElementFunction = expr.Function{Name: "SET_ELEMENT", Group: "array", Unknown: arrayUnknown, Signature: "set_element(a, x, i ...)",
	Doc: "a with x as the element with these subscripts, as SET a[i] = x writes; of JSON, the member or element at this path.", MinArgs: 3, MaxArgs: 8, NullArgs: true,
	Result: func(args []expr.Expr) (types.Type, error) {
		if args[0].Type().IsJSON() {
			return sameAs(0, isJSON, isJSON, func(t types.Type) bool { return t.IsInteger() || t.IsText() })(args)
		}
		return sameAs(0, isArray, isAny, isInt)(args)
	}, Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
		if slices.ContainsFunc(a[2:], types.Value.IsNull) {
			return types.Value{}, errors.New("a subscript in SET cannot be NULL")
		}
		if !a[1].Type().IsJSON() {
			return setElement(a)
		}
		var old *types.JSONTree
		value, err := jsonTree(a[1])
		if !a[0].IsNull() && err == nil {
			old = &types.JSONTree{}
			*old, err = jsonTree(a[0])
		}
		if err == nil {
			value, err = setJSON(old, a[2:], value)
		}
		if out := value.Value(); err != nil || a[1].Type() == types.JSONB {
			return out, err
		}
		return types.NewJSON(value.Value().Text()), err
	}}

// setElement changes an element of an array of one dimension, which grows behind its end.
func setElement(a []types.Value) (types.Value, error) {
	var items []types.Value
	t, dims := types.ArrayOf(a[1].Type()), []types.Dim{{Lower: int(a[2].Int())}}
	if !a[0].IsNull() {
		items, t = a[0].Items(), a[0].Type()
	}
	if len(items) > 0 {
		dims = a[0].Dims()
	}
	i := int(a[2].Int()) - dims[0].Lower
	if len(a) > 3 || len(dims) > 1 {
		return types.Value{}, errors.New("SET changes elements of an array of one dimension: write one of several as a whole")
	}
	if i < 0 || i >= maxFilled {
		return types.Value{}, fmt.Errorf("SET cannot write the subscript %d: an array has up to %d subscripts from its first one on", a[2].Int(), maxFilled)
	}
	items = append(items, make([]types.Value, max(0, i+1-len(items)))...)
	items[i], dims[0].Len = a[1], max(len(items), dims[0].Len)
	return types.NewArrayOf(t, dims, items), nil
}

// setJSON returns n, which is nil where nothing is, with value at the path.
func setJSON(n *types.JSONTree, path []types.Value, value types.JSONTree) (types.JSONTree, error) {
	if len(path) == 0 {
		return value, nil
	}
	if n == nil {
		n = &types.JSONTree{Kind: types.JSONObject}
		if path[0].Type().IsInteger() {
			n.Kind = types.JSONArray
		}
	}
	step := path[0].String()
	switch n.Kind {
	case types.JSONObject:
		x, err := setJSON(n.Member(step), path[1:], value)
		if m := n.Member(step); m != nil {
			*m = x
		} else {
			n.Add(step, x)
		}
		return *n, err
	case types.JSONArray:
		i, err := strconv.Atoi(step)
		if i < 0 {
			i += len(n.Items)
		}
		if err != nil || i < 0 || i >= maxFilled {
			return *n, fmt.Errorf("the JSON array has no element with the subscript %s", step)
		}
		var old *types.JSONTree
		if i < len(n.Items) {
			old = &n.Items[i]
		}
		x, err := setJSON(old, path[1:], value)
		n.Items = append(n.Items, make([]types.JSONTree, max(0, i+1-len(n.Items)))...)
		n.Items[i] = x
		return *n, err
	}
	return *n, fmt.Errorf("the JSON has neither members nor elements where the subscript %s is", step)
}
