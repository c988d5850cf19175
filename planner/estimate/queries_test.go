package estimate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/hql-db/hql/exec"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
)

// qErrors runs n queries of each form and gives the q-errors in order.
func qErrors(t *testing.T, w *World, n int, forms []func() string) (qs []float64) {
	t.Helper()
	for i := range n * len(forms) {
		q := forms[i%len(forms)]()
		e := w.Estimated("EXPLAIN (ANALYZE, FORMAT JSON) " + q)
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
	return qs
}

// near fails unless of estimates the median is within a factor of 2, and 95 in a hundred are within 10.
func near(t *testing.T, qs []float64) {
	t.Helper()
	median, most := qs[len(qs)/2], qs[len(qs)*95/100]
	t.Logf("figures: median %.2f, 95 per cent %.2f, worst %.2f", median, most, qs[len(qs)-1])
	if !(median <= 2 && most <= 10) {
		t.Errorf("q-errors of %.2f and %.2f", median, most)
	}
}

// Estimates are near what is read then, where columns follow from one another as well: from the customer the kind, from the city the country,
// and a parcel's days from one another.
func TestEstimates(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	FillSkewed(&w.Script, 20_000)
	const one = "EXPLAIN SELECT * FROM skewed WHERE customer = 'customer-0' AND kind = 'buy'"
	without := w.Do(one)
	if e := w.Estimated("EXPLAIN (FORMAT JSON) SELECT * FROM skewed"); e.Estimate.Rows != nil || e.Estimate.Bytes != nil || e.Estimate.Basis != "none" {
		t.Errorf("%+v", e)
	}
	w.Do("ANALYZE skewed")
	with := w.Do(one)
	if plain, line, ok := strings.Cut(with, "\nestimated "); !ok || plain != without || !strings.Contains(line, "by statistics of") {
		t.Errorf("%s\nwas without statistics\n%s", with, without)
	}
	r := rand.New(rand.NewPCG(9, 9))
	near(t, qErrors(t, w, 6, skewedForms(w, r)))
	w.Do(parcelsTable)
	w.Fill("parcels", 12_000, parcelRow(rand.New(rand.NewPCG(4, 4))))
	w.Do("SET analyze_rows = 4000; ANALYZE parcels; SET analyze_rows TO DEFAULT")
	near(t, qErrors(t, w, 12, parcelForms(r)))
	w.Do(levelsTable)
	w.Fill("levels", 20_000, func(i int) string { return fmt.Sprintf("(%d, %d, %d, %d)", i%5, i%31, i, i%200) })
	w.Do("ANALYZE levels")
	near(t, qErrors(t, w, 40, []func() string{func() string { // the site follows from v, and the sample has a row of few of the three
		v := r.IntN(200)
		return fmt.Sprintf("SELECT * FROM levels WHERE site = %d AND floor = %d AND v = %d", v%5, r.IntN(31), v)
	}}))
	w.Do(`CREATE TABLE packed (host STRING, ts TIMESTAMP, v DOUBLE FROM t:[ts - DATE_BIN('5 minutes', ts) AS UINT32]) ROW KEY (host AS TEXT, X'00', DATE_BIN('5 minutes', ts) AS INT64)`)
	w.Fill("packed", 6000, func(i int) string {
		return fmt.Sprintf("('host%d', TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '%d seconds', %d)", i%3, i, i)
	})
	w.Do("ANALYZE packed")
	near(t, qErrors(t, w, 2, []func() string{ // what is sent is rows of the store, of which each holds a hundred
		func() string { return "SELECT * FROM packed" },
		func() string { return "SELECT * FROM packed WHERE host = 'host1'" },
		func() string { return "SELECT * FROM packed WHERE v > 100" },
		func() string {
			return "SELECT * FROM packed WHERE host = 'host1' AND ts = TIMESTAMP '2026-01-01 00:10:01'"
		},
		func() string {
			return "SELECT * FROM packed WHERE host = 'host2' AND ts >= TIMESTAMP '2026-01-01 00:10:00' AND ts < TIMESTAMP '2026-01-01 00:20:00'"
		},
	}))
	// Nothing is said of what is not known.
	for _, q := range []string{"SELECT * FROM skewed WHERE _ts > TIMESTAMP '2026-01-01 00:00:00' LIMIT 5", "SELECT (SELECT count(*) FROM skewed s WHERE s.uid = t.uid) FROM skewed t"} {
		if e := w.Estimated("EXPLAIN (FORMAT JSON) " + q); e.Estimate.Rows != nil {
			t.Errorf("%s: %v", q, *e.Estimate.Rows)
		}
	}
	// A statement that would read more than it may is refused before it reads.
	w.Do("SET max_scan_rows = 1000")
	before := c.Stats().Rows
	_, _, err := w.Try("SELECT * FROM skewed")
	var e *ScanLimitError
	if !errors.As(err, &e) || !e.Before || e.Read != 20_000 || c.Stats().Rows != before {
		t.Errorf("%v, %d rows read", err, c.Stats().Rows-before)
	}
	if _, _, err := w.Try("SELECT * FROM skewed LIMIT 10"); err != nil {
		t.Error(err)
	}
	// So is one that asks another query first, with what that has read; the servers drop some rows by seq. Tries to hop read 500.
	before = c.Stats().Rows
	_, _, err = w.Try("SELECT * FROM skewed WHERE seq >= (SELECT count(*) FROM parcels WHERE id < 10)")
	if !errors.As(err, &e) || !e.Before || e.Read != 20_499 || c.Stats().Rows > before+20 {
		t.Errorf("%v, %d rows read", err, c.Stats().Rows-before)
	}
}

// parcelsTable has countries that follow from cities, zips from both, and days that follow from one another.
const parcelsTable = `CREATE TABLE parcels (id BIGINT, city STRING FROM d:city, country STRING FROM d:country, zip INT FROM d:zip, sent DATE FROM d:sent, arrived DATE FROM d:arrived)
	ROW KEY (id AS INT64) SPLIT AT (X'0000000000000400', X'0000000000002000')`

func parcelRow(r *rand.Rand) func(i int) string {
	return func(i int) string {
		city, day := r.IntN(200)*r.IntN(200)/200, r.IntN(300)
		return fmt.Sprintf("(%d, 'city%d', 'land%d', %d, DATE '2026-01-01' + %d, DATE '2026-01-01' + %d)", i, city, city%20, city*10+r.IntN(10), day, day+1+r.IntN(4))
	}
}

// skewedForms draw queries of the skewed table.
func skewedForms(w *World, r *rand.Rand) (forms []func() string) {
	customers := strings.Split(w.Do("SELECT customer FROM skewed WHERE seq % 97 = 0"), "\n")
	customer := func() string { return "'" + customers[r.IntN(len(customers))] + "'" }
	day := func() int { return 1 + r.IntN(28) }
	for _, where := range []func() string{
		func() string { return "customer = " + customer() },
		func() string { return "customer = " + customer() + " AND note IS NOT NULL" },
		func() string { return "customer IN (" + customer() + ", " + customer() + ")" },
		func() string { return "customer > " + customer() },
		func() string { return "kind = 'refund'" },
		func() string { return "note IS NOT NULL" },
		func() string { return fmt.Sprintf("uid < %d AND customer < %s", 1+r.IntN(1000), customer()) },
		func() string { return fmt.Sprintf("uid = %d", 1+r.IntN(20)) },
		func() string {
			return fmt.Sprintf("customer = %s AND ts >= TIMESTAMP '2026-02-%02d 00:00:00'", customer(), day())
		},
		func() string { return "customer = " + customer() + " AND kind = 'buy'" },
		func() string { return "customer = " + customer() + " AND kind IN ('click', 'refund')" },
		func() string { return "customer > " + customer() + " AND kind = 'buy' AND note IS NOT NULL" },
		func() string { return "note LIKE '%nnnnnnnn%'" },
	} {
		forms = append(forms, func() string { return "SELECT * FROM skewed WHERE " + where() })
	}
	return forms
}

// parcelForms draw queries of the parcels, by columns that follow from one another.
func parcelForms(r *rand.Rand) (forms []func() string) {
	city := func() int { return r.IntN(200) * r.IntN(200) / 200 }
	for _, where := range []func() string{
		func() string { n := city(); return fmt.Sprintf("city = 'city%d' AND country = 'land%d'", n, n%20) },
		func() string { return fmt.Sprintf("city = 'city%d' AND country = 'land%d'", city(), r.IntN(20)) },
		func() string {
			n := city()
			return fmt.Sprintf("country = 'land%d' AND zip BETWEEN %d AND %d", n%20, n*10, n*10+300)
		},
		func() string {
			n := r.IntN(300)
			return fmt.Sprintf("sent >= DATE '2026-01-01' + %d AND arrived < DATE '2026-01-01' + %d", n, n+5)
		},
		func() string {
			n := r.IntN(300)
			return fmt.Sprintf("sent < DATE '2026-01-01' + %d AND arrived > DATE '2026-01-01' + %d", n, n+3)
		},
		func() string { n := city(); return fmt.Sprintf("city = 'city%d' AND zip = %d", n, n*10+r.IntN(10)) },
	} {
		forms = append(forms, func() string { return "SELECT * FROM parcels WHERE " + where() })
	}
	return forms
}
