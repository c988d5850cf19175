package functions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

var isJSON class = func(t types.Type) bool { return t.IsText() }
var isStep class = func(t types.Type) bool { return t.IsText() || t.IsInteger() }

var jsonFunctions = []expr.Function{
	{Name: "->", Group: "operator", Unknown: "JSON is not looked into", Signature: "json -> key", Doc: "An object's member or an array's element (from 0, negative from the end), as JSON.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.JSON, isJSON, isStep), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonStep(a[0].Text(), a[1:], false, false)
		}},
	{Name: "->>", Group: "operator", Unknown: "JSON is not looked into", Signature: "json ->> key", Doc: "As ->, as text.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isJSON, isStep), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonStep(a[0].Text(), a[1:], true, false)
		}},
	{Name: "JSON_EXTRACT_PATH_TEXT", Group: "json", Unknown: "JSON is not looked into", Signature: "json_extract_path_text(json, key, ...) text", Doc: "The value at a path, as text.", MinArgs: 2, MaxArgs: -1,
		Result: returns(types.String, isJSON, isStep), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonStep(a[0].Text(), a[1:], true, true)
		}},
	{Name: "JSON_EXTRACT_PATH", Group: "json", Unknown: "JSON is not looked into", Signature: "json_extract_path(json, key, ...) json", Doc: "The value at a path.", MinArgs: 2, MaxArgs: -1,
		Result: returns(types.JSON, isJSON, isStep), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return jsonStep(a[0].Text(), a[1:], false, true)
		}},
	{Name: "JSON_BUILD_OBJECT", Group: "json", Unknown: "JSON is not looked into", Signature: "json_build_object(key, value, ...) json", Doc: "An object of these members, NULLs as null.", MinArgs: 0, MaxArgs: -1,
		NullArgs: true, Result: returns(types.JSON), Eval: buildObject},
	{Name: "JSON_BUILD_ARRAY", Group: "json", Unknown: "JSON is not looked into", Signature: "json_build_array(value, ...) json", Doc: "An array of these values, NULLs as null.", MinArgs: 0, MaxArgs: -1,
		NullArgs: true, Result: returns(types.JSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			out := []byte{'['}
			for i, v := range a {
				if i > 0 {
					out = append(out, ',')
				}
				out = v.AppendJSON(out)
			}
			return types.NewJSON(string(append(out, ']'))), nil
		}},
	{Name: "TO_JSON", Group: "json", Unknown: "JSON is not looked into", Signature: "to_json(value) json", Doc: "A number, a boolean, JSON as it is, or else a string.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.JSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewJSON(string(a[0].AppendJSON(nil))), nil
		}},
	{Name: "JSON_TYPEOF", Group: "json", Unknown: "JSON is not looked into", Signature: "json_typeof(json) text", Doc: "object, array, string, number, boolean or null.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			s := bytes.TrimSpace([]byte(a[0].Text()))
			if len(s) == 0 || !json.Valid(s) {
				return types.Value{}, fmt.Errorf("invalid JSON")
			}
			switch s[0] {
			case '{':
				return types.NewString("object"), nil
			case '[':
				return types.NewString("array"), nil
			case '"':
				return types.NewString("string"), nil
			case 't', 'f':
				return types.NewString("boolean"), nil
			case 'n':
				return types.NewString("null"), nil
			}
			return types.NewString("number"), nil
		}},
	{Name: "JSONB_PRETTY", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb_pretty(json) text", Doc: "In lines, with four blanks for each level.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if a[0].IsNull() {
				return a[0], nil
			}
			var b bytes.Buffer
			if err := json.Indent(&b, []byte(a[0].Text()), "", "    "); err != nil {
				return types.Value{}, fmt.Errorf("invalid JSON")
			}
			return types.NewString(b.String()), nil
		}},
	{Name: "JSON_ARRAY_LENGTH", Group: "json", Unknown: "JSON is not looked into", Signature: "json_array_length(json) bigint", Doc: "Number of elements of an array.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			items, err := jsonArray(a[0])
			return types.NewInt(int64(len(items))), err
		}},
}

func jsonArray(v types.Value) (items []json.RawMessage, err error) {
	if err := json.Unmarshal([]byte(v.Text()), &items); err != nil || items == nil {
		return nil, fmt.Errorf("not a JSON array")
	}
	return items, nil
}

func buildObject(env *expr.Env, a []types.Value) (types.Value, error) {
	if len(a)%2 != 0 {
		return types.Value{}, fmt.Errorf("JSON_BUILD_OBJECT takes keys and values in turn")
	}
	out := []byte{'{'}
	for i := 0; i < len(a); i += 2 {
		if a[i].IsNull() {
			return types.Value{}, fmt.Errorf("the key of a JSON object cannot be NULL")
		}
		key, err := types.Cast(a[i], types.String, env.Loc)
		if err != nil {
			return key, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = a[i+1].AppendJSON(append(key.AppendJSON(out), ':'))
	}
	return types.NewJSON(string(append(out, '}'))), nil
}

// jsonStep follows path in doc. With digits, a text of digits also selects an array element. A missing value or invalid
// JSON is NULL, so that one bad cell does not fail a query over many rows.
func jsonStep(doc string, path []types.Value, text, digits bool) (types.Value, error) {
	raw := json.RawMessage(doc)
	for _, step := range path {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 {
			return types.Value{}, nil
		}
		switch raw[0] {
		case '{':
			if !step.Type().IsText() {
				return types.Value{}, nil
			}
			var members map[string]json.RawMessage
			if json.Unmarshal(raw, &members) != nil {
				return types.Value{}, nil
			}
			member, ok := members[step.Text()]
			if !ok {
				return types.Value{}, nil
			}
			raw = member
		case '[':
			var items []json.RawMessage
			i := step.Int()
			if step.Type().IsText() {
				n, err := strconv.ParseInt(step.Text(), 10, 64)
				if err != nil || !digits {
					return types.Value{}, nil
				}
				i = n
			}
			if json.Unmarshal(raw, &items) != nil {
				return types.Value{}, nil
			}
			if i < 0 {
				i += int64(len(items))
			}
			if i < 0 || i >= int64(len(items)) {
				return types.Value{}, nil
			}
			raw = items[i]
		default:
			return types.Value{}, nil
		}
	}
	raw = bytes.TrimSpace(raw)
	if !text {
		return types.NewJSON(string(raw)), nil
	}
	if string(raw) == "null" {
		return types.Value{}, nil
	}
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return types.Value{}, nil
		}
		return types.NewString(s), nil
	}
	return types.NewString(string(raw)), nil
}
