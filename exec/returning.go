package exec

import (
	"cmp"
	"errors"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/parser"
)

// returning compiles RETURNING, or returns nil if there is none. joined reports whether the statement joins other
// tables: RETURNING cannot return their columns.
func (r *run) returning(t *catalog.Table, alias string, items []parser.SelectItem, joined bool) (*write.Returning, error) {
	if items == nil {
		return nil, nil
	}
	for _, it := range items {
		if name := cmp.Or(alias, t.Name); joined && it.Star && it.Table == "" {
			return nil, parser.Errorf(it.Pos, "RETURNING gives columns of %s alone: * would be those of the other tables too", name).
				WithHint("RETURNING %s.*", parser.QuoteName(name))
		}
	}
	columns, exprs, needed, err := r.env.Returning(t, alias, items)
	if at := (*parser.Error)(nil); joined && errors.As(err, &at) && at.Hint == "" &&
		(errors.Is(err, catalog.ErrUnknownTable) || errors.Is(err, catalog.ErrUnknownColumn)) {
		return nil, at.WithHint("RETURNING gives columns of %s alone: a SELECT with the same join, run before, gives those of the other tables", cmp.Or(alias, t.Name))
	}
	if err != nil {
		return nil, err
	}
	return r.writeEnv().Returning(t, columns, exprs, needed), nil
}

// result returns the result of a statement that wrote n rows, with the rows of x if x is not nil.
func (r *run) result(n int64, x *write.Returning) *Rows {
	if x == nil {
		return r.done(n)
	}
	return &Rows{Columns: x.Columns, Affected: n, run: r, op: x.Rows()}
}
