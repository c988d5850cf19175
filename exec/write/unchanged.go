package write

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// This file lets an UPDATE or a DELETE change a row only if the values that the statement read are still current.
//
//	row as the statement read it  -> its cells; a row of a copy or of a join is read again with its cells (applyChanges)
//	cells                         -> a condition on the mutation, which HBase checks and applies in one step (unchanged)
//	condition that does not hold  -> a row that the statement must read again (Missed)

// change holds a row as a statement read it, and its new values, or nil if it is to be deleted.
type change struct {
	old, become []types.Value
	joined      []types.Value // Returning.Joined
	set         []bool
	pos         parser.Pos
	again       bool // its condition did not hold, perhaps only because the filter saw other bytes: see attempt
}

// held is a change that was sent, with the state of the row on which it depends.
type held struct {
	now    *storedRow
	change change
}

// storedRow is the current state of a row. Its cells are those of its HBase row in the table's families.
type storedRow struct {
	values  []types.Value // nil if there is no row
	cells   []hbase.Cell
	byTime  bool // conditions compare the timestamps of its cells, not the values: see attempt
	byValue bool // conditions compare the values of its cells, not the timestamps
}

// cell returns a cell, or nil if there is none.
func (r *storedRow) cell(family, qualifier string) *hbase.Cell {
	for i := range r.cells {
		if c := &r.cells[i]; string(c.Family) == family && string(c.Qualifier) == qualifier {
			return c
		}
	}
	return nil
}

// attempt is the state of a row when a condition on it did not hold. If the row has the same state afterwards, the filter
// saw other bytes than the reader did. In a MOB family, HBase shows filters a reference instead of a large value, so the
// next condition does not compare values. If that fails too, the family may keep several versions, all of which filters
// see, so the next condition does not compare timestamps. If that fails as well, the row has cells that the user may not
// read.
type attempt struct {
	sum             uint64
	byTime, byValue bool
}

var sumSeed = maphash.MakeSeed()

// sum returns a hash of the row's cells.
func (r *storedRow) sum() uint64 {
	var h maphash.Hash
	h.SetSeed(sumSeed)
	for i := range r.cells {
		c := &r.cells[i]
		for _, b := range [][]byte{c.Family, c.Qualifier, c.Value} {
			maphash.WriteComparable(&h, len(b))
			h.Write(b)
		}
		maphash.WriteComparable(&h, c.Timestamp)
	}
	return h.Sum64()
}

// DependOn sets the columns on which the statement's effect on a row depends: read marks columns of the table, then _key
// and _ts. DependOn adds the columns from which the entries of derived layouts are computed.
func (w *Writer) DependOn(read []bool) {
	t := w.table
	reads := slices.Clone(read)
	for _, l := range t.Layouts[1:] {
		for i := range t.Columns {
			same := func(o *catalog.Column) bool { return o.Index == i }
			reads[i] = reads[i] || l.Kind == catalog.Copy || l.PartOf(i) != nil || slices.ContainsFunc(l.Sparse, same) ||
				slices.ContainsFunc(l.Where, func(x expr.Expr) bool { return slices.Contains(expr.Columns(x), i) })
		}
	}
	for i, c := range t.Columns {
		reads[i] = reads[i] && c.InCell()
	}
	w.reads = reads
}

// Hold decides whether each change of a row is conditional: the row must still be as the statement read it. It returns
// the decision. byKey reports that the statement reads single rows by key. The condition makes the writing of many rows
// slower, so Hold decides against it if the statement does not use the values of the rows.
func (w *Writer) Hold(byKey bool) bool {
	n := len(w.table.Columns)
	needed := slices.Contains(w.reads[:n], true) || w.reads[n+1] || byKey
	if needed && w.attempts == nil && w.pointColumn() == nil { // a data point may be in any of several cells
		w.attempts = map[rowID]attempt{}
	}
	return w.attempts != nil
}

// NoteStates must be called before each evaluation of a statement that reads its table a second time, as in a
// sub-query. The first evaluation changes no row: it notes the states of the rows. A later evaluation changes a row if
// an earlier one noted the same state, so that all reads saw that state.
func (w *Writer) NoteStates() {
	if w.states == nil {
		w.states = map[uint64]bool{}
	}
	w.evaluations++
	w.noting = w.evaluations == 1
}

// Noted reports whether this evaluation noted the states of rows instead of changing them. Then the statement must be
// evaluated again.
func (w *Writer) Noted() bool { return w.noting && len(w.states) > 0 }

// maxEvaluations bounds the evaluations of a statement that finds other rows each time.
const maxEvaluations = 30

// noteStates notes the states of the rows now. seen reports, for each row, whether its state was noted before. If a
// state was not, and the statement has changed no row yet, this evaluation changes no row.
func (w *Writer) noteStates(places []place, now []storedRow) (seen []bool) {
	seen = make([]bool, len(now))
	for i := range now {
		state := maphash.Comparable(sumSeed, struct {
			rowID
			sum uint64
		}{places[i].id(), now[i].sum()})
		seen[i] = w.states[state] || w.evaluations == maxEvaluations
		w.noting = w.noting || !seen[i] && w.Changed == 0 && w.only == nil
		w.states[state] = true
	}
	return seen
}

// Missed is a row that another statement changed between the read and the write.
type Missed struct {
	id  rowID
	Row []types.Value // as the statement read it
}

// Key returns the row's key.
func (m Missed) Key() []byte { return []byte(m.id.key) }

// TakeMissed returns the rows that were missed since the last call.
func (w *Writer) TakeMissed() []Missed {
	out := w.missed
	w.missed = nil
	return out
}

// Only makes the writer skip all rows except these.
func (w *Writer) Only(rows []Missed) {
	w.only = map[rowID]bool{}
	for _, m := range rows {
		w.only[m.id] = true
	}
}

// applyChanges adds the mutations of the rows that are still as the statement read them.
func (w *Writer) applyChanges(ctx context.Context) error {
	changes := w.changes
	w.changes = nil
	if len(changes) == 0 {
		return nil
	}
	places := make([]place, len(changes))
	for i, c := range changes {
		var err error
		if places[i], err = w.currentPlace(c.old); err != nil {
			return w.Refuse(err, c.pos)
		}
	}
	now, err := w.current(ctx, changes, places)
	if err != nil {
		return err
	}
	var seen []bool
	if w.states != nil {
		if seen = w.noteStates(places, now); w.noting {
			return nil
		}
	}
	w.held = make(map[rowID]held, len(changes))
	defer func() { w.now = nil }()
	for i, c := range changes {
		id := places[i].id()
		switch {
		case now[i].values == nil: // it was deleted
			continue
		case seen != nil && !seen[i], !w.asRead(c.old, now[i].values), c.again && w.attempts[id].sum != now[i].sum():
			w.missed = append(w.missed, Missed{id, c.old})
			continue
		}
		if was, ok := w.attempts[id]; ok && was.sum == now[i].sum() {
			if was.byValue {
				return w.Refuse(parser.Errorf(c.pos, "the row with key %.64q of %s cannot be changed: it has cells that this user may not read", id.key, w.table.Name), c.pos)
			}
			now[i].byTime, now[i].byValue = !was.byTime, was.byTime
		}
		w.now, w.held[id] = &now[i], held{&now[i], c}
		if err := w.apply(ctx, c, places[i]); err != nil {
			return w.Refuse(err, c.pos)
		}
	}
	return nil
}

// current returns the current rows of changes, at places, with their cells.
func (w *Writer) current(ctx context.Context, changes []change, places []place) ([]storedRow, error) {
	if len(changes[0].old) == w.Width() {
		again := *w.st.Reads
		again.Warn = &warning.List{} // the first read has warned about undecodable values
		return w.storedAt(ctx, &again, w.table.Layouts[0], places)
	}
	out := make([]storedRow, len(changes))
	for i, c := range changes {
		out[i] = storedRow{values: c.old[:w.Width()], cells: scan.CellsOf(c.old[w.Width()])}
	}
	return out, nil
}

// asRead reports whether two states of a row are equal in the columns on which the statement depends.
func (w *Writer) asRead(old, now []types.Value) bool {
	for i, read := range w.reads {
		if read && !sameValue(old[i], now[i]) {
			return false
		}
	}
	return true
}

// apply adds the mutations of a change to w.now, the row at p.
func (w *Writer) apply(ctx context.Context, c change, p place) error {
	now := w.now.values
	if w.Returning != nil {
		w.Returning.Joined = c.joined
	}
	for i := range c.become {
		if i >= len(c.set) || !c.set[i] {
			c.become[i] = now[i]
		}
	}
	return w.change(ctx, c, now, p)
}

// ifUnchanged returns the condition of a mutation that writes or removes cells of w.now. The columns on which the statement
// depends must have the values that it read. A cell that is written must have the version that was read, because a later
// version would hide the new value. With whole, all cells must have the versions that were read.
func (w *Writer) ifUnchanged(p place, written []hbase.Cell, whole bool) filter.Filter {
	var out filter.And
	whole = whole || w.reads[len(w.table.Columns)+1]
	var seen []filter.Column
	add := func(family, qualifier string, read bool) {
		at := filter.Column{Family: family, Qualifier: qualifier}
		writes := slices.ContainsFunc(written, func(c hbase.Cell) bool {
			return string(c.Family) == family && string(c.Qualifier) == qualifier
		})
		if slices.Contains(seen, at) || !read && !writes {
			return
		}
		seen = append(seen, at)
		cell := w.now.cell(family, qualifier)
		switch {
		case cell == nil:
			out = append(out, filter.CellNull{Family: family, Qualifier: qualifier})
			return
		case read && !w.now.byTime:
			out = append(out, filter.Cell{Family: family, Qualifier: qualifier, Value: cell.Value})
		default:
			out = append(out, filter.CellNull{Family: family, Qualifier: qualifier, Not: true})
		}
		if !whole && !w.now.byValue && (writes || w.now.byTime) {
			out = append(out, filter.Written{Family: family, Qualifier: qualifier, Times: []int64{cell.Timestamp}})
		}
	}
	for i, c := range w.table.Columns {
		switch {
		case c.Packed != nil:
			add(c.Family, string(p.qualifier), w.reads[i])
		case c.InCell():
			add(c.Family, c.Qualifier, slices.ContainsFunc(w.table.Columns, func(o *catalog.Column) bool { return w.reads[o.Index] && sameCell(o, c) }))
		}
	}
	for _, c := range written {
		add(string(c.Family), string(c.Qualifier), false)
	}
	if whole && !w.now.byValue {
		for _, family := range w.table.RowFamilies() {
			out = append(out, filter.Written{Family: family, All: true, Times: w.now.times(family)})
		}
	}
	if out == nil { // a definition without cells and families
		return nil
	}
	return out
}

// times returns the timestamps of the row's cells in a family.
func (r *storedRow) times(family string) []int64 {
	out := []int64{}
	for _, c := range r.cells {
		if string(c.Family) == family {
			out = append(out, c.Timestamp)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noteRefused lets the next flush try the changes again whose conditions did not hold. A row that has another state then
// is missed.
func (w *Writer) noteRefused() {
	for id := range w.refused {
		h := w.held[id]
		h.change.old, h.change.again = h.change.old[:w.Width()], true // so that its cells are read again
		w.changes = append(w.changes, h.change)
		w.attempts[id] = attempt{h.now.sum(), h.now.byTime, h.now.byValue}
	}
	clear(w.refused)
	w.held = nil
}

// doubtful holds cells that were written where the statement saw none: a deletion with a later timestamp may hide them.
type doubtful struct {
	place
	cells []hbase.Cell
	fresh bool // the row did not exist before
}

// doubt records the cells written at p that the statement had not read. old is the row as it was read, or nil.
func (w *Writer) doubt(p place, puts []hbase.Cell, old []types.Value) {
	unseen := func(cell hbase.Cell) bool {
		if w.now != nil {
			return w.now.cell(string(cell.Family), string(cell.Qualifier)) == nil
		}
		return old == nil || slices.ContainsFunc(w.table.Columns, func(c *catalog.Column) bool {
			v := old[c.Index]
			return hasCell(c) && c.Family == string(cell.Family) && c.Qualifier == string(cell.Qualifier) && (v.IsNull() || sameValue(v, c.Absent()))
		})
	}
	if cells := slices.DeleteFunc(slices.Clone(puts), func(c hbase.Cell) bool { return !unseen(c) }); len(cells) > 0 {
		w.doubts = append(w.doubts, doubtful{p, cells, old == nil})
	}
}

// seeWritten checks whether the doubtful cells that were sent can be read.
func (w *Writer) seeWritten(ctx context.Context) error {
	doubts := slices.DeleteFunc(w.doubts, func(d doubtful) bool { return w.refused[d.id()] })
	w.doubts = nil
	places := make([]place, len(doubts))
	for i, d := range doubts {
		places[i] = d.place
	}
	return w.eachGet(ctx, places, &hbase.ReadOptions{Families: w.table.RowFamilies()}, false, func(from int, rows []hbase.Row) error {
		for k := range rows {
			d := doubts[from+k]
			if rows[k].Key == nil && !d.fresh {
				continue // the whole row was deleted
			}
			for _, c := range d.cells {
				if !slices.ContainsFunc(rows[k].Cells, func(is hbase.Cell) bool { return sameColumn(&is, &c) }) {
					return fmt.Errorf("write %s: cell %s:%s of the row with key %.64q was deleted while it was written, or earlier by a client whose clock is ahead: repeat the statement",
						d.table, c.Family, bytes.ToValidUTF8(c.Qualifier, []byte("?")), d.key)
				}
			}
		}
		return nil
	})
}

func sameColumn(a, b *hbase.Cell) bool {
	return bytes.Equal(a.Family, b.Family) && bytes.Equal(a.Qualifier, b.Qualifier)
}
