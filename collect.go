package hql

import (
	"fmt"
	"reflect"
	"strings"
)

// RowTo reads a row of one column as a T.
func RowTo[T any](row Row) (T, error) {
	var v T
	err := row.Scan(&v)
	return v, err
}

// RowToMap reads a row as a map from column names to Go values (see Row.Values).
func RowToMap(row Row) (map[string]any, error) {
	m := make(map[string]any, row.Len())
	names := row.Columns()
	for i, v := range row.Values() {
		m[names[i]] = v
	}
	return m, nil
}

// RowToStructByName reads a row into the fields of a T: a column goes to the field with its name
// in the tag db, or else with its name, letters' case and underscores aside. Every
// column needs a field, and every field without the tag db:"-" a column.
func RowToStructByName[T any](row Row) (T, error) { return rowToStruct[T](row, true) }

// RowToStructByNameLax is RowToStructByName for structs with fields that no column fills.
func RowToStructByNameLax[T any](row Row) (T, error) { return rowToStruct[T](row, false) }

// RowToStructByPos reads a row into the exported fields of a T in their order, those of embedded structs in their place and
// those with the tag db:"-" passed over. There must be as many as columns.
func RowToStructByPos[T any](row Row) (T, error) {
	var v T
	s := reflect.ValueOf(&v).Elem()
	if s.Kind() != reflect.Struct {
		return v, fmt.Errorf("%T is not a struct", v)
	}
	var dest []any
	eachField(s, func(_ reflect.StructField, f reflect.Value) { dest = append(dest, f.Addr().Interface()) })
	if len(dest) != row.Len() {
		return v, fmt.Errorf("%T has %d fields for %d columns", v, len(dest), row.Len())
	}
	return v, row.Scan(dest...)
}

// RowToAddrOf gives rows as f reads them by address:
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

func rowToStruct[T any](row Row, strict bool) (T, error) {
	var v T
	s := reflect.ValueOf(&v).Elem()
	if s.Kind() != reflect.Struct {
		return v, fmt.Errorf("%T is not a struct", v)
	}
	fields := map[string]reflect.Value{}
	structFields(s, fields)
	dest := make([]any, row.Len())
	for i, name := range row.Columns() {
		key := fieldKey(name)
		f, ok := fields["="+name]
		if ok {
			delete(fields, "="+name)
		} else if f, ok = fields[key]; ok {
			delete(fields, key)
		}
		if !ok {
			return v, fmt.Errorf("%T has no field for column %s", v, name)
		}
		dest[i] = f.Addr().Interface()
	}
	if strict {
		for name := range fields {
			return v, fmt.Errorf("no column for field %s of %T", strings.TrimPrefix(name, "="), v)
		}
	}
	return v, row.Scan(dest...)
}

// structFields lists the fields of s: "=tag" for tagged ones, the folded name for others.
func structFields(s reflect.Value, out map[string]reflect.Value) {
	eachField(s, func(f reflect.StructField, v reflect.Value) {
		if tag, ok := f.Tag.Lookup("db"); ok {
			out["="+tag] = v
		} else {
			out[fieldKey(f.Name)] = v
		}
	})
}

// eachField calls f with the fields that columns can go to, those of embedded structs in their place.
func eachField(s reflect.Value, f func(reflect.StructField, reflect.Value)) {
	for i := range s.NumField() {
		field := s.Type().Field(i)
		tag, tagged := field.Tag.Lookup("db")
		switch {
		case tag == "-":
		case field.Anonymous && field.Type.Kind() == reflect.Struct && !tagged:
			eachField(s.Field(i), f)
		case field.IsExported():
			f(field, s.Field(i))
		}
	}
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

// CollectOneRow reads the first row with f and closes the rows; ErrNoRows when there is none.
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

// Collect reads all rows as Ts and closes them: structs by field name (see
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
	return CollectRows(rows, RowTo[T])
}

// scansItself tells the structs that take one value: time.Time, sql.NullString ...
func scansItself(t reflect.Type) bool {
	if t.PkgPath() == "time" || t.PkgPath() == "github.com/hql-db/hql/types" {
		return true
	}
	_, ok := reflect.PointerTo(t).MethodByName("Scan")
	return ok
}
