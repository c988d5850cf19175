package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/types"
)

// made makes a table of n rows: a tenant of few letters, most rows with the first one, and a number that depends on the
// tenant; half of the notes are NULL.
func made(n int, share float64) (*Table, [][]types.Value) {
	r := rand.New(rand.NewPCG(5, 5))
	c := NewCollector(Shape{Columns: []string{"tenant", "n", "note"}, Keys: []KeyShape{{Layout: "", Parts: []string{"tenant", "n"}}}})
	run := c.Begin(5000)
	var rows [][]types.Value
	for i := range n {
		tenant := "a"
		if i%2 == 1 {
			tenant = fmt.Sprintf("t%03d", i%200)
		}
		note := types.Value{}
		if r.IntN(2) == 0 {
			note = types.NewDouble(float64(r.IntN(1000)))
		}
		row := []types.Value{types.NewString(tenant), types.NewInt(int64(i)), note}
		rows = append(rows, row)
		if r.Float64() >= share {
			continue
		}
		key := fmt.Appendf(nil, "%s\x00%08d", tenant, i)
		run.Add(Row{Values: row, CellBytes: []int{0, 0, 10}, Bytes: 10, Cells: 1, Places: []Place{{Table: "s", Key: key, Ends: []int{len(tenant) + 1, len(key)}}}})
	}
	run.Stands = float64(n)
	return Build("t", time.UnixMilli(1_700_000_000_000), share >= 1, c), rows
}

func close(a, b, factor float64) bool {
	a, b = max(a, 1), max(b, 1)
	return max(a/b, b/a) <= factor
}

// The share of a set is about the share of the rows that are in it, whether all rows were read or a few.
func TestShare(t *testing.T) {
	race.Skip(t)
	const n = 20_000
	for _, read := range []float64{1, 0.1} {
		s, rows := made(n, read)
		if s.Rows != n {
			t.Errorf("%v rows", s.Rows)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for range 300 {
			col := r.IntN(3)
			value := func() types.Value {
				for {
					if v := rows[r.IntN(n)][col]; !v.IsNull() {
						return v
					}
				}
			}
			a, b := value(), value()
			sets := []types.Set{types.Points(a), types.Points(a, b), types.SetOf(types.Interval{Lo: a}), types.SetOf(types.Interval{Hi: a, HiOpen: true}), types.SetOf(types.Interval{Lo: a, Hi: b}), types.All()}
			set := sets[r.IntN(len(sets))]
			want := 0
			for _, row := range rows {
				if v := row[col]; !v.IsNull() && holds(set, v) {
					want++
				}
			}
			got, ok := s.Column(col).Share(set)
			if most := map[bool]float64{true: 2, false: 5}[want > 100]; !ok || !close(got*n, float64(want), most) && math.Abs(got*n-float64(want)) > 100 {
				t.Errorf("%v read, column %d in %v: %v, are %v", read, col, set, got*n, want)
			}
		}
	}
}

// The rows in a range of keys are about those that are there.
func TestInRange(t *testing.T) {
	race.Skip(t)
	const n = 20_000
	s, _ := made(n, 1)
	k := s.Key("")
	for _, q := range []struct {
		start, stop string
		bound       int
		prefix      string
		tail, want  float64
	}{
		{"", "", 0, "", -1, n},
		{"a\x00", "a\x01", 1, "a\x00", 1, n / 2},
		{"t001\x00", "t001\x01", 1, "t001\x00", 1, 100},
		{"t", "u", 0, "", -1, n / 2},
		{"a\x0000000000", "a\x0000005000", 1, "a\x00", 0.25, n / 8},
		{"t001\x0000000000", "t001\x0000010000", 1, "t001\x00", 0.5, 50},
		{"b", "c", 0, "", -1, 0},
		{"z", "", 0, "", -1, 0},
	} {
		got, ok := k.InRange(Range{Table: "s", Start: []byte(q.start), Stop: []byte(q.stop), Bound: q.bound, Prefix: []byte(q.prefix), Tail: q.tail})
		if !ok || !close(got, q.want, 1.5) && math.Abs(got-q.want) > 50 {
			t.Errorf("[%q, %q): %v, are %v", q.start, q.stop, got, q.want)
		}
	}
	if _, ok := k.InRange(Range{Table: "another"}); ok {
		t.Error("something is known of a table that was not read")
	}
	if d := k.Prefixes[0].Distinct; d != 101 {
		t.Errorf("%v tenants", d)
	}
}

// A prefix that stands in several HBase tables has in each of them what is there, whether it is a part of the rows of each or all of one's.
func TestInRangeOfSeveralTables(t *testing.T) {
	const days, n = 20, 1000
	c := NewCollector(Shape{Keys: []KeyShape{{Parts: []string{"host", "n"}}, {Layout: "by_day", Parts: []string{"day", "n"}}}})
	run := c.Begin(days * n)
	for i := range days * n {
		host, day := fmt.Sprintf("h%d", i%10), fmt.Sprintf("d%02d", i/n)
		run.Add(Row{Places: []Place{
			{Table: "s" + day, Key: fmt.Appendf(nil, "%s-%05d", host, i), Ends: []int{len(host) + 1, len(host) + 6}},
			{Table: "t" + day, Key: fmt.Appendf(nil, "%s-%05d", day, i), Ends: []int{len(day) + 1, len(day) + 6}}}})
	}
	s := Build("t", time.UnixMilli(1_700_000_000_000), true, c)
	for _, q := range []struct {
		key           int
		table, prefix string
		want          float64
	}{
		{0, "sd03", "h3-", n / 10}, {0, "sd19", "h9-", n / 10}, {1, "td03", "d03-", n}, {1, "td04", "d03-", 0},
	} {
		r := Range{Table: q.table, Start: []byte(q.prefix), Stop: types.PrefixEnd([]byte(q.prefix)), Bound: 1, Prefix: []byte(q.prefix)}
		if got, ok := s.Keys[q.key].InRange(r); !ok || math.Abs(got-q.want) > 10 {
			t.Errorf("%s in %s: %v, are %v", q.prefix, q.table, got, q.want)
		}
	}
}

// Long texts with the same beginning are found as values, although the kept values are cut.
func TestShareOfLongTexts(t *testing.T) {
	const n = 2000
	c := NewCollector(Shape{Columns: []string{"url"}})
	run := c.Begin(n)
	text := func(i int) types.Value { return types.NewString(fmt.Sprintf("%0100d-%04d", 0, i%500)) }
	for i := range n {
		run.Add(Row{Values: []types.Value{text(i)}, CellBytes: []int{200}})
	}
	run.Stands = 10 * n
	column := Build("t", time.UnixMilli(1_700_000_000_000), false, c).Column(0)
	if share, ok := column.Share(types.Points(text(499))); !ok || math.Abs(share-1./500) > 0.001 {
		t.Errorf("%v", share)
	}
}

// Statistics are the same after they were kept.
func TestJSON(t *testing.T) {
	s, _ := made(3000, 1)
	d, _, _ := apd.NewFromString("1.50")
	for _, v := range []types.Value{{}, types.NewBool(true), types.NewBool(false), types.NewInt(math.MinInt64), types.NewIntOf(types.TinyInt, -3), types.NewDouble(math.Inf(-1)),
		types.NewFloatOf(types.Float, 0.1), types.NewDouble(math.NaN()), types.NewDecimal(d), types.NewString("a\x00ü"), types.NewString("\xff\xfe"), types.NewBytes("\x00\xff"), types.NewBytes(""),
		types.NewJSON(`{"a":1}`), types.NewDate(-5), types.NewTimestamp(1 << 50), types.NewIntOf(types.Time, 86399999)} {
		b, err := json.Marshal(Value{v})
		if err != nil {
			t.Fatal(err)
		}
		var back Value
		if err := json.Unmarshal(b, &back); err != nil || !back.Identical(v) {
			t.Errorf("%s: %v, %v, want %v", b, back, err, v)
		}
		b, err = json.Marshal(Values{v, {}})
		if err != nil {
			t.Fatal(err)
		}
		var list Values
		if err := json.Unmarshal(b, &list); err != nil || len(list) != 2 || !list[0].Identical(v) && utf8.ValidString(v.String()) || !list[1].IsNull() {
			t.Errorf("%s: %v, %v, want %v", b, list, err, v)
		}
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	back := &Table{}
	if err := json.Unmarshal(b, back); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%v", err)
	}
}

// Statistics of nothing, of other types and of no rows say nothing wrong and do not panic.
func TestOfNothing(t *testing.T) {
	var none *Table
	if none.Column(0) != nil || none.Key("") != nil {
		t.Error("something is known")
	}
	if _, ok := none.Column(0).Share(types.All()); ok {
		t.Error("a share is known")
	}
	s, _ := made(0, 1)
	if rows, ok := s.Key("").InRange(Range{Table: "s"}); ok {
		t.Errorf("%v rows", rows)
	}
	s, _ = made(1000, 1)
	if got, _ := s.Column(1).Share(types.Points(types.NewString("x"))); got != 0 {
		t.Errorf("a number is a text: %v", got)
	}
}

// What recurs among the rows, as a value in each tenth of them does, is about as frequent in the sample as in the table.
func TestSampleOfWhatRecurs(t *testing.T) {
	for _, n := range []int{8000, 20_000, 40_000} {
		c := NewCollector(Shape{Columns: []string{"v"}, Keys: []KeyShape{{Parts: []string{"k"}}}})
		run := c.Begin(n)
		for i := range n {
			key := fmt.Appendf(nil, "%08d", i)
			run.Add(Row{Values: []types.Value{types.NewInt(int64(i % 10))}, CellBytes: []int{1}, Bytes: 1, Cells: 1, Places: []Place{{Table: "s", Key: key, Ends: []int{len(key)}}}})
		}
		s := Build("t", time.UnixMilli(1_700_000_000_000), true, c)
		times := map[int64]int{}
		for _, v := range s.Sample[0] {
			times[v.Int()]++
		}
		for v := range int64(10) {
			if share := float64(times[v]) / float64(len(s.Sample[0])); share < 0.07 || share > 0.13 {
				t.Errorf("%d rows: %.3f of the sample have %d", n, share, v)
			}
		}
	}
}
