package scan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/lookup"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// Reads is what the reads of one statement share.
type Reads struct {
	Client   hbase.Client
	Warn     *warning.List
	Recorder *Recorder
	Opt      operator.Options
	Tuning   Tuning
	// Slots bounds the reads in flight, over all of the statement's tables.
	Slots   chan struct{}
	Numbers *lookup.Numbers // of names in keys
	Tracer  Tracer          // nil: none
	// Timeline lets replicas of regions answer: see hbase.ReadOptions.
	Timeline bool
	// Metrics has the servers tell how many rows they look at: see hbase.ReadOptions.
	Metrics bool
	Guard   Guard
}

// Guard is asked whether a statement may go on.
type Guard interface {
	// TooMany is asked before a scan that found too many values to hop to reads the rest whole.
	TooMany(s *plan.Scan) error
}

// ExprEnv is what expressions over rows are evaluated in.
func (st *Reads) ExprEnv() expr.Env { return *st.Opt.Env() }

// KeyEnv is what the parts of keys are computed in. A row whose key cannot be computed is taken for one that is not
// stored: that the statement ends is no such reason, so that nothing stops it here.
func (st *Reads) KeyEnv() expr.Env {
	env := st.ExprEnv()
	env.Stop = nil
	return env
}

// ReadOptions says what is read of the rows of a layout.
func ReadOptions(s *plan.Scan, l *catalog.Layout) hbase.ReadOptions {
	if s.Covered && l.Kind != catalog.Primary {
		return hbase.ReadOptions{} // all cells: where one is old, the entry is not taken
	}
	if s.Entries && l.Kind != catalog.Primary {
		return hbase.ReadOptions{Filter: filter.And{filter.FirstCell{}, filter.KeyOnly{}}}
	}
	o := hbase.ReadOptions{MinTime: s.MinTime, MaxTime: s.MaxTime, NoCacheBlocks: s.Access >= plan.SkipScan}
	if s.AllVersions {
		o.Versions = math.MaxInt32
	}
	o.Filter, o.Families = s.Filter, s.Families
	switch s.Fetch {
	case plan.FetchKeys:
		o.Filter = allOf(s.Filter, filter.FirstCell{}, filter.KeyOnly{})
	case plan.FetchFirst:
		o.Filter = allOf(s.Filter, filter.Columns(s.Columns))
	case plan.FetchColumns:
		o.Columns, o.Families = s.Columns, nil
	}
	return o
}

// withMob gives s as it is to be read for the MOB families of its HBase tables. Where their descriptions cannot be read, as without the right
// to see them, all families are taken for such.
func (st *Reads) withMob(ctx context.Context, s *plan.Scan, spans []plan.Span) *plan.Scan {
	if s.WithMob(func(string) bool { return true }) == s {
		return s // no filter compares values
	}
	var tables []string
	for _, sp := range spans {
		if len(tables) == 0 || tables[len(tables)-1] != sp.Table {
			tables = append(tables, sp.Table)
		}
	}
	families, err := st.Client.MobFamilies(ctx, tables...)
	return s.WithMob(func(f string) bool { return err != nil || slices.Contains(families, f) })
}

// Whole reads all rows of one layout.
func Whole(t *catalog.Table, l *catalog.Layout) *plan.Scan {
	s := plan.NewScan(t, l)
	s.Entries = l.Kind == catalog.Index
	for i := range s.Needed {
		s.Needed[i] = true
	}
	name, whole := l.Stored.Prefix()
	if whole {
		s.Spans = []plan.Span{{Table: name}}
	} else {
		s.ListTables, s.TablePrefix, s.Spans = true, name, []plan.Span{{}}
	}
	return s
}

// allOf is a flat And of first, which may be nil, and more.
func allOf(first filter.Filter, more ...filter.Filter) filter.Filter {
	out := append(filter.And(slices.Clone(flat(first))), more...)
	if len(out) == 1 {
		return out[0]
	}
	return out
}

// flat gives the filters that f is the And of; none for nil.
func flat(f filter.Filter) []filter.Filter {
	switch f := f.(type) {
	case nil:
		return nil
	case filter.And:
		return f
	}
	return []filter.Filter{f}
}

// next is sc.Next within the reads that the statement may have in flight.
func (st *Reads) next(ctx context.Context, sc hbase.Scanner) ([]hbase.Row, error) {
	select {
	case st.Slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-st.Slots }()
	return sc.Next(ctx)
}

// ComputedName reports whether the physical tables of l are named by their rows: one that does not exist is empty.
func ComputedName(l *catalog.Layout) bool { return !l.Stored.IsLiteral() }

// readError says which table a read was of, unless it was given up.
func readError(table string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("read %s: %w", table, err)
}
