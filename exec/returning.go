package exec

import (
	"cmp"
	"context"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
)

// returned is RETURNING of a statement that joins other tables.
type returned struct {
	items []parser.SelectItem // those of RETURNING; * and o.* are replaced by columns
	reads []parser.SelectItem // the items of the statement's query with the values of the other tables' columns
	// columns are the references to columns of the other tables. Their values follow those of the written row, in the order
	// of reads.
	columns map[*parser.ColumnRef]*expr.Column
}

// returnedOf resolves items, the RETURNING of a statement that writes rows of t, under name, and whose joined rows s reads; s
// is nil if it joins no other table. A column that t and another table have is that of t.
func (r *run) returnedOf(ctx context.Context, t *catalog.Table, name string, s *parser.Select, items []parser.SelectItem) (*returned, error) {
	if s == nil || items == nil {
		return &returned{items: items}, nil
	}
	out := &returned{columns: map[*parser.ColumnRef]*expr.Column{}}
	n := len(t.Columns) + 2 // _key and _ts follow
	read := func(it parser.SelectItem) ([]*expr.Column, error) {
		core, q := *s.Cores[0], *s
		core.Items, core.Where, q.Cores = []parser.SelectItem{it}, nil, []*parser.SelectCore{&core}
		p, err := r.planSelect(ctx, &q)
		if err != nil {
			return nil, err
		}
		var columns []*expr.Column
		for _, c := range p.Columns {
			columns = append(columns, &expr.Column{Pos: it.Pos, Index: n, Name: c.Name, Typ: c.Type, Limit: c.Limit})
			n++
		}
		out.reads = append(out.reads, it)
		return columns, nil
	}
	for _, it := range items {
		if it.Star && !strings.EqualFold(it.Table, name) {
			columns, err := read(it)
			if err != nil {
				return nil, err
			}
			if it.Table == "" { // t stands last in the query, and first in RETURNING
				out.items = append(out.items, parser.SelectItem{Pos: it.Pos, Star: true, Table: name})
				own := len(t.Columns)
				if t.HiddenKey {
					own--
				}
				columns = columns[:len(columns)-own]
			}
			for _, c := range columns {
				ref := &parser.ColumnRef{Pos: it.Pos, Name: c.Name, Quoted: true}
				out.columns[ref], out.items = c, append(out.items, parser.SelectItem{Pos: it.Pos, Expr: ref})
			}
			continue
		}
		out.items = append(out.items, it)
		if it.Star {
			continue
		}
		var err error
		parser.Walk(it.Expr, func(x parser.Expr) bool {
			if ref, ok := x.(*parser.ColumnRef); ok && !ref.Star && err == nil && !ofTable(t, name, ref) {
				var columns []*expr.Column
				if columns, err = read(parser.SelectItem{Pos: ref.Pos, Expr: ref}); err == nil {
					out.columns[ref] = columns[0]
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ofTable reports whether ref, in a statement that writes rows of t under name, means a column of t, or its whole row.
func ofTable(t *catalog.Table, name string, ref *parser.ColumnRef) bool {
	if ref.Table != "" {
		return strings.EqualFold(ref.Table, name)
	}
	_, ok := t.Column(ref.Name)
	return ok || strings.EqualFold(ref.Name, name) || strings.EqualFold(ref.Name, catalog.KeyColumn) || strings.EqualFold(ref.Name, catalog.TimestampColumn)
}

// returning compiles RETURNING, or returns nil if there is none. s reads the joined rows of a statement that joins other
// tables; it is nil for others. others are the items of that query with the values that RETURNING has of these tables.
func (r *run) returning(ctx context.Context, t *catalog.Table, alias string, items []parser.SelectItem, s *parser.Select) (x *write.Returning, others []parser.SelectItem, err error) {
	if items == nil {
		return nil, nil, nil
	}
	of, err := r.returnedOf(ctx, t, cmp.Or(alias, t.Name), s, items)
	if err != nil {
		return nil, nil, err
	}
	columns, exprs, needed, err := r.env.Returning(t, alias, of.items, of.columns)
	if err != nil {
		return nil, nil, err
	}
	return r.writeEnv().Returning(t, columns, exprs, needed), of.reads, nil
}

// result returns the result of a statement that wrote n rows, with the rows of x if x is not nil.
func (r *run) result(n int64, x *write.Returning) *Rows {
	if x == nil {
		return r.done(n)
	}
	return &Rows{Columns: x.Columns, Affected: n, run: r, op: x.Rows()}
}
