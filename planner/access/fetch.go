package access

import (
	"math"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// byTime bounds the timestamps of the cells to read by the values that _ts may have, so that HBase skips older files
// and cells. Other cells of a matching row may be older, so the bound only finds the rows, which are then read by Gets.
// In a packed row each cell is a row of its own, and needs no Get. byTime sets no upper bound without a lower one:
// almost all rows would match.
func (c *candidate) byTime(req *Request) {
	s := c.scan
	if req.past() || s.Layout.Kind != catalog.Primary || s.Table.MalformedKeyError || s.Access < plan.RangeScan {
		return
	}
	var all types.Set
	for _, b := range c.boxes {
		times := b.cols[len(s.Table.Columns)+1]
		if len(times) == 0 || times[0].Lo.IsNull() || times[0].Lo.Int() <= 0 || times[0].Lo.Int() == math.MaxInt64 {
			return
		}
		all = all.Union(times)
	}
	s.MinTime, s.MaxTime, s.ByTime = all[0].Lo.Int(), math.MaxInt64, !packed(s.Table)
	if hi := all[len(all)-1].Hi; s.ByTime && !hi.IsNull() && hi.Int() < math.MaxInt64 {
		s.MaxTime = hi.Int() + 1
	}
}

// finish sets the fields of the scan that depend on more than the layout's spans: filter, residual, columns, limit and
// explanation.
func (c *candidate) finish(req *Request) {
	s, allowed := c.scan, !c.builder.opt.NoPushdown && !req.NoPushdown
	push := allowed && !req.AllVersions && req.MaxTime == 0 && !packed(s.Table) && !s.Entries
	var filters filter.And
	var client []expr.Expr
	k := 0
	for i := range c.fates {
		f := &c.fates[i]
		c.builder.env.tick()
		if f.By == plan.ByKey {
			continue
		}
		p := c.residual[k]
		f.Why = c.builder.whyNotKey(p, c.solved[k], s.Table)
		k++
		if push {
			if sf, exact, ok := pushDown(p, s.Table); ok {
				filters = append(filters, sf)
				f.By = plan.ByBoth
				if exact {
					f.By = plan.ByServer
					continue
				}
			}
		}
		client = append(client, p)
	}
	if allowed {
		var byKey filter.Filter
		if !s.Reversed {
			byKey = c.fuzzy()
		}
		if byKey != nil || s.Reversed || !c.hasPatterns() { // too many patterns are not tried
			if f := c.keyFilter(); f != nil {
				filters = append(filter.And{f}, filters...)
			}
		}
		if byKey == nil && len(filter.OfKeys(filters)) == 0 {
			byKey = c.typeFilter()
		}
		if byKey != nil {
			filters = append(filter.And{byKey}, filters...)
		}
		filters = append(c.likeFilters(), filters...)
	}
	if allowed && !s.Reversed && !seeksForward(filters) {
		if f := c.qualifierFilter(); f != nil {
			filters = append(filters, f)
		}
	}
	s.Fates = c.fates
	switch len(filters) {
	case 0:
	case 1:
		s.Filter = filters[0]
	default:
		s.Filter = filters
	}
	if len(client) > 0 {
		s.Residual = expr.Conjunction(client)
	}
	c.read(req, client)
	if s.Access == plan.Empty {
		s.Filter, s.Residual = nil, nil
	}
	if len(req.OrderBy) == 0 || s.Order != plan.NoOrder {
		s.Limit = req.Limit
	}
	s.Key = c.partUses()
	if s.CapHit {
		s.Warnings = append(s.Warnings, "the predicate gives more key ranges than the limit: some were widened and are checked row by row")
	}
}

// read decides which cells are read.
func (c *candidate) read(req *Request, client []expr.Expr) {
	s := c.scan
	n := len(s.Table.Columns)
	s.Needed = make([]bool, n+2)
	copy(s.Needed, req.Needed)
	for _, e := range client {
		for _, col := range expr.Columns(e) {
			s.Needed[col] = true
		}
	}
	for _, t := range s.OrderBy {
		for _, col := range expr.Columns(t.Expr) {
			s.Needed[col] = true
		}
	}
	fetch := make([]bool, n)
	copy(fetch, s.Needed[:n])
	for _, e := range c.residual { // the columns in the servers' filter must be read
		for _, col := range expr.Columns(e) {
			if col < n {
				fetch[col] = true
			}
		}
	}
	s.Families = s.Table.RowFamilies()
	all := true
	for _, col := range s.Table.Columns {
		if col.KeyPart || col.Family == "" {
			continue
		}
		if !fetch[col.Index] {
			all = false
		} else if col.Packed == nil {
			s.Columns = append(s.Columns, filter.Column{Family: col.Family, Qualifier: col.Qualifier})
		}
	}
	switch {
	case packed(s.Table) || s.Needed[n+1] || s.AllVersions: // _ts is the time of the row's newest cell
		s.Fetch = plan.FetchAll
	case len(s.Columns) == 0:
		s.Fetch = plan.FetchKeys
	case all:
		s.Fetch = plan.FetchAll
	case rejectsMissing(c.residual, s.Table), req.MaxTime == 0 && readsNotNull(s.Table, fetch):
		s.Fetch = plan.FetchColumns
	default:
		s.Fetch = plan.FetchFirst
	}
}

// readsNotNull reports whether a NOT NULL column is read, so that each row has a cell to read. With versions this does not
// hold: an old version may lack the cell, if it has been written again.
func readsNotNull(t *catalog.Table, fetch []bool) bool {
	return slices.ContainsFunc(t.Columns, func(c *catalog.Column) bool {
		return fetch[c.Index] && c.NotNull && !c.KeyPart && c.Family != "" && c.Absent().IsNull()
	})
}

// rejectsMissing reports whether one of preds is false or NULL for every row that has none of the cells it compares.
// Then the scan need not find such rows.
func rejectsMissing(preds []expr.Expr, t *catalog.Table) bool {
	for _, e := range preds {
		if rejectsNull(e, t) {
			return true
		}
	}
	return false
}

// rejectsNull reports whether e is not true if the cells of its columns are missing.
func rejectsNull(e expr.Expr, t *catalog.Table) bool {
	cell := func(x expr.Expr) bool {
		c, ok := x.(*expr.Column)
		return ok && c.Index < len(t.Columns) && !t.Columns[c.Index].KeyPart && t.Columns[c.Index].Absent().IsNull()
	}
	switch e := e.(type) {
	case *expr.IsNull:
		return e.Not && cell(e.X)
	case *expr.And:
		for _, x := range e.Terms {
			if rejectsNull(x, t) {
				return true
			}
		}
	case *expr.Or:
		for _, x := range e.Terms {
			if !rejectsNull(x, t) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(tested(e), cell)
}

// tested returns the expressions that e compares: if one of them is NULL, e is not true. It returns none for other conditions.
func tested(e expr.Expr) []expr.Expr {
	switch e := e.(type) {
	case *expr.Compare:
		return []expr.Expr{e.X, e.Y}
	case *expr.In:
		return []expr.Expr{e.X}
	case *expr.Like:
		return []expr.Expr{e.X}
	}
	return nil
}
