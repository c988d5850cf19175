package write

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Returning computes the RETURNING columns of the rows that a statement writes. It does so before a batch is sent, so that
// an error leaves the batch unwritten. It keeps them until the batch is stored.
type Returning struct {
	Columns []plan.OutputColumn
	// Joined has the values of other tables' columns with which the row joins that is written next. They follow its columns.
	Joined  []types.Value
	exprs   []expr.Expr
	needed  []bool // by column of the table, then _key and _ts
	env     expr.Env
	decoder *scan.Decoder
	pending []returnedRow
	kept    *operator.Kept
}

// Returning returns a Returning for rows of t, with the values of exprs as columns. needed marks the columns of t that
// exprs use, then _key and _ts.
func (st *Env) Returning(t *catalog.Table, columns []plan.OutputColumn, exprs []expr.Expr, needed []bool) *Returning {
	s := plan.NewScan(t, t.Layouts[0])
	for i := range s.Needed {
		s.Needed[i] = true
	}
	return &Returning{Columns: columns, exprs: exprs, needed: needed, env: st.ExprEnv(), decoder: scan.NewDecoder(st.Reads, s, s.Layout),
		kept: operator.NewKept(st.Opt, "the rows of RETURNING", false)}
}

// Given returns the columns, or nil if x is nil.
func (x *Returning) Given() []plan.OutputColumn {
	if x == nil {
		return nil
	}
	return x.Columns
}

// Rows returns the kept rows; it may be called once.
func (x *Returning) Rows() operator.Operator { return x.kept.Reader() }

// Close drops the kept rows.
func (x *Returning) Close() {
	if x != nil {
		x.kept.Close()
	}
}

// returnedRow holds the RETURNING columns of a row that is not sent yet.
type returnedRow struct {
	id     rowID
	values []types.Value
}

// add computes the RETURNING columns of row, which is identified by id.
func (x *Returning) add(id rowID, row []types.Value) error {
	out, err := x.Values(row)
	if err == nil {
		x.pending = append(x.pending, returnedRow{id, out})
	}
	return err
}

// Values computes the RETURNING columns of row. A nil x has none.
func (x *Returning) Values(row []types.Value) ([]types.Value, error) {
	if x == nil {
		return nil, nil
	}
	out := make([]types.Value, len(x.exprs))
	x.env.Row = append(slices.Clip(row), x.Joined...)
	for i, e := range x.exprs {
		var err error
		if out[i], err = e.Eval(&x.env); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// put computes the RETURNING columns of a row that is about to be written at ts, with the values that a read will return.
// Columns that are not written have their values in old.
func (x *Returning) put(ctx context.Context, w *Writer, row []types.Value, set []bool, at place, ts int64, old []types.Value) error {
	puts, removed, err := w.cells(w.table.Layouts[0], row, set, at)
	if err != nil {
		return err
	}
	stored := hbase.Row{Key: at.key}
	for _, c := range puts {
		c.Timestamp = ts
		stored.Cells = append(stored.Cells, c)
	}
	slices.SortFunc(stored.Cells, func(a, b hbase.Cell) int {
		return cmp.Or(bytes.Compare(a.Family, b.Family), bytes.Compare(a.Qualifier, b.Qualifier))
	})
	read, err := x.decoder.Rows(ctx, at.table, &stored, time.Now())
	if err != nil {
		return err
	}
	if len(read) != 1 {
		return parser.Errorf(parser.NoPos, "RETURNING cannot compute its row: a written row of %s would not be read back as one row", w.table.Name)
	}
	out := slices.Clone(read[0])
	for i, c := range w.table.Columns {
		written := func(cell hbase.Cell) bool {
			return string(cell.Family) == c.Family && string(cell.Qualifier) == c.Qualifier
		}
		if old != nil && hasCell(c) && !slices.ContainsFunc(puts, written) && !slices.ContainsFunc(removed, written) {
			out[i] = old[i]
		}
	}
	return x.add(at.id(), out)
}

// sent keeps the RETURNING columns of the rows that were sent, except the refused ones.
func (x *Returning) sent(refused map[rowID]bool) error {
	for _, p := range x.pending {
		if !refused[p.id] {
			if err := x.kept.Add([][]types.Value{p.values}); err != nil {
				return err
			}
		}
	}
	x.pending = nil
	return nil
}

// Reads reports whether x uses column i of the table; _key and _ts follow the columns.
func (x *Returning) Reads(i int) bool { return x != nil && i < len(x.needed) && x.needed[i] }

// Unread reports whether x returns columns that an INSERT does not change.
func (x *Returning) Unread(t *catalog.Table, set []bool) bool {
	for i, c := range t.Columns {
		if x.needed[i] && !set[i] && !c.KeyPart {
			return true
		}
	}
	return false
}
