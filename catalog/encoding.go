package catalog

import (
	"errors"
	"fmt"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

var errWidth = errors.New("wrong number of bytes")

// traits are what does not depend on the value that an encoding writes. Encodings embed them; by themselves they store any value.
type traits struct {
	t     types.Type
	name  string // as it follows AS
	width int    // in bytes, or Variable
	order Order
}

func (e *traits) Type() types.Type                              { return e.t }
func (e *traits) String() string                                { return e.name }
func (e *traits) Width() int                                    { return e.width }
func (e *traits) Order() Order                                  { return e.order }
func (e *traits) Clip(iv types.Interval) (types.Interval, bool) { return iv, true }

// newEncoding makes the encoding that def names for values of type t. e is the part's expression, nil for a cell; it
// determines the encoding if def is nil.
func (c *Catalog) newEncoding(def *parser.EncodingDef, t types.Type, e expr.Expr, pos parser.Pos) (Encoding, error) {
	stored := t
	if t.IsArray() {
		stored = t.Elem()
	}
	if stored == types.Duration && e != nil {
		return nil, parser.Errorf(pos, "an INTERVAL cannot be in a key").WithHint("keep its milliseconds as a BIGINT; INTERVAL_MS(n) makes an INTERVAL of them")
	}
	if stored.IsOID() || stored == types.Name || stored == types.Char || t == types.Int2Vector || t == types.OIDVector {
		return nil, parser.Errorf(pos, "a %s cannot be stored: only the system catalog has the type", t).WithHint("use BIGINT for an OID, STRING for a name")
	}
	if t.IsArray() && e != nil {
		return nil, parser.Errorf(pos, "an array cannot be part of a key")
	}
	if def == nil {
		if e == nil {
			return cellEncoding(t), nil
		}
		if w := expr.Width(e); w > 0 && (t == types.String || t == types.Bytes) {
			return newRaw(t, w), nil
		}
		if t == types.Bytes {
			return newText(t), nil // bytes are stored as they are; only their width varies
		}
		return nil, parser.Errorf(pos, "this part needs an encoding: %s AS ...", e).
			WithHint("in a key, declare %s values %s", t, keyHint(t))
	}
	args, err := literals(def.Args)
	if err != nil {
		return nil, err
	}
	enc, err := c.named(def.Name, t, args)
	if err != nil {
		return nil, parser.Errorf(def.Pos, "%s", err)
	}
	return enc, nil
}

// encode returns a function that gives the bytes of values of type t, as the encoding def writes them.
func (c *Catalog) encode(def *parser.EncodingDef, t types.Type) (func(types.Value) (types.Value, error), error) {
	enc, err := c.newEncoding(def, t, nil, def.Pos)
	if err != nil {
		return nil, err
	}
	return func(v types.Value) (types.Value, error) {
		b, err := enc.Append(nil, v)
		if err != nil {
			return types.Value{}, fmt.Errorf("AS %s: %w", enc, err)
		}
		return types.NewBytes(string(b)), nil
	}, nil
}

func keyHint(t types.Type) string {
	switch {
	case t.IsInteger():
		return "AS TEXT(n), AS INT64, AS UINT32 or AS ORDERED INT64"
	case t.IsTimestamp():
		return "AS INT64, AS TEXT(13) or AS TEXT('yyyyMMddHHmmss')"
	case t == types.Date:
		return "AS TEXT('yyyyMMdd')"
	case t == types.UUID:
		return "AS UUID or AS TEXT"
	}
	return "AS TEXT or AS TEXT(n)"
}

// literals returns the values of an encoding's arguments.
func literals(args []parser.Expr) ([]types.Value, error) {
	vs := make([]types.Value, len(args))
	for i, a := range args {
		e, err := expr.Compile(a, &expr.Scope{Funcs: functions.Builtins()})
		if err != nil {
			return nil, err
		}
		k, ok := e.(*expr.Const)
		if !ok {
			return nil, parser.Errorf(a.Position(), "an encoding takes constants")
		}
		vs[i] = k.Val
	}
	return vs, nil
}

// cellEncoding returns the encoding of the HBase client's Bytes.toBytes for a type; DATE, TIME and DECIMAL are stored
// as text.
func cellEncoding(t types.Type) Encoding {
	switch t {
	case types.Boolean:
		return newBoolean("BOOLEAN", 0xff)
	case types.TinyInt:
		return newInteger("INT8", t, 1, signed)
	case types.SmallInt:
		return newInteger("INT16", t, 2, signed)
	case types.Int:
		return newInteger("INT32", t, 4, signed)
	case types.BigInt, types.Timestamp, types.LocalTimestamp:
		return newInteger("INT64", t, 8, signed)
	case types.Float:
		return newFloat("FLOAT32", t, 4, plainBits)
	case types.Double:
		return newFloat("FLOAT64", t, 8, plainBits)
	case types.UUID:
		return newUUID(t)
	}
	if t.IsArray() {
		return jsonArray{arrayOf(t, jsonName)}
	}
	return newText(t)
}

// MaxKeyLength is the longest rowkey that HBase stores, in bytes.
const MaxKeyLength = 32767

// AbsentIsNull reports whether c is NULL exactly in the rows without its cell. It is false if several columns share the
// cell, if an empty cell is NULL, or if a missing cell has a value.
func (c *Column) AbsentIsNull() bool {
	switch c.Encoding.(type) {
	case phoenixElement, emptyNull:
		return false
	}
	return true
}

// DecodeCell reads the bytes of c's cell. OpenTSDB's packed columns need the qualifier too: see DecodePacked.
func (c *Column) DecodeCell(b []byte) (types.Value, error) { return c.Encoding.Decode(b) }

// SetCell sets v, which is NULL or c's value for a missing cell, to the value of a cell; NULL if it returns an error. It is
// faster than DecodeCell for integers.
func (c *Column) SetCell(v *types.Value, b []byte) error {
	if e, ok := c.Encoding.(*integer); ok && e.set(v, b) {
		return nil
	}
	x, err := c.Encoding.Decode(b)
	if *v = x; err != nil {
		v.Clear()
	}
	return err
}

// InCell reports whether c is read from a cell: it is not a key column, or it is one with a copy in a cell.
func (c *Column) InCell() bool { return !c.KeyPart || c.HasCell }

// AnyBytes reports whether c's cells hold the unchanged bytes of its values, so that no cell is malformed.
func (c *Column) AnyBytes() bool { return c.Encoding.Order() == Terminated }

// Respells reports whether c's cells may have spellings of a value that hql does not write: equal values may then have
// different bytes.
func (c *Column) Respells() bool { return respells(c.Encoding) }

// Ranges appends the ranges of bytes of c's cells for the values in iv; see Part.Ranges.
func (c *Column) Ranges(dst []ByteRange, iv types.Interval) (out []ByteRange, exact, ok bool) {
	if iv.IsPoint() {
		return appendPoint(dst, c.Encoding.Append, iv.Lo), true, true
	}
	return appendRanges(dst, c.Encoding, iv, follow{})
}

// DecodePacked reads the bytes of a packed column's cell under its qualifier; for an OpenTSDB cell, the bytes of one
// Point.
func (c *Column) DecodePacked(qualifier, b []byte) (types.Value, error) {
	if e, ok := c.Encoding.(openTSDBValue); ok && len(qualifier) > 0 {
		return e.decode(b, qualifier[len(qualifier)-1]&0x8 != 0)
	}
	return c.Encoding.Decode(b)
}

// AppendCell appends the bytes of c's cell; v is not NULL. The error says why v does not fit.
func (c *Column) AppendCell(dst []byte, v types.Value) ([]byte, error) {
	return c.Encoding.Append(dst, c.Canonical(v))
}

// Canonical returns the value, among those equal to v, that a row holds after v is written: 0 for -0 if a key is made
// of c, and 1.5 for 1.50 if c is stored without its scale.
func (c *Column) Canonical(v types.Value) types.Value {
	if c.inKey {
		v = v.OneZero()
	}
	if c.noScale && v.Type() == types.Decimal {
		v = types.WithoutScale(v)
	}
	return v
}
