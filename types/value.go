package types

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
)

// Type is an SQL type.
type Type uint8

// The types, with the content of a Value of each type.
const (
	Null           Type = iota // the type of NULL itself
	Boolean                    // 0 or 1
	TinyInt                    // int8
	SmallInt                   // int16
	Int                        // int32
	BigInt                     // int64
	Float                      // float32, kept as float64
	Double                     // float64
	Decimal                    // arbitrary precision
	String                     // text, normally UTF-8; compared bytewise
	Bytes                      // raw bytes, compared unsigned
	Date                       // days since 1970-01-01, from -MaxDate to MaxDate
	Time                       // milliseconds since midnight, 0 to 86399999
	Timestamp                  // milliseconds since 1970-01-01T00:00:00Z
	JSON                       // JSON text as stored
	Duration                   // INTERVAL: months, days and milliseconds; only in expressions, not in columns
	LocalTimestamp             // TIMESTAMP WITHOUT TIME ZONE: the time that a clock shows, stored as if it were UTC
	UUID                       // 16 bytes, compared bytewise
	OID                        // the number of an object of the system catalog, 0 to 4294967295
	Name                       // the name of an object: text of at most 63 bytes
	Char                       // PostgreSQL's "char": text of at most one byte
	RegClass                   // an OID with the name of its table, index or view
	RegType                    // an OID with the name of its type
	RegProc                    // an OID with the name of its function
	RegNamespace               // an OID with the name of its schema
	Int2Vector                 // SMALLINTs with subscripts from 0, printed with spaces between them
	OIDVector                  // OIDs with subscripts from 0, printed with spaces between them
	JSONB                      // JSON whose text depends on its value alone; see NewJSONOf

	array Type = 1 << 6 // set for an array; the other bits are the type of its elements
)

var typeNames = [...]string{"NULL", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE",
	"DECIMAL", "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP", "JSON", "INTERVAL", "TIMESTAMP WITHOUT TIME ZONE",
	"UUID", "OID", "NAME", `"CHAR"`, "REGCLASS", "REGTYPE", "REGPROC", "REGNAMESPACE", "INT2VECTOR", "OIDVECTOR", "JSONB"}

// String returns the type's name in SQL.
func (t Type) String() string {
	if t&array != 0 {
		return typeNames[t&^array] + "[]"
	}
	return typeNames[t]
}

// IsInteger reports whether t is TINYINT, SMALLINT, INT or BIGINT.
func (t Type) IsInteger() bool { return t >= TinyInt && t <= BigInt }

// IsNumeric reports whether t is an integer type, FLOAT, DOUBLE or DECIMAL.
func (t Type) IsNumeric() bool { return t >= TinyInt && t <= Decimal }

// IsText reports whether t is STRING, JSON, JSONB, NAME or "char", whose values hold text.
func (t Type) IsText() bool { return t == String || t == JSON || t == Name || t == Char || t == JSONB }

// IsJSON reports whether t is JSON or JSONB.
func (t Type) IsJSON() bool { return t == JSON || t == JSONB }

// IsOID reports whether t is OID or one of the types that print the name of an OID's object.
func (t Type) IsOID() bool { return t == OID || t.IsNamedOID() }

// IsNamedOID reports whether t is REGCLASS, REGTYPE, REGPROC or REGNAMESPACE.
func (t Type) IsNamedOID() bool { return t >= RegClass && t <= RegNamespace }

// IsTemporal reports whether t is DATE, TIME or one of the TIMESTAMPs.
func (t Type) IsTemporal() bool { return t >= Date && t <= Timestamp || t == LocalTimestamp }

// IsTimestamp reports whether t is TIMESTAMP or TIMESTAMP WITHOUT TIME ZONE, whose values are milliseconds.
func (t Type) IsTimestamp() bool { return t == Timestamp || t == LocalTimestamp }

// IsMoment reports whether t is DATE or one of the TIMESTAMPs.
func (t Type) IsMoment() bool { return t.IsTimestamp() || t == Date }

// Moment returns the type of TIMESTAMP that computes with values of t: one without a time zone for a DATE or a TIMESTAMP
// without one.
func (t Type) Moment() Type {
	if t == Date || t == LocalTimestamp {
		return LocalTimestamp
	}
	return Timestamp
}

// Value is an immutable SQL value. The zero Value is NULL.
type Value struct {
	typ    Type
	high   int8   // of an INTERVAL: its days / 1<<16
	low    uint16 // of an INTERVAL: its days % 1<<16
	months int32  // of an INTERVAL; for a TIMESTAMP see NewArgument
	i      int64  // integers, booleans, dates and times; the days and the time of an INTERVAL in milliseconds; the bits of a float
	s      string
	d      *apd.Decimal
}

// IsFinite reports whether v is a number that is not infinite or NaN.
func (v Value) IsFinite() bool {
	return v.typ.IsNumeric() && (v.typ != Double && v.typ != Float || !math.IsInf(v.Double(), 0) && !math.IsNaN(v.Double()))
}

// NewBool makes a BOOLEAN.
func NewBool(b bool) Value {
	if b {
		return Value{typ: Boolean, i: 1}
	}
	return Value{typ: Boolean}
}

// NewInt returns a BIGINT.
func NewInt(i int64) Value { return Value{typ: BigInt, i: i} }

// NewIntOf makes a value of an integer, DATE, TIME or TIMESTAMP type from its number, in the unit given in the list
// above; it does not check the range.
func NewIntOf(t Type, i int64) Value { return Value{typ: t, i: i} }

// SetInt sets v, which is NULL, to NewIntOf(t, i). A row of such values costs the garbage collector nothing.
func (v *Value) SetInt(t Type, i int64) { v.typ, v.i = t, i }

// Integer returns the type and the number of an integer; ok is false for other values. Unlike Type and Int it does not copy v.
func (v *Value) Integer() (t Type, n int64, ok bool) { return v.typ, v.i, v.typ.IsInteger() }

// Clear sets v to NULL. For a number it costs the garbage collector nothing.
func (v *Value) Clear() {
	if v.typ != Null {
		v.clear()
	}
}

func (v *Value) clear() {
	if v.s == "" && v.d == nil {
		v.typ, v.high, v.low, v.months, v.i = Null, 0, 0, 0, 0
		return
	}
	*v = Value{}
}

// NewTextOf makes a value of t, STRING or BYTES.
func NewTextOf(t Type, s string) Value {
	if t == Bytes {
		return NewBytes(s)
	}
	return NewString(s)
}

// NewDouble makes a DOUBLE.
func NewDouble(f float64) Value { return Value{typ: Double, i: int64(math.Float64bits(f))} }

// NewFloatOf makes a FLOAT or DOUBLE.
func NewFloatOf(t Type, f float64) Value { return Value{typ: t, i: int64(math.Float64bits(f))} }

// NewDecimal makes a DECIMAL, with 0 for -0; d must not change afterwards.
func NewDecimal(d *apd.Decimal) Value {
	if d.Negative && d.IsZero() {
		d = new(apd.Decimal).Abs(d)
	}
	return Value{typ: Decimal, d: d}
}

// NewString makes a STRING.
func NewString(s string) Value { return Value{typ: String, s: s} }

// NewBytes makes a BYTES from a string holding the bytes.
func NewBytes(s string) Value { return Value{typ: Bytes, s: s} }

// NewJSON makes a JSON from its text, unchecked.
func NewJSON(s string) Value { return Value{typ: JSON, s: s} }

// NewJSONOf makes a JSON or a JSONB from its text, unchecked. Text brings the text of a JSONB into PostgreSQL's form, which
// the cell of another program need not have.
func NewJSONOf(t Type, s string) Value { return Value{typ: t, s: s, i: int64(Bit(t == JSONB))} }

// NewDate makes a DATE from days since 1970-01-01.
func NewDate(days int64) Value { return Value{typ: Date, i: days} }

// NewTimestamp makes a TIMESTAMP from milliseconds since 1970.
func NewTimestamp(ms int64) Value { return Value{typ: Timestamp, i: ms} }

// ownClock is added to the offset that NewArgument keeps, so that an offset of 0 differs from none.
const ownClock = 1 << 20

// NewArgument returns a TIMESTAMP for an argument of a Go program. It keeps the time zone offset of t: Cast to DATE, TIME
// and TIMESTAMP WITHOUT TIME ZONE uses that offset instead of the session's zone. As in pgx, a day is t's year, month and
// day.
func NewArgument(t time.Time) Value {
	t = t.Round(time.Millisecond)
	_, off := t.Zone()
	return Value{typ: Timestamp, i: t.UnixMilli(), months: int32(off) + ownClock}
}

// ToUTF8 returns v, a text, JSON or an array of these, with U+FFFD for each zero byte and all bytes that are not UTF-8.
// ok reports that there are none.
func (v Value) ToUTF8() (_ Value, ok bool) {
	switch {
	case v.typ.IsArray() && v.typ.Elem().IsText():
		items := slices.Clone(v.Items())
		ok = true
		for i, x := range items {
			fine := false
			items[i], fine = x.ToUTF8()
			ok = ok && fine
		}
		return NewArrayOf(v.typ, v.Dims(), items), ok
	case v.typ.IsText():
		s := strings.ToValidUTF8(strings.ReplaceAll(v.s, "\x00", "\uFFFD"), "\uFFFD")
		ok = s == v.s
		v.s = s
		return v, ok
	}
	return v, true
}

// HasClock reports whether NewArgument made v, so that v keeps an offset.
func (v Value) HasClock() bool { return v.typ == Timestamp && v.months != 0 }

// WithoutClock returns v without the offset that NewArgument keeps.
func (v Value) WithoutClock() Value {
	if v.HasClock() {
		v.months = 0
	}
	return v
}

// Clone returns v with a copy of its text, for callers that keep v longer than its row.
func (v Value) Clone() Value {
	v.s = strings.Clone(v.s)
	return v
}

// Identical reports whether v and w cannot be distinguished: 1.5 and 1.50 are equal but not identical.
func (v Value) Identical(w Value) bool {
	if v.typ == JSONB && w.typ == JSONB {
		return v.Text() == w.Text()
	}
	if v.d == nil || w.d == nil {
		return v == w
	}
	return v.typ == w.typ && v.d.Exponent == w.d.Exponent && v.d.Cmp(w.d) == 0
}

// Type returns the value's type, Null for NULL.
func (v Value) Type() Type { return v.typ }

// IsNull reports whether v is NULL.
func (v Value) IsNull() bool { return v.typ == Null }

// Bool returns the value of a BOOLEAN.
func (v Value) Bool() bool { return v.i != 0 }

// Int returns the number of an integer, BOOLEAN, DATE, TIME, TIMESTAMP or OID.
func (v Value) Int() int64 { return v.i }

// Double returns the number of a FLOAT or DOUBLE.
func (v Value) Double() float64 { return math.Float64frombits(uint64(v.i)) }

// OneZero returns 0 for the -0 of a FLOAT or DOUBLE, and any other v unchanged. The two zeros are equal but have
// different bytes.
func (v Value) OneZero() Value {
	if (v.typ == Float || v.typ == Double) && v.Double() == 0 {
		v.i = 0
	}
	return v
}

// WithoutScale returns the DECIMAL v without trailing zeros after the point: 1.5 for 1.50.
func WithoutScale(v Value) Value {
	d := v.d
	if d.Exponent >= 0 {
		return v
	}
	var out apd.Decimal
	if out.Reduce(d); out.Exponent == d.Exponent {
		return v
	}
	if out.Exponent > 0 {
		if _, err := Wide.Quantize(&out, &out, 0); err != nil {
			return v
		}
	}
	return NewDecimal(&out)
}

// Decimal returns the number of a DECIMAL; it must not be changed.
func (v Value) Decimal() *apd.Decimal { return v.d }

// Text returns the text of a STRING, JSON, JSONB, NAME or "char" and the bytes of a BYTES or UUID.
func (v Value) Text() string {
	if v.typ == JSONB && v.i != 0 {
		return normalJSON(v.s)
	}
	return v.s
}

// AsJSONB returns the JSON v as a JSONB, and an array of JSON as one of JSONB; other values stay.
func AsJSONB(v Value) Value {
	switch v.typ {
	case JSON:
		return NewJSONOf(JSONB, v.s)
	case ArrayOf(JSON):
		items := v.Items()
		for i := range items {
			items[i] = AsJSONB(items[i])
		}
		return NewArrayOf(ArrayOf(JSONB), v.Dims(), items)
	}
	return v
}

// JSONPart returns a value of v's type with text, a part of v's text; of a text, a JSON.
func (v Value) JSONPart(text string) Value {
	if v.typ == JSONB {
		return Value{typ: JSONB, s: text, i: v.i}
	}
	return NewJSON(text)
}

// Stored returns Text, but the text of a JSONB as its cell holds it. Functions that parse JSON take it.
func (v Value) Stored() string { return v.s }
