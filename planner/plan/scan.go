package plan

import (
	"math"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/types"
)

// A Hop tells where in the spans of a Scan the keys lie that can match: behind each value of the first Parts parts of the
// key, which nothing binds, in one of Tails. A reader hops from value to value of these parts instead of reading them all.
//
//	ROW KEY (host AS TEXT, X'00', ts AS INT64), ts BETWEEN 5 AND 9      Parts 2, Tails [00..05, 00..0A)
type Hop struct {
	Parts int    // with the literals behind the last of them
	Tails []Span // what follows them: sorted, disjoint, of no table; one with Key ends the key
	// Ended is set where keys that end before the last delimiter of these parts, as all behind is NULL, can match as well.
	Ended bool
}

// Ends reports whether key, which does not have the delimiters of h's parts, is one of those that Ended is about.
func (h *Hop) Ends(l *catalog.Layout, key []byte) bool {
	return h.Ended && l.Key.PrefixLen(key, h.Parts, true) >= 0
}

// Access is the way in which a Scan reads its table.
type Access uint8

// The kinds of access, the cheapest first.
const (
	Empty     Access = iota // no row can match: no RPC
	Get                     // every span is one key
	RangeScan               // ranges from bound leading parts
	SkipScan                // hops over the values of leading parts that nothing binds: few values, whatever the table holds
	HopScan                 // a full scan that hops over such values until they turn out to be many
	FullScan                // nothing binds the key
)

// Wide reports whether nothing binds the start of the key.
func (a Access) Wide() bool { return a >= SkipScan }

// HitsPrefix reports whether the key bounds the reads: they do not grow with the table, and the full-scan policy does
// not refuse them.
func (a Access) HitsPrefix() bool { return a < HopScan }

// Hops reports whether a hops over values instead of reading all of the table.
func (a Access) Hops() bool { return a == SkipScan || a == HopScan }

// String is the access kind as EXPLAIN's JSON names it.
func (a Access) String() string {
	return [...]string{"empty", "get", "scan", "skip scan", "full scan", "full scan"}[a]
}

// OrderKind is the way in which a plan obtains the order of ORDER BY.
type OrderKind uint8

// The order kinds. KeyOrder and ReverseOrder read spans one after the other,
// MergeOrder merges spans that are each in order.
const (
	NoOrder OrderKind = iota
	KeyOrder
	ReverseOrder
	MergeOrder
	SortOrder
	TopNOrder
)

// String is the order as EXPLAIN's JSON names it.
func (o OrderKind) String() string {
	return [...]string{"none", "key", "reverse", "merge", "sort", "top-n"}[o]
}

// SortTerm is one term of an order over a node's output.
type SortTerm struct {
	Expr       expr.Expr
	Desc       bool
	NullsFirst bool
}

// Checked says where a predicate is checked.
type Checked uint8

// Where predicates are checked.
const (
	ByClient Checked = iota
	ByServer
	ByBoth // the servers drop some of the rows for which it is not true
	ByKey  // it is true for every key that is read
)

// Fate says where one predicate of the WHERE is checked, and why not in the key.
type Fate struct {
	Expr expr.Expr
	By   Checked
	Why  string
}

// Scan reads one table. Its rows hold the table's columns in order, then _key
// and _ts; columns that nobody needs are NULL.
type Scan struct {
	Table  *catalog.Table
	Layout *catalog.Layout
	Alias  string
	Access Access
	Spans  []Span // by table, then start; disjoint within a table
	// ListTables is set when the physical tables must be listed, because nothing binds the
	// table's name: TablePrefix is the literal start of the name; Spans then hold for each table found.
	ListTables  bool
	TablePrefix string
	// TableNames, unless it is nil, are the ranges in which the names of those tables lie that can have rows.
	TableNames []Span
	// Entries is set if the layout is read for its keys only: each leads to a row of the primary layout, whose values
	// count. A crash between the writes of the two leaves entries that differ from their rows.
	Entries bool
	// Covered is set where the entries tell all that is wanted: of those that are verified, see catalog.Table.Verified, the rows are not read.
	Covered bool
	// Lookups are values of LOOKUP calls the plan depends on: resolve them, then plan again.
	Lookups []LookupKey

	Filter   filter.Filter // for the region servers; nil: none
	Residual expr.Expr     // what the client checks on each row; nil: none
	Needed   []bool        // by column index incl. the two pseudo-columns: who must be decoded
	// A row exists when it has any cell in Families (nil: in any family). Fetch says what is read of it.
	Families []string
	Columns  []filter.Column // the cells whose values are needed
	Fetch    Fetch
	// MinTime and MaxTime bound cell timestamps, [MinTime, MaxTime), 0 and 0: none; Versions per
	// cell: 0 means the newest; AllVersions gives a row a version (FOR SYSTEM_TIME ALL | BETWEEN).
	MinTime, MaxTime int64
	AllVersions      bool

	// Cells is set where a statement writes the rows: behind _ts each carries the cells that it was read from.
	Cells bool

	Order OrderKind // KeyOrder, ReverseOrder, MergeOrder or NoOrder
	// Reversed is set when each span is read from its end (always so under ReverseOrder).
	Reversed bool
	OrderBy  []SortTerm // what Order provides
	// PrefixFix, where set, is the column in whose order keys are not quite: a delimiter sorts
	// after some bytes of longer values. Reversed reading must hold a row back
	// until the rows whose value extends its own have passed.
	PrefixFix *catalog.Column
	Limit     RowLimit // after Residual
	// First, where not 0, is about how many rows must be read until Limit is reached, by statistics.
	First int64
	// Wanted, if not 0, is the approximate number of rows that the node above wants, which may end before all are read: a
	// reader begins with few.
	Wanted int64
	// Cuts are sorted keys at which ranges are cut, so that several parts of a large region are read concurrently, if
	// statistics show that it is large. Nothing else changes.
	Cuts []Cut
	// DistinctPrefix, where not 0, is the number of leading key parts that hold all that is wanted of a row: of rows
	// with the same ones the first that is read suffices, and the reader may jump over the others.
	DistinctPrefix int
	// DistinctFirst: the first row of these is wanted, not any, by the part behind; one of each Part.InOrder.
	DistinctFirst bool
	// DistinctRows, where not 0, is how many of the first rows are wanted. DistinctBoth: as many of the last ones are wanted too. A reader may
	// give more.
	DistinctRows int
	DistinctBoth bool
	// Hop, of an access that Hops and of a FullScan that is worth a try, tells where in Spans to look. Nothing else changes: what
	// it leaves out does not match.
	Hop *Hop

	Fates      []Fate
	Candidates []Candidate // layouts looked at, the chosen one first
	// Estimate is what statistics say of the access by which it was chosen, before anything above it is known; nil: it was chosen by rules.
	// Alternatives are the other ways that were priced then.
	Estimate     *Estimate
	Alternatives []Alternative
	// Cheaper is set on a full scan that costs less, by statistics, than a way that would not read all of the table.
	Cheaper  bool
	CapHit   bool // ranges were merged or dropped to stay under the cap
	Warnings []string
	// Key says what is done with each part of the layout's key.
	Key []PartUse
	// Advice is what a query that misses the rowkey's prefix could add to hit it; "" where it hits it, or nothing helps.
	Advice string
}

// Cut is a key of an HBase table.
type Cut struct {
	Table string
	Key   []byte
}

// Candidate is a layout that the planner looked at.
type Candidate struct {
	Layout string
	Access Access
	Spans  int
	Cost   float64
	Why    string
	Lost   string // a column: rows in which it is NULL are not in the index, and the query may want them
	Denied bool   // the user may not read it
}

// NewScan is the Scan that reads all of a layout: every cell, in no order, without a filter or a limit. Its spans and the
// columns that are needed are the caller's to set.
func NewScan(t *catalog.Table, l *catalog.Layout) *Scan {
	return &Scan{Table: t, Layout: l, Access: FullScan, Families: t.RowFamilies(), Needed: make([]bool, len(t.Columns)+2)}
}

// Fetch says which cells of its rows a Scan reads.
type Fetch uint8

// What is read of a row.
const (
	FetchAll     Fetch = iota // every cell of Families
	FetchColumns              // Columns alone: the predicate is false for rows without them
	// FetchFirst is Columns and, so that a row without any of them is seen, its first cell: Families through
	// filter.Columns(Columns).
	FetchFirst
	FetchKeys // no value: filter.FirstCell and filter.KeyOnly over Families
)

// LookupKey names a LOOKUP whose value the planner needs.
type LookupKey struct {
	Table, Column string
	Args          []types.Value
}

// Width and Inputs of the nodes.
func (s *Scan) Width() int {
	if s.Cells {
		return len(s.Table.Columns) + 3
	}
	return len(s.Table.Columns) + 2
}
func (s *Scan) Inputs() []Node { return nil }
func (*Scan) node()            {}

// Carried are the table's columns as what s reads has them in cells: its rows or, where they are Covered, the entries of its index.
func (s *Scan) Carried() []*catalog.Column {
	if s.Covered {
		return s.Layout.Included
	}
	return s.Table.Columns
}

// MayRead reports whether s, which lists its tables, reads the one of a name.
func (s *Scan) MayRead(table string) bool {
	return s.TableNames == nil || slices.ContainsFunc(s.TableNames, func(r Span) bool {
		return table >= string(r.Start) && (len(r.Stop) == 0 || table < string(r.Stop))
	})
}

// Counts gives the Gets and scans that are planned.
func (s *Scan) Counts() (gets, scans int) {
	for _, sp := range s.Spans {
		if sp.Key {
			gets++
		}
	}
	return gets, len(s.Spans) - gets
}

// Stored lists the HBase tables of s.
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

// Reads is how many rows of the table s reads at most because of its Limit: the first ones in the order of the key, all of which pass. It is
// not set where the Limit does not tell.
func (s *Scan) Reads() RowLimit {
	if !s.Limit.Set || s.Filter != nil || s.Residual != nil || s.Hop != nil || s.DistinctPrefix > 0 || s.PrefixFix != nil {
		return RowLimit{}
	}
	rows, streams := s.Limit.Rows, int64(len(s.Spans))
	if s.Order == MergeOrder && rows > 0 && streams > 1 { // each stream is asked for some
		rows += streams * min(rows, int64(FirstShare(int(min(rows, 1<<30)), int(streams))))
	}
	return AtMost(rows)
}

// Lazy reports whether not all of what s finds may be wanted.
func (s *Scan) Lazy() bool { return s.Limit.Set || s.Wanted > 0 }

// MaxPatterns bounds the patterns of a fuzzy filter: the servers try each of them on each row that they stop at.
const MaxPatterns = 32

// FirstShare is how many of limit rows, spread at random over n streams, to ask of one at first: with the mean and three
// standard deviations a stream is rarely asked again, which would be one more wait.
func FirstShare(limit, n int) int {
	mean := float64(limit) / float64(n)
	return max(3, int(math.Ceil(mean+3*math.Sqrt(mean))))
}
