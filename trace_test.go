package hql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/hql-db/hql"
)

// tape is a tracer that writes down what it is told, indented by what encloses it.
type tape struct {
	mu   sync.Mutex
	open int
	got  []string
}

func (t *tape) start(ctx context.Context, format string, args ...any) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	depth, _ := ctx.Value(t).(int)
	t.got = append(t.got, strings.Repeat("  ", depth)+fmt.Sprintf(format, args...))
	t.open++
	return context.WithValue(ctx, t, depth+1)
}

func (t *tape) end(ctx context.Context, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
	if format != "" {
		t.got = append(t.got, strings.Repeat("  ", ctx.Value(t).(int)-1)+fmt.Sprintf(format, args...))
	}
}

func (t *tape) TraceQueryStart(ctx context.Context, d hql.QueryStart) context.Context {
	return t.start(ctx, "%s: %s, %d args", d.Operation, d.SQL, d.Args)
}
func (t *tape) TraceQueryEnd(ctx context.Context, d hql.QueryEnd) {
	t.end(ctx, "end access=%q affected=%d read=%d returned=%d %s",
		d.Access, d.Affected, d.Stats.RowsRead, d.Stats.RowsReturned, hql.Outcome(d.Err))
}
func (t *tape) TraceScanStart(ctx context.Context, d hql.ScanStart) context.Context {
	return t.start(ctx, "%s of %s, %d ranges", d.Access, d.Table, d.Ranges)
}
func (t *tape) TraceScanEnd(ctx context.Context, d hql.ScanEnd) {
	t.end(ctx, "end read=%d kept=%d %s", d.RowsRead, d.Rows, hql.Outcome(d.Err))
}
func (t *tape) TraceRPCStart(ctx context.Context, d hql.RPCStart) context.Context {
	return t.start(ctx, "%s %s", d.Method, d.Table)
}
func (t *tape) TraceRPCEnd(ctx context.Context, d hql.RPCEnd) { t.end(ctx, "") }

func TestTracer(t *testing.T) {
	tr := &tape{}
	db := open(t, "mem:", hql.WithTracer(tr), hql.WithFullScan(hql.FullScanDeny))
	exec(t, db, "CREATE TABLE t (id INT PRIMARY KEY, by_name STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
	for _, c := range []struct {
		sql  string
		args []any
		want string
	}{
		{"SELECT * FROM t WHERE id = ?", []any{1}, `
SELECT: SELECT * FROM t WHERE id = ?, 1 args
  get of t, 1 ranges
    Get t
  end read=1 kept=1 ok
end access="get" affected=-1 read=1 returned=1 ok`},
		{"SELECT * FROM t WHERE id > @low", []any{hql.NamedArgs{"low": 1}}, `
SELECT: SELECT * FROM t WHERE id > @low, 1 args
  scan of t, 1 ranges
    Scan t
  end read=2 kept=2 ok
end access="scan" affected=-1 read=2 returned=2 ok`},
		{"SELECT * FROM t", nil, `
SELECT: SELECT * FROM t, 0 args
end access="full scan" affected=-1 read=0 returned=0 refused`},
		{"SELECT * FROM t WHERE id = 1 AND id = 2", nil, `
SELECT: SELECT * FROM t WHERE id = 1 AND id = 2, 0 args
  empty of t, 0 ranges
  end read=0 kept=0 ok
end access="empty" affected=-1 read=0 returned=0 ok`},
		{"SELECT 1", nil, `
SELECT: SELECT 1, 0 args
end access="" affected=-1 read=0 returned=1 ok`},
		{"INSERT INTO t VALUES (4, 'd')", nil, `
INSERT: INSERT INTO t VALUES (4, 'd'), 0 args
  Multi t
end access="" affected=1 read=0 returned=0 ok`},
		{"SELECT nothing FROM t", nil, `
SELECT: SELECT nothing FROM t, 0 args
end access="" affected=-1 read=0 returned=0 invalid`},
	} {
		tr.got = nil
		_, _ = db.Exec(context.Background(), c.sql, c.args...)
		if got := "\n" + strings.Join(tr.got, "\n"); got != c.want {
			t.Errorf("%s:%s\nwant%s", c.sql, got, c.want)
		}
	}
	if tr.open != 0 {
		t.Errorf("%d without an end", tr.open)
	}
	// Of any number of accesses to a table each one's end is told, with what it read itself.
	exec(t, db, "CREATE TABLE many (id INT PRIMARY KEY, v INT); INSERT INTO many SELECT n, n FROM generate_series(1, 100) s(n)")
	tr.got = nil
	exec(t, db, "SELECT a.id, (SELECT count(b.v) FROM many b WHERE b.id < a.v) FROM many a ALLOW FULL SCAN")
	ends, read := 0, 0
	for _, line := range tr.got {
		n := 0
		if _, err := fmt.Sscanf(line, "  end read=%d", &n); err == nil {
			ends, read = ends+1, read+n
		}
	}
	if want := 100 + 99*100/2; ends != 101 || read != want || tr.open != 0 {
		t.Errorf("%d full scans of %d rows, not %d; %d without an end", ends, read, want, tr.open)
	}
}

// Each that begins ends once, also when a query is left early, and rows of an index are looked up within its scan.
func TestTracerEnds(t *testing.T) {
	first, second := &tape{}, &tape{}
	db := open(t, "mem:", hql.WithTracer(first), hql.WithTracer(second), hql.WithFullScan(hql.FullScanAllow))
	exec(t, db, "CREATE TABLE t (id INT, name STRING, v INT) ROW KEY (id AS INT32) INDEX names (name AS TEXT, X'00', id AS INT32) STORED IN 'names'; INSERT INTO t VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 3)")
	first.got, second.got = nil, nil
	rows := must(db.Query(context.Background(), "SELECT v FROM t WHERE name = 'a'"))
	for rows.Next() {
	}
	rows.Close()
	if want := []string{"SELECT: SELECT v FROM t WHERE name = 'a', 0 args", "  scan of t, 1 ranges", "    Scan names", "    Multi t", "  end read=4 kept=2 ok"}; len(first.got) < 5 || !reflect.DeepEqual(first.got[:5], want) {
		t.Errorf("%q", first.got)
	}
	for range must(db.Query(context.Background(), "SELECT a.v FROM t a JOIN t b ON a.v = b.v ORDER BY a.v")).All() {
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	rows = must(db.Query(ctx, "SELECT * FROM t"))
	cancel()
	for rows.Next() {
	}
	if err := rows.Err(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if first.open != 0 || second.open != 0 {
		t.Errorf("%d and %d without an end", first.open, second.open)
	}
	if len(second.got) != len(first.got) {
		t.Errorf("%d and %d events", len(first.got), len(second.got))
	}
}

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	level := new(slog.LevelVar)
	db := open(t, "mem:", hql.WithLogger(slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: level}))))
	exec(t, db, "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (-5)")
	exec(t, db, "SELECT * FROM t WHERE id > 0")
	if b.Len() > 0 {
		t.Errorf("not quiet at the info level: %s", &b)
	}
	level.Set(slog.LevelDebug)
	exec(t, db, "SELECT * FROM t WHERE id > 0; SELECT * FROM t WHERE id = 2")
	var got []string
	for d := json.NewDecoder(&b); ; {
		var r map[string]any
		if err := d.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if r["elapsed"].(float64) <= 0 {
			t.Errorf("no time: %v", r)
		}
		got = append(got, fmt.Sprint(r["level"], " ", r["msg"], " ", r["table"], " ", r["start"], " ", r["first"], " ", r["rows"]))
	}
	want := []string{"DEBUG scan t 80000001 <nil> 2", "DEBUG get t <nil> 80000002 1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
