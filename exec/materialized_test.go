package exec

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
)

// refilling is a client that calls then before it writes rows of the materialized view s.
type refilling struct {
	hbase.Client
	then func() error
}

func (c *refilling) Mutate(ctx context.Context, table string, rows []hbase.Mutation) error {
	if strings.HasPrefix(table, "s_") && c.then != nil {
		if err := c.then(); err != nil {
			return err
		}
	}
	return c.Client.Mutate(ctx, table, rows)
}

// While REFRESH runs, and when it fails, others read the old rows, and no HBase table is left. A query that began before it cannot go on.
func TestRefreshedWhileRead(t *testing.T) {
	_, c := NewStore(t)
	client := &refilling{Client: c}
	w, other := newWorld(t, client, Config{FullScan: AllowFullScan}), connections(t, c, 1)[0]
	w.Do("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2); CREATE MATERIALIZED VIEW s AS SELECT id FROM t")
	w.Do("CREATE INDEX s_id ON s (id); INSERT INTO t VALUES (3)")
	old := func() error {
		other.Expect("1\n2", "SELECT id FROM s ORDER BY id")
		other.Expect("2", "SELECT id FROM s WHERE id = 2")
		return nil
	}
	client.then = func() error { return errors.Join(old(), errors.New("gone")) }
	w.Refused("gone", "REFRESH MATERIALIZED VIEW s")
	_ = old()
	w.Refused("gone", "CREATE MATERIALIZED VIEW s_2 AS SELECT id FROM t")
	if tables, _ := c.Tables(t.Context(), "s_"); len(tables) != 2 {
		t.Errorf("%q", tables)
	}
	client.then = old
	rows, err := other.Run(t.Context(), MustParse(t, "SELECT id FROM s"), Args{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	w.Do("REFRESH MATERIALIZED VIEW s")
	if got, err := rows.Next(); err == nil || !strings.Contains(err.Error(), "s was dropped or redefined while the statement ran: run it again") {
		t.Errorf("%v %v", got, err)
	}
	other.Expect("1\n2\n3", "SELECT id FROM s ORDER BY id")
	other.Expect("3", "SELECT id FROM s WHERE id = 3")
	client.then = func() error {
		client.then = nil
		_, _, err := other.Try("REFRESH MATERIALIZED VIEW s")
		return err
	}
	w.Refused("run it again", "REFRESH MATERIALIZED VIEW s") // another one was faster
	if tables, _ := c.Tables(t.Context(), "s_"); len(tables) != 2 {
		t.Errorf("%q", tables)
	}
	w.Expect("s\nt", "SELECT relname FROM pg_class WHERE relkind IN ('r', 'm') AND relnamespace = 2200 OR relpersistence = 't' ORDER BY 1")
	w.Do("DROP MATERIALIZED VIEW s")
	if tables, _ := c.Tables(t.Context(), "s_"); len(tables) > 0 {
		t.Errorf("%q", tables)
	}
}
