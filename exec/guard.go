package exec

import (
	"errors"
	"fmt"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// FullScanPolicy says what happens to a statement that would read a whole
// table because nothing binds its rowkey.
type FullScanPolicy uint8

// The policies. Warn is the default.
const (
	WarnFullScan FullScanPolicy = iota
	AllowFullScan
	DenyFullScan
)

// String is the policy as SET full_scan takes it.
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

// ErrFullScan is what errors.Is finds in the refusal of a full scan.
var ErrFullScan = errors.New("full scan refused")

// ErrReadOnly is what errors.Is finds in the refusal of a write on a read-only connection.
var ErrReadOnly = write.ErrReadOnly

// ErrMemoryLimit is what errors.Is finds in the end of a query that needs more memory than allowed.
var ErrMemoryLimit = operator.ErrMemoryLimit

// FullScanError is the refusal of a statement that would read all of Table.
type FullScanError struct {
	Table  string
	Advice string // what to add to hit the rowkey prefix; "" when nothing helps
}

// Error names the table, what to add, and the ways to allow the scan.
func (e *FullScanError) Error() string {
	s := fmt.Sprintf("this would read all of %s: nothing binds the start of its rowkey", e.Table)
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s + "; or allow it: ALLOW FULL SCAN at the end of the statement, SET full_scan = 'allow', or --full-scan allow"
}

// Is makes errors.Is(err, ErrFullScan) true.
func (e *FullScanError) Is(target error) bool { return target == ErrFullScan }

// smallTable is what a table may have by its statistics to be read whole without permission. In its place stands the budget of a statement
// that has one, as that says what the statement may read.
var smallTable = ScanLimit{Rows: 100_000, Bytes: 64 << 20}

// trustedAge is until when statistics give permission: a table may grow fast.
const trustedAge = 24 * time.Hour

// small reports whether statistics of the last day say that all of the layout that s reads is small: not only what leaves the servers.
func (st *statement) small(s *plan.Scan) bool {
	if st.statistics == nil {
		return false
	}
	known := st.statistics(s.Table)
	k := known.Key(s.Layout.Name)
	if k == nil || known.Unscaled || st.age(known).Abs() > trustedAge {
		return false
	}
	most := st.budget.limit.or(smallTable)
	return k.Rows >= 0 && k.Rows <= float64(most.Rows) && known.Bytes >= 0 && k.Rows*known.Bytes <= float64(most.Bytes)
}

// mayReadAll reports whether a plan may read all of a table although it need not, as that costs less.
func (st *statement) mayReadAll(s *plan.Scan) bool {
	return st.policy != DenyFullScan || st.allowFull || st.small(s)
}

// guard applies the full-scan policy to one table access.
func (st *statement) guard(s *plan.Scan) error {
	if s.Access != plan.FullScan || s.FewRows || st.allowFull || st.policy == AllowFullScan || st.small(s) {
		return nil
	}
	if st.policy == DenyFullScan {
		return &FullScanError{Table: s.Table.Name, Advice: s.Advice}
	}
	text := "full scan of " + s.Table.Name
	if s.Cheaper {
		text += ": by its statistics that costs less than to read what matches by key"
	} else if a := s.Advice; a != "" {
		text += ": " + a + " to hit the rowkey prefix"
	}
	st.Warn.Add(warning.FullScan, text)
	return nil
}

// TooMany implements scan.Guard: it applies the full-scan policy to a skip scan that found too many values to hop to: the rest would be read whole.
func (st *statement) TooMany(s *plan.Scan) error {
	if s.Access != plan.SkipScan {
		return nil // the policy was asked before
	}
	full := *s
	full.Access = plan.FullScan
	return st.guard(&full)
}

// ReadOnly is c without the calls that write: they fail with ErrReadOnly and send nothing.
func ReadOnly(c hbase.Client) hbase.Client { return write.ReadOnlyClient{Client: c} }
