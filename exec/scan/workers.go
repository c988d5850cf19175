package scan

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/hql-db/hql/types"
)

// crew is the goroutines of one table access. Closing it ends them all.
type crew struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newCrew(ctx context.Context) *crew {
	c := &crew{}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// run starts f.
func (c *crew) run(f func(ctx context.Context)) {
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		f(c.ctx)
	}()
}

// Safely turns a panic of f, a mistake in hql, into an error: the process and
// other statements go on.
func Safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

func (c *crew) close() {
	c.cancel()
	c.wg.Wait()
}

// delivery is what a worker hands over: a batch, or the error that ended it.
type delivery struct {
	b   *rowBatch
	err error // io.EOF: all that the lane is for was read
}

// lane carries the batches of one worker or of several and takes used ones back. Its end is a delivery like
// any other: a lane on which nothing comes any more, as its workers were cancelled, has no end.
type lane struct {
	out  chan delivery
	free chan *rowBatch
}

func newLane(depth int) *lane {
	return &lane{out: make(chan delivery, depth), free: make(chan *rowBatch, depth+2)}
}

func (l *lane) batch(width int) *rowBatch {
	select {
	case b := <-l.free:
		return b
	default:
		return newRowBatch(width)
	}
}

func (l *lane) recycle(b *rowBatch) {
	select {
	case l.free <- b:
	default:
	}
}

// send delivers d unless the crew ends; it reports whether it did.
func (l *lane) send(ctx context.Context, d delivery) bool {
	select {
	case l.out <- d:
		return true
	case <-ctx.Done():
		return false
	}
}

// end says that all there is was delivered.
func (l *lane) end(ctx context.Context) { l.send(ctx, delivery{err: io.EOF}) }

// pump reads r to its end into l. It reports whether it got there: only then may the lane be ended.
func (l *lane) pump(ctx context.Context, r *reader, width int) bool {
	defer r.close()
	for {
		b := l.batch(width)
		if err := Safely(func() error { return r.next(ctx, b) }); err != nil {
			if err == io.EOF {
				return true
			}
			l.send(ctx, delivery{err: err})
			return false
		}
		if !l.send(ctx, delivery{b: b}) {
			return false
		}
	}
}

// receive waits for the next delivery, of which it gives the error too.
func (l *lane) receive(ctx, own context.Context) (delivery, error) {
	select {
	case d := <-l.out:
		return d, d.err
	case <-ctx.Done():
		return delivery{}, ctx.Err()
	case <-own.Done():
		return delivery{}, own.Err()
	}
}

// getScan reads the rows of a few keys in the caller's goroutine: there is nothing to read ahead.
type getScan struct {
	reader *reader
	batch  *rowBatch
}

// Next gives the next rows, valid until the following call.
func (g *getScan) Next(ctx context.Context) ([][]types.Value, error) {
	if err := g.reader.next(ctx, g.batch); err != nil {
		return nil, err
	}
	return g.batch.rows, nil
}

// Close ends the reading.
func (g *getScan) Close() error {
	g.reader.close()
	return nil
}

// parallelScan reads its tasks with several workers; rows come as they come.
type parallelScan struct {
	crew    *crew
	queue   *taskQueue
	workers int
	width   int
	reader  func([]task) *reader
	lane    *lane
	last    *rowBatch
	err     error
}

func (p *parallelScan) start() {
	p.lane = newLane(p.workers)
	for range p.workers {
		p.crew.run(func(ctx context.Context) {
			for {
				t, from := p.queue.next()
				if from == nil {
					return
				}
				if !p.lane.pump(ctx, p.reader([]task{t}), p.width) {
					return
				}
				if p.queue.done(from) {
					p.lane.end(ctx)
				}
			}
		})
	}
}

// Next gives the rows of whichever worker has some.
func (p *parallelScan) Next(ctx context.Context) ([][]types.Value, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.lane == nil {
		p.start()
	}
	if p.last != nil {
		p.lane.recycle(p.last)
		p.last = nil
	}
	d, err := p.lane.receive(ctx, p.crew.ctx)
	if err != nil {
		p.err = err
		return nil, err
	}
	p.last = d.b
	return d.b.rows, nil
}

// Close ends the workers.
func (p *parallelScan) Close() error {
	p.crew.close()
	return nil
}

// orderedScan reads its tasks so that their rows come one task after the other,
// while the next tasks are read ahead. Under a limit it begins with one task at a
// time: the first one often suffices.
type orderedScan struct {
	crew   *crew
	tasks  []task
	ahead  int // tasks read at a time, at most
	window int // tasks read at a time now
	width  int
	reader func([]task) *reader
	lanes  []*lane // those begun and not yet read to the end
	begun  int
	last   *rowBatch
	err    error
}

func (o *orderedScan) start() {
	for len(o.lanes) < o.window && o.begun < len(o.tasks) {
		l := newLane(2)
		t := o.tasks[o.begun : o.begun+1 : o.begun+1]
		o.begun++
		o.lanes = append(o.lanes, l)
		o.crew.run(func(ctx context.Context) {
			if l.pump(ctx, o.reader(t), o.width) {
				l.end(ctx)
			}
		})
	}
}

// Next gives the next rows of the first task that has some.
func (o *orderedScan) Next(ctx context.Context) ([][]types.Value, error) {
	if o.err != nil {
		return nil, o.err
	}
	for {
		o.start()
		if len(o.lanes) == 0 {
			o.err = io.EOF
			return nil, o.err
		}
		l := o.lanes[0]
		if o.last != nil {
			l.recycle(o.last)
			o.last = nil
		}
		d, err := l.receive(ctx, o.crew.ctx)
		if err == io.EOF {
			o.lanes = o.lanes[1:]
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

// Close ends the workers.
func (o *orderedScan) Close() error {
	o.crew.close()
	return nil
}
