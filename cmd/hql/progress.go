package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql"
)

// The time until the line of progress appears, and the time between its updates.
const progressAfter, progressEvery = 500 * time.Millisecond, 200 * time.Millisecond

// progress is a line on the terminal that shows the progress of a slow statement.
type progress struct {
	stats  atomic.Pointer[func() hql.Stats] // nil: nothing is known yet
	cancel context.CancelFunc
	done   chan struct{}
	once   sync.Once
}

// showProgress starts the line; w is a terminal.
func showProgress(ctx context.Context, w io.Writer) *progress {
	p := &progress{done: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(ctx)
	go p.run(ctx, w)
	return p
}

// stop removes the line. Stopping a nil progress, or twice, does nothing.
func (p *progress) stop() {
	if p != nil {
		p.once.Do(func() {
			p.cancel()
			<-p.done
		})
	}
}

// watch is QueryOptions.Watch.
func (p *progress) watch(stats func() hql.Stats) {
	if p != nil {
		p.stats.Store(&stats)
	}
}

func (p *progress) run(ctx context.Context, w io.Writer) {
	defer close(p.done)
	start := time.Now()
	wait := time.NewTimer(progressAfter)
	defer wait.Stop()
	shown := false
	for {
		select {
		case <-ctx.Done():
			if shown {
				fmt.Fprint(w, "\r\x1b[K")
			}
			return
		case <-wait.C:
			shown = true
			fmt.Fprint(w, "\r\x1b[K"+p.line(time.Since(start)))
			wait.Reset(progressEvery)
		}
	}
}

// line returns "1,234 rows read, 3 regions, 950 rows/s, 1.3 s" or, for a statement that writes, "500 rows written, 390
// rows/s, 1.3 s". If statistics or a file's size determine the total work, ", 25%, about 4s left" follows.
func (p *progress) line(took time.Duration) string {
	seconds := strconv.FormatFloat(took.Seconds(), 'f', 1, 64) + " s"
	stats := p.stats.Load()
	if stats == nil {
		return seconds
	}
	st := (*stats)()
	rate := func(n int64) string {
		return ", " + thousands(int64(float64(n)/took.Seconds())) + " rows/s, " + seconds + left(st.Done, took)
	}
	line := thousands(st.RowsRead) + " rows read"
	if st.RowsWritten > 0 {
		written := thousands(st.RowsWritten) + " rows written"
		if st.RowsRead == 0 {
			return written + rate(st.RowsWritten)
		}
		return written + ", " + line + rate(st.RowsWritten)
	}
	return fmt.Sprintf("%s, %d regions", line, st.Regions) + rate(st.RowsRead)
}

// left formats the finished part of a statement's work, and about how long the rest takes. It returns "" if nothing is
// known to be finished.
func left(done float64, took time.Duration) string {
	if done <= 0 {
		return ""
	}
	rest := time.Duration(min(float64(took)*(1-done)/done, math.MaxInt64/2))
	return fmt.Sprintf(", %d%%, about %s left", int(100*done), max(time.Second, rest).Round(time.Second))
}

// thousands is n with a comma every three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
