package exec

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// merge writes the rows of an INSERT ... ON CONFLICT DO UPDATE that must read the existing rows.
type merge struct {
	in     *inserter
	run    *run           // of the updates: their sub-queries are not those of the INSERT, which may still read its rows
	update *parser.Update // of the row with the key of the new row, whose values are its parameters
	where  bool           // DO UPDATE has a WHERE: existing rows may stay unchanged
}

func newMerge(ctx context.Context, in *inserter, s *parser.Insert) *merge {
	m := &merge{in, in.run.inner(false), updateOf(in.table, s), s.Where != nil}
	env := *m.run.env
	m.run.env, m.run.merging = &env, true
	m.run.prepare(ctx, m.update)
	return m
}

// replaces reports whether DO UPDATE sets all columns of cols outside the key to their new values, as INSERT does.
func replaces(t *catalog.Table, cols []*catalog.Column, s *parser.Insert) bool {
	n := 0
	for _, c := range cols {
		if t.Layouts[0].PartOf(c.Index) != nil {
			continue
		}
		n++
		if !slices.ContainsFunc(s.Set, func(a parser.Assignment) bool {
			x, ok := a.Expr.(*parser.ColumnRef)
			return ok && strings.EqualFold(a.Column.Name, c.Name) && strings.EqualFold(x.Table, "excluded") && strings.EqualFold(x.Name, c.Name)
		}) {
			return false
		}
	}
	return n == len(changes(t, s.Set)) && s.Where == nil
}

// changes returns the assignments of DO UPDATE without those of a key column to its new value, which is also the old one: both
// rows have the same key.
func changes(t *catalog.Table, set []parser.Assignment) []parser.Assignment {
	return slices.DeleteFunc(slices.Clone(set), func(a parser.Assignment) bool {
		x, ok := a.Expr.(*parser.ColumnRef)
		c, known := t.Column(a.Column.Name)
		return ok && known && t.Layouts[0].PartOf(c.Index) != nil && strings.EqualFold(x.Table, "excluded") && strings.EqualFold(x.Name, c.Name)
	})
}

// updateOf returns the UPDATE that DO UPDATE runs for one row of t. Its parameters are the values that excluded
// returns.
func updateOf(t *catalog.Table, s *parser.Insert) *parser.Update {
	u := &parser.Update{Pos: s.Pos, Table: s.Table, TablePos: s.TablePos, Alias: s.Alias, Set: changes(t, s.Set), Where: s.Where}
	row := &parser.SelectCore{Pos: s.Pos}
	for _, c := range t.Columns {
		value := &parser.Cast{Pos: s.Pos, X: &parser.Param{Pos: s.Pos, Name: "excluded." + c.Name}, Type: c.Type.String()}
		row.Items = append(row.Items, parser.SelectItem{Pos: s.Pos, Expr: value, Alias: c.Name})
		if t.Layouts[0].PartOf(c.Index) != nil {
			own := &parser.ColumnRef{Pos: s.Pos, Table: cmp.Or(s.Alias, s.Table), Name: c.Name, Quoted: true}
			u.Where = both(&parser.Binary{Pos: s.Pos, Op: "=", X: own, Y: value}, u.Where)
		}
	}
	u.From = []parser.TableExpr{&parser.Subquery{Pos: s.Pos, Alias: "excluded", Query: &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{row}}}}
	return u
}

// excluded returns named together with the parameters of updateOf: the values of a new row of t, as value returns them.
func excluded(t *catalog.Table, named map[string]types.Value, value func(*catalog.Column) types.Value) map[string]types.Value {
	out := map[string]types.Value{}
	maps.Copy(out, named)
	for _, c := range t.Columns {
		out["excluded."+c.Name] = value(c)
	}
	return out
}

func (m *merge) write(ctx context.Context, rows []write.Row) error {
	in, r := m.in, m.in.run
	keys, err := in.Keys(rows)
	if err != nil {
		return err
	}
	if len(keys) < len(rows) {
		return write.TwiceInConflict(rows[0].Pos)
	}
	for _, p := range rows {
		if err := in.Proposed(p); err != nil {
			return err
		}
		m.run.env.Named = excluded(in.table, r.env.Named, func(c *catalog.Column) types.Value {
			if !in.Set[c.Index] {
				return c.Absent()
			}
			return p.Values[c.Index]
		})
		if err := m.row(ctx, p); err != nil {
			return err
		}
		r.wrote(in.Written)
	}
	return nil
}

// row updates the row with the key of p, or inserts p if there is none. The update and the insert are each atomic. If
// other statements insert and delete the row in between, neither takes effect, and row tries again.
func (m *merge) row(ctx context.Context, p write.Row) error {
	in := m.in
	for round := 0; ; round++ {
		n, err := m.run.updateRows(ctx, in.table, m.update, in.Returning, nil)
		if in.Written += n; err != nil || n > 0 {
			return err
		}
		before, once := in.Written, p
		once.Values = slices.Clone(p.Values)
		if err := in.Write(ctx, []write.Row{once}); err != nil || in.Written > before || m.where && round > 0 {
			return err
		}
		if round == maxChangeRounds {
			return parser.Errorf(p.Pos, "other statements insert and delete this row of %s all the time: repeat the statement", in.table.Name)
		}
		if err := write.Pause(ctx, round); err != nil {
			return err
		}
	}
}
