package hql_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/hql-db/hql"
)

// shop is a store in memory with the table that most examples ask.
func shop(options ...hql.Option) *hql.DB {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", options...)
	if err != nil {
		log.Fatal(err)
	}
	_, err = db.Exec(ctx, `
		CREATE TABLE orders (customer STRING, id BIGINT, total DECIMAL, note STRING)
		  ROW KEY (CRC32(customer) % 4 AS UINT8, customer AS TEXT, X'00', id AS INT64);
		INSERT INTO orders VALUES ('ann', 1, 9.50, 'gift'), ('ann', 2, 20, NULL), ('bob', 3, 5, NULL)`)
	if err != nil {
		log.Fatal(err)
	}
	return db
}

func Example() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(ctx, `
		CREATE TABLE user_ops (uid STRING, ts TIMESTAMP, op STRING)
		  ROW KEY (uid AS TEXT(8), 9223372036854775807 - ts AS INT64);
		INSERT INTO user_ops VALUES
		  ('u0000001', TIMESTAMP '2026-01-01 10:00:00', 'login'),
		  ('u0000001', TIMESTAMP '2026-01-02 11:30:00', 'search'),
		  ('u0000002', TIMESTAMP '2026-01-01 12:00:00', 'login')`)
	if err != nil {
		log.Fatal(err)
	}
	type op struct {
		TS time.Time
		Op string
	}
	rows, err := db.Query(ctx, "SELECT ts, op FROM user_ops WHERE uid = ? ORDER BY ts DESC LIMIT 10", "u0000001")
	if err != nil {
		log.Fatal(err)
	}
	ops, err := hql.Collect[op](rows)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range ops {
		fmt.Println(o.TS.Format(time.DateTime), o.Op)
	}
	// Output:
	// 2026-01-02 11:30:00 search
	// 2026-01-01 10:00:00 login
}

func ExampleDB_Explain() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithCatalog(`CREATE TABLE sites (domain STRING, title STRING) ROW KEY (REVERSE(domain) AS TEXT)`))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, where := range []string{"domain LIKE '%.example.com'", "domain LIKE 'www.%'"} {
		plan, err := db.Explain(ctx, "SELECT * FROM sites WHERE "+where)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(plan.Access, plan.HitsPrefix())
	}
	// Output:
	// scan true
	// full scan false
}

func ExampleRows_All() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithFullScan(hql.FullScanAllow))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE t (id INT PRIMARY KEY, name STRING); INSERT INTO t VALUES (2, 'two'), (1, 'one')"); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(ctx, "SELECT id, name FROM t ORDER BY id")
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		var id int
		var name string
		if err := row.Scan(&id, &name); err != nil {
			log.Fatal(err)
		}
		fmt.Println(id, name)
	}
	// Output:
	// 1 one
	// 2 two
}

func ExampleDB_QueryRow() {
	db := shop()
	defer db.Close()
	ctx := context.Background()
	var note *string // NULL needs a pointer, or a sql.NullString
	err := db.QueryRow(ctx, "SELECT note FROM orders WHERE customer = $1 AND id = $2", "ann", 2).Scan(&note)
	fmt.Println(note == nil, err)
	err = db.QueryRow(ctx, "SELECT note FROM orders WHERE customer = $1 AND id = $2", "ann", 99).Scan(&note)
	fmt.Println(errors.Is(err, hql.ErrNoRows))
	// Output:
	// true <nil>
	// true
}

func ExampleDB_Exec() {
	db := shop()
	defer db.Close()
	r, err := db.Exec(context.Background(), "UPDATE orders SET note = 'sent' WHERE customer = ?", "ann")
	fmt.Println(r.RowsAffected, r.Stats.Scans, err)
	// Output: 2 1 <nil>
}

func ExampleDB_CopyFrom() {
	db := shop()
	defer db.Close()
	rows := hql.CopyRows([][]any{{"ann", 4, "1.25"}, {"eve", 5, "12"}})
	done, err := db.CopyFrom(context.Background(), "orders", []string{"customer", "id", "total"}, rows)
	fmt.Println(done.RowsAffected, err)
	// Output: 2 <nil>
}

func ExampleDB_Prepare() {
	db := shop()
	defer db.Close()
	ctx := context.Background()
	stmt, err := db.Prepare(ctx, "SELECT SUM(total) FROM orders WHERE customer = ?")
	if err != nil {
		log.Fatal(err)
	}
	for _, customer := range []string{"ann", "bob"} {
		var sum string
		if err := stmt.QueryRow(ctx, customer).Scan(&sum); err != nil {
			log.Fatal(err)
		}
		fmt.Println(customer, sum)
	}
	_, err = db.Prepare(ctx, "SELECT total FROM order WHERE customer = ?")
	fmt.Println(err != nil)
	// Output:
	// ann 29.50
	// bob 5
	// true
}

func ExampleCollect() {
	db := shop()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT id FROM orders WHERE customer = ? ORDER BY id", "ann")
	if err != nil {
		log.Fatal(err)
	}
	ids, err := hql.Collect[int64](rows)
	fmt.Println(ids, err)
	// Output: [1 2] <nil>
}

func ExampleRowToStructByName() {
	db := shop()
	defer db.Close()
	type order struct {
		ID    int64
		Money string `db:"total"`
		Seen  bool   `db:"-"` // no column's
	}
	rows, err := db.Query(context.Background(), "SELECT id, total FROM orders WHERE customer = ? ORDER BY id", "ann")
	if err != nil {
		log.Fatal(err)
	}
	orders, err := hql.CollectRows(rows, hql.RowToStructByName[order])
	fmt.Printf("%+v %v\n", orders, err)
	// Output: [{ID:1 Money:9.50 Seen:false} {ID:2 Money:20 Seen:false}] <nil>
}

func ExampleRowToStructByPos() {
	db := shop()
	defer db.Close()
	type pair struct {
		Customer string
		N        int
	}
	rows, err := db.Query(context.Background(), "SELECT customer, COUNT(*) FROM orders WHERE customer IN ('ann', 'bob') GROUP BY customer ORDER BY 1")
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := hql.CollectRows(rows, hql.RowToAddrOf(hql.RowToStructByPos[pair]))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range pairs {
		fmt.Println(p.Customer, p.N)
	}
	// Output:
	// ann 2
	// bob 1
}

func ExampleRowToMap() {
	db := shop()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT id, note FROM orders WHERE customer = 'ann' ORDER BY id")
	if err != nil {
		log.Fatal(err)
	}
	maps, err := hql.CollectRows(rows, hql.RowToMap)
	fmt.Println(maps, err)
	// Output: [map[id:1 note:gift] map[id:2 note:<nil>]] <nil>
}

func ExampleCollectExactlyOneRow() {
	db := shop()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT id FROM orders WHERE customer = 'ann'")
	if err != nil {
		log.Fatal(err)
	}
	_, err = hql.CollectExactlyOneRow(rows, hql.RowTo[int])
	fmt.Println(errors.Is(err, hql.ErrTooManyRows))
	// Output: true
}

func ExampleForEachRow() {
	db := shop()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT id, total FROM orders WHERE customer = 'ann' ORDER BY id")
	if err != nil {
		log.Fatal(err)
	}
	var id int
	var total float64
	err = hql.ForEachRow(rows, []any{&id, &total}, func() error {
		fmt.Println(id, total)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 9.5
	// 2 20
	// <nil>
}

// Names stand for values wherever they are used; a slice fills an IN list.
func ExampleNamedArgs() {
	db := shop()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT id FROM orders WHERE customer IN (@who) AND total > @least ORDER BY id",
		hql.NamedArgs{"who": []string{"ann", "bob"}, "least": 8})
	if err != nil {
		log.Fatal(err)
	}
	ids, err := hql.Collect[int](rows)
	fmt.Println(ids, err)
	// Output: [1 2] <nil>
}

func ExampleQueryOptions() {
	db := shop(hql.WithFullScan(hql.FullScanDeny))
	defer db.Close()
	ctx := context.Background()
	const sql = "SELECT COUNT(*) FROM orders WHERE note IS NULL"
	var n int
	err := db.QueryRow(ctx, sql).Scan(&n)
	fmt.Println(errors.Is(err, hql.ErrFullScan))
	err = db.QueryRow(ctx, sql, hql.QueryOptions{AllowFullScan: true, Parallelism: 2}).Scan(&n)
	fmt.Println(n, err)
	// Output:
	// true
	// 2 <nil>
}

func ExampleError() {
	db := shop()
	defer db.Close()
	_, err := db.Query(context.Background(), "SELECT id\nFROM orders\nWHERE custmer = 'ann'")
	var mistake *hql.Error
	if errors.As(err, &mistake) {
		line, column := mistake.LineCol()
		fmt.Println(line, column, mistake.Msg)
		fmt.Println(mistake.Hint)
	}
	fmt.Println(errors.Is(err, hql.ErrUnknownColumn))
	// Output:
	// 3 7 unknown column "custmer"
	// did you mean customer?
	// true
}

func ExampleRows_Stats() {
	db := shop()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT id FROM orders WHERE total > 6")
	if err != nil {
		log.Fatal(err)
	}
	for rows.Next() {
	}
	s := rows.Stats()
	fmt.Println(s.RowsRead, s.RowsReturned, s.Tables[0].Access)
	fmt.Println(len(rows.Warnings()))
	// Output:
	// 3 2 full scan
	// 1
}

// At the debug level each read is told.
func ExampleWithLogger() {
	level := new(slog.LevelVar)
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "elapsed" {
			return slog.Attr{}
		}
		return a
	}})
	db := shop(hql.WithLogger(slog.New(handler)))
	defer db.Close()
	level.Set(slog.LevelDebug)
	if _, err := db.Exec(context.Background(), "SELECT total FROM orders WHERE customer = 'ann'"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// level=DEBUG msg=scan table=orders start=03616e6e00 stop=03616e6e01 reversed=false rows=2
}

// slowest is a tracer that remembers the statement that took longest.
type slowest struct {
	sql     string
	elapsed time.Duration
}

type textKey struct{}

func (s *slowest) TraceQueryStart(ctx context.Context, d hql.QueryStart) context.Context {
	return context.WithValue(ctx, textKey{}, d.SQL)
}

func (s *slowest) TraceQueryEnd(ctx context.Context, d hql.QueryEnd) { // of one query at a time: no lock
	if d.Stats.Elapsed > s.elapsed {
		s.elapsed, s.sql = d.Stats.Elapsed, ctx.Value(textKey{}).(string)
	}
}

func ExampleWithTracer() {
	tracer := &slowest{}
	db := shop(hql.WithTracer(tracer))
	defer db.Close()
	*tracer = slowest{} // forget what filled the store
	if _, err := db.Exec(context.Background(), "SELECT id FROM orders WHERE customer = 'ann'"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(tracer.sql)
	// Output: SELECT id FROM orders WHERE customer = 'ann'
}

func ExampleWithClock() {
	db := shop(hql.WithClock(func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }))
	defer db.Close()
	var now time.Time
	err := db.QueryRow(context.Background(), "SELECT NOW()").Scan(&now)
	fmt.Println(now.Format(time.DateTime), err)
	// Output: 2026-01-01 12:00:00 <nil>
}
