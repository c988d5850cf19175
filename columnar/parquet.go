package columnar

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/hql-db/hql/internal/registry"
	"github.com/hql-db/hql/types"
)

// decimalBytes is the length of a decimal128 in Parquet: two's complement, big-endian.
const decimalBytes = 16

// parquetSink writes batches as row groups of a Parquet file.
type parquetSink struct {
	out *parquet.GenericWriter[any]
	row parquet.Row
}

func newParquetSink(w io.Writer, schema *arrow.Schema) (sink, error) {
	root := orderedGroup{Group: parquet.Group{}}
	for _, f := range schema.Fields() {
		root.Group[f.Name] = parquet.Optional(nodeOf(f.Type))
	}
	sorted := root.Group.Fields()
	for _, f := range schema.Fields() {
		at := slices.IndexFunc(sorted, func(o parquet.Field) bool { return o.Name() == f.Name })
		root.fields = append(root.fields, sorted[at])
	}
	return &parquetSink{out: parquet.NewGenericWriter[any](w, parquet.NewSchema("schema", root), parquet.Compression(&parquet.Snappy))}, nil
}

// orderedGroup is a group whose fields keep their order. A parquet.Group sorts its fields by name.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g orderedGroup) Fields() []parquet.Field { return g.fields }

// nodeOf returns the Parquet counterpart of t, a type that the function schema gives a field.
func nodeOf(t arrow.DataType) parquet.Node {
	switch t := t.(type) {
	case *arrow.NullType:
		return parquet.Leaf(parquet.NullType)
	case *arrow.BooleanType:
		return parquet.Leaf(parquet.BooleanType)
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		return parquet.Int(t.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.Float32Type:
		return parquet.Leaf(parquet.FloatType)
	case *arrow.Float64Type:
		return parquet.Leaf(parquet.DoubleType)
	case *arrow.Decimal128Type:
		return parquet.Decimal(int(t.Scale), int(t.Precision), parquet.FixedLenByteArrayType(decimalBytes))
	case *arrow.Date32Type:
		return parquet.Date()
	case *arrow.Time32Type:
		return parquet.Time(parquet.Millisecond)
	case *arrow.TimestampType:
		return parquet.Timestamp(parquet.Millisecond)
	case *arrow.BinaryType:
		return parquet.Leaf(parquet.ByteArrayType)
	case *arrow.FixedSizeBinaryType:
		return parquet.UUID()
	case *arrow.ListType:
		return parquet.List(parquet.Optional(nodeOf(t.Elem())))
	case *arrow.StringType: // JSON too: Polars reads Parquet's JSON as bytes
		return parquet.String()
	}
	panic(fmt.Sprintf("columnar: no type of Parquet for %s", t))
}

// Write writes a batch as a row group.
func (s *parquetSink) Write(rec arrow.RecordBatch) error {
	for i := range int(rec.NumRows()) {
		s.row = s.row[:0]
		for c := range int(rec.NumCols()) {
			if a := rec.Column(c); a.IsNull(i) {
				s.row = append(s.row, parquet.NullValue().Level(0, 0, c))
			} else if list, ok := a.(*array.List); ok {
				s.row = appendList(s.row, list, i, c)
			} else {
				s.row = append(s.row, parquetValue(a, i).Level(0, 1, c))
			}
		}
		if _, err := s.out.WriteRows([]parquet.Row{s.row}); err != nil {
			return err
		}
	}
	return s.out.Flush()
}

func (s *parquetSink) Close() error { return s.out.Close() }

// appendList appends the elements of list i, which is not NULL, of column c. The definition level distinguishes a list
// without elements, a NULL element and other elements.
func appendList(row parquet.Row, a *array.List, i, c int) parquet.Row {
	const none, null, some = 1, 2, 3
	from, to := a.ValueOffsets(i)
	if from == to {
		return append(row, parquet.NullValue().Level(0, none, c))
	}
	repeated := 0
	for k := int(from); k < int(to); k++ {
		if items := a.ListValues(); items.IsNull(k) {
			row = append(row, parquet.NullValue().Level(repeated, null, c))
		} else {
			row = append(row, parquetValue(items, k).Level(repeated, some, c))
		}
		repeated = 1
	}
	return row
}

// parquetValue is the value of row i, which is not NULL.
func parquetValue(a arrow.Array, i int) parquet.Value {
	switch a := a.(type) {
	case *array.Boolean:
		return parquet.BooleanValue(a.Value(i))
	case *array.Int8:
		return parquet.Int32Value(int32(a.Value(i)))
	case *array.Int16:
		return parquet.Int32Value(int32(a.Value(i)))
	case *array.Int32:
		return parquet.Int32Value(a.Value(i))
	case *array.Int64:
		return parquet.Int64Value(a.Value(i))
	case *array.Float32:
		return parquet.FloatValue(a.Value(i))
	case *array.Float64:
		return parquet.DoubleValue(a.Value(i))
	case *array.Decimal128:
		return parquet.FixedLenByteArrayValue(decimalInBytes(a.Value(i)))
	case *array.Date32:
		return parquet.Int32Value(int32(a.Value(i)))
	case *array.Time32:
		return parquet.Int32Value(int32(a.Value(i)))
	case *array.Timestamp:
		return parquet.Int64Value(int64(a.Value(i)))
	case *array.String:
		return parquet.ByteArrayValue([]byte(a.Value(i)))
	case *array.Binary:
		return parquet.ByteArrayValue(a.Value(i))
	case *array.FixedSizeBinary:
		return parquet.FixedLenByteArrayValue(a.Value(i))
	}
	panic(fmt.Sprintf("columnar: no value of Parquet for %s", a.DataType()))
}

func decimalInBytes(n decimal128.Num) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, decimalBytes), uint64(n.HighBits()))
	return binary.BigEndian.AppendUint64(b, n.LowBits())
}

// parquetReader reads the rows of a Parquet file.
type parquetReader struct {
	file    *parquet.File
	columns []parquetColumn
	groups  []parquet.RowGroup // not begun
	rows    parquet.Rows       // of the group that is read, or nil
	buffer  []parquet.Row
	read    int64
}

// parquetColumn is a column at the top of a file's schema.
type parquetColumn struct {
	name  string
	leaf  int // its place in a row
	value func(v parquet.Value, loc *time.Location) (types.Value, error)
}

func openParquet(ctx context.Context, r io.Reader) (registry.RowReader, error) {
	whole, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil, errors.New("a Parquet file is read from its end, which is not possible in a pipe")
	}
	size, err := whole.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(untilDone{ctx, whole}, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	p := &parquetReader{file: f, groups: f.RowGroups(), buffer: make([]parquet.Row, firstRows)}
	for _, c := range f.Root().Columns() {
		col := parquetColumn{name: c.Name()}
		if c.Leaf() && !c.Repeated() {
			col.leaf, col.value = c.Index(), decoder(c, logicalType(f, c.Index()))
		}
		if col.value == nil {
			kind := strings.ToLower(c.Type().String())
			col.value = func(parquet.Value, *time.Location) (types.Value, error) {
				return types.Value{}, fmt.Errorf("hql has no type for Parquet's %s", kind)
			}
		}
		p.columns = append(p.columns, col)
	}
	return p, nil
}

// untilDone reads until ctx ends.
type untilDone struct {
	ctx context.Context
	io.ReaderAt
}

func (r untilDone) ReadAt(b []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(b, off)
}

// logicalType returns the logical type of a leaf in the file's own schema; parquet.Type lacks some of them.
func logicalType(f *parquet.File, leaf int) format.LogicalTypeValue {
	for _, e := range f.Metadata().Schema {
		if e.NumChildren.Valid && e.NumChildren.V > 0 {
			continue
		}
		if leaf == 0 {
			return e.LogicalType.Value
		}
		leaf--
	}
	return nil
}

func (p *parquetReader) Columns() (names []string) {
	for _, c := range p.columns {
		names = append(names, c.name)
	}
	return names
}

func (p *parquetReader) Next() (_ registry.Batch, err error) {
	defer broken("", &err)
	for {
		if p.rows == nil {
			if len(p.groups) == 0 {
				if want := p.file.NumRows(); p.read != want {
					return nil, fmt.Errorf("the file has %d rows instead of the %d that it announces", p.read, want)
				}
				return nil, io.EOF
			}
			p.rows, p.groups = p.groups[0].Rows(), p.groups[1:]
		}
		n, err := p.rows.ReadRows(p.buffer)
		if err == io.EOF {
			p.Close()
		} else if err != nil {
			return nil, err
		}
		if n > 0 {
			p.read += int64(n)
			return parquetBatch{p, n}, nil
		}
	}
}

// Close closes the row group that is being read.
func (p *parquetReader) Close() {
	if p.rows != nil {
		_ = p.rows.Close() // it only reads
		p.rows = nil
	}
}

// parquetBatch is the first n rows of the reader's buffer.
type parquetBatch struct {
	*parquetReader
	n int
}

func (b parquetBatch) NumRows() int64 { return int64(b.n) }

func (b parquetBatch) Value(column, row int, loc *time.Location) (types.Value, error) {
	c := b.columns[column]
	v := c.value
	at := parquet.NullValue()
	if i := slices.IndexFunc(b.buffer[row], func(v parquet.Value) bool { return v.Column() == c.leaf }); i >= 0 {
		at = b.buffer[row][i]
	}
	return v(at, loc)
}

func (b parquetBatch) Text(column, row int) string {
	v, _ := b.Value(column, row, time.UTC)
	return v.Text()
}

// decoder returns the function that decodes the values of a column, or nil if hql has no type for them.
func decoder(c *parquet.Column, logical format.LogicalTypeValue) func(parquet.Value, *time.Location) (types.Value, error) {
	read := physical(c.Type())
	if lt := c.Type().LogicalType(); lt != nil {
		logical = lt.Value
	}
	switch t := logical.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		read = func(v parquet.Value) (types.Value, error) { return types.NewString(string(v.ByteArray())), nil }
	case *format.UUIDType:
		read = func(v parquet.Value) (types.Value, error) { return types.NewString(uuidText(v.ByteArray())), nil }
	case *format.IntType:
		read = integer(t)
	case *format.DateType:
		read = func(v parquet.Value) (types.Value, error) { return types.NewDate(int64(v.Int32())), nil }
	case *format.Float16Type:
		read = func(v parquet.Value) (types.Value, error) {
			return types.NewFloatOf(types.Float, float64(float16.FromLEBytes(v.ByteArray()).Float32())), nil
		}
	case *format.DecimalType:
		read = func(v parquet.Value) (types.Value, error) {
			return decimalOf(fmt.Sprintf("%se-%d", unscaled(v), t.Scale))
		}
	case *format.TimeType:
		unit := unitOf(t.Unit)
		read = func(v parquet.Value) (types.Value, error) { return timeOf(whole(v), unit) }
	case *format.TimestampType:
		unit := unitOf(t.Unit)
		return func(v parquet.Value, loc *time.Location) (types.Value, error) {
			if v.IsNull() {
				return types.Value{}, nil
			}
			return momentOf(v.Int64(), unit, t.IsAdjustedToUTC, loc)
		}
	case nil, *format.NullType:
	default: // BSON, geometry and future types: the bytes alone do not determine the value
		return nil
	}
	if c.Type().Kind() == parquet.Int96 {
		return int96
	}
	if read == nil {
		return nil
	}
	return func(v parquet.Value, _ *time.Location) (types.Value, error) {
		if v.IsNull() {
			return types.Value{}, nil
		}
		return read(v)
	}
}

// physical decodes values without a logical type.
func physical(t parquet.Type) func(parquet.Value) (types.Value, error) {
	switch t.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) (types.Value, error) { return types.NewBool(v.Boolean()), nil }
	case parquet.Int32:
		return func(v parquet.Value) (types.Value, error) { return types.NewIntOf(types.Int, int64(v.Int32())), nil }
	case parquet.Int64:
		return func(v parquet.Value) (types.Value, error) { return types.NewInt(v.Int64()), nil }
	case parquet.Float:
		return func(v parquet.Value) (types.Value, error) {
			return types.NewFloatOf(types.Float, float64(v.Float())), nil
		}
	case parquet.Double:
		return func(v parquet.Value) (types.Value, error) { return types.NewDouble(v.Double()), nil }
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return func(v parquet.Value) (types.Value, error) { return types.NewBytes(string(v.ByteArray())), nil }
	}
	return func(parquet.Value) (types.Value, error) { return types.Value{}, nil } // a column of NULLs
}

// integer decodes integers of a width, with or without a sign.
func integer(t *format.IntType) func(parquet.Value) (types.Value, error) {
	signed := map[int8]types.Type{8: types.TinyInt, 16: types.SmallInt, 32: types.Int, 64: types.BigInt}[t.BitWidth]
	switch {
	case t.IsSigned:
		return func(v parquet.Value) (types.Value, error) { return types.NewIntOf(signed, whole(v)), nil }
	case t.BitWidth < 64:
		return func(v parquet.Value) (types.Value, error) { return types.NewInt(int64(v.Uint32())), nil }
	}
	return func(v parquet.Value) (types.Value, error) {
		if n := v.Uint64(); n > math.MaxInt64 {
			return types.ParseDecimal(new(big.Int).SetUint64(n).String())
		}
		return types.NewInt(v.Int64()), nil
	}
}

// whole is an INT32 or an INT64.
func whole(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// unscaled is the whole number of a DECIMAL: an integer, or two's complement in big-endian bytes.
func unscaled(v parquet.Value) *big.Int {
	if k := v.Kind(); k == parquet.Int32 || k == parquet.Int64 {
		return big.NewInt(whole(v))
	}
	b := v.ByteArray()
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

func unitOf(u format.TimeUnit) arrow.TimeUnit {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return arrow.Millisecond
	case *format.MicroSeconds:
		return arrow.Microsecond
	}
	return arrow.Nanosecond
}

// julianEpoch is the Julian day of 1970-01-01.
const julianEpoch = 2440588

// int96 decodes the moments of older programs: nanoseconds of a day, then the Julian day, both little-endian, without a
// zone.
func int96(v parquet.Value, loc *time.Location) (types.Value, error) {
	if v.IsNull() {
		return types.Value{}, nil
	}
	n := v.Int96()
	day := time.Unix((int64(n[2])-julianEpoch)*int64(24*time.Hour/time.Second), int64(uint64(n[1])<<32|uint64(n[0])))
	return momentOf(day.Round(time.Millisecond).UnixMilli(), arrow.Millisecond, false, loc)
}
