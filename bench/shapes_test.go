package bench

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/types"
)

// shape is a table with a form unlike that of EVENTS. It is created and filled for one workload: reading all of it.
type shape struct {
	columns string // for CREATE TABLE
	splits  string
	rows    int
	fill    string // the columns after the key in INSERT ... SELECT; g is the row's number
	args    []any  // arguments of fill
	cells   int    // number of cells per row
}

// shapes are read by hql and then by a hand-written gohbase program.
var shapes = map[string]shape{
	"servers": inRegions, // like regions, for a cluster of several servers
	"regions": inRegions,
	"cols":    {columns: list(100, "c%[1]d BIGINT"), rows: 5_000, fill: list(100, "g + %[1]d"), cells: 100},
	"large":   {columns: "body STRING", rows: 5_000, fill: "?", args: []any{strings.Repeat("0123456789", 1024)}, cells: 1},
}

var inRegions = shape{columns: "a BIGINT, b BIGINT", splits: "SPLIT INTO 200 BY UNIFORM", rows: 100_000, fill: "g, g + 1", cells: 2}

// list repeats a format with the numbers below n.
func list(n int, format string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return strings.Join(all, ", ")
}

// idle reads one row by key after pauses in which definitions become old, with hql and with gohbase in turn.
func idle(ctx context.Context, db *hql.DB, quorum string) {
	const pause = 300 * time.Millisecond
	where := fmt.Sprintf(" FROM events WHERE host = '%s' AND ts = ?", host(7))
	var key []byte
	rows, err := db.Query(ctx, "SELECT _key"+where, timeOf(7))
	drain(rows, err, func(r []types.Value) { key = []byte(r[0].Text()) })
	s := must(db.Prepare(ctx, "SELECT "+columns+where))
	byHand := gohbase.NewClient(quorum)
	defer byHand.Close()
	for range 3 {
		peer = "H"
		seldom("idle", pause, func() int64 {
			rows, err := s.Query(ctx, timeOf(7))
			return drain(rows, err, row)
		})
		peer = "G"
		seldom("idle", pause, func() int64 {
			got, err := byHand.Get(must(hrpc.NewGet(ctx, []byte("EVENTS"), key, hrpc.SkipBatch())))
			check(len(must(got, err).Cells) > 0, got)
			return 1
		})
	}
}

// shaped runs the workload of one of the shapes. Its keys are evenly distributed.
func shaped(ctx context.Context, db *hql.DB, quorum, w string) bool {
	if w == "idle" {
		idle(ctx, db, quorum)
		return true
	}
	s, ok := shapes[w]
	if !ok {
		return false
	}
	table := "bench_" + w
	must(db.Exec(ctx, "DROP TABLE IF EXISTS "+table))
	must(db.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (id BIGINT, %s) ROW KEY (id AS ORDERED INT64) %s", table, s.columns, s.splits)))
	must(db.Exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT (g - %d) * %d, %s FROM generate_series(1, %d) AS s(g)",
		table, s.rows/2, math.MaxInt64/(s.rows/2), s.fill, s.rows), s.args...))
	once(w, 1, func() int64 {
		n, err := int64(0), error(nil)
		rows, err := db.Query(ctx, "SELECT * FROM "+table)
		for must(rows, err); rows.Next(); n++ {
			check(len(rows.Raw()) == s.cells+1, rows.Raw())
		}
		must(0, rows.Err())
		check(n == int64(s.rows), n)
		return n
	})
	byHand := gohbase.NewClient(quorum)
	defer byHand.Close()
	peer = "G"
	once(w, 1, func() (n int64) {
		scan := byHand.Scan(must(hrpc.NewScanStr(ctx, table)))
		for row, err := scan.Next(); n < int64(s.rows); row, err = scan.Next() {
			check(len(must(row, err).Cells) >= s.cells, row)
			n++
		}
		return n
	})
	must(db.Exec(ctx, "DROP TABLE "+table))
	return true
}
