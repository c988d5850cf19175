package hql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
)

// CopyFrom writes several batches at a time; of rows with one key the last stands, in the indexes too.
func TestCopyFrom(t *testing.T) {
	ctx := t.Context()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, sql := range []string{"CREATE TABLE plain (id INT PRIMARY KEY, n INT, s STRING)",
		"CREATE TABLE indexed (id INT, n INT, s STRING) ROW KEY (id AS ORDERED INT32) INDEX by_n (n AS ORDERED INT32, id AS ORDERED INT32)"} {
		if _, err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	const rows, keys = 12_500, 900
	source := func(yield func([]any, error) bool) {
		for i := range rows {
			if !yield([]any{i, i % keys, fmt.Sprint("s", i)}, nil) {
				return
			}
		}
	}
	for _, table := range []string{"plain", "indexed"} {
		done, err := db.CopyFrom(ctx, table, []string{"n", "id", "s"}, source)
		if err != nil || done.RowsAffected != rows {
			t.Fatal(table, done.RowsAffected, err)
		}
		var last, sum int
		if err := db.QueryRow(ctx, "SELECT count(*), sum(n) FROM "+table).Scan(&last, &sum); err != nil || last != keys || sum != (rows-keys+rows-1)*keys/2 {
			t.Error(table, last, sum, err)
		}
		if _, err := db.Exec(ctx, "INSERT INTO "+table+" SELECT id, n + 1, s FROM "+table+" AS o, generate_series(1, 9)"); err != nil {
			t.Error(err)
		}
	}
	found, err := db.Query(ctx, "CHECK TABLE indexed")
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range found.All() {
		if err != nil || row.Values()[2] != int64(0) {
			t.Error(row.Values(), err)
		}
	}

	broken := errors.New("the source is broken")
	for want, rows := range map[string]func(func([]any, error) bool){
		"row 2: 2 values for 3 columns":              hql.CopyRows([][]any{{1, 1, "a"}, {2, 2}}),
		"row 2: column n: ":                          hql.CopyRows([][]any{{1, 1, "a"}, {2, "x", "b"}}),
		"row 1: a chan int is not a valid SQL value": hql.CopyRows([][]any{{1, make(chan int), "a"}}),
		"row 2: the source is broken":                func(yield func([]any, error) bool) { _ = yield([]any{1, 1, "a"}, nil) && yield(nil, broken) },
		"column id of plain must not be NULL":        hql.CopyRows([][]any{{nil, 1, "a"}}),
	} {
		_, err := db.CopyFrom(ctx, "plain", nil, rows)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if strings.Contains(want, "broken") && !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	if _, err := db.CopyFrom(ctx, "nope", nil, hql.CopyRows(nil)); !errors.Is(err, hql.ErrUnknownTable) {
		t.Error(err)
	}
}
