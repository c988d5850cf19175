package exec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/store"
	"github.com/hql-db/hql/types"
)

// The law of pieces: however the key space is cut, the rows of all pieces are together those of the statement, and their groups
// merge to its groups as the columns say, while regions move, split and merge.
func TestLawOfPieces(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(8), func(t *testing.T, seed uint64, fig seeds.Figures) {
		s, c := NewStore(t)
		g := newLawWorld(t, seed, c, Config{})
		if g.r.IntN(2) == 0 {
			s.SetFaults(store.Faults{Seed: int64(seed), AnswerLost: 0.03, LeaseGone: 0.05, Move: 0.05, Split: 0.1, Merge: 0.05, Stray: 0.03, PartialRow: 0.2})
		}
		for range 6 {
			g.loc = worlds.Zone(g.r)
			where := ""
			if g.r.IntN(6) > 0 {
				where = " WHERE " + g.predicate(2)
			}
			g.pieces("SELECT * FROM " + g.name + where)
			g.pieces(g.groups(where))
			fig["queries"] += 2
		}
	})
}

// The law of pieces holds for joins whose rows are looked up by key, in pieces of the table that is read first.
func TestLawOfPiecesOfJoins(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(6), func(t *testing.T, seed uint64, fig seeds.Figures) {
		g := newQueryWorld(t, seed)
		for range 40 {
			from, ts := g.from()
			where := ""
			if g.r.IntN(3) > 0 {
				where = " WHERE " + g.condition(ts, g.r.IntN(2))
			}
			x, y := g.column(ts, false), g.column(ts, true)
			q := "SELECT *, " + x + " AS x FROM " + from + where
			if g.r.IntN(2) == 0 {
				q = "SELECT count(*), sum(" + x + "), min(" + x + "), max(" + y + "), count(" + y + "), avg(" + x + ") FROM " + from + where + g.pick("", " GROUP BY "+x, " GROUP BY "+y+", "+x)
			}
			s, err := parser.ParseStatement(q)
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			cut, err := g.planned.Cut(context.Background(), s.(*parser.Select), Args{})
			if errors.Is(err, ErrUncut) {
				fig["uncut"]++
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			if len(ts) > 1 {
				fig["joins"]++
			}
			want := g.rows(g.naive, q)
			for _, pieces := range [][]Piece{bare(cut.Pieces), dealt(t, g.r, g.planned.client, cut)} {
				g.same(q, merged(t, cut.Columns, g.planned.ofPieces(s, pieces, Args{})), want)
			}
		}
		if fig["joins"] == 0 && fig["seeds"] > 3 {
			t.Error("no join was cut")
		}
	})
}

// groups writes a query that groups, with a WHERE or "".
func (g *lawWorld) groups(where string) string {
	column := func() *catalog.Column { return g.table.Columns[g.r.IntN(len(g.table.Columns))] }
	float := func(c *catalog.Column) bool { return c.Type == types.Float || c.Type == types.Double } // their sums depend on their order
	var items []string
	for range 1 + g.r.IntN(3) {
		switch c := column(); {
		case c.Type.IsNumeric() && !float(c) && g.r.IntN(2) == 0:
			x := c.Name
			if c.Type == types.BigInt {
				x += " % 1000000007" // the query itself fails where its sum is no BIGINT
			}
			items = append(items, g.pick("sum", "avg")+"("+x+")")
		case c.Type == types.Boolean:
			items = append(items, g.pick("bool_and", "bool_or")+"("+c.Name+")")
		case c.Type.IsJSON():
			items = append(items, "count(*)")
		default:
			items = append(items, g.pick("min", "max", "count")+"("+c.Name+")")
		}
	}
	by := ""
	if c := column(); !c.Type.IsJSON() && !float(c) && g.r.IntN(3) > 0 {
		if by = " GROUP BY " + c.Name; g.r.IntN(2) == 0 {
			items = slices.Insert(items, g.r.IntN(len(items)+1), c.Name)
		}
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM " + g.name + where + by
}

// pieces compares q with its pieces, those that Cut gives and random ones.
func (g *lawWorld) pieces(q string) {
	g.t.Helper()
	args := Args{}
	args.Options.Location = g.loc
	s, err := parser.ParseStatement(q)
	if err != nil {
		g.t.Fatalf("%s: %v", q, err)
	}
	cut, err := g.planned.Cut(context.Background(), s.(*parser.Select), args)
	if err != nil {
		g.t.Fatalf("%s\n%s: %v", g.ddl, q, err)
	}
	sorted := func(rows []string) []string { // 1.5 and 1.50 lie apart
		for i, r := range rows {
			rows[i] = plainNumbers(r)
		}
		slices.Sort(rows)
		return rows
	}
	want := sorted(g.rows(g.naive, q))
	for _, pieces := range [][]Piece{bare(cut.Pieces), dealt(g.t, g.r, g.planned.client, cut)} {
		got := sorted(merged(g.t, cut.Columns, g.planned.ofPieces(s, pieces, args)))
		if !slices.Equal(got, want) {
			g.t.Fatalf("%s\n%s in %v\n%s\n%d pieces %v\ngot  %q\nwant %q", g.ddl, q, g.loc, g.planned.Do("EXPLAIN "+q), len(pieces), pieces, got, want)
		}
	}
}

func bare(cut []CutPiece) (out []Piece) {
	for _, c := range cut {
		out = append(out, c.Piece)
	}
	return out
}

// dealt cuts the key space anywhere and deals it out to some pieces.
func dealt(t testing.TB, r *rand.Rand, client hbase.Client, cut *Cut) []Piece {
	t.Helper()
	ctx := context.Background()
	out := make([]Piece, 1+r.IntN(4))
	for i := range out {
		out[i] = cut.Pieces[0].Piece
		out[i].Ranges = nil
	}
	var tables []string
	for _, c := range cut.Pieces {
		for _, sp := range c.Ranges {
			tables = append(tables, sp.Table)
		}
	}
	slices.Sort(tables)
	for _, table := range slices.Compact(tables) {
		at := [][]byte{{byte(r.IntN(256))}}
		for row, err := range hbase.Rows(ctx, client, hbase.ScanRange{Table: table}, &hbase.ReadOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			switch key := bytes.Clone(row.Key); r.IntN(12) {
			case 0:
				at = append(at, key)
			case 1:
				at = append(at, append(key, byte(r.IntN(2))))
			case 2:
				at = append(at, key[:1+r.IntN(len(key))])
			}
		}
		slices.SortFunc(at, bytes.Compare)
		start := []byte(nil)
		for _, b := range append(slices.CompactFunc(at, bytes.Equal), nil) {
			if b != nil && len(b) == 0 {
				continue
			}
			p := &out[r.IntN(len(out))]
			p.Ranges = append(p.Ranges, plan.Span{Table: table, Start: start, Stop: b})
			start = b
		}
	}
	return out
}

// ofPieces gives the rows of all pieces of s.
func (w *world) ofPieces(s parser.Statement, pieces []Piece, args Args) (out [][]types.Value) {
	w.T.Helper()
	for i := range pieces {
		args.Piece = &pieces[i]
		rows, err := w.Run(context.Background(), s, args)
		for err == nil {
			var batch [][]types.Value
			batch, err = rows.Next()
			for _, row := range batch {
				row = slices.Clone(row)
				for k := range row {
					row[k] = row[k].Clone()
				}
				out = append(out, row)
			}
		}
		if err != io.EOF {
			w.T.Fatalf("%s: piece %v: %v", s, pieces[i], err)
		}
		rows.Close()
	}
	return out
}

// merged does to the rows of pieces what the columns say, in as plain a way as there is.
func merged(t testing.TB, columns []plan.OutputColumn, rows [][]types.Value) (out []string) {
	t.Helper()
	if len(columns) == 0 || columns[0].Partial == nil {
		for _, row := range rows {
			out = append(out, rowText(row))
		}
		return out
	}
	var groups [][]types.Value
	for _, row := range rows {
		i := slices.IndexFunc(groups, func(g []types.Value) bool {
			for k, c := range columns {
				if c.Partial.Merge == plan.Group && string(g[k].AppendKey(nil)) != string(row[k].AppendKey(nil)) {
					return false
				}
			}
			return true
		})
		if i < 0 {
			groups = append(groups, row)
			continue
		}
		for k, c := range columns {
			groups[i][k] = mergedValue(t, c.Partial.Merge, groups[i][k], row[k])
		}
	}
	for _, g := range groups {
		results := map[int]types.Value{}
		for k, c := range columns {
			p := c.Partial
			v := g[k]
			switch {
			case p.Result < 0:
				continue
			case p.Count && v.Int() == 0:
				v = types.Value{}
			case p.Count:
				v = types.NewDecimal(types.Quotient(results[p.Result].Decimal(), apd.New(v.Int(), 0)))
			}
			if !v.IsNull() && (k+1 == len(columns) || !columns[k+1].Partial.Count) {
				var err error
				if v, err = types.Cast(v, p.Type, nil); err != nil {
					t.Fatal(err)
				}
			}
			results[p.Result] = v
		}
		row := make([]types.Value, len(results))
		for i, v := range results {
			row[i] = v
		}
		out = append(out, rowText(row))
	}
	return out
}

func mergedValue(t testing.TB, how plan.Merge, a, b types.Value) types.Value {
	t.Helper()
	if a.IsNull() && how != plan.Group {
		return b
	}
	if b.IsNull() || how == plan.Group {
		return a
	}
	switch how {
	case plan.MergeSum:
		if a.Type() == types.BigInt {
			return types.NewInt(a.Int() + b.Int())
		}
		if a.Type() == types.Double {
			return types.NewDouble(a.Double() + b.Double())
		}
		var sum apd.Decimal
		if _, err := types.Wide.Add(&sum, a.Decimal(), b.Decimal()); err != nil {
			t.Fatal(err)
		}
		return types.NewDecimal(&sum)
	case plan.MergeAnd:
		return types.NewBool(a.Bool() && b.Bool())
	case plan.MergeOr:
		return types.NewBool(a.Bool() || b.Bool())
	}
	c, err := types.Compare(b, a)
	if err != nil {
		t.Fatal(err)
	}
	if (how == plan.MergeMin) == (c < 0) && c != 0 {
		return b
	}
	return a
}

// The error for a query that cannot be cut names the reason.
func TestUncut(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (a INT, b STRING, v INT) ROW KEY (a AS ORDERED INT32, b AS TEXT)")
	w.Do("CREATE TABLE u (a INT, v INT) ROW KEY (a AS ORDERED INT32)")
	for _, x := range []struct{ q, want string }{
		{"SELECT * FROM t ORDER BY v", "ORDER BY cannot be cut into pieces"},
		{"SELECT * FROM t LIMIT 5", "LIMIT cannot"},
		{"SELECT * FROM t OFFSET 5", "OFFSET cannot"},
		{"SELECT DISTINCT a FROM t", "DISTINCT cannot"},
		{"SELECT DISTINCT ON (a) * FROM t", "DISTINCT ON cannot"},
		{"SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 1", "HAVING cannot"},
		{"SELECT a, count(*) FROM t GROUP BY ROLLUP (a)", "GROUPING SETS cannot"},
		{"SELECT a FROM t UNION SELECT a FROM u", "UNION cannot"},
		{"(SELECT a FROM t LIMIT 5)", "LIMIT cannot"},
		{"SELECT a FROM (SELECT a FROM t LIMIT 5) x", "LIMIT cannot"},
		{"SELECT a FROM (SELECT a FROM t ORDER BY v LIMIT 5) x", "LIMIT cannot"},
		{"SELECT a FROM (SELECT DISTINCT a FROM t) x", "DISTINCT cannot"},
		{"SELECT a FROM (SELECT a FROM t UNION ALL SELECT a FROM u) x", "a set operation cannot"},
		{"SELECT n FROM (SELECT count(*) AS n FROM t GROUP BY a) x", "a query over groups cannot"},
		{"SELECT count(*) FROM (SELECT count(*) AS n FROM t GROUP BY a) x", "a query over groups cannot"},
		{"SELECT rank() OVER (ORDER BY v) FROM t", "a window function cannot"},
		{"SELECT t.a FROM t JOIN u ON t.v = u.v", "a join whose rows are not looked up by key cannot"},
		{"SELECT t.a FROM t FULL JOIN u ON t.v = u.a", "a join whose rows are not looked up by key cannot"},
		{"SELECT a FROM t WHERE v IN (SELECT v FROM u)", "a query inside an expression cannot"},
		{"SELECT count(*) + 1 FROM t", "an expression over groups cannot"},
		{"SELECT count(DISTINCT v) FROM t", "COUNT(DISTINCT) cannot"},
		{"SELECT string_agg(b, ',') FROM t", "STRING_AGG cannot"},
		{"SELECT 1", "a statement that reads no table cannot"},
		{"SELECT * FROM generate_series(1, 5)", "a statement that reads no table cannot"},
	} {
		s, err := parser.ParseStatement(x.q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.Cut(context.Background(), s.(*parser.Select), Args{}); !errors.Is(err, ErrUncut) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.q, err, x.want)
		}
	}
}

// The full-scan guard lets a table be cut that a plain query may read whole, as it is small by its statistics, and no other.
func TestSmallTablesAreCut(t *testing.T) {
	w, _ := people(t, Config{FullScan: DenyFullScan, Alone: true}, 200)
	cut := func(q string) (*Cut, error) {
		s, err := parser.ParseStatement(q)
		if err != nil {
			t.Fatal(err)
		}
		return w.Cut(context.Background(), s.(*parser.Select), Args{})
	}
	const whole, byName = "SELECT * FROM people", "SELECT id, name, _ts FROM people WHERE name >= 'name6'"
	layout := func(want string) {
		t.Helper()
		if got, err := cut(byName); err != nil || got.Pieces[0].Layout != want {
			t.Errorf("%v %v, want layout %q", got, err, want)
		}
	}
	if _, err := cut(whole); !errors.Is(err, ErrFullScan) {
		t.Errorf("without statistics: %v", err)
	}
	w.Do("ANALYZE people")
	if got, err := cut(whole); err != nil || len(got.Warnings) > 0 {
		t.Errorf("%v %v", got, err)
	}
	layout("primary")               // as that costs less
	w.Do("SET max_scan_rows = 180") // which the table has more of than the query reads
	if _, err := cut(whole + " WHERE name LIKE '%3'"); !errors.Is(err, ErrFullScan) {
		t.Errorf("under a limit: %v", err)
	}
	layout("by_name")
}

// A region of which a query reads much is cut where ANALYZE found bounds.
func TestPiecesOfLargeRegions(t *testing.T) {
	_, c := NewStore(t)
	tuning := scan.DefaultTuning()
	tuning.PieceBytes = 4000
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Tuning: tuning})
	w.Do("CREATE TABLE t (a INT, v STRING) ROW KEY (a AS ORDERED INT32) SPLIT AT (500)")
	w.Do("INSERT INTO t SELECT n, 'v' || n::text FROM generate_series(0, 599) AS s(n)")
	pieces := func(q string) (rows, n int) {
		s, err := parser.ParseStatement(q)
		if err != nil {
			t.Fatal(err)
		}
		cut, err := w.Cut(context.Background(), s.(*parser.Select), Args{})
		if err != nil {
			t.Fatal(err)
		}
		return len(w.ofPieces(s, bare(cut.Pieces), Args{})), len(cut.Pieces)
	}
	if rows, n := pieces("SELECT * FROM t"); rows != 600 || n != 2 {
		t.Errorf("without statistics %d rows in %d pieces, want 600 in 2", rows, n)
	}
	w.Do("ANALYZE t")
	rows, n := pieces("SELECT * FROM t")
	if rows != 600 || n < 5 || n > 20 { // of some 40 bytes a row
		t.Errorf("%d rows in %d pieces, want 600 in about 8", rows, n)
	}
	if rows, some := pieces("SELECT * FROM t WHERE a >= 100 AND a < 300"); rows != 200 || some >= n || some < 2 {
		t.Errorf("%d rows in %d pieces, want 200 in about 3", rows, some)
	}
}

// A join on a key is cut also where the WHERE binds the key of both sides, so that the plan of the whole query reads each once.
func TestPiecesOfNarrowJoins(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE c (id INT, name STRING) ROW KEY (id AS ORDERED INT32);
		CREATE TABLE o (cust INT, n INT, v INT) ROW KEY (cust AS ORDERED INT32, n AS ORDERED INT32) SPLIT AT (20, 60);
		CREATE TABLE x (n INT, cust INT) ROW KEY (n AS ORDERED INT32) SPLIT AT (100, 200);
		INSERT INTO x SELECT n, n % 100 FROM generate_series(0, 299) AS s(n);
		INSERT INTO c SELECT n, 'c' || n::text FROM generate_series(0, 120, 2) AS s(n);
		INSERT INTO o SELECT n / 3, n, n FROM generate_series(0, 299) AS s(n)`)
	for _, q := range []string{
		"SELECT o.n, c.name FROM o JOIN c ON c.id = o.cust WHERE o.cust < 80",
		"SELECT o.n, c.name FROM o LEFT JOIN c ON c.id = o.cust WHERE o.cust < 80",
		"SELECT o.n, c.name FROM o LEFT JOIN c ON c.id = o.cust AND c.id = 30 WHERE o.cust < 80",
		"SELECT o.n, c.name FROM o LEFT JOIN c ON c.id BETWEEN 20 AND 24 WHERE o.cust < 80",
		"SELECT o.n, c.name FROM c RIGHT JOIN o ON c.id = o.cust WHERE o.cust BETWEEN 10 AND 70",
		"SELECT o.n, c.name FROM o JOIN c ON c.id = o.cust WHERE o.cust = 30",
		"SELECT x.n, c.name FROM x JOIN c ON c.id = x.cust WHERE x.cust < 40",
		"SELECT x.n, c.name FROM c JOIN x ON c.id = x.cust WHERE c.id < 40 AND x.n > 20",
		"SELECT x.n, o.n, c.name FROM c JOIN x ON c.id = x.cust JOIN o ON o.cust = c.id WHERE c.id < 40",
		"SELECT c.name, count(*), sum(o.v) FROM o JOIN c ON c.id = o.cust WHERE o.cust < 80 GROUP BY c.name",
	} {
		s := MustParse(t, q).(*parser.Select)
		cut, err := w.Cut(context.Background(), s, Args{})
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		got := merged(t, cut.Columns, w.ofPieces(s, bare(cut.Pieces), Args{}))
		want := strings.Split(w.answer(q), "\n")
		for i := range want {
			want[i] += "|"
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s: %d pieces give %d rows %q, want %d %q", q, len(cut.Pieces), len(got), got, len(want), want)
		}
	}
}

// A piece of a join holds keys of the layout that the join reads: an engine that reads another one, as by other options, refuses it.
func TestPieceOfAnotherPlan(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE t (a INT, b INT, v INT) ROW KEY (CRC32(a) % 8 AS UINT8, a AS ORDERED INT32) INDEX by_b (b AS ORDERED INT32, a AS ORDERED INT32) SPLIT AT (X'04');
		CREATE TABLE u (k INT PRIMARY KEY, w INT);
		INSERT INTO t SELECT n, n, n FROM generate_series(1, 50) AS s(n); INSERT INTO u SELECT n, n FROM generate_series(1, 50) AS s(n)`)
	s := MustParse(t, "SELECT t.a, u.w FROM t JOIN u ON u.k = t.v WHERE t.a > 5 AND t.b > 0").(*parser.Select)
	cut, err := w.Cut(context.Background(), s, Args{})
	if err != nil {
		t.Fatal(err)
	}
	if rows := w.ofPieces(s, bare(cut.Pieces), Args{}); len(rows) != 45 {
		t.Fatalf("%d rows", len(rows))
	}
	other := newWorld(t, c, Config{FullScan: AllowFullScan})
	other.cfg.Planner.MaxEnumerate = 1
	for _, p := range cut.Pieces {
		_, err := other.Run(context.Background(), s, Args{Piece: &p.Piece})
		if err == nil || !strings.Contains(err.Error(), "the piece reads t by primary, and here the statement reads t by by_b") {
			t.Errorf("with another plan: %v", err)
		}
	}
}

// If full scans are refused, so is a piece that becomes one when it runs: a skip scan over too many values.
func TestHopsOfPiecesRefused(t *testing.T) {
	_, c := NewStore(t)
	tuning := scan.DefaultTuning()
	tuning.HopRows, tuning.HopPays, tuning.HopLongest, tuning.MaxHops = 2, 2, 4, 3
	w := newWorld(t, c, Config{Tuning: tuning})
	w.Do("CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	w.Fill("m", 500, Hosts(500))
	s := MustParse(t, "SELECT host, max(ts) FROM m WHERE ts < 1000001 GROUP BY host").(*parser.Select)
	for policy, want := range map[string]error{"deny": ErrFullScan, "allow": io.EOF} {
		w.Do("SET full_scan = '" + policy + "'")
		cut, err := w.Cut(context.Background(), s, Args{})
		if err != nil {
			t.Fatal(err)
		}
		w.Do("SET full_scan = 'deny'")
		rows, err := w.Run(context.Background(), s, Args{Piece: &cut.Pieces[0].Piece})
		for err == nil {
			_, err = rows.Next()
		}
		if !errors.Is(err, want) {
			t.Errorf("cut under %s: %v, want %v", policy, err, want)
		}
	}
}

// changing is a store whose regions are listed while they are split or merged.
type changing struct {
	hbase.Client
	starts []string
}

func (c changing) Regions(context.Context, string) (out []hbase.Region, err error) {
	for _, s := range c.starts {
		out = append(out, hbase.Region{Start: []byte(s)})
	}
	return out, nil
}

// The ranges of pieces are disjoint and hold all keys, whatever the regions are.
func TestPiecesOfChangingRegions(t *testing.T) {
	_, c := NewStore(t)
	newWorld(t, c, Config{}).Do("CREATE TABLE t (k STRING) ROW KEY (k AS TEXT); INSERT INTO t VALUES ('a'), ('b'), ('c'), ('d')")
	for _, starts := range [][]string{{""}, {"", "", "c"}, {"", "", ""}, {"b", "b", "c"}, {"", "b", "b", "d", "d"}} {
		w := newWorld(t, changing{c, starts}, Config{FullScan: AllowFullScan})
		s := MustParse(t, "SELECT k FROM t").(*parser.Select)
		cut, err := w.Cut(context.Background(), s, Args{})
		if err != nil {
			t.Fatal(err)
		}
		if got := merged(t, cut.Columns, w.ofPieces(s, bare(cut.Pieces), Args{})); strings.Join(got, " ") != "a| b| c| d|" {
			t.Errorf("regions from %q: %q", starts, got)
		}
	}
}

// A piece that was cut by definitions of just now is run by them.
func TestPieceOfNewDefinitions(t *testing.T) {
	defer func(age time.Duration) { definitionsAge = age }(definitionsAge)
	definitionsAge = time.Hour
	_, c := NewStore(t)
	w, other := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true}), newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (k INT PRIMARY KEY); INSERT INTO t VALUES (1), (2); CREATE VIEW v AS SELECT k FROM t")
	other.Expect("1|2", "SELECT string_agg(k::text, '|' ORDER BY k) FROM v")
	w.Do("CREATE OR REPLACE VIEW v AS SELECT k FROM t WHERE k > 1")
	s := MustParse(t, "SELECT k FROM v").(*parser.Select)
	cut, err := w.Cut(context.Background(), s, Args{})
	if err != nil {
		t.Fatal(err)
	}
	if got := merged(t, cut.Columns, other.ofPieces(s, bare(cut.Pieces), Args{})); strings.Join(got, " ") != "2|" {
		t.Errorf("rows %q", got)
	}
}
