package access

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// The law, checked without a store: every row for which the WHERE is true has its
// key in the plan's spans, and a row in the spans passes what is left of the
// WHERE exactly when the whole WHERE is true for it. Layouts, rows and predicates are random.
func TestLaw(t *testing.T) {
	seeds.Each(t, race.Fewer(400), func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 0))
		drawn := worlds.New(r, "t", worlds.Options{NoLookup: true})
		g := &lawWorld{t: t, table: drawn.Def}
		env := &expr.Env{Rand: r.Uint64}
		for range 60 {
			row := make([]types.Value, len(g.table.Columns))
			for i, c := range g.table.Columns {
				row[i] = drawn.Value(r, c)
			}
			g.add(row, env)
		}
		draw := worlds.Predicates{Rand: r, Table: g.table, Value: func(c *catalog.Column) types.Value { return drawn.Value(r, c) }}
		for range lawPlans {
			g.loc = worlds.Zone(r)
			var order []parser.OrderTerm
			for range r.IntN(3) {
				c := g.table.Columns[r.IntN(len(g.table.Columns))]
				nulls := r.IntN(2) == 0
				order = append(order, parser.OrderTerm{Expr: &parser.ColumnRef{Name: c.Name}, Desc: r.IntN(2) == 0, NullsFirst: &nulls})
			}
			maxSpans := 0
			if r.IntN(8) == 0 {
				maxSpans = 1 + r.IntN(3)
			}
			g.check(draw.Draw(2), order, maxSpans)
		}
		fig["plans"] += lawPlans
	})
}

// Mistakes once made: a table with rows, and queries.
//
//	table                a CREATE TABLE and the VALUES of its rows
//	law [max_spans=n]    a SELECT
func TestLawCases(t *testing.T) {
	var g *lawWorld
	datadriven.RunTest(t, "testdata/law", func(t *testing.T, d *datadriven.TestData) string {
		stmts, err := parser.Parse(d.Input)
		if err != nil {
			t.Fatal(err)
		}
		if d.Cmd == "table" {
			c := catalog.New()
			if err := c.Load(stmts[0].String()); err != nil {
				t.Fatal(err)
			}
			g = &lawWorld{t: t}
			g.table, _ = c.Table(stmts[0].(*parser.CreateTable).Name)
			for _, values := range stmts[1].(*parser.Select).Cores[0].Values {
				row := make([]types.Value, len(values))
				for i, v := range values {
					k, err := expr.Compile(v, &expr.Scope{Funcs: functions.Builtins()})
					if err != nil {
						t.Fatal(err)
					}
					if row[i], err = types.Cast(expr.Fold(k, nil).(*expr.Const).Val, g.table.Columns[i].Type, nil); err != nil {
						t.Fatal(err)
					}
				}
				g.add(row, &expr.Env{Rand: func() uint64 { return uint64(len(g.rows)) }})
			}
			return ""
		}
		maxSpans := 0
		d.MaybeScanArgs(t, "max_spans", &maxSpans)
		g.t = t
		sel := stmts[0].(*parser.Select)
		g.check(sel.Cores[0].Where.String(), sel.OrderBy, maxSpans)
		return ""
	})
}

// lawWorld is a table with rows.
type lawWorld struct {
	t     *testing.T
	table *catalog.Table
	rows  []stored
	loc   *time.Location // of the queries
}

// stored is a row with where each layout has it; one without a key is not in that layout.
type stored struct {
	id  string // of its place in the primary layout
	row []types.Value
	at  map[*catalog.Layout]place
}

type place struct {
	table string
	key   []byte
}

// add stores a row, if it fits and none stands in its place.
func (g *lawWorld) add(row []types.Value, env *expr.Env) {
	for i, c := range g.table.Columns {
		row[i] = c.Canonical(row[i])
	}
	s := stored{row: append(row, types.Value{}, types.Value{}), at: map[*catalog.Layout]place{}}
	var qualifier []byte
	for i, l := range g.table.Layouts {
		if slices.ContainsFunc(l.Sparse, func(c *catalog.Column) bool { return row[c.Index].IsNull() }) {
			continue
		}
		table, key, q, err := l.EncodeRow(row, env)
		if err != nil {
			return
		}
		s.at[l] = place{table, key}
		if i == 0 {
			qualifier = q
			s.row[len(s.row)-2] = types.NewBytes(string(key))
		}
	}
	id := fmt.Sprintf("%q %q", s.at[g.table.Layouts[0]], qualifier)
	if !slices.ContainsFunc(g.rows, func(o stored) bool { return o.id == id }) {
		s.id = id
		g.rows = append(g.rows, s)
	}
}

// lawPlans is how many queries of a layout are planned.
const lawPlans = 4

// check plans a query and compares what the plan says with the rows.
func (g *lawWorld) check(where string, order []parser.OrderTerm, maxSpans int) {
	t := g.t
	t.Helper()
	cond, err := compileWhere(g.table, where, g.loc)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	conjuncts := []expr.Expr{cond}
	if and, ok := cond.(*expr.And); ok {
		conjuncts = and.Terms
	}
	req := &Request{Table: g.table, Conjuncts: conjuncts, Needed: make([]bool, len(g.table.Columns)+2), NoPushdown: true}
	orderText := ""
	for _, o := range order {
		c, _ := g.table.Column(o.Expr.(*parser.ColumnRef).Name)
		by := plan.SortTerm{Expr: &expr.Column{Index: c.Index, Name: c.Name, Typ: c.Type}, Desc: o.Desc, NullsFirst: o.Desc}
		if o.NullsFirst != nil {
			by.NullsFirst = *o.NullsFirst
		}
		req.OrderBy = append(req.OrderBy, by)
		orderText += fmt.Sprintf(" %s desc=%v nulls first=%v", c.Name, by.Desc, by.NullsFirst)
	}
	e := &Env{}
	e.Options.MaxSpans = maxSpans
	s, err := e.Scan(req)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\n%s\nWHERE %s ORDER BY%s\n%s", fmt.Sprintf(format, args...), g.table.SQL(), where, orderText, shown(s))
	}
	for i := 1; i < len(s.Spans); i++ {
		if s.Spans[i-1].Table == s.Spans[i].Table && bytes.Compare(s.Spans[i-1].Start, s.Spans[i].Start) >= 0 {
			fail("spans are not sorted")
		}
	}
	for _, sp := range s.Spans[:min(len(s.Spans), 20)] {
		if err := readsBack(sp, s.Layout); err != nil {
			fail("%v", err)
		}
	}
	read := make([][]stored, len(s.Spans))
	for _, row := range g.rows {
		at, there := row.at[s.Layout]
		match := isTrue(t, cond, row.row, g.loc)
		in := -1
		for i, sp := range s.Spans {
			if there && (sp.Table == at.table || s.ListTables && s.MayRead(at.table)) && inSpan(sp, at.key) {
				if in >= 0 {
					fail("row %v with key %s lies in two spans", row.row, plan.Escape(at.key))
				}
				in = i
			}
		}
		if in < 0 {
			if match {
				fail("row %v with key %s %s matches but lies in no span", row.row, at.table, plan.Escape(at.key))
			}
			continue
		}
		if left := s.Residual == nil || isTrue(t, s.Residual, row.row, g.loc); left != match {
			fail("row %v with key %s: residual and WHERE (%v) disagree", row.row, plan.Escape(at.key), match)
		}
		if match {
			if s.Hop != nil && !s.Spans[in].Key && !hopsTo(s, at.key) {
				fail("row %v with key %s matches but is hopped over", row.row, plan.Escape(at.key))
			}
			read[in] = append(read[in], row)
		}
	}
	if s.Order == plan.NoOrder || s.PrefixFix != nil {
		return
	}
	if s.ListTables { // all spans of a table are read before the next table
		var tables []string
		of := map[string][][]stored{}
		for i, rs := range read {
			for _, r := range rs {
				name := r.at[s.Layout].table
				if of[name] == nil {
					tables, of[name] = append(tables, name), make([][]stored, len(read))
				}
				of[name][i] = append(of[name][i], r)
			}
		}
		slices.Sort(tables)
		read = nil
		for _, name := range tables {
			read = append(read, of[name]...)
		}
	}
	var all [][]types.Value
	for i, rs := range read {
		sp := s.Spans[i%len(s.Spans)]
		slices.SortFunc(rs, func(a, b stored) int {
			if len(sp.SignSplit) > 0 {
				if c := types.Bit(bytes.Compare(a.at[s.Layout].key, sp.SignSplit) < 0) - types.Bit(bytes.Compare(b.at[s.Layout].key, sp.SignSplit) < 0); c != 0 {
					return c
				}
			}
			c := bytes.Compare(a.at[s.Layout].key, b.at[s.Layout].key)
			if c == 0 { // rows of one row of HBase: the reader sorts them, or their qualifiers are in order
				if c = compareRows(s.OrderBy)(a.row, b.row); s.Reversed {
					c = -c
				}
			}
			return c
		})
		var ordered [][]types.Value
		for _, x := range rs {
			ordered = append(ordered, x.row)
		}
		if s.Reversed {
			slices.Reverse(ordered)
		}
		if !isOrdered(ordered, s.OrderBy) {
			fail("span %d is not in order", i)
		}
		if s.Reversed {
			all = append(slices.Clone(ordered), all...)
		} else {
			all = append(all, ordered...)
		}
	}
	if s.Order != plan.MergeOrder && !isOrdered(all, s.OrderBy) {
		fail("spans one after the other are not in order")
	}
}

// hopsTo reports whether key is read when s is read by hops.
func hopsTo(s *plan.Scan, key []byte) bool {
	n := s.Layout.Key.PrefixLen(key, s.Hop.Parts, false)
	if n < 0 {
		return s.Hop.Ends(s.Layout, key)
	}
	return slices.ContainsFunc(s.Hop.Tails, func(t plan.Span) bool { return inSpan(t, key[n:]) })
}

func inSpan(s plan.Span, key []byte) bool {
	if s.Key {
		return bytes.Equal(s.Start, key)
	}
	return bytes.Compare(key, s.Start) >= 0 && (len(s.Stop) == 0 || bytes.Compare(key, s.Stop) < 0)
}

func isOrdered(rows [][]types.Value, by []plan.SortTerm) bool {
	return slices.IsSortedFunc(rows, compareRows(by))
}

func compareRows(by []plan.SortTerm) func(a, b []types.Value) int {
	return func(a, b []types.Value) int {
		for _, t := range by {
			i, _ := termColumn(t)
			if n := types.Bit(a[i].IsNull()) - types.Bit(b[i].IsNull()); n != 0 {
				if t.NullsFirst {
					n = -n
				}
				return n
			}
			if a[i].IsNull() {
				continue
			}
			c, err := types.Compare(a[i], b[i])
			if err != nil {
				panic(err)
			}
			if t.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}

func isTrue(t *testing.T, e expr.Expr, row []types.Value, loc *time.Location) bool {
	t.Helper()
	v, err := e.Eval(&expr.Env{Row: row, Loc: loc})
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return !v.IsNull() && v.Bool()
}

func compileWhere(table *catalog.Table, where string, loc *time.Location) (expr.Expr, error) {
	tree, err := parser.ParseExpr(where)
	if err != nil {
		return nil, err
	}
	e, err := expr.Compile(tree, &expr.Scope{Funcs: functions.Builtins(), Loc: loc, Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
		for _, c := range table.Columns {
			if c.Name == ref.Name {
				return &expr.Column{Pos: ref.Pos, Index: c.Index, Name: c.Name, Typ: c.Type}, nil
			}
		}
		return nil, parser.Errorf(ref.Pos, "unknown column %q", ref.Name)
	}})
	if err != nil {
		return nil, err
	}
	return expr.Fold(e, loc), nil
}

// shown prints what s reads.
func shown(s *plan.Scan) string {
	var b strings.Builder
	b.WriteString(s.String())
	for _, p := range s.Key {
		fmt.Fprintf(&b, "\n  %s: %s %s%s", p.Part.Source, p.Use, p.Detail(), p.Why)
	}
	for _, f := range s.Fates {
		fmt.Fprintf(&b, "\n  %s [%d]", f.Expr, f.By)
	}
	return b.String()
}
