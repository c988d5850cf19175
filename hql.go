package hql

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// DB is a catalog on a store. It is safe for concurrent use.
type DB struct {
	client   hbase.Client
	engine   *exec.Engine
	cfg      *config
	writable bool
	owned    bool // Open created the client
	// statements caches parsed queries by their text.
	statements *lru.Cache[string, *Stmt]

	totals  *totals
	session *exec.Session // nil: the engine's default session
	parent  *DB           // the DB of Session; nil if Open or New made this DB

	mu     sync.RWMutex
	closed bool
}

// Session returns a DB on the same store and catalog with settings of its own, like a connection of a pool: SET applies
// only to statements that run through it. After its Close no further statement begins. The Close of db ends all sessions.
func (db *DB) Session() *DB {
	return &DB{client: db.client, engine: db.engine, cfg: db.cfg, writable: db.writable, statements: newStatements(), totals: db.totals,
		session: db.engine.NewSession(), parent: db}
}

// SessionOf is Session for a connection that speaks PostgreSQL's protocol. c describes the client to the system catalog.
func (db *DB) SessionOf(c *pgcatalog.Client) *DB {
	s := db.Session()
	s.session.Client = c
	return s
}

// RelationOID returns the OID that pg_class has for a table or view, 0 if there is none of that name.
func (db *DB) RelationOID(name string) uint32 { return db.engine.RelationOID(name) }

// newStatements returns an empty cache of statements.
func newStatements() *lru.Cache[string, *Stmt] {
	c, err := lru.New[string, *Stmt](maxKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	return c
}

// Result is the outcome of a statement without rows.
type Result struct {
	// RowsAffected is the number of rows written; -1 if the statement does not count rows (CREATE TABLE).
	RowsAffected int64
	Warnings     []string
	Stats        Stats
}

// Stats counts the reads, writes and time of a statement. Fields ([exec.Stats]):
//
//	Gets, Scans  int64 // rows requested by key; ranges opened
//	RowsRead     int64 // rows received from the servers
//	Regions      int64 // regions that answered
//	RowsReturned int64
//	RowsWritten  int64
//	RPCs, Bytes  int64 // calls sent, also by other statements that use the DB at the time; bytes of cells received
//	Retries      int64 // calls repeated and scanners reopened
//	Elapsed      time.Duration
//	Tables       []scan.TableStats // one for each access to a table
//	Done         float64 // the finished part of the work, below 1; 0 if unknown or ended
type Stats = exec.Stats

// Query runs one statement and returns its rows, which must be closed; reading them to the end closes them. Cancelling
// ctx ends the reading too. With an error, the rows are not nil: they are closed, and their Err is the error, so that
// CollectRows and the like return it.
//
// Arguments are the values of ?, $1 or, as NamedArgs, of @name. They may be nil, bool, integers, floats, string, []byte
// and byte arrays, time.Time (a TIMESTAMP; for a DATE its year, month and day), time.Duration (a TIME), json.RawMessage,
// driver.Valuer, types.Value, structs and maps (JSON), and pointers to these. A slice of them is an argument of x IN (?), x = ANY (?) and, in FROM,
// UNNEST (?). QueryOptions may come first.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	s, err := db.statement(sql)
	if err != nil {
		return failedRows(err), err
	}
	return s.Query(ctx, args...)
}

// parse parses one statement. placed reports whether its meaning depends on search_path.
func (db *DB) parse(sql string) (s parser.Statement, placed bool, err error) {
	if s, err = parser.ParseStatement(sql); err == nil {
		placed = db.engine.Place(s, sql, db.session)
	}
	return s, placed, err
}

// statement parses one statement, or returns it from the cache.
func (db *DB) statement(sql string) (*Stmt, error) {
	if s, ok := db.statements.Get(sql); ok && !db.Settings().Searches() {
		return s, nil
	}
	parsed, placed, err := db.parse(sql)
	if err != nil {
		return nil, err
	}
	s := db.parsed(parsed, sql)
	s.placed = placed
	if _, query := parsed.(*parser.Select); query && !placed && len(sql) <= maxKeptText {
		db.statements.Add(sql, s)
	}
	return s, nil
}

func (db *DB) parsed(s parser.Statement, sql string) *Stmt {
	return &Stmt{db: db, sql: sql, parsed: s, params: findParams(s)}
}

func (db *DB) open() error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return ErrClosed
	}
	if db.parent != nil {
		return db.parent.open()
	}
	return nil
}

// QueryRow runs a query and returns its first row. The result's Scan returns errors.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) *OneRow {
	rows, err := db.Query(ctx, sql, args...)
	return &OneRow{rows, err}
}

// Exec runs one statement or, without arguments, several that are separated by semicolons. It returns the last statement's
// result with the warnings of all.
func (db *DB) Exec(ctx context.Context, sql string, args ...any) (Result, error) {
	stmts, err := parser.Parse(sql)
	if err != nil {
		return Result{}, err
	}
	if len(stmts) != 1 && len(args) > 0 {
		return Result{}, errors.New("arguments need exactly one statement")
	}
	var out Result
	for _, s := range stmts {
		db.engine.Place(s, sql, db.session)
		rows, err := db.parsed(s, sql).runPiece(ctx, args, nil)
		if err != nil {
			return out, err
		}
		warnings := out.Warnings
		out, err = rows.drain()
		out.Warnings = append(warnings, out.Warnings...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// Prepare parses one statement and checks that the tables and columns that it reads exist. Each call plans the statement
// again, because the keys to read depend on the arguments. Only a query that reads one row by its whole key keeps its
// plan: a call then only encodes the key.
func (db *DB) Prepare(ctx context.Context, sql string) (*Stmt, error) {
	s, err := db.statement(sql)
	if err != nil {
		return nil, err
	}
	if err := db.open(); err != nil {
		return nil, err
	}
	nulls := exec.Args{Positional: make([]types.Value, s.params.count), Named: map[string]types.Value{}, Session: db.session}
	for _, p := range s.params.named {
		nulls.Named[p.Name] = types.Value{}
	}
	if _, err := db.engine.Plan(ctx, s.parsed, nulls); errors.Is(err, ErrUnknownTable) || errors.Is(err, ErrUnknownColumn) {
		return nil, located(err, sql)
	}
	return s, nil
}

// Explain plans a query, or the reads of a writing statement, without running it. Without arguments, a statement with
// parameters is planned for made-up ones: if values lead to different plans, for those that read most.
func (db *DB) Explain(ctx context.Context, sql string, args ...any) (*Plan, error) {
	s, _, err := db.parse(sql)
	if err != nil {
		return nil, err
	}
	return db.explain(ctx, s, sql, args)
}

// explain plans one parsed statement, which binding the arguments may change.
func (db *DB) explain(ctx context.Context, s parser.Statement, sql string, args []any) (*Plan, error) {
	if e, ok := s.(*parser.Explain); ok {
		s = e.Statement
	}
	if err := db.open(); err != nil {
		return nil, err
	}
	bound, err := db.bind(&parser.Explain{Statement: s}, sql, args)
	if err != nil {
		return nil, err
	}
	p, err := db.engine.Plan(ctx, s, bound)
	if err != nil {
		return nil, located(err, sql)
	}
	return newPlan(p), nil
}

// bind converts args to arguments for s, whose text is sql, in the DB's session. It changes s if a slice fills an IN list.
func (db *DB) bind(s parser.Statement, sql string, args []any) (exec.Args, error) {
	used := findParams(s)
	bound, lists, err := bind(used, args)
	if err != nil {
		return exec.Args{}, located(err, sql)
	}
	used.expand(&bound, lists)
	bound.Session = db.session
	return bound, nil
}

// Settings returns the session of the statements that run through db: its settings and prepared statements.
func (db *DB) Settings() *exec.Session { return cmp.Or(db.session, db.engine.Session()) }

// Tables returns the tables in the catalog, sorted by name. They must not be changed.
func (db *DB) Tables() []*catalog.Table { return db.engine.Catalog().Tables() }

// Views returns the views in the catalog, sorted by name.
func (db *DB) Views() []*catalog.View { return db.engine.Catalog().Views() }

// Catalog returns the DB's catalog.
func (db *DB) Catalog() *catalog.Catalog { return db.engine.Catalog() }

// Client returns the client through which the DB reads and writes. It refuses writes if the DB is read-only.
func (db *DB) Client() hbase.Client { return db.engine.Client() }

// Statistics returns the results of ANALYZE for a table, for planning outside the DB, as in package design. It returns nil
// if there are none, or if ctx ends before they are read.
func (db *DB) Statistics(ctx context.Context, t *catalog.Table) *stats.Table {
	return db.engine.Statistics(ctx, t)
}

// Writable reports whether statements may write.
func (db *DB) Writable() bool { return db.writable }

// Ping sends a small request to the store to check the connection.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.open(); err != nil {
		return err
	}
	_, err := db.client.Tables(ctx, "hql_catalog")
	return err
}

// Closed reports whether Close was called. Statements then fail with ErrClosed.
func (db *DB) Closed() bool { return db.open() != nil }

// Close ends all statements, whose Rows then fail with ErrClosed, and the connection that Open made. Functions that a
// statement calls, such as a tracer, must not call Close.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
	if db.parent != nil {
		return db.engine.DropTemporary(context.Background(), db.session)
	}
	errs := []error{db.engine.DropTemporary(context.Background(), db.engine.Session())}
	db.engine.Close()
	if db.owned {
		errs = append(errs, db.client.Close())
	}
	return errors.Join(errs...)
}

// maxKept bounds the number of parsed queries that a DB caches; maxKeptText bounds the text of each in bytes.
const maxKept, maxKeptText = 256, 4096

// Stmt is a prepared statement. It is safe for concurrent use.
type Stmt struct {
	db     *DB
	sql    string
	parsed parser.Statement // shared by all calls; must not be changed
	params *params
	placed bool // search_path was set when the text was parsed
	copied bool // parsed is the query of the COPY in the text
	plans  exec.Plans
	source iter.Seq2[[]types.Value, error] // the rows of CopyFrom
}

// run binds and runs the statement.
func (s *Stmt) run(ctx context.Context, args []any) (*Rows, error) {
	s, err := s.now(false)
	if err != nil {
		return nil, err
	}
	return s.runPiece(ctx, args, nil)
}

// now returns s or, if search_path may find other tables than before, the statement parsed again. If again is set, it
// always parses the text again.
func (s *Stmt) now(again bool) (*Stmt, error) {
	if !again && !s.placed && !s.db.Settings().Searches() {
		return s, nil
	}
	parsed, _, err := s.db.parse(s.sql)
	if err != nil {
		return nil, err
	}
	out := s.db.parsed(parsed, s.sql)
	if s.copied {
		out = out.Copied()
	}
	return out, nil
}

// runPiece runs a piece of a query; with a nil piece it runs the whole statement. If a slice among args fills an IN list, it
// parses the text again, since calls share the syntax tree.
func (s *Stmt) runPiece(ctx context.Context, args []any, piece *exec.Piece) (*Rows, error) {
	if err := s.db.open(); err != nil {
		return nil, err
	}
	cfg := s.db.cfg
	ctx, traced := cfg.tracers.begin(ctx, s.parsed, s.sql, args)
	s.db.totals.begin()
	end := func(rows *exec.Rows, err error) {
		s.db.totals.end(rows, err)
		traced(rows, err)
	}
	bound, lists, err := bind(s.params, args)
	if err == nil && len(lists) > 0 {
		var own *Stmt
		if own, err = s.now(true); err == nil {
			own.params.expand(&bound, lists)
			s = own
		}
	}
	bound.Plans, bound.Session, bound.Piece, bound.Source = &s.plans, s.db.session, piece, s.source
	var rows *exec.Rows
	if err == nil {
		rows, err = s.db.engine.Run(ctx, s.parsed, bound)
	}
	if err != nil {
		err = located(err, s.sql)
		end(nil, err)
		return nil, err
	}
	return &Rows{rows: rows, sql: s.sql, stmt: cmp.Or(rows.Statement, s.parsed), loc: rows.Location(), end: end}, nil
}

// Query runs the statement: see DB.Query.
func (s *Stmt) Query(ctx context.Context, args ...any) (*Rows, error) {
	rows, err := s.run(ctx, args)
	if err != nil {
		return failedRows(err), err
	}
	return rows, nil
}

// QueryRow runs the statement and returns its first row.
func (s *Stmt) QueryRow(ctx context.Context, args ...any) *OneRow {
	rows, err := s.run(ctx, args)
	return &OneRow{rows, err}
}

// Exec runs the statement and returns its result, discarding its rows.
func (s *Stmt) Exec(ctx context.Context, args ...any) (Result, error) {
	rows, err := s.run(ctx, args)
	if err != nil {
		return Result{}, err
	}
	return rows.drain()
}

// Explain plans the statement with these arguments, without running it: see DB.Explain.
func (s *Stmt) Explain(ctx context.Context, args ...any) (*Plan, error) {
	s, err := s.now(true) // arguments may change the syntax tree, also made-up ones
	if err != nil {
		return nil, err
	}
	return s.db.explain(ctx, s.parsed, s.sql, args)
}

// Parameters returns the number of ? or $n arguments that the statement takes.
func (s *Stmt) Parameters() int { return s.params.count }

// SQL returns the statement's text.
func (s *Stmt) SQL() string { return s.sql }

// Close does nothing: a statement holds no resources.
func (s *Stmt) Close() error { return nil }
