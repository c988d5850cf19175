package access

import (
	"fmt"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
)

// Request describes a read of one table.
type Request struct {
	Table   *catalog.Table
	columns columns // set by Scan
	Alias   string
	// Conjuncts are the predicates that must all be true. In them, expr.Column.Index is the column's index in the table's
	// row; the two pseudo-columns follow the table's columns.
	Conjuncts        []expr.Expr
	Needed           []bool          // columns that the nodes above read, by index including pseudo-columns; access adds those of conjuncts as needed
	OrderBy          []plan.SortTerm // wanted order of the table's rows; nil: any
	Unmerged         bool            // spans are not merged to obtain the order
	Limit            plan.RowLimit   // applies to the rows in that order
	Wanted           int64           // number of results, each made of several rows, read in that order; 0: all rows are read
	Layout           string          // forced by a hint; "": the cheapest one
	MinTime, MaxTime int64
	AllVersions      bool
	NoPushdown       bool
	Repeated         bool // the query runs for each of many outer rows
}

// repeated describes req, whose columns and conditions are those of a query that runs for many outer rows.
func (e *Env) repeated(req *Request) *plan.Repeated {
	by := slices.DeleteFunc(slices.Clone(req.OrderBy), func(t plan.SortTerm) bool { // others may contain values of the outer row
		_, column := t.Expr.(*expr.Column)
		return !column
	})
	out := &plan.Repeated{Conds: req.Conjuncts,
		Key: fmt.Sprint(req.Table.Name, " ", req.Alias, req.Needed, by, req.Unmerged, req.Layout, " ", req.MinTime, req.MaxTime, req.AllVersions, req.NoPushdown)}
	out.Plan = func(conds []expr.Expr) (*plan.Scan, error) {
		once := *req
		once.Conjuncts, once.Needed, once.Limit, once.Repeated = conds, slices.Clone(req.Needed), plan.RowLimit{}, false
		for _, c := range req.Conjuncts {
			for _, i := range expr.Columns(c) {
				once.Needed[i] = true
			}
		}
		return e.Scan(&once)
	}
	return out
}

// rowsOfResult is the assumed number of rows to read for each result that Wanted counts.
const rowsOfResult = 30

// first returns the number of rows to read in the wanted order; -1 means all.
func (req *Request) first() float64 {
	switch {
	case req.Limit.Set:
		return float64(req.Limit.Rows)
	case req.Wanted > 0:
		return rowsOfResult * float64(req.Wanted)
	}
	return -1
}

// past reports whether req reads old versions, which only the primary layout has.
func (req *Request) past() bool { return req.AllVersions || req.MaxTime > 0 }

// eligible reports whether l can answer req.
func eligible(l *catalog.Layout, req *Request) bool {
	if l.Kind != catalog.Primary && (req.past() || l.Building) {
		return false
	}
	return req.Layout == "" || l.Name == req.Layout
}

// lost returns the names of the columns whose NULLs keep a row out of l, if req may need such rows.
func (req *Request) lost(l *catalog.Layout) (out []string) {
	for _, c := range l.Sparse {
		if !c.NotNull && !slices.ContainsFunc(req.Conjuncts, func(e expr.Expr) bool { return solve.RejectsNull(e, c.Index) }) {
			out = append(out, c.Name)
		}
	}
	return out
}

// outside returns the conditions of l's WHERE that may be untrue of rows of req, which are in boxes. A conjunct says that a condition is
// true, or the values of its column in all boxes do.
func (req *Request) outside(l *catalog.Layout, boxes []box) (out []string) {
	for _, x := range l.Where {
		text := x.String()
		col, set, exact, ok := solve.Sarg(x)
		known := slices.ContainsFunc(req.Conjuncts, func(e expr.Expr) bool { return e.String() == text || present(e, x) })
		if !known && !(ok && exact && !slices.ContainsFunc(boxes, func(b box) bool { return b.cols[col] == nil || !b.cols[col].SubsetOf(set) })) {
			out = append(out, text)
		}
	}
	return out
}

// present reports whether x says that an expression IS NOT NULL, and e compares the expression with something.
func present(e, x expr.Expr) bool {
	n, ok := x.(*expr.IsNull)
	if !ok || !n.Not {
		return false
	}
	return slices.ContainsFunc(tested(e), func(x expr.Expr) bool { return x.String() == n.X.String() })
}
