package hqlotel

import (
	"context"
	"net"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/hql-db/hql"
)

// Tracer makes the spans. It is safe for concurrent use, and for several DBs.
type Tracer struct {
	tracer trace.Tracer
	cfg    config
}

var (
	_ hql.Tracer     = (*Tracer)(nil)
	_ hql.ScanTracer = (*Tracer)(nil)
	_ hql.RPCTracer  = (*Tracer)(nil)
)

type config struct {
	provider  trace.TracerProvider
	queryText bool
}

// Option configures the tracer of New.
type Option func(*config)

// WithTracerProvider takes spans from p; the default is OpenTelemetry's global provider.
func WithTracerProvider(p trace.TracerProvider) Option { return func(c *config) { c.provider = p } }

// WithQueryText adds the text of statements and of errors. Both may hold personal data: the constants in
// statements, and values that an error quotes. Arguments are never added.
func WithQueryText() Option { return func(c *config) { c.queryText = true } }

// New makes a tracer for hql.WithTracer.
func New(options ...Option) *Tracer {
	c := config{provider: otel.GetTracerProvider()}
	for _, o := range options {
		o(&c)
	}
	return &Tracer{tracer: c.provider.Tracer("github.com/hql-db/hql/hqlotel", trace.WithSchemaURL(semconv.SchemaURL)), cfg: c}
}

// start begins a span and stores it in the context with t as the key: the context's current span may be of another
// tracer.
func (t *Tracer) start(ctx context.Context, name string, kind trace.SpanKind, attrs ...attribute.KeyValue) context.Context {
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(append(attrs, semconv.DBSystemNameHBase)...))
	return context.WithValue(ctx, t, span)
}

func (t *Tracer) end(ctx context.Context, err error, attrs ...attribute.KeyValue) {
	span := ctx.Value(t).(trace.Span)
	defer span.End()
	span.SetAttributes(attrs...)
	if err == nil {
		return
	}
	span.SetAttributes(semconv.ErrorTypeKey.String(hql.Outcome(err)))
	text := ""
	if t.cfg.queryText {
		text = err.Error()
	}
	span.SetStatus(codes.Error, text)
}

// TraceQueryStart implements hql.Tracer.
func (t *Tracer) TraceQueryStart(ctx context.Context, d hql.QueryStart) context.Context {
	attrs := []attribute.KeyValue{semconv.DBOperationName(d.Operation)}
	if t.cfg.queryText {
		attrs = append(attrs, semconv.DBQueryText(d.SQL))
	}
	return t.start(ctx, d.Operation, trace.SpanKindClient, attrs...)
}

// TraceQueryEnd implements hql.Tracer.
func (t *Tracer) TraceQueryEnd(ctx context.Context, d hql.QueryEnd) {
	attrs := []attribute.KeyValue{
		semconv.DBResponseReturnedRows(int(d.Stats.RowsReturned)),
		attribute.Int64("hql.rows_read", d.Stats.RowsRead),
		attribute.Int64("hql.gets", d.Stats.Gets),
		attribute.Int64("hql.scans", d.Stats.Scans),
		attribute.Int64("hql.rpcs", d.Stats.RPCs),
		attribute.Int64("hql.retries", d.Stats.Retries),
		attribute.Int64("hql.bytes", d.Stats.Bytes),
	}
	if d.Access != "" {
		attrs = append(attrs, attribute.String("hql.access", d.Access))
	}
	if d.Affected >= 0 {
		attrs = append(attrs, attribute.Int64("hql.rows_written", d.Affected))
	}
	t.end(ctx, d.Err, attrs...)
}

// TraceScanStart implements hql.ScanTracer.
func (t *Tracer) TraceScanStart(ctx context.Context, d hql.ScanStart) context.Context {
	return t.start(ctx, d.Access.String()+" "+d.Table, trace.SpanKindInternal, semconv.DBCollectionName(d.Table),
		attribute.String("hql.layout", d.Layout), attribute.String("hql.access", d.Access.String()), attribute.Int("hql.ranges", d.Ranges))
}

// TraceScanEnd implements hql.ScanTracer.
func (t *Tracer) TraceScanEnd(ctx context.Context, d hql.ScanEnd) {
	t.end(ctx, d.Err, attribute.Int64("hql.gets", d.Gets), attribute.Int64("hql.scans", d.Scans),
		attribute.Int64("hql.rows_read", d.RowsRead), attribute.Int64("hql.rows_kept", d.Rows))
}

// TraceRPCStart implements hql.RPCTracer.
func (t *Tracer) TraceRPCStart(ctx context.Context, d hql.RPCStart) context.Context {
	attrs := []attribute.KeyValue{semconv.RPCMethod(d.Method)}
	if d.Table != "" {
		attrs = append(attrs, semconv.DBCollectionName(d.Table))
	}
	return t.start(ctx, "hbase "+d.Method, trace.SpanKindClient, attrs...)
}

// TraceRPCEnd implements hql.RPCTracer.
func (t *Tracer) TraceRPCEnd(ctx context.Context, d hql.RPCEnd) {
	attrs := []attribute.KeyValue{attribute.Int64("hql.rows_read", d.Rows), attribute.Int64("hql.bytes", d.Bytes)}
	if host, port, err := net.SplitHostPort(d.Region.Server); err == nil {
		attrs = append(attrs, semconv.ServerAddress(host))
		if n, err := strconv.Atoi(port); err == nil {
			attrs = append(attrs, semconv.ServerPort(n))
		}
	}
	t.end(ctx, d.Err, attrs...)
}
