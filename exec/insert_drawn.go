package exec

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
)

// This file finds the rows of an INSERT that draw numbers of sequences. No other row may have a key with such a number.

// drawnAlways returns an error if s gives values for a column GENERATED ALWAYS.
func drawnAlways(t *catalog.Table, cols []*catalog.Column, s *parser.Insert) error {
	for i, c := range cols {
		given := func(row []parser.Expr) bool { return i < len(row) && row[i] != c.Default }
		if rows := *valuesOf(s); c.Identity == parser.Always && s.Overriding == "" && (len(rows) == 0 || slices.ContainsFunc(rows, given)) {
			return parser.Errorf(s.TablePos, "cannot insert a non-DEFAULT value into column %q", c.Name).WithHint("it is GENERATED ALWAYS: OVERRIDING SYSTEM VALUE writes the value all the same")
		}
	}
	return nil
}

// draws returns how many of the rows draw a number of a sequence.
func (in *inserter) draws(rows [][]parser.Expr) (n int64) {
	if slices.ContainsFunc(in.given, func(d columnDefault) bool { return d.column.Draws() != "" }) {
		return int64(len(rows))
	}
	for _, row := range rows {
		if slices.ContainsFunc(row, func(x parser.Expr) bool { return (&catalog.Column{Default: x}).Draws() != "" }) {
			n++
		}
	}
	return n
}

// drawsKey reports whether the key of a row has a number that the row draws. values are those of the columns cols.
func (in *inserter) drawsKey(values []parser.Expr) bool {
	return len(in.drawn) > 0 || slices.ContainsFunc(in.keys, func(k int) bool { return k < len(values) && callsNextval(values[k]) })
}

// queryDrawsKey reports whether the keys of the rows of q may have numbers that q draws: in a column of the key, next to a *, or in a
// query within q.
func (in *inserter) queryDrawsKey(q *parser.Select) bool {
	if len(in.drawn) > 0 || len(in.keys) == 0 || !callsNextval(q) {
		return len(in.drawn) > 0
	}
	for _, with := range q.With {
		if with.Query != nil && callsNextval(with.Query) {
			return true
		}
	}
	return slices.ContainsFunc(q.Cores, func(core *parser.SelectCore) bool {
		var values []parser.Expr
		for _, it := range core.Items {
			if it.Star {
				return true
			}
			values = append(values, it.Expr)
		}
		return in.drawsKey(values) || slices.ContainsFunc(core.Values, in.drawsKey) || core.Query != nil && in.queryDrawsKey(core.Query) ||
			slices.ContainsFunc(core.From, func(from parser.TableExpr) bool { return callsNextval(from) })
	})
}

// callsNextval reports whether n, or a query within it, draws a number of a sequence.
func callsNextval(n parser.Node) (found bool) {
	parser.Inspect(n, func(n parser.Node) bool {
		call, ok := n.(*parser.Call)
		found = found || ok && call.Name == "NEXTVAL"
		return !found
	})
	return found
}
