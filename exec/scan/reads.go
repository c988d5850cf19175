package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Reads is the state that the reads of one statement share.
type Reads struct {
	Client   hbase.Client
	Warn     *warning.List
	Recorder *Recorder
	Opt      operator.Options
	Tuning   Tuning
	// Slots bounds the number of parallel reads, over all of the statement's tables.
	Slots   chan struct{}
	Numbers *lookup.Numbers // for names in keys
	Tracer  Tracer          // nil: none
	// Metrics requests the numbers of rows that servers look at: see hbase.ReadOptions.
	Metrics bool
	Guard   Guard
}

// Guard decides whether a statement may continue.
type Guard interface {
	// TooMany is called before a scan that found too many values to hop over reads all remaining rows.
	TooMany(s *plan.Scan) error
}

// ExprEnv returns the environment for expressions over rows.
func (st *Reads) ExprEnv() expr.Env { return *st.Opt.Env() }

// KeyEnv returns the environment for computing parts of keys. It is never cancelled: a row whose key cannot be computed
// counts as not stored, and the end of the statement must not cause that.
func (st *Reads) KeyEnv() expr.Env {
	env := st.ExprEnv()
	env.Stop = nil
	return env
}

// ReadOptions returns the columns and the filter with which the rows of a layout are read.
func ReadOptions(s *plan.Scan, l *catalog.Layout) hbase.ReadOptions {
	if s.Entries && l.Kind != catalog.Primary {
		return hbase.ReadOptions{Filter: allOf(s.Filter, filter.FirstCell{}, filter.KeyOnly{})}
	}
	o := hbase.ReadOptions{MinTime: s.MinTime, MaxTime: s.MaxTime, NoCacheBlocks: s.Access >= plan.SkipScan}
	if s.ByTime {
		o.MinTime, o.MaxTime = 0, 0
	}
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

// keysByTime returns the options with which a scan finds the keys of the rows of s: see Scan.ByTime. o are the options
// for reading the rows.
func keysByTime(s *plan.Scan, o hbase.ReadOptions) hbase.ReadOptions {
	o.MinTime, o.MaxTime, o.Columns, o.Families = s.MinTime, s.MaxTime, nil, s.Families
	o.Filter = append(filter.OfKeys(s.Filter), filter.FirstCell{}, filter.KeyOnly{})
	return o
}

// withMob returns s adapted to the MOB families of its HBase tables. If their descriptions cannot be read, for example
// without the permission, all families are treated as MOB families.
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

// Whole returns a plan that reads all rows of one layout.
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

// allOf returns a flat And of first, which may be nil, and more.
func allOf(first filter.Filter, more ...filter.Filter) filter.Filter {
	out := append(filter.And(slices.Clone(flat(first))), more...)
	if len(out) == 1 {
		return out[0]
	}
	return out
}

// flat returns the parts of f if it is an And, otherwise f; none for nil.
func flat(f filter.Filter) []filter.Filter {
	switch f := f.(type) {
	case nil:
		return nil
	case filter.And:
		return f
	}
	return []filter.Filter{f}
}

// next calls sc.Next within the limit of parallel reads.
func (st *Reads) next(ctx context.Context, sc hbase.Scanner) ([]hbase.Row, error) {
	select {
	case st.Slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-st.Slots }()
	return sc.Next(ctx)
}

// scan calls f with each batch of rows of the range r, and counts them in stats.
func (st *Reads) scan(ctx context.Context, stats *Counts, r hbase.ScanRange, o *hbase.ReadOptions, f func(rows []hbase.Row)) error {
	stats.ranges.Add(1)
	sc, err := st.Client.Scan(ctx, r, o)
	if err != nil {
		return err
	}
	defer sc.Close()
	for {
		rows, err := st.next(ctx, sc)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		stats.read.Add(int64(len(rows)))
		f(rows)
	}
}

// ComputedName reports whether the names of l's HBase tables depend on the rows. Such a table counts as empty if it does
// not exist.
func ComputedName(l *catalog.Layout) bool { return !l.Stored.IsLiteral() }

// ReadError adds the name of the table to err, unless the read was cancelled.
func ReadError(table string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("read %s: %w", table, err)
}
