package sqldriver_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/sqldriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(poison.Tests(m)) }

// database opens a store with rows 1 to n of table t, and a table of each type.
func database(t *testing.T, n int) *sql.DB {
	t.Helper()
	db, err := sql.Open("hql", "mem:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, 'name %d')", i+1, i+1)
	}
	for _, s := range []string{"CREATE TABLE t (id INT PRIMARY KEY, name STRING)", "INSERT INTO t VALUES " + strings.Join(values, ", "),
		"CREATE TABLE kinds (k STRING PRIMARY KEY, b BOOLEAN, ti TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, dec DECIMAL, dt DATE, tm TIME, ts TIMESTAMP, raw BYTES, j JSON, m DECIMAL(10, 2), v VARCHAR(7))"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// What the documentation of database/sql and database/sql/driver asks of a driver, each with the words it is about.
func TestConformance(t *testing.T) {
	db := database(t, 5000)
	ctx := context.Background()
	raw := func(t *testing.T, f func(driver.Conn) error) {
		t.Helper()
		c, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Raw(func(x any) error { return f(x.(driver.Conn)) }); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		doc  string // of which interface or function, and what it says in short
		test func(t *testing.T)
	}{
		{"Driver: should implement Connector and DriverContext", func(t *testing.T) {
			if _, ok := db.Driver().(driver.DriverContext); !ok {
				t.Error("no DriverContext")
			}
			if got := fmt.Sprint(sql.Drivers()); !strings.Contains(got, "hql") {
				t.Error(got)
			}
		}},
		{"Driver.Open: opens a connection of its own", func(t *testing.T) {
			c, err := sqldriver.Driver{}.Open("mem:")
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}},
		{"Connector.Connect, Driver.Open: never ErrBadConn", func(t *testing.T) {
			bad, err := sql.Open("hql", "nonsense")
			if err == nil {
				defer bad.Close()
				err = bad.Ping()
			}
			if err == nil || errors.Is(err, driver.ErrBadConn) || !strings.Contains(err.Error(), "nonsense") {
				t.Error(err)
			}
		}},
		{"Conn: should implement Pinger, SessionResetter, Validator; with contexts ExecerContext, QueryerContext, ConnPrepareContext, ConnBeginTx", func(t *testing.T) {
			raw(t, func(c driver.Conn) error {
				if err := c.(driver.SessionResetter).ResetSession(ctx); err != nil {
					return err
				}
				if !c.(driver.Validator).IsValid() {
					return errors.New("not valid")
				}
				return c.(driver.Pinger).Ping(ctx)
			})
		}},
		{"Conn.Begin, ConnBeginTx: an error when not supported", func(t *testing.T) {
			for _, o := range []*sql.TxOptions{nil, {ReadOnly: true}, {Isolation: sql.LevelSerializable}} {
				if _, err := db.BeginTx(ctx, o); !errors.Is(err, sqldriver.ErrTransactions) {
					t.Error(err)
				}
			}
			raw(t, func(c driver.Conn) error {
				//lint:ignore SA1019 deprecated, still part of Conn
				if _, err := c.Begin(); !errors.Is(err, sqldriver.ErrTransactions) {
					return fmt.Errorf("Begin: %v", err)
				}
				return nil
			})
		}},
		{"DB.Query: positional arguments, ? and $n", func(t *testing.T) {
			for _, q := range []string{"SELECT name FROM t WHERE id = ? OR id = ? ORDER BY id", "SELECT name FROM t WHERE id = $2 OR id = $1 ORDER BY id"} {
				if got := names(t, db, q, 7, 8); !reflect.DeepEqual(got, []string{"name 7", "name 8"}) {
					t.Error(q, got)
				}
			}
		}},
		{"sql.Named: named arguments; not mixed with positional ones", func(t *testing.T) {
			if got := names(t, db, "SELECT name FROM t WHERE id = @a AND id < @b", sql.Named("b", 8), sql.Named("a", 7)); len(got) != 1 {
				t.Error(got)
			}
			for _, args := range [][]any{{1, sql.Named("a", 1)}, {sql.Named("b", 1)}, {1}, nil} {
				if rows, err := db.Query("SELECT name FROM t WHERE id = @a", args...); err == nil {
					rows.Close()
					t.Errorf("%v: no error", args)
				}
			}
		}},
		{"Stmt.NumInput -1: the driver checks how many arguments there are", func(t *testing.T) {
			stmt, err := db.Prepare("SELECT name FROM t WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			defer stmt.Close()
			for _, args := range [][]any{nil, {1, 2}} {
				if rows, err := stmt.Query(args...); err == nil {
					rows.Close()
					t.Errorf("%v: no error", args)
				}
			}
		}},
		{"NamedValueChecker: custom types, driver.Valuer, slices and options", func(t *testing.T) {
			if got := names(t, db, "SELECT name FROM t WHERE id IN (?)", []int{1, 3}); len(got) != 2 {
				t.Error(got)
			}
			if got := names(t, db, "SELECT name FROM t WHERE id = ?", sql.NullInt32{Int32: 3, Valid: true}); len(got) != 1 {
				t.Error(got)
			}
			if got := names(t, db, "SELECT name FROM t WHERE name = @n", hql.QueryOptions{AllowFullScan: true}, sql.Named("n", "name 9")); len(got) != 1 {
				t.Error(got)
			}
			var out int
			if _, err := db.Query("SELECT ?", sql.Out{Dest: &out}); err == nil {
				t.Error("output parameters are not supported")
			}
			s, err := db.Prepare("SELECT ?")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Query(sql.Out{Dest: &out}); err == nil {
				t.Error("a prepared statement took an output parameter")
			}
		}},
		{"Result.LastInsertId, RowsAffected", func(t *testing.T) {
			r, err := db.Exec("UPDATE t SET name = name WHERE id BETWEEN 1 AND 10")
			if err != nil {
				t.Fatal(err)
			}
			if n, err := r.RowsAffected(); n != 10 || err != nil {
				t.Error(n, err)
			}
			if _, err := r.LastInsertId(); err == nil {
				t.Error("there are no insert ids")
			}
		}},
		{"Conn.PrepareContext, Stmt: a statement is used many times, by many goroutines", func(t *testing.T) {
			stmt, err := db.PrepareContext(ctx, "SELECT name FROM t WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			defer stmt.Close()
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 20 {
						var name string
						id := g*20 + i + 1
						if err := stmt.QueryRowContext(ctx, id).Scan(&name); err != nil || name != fmt.Sprintf("name %d", id) {
							t.Error(id, name, err)
						}
					}
				})
			}
			wg.Wait()
		}},
		{"Conn.PrepareContext: fails on what cannot be prepared", func(t *testing.T) {
			for _, q := range []string{"SELEKT", "SELECT nothing FROM t", "SELECT 1 FROM nothing", ""} {
				if stmt, err := db.Prepare(q); err == nil {
					stmt.Close()
					t.Errorf("%q: no error", q)
				}
			}
		}},
		{"Stmt.Query, Stmt.Exec without contexts", func(t *testing.T) {
			raw(t, func(c driver.Conn) error {
				s, err := c.Prepare("SELECT name FROM t WHERE id = ?")
				if err != nil {
					return err
				}
				//lint:ignore SA1019 deprecated, still part of Stmt
				rows, err := s.Query([]driver.Value{int64(3)})
				if err != nil {
					return err
				}
				dest := make([]driver.Value, len(rows.Columns()))
				if err := rows.Next(dest); err != nil || dest[0] != "name 3" {
					return fmt.Errorf("%v %v", err, dest)
				}
				if err := rows.Next(dest); err != io.EOF {
					return fmt.Errorf("%v after the last row", err)
				}
				if err := errors.Join(rows.Close(), rows.Close(), s.Close()); err != nil {
					return err
				}
				//lint:ignore SA1019 as above
				_, err = s.Exec([]driver.Value{int64(3)})
				return err
			})
		}},
		{"Rows.Next: values are int64, float64, bool, []byte, string, time.Time or nil", func(t *testing.T) {
			if _, err := db.Exec("INSERT INTO kinds VALUES ('a', true, 1, 2, 3, 4, 1.5, 2.5, 12.50, DATE '2026-01-02', TIME '10:11:12', TIMESTAMP '2026-01-02 03:04:05', X'00ff', '{\"a\": 1}', 1.5, 'v')"); err != nil {
				t.Fatal(err)
			}
			raw(t, func(c driver.Conn) error {
				rows, err := c.(driver.QueryerContext).QueryContext(ctx, "SELECT *, NULL FROM kinds WHERE k = 'a'", nil)
				if err != nil {
					return err
				}
				defer rows.Close()
				dest := make([]driver.Value, len(rows.Columns()))
				if err := rows.Next(dest); err != nil {
					return err
				}
				for i, v := range dest {
					if !driver.IsValue(v) {
						t.Errorf("%s: %T", rows.Columns()[i], v)
					}
				}
				return nil
			})
		}},
		{"RowsColumnType...: the types' table in their documentation", columnTypes(db)},
		{"Rows.Columns: a statement without rows has none", func(t *testing.T) {
			rows, err := db.Query("UPSERT INTO t VALUES (1, 'name 1')")
			if err != nil {
				t.Fatal(err)
			}
			cols, err := rows.Columns()
			if err != nil || cols == nil || len(cols) != 0 || rows.Next() || rows.Close() != nil || rows.Err() != nil {
				t.Error(cols, err)
			}
		}},
		{"Rows.Close before the end; a connection is free again", func(t *testing.T) {
			before := db.Stats().InUse
			for range 20 {
				rows, err := db.Query("SELECT * FROM t WHERE id > 0")
				if err != nil || !rows.Next() {
					t.Fatal(err)
				}
				if err := rows.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := db.Stats().InUse; n != before {
				t.Errorf("%d connections in use, %d before", n, before)
			}
		}},
		{"sql.RawBytes: valid until the next call", func(t *testing.T) {
			rows, err := db.Query("SELECT name FROM t WHERE id BETWEEN 1 AND 3 ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var b sql.RawBytes
			for i := 1; rows.Next(); i++ {
				if err := rows.Scan(&b); err != nil || string(b) != fmt.Sprintf("name %d", i) {
					t.Error(err, string(b))
				}
			}
		}},
		{"QueryContext: a canceled context ends the rows with its error", func(t *testing.T) {
			ctx, cancel := context.WithCancel(ctx)
			rows, err := db.QueryContext(ctx, "SELECT a.id FROM t a WHERE a.id > 0")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			if !rows.Next() {
				t.Fatal(rows.Err())
			}
			cancel()
			for rows.Next() {
				time.Sleep(time.Microsecond)
			}
			if err := rows.Err(); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}},
		{"ExecContext, QueryContext, PingContext, PrepareContext: a context that has ended", func(t *testing.T) {
			ctx, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
			defer cancel()
			_, e1 := db.ExecContext(ctx, "DELETE FROM t WHERE id = 1")
			_, e2 := db.QueryContext(ctx, "SELECT * FROM t WHERE id = 1")
			_, e3 := db.PrepareContext(ctx, "SELECT 1")
			for _, err := range []error{e1, e2, e3, db.PingContext(ctx)} {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
			if got := names(t, db, "SELECT name FROM t WHERE id = 1"); len(got) != 1 {
				t.Error("the DELETE was run")
			}
		}},
		{"ErrBadConn: not for errors of statements; a connection stays good after one", func(t *testing.T) {
			c, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.ExecContext(ctx, "SELECT nothing FROM t")
			if e, ok := errors.AsType[*hql.Error](err); !ok || e.Pos != 7 || errors.Is(err, driver.ErrBadConn) {
				t.Error(err)
			}
			if err := c.PingContext(ctx); err != nil {
				t.Error(err)
			}
		}},
		{"DB.QueryRow: ErrNoRows", func(t *testing.T) {
			var name string
			if err := db.QueryRow("SELECT name FROM t WHERE id = -1").Scan(&name); err != sql.ErrNoRows {
				t.Error(err)
			}
		}},
	} {
		t.Run(c.doc, c.test)
	}
}

func names(t *testing.T, db *sql.DB, q string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(q, args...)
	if err != nil {
		t.Errorf("%s: %v", q, err)
		return nil
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Error(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%s: %v", q, err)
	}
	return out
}

// columnTypes scans a row of NULLs and a row of values into what each column's type says.
func columnTypes(db *sql.DB) func(*testing.T) {
	return func(t *testing.T) {
		want := map[string]string{ // database type, scan type, length, precision
			"k": "STRING sql.NullString 9223372036854775807 0", "b": "BOOLEAN sql.NullBool 0 0", "ti": "TINYINT sql.NullInt64 0 0", "s": "SMALLINT sql.NullInt64 0 0",
			"i": "INT sql.NullInt64 0 0", "l": "BIGINT sql.NullInt64 0 0", "f": "FLOAT sql.NullFloat64 0 0", "d": "DOUBLE sql.NullFloat64 0 0",
			"dec": "DECIMAL sql.NullString 0 9223372036854775807", "dt": "DATE sql.NullTime 0 0", "tm": "TIME sql.NullString 0 0", "ts": "TIMESTAMP sql.NullTime 0 0",
			"raw": "BYTES []uint8 9223372036854775807 0", "j": "JSON []uint8 9223372036854775807 0", "m": "DECIMAL sql.NullString 0 10", "v": "STRING sql.NullString 7 0",
		}
		if _, err := db.Exec("INSERT INTO kinds (k, b) VALUES ('nulls', false)"); err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query("SELECT * FROM kinds WHERE k IN ('a', 'nulls') ORDER BY k")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		cols, err := rows.ColumnTypes()
		if err != nil || len(cols) != len(want) {
			t.Fatal(err, len(cols))
		}
		n := 0
		for ; rows.Next(); n++ {
			dest := make([]any, len(cols))
			for i, c := range cols {
				dest[i] = reflect.New(c.ScanType()).Interface()
			}
			if err := rows.Scan(dest...); err != nil {
				t.Error(err)
			}
		}
		if n != 2 || rows.Err() != nil {
			t.Error(n, rows.Err())
		}
		for _, c := range cols {
			length, _ := c.Length()
			precision, scale, ok := c.DecimalSize()
			if want := map[string]int64{"dec": math.MaxInt64, "m": 2}[c.Name()]; ok && scale != want {
				t.Error(c.Name(), scale)
			}
			if got := fmt.Sprintf("%s %s %d %d", c.DatabaseTypeName(), c.ScanType(), length, precision); got != want[c.Name()] {
				t.Errorf("%s: %s", c.Name(), got)
			}
			if nullable, ok := c.Nullable(); !nullable || !ok {
				t.Errorf("%s: not nullable", c.Name())
			}
		}
	}
}

// The connector's store is opened once and closed with the sql.DB; one handed in stays open,
// and closing it under the pool is an error to the next user.
func TestConnectorLife(t *testing.T) {
	dir := "dir:" + filepath.Join(t.TempDir(), "data")
	for i := range 2 { // a store that were still open could not be opened again
		db, err := sql.Open("hql", dir)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := db.Ping(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if i == 0 {
			if _, err := db.Exec("CREATE TABLE t (id INT PRIMARY KEY)"); err != nil {
				t.Fatal(err)
			}
		}
		if got := names(t, db, "SELECT CAST(COUNT(*) AS STRING) FROM t"); !reflect.DeepEqual(got, []string{"0"}) {
			t.Error(got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	inner, err := hql.Open(context.Background(), "mem:")
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(sqldriver.NewConnector(inner))
	defer db.Close()
	if err := db.Ping(); err != nil {
		t.Error(err)
	}
	inner.Close()
	for range 3 {
		if err := db.Ping(); !errors.Is(err, hql.ErrClosed) {
			t.Error(err)
		}
	}
}
