package bench

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/sqldriver"
	"github.com/hql-db/hql/types"
)

// more runs a workload that no other program has. Those that read evload need W11's rows; mem ones use a store of their
// own.
//
//	sql       W1 through database/sql
//	join      1,000 rows of evload, each with its row of events by the key
//	spill     all of events by a column outside the key, in 16 MB
//	copyout   100,000 rows into a file; copyin: back, into evload
//	memread   200,000 rows of the embedded store; memwrite: 100,000 rows into it
func more(ctx context.Context, db *hql.DB, w string, clients int) bool {
	count := func(rows *hql.Rows, err error) int64 { return drain(rows, err, func([]types.Value) {}) }
	all := hosts * perHost
	file := filepath.Join(os.TempDir(), fmt.Sprintf("hql-bench-%d.csv", os.Getpid()))
	switch w {
	case "sql":
		pool := sql.OpenDB(sqldriver.NewConnector(db))
		defer pool.Close()
		s := must(pool.PrepareContext(ctx, "SELECT "+columns+" FROM events WHERE host = ? AND ts = ?"))
		loop(w, clients, func(c int) op {
			return func() int64 {
				var h, level, msg string
				var ts, cnt int64
				var val float64
				must(0, s.QueryRowContext(ctx, host(c%hosts), timeOf(c%perHost)).Scan(&h, &ts, &level, &msg, &val, &cnt))
				c += 7
				return 1
			}
		})
	case "join":
		s := must(db.Prepare(ctx, "SELECT l.host, l.ts, e.val FROM evload l JOIN events e ON e.host = l.host AND e.ts = l.ts WHERE l.host = ? AND l.ts < ?"))
		loop(w, clients, func(c int) op {
			return func() int64 {
				n := count(s.Query(ctx, host(c%40), timeOf(1000)))
				check(n == 1000, n)
				c++
				return n
			}
		})
	case "spill":
		once(w, 0, func() int64 {
			little := db.Session()
			must(little.Exec(ctx, "SET memory_limit = '16MB'"))
			n := count(little.Query(ctx, "SELECT "+columns+" FROM events ORDER BY cnt"))
			check(n == int64(all), n)
			return n
		})
	case "copyout", "copyin":
		defer os.Remove(file)
		out := fmt.Sprintf("COPY (SELECT %s FROM events WHERE host >= '%s' AND host < '%s') TO '%s'", columns, host(0), host(20), file)
		in := fmt.Sprintf("COPY evload FROM '%s'", file)
		if w == "copyin" {
			must(db.Exec(ctx, out))
			out = in
		}
		once(w, 0, func() int64 { return must(db.Exec(ctx, out)).RowsAffected })
	case "memread", "memwrite":
		mem := must(hql.Open(ctx, "mem:", hql.WithCatalog("CREATE TABLE m (id BIGINT, a STRING, b DOUBLE) ROW KEY (id AS ORDERED INT64)")))
		defer mem.Close()
		fill := func(n int) int64 {
			return must(mem.Exec(ctx, "INSERT INTO m SELECT g, 'some text', g * 0.5 FROM generate_series(1, ?) AS s(g)", n)).RowsAffected
		}
		if w == "memwrite" {
			once(w, 0, func() int64 { return fill(100_000) })
			break
		}
		fill(200_000)
		once(w, 1, func() int64 { return count(mem.Query(ctx, "SELECT id, a, b FROM m")) })
	default:
		return false
	}
	return true
}
