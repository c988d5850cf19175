package exec

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
)

// fakeClient is the least hbase.Client that keeps what is written: cells without
// regions, and of the filters only the ranges of keys, which scans rely on. Tests that
// need other filters use the embedded store.
type fakeClient struct {
	hbase.Client // for the calls that tests do not make
	mu           sync.Mutex
	tables       map[string]*fakeTable
	gets, scans  int
}

// MayRead permits everything.
func (*fakeClient) MayRead(context.Context, string, []string) error { return nil }

// MayWrite permits everything.
func (*fakeClient) MayWrite(context.Context, string, []string) error { return nil }

// MobFamilies are none.
func (*fakeClient) MobFamilies(context.Context, ...string) ([]string, error) { return nil, nil }

type fakeTable struct {
	families []hbase.Family
	splits   [][]byte
	cells    []fakeCell // by key, family, qualifier, newest first
}

type fakeCell struct {
	key []byte
	hbase.Cell
}

func newFakeClient() *fakeClient { return &fakeClient{tables: map[string]*fakeTable{}} }

func compareFakeCells(a, b fakeCell) int {
	return cmp.Or(bytes.Compare(a.key, b.key), bytes.Compare(a.Family, b.Family), bytes.Compare(a.Qualifier, b.Qualifier), cmp.Compare(b.Timestamp, a.Timestamp))
}

// inKeyRanges reports whether key lies in the ranges of keys that f has.
func inKeyRanges(f filter.Filter, key []byte) bool {
	switch f := f.(type) {
	case filter.And:
		return !slices.ContainsFunc(f, func(f filter.Filter) bool { return !inKeyRanges(f, key) })
	case filter.KeyRanges:
		return slices.ContainsFunc(f, func(r filter.KeyRange) bool {
			return bytes.Compare(key, r.Start) >= 0 && (len(r.Stop) == 0 || bytes.Compare(key, r.Stop) < 0)
		})
	}
	return true
}

// rows gives the rows of t in [start, stop) as o wants them, key order.
func (t *fakeTable) rows(start, stop []byte, o *hbase.ReadOptions) []hbase.Row {
	var out []hbase.Row
	versions := max(1, o.Versions)
	seen := 0
	var last fakeCell // of those written in the wanted time
	for _, c := range t.cells {
		if bytes.Compare(c.key, start) < 0 || len(stop) > 0 && bytes.Compare(c.key, stop) >= 0 {
			continue
		}
		if !inKeyRanges(o.Filter, c.key) {
			continue
		}
		if o.MaxTime > 0 && (c.Timestamp < o.MinTime || c.Timestamp >= o.MaxTime) {
			continue
		}
		if len(o.Families) > 0 && !slices.Contains(o.Families, string(c.Family)) {
			continue
		}
		if len(o.Columns) > 0 {
			ok := false
			for _, w := range o.Columns {
				ok = ok || w.Family == string(c.Family) && w.Qualifier == string(c.Qualifier)
			}
			if !ok {
				continue
			}
		}
		if seen++; !bytes.Equal(last.key, c.key) || !bytes.Equal(last.Family, c.Family) || !bytes.Equal(last.Qualifier, c.Qualifier) {
			seen, last = 1, c
		}
		if seen > versions {
			continue
		}
		if n := len(out); n == 0 || !bytes.Equal(out[n-1].Key, c.key) {
			out = append(out, hbase.Row{Key: bytes.Clone(c.key)})
		}
		r := &out[len(out)-1]
		r.Cells = append(r.Cells, hbase.Cell{Family: bytes.Clone(c.Family), Qualifier: bytes.Clone(c.Qualifier), Timestamp: c.Timestamp, Value: bytes.Clone(c.Value)})
	}
	return out
}

func (f *fakeClient) Get(_ context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gets += len(keys)
	t := f.tables[table]
	if t == nil {
		return nil, hbase.ErrNoTable
	}
	out := make([]hbase.Row, len(keys))
	for i, k := range keys {
		if rs := t.rows(k, append(bytes.Clone(k), 0), o); len(rs) > 0 {
			out[i] = rs[0]
		}
	}
	return out, nil
}

func (f *fakeClient) Scan(_ context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scans++
	t := f.tables[r.Table]
	if t == nil {
		return nil, hbase.ErrNoTable
	}
	rows := t.rows(r.Start, r.Stop, o)
	if r.Reversed {
		slices.Reverse(rows)
	}
	if r.Limit > 0 {
		rows = rows[:min(r.Limit, len(rows))]
	}
	return &fakeScanner{rows}, nil
}

type fakeScanner struct{ rows []hbase.Row }

func (s *fakeScanner) Next(ctx context.Context) ([]hbase.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(s.rows) == 0 {
		return nil, io.EOF
	}
	n := min(7, len(s.rows))
	out := s.rows[:n]
	s.rows = s.rows[n:]
	return out, nil
}

func (s *fakeScanner) Close() error { return nil }

func (f *fakeClient) Mutate(_ context.Context, table string, ms []hbase.Mutation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tables[table]
	if t == nil {
		return hbase.ErrNoTable
	}
	for _, m := range ms {
		switch m.Kind {
		case hbase.DeleteRow:
			t.cells = slices.DeleteFunc(t.cells, func(c fakeCell) bool { return bytes.Equal(c.key, m.Key) && c.Timestamp <= m.Timestamp })
		case hbase.DeleteFamilies:
			for _, d := range m.Cells {
				t.cells = slices.DeleteFunc(t.cells, func(c fakeCell) bool {
					return bytes.Equal(c.key, m.Key) && bytes.Equal(c.Family, d.Family) && c.Timestamp <= m.Timestamp
				})
			}
		case hbase.DeleteColumns:
			for _, d := range m.Cells {
				t.cells = slices.DeleteFunc(t.cells, func(c fakeCell) bool {
					return bytes.Equal(c.key, m.Key) && bytes.Equal(c.Family, d.Family) && bytes.Equal(c.Qualifier, d.Qualifier) && c.Timestamp <= m.Timestamp
				})
			}
		case hbase.Put:
			for _, d := range m.Removed {
				t.cells = slices.DeleteFunc(t.cells, func(c fakeCell) bool {
					return bytes.Equal(c.key, m.Key) && bytes.Equal(c.Family, d.Family) && bytes.Equal(c.Qualifier, d.Qualifier) && c.Timestamp <= m.Timestamp
				})
			}
			for _, c := range m.Cells {
				if c.Timestamp == 0 {
					c.Timestamp = m.Timestamp
				}
				n := fakeCell{m.Key, c}
				i, found := slices.BinarySearchFunc(t.cells, n, compareFakeCells)
				if found {
					t.cells[i] = n
				} else {
					t.cells = slices.Insert(t.cells, i, n)
				}
			}
		}
	}
	return nil
}

func (f *fakeClient) Increment(ctx context.Context, table string, key []byte, family, qualifier string, n int64) (int64, error) {
	f.mu.Lock()
	t := f.tables[table]
	rows := t.rows(key, append(bytes.Clone(key), 0), &hbase.ReadOptions{})
	if len(rows) > 0 {
		n += int64(binary.BigEndian.Uint64(rows[0].Cells[0].Value))
	}
	f.mu.Unlock()
	return n, f.Mutate(ctx, table, []hbase.Mutation{{Key: key, Timestamp: 1 << 60, Cells: []hbase.Cell{{Family: []byte(family), Qualifier: []byte(qualifier), Value: binary.BigEndian.AppendUint64(nil, uint64(n))}}}})
}

func (f *fakeClient) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	f.mu.Lock()
	rows := f.tables[table].rows(m.Key, append(bytes.Clone(m.Key), 0), &hbase.ReadOptions{Columns: []filter.Column{{Family: string(m.Cells[0].Family), Qualifier: string(m.Cells[0].Qualifier)}}})
	f.mu.Unlock()
	if len(rows) > 0 && (was == nil || !bytes.Equal(rows[0].Cells[0].Value, was)) || len(rows) == 0 && was != nil {
		return false, nil
	}
	return true, f.Mutate(ctx, table, []hbase.Mutation{m})
}

func (f *fakeClient) Tables(_ context.Context, prefix string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for n := range f.tables {
		if strings.HasPrefix(n, prefix) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (f *fakeClient) Families(_ context.Context, table string) ([]hbase.Family, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.tables[table]; t != nil {
		return t.families, nil
	}
	return nil, hbase.ErrNoTable
}

func (f *fakeClient) CreateTable(_ context.Context, table string, families []hbase.Family, splits [][]byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tables[table] = &fakeTable{families: families, splits: splits}
	return nil
}

func (f *fakeClient) DropTable(_ context.Context, table string, _ func(context.Context) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tables, table)
	return nil
}

func (f *fakeClient) Regions(_ context.Context, table string) ([]hbase.Region, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tables[table]
	if t == nil {
		return nil, hbase.ErrNoTable
	}
	out := make([]hbase.Region, len(t.splits)+1)
	for i, k := range t.splits {
		out[i].Stop, out[i+1].Start = k, k
	}
	return out, nil
}

func (f *fakeClient) KnownRegions(ctx context.Context, table string) ([]hbase.Region, error) {
	return f.Regions(ctx, table)
}

func (f *fakeClient) Stats() hbase.Stats { return hbase.Stats{} }
func (f *fakeClient) Close() error       { return nil }

// failing is a client whose calls fail when left is used up.
type failing struct {
	*fakeClient
	left atomic.Int64
	err  error
}

func (f *failing) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	if f.left.Add(-1) < 0 {
		return nil, f.err
	}
	return f.fakeClient.Get(ctx, table, keys, o)
}

func (f *failing) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	sc, err := f.fakeClient.Scan(ctx, r, o)
	return &failingScanner{f, sc}, err
}

func (f *failing) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	if f.left.Add(-1) < 0 {
		return f.err
	}
	return f.fakeClient.Mutate(ctx, table, ms)
}

type failingScanner struct {
	f *failing
	hbase.Scanner
}

func (s *failingScanner) Next(ctx context.Context) ([]hbase.Row, error) {
	if s.f.left.Add(-1) < 0 {
		return nil, s.f.err
	}
	return s.Scanner.Next(ctx)
}
