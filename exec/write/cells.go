package write

import (
	"bytes"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// hasCell reports whether c is read from a cell whose name the definition fixes.
func hasCell(c *catalog.Column) bool { return c.Packed == nil && c.InCell() }

// OneCell reports whether a and b are read from the same part of the same cell.
func OneCell(a, b *catalog.Column) bool { return sameCell(a, b) && a.Element() == b.Element() }

func sameCell(a, b *catalog.Column) bool {
	return hasCell(a) && hasCell(b) && a.Family == b.Family && a.Qualifier == b.Qualifier
}

// agree checks that a statement does not set columns of one cell to different values. It sets the other columns of the
// cell to the values that they will read, since index entries are computed from these.
func (w *Writer) agree(row []types.Value, set []bool) error {
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
				if v := row[c.Index]; !v.IsNull() && !c.LeftAway(v) {
					var err error
					if cells[k], err = w.cell([]byte{1}, c, v); err != nil {
						return err
					}
				}
			}
			if !bytes.Equal(cells[0], cells[1]) {
				return parser.Errorf(parser.NoPos, "columns %s and %s of %s share one cell, %s:%s, and are given different values", a.Name, b.Name, w.table.Name, a.Family, a.Qualifier).
					WithHint("name one of them alone: INSERT INTO t (...) or SET")
			}
		}
	}
	return nil
}

// cell appends to dst the bytes that column c's cell has for v.
func (w *Writer) cell(dst []byte, c *catalog.Column, v types.Value) ([]byte, error) {
	dst, err := c.AppendCell(dst, v)
	if err != nil {
		return nil, parser.Errorf(parser.NoPos, "column %s of %s: %v", c.Name, w.table.Name, err)
	}
	return dst, nil
}

// named returns the first of cols that the statement names, or nil.
func named(cols []*catalog.Column, set []bool) *catalog.Column {
	for _, c := range cols {
		if set[c.Index] {
			return c
		}
	}
	return nil
}

// readAs returns the value of column c after v was written to its cell as the value of another column, of. If v is
// stored without a cell, it returns the value that c has without a cell.
func readAs(c, of *catalog.Column, v types.Value) types.Value {
	if of.LeftAway(v) || v.IsNull() && !of.EmptyIsNull() {
		return c.Absent()
	}
	var cell []byte
	var err error
	if !v.IsNull() {
		cell, err = of.AppendCell(nil, v)
	}
	if err == nil {
		v, err = c.DecodeCell(cell)
	}
	if err != nil {
		return types.Value{}
	}
	return v
}

// elsewhere reports whether another column writes the cell of column i. In the primary layout, the first column of the
// cell that the statement names writes it. In a copy, it is the first column whose value gives all columns of the cell
// their values in row.
func (w *Writer) elsewhere(i int, row []types.Value, set []bool, kind catalog.LayoutKind) bool {
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
	for _, c := range cols { // no value fits all columns of a cell that another program wrote: the copy holds the first column's
		if !row[c.Index].IsNull() {
			return c.Index != i
		}
	}
	return cols[0].Index != i
}

// cells returns the cells to put and to remove for row under layout l. A row without values gets a marker cell, because HBase has no rows without cells.
func (w *Writer) cells(l *catalog.Layout, row []types.Value, set []bool, at place) (puts, removed []hbase.Cell, err error) {
	if l.Kind == catalog.Index {
		return []hbase.Cell{w.entryCell()}, nil, nil
	}
	for i, c := range w.table.Columns {
		if !set[i] && l.Kind == catalog.Primary || !c.InCell() || c.Name == catalog.HiddenColumn || w.elsewhere(i, row, set, l.Kind) {
			continue // the copy's entry may be at a new key, so it gets every column
		}
		cell := hbase.Cell{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier)}
		if c.Packed != nil {
			cell.Qualifier = at.qualifier
		}
		if left := c.LeftAway(row[i]); left || row[i].IsNull() {
			if c.EmptyIsNull() && !left {
				puts = append(puts, cell)
			} else if !w.IfNew || l.Kind != catalog.Primary {
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
	if w.IfNew && l.Kind == catalog.Primary {
		puts = w.claim(puts, at)
	}
	return puts, removed, nil
}

// marker returns the cell by which a row without values exists. It is in a family that reads request; no column reads it.
func (w *Writer) marker() hbase.Cell { return w.markerIn(w.table.RowFamilies()) }

// markerIn returns the marker in the first of families by name.
func (w *Writer) markerIn(families []string) hbase.Cell {
	family := w.table.Families[0].Name
	if len(families) > 0 {
		family = slices.Min(families)
	}
	if w.table.Marker != "" {
		for _, c := range w.table.Columns {
			if c.InCell() {
				family = c.Family
				break
			}
		}
		return hbase.Cell{Family: []byte(family), Qualifier: []byte(w.table.Marker), Value: []byte("x")} // Phoenix's value
	}
	qualifier := []byte{}
	for slices.ContainsFunc(w.table.Columns, func(c *catalog.Column) bool {
		return hasCell(c) && c.Family == family && c.Qualifier == string(qualifier)
	}) {
		qualifier = append(qualifier, 0)
	}
	return hbase.Cell{Family: []byte(family), Qualifier: qualifier, Value: []byte{}}
}

// entryCell returns the cell of an entry in an INDEX. IF NOT EXISTS uses a qualifier of its own: for a refused row, it
// then deletes only its own cell, not the entry of another statement that is about to write the row.
func (w *Writer) entryCell() hbase.Cell {
	c := w.marker()
	if w.IfNew {
		c.Qualifier = w.token
	}
	return c
}
