package scan

import (
	"context"
	"io"
	"sync"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/types"
)

// group holds the goroutines of one table access. Closing it ends them all.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newGroup(ctx context.Context) *group {
	g := &group{}
	g.ctx, g.cancel = context.WithCancel(ctx)
	return g
}

// run starts f in a goroutine.
func (g *group) run(f func(ctx context.Context)) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		f(g.ctx)
	}()
}

func (g *group) close() {
	g.cancel()
	g.wg.Wait()
}

// batchOrErr is one result of a worker: a batch, or the error that ended it.
type batchOrErr struct {
	b   *rowBatch
	err error // io.EOF: everything was read
}

// stream carries batches from one or several workers to their reader, and returns used batches to the workers. A
// batchOrErr with io.EOF marks its end; if the workers are cancelled, there is no such mark.
type stream struct {
	out  chan batchOrErr
	free chan *rowBatch
}

// aheadBytes bounds the responses whose batches may wait if one worker reads many rows, so that it seldom waits for the
// reader.
const aheadBytes = 1 << 20

func newStream(depth int) *stream {
	return &stream{out: make(chan batchOrErr, depth), free: make(chan *rowBatch, depth+2)}
}

func (s *stream) batch(width int) *rowBatch {
	select {
	case b := <-s.free:
		return b
	default:
		return newRowBatch(width)
	}
}

func (s *stream) recycle(b *rowBatch) {
	select {
	case s.free <- b:
	default:
	}
}

// release lets others use the memory of the batches in free. The reader may not use rows any more.
func (s *stream) release() {
	for {
		select {
		case b := <-s.free:
			b.release()
		default:
			return
		}
	}
}

// send delivers d unless the group ends, and reports whether it did.
func (s *stream) send(ctx context.Context, d batchOrErr) bool {
	select {
	case s.out <- d:
		return true
	case <-ctx.Done():
		return false
	}
}

// end signals that everything was delivered.
func (s *stream) end(ctx context.Context) { s.send(ctx, batchOrErr{err: io.EOF}) }

// pump reads r to its end into s. It reports whether it reached the end; only then may the caller end the stream.
func (s *stream) pump(ctx context.Context, r *reader, width int) bool {
	defer r.close()
	for {
		b := s.batch(width)
		if err := operator.Safely(func() error { return r.next(ctx, b) }); err != nil {
			if err == io.EOF {
				s.recycle(b)
				return true
			}
			s.send(ctx, batchOrErr{err: err})
			return false
		}
		if !s.send(ctx, batchOrErr{b: b}) {
			return false
		}
	}
}

// receive waits for the next batchOrErr, and also returns its error.
func (s *stream) receive(ctx, own context.Context) (batchOrErr, error) {
	select {
	case d := <-s.out:
		return d, d.err
	case <-ctx.Done():
		return batchOrErr{}, ctx.Err()
	case <-own.Done():
		return batchOrErr{}, own.Err()
	}
}

// getScan reads the rows of a few keys, or entries, in the caller's goroutine, since there is nothing to read ahead.
type getScan struct {
	reader reader
	batch  rowBatch
	one    [1][]types.Value
}

func newGetScan(a *access, tasks []task) *getScan {
	g := &getScan{batch: rowBatch{width: a.scan.Width()}}
	g.batch.rows = g.one[:0]
	g.reader.begin(a, a.decoder.ready(), tasks)
	return g
}

func (g *getScan) Next(ctx context.Context) ([][]types.Value, error) {
	if err := g.reader.next(ctx, &g.batch); err != nil {
		return nil, err
	}
	return g.batch.rows, nil
}

func (g *getScan) Close() error {
	g.reader.close()
	return nil
}

// parallelScan reads its tasks with several workers and returns rows in the order of arrival.
type parallelScan struct {
	group   *group
	queue   *taskQueue
	workers int
	deep    int // number of batches that may wait
	width   int
	reader  func([]task) *reader
	stream  *stream
	last    *rowBatch
	err     error
}

func (p *parallelScan) start() {
	p.stream = newStream(max(p.workers, p.deep))
	for range p.workers {
		p.group.run(func(ctx context.Context) {
			for {
				t, from := p.queue.next()
				if from == nil {
					return
				}
				if !p.stream.pump(ctx, p.reader([]task{t}), p.width) {
					return
				}
				if p.queue.done(from) {
					p.stream.end(ctx)
				}
			}
		})
	}
}

func (p *parallelScan) Next(ctx context.Context) ([][]types.Value, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.stream == nil {
		p.start()
	}
	if p.last != nil {
		p.stream.recycle(p.last)
		p.last = nil
	}
	d, err := p.stream.receive(ctx, p.group.ctx)
	if err != nil {
		if p.err = err; err == io.EOF {
			p.stream.release()
		}
		return nil, err
	}
	p.last = d.b
	return d.b.rows, nil
}

func (p *parallelScan) Close() error {
	p.group.close()
	return nil
}

// orderedScan reads its tasks ahead and returns their rows one task after the other. Under a limit it begins with one task
// at a time, since the first one often suffices.
type orderedScan struct {
	group   *group
	tasks   []task
	ahead   int // greatest number of tasks read at the same time
	window  int // current number of tasks read at the same time
	deep    int // number of batches that may wait, of a reader that reads ahead
	width   int
	reader  func([]task) *reader
	streams []*stream // of the tasks that are begun and not completely read
	begun   int
	last    *rowBatch
	err     error
}

func (o *orderedScan) start() {
	for len(o.streams) < o.window && o.begun < len(o.tasks) {
		r := o.reader(o.tasks[o.begun : o.begun+1 : o.begun+1])
		s := newStream(2)
		if r.ahead {
			s = newStream(max(2, o.deep))
		}
		o.begun++
		o.streams = append(o.streams, s)
		o.group.run(func(ctx context.Context) {
			if s.pump(ctx, r, o.width) {
				s.end(ctx)
			}
		})
	}
}

// Next returns the next rows of the first task that has some.
func (o *orderedScan) Next(ctx context.Context) ([][]types.Value, error) {
	if o.err != nil {
		return nil, o.err
	}
	for {
		o.start()
		if len(o.streams) == 0 {
			o.err = io.EOF
			return nil, o.err
		}
		s := o.streams[0]
		if o.last != nil {
			s.recycle(o.last)
			o.last = nil
		}
		d, err := s.receive(ctx, o.group.ctx)
		if err == io.EOF {
			s.release()
			o.streams = o.streams[1:]
			o.window = min(2*o.window, o.ahead)
			continue
		}
		if err != nil {
			o.err = err
			return nil, err
		}
		o.last = d.b
		return d.b.rows, nil
	}
}

func (o *orderedScan) Close() error {
	o.group.close()
	return nil
}
