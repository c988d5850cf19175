package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
)

// Request asks for the best way to read one table.
type Request struct {
	Table   *catalog.Table
	columns columns // set by Scan
	Alias   string
	// Conjuncts are the predicates over the table's own row (expr.Column.Index is the column's),
	// all of which must hold. The two pseudo-columns follow the table's columns.
	Conjuncts        []expr.Expr
	Needed           []bool          // columns that nodes above read, by index incl. pseudo-columns; conjuncts' columns are added as needed
	OrderBy          []plan.SortTerm // wanted order over the table's row; nil: any
	Unmerged         bool            // the order is wanted only if spans need not be merged for it
	Limit            plan.RowLimit   // of the rows in that order
	Layout           string          // forced by a hint; "": the cheapest
	MinTime, MaxTime int64
	AllVersions      bool
	NoPushdown       bool
}

// past reports whether req reads versions: layouts other than the primary one hold only the present rows.
func (req *Request) past() bool { return req.AllVersions || req.MaxTime > 0 }

// eligible reports whether l can answer req.
func eligible(l *catalog.Layout, req *Request) bool {
	if l.Kind != catalog.Primary && (req.past() || l.Building) {
		return false
	}
	return req.Layout == "" || l.Name == req.Layout
}

// coveredBy reports whether the entries of l, an INDEX with some that are verified, tell all that req wants of a row.
func (req *Request) coveredBy(l *catalog.Layout) bool {
	t := req.Table
	if l.Included == nil || t.Verified == "" {
		return false
	}
	tells := func(col int) bool {
		return col < len(t.Columns) && t.Columns[col].Absent().IsNull() &&
			(l.Tells(col) || slices.ContainsFunc(l.Included, func(c *catalog.Column) bool { return c.Index == col }))
	}
	allOf := func(e expr.Expr) bool {
		return !slices.ContainsFunc(expr.Columns(e), func(col int) bool { return !tells(col) })
	}
	for col, needed := range req.Needed {
		if needed && !tells(col) {
			return false
		}
	}
	return !slices.ContainsFunc(req.Conjuncts, func(e expr.Expr) bool { return !allOf(e) }) &&
		!slices.ContainsFunc(req.OrderBy, func(o plan.SortTerm) bool { return !allOf(o.Expr) })
}

// lost returns the columns for which req may want rows with NULL, while l has none of them.
func (req *Request) lost(l *catalog.Layout) (out []string) {
	for _, c := range l.Sparse {
		if !c.NotNull && !slices.ContainsFunc(req.Conjuncts, func(e expr.Expr) bool { return expr.RejectsNull(e, c.Index) }) {
			out = append(out, c.Name)
		}
	}
	return out
}
