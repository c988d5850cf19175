package exec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/store"
)

// times are what differs from run to run in EXPLAIN ANALYZE: the figures, and how far right the column's heading stands.
var (
	times   = regexp.MustCompile(` *\d+(\.\d+)? ms(  #+)?`)
	heading = regexp.MustCompile(` +time\n`)
)

// testdata/explain holds what EXPLAIN and EXPLAIN ANALYZE print on a store; "sql" fills it first.
func TestExplain(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	datadriven.RunTest(t, "testdata/explain", func(t *testing.T, d *datadriven.TestData) string {
		out, _, err := w.Try(d.Input)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		if d.Cmd == "sql" {
			return ""
		}
		return heading.ReplaceAllString(times.ReplaceAllString(out, " T"), "  time\n") + "\n"
	})
}

// scannedRows is the count that servers reported; null is nil.
type scannedRows struct {
	RowsScanned  *int64 `json:"rows_scanned"`
	RowsFiltered *int64 `json:"rows_filtered"`
}

// figures is some of what stands under "analyze".
type figures struct {
	RPCs, Bytes int64
	scannedRows
	MS    float64
	Steps []struct {
		Depth  int
		MS     float64
		SelfMS float64 `json:"self_ms"`
	}
	Tables []struct {
		RPCs, Bytes int64
		scannedRows
		Regions []struct {
			Region      string
			RPCs, Bytes int64
		}
	}
}

// analyzed is EXPLAIN (ANALYZE, FORMAT JSON) of a query.
func analyzed(t *testing.T, w *world, query string) (out struct{ Analyze figures }) {
	t.Helper()
	if err := json.Unmarshal([]byte(w.Do("EXPLAIN (ANALYZE, FORMAT JSON) "+query)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The figures of tables and regions add up to the client's counts, and no step takes longer than the whole.
func TestAnalyzeAddsUp(t *testing.T) {
	s, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do(`CREATE TABLE m (k STRING, v BIGINT) ROW KEY (SALT('a', 'b', 'c'), k AS TEXT) SPLIT AT ('b', 'c')`)
	var rows []string
	for i := range 500 {
		rows = append(rows, strings.Repeat("x", i%7)+string(rune('a'+i%26)))
	}
	for i, k := range rows {
		rows[i] = "('" + k + "', 1)"
	}
	w.Do("INSERT INTO m VALUES " + strings.Join(rows, ", "))
	for _, faulty := range []bool{false, true} {
		if faulty {
			s.SetFaults(store.Faults{Seed: 7, AnswerLost: 0.2, RequestLost: 0.2, PartialRow: 0.2, Heartbeat: 0.3})
		}
		failed := int64(0)
		for range 20 {
			a := analyzed(t, w, "SELECT count(*), sum(v) FROM m WHERE k BETWEEN 'b' AND 'xxxy' GROUP BY v ORDER BY 1").Analyze
			if len(a.Tables) != 1 {
				t.Fatalf("%+v", a)
			}
			var rpcs, bytes int64
			for _, r := range a.Tables[0].Regions {
				rpcs, bytes = rpcs+r.RPCs, bytes+r.Bytes
				if r.Region == "" {
					failed += r.RPCs
				}
			}
			if rpcs != a.RPCs || bytes != a.Bytes || a.Tables[0].RPCs != rpcs || a.Tables[0].Bytes != bytes || bytes == 0 {
				t.Errorf("regions have %d RPCs and %d bytes: %+v", rpcs, bytes, a)
			}
			for i, st := range a.Steps {
				if st.MS > a.MS || st.SelfMS > st.MS || i > 0 && st.Depth == a.Steps[i-1].Depth+1 && st.MS > a.Steps[i-1].MS {
					t.Errorf("step %d: %+v", i, a.Steps)
				}
			}
		}
		if faulty != (failed > 0) {
			t.Errorf("faults %v, %d failed RPCs told", faulty, failed)
		}
	}
}

// They also add up for any number of accesses to a table, which are listed individually only as long as they are few.
func TestAnalyzeOfManyAccessesAddsUp(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE m (k INT, v INT) ROW KEY (k AS INT32); INSERT INTO m SELECT n, n FROM generate_series(1, 100) s(n)")
	a := analyzed(t, w, "SELECT k, (SELECT count(*) FROM m b WHERE b.v < a.v), (SELECT count(*) FROM m b WHERE b.k < a.k) FROM m a").Analyze
	var rpcs, bytes int64
	for _, t := range a.Tables {
		rpcs, bytes = rpcs+t.RPCs, bytes+t.Bytes
	}
	if rpcs != a.RPCs || bytes != a.Bytes || rpcs < 201 || len(a.Tables) > 70 {
		t.Errorf("%d tables with %d RPCs and %d bytes, of %d and %d", len(a.Tables), rpcs, bytes, a.RPCs, a.Bytes)
	}
}

// The servers say what they looked at for scans, and nothing of Gets.
func TestAnalyzeTellsWhatWasScanned(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do(`CREATE TABLE m (k STRING, v BIGINT FROM f:v) ROW KEY (SALT('a', 'b'), k AS TEXT) SPLIT AT ('b')`)
	w.Do("INSERT INTO m SELECT LPAD(CAST(n AS STRING), 3, '0'), n % 10 FROM (VALUES " + "(0)" + numbers(1, 300) + ") AS t (n)")
	for _, q := range []struct {
		query             string
		scanned, filtered *int64
	}{
		{"SELECT * FROM m WHERE v = 3", new(int64(300)), new(int64(270))},
		{"SELECT * FROM m WHERE k < '100' AND v = 3", new(int64(100)), new(int64(90))},
		{"SELECT * FROM m WHERE k = '003'", nil, nil},
		{"SELECT * FROM m WHERE k = '003' AND k = '004'", nil, nil},
	} {
		a := analyzed(t, w, q.query).Analyze
		if !reflect.DeepEqual(a.RowsScanned, q.scanned) || !reflect.DeepEqual(a.RowsFiltered, q.filtered) {
			t.Errorf("%s: %s", q.query, w.Do("EXPLAIN (ANALYZE, FORMAT JSON) "+q.query))
		}
		if len(a.Tables) > 0 && !reflect.DeepEqual(a.Tables[0].scannedRows, a.scannedRows) {
			t.Errorf("%s: the table has other figures than the statement", q.query)
		}
	}
}

// numbers lists the rows of a VALUES, from from to before to, each behind a comma.
func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, ", (%d)", i)
	}
	return b.String()
}

// EXPLAIN alone sends nothing.
func TestExplainSendsNothing(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{})
	w.Do(`CREATE TABLE m (k STRING, v BIGINT) ROW KEY (k AS TEXT)`)
	before := c.Stats()
	for _, q := range []string{"EXPLAIN SELECT * FROM m", "EXPLAIN (FORMAT JSON) SELECT * FROM m WHERE k = 'a'", "EXPLAIN DELETE FROM m WHERE k = 'a'"} {
		w.Do(q)
	}
	if after := c.Stats(); after != before {
		t.Errorf("%+v, then %+v", before, after)
	}
}
