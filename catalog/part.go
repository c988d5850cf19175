package catalog

import (
	"bytes"
	"fmt"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// A Part is one part of a Composite: a literal, or an expression over the table's columns with an encoding.
//
// The planner has no list of layouts. It asks each part the questions that have methods here. A part derives its
// answers from its functions (expr.Algebra), its encoding and the next part of the pattern.
type Part struct {
	// Literal is set for a literal part, whose other fields except Def are empty.
	Literal  []byte
	Expr     expr.Expr // over the table's columns: expr.Column.Index is Column.Index
	Encoding Encoding
	Columns  []int // the columns that Expr reads, ascending
	Def      parser.PartDef
	Source   string // as written: "uid AS TEXT(6)"

	nullable            bool      // see Nullable
	tail                int       // see FixedTail
	scales              bool      // see ManyScales
	ends                delimited // the encoding if its bytes show their own end; or nil
	end                 *Part     // the literal that ends a part of varying width; or nil
	needsCanonicalCheck bool      // see Respeller
	fromRest            func(rest []byte) (types.Value, error)
	draw                func(*expr.Env) (types.Value, error)
	domain              types.Set // of a part without columns
	every               types.Set // see Domain; nil: not known
	slope               int       // see Monotone
	injective           bool      // see Injective
	inverse             *solve.Inverse
	lookup              bool // see UsesLookup
}

// Column returns the column of a part that is a plain column.
//
//	uid AS TEXT(6)      uid
//	LEFT(uid, 3)        none: the part is made from uid
func (p *Part) Column() (col int, ok bool) {
	c, ok := p.Expr.(*expr.Column)
	if !ok {
		return -1, false
	}
	return c.Index, true
}

// Compute returns the part's value in the rows whose columns have the values that bound returns, or NULL if it cannot
// be computed: then no such row was ever stored. ok is false if a column that it needs is not bound, or if no column
// determines it. lookup answers LOOKUP.
//
//	CRC32(uid) % 8, uid = 'a7'      the bucket of a7
//	a || b, a = 'x'                 not ok: b is not bound
//	SALT('a', 'b')                  not ok: no column determines it
func (p *Part) Compute(bound func(col int) (types.Value, bool), lookup expr.LookupFunc) (v types.Value, ok bool) {
	if col, ok := p.Column(); ok {
		return bound(col)
	}
	if len(p.Columns) == 0 {
		return types.Value{}, false
	}
	for _, col := range p.Columns {
		if _, ok := bound(col); !ok {
			return types.Value{}, false
		}
	}
	row := make([]types.Value, p.Columns[len(p.Columns)-1]+1)
	for _, col := range p.Columns {
		row[col], _ = bound(col)
	}
	v, err := p.Expr.Eval(&expr.Env{Row: row, Lookup: lookup})
	if err != nil {
		return types.Value{}, true
	}
	return v, true
}

// Drawn reports whether the part's value is drawn at random for each new row, so that nothing can compute it again.
//
//	SALT('a', 'b')      true
//	PHOENIX_SALT(8)     false: it follows from the key
func (p *Part) Drawn() bool { return p.draw != nil }

// IsFromRest reports whether the part is computed from the bytes of the key after it, not from a column.
//
//	PHOENIX_SALT(8)     true
//	CRC32(uid) % 8      false: it follows from a column
func (p *Part) IsFromRest() bool { return p.fromRest != nil }

// FromRest returns the value of a part with IsFromRest for the bytes after it. An error means that no key has these
// bytes there.
//
//	PHOENIX_SALT(8), all of the bytes behind it      the salt
func (p *Part) FromRest(rest []byte) (types.Value, error) { return p.fromRest(rest) }

// RestLength is the greatest number of bytes after the part that FromRest reads; ok is false if it reads all of them.
//
//	PINPOINT_SALT(64, 0, 8)     8
//	PHOENIX_SALT(8)             not ok
func (p *Part) RestLength() (n int, ok bool) { return expr.RestLength(p.Expr) }

// UsesLookup reports whether the part holds numbers that a dictionary assigns to names.
//
//	LOOKUP(hosts.id, host)     true
func (p *Part) UsesLookup() bool { return p.lookup }

// column returns the only column of p, or -1 if it has none or several.
func (p *Part) column() int {
	if len(p.Columns) != 1 {
		return -1
	}
	return p.Columns[0]
}

// Image returns the values of the part for the values of its only column in in. The result may be too large, never too
// small.
//
//	DATE(ts), ts in [noon of May 1, noon of May 3]     May 1 to May 3
//	LEFT(uid, 2), uid = 'a77'                          'a7'
//	MD5(uid), uid > 'a'                                not ok
func (p *Part) Image(in types.Set) (types.Set, bool) {
	return solve.Image(p.Expr, p.column(), in, p.stored())
}

// Box returns the values of a part of several columns for the values of these columns that in returns. The result may be
// too large, never too small.
//
//	ZORDER(x, y, 8), x in [0, 1], y in [2, 3]     8 to 11
//	CRC32(x + y), x in [0, 1]                     not ok
func (p *Part) Box(in func(col int) types.Set) (types.Set, bool) { return solve.Box(p.Expr, in) }

// Preimage returns the values in within of the part's only column for which the part is in out: it inverts the part.
// The result may be too large, never too small.
//
//	9223372036854775807 - ts, out = 9223372036854775800     ts = 7
//	LEFT(uid, 2), out = 'a7'                                ['a7', 'a8')
//	CRC32(uid) % 8, out = 3, within = {'x', 'y'}            those of x and y that are in bucket 3, or not ok
func (p *Part) Preimage(out, within types.Set) (types.Set, bool) {
	if p.inverse != nil && within.IsAll() {
		return p.inverse.Of(out)
	}
	return solve.Preimage(p.Expr, p.column(), out, within)
}

// Injective reports whether different values of the part's only column give different values of the part.
//
//	REVERSE(domain)     true
//	ts % 16             false
func (p *Part) Injective() bool { return p.injective }

// Monotone is +1 if the part never falls as its only column grows, -1 if it never rises, 0 if neither is proven.
//
//	DATE(ts)                      +1
//	9223372036854775807 - ts      -1
//	REVERSE(domain)               0
func (p *Part) Monotone() int { return p.slope }

// Order says how the order of the part's bytes relates to the order of its values.
//
//	n AS ORDERED INT64     Ascending
//	n AS INT64             TwosComplement: negative numbers sort after the others
//	n AS TEXT              Unordered: '10' sorts before '9'
//
// For an INVERTED encoding it is the order of the bytes that the encoding inverts: see Rises.
func (p *Part) Order() Order { return p.Encoding.Order() &^ Inverted }

// Rises is Monotone for the part's bytes, as far as Order applies: reversed if they are inverted.
//
//	n AS ORDERED INT64               +1
//	n AS INVERTED ORDERED INT64      -1
//	-n AS INVERTED ORDERED INT64     +1
func (p *Part) Rises() int {
	if p.inverted() {
		return -p.Monotone()
	}
	return p.Monotone()
}

func (p *Part) inverted() bool { return isInverted(p.Encoding) }

// Negatives are the least bytes of a negative value, for a part with the Order TwosComplement whose bytes are not
// inverted.
//
//	n AS INT16     0x80 0x00
func (p *Part) Negatives() []byte {
	b := make([]byte, p.Encoding.Width())
	b[0] = 0x80
	return b
}

// InOrder returns the range of bytes that contains b and in which the values of the part rise or fall with the bytes. b
// are the bytes of a key from the part on. With the Order TwosComplement there are two ranges, the second for negative
// values; otherwise the range is unbounded.
//
//	n AS INT16, b = 0x00 0x07     up to 0x80
//	n AS INT16, b = 0xff 0xf9     from 0x80 on
//	uid AS TEXT, b = 'a7'         all
func (p *Part) InOrder(b []byte) ByteRange {
	if p.Order() != TwosComplement {
		return ByteRange{}
	}
	negative := p.Negatives()[:1] // a shorter, malformed one is on its side too
	if bytes.Compare(b, negative) < 0 {
		return ByteRange{Hi: negative}
	}
	return ByteRange{Lo: negative}
}

// PrefixFirst reports whether keys with a value sort before the keys with all longer values that begin with it, so that
// keys sort like the values. If the bytes are inverted, they must sort after them instead.
//
//	uid AS TEXT, X'00', ...      true: nothing is less than the delimiter
//	uid AS TEXT, '|', ...        false: 'a|' sorts after 'aX|'
//	uid AS TEXT at the end       true
//	uid AS INVERTED TEXT, X'FF'  true
func (p *Part) PrefixFirst() bool {
	f := p.follow()
	if p.inverted() {
		f = f.inverted()
	}
	return f.end() || f.zero()
}

// KnowsEnds reports whether texts of the part's only column that end alike give values of the part that begin alike.
//
//	REVERSE(domain)     true: domain LIKE '%.org' is a range of it
//	LEFT(uid, 3)        false
func (p *Part) KnowsEnds() bool {
	_, ok := solve.LikeImage(p.Expr, &expr.Column{Index: p.column(), Typ: types.String}, ending)
	return ok && p.Encoding.Order() != Unordered
}

// ending is a LIKE pattern for texts with a given end, with which KnowsEnds tries the part.
var ending, _ = expr.ParsePattern("%.x", "")

// Domain returns all values that the part can have in any row.
//
//	SALT('a', 'b')        'a' and 'b'
//	CRC32(uid) % 8        0 to 7
//	uid                   not ok
//	CHR(65 + n % 26)      'A' to 'Z', and some more
//	MD5(uid) AS BYTES(1)  any byte
func (p *Part) Domain() (types.Set, bool) { return p.every, p.every != nil }

// stored describes the bytes that the part can hold.
func (p *Part) stored() (s solve.Stored) {
	switch p.Expr.Type() {
	case types.String, types.Bytes:
		s.Width = max(p.Encoding.Width(), 0)
	default:
		if p.Order() != Unordered && p.Order() != Lexical {
			if iv, some := p.Encoding.Clip(types.Interval{}); some {
				s.In = iv
			}
		}
	}
	return s
}

// know computes, once, what Domain, Monotone and Injective return.
func (p *Part) know() {
	if len(p.Columns) == 1 {
		p.slope, _ = solve.Monotone(p.Expr, p.Columns[0], p.stored())
		p.injective = solve.Injective(p.Expr, p.Columns[0], p.stored())
		p.inverse = solve.NewInverse(p.Expr, p.Columns[0])
	}
	var ok bool
	if p.every, ok = solve.Domain(p.Expr); ok {
		return
	}
	p.every = nil
	if _, column := p.Column(); column || p.Encoding.Width() != 1 {
		return
	}
	var vs []types.Value // one byte has few, whatever computes it
	for b := range 256 {
		if v, err := p.Encoding.Decode([]byte{byte(b)}); err == nil {
			vs = append(vs, v)
		}
	}
	p.every = types.Points(vs...)
}

// Storable narrows the intervals of s, except points, to bounds that can be stored in the part. ok is false if the
// part's encoding does not have the Order for it.
//
//	day AS TEXT('yyyyMMdd'), day <= 2024-05-01     [0000-01-01, 2024-05-01]
func (p *Part) Storable(s types.Set) (types.Set, bool) {
	ivs := make([]types.Interval, 0, len(s))
	for _, iv := range s {
		if !iv.IsPoint() {
			if o := p.Order(); o == Terminated || o == Unordered || o == Lexical {
				return nil, false
			}
			var some bool
			if iv, some = p.Encoding.Clip(iv); !some {
				continue
			}
		}
		ivs = append(ivs, iv)
	}
	return types.SetOf(ivs...), true
}

// Values lists the values in set that the part can have while the value of its only column is in column. ok is false if
// there are more than limit.
//
//	DATE_TRUNC('month', ts) AS TEXT('yyyyMM'), ts in 2024      the first days of 12 months
//	DATE_BIN('5 minutes', ts) AS INT64, ts in an hour          12 moments
func (p *Part) Values(set, column types.Set, limit int) ([]types.Value, bool) {
	if p.scales {
		return nil, false
	}
	set, ok := p.Storable(set)
	if !ok {
		if _, same := p.Column(); same || !p.Injective() {
			return nil, false
		}
		return solve.Bins(p.Expr, p.column(), column, limit) // of integers, where the part has a value for each
	}
	lister, ok := upright(p.Encoding).(Lister)
	if !ok {
		vals, few := set.Values(limit)
		if !few && len(p.Columns) == 1 {
			return solve.Bins(p.Expr, p.Columns[0], column, limit)
		}
		return vals, few
	}
	var vals []types.Value
	for _, iv := range set {
		if iv.Lo.IsNull() || iv.Hi.IsNull() {
			return nil, false
		}
		some, ok := lister.List(iv, limit-len(vals))
		if !ok {
			return nil, false
		}
		vals = append(vals, some...)
	}
	return vals, true
}

// Steps divides the values in of column col into steps within which the part has one value. It returns nil if there are
// more than limit.
//
//	LEFT(MD5((id / 1000)::STRING), 4), id in 1000 to 3999     [1000 - 1999], [2000 - 2999] and [3000 - 3999]
func (p *Part) Steps(col int, in types.Set, limit int) []solve.Step {
	return solve.Coarser(p.Expr, col, in, limit)
}

// Width is the number of bytes of the part in every key, or Variable.
//
//	'|'                    1
//	uid AS TEXT(6)         6
//	uid AS TEXT            Variable
//	n AS NULLABLE INT64    Variable
func (p *Part) Width() int {
	switch {
	case p.Literal != nil:
		return len(p.Literal)
	case p.nullable:
		return Variable
	}
	return p.Encoding.Width()
}

// FixedTail is, for a part of varying width without a delimiter, the fixed number of bytes after it: the end of the key
// thus determines the part's end. It is 0 for all other parts.
//
//	uid AS TEXT in (uid AS TEXT, ts AS INT64)     8
func (p *Part) FixedTail() int { return p.tail }

// Nullable reports whether the part may hold NULL, which has no bytes: see nullableName.
//
//	uid AS NULLABLE TEXT     true
func (p *Part) Nullable() bool { return p.nullable }

// EndsKey reports whether a key whose part is NULL ends there, since all later parts are NULL, too.
//
//	n AS NULLABLE INT64     true
func (p *Part) EndsKey() bool { return p.nullable && p.Encoding.Width() != Variable }

// fixedLength finds the end of a part that has this many bytes in each key that does not end before it.
type fixedLength int

func (n fixedLength) Length(rest []byte) (int, error) {
	if len(rest) < int(n) {
		return 0, errWidth
	}
	return int(n), nil
}

// Ends returns the literal whose first occurrence ends a part of varying width, or nil.
//
//	uid AS TEXT in (uid AS TEXT, X'00', ts AS INT64)     X'00'
func (p *Part) Ends() *Part { return p.end }

// ManyScales reports whether the part is made of a DECIMAL and has different bytes for the equal values 1.5 and 1.50: a
// value does not determine the bytes to search for.
//
//	price AS BIGDECIMAL     true
func (p *Part) ManyScales() bool { return p.scales }

// NoBlankEnd reports whether no value of the part ends with a space, because spaces pad it to the part's width.
//
//	uid AS TEXT(6)     true
//	uid AS TEXT        false
func (p *Part) NoBlankEnd() bool {
	e, ok := upright(p.Encoding).(padded)
	return ok && e.filler == ' '
}

// Append appends the bytes of v in the part. The error says why no key can have them.
//
//	uid AS TEXT(6), 'a7'                     'a7    '
//	uid AS TEXT, 'a|7' before a literal '|'  an error
func (p *Part) Append(dst []byte, v types.Value) ([]byte, error) {
	at := len(dst)
	dst, err := p.Encoding.Append(dst, v.OneZero())
	if err == nil && p.end != nil && endsEarly(dst[at:], p.end.Literal) {
		if bytes.Contains(dst[at:], p.end.Literal) {
			return dst, fmt.Errorf("%s contains the delimiter %s", v.SQL(), p.end.Source)
		}
		return dst, fmt.Errorf("%s cannot be stored before the delimiter %s: together they contain the delimiter earlier", v.SQL(), p.end.Source)
	}
	if err == nil && p.nullable && (len(dst) == at || p.end != nil && dst[at] == 0) {
		return dst, fmt.Errorf("%s would be read back as NULL", v.SQL())
	}
	return dst, err
}

// Decode returns the value of the part for the bytes b; it is the inverse of Append.
//
//	uid AS TEXT(6), 'a7    '     'a7'
func (p *Part) Decode(b []byte) (types.Value, error) { return p.Encoding.Decode(b) }

// Ranges appends the ranges of bytes of the part for the values in iv. exact reports whether the bytes of a stored
// value are in the ranges only if the value is in iv. ok is false if the order of the bytes does not help to find iv.
//
//	n AS INT64, n in [-2, 5]        [0, 6) and [-2, end): two ranges
//	uid AS TEXT(3), uid >= 'a7'     ['a7', end)
//	n AS TEXT, n > 5                not ok
func (p *Part) Ranges(dst []ByteRange, iv types.Interval) (out []ByteRange, exact, ok bool) {
	switch {
	case iv.IsPoint():
		return appendPoint(dst, p.Append, iv.Lo), true, true
	case p.nullable:
		out, exact, ok = appendRanges(nil, p.Encoding, iv, p.follow())
		return append(dst, p.withoutNull(out)...), exact, ok
	}
	return appendRanges(dst, p.Encoding, iv, p.follow())
}

// withoutNull cuts the bytes that mean NULL from rs: a NULL has no bytes, and 0x00 or the end of the key follows it.
func (p *Part) withoutNull(rs []ByteRange) []ByteRange {
	least := []byte{0}
	if p.end != nil {
		least[0] = 1
	}
	n := 0
	for _, r := range rs {
		if !r.Point && bytes.Compare(r.Lo, least) < 0 {
			r.Lo = least
		}
		if r.Point && len(r.Lo) == 0 || r.Hi != nil && bytes.Compare(r.Lo, r.Hi) >= 0 {
			continue
		}
		rs[n] = r
		n++
	}
	return rs[:n]
}

// Delimiter returns the bytes of p, the literal after a part. After a NULL they are 0x00, which sorts before all
// values.
//
//	'|' in (uid AS NULLABLE TEXT, '|', ...)     '|', and 0x00 where uid is NULL
func (p *Part) Delimiter(null bool) []byte {
	if null {
		return []byte{0}
	}
	return p.Literal
}

// follow describes the bytes after the part.
func (p *Part) follow() follow {
	f := follow{any: p.tail > 0}
	if p.end != nil {
		f.literal = p.end.Literal
	}
	return f
}

// endsEarly reports whether delimiter first occurs in b+delimiter before the end of b: :: does in "a:" + "::". A reader
// would then take only the bytes before that first occurrence for the value.
func endsEarly(b, delimiter []byte) bool {
	for n := 1; n < len(delimiter); n++ { // bytes of it at the end of b
		if bytes.HasSuffix(b, delimiter[:n]) && bytes.HasPrefix(delimiter, delimiter[n:]) {
			return true
		}
	}
	return bytes.Contains(b, delimiter)
}
