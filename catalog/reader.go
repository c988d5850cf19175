package catalog

import (
	"fmt"
	"math"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// KeyReader reads the key columns of a series of rows of a layout. Consecutive rows of a scan share the beginning of
// their keys: values that these bytes determine are not decoded and verified again. It is not for concurrent use.
type KeyReader struct {
	// Names, if set, finds names by the numbers that the key holds. Otherwise the columns of these names stay unchanged.
	Names Names

	l     *Layout
	table string
	key   []byte           // of the last row read; nil after an error
	vals  [3][]types.Value // by part of the table's name, the key and the qualifier
	// ends are the offsets at which the parts end in key. decides are the offsets after the bytes that determine each
	// part, including its delimiter.
	ends, decides []int
	few           [8]int        // the memory of ends and decides, enough for most keys
	solved        []types.Value // by solver
	names         []types.Value // by Layout.numbered
	back          []types.Value // scratch of EncodeRow
	env           expr.Env
}

// unstable marks values that a prefix of the key does not determine.
const unstable = math.MaxInt

// NewKeyReader makes a reader for the rows of l.
func NewKeyReader(l *Layout) *KeyReader {
	r := &KeyReader{}
	r.Init(l)
	return r
}

// Init makes r, a zero KeyReader, a reader for the rows of l.
func (r *KeyReader) Init(l *Layout) {
	n := len(l.Key.Parts)
	ints := r.few[:]
	if 2*n > len(ints) {
		ints = make([]int, 2*n)
	}
	r.l, r.ends, r.decides = l, ints[:n:n], ints[n:2*n]
	vals := make([]types.Value, len(l.solve)+len(l.Stored.Parts)+n)
	r.solved, vals = vals[:len(l.solve)], vals[len(l.solve):]
	r.vals[0], r.vals[1] = vals[:len(l.Stored.Parts)], vals[len(l.Stored.Parts):]
	if len(l.numbered) > 0 {
		r.names = make([]types.Value, len(l.numbered))
	}
	if l.Packed != nil {
		r.vals[2] = make([]types.Value, len(l.Packed.Parts))
	}
}

// integerKey returns the columns of the key's parts, if all parts are columns in integer encodings and nothing else must be
// read or checked; nil: they are not.
func (l *Layout) integerKey() []int {
	if len(l.solve) != len(l.Key.Parts) || l.storedParts || l.Packed != nil || len(l.check) > 0 || len(l.numbered) > 0 {
		return nil
	}
	cols := make([]int, len(l.solve))
	for _, s := range l.solve {
		p := l.Key.Parts[s.part]
		if _, ok := p.Encoding.(*integer); !ok || !s.direct || s.from != 1 || p.nullable || p.fromRest != nil {
			return nil
		}
		cols[s.part] = s.col
	}
	return cols
}

// readIntegers works like Read for a layout with integers, see integerKey, and a row of NULLs. It returns false for a
// malformed key.
func (l *Layout) readIntegers(key []byte, row []types.Value) bool {
	for i, col := range l.integers {
		e := l.Key.Parts[i].Encoding.(*integer)
		if e.width > len(key) {
			return false
		}
		if !e.set(&row[col], key[:e.width]) {
			var err error
			if row[col], err = e.Decode(key[:e.width]); err != nil {
				return false
			}
		}
		key = key[e.width:]
	}
	return len(key) == 0
}

// findDependencies sets solvedBy, checkedBy and integers.
func (l *Layout) findDependencies() {
	l.solvedBy, l.checkedBy = make([]int, len(l.solve)), make([]int, len(l.check))
	by := map[int]int{}
	for i, s := range l.solve {
		refs := s.joint
		if s.direct {
			refs = []partRef{{s.from, s.part}}
		}
		for _, ref := range refs {
			l.solvedBy[i] = max(l.solvedBy[i], lastPart(ref))
		}
		if s.byLookup {
			l.solvedBy[i] = unstable
		}
		by[s.col] = l.solvedBy[i]
	}
	for i, ref := range l.check {
		l.checkedBy[i] = lastPart(ref)
		for _, c := range l.patterns()[ref.from].Parts[ref.part].Columns {
			p, ok := by[c]
			if !ok {
				p = unstable
			}
			l.checkedBy[i] = max(l.checkedBy[i], p)
		}
	}
	l.integers = l.integerKey()
}

func lastPart(ref partRef) int {
	switch ref.from {
	case 0: // with a new table name everything is read again
		return -1
	case 1:
		return ref.part
	}
	return unstable
}

// Read sets the key columns of the row at this place: the table's name, the key and, for packed columns, the qualifier.
// Bytes that EncodeRow would not write are a *MalformedError.
func (r *KeyReader) Read(table string, key, qualifier []byte, row []types.Value) error {
	if r.l.integers != nil && r.l.readIntegers(key, row) {
		return nil
	}
	same := 0 // leading parts that equal those of the last row
	if r.key != nil && table == r.table {
		n := types.CommonPrefix(r.key, key)
		for same < len(r.l.Key.Parts) && r.decides[same] <= n {
			same++
		}
	}
	r.key = r.key[:0]
	if err := r.read(table, key, qualifier, row, same); err != nil {
		r.key = nil
		return err
	}
	r.table, r.key = table, append(r.key, key...)
	return nil
}

func (r *KeyReader) read(table string, key, qualifier []byte, row []types.Value, same int) error {
	l := r.l
	if _, err := l.Key.split(key, same, r.vals[1], r.ends, r.decides); err != nil {
		return err
	}
	if err := l.Key.verify(key, same, r.vals[1], r.ends); err != nil {
		return err
	}
	if l.storedParts && (same == 0 || table != r.table) {
		if err := l.Stored.read([]byte(table), r.vals[0]); err != nil {
			return err
		}
	}
	if l.Packed != nil && qualifier != nil {
		if err := l.Packed.read(qualifier, r.vals[2]); err != nil {
			return err
		}
	}
	for i := range l.solve {
		s := &l.solve[i]
		switch {
		case s.byLookup:
			continue
		case same > 0 && l.solvedBy[i] < same:
		case s.direct:
			r.solved[i] = r.vals[s.from][s.part]
		default:
			v, ok := l.solveJoint(s, &r.vals)
			if !ok {
				return &MalformedError{s.source, "its parts contradict each other"}
			}
			r.solved[i] = v
		}
		row[s.col] = r.solved[i]
	}
	if err := r.verify(row, qualifier, same); err != nil || r.Names == nil || len(l.numbered) == 0 {
		return err
	}
	return r.name(row, qualifier, same)
}

// name sets the columns for which the key holds a number of LOOKUP to the names with these numbers. The key is
// malformed if a number has no name, or if the key also holds a name that differs.
func (r *KeyReader) name(row []types.Value, qualifier []byte, same int) error {
	for i, n := range r.l.numbered {
		part, number := r.l.Key.Parts[n.part], r.vals[1][n.part]
		if same <= n.part { // otherwise the last row has the same name
			name, ok, err := r.Names.Name(n.call, number)
			if err != nil {
				return err
			}
			if !ok {
				return &MalformedError{part.Source, "the number " + number.SQL() + " has no name"}
			}
			r.names[i] = name
		}
		name := r.names[i]
		if n.known {
			if c, err := types.Compare(name, row[n.col]); err != nil || c != 0 {
				return &MalformedError{part.Source, fmt.Sprintf("the number %s belongs to %s, not to %s", number.SQL(), name.SQL(), row[n.col].SQL())}
			}
		}
		row[n.col] = name
	}
	for _, ref := range r.l.named {
		if ref.from == 2 && qualifier == nil {
			continue
		}
		if err := r.verifyPart(ref, row); err != nil {
			return err
		}
	}
	return nil
}

// verify recomputes the parts that follow from others: hashes, buckets, salts. The first parts of the key, as many as
// same says, are equal to those of the row before: verify skips the parts that depend only on them.
func (r *KeyReader) verify(row []types.Value, qualifier []byte, same int) error {
	for i, ref := range r.l.check {
		if same > 0 && r.l.checkedBy[i] < same || ref.from == 2 && qualifier == nil {
			continue
		}
		if err := r.verifyPart(ref, row); err != nil {
			return err
		}
	}
	return nil
}

func (r *KeyReader) verifyPart(ref partRef, row []types.Value) error {
	p, have := r.l.patterns()[ref.from].Parts[ref.part], r.vals[ref.from][ref.part]
	if p.domain != nil {
		if !p.domain.Contains(have) {
			return &MalformedError{p.Source, have.SQL() + " is not one of its values"}
		}
		return nil
	}
	r.env.Row = row
	want, err := p.Expr.Eval(&r.env)
	if err == nil && p.nullable && want.IsNull() && have.IsNull() {
		return nil
	}
	if err != nil || want.IsNull() {
		return &MalformedError{p.Source, "it cannot be recomputed"}
	}
	if c, err := types.Compare(want, have); err != nil || c != 0 {
		return &MalformedError{p.Source, fmt.Sprintf("it is %s, but the row's value is %s", have.SQL(), want.SQL())}
	}
	return nil
}
