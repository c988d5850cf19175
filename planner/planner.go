package planner

import (
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Options steer planning. The zero value works.
type Options = access.Options

// Env is what a statement is planned in.
type Env struct {
	Catalog *catalog.Catalog
	Args    []types.Value          // for ? and $n
	Named   map[string]types.Value // for @name
	Loc     *time.Location
	Now     int64 // ms since 1970, fixed for the statement
	Funcs   *expr.Registry
	Options Options
	// Parameters learns what types the places of parameters want; nil: nobody asks.
	Parameters *expr.Parameters
	// Lookups gives known values of LOOKUP calls; ok false: not resolved yet. A NULL value: no such name.
	Lookups func(k plan.LookupKey) (v types.Value, ok bool)
	// Subqueries gives the rows of closed sub-queries that were run, one after the other; nil, or ok false: not yet.
	Subqueries func(s *plan.Subplan) (values []types.Value, ok bool)
	// Views keeps what views stand for while the statement is planned again and again; needed where Subqueries is.
	Views *Views
	// Statistics gives what is known of a table, nil for nothing; it may be nil. What it says changes plans, never an answer.
	Statistics func(*catalog.Table) *stats.Table
	// MayReadAll reports whether a full scan may be chosen where statistics say that it costs less than a way that is none; nil: always.
	MayReadAll func(*plan.Scan) bool
	// Denied is that of access.Env.
	Denied func(*catalog.Layout) bool
	// Trusted reports whether statistics are new enough to promise by them how much is read; nil: always.
	Trusted func(*stats.Table) bool
	// Stop says why planning is to end, nil to go on; it is asked often. nil: planning goes on to its end.
	Stop func() error
	// Postgres is the catalog of PostgreSQL for the statement; nil: one without a client.
	Postgres *pgcatalog.Session
	// Moment is that of expr.Scope.
	Moment func(at parser.Pos, v types.Value)
	// MadeUp is that of access.Env.
	MadeUp bool
}

// access finds the best way to read a table.
func (e *Env) access(req *access.Request) (*plan.Scan, error) {
	return e.accessEnv().Scan(req)
}

func (e *Env) accessEnv() *access.Env {
	return &access.Env{Options: e.Options, Lookups: e.Lookups, Statistics: e.Statistics, MayReadAll: e.MayReadAll, Trusted: e.Trusted, Denied: e.Denied, MadeUp: e.MadeUp, Stop: e.Stop}
}
