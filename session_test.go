package hql_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
)

// SET holds for its session: neither the DB nor other sessions see it, and Go values and prepared statements follow it.
func TestSession(t *testing.T) {
	db := filled(t)
	one, other := db.Session(), db.Session()
	ctx := context.Background()
	exec(t, one, "SET timezone = 'Asia/Tokyo'")
	exec(t, one, "SET full_scan = deny")
	const query = "SELECT ts, ts::text FROM events WHERE uid = 1"
	for _, c := range []struct {
		db   *hql.DB
		hour int
		text string
	}{{db, 3, "2026-01-02 03:04:05"}, {one, 12, "2026-01-02 12:04:05"}, {other, 3, "2026-01-02 03:04:05"}} {
		stmt, err := c.db.Prepare(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var at time.Time
			var text string
			if err := stmt.QueryRow(ctx).Scan(&at, &text); err != nil || at.Hour() != c.hour || !strings.HasPrefix(text, c.text) {
				t.Errorf("%v, %s, %s; want hour %d and %s", err, at, text, c.hour, c.text)
			}
		}
	}
	if _, err := one.Exec(ctx, "SELECT count(*) FROM events"); !errors.Is(err, hql.ErrFullScan) {
		t.Errorf("full scan in the session that denies it: %v", err)
	}
	exec(t, other, "SELECT count(*) FROM events")
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if _, err := one.Exec(ctx, query); !errors.Is(err, hql.ErrClosed) {
		t.Errorf("a closed session: %v", err)
	}
	exec(t, other, query)
	db.Close()
	if _, err := other.Exec(ctx, query); !errors.Is(err, hql.ErrClosed) {
		t.Errorf("a session of a closed DB: %v", err)
	}
}

// A time.Time stands for a DATE by its year, month and day, as in pgx, in whatever zone the session is.
func TestDays(t *testing.T) {
	db := open(t, "mem:")
	ctx := context.Background()
	exec(t, db, "CREATE TABLE d (day DATE, id INT, other DATE, at TIMESTAMP) ROW KEY (day AS TEXT('yyyyMMdd'), id AS INT32)")
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for i, zone := range []string{"UTC", "America/New_York", "Asia/Tokyo"} {
		s := db.Session()
		exec(t, s, "SET timezone = '"+zone+"'")
		day := time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC)
		late := time.Date(2024, 1, 1+i, 0, 30, 0, 0, berlin) // in UTC it is the day before
		want := day.Format(time.DateOnly)
		var back, other time.Time
		var text, at string
		err := s.QueryRow(ctx, "INSERT INTO d VALUES (?, 1, ?, ?) RETURNING day, other, day::text, at::date::text", day, late, late).Scan(&back, &other, &text, &at)
		if err != nil || !back.Equal(day) || !other.Equal(day) || text != want {
			t.Errorf("%s: %v, %s, %s, %s", zone, err, back, other, text)
		}
		loc, _ := time.LoadLocation(zone)
		if at != late.In(loc).Format(time.DateOnly) {
			t.Errorf("%s: the day of the moment %s is %s", zone, late, at)
		}
		for _, where := range []string{"day = ?", "? = day", "day IN (?)", "day = ANY (?)", "day BETWEEN ? AND '2030-01-01' AND other < '2024-02-01' LIMIT 1", "other = ?", "day = ?::date", "other = COALESCE(CAST(? AS DATE), day)", "other = COALESCE(?, day)", "other = CASE WHEN id > 0 THEN ? ELSE day END", "day >= ? ORDER BY day LIMIT 1"} {
			for _, arg := range []any{back, late, &late, []time.Time{late}} {
				if _, list := arg.([]time.Time); list != strings.Contains(where, "ANY") {
					continue
				}
				if err := s.QueryRow(ctx, "SELECT day::text FROM d WHERE "+where, arg).Scan(&text); err != nil || text != want {
					t.Errorf("%s: %s of %v: %v, %s; want %s", zone, where, arg, err, text, want)
				}
			}
		}
		exec(t, s, "UPDATE d SET other = '2000-01-01' WHERE id = 1")
		if _, err := s.Exec(ctx, "UPDATE d SET other = ? WHERE day = ? AND id = 1", late, back); err != nil {
			t.Fatal(err)
		}
		if err := s.QueryRow(ctx, "SELECT other::text FROM d WHERE day = ?", back).Scan(&text); err != nil || text != want {
			t.Errorf("%s: %v, updated to %s; want %s", zone, err, text, want)
		}
	}
}

// The memory limit's message names a setting that exists.
func TestMemoryLimitSetting(t *testing.T) {
	db := filled(t)
	exec(t, db, "SET memory_limit = '2kB'")
	const much = "SELECT count(DISTINCT g || repeat('x', 3000)) FROM (SELECT uid AS g FROM events) e"
	_, err := db.Exec(context.Background(), much)
	if !errors.Is(err, hql.ErrMemoryLimit) || !strings.Contains(err.Error(), "more than 2kB (setting memory_limit)") {
		t.Errorf("beyond the limit: %v", err)
	}
	for _, bad := range []string{"'0'", "'-1MB'", "'1 TB'", "'9999999999GB'", "''"} {
		if _, err := db.Exec(context.Background(), "SET memory_limit = "+bad); err == nil {
			t.Errorf("SET memory_limit = %s: no error", bad)
		}
	}
	exec(t, db, "SET memory_limit TO DEFAULT")
	exec(t, db, much)
}

// A number that its destination cannot hold is an error, never another number.
func TestScanLimits(t *testing.T) {
	db := filled(t)
	ctx := context.Background()
	for _, c := range []struct {
		sql  string
		dest any
		want any // nil: an error
	}{
		{"1e300::double precision", new(float32), nil},
		{"1e-300::double precision", new(float32), nil},
		{"-1e-300", new(float32), nil},
		{"1e-44::double precision", new(float32), float32(1e-44)},
		{"0::double precision", new(float32), float32(0)},
		{"1.5::double precision", new(float32), float32(1.5)},
		{"9007199254740993", new(float64), nil},
		{"9007199254740992", new(float64), float64(9007199254740992)},
		{"9007199254740993.0", new(float64), nil},
		{"9007199254740992.0", new(float64), float64(9007199254740992)},
		{"9007199254740993.5", new(float64), float64(9007199254740994)}, // the nearest
		{"123456789012345678901234567890", new(float64), nil},
		{"1e23", new(float64), 1e23},
		{"1152921504606846976", new(float64), float64(1 << 60)},
		{"1152921504606846976.0", new(float64), float64(1 << 60)},
		{"16777217", new(float32), nil},
		{"16777217.0", new(float32), nil},
		{"'1e400'::decimal", new(float64), nil},
		{"0.1", new(float64), 0.1},
		{"18446744073709551615", new(uint64), uint64(math.MaxUint64)},
		{"18446744073709551615.00", new(uint64), uint64(math.MaxUint64)},
		{"18446744073709551616", new(uint64), nil},
		{"18446744073709551615", new(int64), nil},
		{"1.5", new(uint64), nil},
		{"-1", new(uint64), nil},
		{"1e100", new(uint64), nil},
	} {
		err := db.QueryRow(ctx, "SELECT "+c.sql).Scan(c.dest)
		if got := reflect.ValueOf(c.dest).Elem().Interface(); (err == nil) != (c.want != nil) || err == nil && got != c.want {
			t.Errorf("%s into %T: %v, %v; want %v", c.sql, c.dest, got, err, c.want)
		}
	}
	var n uint64
	if err := db.QueryRow(ctx, "SELECT ?", uint64(math.MaxUint64)).Scan(&n); err != nil || n != math.MaxUint64 {
		t.Errorf("the largest uint64 there and back: %d, %v", n, err)
	}
}

type itself struct{}

func (i itself) Value() (driver.Value, error) { return i, nil }

func TestArgumentLimits(t *testing.T) {
	db := filled(t)
	ctx := context.Background()
	for _, c := range []struct {
		arg  any
		want string
	}{
		{time.Date(300_000_000, 1, 1, 0, 0, 0, 0, time.UTC), "cannot hold the time"},
		{time.Date(-300_000_000, 1, 1, 0, 0, 0, 0, time.UTC), "cannot hold the time"},
		{itself{}, "must be one of driver.Value's types"},
		{hql.NamedArgs{"a": 1}, "? or $n parameters"},
	} {
		if _, err := db.Exec(ctx, "SELECT ?", c.arg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v; want %q", c.arg, err, c.want)
		}
	}
	if _, err := db.Exec(ctx, "SELECT @a", hql.NamedArgs{"a": 1, "b": 2}); err == nil || !strings.Contains(err.Error(), "no @b") {
		t.Errorf("an argument that is not taken: %v", err)
	}
	var null bool
	if err := db.QueryRow(ctx, "SELECT ? IS NULL", json.RawMessage(nil)).Scan(&null); err != nil || !null {
		t.Errorf("a nil json.RawMessage: %v, %v", null, err)
	}
}

type embeddedKey struct{ UID int }

type EmbeddedTime struct{ TS time.Time }

func TestCollectFields(t *testing.T) {
	db := filled(t)
	ctx := context.Background()
	query := func(sql string) *hql.Rows {
		t.Helper()
		rows, err := db.Query(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	type twice struct {
		UserID  int
		User_ID int
	}
	if _, err := hql.Collect[twice](query("SELECT uid AS user_id FROM events WHERE uid = 1")); err == nil || !strings.Contains(err.Error(), "UserID and User_ID") {
		t.Errorf("two fields for a column: %v", err)
	}
	type tags struct {
		A int `db:"uid"`
		B int `db:"uid"`
	}
	if _, err := hql.Collect[tags](query("SELECT uid FROM events WHERE uid = 1")); err == nil || !strings.Contains(err.Error(), "A and B") {
		t.Errorf("two tags for a column: %v", err)
	}
	type pointers struct {
		embeddedKey
		*EmbeddedTime
		Kind *string
	}
	got, err := hql.Collect[pointers](query("SELECT uid, ts, kind FROM events WHERE uid = 1"))
	if err != nil || len(got) != 1 || got[0].UID != 1 || got[0].EmbeddedTime == nil || got[0].TS.Year() != 2026 {
		t.Errorf("an embedded pointer: %v, %+v", err, got)
	}
	type moment struct {
		time.Time `db:"ts"`
	}
	type bare struct{ time.Time }
	if got, err := hql.Collect[moment](query("SELECT ts FROM events WHERE uid = 1")); err != nil || got[0].Year() != 2026 {
		t.Errorf("an embedded time.Time with a tag: %v, %+v", err, got)
	}
	if got, err := hql.Collect[bare](query("SELECT ts AS time FROM events WHERE uid = 1")); err != nil || got[0].Year() != 2026 {
		t.Errorf("an embedded time.Time: %v, %+v", err, got)
	}
	if _, err := hql.Collect[map[string]any](query("SELECT uid, kind AS uid FROM events WHERE uid = 1")); err == nil || !strings.Contains(err.Error(), "two columns have the name uid") {
		t.Errorf("two columns of one name: %v", err)
	}
}

// A prepared statement and CopyFrom use the tables that search_path finds at each call.
func TestSearchPath(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec(t, db, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT); CREATE TABLE a.t (id INT PRIMARY KEY, v TEXT); CREATE TABLE b.t (id INT PRIMARY KEY, v TEXT, w INT)")
	s := db.Session()
	stmt, err := s.Prepare(ctx, "SELECT * FROM t WHERE id = $1")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, s, "PREPARE p AS SELECT v FROM t WHERE id = $1")
	for _, c := range []struct{ set, table string }{{"SET search_path = a", "t"}, {"SET search_path = b, a", "t"}, {"RESET search_path", "t"}, {"SET search_path = nowhere, a", "b:t"}} {
		exec(t, s, c.set)
		if _, err := s.CopyFrom(ctx, c.table, []string{"id", "v"}, hql.CopyRows([][]any{{7, c.set}})); err != nil {
			t.Fatal(err)
		}
		want, width := c.set, 2
		switch c.set {
		case "SET search_path = b, a":
			width = 3
		case "SET search_path = nowhere, a": // a has the row of before
			want = "SET search_path = a"
		}
		d, err := stmt.Describe(ctx, nil)
		if err != nil || len(d.Columns) != width {
			t.Errorf("%s: %v, %v", c.set, d, err)
		}
		rows, err := stmt.Query(ctx, 7)
		if err != nil || !rows.Next() || rows.Raw()[1].Text() != want {
			t.Errorf("%s: the statement reads %v: %v", c.set, rows.Raw(), err)
		}
		rows.Close()
		var v string
		if err := s.QueryRow(ctx, "EXECUTE p (7)").Scan(&v); err != nil || v != want {
			t.Errorf("%s: EXECUTE reads %q: %v", c.set, v, err)
		}
	}
}
