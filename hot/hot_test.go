package hot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hot"
)

// Load that is put on known ranges is found in the first place, and said by values.
func TestFound(t *testing.T) {
	db, err := hql.Open(t.Context(), "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct{ create, load, finding, first string }{
		{"CREATE TABLE a (device STRING, ts TIMESTAMP, v INT) ROW KEY (device AS TEXT, X'00', ts AS INT64) SPLIT AT ('b', 'c', 'd', 'e')",
			"INSERT INTO a SELECT 'c7', TIMESTAMP '2026-01-01' + n * INTERVAL '1 second', 1 FROM generate_series(1, 500) AS g(n)",
			"a: 100 % of the writes go to the region that begins with 'c': if it holds several values of device AS TEXT, split it", "a from 'c' on "},
		{"CREATE TABLE b (ts TIMESTAMP, v INT) ROW KEY (ts AS INT64) SPLIT AT (TIMESTAMP '2025-01-01', TIMESTAMP '2025-06-01', TIMESTAMP '2026-01-01')",
			"INSERT INTO b SELECT TIMESTAMP '2026-02-01' + n * INTERVAL '1 second', 1 FROM generate_series(1, 500) AS g(n)",
			"b: 100 % of the writes go to the last region, which begins with TIMESTAMP '2026-01-01T00:00:00.000Z': the key begins with ts AS INT64, which follows the time", "b from TIMESTAMP '2026-01-01T00:00:00.000Z' on "},
		{"CREATE TABLE c (device STRING, ts TIMESTAMP, v INT) ROW KEY (device AS TEXT(4), ts AS INT64) SPLIT AT ('aaaa', X'70756d700000010000000000', X'70756d700000020000000000', 'zzzz')",
			"INSERT INTO c SELECT 'pump', TIMESTAMP '2020-01-01' + n * INTERVAL '1 second', 1 FROM generate_series(1, 500) AS g(n)",
			"it holds device AS TEXT(4) = 'pump' alone, so that no split helps", "c from 'pump', TIMESTAMP '2004-11-03 19:53:47.… on "},
		{"CREATE TABLE d (id INT, v INT) ROW KEY (id % 4 AS UINT8, id AS INT32) SPLIT INTO 4 BY KEY",
			"INSERT INTO d SELECT n, 1 FROM generate_series(1, 500) AS g(n)", "nothing is uneven", "d from the first key on "},
		{"CREATE TABLE e (id INT, v INT) ROW KEY (id % 6 AS UINT8, id AS INT32) SPLIT INTO 6 BY KEY",
			"INSERT INTO e SELECT CASE WHEN n % 10 < 3 THEN 6 * n ELSE n END, 1 FROM generate_series(1, 500) AS g(n)",
			" % of the writes go to the region that begins with the first key: if it holds several values", "e from the first key on "},
	} {
		if _, err := db.Exec(t.Context(), c.create); err != nil {
			t.Fatal(err)
		}
		name := strings.Fields(c.create)[2]
		table, _ := db.Catalog().Table(name)
		wrote := false
		r, err := hot.Watch(t.Context(), loaded{db.Client(), func() {
			if !wrote {
				wrote = true
				if _, err := db.Exec(t.Context(), c.load); err != nil {
					t.Error(err)
				}
			}
		}}, []*catalog.Table{table}, time.Millisecond, time.Millisecond, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := r.String()
		if !strings.Contains(text, c.finding) || !strings.Contains(text, "  1  "+c.first) {
			t.Errorf("%s: %s", name, text)
		}
		if page := r.HTML(); !strings.Contains(page, "500 writes") && !strings.Contains("de", name) || strings.Contains(page, "<script") {
			t.Errorf("%s: %s", name, page)
		}
	}
}

// loaded runs a load behind the first look at the requests.
type loaded struct {
	hbase.Client
	load func()
}

func (l loaded) RegionLoads(ctx context.Context, tables ...string) (map[string]hbase.RegionLoad, error) {
	out, err := l.Client.RegionLoads(ctx, tables...)
	l.load()
	return out, err
}

// A user who may not read the cluster status learns which right is missing; one who interrupts the first interval, that it was.
func TestRefused(t *testing.T) {
	db, err := hql.Open(t.Context(), "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(t.Context(), "CREATE TABLE a (id INT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	_, err = hot.Watch(t.Context(), denied{db.Client()}, db.Tables(), time.Second, time.Second, nil)
	if !errors.Is(err, hbase.ErrDenied) || !strings.Contains(err.Error(), "that needs the right ADMIN") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = hot.Watch(ctx, loaded{db.Client(), cancel}, db.Tables(), time.Hour, time.Hour, nil)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type denied struct{ hbase.Client }

func (denied) RegionLoads(context.Context, ...string) (map[string]hbase.RegionLoad, error) {
	return nil, fmt.Errorf("ask: %w", hbase.ErrDenied)
}
