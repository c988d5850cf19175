package hql_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/types"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(poison.Tests(m)) }

func open(t testing.TB, dsn string, opts ...hql.Option) *hql.DB {
	t.Helper()
	db, err := hql.Open(context.Background(), dsn, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

const ddl = `CREATE TABLE events (uid INT, ts TIMESTAMP, kind STRING, score DOUBLE, big DECIMAL, raw BYTES, doc JSON, ok BOOLEAN, d DATE, at TIME)
	ROW KEY (uid AS TEXT(6), ts AS INT64);`

func exec(t testing.TB, db *hql.DB, sql string, args ...any) hql.Result {
	t.Helper()
	r, err := db.Exec(context.Background(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

func filled(t testing.TB) *hql.DB {
	db := open(t, "mem:", hql.WithFullScan(hql.FullScanAllow))
	exec(t, db, ddl)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	r := exec(t, db, "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?), (2, TIMESTAMP '2026-01-01', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
		1, at, "login", 1.5, "12.50", []byte{0, 1, 0xff}, json.RawMessage(`{"a": [1]}`), true, at, "10:11:12")
	if r.RowsAffected != 2 {
		t.Errorf("%d rows affected", r.RowsAffected)
	}
	return db
}

func TestScan(t *testing.T) {
	db := filled(t)
	ctx := context.Background()
	var (
		uid   int
		ts, d time.Time
		kind  string
		score float32
		big   string
		raw   []byte
		doc   json.RawMessage
		ok    bool
		at    time.Duration
	)
	if err := db.QueryRow(ctx, "SELECT * FROM events WHERE uid = ?", 1).Scan(&uid, &ts, &kind, &score, &big, &raw, &doc, &ok, &d, &at); err != nil {
		t.Fatal(err)
	}
	if uid != 1 || !ts.Equal(time.UnixMilli(1767323045006)) || kind != "login" || score != 1.5 || big != "12.50" || string(raw) != "\x00\x01\xff" ||
		string(doc) != `{"a": [1]}` || !ok || !d.Equal(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)) || at != 10*time.Hour+11*time.Minute+12*time.Second {
		t.Error(uid, ts, kind, score, big, raw, string(doc), ok, d, at)
	}
	var p *string
	var n sql.NullFloat64
	var a any
	var v types.Value
	if err := db.QueryRow(ctx, "SELECT kind, score, uid, uid FROM events WHERE uid = 2").Scan(&p, &n, &a, &v); err != nil || p != nil || n.Valid || a != int64(2) || v.Int() != 2 {
		t.Error(err, p, n, a, v)
	}
	for _, c := range []struct {
		want string
		dest any
		col  string
	}{
		{"NULL does not fit a string", new(string), "kind"},
		{"does not fit a int8", new(int8), "uid + 1000"},
		{"does not fit a time.Time", new(time.Time), "uid"},
		{"not a pointer", 1, "uid"},
		{"does not fit a bool", new(bool), "uid"},
	} {
		err := db.QueryRow(ctx, "SELECT "+c.col+" FROM events WHERE uid = 2").Scan(c.dest)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s into %T: %v", c.col, c.dest, err)
		}
	}
	if err := db.QueryRow(ctx, "SELECT uid FROM events WHERE uid = 9").Scan(&uid); !errors.Is(err, hql.ErrNoRows) {
		t.Errorf("no row: %v", err)
	}
}

func TestCollect(t *testing.T) {
	db := filled(t)
	query := func(sql string, args ...any) *hql.Rows {
		t.Helper()
		rows, err := db.Query(context.Background(), sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	type event struct {
		UID    int64
		Kind   *string
		Points *float64 `db:"score"`
		Note   string   `db:"-"`
	}
	events, err := hql.Collect[event](query("SELECT uid, kind, score FROM events ORDER BY uid"))
	if err != nil || len(events) != 2 || *events[0].Kind != "login" || *events[0].Points != 1.5 || events[1].Kind != nil {
		t.Errorf("%v %+v", err, events)
	}
	if refs, err := hql.Collect[*event](query("SELECT uid, kind, score FROM events ORDER BY uid")); err != nil || len(refs) != 2 || refs[0].UID != 1 || refs[1].UID != 2 {
		t.Errorf("%v %+v", err, refs)
	}
	if at, err := hql.Collect[*time.Time](query("SELECT CASE WHEN uid = 1 THEN ts END FROM events ORDER BY uid")); err != nil || at[0].Year() != 2026 || at[1] != nil {
		t.Errorf("%v %v", err, at)
	}
	ids, err := hql.Collect[int](query("SELECT uid FROM events WHERE uid IN (?) ORDER BY uid DESC", []int{1, 2, 3}))
	if err != nil || !reflect.DeepEqual(ids, []int{2, 1}) {
		t.Errorf("%v %v", err, ids)
	}
	if none, err := hql.Collect[int](query("SELECT uid FROM events WHERE uid IN (?)", []int{})); err != nil || len(none) != 0 {
		t.Errorf("%v %v", err, none)
	}
	if all, err := hql.Collect[int](query("SELECT uid FROM events WHERE uid NOT IN (?)", []int{})); err != nil || len(all) != 2 {
		t.Errorf("%v %v", err, all)
	}
	for sql, want := range map[string][]int{
		"SELECT uid FROM events WHERE uid IN (SELECT uid FROM events) AND uid IN (?) ORDER BY uid":                                            {1, 2},
		"SELECT e.uid FROM UNNEST(?) AS k (uid) JOIN events AS e ON e.uid = k.uid WHERE e.uid < 2":                                            {1},
		"SELECT uid FROM events WHERE uid = ANY (?) AND uid < 2":                                                                              {1},
		"SELECT uid FROM events WHERE uid <= ALL (?::bigint[]) OR uid = ANY (SELECT 2) ORDER BY uid":                                          {1, 2},
		"SELECT uid FROM events WHERE uid NOT IN (SELECT uid + 1 FROM events) AND uid IN (?) ORDER BY uid":                                    {1},
		"SELECT uid FROM events WHERE uid IN (SELECT uid FROM events e WHERE e.uid = events.uid AND e.uid IN (?)) AND uid > 1":                {2},
		"SELECT uid FROM events WHERE uid IN (SELECT uid FROM events WHERE uid NOT IN (SELECT uid FROM events WHERE uid > 1)) AND uid IN (?)": {1},
	} {
		if got, err := hql.Collect[int](query(sql, []int{1, 2, 3})); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %v, want %v", sql, err, got, want)
		}
	}
	times, err := hql.Collect[time.Time](query("SELECT ts FROM events WHERE uid = 2"))
	if err != nil || times[0].Year() != 2026 {
		t.Errorf("%v %v", err, times)
	}
	maps, err := hql.Collect[map[string]any](query("SELECT uid, kind FROM events WHERE uid = 1"))
	if err != nil || maps[0]["kind"] != "login" || maps[0]["uid"] != int64(1) {
		t.Errorf("%v %v", err, maps)
	}
	if _, err := hql.CollectOneRow(query("SELECT uid FROM events WHERE uid = 7"), hql.RowTo[int]); !errors.Is(err, hql.ErrNoRows) {
		t.Error(err)
	}
	if _, err := hql.CollectExactlyOneRow(query("SELECT uid FROM events"), hql.RowTo[int]); !errors.Is(err, hql.ErrTooManyRows) {
		t.Error(err)
	}
	var id, n int
	if err := hql.ForEachRow(query("SELECT uid FROM events"), []any{&id}, func() error { n += id; return nil }); err != nil || n != 3 {
		t.Error(err, n)
	}
	if _, err := hql.Collect[event](query("SELECT uid, kind, score, d FROM events")); err == nil || !strings.Contains(err.Error(), "no field for column d") {
		t.Error(err)
	}
	type key struct {
		UID int
		TS  time.Time
	}
	type hiding struct {
		key
		UID string
	}
	if h, err := hql.CollectOneRow(query("SELECT uid, ts FROM events WHERE uid = 1"), hql.RowToStructByName[hiding]); err != nil || h.UID != "1" || h.key.UID != 0 || h.TS.IsZero() {
		t.Errorf("%v %+v", err, h)
	}
	type byPos struct {
		key
		hidden int
		Kind   *string
		Skip   int `db:"-"`
		Score  *float64
	}
	pos, err := hql.AppendRows([]*byPos{nil}, query("SELECT uid, ts, kind, score FROM events WHERE uid = 1"), hql.RowToAddrOf(hql.RowToStructByPos[byPos]))
	if err != nil || len(pos) != 2 || pos[1].UID != 1 || pos[1].TS.Year() != 2026 || *pos[1].Kind != "login" || *pos[1].Score != 1.5 || pos[1].hidden != 0 {
		t.Errorf("%v %v", err, pos)
	}
	if _, err := hql.CollectRows(query("SELECT uid FROM events"), hql.RowToStructByPos[byPos]); err == nil || !strings.Contains(err.Error(), "4 fields for 1 columns") {
		t.Error(err)
	}
	failed, err := db.Query(t.Context(), "SELECT nothing FROM events")
	if failed == nil || err == nil || failed.Err() != err || failed.Warnings() != nil || failed.RowsAffected() != -1 {
		t.Errorf("a query that fails returns rows %v and the error %v", failed, err)
	}
	if _, again := hql.CollectRows(failed, hql.RowToMap); again != err {
		t.Errorf("CollectRows of failed rows: %v, want %v", again, err)
	}
	if _, err := hql.CollectRows(query("SELECT uid FROM events"), hql.RowToStructByPos[int]); err == nil {
		t.Error("an int is no struct")
	}
	lax, err := hql.CollectOneRow(query("SELECT kind FROM events WHERE uid = 1"), hql.RowToStructByNameLax[event])
	if err != nil || *lax.Kind != "login" {
		t.Error(err)
	}
	if _, err := hql.CollectOneRow(query("SELECT kind FROM events WHERE uid = 1"), hql.RowToStructByName[event]); err == nil || !strings.Contains(err.Error(), "no column for field") {
		t.Error(err)
	}
	named, err := hql.Collect[int](query("SELECT uid FROM events WHERE uid = @id OR uid IN (@more)", hql.NamedArgs{"id": 1, "more": []int64{5}}))
	if err != nil || !reflect.DeepEqual(named, []int{1}) {
		t.Errorf("%v %v", err, named)
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	db := open(t, "mem:", hql.WithCatalog(ddl), hql.WithFullScan(hql.FullScanDeny), hql.WithWrites(false))
	_, err := db.Query(ctx, "SELECT *\nFROM events WHERE uidd = 1")
	var e *hql.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T %v", err, err)
	}
	if line, col := e.LineCol(); line != 2 || col != 19 || !strings.HasPrefix(err.Error(), "2:19: ") {
		t.Errorf("%d:%d %v", line, col, err)
	}
	if _, err = db.Query(ctx, "SELECT * FROM events WHERE kind = 'x'"); !errors.Is(err, hql.ErrFullScan) || !strings.Contains(err.Error(), "add uid = ...") {
		t.Error(err)
	}
	if full, ok := errors.AsType[*hql.FullScanError](err); !ok || full.Table != "events" || full.Advice == "" {
		t.Errorf("%#v", full)
	}
	if _, err = db.Exec(ctx, "INSERT INTO events (uid, ts) VALUES (1, NOW())"); !errors.Is(err, hql.ErrReadOnly) {
		t.Error(err)
	}
	for sql, args := range map[string][]any{"SELECT ?": nil, "SELECT 1": {1}, "SELECT @a": {1}, "SELECT ?  ": {make(chan int)}, "SELECT 1; SELECT 2": nil} {
		if _, err := db.Query(ctx, sql, args...); err == nil {
			t.Errorf("%s with %v: no error", sql, args)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := db.Query(canceled, "SELECT * FROM events WHERE uid = 1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	db.Close()
	if _, err := db.Query(ctx, "SELECT 1"); !errors.Is(err, hql.ErrClosed) {
		t.Error(err)
	}
	for i, o := range []hql.Option{hql.WithParallelism(0), hql.WithMaxFanOut(0), hql.WithMemoryLimit(-1)} {
		if db, err := hql.Open(ctx, "mem:", o); err == nil {
			db.Close()
			t.Errorf("option %d: no error", i)
		}
	}
	for _, dsn := range []string{"", "mem", "ftp://x", "dir:", "dir:?write=true", "dir:x?write=maybe", "dir:x?user=u", "hbase://", "hbase://a,,b/hbase", "hbase://a/hbase?nonsense=1", "hbase://a/hbase?full_scan=no", "hbase://a/hbase?write=yes", "hbase+rpc://", "hbase+rpc://a/hbase", "hbase+rpc://a,,b"} {
		if db, err := hql.Open(ctx, dsn); err == nil {
			db.Close()
			t.Errorf("Open(%q): no error", dsn)
		} else if errors.Is(err, hql.ErrUnreachable) {
			t.Errorf("Open(%q) looked for a cluster: %v", dsn, err)
		}
	}
	_, err = hql.Open(ctx, "hbase://127.0.0.1:1/hbase", hql.WithConnectTimeout(2*time.Second))
	if !errors.Is(err, hql.ErrUnreachable) {
		t.Errorf("nobody listens: %v", err)
	}
}

// A password in an address proves nothing to anybody, and would be shown with it.
func TestPasswordInAddress(t *testing.T) {
	for _, dsn := range []string{"hbase://alice:secret@127.0.0.1:1/hbase", "hbase+rpc://alice:secret@127.0.0.1:1"} {
		_, err := hql.Open(t.Context(), dsn)
		if err == nil || !strings.Contains(err.Error(), "an address cannot have a password") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

// A directory keeps tables and rows.
func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db := open(t, "dir:"+dir)
	exec(t, db, ddl+"INSERT INTO events (uid, ts, kind) VALUES (1, TIMESTAMP '2026-01-01', 'a'); CREATE EXTERNAL TABLE other (k STRING) ROW KEY (k AS TEXT) STORED IN 'events'")
	db.Close()
	db = open(t, "dir:"+dir+"?write=true&full_scan=deny")
	if n := len(db.Tables()); n != 2 {
		t.Errorf("%d tables", n)
	}
	var kind string
	if err := db.QueryRow(context.Background(), "SELECT kind FROM events WHERE uid = 1").Scan(&kind); err != nil || kind != "a" {
		t.Error(err, kind)
	}
	exec(t, db, "DROP TABLE other; DROP TABLE events")
	db.Close()
	db = open(t, "dir:"+dir)
	if n := len(db.Tables()); n != 0 {
		t.Errorf("%d tables after DROP", n)
	}
}

func TestExplain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tables.sql")
	if err := os.WriteFile(file, []byte(ddl), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, "mem:", hql.WithCatalogFile(file))
	plan, err := db.Explain(context.Background(), "SELECT * FROM events WHERE uid = ? AND ts > ?", 7, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(plan)
	if err != nil || !plan.HitsPrefix() || plan.FullScan() || plan.Access != "scan" || plan.Ranges() != 1 || !reflect.DeepEqual(plan.Layouts(), []string{"events"}) || !strings.Contains(string(b), `"access":"scan"`) || !strings.Contains(plan.String(), "uid AS TEXT(6)") {
		t.Errorf("%v %s %s", err, plan, b)
	}
	if len(plan.Warnings) > 0 {
		t.Errorf("warned %q", plan.Warnings)
	}

	// More combinations than there may be ranges.
	uids, times := make([]int, 400), make([]time.Time, 400)
	for i := range uids {
		uids[i], times[i] = 2*i, time.UnixMilli(int64(2*i))
	}
	plan, err = db.Explain(context.Background(), "SELECT * FROM events WHERE uid IN (?) AND ts IN (?)", uids, times)
	if err != nil || len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "widened") {
		t.Errorf("%v %q", err, plan.Warnings)
	}
}

// Without arguments, statements are planned for made-up ones, also prepared ones and by names, again and again.
func TestExplainWithoutArguments(t *testing.T) {
	ctx := context.Background()
	db := open(t, "mem:")
	must(db.Exec(ctx, "CREATE TABLE t (uid BIGINT, ts TIMESTAMP, n INT, PRIMARY KEY (uid, ts))"))
	for sql, access := range map[string]string{
		"SELECT * FROM t WHERE uid = ? AND ts = ?":      "get",
		"SELECT * FROM t WHERE uid = @u AND ts > @from": "scan",
		"UPDATE t SET n = ? WHERE uid IN (?)":           "scan",
		"SELECT * FROM t WHERE n = $1":                  "full scan",
	} {
		stmt := must(db.Prepare(ctx, sql))
		for range 2 {
			for _, plan := range []*hql.Plan{must(db.Explain(ctx, sql)), must(stmt.Explain(ctx))} {
				if plan.Access != access || !strings.HasPrefix(plan.String(), "planned for made-up arguments: ") {
					t.Errorf("%s: %s", sql, plan)
				}
			}
		}
	}
	stmt := must(db.Prepare(ctx, "SELECT * FROM t WHERE uid = @u"))
	must(stmt.Explain(ctx))
	if plan := must(stmt.Explain(ctx, hql.NamedArgs{"u": 5})); !strings.HasPrefix(plan.String(), "scan t: hits") {
		t.Error(plan)
	}
	if _, err := db.Explain(ctx, "SELECT * FROM t WHERE uid = ? AND n = ?", 1); err == nil || !strings.Contains(err.Error(), "takes 2 arguments, 1 given") {
		t.Error(err)
	}
}

// One DB is used by many goroutines.
func TestConcurrency(t *testing.T) {
	db := filled(t)
	errs := make(chan error, 16)
	for g := range 16 {
		go func() {
			ctx := context.Background()
			for i := range 20 {
				if _, err := db.Exec(ctx, "UPSERT INTO events (uid, ts, kind) VALUES (?, ?, 'x')", 100+g, time.UnixMilli(int64(i))); err != nil {
					errs <- err
					return
				}
			}
			var n int
			err := db.QueryRow(ctx, "SELECT COUNT(*) FROM events WHERE uid = ?", 100+g).Scan(&n)
			if err == nil && n != 20 {
				err = errors.New("wrong count")
			}
			errs <- err
		}()
	}
	for range 16 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// Rows that are not read to the end leave nothing behind.
func TestRowsClose(t *testing.T) {
	db := filled(t)
	for row, err := range must(db.Query(context.Background(), "SELECT uid FROM events ORDER BY uid")).All() {
		if err != nil || row.Len() != 1 {
			t.Fatal(err)
		}
		break
	}
	rows := must(db.Query(context.Background(), "SELECT uid FROM events"))
	if rows.Columns()[0] != "uid" || rows.ColumnTypes()[0].Type != types.Int {
		t.Error(rows.ColumnTypes())
	}
	rows.Close()
	if rows.Next() || rows.Close() != nil || rows.Err() != nil {
		t.Error("closed rows")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A prepared statement is shared: it is parsed once and calls do not change it.
func TestPrepare(t *testing.T) {
	db := filled(t)
	ctx := context.Background()
	for _, sql := range []string{
		"SELECT uid FROM events WHERE uid = $1 AND ts <= NOW()",
		"WITH e AS (SELECT uid, kind FROM events WHERE uid IN ($1, 7)) SELECT a.uid FROM e a LEFT JOIN events b ON a.uid = b.uid WHERE a.uid = $1",
		"SELECT uid FROM events e WHERE EXISTS (SELECT 1 FROM events x WHERE x.uid = e.uid AND x.uid = $1) ORDER BY ts LIMIT 1",
		"SELECT uid FROM events WHERE uid IN (SELECT uid FROM events WHERE uid = $1)",
		"SELECT uid, COUNT(*) n FROM events WHERE uid = $1 GROUP BY uid HAVING COUNT(*) > 0 UNION ALL SELECT uid, 0 FROM events WHERE 1 = 2",
		"UPDATE events SET kind = 'seen' WHERE uid = $1",
		"UPSERT INTO events (uid, ts, kind) VALUES ($1 + 100, NOW(), 'new')",
		"DELETE FROM events WHERE uid = $1 + 200",
	} {
		stmt, err := db.Prepare(ctx, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if stmt.Parameters() != 1 || stmt.SQL() != sql {
			t.Error(stmt.Parameters(), stmt.SQL())
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range 5 {
					id := 1 + i%2
					rows, err := stmt.Query(ctx, id)
					if err != nil {
						t.Errorf("%s: %v", sql, err)
						return
					}
					for row, err := range rows.All() {
						if err != nil || row.Raw()[0].Int() != int64(id) {
							t.Errorf("%s with %d: %v %v", sql, id, err, row.Raw())
						}
					}
					if rows.Columns() != nil && rows.Stats().RowsReturned != 1 {
						t.Errorf("%s with %d: %d rows", sql, id, rows.Stats().RowsReturned)
					}
				}
			})
		}
		wg.Wait()
	}
	// A list changes what is parsed, for one call only.
	stmt := must(db.Prepare(ctx, "SELECT uid FROM events WHERE uid IN (@ids) ORDER BY uid"))
	for range 2 {
		if ids, err := hql.Collect[int](must(stmt.Query(ctx, hql.NamedArgs{"ids": []int{1, 2}}))); err != nil || len(ids) != 2 {
			t.Error(err, ids)
		}
		if ids, err := hql.Collect[int](must(stmt.Query(ctx, hql.NamedArgs{"ids": 2}))); err != nil || len(ids) != 1 {
			t.Error(err, ids)
		}
	}
	for _, c := range []struct {
		ids    any
		ranges int
	}{{1, 1}, {[]int{1, 3, 5}, 3}} {
		if plan := must(stmt.Explain(ctx, hql.NamedArgs{"ids": c.ids})); !plan.HitsPrefix() || plan.Ranges() != c.ranges {
			t.Errorf("%v: %s", c.ids, plan)
		}
	}
	if r, err := stmt.Exec(ctx, hql.NamedArgs{"ids": 2}); err != nil || r.Stats.RowsReturned != 1 {
		t.Error(err, r)
	}
	for sql, want := range map[string]error{"SELECT * FROM nowhere WHERE a = ?": hql.ErrUnknownTable, "DELETE FROM events WHERE nothing = ?": hql.ErrUnknownColumn,
		"SELECT e.uid FROM events AS v": hql.ErrUnknownTable} {
		_, err := db.Prepare(ctx, sql)
		var e *hql.Error
		if !errors.Is(err, want) || !errors.As(err, &e) || e.Source != sql {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := db.Prepare(ctx, "SELECT 1; SELECT 2"); err == nil {
		t.Error("two statements")
	}
}

func TestQueryOptions(t *testing.T) {
	db := open(t, "mem:", hql.WithFullScan(hql.FullScanDeny))
	exec(t, db, ddl)
	exec(t, db, "INSERT INTO events (uid, ts) VALUES (1, TIMESTAMP '2026-01-02 03:04:05')")
	ctx := context.Background()
	const sql = "SELECT ts, CAST(ts AS STRING) FROM events WHERE kind IS NULL AND @x = 1"
	if _, err := db.Query(ctx, sql, hql.NamedArgs{"x": 1}); !errors.Is(err, hql.ErrFullScan) {
		t.Error(err)
	}
	zone := time.FixedZone("CST", 8*3600)
	var at time.Time
	var text string
	err := db.QueryRow(ctx, sql, hql.QueryOptions{AllowFullScan: true, Parallelism: 1, Location: zone}, hql.NamedArgs{"x": 1}).Scan(&at, &text)
	if err != nil || at.Location() != zone || at.Hour() != 11 || !strings.HasPrefix(text, "2026-01-02 11:04:05") {
		t.Error(err, at, text)
	}
	if _, err := db.Query(ctx, sql, hql.NamedArgs{"x": 1}); !errors.Is(err, hql.ErrFullScan) {
		t.Errorf("the options outlived their statement: %v", err)
	}
	_, err = db.Exec(ctx, "SELECT uid FROM events ORDER BY kind", hql.QueryOptions{AllowFullScan: true, MemoryLimit: 10})
	if !errors.Is(err, hql.ErrMemoryLimit) {
		t.Error(err)
	}
	if _, err := db.Query(ctx, sql, hql.QueryOptions{Parallelism: -1}, hql.NamedArgs{"x": 1}); err == nil {
		t.Error("a negative parallelism")
	}
}

func TestArguments(t *testing.T) {
	db := open(t, "mem:")
	type name string
	type key [2]byte
	type digest []byte
	n := 5
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for _, c := range []struct {
		arg  any
		want string
	}{
		{nil, "NULL"}, {true, "true"}, {int8(-1), "-1"}, {uint64(1<<63 + 1), "9223372036854775809"}, {float32(1.5), "1.5"}, {name("a"), "a"}, {&n, "5"},
		{(*int)(nil), "NULL"}, {at, "2026-01-02 03:04:05.006"}, {at.Add(600_000), "2026-01-02 03:04:05.007"}, {at.Add(-600_000), "2026-01-02 03:04:05.005"}, {time.Second + 999_600, "00:00:01.001"}, {10*time.Hour + time.Minute, "10:01:00"}, {json.RawMessage(`{"a":1}`), `{"a":1}`}, {map[string]int{"a": 1}, `{"a":1}`},
		{struct {
			City string `json:"city"`
		}{"Bern"}, `{"city":"Bern"}`},
		{key{'a', 'b'}, "ab"}, {digest("xyz"), "xyz"}, {sql.NullString{}, "NULL"}, {sql.NullInt64{Int64: 7, Valid: true}, "7"}, {types.NewDate(1), "1970-01-02"},
	} {
		rows, err := db.Query(context.Background(), "SELECT COALESCE(CAST(? AS STRING), 'NULL')", c.arg)
		if err != nil {
			t.Errorf("%T %v: %v", c.arg, c.arg, err)
			continue
		}
		if got, err := hql.CollectOneRow(rows, hql.RowTo[string]); err != nil || got != c.want {
			t.Errorf("%T %v: %v %q", c.arg, c.arg, err, got)
		}
	}
	for _, bad := range []any{json.RawMessage("{"), 25 * time.Hour, -time.Second, make(chan int), []any{make(chan int)}, [][]int{{1}}, struct{ hidden int }{1}, map[string]any{"a": make(chan int)}} {
		if _, err := db.Query(context.Background(), "SELECT 1 WHERE 1 IN (?)", bad); err == nil {
			t.Errorf("%T %v: no error", bad, bad)
		}
	}
	for want, bad := range map[string]any{
		"argument 1: element 2: invalid JSON":                        []json.RawMessage{[]byte("1"), []byte("{")},
		"argument 1: element 1: a chan int is not a valid SQL value": []any{make(chan int)},
	} {
		if _, err := db.Query(context.Background(), "SELECT 1 WHERE 1 IN (?)", bad); err == nil || err.Error() != want {
			t.Errorf("%T: %v, want %s", bad, err, want)
		}
	}
}

// A part of more values than the limit is not enumerated.
func TestMaxFanOut(t *testing.T) {
	for n, want := range map[int]string{8: "scan", 7: "full scan"} {
		db := open(t, "mem:", hql.WithMaxFanOut(n), hql.WithCatalog("CREATE TABLE t (id INT) ROW KEY (CRC32(id) % 8 AS UINT8, id AS TEXT(6))"))
		if plan := must(db.Explain(context.Background(), "SELECT * FROM t WHERE id > 5")); plan.Access != want {
			t.Errorf("%d: %s", n, plan.Access)
		}
	}
}
