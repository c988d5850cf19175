package write

import (
	"bytes"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/types"
)

// Deletes returns a description of what Delete removes from each row of t.
func Deletes(t *catalog.Table) string {
	for _, c := range t.Columns {
		if c.Packed != nil {
			return "its cell in family " + c.Family
		}
	}
	families := t.OwnFamilies()
	if families == nil {
		return "the whole row of HBase"
	}
	return words.Plural(int64(len(families)), "all of family ", "all of families ") + strings.Join(families, ", ") + "; other families stay"
}

// removal returns the mutation that deletes the cells at p with timestamps up to ts.
func (w *Writer) removal(l *catalog.Layout, p place, ts int64) hbase.Mutation {
	if w.IfNew && l.Kind == catalog.Index {
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
	m := hbase.Mutation{Kind: hbase.DeleteRow, Key: p.key, Timestamp: ts}
	if families := w.table.OwnFamilies(); l.Kind != catalog.Index && families != nil {
		m.Kind = hbase.DeleteFamilies
		for _, f := range families {
			m.Cells = append(m.Cells, hbase.Cell{Family: []byte(f)})
		}
	}
	return m
}

// deleteStaleEntries deletes the entries that a row with the values old has in derived layouts, after the row was
// written at ts. places are the places of its new entries; an old entry at one of these was replaced and stays. Cells
// that another statement writes at an old place at ts stay, since no entry is newer than its row. kept reports whether
// an old entry stays.
func (w *Writer) deleteStaleEntries(old []types.Value, places []place, ts int64) (kept bool) {
	for i, l := range w.table.Layouts[1:] {
		was, err := w.place(l, old)
		if err != nil || was.skip {
			continue // it had no entry
		}
		is := places[i+1]
		same := !is.skip && is.table == was.table && bytes.Equal(is.key, was.key)
		own := w.IfNew && l.Kind == catalog.Index // entryCell gives the statement a cell of its own
		if !same || own {
			w.add(&w.removals[i+1], was.table, w.removal(l, was, ts-1))
		}
		kept = kept || same && !own
	}
	return kept
}
