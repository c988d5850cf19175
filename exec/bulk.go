package exec

import (
	"cmp"
	"context"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/write"
)

// bulk writes several batches of rows at the same time. If two batches hold the same row, the later batch waits for the
// earlier.
type bulk struct {
	first  *inserter // writes rows; if there are several inserters, it only computes keys
	most   int       // the most batches at the same time
	under  []*bulkBatch
	idle   []*inserter
	failed func() // called when a batch failed; may be nil
	err    error  // of the first batch that failed

	pending []write.Row
	size    int64 // bytes of pending
}

// bulkBatch is a batch that is being written.
type bulkBatch struct {
	in   *inserter
	keys write.Keys
	done chan error
}

// Limits for the batches that are written at the same time: their number, and the bytes of each, so that large rows do
// not fill the memory.
const (
	batchesAtOnce = 4
	batchBytes    = 8 << 20
)

// newBulk returns a bulk that writes with in. It writes several batches at the same time, with copies of in, unless the
// statement has RETURNING or IF NOT EXISTS, or its keys have numbers from a dictionary.
func newBulk(in *inserter) *bulk {
	if in.IfNew || in.Returning != nil || in.Numbers() {
		return &bulk{first: in, most: 1, idle: []*inserter{in}}
	}
	return &bulk{first: in, most: batchesAtOnce}
}

// add adds a row, and begins to write the pending rows when they fill a batch.
func (b *bulk) add(ctx context.Context, p write.Row) error {
	b.pending = append(b.pending, p)
	b.size += operator.SizeOf(p.Values)
	if len(b.pending) < write.Batch && b.size < batchBytes {
		return nil
	}
	return b.begin(ctx)
}

// begin starts to write the pending rows in the background. If too many batches are being written, it first waits for the
// oldest of them.
func (b *bulk) begin(ctx context.Context) error {
	rows := b.pending
	b.pending, b.size = nil, 0
	for len(b.under) >= b.most {
		if err := b.wait(); err != nil {
			return err
		}
	}
	var keys write.Keys
	if b.most > 1 {
		var err error
		if keys, err = b.first.Keys(rows); err != nil {
			return err
		}
	}
	for b.meets(keys) {
		if err := b.wait(); err != nil {
			return err
		}
	}
	batch := &bulkBatch{keys: keys, done: make(chan error, 1)}
	if n := len(b.idle); n > 0 {
		batch.in, b.idle = b.idle[n-1], b.idle[:n-1]
	} else {
		batch.in = b.first.another()
	}
	b.under = append(b.under, batch)
	go func() {
		err := operator.Safely(func() error { return batch.in.write(ctx, rows) })
		if err != nil && b.failed != nil {
			b.failed()
		}
		batch.done <- err
	}()
	return nil
}

func (b *bulk) meets(keys write.Keys) bool {
	for _, o := range b.under {
		if o.keys.Meet(keys) {
			return true
		}
	}
	return false
}

// wait waits for the batch that began first.
func (b *bulk) wait() error {
	first := b.under[0]
	err := <-first.done
	b.under, b.idle = b.under[1:], append(b.idle, first.in)
	b.err = cmp.Or(b.err, err)
	return err
}

// settled waits until no batch is being written.
func (b *bulk) settled() error {
	for len(b.under) > 0 {
		if err := b.wait(); err != nil {
			return err
		}
	}
	return nil
}

// end writes the pending rows, unless failed is an error, and waits for all batches. It returns the error of the first batch
// that failed, otherwise failed.
func (b *bulk) end(ctx context.Context, failed error) error {
	if failed == nil && len(b.pending) > 0 {
		failed = b.begin(ctx)
	}
	for len(b.under) > 0 {
		_ = b.wait() // end returns the error that wait keeps in b.err
	}
	return cmp.Or(b.err, failed)
}
