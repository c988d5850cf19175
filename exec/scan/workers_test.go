package scan

import (
	"context"
	"errors"
	"testing"
)

// Workers that were cancelled may be gone before their scan is asked for rows: it has no end then.
func TestCancelledScanHasNoEnd(t *testing.T) {
	for range 100 {
		g := newGroup(t.Context())
		g.cancel()
		p := &parallelScan{group: g, queue: newTaskQueue(nil, 1), workers: 2}
		p.start()
		g.wg.Wait()
		if _, err := p.Next(t.Context()); !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled scan ended with %v", err)
		}
	}
}
