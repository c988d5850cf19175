package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// EncodingType describes an encoding that may follow AS. One entry makes it known everywhere: to definitions, the
// planner, \d and the documentation. Entries may share a name: TEXT and TEXT(n) are two entries, chosen by the
// arguments and the type of the values.
//
// The Encoding that Make returns may implement further interfaces, which answer questions of the planner: Delimited,
// Lister, Respeller, Coarse, OneFalse, OneScale, Alphabet, CellsOnly.
type EncodingType struct {
	Name      string       // upper case: "ORDERED INT64"
	Signature string       // for help: "HEX(n)"; "": the name alone
	Doc       string       // describes the bytes, without a full stop
	Types     []types.Type // of the values that it can store; nil: all
	Args      EncodingArgs
	// Phoenix is set if only Phoenix writes this encoding: rows of the table then get Phoenix's marker cell.
	Phoenix bool
	// Make makes the encoding for values of type t, one of Types. args are of the kind Args.
	Make func(t types.Type, args []types.Value) (Encoding, error)
	// of replaces Make for an encoding that contains another encoding, named by an argument; other makes the named
	// encoding.
	of func(t types.Type, args []types.Value, other encodingMaker) (Encoding, error)
}

// encodingMaker makes the encoding whose name is the text named, such as 'COUNT32 TEXT', for values of type t.
type encodingMaker func(t types.Type, named types.Value) (Encoding, error)

// EncodingArgs are the arguments that an encoding takes.
type EncodingArgs uint8

// The kinds of arguments.
const (
	NoArgs     EncodingArgs = iota
	WidthArg                // a number of bytes or digits: TEXT(6)
	PatternArg              // a text: TEXT('yyyyMMdd')
	AnyArgs                 // Make checks them
)

// Types that several encodings share.
var (
	numbers  = []types.Type{types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Timestamp, types.LocalTimestamp}
	counts   = append(slices.Clip(numbers), types.Date, types.Time)
	floats   = []types.Type{types.Float, types.Double}
	texts    = []types.Type{types.String, types.Bytes}
	arrays   = []types.Type{types.ArrayOf(types.String)} // this one represents all array types
	temporal = []types.Type{types.Date, types.Time, types.Timestamp, types.LocalTimestamp}
)

// builtins are the encodings of every catalog.
var builtins = slices.Concat([]EncodingType{
	{Name: "TEXT", Doc: "the value as text; ends at the literal after it, at the end of the key, or where parts of fixed width alone follow up to the end. Order: of texts and BYTES only",
		Make: func(t types.Type, _ []types.Value) (Encoding, error) { return newText(t), nil }},
	{Name: "TEXT", Signature: "TEXT(n)", Doc: "padded with spaces to n bytes", Types: []types.Type{types.String}, Args: WidthArg, Make: makePadded("TEXT", ' ')},
	{Name: "NUL TEXT", Signature: "NUL TEXT(n)", Doc: "padded with 0x00 to n bytes, as `Bytes.padTail` does", Types: []types.Type{types.String}, Args: WidthArg, Make: makePadded("NUL TEXT", 0)},
	digitsOf("TEXT", decimalDigits, "n decimal digits, zeros in front", false),
	digitsOf("HEX", "0123456789abcdef", otherBases, false),
	digitsOf("UPPER HEX", "0123456789ABCDEF", otherBases, false),
	digitsOf("BASE36", "0123456789abcdefghijklmnopqrstuvwxyz", otherBases, false),
	digitsOf("CROCKFORD", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", otherBases, false),
	digitsOf("REVERSED TEXT", decimalDigits, "n decimal digits, zeros in front, then all of them back to front. No order", true),
	{Name: "TEXT", Signature: "TEXT('yyyyMMdd')", Doc: "a Java date pattern of fixed width (`yyyy yy MM dd HH mm ss SSS`), in UTC; of a zone with a fixed offset: `ts + INTERVAL '8 hours' AS TEXT(...)`",
		Types: temporal, Args: PatternArg, Make: func(t types.Type, args []types.Value) (Encoding, error) { return newDatePattern(t, args[0].Text()) }},
},
	integersOf("INT", signed, "two's complement, big-endian, of 1 to 8 bytes, as `Bytes.toBytes` writes it: negative numbers behind the others"),
	integersOf("UINT", unsigned, "unsigned, big-endian, of 1 to 8 bytes: `UINT24`, `ts AS UINT48` (UUIDs of version 7)"),
	integersOf("ORDERED INT", ordered, "as INT, with the sign bit flipped"),
	integersOf("LITTLE INT", little, "two's complement, the least byte first. No order"),
	[]EncodingType{
		{Name: "EPOCH32", Doc: "seconds since 1970, 4 bytes unsigned", Types: []types.Type{types.Timestamp, types.LocalTimestamp},
			Make: func(t types.Type, _ []types.Value) (Encoding, error) {
				e := newInteger("EPOCH32", t, 4, unsigned)
				e.scale = 1000
				return e, nil
			}},
		floatOf("FLOAT32", 4, plainBits, "IEEE 754; no order"),
		floatOf("FLOAT64", 8, plainBits, "IEEE 754; no order"),
		floatOf("ORDERED FLOAT32", 4, orderedBits, orderedFloats),
		floatOf("ORDERED FLOAT64", 8, orderedBits, orderedFloats),
		countedOf("COUNT8 TEXT", 1, countedTexts),
		countedOf("COUNT16 TEXT", 2, countedTexts),
		countedOf("COUNT32 TEXT", 4, countedTexts),
		countedOf("VINT TEXT", 0, "behind their length, a VINT, as Hadoop's Text and `Bytes.writeByteArray` write it. No order"),
		{Name: "VINT", Doc: "1 to 9 bytes, as Hadoop's `WritableUtils.writeVLong` writes it; any part may follow. No order", Types: numbers,
			Make: func(t types.Type, _ []types.Value) (Encoding, error) {
				return vint{&traits{t, "VINT", Variable, Unordered}}, nil
			}},
		{Name: "UUID", Doc: "the 16 bytes of `017f22e2-79b0-7cc3-98c4-dc0c0c07398f`. Order: of UUIDs, not of texts", Types: []types.Type{types.UUID, types.String},
			Make: func(t types.Type, _ []types.Value) (Encoding, error) { return newUUID(t), nil }},
		{Name: jsonName, Doc: "an array as JSON text, as arrays are stored by themselves", Types: arrays, of: newJSONArray},
		{Name: countedArrayName, Signature: countedArrayName + "('encoding')", Doc: "an array: the number of elements in 4 bytes, then each behind its length in 4 bytes, all ones for NULL", Types: arrays, Args: AnyArgs, of: newCountedArray},
		{Name: "BIGDECIMAL", Doc: "scale and unscaled number, as `Bytes.toBytes(BigDecimal)` writes them. No order", Types: []types.Type{types.Decimal}, Make: always(bigDecimal{&traits{types.Decimal, "BIGDECIMAL", Variable, Unordered}})},
		{Name: "BYTES", Doc: "as they are", Types: texts, Make: func(t types.Type, _ []types.Value) (Encoding, error) { return newText(t), nil }},
		{Name: "BYTES", Signature: "BYTES(n)", Doc: "as they are, n bytes exactly", Types: texts, Args: WidthArg, Make: makeRaw},
		{Name: "TEXT", Signature: "TEXT(n)", Doc: "as they are, n bytes exactly", Types: []types.Type{types.Bytes}, Args: WidthArg, Make: makeRaw},
		{Name: "BOOLEAN", Doc: "0x00 or 0xff", Types: []types.Type{types.Boolean}, Make: always(newBoolean("BOOLEAN", 0xff))},
		floatOf("PHOENIX DOUBLE", 8, phoenixBits, asPhoenix),
		floatOf("PHOENIX FLOAT", 4, phoenixBits, asPhoenix),
		{Name: "PHOENIX BOOLEAN", Doc: asPhoenix, Types: []types.Type{types.Boolean}, Phoenix: true, Make: always(newBoolean("PHOENIX BOOLEAN", 1))},
		{Name: "PHOENIX DECIMAL", Doc: "as Phoenix writes them: at most 38 digits, equal numbers alike; `X'00'` ends it", Types: []types.Type{types.Decimal}, Phoenix: true, Make: always(phoenixDecimal{&traits{types.Decimal, "PHOENIX DECIMAL", Variable, Lexical}})},
		momentOf("PHOENIX TIMESTAMP", ordered),
		momentOf("PHOENIX UNSIGNED TIMESTAMP", unsigned),
		{Name: elementName, Signature: elementName + "(n, 'encoding')", Doc: "the n-th value, from 1, in a cell that holds all columns of a family, as immutable tables of Phoenix have it; read only", Args: AnyArgs, Phoenix: true, of: newElement},
		{Name: arrayName, Signature: arrayName + "('encoding')", Doc: "an ARRAY of Phoenix's, with the encoding of its elements; read only", Types: arrays, Args: AnyArgs, Phoenix: true, of: newArray},
		{Name: "OPENTSDB_VALUE", Doc: "as OpenTSDB writes it, for cells under `OPENTSDB_QUALIFIER`", Types: []types.Type{types.Double}, Make: always(openTSDBValue{&traits{types.Double, "OPENTSDB_VALUE", Variable, Unordered}})},
		{Name: invertedName, Signature: "INVERTED encoding", Doc: "the bytes of any of the others, all bits inverted: greater values first, as of Phoenix's columns that are DESC. `X'FF'` behind `INVERTED TEXT` keeps the order",
			Make: func(types.Type, []types.Value) (Encoding, error) {
				return nil, errors.New("INVERTED needs an encoding after it: INVERTED TEXT")
			}},
		{Name: nullableName, Signature: "NULLABLE encoding", Doc: "NULL is no bytes. In a cell: an empty one is NULL. In a ROW KEY: the column may be NULL; an encoding without a width is ended by the end of the key or `X'00'`, or, INVERTED, `X'FF'`, which is `X'00'` behind a NULL; at the end of a key NULLs are left away, with the `X'00'` in front of them, as Phoenix does; one with a width is at the end of the key, where all later parts are NULLABLE, too, and NULL if it is",
			Make: func(types.Type, []types.Value) (Encoding, error) {
				return nil, errors.New("NULLABLE needs an encoding after it: NULLABLE TEXT")
			}},
		{Name: defaultName, Signature: defaultName + "(value, 'encoding')", Doc: "of a cell: the value where it is not there, NULL where it is empty", Args: AnyArgs, of: newDefault},
	})

const (
	otherBases    = "n digits to base 16, 36 or 32, zeros in front; CROCKFORD is that of ULIDs: `ts AS CROCKFORD(10)`"
	orderedFloats = "IEEE 754, the sign bit flipped, all bits of negative numbers"
	countedTexts  = "behind their length, unsigned and big-endian in 1, 2 or 4 bytes; any part may follow. No order"
	asPhoenix     = "as Phoenix writes them"
)

// always returns a Make that ignores its arguments.
func always(e Encoding) func(types.Type, []types.Value) (Encoding, error) {
	return func(types.Type, []types.Value) (Encoding, error) { return e, nil }
}

func makePadded(name string, filler byte) func(types.Type, []types.Value) (Encoding, error) {
	return func(t types.Type, args []types.Value) (Encoding, error) {
		return padded{&traits{t, name + written(args), int(args[0].Int()), Padded}, filler}, nil
	}
}

func makeRaw(t types.Type, args []types.Value) (Encoding, error) {
	return newRaw(t, int(args[0].Int())), nil
}

func digitsOf(name, alphabet, doc string, reversed bool) EncodingType {
	order := Ascending
	if reversed {
		order = Unordered
	}
	return EncodingType{Name: name, Signature: name + "(n)", Doc: doc, Types: numbers, Args: WidthArg, Make: func(t types.Type, args []types.Value) (Encoding, error) {
		return digits{&traits{t, name + written(args), int(args[0].Int()), order}, alphabet, reversed}, nil
	}}
}

// integersOf returns the encodings of integers of one kind, with 1 to 8 bytes.
func integersOf(name string, kind integerKind, doc string) []EncodingType {
	var out []EncodingType
	for n := 1; n <= 8; n++ {
		name := fmt.Sprint(name, 8*n)
		out = append(out, EncodingType{Name: name, Doc: doc, Types: counts, Make: func(t types.Type, _ []types.Value) (Encoding, error) {
			return newInteger(name, t, n, kind), nil
		}})
	}
	return out
}

func floatOf(name string, bytes int, form floatForm, doc string) EncodingType {
	return EncodingType{Name: name, Doc: doc, Types: floats, Phoenix: form == phoenixBits, Make: func(t types.Type, _ []types.Value) (Encoding, error) {
		return newFloat(name, t, bytes, form), nil
	}}
}

func momentOf(name string, kind integerKind) EncodingType {
	return EncodingType{Name: name, Doc: "8 bytes of milliseconds since 1970 and 4 of nanoseconds, as Phoenix writes them; of a DECIMAL: seconds since 1970 with nine decimals", Types: []types.Type{types.Timestamp, types.Decimal}, Phoenix: true,
		Make: func(t types.Type, _ []types.Value) (Encoding, error) {
			of := types.Timestamp
			if t == types.Decimal {
				of = types.BigInt
			}
			millis := newInteger(name, of, 8, kind)
			return moment96{&traits{t, name, 12, millis.order}, millis}, nil
		}}
}

func countedOf(name string, length int, doc string) EncodingType {
	return EncodingType{Name: name, Doc: doc, Types: texts, Make: func(t types.Type, _ []types.Value) (Encoding, error) {
		return counted{&traits{t, name, Variable, Unordered}, length}, nil
	}}
}

// byName returns the built-in encodings by name.
var byName = sync.OnceValue(func() map[string][]*EncodingType {
	m := map[string][]*EncodingType{}
	for i := range builtins {
		e := &builtins[i]
		m[e.Name] = append(m[e.Name], e)
	}
	return m
})

// RegisterEncoding adds an encoding under a new name. Call it before tables use the encoding.
func (c *Catalog) RegisterEncoding(e EncodingType) error {
	e.Name = strings.ToUpper(e.Name)
	if e.Name == "" || e.Make == nil {
		return fmt.Errorf("encoding %q needs Name and Make", e.Name)
	}
	if len(c.encodings(e.Name)) > 0 {
		return fmt.Errorf("encoding %s already exists", e.Name)
	}
	c.encs = append(c.encs, &e)
	return nil
}

// Encodings lists the built-in and the registered encodings.
func (c *Catalog) Encodings() []*EncodingType {
	var out []*EncodingType
	for i := range builtins {
		out = append(out, &builtins[i])
	}
	return append(out, c.encs...)
}

// encodings returns the encodings called name.
func (c *Catalog) encodings(name string) []*EncodingType {
	for _, e := range c.encs {
		if e.Name == name {
			return []*EncodingType{e}
		}
	}
	return byName()[name]
}

// phoenix reports whether def names an encoding of Phoenix.
func (c *Catalog) phoenix(def *parser.EncodingDef) bool {
	if def == nil {
		return false
	}
	def, _ = withoutNullable(def)
	name, _ := uprightName(def.Name)
	return slices.ContainsFunc(c.encodings(name), func(e *EncodingType) bool {
		if e.Phoenix || e.of == nil || len(def.Args) != 2 {
			return e.Phoenix
		}
		l, ok := def.Args[1].(*parser.Literal)
		if !ok {
			return false
		}
		of, err := encodingNamed(l.Text)
		return err == nil && c.phoenix(of)
	})
}

// nullableName is the word that, written before an encoding, makes a part of a key NULLABLE.
const nullableName = "NULLABLE"

// withoutNullable returns def without the word NULLABLE, and whether def had it.
func withoutNullable(def *parser.EncodingDef) (of *parser.EncodingDef, nullable bool) {
	if def == nil {
		return nil, false
	}
	name, ok := strings.CutPrefix(def.Name, nullableName+" ")
	if !ok {
		return def, false
	}
	d := *def
	d.Name = name
	return &d, true
}

// uprightName removes the word INVERTED from the start of an encoding's name, and reports whether the name had it.
func uprightName(name string) (of string, turned bool) {
	return strings.CutPrefix(name, invertedName+" ")
}

// named makes the encoding called name for values of type t.
func (c *Catalog) named(name string, t types.Type, args []types.Value) (Encoding, error) {
	if of, ok := strings.CutPrefix(name, nullableName+" "); ok {
		enc, err := c.named(of, t, args)
		if err != nil {
			return nil, err
		}
		return nullableCell(enc)
	}
	if of, turned := uprightName(name); turned {
		enc, err := c.named(of, t, args)
		if err != nil {
			return nil, err
		}
		return invert(enc)
	}
	all := c.encodings(name)
	if all == nil {
		return nil, fmt.Errorf("unknown encoding %s", name)
	}
	if of := all[0].of; of != nil {
		return of(t, args, c.encodingOf)
	}
	var wrong error // about arguments; nil if some encoding accepts them
	for _, e := range all {
		if wrong = e.check(args); wrong == nil {
			break
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	for _, e := range all {
		if e.check(args) == nil && (e.Types == nil || slices.Contains(e.Types, t)) {
			return e.Make(t, args)
		}
	}
	return nil, fmt.Errorf("%s cannot be stored AS %s%s", t, name, written(args))
}

// written returns args as SQL in parentheses, as they follow an encoding's name, or "" without args.
func written(args []types.Value) string {
	var out []string
	for _, a := range args {
		out = append(out, a.SQL())
	}
	if out == nil {
		return ""
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// check refuses arguments that e does not take.
func (e *EncodingType) check(args []types.Value) error {
	switch one := len(args) == 1; e.Args {
	case NoArgs:
		if len(args) > 0 {
			return fmt.Errorf("%s takes no argument", e.Name)
		}
	case WidthArg:
		if !one || !args[0].Type().IsInteger() || args[0].Int() < 1 || args[0].Int() > MaxKeyLength {
			return fmt.Errorf("%s takes a width from 1 to %d", e.Name, MaxKeyLength)
		}
	case PatternArg:
		if !one || !args[0].Type().IsText() {
			return fmt.Errorf("%s takes a text", e.Name)
		}
	}
	return nil
}

// Usage returns how the encoding is written: its signature or name.
func (e *EncodingType) Usage() string { return cmp.Or(e.Signature, e.Name) }
