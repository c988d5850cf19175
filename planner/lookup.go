package planner

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// looking finds a way to look up the rows of the right side of the join j, the table or the query of s, by values of the
// left side.
type looking struct {
	q    *query
	env  *Env
	j    *plan.Join
	s    *source
	own  []expr.Expr // conditions on the table alone
	used []bool
	h    hints
	want accessOrder     // of the table's rows
	subs []*plan.Subplan // of the last sample
}

// by says which values of a left row a look-up uses: those of all keys of the join but the one with index left, then those
// of cols, the left columns in the conditions among.
type by struct {
	left  int // -1: all keys are used
	among []expr.Expr
	cols  []*expr.Column // the left columns in among; their values follow those of the keys
}

// lookup makes j look up its right side, the table or the query of s, by key for the rows of the left side. It does so if
// the left rows bind the keys by equality, a range, a pattern or a list, and if a read without them costs more. A query is
// planned again for each batch of left rows, with the conditions that they give.
func (q *query) lookup(j *plan.Join, s *source, own []expr.Expr, used []bool, h hints) error {
	whole := j.Right
	if a := reads(whole); a <= plan.Get || s.table == nil && (s.again == nil || !a.Wide() || q.pieces || q.env.Options.NoRules || sharedWith(whole, j.Left)) {
		return nil
	}
	l := &looking{q: q, env: q.env, j: j, s: s, own: own, used: slices.Clone(used), h: h}
	mark(l.used, j.RightKeys...)
	if q.known(s) { // statistics choose between look-ups and reading once, so the choice is not repeated for each batch
		rules := *q.env
		rules.Statistics, l.env = nil, &rules
	}
	b, sample, err := l.byKeys()
	if err != nil {
		return err
	}
	hashed := sample == nil && len(j.RightKeys) > 0
	if b, sample, err = l.bySpans(b, sample); err == nil && sample == nil {
		j.Narrow, err = l.narrow()
	}
	if err != nil || sample == nil {
		return err
	}
	usual := q.pieces || reads(whole).Wide() && !(hashed && oneSided(b.among, j.Left.Width())) || guessed(j.Left)*cost(sample) < cost(whole)
	lookup := &plan.Lookup{Plan: func(batch [][]types.Value) (*plan.Plan, error) { return l.read(b, batch) }, Whole: whole}
	unfiltered := h
	unfiltered.noPushdown = true
	lookup.Unfiltered = func() (plan.Node, error) { // plans may run at the same time
		if s.table == nil {
			return whole, nil
		}
		req, err := q.request(s, own, l.used, accessOrder{}, unfiltered)
		if err != nil {
			return nil, err
		}
		return l.env.access(req)
	}
	for _, c := range b.cols {
		lookup.By = append(lookup.By, c)
	}
	if q.known(s) && q.byFigures(j, sample.(*plan.Scan), whole.(*plan.Scan), lookup, usual) {
		return nil
	}
	if usual {
		j.Right, j.Lookup = sample, lookup
		q.needs(l.subs...)
	}
	return nil
}

// narrow returns a function that plans the read of the right side, a table, for a few values of the keys. It returns nil
// unless the values make the servers send fewer rows.
//
//	h JOIN c ON c.name = 'n' || h.id     a filter of the servers: c.name IN (the values of the few rows of h)
func (l *looking) narrow() (func([][]types.Value) (*plan.Plan, error), error) {
	whole, table := l.j.Right.(*plan.Scan)
	if !table || l.s.table == nil || l.q.pieces || l.j.Full || len(l.j.RightKeys) == 0 || l.env.Options.NoRules {
		return nil, nil
	}
	b := by{left: -1}
	p, err := l.sample(b)
	if p == nil || err != nil {
		return nil, err
	}
	if s := p.(*plan.Scan); s.Access == whole.Access && s.Hop == whole.Hop && fmt.Sprint(s.Filter) == fmt.Sprint(whole.Filter) || len(l.want.by) > 0 && s.Order == plan.NoOrder {
		return nil, nil
	}
	l.q.needs(l.subs...)
	return func(batch [][]types.Value) (*plan.Plan, error) { return l.read(b, batch) }, nil
}

// byKeys selects the keys of the join that bind the table's key. sample is nil if they do not bind it.
func (l *looking) byKeys() (b by, sample plan.Node, err error) {
	keys := len(l.j.RightKeys)
	for b.left = -1; b.left < keys && keys > 0; b.left++ {
		if b.left >= 0 && keys == 1 { // made-up values may contradict a condition: DATE_TRUNC('hour', ts) = 1 matches no ts
			break
		}
		p, err := l.sample(b)
		if err != nil {
			return b, nil, err
		}
		if p != nil && !reads(p).Wide() {
			return b, p, nil
		}
		if p != nil && b.left < 0 {
			break
		}
	}
	return by{left: -1}, nil, nil
}

// maxBinding bounds the number of conditions of a join that are tried one by one.
const maxBinding = 8

// bySpans adds to b other conditions of the join that reduce the reads: ts BETWEEN h.a AND h.b, k LIKE x || '%', k IN
// (h.a, h.b).
func (l *looking) bySpans(b by, sample plan.Node) (by, plan.Node, error) {
	if l.j.On == nil || sample != nil && reads(sample) == plan.Get || l.q.env.Options.NoRules {
		return b, sample, nil
	}
	width := l.j.Left.Width()
	var among []expr.Expr
	for _, t := range expr.Conjuncts(l.j.On) {
		c, compares := t.(*expr.Compare)
		if compares && c.Op == expr.NE { // it excludes almost nothing
			continue
		}
		if !within(t, 0, width) && !within(t, width, 1<<62) && rowwise(t) && len(among) < maxBinding {
			among = append(among, t)
		}
	}
	for added := true; added; { // one condition may bind a part only after another has bound the part before
		added = false
		for _, t := range among {
			if slices.Contains(b.among, t) {
				continue
			}
			more := l.with(b, append(slices.Clip(b.among), t))
			p, err := l.sample(more)
			if err != nil {
				return b, nil, err
			}
			if p == nil || reads(p).Wide() || sample != nil && (cost(p) > cost(sample) || slices.EqualFunc(spans(p), spans(sample), sameSpan)) {
				continue
			}
			b, sample, added = more, p, true
		}
	}
	return b, sample, nil
}

// oneSided reports whether conds give a value of the right side only a lower or only an upper bound. The columns of the
// right side begin at index width. A look-up by such conditions reads about half of the table.
func oneSided(conds []expr.Expr, width int) bool {
	bounds := map[bool][]string{}
	for _, t := range conds {
		right, low := bound(t, width)
		if right == nil || slices.Contains(bounds[!low], right.String()) {
			return false
		}
		bounds[low] = append(bounds[low], right.String())
	}
	return true
}

// bound returns the expression over the right side that t, a comparison with the left side, bounds. low reports whether
// the bound is a lower one. bound returns nil if t is no such comparison.
func bound(t expr.Expr, width int) (right expr.Expr, low bool) {
	c, ok := t.(*expr.Compare)
	if !ok || c.Op == expr.EQ || c.Op == expr.NE {
		return nil, false
	}
	right, left, low := c.X, c.Y, c.Op == expr.GT || c.Op == expr.GE
	if within(right, 0, width) {
		right, left, low = left, right, !low
	}
	if !within(left, 0, width) || !within(right, width, math.MaxInt) {
		return nil, false
	}
	return right, low
}

func sameSpan(a, b plan.Span) bool {
	return a.Table == b.Table && a.Key == b.Key && bytes.Equal(a.Start, b.Start) && bytes.Equal(a.Stop, b.Stop)
}

// rowwise reports whether e depends only on the row, and contains no sub-query.
func rowwise(e expr.Expr) bool {
	return expr.Volatile(e) == "" && !expr.Some(e, expr.IsSubquery)
}

// with returns b with the conditions among added.
func (l *looking) with(b by, among []expr.Expr) by {
	out := by{left: b.left, among: among}
	for _, t := range among {
		expr.MapColumns(t, func(c *expr.Column) expr.Expr {
			if c.Index < l.j.Left.Width() && !slices.ContainsFunc(out.cols, func(o *expr.Column) bool { return o.Index == c.Index }) {
				out.cols = append(out.cols, c)
			}
			return c
		})
	}
	return out
}

// sample returns the look-up for the first made-up values that fit, or nil if none do.
func (l *looking) sample(b by) (plan.Node, error) {
	for i := range sampleValues {
		row := make([]types.Value, 0, len(l.j.RightKeys)+len(b.cols))
		for _, e := range l.j.RightKeys {
			row = append(row, sampleValue(e.Type(), i))
		}
		for k, c := range b.cols { // the first value of a range may be its excluded start or end
			if row = append(row, sampleValue(c.Typ, i+k)); i%2 == 1 {
				row[len(row)-1] = sampleValue(c.Typ, i+len(b.cols)-1-k)
			}
		}
		p, err := l.read(b, [][]types.Value{row})
		if err != nil {
			return nil, err
		}
		if reads(p.Root) != plan.Empty {
			l.subs = p.Subplans
			return p.Root, nil
		}
	}
	return nil, nil
}

// read plans the look-up for a batch of left rows: for each row the values of the keys, then the values of b's columns.
func (l *looking) read(b by, batch [][]types.Value) (_ *plan.Plan, err error) {
	defer fail.Catch(&err)
	conds := append(slices.Clip(l.own), l.condition(b, batch)...)
	if l.s.table == nil {
		in := l.q.apart()
		n, rest, err := l.s.again(in, conds)
		if n == nil {
			n = l.j.Right
		}
		if len(rest) > 0 {
			n = &plan.Filter{Input: n, Cond: expr.Conjunction(rest)}
		}
		in.plan.Root = l.oneOfSemi(n)
		return in.plan, err
	}
	req := fail.Must(l.q.request(l.s, conds, l.used, l.want, l.h))
	scan := fail.Must(l.env.access(req))
	return &plan.Plan{Root: l.oneOfSemi(scan)}, nil
}

// oneOfSemi lets n, the rows for a semi-join, omit rows that it does not need: of those with equal keys it needs the last
// ones for m.ts > h.a, and the first ones for m.ts < h.a.
func (l *looking) oneOfSemi(n plan.Node) plan.Node {
	width := l.j.Left.Width()
	if !l.j.Semi {
		return n
	}
	if l.j.On == nil {
		return l.q.oneOfEach(n, l.used, nil)
	}
	e := &access.Ends{Groups: l.j.RightKeys}
	for _, t := range expr.Conjuncts(l.j.On) {
		by, low := bound(t, width)
		if by == nil || e.By != nil && (!expr.Same(e.By, shifted(by, width)) || e.Last != low) {
			return n
		}
		e.By, e.First, e.Last = shifted(by, width), !low, low
	}
	return l.q.oneOfEach(n, nil, e)
}

// condition returns conditions on the right row. They are all true if the row matches at least one left row of the
// batch.
func (l *looking) condition(b by, batch [][]types.Value) []expr.Expr {
	keys := l.j.RightKeys
	if b.left >= 0 {
		keys = slices.Delete(slices.Clone(keys), b.left, b.left+1)
	}
	if len(b.among) == 0 {
		return []expr.Expr{keyCondition(keys, leftOut(batch, b.left))}
	}
	alts := make([]expr.Expr, 0, len(batch))
	for _, row := range batch {
		at := len(l.j.RightKeys)
		terms := make([]expr.Expr, 0, len(keys)+len(b.among))
		if len(keys) > 0 {
			terms = append(terms, keyCondition(keys, leftOut([][]types.Value{row[:at]}, b.left)))
		}
		for _, t := range b.among {
			terms = append(terms, l.given(t, b.cols, row[at:]))
		}
		if t := expr.Conjunction(terms); !isNever(t) {
			alts = append(alts, t)
		}
	}
	return expr.Conjuncts(expr.Fold(&expr.Or{Terms: alts}, l.q.env.Loc))
}

// isNever reports whether e is the constant FALSE or NULL.
func isNever(e expr.Expr) bool {
	k, ok := e.(*expr.Const)
	return ok && (k.Val.IsNull() || !k.Val.Bool())
}

// given replaces the left columns cols in t, a condition on a pair of rows, by values. The result is a condition on the
// right row.
func (l *looking) given(t expr.Expr, cols []*expr.Column, values []types.Value) expr.Expr {
	width := l.j.Left.Width()
	return expr.Fold(expr.MapColumns(t, func(c *expr.Column) expr.Expr {
		if c.Index >= width {
			return shifted(c, width)
		}
		i := slices.IndexFunc(cols, func(o *expr.Column) bool { return o.Index == c.Index })
		return &expr.Const{Pos: c.Pos, Val: values[i], Typ: c.Typ}
	}), l.q.env.Loc)
}

// leftOut returns the batch without the k-th value of each row, or unchanged if k is negative.
func leftOut(batch [][]types.Value, k int) [][]types.Value {
	if k < 0 {
		return batch
	}
	out := make([][]types.Value, len(batch))
	for i, row := range batch {
		out[i] = slices.Delete(slices.Clone(row), k, k+1)
	}
	return out
}

// reads returns the most expensive access to a table of n, and of the named queries that n reads.
func reads(n plan.Node) (a plan.Access) {
	switch n := n.(type) {
	case nil: // of an unfinished plan
	case *plan.Scan:
		return n.Access
	case *plan.Reuse:
		for _, s := range n.Query.Sample.Reads() {
			a = max(a, s.Access)
		}
	default:
		for _, in := range n.Inputs() {
			a = max(a, reads(in))
		}
	}
	return a
}

// sharedWith reports whether n reads the rows of a named query that other reads, too.
func sharedWith(n, other plan.Node) bool {
	if r, ok := n.(*plan.Reuse); ok {
		return shares(other, r.Query)
	}
	return slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return sharedWith(in, other) })
}

// shares reports whether n reads the rows of the named query s.
func shares(n plan.Node, s *plan.Subplan) bool {
	r, ok := n.(*plan.Reuse)
	return ok && r.Query == s || slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return shares(in, s) })
}

func cost(n plan.Node) (all float64) {
	for _, s := range plan.Scans(n) {
		all += s.Candidates[0].Cost
	}
	return all
}

func spans(n plan.Node) (out []plan.Span) {
	for _, s := range plan.Scans(n) {
		out = append(out, s.Spans...)
	}
	return out
}

// guessed estimates the number of n's rows without statistics.
func guessed(n plan.Node) float64 {
	const unknown = 1e6
	switch n := n.(type) {
	case *plan.Scan:
		if n.Access.Wide() {
			return unknown
		}
		return min(unknown, cost(n))
	case *plan.Join:
		if n.Lookup != nil {
			return min(unknown, guessed(n.Left)*cost(n.Right))
		}
		return unknown
	case *plan.Filter:
		return guessed(n.Input)
	case *plan.Limit:
		if n.Count.Set {
			return min(float64(n.Count.Rows), guessed(n.Input))
		}
	case *plan.Values:
		return float64(n.Len())
	}
	return unknown
}

// keyCondition returns the condition that keys are equal to the values of at least one of rows.
func keyCondition(keys []expr.Expr, rows [][]types.Value) expr.Expr {
	if len(keys) == 1 {
		in := &expr.In{Pos: keys[0].Position(), X: keys[0], List: make([]types.Value, len(rows))}
		for i, r := range rows {
			in.List[i] = r[0]
		}
		compare := func(a, b types.Value) int {
			c, _ := types.Compare(a, b) // both have the same type
			return c
		}
		slices.SortFunc(in.List, compare)
		in.List = slices.CompactFunc(in.List, func(a, b types.Value) bool { return compare(a, b) == 0 })
		return in
	}
	alts := make([]expr.Expr, len(rows))
	for i, r := range rows {
		terms := make([]expr.Expr, len(keys))
		for k, x := range keys {
			terms[k] = &expr.Compare{Pos: x.Position(), Op: expr.EQ, X: x, Y: &expr.Const{Pos: x.Position(), Val: r[k], Typ: r[k].Type()}}
		}
		alts[i] = expr.Conjunction(terms)
	}
	if len(alts) == 1 {
		return alts[0]
	}
	return &expr.Or{Terms: alts}
}
