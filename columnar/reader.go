package columnar

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/hql-db/hql/internal/registry"
	"github.com/hql-db/hql/types"
)

// Reader reads batches of rows.
type Reader struct {
	schema *arrow.Schema
	next   func() (arrow.RecordBatch, error)
	close  func()
}

// Open reads from r. "arrow" is Arrow's streaming format or its file format; r may be a pipe. "parquet" is Parquet; r
// must be an io.ReaderAt and an io.Seeker.
func Open(ctx context.Context, r io.Reader, format string) (_ registry.RowReader, err error) {
	defer broken(format, &err)
	if format == "parquet" {
		return openParquet(ctx, r)
	}
	if whole, ok := r.(ipc.ReadAtSeeker); ok {
		magic := make([]byte, len(ipc.Magic))
		if n, _ := whole.ReadAt(magic, 0); n == len(magic) && bytes.Equal(magic, ipc.Magic) {
			return openFile(whole)
		}
	}
	return openStream(r)
}

// Columns are the names of the columns.
func (r *Reader) Columns() (names []string) {
	for _, f := range r.schema.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// Next returns the next batch, valid until the next call of Next, and io.EOF after the last one.
func (r *Reader) Next() (_ registry.Batch, err error) {
	defer broken("", &err)
	rec, err := r.next()
	return batch{rec}, err
}

// batch is an Arrow batch for COPY.
type batch struct{ arrow.RecordBatch }

func (b batch) Value(column, row int, loc *time.Location) (types.Value, error) {
	return valueOf(b.Column(column), row, loc)
}

func (b batch) Text(column, row int) string {
	v, _ := b.Value(column, row, time.UTC)
	if isExtension(b.Schema().Field(column), uuidExtension) && len(v.Text()) == uuidBytes {
		return uuidText([]byte(v.Text()))
	}
	return v.Text()
}

// Close releases the reader's memory; it does not close the source.
func (r *Reader) Close() { r.close() }

// broken turns a panic of the library about malformed bytes into an error.
func broken(format string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	} else if *err != nil && *err != io.EOF && format != "" && !errors.Is(*err, context.Canceled) {
		*err = fmt.Errorf("this is not readable as %s: %w", map[string]string{"arrow": "Arrow", "parquet": "Parquet"}[format], *err)
	}
}

func openFile(r ipc.ReadAtSeeker) (*Reader, error) {
	fr, err := ipc.NewFileReader(r)
	if err != nil {
		return nil, err
	}
	i := 0
	var rec arrow.RecordBatch
	return &Reader{fr.Schema(), func() (_ arrow.RecordBatch, err error) {
		if rec != nil {
			rec.Release()
			rec = nil
		}
		if i == fr.NumRecords() {
			return nil, io.EOF
		}
		rec, err = fr.RecordBatchAt(i)
		i++
		return rec, err
	}, func() { fr.Close() }}, nil
}

func openStream(r io.Reader) (*Reader, error) {
	end := &ending{r: bufio.NewReaderSize(r, 1<<16)}
	magic, err := end.r.Peek(len(ipc.Magic))
	file := err == nil && bytes.Equal(magic, ipc.Magic)
	if file {
		_, _ = end.r.Discard(8) // the file format is a name, the stream and a footer
	}
	sr, err := ipc.NewReader(end)
	if err != nil {
		return nil, err
	}
	return &Reader{sr.Schema(), func() (arrow.RecordBatch, error) {
		if sr.Next() {
			return sr.RecordBatch(), nil
		}
		if err := sr.Err(); err != nil && err != io.EOF {
			return nil, err
		}
		if !end.whole() {
			return nil, errors.New("the Arrow stream has no end mark: it was cut short")
		}
		if _, err := end.r.Peek(1); err == nil && !file {
			return nil, errors.New("data follows the Arrow stream: the rows of a second stream would be lost")
		} else if err != nil && err != io.EOF {
			return nil, err
		}
		return nil, io.EOF
	}, sr.Release}, nil
}

// ending remembers the last bytes that were read.
type ending struct {
	r    *bufio.Reader
	last [8]byte
}

func (e *ending) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	if n >= len(e.last) {
		copy(e.last[:], b[n-len(e.last):n])
	} else {
		copy(e.last[:], e.last[n:])
		copy(e.last[len(e.last)-n:], b[:n])
	}
	return n, err
}

// whole reports whether the last bytes read are the end mark of a stream. Without the mark, the stream may have been
// cut off.
func (e *ending) whole() bool { return e.last == [8]byte{0xff, 0xff, 0xff, 0xff} }

// valueOf returns the value of row i in the nearest type; loc is the zone of moments without one. The value is valid as
// long as a is. The switch has one case for each type of Arrow.
func valueOf(a arrow.Array, i int, loc *time.Location) (types.Value, error) {
	if a.IsNull(i) {
		return types.Value{}, nil
	}
	switch a := a.(type) {
	case *array.Null:
		return types.Value{}, nil
	case *array.Boolean:
		return types.NewBool(a.Value(i)), nil
	case *array.Int8:
		return types.NewIntOf(types.TinyInt, int64(a.Value(i))), nil
	case *array.Int16:
		return types.NewIntOf(types.SmallInt, int64(a.Value(i))), nil
	case *array.Int32:
		return types.NewIntOf(types.Int, int64(a.Value(i))), nil
	case *array.Int64:
		return types.NewInt(a.Value(i)), nil
	case *array.Uint8:
		return types.NewInt(int64(a.Value(i))), nil
	case *array.Uint16:
		return types.NewInt(int64(a.Value(i))), nil
	case *array.Uint32:
		return types.NewInt(int64(a.Value(i))), nil
	case *array.Uint64:
		if n := a.Value(i); n > math.MaxInt64 {
			return types.ParseDecimal(strconv.FormatUint(n, 10))
		}
		return types.NewInt(int64(a.Value(i))), nil
	case *array.Float16:
		return types.NewFloatOf(types.Float, float64(a.Value(i).Float32())), nil
	case *array.Float32:
		return types.NewFloatOf(types.Float, float64(a.Value(i))), nil
	case *array.Float64:
		return types.NewDouble(a.Value(i)), nil
	case *array.Decimal32:
		return decimalOf(a.ValueStr(i))
	case *array.Decimal64:
		return decimalOf(a.ValueStr(i))
	case *array.Decimal128:
		return decimalOf(a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Decimal256:
		return decimalOf(a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale))
	case *array.String:
		return types.NewString(a.Value(i)), nil
	case *array.LargeString:
		return types.NewString(a.Value(i)), nil
	case *array.StringView:
		return types.NewString(a.Value(i)), nil
	case *array.Binary:
		return types.NewBytes(a.ValueString(i)), nil
	case *array.LargeBinary:
		return types.NewBytes(a.ValueString(i)), nil
	case *array.BinaryView:
		return types.NewBytes(string(a.Value(i))), nil
	case *array.FixedSizeBinary:
		return types.NewBytes(string(a.Value(i))), nil
	case *array.Date32:
		return types.NewDate(int64(a.Value(i))), nil
	case *array.Date64:
		ms := int64(a.Value(i))
		if ms%types.MillisPerDay != 0 {
			return types.Value{}, fmt.Errorf("the date %d ms is not a whole day", ms)
		}
		return types.NewDate(ms / types.MillisPerDay), nil
	case *array.Time32:
		return timeOf(int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return timeOf(int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		return momentOf(int64(a.Value(i)), t.Unit, t.TimeZone != "", loc)
	case *array.List:
		from, to := a.ValueOffsets(i)
		return listOf(a.ListValues(), int(from), int(to), loc)
	case *array.LargeList:
		from, to := a.ValueOffsets(i)
		return listOf(a.ListValues(), int(from), int(to), loc)
	case *array.Dictionary:
		return valueOf(a.Dictionary(), a.GetValueIndex(i), loc)
	case array.ExtensionArray:
		return valueOf(a.Storage(), i, loc) // JSON is read as text, since it may be invalid
	}
	return types.Value{}, fmt.Errorf("hql has no type for Arrow's %s", a.DataType())
}

// listOf returns the values numbered from, up to but not including to, as an array.
func listOf(a arrow.Array, from, to int, loc *time.Location) (types.Value, error) {
	items := make([]types.Value, 0, to-from)
	elem := types.String
	for k := from; k < to; k++ {
		v, err := valueOf(a, k, loc)
		if err != nil {
			return v, err
		}
		if items = append(items, v.Clone()); !v.IsNull() {
			elem = v.Type()
		}
	}
	if elem.IsArray() {
		return types.Stack(elem.Elem(), items)
	}
	return types.NewArray(elem, items), nil
}

// uuidText returns the usual text of a UUID of 16 bytes.
func uuidText(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// decimalOf parses a DECIMAL without trailing zeros: an Arrow column gives all its values the same number of decimals.
func decimalOf(text string) (types.Value, error) {
	v, err := types.ParseDecimal(text)
	if err != nil {
		return v, err
	}
	return types.WithoutScale(v), nil
}

// timeOf returns a time of day, rounded to milliseconds. The cast of a text to TIME rounds in the same way.
func timeOf(n int64, unit arrow.TimeUnit) (types.Value, error) {
	if of := int64(24 * time.Hour / unit.Multiplier()); n >= 0 && n < of {
		if ms := (time.Duration(n) * unit.Multiplier()).Round(time.Millisecond).Milliseconds(); ms < types.MillisPerDay {
			return types.NewIntOf(types.Time, ms), nil
		}
	}
	return types.Value{}, fmt.Errorf("%d %s is not a valid TIME", n, unit)
}

// momentOf returns a moment, rounded to milliseconds as a text is. Without a zone it is the time of clocks in loc.
func momentOf(n int64, unit arrow.TimeUnit, zoned bool, loc *time.Location) (types.Value, error) {
	var at time.Time
	switch unit {
	case arrow.Second:
		at = time.Unix(n, 0)
	case arrow.Millisecond:
		at = time.UnixMilli(n)
	case arrow.Microsecond:
		at = time.UnixMicro(n)
	default:
		at = time.Unix(0, n)
	}
	at = at.UTC().Round(time.Millisecond)
	if unit == arrow.Second && (n > math.MaxInt64/1000 || n < math.MinInt64/1000) {
		return types.Value{}, fmt.Errorf("%d s is out of the range of TIMESTAMP", n)
	}
	if zoned {
		return types.NewTimestamp(at.UnixMilli()), nil
	}
	if y := at.Year(); y < 0 || y > 9999 {
		return types.Value{}, fmt.Errorf("a moment without a zone in the year %d is out of range", y)
	}
	ms, err := types.ParseTimestamp(at.Format("2006-01-02 15:04:05.000"), loc)
	return types.NewTimestamp(ms), err
}
