package catalog

import (
	"fmt"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// Place returns the HBase table and the key of the row with these key columns. It does not check that the key reads
// back as the same values. An error is a *KeyError: no row can have these values, or a part of the key cannot be
// computed from the row alone.
func (l *Layout) Place(row []types.Value) (table string, key []byte, err error) {
	return l.place(row, &expr.Env{})
}

// PlaceOf is Place with EncodeRow's check that the key reads back as these values.
func (l *Layout) PlaceOf(row []types.Value) (table string, key []byte, err error) {
	table, key, _, err = l.EncodeRow(row, &expr.Env{})
	return table, key, err
}

// Entry returns the place of a row's entry under l, and the end of each part of its key. key is nil if the row has no
// entry: a column that an index needs is NULL, or no key can have these values.
func (l *Layout) Entry(row []types.Value) (table string, key []byte, ends []int) {
	if l.Lacks(row) {
		return "", nil, nil
	}
	table, key, err := l.Place(row)
	if err != nil {
		return "", nil, nil
	}
	if ends = l.Key.Ends(key, true); len(ends) < len(l.Key.Parts) {
		return "", nil, nil
	}
	return table, key, ends
}

func (l *Layout) place(row []types.Value, env *expr.Env) (table string, key []byte, err error) {
	if table = l.storedName; l.storedParts {
		name, err := l.Stored.Append(nil, row, env)
		if err != nil {
			return "", nil, err
		}
		table = string(name)
	}
	key, err = l.Key.Append(make([]byte, 0, 64), row, env)
	return table, key, err
}

// EncodeRow returns where a row is stored under l. It checks that the key reads back as the same values. qualifier is
// nil except for packed columns. An error is a *KeyError.
func (l *Layout) EncodeRow(row []types.Value, env *expr.Env) (table string, key, qualifier []byte, err error) {
	return NewKeyReader(l).EncodeRow(row, env)
}

// EncodeRow is Layout.EncodeRow for a series of rows.
func (r *KeyReader) EncodeRow(row []types.Value, env *expr.Env) (table string, key, qualifier []byte, err error) {
	l := r.l
	table, key, err = l.place(row, env)
	if err != nil {
		return "", nil, nil, err
	}
	if len(key) == 0 {
		return "", nil, nil, &KeyError{Part: l.Key.Parts[0].Source, Msg: "the key would be empty"}
	}
	if l.Packed != nil {
		if qualifier, err = l.Packed.Append(nil, row, env); err != nil {
			return "", nil, nil, err
		}
	}
	if r.back == nil {
		r.back = make([]types.Value, len(row))
	}
	back := r.back
	clear(back)
	if err := r.Read(table, key, qualifier, back); err != nil {
		return "", nil, nil, &KeyError{Part: l.Key.Parts[0].Source, Msg: "the key could not be read back: " + err.Error()}
	}
	for _, s := range l.solve {
		if s.byLookup {
			continue
		}
		if back[s.col].IsNull() && row[s.col].IsNull() {
			continue
		}
		if c, err := types.Compare(back[s.col], row[s.col]); err != nil || c != 0 {
			return "", nil, nil, &KeyError{Part: s.source, Column: l.Key.table.Columns[s.col].Name,
				Msg: fmt.Sprintf("%s does not fit: it would read back as %s", row[s.col].SQL(), back[s.col].SQL())}
		}
	}
	return table, key, qualifier, nil
}

// solver describes how to read a column from the parts of a layout.
type solver struct {
	col    int
	source string
	// from and part name a part that holds the column itself, if direct is set: see partRef.
	from, part int
	direct     bool
	// joint are the parts that determine the column together, or the one part whose expression is inverted to get the
	// column.
	joint    []partRef
	byLookup bool
	whole    bool // the value read is the value written, not only the start of its day or month
}

// Holds reports whether a part of l is the plain column col, from which every value can be read back.
func (l *Layout) Holds(col int) bool {
	return slices.ContainsFunc(l.solve, func(s solver) bool { return s.col == col && s.direct })
}

// Tells reports whether the keys of l determine the exact value of column col.
func (l *Layout) Tells(col int) bool {
	return slices.ContainsFunc(l.solve, func(s solver) bool { return s.col == col && s.whole })
}

// ReadFrom reports whether column col is read from part i of the key alone, so that rows with equal parts have equal
// columns. The key may hold less than the column did, such as the minute of a moment.
func (l *Layout) ReadFrom(col, i int) bool {
	ref := partRef{1, i}
	for _, s := range l.solve {
		if s.col == col && !s.byLookup {
			return s.direct && (partRef{s.from, s.part}) == ref || len(s.joint) > 0 && !slices.ContainsFunc(s.joint, func(r partRef) bool { return r != ref })
		}
	}
	return false
}

type partRef struct{ from, part int }

// patterns returns the patterns from which a row's key columns are read.
func (l *Layout) patterns() [3]*Composite { return [3]*Composite{l.Stored, l.Key, l.Packed} }

// DecodeRow reads the key columns of one row: see KeyReader.
func (l *Layout) DecodeRow(table string, key, qualifier []byte, row []types.Value) error {
	return NewKeyReader(l).Read(table, key, qualifier, row)
}

// solveJoint intersects the values that each part allows. If several values remain, as for a moment of which the key
// holds only the minute, the result is the least of them.
func (l *Layout) solveJoint(s *solver, vals *[3][]types.Value) (types.Value, bool) {
	set := types.All()
	pats := l.patterns()
	for _, ref := range s.joint {
		if pats[ref.from].Parts[ref.part].nullable && vals[ref.from][ref.part].IsNull() {
			return types.Value{}, true
		}
	}
	for range 2 { // the second time with the results of the first: a time of day needs its day
		for _, ref := range s.joint {
			p := pats[ref.from].Parts[ref.part]
			pre, ok := solve.Preimage(p.Expr, s.col, types.Points(vals[ref.from][ref.part]), set)
			if !ok {
				return types.Value{}, false
			}
			set = pre
		}
		if len(set) == 1 && set[0].IsPoint() {
			break
		}
	}
	if len(set) == 0 || set[0].LoOpen {
		return types.Value{}, false
	}
	if t := l.Key.table.Columns[s.col].Type; set[0].Lo.IsNull() && (t.IsInteger() || t.IsTimestamp()) {
		least, _ := types.IntRange(t) // there is no lower bound
		return types.NewIntOf(t, least), true
	}
	return set[0].Lo, !set[0].Lo.IsNull()
}

// leadsTo reports whether the keys of l, a copy or an INDEX, determine the row's place in the primary layout. They do
// not if a part of the primary keys needs a value that only a cell holds.
func (l *Layout) leadsTo(primary *Layout) bool {
	for _, p := range []*Composite{primary.Stored, primary.Key} {
		for _, part := range p.Parts {
			for _, c := range part.Columns {
				if !slices.ContainsFunc(l.solve, func(s solver) bool { return s.col == c }) {
					return false
				}
			}
		}
	}
	return true
}
