package catalog

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

var errWidth = errors.New("wrong number of bytes")

// newEncoding makes the encoding that def names for values of type t. e is the
// part's expression, nil for a cell; it decides where def is nil.
func (c *Catalog) newEncoding(def *parser.EncodingDef, t types.Type, e expr.Expr, pos parser.Pos) (Encoding, error) {
	if def == nil {
		if e == nil {
			return cellEncoding(t), nil
		}
		if w := expr.Width(e); w > 0 && (t == types.String || t == types.Bytes) {
			return rawBytes{t, w}, nil
		}
		if t == types.Bytes {
			return text{t}, nil // bytes are stored as they are; only their width varies
		}
		return nil, parser.Errorf(pos, "this part needs an encoding: %s AS ...", e).
			WithHint("%s values in a key are written %s", t, keyHint(t))
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

func keyHint(t types.Type) string {
	switch {
	case t.IsInteger():
		return "AS TEXT(n), AS INT64, AS UINT32 or AS ORDERED INT64"
	case t == types.Timestamp:
		return "AS INT64, AS TEXT(13) or AS TEXT('yyyyMMddHHmmss')"
	case t == types.Date:
		return "AS TEXT('yyyyMMdd')"
	}
	return "AS TEXT or AS TEXT(n)"
}

// literals gives the values of an encoding's arguments.
func literals(args []parser.Expr) ([]types.Value, error) {
	vs := make([]types.Value, len(args))
	for i, a := range args {
		e, err := expr.Compile(a, &expr.Scope{})
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

// cellEncoding is how the HBase client's Bytes.toBytes writes a type; DATE, TIME and DECIMAL are text.
func cellEncoding(t types.Type) Encoding {
	switch t {
	case types.Boolean:
		return boolean{}
	case types.TinyInt:
		return integer{t: t, bytes: 1, kind: signed, scale: 1}
	case types.SmallInt:
		return integer{t: t, bytes: 2, kind: signed, scale: 1}
	case types.Int:
		return integer{t: t, bytes: 4, kind: signed, scale: 1}
	case types.BigInt, types.Timestamp:
		return integer{t: t, bytes: 8, kind: signed, scale: 1}
	case types.Float:
		return float{t: t, bytes: 4}
	case types.Double:
		return float{t: t, bytes: 8}
	}
	return text{t}
}

// integerBytes are the widths of the integer encodings by name: INT8, UINT24, ORDERED INT64 ...
var integerBytes = func() map[string]int {
	m := map[string]int{}
	for n := 1; n <= 8; n++ {
		for _, kind := range []string{"INT", "UINT", "ORDERED INT", "LITTLE INT"} {
			m[fmt.Sprint(kind, 8*n)] = n
		}
	}
	return m
}()

// named makes a built-in or registered encoding.
func (c *Catalog) named(name string, t types.Type, args []types.Value) (Encoding, error) {
	refuse := func(what string) (Encoding, error) {
		return nil, fmt.Errorf("%s cannot be stored AS %s%s", t, name, what)
	}
	noArgs := func() error {
		if len(args) > 0 {
			return fmt.Errorf("%s takes no argument", name)
		}
		return nil
	}
	if n, ok := integerBytes[name]; ok {
		if err := noArgs(); err != nil {
			return nil, err
		}
		if !t.IsInteger() && t != types.Timestamp && t != types.Date && t != types.Time {
			return refuse("")
		}
		kind := map[byte]integerKind{'I': signed, 'U': unsigned, 'O': ordered, 'L': little}[name[0]]
		return integer{t: t, bytes: n, kind: kind, scale: 1, name: name}, nil
	}
	switch name {
	case "TEXT":
		if len(args) == 0 {
			return text{t}, nil
		}
		if len(args) == 1 && args[0].Type().IsText() {
			if t != types.Date && t != types.Timestamp && t != types.Time {
				return refuse("('pattern')")
			}
			return newDatePattern(t, args[0].Text())
		}
		n, err := widthArg(name, args)
		if err != nil {
			return nil, err
		}
		switch {
		case t.IsInteger() || t == types.Timestamp:
			return digits{t: t, n: n, name: name, alphabet: decimalDigits}, nil
		case t == types.String:
			return padded{n, ' '}, nil
		case t == types.Bytes:
			return rawBytes{t, n}, nil
		}
		return refuse(fmt.Sprintf("(%d)", n))
	case "COUNT8 TEXT", "COUNT16 TEXT", "COUNT32 TEXT", "VINT TEXT":
		if t != types.String && t != types.Bytes {
			return refuse("")
		}
		return counted{t, map[string]int{"COUNT8 TEXT": 1, "COUNT16 TEXT": 2, "COUNT32 TEXT": 4}[name]}, noArgs()
	case "VINT":
		if !t.IsInteger() && t != types.Timestamp {
			return refuse("")
		}
		return vint{t}, noArgs()
	case "NUL TEXT":
		n, err := widthArg(name, args)
		if err == nil && t != types.String {
			return refuse("")
		}
		return padded{n, 0}, err
	case "BIGDECIMAL":
		if t != types.Decimal {
			return refuse("")
		}
		return bigDecimal{}, noArgs()
	case "UUID":
		if t != types.String {
			return refuse("")
		}
		return uuid{}, noArgs()
	case "REVERSED TEXT", "HEX", "UPPER HEX", "BASE36", "CROCKFORD":
		n, err := widthArg(name, args)
		if err != nil {
			return nil, err
		}
		if !t.IsInteger() && t != types.Timestamp {
			return refuse("")
		}
		return digits{t: t, n: n, name: name, alphabet: cmp.Or(alphabets[name], decimalDigits), reversed: name == "REVERSED TEXT"}, nil
	case "EPOCH32":
		if t != types.Timestamp {
			return refuse("")
		}
		return integer{t: t, bytes: 4, kind: unsigned, scale: 1000, name: name}, noArgs()
	case "BYTES":
		if t != types.Bytes && t != types.String {
			return refuse("")
		}
		if len(args) == 0 {
			return text{t}, nil
		}
		n, err := widthArg(name, args)
		return rawBytes{t, n}, err
	case "FLOAT32", "FLOAT64", "ORDERED FLOAT32", "ORDERED FLOAT64", "PHOENIX DOUBLE", "PHOENIX FLOAT":
		if t != types.Float && t != types.Double {
			return refuse("")
		}
		f := float{t: t, bytes: 8, name: name, ordered: name[0] == 'O', phoenix: name[0] == 'P'}
		if name == "FLOAT32" || name == "ORDERED FLOAT32" || name == "PHOENIX FLOAT" {
			f.bytes = 4
		}
		return f, noArgs()
	case "BOOLEAN", "PHOENIX BOOLEAN":
		if t != types.Boolean {
			return refuse("")
		}
		return boolean{phoenix: name[0] == 'P'}, noArgs()
	case "OPENTSDB_VALUE":
		if t != types.Double {
			return refuse("")
		}
		return openTSDBValue{}, noArgs()
	}
	if f := c.encs[name]; f != nil {
		return f(t, args)
	}
	return nil, fmt.Errorf("unknown encoding %s", name)
}

// widthArg reads the width in TEXT(n) or BYTES(n).
func widthArg(name string, args []types.Value) (int, error) {
	if len(args) != 1 || !args[0].Type().IsInteger() || args[0].Int() < 1 || args[0].Int() > MaxKeyLength {
		return 0, fmt.Errorf("%s takes a width from 1 to %d", name, MaxKeyLength)
	}
	return int(args[0].Int()), nil
}

// MaxKeyLength is the longest rowkey that HBase stores, in bytes.
const MaxKeyLength = 32767

// DecodeCell reads the bytes of c's cell. Of packed columns, OpenTSDB's need the qualifier too: see DecodePacked.
func (c *Column) DecodeCell(b []byte) (types.Value, error) { return c.Encoding.Decode(b) }

// Plain tells that c's cells hold the bytes of a STRING, JSON or BYTES as they are.
func (c *Column) Plain() bool {
	switch e := c.Encoding.(type) {
	case text:
		return e.t.IsText() || e.t == types.Bytes
	case rawBytes:
		return e == rawBytes{t: e.t}
	}
	return false
}

// Respells reports whether c's cells are read in spellings of their values that hql does not write: the bytes of a cell
// do not tell its value's.
func (c *Column) Respells() bool { return spellings(c.Encoding) }

// Ranges appends the ranges of bytes that cells of c have for the values in iv; see Part.Ranges.
func (c *Column) Ranges(dst []ByteRange, iv types.Interval) (out []ByteRange, exact, ok bool) {
	if !iv.IsPoint() {
		return appendRanges(dst, c.Encoding, iv, follow{})
	}
	b, err := c.Encoding.Append(nil, iv.Lo)
	if err != nil {
		return dst, true, true // it cannot be stored: no row has it
	}
	return append(dst, ByteRange{Lo: b, Point: true, Value: iv.Lo}), true, true
}

// DecodePacked reads the bytes of a packed column's cell under its qualifier; of an OpenTSDB cell, those of one Point.
func (c *Column) DecodePacked(qualifier, b []byte) (types.Value, error) {
	if e, ok := c.Encoding.(openTSDBValue); ok && len(qualifier) > 0 {
		return e.decode(b, qualifier[len(qualifier)-1]&0x8)
	}
	return c.Encoding.Decode(b)
}

// AppendCell appends the bytes of c's cell; v is not NULL. An error tells what does not fit.
func (c *Column) AppendCell(dst []byte, v types.Value) ([]byte, error) {
	if c.inKey {
		v = v.OneZero() // as in the key
	}
	return c.Encoding.Append(dst, v)
}
