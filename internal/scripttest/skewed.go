package scripttest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// SkewedTable has customers of very unlike sizes, whose names differ in length, in regions of very unlike sizes; kinds follow from
// the customer, notes are often NULL.
const SkewedTable = `CREATE TABLE skewed (customer STRING, ts TIMESTAMP, seq INT, kind STRING FROM d:kind, uid BIGINT FROM d:uid, note STRING FROM d:note)
	ROW KEY (customer AS TEXT, X'00', ts AS INT64, seq AS INT32)
	INDEX by_uid (uid AS INT64, customer AS TEXT, X'00', ts AS INT64, seq AS INT32)
	SPLIT AT ('c', 'customer-1', 'customer-10', 'd', 'z1')`

// SkewedRow returns the i-th row. The caller uses r and zipf for nothing else.
func SkewedRow(r *rand.Rand, zipf *rand.Zipf, i int) string {
	c := zipf.Uint64()
	name := fmt.Sprintf("customer-%d", c)
	if c%2 == 1 {
		name = fmt.Sprintf("z%d", c)
	}
	day := r.IntN(90)
	if r.IntN(2) == 0 {
		day = 40 // a burst
	}
	note := "NULL"
	if r.IntN(10) < 3 {
		note = "'" + strings.Repeat("n", 1+r.IntN(20)*r.IntN(20)) + "'"
	}
	kind := []string{"view", "click"}[r.IntN(2)]
	if c%5 == 0 {
		kind = []string{"buy", "refund", "view", "view"}[r.IntN(4)]
	}
	return fmt.Sprintf("('%s', TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '%d seconds', %d, '%s', %d, %s)", name, day*86400+r.IntN(86400), i, kind, int(math.Pow(10, 4*r.Float64())), note)
}

// FillSkewed creates the table with n rows.
func FillSkewed[S any](s *Script[S], n int) {
	s.Do(SkewedTable)
	r := rand.New(rand.NewPCG(3, 3))
	zipf := rand.NewZipf(r, 1.1, 1, 800)
	s.Fill("skewed", n, func(i int) string { return SkewedRow(r, zipf, i) })
}

// Estimated is a part of EXPLAIN (FORMAT JSON).
type Estimated struct {
	Estimate struct {
		Rows, Bytes *float64
		Basis       string
	}
	Analyze struct {
		QError *float64 `json:"q_error"`
	}
}

// Estimated runs EXPLAIN (FORMAT JSON).
func (s *Script[S]) Estimated(explain string) (out Estimated) {
	s.T.Helper()
	if err := json.Unmarshal([]byte(s.Do(explain)), &out); err != nil {
		s.T.Fatal(err)
	}
	return out
}
