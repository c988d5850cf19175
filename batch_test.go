package hql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/demo"
)

// openMemory opens a store in memory with a table t (k, v, doc).
func openMemory(t *testing.T) *hql.DB {
	t.Helper()
	db, err := hql.Open(context.Background(), "mem:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(context.Background(), "CREATE TABLE t (k INT, v STRING, doc JSON) ROW KEY (k AS INT32)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestBatch(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	var b hql.Batch
	b.Queue("SELECT count(*) FROM t ALLOW FULL SCAN")
	for i := range 20 {
		b.Queue("INSERT INTO t (k, v) VALUES (?, ?)", i, fmt.Sprint("v", i))
	}
	b.Queue("SELECT nothing FROM t")
	for i := range 20 {
		b.Queue("SELECT v FROM t WHERE k = ?", i)
	}
	b.Queue("UPDATE t SET v = 'new' WHERE k = @k", hql.NamedArgs{"k": 3})
	b.Queue("SELECT v FROM t WHERE k = 3")
	b.Queue("SELECT 1/0")
	b.Queue("INSERT INTO t (k, v) VALUES (100, 'last')") // only Close runs it
	if b.Len() != 46 {
		t.Fatalf("%d statements", b.Len())
	}
	res := db.SendBatch(ctx, &b)
	n := -1
	if err := res.QueryRow().Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows before the batch: %v", n, err)
	}
	for i := range 20 {
		if out, err := res.Exec(); err != nil || out.RowsAffected != 1 {
			t.Fatalf("INSERT %d: %+v %v", i, out, err)
		}
	}
	if _, err := res.Exec(); !errors.Is(err, hql.ErrUnknownColumn) {
		t.Errorf("an unknown column: %v", err)
	}
	for i := range 20 {
		var v string
		if err := res.QueryRow().Scan(&v); err != nil || v != fmt.Sprint("v", i) {
			t.Errorf("row %d is %q: %v", i, v, err)
		}
	}
	if out, err := res.Exec(); err != nil || out.RowsAffected != 1 {
		t.Errorf("UPDATE: %+v %v", out, err)
	}
	var v string
	if err := res.QueryRow().Scan(&v); err != nil || v != "new" {
		t.Errorf("after UPDATE: %q %v", v, err)
	}
	if err := res.Close(); err == nil {
		t.Error("the division by zero is not reported")
	}
	if _, err := res.Exec(); !errors.Is(err, hql.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := db.QueryRow(ctx, "SELECT v FROM t WHERE k = 100").Scan(&v); err != nil || v != "last" {
		t.Errorf("the statement behind the failed one: %q %v", v, err)
	}
	totals := db.Totals()
	if totals.Open != 0 || totals.Failed != 2 || totals.Stats.RowsWritten != 22 || totals.Statements != 48 {
		t.Errorf("%+v", totals)
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	res = db.SendBatch(ended, &b)
	if err := res.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("a batch of a cancelled context: %v", err)
	}
	if open := db.Totals().Open; open != 0 {
		t.Errorf("%d statements are open", open)
	}
}

func TestNamedArguments(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	type where struct {
		Low  int
		High *int
		Text []string `db:"words"`
		Rest string
	}
	if _, err := db.Exec(ctx, "INSERT INTO t (k, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')"); err != nil {
		t.Fatal(err)
	}
	three := 3
	for _, args := range [][]any{
		{hql.NamedArgs{"low": 2, "high": 3, "words": []string{"b", "x"}}},
		{map[string]any{"low": 2, "high": 3, "words": []string{"b", "x"}}},
		{sql.Named("low", 2), sql.Named("high", 3), sql.Named("words", []string{"b", "x"})},
		{where{2, &three, []string{"b", "x"}, ""}},
		{hql.QueryOptions{AllowFullScan: true}, &where{2, &three, []string{"b", "x"}, ""}},
	} {
		var k int
		err := db.QueryRow(ctx, "SELECT k FROM t WHERE k BETWEEN @low AND @high AND v IN (@words)", args...).Scan(&k)
		if err != nil || k != 2 {
			t.Errorf("%v: %d %v", args, k, err)
		}
	}
	for want, args := range map[string][]any{
		"hql_test.where has no field for @other":                   {where{}},
		"no argument for @other":                                   {map[string]any{"low": 1}},
		"sql.Named and other arguments cannot be mixed":            {sql.Named("other", 1), 2},
		"@other needs hql.NamedArgs, a map, a struct or sql.Named": {7},
	} {
		var he *hql.Error
		_, err := db.Query(ctx, "SELECT @other", args...)
		if msg := fmt.Sprint(err); errors.As(err, &he) && he.Msg != want || !errors.As(err, &he) && msg != want {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
	if err := db.QueryRow(ctx, "SELECT k FROM t WHERE k = 9").Scan(new(int)); !errors.Is(err, sql.ErrNoRows) || !errors.Is(err, hql.ErrNoRows) {
		t.Errorf("no row: %v", err)
	}
}

func TestScanJSON(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	if _, err := db.Exec(ctx, `INSERT INTO t (k, doc) VALUES (1, '{"name": "Ada", "tags": ["x", "y"]}')`); err != nil {
		t.Fatal(err)
	}
	type doc struct {
		Name string
		Tags []string
	}
	want := doc{"Ada", []string{"x", "y"}}
	var d doc
	var m map[string]any
	var tags []string
	var none *doc
	if err := db.QueryRow(ctx, "SELECT doc, doc, doc->'tags', NULL::JSON FROM t WHERE k = 1").Scan(&d, &m, &tags, &none); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d, want) || m["name"] != "Ada" || !reflect.DeepEqual(tags, want.Tags) || none != nil {
		t.Errorf("%v %v %v %v", d, m, tags, none)
	}
	rows, err := db.Query(ctx, "SELECT k, doc FROM t WHERE k = 1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := hql.CollectOneRow(rows, hql.RowToStructByName[struct {
		K   int
		Doc doc
	}])
	if err != nil || !reflect.DeepEqual(got.Doc, want) {
		t.Errorf("%v %v", got, err)
	}
	if err := db.QueryRow(ctx, "SELECT doc FROM t WHERE k = 1").Scan(&tags); err == nil {
		t.Error("an object fits a slice")
	}
}

func ExampleDB_SendBatch() {
	ctx := context.Background()
	db, err := demo.Open(ctx)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	var b hql.Batch
	for user := range 3 {
		b.Queue("SELECT count(*) FROM files WHERE user_id = ?", user)
	}
	results := db.SendBatch(ctx, &b)
	defer results.Close()
	for range b.Len() {
		var n int
		if err := results.QueryRow().Scan(&n); err != nil {
			panic(err)
		}
		fmt.Println(n)
	}
	// Output:
	// 0
	// 6
	// 2
}

func ExampleDB_Query_struct() {
	ctx := context.Background()
	db, err := demo.Open(ctx)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	filter := struct {
		UserID     int
		Categories []string
	}{1, []string{"综艺", "movie"}}
	var n int
	err = db.QueryRow(ctx, "SELECT count(*) FROM files WHERE user_id = @user_id AND category IN (@categories)", filter).Scan(&n)
	fmt.Println(n, err)
	// Output: 6 <nil>
}
