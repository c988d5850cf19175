package differential

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hql-db/hql"
)

// TestSpilled compares queries whose operators write their rows to files with PostgreSQL, two at a time. Without a
// directory for the files each fails.
func TestSpilled(t *testing.T) {
	pg, db, lines := askedOfBoth(t, "testdata/spilled")
	nowhere, err := hql.Open(context.Background(), "mem:", hql.WithSpillDir(filepath.Join(t.TempDir(), "missing")))
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	limit := hql.QueryOptions{MemoryLimit: 60_000}
	for _, sql := range lines {
		r := pg.ExecParams(context.Background(), sql, nil, nil, nil, nil).Read()
		if r.Err != nil {
			t.Fatalf("%s: %v", sql, r.Err)
		}
		want := string(r.Rows[0][0])
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if got := textOf(db, sql, limit); got != want {
					t.Errorf("%s\nhql        %s\nPostgreSQL %s", sql, got, want)
				}
			})
		}
		both.Wait()
		if rows, err := nowhere.Query(context.Background(), sql, limit); err == nil {
			if _, err = hql.Collect[*string](rows); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: no file was written: %v", sql, err)
			}
		}
	}
}
