package pgwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// parameter reads an argument. b is nil for NULL.
func parameter(oid uint32, format int16, b []byte, loc *time.Location) (any, *Error) {
	if b == nil {
		return types.Value{}, nil
	}
	if format != 0 && format != 1 {
		return nil, failure("22023", "unsupported format code: %d", format)
	}
	t, array, ok := pgcatalog.TypeByOID(oid)
	switch {
	case !ok && format == 1:
		return nil, failure("0A000", "parameters of the type with oid %d are not supported in binary format", oid)
	case !ok: // the text of an unknown type: hql converts it where it is used
		t.Values = types.String
	case array && format == 1:
		return binaryArray(t, b, loc)
	case array: // {a,"b c",NULL}
		t.Values = types.ArrayOf(t.Values)
	case format == 1:
		return binaryValue(t, b, loc)
	}
	return textValue(t.Values, string(b), loc)
}

// textValue reads a value's text.
func textValue(t types.Type, s string, loc *time.Location) (types.Value, *Error) {
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return types.Value{}, failure("22021", `invalid byte sequence for encoding "UTF8"`)
	}
	if t == types.String || t.IsNamedOID() { // the statement finds the name in the catalog
		return types.NewString(s), nil
	}
	v, err := types.Read(types.NewString(strings.TrimSpace(s)), t, time.Now().UnixMilli(), loc)
	if err != nil {
		return v, failure(stateByWords(err.Error(), "22P02"), "%v", err)
	}
	return v, nil
}

// binaryValue reads a value's binary form.
func binaryValue(t pgcatalog.Type, b []byte, loc *time.Location) (types.Value, *Error) {
	if t.Size > 0 && t.Values != types.String && len(b) != int(t.Size) {
		return types.Value{}, failure("22P03", "incorrect binary data format: %d bytes for a value of %d", len(b), t.Size)
	}
	be := binary.BigEndian
	switch t.Values {
	case types.Boolean:
		return types.NewBool(b[0] != 0), nil
	case types.SmallInt:
		return types.NewIntOf(types.SmallInt, int64(int16(be.Uint16(b)))), nil
	case types.Int:
		return types.NewIntOf(types.Int, int64(int32(be.Uint32(b)))), nil
	case types.OID:
		return types.NewOID(be.Uint32(b)), nil
	case types.BigInt:
		return types.NewInt(int64(be.Uint64(b))), nil
	case types.Float:
		return types.NewFloatOf(types.Float, float64(math.Float32frombits(be.Uint32(b)))), nil
	case types.Double:
		return types.NewDouble(math.Float64frombits(be.Uint64(b))), nil
	case types.Decimal:
		return binaryNumeric(b)
	case types.Bytes:
		return types.NewBytes(string(b)), nil
	case types.Date:
		days := int32(be.Uint32(b))
		if days == math.MaxInt32 || days == math.MinInt32 {
			return types.Value{}, infinite()
		}
		return types.NewDate(int64(days) + epochDays), nil
	case types.Time:
		ms := toMillis(int64(be.Uint64(b)))
		if ms < 0 || ms >= types.MillisPerDay {
			return types.Value{}, failure("22008", "time out of range (23:59:59.999 at most)")
		}
		return types.NewIntOf(types.Time, ms), nil
	case types.Timestamp, types.LocalTimestamp:
		us := int64(be.Uint64(b))
		if us == math.MaxInt64 || us == math.MinInt64 {
			return types.Value{}, infinite()
		}
		return types.NewIntOf(t.Values, toMillis(us)+epochMillis), nil
	case types.Duration:
		v, ok := types.NewDuration(int64(int32(be.Uint32(b[12:]))), int64(int32(be.Uint32(b[8:]))), toMillis(int64(be.Uint64(b))))
		if !ok {
			return v, failure("22008", "interval out of range")
		}
		return v, nil
	case types.UUID:
		return types.NewUUID(string(b)), nil
	case types.JSONB:
		if len(b) == 0 || b[0] != 1 {
			return types.Value{}, failure("22P03", "unsupported jsonb version number")
		}
		b = b[1:]
	}
	return textValue(t.Values, string(b), loc)
}

func infinite() *Error {
	return failure("22008", "dates and moments are finite").hint("leave the bound out, or use 9999-12-31")
}

// toMillis rounds microseconds.
func toMillis(us int64) int64 {
	ms, rest := us/1000, us%1000
	switch {
	case rest >= 500:
		return ms + 1
	case rest < -500:
		return ms - 1
	}
	return ms
}

// binaryNumeric reads digits to the base of 10000.
func binaryNumeric(b []byte) (types.Value, *Error) {
	bad := failure("22P03", "incorrect binary data format in a numeric")
	be := binary.BigEndian
	if len(b) < 8 || len(b) != 8+2*int(be.Uint16(b)) {
		return types.Value{}, bad
	}
	n, weight, sign, scale := int(be.Uint16(b)), int(int16(be.Uint16(b[2:]))), be.Uint16(b[4:]), int(be.Uint16(b[6:]))
	var s strings.Builder
	switch sign {
	case 0:
	case 0x4000:
		s.WriteByte('-')
	default:
		return types.Value{}, failure("22003", "NaN and infinity are not supported as numeric")
	}
	if scale > 0x3fff {
		return types.Value{}, bad
	}
	digit := func(i int) int {
		if i < 0 || i >= n {
			return 0
		}
		return int(be.Uint16(b[8+2*i:]))
	}
	for i := range n {
		if digit(i) > 9999 {
			return types.Value{}, bad
		}
	}
	s.WriteByte('0')
	for i := 0; i <= weight; i++ {
		fmt.Fprintf(&s, "%04d", digit(i))
	}
	if scale > 0 {
		var f strings.Builder
		for i := weight + 1; f.Len() < scale; i++ {
			fmt.Fprintf(&f, "%04d", digit(i))
		}
		s.WriteString("." + f.String()[:scale])
	}
	v, err := types.ParseDecimal(s.String())
	if err != nil {
		return v, failure("22P03", "%v", err)
	}
	return v, nil
}

// binaryArray reads an array.
func binaryArray(elem pgcatalog.Type, b []byte, loc *time.Location) (any, *Error) {
	bad := failure("22P03", "incorrect binary data format in an array")
	be := binary.BigEndian
	if len(b) < 12 {
		return nil, bad
	}
	n := be.Uint32(b)
	if t, array, ok := pgcatalog.TypeByOID(be.Uint32(b[8:])); ok && !array {
		elem = t
	}
	if b = b[12:]; n > 6 || len(b) < int(8*n) {
		return nil, bad
	}
	dims, count := make([]types.Dim, n), uint64(min(n, 1))
	for i := range dims {
		dims[i] = types.Dim{Lower: int(int32(be.Uint32(b[4:]))), Len: int(be.Uint32(b))}
		b = b[8:]
		if count *= uint64(dims[i].Len); count > uint64(len(b)) {
			return nil, bad
		}
	}
	items := make([]types.Value, count)
	for i := range items {
		if len(b) < 4 {
			return nil, bad
		}
		size := int32(be.Uint32(b))
		if b = b[4:]; size < 0 {
			continue
		}
		if int(size) > len(b) {
			return nil, bad
		}
		v, err := binaryValue(elem, b[:size], loc)
		if err != nil {
			return nil, err
		}
		items[i], b = v, b[size:]
	}
	return types.NewArrayOf(types.ArrayOf(elem.Values), dims, items), nil
}
