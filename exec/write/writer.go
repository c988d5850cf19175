package write

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/lookup"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Batch is the number of rows whose mutations are sent together.
const Batch = 1000

// Env is the environment of writers: the state that the reads of their statement share, and the functions of the
// statement that they call.
type Env struct {
	*scan.Reads
	Catalog *catalog.Catalog
	Clock   *Clock
	Cache   *lookup.Cache
	// Unchanged fails when one of tables was dropped or defined anew since the statement began.
	Unchanged func(ctx context.Context, tables ...*catalog.Table) error
	// Sending: one of it is held while rows are sent to tables that were Unchanged.
	Sending *semaphore.Weighted
	// Arrived fails when rows took so long to send that CREATE INDEX, which has changed the definition of t meanwhile,
	// may have filled the index without them.
	Arrived func(ctx context.Context, t *catalog.Table) error
	// Filled refuses l, a derived layout of t, if it was never filled: its first entry would hide that all others are
	// missing. NoteFilled notes that it has entries.
	Filled     func(ctx context.Context, t *catalog.Table, l *catalog.Layout) error
	NoteFilled func(l *catalog.Layout)
	// MakeTable makes the HBase table name for rows of t.
	MakeTable func(ctx context.Context, t *catalog.Table, name string) error
	// Where calls f with the rows of t that where holds for; args are its parameters.
	Where func(ctx context.Context, t *catalog.Table, where parser.Expr, args []types.Value, f func(rows [][]types.Value) error) error
}

// Writer writes rows into all layouts of a table. Every mutation has a timestamp, so that sending it again is
// harmless: later than all cells of the row that were read. Derived layouts are
// written before the primary one and deleted after it: a crash in between leaves
// at most an entry whose row is not found.
type Writer struct {
	st    *Env
	table *catalog.Table
	ts    int64     // see at; 0: to be drawn
	drawn time.Time // when ts was
	env   expr.Env
	keys  map[*catalog.Layout]*catalog.KeyReader
	known map[string]bool // physical tables that exist
	// IfNew stores rows only if the primary layout has none. token is the claim of this statement, refused are the rows
	// that another statement claimed.
	IfNew bool
	// Returning takes the rows that are written; nil: nobody asks for them.
	Returning    *Returning
	token        []byte
	claimIn      []string // the first of these families by name has the claim; nil: not asked yet
	refused      map[rowID]bool
	jointEntries bool         // see hasJointEntries
	written      []writtenRow // pending ones that complete looks at
	unsettled    []writtenRow // see takeBack
	after        int64        // when whoever begins after the pending mutations are sent writes at the earliest: see Clock
	// pending mutations by layout, then physical table; puts and removals apart.
	puts, removals []tableMutations
	rows           int
	points         map[pointRow]map[int64]string // see touchPoint
	lookups        bool                          // names get numbers
	numbered       []*catalog.Column             // columns from which other tables' keys take numbers
	largest        []int64                       // of each in the pending rows
	shared         [][]*catalog.Column           // by column: all that are read from its cell, where that are several
	elements       [][]*catalog.Column           // see elements
	merged         map[rowID][]mergedCell        // of pending rows
	filling        bool                          // derived layouts are being filled
	// Changed are the rows that UPDATE or DELETE changed.
	Changed int64
	// For UPDATE and DELETE of rows on condition that they are unchanged since they were read, see unchanged.go:
	reads    []bool               // the columns, _key and _ts that must be unchanged
	merges   bool                 // an UPDATE sets some of the columns of a cell
	changes  []change             // to be applied
	now      *storedRow           // the row to which a change is being applied
	held     map[rowID]*storedRow // those of the batch
	later    []laterRemoval
	missed   []Missed
	only     map[rowID]bool    // nil: all rows
	attempts map[rowID]attempt // that failed; nil: there are no conditions
	doubts   []doubtful
}

// laterRemoval adds the removals of derived layouts' entries that go once their row was changed.
type laterRemoval struct {
	row rowID
	add func()
}

// tableMutations are the mutations of one layout in the order in which they were made.
type tableMutations struct {
	names []string
	by    map[string][]hbase.Mutation
}

// at gives the time to write at over a row whose newest cell that was read is from newest, 0 for none. The clock is
// asked when the first row of a batch has been read.
func (w *Writer) at(newest int64) int64 {
	if w.ts == 0 {
		w.drawn, w.ts = time.Now(), w.st.Clock.Next()
	}
	return max(w.ts, newest+1)
}

// newest is the time of the newest cell of a row that was read.
func (w *Writer) newest(row []types.Value) int64 {
	if v := row[len(w.table.Columns)+1]; !v.IsNull() {
		return v.Int()
	}
	return 0
}

func (w *Writer) add(m *tableMutations, table string, mutation hbase.Mutation) {
	if w.after = max(w.after, mutation.Timestamp); mutation.Kind != hbase.Put || len(mutation.Removed) > 0 {
		w.after = max(w.after, mutation.Timestamp+1) // what is written at the time of a removal is removed, too
	}
	if m.by == nil {
		m.by = map[string][]hbase.Mutation{}
	}
	if _, ok := m.by[table]; !ok {
		m.names = append(m.names, table)
	}
	m.by[table] = append(m.by[table], mutation)
}

// Writable is the error of a statement that writes a table which its definition says is not written.
func Writable(t *catalog.Table, at parser.Pos) error {
	why := t.ReadOnly
	if _, err := elements(t); why == "" && err != nil {
		why = err.Error()
	}
	if why == "" {
		return nil
	}
	return parser.Errorf(at, "table %s is not written: %s", t.Name, why)
}

// New makes a writer of rows of t.
func New(st *Env, t *catalog.Table) *Writer {
	n := len(t.Layouts)
	w := &Writer{st: st, table: t, env: st.KeyEnv(), known: map[string]bool{}, keys: map[*catalog.Layout]*catalog.KeyReader{},
		puts: make([]tableMutations, n), removals: make([]tableMutations, n)}
	w.env.Lookup = w.st.Numbers.Known
	w.jointEntries, w.token, w.refused = w.hasJointEntries(), claimToken(), map[rowID]bool{}
	w.lookups, w.numbered = len(t.LookupParts()) > 0, st.Catalog.Numbered(t)
	w.largest = make([]int64, len(w.numbered))
	w.elements, _ = elements(t) // Writable was asked
	w.shared = make([][]*catalog.Column, len(t.Columns))
	for i, a := range t.Columns {
		for _, b := range t.Columns {
			if OneCell(a, b) {
				w.shared[i] = append(w.shared[i], b)
			}
		}
		if len(w.shared[i]) == 1 {
			w.shared[i] = nil
		}
	}
	return w
}

// Check returns the error of a row that cannot be stored. It checks a row that another one of its statement replaces,
// or that exists already, like one that is written. With whole, columns that the statement does not name have the
// values of rows without their cells.
func (w *Writer) Check(row []types.Value, set []bool, whole bool) error {
	if whole {
		w.fillAbsent(row, set)
	}
	if err := w.settle(row, set, whole); err != nil {
		return err
	}
	for _, l := range w.table.Layouts {
		if w.table.HiddenKey {
			break
		}
		if err := w.checkFits(l, row); err != nil {
			return err
		}
	}
	for i, c := range w.table.Columns {
		if v := row[i]; !v.IsNull() && c.InCell() && !c.LeftAway(v) {
			if _, err := w.cell(nil, c, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillAbsent sets the columns that the statement does not name to the values of a row without their cells, because
// entries are made of them.
func (w *Writer) fillAbsent(row []types.Value, set []bool) {
	for i, c := range w.table.Columns {
		if !set[i] && row[i].IsNull() && c.Packed == nil { // without a packed cell there is no row
			row[i] = c.Absent()
		}
	}
}

// settle gives columns of one cell their values, and is the error of a row without a column that it needs.
func (w *Writer) settle(row []types.Value, set []bool, whole bool) error {
	if err := w.agree(row, set); err != nil {
		return err
	}
	for i, c := range w.table.Columns {
		if row[i].IsNull() && (whole || set[i]) && (c.NotNull || c.Packed != nil) && c.Name != catalog.HiddenColumn {
			return parser.Errorf(parser.NoPos, "column %s of %s must not be NULL", c.Name, w.table.Name)
		}
	}
	return nil
}

// drawHiddenKey gives row the key that the table's rows have, if nobody named another.
func (w *Writer) drawHiddenKey(row []types.Value) {
	for i, c := range w.table.Columns {
		if w.table.HiddenKey && c.Name == catalog.HiddenColumn && row[i].IsNull() {
			var id [16]byte
			rand.Read(id[:]) // never fails
			row[i] = types.NewBytes(string(id[:]))
		}
	}
}

// places returns the place of row in each layout; at, if not nil, is its place in the primary one.
func (w *Writer) places(row []types.Value, at *place) ([]place, error) {
	out := make([]place, len(w.table.Layouts))
	for i, l := range w.table.Layouts {
		if i == 0 && at != nil {
			out[0] = *at
			continue
		}
		var err error
		if out[i], err = w.place(l, row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// put adds the mutations that store row. set marks the columns that the statement names: NULL in one of them deletes
// its cell. With whole, the other columns have the values of rows without their cells. at, if not nil, is the place of
// the row in the primary layout; old is the row that was read there, nil for none.
func (w *Writer) put(ctx context.Context, row []types.Value, set []bool, whole bool, at *place, old []types.Value) error {
	t := w.table
	w.drawHiddenKey(row)
	if whole && old == nil {
		w.fillAbsent(row, set)
	}
	if err := w.settle(row, set, whole); err != nil {
		return err
	}
	if w.lookups { // in columns that the statement does not name, too
		if err := w.st.Numbers.Allocate(ctx, t, row); err != nil {
			return err
		}
	}
	places, err := w.places(row, at)
	if err != nil {
		return err
	}
	var ts int64
	if old != nil {
		if w.newest(old) >= hbase.LastTime {
			return w.atEnd(places[0])
		}
		ts = w.at(w.newest(old))
	} else {
		ts = w.st.Clock.unlike(places[0].id(), w.at(0))
	}
	fresh := whole && old == nil
	if w.Returning != nil {
		if err := w.Returning.put(ctx, w, row, set, fresh, places[0], ts, old); err != nil {
			return err
		}
	}
	for i, p := range places {
		if p.skip {
			continue
		}
		puts, err := w.entry(i, row, set, fresh, p, ts)
		if err != nil {
			return err
		}
		if i == 0 && !w.IfNew && p.qualifier == nil && (old != nil && !whole || w.Returning != nil) {
			w.doubt(p, puts, old)
		}
	}
	if w.now == nil && !w.IfNew && !t.HiddenKey && (old != nil || t.Layouts[0].Key.Drawn() == nil) { // else the row is a new one
		w.noteMerged(&places[0], set, fresh)
	}
	if old != nil {
		w.afterRow(places[0], func() { w.deleteStaleEntries(old, places, ts) })
	}
	if len(t.Layouts) > 1 {
		w.written = append(w.written, writtenRow{row: row, ts: ts, claimed: places[0].id()})
	}
	w.noteNumbers(row)
	w.rows++
	return nil
}

// noteNumbers notes the numbers of row that other tables' keys take.
func (w *Writer) noteNumbers(row []types.Value) {
	for i, c := range w.numbered {
		if v := row[c.Index]; !v.IsNull() && c.Type.IsInteger() {
			w.largest[i] = max(w.largest[i], v.Int())
		}
	}
}

// atEnd is the error of a row that has a cell from the end of all times.
func (w *Writer) atEnd(p place) error {
	return parser.Errorf(parser.NoPos, "the row with key %.64q of %s has a cell from the end of all times, %d: nothing can be written later", p.key, w.table.Name, int64(hbase.LastTime)).
		WithHint("delete that version of the cell, in HBase's shell or by a program")
}

// afterRow calls add now, or once the row at p is known to have been changed where that has a condition.
func (w *Writer) afterRow(p place, add func()) {
	if w.now == nil {
		add()
	} else {
		w.later = append(w.later, laterRemoval{p.id(), add})
	}
}

// entry adds the mutation that stores row at p in layout i, see cells, and returns its cells.
func (w *Writer) entry(i int, row []types.Value, set []bool, fresh bool, p place, ts int64) ([]hbase.Cell, error) {
	puts, removed, err := w.cells(w.table.Layouts[i], row, set, fresh, p)
	if err != nil {
		return nil, err
	}
	for _, c := range puts {
		if p.qualifier != nil && string(c.Qualifier) == string(p.qualifier) {
			w.touchPoint(p, string(p.qualifier))
		}
	}
	m := hbase.Mutation{Kind: hbase.Put, Key: p.key, Timestamp: ts, Cells: puts, Removed: removed}
	if i == 0 && w.now != nil {
		m.If = w.unchanged(p, slices.Concat(puts, removed), false)
	}
	w.add(&w.puts[i], p.table, m)
	return puts, nil
}

// remove adds the mutations that delete row, as it was read; at is its place in the primary layout.
func (w *Writer) remove(row []types.Value, at place) error {
	ts := w.removedAt(row)
	if ts >= hbase.LastTime {
		return w.atEnd(at)
	}
	if at.qualifier == nil || !w.touchPoint(at, "") {
		m := w.removal(w.table.Layouts[0], at, ts)
		if w.now != nil {
			columns := m.Cells
			if m.Kind != hbase.DeleteColumns {
				columns = nil
			}
			m.If = w.unchanged(at, columns, columns == nil)
		}
		w.add(&w.removals[0], at.table, m)
	}
	w.afterRow(at, func() {
		for i, l := range w.table.Layouts[1:] {
			if p, err := w.place(l, row); err == nil && !p.skip { // else no such entry can have been written
				w.add(&w.removals[i+1], p.table, w.removal(l, p, ts))
			}
		}
	})
	w.rows++
	return nil
}

// removedAt returns the timestamp for the deletion of row. A conditional deletion uses the time of the newest cell: so
// a client whose clock is ahead does not hide the row that another client inserts next. Entries of derived layouts may
// be later than their row, and a row must not be visible while a deletion hides its entries.
func (w *Writer) removedAt(row []types.Value) int64 {
	newest := w.newest(row)
	if w.now == nil || w.now.byValue || len(w.table.Layouts) > 1 {
		return max(w.at(0), newest)
	}
	for i := range w.now.cells {
		newest = max(newest, w.now.cells[i].Timestamp)
	}
	return newest
}

// Update writes row over old, as it was read, at the same place. set marks the columns that the statement at pos names.
func (w *Writer) Update(ctx context.Context, old, row []types.Value, set []bool, pos parser.Pos) error {
	if done, err := w.deferred(change{old, row, set, pos}); done || err != nil {
		return err
	}
	if err := w.Allocate(ctx, []Row{{Values: row, Pos: pos}}); err != nil {
		return err
	}
	at, err := w.currentPlace(old)
	if err == nil {
		err = w.put(ctx, row, set, false, &at, old)
	}
	return w.refuse(err, pos)
}

// Delete deletes row, as it was read, for the statement at pos.
func (w *Writer) Delete(row []types.Value, pos parser.Pos) error {
	if done, err := w.deferred(change{old: row, pos: pos}); done || err != nil {
		return err
	}
	at, err := w.currentPlace(row)
	if err == nil {
		err = w.remove(row, at)
	}
	if err == nil && w.Returning != nil {
		err = w.Returning.add(rowID{}, row)
	}
	return w.refuse(err, pos)
}

// deferred keeps a conditional change until the batch is full, and skips a row that is not one of the wanted ones.
func (w *Writer) deferred(c change) (bool, error) {
	if w.only != nil {
		at, err := w.currentPlace(c.old)
		if err != nil || !w.only[at.id()] {
			return true, w.refuse(err, c.pos)
		}
	}
	if w.attempts == nil {
		return false, nil
	}
	c.old = slices.Clone(c.old)
	w.changes = append(w.changes, c)
	return true, nil
}

// Key is the key of row in the primary layout.
func (w *Writer) Key(row []types.Value) ([]byte, error) {
	at, err := w.place(w.table.Layouts[0], row)
	return at.key, err
}

// Full reports whether enough is pending to be sent.
func (w *Writer) Full() bool { return w.rows+len(w.changes) >= Batch }

// Width is the number of columns of a row of the table, _key and _ts among them.
func (w *Writer) Width() int { return len(w.table.Columns) + 2 }

// refuse returns the error for the row at pos of a statement that is not stored.
func (w *Writer) refuse(err error, pos parser.Pos) error {
	var key *catalog.KeyError
	if errors.As(err, &key) {
		return parser.Errorf(pos, "the row does not fit %s: %v", w.table.Name, key)
	}
	var pe *parser.Error
	if errors.As(err, &pe) && pe.Pos < 0 {
		e := *pe
		e.Pos = pos
		return &e
	}
	return err
}

// Allocate gives numbers to the names in rows that have none yet.
func (w *Writer) Allocate(ctx context.Context, rows []Row) error {
	if !w.lookups {
		return nil
	}
	for _, row := range rows { // a row that is refused for another reason draws no number
		for _, l := range w.table.Layouts {
			if err := w.checkFits(l, row.Values); err != nil {
				return w.refuse(err, row.Pos)
			}
		}
	}
	w.st.Numbers.Trim()
	for _, row := range rows {
		if err := w.st.Numbers.Allocate(ctx, w.table, row.Values); err != nil {
			return w.refuse(err, row.Pos)
		}
	}
	return nil
}
