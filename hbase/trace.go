package hbase

import (
	"context"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// Call is one RPC that was sent: see WithTrace.
type Call struct {
	Kind   string // "Scan", "Get", "Multi" ...
	Table  string
	Region Region // zero when Err is set
	Begin  time.Time
	Took   time.Duration // until the answer, retries inside gohbase included
	// Rows and Bytes count what the answer holds: rows and parts of rows, bytes of their cells.
	Rows, Bytes int64
	Err         error
}

type traceKey struct{}

// WithTrace gives a context under which each RPC is reported to f when it is answered or given
// up. f is called from several goroutines at once.
func WithTrace(ctx context.Context, f func(Call)) context.Context {
	return context.WithValue(ctx, traceKey{}, f)
}

// trace reports an RPC that began at begin to who asked for it in ctx.
func trace(ctx context.Context, msg hrpc.Call, begin time.Time, answer proto.Message, err error) {
	f, ok := ctx.Value(traceKey{}).(func(Call))
	if !ok {
		return
	}
	c := Call{Kind: msg.Name(), Table: string(msg.Table()), Begin: begin, Took: time.Since(begin), Err: err}
	if err != nil { // a call given up may still be at work: nothing of it is to be read
		f(c)
		return
	}
	if r := msg.Region(); r != nil {
		c.Region = Region{Name: string(r.Name()), Start: r.StartKey(), Stop: r.StopKey()}
		if rc := r.Client(); rc != nil {
			c.Region.Server = rc.Addr()
		}
	}
	switch a := answer.(type) {
	case *pb.ScanResponse:
		for _, n := range a.CellsPerResult {
			if n > 0 {
				c.Rows++
			}
		}
		for _, r := range a.Results {
			c.result(r)
		}
	case *pb.GetResponse:
		c.result(a.GetResult())
	case *pb.MultiResponse:
		for _, region := range a.RegionActionResult {
			for _, r := range region.ResultOrException {
				if r.GetResult().GetAssociatedCellCount() > 0 {
					c.Rows++
				}
				c.result(r.GetResult())
			}
		}
	}
	switch m := msg.(type) { // cells beside the message
	case *scanCall:
		c.Bytes += int64(len(m.block))
	case *multiCall:
		c.Bytes += int64(len(m.block))
	}
	f(c)
}

// result counts a row whose cells are inside the answer.
func (c *Call) result(r *pb.Result) {
	if len(r.GetCell()) == 0 {
		return
	}
	c.Rows++
	for _, x := range r.Cell {
		c.Bytes += int64(len(x.Row) + len(x.Family) + len(x.Qualifier) + len(x.Value))
	}
}
