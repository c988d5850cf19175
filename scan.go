package hql

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/types"
)

// goValue returns v as a Go value.
func goValue(v types.Value, loc *time.Location) any {
	switch t := v.Type(); {
	case t == types.Null:
		return nil
	case t == types.Boolean:
		return v.Bool()
	case t.IsInteger():
		return v.Int()
	case t == types.Float || t == types.Double:
		return v.Double()
	case t == types.Bytes:
		return []byte(v.Text())
	case t.IsJSON():
		return json.RawMessage(v.Text())
	case t == types.Date, t.IsTimestamp():
		return timeOf(v, loc)
	case t == types.String:
		return v.Text()
	case t == types.OID:
		return v.Int()
	case t.IsArray():
		items := make([]any, 0)
		_ = eachPart(v, func(_, _ int, part types.Value) error {
			items = append(items, goValue(part, loc))
			return nil
		})
		return items
	}
	return v.String()
}

// timeOf returns the midnight of a DATE in UTC, a TIMESTAMP in loc, or a TIMESTAMP WITHOUT TIME ZONE as if it were in UTC.
func timeOf(v types.Value, loc *time.Location) time.Time {
	if v.Type() == types.Date {
		return time.Unix(v.Int()*86400, 0).UTC()
	}
	if loc == nil || v.Type() == types.LocalTimestamp {
		loc = time.UTC
	}
	return time.UnixMilli(v.Int()).In(loc)
}

// scanInto stores v in the variable to which dest points.
func scanInto(dest any, v types.Value, loc *time.Location) error {
	switch d := dest.(type) {
	case *any:
		*d = goValue(v, loc)
		return nil
	case *types.Value:
		*d = v
		return nil
	case sql.Scanner:
		x := goValue(v, loc)
		switch raw := x.(type) {
		case json.RawMessage:
			x = []byte(raw)
		case []any: // as PostgreSQL's drivers return it
			x = text(v, loc)
		}
		return d.Scan(x)
	}
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("the destination is a %T, not a pointer", dest)
	}
	e := p.Elem()
	if e.Kind() == reflect.Pointer {
		if v.IsNull() {
			e.SetZero()
			return nil
		}
		n := reflect.New(e.Type().Elem())
		if err := scanInto(n.Interface(), v, loc); err != nil {
			return err
		}
		e.Set(n)
		return nil
	}
	if v.IsNull() {
		if _, ok := dest.(*[]byte); ok {
			e.SetZero()
			return nil
		}
		return fmt.Errorf("NULL does not fit a %s: use a *%s", e.Type(), e.Type())
	}
	return scanValue(dest, e, v, loc)
}

// scanValue stores v, which is not NULL, in e, the variable to which dest points.
func scanValue(dest any, e reflect.Value, v types.Value, loc *time.Location) error {
	switch d := dest.(type) {
	case *time.Time:
		if t := v.Type(); t != types.Date && !t.IsTimestamp() {
			return fmt.Errorf("a %s does not fit a time.Time", t)
		}
		*d = timeOf(v, loc)
		return nil
	case *time.Duration:
		if v.Type() != types.Time {
			return fmt.Errorf("a %s does not fit a time.Duration", v.Type())
		}
		*d = time.Duration(v.Int()) * time.Millisecond
		return nil
	case *json.RawMessage:
		if v.Type().IsJSON() {
			*d = json.RawMessage(v.Text())
		} else {
			*d = json.RawMessage(v.AppendJSON(nil))
		}
		return nil
	}
	if k := e.Kind(); v.Type().IsJSON() && (k == reflect.Struct || k == reflect.Map || k == reflect.Slice && e.Type().Elem().Kind() != reflect.Uint8) {
		return json.Unmarshal([]byte(v.Text()), dest)
	}
	switch e.Kind() {
	case reflect.String:
		e.SetString(text(v, loc))
		return nil
	case reflect.Slice:
		if e.Type().Elem().Kind() == reflect.Uint8 {
			e.SetBytes([]byte(text(v, loc)))
			return nil
		}
		if v.Type().IsArray() {
			return scanArray(e, v, loc)
		}
	case reflect.Bool:
		if v.Type() == types.Boolean {
			e.SetBool(v.Bool())
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n, ok := wholeNumber(v); ok && !e.OverflowInt(n) {
			e.SetInt(n)
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n, ok := unsignedNumber(v); ok && !e.OverflowUint(n) {
			e.SetUint(n)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if f, ok := float(v, e.Type().Bits()); ok && !e.OverflowFloat(f) {
			e.SetFloat(f)
			return nil
		}
	}
	return fmt.Errorf("%s %s does not fit a %s", v.Type(), v, e.Type())
}

// eachPart calls f for each element of an array of one dimension, or for each sub-array of a larger one.
func eachPart(v types.Value, f func(i, n int, part types.Value) error) error {
	dims, items := v.Dims(), v.Items()
	if len(dims) == 0 {
		return nil
	}
	n := dims[0].Len
	for i := range n {
		part := items[i*len(items)/n]
		if len(dims) > 1 {
			part = types.NewArrayOf(v.Type(), dims[1:], items[i*len(items)/n:(i+1)*len(items)/n])
		}
		if err := f(i, n, part); err != nil {
			return err
		}
	}
	return nil
}

// scanArray stores an array in a slice; an array of several dimensions becomes slices of slices.
func scanArray(e reflect.Value, v types.Value, loc *time.Location) error {
	out := reflect.MakeSlice(e.Type(), 0, 0)
	err := eachPart(v, func(i, n int, part types.Value) error {
		if i == 0 {
			out = reflect.MakeSlice(e.Type(), n, n)
		}
		if err := scanInto(out.Index(i).Addr().Interface(), part, loc); err != nil {
			return fmt.Errorf("element %d: %w", i+1, err)
		}
		return nil
	})
	e.Set(out)
	return err
}

// wholeNumber returns the value of an integer, or of a DECIMAL or DOUBLE without a fraction; ok is false for other values.
func wholeNumber(v types.Value) (int64, bool) {
	if v.Type().IsInteger() || v.Type().IsOID() {
		return v.Int(), true
	}
	if !v.Type().IsNumeric() {
		return 0, false
	}
	n, err := types.Cast(v, types.BigInt, nil)
	if err != nil {
		return 0, false
	}
	c, err := types.Compare(n, v)
	return n.Int(), err == nil && c == 0
}

// unsignedNumber is wholeNumber for values from 0 to the largest uint64.
func unsignedNumber(v types.Value) (uint64, bool) {
	if n, ok := wholeNumber(v); ok {
		return uint64(n), n >= 0
	}
	if v.Type() != types.Decimal {
		return 0, false
	}
	var whole, fraction apd.Decimal
	v.Decimal().Modf(&whole, &fraction)
	if !fraction.IsZero() || whole.Exponent > 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(whole.Text('f'), 10, 64)
	return n, err == nil
}

// float returns the nearest float with 32 or 64 bits for a number. ok is false for a whole number that it cannot hold, and
// for a number other than 0 that would become 0.
func float(v types.Value, bits int) (float64, bool) {
	if !v.Type().IsNumeric() {
		return 0, false
	}
	whole := v.Type().IsInteger()
	if v.Type() == types.Decimal {
		var fraction apd.Decimal
		v.Decimal().Modf(nil, &fraction)
		whole = fraction.IsZero()
	}
	to := types.Double
	if bits == 32 && whole {
		to = types.Float
	}
	f, err := types.Cast(v, to, nil)
	if err != nil || v.Type() == types.Decimal && math.IsInf(f.Double(), 0) {
		return 0, false
	}
	if whole && !holds(f.Double(), bits, v) {
		return 0, false
	}
	if bits == 32 && float32(f.Double()) == 0 && f.Double() != 0 {
		return 0, false
	}
	return f.Double(), true
}

// holds reports whether f has the value of v, a whole number. For a DECIMAL it suffices that f prints as v does: no float
// equals 1e23, but the nearest one prints as 1e23.
func holds(f float64, bits int, v types.Value) bool {
	if v.Type().IsInteger() {
		back, err := types.Cast(types.NewDouble(f), types.BigInt, nil)
		return err == nil && back.Int() == v.Int()
	}
	for _, s := range []string{strconv.FormatFloat(f, 'f', 0, bits), strconv.FormatFloat(f, 'e', -1, bits)} {
		if d, _, err := apd.NewFromString(s); err == nil && d.Cmp(v.Decimal()) == 0 {
			return true
		}
	}
	return false
}

// text returns v as text; BYTES are returned unchanged.
func text(v types.Value, loc *time.Location) string {
	if v.Type() == types.Bytes || v.Type().IsText() {
		return v.Text()
	}
	if loc == nil {
		loc = time.UTC
	}
	return v.Format(loc)
}
