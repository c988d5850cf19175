package infer

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// form is an encoding of one value in a fixed number of bytes.
type form struct {
	typ, part string // SQL type, and the part over a column c
	width     int    // in bytes: see prepare
	base      string // the name of its column
	what      string
	// prior is the number of bits that a value saves by being plausible: few of the byte strings of this width are moments
	// of our time.
	prior   float64
	text    bool   // the bytes are characters
	seconds bool   // a whole number of seconds; otherwise milliseconds
	pattern string // of a date; "" for numbers

	layout *catalog.Layout
}

// moments returns the encodings of a point in time.
var moments = sync.OnceValue(func() []*form {
	fs := []*form{
		{typ: "TIMESTAMP", part: "c AS INT64", base: "ts", prior: 8, what: "8 bytes big-endian, milliseconds since 1970"},
		{typ: "TIMESTAMP", part: "9223372036854775807 - c AS INT64", base: "ts", prior: 8, what: "8 bytes big-endian, Long.MAX_VALUE minus milliseconds since 1970: newest first"},
		{typ: "TIMESTAMP", part: "c AS ORDERED INT64", base: "ts", prior: 8, what: "8 bytes with the sign bit flipped, milliseconds since 1970"},
		{typ: "TIMESTAMP", part: "c / 1000 AS INT64", base: "ts", seconds: true, prior: 8, what: "8 bytes big-endian, seconds since 1970"},
		{typ: "TIMESTAMP", part: "9223372036854775807 - c / 1000 AS INT64", base: "ts", seconds: true, prior: 8, what: "8 bytes big-endian, Long.MAX_VALUE minus seconds since 1970: newest first"},
		{typ: "BIGINT", part: "c AS INT64", base: "ts_us", prior: 8, what: "8 bytes big-endian, microseconds since 1970 (finer than TIMESTAMP: kept as a number)"},
		{typ: "BIGINT", part: "9223372036854775807 - c AS INT64", base: "ts_us", prior: 8, what: "8 bytes big-endian, Long.MAX_VALUE minus microseconds since 1970: newest first"},
		{typ: "BIGINT", part: "c AS INT64", base: "ts_ns", prior: 4, what: "8 bytes big-endian, nanoseconds since 1970 (finer than TIMESTAMP: kept as a number)"},
		{typ: "TIMESTAMP", part: "c AS EPOCH32", base: "ts", seconds: true, prior: 1.7, what: "4 bytes big-endian, seconds since 1970"},
		{typ: "TIMESTAMP", part: "4294967295 - c / 1000 AS UINT32", base: "ts", seconds: true, prior: 1.2, what: "4 bytes big-endian, the greatest number minus seconds since 1970: newest first"},
		{typ: "TIMESTAMP", part: "2147483647 - c / 1000 AS INT32", base: "ts", seconds: true, prior: 1.2, what: "4 bytes big-endian, Integer.MAX_VALUE minus seconds since 1970: newest first"},
		{typ: "TIMESTAMP", part: "c AS TEXT(13)", base: "ts", prior: 3, text: true, what: "13 digits, milliseconds since 1970"},
		{typ: "TIMESTAMP", part: "c / 1000 AS TEXT(10)", base: "ts", seconds: true, prior: 3, text: true, what: "10 digits, seconds since 1970"},
		{typ: "BIGINT", part: "c AS TEXT(16)", base: "ts_us", prior: 3, text: true, what: "16 digits, microseconds since 1970"},
		{typ: "BIGINT", part: "c AS TEXT(19)", base: "ts_ns", prior: 4, text: true, what: "19 digits, nanoseconds since 1970"},
		{typ: "TIMESTAMP", part: "c AS REVERSED TEXT(13)", base: "ts", prior: 3, text: true, what: "13 digits, milliseconds since 1970, the last digit first"},
		{typ: "TIMESTAMP", part: "9999999999999 - c AS TEXT(13)", base: "ts", prior: 2, text: true, what: "13 digits, 9999999999999 minus milliseconds since 1970: newest first"},
		{typ: "TIMESTAMP", part: "9999999999 - c / 1000 AS TEXT(10)", base: "ts", seconds: true, prior: 2, text: true, what: "10 digits, 9999999999 minus seconds since 1970: newest first"},
		{typ: "TIMESTAMP", part: "9223372036854775807 - c AS TEXT(19)", base: "ts", prior: 8, text: true, what: "19 digits, Long.MAX_VALUE minus milliseconds since 1970: newest first"},
	}
	for _, p := range []struct {
		typ, pattern string
		prior        float64
	}{
		{"TIMESTAMP", "yyyyMMddHHmmssSSS", 8}, {"TIMESTAMP", "yyyyMMddHHmmss", 8}, {"TIMESTAMP", "yyyyMMddHHmm", 8}, {"TIMESTAMP", "yyyyMMddHH", 8},
		{"TIMESTAMP", "yyyy-MM-dd HH:mm:ss", 14}, {"TIMESTAMP", "yyyy-MM-dd''T''HH:mm:ss", 14}, {"TIMESTAMP", "yyyy-MM-dd''T''HH:mm:ss''Z''", 18}, {"TIMESTAMP", "yyyy-MM-dd''T''HH:mm:ss.SSS''Z''", 18},
		{"TIMESTAMP", "yyyy-MM-dd''T''HH:mm:ss.SSS", 14}, {"TIMESTAMP", "yyyy-MM-dd''T''HH:mm", 12}, {"TIMESTAMP", "yyyy-MM-dd HH:mm:ss.SSS", 14}, {"TIMESTAMP", "yyyy-MM-dd-HH", 10}, {"TIMESTAMP", "yyMMdd:HHmmss", 12}, {"TIMESTAMP", "yyMMddHHmmss", 6},
		{"TIMESTAMP", "yyyyMM", 5}, {"TIMESTAMP", "yyyy-MM", 8}, {"DATE", "yyyyMMdd", 8}, {"DATE", "yyyy-MM-dd", 10}, {"DATE", "yyyy/MM/dd", 10}, {"DATE", "yyMMdd", 4},
	} {
		base := "ts"
		if p.typ == "DATE" {
			base = "day"
		}
		what := "the time as " + strings.ReplaceAll(p.pattern, "''", "")
		if p.typ == "DATE" {
			what = "the day as " + p.pattern
		}
		fs = append(fs, &form{typ: p.typ, part: "c AS TEXT('" + p.pattern + "')", base: base, prior: p.prior, text: true, pattern: p.pattern, what: what})
	}
	for _, f := range fs {
		f.prepare()
	}
	return fs
})

// numbers returns the encodings of a number.
var numbers = sync.OnceValue(func() []*form {
	var fs []*form
	for _, bits := range []int{8, 16, 24, 32} {
		fs = append(fs, &form{typ: "BIGINT", part: fmt.Sprintf("c AS UINT%d", bits), what: fmt.Sprintf("%d bytes big-endian", bits/8)})
	}
	fs = append(fs, &form{typ: "BIGINT", part: "c AS INT64", what: "8 bytes big-endian"},
		&form{typ: "BIGINT", part: "c AS ORDERED INT64", what: "8 bytes big-endian, the sign bit flipped"},
		&form{typ: "BIGINT", part: "c AS LITTLE INT64", what: "8 bytes, the least first"},
		&form{typ: "INT", part: "c AS INT32", what: "4 bytes big-endian, two's complement"},
		&form{typ: "INT", part: "c AS ORDERED INT32", what: "4 bytes big-endian, the sign bit flipped"},
		&form{typ: "BIGINT", part: "9223372036854775807 - c AS INT64", what: "8 bytes big-endian, Long.MAX_VALUE minus the number"})
	for _, f := range fs {
		f.base = "n"
		f.prepare()
	}
	return fs
})

// prepare builds the layout that reads the form. The forms above are constants, so an error is a mistake in them.
func (f *form) prepare() {
	c := catalog.New()
	if err := c.Load("CREATE EXTERNAL TABLE t (c " + f.typ + ") ROW KEY (" + f.part + ")"); err != nil {
		panic(err)
	}
	f.layout = c.Tables()[0].Layouts[0]
	f.width = f.layout.Key.Parts[0].Width()
}

// decode reads the bytes of one value; ok is false if they are not one.
func (f *form) decode(b []byte) (n int64, ok bool) {
	var row [3]types.Value
	if len(b) < f.width || f.layout.DecodeRow("t", b[:f.width], nil, row[:]) != nil {
		return 0, false
	}
	return row[0].Int(), true
}

// The range of plausible times. It ends before 2037, since a small number subtracted from 2^31 would be a second of
// that year.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	// Years of two digits begin later: 00 and the like are more likely zeros before a number.
	twoDigits = time.Date(2006, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	latest    = time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
)

// believed is the range of plausible moments, in milliseconds. For microseconds and nanoseconds it begins later, at
// fine, since any large number could be such a moment.
type believed struct{ from, fine, to int64 }

// believedOf returns the range for rows: it ends soon after their cells were written.
func believedOf(rows []hbase.Row) believed {
	b := believed{earliest, earliest, latest}
	first, last := int64(math.MaxInt64), int64(0)
	for _, r := range rows {
		for _, c := range r.Cells {
			first, last = min(first, c.Timestamp), max(last, c.Timestamp)
		}
	}
	if first >= earliest && last >= first && last < latest { // otherwise the cells' times are not real
		b.fine, b.to = first-longAgo, min(latest, last+longAgo)
	}
	return b
}

// moment reports whether n, as f decodes it, is plausible.
func (f *form) moment(b believed, n int64) bool {
	earliest, latest := b.from, b.to
	switch {
	case f.typ == "DATE":
		n *= types.MillisPerDay
	case f.base == "ts_us":
		earliest, n = b.fine, n/1000
	case f.base == "ts_ns":
		earliest, n = b.fine, n/1_000_000
	}
	if strings.HasPrefix(f.pattern, "yyMM") && n < twoDigits {
		return false
	}
	return n >= earliest && n < latest
}

// value returns n as a text in f's type.
func (f *form) value(n int64) string {
	t, _ := types.ParseType(f.typ)
	return types.NewIntOf(t, n).String()
}

// rangeBits is the cost of a number from lo to hi.
func rangeBits(lo, hi int64) float64 { return math.Log2(float64(uint64(hi)-uint64(lo)) + 1) }

// over returns f.part with another column in place of c.
func (f *form) over(column string) string {
	if rest, ok := strings.CutPrefix(f.part, "c "); ok {
		return column + " " + rest
	}
	return strings.Replace(f.part, "- c ", "- "+column+" ", 1)
}
