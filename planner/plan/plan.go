package plan

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Plan is a planned query.
type Plan struct {
	Root    Node
	Columns []OutputColumn
	// FullScanAllowed is set by ALLOW FULL SCAN.
	FullScanAllowed bool
	// Subplans are the queries in the plan's expressions that are not constants yet, and the queries of its Applies and
	// Recursives.
	Subplans []*Subplan
	// Estimate is the estimate of the plan's reads; nil if it is unknown or was not requested.
	Estimate *Estimate
	// MadeUp are the arguments for which the plan was made, "$1 = 7", if EXPLAIN had none.
	MadeUp []string
	// Deletes describes what a DELETE removes for each row that the plan reads; "" for other statements.
	Deletes string
}

// OutputColumn is a column of the result.
type OutputColumn struct {
	Name   string
	Type   types.Type
	Hidden bool // * does not include it
	// Partial describes the column of a piece if the statement groups; nil for a column of the result.
	Partial *Partial
	Origin  Origin
	Limit   types.Limit
}

// Origin names the column that a column of a result shows unchanged, by its table or view and its number from 1; 0: it shows none.
type Origin struct {
	Relation string
	Column   int
}

// Node is a step of a plan. Every node produces rows.
type Node interface {
	// Width returns the number of values in each row.
	Width() int
	// Inputs returns the nodes from which it reads.
	Inputs() []Node
	node()
}

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Input Node
	Cond  expr.Expr
}

// Project computes Exprs for each row of its input.
type Project struct {
	Input Node
	Exprs []expr.Expr
}

// Aggregate groups its input. Its rows have the group values, then the aggregates.
type Aggregate struct {
	Input   Node
	GroupBy []expr.Expr
	Aggs    []AggCall
	// Ordered is set if rows of the same group are consecutive, so that one group is held at a time.
	Ordered bool
	// Totals are values of GroupBy that form a group even if no row has them.
	Totals [][]types.Value
}

// Expand returns each row of its input once for each of Sets. The output has the input's values, the values of GroupBy
// (NULL for those that are not in the set), and the set's Marks.
type Expand struct {
	Input   Node
	GroupBy []expr.Expr
	Sets    []GroupingSet
}

// GroupingSet is one of the sets of expressions by which an Expand's rows are grouped.
type GroupingSet struct {
	Has []bool // by expression of GroupBy: the set contains it
	// Marks distinguish the set's rows from those of other sets with the same values: the number of the set, then the
	// value of each GROUPING().
	Marks []types.Value
}

func (e *Expand) Width() int { return e.Input.Width() + len(e.GroupBy) + len(e.Sets[0].Marks) }

func (e *Expand) Inputs() []Node { return []Node{e.Input} }

func (*Expand) node() {}

// Func is the name of an aggregate or window function in package functions.
type Func string

// The aggregates that the planner refers to.
const (
	Count          Func = "COUNT"
	Sum            Func = "SUM"
	Avg            Func = "AVG"
	Min            Func = "MIN"
	Max            Func = "MAX"
	MinBy          Func = "MIN_BY"
	MaxBy          Func = "MAX_BY"
	RowNumber      Func = "ROW_NUMBER"
	BoolAnd        Func = "BOOL_AND"
	BoolOr         Func = "BOOL_OR"
	PercentileCont Func = "PERCENTILE_CONT"
	ArrayAgg       Func = "ARRAY_AGG"
)

// OneRow reports whether f returns the value of one row: the first or the last row in the order of the values.
func (f Func) OneRow() bool { return f == Min || f == Max }

// By reports whether f returns a value of the row with the least or the greatest second argument.
func (f Func) By() bool { return f == MinBy || f == MaxBy }

// Greatest reports whether f, for which OneRow or By is true, selects the last row.
func (f Func) Greatest() bool { return f == Max || f == MaxBy }

// Numbers reports whether f is a window function that depends only on the rows before the current one.
func (f Func) Numbers() bool { return f == RowNumber || f == "RANK" || f == "DENSE_RANK" }

// AggCall is a call of an aggregate.
type AggCall struct {
	Func     Func
	Arg      expr.Expr   // nil for COUNT(*)
	Args     []expr.Expr // further arguments (the separator of STRING_AGG)
	Distinct bool
	OrderBy  []SortTerm
	Filter   expr.Expr // nil: none
	Typ      types.Type
}

// Distinct drops repeated rows.
type Distinct struct{ Input Node }

// RowLimit is the greatest number of rows that are wanted; the zero value means all.
type RowLimit struct {
	Rows int64
	Set  bool
}

// AtMost returns the limit n.
func AtMost(n int64) RowLimit { return RowLimit{n, true} }

// Behind returns l raised by n, for an input whose first n rows will be skipped.
func (l RowLimit) Behind(n int64) RowLimit {
	if l.Set {
		l.Rows += n
	}
	return l
}

// Sort sorts its input. With a limit it keeps only the first rows.
type Sort struct {
	Input Node
	By    []SortTerm
	Limit RowLimit
	// Sorted is the number of leading terms by which the input is already sorted: each run of rows with equal values of
	// these is sorted and returned separately.
	Sorted int
}

// Limit skips Offset rows and returns at most Count of the following ones and, with Ties, those behind them that are equal
// to the last one in the order By, which the input has.
type Limit struct {
	Input  Node
	Offset int64
	Count  RowLimit
	Ties   bool
	By     []SortTerm
}

// Values are literal rows.
type Values struct {
	Rows  [][]expr.Expr
	Known [][]types.Value // in place of Rows: rows that need not be computed
	Set   *Set            // in place of Rows: the rows of a query
	N     int             // width
}

// Len returns the number of rows.
func (v *Values) Len() int {
	if v.Set != nil {
		return v.Set.Len()
	}
	return len(v.Rows) + len(v.Known)
}

// Unnest calls the set-returning functions Sets for each row of Input. It returns the row once per value of the function
// with the most values: the row's values, then a value of each function, NULL after its last.
type Unnest struct {
	Input Node
	Sets  []expr.Expr // *expr.Call
}

func (u *Unnest) Width() int { return u.Input.Width() + len(u.Sets) }

func (u *Unnest) Inputs() []Node { return []Node{u.Input} }

func (*Unnest) node() {}

// Virtual returns the rows of a relation that is not stored in HBase, such as a table of the system catalog.
type Virtual struct {
	Name string
	// Rows returns the rows when the plan runs. If listed is not nil, Rows may omit rows whose columns have values other
	// than listed returns.
	Rows func(listed func(column int) ([]types.Value, bool)) [][]types.Value
	N    int // width
}

func (v *Virtual) Width() int { return v.N }

func (*Virtual) Inputs() []Node { return nil }

func (*Virtual) node() {}

// SetOp returns the rows of Left that Right has too or, with Except, those that Right does not have. With All, each row of
// Right pairs with one equal row of Left; otherwise a row is returned as often as Left has it.
type SetOp struct {
	Left, Right Node
	Except, All bool
}

// Union returns the rows of its inputs, one input after the other.
type Union struct{ Parts []Node }

// Join pairs the rows of Left with those of Right. Its rows have the left values, then the right values.
type Join struct {
	Left, Right Node
	Outer       bool // LEFT JOIN: a left row without a match is returned with NULLs
	Full        bool // FULL JOIN: so is a right row without a match; Outer is set as well
	Swapped     bool // it was written as a RIGHT JOIN, whose right side is Left
	// Semi: the join returns only left rows: the rows with a match or, if Anti is set too, the rows without a match.
	// Each is a condition that checks a single left row by a query; it is used if a batch of rows has too many matches.
	Semi, Anti bool
	Each       expr.Expr
	// Lookup, if set, reads the right side by key for a batch of left rows. Right is then the read for one left row with
	// made-up values, for EXPLAIN.
	Lookup *Lookup
	// Narrow, if set, plans the read of the right side of a hash join for a few left rows, with the values of their keys.
	// NarrowLeft does so for the left side, a table, if the right side has few rows.
	Narrow, NarrowLeft func(batch [][]types.Value) (*Plan, error)
	// LeftKeys and RightKeys are equal in a matching pair (a hash join). Without keys the join compares all pairs.
	LeftKeys, RightKeys []expr.Expr
	On                  expr.Expr // condition that remains to be checked for each pair; nil: none
	// Wanted, unless it is 0, is the number of rows that are probably wanted, because of a LIMIT above.
	Wanted int64
}

func (j *Join) Width() int {
	if j.Semi {
		return j.Left.Width()
	}
	return j.Left.Width() + j.Right.Width()
}

// Apply pairs each row of Left with the rows of a query that is planned for it. Its rows have the left values, then the
// query's.
type Apply struct {
	Left  Node
	Query *Subplan
	Of    []expr.Expr // over a left row: the outer values for Query
	On    expr.Expr   // condition to check for each pair; nil: none
	Outer bool        // LEFT JOIN: a left row without a match is returned with NULLs
	// Wanted, unless it is 0, is the number of rows that are probably wanted, because of a LIMIT above.
	Wanted int64
}

func (a *Apply) Width() int { return a.Left.Width() + len(a.Query.Sample.Columns) }

// Inputs returns the node below. The query is one of the plan's Subplans.
func (a *Apply) Inputs() []Node { return []Node{a.Left} }

func (*Apply) node() {}

// Recursive returns the rows of First, then the rows of the plan that Step returns for these, and so on until a step has
// no rows.
type Recursive struct {
	First Node
	// Step plans the next rows from the rows of the previous step. It is a function for the same reason as Lookup.Plan.
	Step     func(rows [][]types.Value) (*Plan, error)
	Distinct bool // rows that any previous step returned are dropped
}

func (r *Recursive) Width() int { return r.First.Width() }

// Inputs returns the node below; the repeated query is one of the plan's Subplans.
func (r *Recursive) Inputs() []Node { return []Node{r.First} }

func (*Recursive) node() {}

// Reuse returns the rows of a query that is read in several places and computed once.
type Reuse struct{ Query *Subplan }

func (r *Reuse) Width() int { return len(r.Query.Sample.Columns) }

// Inputs returns no nodes. The query is one of the plan's Subplans.
func (r *Reuse) Inputs() []Node { return nil }

func (*Reuse) node() {}

// Lookup plans the inner side of a lookup join.
type Lookup struct {
	// Plan returns the read for a batch of left rows: for each row the values of the join's keys, which are not NULL,
	// then the values of By. It is a function because the values determine the whole Scan: the layout, the spans, and
	// the conditions left to check. As data it would be an unplanned query, for which the executor would have to call
	// the planner.
	Plan func(batch [][]types.Value) (*Plan, error)
	// By are the columns of a left row whose values restrict the right rows through On, in addition to the keys.
	By []expr.Expr
	// Whole reads the whole right side, for estimates. Unfiltered plans the same read without a filter on the servers.
	// If its Residual is dropped, a limit of its rows then also limits the rows at which the servers look.
	Whole      Node
	Unfiltered func() (Node, error)
}

func (f *Filter) Width() int        { return f.Input.Width() }
func (p *Project) Width() int       { return len(p.Exprs) }
func (a *Aggregate) Width() int     { return len(a.GroupBy) + len(a.Aggs) }
func (d *Distinct) Width() int      { return d.Input.Width() }
func (s *Sort) Width() int          { return s.Input.Width() }
func (l *Limit) Width() int         { return l.Input.Width() }
func (v *Values) Width() int        { return v.N }
func (u *Union) Width() int         { return u.Parts[0].Width() }
func (s *SetOp) Width() int         { return s.Left.Width() }
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
func (*Filter) node()               {}
func (*Project) node()              {}
func (*Aggregate) node()            {}
func (*Distinct) node()             {}
func (*Sort) node()                 {}
func (*Limit) node()                {}
func (*Values) node()               {}
func (*Union) node()                {}
func (*SetOp) node()                {}
func (*Join) node()                 {}

// Scans returns the table accesses of a plan in the order in which they are written.
func Scans(n Node) []*Scan {
	var out []*Scan
	eachScan(n, func(s *Scan) { out = append(out, s) })
	return out
}

func eachScan(n Node, f func(*Scan)) {
	switch n := n.(type) {
	case nil: // of an unfinished plan
		return
	case *Scan:
		f(n)
		return
	case *Project: // frequent; avoids a list for its single input
		eachScan(n.Input, f)
		return
	}
	for _, in := range n.Inputs() {
		eachScan(in, f)
	}
}

// Reads returns the table accesses of p's steps, then those of the queries that it reads by Reuse, each once.
func (p *Plan) Reads() []*Scan {
	var out []*Scan
	p.EachRead(func(p *Plan) { eachScan(p.Root, func(s *Scan) { out = append(out, s) }) })
	return out
}

// Brief reports whether p reads tables, and only a few rows of each by its key: a sub-query like this may run for several rows
// at the same time, and for one that nobody asks for.
func (p *Plan) Brief() bool {
	reads := p.Reads()
	return len(reads) > 0 && !slices.ContainsFunc(reads, func(s *Scan) bool { return s.Access.Wide() || !s.Limit.Set || s.Limit.Rows > 16 })
}

// EachRead calls f with p and with the plans of the queries that it reads by Reuse, directly or indirectly, once each.
func (p *Plan) EachRead(f func(*Plan)) { p.each(f, func(s *Subplan) bool { return s.Name != "" }, nil) }

// Asked returns the sub-queries of p, and of the queries that it reads by Reuse, except those in seen. It adds them to
// seen.
func (p *Plan) Asked(seen map[*Subplan]bool) (out []*Subplan) {
	p.EachRead(func(p *Plan) {
		for _, s := range p.Subplans {
			if s.Name == "" && !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	})
	return out
}

// Each calls f with p and with the plans of its sub-queries at all levels, once each.
func (p *Plan) Each(f func(*Plan)) { p.each(f, func(*Subplan) bool { return true }, nil) }

func (p *Plan) each(f func(*Plan), enter func(*Subplan) bool, seen map[*Subplan]bool) {
	f(p)
	for _, s := range p.Subplans {
		if seen[s] || !enter(s) {
			continue
		}
		if seen == nil {
			seen = map[*Subplan]bool{}
		}
		seen[s] = true
		s.Sample.each(f, enter, seen)
	}
}

// Tables returns the tables that a plan reads, including those of its sub-queries. The result is never nil, so that
// callers can cache it.
func (p *Plan) Tables() []*catalog.Table {
	out := []*catalog.Table{}
	for _, s := range p.Scans() {
		out = append(out, s.Table)
	}
	return out
}

// Scans returns the table accesses of p and of its sub-queries.
func (p *Plan) Scans() []*Scan {
	var out []*Scan
	p.Each(func(p *Plan) { eachScan(p.Root, func(s *Scan) { out = append(out, s) }) })
	return out
}

// HitsPrefix reports whether the key bounds every table access of the plan: see Access.HitsPrefix.
func (p *Plan) HitsPrefix() bool {
	return !slices.ContainsFunc(p.Scans(), func(s *Scan) bool { return !s.Access.HitsPrefix() })
}

// Subplan is a query inside an expression (the Query of an expr.Subquery), the query of an Apply, the repeated query of
// a Recursive, or the Query of a Reuse.
type Subplan struct {
	Select *parser.Select // as written in the statement; the same pointer in every plan of it
	// Closed is set if the query does not depend on an outer row. The engine runs it once, returns its rows by
	// Env.Subqueries, and plans again: as constants they can bind the key.
	Closed bool
	Among  bool // only the distinct rows without NULLs count
	Cut    bool // the rows are cut behind some of them: these are not the rows of the same query without Cut
	Steps  bool // the repeated query of a Recursive; Plan is nil
	// Name, if set, is the name of a WITH query or view whose rows Reuse nodes read, in Within or in its sub-queries. Plan
	// is nil.
	Name   string
	Within *Plan
	// Plan plans the query for values of the expr.Subquery's Outer, or of the Apply's Of. It is a function for the same
	// reason as Lookup.Plan.
	Plan func(outer []types.Value) (*Plan, error)
	// Sample is the plan for made-up outer values, for EXPLAIN. If nothing is run, the plan around a closed query is made
	// as if the query had returned the single row Shown.
	Sample *Plan
	Shown  []types.Value
	Width  int // number of leading columns that belong to the result
	Text   string
	// Groups, unless it is nil, returns the rows for all outer values. Its rows begin with values for the elements of
	// Outer at the indexes in Keys; a row belongs to the outer values that equal them. If Aggregated is set, outer
	// values without a row in Groups have one row nevertheless, the same for all of them.
	Groups     *Subplan
	Keys       []int
	Aggregated bool
}
