package hql_test

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"testing"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	_ "github.com/hql-db/hql/sqldriver"
)

// TestArrays passes slices as arrays, and scans arrays into slices.
func TestArrays(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE t (k INT, a BIGINT[], s STRING[], id UUID) ROW KEY (k AS INT32)"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, "INSERT INTO t VALUES (1, ?, ?, ?)", []int{1, 2}, []string{"x", "y z"}, [16]byte{15: 7}); err != nil {
		t.Fatal(err)
	}
	var (
		a     []int64
		s     []*string
		id    [16]byte
		m     [][]int
		any   any
		text  string
		empty []string
		raw   []byte
	)
	rows, err := db.Query(ctx, "SELECT a, s || NULL::text, decode(replace(id::text, '-', ''), 'hex'), '{{1,2},{3,4}}'::int[], '{{1},{NULL}}'::int[], a, ?, id FROM t WHERE k = ANY (?) AND a @> ? AND 2 = ANY (a)", []string{}, []int{1, 5}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&a, &s, &raw, &m, &any, &text, &empty, new(string)); err != nil {
		t.Fatal(err)
	}
	copy(id[:], raw)
	got := fmt.Sprintf("%v %d %s %t %d %v %v %s %d", a, len(s), *s[1], s[2] == nil, id[15], m, any, text, len(empty))
	if want := "[1 2] 3 y z true 7 [[1 2] [3 4]] [[1] [<nil>]] {1,2} 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var broken []int
	if err := rows.Scan(&broken, &broken, &raw, &m, &any, &text, &empty, new(string)); err == nil {
		t.Error("text went into an int")
	}
}

// TestArraysOfDatabaseSQL reads an array as PostgreSQL's drivers give it, as text.
func TestArraysOfDatabaseSQL(t *testing.T) {
	db, err := sql.Open("hql", "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var text, id string
	if err := db.QueryRow("SELECT ARRAY['a', 'b c'], 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid").Scan(&text, &id); err != nil || text != `{a,"b c"}` || id != "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11" {
		t.Errorf("%s %s %v", text, id, err)
	}
	rows, err := db.Query("SELECT ARRAY[1]")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	cols, err := rows.ColumnTypes()
	if err != nil || cols[0].DatabaseTypeName() != "BIGINT[]" || cols[0].ScanType() != reflect.TypeFor[sql.NullString]() {
		t.Errorf("%v %v", cols, err)
	}
}
