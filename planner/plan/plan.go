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
	// Subplans are the queries inside the plan's expressions that are not constants yet, and the queries of its Applies
	// and Recursives.
	Subplans []*Subplan
	// Estimate is the estimate of the plan's reads; nil if it is unknown or was not requested.
	Estimate *Estimate
	// Deletes describes what a DELETE removes for each row that the plan reads; "" for other statements.
	Deletes string
}

// OutputColumn is a column of the result.
type OutputColumn struct {
	Name string
	Type types.Type
	// Partial describes the column in a piece of a statement that groups; nil: it is a column of the result.
	Partial *Partial
	Hidden  bool // * does not show it
}

// Node is a step of a plan; every node produces rows of values.
type Node interface {
	// Width is the number of values in each row it produces.
	Width() int
	// Inputs are the nodes it reads.
	Inputs() []Node
	node()
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
	// Totals are values of GroupBy that are a group even if no row has them.
	Totals [][]types.Value
}

// Expand returns each row of its input once for each of Sets: the input's values, then the values of GroupBy, with NULL
// for those not in the set, then the set's Marks.
type Expand struct {
	Input   Node
	GroupBy []expr.Expr
	Sets    []GroupingSet
}

// GroupingSet is one of several lists of expressions by which an Expand's rows are grouped.
type GroupingSet struct {
	Has []bool // by expression
	// Marks distinguish this set's rows from those of others with the same values: its number, then the value of each
	// GROUPING().
	Marks []types.Value
}

// Width is the number of values in an output row.
func (e *Expand) Width() int { return e.Input.Width() + len(e.GroupBy) + len(e.Sets[0].Marks) }

// Inputs gives the node below.
func (e *Expand) Inputs() []Node { return []Node{e.Input} }

func (*Expand) node() {}

// Func is the name that an aggregate or a window function has in expr's table.
type Func string

// The aggregates that plans are made by.
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
)

// OneRow reports whether f gives the value of one row, the first or the last of them in order.
func (f Func) OneRow() bool { return f == Min || f == Max }

// By reports whether f gives a value of the row that is the first or the last one by f's second argument.
func (f Func) By() bool { return f == MinBy || f == MaxBy }

// Greatest reports whether f, OneRow or By, is about the last row.
func (f Func) Greatest() bool { return f == Max || f == MaxBy }

// Numbers reports whether f, a window function, tells the place of a row by those before it.
func (f Func) Numbers() bool { return f == RowNumber || f == "RANK" || f == "DENSE_RANK" }

// AggCall is one aggregate.
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

// RowLimit is the greatest number of rows that are wanted; the zero value: all.
type RowLimit struct {
	Rows int64
	Set  bool
}

// AtMost limits rows to n.
func AtMost(n int64) RowLimit { return RowLimit{n, true} }

// Behind returns the limit of the rows before the first n are skipped.
func (l RowLimit) Behind(n int64) RowLimit {
	if l.Set {
		l.Rows += n
	}
	return l
}

// Sort orders its input; with a limit it keeps no more of the first rows (a top-N heap).
type Sort struct {
	Input Node
	By    []SortTerm
	Limit RowLimit
	// Sorted is by how many of the terms the input is sorted already: rows that are the same in these are sorted, and given, at a time.
	Sorted int
}

// Limit skips Offset rows and gives those that follow, at most Count.
type Limit struct {
	Input  Node
	Offset int64
	Count  RowLimit
}

// Values are literal rows.
type Values struct {
	Rows [][]expr.Expr
	N    int // width
}

// Series gives rows of one value: From, and from each value the next one, as long as To is not passed. There are none where
// one of them is NULL.
type Series struct {
	From, To expr.Expr
	Next     expr.Expr // over a row; NULL where the step is
	Typ      types.Type
}

// Width is the number of values in an output row.
func (*Series) Width() int { return 1 }

// Inputs gives the nodes below: none.
func (*Series) Inputs() []Node { return nil }

func (*Series) node() {}

// Unnest gives each row of Input as often as the longest of Sets, arrays, has elements: the row's values, then an element of each, NULL
// behind the last.
type Unnest struct {
	Input Node
	Sets  []expr.Expr
}

// Width is the number of values in an output row.
func (u *Unnest) Width() int { return u.Input.Width() + len(u.Sets) }

// Inputs gives the node below.
func (u *Unnest) Inputs() []Node { return []Node{u.Input} }

func (*Unnest) node() {}

// Virtual gives the rows of a relation that no table of HBase holds.
type Virtual struct {
	Name string
	// Rows makes the rows when the plan runs. It may leave out rows whose columns have other values than listed gives; nil: all are made.
	Rows func(listed func(column int) ([]types.Value, bool)) [][]types.Value
	N    int // width
}

// Width is the number of values in an output row.
func (v *Virtual) Width() int { return v.N }

// Inputs gives the nodes below: none.
func (*Virtual) Inputs() []Node { return nil }

func (*Virtual) node() {}

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
	// Semi: rows of Left alone, those that have a pair or, if Anti is set too, those that have none. Each tells the same of one such row, by a
	// query of its own: it is there for rows that have too many pairs to look at.
	Semi, Anti bool
	Each       expr.Expr
	// Lookup, where set, reads the right side by key for a batch of left rows. Right is
	// then the scan for one left row whose values are made up, for EXPLAIN.
	Lookup *Lookup
	// LeftKeys and RightKeys are equal in a matching pair (a hash join); both empty: a nested loop.
	LeftKeys, RightKeys []expr.Expr
	On                  expr.Expr // what remains to be checked on the pair; nil: none
}

// Width is the number of values in an output row.
func (j *Join) Width() int {
	if j.Semi {
		return j.Left.Width()
	}
	return j.Left.Width() + j.Right.Width()
}

// Apply pairs each row of Left with the rows of a query that is planned for it: left values, then the query's.
type Apply struct {
	Left  Node
	Query *Subplan
	Of    []expr.Expr // over a left row: the outer values of Query
	On    expr.Expr   // what is checked on each pair; nil: nothing
	Outer bool        // LEFT JOIN: an unmatched left row comes with NULLs
}

// Width is the number of values in an output row.
func (a *Apply) Width() int { return a.Left.Width() + len(a.Query.Sample.Columns) }

// Inputs gives the node below; the query is one of the plan's Subplans.
func (a *Apply) Inputs() []Node { return []Node{a.Left} }

func (*Apply) node() {}

// Recursive returns the rows of First, then the rows of the plan that Step makes from them, and so on until there are
// none.
type Recursive struct {
	First Node
	// Step plans the next rows from the rows of the step before. It is a function for the same reason as Lookup.Plan.
	Step     func(rows [][]types.Value) (*Plan, error)
	Distinct bool // a row that came before, in any step, leads to nothing
}

// Width is the number of values in an output row.
func (r *Recursive) Width() int { return r.First.Width() }

// Inputs returns the node below; the repeated query is one of the plan's Subplans.
func (r *Recursive) Inputs() []Node { return []Node{r.First} }

func (*Recursive) node() {}

// Reuse gives the rows of a query that is read in several places. They are computed once.
type Reuse struct{ Query *Subplan }

// Width is the number of values in an output row.
func (r *Reuse) Width() int { return len(r.Query.Sample.Columns) }

// Inputs gives the nodes below: none. The query is one of the plan's Subplans.
func (r *Reuse) Inputs() []Node { return nil }

func (*Reuse) node() {}

// Lookup plans the inner side of a lookup join.
type Lookup struct {
	// Plan gives the scan for a batch of values: those of the join's RightKeys, which are not NULL, then those of By. It is a function because the values decide on all of
	// a Scan: the layout, the spans, what is left to check. Data in its place would be a query not planned yet, and whoever runs the
	// plan would have to call the planner with it.
	Plan func(batch [][]types.Value) (*Scan, error)
	// By are columns of a left row by whose values On narrows the right rows, in addition to the keys.
	By []expr.Expr
	// Whole reads the right side without the left one, for estimates.
	Whole *Scan
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

// Scans lists the table accesses of a plan, in the order they are written.
func Scans(n Node) []*Scan {
	var out []*Scan
	eachScan(n, func(s *Scan) { out = append(out, s) })
	return out
}

func eachScan(n Node, f func(*Scan)) {
	switch n := n.(type) {
	case nil: // of a plan that is not finished
		return
	case *Scan:
		f(n)
		return
	case *Project: // of most plans: without a list of its one input
		eachScan(n.Input, f)
		return
	}
	for _, in := range n.Inputs() {
		eachScan(in, f)
	}
}

// Reads lists the table accesses of p: of its steps, then of the queries that they read by Reuse, each once.
func (p *Plan) Reads() []*Scan {
	var out []*Scan
	p.EachRead(func(p *Plan) { eachScan(p.Root, func(s *Scan) { out = append(out, s) }) })
	return out
}

// EachRead calls f with p and, once each, with the plans of the queries that it reads by Reuse, and they read.
func (p *Plan) EachRead(f func(*Plan)) { p.each(f, func(s *Subplan) bool { return s.Name != "" }, nil) }

// Asked lists the sub-queries of p, and of the queries that it reads by Reuse, but those seen, which it adds to.
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

// Each calls f with p and, once each, with the plans of its sub-queries, and of theirs.
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

// Tables lists the tables that a plan reads, including those of its sub-queries. It is never nil, so that callers can
// keep it.
func (p *Plan) Tables() []*catalog.Table {
	out := []*catalog.Table{}
	p.Each(func(p *Plan) { eachScan(p.Root, func(s *Scan) { out = append(out, s.Table) }) })
	return out
}

// Scans lists the table accesses of p and of its sub-queries.
func (p *Plan) Scans() []*Scan {
	var out []*Scan
	p.Each(func(p *Plan) { eachScan(p.Root, func(s *Scan) { out = append(out, s) }) })
	return out
}

// HitsPrefix reports whether each access of the plan does: see Access.HitsPrefix.
func (p *Plan) HitsPrefix() bool {
	return !slices.ContainsFunc(p.Scans(), func(s *Scan) bool { return !s.Access.HitsPrefix() })
}

// Subplan is a query inside an expression (the Query of an expr.Subquery), the query of an Apply, the repeated query of
// a Recursive, or the Query of a Reuse.
type Subplan struct {
	Select *parser.Select // as it stands in the statement, the same in every plan of it
	// Closed is set when the query depends on nothing around it. Run it once, give its rows through
	// Env.Subqueries and plan again: as constants they can bind the key.
	Closed bool
	Steps  bool // it is what a Recursive repeats; Plan is nil
	// Name, where set, is that of a query of WITH or of a view whose rows Reuse nodes read, of Within or of its sub-queries. Plan is nil.
	Name   string
	Within *Plan
	// Plan plans the query for values of the expr.Subquery's Outer, or the Apply's Of. It is a function for the same reason as Lookup.Plan.
	Plan func(outer []types.Value) (*Plan, error)
	// Sample is the plan for outer values made up, for EXPLAIN. Where nothing is run, the plan
	// around a closed query is made as if it had given one row, Shown.
	Sample *Plan
	Shown  []types.Value
	Width  int // the number of its first columns that count
	Text   string
}
