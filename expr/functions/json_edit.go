package functions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

var isTexts class = func(t types.Type) bool { return t == types.ArrayOf(types.String) }

var isPath class = func(t types.Type) bool { return t == types.ArrayOf(types.String) || t.IsText() }

// readsPath has the types of a JSON, a path and a value.
var readsPath = []types.Type{types.JSONB, types.ArrayOf(types.String), types.JSONB}

// jsonEdits are functions that test or change a whole JSON value. Members keep their order; if a key is repeated, the last
// member counts.
var jsonEdits = []expr.Function{
	jsonStepFunction("#>", "operator", "json #> path", "The value at a path, a text[], as JSON.", types.JSON, 2, true),
	jsonStepFunction("#>>", "operator", "json #>> path", "As #>, as text.", types.String, 2, true),
	{Name: "JSONB_CONTAINS", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb @> jsonb", Doc: "Whether the right one is a part of the left one: its members with their values, its elements anywhere in an array.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			whole, err := jsonTree(a[0])
			if err != nil {
				return types.Value{}, err
			}
			part, err := jsonTree(a[1])
			return types.NewBool(err == nil && jsonContains(whole, part, true)), err
		}},
	jsonExists("JSONB_EXISTS", "jsonb ? key", "Whether an object has the key, or an array the text.", isText, func(has []bool) bool { return has[0] }),
	jsonExists("JSONB_EXISTS_ANY", "jsonb ?| keys", "Whether it has one of the keys, a text[].", isTexts, func(has []bool) bool { return slices.Contains(has, true) }),
	jsonExists("JSONB_EXISTS_ALL", "jsonb ?& keys", "Whether it has all of the keys, a text[].", isTexts, func(has []bool) bool { return !slices.Contains(has, false) }),
	{Name: "JSONB_DELETE", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb - key", Doc: "An object without the key, an array without the text or the element of that number (from 0, negative from the end); without several, a text[].", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.JSONB, isJSON, func(t types.Type) bool { return t.IsInteger() || isPath(t) }), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			keys := a[1:]
			if a[1].Type().IsArray() {
				keys = a[1].Items()
			}
			return jsonWithout(a[0], keys)
		}},
	jsonSet("JSON_EACH_VALUE", "json_each_value(json) json", "The values of an object, a row for each.", types.JSON, true, false),
	jsonSet("JSON_EACH_VALUE_TEXT", "json_each_value_text(json) text", "As json_each_value, as text.", types.String, true, false),
	{Name: "#-", Group: "operator", Unknown: "JSON is not looked into", Signature: "jsonb #- path", Doc: "The JSON without the member or the element at a path.", MinArgs: 2, MaxArgs: 2, Reads: readsPath,
		Result: returns(types.JSONB, isJSON, isPath), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonEdited(a, nothing, false)
		}},
	{Name: "JSONB_SET", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb_set(jsonb, path, value [, create]) jsonb", Doc: "The JSON with the value at a path; a member or an element that is not there is added, unless create is false.", MinArgs: 3, MaxArgs: 4, Reads: readsPath,
		Result: returns(types.JSONB, isJSON, isPath, isJSON, isTruth), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonEdited(a, func(old *types.JSONTree) ([]types.JSONTree, error) {
				if old == nil && len(a) > 3 && !a[3].Bool() {
					return nil, nil
				}
				x, err := jsonTree(a[2])
				return []types.JSONTree{x}, err
			}, false)
		}},
	{Name: "JSONB_INSERT", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb_insert(jsonb, path, value [, after]) jsonb", Doc: "The JSON with the value before the element at a path, or after it; a member that is there is an error.", MinArgs: 3, MaxArgs: 4, Reads: readsPath,
		Result: returns(types.JSONB, isJSON, isPath, isJSON, isTruth), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonEdited(a, func(old *types.JSONTree) ([]types.JSONTree, error) {
				if old != nil {
					return nil, fmt.Errorf("the object has that member already: jsonb_set replaces it")
				}
				x, err := jsonTree(a[2])
				return []types.JSONTree{x}, err
			}, true)
		}},
	{Name: "JSON_STRIP_NULLS", Group: "json", Unknown: "JSON is not looked into", Signature: "json_strip_nulls(json) json", Doc: "The JSON without the members that are null, at any depth.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.JSON, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			raw, err := stripNulls(a[0].Text())
			return types.NewJSON(raw), err
		}},
	jsonSet("JSON_ARRAY_ELEMENTS", "json_array_elements(json) json", "The elements of an array, a row for each.", types.JSON, false, false),
	jsonSet("JSON_ARRAY_ELEMENTS_TEXT", "json_array_elements_text(json) text", "As json_array_elements, as text.", types.String, false, false),
	jsonSet("JSON_OBJECT_KEYS", "json_object_keys(json) text", "The keys of an object, a row for each.", types.String, true, true),
}

func pathOf(v types.Value) ([]types.Value, error) {
	if !v.Type().IsArray() {
		var err error
		if v, err = types.Cast(v, types.ArrayOf(types.String), nil); err != nil {
			return nil, err
		}
	}
	return v.Items(), nil
}

// jsonExists returns a function that asks whether an object has keys as members, or an array as elements.
func jsonExists(name, signature, doc string, keys class, of func(has []bool) bool) expr.Function {
	return expr.Function{Name: name, Group: "json", Unknown: "JSON is not looked into", Signature: signature, Doc: doc, MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isJSON, keys), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			tree, err := jsonTree(a[0])
			asked := a[1:]
			if a[1].Type().IsArray() {
				asked = a[1].Items()
			}
			has := make([]bool, len(asked))
			for i, k := range asked {
				is := func(x types.JSONTree) bool { return x.Kind == types.JSONString && x.Text == k.Text() }
				has[i] = tree.Member(k.Text()) != nil || is(tree) || tree.Kind == types.JSONArray && slices.ContainsFunc(tree.Items, is)
			}
			return types.NewBool(of(has)), err
		}}
}

// jsonWithout removes members or elements with the given keys.
func jsonWithout(v types.Value, keys []types.Value) (types.Value, error) {
	tree, err := jsonTree(v)
	named := func(text string) bool {
		return slices.ContainsFunc(keys, func(k types.Value) bool { return k.Type().IsText() && k.Text() == text })
	}
	number := len(keys) > 0 && keys[0].Type().IsInteger()
	switch {
	case err != nil:
	case tree.Kind < types.JSONArray:
		err = fmt.Errorf("neither a JSON object nor an array")
	case tree.Kind == types.JSONObject && number:
		err = fmt.Errorf("an object has no numbered elements")
	case tree.Kind == types.JSONArray && !number:
		tree.Items = slices.DeleteFunc(tree.Items, func(x types.JSONTree) bool { return x.Kind == types.JSONString && named(x.Text) })
	default:
		for _, k := range keys {
			err = cmp.Or(err, editAt(&tree, []types.Value{types.NewString(k.String())}, nothing, false, false))
		}
	}
	return tree.Value(), err
}

// nothing removes a value in editAt.
func nothing(*types.JSONTree) ([]types.JSONTree, error) { return nil, nil }

// jsonTree reads JSON.
func jsonTree(v types.Value) (types.JSONTree, error) {
	tree, ok := types.ReadJSON(v.Stored())
	if !ok {
		return tree, fmt.Errorf("invalid JSON")
	}
	return tree, nil
}

// jsonContains reports whether whole contains part. At the top level, an array also contains a scalar that is one of its
// elements.
func jsonContains(whole, part types.JSONTree, top bool) bool {
	in := func(x types.JSONTree) bool {
		return slices.ContainsFunc(whole.Items, func(y types.JSONTree) bool { return jsonContains(y, x, false) })
	}
	switch {
	case top && whole.Kind == types.JSONArray && part.Kind < types.JSONArray:
		return in(part)
	case whole.Kind != part.Kind:
		return false
	case part.Kind == types.JSONArray:
		return !slices.ContainsFunc(part.Items, func(x types.JSONTree) bool { return !in(x) })
	case part.Kind == types.JSONObject:
		for i, name := range part.Names {
			if y := whole.Member(name); y == nil || !jsonContains(*y, part.Items[i], false) {
				return false
			}
		}
		return true
	}
	return whole.Compare(part) == 0
}

// jsonEdited changes a[0] at the path a[1]. edit returns what takes the place of the old value, which is nil if there is
// none: one value, or nothing. With insert, an array gets another element before the one at the path or, if a[3] is true,
// after it.
func jsonEdited(a []types.Value, edit func(old *types.JSONTree) ([]types.JSONTree, error), insert bool) (types.Value, error) {
	path, err := pathOf(a[1])
	if err == nil && slices.ContainsFunc(path, types.Value.IsNull) {
		err = fmt.Errorf("an element of a path cannot be NULL")
	}
	if err != nil {
		return types.Value{}, err
	}
	tree, err := jsonTree(a[0])
	if err == nil {
		err = editAt(&tree, path, edit, insert, insert && len(a) > 3 && a[3].Bool())
	}
	return tree.Value(), err
}

func editAt(n *types.JSONTree, path []types.Value, edit func(*types.JSONTree) ([]types.JSONTree, error), insert, after bool) (err error) {
	if len(path) == 0 || n.Kind < types.JSONArray {
		return nil
	}
	step, i := path[0].Text(), 0
	if n.Kind == types.JSONObject {
		i = slices.Index(n.Names, step)
	} else if i, err = strconv.Atoi(step); err != nil {
		return fmt.Errorf("path element %q is not a valid array subscript", step)
	} else if i < 0 {
		i += len(n.Items)
	}
	inside := i >= 0 && i < len(n.Items)
	if len(path) > 1 {
		if inside {
			err = editAt(&n.Items[i], path[1:], edit, insert, after)
		}
		return err
	}
	var old *types.JSONTree
	if inside && !(insert && n.Kind == types.JSONArray) {
		old = &n.Items[i]
	}
	in, err := edit(old)
	switch {
	case err != nil:
	case old != nil:
		n.Items = slices.Replace(n.Items, i, i+1, in...)
		if n.Kind == types.JSONObject && len(in) == 0 {
			n.Names = slices.Delete(n.Names, i, i+1)
		}
	case n.Kind == types.JSONArray: // another element; at an end if the subscript is out of range
		at := min(max(i, 0), len(n.Items))
		if inside && after {
			at++
		}
		n.Items = slices.Insert(n.Items, at, in...)
	case len(in) > 0:
		n.Add(step, in[0])
	}
	return err
}

func stripNulls(text string) (string, error) {
	names, parts, ok := types.JSONParts(text)
	if !ok {
		if !json.Valid([]byte(text)) {
			return "", fmt.Errorf("invalid JSON")
		}
		return strings.TrimSpace(text), nil
	}
	ends := "[]"
	if names != nil {
		ends = "{}"
	}
	var out []string
	for i, part := range parts {
		if names != nil && part == "null" {
			continue
		}
		x, err := stripNulls(part)
		if err != nil {
			return "", err
		}
		if names != nil {
			x = string(types.NewString(names[i]).AppendJSON(nil)) + ":" + x
		}
		out = append(out, x)
	}
	return ends[:1] + strings.Join(out, ",") + ends[1:], nil
}

func jsonSet(name, signature, doc string, of types.Type, object, keys bool) expr.Function {
	return setOf(name, signature, doc, 1, 1, returns(of, isJSON), func(_ *expr.Env, a []types.Value) (types.Value, error) {
		return jsonParts(a[0], of, object, keys)
	})
}

// jsonParts returns an array of the values of an object's members, of their keys, or of the elements of an array.
func jsonParts(v types.Value, of types.Type, object, keys bool) (types.Value, error) {
	text := v.Stored()
	if object {
		text = v.Text() // a JSONB's members have an order
	}
	names, parts, ok := types.JSONParts(text)
	switch {
	case object && names == nil:
		return types.Value{}, fmt.Errorf("not a JSON object")
	case !object && (!ok || names != nil):
		return types.Value{}, fmt.Errorf("not a JSON array")
	case keys:
		parts = names
	}
	out := make([]types.Value, len(parts))
	for i, x := range parts {
		switch {
		case keys:
			out[i] = types.NewString(x)
		case of == types.JSON:
			out[i] = types.NewJSON(x)
		default:
			out[i], _ = jsonStep(v.JSONPart(x), nil, true, false) // an empty path causes no error
		}
	}
	return types.NewArray(of, out), nil
}
