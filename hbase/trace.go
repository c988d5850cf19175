package hbase

import (
	"context"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"

	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/wire"
)

// RPCTracer observes each call to a server, including repeated ones. Several goroutines call it at once.
type RPCTracer interface {
	// TraceRPCStart is called before a call is sent. TraceRPCEnd receives the context it returns.
	TraceRPCStart(ctx context.Context, d RPCStart) context.Context
	// TraceRPCEnd is called when the call was answered, failed or was given up.
	TraceRPCEnd(ctx context.Context, d RPCEnd)
}

// RPCStart describes a call that is sent.
type RPCStart struct {
	Method string // HBase's name: Scan, Get, Multi, GetTableDescriptors ...
	Table  string // "" for a call that concerns no table
}

// RPCEnd describes the end of a call.
type RPCEnd struct {
	RPCStart
	Region Region // zero when Err is set, and for calls to the master
	Begin  time.Time
	Took   time.Duration // until the answer, retries inside gohbase included
	// Rows and Bytes measure the answer: rows and parts of rows, and bytes of their cells.
	Rows, Bytes int64
	// Scanned counts the rows that the server looked at: nil unless ReadOptions.Metrics is set, and for calls whose
	// answers have no metrics, such as Gets.
	Scanned *Scanned
	Err     error
}

// Scanned counts the rows that a server looked at for a scan.
type Scanned struct {
	Rows     int64
	Filtered int64 // rejected by the filter, or without a cell of the columns
}

type rpcTracerKey struct{}

// WithRPCTracer adds t to the tracers of ctx: t observes the calls that are sent with the returned context. The call
// that closes a scanner may end after the scan.
func WithRPCTracer(ctx context.Context, t RPCTracer) context.Context {
	if o := rpcTracer(ctx); o != nil {
		t = bothTracers{o, t}
	}
	return context.WithValue(ctx, rpcTracerKey{}, t)
}

func rpcTracer(ctx context.Context) RPCTracer {
	t, _ := ctx.Value(rpcTracerKey{}).(RPCTracer)
	return t
}

type bothTracers struct{ outer, inner RPCTracer }

func (b bothTracers) TraceRPCStart(ctx context.Context, d RPCStart) context.Context {
	return b.inner.TraceRPCStart(b.outer.TraceRPCStart(ctx, d), d)
}

func (b bothTracers) TraceRPCEnd(ctx context.Context, d RPCEnd) {
	b.inner.TraceRPCEnd(ctx, d)
	b.outer.TraceRPCEnd(ctx, d)
}

// read takes the results from an answered call. It must not be used for a call that was given up: the call may still be
// running.
func (c *RPCEnd) read(msg hrpc.Call, answer proto.Message) {
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
		c.Scanned = scanMetrics(a)
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
	switch m := msg.(type) {
	case *getCall:
		got, _ := m.read(answer)
		if len(got) > 0 {
			c.Rows, c.Bytes = 1, sizeOf(m.Key(), got)
		}
	case *scanCall: // the cells are outside the message
		c.Bytes += int64(len(m.block))
	case *multiCall:
		c.Bytes += int64(len(m.block))
	}
}

// scanMetrics reads the metrics of an answer, pairs of a name and a number; nil: it has none.
func scanMetrics(a *pb.ScanResponse) *Scanned {
	var out *Scanned
	for metrics := range wire.Fields(a.ProtoReflect().GetUnknown()) {
		if metrics.Number != scanMetricsField {
			continue
		}
		out = &Scanned{}
		for pair := range wire.Fields(metrics.Bytes) {
			var name string
			var count int64
			for f := range wire.Fields(pair.Bytes) {
				switch f.Number {
				case 1:
					name = string(f.Bytes)
				case 2:
					count = int64(f.Varint)
				}
			}
			switch name {
			case "ROWS_SCANNED":
				out.Rows = count
			case "ROWS_FILTERED":
				out.Filtered = count
			}
		}
	}
	return out
}

// result counts a row whose cells are inside the answer.
func (c *RPCEnd) result(r *pb.Result) {
	if len(r.GetCell()) == 0 {
		return
	}
	c.Rows++
	for _, x := range r.Cell {
		c.Bytes += int64(len(x.Row) + len(x.Family) + len(x.Qualifier) + len(x.Value))
	}
}
