package access

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// A further conjunct never makes spans hold rows that they do not hold without it: the test of restrictions (CERT, arXiv 2306.00355), without
// figures.
func TestNarrower(t *testing.T) {
	seeds.Each(t, race.Fewer(30), func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 1))
		drawn := worlds.New(r, "t", worlds.Options{NoLookup: true})
		g := &lawWorld{t: t, table: drawn.Def}
		value := func(c *catalog.Column) types.Value { return drawn.Value(r, c) }
		env := &expr.Env{Rand: r.Uint64}
		for range 60 {
			row := make([]types.Value, len(g.table.Columns))
			for i, c := range g.table.Columns {
				row[i] = value(c)
			}
			g.add(row, env)
		}
		draw := worlds.Predicates{Rand: r, Table: g.table, Value: value}
		for range 4 {
			where, more := draw.Draw(1), draw.Draw(1)
			both := "(" + where + ") AND (" + more + ")"
			wide, narrow := g.spansOf(where), g.spansOf(both)
			if wide == nil || narrow == nil || wide.CapHit || narrow.CapHit {
				continue
			}
			fig["pairs"]++
			if !wide.Access.Wide() && narrow.Access.Wide() { // whether a wide scan hops is left to its price
				t.Errorf("%s\n%s is a %s, but %s is a %s", drawn.DDL(), where, wide.Access, both, narrow.Access)
			}
			for _, row := range g.rows {
				if g.reads(narrow, row) && !g.reads(wide, row) {
					t.Fatalf("%s\nrow %v is read for %s\n%s\nbut not for %s\n%s", drawn.DDL(), row.row, both, shown(narrow), where, shown(wide))
				}
			}
		}
	})
}

// spansOf plans a query of the primary layout; nil where it cannot be planned.
func (g *lawWorld) spansOf(where string) *plan.Scan {
	s, err := adviceOf(g.table, where, g.table.Layouts[0].Name)
	if err != nil {
		return nil
	}
	return s
}

// reads reports whether the spans of s hold row.
func (g *lawWorld) reads(s *plan.Scan, row stored) bool {
	at, there := row.at[s.Layout]
	return there && slices.ContainsFunc(s.Spans, func(sp plan.Span) bool {
		return (sp.Table == at.table || s.ListTables && s.MayRead(at.table)) && inSpan(sp, at.key)
	})
}
