package planner

import (
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// joined reads the sources and joins them, one to the row of those before it.
// ordered reports whether the wanted order is provided.
//
//	a predicate on a column holds for the columns it is equal to (spread)
//	inner joins begin with a source whose key is bound, and go on with those whose keys
//	  the rows so far bind (arrange)
//	each further source is looked up by key where the rows so far bind it, else hashed
func (q *query) joined(f *from, conds []expr.Expr, used []bool, want accessOrder, h hints) (n plan.Node, ordered bool, err error) {
	switch len(f.srcs) {
	case 0:
		n = &plan.Values{Rows: [][]expr.Expr{{}}}
		if c := expr.Conjunction(conds); len(conds) > 0 {
			n = &plan.Filter{Input: n, Cond: c}
		}
		return n, false, nil
	case 1:
		if len(conds) > 1 && !q.env.Options.NoRules {
			conds = f.spread(conds)
		}
		own, _ := ownTerms(conds, f.srcs[0])
		return q.source(f.srcs[0], own, used, want, h)
	}
	f, conds = q.reduceOuter(f, conds)
	conds = f.spread(conds)
	if f.lateral() {
		n, err = q.chain(f, conds, used, h)
		return n, false, err
	}
	n, err = q.inOrder(f, q.arrange(f, conds, h), conds, used, h)
	if err == nil && q.figured(f) {
		n, err = q.cheapest(n, f, conds, used, h)
	}
	return n, false, err
}

// inOrder joins the sources in an order; nil: as written.
func (q *query) inOrder(f *from, order []int, conds []expr.Expr, used []bool, h hints) (plan.Node, error) {
	if order == nil {
		return q.chain(f, conds, used, h)
	}
	return q.rearranged(f, order, conds, used, h)
}

// chain joins the sources as they stand.
func (q *query) chain(f *from, conds []expr.Expr, used []bool, h hints) (n plan.Node, err error) {
	rest := conds
	for i, s := range f.srcs {
		if s.lateral != nil {
			n, rest = f.apply(n, i, rest)
			continue
		}
		var own, on []expr.Expr
		if !f.outer[i] {
			own, rest = ownTerms(rest, s)
		}
		if f.on[i] != nil {
			for _, t := range expr.Conjuncts(f.on[i]) {
				if within(t, s.offset, s.offset+s.width()) {
					own = append(own, shifted(t, s.offset))
				} else {
					on = append(on, t)
				}
			}
		}
		if i > 0 && !f.outer[i] {
			var more []expr.Expr
			more, rest = termsUpTo(rest, s)
			on = append(on, more...)
		}
		right, _, err := q.source(s, own, used[s.offset:s.offset+s.width()], accessOrder{}, h)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			n = right
			continue
		}
		j := newJoin(n, right, f.outer[i], on, s.offset)
		j.Swapped = f.swapped[i]
		if err := q.lookup(j, s, own, used[s.offset:s.offset+s.width()], h); err != nil {
			return nil, err
		}
		n = j
	}
	if len(rest) > 0 {
		n = &plan.Filter{Input: n, Cond: expr.Conjunction(rest)}
	}
	return n, nil
}

func ownTerms(conds []expr.Expr, s *source) (own, rest []expr.Expr) {
	for _, c := range conds {
		if within(c, s.offset, s.offset+s.width()) {
			own = append(own, shifted(c, s.offset))
		} else {
			rest = append(rest, c)
		}
	}
	return own, rest
}

// termsUpTo gives those of conds that can be checked once s is joined to the sources before it, and the others.
func termsUpTo(conds []expr.Expr, s *source) (now, later []expr.Expr) {
	for _, c := range conds {
		if within(c, 0, s.offset+s.width()) {
			now = append(now, c)
		} else {
			later = append(later, c)
		}
	}
	return now, later
}

func within(e expr.Expr, from, to int) bool {
	for _, c := range expr.Columns(e) {
		if c < from || c >= to {
			return false
		}
	}
	return true
}

// shifted rewrites e over the joined row to one over a source's own row.
func shifted(e expr.Expr, by int) expr.Expr {
	if by == 0 {
		return e
	}
	return moved(e, func(i int) int { return i - by })
}

// moved rewrites the columns of e.
func moved(e expr.Expr, to func(index int) int) expr.Expr {
	return expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Column); ok {
			d := *c
			d.Index = to(c.Index)
			return &d
		}
		return x
	})
}

// newJoin joins on the equalities between the sides; other conditions are checked on each pair.
func newJoin(left, right plan.Node, outer bool, on []expr.Expr, offset int) *plan.Join {
	j := &plan.Join{Left: left, Right: right, Outer: outer}
	var rest []expr.Expr
	for _, t := range on {
		if x, y, ok := equality(t); ok {
			if within(y, 0, offset) {
				x, y = y, x
			}
			if within(x, 0, offset) && within(y, offset, math.MaxInt) && len(expr.Columns(x)) > 0 && len(expr.Columns(y)) > 0 {
				j.LeftKeys, j.RightKeys = append(j.LeftKeys, x), append(j.RightKeys, shifted(y, offset))
				continue
			}
		}
		rest = append(rest, t)
	}
	if len(rest) > 0 {
		j.On = expr.Conjunction(rest)
	}
	return j
}

// equality gives the sides of x = y where equal values have equal keys in a hash table: those
// of one type, integers, and other numbers as the type that holds both.
func equality(e expr.Expr) (x, y expr.Expr, ok bool) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ {
		return nil, nil, false
	}
	a, b := c.X.Type(), c.Y.Type()
	switch {
	case a == b, a.IsInteger() && b.IsInteger():
		return c.X, c.Y, true
	case a.IsInteger() && b == types.Decimal:
		return &expr.Cast{Pos: c.Pos, X: c.X, Typ: b}, c.Y, true
	case b.IsInteger() && a == types.Decimal:
		return c.X, &expr.Cast{Pos: c.Pos, X: c.Y, Typ: a}, true
	}
	return nil, nil, false
}

// spread adds to conds what they say of columns that are equal to theirs, and to the
// condition of a LEFT JOIN what they say of its left columns.
func (f *from) spread(conds []expr.Expr) []expr.Expr {
	var pairs [][2]*expr.Column
	pair := func(e expr.Expr) (x, y *expr.Column, ok bool) {
		a, b, ok := equality(e)
		if !ok {
			return nil, nil, false
		}
		x, xok := a.(*expr.Column)
		y, yok := b.(*expr.Column)
		return x, y, xok && yok
	}
	for _, c := range conds {
		if x, y, ok := pair(c); ok {
			pairs = append(pairs, [2]*expr.Column{x, y}, [2]*expr.Column{y, x})
		}
	}
	out := slices.Clip(conds)
	for i := 0; i < len(out) && len(out) < len(conds)+64; i++ { // what is added may lead to more
		for _, p := range pairs {
			if e, ok := restated(out[i], p[0], p[1]); ok && !slices.ContainsFunc(out, func(o expr.Expr) bool { return expr.Same(o, e) }) {
				out = append(out, e)
			}
		}
	}
	for i := range f.srcs {
		if !f.outer[i] || f.on[i] == nil {
			continue
		}
		on := slices.Clip(expr.Conjuncts(f.on[i]))
		for _, t := range on {
			x, y, ok := pair(t)
			if !ok {
				continue
			}
			if x.Index >= f.srcs[i].offset {
				x, y = y, x
			}
			for _, c := range out {
				if e, ok := restated(c, x, y); ok && y.Index >= f.srcs[i].offset {
					on = append(on, e)
				}
			}
		}
		f.on[i] = expr.Conjunction(on)
	}
	return out
}

// restated is e, a predicate on column x alone, said of y.
func restated(e expr.Expr, x, y *expr.Column) (expr.Expr, bool) {
	col, _, _, ok := expr.Sarg(e)
	if !ok || col != x.Index {
		return nil, false
	}
	return expr.Map(e, func(n expr.Expr) expr.Expr {
		if c, ok := n.(*expr.Column); ok && c.Index == x.Index {
			return y
		}
		return n
	}), true
}

// arrange gives the order in which to join sources of inner joins where the written one begins with
// a full scan and another need not: with rows that are at hand and bind the key of a table, or with a bound table; nil: as written.
func (q *query) arrange(f *from, conds []expr.Expr, h hints) []int {
	if slices.Contains(f.outer, true) {
		return nil
	}
	bound := q.binds(f, conds, h)
	if bound(0, nil) {
		return nil
	}
	for i, s := range f.srcs {
		if _, atHand := s.node.(*plan.Values); !atHand {
			continue
		}
		for k := range f.srcs {
			if k != i && bound(k, []int{i}) {
				return orderFrom(i, len(f.srcs), bound)
			}
		}
	}
	for i := range f.srcs {
		if bound(i, nil) {
			return orderFrom(i, len(f.srcs), bound)
		}
	}
	return nil
}

// binds tells of a source whether the sources given bind the start of its key.
func (q *query) binds(f *from, conds []expr.Expr, h hints) func(i int, given []int) bool {
	return func(i int, given []int) bool {
		s := f.srcs[i]
		if s.table == nil {
			return false
		}
		own, rest := ownTerms(conds, s)
		for _, e := range rest {
			if y, t := keySide(e, s, given, f); y != nil {
				own = append(own, &expr.Compare{Op: expr.EQ, X: y, Y: &expr.Const{Val: sampleValue(t, 0), Typ: t}})
			}
		}
		req, err := q.request(s, own, make([]bool, s.width()), accessOrder{}, h)
		if err != nil {
			return false
		}
		scan, err := q.env.access(req)
		return err == nil && !scan.Access.Wide()
	}
}

// orderFrom gives an order of n sources that begins with first and goes on with those whose keys the ones so far bind.
func orderFrom(first, n int, bound func(i int, given []int) bool) []int {
	order := []int{first}
	for len(order) < n {
		next := -1
		for i := range n {
			if slices.Contains(order, i) {
				continue
			}
			if next < 0 {
				next = i
			}
			if bound(i, order) {
				next = i
				break
			}
		}
		order = append(order, next)
	}
	return order
}

// keySide gives the side of the equality e that is over s, where the other one is over the given sources.
func keySide(e expr.Expr, s *source, given []int, f *from) (expr.Expr, types.Type) {
	x, y, ok := equality(e)
	if !ok {
		return nil, types.Null
	}
	if !within(y, s.offset, s.offset+s.width()) {
		x, y = y, x
	}
	if !within(y, s.offset, s.offset+s.width()) || len(expr.Columns(y)) == 0 {
		return nil, types.Null
	}
	for _, c := range expr.Columns(x) {
		if !slices.ContainsFunc(given, func(i int) bool { return c >= f.srcs[i].offset && c < f.srcs[i].offset+f.srcs[i].width() }) {
			return nil, types.Null
		}
	}
	return shifted(y, s.offset), y.Type()
}

// rearranged joins the sources in another order, and puts the row back into the written one.
func (q *query) rearranged(f *from, order []int, conds []expr.Expr, used []bool, h hints) (plan.Node, error) {
	g := &from{}
	at := make([]int, len(used)) // where a column of the written row stands in the joined one
	for _, i := range order {
		s := *f.srcs[i]
		s.offset = 0
		g.add(&s)
		for k := range s.width() {
			at[f.srcs[i].offset+k] = s.offset + k
		}
	}
	conds = slices.Clone(conds)
	for i, c := range conds {
		conds[i] = moved(c, func(x int) int { return at[x] })
	}
	gused := make([]bool, len(used))
	exprs := make([]expr.Expr, len(used))
	for _, s := range f.srcs {
		for k, c := range s.cols {
			i := s.offset + k
			gused[at[i]] = used[i]
			exprs[i] = &expr.Column{Index: at[i], Name: c.Name, Typ: c.Type}
		}
	}
	n, err := q.chain(g, conds, gused, h)
	if err != nil {
		return nil, err
	}
	return &plan.Project{Input: n, Exprs: exprs}, nil
}

// lookup makes j read its right side, the table of s, by key for the rows of the left one, where
// they bind its key and reading it without them costs more.
func (q *query) lookup(j *plan.Join, s *source, own []expr.Expr, used []bool, h hints) error {
	whole, ok := j.Right.(*plan.Scan)
	if !ok || len(j.RightKeys) == 0 || whole.Access == plan.Empty || whole.Access == plan.Get {
		return nil
	}
	keys := slices.Clone(used)
	mark(keys, j.RightKeys...)
	env := q.env
	if q.known(s) { // statistics choose between this and reading once: how each batch is read need not be weighed again
		rules := *q.env
		rules.Statistics, env = nil, &rules
	}
	by, left := j.RightKeys, -1 // rows are looked up by all of the keys but that of index left, which is compared
	read := func(batch [][]types.Value) (*plan.Scan, error) {
		req, err := q.request(s, append(slices.Clip(own), keyCondition(by, leftOut(batch, left))), keys, accessOrder{}, h)
		if err != nil {
			return nil, err
		}
		scan, err := env.access(req)
		if err == nil && j.Semi && j.On == nil {
			env.accessEnv().OneOfSame(scan, keys, nil, nil)
		}
		return scan, err
	}
	var sample *plan.Scan
	for ; left < len(j.RightKeys); left++ {
		if left >= 0 { // of values that are made up, one may contradict another: DATE_TRUNC('hour', ts) = 1 has no ts
			if by = slices.Delete(slices.Clone(j.RightKeys), left, left+1); len(by) == 0 {
				return nil
			}
		}
		p, err := sampleLookup(j.RightKeys, read)
		if err != nil || p != nil && p.Access.Wide() && left < 0 {
			return err
		}
		if p != nil && !p.Access.Wide() {
			sample = p
			break
		}
	}
	if sample == nil {
		return nil
	}
	usual := q.pieces || whole.Access.Wide() || guessed(j.Left)*cost(sample) < cost(whole)
	if q.known(s) && q.byFigures(j, sample, &plan.Lookup{Plan: read, Whole: whole}, usual) {
		return nil
	}
	if usual {
		j.Right, j.Lookup = sample, &plan.Lookup{Plan: read, Whole: whole}
	}
	return nil
}

// sampleLookup gives the first look-up for made-up values of keys that fit; nil: none does.
func sampleLookup(keys []expr.Expr, read func(batch [][]types.Value) (*plan.Scan, error)) (*plan.Scan, error) {
	for i := range sampleValues {
		row := make([]types.Value, len(keys))
		for k, e := range keys {
			row[k] = sampleValue(e.Type(), i)
		}
		if p, err := read([][]types.Value{row}); err != nil || p.Access != plan.Empty {
			return p, err
		}
	}
	return nil, nil
}

// leftOut gives the batch without the k-th value of each row; all of it if k is negative.
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

func cost(s *plan.Scan) float64 { return s.Candidates[0].Cost }

// guessed guesses without statistics how many rows n gives.
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
			return min(unknown, guessed(n.Left)*cost(n.Right.(*plan.Scan)))
		}
		return unknown
	case *plan.Filter:
		return guessed(n.Input)
	case *plan.Limit:
		if n.Count.Set {
			return min(float64(n.Count.Rows), guessed(n.Input))
		}
	case *plan.Values:
		return float64(len(n.Rows))
	}
	return unknown
}

// keyCondition is the condition that the keys have the values of one of the rows.
func keyCondition(keys []expr.Expr, rows [][]types.Value) expr.Expr {
	if len(keys) == 1 {
		in := &expr.In{Pos: keys[0].Position(), X: keys[0], List: make([]types.Value, len(rows))}
		for i, r := range rows {
			in.List[i] = r[0]
		}
		compare := func(a, b types.Value) int {
			c, _ := types.Compare(a, b) // one type
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
