package write

import (
	"fmt"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// rowID identifies the place of a row in the primary layout.
type rowID struct{ table, key, qualifier string }

// place is the position of a row in one layout: HBase table, rowkey and, in packed rows, qualifier.
type place struct {
	table          string
	key, qualifier []byte
	skip           bool // the index has no entry for the row, because an indexed column is NULL
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

// checkFits returns the reason why row does not fit layout l, assuming that each name has a number.
func (w *Writer) checkFits(l *catalog.Layout, row []types.Value) error {
	defer func(known expr.LookupFunc) { w.env.Lookup = known }(w.env.Lookup)
	w.env.Lookup = w.st.Numbers.Any
	_, err := w.place(l, row)
	return err
}

// currentPlace returns the place in the primary layout of a row that was read from the store.
func (w *Writer) currentPlace(row []types.Value) (place, error) {
	primary := w.table.Layouts[0]
	if primary.Key.Drawn() == nil {
		return w.place(primary, row)
	}
	return w.readPlace(primary, row)
}

// readPlace returns the place in l of row, which was read from l. It takes the key from the row, because it may be
// impossible to compute: the salt is drawn at random, an index entry lacks columns, or the dictionary no longer has a
// name's number.
func (w *Writer) readPlace(l *catalog.Layout, row []types.Value) (place, error) {
	at := place{key: []byte(row[len(w.table.Columns)].Text())}
	name, err := l.Stored.Append(nil, row, &w.env)
	at.table = string(name)
	if err == nil && l.Packed != nil {
		at.qualifier, err = l.Packed.Append(nil, row, &w.env)
	}
	return at, err
}

// identity identifies the row in the primary layout independently of the salt that is drawn for it.
func (w *Writer) identity(row []types.Value) (rowID, error) {
	at, err := w.undrawn(row)
	return at.id(), err
}

// ID returns a text that identifies row, of the statement at pos, in the table, independently of the salt that is drawn for
// it. Names in the row must have their numbers.
func (w *Writer) ID(row []types.Value, pos parser.Pos) (string, error) {
	id, err := w.identity(row)
	return fmt.Sprintf("%q %q %q", id.table, id.key, id.qualifier), w.Refuse(err, pos)
}

// undrawn returns the place of row in the primary layout with 0 for the part of the key that is drawn at random.
func (w *Writer) undrawn(row []types.Value) (place, error) {
	env := w.env
	defer func() { w.env = env }()
	w.env.Rand = func() uint64 { return 0 }
	return w.place(w.table.Layouts[0], row)
}
