package functions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

const arrayUnknown = "arrays are not looked into"

var isArray class = types.Type.IsArray

// arrayFunctions are functions of arrays. An argument that becomes an element of an array is converted to the elements'
// type: see compiler.elements.
var arrayFunctions = []expr.Function{
	{Name: "ARRAY", Group: "array", Unknown: arrayUnknown, Signature: "ARRAY[a, b, ...], ARRAY(SELECT ...)", Doc: "The array of these elements; of arrays of one size, an array of one dimension more.", MinArgs: 0, MaxArgs: -1, NullArgs: true,
		Result: func(args []expr.Expr) (types.Type, error) {
			if len(args) == 0 {
				return types.ArrayOf(types.String), nil
			}
			return types.ArrayOf(args[0].Type().ElemOrSelf()), nil
		}, Eval: makeArray},
	{Name: "SUBSCRIPT", Group: "array", Binds: "as split_part does, for (string_to_array(text, delimiter))[n]", Signature: "a[i], a[i][j]", Doc: "The element with these subscripts, NULL where there is none.", MinArgs: 2, MaxArgs: 7,
		Result: func(args []expr.Expr) (types.Type, error) {
			_, err := returns(types.Null, isArray, isInt)(args)
			return args[0].Type().Elem(), err
		}, Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			at := make([]int64, len(a)-1)
			for i, v := range a[1:] {
				at[i] = v.Int()
			}
			return a[0].Element(at), nil
		}},
	{Name: "SLICE", Group: "array", Unknown: arrayUnknown, Signature: "a[i:j]", Doc: "The elements with subscripts from i to j; without i, from the first, without j, to the last.", MinArgs: 3, MaxArgs: 13, NullArgs: true,
		Result: sliceResult, Eval: sliceArray},
	ofArray("@>", "operator", types.Boolean, "a @> b", "Whether every element of b is one of a's.", 2, func(a []types.Value) (types.Value, error) { return containsAll(a[0], a[1]) }),
	ofArray("<@", "operator", types.Boolean, "a <@ b", "Whether every element of a is one of b's.", 2, func(a []types.Value) (types.Value, error) { return containsAll(a[1], a[0]) }),
	ofArray("&&", "operator", types.Boolean, "a && b", "Whether a and b have an element in common.", 2, overlaps),
	ofArray("ARRAY_LENGTH", "array", types.Int, "array_length(a, dimension) integer", "The number of subscripts in a dimension, NULL where there is none such.", 2, dimension(func(d types.Dim) int { return d.Len })),
	ofArray("ARRAY_LOWER", "array", types.Int, "array_lower(a, dimension) integer", "The first subscript.", 2, dimension(func(d types.Dim) int { return d.Lower })),
	ofArray("ARRAY_UPPER", "array", types.Int, "array_upper(a, dimension) integer", "The last subscript.", 2, dimension(func(d types.Dim) int { return d.Lower + d.Len - 1 })),
	ofArray("ARRAY_NDIMS", "array", types.Int, "array_ndims(a) integer", "The number of dimensions, NULL of an array without elements.", 1, func(a []types.Value) (types.Value, error) {
		n := len(a[0].Dims())
		if n == 0 {
			return types.Value{}, nil
		}
		return types.NewIntOf(types.Int, int64(n)), nil
	}),
	ofArray("ARRAY_DIMS", "array", types.String, "array_dims(a) text", "The bounds of all dimensions as text.", 1, func(a []types.Value) (types.Value, error) {
		var b strings.Builder
		for _, d := range a[0].Dims() {
			fmt.Fprintf(&b, "[%d:%d]", d.Lower, d.Lower+d.Len-1)
		}
		if b.Len() == 0 {
			return types.Value{}, nil
		}
		return types.NewString(b.String()), nil
	}),
	ofArray("CARDINALITY", "array", types.Int, "cardinality(a) integer", "The number of elements in all dimensions.", 1, func(a []types.Value) (types.Value, error) {
		return types.NewIntOf(types.Int, int64(len(a[0].Items()))), nil
	}),
	{Name: "ARRAY_APPEND", Group: "array", Unknown: arrayUnknown, Signature: "array_append(a, x)", Doc: "a with x behind its elements.", MinArgs: 2, MaxArgs: 2, NullArgs: true, Result: arrayLike(0),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return appended(a[0], a[1], false) }},
	{Name: "ARRAY_PREPEND", Group: "array", Unknown: arrayUnknown, Signature: "array_prepend(x, a)", Doc: "a with x before its elements.", MinArgs: 2, MaxArgs: 2, NullArgs: true, Result: arrayLike(1),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return appended(a[1], a[0], true) }},
	{Name: "ARRAY_CAT", Group: "array", Unknown: arrayUnknown, Signature: "array_cat(a, b)", Doc: "The elements of a and those of b; as a || b.", MinArgs: 2, MaxArgs: 2, NullArgs: true, Result: arrayLike(0), Eval: concatenated},
	{Name: "ARRAY_REMOVE", Group: "array", Unknown: arrayUnknown, Signature: "array_remove(a, x)", Doc: "a, of one dimension, without the elements that are equal to x.", MinArgs: 2, MaxArgs: 2, NullArgs: true, Result: arrayLike(0),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return changed(a[0], a[1], func(types.Value) (types.Value, bool) { return types.Value{}, false })
		}},
	{Name: "ARRAY_REPLACE", Group: "array", Unknown: arrayUnknown, Signature: "array_replace(a, x, y)", Doc: "a with y in place of the elements that are equal to x.", MinArgs: 3, MaxArgs: 3, NullArgs: true, Result: arrayLike(0),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return changed(a[0], a[1], func(types.Value) (types.Value, bool) { return a[2], true })
		}},
	{Name: "ARRAY_POSITION", Group: "array", Unknown: arrayUnknown, Signature: "array_position(a, x [, from]) integer", Doc: "The first subscript, at from or behind it, whose element is x, NULL where there is none.", MinArgs: 2, MaxArgs: 3, NullArgs: true,
		Result: returns(types.Int, isArray, isAny, isInt), Eval: positionOf},
	{Name: "ARRAY_POSITIONS", Group: "array", Unknown: arrayUnknown, Signature: "array_positions(a, x) integer[]", Doc: "The subscripts of the elements that are x.", MinArgs: 2, MaxArgs: 2, NullArgs: true,
		Result: returns(types.ArrayOf(types.Int), isArray, isAny), Eval: positionsOf},
	{Name: "ARRAY_TO_STRING", Group: "array", Binds: "as concat_ws does, for ARRAY[a, b, ...] and without the third argument", Signature: "array_to_string(a, delimiter [, null]) text", Doc: "The texts of the elements, separated; NULLs as the text null, or left out.", MinArgs: 2, MaxArgs: 3, NullArgs: true,
		Result: returns(types.String, isArray, isText), Eval: arrayToString},
	{Name: "STRING_TO_ARRAY", Group: "array", Unknown: arrayUnknown, Signature: "string_to_array(text, delimiter [, null]) text[]", Doc: "The parts of the text between delimiters, its characters where that is NULL; parts that are the text null become NULL.", MinArgs: 2, MaxArgs: 3, NullArgs: true,
		Result: returns(types.ArrayOf(types.String), isText), Eval: stringToArray},
	{Name: "TRIM_ARRAY", Group: "array", Unknown: arrayUnknown, Signature: "trim_array(a, n)", Doc: "a without its last n elements.", MinArgs: 2, MaxArgs: 2, Result: arrayLike(0), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
		n, dims := a[1].Int(), a[0].Dims()
		length := 0
		if len(dims) > 0 {
			length = dims[0].Len
		}
		if n < 0 || n > int64(length) {
			return types.Value{}, fmt.Errorf("TRIM_ARRAY takes 0 to %d elements away, not %d", length, n)
		}
		if length == 0 {
			return a[0], nil
		}
		return a[0].Slice([]types.Bounds{{LoOpen: true, Hi: int64(dims[0].Lower) + int64(length) - n - 1}}), nil
	}},
	{Name: "ARRAY_FILL", Group: "array", Unknown: arrayUnknown, Signature: "array_fill(x, lengths [, lower_bounds])", Doc: "An array of these lengths whose elements are all x.", MinArgs: 2, MaxArgs: 3, NullArgs: true,
		Result: func(args []expr.Expr) (types.Type, error) {
			_, err := returns(types.Null, isAny, isArray)(args)
			return types.ArrayOf(args[0].Type().ElemOrSelf()), err
		}, Eval: fillArray},
	setElementFunction,
	setOf("UNNEST", "unnest(a)", "The elements of the array, a row for each, in FROM and SELECT.", 1, 1, func(args []expr.Expr) (types.Type, error) {
		_, err := returns(types.Null, isArray)(args)
		return args[0].Type().Elem(), err
	}, func(_ *expr.Env, a []types.Value) (types.Value, error) { return a[0], nil }),
	setOf("GENERATE_SUBSCRIPTS", "generate_subscripts(a, dimension [, reverse]) integer", "The subscripts of a dimension of the array, a row for each.", 2, 3, returns(types.Int, isArray, isInt, isTruth), subscriptsOf),
	{Name: "GENERATE_SERIES", Group: "array", Same: true, Unknown: setUnknown, Signature: "generate_series(from, to [, step [, zone]])", Doc: "The numbers from one to the other, or by an INTERVAL the moments, a row for each; days and months are those of clocks in the zone.",
		MinArgs: 2, MaxArgs: 4, Set: true, Volatile: true, Generate: seriesRows,
		Eval: func(*expr.Env, []types.Value) (types.Value, error) { return types.Value{}, errors.New(setUnknown) },
		Result: func(args []expr.Expr) (types.Type, error) {
			switch t := args[0].Type(); {
			case t.IsTimestamp():
				return returns(t, isMoment, isMoment, isInterval, isText)(args)
			case t == types.Decimal:
				return returns(t, isNumber)(args)
			}
			return returns(types.BigInt, isInt)(args)
		}},
	{Name: "STRING_TO_TABLE", Group: "array", Unknown: setUnknown, Signature: "string_to_table(text, delimiter [, null]) text", Doc: "As string_to_array, a row for each part.", MinArgs: 2, MaxArgs: 3, NullArgs: true,
		Set: true, Volatile: true, Result: returns(types.String, isText), Eval: stringToArray},
}

// ofArray returns a function of arrays, with integer arguments after them.
func ofArray(name, group string, t types.Type, signature, doc string, n int, of func([]types.Value) (types.Value, error)) expr.Function {
	classes := []class{isArray, isArray}
	if group == "array" {
		classes[1] = isInt
	}
	return expr.Function{Name: name, Group: group, Unknown: arrayUnknown, Signature: signature, Doc: doc, MinArgs: n, MaxArgs: n, Result: returns(t, classes...),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return of(a) }}
}

const setUnknown = "it is allowed in FROM and SELECT"

// setOf returns a function that returns several rows: Eval returns the array of their values.
func setOf(name, signature, doc string, least, most int, result resultFunc, eval func(*expr.Env, []types.Value) (types.Value, error)) expr.Function {
	return expr.Function{Name: name, Group: "array", Unknown: setUnknown, Signature: signature, Doc: doc, MinArgs: least, MaxArgs: most, Result: result, Eval: eval, Set: true, Volatile: true}
}

// arrayLike returns the array type of argument i.
func arrayLike(i int) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		t := args[i].Type()
		switch {
		case t == types.Null:
			for _, a := range args {
				if at := a.Type(); at != types.Null {
					return types.ArrayOf(at.ElemOrSelf()), nil
				}
			}
		case !t.IsArray():
			return 0, expr.ArgumentError{N: i + 1, At: t}
		}
		return types.ArrayOf(t.Elem()), nil
	}
}

func makeArray(_ *expr.Env, a []types.Value) (types.Value, error) {
	elem := types.String
	for _, v := range a {
		if !v.IsNull() {
			if elem = v.Type(); elem.IsArray() {
				return types.Stack(elem.Elem(), a)
			}
			break
		}
	}
	return types.NewArray(elem, a), nil
}

func sliceResult(args []expr.Expr) (types.Type, error) {
	t := args[0].Type()
	if t != types.Null && !t.IsArray() {
		return 0, expr.ArgumentError{N: 1, At: t}
	}
	for i, x := range args[1:] {
		if at := x.Type(); at != types.Null && !at.IsInteger() {
			return 0, expr.ArgumentError{N: i + 2, At: at}
		}
	}
	return types.ArrayOf(t.Elem()), nil
}

func sliceArray(_ *expr.Env, a []types.Value) (types.Value, error) {
	var bounds []types.Bounds
	for i := 1; i < len(a); i += 2 {
		if a[i].IsNull() || a[i+1].IsNull() {
			return types.Value{}, nil
		}
		bounds = append(bounds, types.Bounds{Lo: a[i].Int(), Hi: a[i+1].Int(), LoOpen: a[i].Int() == expr.OpenBound, HiOpen: a[i+1].Int() == expr.OpenBound})
	}
	if a[0].IsNull() {
		return types.Value{}, nil
	}
	return a[0].Slice(bounds), nil
}

// same reports whether two elements are equal; NULLs are equal.
func same(x, y types.Value) (bool, error) {
	if x.IsNull() || y.IsNull() {
		return x.IsNull() && y.IsNull(), nil
	}
	c, err := types.Compare(x, y)
	return c == 0, err
}

func hasElement(items []types.Value, x types.Value) (bool, error) {
	for _, y := range items {
		if y.IsNull() || x.IsNull() { // no array contains NULL
			continue
		}
		if is, err := same(x, y); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

func containsAll(a, b types.Value) (types.Value, error) {
	items := a.Items()
	for _, x := range b.Items() {
		if is, err := hasElement(items, x); !is || err != nil {
			return types.NewBool(false), err
		}
	}
	return types.NewBool(true), nil
}

func overlaps(a []types.Value) (types.Value, error) {
	items := a[0].Items()
	for _, x := range a[1].Items() {
		if is, err := hasElement(items, x); is || err != nil {
			return types.NewBool(true), err
		}
	}
	return types.NewBool(false), nil
}

// dimension returns a function that applies of to the dimension whose number is the second argument.
func dimension(of func(types.Dim) int) func([]types.Value) (types.Value, error) {
	return func(a []types.Value) (types.Value, error) {
		dims, n := a[0].Dims(), a[1].Int()
		if n < 1 || n > int64(len(dims)) {
			return types.Value{}, nil
		}
		return types.NewIntOf(types.Int, int64(of(dims[n-1]))), nil
	}
}

func concatenated(_ *expr.Env, a []types.Value) (types.Value, error) {
	switch {
	case a[0].IsNull():
		return a[1], nil
	case a[1].IsNull():
		return a[0], nil
	}
	return types.Concat(a[0], a[1])
}

// appended returns array with x added at its end, or at its start. A NULL array counts as empty.
func appended(array, x types.Value, before bool) (types.Value, error) {
	if array.IsNull() {
		if x.IsNull() {
			return types.NewArray(types.String, []types.Value{x}), nil
		}
		return types.NewArray(x.Type(), []types.Value{x}), nil
	}
	dims, items := array.Dims(), array.Items()
	if len(dims) > 1 {
		return types.Value{}, errors.New("an element can only be added to an array of one dimension")
	}
	if len(dims) == 0 {
		dims = []types.Dim{{Lower: 1}}
	}
	if dims[0].Len++; before {
		items = append([]types.Value{x}, items...)
	} else {
		items = append(items, x)
	}
	return types.NewArrayOf(types.ArrayOf(array.Type().Elem()), dims, items), nil
}

// changed replaces the elements of array that are equal to x by the result of to, and removes those for which ok is false.
func changed(array, x types.Value, to func(types.Value) (y types.Value, ok bool)) (types.Value, error) {
	if array.IsNull() {
		return array, nil
	}
	dims := array.Dims()
	var out []types.Value
	for _, y := range array.Items() {
		is, err := same(x, y)
		if err != nil {
			return types.Value{}, err
		}
		if is {
			if z, ok := to(y); ok {
				out = append(out, z)
			} else if len(dims) > 1 {
				return types.Value{}, errors.New("elements are removed from an array of one dimension")
			}
			continue
		}
		out = append(out, y)
	}
	if len(dims) == 1 {
		dims[0].Len = len(out)
	}
	return types.NewArrayOf(types.ArrayOf(array.Type().Elem()), dims, out), nil
}

// positions returns the subscripts of the elements of a[0] that are equal to a[1].
func positions(a []types.Value) (out []int64, err error) {
	dims := a[0].Dims()
	if len(dims) > 1 {
		return nil, errors.New("an element can only be searched for in an array of one dimension")
	}
	for i, y := range a[0].Items() {
		is, err := same(a[1], y)
		if err != nil {
			return nil, err
		}
		if is {
			out = append(out, int64(i+dims[0].Lower))
		}
	}
	return out, nil
}

func positionOf(_ *expr.Env, a []types.Value) (types.Value, error) {
	if a[0].IsNull() || len(a) == 3 && a[2].IsNull() {
		return types.Value{}, nil
	}
	all, err := positions(a)
	for _, p := range all {
		if len(a) < 3 || p >= a[2].Int() {
			return types.NewIntOf(types.Int, p), nil
		}
	}
	return types.Value{}, err
}

func positionsOf(_ *expr.Env, a []types.Value) (types.Value, error) {
	if a[0].IsNull() {
		return types.Value{}, nil
	}
	all, err := positions(a)
	out := make([]types.Value, len(all))
	for i, p := range all {
		out[i] = types.NewIntOf(types.Int, p)
	}
	return types.NewArray(types.Int, out), err
}

func arrayToString(env *expr.Env, a []types.Value) (types.Value, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return types.Value{}, nil
	}
	var b strings.Builder
	between := ""
	for _, x := range a[0].Items() {
		if x.IsNull() {
			if len(a) < 3 || a[2].IsNull() {
				continue
			}
			x = a[2]
		}
		s, err := types.Cast(x, types.String, env.Loc)
		if err != nil {
			return s, err
		}
		b.WriteString(between)
		b.WriteString(s.Text())
		if between = a[1].Text(); b.Len() > expr.MaxText {
			return types.Value{}, expr.ErrTooLong
		}
	}
	return types.NewString(b.String()), nil
}

func stringToArray(env *expr.Env, a []types.Value) (types.Value, error) {
	if a[0].IsNull() {
		return types.Value{}, nil
	}
	text, delimiter := a[0].Text(), a[1].Text()
	var parts []string
	switch {
	case text == "":
	case delimiter == "" && !a[1].IsNull():
		parts = []string{text}
	default:
		if err := env.RoomForItems(strings.Count(text, delimiter) + 1); err != nil {
			return types.Value{}, err
		}
		parts = strings.Split(text, delimiter)
	}
	items := make([]types.Value, len(parts))
	for i, p := range parts {
		if len(a) < 3 || a[2].IsNull() || p != a[2].Text() {
			items[i] = types.NewString(p)
		}
	}
	return types.NewArray(types.String, items), nil
}

// maxFilled bounds the number of elements of ARRAY_FILL.
const maxFilled = 1 << 20

func fillArray(_ *expr.Env, a []types.Value) (types.Value, error) {
	if a[1].IsNull() || len(a) == 3 && a[2].IsNull() {
		return types.Value{}, errors.New("ARRAY_FILL takes lengths and lower bounds that are not NULL")
	}
	lengths := a[1].Items()
	dims := make([]types.Dim, len(lengths))
	n := 1
	for i, l := range lengths {
		if l.IsNull() || l.Int() < 0 || l.Int() > maxFilled || int64(n)*l.Int() > maxFilled || i == 6 {
			return types.Value{}, fmt.Errorf("ARRAY_FILL takes up to 6 lengths, and at most %d elements", maxFilled)
		}
		dims[i] = types.Dim{Lower: 1, Len: int(l.Int())}
		n *= dims[i].Len
	}
	if len(a) == 3 {
		lower := a[2].Items()
		if len(lower) != len(dims) {
			return types.Value{}, errors.New("ARRAY_FILL takes as many lower bounds as lengths")
		}
		for i, l := range lower {
			dims[i].Lower = int(l.Int())
		}
	}
	if len(dims) == 0 {
		n = 0
	}
	items := make([]types.Value, n)
	for i := range items {
		items[i] = a[0]
	}
	elem := a[0].Type()
	if elem == types.Null {
		elem = types.String
	}
	return types.NewArrayOf(types.ArrayOf(elem), dims, items), nil
}

func subscriptsOf(_ *expr.Env, a []types.Value) (types.Value, error) {
	dims, n := a[0].Dims(), a[1].Int()
	var out []types.Value
	if n >= 1 && n <= int64(len(dims)) {
		d := dims[n-1]
		for i := range d.Len {
			k := d.Lower + i
			if len(a) == 3 && a[2].Bool() {
				k = d.Lower + d.Len - 1 - i
			}
			out = append(out, types.NewIntOf(types.Int, int64(k)))
		}
	}
	return types.NewArray(types.Int, out), nil
}

// seriesRows returns the values from a[0] to a[1], which have one type, in steps of a[2] or 1.
func seriesRows(env *expr.Env, a []types.Value) (expr.RowsOf, error) {
	v, step, zero, after := a[0], types.NewInt(1), types.NewInt(0), evalArithmetic("+")
	if v.Type().IsInteger() {
		v = types.NewInt(v.Int())
	}
	if len(a) > 2 {
		step = a[2]
	}
	next := append([]types.Value{v, step}, a[min(3, len(a)):]...) // the arguments of after: perhaps with a zone
	if step.Type() == types.Duration {
		zero, _ = types.NewDuration(0, 0, 0)
		after = addInterval
	}
	sign, err := types.Compare(step, zero)
	if sign == 0 && err == nil {
		err = errors.New("the step of GENERATE_SERIES cannot be 0")
	}
	var beyond error // the next value is outside the type's range
	return func() (types.Value, bool, error) {
		if beyond != nil {
			return types.Value{}, false, nil
		}
		c, err := types.Compare(v, a[1])
		if err != nil || c*sign > 0 {
			return types.Value{}, false, err
		}
		out := v
		next[0] = v
		v, beyond = after(env, next)
		return out, true, nil
	}, err
}
