package sqldriver_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/sqldriver"
)

// Each connection has settings of its own.
func TestSettingsOfConnections(t *testing.T) {
	db, err := sql.Open("hql", "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	one, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	other, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := one.ExecContext(ctx, "SET timezone = 'Asia/Tokyo'"); err != nil {
		t.Fatal(err)
	}
	if _, err := one.ExecContext(ctx, "CREATE TABLE days (d DATE PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var back sql.NullTime
	if _, err := one.ExecContext(ctx, "INSERT INTO days VALUES (?)", day); err != nil {
		t.Fatal(err)
	}
	if err := one.QueryRowContext(ctx, "SELECT d FROM days WHERE d = ?", day).Scan(&back); err != nil || !back.Time.Equal(day) {
		t.Errorf("%v, %v; want %s", err, back, day)
	}
	const query = "SELECT TIMESTAMP '2026-01-01 00:00:00Z'::text"
	for conn, want := range map[*sql.Conn]string{one: "2026-01-01 09", other: "2026-01-01 00"} {
		var text string
		if err := conn.QueryRowContext(ctx, query).Scan(&text); err != nil || text[:len(want)] != want {
			t.Errorf("%v, %s; want %s", err, text, want)
		}
	}
}

func TestDriver(t *testing.T) {
	db, err := sql.Open("hql", "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (id INT, at TIMESTAMP, name STRING, doc JSON) ROW KEY (id AS TEXT(4), at AS INT64)"); err != nil {
		t.Fatal(err)
	}
	stmt, err := db.Prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	at := time.UnixMilli(1_767_323_045_006).UTC()
	r, err := stmt.Exec(1, at, nil, `{"a":1}`)
	if n, _ := r.RowsAffected(); err != nil || n != 1 {
		t.Fatal(err, n)
	}
	var id int
	var back time.Time
	var name sql.NullString
	var doc []byte
	err = db.QueryRow("SELECT * FROM t WHERE id IN (?) AND at = @at", 1, sql.Named("at", at)).Scan(&id, &back, &name, &doc)
	if err == nil {
		t.Error("? and @name were mixed")
	}
	err = db.QueryRow("SELECT * FROM t WHERE id = @id AND at = @at", sql.Named("id", 1), sql.Named("at", at)).Scan(&id, &back, &name, &doc)
	if err != nil || id != 1 || !back.Equal(at) || name.Valid || string(doc) != `{"a":1}` {
		t.Error(err, id, back, name, string(doc))
	}
	rows, err := db.Query("SELECT id, at, doc FROM t WHERE id IN (?)", []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	cols, err := rows.ColumnTypes()
	if err != nil || cols[0].DatabaseTypeName() != "INT" || cols[1].ScanType().String() != "sql.NullTime" {
		t.Error(err, cols)
	}
	if !rows.Next() || rows.Next() || rows.Err() != nil {
		t.Error("not one row")
	}
	err = db.QueryRow("INSERT INTO t VALUES (2, ?, 'n', NULL) RETURNING id + 1, name", at).Scan(&id, &name)
	if err != nil || id != 3 || name.String != "n" {
		t.Error(err, id, name)
	}
	r, err = db.Exec("UPDATE t SET name = 'm' WHERE id = 2 RETURNING name")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 1 {
		t.Error(n)
	}
	if _, err := db.Begin(); !errors.Is(err, sqldriver.ErrTransactions) {
		t.Error(err)
	}
	if _, err := db.Query("SELECT * FROM nothing"); err == nil {
		t.Error("no error")
	}
}

func TestConnector(t *testing.T) {
	inner, err := hql.Open(context.Background(), "mem:", hql.WithFullScan(hql.FullScanDeny))
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	db := sql.OpenDB(sqldriver.NewConnector(inner))
	if _, err := db.Exec("CREATE TABLE t (id INT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Query("SELECT * FROM t"); !errors.Is(err, hql.ErrFullScan) {
		t.Error(err)
	}
	db.Close()
	if len(inner.Tables()) != 1 {
		t.Error("the inner DB was closed")
	}
	if _, err := inner.Exec(context.Background(), "DROP TABLE t"); err != nil {
		t.Error(err)
	}
}
