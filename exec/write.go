package exec

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// writeBatch is the number of rows whose mutations are sent together.
const writeBatch = 1000

// writer writes rows into all layouts of a table. Every mutation has a timestamp, so that sending it again is
// harmless: later than all cells of the row that were read. Derived layouts are
// written before the primary one and deleted after it: a crash in between leaves
// at most an entry whose row is not found.
type writer struct {
	run   *run
	table *catalog.Table
	ts    int64     // see at; 0: to be drawn
	drawn time.Time // when ts was
	env   expr.Env
	keys  map[*catalog.Layout]*catalog.KeyReader
	known map[string]bool // physical tables that exist
	// ifNew: rows are stored only where the primary layout has none. token is what this statement claims them with,
	// refused are those that another statement claimed.
	ifNew bool
	// returning takes the rows that are written; nil: nobody asks for them.
	returning    *returning
	token        []byte
	refused      map[rowID]bool
	jointEntries bool         // see hasJointEntries
	written      []writtenRow // pending ones that complete looks at
	after        int64        // when whoever begins after the pending mutations are sent writes at the earliest: see writeClock
	// pending mutations by layout, then physical table; puts and removals apart.
	puts, removals []tableMutations
	rows           int
	points         map[pointRow]map[int64]string // see touchPoint
	numbered       []*catalog.Column             // columns from which other tables' keys take numbers
	largest        []int64                       // of each in the pending rows
	shared         [][]*catalog.Column           // by column: all that are read from its cell, where that are several
	filling        bool                          // derived layouts are being filled
}

// rowID is where the primary layout has a row.
type rowID struct{ table, key, qualifier string }

// tableMutations are the mutations of one layout in the order in which they were made.
type tableMutations struct {
	names []string
	by    map[string][]hbase.Mutation
}

// at gives the time to write at over a row whose newest cell that was read is from newest, 0 for none. The clock is
// asked when the first row of a batch has been read.
func (w *writer) at(newest int64) int64 {
	if w.ts == 0 {
		w.drawn, w.ts = time.Now(), w.run.engine.clock.next()
	}
	return max(w.ts, newest+1)
}

// newest is the time of the newest cell of a row that was read.
func (w *writer) newest(row []types.Value) int64 {
	if v := row[len(w.table.Columns)+1]; !v.IsNull() {
		return v.Int()
	}
	return 0
}

func (w *writer) add(m *tableMutations, table string, mutation hbase.Mutation) {
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

// writable is the error of a statement that writes a table which its definition says is not written.
func writable(t *catalog.Table, at parser.Pos) error {
	if t.ReadOnly == "" {
		return nil
	}
	return parser.Errorf(at, "table %s is not written: %s", t.Name, t.ReadOnly)
}

func (r *run) newWriter(t *catalog.Table) *writer {
	n := len(t.Layouts)
	w := &writer{run: r, table: t, env: r.KeyEnv(), known: map[string]bool{}, keys: map[*catalog.Layout]*catalog.KeyReader{},
		puts: make([]tableMutations, n), removals: make([]tableMutations, n)}
	w.env.Lookup = r.Numbers.Known
	w.jointEntries, w.token, w.refused = w.hasJointEntries(), claimToken(), map[rowID]bool{}
	w.numbered = r.engine.catalog.Numbered(t)
	w.largest = make([]int64, len(w.numbered))
	w.shared = make([][]*catalog.Column, len(t.Columns))
	for i, a := range t.Columns {
		for _, b := range t.Columns {
			if oneCell(a, b) {
				w.shared[i] = append(w.shared[i], b)
			}
		}
		if len(w.shared[i]) == 1 {
			w.shared[i] = nil
		}
	}
	return w
}

// hasCell reports whether c is read from a cell of its name.
func hasCell(c *catalog.Column) bool { return c.Packed == nil && c.InCell() }

// oneCell reports whether a and b are read from the same cell.
func oneCell(a, b *catalog.Column) bool {
	return hasCell(a) && hasCell(b) && a.Family == b.Family && a.Qualifier == b.Qualifier
}

// agree checks that columns of one cell are not given different values, and gives those that the statement does not name
// what they will read there: entries are made of it.
func (w *writer) agree(row []types.Value, set []bool) error {
	for i, b := range w.table.Columns {
		if w.shared[i] == nil {
			continue
		}
		a := named(w.shared[i], set)
		switch {
		case a == nil || a == b:
		case !set[i]:
			row[i] = readAs(b, a, row[a.Index])
		default:
			var cells [2][]byte
			for k, c := range []*catalog.Column{a, b} {
				if v := row[c.Index]; !v.IsNull() {
					var err error
					if cells[k], err = w.cell([]byte{1}, c, v); err != nil {
						return err
					}
				}
			}
			if !bytes.Equal(cells[0], cells[1]) {
				return parser.Errorf(parser.NoPos, "columns %s and %s of %s stand in one cell, %s:%s, and are given different values", a.Name, b.Name, w.table.Name, a.Family, a.Qualifier).
					WithHint("name one of them alone: INSERT INTO t (...) or SET")
			}
		}
	}
	return nil
}

// cell appends the bytes of v in a cell of column c.
func (w *writer) cell(dst []byte, c *catalog.Column, v types.Value) ([]byte, error) {
	dst, err := c.AppendCell(dst, v)
	if err != nil {
		return nil, parser.Errorf(parser.NoPos, "column %s of %s: %v", c.Name, w.table.Name, err)
	}
	return dst, nil
}

// named gives the first of columns that the statement names, nil for none.
func named(cols []*catalog.Column, set []bool) *catalog.Column {
	for _, c := range cols {
		if set[c.Index] {
			return c
		}
	}
	return nil
}

// readAs is what column c reads of the cell that holds v of column of.
func readAs(c, of *catalog.Column, v types.Value) types.Value {
	if v.IsNull() {
		return v
	}
	cell, err := of.AppendCell(nil, v)
	if err == nil {
		v, err = c.DecodeCell(cell)
	}
	if err != nil {
		return types.Value{}
	}
	return v
}

// elsewhere reports whether the cell of column i is written for another column: for the first that the statement names and,
// in a copy, the first from whose value all others read what row has.
func (w *writer) elsewhere(i int, row []types.Value, set []bool, kind catalog.LayoutKind) bool {
	cols := w.shared[i]
	if cols == nil {
		return false
	}
	if kind == catalog.Primary {
		c := named(cols, set)
		return c != nil && c.Index != i
	}
	for _, c := range cols {
		if !slices.ContainsFunc(cols, func(o *catalog.Column) bool {
			return !sameValue(readAs(o, c, row[c.Index]), row[o.Index])
		}) {
			return c.Index != i
		}
	}
	for _, c := range cols { // a cell that others wrote: the copy is as like it as can be
		if !row[c.Index].IsNull() {
			return c.Index != i
		}
	}
	return cols[0].Index != i
}

// place is where a row stands under one layout.
type place struct {
	table          string
	key, qualifier []byte
	skip           bool // an index without an entry for the row: a column of it is NULL
}

func (p *place) id() rowID { return rowID{p.table, string(p.key), string(p.qualifier)} }

// place computes where row stands under layout l.
func (w *writer) place(l *catalog.Layout, row []types.Value) (place, error) {
	if absent(l, row) {
		return place{skip: true}, nil
	}
	keys := w.keys[l]
	if keys == nil {
		keys = catalog.NewKeyReader(l)
		w.keys[l] = keys
	}
	var at place
	var err error
	at.table, at.key, at.qualifier, err = keys.EncodeRow(row, &w.env)
	return at, err
}

// checkFits computes where row would stand under layout l if each name had a number.
func (w *writer) checkFits(l *catalog.Layout, row []types.Value) (place, error) {
	defer func(known expr.LookupFunc) { w.env.Lookup = known }(w.env.Lookup)
	w.env.Lookup = w.run.Numbers.Any
	return w.place(l, row)
}

// check is the error of a row that cannot be stored. A row that another one of its statement replaces, or that is there
// already, is checked like one that is written. Where whole is set, columns that the statement does not name are NULL.
func (w *writer) check(row []types.Value, set []bool, whole bool) error {
	if err := w.settle(row, set, whole); err != nil {
		return err
	}
	for _, l := range w.table.Layouts {
		if w.table.HiddenKey {
			break
		}
		if _, err := w.checkFits(l, row); err != nil {
			return err
		}
	}
	for i, c := range w.table.Columns {
		if v := row[i]; !v.IsNull() && c.InCell() {
			if _, err := w.cell(nil, c, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle gives columns of one cell their values, and is the error of a row without a column that it needs.
func (w *writer) settle(row []types.Value, set []bool, whole bool) error {
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

// put adds the mutations that store row. set tells the columns that the statement
// names: of those a NULL deletes the cell. Where whole is set, the others are NULL. at, where given, is where the row
// stands in the primary layout; old is what was read there, nil for nothing.
func (w *writer) put(ctx context.Context, row []types.Value, set []bool, whole bool, at *place, old []types.Value) error {
	t := w.table
	if t.HiddenKey {
		for i, c := range t.Columns {
			if c.Name == catalog.HiddenColumn && row[i].IsNull() {
				var id [16]byte
				if _, err := rand.Read(id[:]); err != nil {
					return err
				}
				row[i] = types.NewBytes(string(id[:]))
			}
		}
	}
	if err := w.settle(row, set, whole); err != nil {
		return err
	}
	places := make([]place, len(t.Layouts))
	for i, l := range t.Layouts {
		if i == 0 && at != nil {
			places[0] = *at
			continue
		}
		var err error
		if places[i], err = w.place(l, row); err != nil {
			return err
		}
	}
	var ts int64
	if old != nil {
		ts = w.at(w.newest(old))
	} else {
		ts = w.run.engine.clock.unlike(places[0].id(), w.at(0))
	}
	if w.returning != nil {
		if err := w.returning.put(ctx, w, row, set, places[0], ts, old); err != nil {
			return err
		}
	}
	for i, p := range places {
		if p.skip {
			continue
		}
		if err := w.entry(i, row, set, p, ts); err != nil {
			return err
		}
	}
	if old != nil {
		w.deleteStaleEntries(old, places, ts)
	}
	if len(t.Layouts) > 1 {
		w.written = append(w.written, writtenRow{row, ts, places[0].id()})
	}
	for i, c := range w.numbered {
		if v := row[c.Index]; !v.IsNull() && c.Type.IsInteger() {
			w.largest[i] = max(w.largest[i], v.Int())
		}
	}
	w.rows++
	return nil
}

// entry adds the mutation that stores row at p in layout i.
func (w *writer) entry(i int, row []types.Value, set []bool, p place, ts int64) error {
	puts, removed, err := w.cells(w.table.Layouts[i], row, set, p)
	if err != nil {
		return err
	}
	for _, c := range puts {
		if p.qualifier != nil && string(c.Qualifier) == string(p.qualifier) {
			w.touchPoint(p, string(p.qualifier))
		}
	}
	w.add(&w.puts[i], p.table, hbase.Mutation{Kind: hbase.Put, Key: p.key, Timestamp: ts, Cells: puts, Removed: removed})
	return nil
}

// deleteStaleEntries deletes the entries of old in derived layouts that a row written at ts, with its entries at places, does not
// overwrite: none is newer than its row. What another statement writes there at ts stays.
func (w *writer) deleteStaleEntries(old []types.Value, places []place, ts int64) {
	for i, l := range w.table.Layouts[1:] {
		was, err := w.place(l, old)
		if err != nil || was.skip {
			continue // it had no entry
		}
		if is := places[i+1]; is.skip || is.table != was.table || !bytes.Equal(is.key, was.key) {
			w.add(&w.removals[i+1], was.table, w.removal(l, was, ts-1))
		}
	}
}

// cells gives what to write and what to delete of row under layout l. A row
// without any value gets a marker, an empty cell with an empty qualifier: in
// HBase a row without cells does not exist.
func (w *writer) cells(l *catalog.Layout, row []types.Value, set []bool, at place) (puts, removed []hbase.Cell, err error) {
	if l.Kind == catalog.Index {
		return []hbase.Cell{w.entryCell()}, nil, nil
	}
	for i, c := range w.table.Columns {
		if !set[i] && l.Kind == catalog.Primary || !c.InCell() || c.Name == catalog.HiddenColumn || w.elsewhere(i, row, set, l.Kind) {
			continue // a copy may stand under a new key: it gets every column
		}
		cell := hbase.Cell{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier)}
		if c.Packed != nil {
			cell.Qualifier = at.qualifier
		}
		if row[i].IsNull() {
			if c.EmptyIsNull() {
				puts = append(puts, cell)
			} else if !w.ifNew || l.Kind != catalog.Primary {
				removed = append(removed, cell)
			}
			continue
		}
		if cell.Value, err = w.cell(nil, c, row[i]); err != nil {
			return nil, nil, err
		}
		puts = append(puts, cell)
	}
	if len(puts) == 0 || w.table.Marker != "" {
		puts = append(puts, w.marker())
	}
	if w.ifNew && l.Kind == catalog.Primary {
		puts = w.claim(puts, at)
	}
	return puts, removed, nil
}

// marker is the cell that makes a row without values exist, in a family that reads look at. No column is read from it.
func (w *writer) marker() hbase.Cell {
	family := w.table.Families[0].Name
	for _, c := range w.table.Columns {
		if c.InCell() {
			family = c.Family
			break
		}
	}
	if w.table.Marker != "" {
		return hbase.Cell{Family: []byte(family), Qualifier: []byte(w.table.Marker), Value: []byte("x")} // as Phoenix writes it
	}
	qualifier := []byte{}
	for slices.ContainsFunc(w.table.Columns, func(c *catalog.Column) bool {
		return hasCell(c) && c.Family == family && c.Qualifier == string(qualifier)
	}) {
		qualifier = append(qualifier, 0)
	}
	return hbase.Cell{Family: []byte(family), Qualifier: qualifier, Value: []byte{}}
}

// entryCell is the cell of an entry in an INDEX. IF NOT EXISTS has one of its own: what it takes back when its row is
// refused is not the entry that another statement has written and is about to write the row of.
func (w *writer) entryCell() hbase.Cell {
	c := w.marker()
	if w.ifNew {
		c.Qualifier = w.token
	}
	return c
}

// remove adds the mutations that delete row, as it was read; at is where it stands in the primary layout.
func (w *writer) remove(row []types.Value, at place) error {
	ts := max(w.at(0), w.newest(row))
	for i, l := range w.table.Layouts {
		p := at
		if i > 0 {
			var err error
			if p, err = w.place(l, row); err != nil {
				continue // no such entry can have been written
			}
		}
		if !p.skip && (p.qualifier == nil || !w.touchPoint(p, "")) {
			w.add(&w.removals[i], p.table, w.removal(l, p, ts))
		}
	}
	w.rows++
	return nil
}

// removal is the mutation that deletes what stands at p and is not newer than ts.
func (w *writer) removal(l *catalog.Layout, p place, ts int64) hbase.Mutation {
	if w.ifNew && l.Kind == catalog.Index {
		return hbase.Mutation{Kind: hbase.DeleteColumns, Key: p.key, Timestamp: ts, Cells: []hbase.Cell{w.entryCell()}}
	}
	if p.qualifier != nil && l.Kind != catalog.Index {
		for _, c := range w.table.Columns {
			if c.Packed != nil {
				return hbase.Mutation{Kind: hbase.DeleteColumns, Key: p.key, Timestamp: ts,
					Cells: []hbase.Cell{{Family: []byte(c.Family), Qualifier: p.qualifier}}}
			}
		}
	}
	return hbase.Mutation{Kind: hbase.DeleteRow, Key: p.key, Timestamp: ts}
}

// full reports whether enough is pending to be sent.
func (w *writer) full() bool { return w.rows >= writeBatch }
