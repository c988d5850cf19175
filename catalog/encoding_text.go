package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hql-db/hql/types"
)

// text is TEXT without a width: the value's text, or the bytes of a BYTES. It ends at the next literal or at the end of
// the key.
type text struct{ *traits }

func newText(t types.Type) text {
	of := &traits{t, "TEXT", Variable, Unordered} // "10" sorts before "9"
	switch t {
	case types.Bytes:
		of.name, of.order = "BYTES", Terminated
	case types.String:
		of.order = Terminated
	}
	return text{of}
}

// Respells reports whether one value can be written as several texts, such as 1.0 and 1.
func (e text) Respells() bool { return !e.t.IsText() && e.t != types.Bytes && !e.t.IsInteger() }

// char is the text of a CHAR(n) in a cell. Other programs may write spaces at its end.
type char struct{ text }

func (char) Order() Order   { return Unordered }
func (char) Respells() bool { return true }

func (e char) Decode(src []byte) (types.Value, error) {
	return e.text.Decode(bytes.TrimRight(src, " "))
}

func (e text) Append(dst []byte, v types.Value) ([]byte, error) {
	if e.t.IsText() || e.t == types.Bytes {
		return append(dst, v.Stored()...), nil // a key keeps its bytes
	}
	s, err := types.Cast(v, types.String, nil)
	if err != nil {
		return dst, err
	}
	// Values that could not be read back are not written.
	out := s.Text()
	switch {
	case !yearFits(v):
		return dst, errYear
	case e.t == types.Float && !math.IsNaN(v.Double()) && float64(float32(v.Double())) != v.Double(): // 0.1 is the text of another FLOAT
		return dst, errors.New("no FLOAT has this value")
	case e.t == types.Decimal && len(out) > 1000: // nearly all characters may be digits
		out = v.Decimal().Text('E')
		if _, err := types.ParseDecimal(out); err != nil {
			return dst, err
		}
	}
	return append(dst, out...), nil
}

var errYear = errors.New("text can hold only the years 0000 to 9999")

// yearFits reports whether a DATE or TIMESTAMP has a year of four digits; it is true for other types.
func yearFits(v types.Value) bool {
	const first, last = -62_167_219_200_000, 253_402_300_799_999 // milliseconds since 1970
	switch v.Type() {
	case types.Date:
		return v.Int() >= first/types.MillisPerDay && v.Int() <= last/types.MillisPerDay
	case types.Timestamp, types.LocalTimestamp:
		return v.Int() >= first && v.Int() <= last
	}
	return true
}

func (e text) Decode(src []byte) (types.Value, error) {
	switch {
	case e.t == types.Bytes:
		return types.NewBytes(string(src)), nil
	case e.t.IsJSON():
		return types.NewJSONOf(e.t, string(src)), nil
	case e.t == types.String:
		return types.NewString(string(src)), nil
	case e.t.IsInteger() || e.t.IsTimestamp() && isDigits(src):
		n, err := strconv.ParseInt(string(src), 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != string(src) {
			return types.Value{}, errors.New("it is not a number in hql's spelling")
		}
		if err := checkInt(e.t, n); err != nil {
			return types.Value{}, err
		}
		v := types.NewIntOf(e.t, n)
		if !yearFits(v) {
			return types.Value{}, errYear // probably microseconds
		}
		return v, nil
	}
	v, err := types.Cast(types.NewString(string(src)), e.t, nil)
	if err == nil && !yearFits(v) {
		return types.Value{}, errYear // a time zone moved it out of the range
	}
	return v, err
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 10
}

// padded is TEXT(n) for strings, padded with spaces to n bytes, or NUL TEXT(n), padded with 0x00. It refuses bytes
// below the filler, the byte 0x00, and a filler at the end, so that padded strings sort like the strings.
type padded struct {
	*traits
	filler byte
}

func (e padded) Append(dst []byte, v types.Value) ([]byte, error) {
	s := v.Text()
	if len(s) > e.width {
		return dst, fmt.Errorf("%s is longer than %d bytes", types.Short(s), e.width)
	}
	if e.filler != 0 && s != "" && s[len(s)-1] == e.filler {
		return dst, errors.New("a text of fixed width cannot end with a space")
	}
	if e.disturbed(s) {
		return dst, errors.New("a text of fixed width cannot hold " + e.disturbance())
	}
	dst = append(dst, s...)
	for i := len(s); i < e.width; i++ {
		dst = append(dst, e.filler)
	}
	return dst, nil
}

func (e padded) Decode(src []byte) (types.Value, error) {
	if len(src) != e.width {
		return types.Value{}, errWidth
	}
	end := len(src)
	for end > 0 && src[end-1] == e.filler {
		end--
	}
	s := string(src[:end])
	if e.disturbed(s) {
		return types.Value{}, errors.New("it holds " + e.disturbance())
	}
	return types.NewString(s), nil
}

// disturbed reports whether s holds a byte that would make padded strings sort differently from the strings.
func (e padded) disturbed(s string) bool { return e.undisturbed(s) < len(s) }

// undisturbed returns the number of bytes of s before the first byte that would make padded strings sort differently.
func (e padded) undisturbed(s string) int {
	for i := range len(s) {
		if s[i] < max(e.filler, 1) {
			return i
		}
	}
	return len(s)
}

func (e padded) disturbance() string {
	if e.filler == 0 {
		return "the byte 0x00"
	}
	return "control characters"
}

// Clip cuts each bound before its first byte that no stored text can have: the stored texts greater than 'a\t' are
// those greater than 'a'.
func (e padded) Clip(iv types.Interval) (types.Interval, bool) {
	if n := e.undisturbed(iv.Lo.Text()); n < len(iv.Lo.Text()) {
		iv.Lo, iv.LoOpen = types.NewString(iv.Lo.Text()[:n]), true
	}
	if n := e.undisturbed(iv.Hi.Text()); n < len(iv.Hi.Text()) {
		iv.Hi, iv.HiOpen = types.NewString(iv.Hi.Text()[:n]), false
	}
	return iv, len(types.SetOf(iv)) > 0
}

// uuid is the 16 bytes of a UUID. Its text has the form of java.util.UUID: lower-case digits and hyphens.
type uuid struct{ *traits }

const uuidBytes = 16

func newUUID(t types.Type) uuid {
	order := Unordered // the texts sort the same way, but a bound may be any text
	if t == types.UUID {
		order = Ascending
	}
	return uuid{&traits{t, "UUID", uuidBytes, order}}
}

func (e uuid) Append(dst []byte, v types.Value) ([]byte, error) {
	u, err := types.Cast(v, types.UUID, nil)
	if err == nil && (e.t == types.UUID || u.String() == v.Text()) {
		return append(dst, u.Text()...), nil
	}
	return dst, fmt.Errorf("%s is not a UUID in lower case", types.Short(v.Text()))
}

func (e uuid) Decode(src []byte) (types.Value, error) {
	if len(src) != uuidBytes {
		return types.Value{}, errWidth
	}
	u := types.NewUUID(string(src))
	if e.t == types.UUID {
		return u, nil
	}
	return types.NewString(u.String()), nil
}

func (e uuid) Clip(iv types.Interval) (types.Interval, bool) {
	if e.t != types.UUID {
		return iv, true
	}
	lo, hi := []byte(strings.Repeat("\x00", uuidBytes)), []byte(strings.Repeat("\xff", uuidBytes))
	if !iv.Lo.IsNull() {
		lo = []byte(iv.Lo.Text())
	}
	if !iv.Hi.IsNull() {
		hi = []byte(iv.Hi.Text())
	}
	if iv.LoOpen && !step(lo, 1) || iv.HiOpen && !step(hi, -1) || bytes.Compare(lo, hi) > 0 {
		return iv, false
	}
	return types.Interval{Lo: types.NewUUID(string(lo)), Hi: types.NewUUID(string(hi))}, true
}

// step adds by, 1 or -1, to the number b; ok is false if b was the last number in that direction.
func step(b []byte, by int) (ok bool) {
	end := byte(0xff)
	if by < 0 {
		end = 0
	}
	for i := len(b) - 1; i >= 0; i-- {
		before := b[i]
		if b[i] = byte(int(b[i]) + by); before != end {
			return true
		}
	}
	return false
}

// rawBytes is BYTES(n), and a text whose expression has a fixed width: exactly n bytes.
type rawBytes struct{ *traits }

func newRaw(t types.Type, n int) rawBytes {
	return rawBytes{&traits{t, fmt.Sprintf("BYTES(%d)", n), n, Padded}}
}

func (e rawBytes) Append(dst []byte, v types.Value) ([]byte, error) {
	if len(v.Text()) != e.width {
		return dst, fmt.Errorf("it must be %d bytes, not %d", e.width, len(v.Text()))
	}
	return append(dst, v.Text()...), nil
}

func (e rawBytes) Decode(src []byte) (types.Value, error) {
	if len(src) != e.width {
		return types.Value{}, errWidth
	}
	if e.t == types.Bytes {
		return types.NewBytes(string(src)), nil
	}
	return types.NewString(string(src)), nil
}

// boolean is one byte: 0x00 for false, anything else for true. HBase's Bytes.toBytes writes 0xff for true, Phoenix
// 0x01.
type boolean struct {
	*traits
	yes byte
}

func newBoolean(name string, yes byte) boolean {
	return boolean{&traits{types.Boolean, name, 1, Unordered}, yes}
}

func (boolean) Respells() bool { return true } // any byte except 0x00 is true
func (boolean) OneFalse() bool { return true }

func (e boolean) Append(dst []byte, v types.Value) ([]byte, error) {
	if v.Bool() {
		return append(dst, e.yes), nil
	}
	return append(dst, 0), nil
}

func (boolean) Decode(src []byte) (types.Value, error) {
	if len(src) != 1 {
		return types.Value{}, errWidth
	}
	return types.NewBool(src[0] != 0), nil
}
