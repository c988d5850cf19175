package exec

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// FullScanPolicy decides about a statement that would read a whole table because no condition binds its rowkey.
type FullScanPolicy uint8

// The policies. Warn is the default.
const (
	WarnFullScan FullScanPolicy = iota
	AllowFullScan
	DenyFullScan
)

// String returns the policy as SET full_scan takes it.
func (p FullScanPolicy) String() string { return [...]string{"warn", "allow", "deny"}[p] }

// ParseFullScanPolicy reads "allow", "warn" or "deny".
func ParseFullScanPolicy(s string) (FullScanPolicy, error) {
	for _, p := range []FullScanPolicy{WarnFullScan, AllowFullScan, DenyFullScan} {
		if p.String() == s {
			return p, nil
		}
	}
	return 0, fmt.Errorf("full_scan is allow, warn or deny, not %q", s)
}

// ErrFullScan marks, for errors.Is, the refusal of a full scan.
var ErrFullScan = errors.New("full scan refused")

// ErrReadOnly marks, for errors.Is, the refusal of a write on a read-only connection.
var ErrReadOnly = write.ErrReadOnly

// ErrMemoryLimit marks, for errors.Is, a query that needs more memory than allowed.
var ErrMemoryLimit = expr.ErrMemoryLimit

// FullScanError is the refusal of a statement that would read all of Table.
type FullScanError struct {
	Table  string
	Advice string // the condition that would bind the start of the rowkey; "" if there is none
	// Rows, if not 0, is the number of rows that the statement's LIMIT and OFFSET would read: more than Most, the setting
	// full_scan_rows.
	Rows, Most int64
	// Hopped, if not "", names the parts of the key with too many values to hop over.
	Hopped string
}

// Error names the table, the condition to add, and the ways to allow the scan.
func (e *FullScanError) Error() string {
	s := fmt.Sprintf("this would read all of %s: nothing binds the start of its rowkey", e.Table)
	switch {
	case e.Rows > 0:
		s = fmt.Sprintf("this would read %s of %s without its rowkey, and full_scan_rows allows %d", words.Count(e.Rows, "row"), e.Table, e.Most)
	case e.Hopped != "":
		s = fmt.Sprintf("this would read all of %s: %s, which it does not bind, has too many values to hop over", e.Table, e.Hopped)
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s + "; or allow it: ALLOW FULL SCAN at the end of the statement, SET full_scan = 'allow', or --full-scan allow"
}

// Is makes errors.Is(err, ErrFullScan) true.
func (e *FullScanError) Is(target error) bool { return target == ErrFullScan }

// defaultFullScanRows is the default of the setting full_scan_rows.
const defaultFullScanRows = 10_000

// smallTable is the greatest size, by statistics, of a table that may be read completely without permission. If the
// statement has a scan limit, that applies instead.
var smallTable = ScanLimit{Rows: 100_000, Bytes: 64 << 20}

// trustedAge is the greatest age of statistics that permit a full scan: a table may grow fast.
const trustedAge = 24 * time.Hour

// trusts reports whether statistics are younger than trustedAge and know the number of rows.
func (st *statement) trusts(t *stats.Table) bool {
	return t != nil && !t.Unscaled && st.age(t).Abs() <= trustedAge
}

// readable returns the greatest size, by statistics, of a table that the statement may read completely without
// permission.
func (st *statement) readable() ScanLimit { return st.budget.limit.or(smallTable) }

// small reports whether trusted statistics show that the whole layout that s reads is small. The rows that servers
// filter out count, too.
func (st *statement) small(s *plan.Scan) bool {
	if st.statistics == nil {
		return false
	}
	known, most := st.statistics(s.Table), st.readable()
	k := known.Key(s.Layout.Name)
	return k != nil && st.trusts(known) && k.Rows >= 0 && k.Rows <= float64(most.Rows) && known.Bytes >= 0 && k.Rows*known.Bytes <= float64(most.Bytes)
}

// mayReadAll reports whether the planner may choose a full scan that costs less than other plans.
func (st *statement) mayReadAll(s *plan.Scan) bool {
	return st.policy != DenyFullScan || st.allowFull || st.small(s)
}

// mayReadInstead reports whether a join may read all of s when it needs many look-ups. A statement with a scan limit
// always uses look-ups.
func (st *statement) mayReadInstead(s *plan.Scan) bool {
	return st.budget.limit == (ScanLimit{}) && (s.Access.HitsPrefix() || st.mayReadAll(s))
}

// verdict is the decision of the full-scan policy about a table access.
type verdict uint8

const (
	passes   verdict = iota
	budgeted         // it passes because of its LIMIT or statistics; it fails when it reads more than these said
	warned
	refused
)

// judge applies the full-scan policy to a table access. It decides by the key, by the number of rows that LIMIT allows,
// or by statistics.
func (st *statement) judge(s *plan.Scan) verdict {
	if s.Access.HitsPrefix() || st.allowFull || st.policy == AllowFullScan {
		return passes
	}
	most := s.Reads()
	switch bounded := most.Set && most.Rows <= st.fullScanRows || st.small(s) || st.knownSmall; {
	case bounded && st.policy == DenyFullScan:
		return budgeted
	case bounded, s.Access == plan.HopScan: // TooMany decides later
		return passes
	case st.policy == WarnFullScan:
		return warned
	}
	return refused
}

// guard applies the full-scan policy to one table access.
func (st *statement) guard(s *plan.Scan) error {
	switch st.judge(s) {
	case warned:
		text := "full scan of " + s.Table.Name
		if s.Cheaper {
			text += ": by its statistics that costs less than to read what matches by key"
		} else if a := s.Advice(); a != "" {
			text += ": " + a + " to hit the rowkey prefix"
		}
		st.Warn.Add(warning.FullScan, text)
	case refused:
		return st.refusal(s, s.Reads())
	}
	return nil
}

// refusal returns the error for s, whose LIMIT would read up to most rows.
func (st *statement) refusal(s *plan.Scan, most plan.RowLimit) error {
	return &FullScanError{Table: s.Table.Name, Advice: s.Advice(), Rows: most.Rows, Most: st.fullScanRows}
}

// guardAll applies the full-scan policy to the table accesses of a plan. Each access may be bounded by its own LIMIT;
// the sum of these must not exceed full_scan_rows.
func (st *statement) guardAll(scans []*plan.Scan) error {
	rows := int64(0)
	for _, s := range scans {
		if err := st.guard(s); err != nil {
			return err
		}
		if most := s.Reads(); most.Set && st.judge(s) == budgeted && !st.small(s) {
			if rows += most.Rows; rows > st.fullScanRows && !st.knownSmall {
				return st.refusal(s, plan.AtMost(rows))
			}
		}
	}
	return nil
}

// TooMany implements scan.Guard. It applies the full-scan policy to a scan that found too many values to hop over, and
// would read the rest completely.
func (st *statement) TooMany(s *plan.Scan) error {
	switch {
	case !s.Access.Hops() || st.allowFull || st.policy == AllowFullScan || st.judge(s) == budgeted:
		return nil // the policy was applied before
	case st.policy == WarnFullScan:
		st.Warn.Add(warning.FullScan, fmt.Sprintf("full scan of %s: %s has too many values to hop over", s.Table.Name, hoppedOver(s)))
		return nil
	case s.Access == plan.SkipScan:
		return &ScanLimitError{Setting: fullScan, Grown: fmt.Sprintf("this hops over more values of %s than the statistics of %s say there are", hoppedOver(s), s.Table.Name), Table: s.Table.Name}
	}
	return &FullScanError{Table: s.Table.Name, Advice: s.Advice(), Hopped: hoppedOver(s)}
}

// hoppedOver names the key parts whose values s hops over.
func hoppedOver(s *plan.Scan) string {
	n := s.DistinctPrefix
	if s.Hop != nil {
		n = s.Hop.Parts
	}
	var out []string
	for _, p := range s.Layout.Key.Parts[:n] {
		if p.Literal == nil {
			out = append(out, p.Source)
		}
	}
	return strings.Join(out, ", ")
}

// ReadOnly returns a client whose writing calls fail with ErrReadOnly and send nothing.
func ReadOnly(c hbase.Client) hbase.Client { return write.ReadOnlyClient{Client: c} }
