package exec

import (
	"bytes"
	"context"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// planWhere plans the reading of the rows that an UPDATE or DELETE is about, with all their columns, and
// compiles the values that an UPDATE sets.
func (r *run) planWhere(ctx context.Context, t *catalog.Table, alias string, where parser.Expr, allow bool, values ...parser.Expr) (*planner.Plan, []expr.Expr, error) {
	var exprs []expr.Expr
	p, err := r.resolved(ctx, func() (p *planner.Plan, err error) {
		if p, exprs, err = r.env.Where(t, alias, where, values); err == nil {
			p.FullScanAllowed = allow
		}
		return p, err
	})
	return p, exprs, err
}

// standing is where a row that was read stands in the primary layout.
func (w *writer) standing(row []types.Value) (place, error) {
	primary := w.table.Layouts[0]
	if drawnPart(primary.Key) == nil {
		return w.place(primary, row)
	}
	at := place{key: []byte(row[len(w.table.Columns)].Text())}
	name, err := primary.Stored.Append(nil, row, &w.env)
	at.table = string(name)
	if err == nil && primary.Packed != nil {
		at.qualifier, err = primary.Packed.Append(nil, row, &w.env)
	}
	return at, err
}

// delete runs DELETE.
func (r *run) delete(ctx context.Context, s *parser.Delete) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	p, _, err := r.planWhere(ctx, t, s.Alias, s.Where, s.AllowFullScan)
	if err != nil {
		return nil, err
	}
	w := r.newWriter(t)
	return r.change(ctx, w, p, len(p.Subplans) > 0, nil, func(row, _ []types.Value) error {
		at, err := w.standing(row)
		if err == nil {
			err = w.remove(row, at)
		}
		return w.refuse(err, s.Pos)
	})
}

// change has f write, to w, what becomes of each row of p, and sends it; moves: the statement may move what it reads.
// With next, f also gets what that makes of the row. It is asked for all of the rows before one is written, for it may read the table.
func (r *run) change(ctx context.Context, w *writer, p *planner.Plan, moves bool, next func(row []types.Value) ([]types.Value, error), f func(row, next []types.Value) error) (*Rows, error) {
	n := int64(0)
	err := r.eachRow(ctx, p, moves, func(rows [][]types.Value) error {
		if err := r.know(ctx, w, rows); err != nil {
			return err
		}
		become := make([][]types.Value, len(rows))
		for i := 0; next != nil && i < len(rows); i++ {
			var err error
			if become[i], err = next(rows[i]); err != nil {
				return err
			}
		}
		for i, row := range rows {
			if err := f(row, become[i]); err != nil {
				return err
			}
			if w.full() {
				if err := w.flush(ctx); err != nil {
					return err
				}
			}
		}
		n += int64(len(rows))
		r.rec.written.Store(n)
		return nil
	})
	if err == nil {
		err = w.flush(ctx)
	}
	if err != nil {
		return nil, err
	}
	return r.done(n), nil
}

// update runs UPDATE. Columns of the key stay as they are: a row with another key is another row.
func (r *run) update(ctx context.Context, s *parser.Update) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	set, values, err := assignments(t, s)
	if err != nil {
		return nil, err
	}
	p, exprs, err := r.planWhere(ctx, t, s.Alias, s.Where, s.AllowFullScan, values...)
	if err != nil {
		return nil, err
	}
	w, env := r.newWriter(t), r.exprEnv()
	next := func(old []types.Value) ([]types.Value, error) {
		row := slices.Clone(old)
		env.Row = old
		for i, a := range s.Set {
			c, _ := t.Column(a.Column.Name)
			v, err := exprs[i].Eval(&env)
			if err != nil {
				return nil, err
			}
			if row[c.Index], err = r.assign(v, c, a.Expr.Position()); err != nil {
				return nil, err
			}
		}
		return row, nil
	}
	return r.change(ctx, w, p, len(t.Layouts) > 1 || len(p.Subplans) > 0, next, func(old, row []types.Value) error {
		if err := r.allocate(ctx, w, []pendingRow{{row: row, pos: s.Pos}}); err != nil {
			return err
		}
		at, err := w.standing(old)
		if err == nil {
			err = w.put(row, set, &at)
		}
		if err == nil {
			err = w.retire(old, row)
		}
		return w.refuse(err, s.Pos)
	})
}

// assignments compiles SET.
func assignments(t *catalog.Table, s *parser.Update) (set []bool, values []parser.Expr, err error) {
	set = make([]bool, len(t.Columns))
	for _, a := range s.Set {
		c, err := columnNamed(t, a.Column)
		if err != nil {
			return nil, nil, err
		}
		if part := keyPartOf(t.Layouts[0], c.Index); part != "" {
			return nil, nil, parser.Errorf(a.Column.Pos, "column %s is part of the rowkey (%s): UPDATE cannot change it", c.Name, part).
				WithHint("insert the row anew and delete the old one")
		}
		if set[c.Index] {
			return nil, nil, parser.Errorf(a.Column.Pos, "column %q is set twice", c.Name)
		}
		set[c.Index] = true
		values = append(values, a.Expr)
	}
	return set, values, nil
}

// keyPartOf gives the part of l's keys and names that column col goes into; "" for none.
func keyPartOf(l *catalog.Layout, col int) string {
	for _, p := range []*catalog.Pattern{l.Stored, l.Key, l.Packed} {
		if p == nil {
			continue
		}
		for _, part := range p.Parts {
			if slices.Contains(part.Columns, col) {
				return part.Source
			}
		}
	}
	return ""
}

// retire deletes the entries of old in derived layouts that row does not overwrite.
func (w *writer) retire(old, row []types.Value) error {
	for i, l := range w.table.Layouts[1:] {
		was, err := w.place(l, old)
		if err != nil || was.skip {
			continue // it had no entry
		}
		is, err := w.place(l, row)
		if err != nil {
			return err
		}
		if is.skip || is.table != was.table || !bytes.Equal(is.key, was.key) {
			w.add(&w.removals[i+1], was.table, w.removal(l, was))
		}
	}
	return nil
}

// present reads the rows that the primary layout holds under the keys of rows, for tables with
// several layouts: nil for a row that is not there. A drawn part makes every row a new one.
func (r *run) present(ctx context.Context, w *writer, rows []pendingRow) ([][]types.Value, error) {
	t := w.table
	if len(t.Layouts) == 1 || drawnPart(t.Layouts[0].Key) != nil || len(rows) == 0 {
		return nil, nil
	}
	s := &planner.Scan{Table: t, Layout: t.Layouts[0], Hold: -1, Limit: -1, Access: planner.Get, Whole: true, Needed: make([]bool, len(t.Columns)+2)}
	for i := range t.Columns {
		s.Needed[i] = true
	}
	opts := readOptions(s, s.Layout)
	dec := newDecoder(r.statement, s, s.Layout)
	dec.ctx = ctx
	out := make([][]types.Value, len(rows))
	for i := 0; i < len(rows); {
		var table string
		var keys [][]byte
		from := i
		for ; i < len(rows) && len(keys) < getChunk; i++ {
			at, err := w.place(s.Layout, rows[i].row)
			if err != nil {
				return nil, w.refuse(err, rows[i].pos)
			}
			if len(keys) > 0 && at.table != table {
				break
			}
			table, keys = at.table, append(keys, at.key)
		}
		found, err := r.client.Get(ctx, table, keys, opts)
		if err != nil {
			return nil, err
		}
		for k := range found {
			if found[k].Key == nil {
				continue
			}
			b := newScanBatch(s.Width())
			if err := dec.appendRows(b, table, &found[k]); err != nil {
				return nil, err
			}
			if len(b.rows) == 1 {
				out[from+k] = b.rows[0]
			}
		}
	}
	return out, nil
}

// missing keeps the rows whose key columns no row of the table has, under any
// salt, for IF NOT EXISTS. Of rows with the same key columns the first is kept.
func (r *run) missing(ctx context.Context, t *catalog.Table, rows []pendingRow) ([]pendingRow, error) {
	cols := keyColumns(t)
	seen := map[string]bool{}
	for from := 0; from < len(rows); from += keysPerPlan {
		part := rows[from:min(from+keysPerPlan, len(rows))]
		p, err := r.planKeys(ctx, t, cols, part)
		if err != nil {
			return nil, err
		}
		err = r.eachRow(ctx, p, false, func(found [][]types.Value) error {
			for _, row := range found {
				seen[keyOf(row, cols)] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := rows[:0]
	for _, p := range rows {
		if k := keyOf(p.row, cols); !seen[k] {
			seen[k] = true
			out = append(out, p)
		}
	}
	return out, nil
}

// keysPerPlan bounds the rows that one plan looks for by their key columns.
const keysPerPlan = 200

// keyOf tells rows with other values in cols apart.
func keyOf(row []types.Value, cols []int) string {
	var b []byte
	for _, c := range cols {
		b = row[c].AppendKey(b)
	}
	return string(b)
}

// keyColumns are the columns that go into the primary layout's keys.
func keyColumns(t *catalog.Table) []int {
	var out []int
	for i := range t.Columns {
		if keyPartOf(t.Layouts[0], i) != "" {
			out = append(out, i)
		}
	}
	return out
}

// planKeys plans reading the rows with the key columns of rows: (a, b) IN ((?, ?), ...).
func (r *run) planKeys(ctx context.Context, t *catalog.Table, cols []int, rows []pendingRow) (*planner.Plan, error) {
	env := *r.env
	env.Args = nil
	in := &parser.In{}
	tuple := func(item func(c int) parser.Expr) parser.Expr {
		if len(cols) == 1 {
			return item(cols[0])
		}
		tp := &parser.Tuple{}
		for _, c := range cols {
			tp.Items = append(tp.Items, item(c))
		}
		return tp
	}
	in.X = tuple(func(c int) parser.Expr { return &parser.ColumnRef{Name: t.Columns[c].Name, Quoted: true} })
	for _, p := range rows {
		in.List = append(in.List, tuple(func(c int) parser.Expr {
			env.Args = append(env.Args, p.row[c])
			return &parser.Param{Index: len(env.Args)}
		}))
	}
	sub := *r
	sub.env = &env
	p, _, err := sub.planWhere(ctx, t, "", in, true)
	return p, err
}
