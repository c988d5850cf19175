package exec

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/lookup"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Config says how an Engine runs statements. The zero value works.
type Config struct {
	FullScan    FullScanPolicy
	Parallelism int // parallel reads of one statement; 0 means 16
	ScanLimit   ScanLimit
	MemoryLimit int64  // bytes that a sort or grouping holds before it spills to disk; 0 means 256 MiB
	SpillDir    string // "" means the system's directory for temporary files
	Loc         *time.Location
	Clock       func() time.Time
	Logger      *slog.Logger // nil: silent
	Tracer      scan.Tracer  // nil: none
	Funcs       *expr.Registry
	Planner     planner.Options
	Tuning      scan.Tuning // zero: scan.DefaultTuning
	// Alone reports that no other engine uses the store, so that its definitions need not be checked again.
	Alone bool
	// ReadFile reads the files that SPLIT FROM FILE names; nil means os.ReadFile.
	ReadFile func(name string) ([]byte, error)
	// Statistics stores the statistics that ANALYZE may not write to the store. If nil, these last as long as the
	// engine.
	Statistics StatisticsFiles
	// NoFiles refuses COPY and SPLIT FROM FILE with ErrNoFiles.
	NoFiles bool
}

const defaultParallelism = 16

// everySender is the weight of Engine.sending with which a goroutine excludes all goroutines that send rows: each of
// those holds weight 1.
const everySender = math.MaxInt64

// Engine runs statements on one client with one catalog. It is safe for concurrent use.
type Engine struct {
	client  hbase.Client
	catalog *catalog.Catalog
	cfg     Config
	clock   *write.Clock
	lookups lookup.Cache
	full    filledLayouts
	lives   lives
	defs    definitions
	sending *semaphore.Weighted // held with weight 1 while rows are sent by a definition that was just checked
	stats   statistics
	session *Session // for statements without one of their own

	postgres pgcatalog.Cache
}

// New makes an engine; client and cat remain the caller's.
func New(client hbase.Client, cat *catalog.Catalog, cfg Config) *Engine {
	if cfg.Parallelism <= 0 {
		cfg.Parallelism = defaultParallelism
	}
	if cfg.Tuning == (scan.Tuning{}) {
		cfg.Tuning = scan.DefaultTuning()
	}
	if cfg.Funcs == nil {
		cfg.Funcs = functions.Builtins()
	}
	if cfg.Loc == nil {
		cfg.Loc = time.UTC
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case cfg.NoFiles:
		cfg.ReadFile = func(string) ([]byte, error) { return nil, ErrNoFiles }
	case cfg.ReadFile == nil:
		cfg.ReadFile = os.ReadFile
	}
	e := &Engine{client: client, catalog: cat, cfg: cfg, clock: write.NewClock(cfg.Clock), sending: semaphore.NewWeighted(everySender),
		defs:  definitions{slot: make(chan struct{}, 1), began: time.Now(), stored: map[string]definition{}},
		stats: statistics{stored: map[string]*stats.Table{}, filed: map[string]*stats.Table{}, reading: map[string]chan struct{}{}, later: map[string]time.Time{}, why: map[string]error{}}}
	e.session = e.NewSession()
	return e
}

// Catalog is the engine's catalog.
func (e *Engine) Catalog() *catalog.Catalog { return e.catalog }

// Client returns the engine's client.
func (e *Engine) Client() hbase.Client { return e.client }

// Args are a statement's arguments.
type Args struct {
	Positional []types.Value          // ? and $n
	Named      map[string]types.Value // @name
	Options    RunOptions
	Plans      *Plans   // nil: the statement runs once
	Session    *Session // nil: the engine's own
	Piece      *Piece   // nil: the whole query
	// Source yields the rows of a COPY FROM without a file.
	Source iter.Seq2[[]types.Value, error]
}

// Plans are the plans that a prepared statement keeps. The zero value works; it is safe for concurrent use.
type Plans struct{ point atomic.Pointer[planner.Point] }

// RunOptions override the engine's options for one statement. Zero fields override nothing.
type RunOptions struct {
	AllowFullScan bool  // like ALLOW FULL SCAN at the statement's end
	Parallelism   int   // parallel reads
	MemoryLimit   int64 // bytes
	ScanLimit     ScanLimit
	Location      *time.Location
	// Watch is called before the statement begins, with a function that returns its counts so far. That function may be
	// called at any time from any goroutine, for statements that write and return rows only at their end.
	Watch func(stats func() Stats)
	// Stdin has the rows of COPY FROM STDIN, and Stdout gets those of COPY TO STDOUT. Without Stdin, COPY FROM STDIN fails;
	// without Stdout, rows go to the standard output of the process.
	Stdin  io.Reader
	Stdout io.Writer
}

// run is one running statement: the state that planning and executing share.
type run struct {
	*statement
	engine   *Engine
	session  *Session
	env      *planner.Env
	settings settings
	args     Args
	seen     *seenStatistics
	// subqueries runs the queries inside expressions; nil for a plan that is not to be run.
	subqueries *subqueries
	// repeated is set if the plans belong to a query that runs for many outer rows: then the estimates of a single plan
	// are not compared with the scan limit.
	repeated bool
	inside   bool // it is a query inside another one, or a part of a statement
	// merging is set for the UPDATEs of one INSERT ... ON CONFLICT. Their sub-queries run once for all of them, so that they do not
	// see what the first UPDATEs wrote.
	merging bool
	drawn   *drawn // numbers of sequences
	trial   bool   // DEFAULTs are checked: they draw no number
	// before is the number of rows that earlier parts of the statement wrote.
	before int64
}

// newRun fixes the settings of a statement that began at a moment.
func (e *Engine) newRun(args Args, began moment) *run {
	session := cmp.Or(args.Session, e.session)
	set, opt := session.now(), args.Options
	if opt.Location != nil {
		set.loc = opt.Location
	}
	now := e.cfg.Clock().UnixMilli()
	if args.Piece != nil {
		now = args.Piece.Now
	}
	p := &parts{run: run{engine: e, session: session, settings: set, args: args},
		statement: statement{policy: set.fullScan, fullScanRows: set.fullScanRows, allowFull: opt.AllowFullScan, full: &e.full, Reads: scan.Reads{
			Slots: make(chan struct{}, cmp.Or(opt.Parallelism, e.cfg.Parallelism)), Tracer: e.cfg.Tracer, Tuning: e.cfg.Tuning,
			Opt: operator.Options{MemoryLimit: cmp.Or(opt.MemoryLimit, set.memory), SpillDir: e.cfg.SpillDir, Loc: set.loc, Now: now}}},
		budget: scanBudget{limit: opt.ScanLimit.or(set.scanLimit)},
		env:    planner.Env{Catalog: e.catalog, Args: args.Positional, Named: args.Named, Loc: set.loc, Now: now, Funcs: e.cfg.Funcs, Options: e.cfg.Planner}}
	r, st := &p.run, &p.statement
	p.postgres.Catalog, p.postgres.Funcs, p.postgres.Client, p.postgres.Planner = e.catalog, e.cfg.Funcs, session.Client, &p.env
	p.postgres.Cache, p.postgres.Settings, p.env.Postgres = &e.postgres, session, &p.postgres
	r.statement, r.env, r.seen, r.drawn = st, &p.env, &p.seen, &p.drawn
	st.looked = &p.looked
	st.budget, st.watched, st.Warn, st.Guard = &p.budget, &p.watched, &p.warnings, st
	st.Client = limited(e.client, st.budget)
	p.recorder.began = began
	st.record(&p.recorder)
	if opt.Watch != nil {
		opt.Watch(func() Stats { return st.watched.Load().stats(e.client) })
	}
	p.numbers.Begin(lookup.Env{Client: e.client, Catalog: e.catalog, Cache: &e.lookups, Clock: e.clock, Statement: lookupStatement{r}})
	st.Numbers = &p.numbers
	return r
}

// RelationOID returns the OID that pg_class has for a table or view, 0 if there is none of that name.
func (e *Engine) RelationOID(name string) uint32 {
	s := pgcatalog.Session{Catalog: e.catalog, Cache: &e.postgres}
	return s.RelationOID(name)
}

// parts holds the values that every statement needs, in one allocation.
type parts struct {
	run       run
	statement statement
	budget    scanBudget
	looked    lookedBudget
	watched   atomic.Pointer[recorder]
	recorder  recorder
	warnings  warning.List
	env       planner.Env
	numbers   lookup.Numbers
	postgres  pgcatalog.Session
	seen      seenStatistics
	drawn     drawn
}

// Run runs one statement. A query runs while its rows are read; the caller must Close them. Other statements are
// complete when Run returns.
func (e *Engine) Run(ctx context.Context, stmt parser.Statement, args Args) (rows *Rows, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stmt, args, x, err := e.execution(stmt, args)
	if err != nil {
		return nil, err
	}
	if x != nil {
		defer func() {
			if err = x.placed(err); rows != nil {
				rows.Statement, rows.execute = stmt, x
			}
		}()
	}
	l, err := e.lives.begin(ctx, cmp.Or(args.Session, e.session))
	if err != nil {
		return nil, err
	}
	began := now(e.client)
	checked, err := e.look(l.ctx, stmt, args.Piece != nil)
	if err != nil {
		l.mu.Unlock()
		l.end()
		return nil, l.why(err)
	}
	return e.newRun(args, began).start(l, stmt, args.Plans, checked)
}

// start runs stmt until its rows can be read; l is its life. checked is nil or the channel that look returned.
func (r *run) start(l *life, stmt parser.Statement, kept *Plans, checked <-chan error) (rows *Rows, err error) {
	defer l.mu.Unlock()
	err = operator.Safely(func() (err error) {
		rows, err = r.attempt(l.ctx, stmt, kept, checked)
		return err
	})
	if err != nil {
		l.end()
		return nil, l.why(err)
	}
	if rows.op == nil {
		l.end()
		return rows, nil
	}
	rows.life, l.rows = l, rows
	return rows, nil
}

// attempt runs stmt. It runs stmt again if it has created a missing table, or if a query was planned by outdated
// definitions.
func (r *run) attempt(ctx context.Context, stmt parser.Statement, kept *Plans, checked <-chan error) (rows *Rows, err error) {
	e, again := r.engine, false
	known := e.defs.edition.Load()
	if checked != nil {
		rows, again, err = r.doAhead(ctx, stmt, kept, checked)
	} else {
		rows, err = r.do(ctx, stmt, kept)
	}
	if again {
		r.subqueries.end()
		return e.newRun(r.args, r.rec.began).attempt(ctx, stmt, kept, nil)
	}
	if err != nil || rows.op == nil {
		r.subqueries.end()
	}
	if r.rec.written.Load() > 0 {
		return rows, err // do not write the same rows twice
	}
	if s, ok := stmt.(*parser.Insert); ok && errors.Is(err, hbase.ErrNoTable) {
		if again, err = r.makeMissing(ctx, s.Table, err); err != nil {
			return nil, err
		}
	}
	stale := errors.Is(err, catalog.ErrUnknownTable) || errors.Is(err, ErrPieceChanged)
	again = again || e.redefined(stmt, err)
	if stale && !e.cfg.Alone { // another connection may have defined it just now, or a concurrent statement has read the definition
		if err := e.reload(ctx); err != nil {
			return nil, err
		}
		again = e.defs.edition.Load() != known
	}
	if again {
		r := e.newRun(r.args, r.rec.began)
		rows, err := r.do(ctx, stmt, kept)
		if err != nil || rows.op == nil {
			r.subqueries.end()
		}
		return rows, e.withDenied(err)
	}
	return rows, e.withDenied(err)
}

func (r *run) do(ctx context.Context, stmt parser.Statement, kept *Plans) (*Rows, error) {
	r.knowStatistics(ctx)
	if r.args.Piece == nil {
		if p := kept.plan(r.env); p != nil {
			return r.planned(ctx, p)
		}
	}
	stmt, err := r.throughView(stmt)
	if err != nil {
		return nil, err
	}
	r.prepare(ctx, stmt)
	switch s := stmt.(type) {
	case *parser.Select:
		if r.args.Piece != nil {
			return r.piece(ctx, s, r.args.Piece)
		}
		return r.query(ctx, s, kept)
	case *parser.Writing:
		return r.partly(r.writing(ctx, s))
	case *parser.Insert:
		return r.partly(r.insert(ctx, s))
	case *parser.Update:
		return r.partly(r.update(ctx, s))
	case *parser.Delete:
		for next := s.Next; next != nil; next = next.Next { // TRUNCATE of several tables
			if _, err := r.writableTable(next.Table, next.TablePos); err != nil {
				return nil, err
			}
		}
		for ; s.Next != nil; s = s.Next {
			if _, err := r.partly(r.delete(ctx, s, nil)); err != nil {
				return nil, err
			}
			r.before = r.rec.written.Load()
		}
		return r.partly(r.delete(ctx, s, nil))
	case *parser.Merge:
		return r.partly(r.merge(ctx, s))
	case *parser.CreateTable:
		return r.createTable(ctx, s)
	case *parser.Drop:
		return r.drops(ctx, s)
	case *parser.Alter:
		return r.alter(ctx, s)
	case *parser.CreateView:
		if s.Sequence != nil {
			return r.createSequence(ctx, s)
		}
		return r.createView(ctx, s)
	case *parser.Show:
		return r.show(ctx, s)
	case *parser.Explain:
		return r.explain(ctx, s)
	case *parser.Set:
		return r.set(ctx, s)
	case *parser.Copy:
		return r.copy(ctx, s)
	case *parser.CheckTable:
		return r.check(ctx, s)
	case *parser.Analyze:
		return r.analyzeTables(ctx, s)
	case *parser.Transaction:
		return r.transaction(s)
	case *parser.Prepare:
		return r.prepareStatement(ctx, s)
	case *parser.Deallocate:
		return r.deallocate(s)
	}
	return nil, parser.Errorf(stmt.Position(), "this statement cannot be run")
}

// prepare sets the functions and values that planning and the expressions of a plan need.
func (r *run) prepare(ctx context.Context, stmt parser.Statement) {
	r.mayPlan(ctx)
	r.Opt.Stop = ctx.Err
	r.Opt.Sequence = func(name string, args []types.Value) (types.Value, error) { return r.callSequence(ctx, name, args) }
	r.env.Postgres.LastValue = func(name string) (int64, bool) {
		c, err := r.counter(ctx, name)
		return c.last, err == nil && c.called
	}
	if x, ok := stmt.(*parser.Explain); !ok || x.Analyze {
		r.endSubqueries()
		r.subqueries = newSubqueries(ctx, r)
		r.env.Subqueries, r.env.Views = r.subqueries.values, &r.subqueries.views
		r.Opt.Subquery, r.Opt.Open, r.Opt.Resolve, r.Opt.Reuse = r.subqueries.answer, r.subqueries.open, r.resolvedBatch, r.subqueries.reuse
		r.Opt.MayRead, r.Opt.AtOnce = r.mayReadInstead, cap(r.Slots)
	}
}

// transaction accepts BEGIN, COMMIT, VACUUM and the like without effect. Each statement has written its rows when it returns;
// nothing can be rolled back.
func (r *run) transaction(s *parser.Transaction) (*Rows, error) {
	switch s.Verb {
	case "UNLISTEN", "LOCK TABLE": // connection pools and pg_dump send them
		return r.done(-1), nil
	case "VACUUM":
		r.Warn.Add(warning.Transaction, "VACUUM does nothing: HBase compacts by itself")
		return r.done(-1), nil
	}
	if s.Verb == "DROP SCHEMA" {
		used := strings.EqualFold(s.Name, "public")
		for _, t := range r.engine.catalog.Tables() {
			namespace, _, _ := strings.Cut(t.Name, ":")
			used = used || strings.EqualFold(s.Name, namespace)
		}
		if used {
			return nil, parser.Errorf(s.Pos, "schema %s has tables", s.Name).WithHint("DROP TABLE drops them").Of(parser.ErrUnsupported)
		}
	}
	if s.Note != "" {
		r.Warn.Add(warning.Absent, s.Note)
		return r.done(-1), nil
	}
	const none = "there are no transactions"
	if s.Verb == "ROLLBACK" {
		return nil, parser.Errorf(s.Pos, "%s: what was written stays", none)
	}
	r.Warn.Add(warning.Transaction, none+": each row is written whole, at once, and stays")
	return r.done(-1), nil
}

// Plan plans a query, or the reading part of a DELETE, UPDATE or INSERT ... SELECT, without running it. It reads only
// the names that LOOKUP parts of the key need, and definitions that may have changed.
func (e *Engine) Plan(ctx context.Context, stmt parser.Statement, args Args) (*plan.Plan, error) {
	stmt, args, x, err := e.execution(stmt, args)
	if err != nil {
		return nil, err
	}
	var p *plan.Plan
	err = e.during(ctx, args, func(ctx context.Context, r *run) (err error) {
		p, err = r.planFor(ctx, stmt)
		return err
	})
	return p, x.placed(err)
}

// during calls f, which only plans, with the context of a statement and a new run.
func (e *Engine) during(ctx context.Context, args Args, f func(ctx context.Context, r *run) error) error {
	l, err := e.lives.begin(ctx, cmp.Or(args.Session, e.session))
	if err != nil {
		return err
	}
	defer l.end()
	defer l.mu.Unlock()
	began := now(e.client)
	if err = e.refresh(l.ctx); err == nil {
		r := e.newRun(args, began)
		r.knowStatistics(l.ctx)
		r.mayPlan(l.ctx)
		err = f(l.ctx, r)
	}
	return l.why(err)
}
