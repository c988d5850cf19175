package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	hfilter "github.com/tsuna/gohbase/filter"
	"github.com/tsuna/gohbase/hrpc"
)

// cachedRegions counts the families of the regions of a table that are in memory and up to date.
func cachedRegions(s *Store, name string) (n int) {
	t, _ := s.catalog.lookup(name)
	version, _ := s.cells.version(t)
	s.cells.mu.Lock()
	defer s.cells.mu.Unlock()
	for key, e := range s.cells.entries {
		if t.region(key.region.start) == key.region && e.cells != nil && e.version == version {
			n++
		}
	}
	return n
}

// TestCellCache follows a table of two regions through changes: how many of its regions are in memory after a change,
// and after scans.
func TestCellCache(t *testing.T) {
	ctx := context.Background()
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	families := map[string]map[string]string{"f": nil, "g": nil}
	if err := s.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte("t"), families, hrpc.SplitKeys([][]byte{[]byte("m")}))); err != nil {
		t.Fatal(err)
	}
	put := func(row string) func() error {
		return func() error {
			_, err := s.Put(must(hrpc.NewPutStr(ctx, "t", row, map[string]map[string][]byte{"f": {"q": []byte("v")}, "g": {"q": []byte("v")}})))
			return err
		}
	}
	scan := func() int { return len(scanAll(t, s, "t")) }
	rows := 0
	for _, c := range []struct {
		change      func() error
		name        string
		rows        int // that it adds
		left, after int // families of regions in memory at once, and after the scans
	}{
		{put("a"), "a put", 1, 0, 4},
		{put("x"), "a put in the other region", 1, 0, 4},
		{func() error { return s.Split("t", []byte("c")) }, "a split", 0, 2, 6},
		{func() error { return s.Move("t", []byte("a")) }, "a move", 0, 4, 6},
		{func() error { return s.Merge("t", []byte("a")) }, "a merge", 0, 2, 4},
		{func() error {
			_, err := s.Delete(must(hrpc.NewDelStr(ctx, "t", "a", nil)))
			return err
		}, "a delete", -1, 0, 4},
		{func() error {
			s.cells.limit = 60 // the cell of one region and family
			return put("b")()
		}, "a smaller limit", 1, 0, 1},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		if n := cachedRegions(s, "t"); n != c.left {
			t.Errorf("after %s: %d in memory, want %d", c.name, n, c.left)
		}
		rows += c.rows
		for i := range 3 {
			if n := scan(); n != rows {
				t.Errorf("after %s: scan %d has %d rows, want %d", c.name, i, n, rows)
			}
		}
		if n := cachedRegions(s, "t"); n != c.after {
			t.Errorf("after %s and scans: %d in memory, want %d", c.name, n, c.after)
		}
		if s.cells.held > s.cells.limit {
			t.Errorf("after %s: %d bytes in memory, more than %d", c.name, s.cells.held, s.cells.limit)
		}
	}
}

// scanAll returns all rows of a table.
func scanAll(t *testing.T, s *Store, name string) (rows []*hrpc.Result) {
	sc := s.Scan(must(hrpc.NewScanStr(context.Background(), name)))
	for {
		r, err := sc.Next()
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Error(err)
			return nil
		}
		rows = append(rows, r)
	}
}

// TestPlainCells compares the answers from memory with those from the store, of tables without markers and older versions.
func TestPlainCells(t *testing.T) {
	ctx := context.Background()
	var stores [2]*Store
	for i, size := range []int64{1, 0} {
		s, err := Open(Options{CacheBytes: size})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores[i] = s
	}
	for seed := range uint64(20) {
		g := gen{rand.New(rand.NewPCG(seed, 2))}
		name := fmt.Sprintf("t%d", seed)
		cells := map[string]map[string]map[string][]byte{}
		for range 10 + g.IntN(30) {
			row, family, qualifier := g.key(), g.fam(), g.pick(quals...)
			if cells[row] == nil {
				cells[row] = map[string]map[string][]byte{"f": {}, "g": {}}
			}
			cells[row][family][qualifier] = []byte(g.pick(vals...))
		}
		for _, s := range stores {
			families := map[string]map[string]string{"f": {"VERSIONS": "3"}, "g": {"VERSIONS": "1"}}
			if err := s.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte(name), families, hrpc.SplitKeys([][]byte{[]byte("b")}))); err != nil {
				t.Fatal(err)
			}
			for row, values := range cells {
				if _, err := s.Put(must(hrpc.NewPutStr(ctx, name, row, values, hrpc.TimestampUint64(uint64(1+len(row)))))); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				scanAll(t, s, name)
			}
		}
		for key, e := range stores[1].cells.entries {
			if key.region.table.name == name && (e.cells == nil || !e.cells.plain) {
				t.Fatalf("%s: the cells are not plain: %v", name, e.cells)
			}
		}
		for i := range queriesPerTable {
			q := g.query()
			if i%2 == 0 {
				q.rowwise(g)
			}
			want, got := transcript(stores[0], name, q, 2, new(int)), transcript(stores[1], name, q, 2, new(int))
			if q.normal(got) != q.normal(want) {
				t.Fatalf("seed %d, query %d:%s\n--- from memory\n%s--- from the store\n%s", seed, i, q.text, got, want)
			}
		}
	}
}

// rowwise makes q read one family with conditions of rows, then of columns, as most scans of hql do.
func (s *spec) rowwise(g gen) {
	var fs []hfilter.Filter
	for range g.IntN(3) {
		fs = append(fs, hfilter.NewSingleColumnValueFilter([]byte(g.fam()), []byte(g.pick(quals...)), g.op(), g.comparator(), g.IntN(2) == 0, g.IntN(9) > 0))
	}
	if g.IntN(2) == 0 {
		columns := []hfilter.Filter{hfilter.NewFirstKeyOnlyFilter()}
		for range g.IntN(3) {
			columns = append(columns, hfilter.NewQualifierFilter(g.cf()))
		}
		if g.IntN(9) == 0 {
			columns = columns[1:]
		}
		fs = append(fs, hfilter.NewList(hfilter.MustPassOne, columns...))
	}
	if g.IntN(9) == 0 {
		g.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
	}
	s.o = append(s.o, hrpc.Families(map[string][]string{g.fam(): nil}))
	if len(fs) > 0 {
		f := hfilter.NewList(hfilter.MustPassAll, fs...)
		s.o, s.text = append(s.o, hrpc.Filters(f)), s.text+" "+dump(must(f.ConstructPBFilter()))
	}
}

// TestCellCacheBesideWriters scans a row of two families again and again while another goroutine writes increasing numbers
// to it and reshapes its table. Each scan sees the same number in both families, and none smaller than the last one that
// was written or seen before it began.
func TestCellCacheBesideWriters(t *testing.T) {
	ctx := context.Background()
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte("t"), map[string]map[string]string{"f": nil, "g": nil})); err != nil {
		t.Fatal(err)
	}
	var known atomic.Int64
	write := func(n int64) {
		v := binary.BigEndian.AppendUint64(nil, uint64(n))
		values := map[string]map[string][]byte{"f": {"q": v}, "g": {"q": v}}
		if _, err := s.Put(must(hrpc.NewPutStr(ctx, "t", "r", values, hrpc.TimestampUint64(uint64(n))))); err != nil {
			t.Error(err)
		}
		raise(&known, n)
	}
	write(1)
	var readers sync.WaitGroup
	var served atomic.Int64
	done := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				least := known.Load()
				served.Add(int64(cachedRegions(s, "t")))
				rows := scanAll(t, s, "t")
				if len(rows) != 1 || len(rows[0].Cells) != 2 {
					t.Errorf("rows: %v", rows)
					return
				}
				f, g := int64(binary.BigEndian.Uint64(rows[0].Cells[0].Value)), int64(binary.BigEndian.Uint64(rows[0].Cells[1].Value))
				if f != g || f < least {
					t.Errorf("read %d and %d after %d was known", f, g, least)
					return
				}
				raise(&known, f)
			}
		})
	}
	for n := int64(2); n < 400 || served.Load() == 0; n++ {
		write(n)
		switch n % 20 {
		case 7:
			err = s.Move("t", nil)
		case 11:
			err = s.Split("t", []byte("q"))
		case 13:
			err = s.Merge("t", nil)
		default:
			for range n % 20 { // let the readers fill the cache
				runtime.Gosched()
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}

// raise makes n at least v.
func raise(n *atomic.Int64, v int64) {
	for old := n.Load(); old < v && !n.CompareAndSwap(old, v); old = n.Load() {
	}
}
