package write

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// This file writes cells that hold the values of several columns. A statement that names only some of them must not change
// the others, which another statement may write at the same time. It therefore replaces the cell only if that is unchanged
// since it was read.

// elements returns, for each cell of t that holds the values of several columns, these columns in the order of their
// elements. It fails if two columns read a cell differently: then the cell cannot be written.
func elements(t *catalog.Table) ([][]*catalog.Column, error) {
	var out [][]*catalog.Column
	for _, c := range t.Columns {
		if c.Element() == 0 || !hasCell(c) || slices.ContainsFunc(out, func(of []*catalog.Column) bool { return sameCell(of[0], c) }) {
			continue
		}
		cols := slices.DeleteFunc(slices.Clone(t.Columns), func(o *catalog.Column) bool { return !sameCell(o, c) })
		slices.SortFunc(cols, func(a, b *catalog.Column) int { return cmp.Compare(a.Element(), b.Element()) })
		for i, o := range cols {
			switch {
			case o.Element() == 0:
				return nil, fmt.Errorf("column %s is the whole cell %s:%s, of which others are elements", o.Name, o.Family, o.Qualifier)
			case i > 0 && o.Element() == cols[i-1].Element():
				return nil, fmt.Errorf("columns %s and %s are one element of the cell %s:%s", cols[i-1].Name, o.Name, o.Family, o.Qualifier)
			case o.Element() > maxElement:
				return nil, fmt.Errorf("column %s is the element %d of the cell %s:%s, which is beyond %d", o.Name, o.Element(), o.Family, o.Qualifier, maxElement)
			}
		}
		out = append(out, cols)
	}
	return out, nil
}

// maxElement bounds the element numbers of a cell that hql writes: the cell has an offset for each element up to the last.
const maxElement = 1 << 16

// joined returns the value of the cell that holds cols. It leaves out columns that the statement does not name and that
// have their DEFAULT.
func (w *Writer) joined(cols []*catalog.Column, row []types.Value, set []bool) ([]byte, error) {
	elements := make([][]byte, cols[len(cols)-1].Element())
	for _, c := range cols {
		v, at := row[c.Index], c.Element()-1
		switch {
		case !set[c.Index] && sameValue(v, c.Absent()):
		case !v.IsNull():
			var err error
			if elements[at], err = w.cell(nil, c, v); err != nil {
				return nil, err
			}
		case c.EmptyIsNull():
			elements[at] = []byte{}
		}
	}
	return catalog.AppendElements(nil, elements), nil
}

// mergedNow completes cell, which the columns cols share, from the current row: it takes the elements of columns that set
// does not name, and elements that no column reads.
func (w *Writer) mergedNow(cols []*catalog.Column, cell []byte, set []bool) ([]byte, error) {
	was := w.now.cell(cols[0].Family, cols[0].Qualifier)
	if was == nil {
		return cell, nil
	}
	merged, _, err := catalog.ReplaceElements(was.Value, cell, namedElements(cols, set))
	return merged, err
}

// namedElements returns the element numbers of the columns in cols that set names.
func namedElements(cols []*catalog.Column, set []bool) []int {
	var out []int
	for _, c := range cols {
		if set[c.Index] {
			out = append(out, c.Element())
		}
	}
	return out
}

// mergedCell is a cell of a pending row. The statement names only the elements in named, numbered from 1.
type mergedCell struct {
	cell  hbase.Cell // family and qualifier only
	named []int
}

// noteMerged records the cells of the row at p that must be merged: set names some but not all of their columns. If fresh,
// it also records cells of which set names no column.
func (w *Writer) noteMerged(p *place, set []bool, fresh bool) {
	var cells []mergedCell
	for _, cols := range w.elements {
		x := mergedCell{hbase.Cell{Family: []byte(cols[0].Family), Qualifier: []byte(cols[0].Qualifier)}, namedElements(cols, set)}
		if len(x.named) < len(cols) && (fresh || len(x.named) > 0) {
			cells = append(cells, x)
		}
	}
	if cells != nil {
		if w.merged == nil {
			w.merged = map[rowID][]mergedCell{}
		}
		w.merged[p.id()] = cells
	}
}

// sendMerged is send for the primary layout if some rows have cells to merge.
func (w *Writer) sendMerged(ctx context.Context, i int, of []tableMutations, create bool, when string) error {
	m, cells := &of[0], w.merged
	w.merged = nil
	rest, alone := make([]tableMutations, 1), tableMutations{}
	for _, name := range m.names {
		for _, x := range m.by[name] {
			if cells[rowID{table: name, key: string(x.Key)}] != nil {
				w.add(&alone, name, x)
			} else {
				w.add(&rest[0], name, x)
			}
		}
	}
	if err := w.send(ctx, i, rest, create, when); err != nil {
		return err
	}
	w.st.Clock.await(w.after)
	for _, name := range alone.names {
		if err := w.ensureTable(ctx, w.table.Layouts[0], name); err != nil {
			return err
		}
		ms := alone.by[name]
		var mu sync.Mutex
		report := w.oneByOne(ms, func(i int) error {
			ts, err := w.merge(ctx, name, ms[i], cells[rowID{table: name, key: string(ms[i].Key)}])
			mu.Lock()
			w.after = max(w.after, ts)
			mu.Unlock()
			return err
		})
		if report.Cause != nil {
			return writeFailed(name, when, report)
		}
	}
	w.st.Clock.await(w.after) // a merged cell may have replaced one that is newer than the statement
	*m = tableMutations{}
	return nil
}

// merge stores m, whose cells hold only the elements that the statement names. It takes the other elements from the
// current cell and puts the result if the cell is still unchanged. It repeats this until the stored cell has the elements
// of m: a Put may be refused, or be hidden by a later write. The row's other cells are sent with the first cell. merge
// returns the latest timestamp that it wrote.
func (w *Writer) merge(ctx context.Context, table string, m hbase.Mutation, cells []mergedCell) (latest int64, err error) {
	known := make([]hbase.Cell, len(cells))
	plain := slices.DeleteFunc(slices.Clone(m.Cells), func(c hbase.Cell) bool {
		k := slices.IndexFunc(cells, func(p mergedCell) bool { return sameColumn(&p.cell, &c) })
		if k >= 0 {
			known[k] = c
		}
		return k >= 0
	})
	opts := &hbase.ReadOptions{}
	for _, p := range cells {
		opts.Columns = append(opts.Columns, filter.Column{Family: string(p.cell.Family), Qualifier: string(p.cell.Qualifier)})
	}
	for round := range maxCompletions * len(cells) {
		if round > 2*len(cells) {
			if err := Pause(ctx, round); err != nil {
				return latest, err
			}
		}
		rows, err := w.st.Client.Get(ctx, table, [][]byte{m.Key}, opts)
		if err != nil {
			return latest, err
		}
		put, now := m, known[0]
		put.Timestamp = max(m.Timestamp, w.st.Clock.Next())
		put.Cells = slices.Concat(known, plain) // the cells of a new row are written in one step
		var was []byte
		if at := slices.IndexFunc(rows[0].Cells, func(c hbase.Cell) bool { return sameColumn(&now, &c) }); at >= 0 {
			was = rows[0].Cells[at].Value
			var same bool
			if now.Value, same, err = catalog.ReplaceElements(was, now.Value, cells[0].named); err != nil {
				return latest, fmt.Errorf("cell %s:%s: %w", now.Family, now.Qualifier, err)
			}
			if same && (len(cells) > 1 || len(plain)+len(m.Removed) == 0) {
				if cells, known = cells[1:], known[1:]; len(cells) == 0 {
					return latest, nil
				}
				continue
			}
			put.Timestamp = max(put.Timestamp, rows[0].Cells[at].Timestamp+1)
		}
		if len(rows[0].Cells) > 0 {
			put.Cells = append([]hbase.Cell{now}, plain...)
		}
		done, err := w.st.Client.PutIf(ctx, table, was, put)
		if err != nil {
			return latest, err
		}
		if done {
			latest, plain, m.Removed = max(latest, put.Timestamp), nil, nil
		}
	}
	return latest, errors.New("other statements change the row all the time: repeat the statement")
}

func sameColumn(a, b *hbase.Cell) bool {
	return bytes.Equal(a.Family, b.Family) && bytes.Equal(a.Qualifier, b.Qualifier)
}
