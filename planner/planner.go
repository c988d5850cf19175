package planner

import (
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Options steer planning. The zero value works.
type Options struct {
	// MaxSpans bounds the key ranges of one table access; 0 means 100,000. Beyond it a
	// plan reads wider ranges and says so.
	MaxSpans int
	// MaxEnumerate bounds the values of a salt, hash or bucket part that are enumerated; 0 means 1024.
	MaxEnumerate int
	// The switches turn single rules off, to compare plans with and without them.
	NoKey, NoPushdown, NoOrder, NoSkip bool
}

// Env is what a statement is planned in.
type Env struct {
	Catalog *catalog.Catalog
	Args    []types.Value          // for ? and $n
	Named   map[string]types.Value // for @name
	Loc     *time.Location
	Now     int64 // ms since 1970, fixed for the statement
	Funcs   *expr.Registry
	Options Options
	// Lookups gives known values of LOOKUP calls; ok false: not resolved yet. A NULL value: no such name.
	Lookups func(k LookupKey) (v types.Value, ok bool)
	// Subqueries gives the rows of closed sub-queries that were run; nil, or ok false: not yet.
	Subqueries func(s *Subplan) (values []types.Value, ok bool)
	// Stop says why planning is to end, nil to go on; it is asked often. nil: planning goes on to its end.
	Stop func() error
}

// stopped is what tick panics with, for access to turn into an error: there is none in the loops between the two.
type stopped struct{ why error }

// tick ends the planning of a table access when that is wanted.
func (e *Env) tick() {
	if e.Stop == nil {
		return
	}
	if why := e.Stop(); why != nil {
		panic(stopped{why})
	}
}

// accessRequest asks for the best way to read one table.
type accessRequest struct {
	table   *catalog.Table
	columns columns // set by access
	alias   string
	// conjuncts are the predicates over the table's own row (expr.Column.Index is the column's),
	// all of which must hold. The two pseudo-columns follow the table's columns.
	conjuncts        []expr.Expr
	needed           []bool     // columns that nodes above read, by index incl. pseudo-columns; conjuncts' columns are added as needed
	orderBy          []SortTerm // wanted order over the table's row; nil: any
	unmerged         bool       // the order is wanted only if spans need not be merged for it
	limit            int64      // rows wanted in that order; -1: all
	layout           string     // forced by a hint; "": the cheapest
	minTime, maxTime int64
	allVersions      bool
	noPushdown       bool
}
