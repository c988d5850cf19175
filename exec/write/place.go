package write

import (
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// rowID is the place of a row in the primary layout.
type rowID struct{ table, key, qualifier string }

// place is the place of a row under one layout.
type place struct {
	table          string
	key, qualifier []byte
	skip           bool // an index without an entry for the row: a column of it is NULL
}

func (p *place) id() rowID { return rowID{p.table, string(p.key), string(p.qualifier)} }

// place computes the place of row under layout l.
func (w *Writer) place(l *catalog.Layout, row []types.Value) (place, error) {
	if l.Lacks(row) {
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

// checkFits reports why row would have no place under layout l if each name had a number.
func (w *Writer) checkFits(l *catalog.Layout, row []types.Value) error {
	defer func(known expr.LookupFunc) { w.env.Lookup = known }(w.env.Lookup)
	w.env.Lookup = w.st.Numbers.Any
	_, err := w.place(l, row)
	return err
}

// currentPlace returns the place in the primary layout of a row that was read.
func (w *Writer) currentPlace(row []types.Value) (place, error) {
	primary := w.table.Layouts[0]
	if primary.Key.Drawn() == nil {
		return w.place(primary, row)
	}
	return w.readPlace(primary, row)
}

// readPlace returns the place in l of row, as it was read from l: under the key that was read. The row may lack some of
// the columns from which a key was computed, as an entry of an index does, or hold names that no longer have a number.
func (w *Writer) readPlace(l *catalog.Layout, row []types.Value) (place, error) {
	at := place{key: []byte(row[len(w.table.Columns)].Text())}
	name, err := l.Stored.Append(nil, row, &w.env)
	at.table = string(name)
	if err == nil && l.Packed != nil {
		at.qualifier, err = l.Packed.Append(nil, row, &w.env)
	}
	return at, err
}

// identity is the place of a row in the primary layout, the same whatever salt is drawn for it. Rows of one identity
// are one row.
func (w *Writer) identity(row []types.Value) (rowID, error) {
	at, err := w.stands(row)
	return at.id(), err
}

// stands returns the place of row in the primary layout; for a drawn part any value is possible.
func (w *Writer) stands(row []types.Value) (place, error) {
	env := w.env
	defer func() { w.env = env }()
	w.env.Rand = func() uint64 { return 0 }
	return w.place(w.table.Layouts[0], row)
}
