package planner

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

func (o Options) withDefaults() Options {
	if o.MaxSpans == 0 {
		o.MaxSpans = 100_000
	}
	if o.MaxEnumerate == 0 {
		o.MaxEnumerate = 1024
	}
	return o
}

// access finds the best way to read req.table: see the package comment. The returned Scan provides
// req.orderBy if its Order is not NoOrder; otherwise the caller sorts. It applies
// req.limit only when the order (if any) is provided.
func (e *Env) access(req *accessRequest) (_ *Scan, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, ok := p.(stopped)
			if !ok {
				panic(p)
			}
			err = s.why
		}
	}()
	e.tick()
	req.columns = columns{req.table, partsNamed(req.table, req.conjuncts)}
	x := boxer{env: e, columns: req.columns}
	terms := meanings(req.conjuncts, req.columns)
	boxes, capped := x.conjunction(terms)
	if e.Options.NoKey && len(boxes) > 0 {
		boxes = []box{x.all()}
	}
	var best *candidate
	var all []*candidate
	var left []Considered
	for _, l := range req.table.Layouts {
		if !eligible(l, req) {
			continue
		}
		if lost := req.lost(l); lost != "" {
			if l.Name == req.layout {
				return nil, parser.Errorf(parser.NoPos, "INDEX %s cannot answer this: rows in which %s is NULL are not in it", l.Name, lost).
					WithHint("add %s IS NOT NULL", lost)
			}
			left = append(left, Considered{Layout: l.Name, Lost: lost})
			continue
		}
		c := e.candidate(l, req, terms, boxes, false)
		if len(req.orderBy) > 0 && !req.unmerged && c.scan.Order == NoOrder && c.scan.Access != Empty && !e.Options.NoOrder {
			if m := e.candidate(l, req, terms, boxes, true); m.scan.Order != NoOrder && len(m.scan.Spans) <= maxMerged {
				c = m
			}
		}
		c.scan.CapHit = c.scan.CapHit || capped
		all = append(all, c)
		if best == nil || c.cost < best.cost {
			best = c
		}
	}
	if best == nil && req.past() && slices.ContainsFunc(req.table.Layouts, func(l *catalog.Layout) bool { return l.Name == req.layout }) {
		return nil, parser.Errorf(parser.NoPos, "FOR SYSTEM_TIME cannot use layout %q of table %q: it holds rows only where they stand now", req.layout, req.table.Name)
	}
	if best == nil {
		return nil, parser.Errorf(parser.NoPos, "table %q has no layout %q", req.table.Name, req.layout).
			WithHint("layouts: %s", layoutNames(req.table))
	}
	s := best.scan
	for _, c := range all {
		if c != best {
			if c.considered.Why = "costs more"; c.cost == best.cost {
				c.considered.Why = "costs the same"
			}
		} else {
			c.considered.Why = "chosen"
		}
		s.Considered = append(s.Considered, c.considered)
	}
	s.Considered = append(s.Considered, left...)
	slices.SortStableFunc(s.Considered, func(a, b Considered) int { return cmp.Compare(btoi(b.Why == "chosen"), btoi(a.Why == "chosen")) })
	e.finish(s, req, best)
	return s, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// past tells that req reads versions: other layouts than the primary one hold rows only where they stand now.
func (req *accessRequest) past() bool { return req.allVersions || req.maxTime > 0 }

// eligible tells whether l can answer req: the pseudo-column _key means the primary layout's.
func eligible(l *catalog.Layout, req *accessRequest) bool {
	if req.past() && l.Kind != catalog.Primary {
		return false
	}
	if req.layout != "" {
		return l.Name == req.layout
	}
	if l.Kind == catalog.Primary {
		return true
	}
	key := len(req.table.Columns)
	if req.needed[key] {
		return false
	}
	for _, c := range req.conjuncts {
		if slices.Contains(expr.Columns(c), key) {
			return false
		}
	}
	return true
}

// lost gives a column of which req may want rows with NULL, while l has none of them; "" for none.
func (req *accessRequest) lost(l *catalog.Layout) string {
	for _, c := range l.Sparse {
		if !c.NotNull && !slices.ContainsFunc(req.conjuncts, func(e expr.Expr) bool { return expr.RejectsNull(e, c.Index) }) {
			return c.Name
		}
	}
	return ""
}

func layoutNames(t *catalog.Table) string {
	var b []byte
	for i, l := range t.Layouts {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, l.Name...)
	}
	return string(b)
}

// candidate is one layout's way to answer a request.
type candidate struct {
	scan       *Scan
	spans      []keySpan // before merging
	walker     *walker
	boxes      []box
	residual   []expr.Expr
	fates      []Fate
	cost       float64
	considered Considered
}

// maxMerged bounds the scans that are opened only to merge them into an order.
const maxMerged = 256

// candidate plans one layout.
func (e *Env) candidate(l *catalog.Layout, req *accessRequest, terms []term, boxes []box, merging bool) *candidate {
	w := newWalker(l, e, req)
	w.merging = merging
	for _, b := range boxes {
		w.walk(b)
	}
	if w.listTables && slices.ContainsFunc(w.spans, func(s keySpan) bool { return s.Table != "" }) {
		w = newWalker(l, e, req) // one box must list the tables, so all spans are read in all of them
		w.listTables = true
		for _, b := range boxes {
			w.walk(b)
		}
	}
	c := &candidate{walker: w, boxes: boxes, spans: w.spans}
	if l.Kind == catalog.Primary { // _key is its key
		c.spans = w.keyConstraint(boxes, len(req.table.Columns))
	}
	c.scan = &Scan{Table: req.table, Layout: l, Alias: req.alias, Hold: -1, Limit: -1, CapHit: w.capped,
		Entries: l.Kind != catalog.Primary, ListTables: w.listTables, TablePrefix: w.tablePrefix, Lookups: w.lookups,
		MinTime: req.minTime, MaxTime: req.maxTime, AllVersions: req.allVersions}
	c.prove(terms)
	c.order(req, e.Options.NoOrder)
	if c.scan.Order != MergeOrder {
		c.closeGaps()
	}
	var torn bool
	c.scan.Spans, torn = mergeSpans(c.spans, c.scan.Order != MergeOrder)
	if torn || len(c.scan.Spans) < len(c.spans) && slices.ContainsFunc(l.Key.Parts, func(p *catalog.Part) bool { return p.FixedTail() > 0 }) {
		c.unordered()
		c.scan.Spans, _ = mergeSpans(c.spans, true)
	}
	c.scan.Access = c.accessKind()
	if c.scan.Access == FullScan {
		if c.scan.Hop = c.hop(); c.scan.Hop != nil && slices.ContainsFunc(c.scan.Hop.Tails, func(t Span) bool { return !t.Key }) {
			c.scan.Access = SkipScan // else each value has a row or none: little speaks for few values
		}
	}
	c.cost = c.price(req)
	c.considered = Considered{Layout: l.Name, Access: c.scan.Access, Spans: len(c.scan.Spans), Cost: c.cost}
	return c
}

func (c *candidate) accessKind() Access {
	switch {
	case len(c.scan.Spans) == 0:
		return Empty
	case !slices.ContainsFunc(c.scan.Spans, func(s Span) bool { return !s.Key }):
		return Get
	}
	tableBound := !c.scan.ListTables && slices.ContainsFunc(c.scan.Layout.Stored.Parts, func(p *catalog.Part) bool { return p.Literal == nil })
	for _, s := range c.spans {
		if s.bound == 0 && !s.Key && !tableBound {
			return FullScan
		}
	}
	if len(c.scan.Spans) == 1 && len(c.scan.Spans[0].Start) == 0 && len(c.scan.Spans[0].Stop) == 0 && !tableBound {
		return FullScan // the ranges of the parts cover everything
	}
	return RangeScan
}

// price estimates what reading costs, in rows: a range narrows the table by what
// its leading parts bind, each span costs a round trip.
func (c *candidate) price(req *accessRequest) float64 {
	// Nothing is known of the table's size: the figures only put layouts in an order. Each part that is bound leaves a
	// narrowed share of the rows, and no full scan costs less than any range.
	const tableRows, narrowed, trip, full = 1e6, 30, 2, 1e9
	cost := 0.0
	rows := 0.0
	switch c.scan.Access {
	case Empty:
		return 0
	case Get:
		rows = float64(len(c.scan.Spans))
	case SkipScan:
		rows = tableRows / narrowed
		cost = full / 10
	case FullScan:
		rows = tableRows
		cost = full
	default:
		for _, s := range c.spans {
			r := tableRows
			for i := range s.bound {
				if c.scan.Layout.Key.Parts[i].Literal == nil {
					r /= narrowed
				}
			}
			if s.Key {
				r = 1
			}
			rows += max(r, 1)
		}
	}
	cost += rows + trip*float64(len(c.scan.Spans))
	if c.scan.Entries {
		cost += 3 * rows // each row is looked up back
	}
	if len(req.orderBy) > 0 && c.scan.Order == NoOrder {
		cost += rows / 2
	}
	return cost
}

// keyConstraint cuts the spans by what the boxes say of _key, column col.
func (w *walker) keyConstraint(boxes []box, col int) []keySpan {
	var keys types.Set
	for _, b := range boxes {
		s := b.cols[col]
		if s == nil || s.IsAll() {
			return w.spans
		}
		keys = keys.Union(s)
	}
	var out []keySpan
	for _, s := range w.spans {
		for _, iv := range keys {
			if c, ok := cutSpan(s, iv, col); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// cutSpan cuts s to the keys in iv.
func cutSpan(s keySpan, iv types.Interval, col int) (keySpan, bool) {
	if s.Key {
		return s, iv.Contains(types.NewBytes(string(s.Start)))
	}
	r := catalog.KeyRange(iv)
	if bytes.Compare(r.Lo, s.Start) > 0 {
		s.Start = r.Lo
	}
	if r.Hi != nil && (len(s.Stop) == 0 || bytes.Compare(r.Hi, s.Stop) < 0) {
		s.Stop = r.Hi
	}
	if len(s.Stop) > 0 && bytes.Compare(s.Start, s.Stop) >= 0 {
		return s, false
	}
	s.Key = iv.IsPoint()
	if s.Key {
		s.Stop = nil
	}
	s.bound = max(s.bound, 1)
	s.proven = s.proven.with(col, types.SetOf(iv))
	return s, len(s.Start) > 0 || !s.Key
}

// mergeSpans sorts spans and merges those that overlap; with adjacent also those
// that continue one another. torn tells that spans were merged whose values begin at
// different pivots: no order can be read from the result.
func mergeSpans(spans []keySpan, adjacent bool) (out []Span, torn bool) {
	out = make([]Span, 0, len(spans))
	for _, s := range spans {
		out = append(out, s.Span)
	}
	slices.SortFunc(out, func(a, b Span) int {
		if c := cmp.Compare(a.Table, b.Table); c != 0 {
			return c
		}
		if c := bytes.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		return btoi(a.Key) - btoi(b.Key)
	})
	n := 0
	for _, s := range out {
		if n > 0 && out[n-1].Table == s.Table {
			last := &out[n-1]
			if c := compareStop(*last, s.Start); c > 0 || c == 0 && adjacent && !last.Key && !s.Key {
				torn = torn || !bytes.Equal(last.Pivot, s.Pivot)
				if less(*last, s) {
					last.Stop, last.Key = s.Stop, false
				}
				continue
			}
		}
		out[n] = s
		n++
	}
	return out[:n], torn
}

// closeGaps lets a span end where another begins if no key can stand between the two: that of January 31, and that of February 1.
func (c *candidate) closeGaps() {
	const most = 1000 // of more, one call less is not worth the time
	if len(c.spans) < 2 || len(c.spans) > most || c.scan.Table.MalformedKeyError || slices.ContainsFunc(c.spans, func(s keySpan) bool { return s.Key || len(s.Pivot) > 0 }) ||
		slices.ContainsFunc(c.scan.Layout.Key.Parts, func(p *catalog.Part) bool { return p.FixedTail() > 0 }) {
		return
	}
	begins := map[string][]byte{} // by table and stop, the start behind the gap
	for _, s := range c.spans {
		if stop := c.walker.before(s.Start); stop != nil {
			begins[s.Table+"\x00"+string(stop)] = s.Start
		}
	}
	for i := range c.spans {
		s := &c.spans[i]
		if next, ok := begins[s.Table+"\x00"+string(s.Stop)]; ok && len(s.Stop) > 0 {
			s.Stop = next
		}
	}
}

// before gives the end of the keys of the value before the one with which start ends: no key stands between the two. Nil: it is not known.
func (w *walker) before(start []byte) []byte {
	at := 0
	for _, p := range w.layout.Key.Parts {
		n := p.Width()
		if n == catalog.Variable {
			return nil
		}
		if at += n; at < len(start) {
			continue
		}
		if at > len(start) || p.Literal != nil || p.Encoding.Order() != catalog.Ascending || p.ManyScales() {
			return nil
		}
		v, err := p.Encoding.Decode(start[at-n:])
		if err != nil {
			return nil
		}
		below := types.SetOf(types.Interval{Hi: v, HiOpen: true})
		if len(below) != 1 || below[0].HiOpen { // there are values in between
			return nil
		}
		b, err := p.Append(slices.Clip(start[:at-n]), below[0].Hi)
		if err != nil {
			return nil
		}
		return types.PrefixEnd(b)
	}
	return nil
}

// compareStop compares the end of s with key: above 0 when key lies in s (or before its end).
func compareStop(s Span, key []byte) int {
	if s.Key {
		if bytes.Equal(s.Start, key) {
			return 1
		}
		return -1
	}
	if len(s.Stop) == 0 {
		return 1
	}
	return bytes.Compare(s.Stop, key)
}

// less tells that a ends before b does.
func less(a, b Span) bool {
	switch {
	case a.Key:
		return !b.Key
	case len(a.Stop) == 0 || b.Key:
		return false
	case len(b.Stop) == 0:
		return true
	}
	return bytes.Compare(a.Stop, b.Stop) < 0
}

// prove splits the conjuncts into those that every span implies and the residual.
func (c *candidate) prove(terms []term) {
	implies := func(p proof) bool {
		for i := range c.spans {
			if !p.holds(&c.spans[i]) {
				return false
			}
		}
		return true
	}
	// together are the columns all of whose terms are proven by one look at the spans. To prove many terms one by one
	// takes long.
	together := map[int]bool{}
	if len(terms) > 8 {
		sets := map[int][]types.Set{}
		for _, t := range terms {
			if t.ok && t.exact {
				sets[t.col] = append(sets[t.col], t.set)
			}
		}
		for col, s := range sets {
			together[col] = implies(proof{col: col, set: types.IntersectAll(s), sarg: true})
		}
	}
	for _, t := range terms {
		if t.ok && t.exact && together[t.col] || implies(newProof(t, c.walker.columns)) {
			c.fates = append(c.fates, Fate{Expr: t.Expr, By: ByKey})
			continue
		}
		c.residual = append(c.residual, t.Expr)
		c.fates = append(c.fates, Fate{Expr: t.Expr})
	}
}

// proof is a predicate prepared to be proved of many spans.
type proof struct {
	col  int
	set  types.Set // the predicate is true exactly for these values of col; nil when it is not of that kind
	like *expr.Like
	all  []proof // AND
	any  []proof // OR
	// likely is the term of any, or the interval of set, to try first: spans come in their order.
	likely int
	sarg   bool
	truth  bool
}

func newProof(of term, c columns) proof {
	var p proof
	if of.ok && of.exact {
		p.col, p.set, p.sarg = of.col, of.set, true
		p.truth = p.set.IsAll() && c.notNull(p.col)
	}
	switch e := of.means.(type) {
	case *expr.Like:
		p.like = e
	case *expr.And:
		for _, term := range termsOf(e.Terms, c) {
			p.all = append(p.all, newProof(term, c))
		}
	case *expr.Or:
		p.any = make([]proof, 0, len(e.Terms))
		for _, term := range e.Terms {
			p.any = append(p.any, newProof(termOf(term, c), c))
		}
	case both:
		p.any = []proof{newProof(termOf(e.Expr, c), c), newProof(termOf(e.ofParts, c), c)}
	case *expr.Const:
		p.truth = !e.Val.IsNull() && e.Val.Type() == types.Boolean && e.Val.Bool()
	}
	return p
}

// holds tells whether the predicate is true in every row of s.
func (p *proof) holds(s *keySpan) bool {
	if p.truth {
		return true
	}
	if p.sarg {
		if known := s.proven.of(p.col); known != nil {
			if n := p.likely; n < len(p.set) && known.SubsetOf(p.set[n:n+1]) {
				p.likely++
				return true
			}
			if known.SubsetOf(p.set) {
				return true
			}
		}
	}
	if p.like != nil && slices.Contains(s.likes, p.like) {
		return true
	}
	for k := range p.any {
		i := (p.likely + k) % len(p.any)
		if p.any[i].holds(s) {
			p.likely = i // several spans may come of one term
			return true
		}
	}
	if len(p.all) == 0 {
		return false
	}
	for i := range p.all {
		if !p.all[i].holds(s) {
			return false
		}
	}
	return true
}
