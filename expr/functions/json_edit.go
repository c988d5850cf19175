package functions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

var isPath class = func(t types.Type) bool { return t == types.ArrayOf(types.String) || t.IsText() }

// jsonEdits are functions that test or change a whole JSON value. Members keep their order; if a key is repeated, the last
// member counts.
var jsonEdits = []expr.Function{
	{Name: "#>", Group: "operator", Unknown: "JSON is not looked into", Signature: "json #> path", Doc: "The value at a path, a text[], as JSON.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.JSON, isJSON, isPath), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return jsonPath(a, false) }},
	{Name: "#>>", Group: "operator", Unknown: "JSON is not looked into", Signature: "json #>> path", Doc: "As #>, as text.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isJSON, isPath), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return jsonPath(a, true) }},
	{Name: "JSONB_CONTAINS", Group: "json", Unknown: "JSON is not looked into", Signature: "json @> json", Doc: "Whether the right one is a part of the left one: its members with their values, its elements anywhere in an array.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			whole, err := jsonTree(a[0])
			if err != nil {
				return types.Value{}, err
			}
			part, err := jsonTree(a[1])
			return types.NewBool(err == nil && jsonContains(whole, part, true)), err
		}},
	{Name: "JSONB_EXISTS", Group: "json", Unknown: "JSON is not looked into", Signature: "json ? key", Doc: "Whether an object has the key, or an array the text.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isJSON, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			found, err := jsonHas(a[0], a[1:])
			return types.NewBool(err == nil && found[0]), err
		}},
	{Name: "JSONB_EXISTS_ANY", Group: "json", Unknown: "JSON is not looked into", Signature: "json ?| keys", Doc: "Whether it has one of the keys, a text[].", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isJSON, isPath), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			found, err := jsonHas(a[0], a[1].Items())
			return types.NewBool(slices.Contains(found, true)), err
		}},
	{Name: "JSONB_EXISTS_ALL", Group: "json", Unknown: "JSON is not looked into", Signature: "json ?& keys", Doc: "Whether it has all of the keys, a text[].", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isJSON, isPath), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			found, err := jsonHas(a[0], a[1].Items())
			return types.NewBool(!slices.Contains(found, false)), err
		}},
	{Name: "JSONB_DELETE", Group: "json", Unknown: "JSON is not looked into", Signature: "json - key", Doc: "An object without the key, an array without the text or the element of that number (from 0, negative from the end); without several, a text[].", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.JSON, isJSON, func(t types.Type) bool { return t.IsInteger() || isPath(t) }), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			keys := a[1:]
			if a[1].Type().IsArray() {
				keys = a[1].Items()
			}
			return jsonWithout(a[0], keys)
		}},
	setOf("JSON_EACH_VALUE", "json_each_value(json) json", "The values of an object, a row for each.", 1, 1, returns(types.JSON, isJSON), func(_ *expr.Env, a []types.Value) (types.Value, error) {
		return jsonValues(a[0], types.JSON, func(raw json.RawMessage) types.Value { return types.NewJSON(string(raw)) })
	}),
	setOf("JSON_EACH_VALUE_TEXT", "json_each_value_text(json) text", "As json_each_value, as text.", 1, 1, returns(types.String, isJSON), func(_ *expr.Env, a []types.Value) (types.Value, error) {
		return jsonValues(a[0], types.String, jsonText)
	}),
	{Name: "JSONB_SET", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb_set(json, path, value [, create]) json", Doc: "The JSON with the value at a path; a member or an element that is not there is added, unless create is false.", MinArgs: 3, MaxArgs: 4,
		Result: returns(types.JSON, isJSON, isPath, isJSON, isTruth), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonEdited(a, func(old json.RawMessage) (json.RawMessage, error) {
				if old == nil && len(a) > 3 && !a[3].Bool() {
					return nil, nil
				}
				return json.RawMessage(a[2].Text()), nil
			}, false)
		}},
	{Name: "JSONB_INSERT", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb_insert(json, path, value [, after]) json", Doc: "The JSON with the value before the element at a path, or after it; a member that is there is an error.", MinArgs: 3, MaxArgs: 4,
		Result: returns(types.JSON, isJSON, isPath, isJSON, isTruth), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonEdited(a, func(old json.RawMessage) (json.RawMessage, error) {
				if old != nil {
					return nil, fmt.Errorf("the object has that member already: jsonb_set replaces it")
				}
				return json.RawMessage(a[2].Text()), nil
			}, true)
		}},
	{Name: "JSON_STRIP_NULLS", Group: "json", Unknown: "JSON is not looked into", Signature: "json_strip_nulls(json) json", Doc: "The JSON without the members that are null, at any depth.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.JSON, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			raw, err := stripNulls(json.RawMessage(a[0].Text()))
			return types.NewJSON(string(raw)), err
		}},
	setOf("JSON_ARRAY_ELEMENTS", "json_array_elements(json) json", "The elements of an array, a row for each.", 1, 1, returns(types.JSON, isJSON), func(_ *expr.Env, a []types.Value) (types.Value, error) {
		return jsonElements(a[0], func(raw json.RawMessage) types.Value { return types.NewJSON(string(raw)) }, types.JSON)
	}),
	setOf("JSON_ARRAY_ELEMENTS_TEXT", "json_array_elements_text(json) text", "As json_array_elements, as text.", 1, 1, returns(types.String, isJSON), func(_ *expr.Env, a []types.Value) (types.Value, error) {
		return jsonElements(a[0], jsonText, types.String)
	}),
	setOf("JSON_OBJECT_KEYS", "json_object_keys(json) text", "The keys of an object, a row for each.", 1, 1, returns(types.String, isJSON), func(_ *expr.Env, a []types.Value) (types.Value, error) {
		members, err := jsonMembers(json.RawMessage(a[0].Text()))
		items := make([]types.Value, len(members))
		for i, m := range members {
			items[i] = types.NewString(m.key)
		}
		return types.NewArray(types.String, items), err
	}),
}

// jsonPath returns the value at a path, which is an array or the text of one.
func jsonPath(a []types.Value, text bool) (types.Value, error) {
	path, err := pathOf(a[1])
	if err != nil || slices.ContainsFunc(path, types.Value.IsNull) {
		return types.Value{}, err
	}
	return jsonStep(a[0].Text(), path, text, true)
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

// jsonText returns a JSON value as text.
func jsonText(raw json.RawMessage) types.Value {
	v, _ := jsonStep(string(raw), nil, true, false) // an empty path causes no error
	return v
}

// jsonHas reports for each key whether an object has it as a member, or an array as an element.
func jsonHas(v types.Value, keys []types.Value) ([]bool, error) {
	tree, err := jsonTree(v)
	out := make([]bool, len(keys))
	for i, k := range keys {
		switch x := tree.(type) {
		case map[string]any:
			_, out[i] = x[k.Text()]
		case []any:
			out[i] = slices.Contains(x, any(k.Text()))
		case string:
			out[i] = x == k.Text()
		}
	}
	return out, err
}

// jsonWithout removes members or elements with the given keys.
func jsonWithout(v types.Value, keys []types.Value) (types.Value, error) {
	if len(keys) == 0 {
		return v, nil
	}
	named := func(text string) bool {
		return slices.ContainsFunc(keys, func(k types.Value) bool { return k.Type().IsText() && k.Text() == text })
	}
	members, err := jsonMembers(json.RawMessage(v.Text()))
	if err == nil {
		if keys[0].Type().IsInteger() {
			return types.Value{}, fmt.Errorf("an object has no numbered elements")
		}
		members = slices.DeleteFunc(members, func(m jsonMember) bool { return named(m.key) })
		return types.NewJSON(string(writeMembers(members))), nil
	}
	items, err := jsonArray(v)
	if err != nil {
		return types.Value{}, fmt.Errorf("neither a JSON object nor an array")
	}
	if keys[0].Type().IsInteger() {
		i := keys[0].Int()
		if i < 0 {
			i += int64(len(items))
		}
		if i >= 0 && i < int64(len(items)) {
			items = slices.Delete(items, int(i), int(i)+1)
		}
	} else {
		items = slices.DeleteFunc(items, func(raw json.RawMessage) bool {
			var text string
			return json.Unmarshal(raw, &text) == nil && raw[0] == '"' && named(text)
		})
	}
	out, err := json.Marshal(items)
	return types.NewJSON(string(out)), err
}

// jsonValues returns the values of an object's members as an array.
func jsonValues(v types.Value, of types.Type, value func(json.RawMessage) types.Value) (types.Value, error) {
	members, err := jsonMembers(json.RawMessage(v.Text()))
	out := make([]types.Value, len(members))
	for i, m := range members {
		out[i] = value(m.value)
	}
	return types.NewArray(of, out), err
}

// jsonTree decodes JSON and keeps numbers as they are written.
func jsonTree(v types.Value) (any, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(v.Text())))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("invalid JSON")
	}
	return tree, nil
}

// jsonContains reports whether whole contains part. At the top level, an array also contains a scalar that is one of its
// elements.
func jsonContains(whole, part any, top bool) bool {
	switch p := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		for key, x := range p {
			if !ok {
				return false
			}
			y, has := w[key]
			if !has || !jsonContains(y, x, false) {
				return false
			}
		}
		return ok
	case []any:
		w, ok := whole.([]any)
		for _, x := range p {
			if !slices.ContainsFunc(w, func(y any) bool { return jsonContains(y, x, false) }) {
				return false
			}
		}
		return ok
	}
	if w, ok := whole.([]any); ok && top {
		return slices.ContainsFunc(w, func(y any) bool { return jsonContains(y, part, false) })
	}
	if n, ok := part.(json.Number); ok {
		m, ok := whole.(json.Number)
		return ok && sameNumber(string(m), string(n))
	}
	return whole == part
}

// sameNumber reports whether two JSON numbers are equal, regardless of their notation.
func sameNumber(a, b string) bool {
	x, errX := types.Cast(types.NewString(a), types.Decimal, nil)
	y, errY := types.Cast(types.NewString(b), types.Decimal, nil)
	if a == b || errX != nil || errY != nil {
		return a == b
	}
	order, err := types.Compare(x, y)
	return err == nil && order == 0
}

// jsonMember is a member of an object, in the object's order.
type jsonMember struct {
	key   string
	value json.RawMessage
}

func jsonMembers(raw json.RawMessage) (out []jsonMember, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("not a JSON object")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("invalid JSON")
		}
		m := jsonMember{key: t.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("invalid JSON")
		}
		out = slices.DeleteFunc(out, func(x jsonMember) bool { return x.key == m.key })
		out = append(out, m)
	}
	return out, nil
}

func writeMembers(members []jsonMember) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(types.NewString(m.key).AppendJSON(out), ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

func writeElements(items []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, x := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, x...)
	}
	return append(out, ']')
}

// jsonEdited changes a[0] at the path a[1]. edit returns the new value for the old one, or nil to add nothing. With
// insert, an array gets another element before the one at the path or, if a[3] is true, after it.
func jsonEdited(a []types.Value, edit func(old json.RawMessage) (json.RawMessage, error), insert bool) (types.Value, error) {
	path, err := pathOf(a[1])
	if err == nil && slices.ContainsFunc(path, types.Value.IsNull) {
		err = fmt.Errorf("an element of a path cannot be NULL")
	}
	if err != nil {
		return types.Value{}, err
	}
	raw, err := editAt(json.RawMessage(a[0].Text()), path, edit, insert, insert && len(a) > 3 && a[3].Bool())
	return types.NewJSON(string(raw)), err
}

func editAt(raw json.RawMessage, path []types.Value, edit func(json.RawMessage) (json.RawMessage, error), insert, after bool) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(path) == 0 || len(raw) == 0 {
		return raw, nil
	}
	step, last := path[0].Text(), len(path) == 1
	switch raw[0] {
	case '{':
		members, err := jsonMembers(raw)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(members, func(m jsonMember) bool { return m.key == step })
		var changed json.RawMessage
		switch {
		case i >= 0 && last:
			changed, err = edit(members[i].value)
		case i >= 0:
			changed, err = editAt(members[i].value, path[1:], edit, insert, after)
		case last:
			changed, err = edit(nil)
		}
		switch {
		case err != nil || changed == nil:
			return raw, err
		case i >= 0:
			members[i].value = changed
		default:
			members = append(members, jsonMember{step, changed})
		}
		return writeMembers(members), nil
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, fmt.Errorf("invalid JSON")
		}
		n, err := strconv.Atoi(step)
		if err != nil {
			return nil, fmt.Errorf("path element %q is not a valid array subscript", step)
		}
		if n < 0 {
			n += len(items)
		}
		inside := n >= 0 && n < len(items)
		var changed json.RawMessage
		switch {
		case !last && inside:
			changed, err = editAt(items[n], path[1:], edit, insert, after)
		case last && inside && !insert:
			changed, err = edit(items[n])
		case last:
			changed, err = edit(nil)
		}
		switch {
		case err != nil || changed == nil:
			return raw, err
		case inside && (!insert || !last):
			items[n] = changed
		default: // another element; at an end if the subscript is out of range
			at := min(max(n, 0), len(items))
			if inside && after {
				at++
			}
			items = slices.Insert(items, at, changed)
		}
		return writeElements(items), nil
	}
	return raw, nil
}

func stripNulls(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '{':
		members, err := jsonMembers(raw)
		if err != nil {
			return nil, err
		}
		members = slices.DeleteFunc(members, func(m jsonMember) bool { return string(m.value) == "null" })
		for i := range members {
			if members[i].value, err = stripNulls(members[i].value); err != nil {
				return nil, err
			}
		}
		return writeMembers(members), nil
	case len(raw) > 0 && raw[0] == '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, fmt.Errorf("invalid JSON")
		}
		for i := range items {
			x, err := stripNulls(items[i])
			if err != nil {
				return nil, err
			}
			items[i] = x
		}
		return writeElements(items), nil
	}
	return raw, nil
}

func jsonElements(v types.Value, f func(json.RawMessage) types.Value, elem types.Type) (types.Value, error) {
	items, err := jsonArray(v)
	out := make([]types.Value, len(items))
	for i, raw := range items {
		out[i] = f(raw)
	}
	return types.NewArray(elem, out), err
}
