package scan

import (
	"container/heap"
	"context"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// mergeScan merges streams, each of which is sorted. Without a limit a goroutine reads each stream ahead. Under a
// limit, it requests few rows from each stream at first. It requests more rows of a stream only after it has returned
// all rows that it has of the stream, because it does not need them earlier.
type mergeScan struct {
	group   *group
	by      operator.Order
	env     expr.Env
	streams []*mergeStream
	heads   mergeHeap
	workers int
	lazy    bool // there is a limit
	width   int
	begun   bool
	last    *mergeStream // the stream of the previous batch's last row
	out     [][]types.Value
	slab    []types.Value
	err     error
}

// mergeStream is one input of a merge.
type mergeStream struct {
	index  int
	reader *reader
	sorted bool // its rows need no sorting: a range, not a multi-get
	stream *stream
	batch  *rowBatch
	pos    int
	keys   []types.Value // the order values of the first row
}

// mergeHeap holds the streams that have a next row, with the stream of the first row on top.
type mergeHeap struct {
	by      operator.Order
	streams []*mergeStream
}

func (h *mergeHeap) Len() int      { return len(h.streams) }
func (h *mergeHeap) Swap(i, j int) { h.streams[i], h.streams[j] = h.streams[j], h.streams[i] }
func (h *mergeHeap) Push(x any)    { h.streams = append(h.streams, x.(*mergeStream)) }
func (h *mergeHeap) Pop() any { // the popped stream has ended; the result is not used
	h.streams = h.streams[:len(h.streams)-1]
	return nil
}

func (h *mergeHeap) Less(i, j int) bool {
	a, b := h.streams[i], h.streams[j]
	c := h.by.Compare(a.keys, b.keys)
	if c == 0 {
		return a.index < b.index
	}
	return c < 0
}

// begin reads the first rows of every stream, several streams in parallel.
func (m *mergeScan) begin(ctx context.Context) error {
	m.begun = true
	m.heads.by = m.by
	if m.lazy {
		if err := m.fillAll(ctx); err != nil {
			return err
		}
	} else {
		for _, s := range m.streams {
			s.stream = newStream(1)
			m.group.run(func(ctx context.Context) {
				if s.pump(ctx, m) {
					s.stream.end(ctx)
				}
			})
		}
		for _, s := range m.streams {
			if err := m.refill(ctx, s); err != nil && err != io.EOF {
				return err
			}
		}
	}
	for _, s := range m.streams {
		if s.batch == nil {
			continue
		}
		if err := m.head(s); err != nil {
			return err
		}
		heap.Push(&m.heads, s)
	}
	return nil
}

// fillAll makes the first fetch of all streams, several in parallel.
func (m *mergeScan) fillAll(ctx context.Context) error {
	defer context.AfterFunc(ctx, m.group.cancel)()
	var fetches errgroup.Group
	fetches.SetLimit(m.workers)
	var once sync.Once
	var failed error // the first one: the others may be about the end that it makes
	for _, s := range m.streams {
		fetches.Go(func() error {
			err := operator.Safely(func() error { return s.fill(m.group.ctx, m) })
			if err != nil && err != io.EOF {
				once.Do(func() { failed = err })
				m.group.cancel()
			}
			return nil
		})
	}
	fetches.Wait()
	return failed
}

// pump reads s ahead. It reports whether it reached the end.
func (s *mergeStream) pump(ctx context.Context, m *mergeScan) bool {
	if !s.sorted {
		var b *rowBatch
		err := operator.Safely(func() (err error) {
			b, err = s.all(ctx, m)
			return err
		})
		if err == io.EOF {
			return true
		}
		return s.stream.send(ctx, batchOrErr{b, err}) && err == nil
	}
	return s.stream.pump(ctx, s.reader, m.width)
}

// fill reads the next batch of s in the caller's goroutine.
func (s *mergeStream) fill(ctx context.Context, m *mergeScan) error {
	s.pos = 0
	if !s.sorted {
		b, err := s.all(ctx, m)
		s.batch = b
		return err
	}
	if s.batch == nil {
		s.batch = newRowBatch(m.width)
	}
	if err := s.reader.next(ctx, s.batch); err != nil {
		s.batch = nil
		return err
	}
	return nil
}

// all reads and sorts the rest of s; io.EOF if it is empty.
func (s *mergeStream) all(ctx context.Context, m *mergeScan) (*rowBatch, error) {
	all := newRowBatch(m.width)
	b := newRowBatch(m.width)
	for {
		err := s.reader.next(ctx, b)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, row := range b.rows {
			copy(all.grow(), row)
		}
	}
	if len(all.rows) == 0 {
		return nil, io.EOF
	}
	env := s.reader.st.ExprEnv()
	return all, m.by.Sort(all.rows, &env)
}

// refill replaces the batch of s; io.EOF at its end.
func (m *mergeScan) refill(ctx context.Context, s *mergeStream) error {
	if s.stream == nil {
		return s.fill(ctx, m)
	}
	if s.batch != nil {
		s.stream.recycle(s.batch)
		s.batch = nil
	}
	s.pos = 0
	d, err := s.stream.receive(ctx, m.group.ctx)
	s.batch = d.b
	return err
}

// head computes the order values of s's first row.
func (m *mergeScan) head(s *mergeStream) (err error) {
	s.keys, err = m.by.Keys(s.keys[:0], &m.env, s.batch.rows[s.pos])
	return err
}

func (m *mergeScan) Next(ctx context.Context) ([][]types.Value, error) {
	if m.err != nil {
		return nil, m.err
	}
	if !m.begun {
		if m.err = m.begin(ctx); m.err != nil {
			return nil, m.err
		}
	}
	m.out, m.slab = m.out[:0], m.slab[:0]
	if cap(m.slab) == 0 {
		m.slab = make([]types.Value, 0, operator.BatchRows*m.width)
	}
	for len(m.out) < operator.BatchRows {
		// The stream of the last returned row is read further only when another row is wanted.
		if s := m.last; s != nil {
			if s.pos >= len(s.batch.rows) && len(m.out) > 0 && m.lazy {
				return m.out, nil
			}
			if err := m.advance(ctx, s); err != nil {
				m.err = err
				return nil, err
			}
			m.last = nil
		}
		if m.heads.Len() == 0 {
			break
		}
		s := m.heads.streams[0]
		n := len(m.slab)
		m.slab = append(m.slab, s.batch.rows[s.pos]...)
		m.out = append(m.out, m.slab[n:len(m.slab):len(m.slab)])
		s.pos++
		m.last = s
	}
	if len(m.out) == 0 {
		m.err = io.EOF
		return nil, m.err
	}
	return m.out, nil
}

// advance moves the top stream of the heap, s, to its next row.
func (m *mergeScan) advance(ctx context.Context, s *mergeStream) error {
	if s.pos >= len(s.batch.rows) {
		switch err := m.refill(ctx, s); {
		case err == io.EOF: // not an error that wraps io.EOF
			heap.Pop(&m.heads)
			return nil
		case err != nil:
			return err
		}
	}
	if err := m.head(s); err != nil {
		return err
	}
	heap.Fix(&m.heads, 0)
	return nil
}

func (m *mergeScan) Close() error {
	m.group.close()
	for _, s := range m.streams {
		s.reader.close()
	}
	return nil
}
