package access

import (
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
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
	// Lookups gives known values of LOOKUP calls; ok false: not resolved yet. A NULL value: no such name.
	Lookups func(k plan.LookupKey) (v types.Value, ok bool)
	// Statistics returns the statistics of a table, or nil; it may be nil itself. Statistics change which access is
	// chosen, never the rows.
	Statistics func(*catalog.Table) *stats.Table
	// MayReadAll reports whether a full scan may be chosen if statistics say that it costs less than an access by the key;
	// nil: always.
	MayReadAll func(*plan.Scan) bool
	// Denied reports whether the user may not read an INDEX or a copy: the rows are read without it. nil: none is denied.
	Denied func(*catalog.Layout) bool
	// Trusted reports whether statistics are new enough to promise by them how much is read; nil: always.
	Trusted func(*stats.Table) bool
	// MadeUp is set for a plan to look at whose constants are made up: one that a key part cannot hold is taken for another that it can.
	MadeUp bool
	// Stop says why planning is to end, nil to go on; it is asked often. nil: planning goes on to its end.
	Stop func() error
}

// denies reports whether the user may not read l, where the query does not ask for it by name.
func (e *Env) denies(l *catalog.Layout, req *Request) bool {
	return req.Layout == "" && l.Kind != catalog.Primary && e.Denied != nil && e.Denied(l)
}

// stopped is the panic of tick, which Scan turns into an error. The loops between the two cannot return errors.
type stopped struct{ why error }

// tick ends the planning when that is wanted.
func (e *Env) tick() {
	if e.Stop == nil {
		return
	}
	if why := e.Stop(); why != nil {
		panic(stopped{why})
	}
}
