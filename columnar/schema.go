package columnar

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// PieceScale is the number of decimals of all DECIMALs in a stream with a fixed schema: the pieces of one result must
// have the same schema.
const PieceScale = 18

const decimalDigits = 38 // of a decimal128

// Arrow's extension types: a field's metadata names the type.
const (
	extensionName = "ARROW:extension:name"
	jsonExtension = "arrow.json"
	uuidExtension = "arrow.uuid"

	uuidBytes = 16
)

// isExtension reports whether a field has an extension type.
func isExtension(f arrow.Field, name string) bool {
	is, _ := f.Metadata.GetValue(extensionName)
	return is == name
}

// fieldTypes are the types whose counterpart does not depend on the values.
var fieldTypes = map[types.Type]arrow.DataType{
	types.Null: arrow.Null, types.Boolean: arrow.FixedWidthTypes.Boolean,
	types.TinyInt: arrow.PrimitiveTypes.Int8, types.SmallInt: arrow.PrimitiveTypes.Int16, types.Int: arrow.PrimitiveTypes.Int32, types.BigInt: arrow.PrimitiveTypes.Int64,
	types.Float: arrow.PrimitiveTypes.Float32, types.Double: arrow.PrimitiveTypes.Float64,
	types.String: arrow.BinaryTypes.String, types.JSON: arrow.BinaryTypes.String, types.JSONB: arrow.BinaryTypes.String, types.Bytes: arrow.BinaryTypes.Binary,
	types.Date: arrow.FixedWidthTypes.Date32, types.Time: arrow.FixedWidthTypes.Time32ms, types.Timestamp: arrow.FixedWidthTypes.Timestamp_ms,
	types.LocalTimestamp: &arrow.TimestampType{Unit: arrow.Millisecond}, types.Duration: arrow.FixedWidthTypes.MonthDayNanoInterval,
}

// fieldType returns the type of a field; for an array, a list. DECIMALs in lists are texts, because their scale is
// unknown until all rows are read.
func fieldType(t types.Type) arrow.DataType {
	switch {
	case t.IsArray():
		elem := fieldType(t.Elem())
		if elem == nil {
			elem = arrow.BinaryTypes.String
		}
		return arrow.ListOf(elem)
	case t == types.Name || t == types.Char || t.IsNamedOID():
		return arrow.BinaryTypes.String
	case t == types.OID:
		return arrow.PrimitiveTypes.Int64
	case t == types.UUID:
		return &arrow.FixedSizeBinaryType{ByteWidth: uuidBytes}
	}
	return fieldTypes[t]
}

// schema returns the schema of columns; rows are the first rows. If fixed is not set, they determine the decimals of
// DECIMALs; if dictionaries is set, they also determine which columns of texts become dictionaries.
func schema(columns []plan.OutputColumn, rows [][]types.Value, dictionaries, fixed bool) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		f := arrow.Field{Name: c.Name, Nullable: true, Type: fieldType(c.Type)}
		keys, values := []string{"hql.type"}, []string{c.Type.String()}
		note := func(key, value string) { keys, values = append(keys, key), append(values, value) }
		switch {
		case c.Type == types.Decimal && fixed:
			f.Type = &arrow.Decimal128Type{Precision: decimalDigits, Scale: PieceScale}
		case c.Type == types.Decimal:
			f.Type = &arrow.Decimal128Type{Precision: decimalDigits, Scale: scaleOf(rows, i)}
		case c.Type == types.UUID:
			note(extensionName, uuidExtension)
			note("ARROW:extension:metadata", "")
		case c.Type.IsJSON():
			note(extensionName, jsonExtension)
			note("ARROW:extension:metadata", "")
		case c.Type == types.String && dictionaries && repeats(rows, i):
			f.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: f.Type}
		}
		if p := c.Partial; p != nil {
			note("hql.merge", p.Merge.String())
			if p.Result >= 0 {
				note("hql.result", strconv.Itoa(p.Result))
				note("hql.result_name", p.Name)
				note("hql.result_type", p.Type.String())
			}
			if p.Count {
				note("hql.divides", "the column before it, after both are merged")
			}
		}
		f.Metadata = arrow.NewMetadata(keys, values)
		fields[i] = f
	}
	return arrow.NewSchema(fields, nil)
}

// scaleOf returns the number of decimals for column i: as many as its values in rows have, and half of the digits that
// none of these values needs.
func scaleOf(rows [][]types.Value, i int) int32 {
	before, behind := int64(1), int64(0)
	for _, row := range rows {
		if v := row[i]; !v.IsNull() && !v.Decimal().IsZero() {
			d := types.WithoutScale(v).Decimal()
			before = max(before, d.NumDigits()+int64(d.Exponent))
			behind = max(behind, -int64(d.Exponent))
		}
	}
	if spare := decimalDigits - before - behind; spare > 0 {
		behind += spare / 2
	}
	return int32(min(behind, decimalDigits))
}

// repeats reports whether, on average, each distinct text of column i occurs in four or more of the rows.
func repeats(rows [][]types.Value, i int) bool {
	seen := map[string]struct{}{}
	n := 0
	for _, row := range rows {
		if !row[i].IsNull() {
			n++
			if seen[row[i].Text()] = struct{}{}; len(seen) > len(rows)/4 {
				return false
			}
		}
	}
	return n >= 4*len(seen) && len(seen) > 0
}
