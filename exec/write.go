package exec

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// writeBatch is the number of rows whose mutations are sent together.
const writeBatch = 1000

// writer writes rows into all layouts of a table. All mutations of a flush
// have one timestamp, so that sending them again is harmless. Derived layouts are
// written before the primary one and deleted after it: a crash in between leaves
// at most an entry whose row is not found.
type writer struct {
	run   *run
	table *catalog.Table
	ts    int64
	env   expr.Env
	known map[string]bool // physical tables that exist
	// pending mutations by layout, then physical table; puts and removals apart.
	puts, removals []tableMutations
	rows           int
	points         map[pointRow]map[int64]string // see touchPoint
	numbered       []*catalog.Column             // columns from which other tables' keys take numbers
	largest        []int64                       // of each in the pending rows
	shared         [][2]*catalog.Column          // columns that are read from one cell, in pairs
	filling        bool                          // derived layouts are being filled
}

// tableMutations are the mutations of one layout in the order in which they were made.
type tableMutations struct {
	names []string
	by    map[string][]hbase.Mutation
}

func (w *writer) add(m *tableMutations, table string, mutation hbase.Mutation) {
	if mutation.Kind != hbase.Put {
		w.run.engine.clock.remove(mutation.Timestamp)
	}
	if m.by == nil {
		m.by = map[string][]hbase.Mutation{}
	}
	if _, ok := m.by[table]; !ok {
		m.names = append(m.names, table)
	}
	m.by[table] = append(m.by[table], mutation)
}

func (r *run) newWriter(t *catalog.Table) *writer {
	n := len(t.Layouts)
	w := &writer{run: r, table: t, ts: r.engine.clock.next(), env: r.keyEnv(), known: map[string]bool{},
		puts: make([]tableMutations, n), removals: make([]tableMutations, n)}
	w.env.Lookup = r.engine.lookups.known
	w.numbered = r.numbered(t)
	w.largest = make([]int64, len(w.numbered))
	for i, a := range t.Columns {
		for _, b := range t.Columns[i+1:] {
			if hasCell(a) && hasCell(b) && a.Family == b.Family && a.Qualifier == b.Qualifier {
				w.shared = append(w.shared, [2]*catalog.Column{a, b})
			}
		}
	}
	return w
}

// hasCell reports whether c is read from a cell of its name.
func hasCell(c *catalog.Column) bool { return c.Packed == nil && (!c.KeyPart || c.HasCell) }

// agree checks that columns of one cell are not given different values.
func (w *writer) agree(row []types.Value, set []bool) error {
	for _, p := range w.shared {
		var cells [2][]byte
		for i, c := range p {
			if v := row[c.Index]; !v.IsNull() {
				var err error
				if cells[i], err = c.AppendCell([]byte{1}, v); err != nil {
					return parser.Errorf(parser.NoPos, "column %s of %s: %v", c.Name, w.table.Name, err)
				}
			}
		}
		if set[p[0].Index] && set[p[1].Index] && !bytes.Equal(cells[0], cells[1]) {
			return parser.Errorf(parser.NoPos, "columns %s and %s of %s stand in one cell, %s:%s, and are given different values", p[0].Name, p[1].Name, w.table.Name, p[0].Family, p[0].Qualifier).
				WithHint("name one of them alone: INSERT INTO t (...) or SET")
		}
	}
	return nil
}

// elsewhere reports whether the cell of column i is written for another column.
func (w *writer) elsewhere(i int, set []bool) bool {
	return slices.ContainsFunc(w.shared, func(p [2]*catalog.Column) bool {
		a, b := p[0].Index, p[1].Index
		return i == b && set[a] || i == a && set[b] && !set[a]
	})
}

// place is where a row stands under one layout.
type place struct {
	table          string
	key, qualifier []byte
	skip           bool // an index without an entry for the row: a column of it is NULL
}

// place computes where row stands under layout l.
func (w *writer) place(l *catalog.Layout, row []types.Value) (place, error) {
	if absent(l, row) {
		return place{skip: true}, nil
	}
	var at place
	var err error
	at.table, at.key, at.qualifier, err = l.EncodeRow(row, &w.env)
	return at, err
}

// fits computes where row would stand under layout l if each name had a number.
func (w *writer) fits(l *catalog.Layout, row []types.Value) (place, error) {
	known := w.env.Lookup
	defer func() { w.env.Lookup = known }()
	w.env.Lookup = func(table, column string, args []types.Value) (types.Value, bool) {
		if v, ok := known(table, column, args); ok {
			return v, true
		}
		if table == uidTable {
			return types.NewBytes(string(make([]byte, uidWidth))), true
		}
		return types.NewInt(0), true
	}
	return w.place(l, row)
}

// put adds the mutations that store row. set tells the columns that the statement
// names: of those a NULL deletes the cell. at, where given, is where the row
// stands in the primary layout already.
func (w *writer) put(row []types.Value, set []bool, at *place) error {
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
	for i, c := range t.Columns {
		if row[i].IsNull() && (c.NotNull || c.Packed != nil) && (set[i] || at == nil) {
			return parser.Errorf(parser.NoPos, "column %s of %s must not be NULL", c.Name, t.Name)
		}
	}
	if err := w.agree(row, set); err != nil {
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
	for i, p := range places {
		if p.skip {
			continue
		}
		if err := w.entry(i, row, set, p); err != nil {
			return err
		}
	}
	for i, c := range w.numbered {
		if v := row[c.Index]; !v.IsNull() && c.Type.IsInteger() {
			w.largest[i] = max(w.largest[i], v.Int())
		}
	}
	w.rows++
	return nil
}

// entry adds the mutations that store row at p in layout i.
func (w *writer) entry(i int, row []types.Value, set []bool, p place) error {
	puts, removed, err := w.cells(w.table.Layouts[i], row, set, p)
	if err != nil {
		return err
	}
	for _, c := range puts {
		if p.qualifier != nil && string(c.Qualifier) == string(p.qualifier) {
			w.touchPoint(p, string(p.qualifier))
		}
	}
	if len(removed) > 0 {
		w.add(&w.puts[i], p.table, hbase.Mutation{Kind: hbase.DeleteColumns, Key: p.key, Timestamp: w.ts, Cells: removed})
	}
	w.add(&w.puts[i], p.table, w.putAt(p, puts))
	return nil
}

func (w *writer) putAt(p place, cells []hbase.Cell) hbase.Mutation {
	return hbase.Mutation{Kind: hbase.Put, Key: p.key, Timestamp: w.ts, Cells: cells}
}

// cells gives what to write and what to delete of row under layout l. A row
// without any value gets a marker, an empty cell with an empty qualifier: in
// HBase a row without cells does not exist.
func (w *writer) cells(l *catalog.Layout, row []types.Value, set []bool, at place) (puts, removed []hbase.Cell, err error) {
	if l.Kind == catalog.Index {
		return []hbase.Cell{w.marker()}, nil, nil
	}
	for i, c := range w.table.Columns {
		if !set[i] && l.Kind == catalog.Primary || c.KeyPart && !c.HasCell || c.Name == catalog.HiddenColumn || w.elsewhere(i, set) {
			continue // a copy may stand under a new key: it gets every column
		}
		cell := hbase.Cell{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier)}
		if c.Packed != nil {
			cell.Qualifier = at.qualifier
		}
		if row[i].IsNull() {
			removed = append(removed, cell)
			continue
		}
		if cell.Value, err = c.AppendCell(nil, row[i]); err != nil {
			return nil, nil, parser.Errorf(parser.NoPos, "column %s of %s: %v", c.Name, w.table.Name, err)
		}
		puts = append(puts, cell)
	}
	if len(puts) == 0 || w.table.Phoenix {
		puts = append(puts, w.marker())
	}
	return puts, removed, nil
}

// marker is the cell that makes a row without values exist, in a family that reads look at.
func (w *writer) marker() hbase.Cell {
	family := w.table.Families[0].Name
	for _, c := range w.table.Columns {
		if !c.KeyPart || c.HasCell {
			family = c.Family
			break
		}
	}
	if w.table.Phoenix {
		return hbase.Cell{Family: []byte(family), Qualifier: []byte("_0"), Value: []byte("x")} // every row of Phoenix has it
	}
	return hbase.Cell{Family: []byte(family), Qualifier: []byte{}, Value: []byte{}}
}

// remove adds the mutations that delete row; at is where it stands in the primary layout.
func (w *writer) remove(row []types.Value, at place) error {
	for i, l := range w.table.Layouts {
		p := at
		if i > 0 {
			var err error
			if p, err = w.place(l, row); err != nil {
				continue // no such entry can have been written
			}
		}
		if !p.skip && (p.qualifier == nil || !w.touchPoint(p, "")) {
			w.add(&w.removals[i], p.table, w.removal(l, p))
		}
	}
	w.rows++
	return nil
}

// removal is the mutation that deletes what stands at p.
func (w *writer) removal(l *catalog.Layout, p place) hbase.Mutation {
	if p.qualifier != nil && l.Kind != catalog.Index {
		for _, c := range w.table.Columns {
			if c.Packed != nil {
				return hbase.Mutation{Kind: hbase.DeleteColumns, Key: p.key, Timestamp: w.ts,
					Cells: []hbase.Cell{{Family: []byte(c.Family), Qualifier: p.qualifier}}}
			}
		}
	}
	return hbase.Mutation{Kind: hbase.DeleteRow, Key: p.key, Timestamp: w.ts}
}

// full tells that enough is pending to be sent.
func (w *writer) full() bool { return w.rows >= writeBatch }

// flush sends what is pending: new entries first, derived layouts before the
// primary; then removals, the primary first.
func (w *writer) flush(ctx context.Context) error {
	if err := w.retirePoints(ctx); err != nil {
		return err
	}
	for i, l := range w.table.Layouts {
		if len(w.puts[i].names) > 0 && !w.filling { // its first entry would hide that all others are missing
			if err := w.run.filled(ctx, w.table, l); err != nil {
				return err
			}
		}
	}
	if len(w.numbered) > 0 {
		defer w.run.engine.lookups.clear()
	}
	for i, n := range w.largest {
		if n > 0 {
			if err := w.run.reserve(ctx, w.table, w.numbered[i], n); err != nil {
				return err
			}
		}
		w.largest[i] = 0
	}
	for i := len(w.puts) - 1; i >= 0; i-- {
		written := len(w.puts[i].names) > 0
		if err := w.send(ctx, w.table.Layouts[i], &w.puts[i], true); err != nil {
			return err
		}
		if written && !w.filling {
			w.run.full.known.Store(w.table.Layouts[i], true)
		}
	}
	for i := range w.removals {
		if err := w.send(ctx, w.table.Layouts[i], &w.removals[i], false); err != nil {
			return err
		}
	}
	w.rows = 0
	w.ts = w.run.engine.clock.next() // what follows may overwrite what was sent
	return nil
}

func (w *writer) send(ctx context.Context, l *catalog.Layout, m *tableMutations, create bool) error {
	for _, name := range m.names {
		if create {
			if err := w.ensureTable(ctx, l, name); err != nil {
				return err
			}
		}
		err := w.run.client.Mutate(ctx, name, m.by[name])
		if !create && errors.Is(err, hbase.ErrNoTable) {
			err = nil
		}
		if errors.Is(err, ErrReadOnly) {
			return err
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	*m = tableMutations{}
	return nil
}

// ensureTable creates the physical table of a row whose table's name is
// computed, when the definition allows it.
func (w *writer) ensureTable(ctx context.Context, l *catalog.Layout, name string) error {
	if l.Stored.IsLiteral() || w.known[name] {
		return nil
	}
	_, err := w.run.client.Families(ctx, name)
	if errors.Is(err, hbase.ErrNoTable) && (w.table.CreateTables || !w.table.External) {
		err = w.run.createPhysical(ctx, w.table, name)
	}
	if err == nil {
		w.known[name] = true
	}
	return err
}

// refuse words why the row that stands at pos of a statement is not stored.
func (w *writer) refuse(err error, pos parser.Pos) error {
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
