package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// estimated is what is looked at of EXPLAIN (FORMAT JSON).
type estimated struct {
	Estimate struct {
		Rows, Bytes *float64
		Basis       string
	}
	Analyze struct {
		QError *float64 `json:"q_error"`
	}
}

func estimatedBy(t *testing.T, w *world, explain string) (out estimated) {
	t.Helper()
	if err := json.Unmarshal([]byte(w.run(explain)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Estimates are near what is read then: by the median within a factor of 2, of 95 queries in a hundred within 10. The conditions of a
// query are taken to be independent: where a kind follows from the customer, as here, an estimate of both can be far off, and is not among these.
func TestEstimates(t *testing.T) {
	_, c := newStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	skewed(t, w, 20_000)
	const one = "EXPLAIN SELECT * FROM skewed WHERE customer = 'customer-0' AND kind = 'buy'"
	without := w.run(one)
	if e := estimatedBy(t, w, "EXPLAIN (FORMAT JSON) SELECT * FROM skewed"); e.Estimate.Rows != nil || e.Estimate.Bytes != nil || e.Estimate.Basis != "none" {
		t.Errorf("%+v", e)
	}
	w.run("ANALYZE skewed")
	with := w.run(one)
	if plain, line, ok := strings.Cut(with, "\nestimated "); !ok || plain != without || !strings.Contains(line, "by statistics of") {
		t.Errorf("%s\nwas without statistics\n%s", with, without)
	}
	r := rand.New(rand.NewPCG(9, 9))
	customers := strings.Split(w.run("SELECT customer FROM skewed WHERE seq % 97 = 0"), "\n")
	customer := func() string { return "'" + customers[r.IntN(len(customers))] + "'" }
	forms := []func() string{
		func() string { return "customer = " + customer() },
		func() string { return "customer = " + customer() + " AND note IS NOT NULL" },
		func() string { return "customer IN (" + customer() + ", " + customer() + ")" },
		func() string { return "customer > " + customer() },
		func() string { return "kind = 'refund'" },
		func() string { return "note IS NOT NULL" },
		func() string { return fmt.Sprintf("uid < %d AND customer < %s", 1+r.IntN(1000), customer()) },
		func() string { return fmt.Sprintf("uid = %d", 1+r.IntN(20)) },
		func() string {
			return fmt.Sprintf("customer = %s AND ts >= TIMESTAMP '2026-02-%02d 00:00:00'", customer(), 1+r.IntN(28))
		},
	}
	var qs []float64
	for i := range 20 * len(forms) {
		q := "SELECT * FROM skewed WHERE " + forms[i%len(forms)]()
		e := estimatedBy(t, w, "EXPLAIN (ANALYZE, FORMAT JSON) "+q)
		if e.Analyze.QError == nil || e.Estimate.Rows == nil {
			t.Errorf("%s: nothing is estimated", q)
			continue
		}
		qs = append(qs, *e.Analyze.QError)
		if *e.Analyze.QError > 4 {
			t.Logf("q-error %v: %s", *e.Analyze.QError, q)
		}
	}
	slices.Sort(qs)
	median, most := qs[len(qs)/2], qs[len(qs)*95/100]
	t.Logf("figures: median %.2f, 95 per cent %.2f, worst %.2f", median, most, qs[len(qs)-1])
	if median > 2 || most > 10 {
		t.Errorf("q-errors of %.2f and %.2f", median, most)
	}
	// Nothing is said of what is not known.
	for _, q := range []string{"SELECT * FROM skewed WHERE note LIKE '%nn%x' LIMIT 5", "SELECT (SELECT count(*) FROM skewed s WHERE s.uid = t.uid) FROM skewed t"} {
		if e := estimatedBy(t, w, "EXPLAIN (FORMAT JSON) "+q); e.Estimate.Rows != nil {
			t.Errorf("%s: %v", q, *e.Estimate.Rows)
		}
	}
	// A statement that would read more than it may is refused before it reads.
	w.run("SET max_scan_rows = 1000")
	before := c.Stats().Rows
	_, _, err := w.try("SELECT * FROM skewed")
	var e *ScanLimitError
	if !errors.As(err, &e) || !e.Before || e.Read != 20_000 || c.Stats().Rows != before {
		t.Errorf("%v, %d rows read", err, c.Stats().Rows-before)
	}
	if _, _, err := w.try("SELECT * FROM skewed LIMIT 10"); err != nil {
		t.Error(err)
	}
}
