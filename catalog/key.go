package catalog

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// KeyError says why a row cannot be stored: a value does not fit a part of the key.
type KeyError struct {
	Part   string // as written
	Column string // "" if the part reads no column or several
	Msg    string
	Null   bool // the part must not be NULL
}

func (e *KeyError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("key part %s: %s", e.Part, e.Msg)
	}
	return fmt.Sprintf("column %s in key part %s: %s", e.Column, e.Part, e.Msg)
}

// MalformedError says why stored bytes do not fit a layout.
type MalformedError struct{ Part, Msg string }

func (e *MalformedError) Error() string { return e.Part + ": " + e.Msg }

func (p *Part) refuse(t *Table, format string, args ...any) *KeyError {
	e := &KeyError{Part: p.Source, Msg: fmt.Sprintf(format, args...)}
	if len(p.Columns) == 1 && t != nil {
		e.Column = t.Columns[p.Columns[0]].Name
	}
	return e
}

// Drawn returns the first part whose value is drawn at random for each new row, or nil. A table with several layouts
// has none.
func (p *Composite) Drawn() *Part {
	for _, part := range p.Parts {
		if part.Drawn() {
			return part
		}
	}
	return nil
}

// Sources returns the parts of p as the definition spells them.
func (p *Composite) Sources() []string {
	out := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		out[i] = part.Source
	}
	return out
}

// IsLiteral reports whether all parts of p are literals, as in most tables' names.
func (p *Composite) IsLiteral() bool {
	return !slices.ContainsFunc(p.Parts, func(part *Part) bool { return part.Literal == nil })
}

// Prefix returns the bytes with which p begins in every row: its literals before the first computed part. whole reports
// whether p has no other parts.
//
//	STORED IN 'events'                             events, whole
//	STORED IN ('tx_', day AS TEXT('yyyyMMdd'))     tx_
func (p *Composite) Prefix() (prefix string, whole bool) {
	for _, part := range p.Parts {
		if part.Literal == nil {
			return prefix, false
		}
		prefix += string(part.Literal)
	}
	return prefix, true
}

// Fits reports whether src can be split into the parts of p.
//
//	STORED IN ('tx_', day AS TEXT('yyyyMMdd')), 'tx_20120901'     true
//	the same, 'tx_archive'                                        false
func (p *Composite) Fits(src string) bool {
	_, err := p.Fields([]byte(src))
	return err == nil
}

// Append appends the bytes of row. It draws the values of parts that no column determines (SALT) with env.Rand. Parts
// are computed in UTC, as in plans and readers, so that rows written in one time zone are found in every other. An
// error is a *KeyError.
func (p *Composite) Append(dst []byte, row []types.Value, env *expr.Env) ([]byte, error) {
	e := *env
	e.Row, e.Loc = p.canonical(row), nil
	start := len(dst)
	type pending struct {
		part *Part
		at   int
	}
	var later []pending // parts computed from the bytes after them
	null := false       // the previous part is NULL
	var last *Part      // a part that is NULL and ends the key
	end := start        // end of the last part that is not NULL
	for i, part := range p.Parts {
		if part.Literal != nil {
			dst = append(dst, part.Delimiter(null)...)
			if !p.MayLack(i) || part.Literal[0] != 0 && !null {
				end = len(dst)
			}
			null = false
			continue
		}
		if part.fromRest != nil {
			later = append(later, pending{part, len(dst)})
			dst = append(dst, make([]byte, part.Width())...)
			end = len(dst)
			continue
		}
		var v types.Value
		var err error
		if part.draw != nil {
			v, err = part.draw(&e)
		} else {
			v, err = part.Expr.Eval(&e)
		}
		if err != nil {
			return dst, part.refuse(p.table, "%v", err)
		}
		if null = v.IsNull(); null {
			if !part.nullable {
				e := part.refuse(p.table, "it must not be NULL")
				e.Null = true
				return dst, e
			}
			if part.EndsKey() && last == nil {
				last = part
			}
			continue
		}
		if last != nil {
			return dst, last.refuse(p.table, "it must not be NULL if %s is not", part.Source)
		}
		if dst, err = part.Append(dst, v); err != nil {
			return dst, part.refuse(p.table, "%v", err)
		}
		end = len(dst)
	}
	dst = dst[:end]
	for i := len(later) - 1; i >= 0; i-- {
		l := later[i]
		w := l.part.Width()
		v, err := l.part.fromRest(dst[l.at+w:])
		if err != nil {
			return dst, l.part.refuse(p.table, "%v", err)
		}
		b, err := l.part.Encoding.Append(nil, v)
		if err != nil {
			return dst, l.part.refuse(p.table, "%v", err)
		}
		copy(dst[l.at:], b)
	}
	if n := len(dst) - start; n > MaxKeyLength {
		return dst, &KeyError{Part: p.Parts[len(p.Parts)-1].Source, Msg: fmt.Sprintf("the key would have %d bytes, more than HBase's %d", n, MaxKeyLength)}
	}
	return dst, nil
}

// canonical returns row with Column.Canonical applied to each value in p, so that equal values have equal bytes.
func (p *Composite) canonical(row []types.Value) []types.Value {
	copied := false
	for _, part := range p.Parts {
		for _, col := range part.Columns {
			if v := p.table.Columns[col].Canonical(row[col]); v != row[col] {
				if !copied {
					row, copied = slices.Clone(row), true
				}
				row[col] = v
			}
		}
	}
	return row
}

// maxParts is the greatest number of parts of a pattern.
const maxParts = 32

// length returns the length in bytes of part i, which begins rest. whole reports whether rest reaches the end of the
// key. If it does not, length returns an error for a part that only the end of the key ends.
func (p *Composite) length(i int, rest []byte, whole bool) (int, error) {
	part := p.Parts[i]
	if part.nullable && (len(rest) == 0 && whole || part.end != nil && len(rest) > 0 && rest[0] == 0) {
		return 0, nil
	}
	if part.ends != nil {
		n, err := part.ends.Length(rest)
		if err != nil {
			return 0, &MalformedError{part.Source, err.Error()}
		}
		return n, nil
	}
	n := part.Width()
	switch {
	case !whole && n == Variable && (i+1 == len(p.Parts) || part.tail > 0):
		return 0, &MalformedError{part.Source, "it ends only with the key, which continues"}
	case n == Variable && i+1 == len(p.Parts):
		n = len(rest)
	case part.tail > 0:
		if n = len(rest) - part.tail; n < 0 {
			return 0, &MalformedError{part.Source, "the key is too short"}
		}
	case n == Variable:
		if n = bytes.Index(rest, p.Parts[i+1].Literal); n < 0 && whole && p.MayLack(i+1) && !part.inverted() {
			return len(rest), nil
		}
		if n < 0 {
			return 0, &MalformedError{part.Source, "the delimiter after it is missing"}
		}
	case n > len(rest) && len(rest) == 0 && whole && p.MayLack(i):
		return 0, nil
	case n > len(rest):
		return 0, &MalformedError{part.Source, "the key is too short"}
	}
	return n, nil
}

// ended reports whether src ends at offset at, before part i, because part i and all later parts are NULL. Its error
// says that src ends with a delimiter, which hql omits too.
func (p *Composite) ended(src []byte, at, i int) (bool, error) {
	if at < len(src) || !p.MayLack(i) {
		return false, nil
	}
	if i > 0 && p.Parts[i].nullable && p.MayLack(i-1) && p.Parts[i-1].Literal != nil && at > 0 && src[at-1] == 0 {
		return false, &MalformedError{p.Parts[i].Source, "a delimiter precedes the omitted NULLs at the end"}
	}
	return true, nil
}

// Field is one part of a pattern in stored bytes.
type Field struct {
	Part   *Part
	Offset int         // in bytes
	Bytes  []byte      // of src, not a copy
	Value  types.Value // NULL for a literal
}

// Fields splits src into the parts of p, for display: unlike DecodeRow, it does not check that the parts agree with
// each other. At bytes that do not fit, it returns the fields before them and a *MalformedError.
func (p *Composite) Fields(src []byte) ([]Field, error) {
	ints := make([]int, 2*len(p.Parts))
	vals, ends := make([]types.Value, len(p.Parts)), ints[:len(p.Parts)]
	n, err := p.split(src, 0, vals, ends, ints[len(p.Parts):])
	out := make([]Field, n)
	at := 0
	for i := range out {
		out[i] = Field{p.Parts[i], at, src[at:ends[i]], vals[i]}
		at = ends[i]
	}
	return out, err
}

// read returns the values of src's parts, except literals.
func (p *Composite) read(src []byte, vals []types.Value) error {
	ends := make([]int, 2*len(p.Parts))
	if _, err := p.split(src, 0, vals, ends, ends[len(p.Parts):]); err != nil {
		return err
	}
	return p.verify(src, 0, vals, ends)
}

// split splits src into its parts and decodes those that are not literals, beginning with part first: the caller has
// the values of the earlier parts already (see KeyReader). n is the number of parts in src or, with an error, the
// number of parts before the bytes that do not fit.
func (p *Composite) split(src []byte, first int, vals []types.Value, ends, decides []int) (n int, err error) {
	at := 0
	if first > 0 {
		at = ends[first-1]
	}
	for i := first; i < len(p.Parts); i++ {
		part, rest := p.Parts[i], src[at:]
		ended, err := p.ended(src, at, i)
		if err != nil {
			return i, err
		}
		if ended {
			for n := i; n < len(p.Parts); n++ {
				vals[n], ends[n], decides[n] = types.Value{}, at, at+1 // a longer key may hold a value there
			}
			return i, nil
		}
		if part.Literal != nil {
			null := i > 0 && p.Parts[i-1].nullable && vals[i-1].IsNull()
			d := part.Delimiter(null)
			if !bytes.HasPrefix(rest, d) || null && i+1 == len(p.Parts) {
				return i, &MalformedError{part.Source, "the literal is missing"}
			}
			at += len(d)
			ends[i], decides[i] = at, at
			continue
		}
		length, err := p.length(i, rest, true)
		if err != nil {
			return i, err
		}
		vals[i] = types.Value{}
		if length > 0 || !part.nullable {
			if vals[i], err = part.Decode(rest[:length]); err != nil {
				return i, &MalformedError{part.Source, err.Error()}
			}
		}
		at += length
		ends[i], decides[i] = at, at+p.lookahead(i)
	}
	if at < len(src) {
		return len(p.Parts), &MalformedError{p.Parts[len(p.Parts)-1].Source, fmt.Sprintf("%d bytes follow it", len(src)-at)}
	}
	return len(p.Parts), nil
}

// lookahead returns how many bytes after part i a reader must see to know where part i ends.
func (p *Composite) lookahead(i int) int {
	part := p.Parts[i]
	switch {
	case part.Width() != Variable || part.ends != nil:
		return 0
	case i+1 == len(p.Parts):
		return 1 // another key shares the part only if it is the same key
	case part.tail > 0:
		return part.tail + 1
	}
	return len(p.Parts[i+1].Literal)
}

// verify checks that the values of src, from part first on, are written as Append writes them, and that the parts
// computed from later bytes are correct.
func (p *Composite) verify(src []byte, first int, vals []types.Value, ends []int) error {
	at := 0
	for i, part := range p.Parts {
		if part.needsCanonicalCheck && i >= first && !vals[i].IsNull() {
			if want, err := part.Append(nil, vals[i]); err != nil || !bytes.Equal(want, src[at:ends[i]]) {
				return &MalformedError{part.Source, "hql writes the value with other bytes"}
			}
		}
		at = ends[i]
		if part.fromRest != nil {
			if err := part.belongs(src[at:], vals[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// belongs returns an error unless v is the value that p, a part with fromRest, has before the bytes rest.
func (p *Part) belongs(rest []byte, v types.Value) error {
	want, err := p.fromRest(rest)
	if err != nil || want.Int() != v.Int() {
		return &MalformedError{p.Source, "the rest of the key gives another value"}
	}
	return nil
}

// PrefixLen returns the length of the first n parts of key, which is whole or the start of a key. It is -1 if key does
// not have them, or if only the end of the key determines their end.
//
//	ROW KEY (uid AS TEXT, '|', ts AS INT64), 'a7|...', n = 2     3
func (p *Composite) PrefixLen(key []byte, n int, whole bool) int {
	at := 0
	for i := range n {
		w, err := p.length(i, key[at:], whole)
		if err != nil {
			return -1
		}
		at += w
	}
	return at
}

// Ends returns the offsets at which the parts of key end, as far as key has them. key is whole or the start of a key.
//
//	ROW KEY (uid AS TEXT, '|', ts AS INT64), 'a7|...'     2, 3 and, where the 8 bytes of ts follow, 11
func (p *Composite) Ends(key []byte, whole bool) (ends []int) {
	ends = make([]int, 0, len(p.Parts))
	at := 0
	for i := range p.Parts {
		n, err := p.length(i, key[at:], whole)
		if err != nil {
			break
		}
		at += n
		ends = append(ends, at)
	}
	return ends
}

// EndBefore replaces the last value in start by the next smaller one, and returns the end of the keys that begin with
// the result. No key lies between that end and start. It returns nil if the smaller value is unknown.
//
//	ROW KEY (day AS TEXT('yyyyMMdd')), '20240201'     '20240132', behind all keys of January 31
func (p *Composite) EndBefore(start []byte) []byte {
	at := 0
	for _, part := range p.Parts {
		n := part.Width()
		if n == Variable {
			return nil
		}
		if at += n; at < len(start) {
			continue
		}
		if at > len(start) || part.Literal != nil || part.Encoding.Order() != Ascending || part.scales {
			return nil
		}
		v, err := part.Decode(start[at-n:])
		if err != nil {
			return nil
		}
		below := types.SetOf(types.Interval{Hi: v, HiOpen: true})
		if len(below) != 1 || below[0].HiOpen { // there are values in between
			return nil
		}
		b, err := part.Append(slices.Clip(start[:at-n]), below[0].Hi)
		if err != nil {
			return nil
		}
		return types.PrefixEnd(b)
	}
	return nil
}
