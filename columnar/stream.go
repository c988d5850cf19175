package columnar

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// A batch ends at batchRows rows or batchBytes bytes. The schema is determined by the first rows, up to firstRows rows
// or firstBytes bytes.
const (
	firstRows, firstBytes = 4096, 1 << 20
	batchRows, batchBytes = 1 << 16, 8 << 20

	valueBytes = 8                          // about, without its text
	valueMost  = math.MaxInt32 - batchBytes // the offsets of a batch's texts are int32, and other texts precede it
)

// Stream writes rows in batches.
type Stream struct {
	start   func(*arrow.Schema) (sink, error)
	columns []plan.OutputColumn
	fixed   bool            // the schema depends on the columns alone
	repeats bool            // texts that repeat are dictionaries
	first   [][]types.Value // before the schema is made
	size    int             // bytes of values in first, then in the batch

	out   sink
	batch *array.RecordBuilder
	rows  int // in the batch
}

// sink takes batches and writes them in a format.
type sink interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// NewStream begins a stream of rows of columns in Arrow's streaming format. With fixed, its schema depends only on the
// columns: no column is a dictionary, and all DECIMALs have PieceScale.
func NewStream(w io.Writer, columns []plan.OutputColumn, fixed bool) *Stream {
	return &Stream{columns: columns, fixed: fixed, repeats: !fixed, start: func(schema *arrow.Schema) (sink, error) {
		return ipc.NewWriter(w, ipc.WithSchema(schema)), nil
	}}
}

// NewFile begins a file of rows of columns: "arrow" is Arrow's file format, whose batches can be read in any order, "parquet" is Parquet.
func NewFile(w io.Writer, columns []plan.OutputColumn, format string) (*Stream, error) {
	for i, c := range columns {
		if slices.ContainsFunc(columns[:i], func(o plan.OutputColumn) bool { return o.Name == c.Name }) { // most programs cannot read such a file
			return nil, fmt.Errorf("several columns have the name %s: rename them with AS", c.Name)
		}
	}
	if format == "arrow" {
		return &Stream{columns: columns, start: func(schema *arrow.Schema) (sink, error) { // a file cannot have a dictionary for each batch
			return ipc.NewFileWriter(w, ipc.WithSchema(schema))
		}}, nil
	}
	for _, c := range columns {
		if c.Type == types.Duration {
			return nil, fmt.Errorf("column %s: Parquet has no type for INTERVAL that other programs read: CAST it to STRING", c.Name)
		}
	}
	return &Stream{columns: columns, start: func(schema *arrow.Schema) (sink, error) { return newParquetSink(w, schema) }}, nil
}

// Append writes a row, which may change afterwards.
func (s *Stream) Append(row []types.Value) error {
	if s.fixed && s.batch == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if s.batch != nil {
		return s.add(row)
	}
	kept := slices.Clone(row)
	for i := range kept {
		kept[i] = kept[i].Clone()
	}
	s.first, s.size = append(s.first, kept), s.size+sizeOf(kept)
	if len(s.first) < firstRows && s.size < firstBytes {
		return nil
	}
	return s.begin()
}

// sizeOf returns the approximate size of a row in bytes.
func sizeOf(row []types.Value) int {
	n := valueBytes * len(row)
	for _, v := range row {
		if t := v.Type(); t.IsText() || t == types.Bytes || t.IsArray() {
			n += len(v.Text())
		}
	}
	return n
}

// begin makes the schema from the first rows, and adds them.
func (s *Stream) begin() (err error) {
	schema := schema(s.columns, s.first, s.repeats, s.fixed)
	if s.out, err = s.start(schema); err != nil {
		return err
	}
	s.batch, s.size = array.NewRecordBuilder(memory.DefaultAllocator, schema), 0
	for _, row := range s.first {
		if err := s.add(row); err != nil {
			return err
		}
	}
	s.first = nil
	return nil
}

// Close ends the stream: a stream that was not closed is incomplete.
func (s *Stream) Close() error {
	if s.batch == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if s.rows > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	return s.out.Close()
}

func (s *Stream) flush() error {
	rec := s.batch.NewRecordBatch()
	defer rec.Release()
	for _, b := range s.batch.Fields() {
		if d, ok := b.(*array.BinaryDictionaryBuilder); ok {
			d.ResetFull() // each batch has its own: they stay small
		}
	}
	s.rows, s.size = 0, 0
	return s.out.Write(rec)
}

func (s *Stream) add(row []types.Value) error {
	for i, v := range row {
		if t := v.Type(); (t.IsText() || t == types.Bytes) && len(v.Text()) > valueMost {
			return fmt.Errorf("column %s: a value of %d bytes exceeds Arrow's limit of %d", s.columns[i].Name, len(v.Text()), valueMost)
		}
		if err := add(s.batch.Field(i), v); err != nil {
			return fmt.Errorf("column %s: %w", s.columns[i].Name, err)
		}
	}
	s.size += sizeOf(row)
	if s.rows++; s.rows == batchRows || s.size >= batchBytes {
		return s.flush()
	}
	return nil
}

func add(b array.Builder, v types.Value) error {
	if v.IsNull() {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.Bool())
	case *array.Int8Builder:
		b.Append(int8(v.Int()))
	case *array.Int16Builder:
		b.Append(int16(v.Int()))
	case *array.Int32Builder:
		b.Append(int32(v.Int()))
	case *array.Int64Builder:
		b.Append(v.Int())
	case *array.Float32Builder:
		f := v.Double()
		if float64(float32(f)) != f && f == f {
			return fmt.Errorf("%s needs more than 32 bits: CAST it to DOUBLE", v)
		}
		b.Append(float32(f))
	case *array.Float64Builder:
		b.Append(v.Double())
	case *array.Decimal128Builder:
		n, err := decimal(v, b.Type().(*arrow.Decimal128Type).Scale)
		if err != nil {
			return err
		}
		b.Append(n)
	case *array.ListBuilder:
		if n := len(v.Dims()); n > 1 {
			return fmt.Errorf("an array of %d dimensions cannot be a list: UNNEST it, or CAST it to STRING", n)
		}
		b.Append(true)
		for _, x := range v.Items() {
			if err := add(b.ValueBuilder(), x); err != nil {
				return err
			}
		}
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(v.Text()))
	case *array.StringBuilder:
		if t := v.Type(); t == types.Decimal || t.IsNamedOID() {
			b.Append(v.String())
			return nil
		}
		if err := valid(v); err != nil {
			return err
		}
		b.Append(v.Text())
	case *array.BinaryDictionaryBuilder:
		if err := valid(v); err != nil {
			return err
		}
		return b.AppendString(v.Text())
	case *array.BinaryBuilder:
		b.AppendString(v.Text())
	case *array.Date32Builder:
		if v.Int() != int64(int32(v.Int())) {
			return fmt.Errorf("the dates of Arrow cannot hold %s", v)
		}
		b.Append(arrow.Date32(v.Int()))
	case *array.Time32Builder:
		b.Append(arrow.Time32(v.Int()))
	case *array.MonthDayNanoIntervalBuilder:
		months, days, ms := v.Duration()
		if ms > math.MaxInt64/1_000_000 || ms < math.MinInt64/1_000_000 {
			days, ms = days+ms/types.MillisPerDay, ms%types.MillisPerDay
		}
		b.Append(arrow.MonthDayNanoInterval{Months: int32(months), Days: int32(days), Nanoseconds: ms * 1e6})
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.Int()))
	default:
		panic(fmt.Sprintf("columnar: no value of a %s", b.Type()))
	}
	return nil
}

func valid(v types.Value) error {
	if utf8.ValidString(v.Text()) {
		return nil
	}
	return fmt.Errorf("%s is not UTF-8, as Arrow's texts must be: CAST it to BYTES", types.EscapeBytes(v.Text()))
}

// decimal returns v as Arrow stores it: a whole number of units of scale decimals.
func decimal(v types.Value, scale int32) (out decimal128.Num, err error) {
	d := v.Decimal()
	n := new(big.Int).Set(d.Coeff.MathBigInt())
	shift := int64(d.Exponent) + int64(scale)
	if n.Sign() != 0 && shift <= decimalDigits {
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(shift, -shift)), nil)
		if shift >= 0 {
			n.Mul(n, ten)
		} else if _, rest := n.QuoRem(n, ten, new(big.Int)); rest.Sign() != 0 {
			return out, fmt.Errorf("%s has more than the column's %d decimals in Arrow: ROUND it, or CAST it to STRING", v, scale)
		}
	}
	if n.Sign() != 0 && (shift > decimalDigits || n.CmpAbs(limit) >= 0) {
		return out, fmt.Errorf("%s has more than the column's %d digits before the point in Arrow: CAST it to STRING", v, decimalDigits-scale)
	}
	if d.Negative {
		n.Neg(n)
	}
	return decimal128.FromBigInt(n), nil
}

var limit = new(big.Int).Exp(big.NewInt(10), big.NewInt(decimalDigits), nil)
