package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
)

// drawing counts the increments of sequences, and loses the answers of some.
type drawing struct {
	hbase.Client
	mu    sync.Mutex
	calls int
	lost  bool
}

func (c *drawing) Increment(ctx context.Context, table string, key []byte, family, qualifier string, n int64) (int64, error) {
	out, err := c.Client.Increment(ctx, table, key, family, qualifier, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.Contains(string(key), "sequence/") {
		if c.calls++; c.lost {
			return 0, errors.New("no answer")
		}
	}
	return out, err
}

// Two processes that draw at the same time never get the same number.
func TestSequencesOfTwoProcesses(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	checkSequences(t, c, 40)
}

func testSequencesHBase(t *testing.T) {
	race.Skip(t)
	checkSequences(t, DialHBase(t), 10)
}

func checkSequences(t *testing.T, c hbase.Client, rounds int) {
	a, b := NewWorld(t, c, Config{FullScan: AllowFullScan}), NewWorld(t, c, Config{FullScan: AllowFullScan})
	a.Do(`CREATE TABLE drawn (id BIGSERIAL PRIMARY KEY, v INT); CREATE SEQUENCE cached CACHE 7; CREATE SEQUENCE last MAXVALUE 25`)
	var mu sync.Mutex
	seen := map[string]int{}
	take := func(kind, rows string) {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range strings.Fields(rows) {
			if seen[kind+n]++; seen[kind+n] > 1 {
				t.Errorf("%s %s was drawn twice", kind, n)
			}
		}
	}
	var wg sync.WaitGroup
	for i := range 4 {
		w := []*World{a, b}[i%2]
		wg.Go(func() {
			for range rounds {
				take("id", w.Do("INSERT INTO drawn (v) VALUES (1), (2), (3) RETURNING id"))
				take("id", w.Do("INSERT INTO drawn (v) SELECT n FROM generate_series(1, 20) AS g(n) RETURNING id"))
				take("cached", w.Do("SELECT nextval('cached') FROM generate_series(1, 5)"))
				if n, _, err := w.Try("SELECT nextval('last')"); err == nil {
					take("last", n)
				} else if !strings.Contains(err.Error(), "reached maximum value") {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	a.Expect(fmt.Sprint(4*rounds*23), "SELECT COUNT(*) FROM drawn")
	a.Expect(fmt.Sprintf("%d|true", 4*rounds*23), "SELECT last_value, is_called FROM drawn_id_seq")
	for n := 1; n <= 25; n++ {
		if seen[fmt.Sprint("last", n)] != 1 {
			t.Errorf("last %d was not drawn", n)
		}
	}
	b.Do("DROP SEQUENCE last; CREATE SEQUENCE last START 30")
	b.Expect("30", "SELECT nextval('last')")
	a.Do("SELECT setval('drawn_id_seq', 1000000)")
	b.Expect("1000001", "INSERT INTO drawn (v) VALUES (1) RETURNING id")
	b.Do("DROP TABLE drawn; DROP SEQUENCE last, cached")
}

// A statement draws the numbers of its rows at once. After a lost answer a number is left out, never given twice.
func TestSequencesDrawBlocks(t *testing.T) {
	_, c := NewStore(t)
	d := &drawing{Client: c}
	w := NewWorld(t, d, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id SERIAL PRIMARY KEY, v INT); CREATE SEQUENCE s CACHE 10")
	for sql, most := range map[string]int{
		"INSERT INTO t (v) VALUES (1), (2), (3), (4)":                                  1,
		"INSERT INTO t (id, v) VALUES (DEFAULT, 1), (1000000, 2), (DEFAULT, 3)":        1,
		"INSERT INTO t (v) SELECT n FROM generate_series(1, 2000) AS g(n)":             10,
		"SELECT nextval('s') FROM generate_series(1, 100)":                             10,
		"EXPLAIN SELECT nextval('s') FROM generate_series(1, 100)":                     0,
		"EXPLAIN INSERT INTO t (v) SELECT 1":                                           0,
		"CREATE TABLE other (k INT PRIMARY KEY DEFAULT nextval('s'), v INT DEFAULT 1)": 0,
		"SELECT last_value FROM s":                                                     0,
	} {
		d.calls = 0
		if w.Do(sql); d.calls > most {
			t.Errorf("%s: %d increments, at most %d are needed", sql, d.calls, most)
		}
	}
	w.Expect("2006", "SELECT last_value FROM t_id_seq")
	d.lost = true
	w.Refused("no answer", "INSERT INTO t (v) VALUES (1)")
	d.lost = false
	w.Expect("2008", "INSERT INTO t (v) VALUES (1) RETURNING id")
}
