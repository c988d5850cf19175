package hql

import (
	"context"
	"errors"
	"slices"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// Tracer observes the statements that a DB runs. A Tracer that implements ScanTracer or RPCTracer also observes each
// access to a table or each call to a server. A text that cannot be parsed is not traced. Many goroutines call the
// methods at the same time, and a query waits for each call. Packages hqlotel and hqlprom have tracers.
type Tracer interface {
	// TraceQueryStart is called before a statement is bound and planned. The statement runs with the returned context,
	// in which the tracer may keep values for TraceQueryEnd.
	TraceQueryStart(ctx context.Context, d QueryStart) context.Context
	// TraceQueryEnd is called when the statement has failed, or when its rows are read or closed. ctx is the context
	// that TraceQueryStart returned.
	TraceQueryEnd(ctx context.Context, d QueryEnd)
}

// ScanTracer is implemented by a Tracer that observes each access to a table: see [scan.Tracer] for its methods.
type ScanTracer = exec.ScanTracer

// RPCTracer is implemented by a Tracer that observes each call to a server: see [hbase.RPCTracer] for its methods.
type RPCTracer = hbase.RPCTracer

// The arguments of a ScanTracer and an RPCTracer: see [scan.Start], [scan.End], [hbase.RPCStart] and [hbase.RPCEnd].
type (
	ScanStart = exec.ScanStart
	ScanEnd   = exec.ScanEnd
	RPCStart  = hbase.RPCStart
	RPCEnd    = hbase.RPCEnd
)

// QueryStart describes a statement that begins.
type QueryStart struct {
	Operation string // SELECT, INSERT, UPDATE, DELETE, CREATE TABLE, EXPLAIN ...
	// SQL is the text as written; if Exec got several statements, the text of all. It may contain constants that are
	// personal data; it does not contain arguments.
	SQL  string
	Args int // number of arguments
}

// QueryEnd describes a statement that has ended.
type QueryEnd struct {
	// Access is the costliest access to a table that the statement made, or would have made: "get", "scan",
	// "full scan" or "empty"; "" if it reads no table.
	Access   string
	Affected int64 // rows written; -1 if the statement does not count rows
	Stats    Stats
	Err      error // see Outcome
}

// Outcome classifies the end of a statement, table access or call: "ok", "refused" (ErrFullScan, ErrReadOnly, ErrNoFiles),
// "invalid" (an *Error), "canceled", "timeout" and "failed".
func Outcome(err error) string {
	var invalid *Error
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrFullScan), errors.Is(err, ErrScanLimit), errors.Is(err, ErrReadOnly), errors.Is(err, ErrNoFiles):
		return "refused"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &invalid):
		return "invalid"
	}
	return "failed"
}

// WithTracer makes t observe statements, table accesses and calls to servers. It may be given several times.
func WithTracer(t Tracer) Option {
	return func(c *config) error { c.tracers = append(c.tracers, t); return nil }
}

// tracers are called in their order when a statement begins, and in reverse order when it ends.
type tracers []Tracer

func (ts tracers) TraceQueryStart(ctx context.Context, d QueryStart) context.Context {
	for _, t := range ts {
		ctx = t.TraceQueryStart(ctx, d)
	}
	return ctx
}

func (ts tracers) TraceQueryEnd(ctx context.Context, d QueryEnd) {
	for _, t := range slices.Backward(ts) {
		t.TraceQueryEnd(ctx, d)
	}
}

func (ts tracers) TraceScanStart(ctx context.Context, d ScanStart) context.Context {
	for _, t := range ts {
		if s, ok := t.(ScanTracer); ok {
			ctx = s.TraceScanStart(ctx, d)
		}
	}
	return ctx
}

func (ts tracers) TraceScanEnd(ctx context.Context, d ScanEnd) {
	for _, t := range slices.Backward(ts) {
		if s, ok := t.(ScanTracer); ok {
			s.TraceScanEnd(ctx, d)
		}
	}
}

// begin starts the trace of a statement. The statement runs with the returned context; the caller calls end once.
func (ts tracers) begin(ctx context.Context, s parser.Statement, sql string, args []any) (run context.Context, end func(*exec.Rows, error)) {
	if len(ts) == 0 {
		return ctx, func(*exec.Rows, error) {}
	}
	if len(args) > 0 {
		if _, ok := args[0].(QueryOptions); ok {
			args = args[1:]
		}
	}
	d := QueryStart{Operation: s.Command(), SQL: sql, Args: len(args)}
	if len(args) == 1 {
		if named, ok := args[0].(NamedArgs); ok {
			d.Args = len(named)
		}
	}
	ctx = ts.TraceQueryStart(ctx, d)
	for _, t := range ts {
		if r, ok := t.(RPCTracer); ok {
			ctx = hbase.WithRPCTracer(ctx, r)
		}
	}
	return ctx, func(rows *exec.Rows, err error) {
		d := QueryEnd{Affected: -1, Err: err}
		switch {
		case rows != nil:
			d.Affected, d.Stats = rows.Affected, rows.Stats()
			d.Access = costliest(rows.Plan, d.Stats)
		case errors.Is(err, ErrFullScan):
			d.Access = plan.FullScan.String()
		}
		ts.TraceQueryEnd(ctx, d)
	}
}

// costliest returns the costliest access to a table in a plan, which may be nil, and in the statement's statistics; "" if
// there is none.
func costliest(p *plan.Plan, done Stats) string {
	var all []plan.Access
	if p != nil {
		for _, s := range p.Reads() {
			all = append(all, s.Access)
		}
	}
	for _, t := range done.Tables {
		all = append(all, t.Access)
	}
	if len(all) == 0 {
		return ""
	}
	return slices.Max(all).String()
}
