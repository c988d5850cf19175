package scan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// rowBatch holds decoded rows in one array, which is reused for later batches.
type rowBatch struct {
	rows  [][]types.Value
	slab  []types.Value
	width int
}

// rowBatches are batches whose memory is used again, of at most maxKeptValues values each.
var rowBatches = sync.Pool{New: func() any { return &rowBatch{} }}

const maxKeptValues = 32 * operator.BatchRows

func newRowBatch(width int) *rowBatch {
	b := rowBatches.Get().(*rowBatch)
	b.width = width
	return b
}

// release lets others use the memory of b; nobody may use its rows any more.
func (b *rowBatch) release() {
	if cap(b.slab) > maxKeptValues {
		return
	}
	b.reset()
	for i := range b.slab[:cap(b.slab)] {
		b.slab[:cap(b.slab)][i].Clear() // it keeps no text
	}
	rowBatches.Put(b)
}

// grow appends a row of NULLs. If it replaces the array, earlier rows stay valid.
func (b *rowBatch) grow() []types.Value {
	n := len(b.slab)
	if n+b.width > cap(b.slab) {
		b.slab = make([]types.Value, 0, max(8, 2*len(b.rows))*b.width)
		n = 0
	}
	b.slab = b.slab[:n+b.width]
	row := b.slab[n : n+b.width : n+b.width]
	for i := range row {
		row[i].Clear()
	}
	if n = len(b.rows); n < cap(b.rows) { // a batch that is used again often has this row already
		if b.rows = b.rows[:n+1]; len(b.rows[n]) != b.width || &b.rows[n][0] != &row[0] {
			b.rows[n] = row
		}
		return row
	}
	b.rows = append(b.rows, row)
	return row
}

func (b *rowBatch) drop() {
	n := len(b.slab) - b.width
	poison.Values(b.slab[n:])
	b.rows, b.slab = b.rows[:len(b.rows)-1], b.slab[:n]
}

func (b *rowBatch) reset() {
	poison.Values(b.slab)
	b.rows, b.slab = b.rows[:0], b.slab[:0]
}

// wantedCell is a column to be read from a cell.
type wantedCell struct {
	family, qualifier string
	name              string // of the cell: see hbase.NextCell
	col               *catalog.Column
	plain             types.Type // type of cells that contain the value's bytes; Null for other encodings
}

// Decoder decodes the rows of a store. It is not safe for concurrent use.
type Decoder struct {
	st       *Reads
	scan     *plan.Scan
	layout   *catalog.Layout
	wanted   []wantedCell      // sorted by family, then qualifier, like the cells
	absent   []*catalog.Column // those of wanted that have a value if their cell does not exist
	packed   *catalog.Column
	key, ts  bool // whether _key and _ts are wanted
	entries  bool // only keys are read: see plan.Scan.Entries
	residual expr.Expr
	keys     catalog.KeyReader
	texts    arena
	same     []types.Value // if no column is wanted: scratch for checking keys; otherwise nil
	blank    []types.Value // in that case the row returned for every row; it is never written
	env      expr.Env
	times    []int64 // scratch for AllVersions
	points   []StoredPoint
	batch    *rowBatch       // for Decode
	ctx      context.Context // of the read that is being decoded: a name may have to be read
	seen     time.Time       // a time before that read was sent
}

// NewDecoder returns a decoder for rows of layout l of s's table. It checks the residual, except for index entries: their
// rows are checked when they are looked up.
func NewDecoder(st *Reads, s *plan.Scan, l *catalog.Layout) *Decoder {
	d := &Decoder{}
	d.of(st, s, l)
	return d.ready()
}

// of sets the state of d that all decoders of a table access share. Each reader gets a copy of d from another. If d is
// the only decoder of the access, the caller calls ready.
func (d *Decoder) of(st *Reads, s *plan.Scan, l *catalog.Layout) {
	n := len(s.Table.Columns)
	d.st, d.scan, d.layout, d.env, d.ctx = st, s, l, st.ExprEnv(), context.Background()
	d.key, d.ts = s.Needed[n], s.Needed[n+1]
	if s.Entries && l.Kind != catalog.Primary {
		d.entries = true
		d.key = true // to compare the entry with its row
		return
	}
	d.residual = s.Residual
	d.want()
	if !slices.Contains(s.Needed, true) && s.Residual == nil {
		d.same, d.blank = []types.Value{}, make([]types.Value, n+2)
	}
}

// want records the needed columns that are read from cells.
func (d *Decoder) want() {
	columns := d.scan.Table.Columns
	for _, c := range columns {
		switch {
		case c.Packed != nil:
			d.packed = c
		case c.KeyPart || !d.scan.Needed[c.Index]:
		default:
			w := wantedCell{family: c.Family, qualifier: c.Qualifier, name: string([]byte{byte(len(c.Family))}) + c.Family + c.Qualifier, col: c}
			if c.AnyBytes() {
				w.plain = c.Encoding.Type()
			}
			if d.wanted == nil {
				d.wanted = make([]wantedCell, 0, len(columns))
			}
			d.wanted = append(d.wanted, w)
			if !c.Absent().IsNull() {
				d.absent = append(d.absent, c)
			}
		}
	}
	slices.SortFunc(d.wanted, func(a, b wantedCell) int {
		return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(a.qualifier, b.qualifier))
	})
}

// another returns a decoder for another goroutine.
func (d *Decoder) another() *Decoder {
	c := *d
	return c.ready()
}

// ready sets the state of d that goroutines must not share.
func (d *Decoder) ready() *Decoder {
	d.keys.Init(d.layout)
	d.keys.Names = d
	if d.same != nil {
		d.same = make([]types.Value, len(d.blank))
	}
	return d
}

// Name implements catalog.Names.
func (d *Decoder) Name(call *expr.Call, number types.Value) (types.Value, bool, error) {
	return d.st.Numbers.Name(d.ctx, call, number, d.seen)
}

// expect makes room in b for n rows of the store.
func (d *Decoder) expect(b *rowBatch, n int) {
	if n = min(n, operator.BatchRows-len(b.rows)); d.same == nil && len(b.slab)+n*b.width > cap(b.slab) {
		b.slab = make([]types.Value, 0, n*b.width)
	}
	b.rows = slices.Grow(b.rows, n)
}

// Rows returns the logical rows of r for which the residual is true; r was read after seen.
func (d *Decoder) Rows(ctx context.Context, table string, r *hbase.Row, seen time.Time) ([][]types.Value, error) {
	d.ctx, d.seen = ctx, seen
	b := newRowBatch(d.scan.Width())
	err := d.appendRows(b, table, r)
	return b.rows, err
}

// appendRows adds the logical rows of r for which the residual is true.
func (d *Decoder) appendRows(b *rowBatch, table string, r *hbase.Row) error {
	switch {
	case d.packed != nil && !d.entries:
		from := len(b.rows)
		if err := d.appendPacked(b, table, r); err != nil || !d.scan.SortWithin {
			return err
		}
		return operator.Order(d.scan.OrderBy).Sort(b.rows[from:], &d.env)
	case d.scan.AllVersions:
		return d.appendVersions(b, table, r)
	case d.same != nil:
		return d.appendSame(b, table, r)
	}
	mark := d.texts.mark()
	row, ok, err := d.decodeKey(b, table, r.Key, nil)
	if !ok || err != nil {
		return err
	}
	d.decodeCells(row, r)
	if d.ts {
		d.setNewest(row, r.Cells)
	}
	if d.scan.Cells && !d.entries {
		row[len(row)-1] = CellsValue(r.Cells)
	}
	n := len(b.rows)
	err = d.check(b, row)
	if len(b.rows) < n {
		d.texts.rewind(mark)
	}
	return err
}

// appendSame adds a row of NULLs if the key of r belongs to the table; the query needs no column.
func (d *Decoder) appendSame(b *rowBatch, table string, r *hbase.Row) error {
	if err := d.keys.Read(table, r.Key, nil, d.same); err != nil {
		return d.malformed(table, r.Key, err)
	}
	b.rows = append(b.rows, d.blank)
	return nil
}

// decodeKey begins a row with the columns that its table, key and qualifier determine; ok is false if the row does not
// belong to the table.
func (d *Decoder) decodeKey(b *rowBatch, table string, key, qualifier []byte) (row []types.Value, ok bool, err error) {
	row = b.grow()
	err = d.keys.Read(table, key, qualifier, row)
	if err != nil {
		b.drop()
		return nil, false, d.malformed(table, key, err)
	}
	if d.key {
		row[len(d.scan.Table.Columns)] = types.NewBytes(string(key))
	}
	return row, true, nil
}

// malformed handles a key that does not fit the layout. It ignores the key if another record type shares the table;
// otherwise it counts a warning or returns an error.
func (d *Decoder) malformed(table string, key []byte, err error) error {
	var m *catalog.MalformedError
	if !errors.As(err, &m) {
		return fmt.Errorf("table %s, key %s: %w", table, HexBytes(key), err)
	}
	for _, p := range d.layout.Key.Parts {
		if p.Literal != nil && p.Source == m.Part {
			return nil
		}
	}
	t := d.scan.Table
	if t.MalformedKeyError {
		return fmt.Errorf("key %s of %s does not fit layout %s: %w", HexBytes(key), table, d.layout.Name, err)
	}
	first := bytes.Clone(key)
	d.st.Warn.Count(warning.Key, d.layout, func() func(int64) string {
		return func(n int64) string {
			return fmt.Sprintf("%s of %s not read: %s not fit layout %s, first %s (%v)", words.Count(n, "row"), t.Name,
				words.Plural(n, "its key does", "their keys do"), d.layout.Name, HexBytes(first), m)
		}
	})
	return nil
}

// decodeCells sets the wanted columns from the newest cells of r. Both lists are sorted, so one pass suffices.
func (d *Decoder) decodeCells(row []types.Value, r *hbase.Row) {
	for _, c := range d.absent {
		row[c.Index] = c.Absent()
	}
	i := 0
	if r.Encoded != nil {
		var name, value []byte
		for cells := r.Encoded; i < len(d.wanted) && len(cells) > 0; {
			name, value, cells = hbase.NextCell(cells)
			from := i
			for ; i < len(d.wanted) && d.wanted[i].name == string(name); i++ { // several columns may read the same cell
				d.decodeCell(row, &d.wanted[i], r.Key, value)
			}
			if i == from && (d.wanted[i].name[0] != name[0] || d.wanted[i].name < string(name)) { // otherwise the column comes later
				i = d.matchCell(row, i, r.Key, name[1:1+name[0]], name[1+name[0]:], value)
			}
		}
		return
	}
	for c := range r.Cells {
		cell := &r.Cells[c]
		if i = d.matchCell(row, i, r.Key, cell.Family, cell.Qualifier, cell.Value); i == len(d.wanted) {
			return
		}
	}
}

// matchCell decodes a cell if it belongs to the i-th wanted column or a later one, and returns the index of the column to
// look for next. Older versions of the cell follow it; they sort before that column.
func (d *Decoder) matchCell(row []types.Value, i int, key, family, qualifier, value []byte) int {
	for ; i < len(d.wanted); i++ {
		w := &d.wanted[i]
		if w.qualifier == string(qualifier) && w.family == string(family) {
			d.decodeCell(row, w, key, value)
			continue // another column may read the same cell
		}
		if w.family > string(family) || w.family == string(family) && w.qualifier > string(qualifier) {
			break
		}
	}
	return i
}

func (d *Decoder) decodeCell(row []types.Value, w *wantedCell, key, value []byte) {
	c := w.col
	switch w.plain {
	case types.String:
		row[c.Index] = types.NewString(d.texts.text(value))
		return
	case types.Bytes:
		row[c.Index] = types.NewBytes(d.texts.text(value))
		return
	case types.JSON, types.JSONB:
		row[c.Index] = types.NewJSONOf(w.plain, d.texts.text(value))
		return
	}
	if err := c.SetCell(&row[c.Index], value); err != nil {
		d.undecodable(c, key, err)
	}
}

// undecodable counts a value of c that cannot be decoded, and is read as NULL.
func (d *Decoder) undecodable(c *catalog.Column, key []byte, err error) {
	first := bytes.Clone(key)
	d.st.Warn.Count(warning.Cell, c, func() func(int64) string {
		return func(n int64) string {
			return fmt.Sprintf("%s of column %s of %s undecodable and read as NULL, first at key %s: %v", words.Count(n, "value"), c.Name,
				d.scan.Table.Name, HexBytes(first), err)
		}
	})
}

func (d *Decoder) setNewest(row []types.Value, cells []hbase.Cell) {
	if len(cells) == 0 {
		return
	}
	newest := cells[0].Timestamp
	for i := range cells {
		newest = max(newest, cells[i].Timestamp)
	}
	row[len(d.scan.Table.Columns)+1] = types.NewTimestamp(newest)
}

// check evaluates the residual on row, the last row of b, and drops it unless the residual is true.
func (d *Decoder) check(b *rowBatch, row []types.Value) error {
	if d.residual == nil {
		return nil
	}
	d.env.Row = row
	ok, err := expr.IsTrue(d.residual, &d.env)
	if err != nil {
		return err
	}
	if !ok {
		b.drop()
	}
	return nil
}

// appendPacked adds one row for each cell of the packed column's family.
func (d *Decoder) appendPacked(b *rowBatch, table string, r *hbase.Row) error {
	if d.packed.HoldsPoints() {
		return d.appendPoints(b, table, r)
	}
	for i := range r.Cells {
		cell := &r.Cells[i]
		if string(cell.Family) != d.packed.Family || !d.scan.AllVersions && repeats(r.Cells, i) {
			continue
		}
		row, ok, err := d.decodeKey(b, table, r.Key, cell.Qualifier)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		d.decodeCell(row, &wantedCell{col: d.packed}, r.Key, cell.Value)
		if d.ts {
			row[len(d.scan.Table.Columns)+1] = types.NewTimestamp(cell.Timestamp)
		}
		if d.scan.Cells {
			row[len(row)-1] = CellsValue(r.Cells[i : i+1])
		}
		if err := d.check(b, row); err != nil {
			return err
		}
	}
	return nil
}

// repeats reports whether cell i is an older version of the previous cell.
func repeats(cells []hbase.Cell, i int) bool {
	return i > 0 && bytes.Equal(cells[i].Qualifier, cells[i-1].Qualifier) && bytes.Equal(cells[i].Family, cells[i-1].Family)
}

// appendVersions adds a row for each time at which a cell of r was written, newest first: the row's state at that time, as
// far as cells still exist.
func (d *Decoder) appendVersions(b *rowBatch, table string, r *hbase.Row) error {
	d.times = d.times[:0]
	for i := range r.Cells {
		d.times = append(d.times, r.Cells[i].Timestamp)
	}
	slices.SortFunc(d.times, func(x, y int64) int { return cmp.Compare(y, x) })
	d.times = slices.Compact(d.times)
	var at hbase.Row
	for _, t := range d.times {
		row, ok, err := d.decodeKey(b, table, r.Key, nil)
		if !ok || err != nil {
			return err
		}
		at.Key, at.Cells = r.Key, at.Cells[:0]
		for i := range r.Cells {
			if r.Cells[i].Timestamp <= t && !repeats(append(at.Cells, r.Cells[i]), len(at.Cells)) {
				at.Cells = append(at.Cells, r.Cells[i])
			}
		}
		d.decodeCells(row, &at)
		row[len(row)-1] = types.NewTimestamp(t)
		if err := d.check(b, row); err != nil {
			return err
		}
	}
	return nil
}

// HexBytes prints bytes as an SQL literal.
func HexBytes(b []byte) string {
	if len(b) > 64 {
		return fmt.Sprintf("x'%x...'", b[:64])
	}
	return fmt.Sprintf("x'%x'", b)
}
