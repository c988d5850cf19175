package operator

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

func TestMain(m *testing.M) { os.Exit(poison.Tests(m).Run()) }

// rowSource gives n rows (a permutation of 0..n-1, a long text) that exist only while they are read.
type rowSource struct {
	n, at int64
	out   [][]types.Value
	pad   string
	// before is called before each batch; it may be nil.
	before func() error
}

func (s *rowSource) Next(context.Context) ([][]types.Value, error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return nil, err
		}
	}
	s.out = s.out[:0]
	for ; s.at < s.n && len(s.out) < 256; s.at++ {
		s.out = append(s.out, []types.Value{types.NewInt(s.at * 7919 % s.n), types.NewString(s.pad)})
	}
	if len(s.out) == 0 {
		return nil, io.EOF
	}
	return s.out, nil
}

func (s *rowSource) Close() error { return nil }

// spillingNodes are the nodes that keep rows in files, over inputs of rows rows of rowSource.
func spillingNodes(rows int64) map[string]plan.Node {
	scan := func() *plan.Scan {
		return &plan.Scan{Table: &catalog.Table{}} // two pseudo-columns: its rows are two wide
	}
	num := &expr.Column{Index: 0, Name: "n", Typ: types.BigInt}
	text := &expr.Column{Index: 1, Name: "s", Typ: types.String}
	byText := []plan.SortTerm{{Expr: text}, {Expr: num}}
	one := plan.Aggregate{Input: scan(), GroupBy: []expr.Expr{&expr.Const{Val: types.NewInt(0), Typ: types.BigInt}}, Aggs: []plan.AggCall{
		{Func: "COUNT", Arg: num, Distinct: true, Typ: types.BigInt}, {Func: "SUM", Arg: num, Distinct: true, Typ: types.BigInt},
		{Func: "MODE", Arg: num, OrderBy: byText, Typ: types.BigInt}}}
	ordered := one
	ordered.Ordered = true
	group := &plan.Aggregate{Input: scan(), GroupBy: []expr.Expr{num}, Aggs: []plan.AggCall{{Func: "MAX", Arg: text, Typ: types.String}}}
	return map[string]plan.Node{
		"sorted first rows": &plan.Sort{Input: scan(), By: []plan.SortTerm{{Expr: num}}, Limit: plan.AtMost(rows / 2)},
		"sorted groups":     &plan.Sort{Input: group, By: []plan.SortTerm{{Expr: num}}},
		"sorted distinct":   &plan.Sort{Input: &plan.Distinct{Input: scan()}, By: []plan.SortTerm{{Expr: num}}},
		"grouped distinct":  &plan.Aggregate{Input: &plan.Distinct{Input: scan()}, GroupBy: []expr.Expr{num}, Aggs: []plan.AggCall{{Func: "COUNT", Typ: types.BigInt}}},
		"sorted window": &plan.Window{Input: &plan.Sort{Input: scan(), By: []plan.SortTerm{{Expr: num}}}, OrderBy: []plan.SortTerm{{Expr: num}}, Calls: []plan.WindowCall{
			{AggCall: plan.AggCall{Func: "NTILE", Arg: &expr.Const{Val: types.NewInt(6), Typ: types.BigInt}, Typ: types.BigInt}},
			{AggCall: plan.AggCall{Func: "SUM", Arg: num, Typ: types.BigInt}, Frame: plan.Frame{Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.UnboundedFollowing}}}}},
		"one group":         &one,
		"one ordered group": &ordered,
		"intersect":         &plan.SetOp{Left: scan(), Right: scan()},
		"intersect all":     &plan.SetOp{Left: scan(), Right: scan(), All: true},
		"sort":              &plan.Sort{Input: scan(), By: []plan.SortTerm{{Expr: num}}},
		"group":             &plan.Aggregate{Input: scan(), GroupBy: []expr.Expr{num}, Aggs: []plan.AggCall{{Func: "COUNT", Typ: types.BigInt}, {Func: "MAX", Arg: text, Typ: types.String}}},
		"distinct":          &plan.Distinct{Input: scan()},
		"join":              &plan.Join{Left: scan(), Right: scan(), LeftKeys: []expr.Expr{num}, RightKeys: []expr.Expr{num}},
		"full join": &plan.Join{Left: scan(), Right: scan(), LeftKeys: []expr.Expr{num}, RightKeys: []expr.Expr{&expr.Const{Typ: types.BigInt}},
			Outer: true, Full: true}, // no key meets a NULL one: each row comes alone
	}
}

// Sorts, groups, DISTINCT and joins of 18 MB in 1 MB.
func TestSpill(t *testing.T) {
	race.Skip(t)
	const rows, limit = 60_000, 1 << 20
	dir := t.TempDir()
	for name, n := range spillingNodes(rows) {
		t.Run(name, func(t *testing.T) {
			src := func(context.Context, *plan.Scan) (Operator, error) {
				return &rowSource{n: rows, pad: strings.Repeat("x", 200)}, nil
			}
			op, err := New(t.Context(), n, src, Options{MemoryLimit: limit, SpillDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer op.Close()
			want := rows
			switch name {
			case "full join":
				want = 2 * rows
			case "sorted first rows":
				want = rows / 2
			case "one group", "one ordered group":
				want = 1
			}
			seen := make([]bool, want)
			count, looked, last, peak := 0, 0, int64(-1), uint64(0)
			before := heapBytes() // of tests that ran earlier
			for {
				batch, err := op.Next(t.Context())
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range batch {
					var i int64
					if r[0].IsNull() {
						i = rows + r[2].Int()
					} else {
						i = r[0].Int()
					}
					if seen[i] {
						t.Fatalf("row %d came twice", i)
					}
					if strings.HasPrefix(name, "sort") && i < last {
						t.Fatalf("row %d came after %d", i, last)
					}
					if want == 1 && (r[1].Int() != rows || r[2].Int() != rows*(rows-1)/2 || r[3].Int() != 0) {
						t.Fatalf("the group is %v", r)
					}
					if name == "sorted window" && (r[2].Int() != i/(rows/6)+1 || r[3].Int() != rows*(rows-1)/2) {
						t.Fatalf("row %d is %v", i, r)
					}
					seen[i], last = true, i
					count++
				}
				if count-looked >= rows/10 {
					looked, peak = count, max(peak, heapBytes())
				}
			}
			if count != want {
				t.Errorf("%d rows, want %d", count, want)
			}
			if peak > before+8<<20 { // the files' buffers are beside it
				t.Errorf("%d MB are held under a limit of %d", (peak-before)>>20, limit>>20)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) > 0 {
				t.Errorf("files are left: %v %v", left, err)
			}
		})
	}
}

// heapBytes is what is held now, in bytes.
func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Kept rows are read in their order, from memory and from their file.
func TestKeptReader(t *testing.T) {
	const n = 1000
	for _, limit := range []int64{100, 20_000, 1 << 30} {
		b := NewKept(Options{MemoryLimit: limit, SpillDir: t.TempDir()}, "rows", false)
		for i := range int64(n) {
			if err := b.Add([][]types.Value{{types.NewInt(i)}}); err != nil {
				t.Fatal(err)
			}
		}
		if filed := b.rows.file != nil; filed != (limit < 1<<30) {
			t.Errorf("limit %d: rows in a file: %v", limit, filed)
		}
		next := int64(0)
		err := Drain(context.Background(), b.Reader(), func(rows [][]types.Value) error {
			for _, row := range rows {
				if row[0].Int() != next {
					t.Fatalf("limit %d: row %d is %d", limit, next, row[0].Int())
				}
				next++
			}
			return nil
		})
		if err != nil || next != n {
			t.Errorf("limit %d: %d rows, error %v", limit, next, err)
		}
	}
}

// If no file can be created, rows that do not fit in memory are an error.
func TestNoSpillDirectory(t *testing.T) {
	for name, n := range spillingNodes(3000) {
		src := func(context.Context, *plan.Scan) (Operator, error) {
			return &rowSource{n: 3000, pad: strings.Repeat("x", 200)}, nil
		}
		op, err := New(t.Context(), n, src, Options{MemoryLimit: 100_000, SpillDir: filepath.Join(t.TempDir(), "missing")})
		if err != nil {
			t.Fatal(err)
		}
		if err := Drain(t.Context(), op, func([][]types.Value) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If no more files can be created after any row, either all rows come or an error.
func TestSpillDirectoryRemoved(t *testing.T) {
	const rows = 1500
	for name, n := range spillingNodes(rows) {
		drain := func(dir string, at int) (count, batches int, err error) {
			src := func(context.Context, *plan.Scan) (Operator, error) {
				return &rowSource{n: rows, pad: strings.Repeat("x", 200), before: func() error {
					if batches++; batches == at {
						return os.Remove(dir)
					}
					return nil
				}}, nil
			}
			op, err := New(t.Context(), n, src, Options{MemoryLimit: 100_000, SpillDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			err = Drain(t.Context(), op, func(rows [][]types.Value) error { count += len(rows); return nil })
			return count, batches, errors.Join(err, op.Close())
		}
		whole, batches, err := drain(t.TempDir(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for at := range batches {
			if count, _, err := drain(t.TempDir(), at+1); count != whole && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: directory removed at batch %d of %d: %d rows of %d, %v", name, at+1, batches, count, whole, err)
			}
		}
	}
}

// A join whose right rows cannot be divided, or all have one key, ends at the limit.
func TestJoinBeyondMemory(t *testing.T) {
	scan := func() *plan.Scan { return &plan.Scan{Table: &catalog.Table{}} }
	one := []expr.Expr{&expr.Const{Val: types.NewInt(1), Typ: types.BigInt}}
	src := func(context.Context, *plan.Scan) (Operator, error) {
		return &rowSource{n: 3000, pad: strings.Repeat("x", 200)}, nil
	}
	for _, test := range []struct {
		keys []expr.Expr
		dir  string
	}{{nil, filepath.Join(t.TempDir(), "not needed")}, {one, t.TempDir()}} {
		op, err := New(t.Context(), &plan.Join{Left: scan(), Right: scan(), LeftKeys: test.keys, RightKeys: test.keys}, src, Options{MemoryLimit: 100_000, SpillDir: test.dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := Drain(t.Context(), op, func([][]types.Value) error { return nil }); !errors.Is(err, expr.ErrMemoryLimit) {
			t.Errorf("%d keys: %v", len(test.keys), err)
		}
		op.Close()
	}
}

// A file that holds less than was written to it has no end of rows: some are missing.
func TestCutSpillFile(t *testing.T) {
	for _, left := range []int64{0, 1, 5} {
		s, err := newSpillFile(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer s.f.Close()
		if err := errors.Join(s.add([]types.Value{types.NewString("a long text")}), s.rewind(), s.f.Truncate(left)); err != nil {
			t.Fatal(err)
		}
		if row, err := s.next(); err == nil || err == io.EOF {
			t.Errorf("%d bytes are left: %v, %v", left, row, err)
		}
	}
}
