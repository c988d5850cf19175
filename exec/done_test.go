package exec

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
)

// asking asks how far a statement is whenever it has read or is about to write.
type asking struct {
	hbase.Client
	mu    sync.Mutex
	stats func() Stats
	told  []float64
}

func (c *asking) ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stats != nil {
		c.told = append(c.told, c.stats().Done)
	}
}

func (c *asking) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	c.ask()
	return c.Client.Mutate(ctx, table, ms)
}

func (c *asking) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	sc, err := c.Client.Scan(ctx, r, o)
	return askingScanner{sc, c}, err
}

type askingScanner struct {
	hbase.Scanner
	c *asking
}

func (s askingScanner) Next(ctx context.Context) ([]hbase.Row, error) {
	s.c.ask()
	return s.Scanner.Next(ctx)
}

// watched runs sql and gives what was told of how far it is, but for what was not known.
func (c *asking) watched(w *world, sql string) (told []float64) {
	w.T.Helper()
	watch := func(stats func() Stats) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stats, c.told = stats, nil
	}
	rows, err := w.Run(w.T.Context(), MustParse(w.T, sql), Args{Options: RunOptions{Watch: watch}})
	if err != nil {
		w.T.Fatalf("%s: %v", sql, err)
	}
	for err == nil {
		_, err = rows.Next()
	}
	rows.Close()
	if done := rows.Stats().Done; done != 0 {
		w.T.Errorf("%s: %v after its end", sql, done)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats = nil
	return slices.DeleteFunc(c.told, func(f float64) bool { return f == 0 })
}

// Statements that take long tell how far they are, by statistics and by the sizes of files, those that write as well: less than all of it, and
// never less than before. Where nothing is known they tell nothing.
func TestDone(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	ask := &asking{Client: c}
	w := newWorld(t, ask, Config{FullScan: AllowFullScan, Alone: true, Parallelism: 2})
	const n = 6000
	var splits []string
	for at := 300; at < n; at += 300 {
		splits = append(splits, fmt.Sprintf("X'%016x'", at))
	}
	for _, name := range []string{"people", "others"} {
		w.Do("CREATE TABLE " + name + " (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64) SPLIT AT (" + strings.Join(splits, ", ") + ")")
	}
	w.Do("CREATE TABLE indexed (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64) INDEX by_name (name AS TEXT, X'00', id AS INT64) SPLIT AT (" + strings.Join(splits, ", ") + ")")
	for _, name := range []string{"people", "indexed"} {
		w.Fill(name, n, func(i int) string { return fmt.Sprintf("(%d, 'name%d')", i, i%7) })
	}
	file := filepath.Join(t.TempDir(), "people.csv")
	statements := []string{
		"SELECT count(*), max(name) FROM people",
		"SELECT count(*), max(name) FROM people WHERE id >= (SELECT 7 * count(*) FROM indexed WHERE id < 100)",
		"INSERT INTO others SELECT * FROM people",
		"INSERT INTO people SELECT id + 100000, name FROM people WHERE id < 6000",
		"UPDATE people SET name = 'x' || name WHERE id < 6000",
		"UPDATE indexed SET name = 'x' || name",
		"CREATE TABLE made AS SELECT * FROM people",
		"DELETE FROM people WHERE id >= 3000",
		"COPY people TO '" + file + "'",
		"EXPLAIN ANALYZE SELECT count(*), max(name) FROM people",
	}
	for _, known := range []bool{false, true} {
		for i, sql := range statements {
			if known {
				w.Do("ANALYZE people; ANALYZE indexed")
			}
			told := ask.watched(w, sql)
			if !known && len(told) > 0 && i != 3 && i != 5 { // of rows that are all read it is known how many are to be written
				t.Errorf("%s: without statistics it tells %v", sql, told)
			}
			if known && (len(slices.Compact(slices.Clone(told))) < 3 || told[len(told)-1] < 0.25) {
				t.Errorf("%s: it tells %v only", sql, told)
			}
			if !slices.IsSorted(told) || len(told) > 0 && told[len(told)-1] >= 1 {
				t.Errorf("%s: it tells %v", sql, told)
			}
		}
		w.Do("DROP TABLE made; DELETE FROM others")
		w.Fill("people", n, func(i int) string {
			return fmt.Sprintf("(%d, 'name%d, who has a long name so that the file is not read at once')", i, i%7)
		})
	}
	w.Fill("people", 5*n, func(i int) string { return fmt.Sprintf("(%d, 'name%d')", i, i%7) }) // COPY FROM writes thousands of rows at a time
	w.Do("COPY people TO '" + file + "'")
	for _, sql := range []string{"COPY others FROM '" + file + "'", "ANALYZE people"} {
		told := ask.watched(w, sql)
		if !slices.IsSorted(told) || len(slices.Compact(slices.Clone(told))) < 3 || told[len(told)-1] >= 1 {
			t.Errorf("%s: it tells %v", sql, told)
		}
	}
}
