package functions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

var isJSON class = func(t types.Type) bool { return t.IsText() }
var isStep class = func(t types.Type) bool { return t.IsText() || t.IsInteger() }

var jsonFunctions = []expr.Function{
	jsonStepFunction("->", "operator", "json -> key", "An object's member or an array's element (from 0, negative from the end), as JSON.", types.JSON, 2, false),
	jsonStepFunction("->>", "operator", "json ->> key", "As ->, as text.", types.String, 2, false),
	jsonStepFunction("JSON_EXTRACT_PATH_TEXT", "json", "json_extract_path_text(json, key, ...) text", "The value at a path, as text.", types.String, -1, true),
	jsonStepFunction("JSON_EXTRACT_PATH", "json", "json_extract_path(json, key, ...) json", "The value at a path.", types.JSON, -1, true),
	{Name: "JSON_BUILD_OBJECT", Group: "json", Unknown: "JSON is not looked into", Signature: "json_build_object(key, value, ...) json", Doc: "An object of these members, NULLs as null.", MinArgs: 0, MaxArgs: -1,
		NullArgs: true, Result: returns(types.JSON), Eval: buildObject},
	{Name: "JSON_OBJECT", Group: "json", Unknown: "JSON is not looked into", Signature: "json_object(text[] [, text[]]) json", Doc: "An object of texts: the keys and values are in turn in one array, or each in its own.", MinArgs: 1, MaxArgs: 2,
		Reads: []types.Type{types.ArrayOf(types.String), types.ArrayOf(types.String)}, Result: returns(types.JSON, func(t types.Type) bool { return t == types.ArrayOf(types.String) }), Eval: textObject},
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
			tree, err := jsonTree(a[0])
			return types.NewString(jsonKinds[tree.Kind]), err
		}},
	{Name: "JSONB_PRETTY", Group: "json", Unknown: "JSON is not looked into", Signature: "jsonb_pretty(jsonb) text", Doc: "In lines, with four blanks for each level.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			tree, err := jsonTree(a[0])
			return types.NewString(tree.Pretty()), err
		}},
	{Name: "JSON_ARRAY_LENGTH", Group: "json", Small: true, Unknown: "JSON is not looked into", Signature: "json_array_length(json) bigint", Doc: "Number of elements of an array.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isJSON), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			items, err := jsonParts(a[0], types.JSON, false, false)
			return types.NewInt(int64(len(items.Items()))), err
		}},
}

// jsonbFunctions returns JSONB_X for each JSON_X in groups, and TO_JSONB. They take and return JSONB where the others take and
// return JSON.
func jsonbFunctions(groups ...[]expr.Function) (out []expr.Function) {
	for _, f := range slices.Concat(groups...) {
		if !strings.HasPrefix(f.Name, "JSON_") && f.Name != "TO_JSON" {
			continue
		}
		result, eval := f.Result, f.Eval
		takes := strings.Contains(f.Signature, "(json")
		if takes {
			f.Reads = []types.Type{types.JSONB}
		}
		f.Doc = "As " + strings.ToLower(f.Name) + ", of JSONB."
		f.Name, f.Signature = strings.Replace(f.Name, "JSON", "JSONB", 1), strings.ReplaceAll(f.Signature, "json", "jsonb")
		f.Result = func(args []expr.Expr) (types.Type, error) {
			t, err := result(args)
			if t == types.JSON {
				t = types.JSONB
			}
			return t, err
		}
		if eval != nil {
			f.Eval = func(env *expr.Env, a []types.Value) (types.Value, error) {
				if takes && a[0].Type() != types.JSONB {
					a = slices.Clone(a)
					a[0] = types.NewJSONOf(types.JSONB, a[0].Text())
				}
				v, err := eval(env, a)
				return types.AsJSONB(v), err
			}
		}
		out = append(out, f)
	}
	return out
}

var jsonKinds = [...]string{"null", "string", "number", "boolean", "array", "object"}

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

// textObject implements JSON_OBJECT.
func textObject(env *expr.Env, a []types.Value) (types.Value, error) {
	all := a[0].Items()
	switch dims := a[0].Dims(); {
	case len(a) == 2:
		values := a[1].Items()
		if len(dims) > 1 || len(a[1].Dims()) > 1 || len(all) != len(values) {
			return types.Value{}, fmt.Errorf("JSON_OBJECT takes two arrays of one dimension and one length, keys and values")
		}
		keys := all
		all = nil
		for i, key := range keys {
			all = append(all, key, values[i])
		}
	case len(dims) > 2 || len(dims) == 2 && dims[1].Len != 2 || len(all)%2 != 0:
		return types.Value{}, fmt.Errorf("JSON_OBJECT takes keys and values in turn, or rows of two")
	}
	return buildObject(env, all)
}

// jsonStepFunction returns a function that follows its arguments, or operator #> and #>>, which follow an array of steps.
func jsonStepFunction(name, group, signature, doc string, t types.Type, most int, digits bool) expr.Function {
	step, path, reads := isStep, name[0] == '#', []types.Type(nil)
	if path {
		step, reads = isPath, readsPath
	}
	result := returns(t, isJSON, step)
	return expr.Function{Name: name, Group: group, Unknown: "JSON is not looked into", Signature: signature, Doc: doc, MinArgs: 2, MaxArgs: most, Reads: reads,
		Result: func(args []expr.Expr) (types.Type, error) {
			out, err := result(args)
			if out == types.JSON && args[0].Type() == types.JSONB {
				out = types.JSONB
			}
			return out, err
		}, Eval: func(_ *expr.Env, a []types.Value) (_ types.Value, err error) {
			steps := a[1:]
			if path {
				if steps, err = pathOf(a[1]); err != nil || slices.ContainsFunc(steps, types.Value.IsNull) {
					return types.Value{}, err
				}
			}
			return jsonStep(a[0], steps, t == types.String, digits)
		}}
}

// jsonStep follows path in v. With digits, a text of digits also selects an array element. A missing value or invalid
// JSON is NULL, so that one bad cell does not fail a query over many rows. A JSONB that is neither an object nor an array is
// its own first element, as in PostgreSQL.
func jsonStep(v types.Value, path []types.Value, text, digits bool) (types.Value, error) {
	doc := v.Stored()
	for _, step := range path {
		names, parts, ok := types.JSONParts(doc)
		if !ok && !digits && v.Type() == types.JSONB && step.Type().IsInteger() && (step.Int() == 0 || step.Int() == -1) {
			continue
		}
		if !ok || names != nil && !step.Type().IsText() {
			return types.Value{}, nil
		}
		i := slices.Index(names, step.Text())
		if names == nil {
			n := step.Int()
			if step.Type().IsText() {
				var err error
				if n, err = strconv.ParseInt(step.Text(), 10, 64); err != nil || !digits {
					return types.Value{}, nil
				}
			}
			if n < 0 {
				n += int64(len(parts))
			}
			i = int(min(n, int64(len(parts))))
		}
		if i < 0 || i >= len(parts) {
			return types.Value{}, nil
		}
		doc = parts[i]
	}
	switch doc = strings.TrimSpace(doc); {
	case !text:
		return v.JSONPart(doc), nil
	case doc == "null":
		return types.Value{}, nil
	case strings.HasPrefix(doc, `"`):
		if json.Unmarshal([]byte(doc), &doc) != nil {
			return types.Value{}, nil
		}
		return types.NewString(doc), nil
	}
	return types.NewString(v.JSONPart(doc).Text()), nil
}
