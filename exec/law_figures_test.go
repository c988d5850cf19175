package exec

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// The law holds with statistics that someone has made up: of rows that are not there, with shares above one and below zero, of values of
// other types. They change plans, and no answer.
func TestLawOfStatistics(t *testing.T) {
	t.Parallel()
	chosen, whole, cut := 0, 0, 0
	kinds := map[string]int{} // of what is another with statistics
	layout := regexp.MustCompile(` t \((\w+)\)`)
	seeds.Each(t, 8, func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 3))
		var c hbase.Client = newFakeClient()
		cfg := noPushdown()
		if r.IntN(2) == 0 {
			_, c = NewStore(t)
			cfg = Config{}
		}
		g := newLawWorld(t, seed, c, cfg)
		for range 4 {
			g.planned.stats.stored = map[string]*stats.Table{"t": madeUp(r, g)}
			g.check(4)
			g.ends(2)
			known := g.planned.stats.stored
			for i := range 8 {
				q := "EXPLAIN SELECT " + g.table.Columns[r.IntN(len(g.table.Columns))].Name + " FROM t"
				if i%2 == 0 {
					q += " WHERE " + g.predicate(2)
				}
				if i%4 == 0 {
					q += " LIMIT 3"
				}
				g.planned.stats.stored = known
				with := g.planned.Do(q)
				g.planned.stats.stored = map[string]*stats.Table{}
				without := g.planned.Do(q)
				whole += strings.Count(with, "of whole rows")
				cut += strings.Count(with, "read at a time where regions are large")
				for _, kind := range []string{"get t", "skip scan t", "full scan t", "hops", "asks for"} {
					if strings.Contains(with, kind) != strings.Contains(without, kind) {
						kinds[kind]++
					}
				}
				if layout.FindString(with) != layout.FindString(without) {
					kinds["layout"]++
				}
				if plan, _, _ := strings.Cut(with, "\n"); !strings.HasPrefix(without, plan+"\n") {
					chosen++
				}
			}
		}
		fig["queries"] += 24
	})
	if chosen == 0 || whole == 0 || cut == 0 || kinds["layout"] == 0 {
		t.Errorf("statistics have changed %d plans, weighed whole rows in %d and cut %d; another %v", chosen, whole, cut, kinds)
	}
	t.Logf("figures: plans changed %d, whole rows weighed %d, reads cut %d; another %v", chosen, whole, cut, kinds)
}

// madeUp gives statistics of g's table of which nothing is true.
func madeUp(r *rand.Rand, g *lawWorld) *stats.Table {
	wild := r.IntN(2) == 0 // with figures that no table has, of which most tell nothing
	number := func() float64 {
		if !wild {
			return math.Floor(math.Pow(10, 6*r.Float64()))
		}
		switch r.IntN(6) {
		case 0:
			return 0
		case 1:
			return []float64{-1, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, 1e-300}[r.IntN(6)]
		}
		return math.Floor(math.Pow(10, 9*r.Float64()))
	}
	share := func() float64 {
		if wild && r.IntN(10) == 0 {
			return number()
		}
		return r.Float64() * r.Float64()
	}
	s := &stats.Table{Name: "t", At: time.UnixMilli(1_700_000_000_000), Rows: number(), Complete: r.IntN(2) == 0, Unread: share(), Unscaled: r.IntN(10) == 0,
		Bytes: number(), Cells: number(), Packed: number()}
	if !wild {
		s.Unread, s.Unscaled = 0, false
	}
	rows := r.IntN(40)
	for _, c := range g.table.Columns {
		value := func() types.Value {
			if r.IntN(20) == 0 {
				return []types.Value{{}, types.NewInt(7), types.NewString("made up"), types.NewDouble(math.NaN())}[r.IntN(4)]
			}
			return g.value(c)
		}
		col := stats.Column{Name: c.Name, Nulls: share(), Distinct: number(), Bytes: number()}
		for range r.IntN(6) {
			col.Frequent = append(col.Frequent, stats.Frequent{Value: stats.Value{Value: value()}, Share: share()})
		}
		for range r.IntN(6) {
			col.Bounds = append(col.Bounds, stats.Value{Value: value()})
		}
		s.Columns = append(s.Columns, col)
		var sample stats.Values
		for range rows + r.IntN(30)/29 {
			sample = append(sample, value())
		}
		if rows > 0 {
			s.Sample = append(s.Sample, sample)
		}
	}
	text := func() []byte {
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for _, l := range g.table.Layouts {
		k := stats.Key{Layout: l.Name, Rows: number(), Bytes: number()}
		for range l.Key.Parts {
			p := stats.Prefix{Distinct: number(), Rare: number()}
			for range r.IntN(3) {
				p.Frequent = append(p.Frequent, stats.FrequentPrefix{Prefix: text(), Share: share()})
			}
			k.Prefixes = append(k.Prefixes, p)
		}
		k.Prefixes[len(k.Prefixes)-1].Parts = l.Key.Source()
		for _, name := range g.storedTables(l.Name) {
			of := stats.Stored{Table: name, Rows: number(), Regions: r.IntN(9) - 1}
			for range r.IntN(5) {
				of.Bounds = append(of.Bounds, text())
			}
			for range r.IntN(8) / 6 {
				of.Unread = append(of.Unread, stats.Gap{Start: text(), Stop: text()})
			}
			k.Stored = append(k.Stored, of)
		}
		s.Keys = append(s.Keys, k)
	}
	return s
}

// storedTables names the HBase tables of a layout that the planner may ask for.
func (g *lawWorld) storedTables(layout string) (names []string) {
	for _, l := range g.table.Layouts {
		if l.Name == layout {
			found, err := g.planned.newRun(Args{}, moment{}).physical(g.t.Context(), l)
			if err != nil {
				g.t.Fatal(err)
			}
			names = append(names, found...)
		}
	}
	return names
}
