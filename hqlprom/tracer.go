package hqlprom

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hql-db/hql"
)

// Tracer keeps the metrics. It is safe for concurrent use, and for several DBs, which then count together.
type Tracer struct {
	queries, read, kept, returned, written, rpcs *prometheus.CounterVec
	refused                                      prometheus.Counter
	queryTime, rpcTime                           *prometheus.HistogramVec
}

var (
	_ hql.Tracer     = (*Tracer)(nil)
	_ hql.ScanTracer = (*Tracer)(nil)
	_ hql.RPCTracer  = (*Tracer)(nil)
)

// buckets go from 100 µs, a Get answered from memory, to a minute.
var buckets = []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// New returns a tracer for hql.WithTracer, and registers its metrics. It fails if they are registered already, so DBs
// on one registry must share a tracer.
func New(r prometheus.Registerer) (*Tracer, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	t := &Tracer{
		queries:   counter("hql_queries_total", "Statements that ended.", "operation", "access", "outcome"),
		queryTime: histogram("hql_query_duration_seconds", "Time from a statement's start to its last row or Close.", "operation", "access"),
		read:      counter("hql_rows_read_total", "Rows that servers sent.", "table", "access"),
		kept:      counter("hql_rows_kept_total", "Rows that servers sent and the client's filter kept.", "table", "access"),
		returned:  counter("hql_rows_returned_total", "Rows given to callers.", "operation"),
		written:   counter("hql_rows_written_total", "Rows written.", "operation"),
		refused:   prometheus.NewCounter(prometheus.CounterOpts{Name: "hql_full_scans_refused_total", Help: "Statements that the full-scan policy stopped."}),
		rpcs:      counter("hql_rpcs_total", "Calls to servers, repetitions among them.", "method", "outcome"),
		rpcTime:   histogram("hql_rpc_duration_seconds", "Time from sending a call to its answer.", "method"),
	}
	all := []prometheus.Collector{t.queries, t.queryTime, t.read, t.kept, t.returned, t.written, t.refused, t.rpcs, t.rpcTime}
	for i, c := range all {
		if err := r.Register(c); err != nil {
			for _, done := range all[:i] {
				r.Unregister(done)
			}
			return nil, err
		}
	}
	return t, nil
}

// begun is a statement's start, kept in the context under the tracer.
type begun struct {
	at        time.Time
	operation string
}

// TraceQueryStart implements hql.Tracer.
func (t *Tracer) TraceQueryStart(ctx context.Context, d hql.QueryStart) context.Context {
	return context.WithValue(ctx, t, begun{time.Now(), d.Operation})
}

// TraceQueryEnd implements hql.Tracer.
func (t *Tracer) TraceQueryEnd(ctx context.Context, d hql.QueryEnd) {
	b := ctx.Value(t).(begun)
	access := cmp.Or(d.Access, "none")
	t.queries.WithLabelValues(b.operation, access, hql.Outcome(d.Err)).Inc()
	t.queryTime.WithLabelValues(b.operation, access).Observe(time.Since(b.at).Seconds())
	t.returned.WithLabelValues(b.operation).Add(float64(d.Stats.RowsReturned))
	if d.Affected > 0 {
		t.written.WithLabelValues(b.operation).Add(float64(d.Affected))
	}
	if errors.Is(d.Err, hql.ErrFullScan) {
		t.refused.Inc()
	}
}

// TraceScanStart implements hql.ScanTracer: all there is to count is known at the end.
func (t *Tracer) TraceScanStart(ctx context.Context, _ hql.ScanStart) context.Context { return ctx }

// TraceScanEnd implements hql.ScanTracer.
func (t *Tracer) TraceScanEnd(_ context.Context, d hql.ScanEnd) {
	t.read.WithLabelValues(d.Table, d.Access.String()).Add(float64(d.RowsRead))
	t.kept.WithLabelValues(d.Table, d.Access.String()).Add(float64(d.Rows))
}

// TraceRPCStart implements hql.RPCTracer: all there is to count is known at the end.
func (t *Tracer) TraceRPCStart(ctx context.Context, _ hql.RPCStart) context.Context { return ctx }

// TraceRPCEnd implements hql.RPCTracer.
func (t *Tracer) TraceRPCEnd(_ context.Context, d hql.RPCEnd) {
	t.rpcs.WithLabelValues(d.Method, hql.Outcome(d.Err)).Inc()
	t.rpcTime.WithLabelValues(d.Method).Observe(d.Took.Seconds())
}
