package planner

import (
	"cmp"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Options configure planning. The zero value works.
type Options = access.Options

// Env is the environment in which a statement is planned.
type Env struct {
	Catalog *catalog.Catalog
	Args    []types.Value          // for ? and $n
	Named   map[string]types.Value // for @name
	Loc     *time.Location
	Now     int64          // milliseconds since 1970-01-01, the same for the whole statement
	Funcs   *expr.Registry // nil: the built-in functions
	Options Options
	// Parameters collects the types that the contexts of parameters expect; nil: they are not needed.
	Parameters *expr.Parameters
	// Lookups returns known values of LOOKUP calls; ok is false for a call that is not resolved yet. NULL means that the
	// name does not exist.
	Lookups func(k plan.LookupKey) (v types.Value, ok bool)
	// Subqueries returns the rows of a closed sub-query that was run; ok is false before it was run. It may be nil.
	Subqueries func(s *plan.Subplan) (rows *plan.Set, ok bool)
	// Views keeps the queries of views while the statement is planned repeatedly. It is required with Subqueries.
	Views *Views
	// Given are the rows of WITH queries that write, by the empty query that stands for each in its list.
	Given map[*parser.Select]*Given
	// Statistics returns the statistics of a table, or nil; the function may be nil. Statistics affect the plan, never the
	// rows.
	Statistics func(*catalog.Table) *stats.Table
	// MayReadAll reports whether a full scan is allowed if statistics say that it costs less than another access; nil:
	// always.
	MayReadAll func(*plan.Scan) bool
	// Denied is access.Env.Denied.
	Denied func(*catalog.Layout) bool
	// Trusted reports whether statistics are recent enough to permit reads because of them; nil: always.
	Trusted func(*stats.Table) bool
	// Stop returns an error to end planning, or nil to continue. Planning calls it often. Nil: planning is not
	// interrupted.
	Stop func() error
	// Postgres is PostgreSQL's system catalog for the statement; nil: one without a client.
	Postgres *pgcatalog.Session
	// Moment is expr.Scope.Moment.
	Moment func(at parser.Pos, v types.Value)
	// MadeUp is access.Env.MadeUp.
	MadeUp bool
}

// Given are rows that are known before a query is planned.
type Given struct {
	Columns []plan.OutputColumn
	Rows    [][]types.Value
}

// access returns the best way to read a table.
func (e *Env) access(req *access.Request) (*plan.Scan, error) {
	return e.accessEnv().Scan(req)
}

func (e *Env) accessEnv() *access.Env {
	return &access.Env{Options: e.Options, Lookups: e.Lookups, Statistics: e.Statistics, MayReadAll: e.MayReadAll, Trusted: e.Trusted, Denied: e.Denied, MadeUp: e.MadeUp, Stop: e.Stop}
}

func (e *Env) funcs() *expr.Registry { return cmp.Or(e.Funcs, functions.Builtins()) }
