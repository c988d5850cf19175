package chaos

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hql-db/hql"
)

// While the server of a primary does not answer, a query that may read stale rows reads a replica, and reports that.
// Other queries wait.
func readReplicas(t *testing.T, w *world, _ time.Duration) {
	ctx := context.Background()
	if _, err := w.db.Client().Families(ctx, "replicated"); err != nil {
		if out, ok := w.c.admin("replicated", "replicated", "f"); !ok {
			t.Fatal(out)
		}
		w.exec(ctx, "CREATE EXTERNAL TABLE IF NOT EXISTS replicated (id BIGINT, n BIGINT FROM f:n) ROW KEY (id AS TEXT(8))")
		w.insert(ctx, "replicated", 1000, func(i int) string { return fmt.Sprintf("(%d,%d)", i, nOf(i)) })
	}
	w.c.admin("flush", "replicated")
	stale := hql.QueryOptions{Timeline: true}
	scan := query{kind: "stale scan", sql: "SELECT id, n FROM replicated WHERE id >= 100 AND id < 900 ORDER BY id", want: ids(100, 900, func(id int) string { return fmt.Sprintf("%d|%d", id, nOf(id)) })}
	get := query{kind: "stale get", sql: "SELECT id, n FROM replicated WHERE id = 7", want: []string{fmt.Sprintf("7|%d", nOf(7))}}
	gets := query{kind: "stale gets", sql: "SELECT id, n FROM replicated WHERE id IN (7, 70, 700)", want: []string{fmt.Sprintf("7|%d", nOf(7)), fmt.Sprintf("70|%d", nOf(70)), fmt.Sprintf("700|%d", nOf(700))}, unordered: true}
	if err := w.askWith(scan, 0, stale); err != nil {
		t.Error(err)
	}
	time.Sleep(5 * time.Second) // replicas look for new files twice a second
	for _, q := range []query{scan, get, gets} {
		name := w.primaryApart(ctx, t)
		w.c.signal(name, syscall.SIGSTOP) // for a shorter time than the master takes it for dead after
		w.fig.fault("pause region server", 1)
		if err := w.askWith(q, 0, stale); err != nil {
			t.Errorf("%s: %v", q.kind, err)
		}
		p, err := w.db.Query(ctx, "EXPLAIN ANALYZE "+q.sql, stale)
		if err != nil {
			t.Error(err)
			continue
		}
		var text strings.Builder
		for r, err := range p.All() {
			if err != nil {
				t.Error(err)
				break
			}
			fmt.Fprintln(&text, r.Raw()[0])
		}
		if want := fmt.Sprintf("%d rows of replicas, perhaps stale", len(q.want)); !strings.Contains(strings.Replace(text.String(), "1 row of", "1 rows of", 1), want) {
			t.Errorf("%s is not told that it is stale:\n%s", q.kind, &text)
		}
		short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		if _, err := w.read(short, q.sql, 0, 0); !missed(err) {
			t.Errorf("%s without leave to read stale rows: %v", q.kind, err)
		}
		cancel()
		w.c.signal(name, syscall.SIGCONT)
		if err := w.askWith(q, 0); err != nil {
			t.Error(err)
		}
	}
}

// primaryApart returns the server of the primary of replicated, after checking that it serves no other region that the
// query needs. An earlier pause may have moved regions, if it lasted longer than intended on a busy machine.
func (w *world) primaryApart(ctx context.Context, t *testing.T) (name string) {
	t.Helper()
	other := 0
	at, _ := w.c.admin("where", "replicated", "00000000")
	for i := range w.c.servers {
		if strings.Contains(at, fmt.Sprint(w.c.port(i))) {
			name, other = w.c.server(i), w.c.port(i+1)
		}
	}
	if name == "" {
		t.Fatalf("where is the table? %s", at)
	}
	for _, table := range []string{"hbase:meta", "hql_catalog"} { // where replicas and definitions are found
		w.c.admin("move", table, "x", fmt.Sprint(other))
	}
	// Read the regions, so that gohbase learns their new places: it would wait for the servers that it knows.
	if _, err := w.db.Client().Regions(ctx, "replicated"); err != nil {
		t.Error(err)
	}
	if _, err := w.db.Client().Get(ctx, "hql_catalog", [][]byte{{1}}, nil); err != nil {
		t.Error(err)
	}
	return name
}
