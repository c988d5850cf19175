package planner

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// A Point gives for other arguments the plan that is made for them, or none.
func TestPoint(t *testing.T) {
	c := given.Layouts(t)
	served := map[string]int{}
	for _, table := range c.Tables() {
		var terms []string
		var kinds []types.Type
		for _, col := range table.Columns {
			if col.KeyPart {
				terms = append(terms, parser.QuoteName(col.Name)+" = ?")
				kinds = append(kinds, col.Type)
			}
		}
		if len(terms) == 0 {
			continue
		}
		s := given.Query(t, "SELECT * FROM "+parser.QuoteName(table.Name)+" WHERE "+strings.Join(terms, " AND "))
		env := func(args []types.Value) *Env { return &Env{Catalog: c, Args: args} }
		anew := func(args []types.Value) *plan.Plan {
			p, err := env(args).Select(s)
			if err != nil {
				t.Fatalf("%s %v: %v", s, args, err)
			}
			return p
		}
		for from := range 8 {
			point := env(nil).PointOf(s, anew(sampleArgs(kinds, from)))
			for i := range sampleValues {
				args := sampleArgs(kinds, i)
				if point == nil {
					break
				}
				got := point.Plan(env(args))
				if got == nil {
					continue
				}
				served[table.Name]++
				want := anew(args)
				if a, b := plan.Scans(got.Root)[0], plan.Scans(want.Root)[0]; a.Access != b.Access || !reflect.DeepEqual(a.Spans, b.Spans) {
					t.Errorf("%s %v: %v %v, planned anew %v %v", s, args, a.Access, a.Spans, b.Access, b.Spans)
				}
			}
			if point != nil {
				for i := range kinds { // what the plan was not made for
					args := sampleArgs(kinds, from)
					if args[i] = types.NewDouble(0.5); kinds[i] != types.Double && point.Plan(env(args)) != nil {
						t.Errorf("%s: a plan for a DOUBLE", s)
					}
					if args[i] = (types.Value{}); point.Plan(env(args)) != nil {
						t.Errorf("%s: a plan for NULL", s)
					}
				}
				if point.Plan(&Env{Catalog: c, Args: sampleArgs(kinds, from), Loc: time.FixedZone("", 3600)}) != nil {
					t.Errorf("%s: a plan for another zone", s)
				}
				if point.Plan(&Env{Catalog: &catalog.Catalog{}, Args: sampleArgs(kinds, from)}) != nil {
					t.Errorf("%s: a plan for a table that is gone", s)
				}
			}
		}
	}
	for _, name := range []string{"phoenix_events", "files"} {
		if served[name] == 0 {
			t.Errorf("no Point for %s: %v", name, served)
		}
	}
	if len(served) < 10 {
		t.Errorf("Points for few tables: %v", served)
	}
}

// A Point of a list gives for other arguments the plan that is made for them, or none.
func TestPointOfList(t *testing.T) {
	c := given.Layouts(t)
	served := map[string]int{}
	for _, table := range c.Tables() {
		var names []string
		var kinds []types.Type
		for _, col := range table.Columns {
			if col.KeyPart {
				names = append(names, parser.QuoteName(col.Name))
				kinds = append(kinds, col.Type)
			}
		}
		if len(names) == 0 {
			continue
		}
		const n = 3
		tuple := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + "), "
		s := given.Query(t, "SELECT * FROM "+parser.QuoteName(table.Name)+" WHERE ("+strings.Join(names, ", ")+") IN ("+
			strings.TrimSuffix(strings.Repeat(tuple, n), ", ")+")")
		args := func(from int) (all []types.Value) {
			for i := range n {
				all = append(all, sampleArgs(kinds, from*(i+1)%sampleValues)...)
			}
			return all
		}
		anew := func(args []types.Value) (*Env, *plan.Plan) {
			e := &Env{Catalog: c, Args: args}
			p, err := e.Select(s)
			if err != nil {
				t.Fatalf("%s %v: %v", s, args, err)
			}
			return e, p
		}
		for from := range 8 {
			e, p := anew(args(from))
			point := e.PointOf(s, p)
			if point == nil {
				continue
			}
			for i := range sampleValues {
				e, want := anew(args(i))
				got := point.Plan(e)
				if got == nil {
					continue
				}
				served[table.Name]++
				if a, b := plan.Scans(got.Root)[0], plan.Scans(want.Root)[0]; a.Access != b.Access || !reflect.DeepEqual(a.Spans, b.Spans) {
					t.Errorf("%s %v: %v %v, planned anew %v %v", s, args(i), a.Access, a.Spans, b.Access, b.Spans)
				}
			}
			for i := range n * len(kinds) {
				wrong := args(from)
				if wrong[i] = (types.Value{}); point.Plan(&Env{Catalog: c, Args: wrong}) != nil {
					t.Errorf("%s: a plan for NULL", s)
				}
			}
		}
	}
	if len(served) < 10 || served["phoenix_events"] == 0 {
		t.Errorf("Points for few tables: %v", served)
	}
}

// The same key in several tables is several rows.
func TestPointOfTables(t *testing.T) {
	c := given.Tables(t, "CREATE TABLE t (d INT, u STRING, v STRING FROM f:v) STORED IN ('t', d AS TEXT) ROW KEY (u AS TEXT)")
	s := given.Query(t, "SELECT v FROM t WHERE (d, u) IN ((?, ?), (?, ?), (?, ?))")
	args := func(days ...int64) (all []types.Value) {
		for _, d := range days {
			all = append(all, types.NewInt(d), types.NewString("a"))
		}
		return all
	}
	e := &Env{Catalog: c, Args: args(1, 2, 3)}
	p, err := e.Select(s)
	if err != nil {
		t.Fatal(err)
	}
	point := e.PointOf(s, p)
	if point == nil {
		t.Fatal("no Point")
	}
	for want, got := range map[int]*plan.Plan{3: point.Plan(&Env{Catalog: c, Args: args(5, 4, 6)}), 2: point.Plan(&Env{Catalog: c, Args: args(5, 4, 5)})} {
		if spans := plan.Scans(got.Root)[0].Spans; len(spans) != want || spans[0].Table != "t4" || spans[1].Table != "t5" {
			t.Errorf("%d tables: %v", want, spans)
		}
	}
}

func sampleArgs(kinds []types.Type, i int) []types.Value {
	args := make([]types.Value, len(kinds))
	for k, kind := range kinds {
		args[k] = sampleValue(kind, i+k)
	}
	return args
}

func TestNoPoint(t *testing.T) {
	c := given.Layouts(t)
	for _, text := range []string{
		"SELECT * FROM phoenix_events WHERE host = 'h'",
		"SELECT * FROM phoenix_events WHERE host = 'h' AND ts > 5",
		"SELECT * FROM phoenix_events FOR SYSTEM_TIME AS OF ? WHERE host = 'h' AND ts = 5",
		"SELECT host FROM (SELECT host FROM phoenix_events LIMIT 2) AS phoenix_events WHERE host = 'h'",
		"SELECT * FROM phoenix_events WHERE host = 'h' AND ts = 5 AND msg = 'm'",
		"SELECT COALESCE(msg, 'x') FROM phoenix_events WHERE host = 'h' AND ts = 5",
		"SELECT * FROM phoenix_events WHERE host = 'h' AND ts = 5 LIMIT 1",
		"SELECT DISTINCT msg FROM phoenix_events WHERE host = 'h' AND ts = 5",
		"SELECT * FROM phoenix_events WHERE host IN ('h', 'i') AND ts = 5",
		"SELECT * FROM phoenix_events WHERE host = 'h' AND ts = 5.0",
		"SELECT * FROM phoenix_events WHERE 'h' = host AND 5 = ts",
		"SELECT * FROM phoenix_events WHERE host = 'h' AND ts = 5 AND host = 'h'",
		"SELECT * FROM phoenix_events WHERE host >= 'h' AND host <= 'h' AND ts = 5",
		"SELECT * FROM phoenix_events WHERE host LIKE 'h' AND ts = 5",
		"SELECT * FROM phoenix_events WHERE host IS NOT DISTINCT FROM 'h' AND ts = 5",
		"SELECT * FROM phoenix_events WHERE (host, ts) = ('h', 5)",
		"SELECT * FROM phoenix_events WHERE ts + 1 = 6 AND host = 'h'",
		"SELECT * FROM phoenix_events WHERE (host, ts) IN (('h', 5), ('i', 6))",
		"SELECT * FROM phoenix_events WHERE (host, ts) NOT IN (('h', 5), ('i', 6))",
	} {
		st := given.Query(t, text)
		p, err := (&Env{Catalog: c, Args: []types.Value{types.NewTimestamp(5)}}).Select(st)
		if err != nil {
			t.Fatal(err)
		}
		if (&Env{}).PointOf(st, p) != nil {
			t.Errorf("%s: a Point", text)
		}
	}
}

func BenchmarkPlanPointAgain(b *testing.B) {
	c := given.Layouts(b)
	st := given.Query(b, "SELECT level, msg, val, cnt FROM phoenix_events WHERE host = ? AND ts = ?")
	args := []types.Value{types.NewString("host0001"), types.NewInt(1700000000000)}
	env := &Env{Catalog: c, Args: args}
	p, err := env.Select(st)
	if err != nil {
		b.Fatal(err)
	}
	point := env.PointOf(st, p)
	b.ReportAllocs()
	for b.Loop() {
		if point.Plan(env) == nil {
			b.Fatal("no plan")
		}
	}
}

// The same for 500 rows: planned anew, and by their Point.
func BenchmarkPlanList(b *testing.B) {
	c := given.Layouts(b)
	s := given.Query(b, "SELECT level, msg, val, cnt FROM phoenix_events WHERE (host, ts) IN ("+strings.TrimSuffix(strings.Repeat("(?, ?), ", 500), ", ")+")")
	var args []types.Value
	for i := range 500 {
		args = append(args, types.NewString(fmt.Sprintf("host%04d", i%200)), types.NewInt(int64(1700000000000+7919*i)))
	}
	env := &Env{Catalog: c, Args: args}
	p, err := env.Select(s)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("anew", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := env.Select(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		point := env.PointOf(s, p)
		b.ReportAllocs()
		for b.Loop() {
			if point.Plan(env) == nil {
				b.Fatal("no plan")
			}
		}
	})
}

// A condition on _key or _ts, which are no columns of the table, makes no Point.
func TestPointOfPseudoColumns(t *testing.T) {
	c := given.Tables(t, "CREATE TABLE t (a INT, b INT) ROW KEY (a AS INT32)")
	for _, where := range []string{"_key = X'00000001'", "_key = ?", "X'00000001' = _key", "_key = X'00000001' AND a = 1", "a = 1 AND _key = ?", "_key IN (?)", "(_key, a) IN ((?, 1))",
		"_ts = TIMESTAMP '2024-01-01'", "a = 1 AND _ts = TIMESTAMP '2024-01-01'"} {
		s := given.Query(t, "SELECT a FROM t WHERE "+where)
		e := &Env{Catalog: c, Args: []types.Value{types.NewBytes("\x00\x00\x00\x01")}}
		p, err := e.Select(s)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if point := e.PointOf(s, p); point != nil {
			t.Errorf("%s: %v", where, point)
		}
	}
}
