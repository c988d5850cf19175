package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/store"
	"github.com/hql-db/hql/types"
)

// The law: whatever the layout, the rows and the query, the planned result is that
// of a full scan that evaluates the WHERE on each row, each row exactly once,
// and in the order asked for. HQL_SEED replays, HQL_CHECKS sets how many worlds.
func TestLaw(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(12), func(t *testing.T, seed uint64, fig seeds.Figures) {
		newLawWorld(t, seed, newFakeClient(), noPushdown()).check(12)
		fig["queries"] += 12
	})
}

// The law holds where scans hop, however soon they give it up.
func TestLawOfHops(t *testing.T) {
	t.Parallel()
	lawOfHops(t, 12, func(r *rand.Rand, _ uint64) (hbase.Client, Config) {
		if r.IntN(2) == 0 {
			return newFakeClient(), noPushdown()
		}
		_, c := NewStore(t) // with regions, to which ranges are fitted
		return c, Config{}
	}, func() {})
}

// The law holds where answers to hops are lost, their leases expire and the regions that they land in move, split and merge.
func TestLawOfHopsUnderFaults(t *testing.T) {
	t.Parallel()
	var s *store.Store
	var faults store.Faults
	lawOfHops(t, 8, func(_ *rand.Rand, seed uint64) (c hbase.Client, _ Config) {
		s, c = NewStore(t)
		faults = store.Faults{Seed: int64(seed), AnswerLost: 0.05, RequestLost: 0.05, LeaseGone: 0.1, Move: 0.05, Split: 0.05, Merge: 0.03, Stray: 0.03, PartialRow: 0.2, Heartbeat: 0.1}
		return c, Config{}
	}, func() { s.SetFaults(faults) })
}

// lawOfHops checks the law in worlds on clients with hops of all lengths; loaded is called where a world has its rows.
func lawOfHops(t *testing.T, worlds int, client func(*rand.Rand, uint64) (hbase.Client, Config), loaded func()) {
	seeds.Each(t, race.Fewer(worlds), func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 2))
		tuning := scan.DefaultTuning()
		tuning.HopRows, tuning.HopPays, tuning.HopLongest, tuning.HopLongLook, tuning.MaxHops = 1+r.IntN(4), 1+r.IntN(8), 1<<r.IntN(10), 2+r.IntN(3), 1<<r.IntN(8)
		tuning.SeekRows, tuning.FirstRows = r.IntN(3), 1+r.IntN(6)
		c, cfg := client(r, seed)
		cfg.Tuning = tuning
		g := newLawWorld(t, seed, c, cfg)
		loaded()
		g.check(12)
		g.ends(12)
		fig["queries"] += 24
	})
}

// ends compares n queries for the least or the greatest value of each group, which may read the rows at the ends alone, with
// those that count the rows as well.
func (g *lawWorld) ends(n int) {
	var key []*catalog.Column
	for _, c := range g.table.Columns {
		if (g.table.Layouts[0].PartOf(c.Index) != nil || g.inAnyKey(c)) && !c.Type.IsJSON() {
			key = append(key, c)
		}
	}
	if len(key) == 0 {
		return
	}
	for range n {
		g.loc = worlds.Zone(g.r)
		of, list, by := key[g.r.IntN(len(key))], "", ""
		if group := key[g.r.IntN(len(key))]; group != of || g.r.IntN(2) == 0 {
			list, by = group.Name+", ", " GROUP BY "+group.Name
		}
		call := g.pick("min", "max")
		if of.Type == types.Boolean {
			call = g.pick("bool_and", "bool_or")
		}
		q := "SELECT " + list + call + "(" + of.Name + ") FROM " + g.name
		if g.r.IntN(2) == 0 {
			q += " WHERE " + g.predicate(1)
		}
		q += by
		got, want := g.rows(g.planned, q), g.rows(g.naive, q+" HAVING count(*) >= 0")
		slices.SortFunc(got, byNumbers)
		slices.SortFunc(want, byNumbers)
		if !slices.EqualFunc(got, want, sameNumbers) {
			g.t.Fatalf("%s\n%s in %v\n%s\ngot  %q\nwant %q", g.ddl, q, g.loc, g.planned.Do("EXPLAIN "+q), got, want)
		}
	}
}

// lawWorld is a random table with random rows, read by two engines: one plans, the other scans.
type lawWorld struct {
	t       testing.TB
	r       *rand.Rand
	ddl     string
	name    string // of the table
	table   *catalog.Table
	planned *world
	naive   *world
	copies  bool
	// stored are the rows that the table holds, by where they stand, as they were written; nil: parts are drawn.
	stored map[string][]types.Value
	loc    *time.Location // of the queries
	drawn  *worlds.Table  // nil: one of layouts.sql
}

func (g *lawWorld) pick(xs ...string) string { return xs[g.r.IntN(len(xs))] }

// value draws a value for a column.
func (g *lawWorld) value(col *catalog.Column) types.Value {
	if g.drawn == nil {
		return g.layoutValue(col)
	}
	return g.drawn.Value(g.r, col)
}

func (g *lawWorld) predicate(depth int) string {
	p := worlds.Predicates{Rand: g.r, Table: g.table, Value: g.value}
	return p.Draw(depth)
}

func newLawWorld(t testing.TB, seed uint64, client hbase.Client, cfg Config) *lawWorld {
	g := &lawWorld{t: t, name: "t", r: rand.New(rand.NewPCG(seed, 1))}
	g.drawn = worlds.New(g.r, "t", worlds.Options{})
	g.ddl = strings.Join(g.drawn.Create, ";\n")
	if g.r.IntN(8) == 0 {
		cfg.Planner.MaxSpans = 1 + g.r.IntN(3)
	}
	switch g.r.IntN(12) {
	case 0:
		cfg.Planner.NoPushdown = true
	case 1:
		cfg.Planner.NoOrder = true
	}
	cfg.FullScan, cfg.Parallelism = AllowFullScan, 1+g.r.IntN(6)
	g.planned = newWorld(t, client, cfg)
	g.planned.Do(g.ddl)
	g.naive = worldOf(t, New(client, g.planned.catalog, Config{FullScan: AllowFullScan, Tuning: cfg.Tuning, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true}}))
	g.table, _ = g.planned.catalog.Table("t")
	g.copies = len(g.table.Layouts) > 1
	n := 70
	if g.r.IntN(12) == 0 {
		n = 250 // of few values: more than a hundred rows share them
	}
	g.load(n)
	if g.r.IntN(2) == 0 {
		g.respell()
	}
	return g
}

// load inserts random rows; some do not fit the layout and are refused.
func (g *lawWorld) load(n int) {
	g.t.Helper()
	cols := make([]string, len(g.table.Columns))
	marks := make([]string, len(cols))
	for i, c := range g.table.Columns {
		cols[i], marks[i] = c.Name, "?"
	}
	s, err := parser.ParseStatement("INSERT INTO " + g.name + " (" + strings.Join(cols, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")")
	if err != nil {
		g.t.Fatal(err)
	}
	stored := 0
	primary := g.table.Layouts[0]
	if primary.Key.Drawn() == nil && !g.table.HiddenKey {
		g.stored = map[string][]types.Value{}
	}
	common := make([]types.Value, len(cols))
	for i, c := range g.table.Columns {
		common[i] = g.value(c)
	}
	same := g.r.IntN(len(cols)) // how many of the columns are alike in most rows
	for range n {
		args := make([]types.Value, len(cols))
		for i, c := range g.table.Columns {
			if args[i] = g.value(c); n > 100 && i < same && g.r.IntN(30) > 0 {
				args[i] = common[i]
			}
		}
		rows, err := g.planned.Run(context.Background(), s, Args{Positional: args, Options: RunOptions{Location: worlds.Zone(g.r)}})
		if err == nil {
			stored++
			rows.Close()
			if g.stored == nil {
				continue
			}
			r := g.planned.newRun(Args{}, moment{})
			row := append(slices.Clone(args), types.Value{}, types.Value{})
			err := r.newWriter(g.table).Allocate(context.Background(), []write.Row{{Values: row}}) // numbers are forgotten when definitions change
			if err != nil {
				g.t.Fatalf("%s\nnumbers of %v: %v", g.ddl, args, err)
			}
			table, key, qualifier, err := primary.EncodeRow(args, &expr.Env{Lookup: r.Numbers.Known})
			if err != nil {
				g.t.Fatalf("%s\ninsert %v: %v", g.ddl, args, err)
			}
			for i, c := range g.table.Columns {
				args[i] = c.Canonical(args[i])
			}
			g.stored[table+"\x00"+string(key)+"\x00"+string(qualifier)] = args
			continue
		}
		if _, ok := err.(*parser.Error); !ok {
			g.t.Fatalf("%s\ninsert %v: %v", g.ddl, args, err)
		}
	}
	if stored == 0 {
		g.t.Skipf("no row fits %s", g.ddl)
	}
}

// respell writes cells as others write them: other spellings of values, and bytes that are none. With several layouts
// the others would not know.
func (g *lawWorld) respell() {
	if g.r.IntN(2) == 0 || g.copies || g.drawn.Drawn || g.table.HiddenKey || len(g.drawn.Create) > 1 || g.table.Layouts[0].Packed != nil {
		return
	}
	g.stored = nil // no longer what the table holds
	l := g.table.Layouts[0]
	ctx := context.Background()
	for range g.r.IntN(20) {
		row := make([]types.Value, len(g.table.Columns))
		for i, c := range g.table.Columns {
			row[i] = g.value(c)
		}
		table, key, _, err := l.EncodeRow(row, &expr.Env{})
		if err != nil {
			continue
		}
		value := g.pick("", "1", "1.50", "-0", "a", "2019-4-14", "20190414", "2019-04-14 23:30:00-05:00", " 1970-01-01", "1e2", "TRUE", "\x00", "\x01", "\xff",
			"\x80\x00\x00\x00\x00\x00\x00\x00", "\x7f\xf8\x00\x00\x00\x00\x00\x01")
		c := g.table.Columns[g.r.IntN(len(g.table.Columns))]
		if c.KeyPart || c.NotNull {
			continue
		}
		cells := []hbase.Cell{{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier), Value: []byte(value)}}
		if slices.Contains(l.PlaceColumns(), c.Index) { // a cell that says another thing than its row's key is no spelling
			if row[c.Index], err = c.DecodeCell([]byte(value)); err != nil {
				continue
			}
			if toTable, toKey, _, err := l.EncodeRow(row, &expr.Env{}); err != nil || toTable != table || !bytes.Equal(toKey, key) {
				continue
			}
		}
		placed, fits := l.PlaceColumns(), true
		for i, o := range g.table.Columns { // nor is one that is missing, nor may one be that is NOT NULL
			if i != c.Index && !row[i].IsNull() && (slices.Contains(placed, i) && (!o.KeyPart || o.HasCell) || o.NotNull && !o.KeyPart) {
				b, err := o.AppendCell(nil, row[i])
				fits = fits && err == nil
				cells = append(cells, hbase.Cell{Family: []byte(o.Family), Qualifier: []byte(o.Qualifier), Value: b})
			}
		}
		if !fits {
			continue
		}
		err = g.planned.client.Mutate(ctx, table, []hbase.Mutation{{Key: key, Timestamp: 1 << 45, Cells: cells}})
		if err != nil && !errors.Is(err, hbase.ErrNoTable) {
			g.t.Fatal(err)
		}
	}
}

// check compares n random queries.
func (g *lawWorld) check(n int) {
	g.t.Helper()
	for range n {
		sel := "SELECT *"
		if g.r.IntN(3) == 0 {
			c := g.table.Columns[g.r.IntN(len(g.table.Columns))]
			sel = "SELECT " + c.Name + ", _key"
			if g.copies {
				sel = "SELECT " + c.Name
			}
		}
		g.loc = worlds.Zone(g.r)
		q := sel + " FROM " + g.name
		if g.r.IntN(8) > 0 {
			where := g.predicate(2)
			q += " WHERE " + where
			g.recall(where)
		}
		g.prepared()
		if times := g.rows(g.naive, "SELECT DISTINCT _ts FROM "+g.name); len(times) > 0 && g.r.IntN(5) == 0 {
			at := " TIMESTAMP '" + strings.TrimSuffix(g.pick(times...), "|") + "'"
			q += map[bool]string{true: " AND", false: " WHERE"}[strings.Contains(q, " WHERE ")] + g.pick(" _ts >=", " _ts >", " _ts =", " _ts BETWEEN"+at+" AND", " _ts <") + at
		}
		var order []string
		for range g.r.IntN(3) {
			c := g.table.Columns[g.r.IntN(len(g.table.Columns))]
			if c.Type.IsJSON() {
				continue
			}
			order = append(order, g.orderOf(c)+g.pick("", "", " DESC", " ASC", " DESC NULLS LAST", " NULLS FIRST"))
		}
		limit := -1
		if g.r.IntN(2) == 0 {
			limit = g.r.IntN(12)
		}
		g.compare(q, order, limit)
	}
}

// recall compares the rows for which where is true with those that were written: nothing of them is read from the store, and
// where is compiled for each over its constants.
func (g *lawWorld) recall(where string) {
	g.t.Helper()
	if g.stored == nil {
		return
	}
	tree, err := parser.ParseExpr(where)
	if err != nil {
		g.t.Fatal(err)
	}
	g.expectStored("SELECT * FROM "+g.name+" WHERE "+where, nil, func(row []types.Value) bool {
		cond, err := expr.CompileCondition(tree, &expr.Scope{Funcs: functions.Builtins(), Loc: g.loc, Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
			c, _ := g.table.Column(ref.Name)
			return &expr.Const{Val: row[c.Index], Typ: c.Type}, nil
		}})
		if err != nil {
			g.t.Fatalf("%s: %v", where, err)
		}
		ok, err := expr.IsTrue(cond, &expr.Env{Loc: g.loc})
		if err != nil {
			g.t.Fatalf("%s: %v", where, err)
		}
		return ok
	})
}

// expectStored expects of q, run as args say, the rows that were written and for which match is true.
func (g *lawWorld) expectStored(q string, args *Args, match func(row []types.Value) bool) {
	g.t.Helper()
	var want []string
	for _, row := range g.stored {
		if match(row) {
			want = append(want, rowText(row))
		}
	}
	slices.Sort(want)
	run := Args{}
	if args != nil {
		run = *args
	}
	got := g.rowsOf(g.planned, q, run)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		g.t.Fatalf("%s\n%s %v in %v\nplan\n%s\ngot  %q\nwant %q, as written", g.ddl, q, run.Positional, g.loc, g.planned.Do("EXPLAIN "+q, run.Positional...), got, want)
	}
}

// prepared runs one statement again and again, by all key columns, with other arguments in other zones.
func (g *lawWorld) prepared() {
	g.t.Helper()
	if g.stored == nil || g.r.IntN(3) > 0 {
		return
	}
	var rows [][]types.Value
	for _, k := range slices.Sorted(maps.Keys(g.stored)) {
		rows = append(rows, g.stored[k])
	}
	var terms []string
	var binds []*catalog.Column
	text := map[int]string{} // constants that the zone gives a meaning
	for _, c := range g.table.Columns {
		switch {
		case g.table.Layouts[0].PartOf(c.Index) == nil:
		case c.Type == types.Timestamp && g.r.IntN(2) == 0:
			v := rows[g.r.IntN(len(rows))][c.Index]
			at, err := types.Cast(v, types.String, worlds.Zone(g.r))
			if err != nil {
				g.t.Fatal(err)
			}
			if _, err := types.ParseTimestamp(at.Text(), g.loc); err != nil { // of the year 10000 there
				terms, binds = append(terms, c.Name+" = ?"), append(binds, c)
				continue
			}
			text[c.Index] = at.Text()
			terms = append(terms, c.Name+" = '"+at.Text()+"'")
		default:
			terms, binds = append(terms, c.Name+" = ?"), append(binds, c)
		}
	}
	q, plans := "SELECT * FROM "+g.name+" WHERE "+strings.Join(terms, " AND "), &Plans{}
	was := g.loc
	defer func() { g.loc = was }()
	for range 6 {
		g.loc = worlds.Zone(g.r)
		row := rows[g.r.IntN(len(rows))]
		args := Args{Plans: plans}
		want := map[int]types.Value{}
		for _, c := range binds {
			v := row[c.Index]
			if g.r.IntN(4) == 0 {
				v = g.value(c)
			}
			args.Positional, want[c.Index] = append(args.Positional, v), c.Canonical(v)
		}
		for i, s := range text {
			ms, err := types.ParseTimestamp(s, g.loc)
			if err != nil {
				g.t.Fatal(err)
			}
			want[i] = types.NewTimestamp(ms)
		}
		g.expectStored(q, &args, func(row []types.Value) bool {
			for i, v := range want {
				if v.IsNull() || row[i].IsNull() {
					return false
				}
				if c, err := types.Compare(v, row[i]); err != nil || c != 0 {
					return false
				}
			}
			return true
		})
	}
}

func rowText(row []types.Value) string {
	var b strings.Builder
	for _, v := range row {
		b.WriteString(v.String() + "|")
	}
	return b.String()
}

// sameNumbers reports whether two rows are the same but for the spelling of numbers: 0 and -0, 1.5 and 1.50.
func sameNumbers(a, b string) bool { return byNumbers(a, b) == 0 }

// byNumbers orders rows that are the same by sameNumbers beside each other.
func byNumbers(a, b string) int { return strings.Compare(plainNumbers(a), plainNumbers(b)) }

// plainNumbers gives a row with one spelling for each number.
func plainNumbers(row string) string {
	values := strings.Split(row, "|")
	for i, v := range values {
		if d, err := types.ParseDecimal(v); err == nil {
			var plain apd.Decimal
			plain.Reduce(d.Decimal())
			plain.Negative = plain.Negative && !plain.IsZero()
			values[i] = plain.String()
		}
	}
	return strings.Join(values, "|")
}

// orderOf is c, or what a key or the name of a table has of it, or what a key that has c follows.
func (g *lawWorld) orderOf(c *catalog.Column) string {
	var of []string
	for _, l := range g.table.Layouts {
		for _, p := range slices.Concat(l.Stored.Parts, l.Key.Parts) {
			if p.Literal == nil && p.Monotone() != 0 && len(p.Columns) == 1 && p.Columns[0] == c.Index && !p.UsesLookup() && !p.IsFromRest() {
				of = append(of, p.Expr.String())
			}
		}
	}
	switch {
	case c.Type.IsInteger():
		of = append(of, c.Name+" / 3", c.Name+" % 4")
	case c.Type == types.Timestamp:
		of = append(of, "DATE("+c.Name+")", "DATE_TRUNC('hour', "+c.Name+")")
	case c.Type == types.String:
		of = append(of, "LEFT("+c.Name+", 1)")
	}
	if len(of) == 0 || g.r.IntN(3) > 0 {
		return c.Name
	}
	return g.pick(of...)
}

// compare runs q with both engines.
func (g *lawWorld) compare(q string, order []string, limit int) {
	g.t.Helper()
	full := q
	if len(order) > 0 {
		full += " ORDER BY " + strings.Join(order, ", ")
	}
	limited := full
	if limit >= 0 {
		limited += fmt.Sprintf(" LIMIT %d", limit)
	}
	want := g.rows(g.naive, full)
	got := g.rows(g.planned, limited)
	fail := func(format string, args ...any) {
		g.t.Helper()
		g.t.Fatalf("%s\n%s\n%s\n%s\ngot  %q\nwant %q", fmt.Sprintf(format, args...), g.ddl, limited, g.planned.Do("EXPLAIN "+limited), got[:min(20, len(got))], want[:min(20, len(want))])
	}
	if limit < 0 && len(got) != len(want) || limit >= 0 && len(got) != min(limit, len(want)) {
		fail("%d rows, want %d", len(got), len(want))
	}
	left := map[string]int{}
	for _, r := range want {
		left[r]++
	}
	for _, r := range got {
		if left[r]--; left[r] < 0 {
			fail("row %q is wrong or repeated", r)
		}
	}
	if len(order) == 0 {
		return
	}
	var terms []string
	for _, o := range order {
		for _, dir := range []string{" NULLS LAST", " NULLS FIRST", " DESC", " ASC"} {
			o = strings.TrimSuffix(o, dir)
		}
		terms = append(terms, o)
	}
	keys := "SELECT " + strings.Join(terms, ", ") + q[strings.Index(q, " FROM "+g.name):]
	a, b := g.rows(g.planned, keys+limited[len(q):]), g.rows(g.naive, keys+full[len(q):])
	if limit >= 0 {
		b = b[:min(limit, len(b))]
	}
	if !slices.EqualFunc(a, b, sameNumbers) { // which are equal, in any order
		fail("order: got %q want %q", a, b)
	}
}

func (g *lawWorld) rows(w *world, q string) []string {
	g.t.Helper()
	return g.rowsOf(w, q, Args{})
}

func (g *lawWorld) rowsOf(w *world, q string, args Args) []string {
	g.t.Helper()
	args.Options.Location = g.loc
	s, err := parser.ParseStatement(q)
	if err != nil {
		g.t.Fatalf("%s: %v", q, err)
	}
	if w == g.planned {
		w.lookups.Clear() // as on a new connection
	}
	ctx := context.Background()
	rows, err := w.Run(ctx, s, args)
	if err != nil {
		g.t.Fatalf("%s\n%s: %v", g.ddl, q, err)
	}
	defer rows.Close()
	var out []string
	for {
		batch, err := rows.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			g.t.Fatalf("%s\n%s: %v", g.ddl, q, err)
		}
		for _, row := range batch {
			out = append(out, rowText(row))
		}
	}
}
