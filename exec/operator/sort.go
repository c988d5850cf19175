package operator

import (
	"cmp"
	"container/heap"
	"context"
	"io"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// sortOp sorts its input. With a limit it keeps only the first rows, in a heap. Rows that do not fit in memory go to files
// in sorted runs, which are merged at the end.
type sortOp struct {
	in      Operator
	by      Order
	compare func(a, b []types.Value) int // of two rows by their keys: Order.Compare
	cut     int                          // number of values in front of a row in a file: its keys, unless the row begins with them
	env     *expr.Env
	limit   plan.RowLimit
	share   share
	dir     string
	rows    []keyed // with a limit, a heap with the last row on top
	runs    []*spillFile
	longest int64 // bytes of the longest row in runs
	merge   *runMerge
	done    bool
	at      int // number of rows returned
	out     [][]types.Value
}

func newSort(in Operator, n *plan.Sort, o Options, b *Budget) *sortOp {
	by := Order(n.By)
	return &sortOp{in: in, by: by, compare: by.Compare, cut: len(by), env: o.Env(), limit: n.Limit, share: share{Budget: b}, dir: o.SpillDir}
}

func (s *sortOp) Len() int           { return len(s.rows) }
func (s *sortOp) Less(i, j int) bool { return s.less(s.rows[i], s.rows[j]) > 0 }
func (s *sortOp) Swap(i, j int)      { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] }
func (s *sortOp) less(a, b keyed) int {
	return cmp.Or(s.compare(a.keys, b.keys), a.seq-b.seq)
}
func (s *sortOp) Push(x any) { s.rows = append(s.rows, x.(keyed)) }
func (s *sortOp) Pop() any {
	x := s.rows[len(s.rows)-1]
	s.rows = s.rows[:len(s.rows)-1]
	return x
}

func (s *sortOp) Next(ctx context.Context) ([][]types.Value, error) {
	if !s.done {
		if err := s.fill(ctx); err != nil {
			return nil, err
		}
		s.done = true
		if err := s.finish(ctx); err != nil {
			return nil, err
		}
	}
	if s.merge != nil {
		s.out = s.out[:0]
		for held := int64(0); len(s.out) < BatchRows && held < batchBytes && (!s.limit.Set || int64(s.at) < s.limit.Rows); {
			row, err := s.merge.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			s.out = append(s.out, row[s.cut:])
			s.at++
			held += SizeOf(row)
		}
		if len(s.out) == 0 {
			return nil, io.EOF
		}
		return s.out, ctx.Err()
	}
	if s.at == len(s.rows) {
		return nil, io.EOF
	}
	n := min(BatchRows, len(s.rows)-s.at)
	s.out = s.out[:0]
	for i := s.at; i < s.at+n; i++ {
		k := &s.rows[i]
		s.out = append(s.out, k.row)
		s.share.give(s.size(*k)) // the operators above may keep the row
		*k = keyed{}
	}
	s.at += n
	return s.out, nil
}

// sort sorts the rows. After ctx has ended, it soon treats all rows as equal, which ends the sorting.
func (s *sortOp) sort(ctx context.Context) error {
	n, ended := 0, false
	slices.SortFunc(s.rows, func(a, b keyed) int {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			ended = true
		}
		if ended {
			return 0
		}
		return s.less(a, b)
	})
	return ctx.Err()
}

func (s *sortOp) fill(ctx context.Context) error {
	seq := 0
	return Drain(ctx, s.in, func(rows [][]types.Value) error {
		for _, r := range rows {
			keys, err := s.by.Keys(make([]types.Value, 0, len(s.by)), s.env, r)
			if err == nil {
				err = s.add(ctx, keyed{keys: keys, row: r, seq: seq})
			}
			if err != nil {
				return err
			}
			seq++
		}
		return nil
	})
}

// size returns the bytes of k.
func (s *sortOp) size(k keyed) int64 { return SizeOf(k.row) + SizeOf(k.keys[:s.cut]) }

// add adds a row. Its sequence number is greater than those before.
func (s *sortOp) add(ctx context.Context, k keyed) error {
	full := s.limit.Set && int64(len(s.rows)) >= s.limit.Rows
	if full && (s.limit.Rows == 0 || s.less(k, s.rows[0]) >= 0) {
		return nil
	}
	if s.cut > 0 {
		k.row = slices.Clone(k.row) // rows of the input are valid only until its next batch
	}
	size := s.size(k)
	if full {
		s.share.give(s.size(s.rows[0]))
		if s.share.take(size, "ORDER BY") == nil {
			s.rows[0] = k
			heap.Fix(s, 0)
			return nil
		}
		heap.Pop(s)
	}
	if s.share.take(size, "ORDER BY") != nil {
		if len(s.rows) > 0 {
			if err := s.spill(ctx); err != nil {
				return err
			}
		}
		if err := s.share.grow(size, "ORDER BY"); err != nil {
			return err
		}
	}
	if s.limit.Set {
		heap.Push(s, k)
	} else {
		s.rows = append(s.rows, k)
	}
	return nil
}

func (s *sortOp) Close() error {
	for _, f := range s.runs {
		f.close()
	}
	s.rows, s.runs, s.merge, s.done = nil, nil, nil, true
	s.at = 0
	s.share.release()
	return s.in.Close()
}

// maxRuns bounds the number of files that are merged at the same time.
const maxRuns = 128

// spill writes the rows in memory to a file, sorted, each preceded by its keys.
func (s *sortOp) spill(ctx context.Context) error {
	if err := s.sort(ctx); err != nil {
		return err
	}
	f, err := newSpillFile(s.dir)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	var all []types.Value
	for _, k := range s.rows {
		all = append(append(all[:0], k.keys[:s.cut]...), k.row...)
		if err := f.add(all); err != nil {
			return err
		}
	}
	s.rows = nil
	s.share.release()
	s.longest = max(s.longest, f.longest)
	if err := f.rewind(); err != nil || len(s.runs) == 1 || len(s.runs) < maxRuns && int64(len(s.runs))*s.longest <= s.share.Limit/2 {
		return err
	}
	return s.mergeRuns(ctx)
}

// mergeRuns merges all runs into one.
func (s *sortOp) mergeRuns(ctx context.Context) error {
	m, err := newRunMerge(s.compare, s.runs)
	if err != nil {
		return err
	}
	f, err := newSpillFile(s.dir)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	for n := 1; ; n++ {
		row, err := m.next()
		if err == io.EOF {
			break
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			err = f.add(row)
		}
		if err != nil {
			return err
		}
	}
	for _, r := range s.runs[:len(s.runs)-1] {
		r.close()
	}
	s.runs = []*spillFile{f}
	return f.rewind()
}

// finish sorts the rows that were read, or prepares the merge of all runs.
func (s *sortOp) finish(ctx context.Context) (err error) {
	if len(s.runs) == 0 {
		return s.sort(ctx)
	}
	if len(s.rows) > 0 {
		if err := s.spill(ctx); err != nil {
			return err
		}
	}
	s.merge, err = newRunMerge(s.compare, s.runs)
	return err
}

// runMerge merges sorted runs. If rows are equal, that of the earlier run comes first.
type runMerge struct {
	compare func(a, b []types.Value) int
	runs    []*spillFile
	heads   []runHead // a heap with the first row on top
}

type runHead struct {
	row []types.Value // the keys, then the columns
	run int
}

func newRunMerge(compare func(a, b []types.Value) int, runs []*spillFile) (*runMerge, error) {
	m := &runMerge{compare: compare, runs: runs}
	for i, r := range runs {
		row, err := r.next()
		if err == io.EOF {
			continue
		}
		if err != nil {
			return nil, err
		}
		m.heads = append(m.heads, runHead{row, i})
	}
	heap.Init(m)
	return m, nil
}

func (m *runMerge) Len() int      { return len(m.heads) }
func (m *runMerge) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *runMerge) Push(any)      { panic("operator: the heads of a merge are there from the start") }
func (m *runMerge) Less(i, j int) bool {
	a, b := m.heads[i], m.heads[j]
	if c := m.compare(a.row, b.row); c != 0 {
		return c < 0
	}
	return a.run < b.run
}

func (m *runMerge) Pop() any {
	x := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return x
}

// next returns the next row, preceded by its keys; io.EOF after the last.
func (m *runMerge) next() ([]types.Value, error) {
	if len(m.heads) == 0 {
		return nil, io.EOF
	}
	out := m.heads[0].row
	switch row, err := m.runs[m.heads[0].run].next(); err {
	case nil:
		m.heads[0].row = row
		heap.Fix(m, 0)
	case io.EOF:
		heap.Pop(m)
	default:
		return nil, err
	}
	return out, nil
}
