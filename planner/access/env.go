package access

import (
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Options configure planning. The zero value works.
type Options struct {
	// MaxSpans bounds the number of key ranges of one table access; 0 means 100,000. A plan with more ranges reads wider
	// ones, and warns.
	MaxSpans int
	// MaxEnumerate bounds the number of values of a salt, hash or bucket that are enumerated; 0 means 1024.
	MaxEnumerate int
	// Each switch turns one rule off, to compare plans with and without it.
	NoKey, NoPushdown, NoOrder, NoSkip bool
	// NoRules turns off the rules that move conditions: see planner/rules.go and planner/semijoin.go.
	NoRules bool
}

func (o Options) withDefaults() Options {
	if o.MaxSpans == 0 {
		o.MaxSpans = 100_000
	}
	if o.MaxEnumerate == 0 {
		o.MaxEnumerate = 1024
	}
	return o
}

// Env is the environment for planning a table access.
type Env struct {
	Options Options
	// Lookups returns known values of LOOKUP calls; ok is false for a call that is not resolved yet. NULL means that the
	// name does not exist.
	Lookups func(k plan.LookupKey) (v types.Value, ok bool)
	// Statistics returns the statistics of a table, or nil; the function may be nil. Statistics affect the choice of the
	// access, never the rows.
	Statistics func(*catalog.Table) *stats.Table
	// MayReadAll reports whether a full scan is allowed if statistics say that it costs less than an access by the key;
	// nil: always.
	MayReadAll func(*plan.Scan) bool
	// Denied reports whether the user may not read an INDEX or a copy; then the rows are read without it. Nil: the user
	// may read all.
	Denied func(*catalog.Layout) bool
	// Trusted reports whether statistics are recent enough to permit reads because of them; nil: always.
	Trusted func(*stats.Table) bool
	// MadeUp is set if the plan's constants are made up and the plan is not run. A constant that a key part cannot hold is
	// then replaced by one that it can hold.
	MadeUp bool
	// Stop returns an error to end planning, or nil to continue. Planning calls it often. Nil: planning is not
	// interrupted.
	Stop func() error
}

// denies reports whether the user may not read l, unless the query asks for l by name.
func (e *Env) denies(l *catalog.Layout, req *Request) bool {
	return req.Layout == "" && l.Kind != catalog.Primary && e.Denied != nil && e.Denied(l)
}

// stopped is the value with which tick panics. Scan converts it to an error, because the loops in between cannot return
// errors.
type stopped struct{ why error }

// tick ends planning if Stop returns an error.
func (e *Env) tick() {
	if e.Stop == nil {
		return
	}
	if why := e.Stop(); why != nil {
		panic(stopped{why})
	}
}
