package access

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// advice returns conditions that would bind the start of the rowkey if the query had them; "" if there are none. It
// considers only layouts that can answer req. To test an advice it plans the query with the conditions added, for made-up
// values.
func (e *Env) advice(req *Request, terms []term, boxes []box) string {
	var out []string
	tried := *e
	tried.Options.MaxSpans = min(e.Options.withDefaults().MaxSpans, triedSpans)
	for _, l := range req.Table.Layouts {
		if !eligible(l, req) || e.denies(l, req) {
			continue
		}
		a := &advice{env: &tried, whole: e, req: req, layout: l, terms: terms, boxes: boxes[:min(len(boxes), triedBoxes)]}
		if !a.find() {
			continue
		}
		add := append(a.conditions(), req.outside(l, boxes)...)
		for _, name := range req.lost(l) {
			if !slices.ContainsFunc(a.add, func(w wanted) bool { return req.Table.Columns[w.col].Name == name }) {
				add = append(add, name+" IS NOT NULL")
			}
		}
		text := "add " + strings.Join(add, " AND ")
		if len(req.Table.Layouts) > 1 {
			text += " (layout " + l.Name + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", or ")
}

// Limits for testing an advice: the number of the query's boxes that are considered, and the number of spans made from
// them.
const (
	triedBoxes = 16
	triedSpans = 1 << 8
)

// advice is a set of conditions to add to a query for one layout.
type advice struct {
	env    *Env
	whole  *Env // env without the limit of spans
	req    *Request
	layout *catalog.Layout
	terms  []term
	boxes  []box
	add    []wanted
}

// wanted is a column that needs a condition: one value, or a range of values.
type wanted struct {
	col    int
	ranged bool
}

// find sets a.add to the columns of the key's first parts that need conditions, and returns false if no condition
// helps. It adds none if the query only has to exclude the rows that the layout lacks.
func (a *advice) find() bool {
	if len(a.req.lost(a.layout))+len(a.req.outside(a.layout, a.boxes)) > 0 && a.helps(false) {
		return true
	}
	w := newSpanBuilder(a.layout, a.env, a.req)
	for _, p := range a.layout.Key.Parts {
		if p.Literal != nil || w.enumerable(p) && (len(p.Columns) == 0 || p.Monotone() == 0) {
			continue // salts are enumerated
		}
		ofJSON := func(c int) bool { return a.req.Table.Columns[c].Type.IsJSON() } // equal JSON values have many texts
		if len(p.Columns) == 0 || p.ManyScales() || slices.ContainsFunc(p.Columns, ofJSON) {
			return false // no condition binds this part
		}
		before := len(a.add)
		for _, c := range p.Columns {
			if a.isBound(c) || slices.ContainsFunc(a.add, func(w wanted) bool { return w.col == c }) {
				continue
			}
			if !a.binds(c) {
				return false
			}
			a.add = append(a.add, wanted{c, p.Order() != catalog.Unordered && !a.isNarrowed(c)})
		}
		if len(a.add) == 0 {
			continue
		}
		if last := a.add[before:]; !a.helps(true) {
			for i := range last {
				last[i].ranged = false
			}
		}
		if a.helps(false) {
			return true
		}
	}
	return false
}

func (a *advice) conditions() []string {
	parts := make([]string, len(a.add))
	for i, w := range a.add {
		parts[i] = a.req.Table.Columns[w.col].Name + " = ..."
		if w.ranged {
			parts[i] += " (or a range of it)"
		}
	}
	return parts
}

// binds reports whether column c = value restricts the bytes in the key. For a JSON column it does not, because equal
// values have several texts.
func (a *advice) binds(c int) bool {
	col := a.req.Table.Columns[c]
	v := sampleOf(col.Type, nil, 0)
	is := a.req.columns.solver().Solve(&expr.Compare{Op: expr.EQ, X: &expr.Column{Index: c, Name: col.Name, Typ: col.Type}, Y: &expr.Const{Val: v, Typ: col.Type}})
	return is.Kind == solve.One && !is.Set.IsAll()
}

// isBound reports whether the query restricts column c to one value.
func (a *advice) isBound(c int) bool {
	return !slices.ContainsFunc(a.boxes, func(b box) bool { return b.cols[c] == nil || len(b.cols[c]) != 1 || !b.cols[c][0].IsPoint() })
}

// isNarrowed reports whether the query has a condition on column c.
func (a *advice) isNarrowed(c int) bool {
	return slices.ContainsFunc(a.boxes, func(b box) bool { return b.cols[c] != nil && !b.cols[c].IsAll() })
}

// helps reports whether the query with the added conditions would bind the start of the layout's rowkey. The conditions
// are a value for each column; with ranges, columns that allow it get a range instead.
func (a *advice) helps(ranges bool) bool {
	for sample := range samples {
		var with []box
		for _, b := range a.boxes {
			b, ok := b.clone(), true
			for _, w := range a.add {
				v := sampleOf(a.req.Table.Columns[w.col].Type, b.cols[w.col], sample)
				set := types.Points(v)
				if ranges && w.ranged {
					set = types.SetOf(types.Interval{Lo: v})
				}
				ok = ok && !v.IsNull() && b.narrow(w.col, set)
			}
			if ok {
				with = append(with, b)
			}
		}
		if len(with) == 0 {
			continue
		}
		s := a.env.candidate(a.layout, a.req, a.terms, with, narrow).scan
		if s.CapHit && !s.Access.HitsPrefix() {
			s = a.whole.candidate(a.layout, a.req, a.terms, with, narrow).scan
		}
		if s.Access != plan.Empty { // otherwise the key cannot hold this value
			return s.Access.HitsPrefix() || s.CapHit || len(s.Lookups) > 0
		}
	}
	return true // there is no value to test with
}

// samples is the number of values that are tested for a column.
const samples = 6

// sampleOf makes up a value of a column: an end of one of set's intervals, or a value of type t.
func sampleOf(t types.Type, set types.Set, i int) types.Value {
	for _, iv := range set {
		switch {
		case !iv.Lo.IsNull() && !iv.LoOpen:
			return iv.Lo
		case !iv.Hi.IsNull() && !iv.HiOpen:
			return iv.Hi
		}
	}
	if t == types.Boolean {
		return types.NewBool(i%2 == 1)
	}
	if t == types.Timestamp || t == types.Date {
		v, _ := types.Cast(types.NewTimestamp(int64(i+1)*397*types.MillisPerDay), t, nil)
		return v
	}
	text := [samples]string{"1", "12", "1234", "00000000-0000-0000-0000-000000000001", "0a0a0a0a0a0a0a0a", "com.a"}[i]
	v, err := types.Cast(types.NewString(text), t, nil)
	if err != nil {
		v, _ = types.Cast(types.NewString("1"), t, nil)
	}
	return v
}
