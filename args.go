package hql

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// NamedArgs are the arguments of @name parameters, passed as the only argument (after QueryOptions, if any). Alternatives
// are a map[string]any, a struct whose exported fields have the names (or tags db:"name"), and values of sql.Named.
type NamedArgs map[string]any

// QueryOptions, as the first argument, override the DB's options for one statement:
//
//	db.Query(ctx, "SELECT COUNT(*) FROM t", hql.QueryOptions{AllowFullScan: true, Parallelism: 64})
//
// Fields ([exec.RunOptions]); a zero field overrides nothing:
//
//	AllowFullScan bool            // like ALLOW FULL SCAN at the statement's end
//	Parallelism   int             // parallel reads
//	MemoryLimit   int64           // bytes
//	ScanLimit     ScanLimit
//	Location      *time.Location  // the time zone of timestamps in text
//	Watch         func(stats func() Stats) // is given a function that returns the counts so far
//	Stdin         io.Reader       // what COPY FROM STDIN reads
//	Stdout        io.Writer       // where COPY TO STDOUT writes; nil: the process's standard output
type QueryOptions = exec.RunOptions

// splitOptions separates QueryOptions from the arguments.
func splitOptions(args []any) (QueryOptions, []any, error) {
	if len(args) == 0 {
		return QueryOptions{}, args, nil
	}
	o, ok := args[0].(QueryOptions)
	if !ok {
		return o, args, nil
	}
	if o.Parallelism < 0 || o.MemoryLimit < 0 || o.ScanLimit.Bytes < 0 || o.ScanLimit.Rows < 0 {
		return o, nil, parser.Errorf(parser.NoPos, "QueryOptions: Parallelism, MemoryLimit and ScanLimit must not be negative")
	}
	return o, args[1:], nil
}

// bind converts Go values to arguments for the statement of used. lists are those that are slices, by the number or the @name of
// their parameter: see params.expand.
func bind(used *params, args []any) (out exec.Args, lists map[string][]types.Value, err error) {
	options, args, err := splitOptions(args)
	if err != nil {
		return out, nil, err
	}
	lists = map[string][]types.Value{}
	out, err = bindArgs(used, args, lists)
	out.Options = options
	return out, lists, err
}

// bindArgs is bind without QueryOptions; it adds to lists.
func bindArgs(used *params, args []any, lists map[string][]types.Value) (exec.Args, error) {
	var out exec.Args
	named, ok, err := namedArgs(used, args)
	if used.explained && (len(args) == 0 || ok && len(named) == 0) {
		return out, nil // planned for made-up arguments
	}
	if ok || err != nil {
		if err != nil {
			return out, err
		}
		return bindNamed(used, named, lists)
	}
	if len(used.named) > 0 {
		return out, parser.Errorf(used.named[0].Pos, "@%s needs hql.NamedArgs, a map, a struct or sql.Named", used.named[0].Name)
	}
	if used.count != len(args) {
		at := parser.NoPos
		for _, p := range used.all {
			if p.Index > len(args) {
				at = p.Pos // the first parameter without a value
				break
			}
		}
		return out, parser.Errorf(at, "the statement takes %s, %d given", arguments(used.count), len(args))
	}
	out.Positional = make([]types.Value, len(args))
	for i, a := range args {
		v, list, isList, err := argument(a)
		if err != nil {
			return out, fmt.Errorf("argument %d: %w", i+1, err)
		}
		if out.Positional[i] = v; isList {
			lists[strconv.Itoa(i+1)] = list
		}
	}
	return out, nil
}

// namedArgs returns the arguments of @name parameters: NamedArgs, a map of that type, sql.Named values, or a struct's exported fields. ok is
// false for other arguments.
func namedArgs(used *params, args []any) (named NamedArgs, ok bool, err error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	if _, ok := args[0].(sql.NamedArg); ok {
		named = NamedArgs{}
		for _, a := range args {
			n, ok := a.(sql.NamedArg)
			if !ok {
				return nil, false, errors.New("sql.Named and other arguments cannot be mixed")
			}
			named[n.Name] = n.Value
		}
		return named, true, nil
	}
	if len(args) > 1 {
		return nil, false, nil
	}
	switch a := args[0].(type) {
	case NamedArgs:
		return a, true, nil
	case map[string]any:
		return a, true, nil
	case driver.Valuer, time.Time, types.Value:
		return nil, false, nil
	}
	s := reflect.ValueOf(args[0])
	if s.Kind() == reflect.Pointer && !s.IsNil() {
		s = s.Elem()
	}
	if s.Kind() != reflect.Struct || len(used.named) == 0 {
		return nil, false, nil
	}
	fields := fieldsOf(s.Type())
	named = NamedArgs{}
	for _, p := range used.named {
		key, index, ok := fields.find(p.Name)
		if !ok {
			return nil, false, parser.Errorf(p.Pos, "%s has no field for @%s", s.Type(), p.Name)
		}
		if clash := fields.clash[key]; clash != "" {
			return nil, false, parser.Errorf(p.Pos, "the fields %s of %s match @%s: set the tag db:\"...\" of one of them", clash, s.Type(), p.Name)
		}
		if f, err := s.FieldByIndexErr(index); err == nil {
			named[p.Name] = f.Interface()
		} else {
			named[p.Name] = nil // the struct is behind a nil pointer to an embedded struct
		}
	}
	return named, true, nil
}

func bindNamed(used *params, named NamedArgs, lists map[string][]types.Value) (exec.Args, error) {
	out := exec.Args{Named: map[string]types.Value{}}
	if used.count > 0 {
		return out, parser.Errorf(parser.NoPos, "the statement has ? or $n parameters: NamedArgs fill @name only")
	}
	for name, a := range named {
		v, list, isList, err := argument(a)
		if err != nil {
			return out, fmt.Errorf("argument @%s: %w", name, err)
		}
		if out.Named[name] = v; isList {
			lists["@"+name] = list
		}
	}
	takes := map[string]bool{}
	for _, p := range used.named {
		if _, ok := out.Named[p.Name]; !ok {
			return out, parser.Errorf(p.Pos, "no argument for @%s", p.Name)
		}
		takes[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !takes[name] {
			return out, parser.Errorf(parser.NoPos, "the statement has no @%s", name)
		}
	}
	return out, nil
}

// argument converts a Go value, or a slice of them.
func argument(a any) (v types.Value, list []types.Value, isList bool, err error) {
	if v, ok, err := value(a); ok || err != nil {
		return v, nil, false, err
	}
	r := reflect.ValueOf(a)
	if r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
		return v, nil, false, fmt.Errorf("a %T is not a valid SQL value", a)
	}
	for i := range r.Len() {
		x := r.Index(i).Interface()
		item, ok, err := value(x)
		if err == nil && !ok {
			err = fmt.Errorf("a %T is not a valid SQL value", x)
		}
		if err != nil {
			return v, nil, false, fmt.Errorf("element %d: %w", i+1, err)
		}
		list = append(list, item)
	}
	v, err = arrayOf(list, r.Type().Elem())
	return v, list, true, err
}

// arrayOf returns an array of a slice's elements. If there are none, the slice's Go type determines their type.
func arrayOf(list []types.Value, of reflect.Type) (types.Value, error) {
	elem := types.Null
	for _, v := range list {
		t, ok := expr.Widen(elem, v.Type())
		if elem = t; !ok { // elements of several types, which only IN allows
			elem = types.String
			break
		}
	}
	if elem == types.Null {
		elem = types.String
		if zero, ok, err := value(reflect.Zero(of).Interface()); ok && err == nil && !zero.IsNull() {
			elem = zero.Type()
		}
	}
	items := make([]types.Value, len(list))
	for i, v := range list {
		x, err := types.Cast(v, elem, nil)
		if err != nil {
			return x, fmt.Errorf("element %d: %w", i+1, err)
		}
		items[i] = x
	}
	return types.NewArray(elem, items), nil
}

// value converts a Go value, with one case for each type or kind; ok is false if SQL has no such type.
func value(a any) (v types.Value, ok bool, err error) {
	switch a := a.(type) {
	case nil:
		return types.Value{}, true, nil
	case types.Value:
		return a, true, nil
	case string:
		return types.NewString(a), true, nil
	case []byte:
		if a == nil {
			return types.Value{}, true, nil
		}
		return types.NewBytes(string(a)), true, nil
	case json.RawMessage:
		if a == nil {
			return types.Value{}, true, nil
		}
		if !json.Valid(a) {
			return v, false, fmt.Errorf("invalid JSON")
		}
		return types.NewJSON(string(a)), true, nil
	case time.Time:
		if s := a.Unix(); s <= math.MinInt64/1000 || s >= math.MaxInt64/1000 {
			return v, false, fmt.Errorf("a TIMESTAMP cannot hold the time %s", a)
		}
		return types.NewArgument(a), true, nil
	case time.Duration:
		if a < 0 || a.Round(time.Millisecond) >= 24*time.Hour {
			return v, false, fmt.Errorf("a TIME is from 0 to 24 hours, not %s", a)
		}
		return types.NewIntOf(types.Time, a.Round(time.Millisecond).Milliseconds()), true, nil
	case driver.Valuer:
		if r := reflect.ValueOf(a); r.Kind() == reflect.Pointer && r.IsNil() {
			return types.Value{}, true, nil
		}
		x, err := a.Value()
		if err != nil {
			return v, false, err
		}
		if _, again := x.(driver.Valuer); again {
			return v, false, fmt.Errorf("the Value of a %T is a %T: it must be one of driver.Value's types", a, x)
		}
		return value(x)
	}
	r := reflect.ValueOf(a)
	switch r.Kind() {
	case reflect.Slice, reflect.Array:
		if r.Type().Elem().Kind() != reflect.Uint8 {
			break
		}
		b := make([]byte, r.Len())
		reflect.Copy(reflect.ValueOf(b), r)
		return types.NewBytes(string(b)), true, nil
	case reflect.Pointer:
		if r.IsNil() {
			return types.Value{}, true, nil
		}
		return value(r.Elem().Interface())
	case reflect.Bool:
		return types.NewBool(r.Bool()), true, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return types.NewInt(r.Int()), true, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if u := r.Uint(); u > math.MaxInt64 {
			d, err := types.ParseDecimal(strconv.FormatUint(u, 10))
			return d, true, err
		}
		return types.NewInt(int64(r.Uint())), true, nil
	case reflect.Float32, reflect.Float64:
		return types.NewDouble(r.Float()), true, nil
	case reflect.String:
		return types.NewString(r.String()), true, nil
	case reflect.Struct, reflect.Map:
		if _, out := a.(sql.Out); out {
			break
		}
		b, err := json.Marshal(a)
		if string(b) == "{}" && r.Kind() == reflect.Struct && len(structFields(r.Type(), nil)) == 0 { // JSON does not see its values
			break
		}
		return types.NewJSON(string(b)), true, err
	}
	return v, false, nil
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
