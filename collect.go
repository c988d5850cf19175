package hql

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// RowTo reads a row of one column as a T.
func RowTo[T any](row Row) (T, error) {
	var v T
	err := row.Scan(&v)
	return v, err
}

// RowToMap reads a row as a map from column names to Go values (see Row.Values). Two columns of one name are an error.
func RowToMap(row Row) (map[string]any, error) {
	m := make(map[string]any, row.Len())
	names := row.Columns()
	for i, v := range row.Values() {
		if _, twice := m[names[i]]; twice {
			return nil, fmt.Errorf("two columns have the name %s: give one of them another with AS", names[i])
		}
		m[names[i]] = v
	}
	return m, nil
}

// RowToStructByName reads a row into the fields of a T. A column goes to the field with its name in the tag db, or else to
// the field with the same name; letters' case and underscores do not matter. Each column needs a field, and each field
// without the tag db:"-" needs a column. As in Go, a field hides fields with the same name in embedded structs; two at the
// same depth are an error.
func RowToStructByName[T any](row Row) (T, error) {
	var v T
	err := scanStruct(row, reflect.ValueOf(&v).Elem(), fieldsByName)
	return v, err
}

// RowToStructByNameLax is RowToStructByName, except that fields without a column are allowed.
func RowToStructByNameLax[T any](row Row) (T, error) {
	var v T
	err := scanStruct(row, reflect.ValueOf(&v).Elem(), fieldsByNameLax)
	return v, err
}

// RowToStructByPos reads a row into the exported fields of a T in their order. Fields of embedded structs count at the
// position of the struct; fields with the tag db:"-" do not count. There must be as many fields as columns.
func RowToStructByPos[T any](row Row) (T, error) {
	var v T
	err := scanStruct(row, reflect.ValueOf(&v).Elem(), fieldsByPos)
	return v, err
}

// RowToAddrOf returns a function that returns a pointer to the result of f:
//
//	users, err := hql.CollectRows(rows, hql.RowToAddrOf(hql.RowToStructByName[User]))
func RowToAddrOf[T any](f func(Row) (T, error)) func(Row) (*T, error) {
	return func(row Row) (*T, error) {
		v, err := f(row)
		if err != nil {
			return nil, err
		}
		return &v, nil
	}
}

// fieldMatch is the way in which columns are assigned to fields.
type fieldMatch uint8

const (
	fieldsByName fieldMatch = iota
	fieldsByNameLax
	fieldsByPos
)

// fieldPlan holds the fields for the columns of a result, as indexes for reflect.Value.FieldByIndex.
type fieldPlan struct {
	of     reflect.Type
	match  fieldMatch
	fields [][]int
}

// scanStruct reads row into s. It assigns columns to fields once per result.
func scanStruct(row Row, s reflect.Value, match fieldMatch) error {
	p := row.rows.fields
	if p == nil || p.of != s.Type() || p.match != match {
		fields, err := matchFields(s.Type(), row.Columns(), match)
		if err != nil {
			return err
		}
		p = &fieldPlan{s.Type(), match, fields}
		row.rows.fields = p
	}
	dest := make([]any, len(p.fields))
	for i, index := range p.fields {
		dest[i] = fieldOf(s, index).Addr().Interface()
	}
	return row.Scan(dest...)
}

// fieldOf is s.FieldByIndex, except that it allocates structs for nil embedded pointers.
func fieldOf(s reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if s.Kind() == reflect.Pointer {
			if s.IsNil() {
				s.Set(reflect.New(s.Type().Elem()))
			}
			s = s.Elem()
		}
		s = s.Field(i)
	}
	return s
}

// namedFields holds the fields of a struct by name.
type namedFields struct {
	all   [][]int
	byKey map[string][]int  // "=tag" for tagged fields, the folded name for others
	clash map[string]string // the names of two fields with the same key
}

func fieldsOf(t reflect.Type) namedFields {
	n := namedFields{byKey: map[string][]int{}, clash: map[string]string{}}
	for _, f := range structFields(t, nil) {
		n.all = append(n.all, f.Index)
		key := fieldKey(f.Name)
		if tag, ok := f.Tag.Lookup("db"); ok {
			key = "=" + tag
		}
		switch other, ok := n.byKey[key]; {
		case !ok || len(f.Index) < len(other): // an outer field hides one of an embedded struct
			n.byKey[key] = f.Index
			delete(n.clash, key)
		case len(f.Index) == len(other):
			n.clash[key] = t.FieldByIndex(other).Name + " and " + f.Name
		}
	}
	return n
}

// find returns the key and the index of the field called name; ok is false if there is none.
func (n namedFields) find(name string) (key string, index []int, ok bool) {
	key = "=" + name
	if _, tagged := n.byKey[key]; !tagged {
		key = fieldKey(name)
	}
	index, ok = n.byKey[key]
	return key, index, ok
}

// matchFields returns the field of each column.
func matchFields(t reflect.Type, columns []string, match fieldMatch) ([][]int, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	fields := fieldsOf(t)
	if match == fieldsByPos {
		if len(fields.all) != len(columns) {
			return nil, fmt.Errorf("%s has %d fields for %d columns", t, len(fields.all), len(columns))
		}
		return fields.all, nil
	}
	for _, key := range slices.Sorted(maps.Keys(fields.clash)) {
		return nil, fmt.Errorf("the fields %s of %s match one column: set the tag db:\"...\" of one of them", fields.clash[key], t)
	}
	out := make([][]int, len(columns))
	for i, name := range columns {
		key, index, ok := fields.find(name)
		if !ok {
			return nil, fmt.Errorf("%s has no field for column %s", t, name)
		}
		delete(fields.byKey, key)
		out[i] = index
	}
	if match == fieldsByName {
		for name := range fields.byKey {
			return nil, fmt.Errorf("no column for field %s of %s", strings.TrimPrefix(name, "="), t)
		}
	}
	return out, nil
}

// structFields lists the fields of t that can hold columns, with those of embedded structs at the position of the struct.
// It puts prefix before each Index.
func structFields(t reflect.Type, prefix []int) []reflect.StructField {
	var out []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		f.Index = append(slices.Clone(prefix), i)
		tag, tagged := f.Tag.Lookup("db")
		switch {
		case tag == "-":
		case f.Anonymous && !tagged && embeds(f):
			t := f.Type
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			out = append(out, structFields(t, f.Index)...)
		case f.IsExported():
			out = append(out, f)
		}
	}
	return out
}

// embeds reports whether the fields of an anonymous field count as fields of its struct. A time.Time is one value, and
// reflect cannot set fields through a pointer to an unexported type.
func embeds(f reflect.StructField) bool {
	if f.Type.Kind() == reflect.Pointer {
		return f.IsExported() && f.Type.Elem().Kind() == reflect.Struct && !scansItself(f.Type.Elem())
	}
	return f.Type.Kind() == reflect.Struct && !scansItself(f.Type)
}

func fieldKey(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// CollectRows reads all rows with f and closes them.
//
//	users, err := hql.CollectRows(rows, hql.RowToStructByName[User])
func CollectRows[T any](rows *Rows, f func(Row) (T, error)) ([]T, error) {
	return AppendRows([]T{}, rows, f)
}

// AppendRows is CollectRows that adds to a slice.
func AppendRows[T any](out []T, rows *Rows, f func(Row) (T, error)) ([]T, error) {
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		v, err := f(row)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// CollectOneRow reads the first row with f and closes the rows; it returns ErrNoRows if there is none.
func CollectOneRow[T any](rows *Rows, f func(Row) (T, error)) (T, error) {
	for row, err := range rows.All() {
		var v T
		if err == nil {
			v, err = f(row)
		}
		return v, err
	}
	var v T
	return v, ErrNoRows
}

// CollectExactlyOneRow is CollectOneRow that refuses a second row with ErrTooManyRows.
func CollectExactlyOneRow[T any](rows *Rows, f func(Row) (T, error)) (T, error) {
	var out T
	n := 0
	for row, err := range rows.All() {
		if err == nil && n == 1 {
			err = ErrTooManyRows
		}
		if err == nil {
			out, err = f(row)
		}
		if err != nil {
			var none T
			return none, err
		}
		n++
	}
	if n == 0 {
		return out, ErrNoRows
	}
	return out, nil
}

// ForEachRow scans each row into dest and calls f.
func ForEachRow(rows *Rows, dest []any, f func() error) error {
	for row, err := range rows.All() {
		if err == nil {
			err = row.Scan(dest...)
		}
		if err == nil {
			err = f()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Collect reads all rows as Ts and closes them: structs or pointers to structs by field name (see
// RowToStructByName), map[string]any, or a single column.
func Collect[T any](rows *Rows) ([]T, error) {
	var v T
	t := reflect.TypeOf(&v).Elem()
	if _, ok := any(v).(map[string]any); ok {
		return CollectRows(rows, func(r Row) (T, error) {
			m, err := RowToMap(r)
			return any(m).(T), err
		})
	}
	if t.Kind() == reflect.Struct && !scansItself(t) {
		return CollectRows(rows, RowToStructByName[T])
	}
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !scansItself(t.Elem()) {
		return CollectRows(rows, func(r Row) (T, error) {
			p := reflect.New(t.Elem())
			err := scanStruct(r, p.Elem(), fieldsByName)
			return p.Interface().(T), err
		})
	}
	return CollectRows(rows, RowTo[T])
}

// scansItself reports whether t is a struct that takes one value: time.Time, sql.NullString ...
func scansItself(t reflect.Type) bool {
	if t.PkgPath() == "time" || t.PkgPath() == "github.com/hql-db/hql/types" {
		return true
	}
	_, ok := reflect.PointerTo(t).MethodByName("Scan")
	return ok
}
