package write

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	// Unchanged fails if one of tables was dropped or replaced since the statement began.
	Unchanged func(ctx context.Context, tables ...*catalog.Table) error
	// Sending is held with weight 1 while rows are sent to tables that passed Unchanged.
	Sending *semaphore.Weighted
	// Arrived fails if sending rows took so long that CREATE INDEX, which has changed the definition of t meanwhile, may
	// have filled the index without them.
	Arrived func(ctx context.Context, t *catalog.Table) error
	// Filled refuses l, a derived layout of t, if it was never filled: its first entry would hide that all others are
	// missing. NoteFilled records that it has entries.
	Filled     func(ctx context.Context, t *catalog.Table, l *catalog.Layout) error
	NoteFilled func(l *catalog.Layout)
	// MakeTable creates the HBase table name for rows of t.
	MakeTable func(ctx context.Context, t *catalog.Table, name string) error
	// Check compiles a CHECK of t.
	Check func(t *catalog.Table, c catalog.Check) (expr.Expr, error)
	// Where calls f with the rows of t for which where is true; args are its parameters.
	Where func(ctx context.Context, t *catalog.Table, where parser.Expr, args []types.Value, f func(rows [][]types.Value) error) error
}

// Writer writes rows into all layouts of a table. Every mutation has a timestamp later than all cells of the row that were
// read, so that sending it twice is harmless. Derived layouts are written before the primary one and deleted after it:
// after a crash, an entry may have no row, but no row lacks an entry.
type Writer struct {
	st    *Env
	table *catalog.Table
	ts    int64     // see at; 0: not drawn yet
	drawn time.Time // when ts was drawn
	env   expr.Env
	keys  map[*catalog.Layout]*catalog.KeyReader
	known map[string]bool // physical tables that exist
	// IfNew stores rows only if the primary layout has none. token marks the claims of this statement; refused are the
	// rows that another statement claimed.
	IfNew bool
	// Returning receives the rows that are written; nil if the statement has no RETURNING.
	Returning    *Returning
	token        []byte
	claimIn      []string // the claim is in the first of these families by name; nil: not computed yet
	refused      map[rowID]bool
	jointEntries bool         // see hasJointEntries
	written      []writtenRow // pending rows for complete to check
	unsettled    []writtenRow // see takeBack
	after        int64        // the earliest timestamp of statements that begin after the pending mutations were sent: see Clock
	// The pending mutations by layout, then physical table.
	puts, removals []tableMutations
	rows           int
	points         map[pointRow]map[int64]string // see touchPoint
	lookups        bool                          // writing a row may give numbers to names
	numbered       []*catalog.Column             // columns of a LOOKUP's table that hold the numbers of its names
	largest        []int64                       // the largest value of each in the pending rows
	shared         [][]*catalog.Column           // by column: all columns of its cell if there are several, otherwise nil
	checks         []expr.Expr                   // those of the table that are compiled yet
	filling        bool                          // the writer fills derived layouts from existing rows
	// Changed is the number of rows that UPDATE or DELETE changed.
	Changed int64
	// For UPDATE and DELETE of rows on condition that they are unchanged since they were read, see unchanged.go.
	reads    []bool         // the columns, _key and _ts that must be unchanged
	changes  []change       // to be applied
	now      *storedRow     // the row to which a change is being applied
	held     map[rowID]held // the changes of the batch
	later    []laterRemoval
	missed   []Missed
	only     map[rowID]bool    // nil: all rows
	attempts map[rowID]attempt // failed attempts; nil: there are no conditions
	doubts   []doubtful
	// For statements that read the table several times, see NoteStates.
	states      map[uint64]bool // nil: they do not matter
	noting      bool            // no row is changed
	evaluations int
}

// laterRemoval adds the removals of derived entries that must wait until the row was changed.
type laterRemoval struct {
	row rowID
	add func()
}

// tableMutations are the mutations of one layout by HBase table, in the order in which they were added.
type tableMutations struct {
	names []string
	by    map[string][]hbase.Mutation
}

// at returns the timestamp for writing a row whose newest cell that was read has the timestamp newest; 0: none was read.
// It reads the clock once per batch, after the first row was read.
func (w *Writer) at(newest int64) int64 {
	if w.ts == 0 {
		w.drawn, w.ts = time.Now(), w.st.Clock.Next()
	}
	return max(w.ts, newest+1)
}

// newest returns the timestamp of the newest cell of a row that was read.
func (w *Writer) newest(row []types.Value) int64 {
	if v := row[len(w.table.Columns)+1]; !v.IsNull() {
		return v.Int()
	}
	return 0
}

func (w *Writer) add(m *tableMutations, table string, mutation hbase.Mutation) {
	if w.after = max(w.after, mutation.Timestamp); mutation.Kind != hbase.Put || len(mutation.Removed) > 0 {
		w.after = max(w.after, mutation.Timestamp+1) // a removal also hides cells with its own timestamp
	}
	if m.by == nil {
		m.by = map[string][]hbase.Mutation{}
	}
	if _, ok := m.by[table]; !ok {
		m.names = append(m.names, table)
	}
	m.by[table] = append(m.by[table], mutation)
}

// Writable returns an error if the definition of t does not allow writing.
func Writable(t *catalog.Table, at parser.Pos) error {
	if t.Def.Materialized {
		return parser.Errorf(at, "cannot change materialized view %q", t.Name).WithHint("REFRESH MATERIALIZED VIEW %s runs its query again", parser.QuoteName(t.Name))
	}
	why := t.ReadOnly
	if i := slices.IndexFunc(t.Columns, func(c *catalog.Column) bool { return c.Element() > 0 }); why == "" && i >= 0 {
		why = fmt.Sprintf("column %s is a part of a cell, and hql writes whole cells", t.Columns[i].Name)
	}
	if why == "" {
		return nil
	}
	return parser.Errorf(at, "table %s is not written: %s", t.Name, why)
}

// New returns a writer of rows of t.
func New(st *Env, t *catalog.Table) *Writer {
	n := len(t.Layouts)
	w := &Writer{st: st, table: t, env: st.KeyEnv(), known: map[string]bool{}, keys: map[*catalog.Layout]*catalog.KeyReader{},
		puts: make([]tableMutations, n), removals: make([]tableMutations, n)}
	w.env.Lookup = w.st.Numbers.Known
	w.jointEntries, w.token, w.refused = w.hasJointEntries(), claimToken(), map[rowID]bool{}
	w.lookups, w.numbered = len(t.LookupParts()) > 0, st.Catalog.Numbered(t)
	w.largest = make([]int64, len(w.numbered))
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

// Check returns an error if a row cannot be stored. It also checks rows that are not written, because they exist or a
// later row of the statement replaces them. With whole, columns that the statement does not name have the values that
// readers see if the cells are missing.
func (w *Writer) Check(row []types.Value, set []bool, whole bool) error {
	if whole {
		w.fillAbsent(row, set)
	}
	if err := w.fillShared(row, set, whole); err != nil {
		return err
	}
	if err := w.meets(row, set, whole); err != nil {
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

// fillAbsent sets the columns that the statement does not name to the values that readers see if the cells are missing:
// index entries are computed from these values.
func (w *Writer) fillAbsent(row []types.Value, set []bool) {
	for i, c := range w.table.Columns {
		if !set[i] && row[i].IsNull() && c.Packed == nil { // a packed cell is the row itself
			row[i] = c.Absent()
		}
	}
}

// fillShared sets the columns that share a cell with a named one (see agree), and checks that the row has the columns that it
// needs.
func (w *Writer) fillShared(row []types.Value, set []bool, whole bool) error {
	if err := w.agree(row, set); err != nil {
		return err
	}
	for i, c := range w.table.Columns {
		if row[i].IsNull() && (whole || set[i]) && (c.NotNull || c.Packed != nil) && c.Name != catalog.HiddenColumn {
			return parser.Errorf(parser.NoPos, "column %s of %s must not be NULL", c.Name, w.table.Name).
				Of(&ConstraintError{Table: w.table.Name, Column: c.Name, Row: w.shown(row)})
		}
	}
	return nil
}

// ConstraintError is the Kind of the error for a row that breaks NOT NULL or a CHECK, or has the drawn key of another row.
type ConstraintError struct {
	Table      string
	Column     string // of NOT NULL
	Constraint string // the name of a CHECK, or of the primary key
	Key        string // the columns of a key that another row has, and their values: (id)=(5)
	Row        string // the values of the row, separated by commas; "" if it is one that exists
}

// Error names the constraint.
func (e *ConstraintError) Error() string { return e.Table + ": " + cmp.Or(e.Constraint, e.Column) }

// meets returns an error if row breaks a CHECK. If row is not whole, meets leaves out a CHECK of a column that set does not mark.
func (w *Writer) meets(row []types.Value, set []bool, whole bool) error {
	for i, c := range w.table.Checks {
		if !whole && slices.ContainsFunc(c.Columns, func(col int) bool { return !set[col] }) {
			continue
		}
		for len(w.checks) <= i {
			x, err := w.st.Check(w.table, w.table.Checks[len(w.checks)])
			if err != nil {
				return err
			}
			w.checks = append(w.checks, x)
		}
		env := w.env
		env.Row = row
		v, err := w.checks[i].Eval(&env)
		var within *parser.Error
		switch {
		case errors.As(err, &within):
			return parser.Errorf(parser.NoPos, "check constraint %q of %s: %s", c.Name, w.table.Name, within.Msg)
		case err == nil && !v.IsNull() && !v.Bool():
			err = parser.Errorf(parser.NoPos, "new row for relation %q violates check constraint %q", w.table.Name, c.Name).
				Of(&ConstraintError{Table: w.table.Name, Constraint: c.Name, Row: w.shown(row)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Proposed returns an error if p, the row of an INSERT ... ON CONFLICT, breaks a CHECK, even if another row would be updated.
func (in *Inserter) Proposed(p Row) error {
	row := slices.Clone(p.Values)
	in.fillAbsent(row, in.Named(p))
	return in.Refuse(in.meets(row, in.Named(p), true), p.Pos)
}

// shown returns the values of row as PostgreSQL shows those of a row that it refuses.
func (w *Writer) shown(row []types.Value) string {
	var out []string
	for i, c := range w.table.Columns {
		switch v := row[i]; {
		case c.Name == catalog.HiddenColumn:
		case v.IsNull():
			out = append(out, "null")
		default:
			out = append(out, v.String())
		}
	}
	return strings.Join(out, ", ")
}

// drawHiddenKey draws the hidden key of row, unless the statement names one.
func (w *Writer) drawHiddenKey(row []types.Value) {
	for i, c := range w.table.Columns {
		if w.table.HiddenKey && c.Name == catalog.HiddenColumn && row[i].IsNull() {
			var id [16]byte
			rand.Read(id[:]) // never fails
			row[i] = types.NewBytes(string(id[:]))
		}
	}
}

// places returns the place of row in each layout. at, if not nil, is its place in the primary layout.
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
// its cell. With whole, the other columns get the values that readers see if the cells are missing. at, if not nil, is
// the place of the row in the primary layout. old is the row that was read there, or nil.
func (w *Writer) put(ctx context.Context, row []types.Value, set []bool, whole bool, at *place, old []types.Value) error {
	t := w.table
	if whole && old == nil {
		w.fillAbsent(row, set)
	}
	if err := w.fillShared(row, set, whole); err != nil {
		return err
	}
	if err := w.meets(row, set, true); err != nil {
		return err
	}
	if w.lookups { // columns that the statement does not name may need numbers, too
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
	if w.Returning != nil {
		if err := w.Returning.put(ctx, w, row, set, places[0], ts, old); err != nil {
			return err
		}
	}
	for i, p := range places {
		if p.skip {
			continue
		}
		puts, err := w.entry(i, row, set, p, ts)
		if err != nil {
			return err
		}
		if i == 0 && !w.IfNew && p.qualifier == nil && (old != nil && !whole || w.Returning != nil) {
			w.doubt(p, puts, old)
		}
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

// noteNumbers updates w.largest with the numbers that row assigns to names for the keys of other tables.
func (w *Writer) noteNumbers(row []types.Value) {
	for i, c := range w.numbered {
		if v := row[c.Index]; !v.IsNull() && c.Type.IsInteger() {
			w.largest[i] = max(w.largest[i], v.Int())
		}
	}
}

// atEnd returns the error for a row with a cell that has the latest possible timestamp.
func (w *Writer) atEnd(p place) error {
	return parser.Errorf(parser.NoPos, "the row with key %.64q of %s has a cell with the latest possible timestamp, %d: no later cell can be written", p.key, w.table.Name, int64(hbase.LastTime)).
		WithHint("delete that version of the cell, in HBase's shell or by a program")
}

// afterRow calls add at once. If the change of the row at p has a condition, it keeps add until the row was changed.
func (w *Writer) afterRow(p place, add func()) {
	if w.now == nil {
		add()
	} else {
		w.later = append(w.later, laterRemoval{p.id(), add})
	}
}

// entry adds the mutation that stores row at p in layout i, and returns its cells; for the parameters see cells.
func (w *Writer) entry(i int, row []types.Value, set []bool, p place, ts int64) ([]hbase.Cell, error) {
	puts, removed, err := w.cells(w.table.Layouts[i], row, set, p)
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
		m.If = w.ifUnchanged(p, slices.Concat(puts, removed), false)
	}
	w.add(&w.puts[i], p.table, m)
	return puts, nil
}

// remove adds the mutations that delete row, which was read; at is its place in the primary layout.
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
			m.If = w.ifUnchanged(at, columns, columns == nil)
		}
		w.add(&w.removals[0], at.table, m)
	}
	w.afterRow(at, func() {
		for i, l := range w.table.Layouts[1:] {
			if p, err := w.place(l, row); err == nil && !p.skip { // otherwise it cannot have an entry
				w.add(&w.removals[i+1], p.table, w.removal(l, p, ts))
			}
		}
	})
	w.rows++
	return nil
}

// removedAt returns the timestamp for the deletion of row. A conditional deletion uses the time of the newest cell: a
// client whose clock is ahead then does not hide the row that another client inserts next. With derived layouts, the
// deletion has a later timestamp, because entries may be later than their row, and a row must not be visible without its
// entries.
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

// Change replaces old, which was read, by become at the same place, or deletes it if become is nil. set marks the columns that
// the statement at pos names.
func (w *Writer) Change(ctx context.Context, old, become []types.Value, set []bool, pos parser.Pos) error {
	c := change{old: old, become: become, set: set, pos: pos}
	if done, err := w.deferred(c); done || err != nil {
		return err
	}
	at, err := w.currentPlace(old)
	if err == nil {
		err = w.change(ctx, c, old, at)
	}
	return w.Refuse(err, pos)
}

// change adds the mutations of c to the row now at p.
func (w *Writer) change(ctx context.Context, c change, now []types.Value, p place) error {
	if c.become != nil {
		if err := w.Allocate(ctx, []Row{{Values: c.become, Pos: c.pos}}); err != nil {
			return err
		}
		return w.put(ctx, c.become, c.set, false, &p, now)
	}
	err := w.remove(now, p)
	if err == nil && w.Returning != nil {
		err = w.Returning.add(p.id(), now)
	}
	return err
}

// deferred keeps a conditional change until the batch is full. It reports whether the caller is done with the row, which
// is also the case if Only excludes it.
func (w *Writer) deferred(c change) (bool, error) {
	if w.only != nil {
		at, err := w.currentPlace(c.old)
		if err != nil || !w.only[at.id()] {
			return true, w.Refuse(err, c.pos)
		}
	}
	if w.attempts == nil {
		return false, nil
	}
	c.old = slices.Clone(c.old)
	if w.Returning != nil {
		c.joined = slices.Clone(w.Returning.Joined)
	}
	w.changes = append(w.changes, c)
	return true, nil
}

// Key returns the key of row under l; nil if an INDEX has no entry for it.
func (w *Writer) Key(l *catalog.Layout, row []types.Value) ([]byte, error) {
	at, err := w.place(l, row)
	return at.key, err
}

// Full reports whether the pending rows fill a batch.
func (w *Writer) Full() bool { return w.rows+len(w.changes) >= Batch }

// Width returns the number of columns of a row, including _key and _ts.
func (w *Writer) Width() int { return len(w.table.Columns) + 2 }

// Refuse returns the error for a row at pos that cannot be stored.
func (w *Writer) Refuse(err error, pos parser.Pos) error {
	if key, ok := errors.AsType[*catalog.KeyError](err); ok {
		e := parser.Errorf(pos, "the row does not fit %s: %v", w.table.Name, key)
		if key.Null {
			e.Kind = &ConstraintError{Table: w.table.Name, Column: key.Column}
		}
		return e
	}
	if pe, ok := errors.AsType[*parser.Error](err); ok && pe.Pos < 0 {
		e := *pe
		e.Pos = pos
		return &e
	}
	return err
}

// Allocate assigns numbers to the names in rows that have none yet.
func (w *Writer) Allocate(ctx context.Context, rows []Row) error {
	if !w.lookups {
		return nil
	}
	for _, row := range rows { // check each row first: a row that is refused must not draw a number
		for _, l := range w.table.Layouts {
			if err := w.checkFits(l, row.Values); err != nil {
				return w.Refuse(err, row.Pos)
			}
		}
	}
	w.st.Numbers.Trim()
	for _, row := range rows {
		if err := w.st.Numbers.Allocate(ctx, w.table, row.Values); err != nil {
			return w.Refuse(err, row.Pos)
		}
	}
	return nil
}
