package pgwire

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// budget counts the bytes that statements hold. It refuses bytes above the limit most.
type budget struct {
	most int64
	used atomic.Int64
}

// take takes n bytes, if so many are left.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.most {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// admission lets statements run at the same time while there is memory for them; other statements wait in a queue.
type admission struct {
	memory  *semaphore.Weighted
	most    int64
	queue   int64 // that may wait
	waiting atomic.Int64
	running atomic.Int64
	used    atomic.Int64
}

func (a *admission) begin(memory int64, queue int) {
	a.memory, a.most, a.queue = semaphore.NewWeighted(memory), memory, int64(queue)
}

// enter waits until there is memory for a statement of the given bytes, at most for the time wait. The caller calls leave once,
// at the end of the statement.
func (a *admission) enter(ctx context.Context, bytes int64, wait time.Duration) (leave func(), err error) {
	bytes = min(bytes, a.most)
	if !a.memory.TryAcquire(bytes) {
		if a.waiting.Add(1) > a.queue {
			a.waiting.Add(-1)
			return nil, busy("53300", "too many statements run and wait: %d wait already", a.queue)
		}
		bounded, cancel := context.WithTimeout(ctx, wait)
		err := a.memory.Acquire(bounded, bytes)
		cancel()
		a.waiting.Add(-1)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return nil, busy("53200", "no memory became free within %v for this statement, which may need %d MB", wait, bytes>>20)
		case err != nil:
			return nil, err
		}
	}
	a.running.Add(1)
	a.used.Add(bytes)
	return func() {
		a.running.Add(-1)
		a.used.Add(-bytes)
		a.memory.Release(bytes)
	}, nil
}

func busy(code, format string, args ...any) error {
	return failure(code, format, args...).hint("try again later; the server's limits are --max-statements, --max-queue and --memory")
}
