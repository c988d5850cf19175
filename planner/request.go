package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

type hints struct {
	layout     string
	noPushdown bool
}

// readHints reads the hints of a SELECT. It refuses unknown hints, which would otherwise be ignored silently.
func readHints(hs []parser.Hint) (hints, error) {
	var h hints
	for _, x := range hs {
		switch {
		case (x.Name == "LAYOUT" || x.Name == "INDEX") && len(x.Args) == 1:
			h.layout = x.Args[0]
		case x.Name == "NO_PUSHDOWN" && len(x.Args) == 0:
			h.noPushdown = true
		default:
			return h, parser.Errorf(x.Pos, "unknown hint %s", x.Name).WithHint("hints are LAYOUT(name), INDEX(name) and NO_PUSHDOWN")
		}
	}
	return h, nil
}

// accessOrder is the wanted order of a single table's rows.
type accessOrder struct {
	by    []plan.SortTerm
	limit plan.RowLimit
	few   int64 // see access.Request.Wanted
	// unmerged is set if spans are not merged to obtain the order: a group may then come in several pieces, and each
	// piece costs only a look-up.
	unmerged bool
}

func groupOrder(groups []expr.Expr) []plan.SortTerm {
	terms := make([]plan.SortTerm, len(groups))
	for i, g := range groups {
		terms[i] = plan.SortTerm{Expr: g}
	}
	return terms
}

// source plans the reading of one source.
func (q *query) source(s *source, own []expr.Expr, used []bool, want accessOrder, h hints) (_ plan.Node, _ bool, err error) {
	defer fail.Catch(&err)
	if s.table == nil {
		n := s.node
		own = append(slices.Clip(s.conds), own...)
		if s.first != nil && want.limit.Set && len(want.by) > 0 {
			if first, _, err := s.first(q, own, want); first != nil || err != nil {
				return first, true, err
			}
		}
		if len(own) > 0 && s.again != nil {
			again, rest := fail.Must2(s.again(q, own))
			if own = rest; again != nil {
				n = again
			}
		}
		if len(own) > 0 {
			n = &plan.Filter{Input: n, Cond: expr.Conjunction(own)}
		}
		return n, false, nil
	}
	req := fail.Must(q.request(s, own, used, want, h))
	scan := fail.Must(q.env.access(req))
	if !q.pieces {
		if u, err := q.env.united(req, scan); u != nil || err != nil {
			return u, false, err
		}
	}
	ordered := len(want.by) > 0 && scan.Order != plan.NoOrder
	if ordered || len(want.by) == 0 || !want.limit.Set && want.few == 0 || q.pieces || scan.Access < plan.RangeScan {
		return scan, ordered, nil
	}
	if u, err := q.besideNulls(s, own, used, want, h, scan.Access); u != nil || err != nil {
		return u, true, err
	}
	if n, err := q.coarsely(s, own, used, want, h); n != nil || err != nil {
		return n, true, err
	}
	return scan, false, nil
}

// coarsely reads the first rows of s in an order that a key, or the names of the HBase tables, follow coarsely. For a
// descending time it reads the days from the last one on, and sorts the rows of each day. It returns nil if there is no
// such key.
func (q *query) coarsely(s *source, own []expr.Expr, used []bool, want accessOrder, h hints) (_ plan.Node, err error) {
	defer fail.Catch(&err)
	n := fixedTerms(own, want.by)
	step := want.by[n]
	col, ok := step.Expr.(*expr.Column)
	if !ok || q.env.Options.NoRules || q.env.Options.NoOrder {
		return nil, nil
	}
	for _, l := range s.table.Layouts {
		for _, p := range slices.Concat(l.Stored.Parts, l.Key.Parts) {
			if p.Literal != nil || p.Nullable() || p.Monotone() == 0 || p.Injective() || !slices.Equal(p.Columns, []int{col.Index}) {
				continue
			}
			step.Expr, step.Desc = p.Expr, want.by[n].Desc != (p.Monotone() < 0)
			days := accessOrder{by: append(slices.Clone(want.by[:n]), step), few: max(1, want.few, want.limit.Rows)}
			req := fail.Must(q.request(s, own, used, days, h))
			scan := fail.Must(q.env.access(req))
			if scan.Order != plan.NoOrder {
				scan.Wanted = days.few
				return &plan.Sort{Input: scan, By: append(days.by, want.by[n:]...), Limit: want.limit, Sorted: n + 1}, nil
			}
		}
	}
	return nil, nil
}

// besideNulls reads the first rows of s in the wanted order from a key in which NULLs are missing, as in an INDEX, or at
// the other end. It reads the rows with NULL separately, before or after the others, as far as they are wanted. It
// returns nil if there is no such key, or if it is used less than in as, the access to s in another order.
func (q *query) besideNulls(s *source, own []expr.Expr, used []bool, want accessOrder, h hints, as plan.Access) (plan.Node, error) {
	k := fixedTerms(own, want.by)
	first, rest := want.by[k], want.by[k+1:]
	col, ok := first.Expr.(*expr.Column)
	if !ok || q.env.Options.NoRules || col.Index >= len(s.table.Columns) || s.table.Columns[col.Index].NotNull || !slices.ContainsFunc(s.table.Layouts, func(l *catalog.Layout) bool {
		p := l.PartOf(col.Index)
		return p != nil && (p.Nullable() || l.Kind != catalog.Primary)
	}) {
		return nil, nil
	}
	req, err := q.request(s, append(slices.Clip(own), &expr.IsNull{Pos: col.Pos, X: col, Not: true}), used, want, h)
	if err != nil {
		return nil, err
	}
	n, err := q.env.access(req)
	if err != nil || n.Order == plan.NoOrder || n.Access == plan.Empty || n.Access.Wide() && !as.Wide() {
		return nil, err
	}
	behind := want
	behind.by = rest
	nulls, ordered, err := q.source(s, append(slices.Clip(own), &expr.IsNull{Pos: col.Pos, X: col}), used, behind, h)
	if len(rest) > 0 && !ordered {
		nulls = &plan.Sort{Input: nulls, By: rest, Limit: want.limit}
	}
	if first.NullsFirst {
		return &plan.Union{Parts: []plan.Node{nulls, n}}, err
	}
	return &plan.Union{Parts: []plan.Node{n, nulls}}, err
}

// fixedTerms returns the number of leading terms, except the last one, to which own gives one value in all rows.
func fixedTerms(own []expr.Expr, terms []plan.SortTerm) (n int) {
	for n < len(terms)-1 && slices.ContainsFunc(own, func(e expr.Expr) bool { return bindsTo(e, terms[n].Expr) }) {
		n++
	}
	return n
}

// bindsTo reports whether e gives column x one value.
func bindsTo(e, x expr.Expr) bool {
	col, set, _, ok := solve.Sarg(e)
	c, column := x.(*expr.Column)
	return ok && column && col == c.Index && len(set) == 1 && set[0].IsPoint()
}

// request returns the access request for a table.
func (q *query) request(s *source, own []expr.Expr, used []bool, want accessOrder, h hints) (*access.Request, error) {
	req := &access.Request{Table: s.table, Alias: s.name, Conjuncts: append(slices.Clip(s.conds), own...), Needed: slices.Clone(used), OrderBy: want.by, Unmerged: want.unmerged, Limit: want.limit, Wanted: want.few, Layout: cmp.Or(h.layout, q.layout), NoPushdown: h.noPushdown,
		Repeated: q.level > 0 || len(q.steps) > 0}
	return req, q.systemTime(s.system, req)
}

// systemTime applies FOR SYSTEM_TIME to the request.
func (q *query) systemTime(s *parser.SystemTime, req *access.Request) error {
	if s == nil {
		return nil
	}
	if s.All {
		req.AllVersions = true
		return nil
	}
	at := func(e parser.Expr) (int64, error) {
		x, err := expr.Compile(e, q.scope(nil))
		if err != nil {
			return 0, err
		}
		k, ok := x.(*expr.Const)
		if !ok {
			return 0, parser.Errorf(e.Position(), "FOR SYSTEM_TIME takes a constant")
		}
		v, err := types.Cast(k.Val, types.Timestamp, q.env.Loc)
		if err != nil || v.IsNull() || v.Int() < 0 || v.Int() == math.MaxInt64 {
			return 0, parser.Errorf(e.Position(), "FOR SYSTEM_TIME takes a TIMESTAMP from 1970 on")
		}
		if q.env.Moment != nil && k.Val.Type() == types.String {
			q.env.Moment(k.Pos, v)
		}
		return v.Int(), nil
	}
	from, err := at(s.From)
	if err != nil {
		return err
	}
	if s.To == nil { // AS OF: the newest cells up to that time
		req.MinTime, req.MaxTime = 0, from+1
		return nil
	}
	to, err := at(s.To)
	if err == nil && to < from {
		err = parser.Errorf(s.To.Position(), "FOR SYSTEM_TIME BETWEEN ends before it begins")
	}
	req.MinTime, req.MaxTime, req.AllVersions = from, to+1, true
	return err
}
