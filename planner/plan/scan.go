package plan

import (
	"math"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/types"
)

// Hop describes where in a Scan's spans the matching keys are: after each value of the first Parts parts of the key, which
// nothing binds, in one of Tails. A reader hops from value to value of these parts instead of reading all rows.
//
//	ROW KEY (host AS TEXT, X'00', ts AS INT64), ts BETWEEN 5 AND 9      Parts 2, Tails [00..05, 00..0A)
type Hop struct {
	Parts int    // including the literals that follow them
	Tails []Span // ranges of the bytes that follow: sorted, disjoint, without a table; a span with Key ends the key
	// Ended is set if keys can also match that end before the last delimiter of these parts, because all later parts are
	// NULL.
	Ended bool
}

// Ends reports whether key is one of those for which Ended is set: it ends before the delimiters of h's parts.
func (h *Hop) Ends(l *catalog.Layout, key []byte) bool {
	return h.Ended && l.Key.PrefixLen(key, h.Parts, true) >= 0
}

// Access is the way in which a Scan reads its table.
type Access uint8

// The kinds of access, the cheapest first.
const (
	Empty     Access = iota // no row can match: no call is made
	Get                     // every span is one key
	RangeScan               // ranges from bound leading parts
	SkipScan                // hops over the values of leading parts that nothing binds; they are few in any table
	HopScan                 // a full scan that hops over such values, until they turn out to be many
	FullScan                // nothing binds the key
)

// Wide reports whether nothing binds the start of the key.
func (a Access) Wide() bool { return a >= SkipScan }

// HitsPrefix reports whether conditions on the key bound the reads. Such reads do not grow with the rest of the table,
// and the full-scan policy does not refuse them.
func (a Access) HitsPrefix() bool { return a < HopScan }

// Hops reports whether the access hops over values instead of reading all rows.
func (a Access) Hops() bool { return a == SkipScan || a == HopScan }

// String returns the kind of access as in EXPLAIN's JSON.
func (a Access) String() string {
	return [...]string{"empty", "get", "scan", "skip scan", "full scan", "full scan"}[a]
}

// OrderKind is the way in which a plan obtains the order of ORDER BY.
type OrderKind uint8

// The kinds of order. KeyOrder and ReverseOrder read spans one after the other; MergeOrder merges the rows of several
// spans, each of which is sorted.
const (
	NoOrder OrderKind = iota
	KeyOrder
	ReverseOrder
	MergeOrder
	SortOrder
	TopNOrder
)

// String returns the order as in EXPLAIN's JSON.
func (o OrderKind) String() string {
	return [...]string{"none", "key", "reverse", "merge", "sort", "top-n"}[o]
}

// SortTerm is one term of an order over a node's output.
type SortTerm struct {
	Expr       expr.Expr
	Desc       bool
	NullsFirst bool
}

// Checked is the place where a predicate is checked.
type Checked uint8

// The places. ByClient is the default.
const (
	ByClient Checked = iota
	ByServer
	ByBoth // the servers drop some of the rows that do not match, the client the others
	ByKey  // it is true for every key that is read
)

// Fate records where one predicate of the WHERE is checked, and why the key does not check it.
type Fate struct {
	Expr expr.Expr
	By   Checked
	Why  string
}

// Scan reads one table. Its rows have the table's columns in order, then _key and _ts; columns that the plan does not need
// are NULL.
type Scan struct {
	Table  *catalog.Table
	Layout *catalog.Layout
	Alias  string
	For    *Scan // the scan of the plan in whose place this one runs; nil: none
	Access Access
	Spans  []Span // by table, then start; disjoint within a table
	// ListTables is set if nothing binds the name of the HBase table, so that tables must be listed. TablePrefix is the
	// literal start of their names; Spans then apply to each table found.
	ListTables  bool
	TablePrefix string
	// TableNames, if not nil, are ranges that contain the names of all tables that can have matching rows.
	TableNames []Span
	// Entries is set if only the keys of the layout, an index, are read: all values come from the row of the primary layout
	// to which each key leads. Entry and row are written one after the other, so they may differ after a crash.
	Entries bool
	// Lookups are LOOKUP calls whose values the plan needs. The engine resolves them, then plans again.
	Lookups []LookupKey

	Filter   filter.Filter // for the region servers; nil: none
	Residual expr.Expr     // the condition that the client checks for each row; nil: none
	Needed   []bool        // by column index including _key and _ts: the columns to decode
	// Families are the column families that decide whether a row exists: it does if it has a cell in one of them. Nil
	// means all. Fetch selects the cells that are read.
	Families []string
	Columns  []filter.Column // the cells whose values are needed
	Fetch    Fetch
	// MinTime and MaxTime bound cell timestamps, [MinTime, MaxTime); both 0: no bound. AllVersions returns a row per
	// version (FOR SYSTEM_TIME ALL | BETWEEN).
	MinTime, MaxTime int64
	AllVersions      bool
	// ByTime is set if MinTime and MaxTime are used only to find the rows that have a cell of that time. Each row found
	// is then read by a Get.
	ByTime bool

	// Cells is set for statements that write the rows: after _ts, each row then has the cells from which it was read.
	Cells bool

	Order OrderKind // KeyOrder, ReverseOrder, MergeOrder or NoOrder
	// Reversed is set if each span is read from its end to its start, which is always so for ReverseOrder.
	Reversed bool
	OrderBy  []SortTerm // the order that Order produces
	// SortWithin is set if a row of HBase holds several rows, which the reader sorts: Order is that of the rows of HBase.
	SortWithin bool
	// PrefixFix, if set, is a column whose values are not exactly in the order of the keys: its delimiter sorts after some
	// bytes of longer values. A reversed read must hold a row back until the rows whose values extend its value have
	// passed.
	PrefixFix *catalog.Column
	Limit     RowLimit // after Residual
	// First, if not 0, is the estimated number of rows to read until Limit is reached.
	First int64
	// Wanted, if not 0, is the approximate number of rows that the node above wants. That node may stop early, so a reader
	// begins with few rows.
	Wanted int64
	// Cuts are sorted keys at which ranges are cut, so that several parts of a large region are read concurrently. They
	// come from statistics and have no other effect.
	Cuts []Cut
	// DistinctPrefix, if not 0, is the number of leading key parts that contain all wanted columns. The first row
	// suffices for each combination of their values: the reader may skip the others.
	DistinctPrefix int
	// DistinctFirst is set if the row for a combination must be the first in the order of the next part. A row whose
	// next part is not in order (Part.InOrder) must then not be skipped.
	DistinctFirst bool
	// DistinctRows, if not 0, is the number of rows wanted for each value of the prefix, counted from its first row.
	// With DistinctBoth, the same number is also wanted from its last row backwards. A reader may return more.
	DistinctRows int
	DistinctBoth bool
	// Turned is set if Reversed serves only DistinctFirst: rows with different values may come in any order, but the rows
	// of one value come together. HBase seeks each row that it reads backwards, so that all rows are better read forwards.
	Turned bool
	// Hop says where in Spans to read, for an access that Hops and for a FullScan that tries to hop. It has no other
	// effect: the skipped rows do not match.
	Hop *Hop

	Fates      []Fate
	Candidates []Candidate // the layouts that the planner compared, the chosen one first
	// Estimate is the estimate by which statistics chose the access, regardless of the nodes above it; nil: rules chose
	// it. Alternatives are the other ways that were estimated.
	Estimate     *Estimate
	Alternatives []Alternative
	// Cheaper is set on a full scan that costs less, by statistics, than a way that does not read the whole table.
	Cheaper  bool
	CapHit   bool // ranges were merged or dropped because there were too many
	Warnings []string
	// Key describes the use of each part of the layout's key.
	Key []PartUse
	// Repeated is set in a query that runs for each of many outer rows.
	Repeated *Repeated
	// Advise finds Advice when that is asked for, since it takes long; nil: the start of the rowkey is bound.
	Advise func() string
}

// Repeated describes the read of a table in a query that runs for each of many outer rows. The conditions may contain values
// of the row.
type Repeated struct {
	Key   string      // it is the same for each outer row
	Conds []expr.Expr // the conditions of the Scan
	// Plan plans a Scan of the rows that match conds, some of Conds, with the columns of all Conds. It has no limit.
	Plan func(conds []expr.Expr) (*Scan, error)
}

// Advice returns a condition that would bind the start of the rowkey; "" if it is bound, or if no condition helps.
func (s *Scan) Advice() string {
	if s.Advise == nil {
		return ""
	}
	return s.Advise()
}

// Cut is a key of an HBase table.
type Cut struct {
	Table string
	Key   []byte
}

// Candidate is a layout that the planner considered.
type Candidate struct {
	Layout string
	Access Access
	Spans  int
	Cost   float64
	Why    string
	Lost   string // the index lacks rows in which this holds, and the query may need them
	Denied bool   // the user may not read it
}

// NewScan returns a Scan that reads all of a layout: every cell, in no order, without a filter or a limit. The caller sets
// its spans and Needed.
func NewScan(t *catalog.Table, l *catalog.Layout) *Scan {
	return &Scan{Table: t, Layout: l, Access: FullScan, Families: t.RowFamilies(), Needed: make([]bool, len(t.Columns)+2)}
}

// Fetch selects the cells of a row that a Scan reads.
type Fetch uint8

// The selections.
const (
	FetchAll     Fetch = iota // every cell of Families
	FetchColumns              // only Columns: no row without any of them matches
	// FetchFirst selects Columns and the first cell of the row, so that a row without any of Columns is found:
	// filter.Columns(Columns) over Families.
	FetchFirst
	FetchKeys // no values: filter.FirstCell and filter.KeyOnly over Families
)

// LookupKey is a LOOKUP call whose value the planner needs.
type LookupKey struct {
	Table, Column string
	Args          []types.Value
}

func (s *Scan) Width() int {
	if s.Cells {
		return len(s.Table.Columns) + 3
	}
	return len(s.Table.Columns) + 2
}
func (s *Scan) Inputs() []Node { return nil }
func (*Scan) node()            {}

// MayRead reports whether s, which lists its tables, reads the table of this name.
func (s *Scan) MayRead(table string) bool {
	return s.TableNames == nil || slices.ContainsFunc(s.TableNames, func(r Span) bool {
		return table >= string(r.Start) && (len(r.Stop) == 0 || table < string(r.Stop))
	})
}

// Counts returns the numbers of planned Gets and scans.
func (s *Scan) Counts() (gets, scans int) {
	for _, sp := range s.Spans {
		if sp.Key {
			gets++
		}
	}
	return gets, len(s.Spans) - gets
}

// Stored returns the names of the HBase tables that s reads.
func (s *Scan) Stored() []string {
	out := []string{}
	for _, sp := range s.Spans {
		if len(out) == 0 || out[len(out)-1] != sp.Table {
			out = append(out, sp.Table)
		}
	}
	if s.ListTables {
		return []string{s.TablePrefix + "*"}
	}
	return out
}

// Reads returns the greatest number of rows that s reads because of its Limit, if all rows in key order match. It returns
// the zero RowLimit if the Limit does not bound the reads.
func (s *Scan) Reads() RowLimit {
	if !s.Limit.Set || s.Filter != nil || s.Residual != nil || s.Hop != nil || s.DistinctPrefix > 0 || s.PrefixFix != nil {
		return RowLimit{}
	}
	rows, streams := s.Limit.Rows, int64(len(s.Spans))
	if s.Order == MergeOrder && rows > 0 && streams > 1 { // some rows are requested from each stream
		rows += streams * min(rows, int64(FirstShare(int(min(rows, 1<<30)), int(streams))))
	}
	return AtMost(rows)
}

// Lazy reports whether the reader may stop before s has returned all rows.
func (s *Scan) Lazy() bool { return s.Limit.Set || s.Wanted > 0 }

// MaxPatterns bounds the number of patterns in a fuzzy filter: the servers try each on every row at which they stop.
const MaxPatterns = 32

// FirstShare returns how many of limit rows, distributed at random over n streams, to request first from each stream. It
// is the mean plus three standard deviations, so that a second request, which takes time, is rare.
func FirstShare(limit, n int) int {
	mean := float64(limit) / float64(n)
	return max(3, int(math.Ceil(mean+3*math.Sqrt(mean))))
}
