package exec

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
)

// meeting is a client whose second scan of m waits for the third one.
type meeting struct {
	hbase.Client
	scans atomic.Int64
	third chan struct{}
}

func (c *meeting) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if r.Table == "m" {
		switch c.scans.Add(1) {
		case 2:
			select {
			case <-c.third:
			case <-time.After(20 * time.Second):
				return nil, errors.New("the third scan did not begin")
			}
		case 3:
			close(c.third)
		}
	}
	return c.Client.Scan(ctx, r, o)
}

// Queries that read a few rows by key run at the same time for several outer rows.
func TestQueriesAtOnce(t *testing.T) {
	t.Parallel()
	_, store := NewStore(t)
	c := &meeting{Client: store}
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE o (id INT PRIMARY KEY, t INT)")
	w.Do("CREATE TABLE m (h INT, ts INT, v INT, PRIMARY KEY (h, ts))")
	w.Do("INSERT INTO o SELECT i, i * 2 FROM generate_series(1, 4) i")
	w.Do("INSERT INTO m SELECT h, ts, h * 10 + ts FROM generate_series(1, 4) h, generate_series(1, 9) ts")
	for _, sql := range []string{
		"SELECT o.id, x.v FROM o, LATERAL (SELECT v FROM m WHERE h = o.id AND ts <= o.t ORDER BY ts DESC LIMIT 1) x",
		"SELECT o.id, (SELECT v FROM m WHERE h = o.id AND ts <= o.t ORDER BY ts DESC LIMIT 1) FROM o",
		"SELECT o.id, COALESCE(2 * (SELECT v FROM m WHERE h = o.id AND ts <= o.t ORDER BY ts DESC LIMIT 1) / 2, 7) FROM o",
		"SELECT o.id, (SELECT v FROM m WHERE h = o.id AND ts <= o.t ORDER BY ts DESC LIMIT 1) AS v FROM o ORDER BY v",
	} {
		c.scans.Store(0)
		c.third = make(chan struct{})
		if got := w.Do(sql); got != "1|12\n2|24\n3|36\n4|48" {
			t.Errorf("%s\ngives %q", sql, got)
		}
	}
}
