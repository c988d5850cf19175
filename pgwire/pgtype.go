package pgwire

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// The OIDs of the types whose form their values do not tell.
const oidUnknown = 705

// epochDays and epochMillis are the time from 1970 to the epoch of PostgreSQL, 2000.
const (
	epochDays   = 10_957
	epochMillis = epochDays * types.MillisPerDay
)

// appendText appends the text of v, which is not NULL, as PostgreSQL writes it.
func appendText(dst []byte, v types.Value, loc *time.Location) ([]byte, error) {
	switch v.Type() {
	case types.Boolean:
		if v.Bool() {
			return append(dst, 't'), nil
		}
		return append(dst, 'f'), nil
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case types.String, types.JSON, types.JSONB:
		return appendString(dst, v.Text())
	case types.Bytes:
		return hex.AppendEncode(append(dst, `\x`...), []byte(v.Text())), nil
	case types.Date:
		return appendMoment(dst, time.Unix(v.Int()*86400, 0).UTC(), "-01-02"), nil
	case types.Timestamp:
		t := time.UnixMilli(v.Int()).In(loc)
		layout := "-01-02 15:04:05.999-07"
		if _, off := t.Zone(); off%60 != 0 {
			layout = "-01-02 15:04:05.999-07:00:00"
		} else if off%3600 != 0 {
			layout = "-01-02 15:04:05.999-07:00"
		}
		return appendMoment(dst, t, layout), nil
	case types.LocalTimestamp:
		return appendMoment(dst, time.UnixMilli(v.Int()).UTC(), "-01-02 15:04:05.999"), nil
	case types.Time:
		return time.UnixMilli(v.Int()).UTC().AppendFormat(dst, "15:04:05.999"), nil
	}
	if v.Type().IsArray() {
		var failed error
		text := v.ArrayText(func(x types.Value) (string, error) {
			if x.IsNull() {
				return "", nil
			}
			b, err := appendText(nil, x, loc)
			failed = cmp.Or(failed, err)
			return string(b), nil
		})
		return append(dst, text...), failed
	}
	return append(dst, v.String()...), nil
}

// appendMoment appends t as layout says, after its year. PostgreSQL writes the year 0 as 1 BC.
func appendMoment(dst []byte, t time.Time, layout string) []byte {
	year, bc := t.Year(), false
	if year <= 0 {
		year, bc = 1-year, true
	}
	for limit := 1000; limit > 1 && year < limit; limit /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, int64(year), 10)
	dst = t.AppendFormat(dst, layout)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

var errNotText = failure("22021", "a text of the result is not UTF-8, or has a zero byte").hint("CAST(column AS BYTES) gives the bytes as they are")

// appendString appends a text. It returns an error if the text is not UTF-8, because a cell can hold any bytes.
func appendString(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return nil, errNotText
	}
	return append(dst, s...), nil
}

// short cuts a long text for a message.
func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// appendBinary appends v, which is not NULL, in the binary format of t.
func appendBinary(dst []byte, v types.Value, t types.Type, loc *time.Location) ([]byte, error) {
	if v.Type() != t && !(t == types.Null && v.Type().IsText()) {
		if t == types.Null {
			t = types.String
		}
		converted, err := types.Cast(v, t, loc)
		if err != nil {
			return nil, failure("22P02", "a value of the result does not have the type %s that was announced: %v", t, err)
		}
		v = converted
	}
	be := binary.BigEndian
	switch t {
	case types.Boolean:
		return append(dst, byte(v.Int())), nil
	case types.TinyInt, types.SmallInt:
		return be.AppendUint16(dst, uint16(v.Int())), nil
	case types.Int:
		return be.AppendUint32(dst, uint32(v.Int())), nil
	case types.BigInt:
		return be.AppendUint64(dst, uint64(v.Int())), nil
	case types.Float:
		return be.AppendUint32(dst, math.Float32bits(float32(v.Double()))), nil
	case types.Double:
		return be.AppendUint64(dst, math.Float64bits(v.Double())), nil
	case types.Decimal:
		return appendNumeric(dst, v.Decimal())
	case types.Bytes:
		return append(dst, v.Text()...), nil
	case types.Date:
		d := v.Int() - epochDays
		if d != int64(int32(d)) {
			return nil, failure("22008", "date out of range: %s", v)
		}
		return be.AppendUint32(dst, uint32(d)), nil
	case types.Time:
		return be.AppendUint64(dst, uint64(v.Int()*1000)), nil
	case types.Timestamp, types.LocalTimestamp:
		ms := v.Int() - epochMillis
		if v.Int() < math.MinInt64+epochMillis || ms > math.MaxInt64/1000 || ms < math.MinInt64/1000 {
			return nil, failure("22008", "timestamp out of range: %s", v)
		}
		return be.AppendUint64(dst, uint64(ms*1000)), nil
	case types.Duration:
		months, days, ms := v.Duration()
		if ms > math.MaxInt64/1000 || ms < math.MinInt64/1000 {
			return nil, failure("22008", "interval out of range: %s", v)
		}
		dst = be.AppendUint64(dst, uint64(ms*1000))
		dst = be.AppendUint32(dst, uint32(days))
		return be.AppendUint32(dst, uint32(months)), nil
	case types.JSONB:
		return appendString(append(dst, 1), v.Text()) // the version of the format
	case types.String, types.JSON, types.Null:
		return appendString(dst, v.Text())
	case types.UUID:
		return append(dst, v.Text()...), nil
	case types.OID, types.RegClass, types.RegType, types.RegProc, types.RegNamespace:
		return be.AppendUint32(dst, uint32(v.Int())), nil
	}
	if t.IsArray() {
		return appendArray(dst, v, loc)
	}
	return appendText(dst, v, loc)
}

// appendSized appends the length of v in binary format, and v; for NULL the length is -1.
func appendSized(dst []byte, v types.Value, t types.Type, loc *time.Location) ([]byte, error) {
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, math.MaxUint32)
	if v.IsNull() {
		return dst, nil
	}
	dst, err := appendBinary(dst, v, t, loc)
	if err == nil {
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, err
}

// appendArray appends an array in binary format: its dimensions, then each element after its length.
func appendArray(dst []byte, v types.Value, loc *time.Location) ([]byte, error) {
	be := binary.BigEndian
	dims, items, elem := v.Dims(), v.Items(), v.Type().Elem()
	nulls := uint32(0)
	for _, x := range items {
		if x.IsNull() {
			nulls = 1
		}
	}
	dst = be.AppendUint32(be.AppendUint32(be.AppendUint32(dst, uint32(len(dims))), nulls), pgcatalog.TypeOf(elem, types.Limit{}).OID)
	for _, d := range dims {
		dst = be.AppendUint32(be.AppendUint32(dst, uint32(d.Len)), uint32(d.Lower))
	}
	for _, x := range items {
		var err error
		if dst, err = appendSized(dst, x, elem, loc); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// appendNumeric appends a DECIMAL in binary format, which has digits to the base of 10000.
func appendNumeric(dst []byte, d *apd.Decimal) ([]byte, error) {
	be := binary.BigEndian
	if d.Form != apd.Finite {
		sign := map[apd.Form]uint16{apd.NaN: 0xC000, apd.NaNSignaling: 0xC000, apd.Infinite: 0xD000}[d.Form]
		if d.Form == apd.Infinite && d.Negative {
			sign = 0xF000
		}
		return append(be.AppendUint16(append(dst, 0, 0, 0, 0), sign), 0, 0), nil
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(d.Text('f'), "-"), ".")
	scale := len(fraction)
	whole = strings.TrimLeft(whole, "0")
	if n := len(whole) % 4; n > 0 {
		whole = "0000"[n:] + whole
	}
	if n := len(fraction) % 4; n > 0 {
		fraction += "0000"[n:]
	}
	digits := whole + fraction
	weight := len(whole)/4 - 1
	for strings.HasPrefix(digits, "0000") {
		digits = digits[4:]
		weight--
	}
	for strings.HasSuffix(digits, "0000") && len(digits)%4 == 0 {
		digits = digits[:len(digits)-4]
	}
	if len(digits) == 0 {
		weight = 0
	}
	if len(digits)/4 > math.MaxInt16 || weight > math.MaxInt16 || weight < math.MinInt16 || scale > 0x3fff {
		return nil, failure("22003", "a number of the result has more digits than PostgreSQL's numeric")
	}
	dst = be.AppendUint16(dst, uint16(len(digits)/4))
	dst = be.AppendUint16(dst, uint16(int16(weight)))
	sign := uint16(0)
	if d.Negative && len(digits) > 0 {
		sign = 0x4000
	}
	dst = be.AppendUint16(dst, sign)
	dst = be.AppendUint16(dst, uint16(scale))
	for ; len(digits) > 0; digits = digits[4:] {
		n, _ := strconv.Atoi(digits[:4])
		dst = be.AppendUint16(dst, uint16(n))
	}
	return dst, nil
}
