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

// Tracer is told of the statements that a DB runs. One that is a ScanTracer or an RPCTracer, too, is told of each
// access to a table and of each call to a server. A text that cannot be parsed is no statement. Its methods are called
// by many goroutines at a time, and a query waits for them. Packages hqlotel and hqlprom hold tracers.
type Tracer interface {
	// TraceQueryStart is called before a statement is bound and planned. The statement runs with the context it
	// returns: the tracer may keep there what TraceQueryEnd needs.
	TraceQueryStart(ctx context.Context, d QueryStart) context.Context
	// TraceQueryEnd is called when the statement failed, or when its rows are read or closed, with the context
	// of TraceQueryStart.
	TraceQueryEnd(ctx context.Context, d QueryEnd)
}

// ScanTracer is a Tracer's wish to know of each access to a table.
type ScanTracer = exec.ScanTracer

// RPCTracer is a Tracer's wish to know of each call to a server.
type RPCTracer = hbase.RPCTracer

// What a ScanTracer and an RPCTracer are told.
type (
	ScanStart = exec.ScanStart
	ScanEnd   = exec.ScanEnd
	RPCStart  = hbase.RPCStart
	RPCEnd    = hbase.RPCEnd
)

// QueryStart says which statement is run.
type QueryStart struct {
	Operation string // SELECT, INSERT, UPDATE, DELETE, CREATE TABLE, EXPLAIN ...
	// SQL is the text as written, of all statements where Exec got several. Constants in it may be personal
	// data; arguments are not in it.
	SQL  string
	Args int // how many arguments it was given
}

// QueryEnd says what a statement came to.
type QueryEnd struct {
	// Access is the costliest way in which a table was read, or would have been: "get", "scan", "full scan"
	// or "empty"; "" where no table was read.
	Access   string
	Affected int64 // rows written; -1 where none are counted
	Stats    Stats
	Err      error // see Outcome
}

// Outcome sorts the ends of statements, table accesses and calls into a few: "ok", "refused" (ErrFullScan,
// ErrReadOnly, ErrNoFiles), "invalid" (an *Error), "canceled", "timeout" and "failed".
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

// WithTracer lets t know of statements, table accesses and calls to servers. It may be given several times.
func WithTracer(t Tracer) Option {
	return func(c *config) error { c.tracers = append(c.tracers, t); return nil }
}

// tracers are told one after the other, and of ends the other way round.
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

func (ts tracers) TraceRPCStart(ctx context.Context, d RPCStart) context.Context {
	for _, t := range ts {
		if r, ok := t.(RPCTracer); ok {
			ctx = r.TraceRPCStart(ctx, d)
		}
	}
	return ctx
}

func (ts tracers) TraceRPCEnd(ctx context.Context, d RPCEnd) {
	for _, t := range slices.Backward(ts) {
		if r, ok := t.(RPCTracer); ok {
			r.TraceRPCEnd(ctx, d)
		}
	}
}

// begin starts the trace of a statement, which runs with the context it returns; end is to be called once.
func (ts tracers) begin(ctx context.Context, s parser.Statement, sql string, args []any) (run context.Context, end func(*exec.Rows, error)) {
	if len(ts) == 0 {
		return ctx, func(*exec.Rows, error) {}
	}
	if len(args) > 0 {
		if _, ok := args[0].(QueryOptions); ok {
			args = args[1:]
		}
	}
	d := QueryStart{Operation: operation(s), SQL: sql, Args: len(args)}
	if len(args) == 1 {
		if named, ok := args[0].(NamedArgs); ok {
			d.Args = len(named)
		}
	}
	ctx = ts.TraceQueryStart(ctx, d)
	return hbase.WithRPCTracer(ctx, ts), func(rows *exec.Rows, err error) {
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

// operation names what s does by its first words.
func operation(s parser.Statement) string {
	switch s.(type) {
	case *parser.Select:
		return "SELECT"
	case *parser.Insert:
		return "INSERT"
	case *parser.Update:
		return "UPDATE"
	case *parser.Delete:
		return "DELETE"
	case *parser.CreateTable:
		return "CREATE TABLE"
	case *parser.DropTable:
		return "DROP TABLE"
	case *parser.CreateView:
		return "CREATE VIEW"
	case *parser.DropView:
		return "DROP VIEW"
	case *parser.Show:
		return "SHOW"
	case *parser.Explain:
		return "EXPLAIN"
	case *parser.Set:
		return "SET"
	case *parser.Copy:
		return "COPY"
	case *parser.CheckTable:
		return "CHECK TABLE"
	case *parser.Analyze:
		return "ANALYZE"
	case *parser.Transaction:
		return "TRANSACTION"
	}
	return "OTHER"
}

// costliest names the costliest access to a table in a plan, which may be nil, and in what was done; "" for none.
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
