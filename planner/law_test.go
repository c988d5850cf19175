package planner

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// The law, checked without a store: every row for which the WHERE is true has its
// key in the plan's spans, and a row in the spans passes what is left of the
// WHERE exactly when the whole WHERE is true for it. Layouts, rows and predicates are random.
func TestLaw(t *testing.T) {
	seeds.Each(t, 3000, func(t *testing.T, seed uint64, fig seeds.Figures) {
		checkLaw(t, seed, false)
		fig["plans"] += lawPlans
	})
}

// The seeds of mistakes once made.
func TestLawSeeds(t *testing.T) {
	b, err := os.ReadFile("testdata/law_seeds")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		seed, err := strconv.ParseUint(f[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(f[0], func(t *testing.T) { checkLaw(t, seed, true) })
	}
}

type lawWorld struct {
	r     *rand.Rand
	table *catalog.Table
	ddl   string
	kept  bool           // the world of a seed of testdata/law_seeds, which draws what was drawn then
	loc   *time.Location // of the queries
}

func (g *lawWorld) pick(xs ...string) string { return xs[g.r.IntN(len(xs))] }

// randomTable makes a table over the columns a, b, s, u, ts (key) and v, w (cells).
func randomTable(r *rand.Rand, kept bool) (*lawWorld, error) {
	g := &lawWorld{r: r, kept: kept}
	var parts, cols []string
	add := func(col string, part ...string) {
		cols = append(cols, col)
		parts = append(parts, part...)
	}
	fields := []string{"a", "b", "s", "u", "ts"}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	fields = fields[:1+r.IntN(4)]
	stored := ""
	for i, f := range fields {
		last := i == len(fields)-1
		switch f {
		case "a":
			add("a INT", g.pick("a AS TEXT(4)", "a AS INT32", "a AS UINT8", "a AS ORDERED INT32", "a AS INT16"))
		case "b":
			add("b BIGINT", g.pick("b AS INT64", "b AS ORDERED INT64", "b AS UINT32", "b AS TEXT(6)", "100 - b AS INT64", "b + 3 AS INT32"))
		case "s", "u":
			var p string
			switch r.IntN(5) {
			case 0:
				p = f + " AS TEXT(4)"
			case 1:
				p = "REVERSE(" + f + ") AS TEXT"
			default:
				p = f + " AS TEXT"
			}
			cols = append(cols, f+" STRING")
			parts = append(parts, p)
			fixedTail := !slices.ContainsFunc(fields[i+1:], func(f string) bool { return f == "s" || f == "u" })
			if !last && !strings.HasSuffix(p, "(4)") && !(fixedTail && r.IntN(3) == 0) {
				ends := []string{"X'00'", "'|'", "X'00'"}
				if !kept {
					ends = append(ends, "'aa'", "'aba'", "X'0000'")
				}
				parts = append(parts, g.pick(ends...))
			}
		case "ts":
			switch r.IntN(6) {
			case 0:
				add("ts TIMESTAMP", "9223372036854775807 - ts AS INT64")
			case 1:
				add("ts TIMESTAMP", "ts AS TEXT(13)")
			case 2:
				add("ts TIMESTAMP", "DATE(ts) AS TEXT('yyyyMMdd')", "MILLIS_OF_DAY(ts) AS UINT32")
			case 3:
				add("ts TIMESTAMP", "MILLIS_OF_DAY(ts) AS UINT32")
				stored = " STORED IN ('t_', DATE(ts) AS TEXT('yyyyMMdd'))"
			default:
				add("ts TIMESTAMP", "ts AS INT64")
			}
		}
	}
	if r.IntN(3) > 0 {
		f := fields[r.IntN(len(fields))]
		p := map[string][]string{
			"a": {"FLOORMOD(a, 3) AS UINT8", "CRC32(a) % 5 AS UINT8", "LEFT(MD5(a), 1)"}, "b": {"FLOORMOD(b, 4) AS UINT8", "LEFT(MD5(b), 2)"},
			"s": {"LEFT(MD5(s), 2)", "CRC32(s) % 3 AS TEXT(1)", "LEFT(SHA1(s), 1)"}, "u": {"LEFT(MD5(u), 1)"},
			"ts": {"FLOORMOD(ts, 7) AS UINT8", "ts % 10 AS UINT8", "DATE(ts) AS TEXT('yyyyMMdd')"},
		}[f]
		if !g.kept && f == "ts" {
			p = append(p, "CAST(ts AS DATE) AS TEXT('yyyyMMdd')", "LEFT(MD5(CONCAT(ts)), 2)")
		}
		pre := p[r.IntN(len(p))]
		if r.IntN(3) == 0 {
			pre = g.pick("SALT('a','b','c')", "SALT(0 TO 2) AS UINT8", "PHOENIX_SALT(4) AS UINT8")
		}
		parts = append([]string{pre}, parts...)
		if r.IntN(4) == 0 {
			parts = slices.Insert(parts, 1, "'-'")
		}
	}
	g.ddl = "CREATE TABLE t (" + strings.Join(append(cols, "v INT", "w STRING"), ", ") + ") ROW KEY (" + strings.Join(parts, ", ") + ")" + stored
	c := catalog.New()
	if err := c.Load(g.ddl); err != nil {
		return g, err
	}
	g.table, _ = c.Table("t")
	return g, nil
}

const day = 86_400_000

func (g *lawWorld) value(col *catalog.Column) types.Value {
	r := g.r
	switch col.Name {
	case "a":
		return types.NewIntOf(types.Int, int64(r.IntN(14)-3))
	case "b":
		return types.NewInt([]int64{-2, -1, 0, 1, 2, 3, 4, 5, 99, 100, 101}[r.IntN(11)])
	case "s", "u":
		n := r.IntN(4)
		var b strings.Builder
		for range n {
			b.WriteString(g.pick("a", "a", "b", "B", "é", "}", "\x7f"))
		}
		return types.NewString(b.String())
	case "ts":
		base := []int64{0, 1_600_000_000_000, 1_600_041_600_000, 1_600_041_600_000 + day}[r.IntN(4)]
		return types.NewTimestamp(base + int64(r.IntN(9)-4))
	case "v":
		if r.IntN(4) == 0 {
			return types.Value{}
		}
		return types.NewIntOf(types.Int, int64(r.IntN(5)-2))
	default:
		if r.IntN(4) == 0 {
			return types.Value{}
		}
		return types.NewString(g.pick("", "a", "ab", "b"))
	}
}

// constant is a literal for col, now and then outside what the column can hold.
func (g *lawWorld) constant(col *catalog.Column) string {
	if g.r.IntN(25) == 0 && col.Type.IsInteger() {
		return g.pick("1.5", "9000000000", "-9000000000")
	}
	v := g.value(col)
	if v.IsNull() {
		return "NULL"
	}
	if v.Type().IsInteger() && v.Int() < 0 {
		return fmt.Sprint(v.Int())
	}
	return v.SQL()
}

func (g *lawWorld) predicate(depth int) string {
	r := g.r
	if depth > 0 && r.IntN(2) == 0 {
		switch r.IntN(5) {
		case 0:
			return "NOT (" + g.predicate(depth-1) + ")"
		case 1, 2:
			return "(" + g.predicate(depth-1) + " OR " + g.predicate(depth-1) + ")"
		default:
			return "(" + g.predicate(depth-1) + " AND " + g.predicate(depth-1) + ")"
		}
	}
	cols := g.table.Columns
	col := cols[r.IntN(len(cols))]
	if !g.kept && col.Name == "ts" && r.IntN(3) == 0 { // what it says depends on the zone
		op := g.pick(" = ", " < ", " >= ", " > ")
		if r.IntN(3) == 0 {
			return "CONCAT(ts)" + op + g.pick("'2020-09-14'", "'2020-09-13 21:26:40'")
		}
		return g.pick("ts", "ts", "CAST(ts AS DATE)") + op + g.pick("DATE '2020-09-13'", "'2020-09-14'", "DATE '1970-01-01'")
	}
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("%s BETWEEN %s AND %s", col.Name, g.constant(col), g.constant(col))
	case 1:
		if !g.kept && col.Type.IsInteger() && r.IntN(2) == 0 { // neighbours, and one apart
			lo := r.IntN(8) - 2
			return fmt.Sprintf("%s IN (%s, %s)", col.Name, numbers(lo, 2+r.IntN(5), 1), g.constant(col))
		}
		return fmt.Sprintf("%s IN (%s, %s, %s)", col.Name, g.constant(col), g.constant(col), g.constant(col))
	case 2:
		if col.Type == types.String {
			return fmt.Sprintf("%s LIKE '%s'", col.Name, g.pick("a%", "%a", "ab%", "a_", "%", "", "b%b", "%b", "aé%"))
		}
		if !g.kept && r.IntN(3) == 0 { // many terms about a column are proved together
			terms := make([]string, 10)
			for i := range terms {
				terms[i] = col.Name + g.pick(" <> ", " <> ", " <> ", " >= ") + g.constant(col)
			}
			return strings.Join(terms, " AND ")
		}
		return fmt.Sprintf("%s <> %s", col.Name, g.constant(col))
	case 3:
		o := cols[r.IntN(len(cols))]
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", col.Name, o.Name, g.pick("<", "<=", ">", ">=", "="), g.constant(col), g.constant(o))
	case 4:
		return fmt.Sprintf("%s IS %sNULL", col.Name, g.pick("", "NOT "))
	default:
		return fmt.Sprintf("%s %s %s", col.Name, g.pick("=", "=", "=", "<", "<=", ">", ">="), g.constant(col))
	}
}

// lawPlans is how many queries of a layout are planned.
const lawPlans = 4

func checkLaw(t *testing.T, seed uint64, kept bool) {
	r := rand.New(rand.NewPCG(seed, 0))
	g, err := randomTable(r, kept)
	if err != nil {
		t.Fatalf("%s: %v", g.ddl, err)
	}
	layout := g.table.Layouts[0]
	type stored struct {
		row   []types.Value
		table string
		key   []byte
	}
	var rows []stored
	env := &expr.Env{Rand: r.Uint64}
	seen := map[string]bool{}
	for range 60 {
		row := make([]types.Value, len(g.table.Columns)+2)
		for i, c := range g.table.Columns {
			row[i] = g.value(c)
		}
		table, err1 := layout.Stored.Append(nil, row, env)
		key, err2 := layout.Key.Append(nil, row, env)
		id := string(table) + "\x00" + string(key)
		if err1 == nil && err2 == nil && !seen[id] {
			seen[id] = true
			row[len(row)-2] = types.NewBytes(string(key))
			rows = append(rows, stored{row, string(table), key})
		}
	}
	for range lawPlans {
		if !g.kept {
			if g.loc, err = types.Zone(g.pick("UTC", "Asia/Tokyo", "Asia/Kolkata", "America/New_York")); err != nil {
				t.Fatal(err)
			}
		}
		where := g.predicate(2)
		cond, err := compileWhere(g.table, where, g.loc)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		conjuncts := []expr.Expr{cond}
		if and, ok := cond.(*expr.And); ok {
			conjuncts = and.Terms
		}
		req := &accessRequest{table: g.table, conjuncts: conjuncts, needed: make([]bool, len(g.table.Columns)+2), limit: -1, noPushdown: true}
		orderText := ""
		for range r.IntN(3) {
			c := g.table.Columns[r.IntN(len(g.table.Columns))]
			desc := r.IntN(2) == 0
			req.orderBy = append(req.orderBy, SortTerm{Expr: &expr.Column{Index: c.Index, Name: c.Name, Typ: c.Type}, Desc: desc})
			orderText += fmt.Sprintf(" %s desc=%v", c.Name, desc)
		}
		e := &Env{Loc: g.loc}
		if r.IntN(8) == 0 {
			e.Options.MaxSpans = 1 + r.IntN(3)
		}
		s, err := e.access(req)
		if err != nil {
			t.Fatal(err)
		}
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("%s\n%s\nWHERE %s ORDER BY%s\n%s", fmt.Sprintf(format, args...), g.ddl, where, orderText, (&Plan{Root: s}).String())
		}
		for i := 1; i < len(s.Spans); i++ {
			if s.Spans[i-1].Table == s.Spans[i].Table && bytes.Compare(s.Spans[i-1].Start, s.Spans[i].Start) >= 0 {
				fail("spans are not sorted")
			}
		}
		read := make([][]stored, len(s.Spans))
		for _, row := range rows {
			match := isTrue(t, cond, row.row, g.loc)
			in := -1
			for i, sp := range s.Spans {
				if (sp.Table == row.table || s.ListTables) && inSpan(sp, row.key) {
					if in >= 0 {
						fail("row %v with key %s lies in two spans", row.row, Escape(row.key))
					}
					in = i
				}
			}
			if in < 0 {
				if match {
					fail("row %v with key %s %s matches but lies in no span", row.row, row.table, Escape(row.key))
				}
				continue
			}
			if left := s.Residual == nil || isTrue(t, s.Residual, row.row, g.loc); left != match {
				fail("row %v with key %s: residual and WHERE (%v) disagree", row.row, Escape(row.key), match)
			}
			if match {
				read[in] = append(read[in], row)
			}
		}
		if s.Order == NoOrder || s.Hold >= 0 {
			continue
		}
		var all [][]types.Value
		for i, rs := range read {
			sp := s.Spans[i]
			slices.SortFunc(rs, func(a, b stored) int {
				if len(sp.Pivot) > 0 {
					if c := btoi(bytes.Compare(a.key, sp.Pivot) < 0) - btoi(bytes.Compare(b.key, sp.Pivot) < 0); c != 0 {
						return c
					}
				}
				return bytes.Compare(a.key, b.key)
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
		if s.Order != MergeOrder && !isOrdered(all, s.OrderBy) {
			fail("spans one after the other are not in order")
		}
	}
}

func inSpan(s Span, key []byte) bool {
	if s.Key {
		return bytes.Equal(s.Start, key)
	}
	return bytes.Compare(key, s.Start) >= 0 && (len(s.Stop) == 0 || bytes.Compare(key, s.Stop) < 0)
}

func isOrdered(rows [][]types.Value, by []SortTerm) bool {
	return slices.IsSortedFunc(rows, func(a, b []types.Value) int {
		for _, t := range by {
			i, _ := termColumn(t)
			if a[i].IsNull() || b[i].IsNull() {
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
	})
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
	e, err := expr.Compile(tree, &expr.Scope{Loc: loc, Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
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
