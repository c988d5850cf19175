package planner

import (
	"fmt"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/types"
)

// Plan is a planned query.
type Plan struct {
	Root    Node
	Columns []OutputColumn
	// FullScanAllowed is set by ALLOW FULL SCAN and by a plain LIMIT without WHERE.
	FullScanAllowed bool
	// Subplans are the queries inside the plan's expressions that are not constants yet.
	Subplans []*Subplan
}

// OutputColumn is a column of the result.
type OutputColumn struct {
	Name string
	Type types.Type
}

// Node is a step of a plan; every node produces rows of values.
type Node interface {
	// Width is the number of values in each row it produces.
	Width() int
	// Inputs are the nodes it reads.
	Inputs() []Node
	node()
}

// Access tells how a Scan reads its table.
type Access uint8

// The kinds of access, the cheapest first.
const (
	Empty     Access = iota // no row can match: no RPC
	Get                     // every span is one key
	RangeScan               // ranges from bound leading parts
	SkipScan                // hops over the values of leading parts that nothing binds
	FullScan                // nothing binds the key
)

// wide tells that nothing binds the start of the key.
func (a Access) wide() bool { return a >= SkipScan }

// String is the access kind as EXPLAIN's JSON names it.
func (a Access) String() string {
	return [...]string{"empty", "get", "scan", "skip scan", "full scan"}[a]
}

// OrderKind tells how a plan gets the order that ORDER BY asks for.
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

// Span is one key range [Start, Stop) of a physical table; an empty Stop is open.
type Span struct {
	Table       string
	Start, Stop []byte
	// Key is set when the span is the single key Start: a Get.
	Key bool
	// Pivot, where set, lies in the span and cuts it into two halves whose value
	// order is the other one round: the rows from Pivot on come before those below
	// it (negative two's complement numbers). It matters only when Scan.Order is not NoOrder.
	Pivot []byte
}

// Bounds prints the keys of a span: one key, or [start, stop).
func (sp Span) Bounds() string {
	if sp.Key {
		return Escape(sp.Start)
	}
	if len(sp.Start)+len(sp.Stop) == 0 {
		return "all of it"
	}
	return fmt.Sprintf("[%s, %s)", orOpen(Escape(sp.Start)), orOpen(Escape(sp.Stop)))
}

func orOpen(s string) string {
	if s == "" {
		return "open"
	}
	return s
}

// AllBegin reports whether all keys of sp, of which Start begins with prefix, begin with it.
func (sp Span) AllBegin(prefix []byte) bool { return sp.Key || allBegin(sp.Stop, prefix) }

// PartState tells what a plan does with one part of the key.
type PartState struct {
	Part  string // as written
	State string // "bound", "range", "enumerated", "skipped", "unused" or "literal"
	// Detail is the value or range in readable form, "" for none; Why tells why the walk stopped here.
	Detail, Why string
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

// Fate tells where one predicate of the WHERE is checked, and why not in the key.
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
	// Entries is set when the layout is read for its keys only: each leads to a row of the primary layout, whose
	// values are what counts. A crash between the writes of the two leaves entries of rows that say something else.
	Entries bool
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

	Order OrderKind // KeyOrder, ReverseOrder, MergeOrder or NoOrder
	// Reversed is set when each span is read from its end (always so under ReverseOrder).
	Reversed bool
	OrderBy  []SortTerm // what Order provides
	// Hold, where not negative, is the column in whose order keys are not quite: a delimiter sorts
	// after some bytes of longer values. Reversed reading must hold a row back
	// until the rows whose value extends its own have passed.
	Hold  int
	Limit int64 // rows wanted after Residual; -1: all
	// Skip, where not 0, is the number of leading key parts that hold all that is wanted of a row: of rows
	// with the same ones the first that is read suffices, and the reader may jump over the others.
	Skip int
	// SkipHalves: behind these parts stands one whose negative values follow the others. Any row suffices of those that are on the same
	// side as well, the first that is read.
	SkipHalves bool
	SkipEnds   bool // the first row of each value is wanted, not any
	// Hop, of a SkipScan and of a FullScan that is worth a try, tells where in Spans to look. Nothing else changes: what
	// it leaves out does not match.
	Hop *Hop

	Fates      []Fate
	Considered []Considered // layouts looked at, the chosen one first
	CapHit     bool         // ranges were merged or dropped to stay under the cap
	Warnings   []string
	walker     *walker // what Parts and Advice tell of
}

// Considered is a layout that the planner looked at.
type Considered struct {
	Layout string
	Access Access
	Spans  int
	Cost   float64
	Why    string
	Lost   string // a column: rows in which it is NULL are not in the index, and the query may want them
}

// NewScan is the Scan that reads all of a layout: every cell, in no order, without a filter or a limit. Its spans and the
// columns that are needed are the caller's to set.
func NewScan(t *catalog.Table, l *catalog.Layout) *Scan {
	return &Scan{Table: t, Layout: l, Access: FullScan, Families: t.RowFamilies(), Needed: make([]bool, len(t.Columns)+2), Hold: -1, Limit: -1}
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

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Input Node
	Cond  expr.Expr
}

// Project computes Exprs over its input's rows.
type Project struct {
	Input Node
	Exprs []expr.Expr
}

// Aggregate groups its input. Output rows: the group values, then the aggregates.
type Aggregate struct {
	Input   Node
	GroupBy []expr.Expr
	Aggs    []AggCall
	// Ordered is set when rows of a group come together: groups stream.
	Ordered bool
}

// AggCall is one aggregate.
type AggCall struct {
	Func     string      // COUNT, SUM, MIN, MAX, AVG, STRING_AGG, JSON_AGG ...
	Arg      expr.Expr   // nil for COUNT(*)
	Args     []expr.Expr // further arguments (the separator of STRING_AGG)
	Distinct bool
	OrderBy  []SortTerm
	Filter   expr.Expr // nil: none
	Typ      types.Type
}

// Distinct drops repeated rows.
type Distinct struct{ Input Node }

// Sort orders its input; with Limit >= 0 it keeps the first Limit rows (a top-N heap).
type Sort struct {
	Input Node
	By    []SortTerm
	Limit int64
}

// Limit skips Offset rows and gives at most Count (-1: all).
type Limit struct {
	Input         Node
	Offset, Count int64
}

// Values are literal rows.
type Values struct {
	Rows [][]expr.Expr
	N    int // width
}

// SetOp gives the rows of Left that Right has too, or with Except those that it has not. All
// pairs repeated rows one to one; otherwise every row comes as often as in Left.
type SetOp struct {
	Left, Right Node
	Except, All bool
}

// Union gives the rows of all inputs, one input after the other.
type Union struct{ Parts []Node }

// Join pairs the rows of Left with those of Right: left values, then right values.
type Join struct {
	Left, Right Node
	Outer       bool // LEFT JOIN: an unmatched left row comes with NULLs
	Full        bool // FULL JOIN: an unmatched right row does too; Outer is set as well
	Swapped     bool // written as a RIGHT JOIN, whose right side is Left
	// Lookup, where set, reads the right side by key for a batch of left rows. Right is
	// then the scan for one left row whose values are made up, for EXPLAIN.
	Lookup *Lookup
	// LeftKeys and RightKeys are equal in a matching pair (a hash join); both empty: a nested loop.
	LeftKeys, RightKeys []expr.Expr
	On                  expr.Expr // what remains to be checked on the pair; nil: none
}

// Lookup plans the inner side of a lookup join.
type Lookup struct {
	// Plan gives the scan for a batch of values, not NULL, of the join's RightKeys.
	Plan func(batch [][]types.Value) (*Scan, error)
}

// Width and Inputs of the nodes.
func (s *Scan) Width() int      { return len(s.Table.Columns) + 2 }
func (f *Filter) Width() int    { return f.Input.Width() }
func (p *Project) Width() int   { return len(p.Exprs) }
func (a *Aggregate) Width() int { return len(a.GroupBy) + len(a.Aggs) }
func (d *Distinct) Width() int  { return d.Input.Width() }
func (s *Sort) Width() int      { return s.Input.Width() }
func (l *Limit) Width() int     { return l.Input.Width() }
func (v *Values) Width() int    { return v.N }
func (u *Union) Width() int     { return u.Parts[0].Width() }
func (s *SetOp) Width() int     { return s.Left.Width() }
func (j *Join) Width() int      { return j.Left.Width() + j.Right.Width() }

func (s *Scan) Inputs() []Node      { return nil }
func (f *Filter) Inputs() []Node    { return []Node{f.Input} }
func (p *Project) Inputs() []Node   { return []Node{p.Input} }
func (a *Aggregate) Inputs() []Node { return []Node{a.Input} }
func (d *Distinct) Inputs() []Node  { return []Node{d.Input} }
func (s *Sort) Inputs() []Node      { return []Node{s.Input} }
func (l *Limit) Inputs() []Node     { return []Node{l.Input} }
func (v *Values) Inputs() []Node    { return nil }
func (u *Union) Inputs() []Node     { return u.Parts }
func (s *SetOp) Inputs() []Node     { return []Node{s.Left, s.Right} }
func (j *Join) Inputs() []Node      { return []Node{j.Left, j.Right} }

func (*Scan) node()      {}
func (*Filter) node()    {}
func (*Project) node()   {}
func (*Aggregate) node() {}
func (*Distinct) node()  {}
func (*Sort) node()      {}
func (*Limit) node()     {}
func (*Values) node()    {}
func (*Union) node()     {}
func (*SetOp) node()     {}
func (*Join) node()      {}
