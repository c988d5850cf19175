package planner

import (
	"bytes"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// A keySpan is a Span while it is planned: with what is known of every row in it.
type keySpan struct {
	Span
	// proven holds, by column, a set that the column's value in any row of the span lies in.
	proven facts
	likes  []*expr.Like // patterns that every row in the span matches
	// bound is the number of leading key parts that the span binds or ranges over.
	bound int
	// begun is the number of key parts that begin within Start, or at its end.
	begun int
	// fixed is the number of bytes of Start that come from constant parts: all keys of the span begin with them.
	fixed int
	// sets are, by column, the values that the column can have in the rows that the query asks for.
	sets facts
	// fuzzy are patterns: the key of each row that the query asks for fits one of them; nil: none are known.
	fuzzy []fuzzyPattern
	hop   *tailHop // nil: none is known
}

// partUse says what the spans of a box do with a part; the greater wins.
type partUse uint8

const (
	unused partUse = iota
	bound
	enumerated
	ranged
)

func (u partUse) String() string { return [...]string{"unused", "bound", "enumerated", "range"}[u] }

// walker walks the parts of one layout for one box after the other.
type walker struct {
	env    *Env
	table  *catalog.Table
	layout *catalog.Layout
	opt    Options
	spans  []keySpan
	uses   []partUse // by key part
	// detail is the box's set for the parts' columns when first used, for EXPLAIN.
	detail []types.Set
	varied []bool // other boxes or values of parts before had other sets
	// stop tells for the first part at which a walk stopped why it did.
	stopPart int
	stopWhy  string
	capped   bool
	// listTables: nothing binds the physical table's name; the spans are read in
	// every table whose name starts with tablePrefix.
	listTables  bool
	tablePrefix string
	// merging: finite parts are enumerated even if nothing behind them is bound, as the spans of
	// their values, merged, give an order.
	merging bool
	lookups []LookupKey
	lookup  func(LookupKey) (types.Value, bool)
	number  expr.LookupFunc // resolve, which would be made anew for each part
	bytes   []byte          // room for the bytes of keys, handed out piece by piece
	steps   int             // calls of key
	// few is how many values of one column are walked one by one at most: MaxEnumerate, or as many as the statement names.
	few     int
	columns columns
	part    []int    // by key part: the column of what it is computed to, -1: no condition is about that
	hopping bool     // the parts behind those that nothing binds are walked: see tails
	hopped  *tailHop // the first of the spans', for EXPLAIN
}

// room gives n free bytes, of length 0.
func (w *walker) room(n int) []byte {
	if n > cap(w.bytes)-len(w.bytes) {
		w.bytes = make([]byte, 0, max(n, min(2*cap(w.bytes), 1<<16), 64))
	}
	at := len(w.bytes)
	w.bytes = w.bytes[:at+n]
	return w.bytes[at : at : at+n]
}

// join gives a followed by b.
func (w *walker) join(a, b []byte) []byte {
	return append(append(w.room(len(a)+len(b)), a...), b...)
}

// encode gives the bytes of v in p; an error means that it was never stored.
func (w *walker) encode(p *catalog.Part, v types.Value) ([]byte, error) {
	n := p.Width()
	if n == catalog.Variable {
		n = len(v.Text())
	}
	return p.Append(w.room(n), v)
}

func newWalker(l *catalog.Layout, e *Env, req *accessRequest) *walker {
	n, opt := len(l.Key.Parts), e.Options.withDefaults()
	w := &walker{env: e, table: req.table, layout: l, opt: opt, uses: make([]partUse, n), detail: make([]types.Set, n), varied: make([]bool, n),
		stopPart: n, lookup: e.Lookups, few: max(opt.MaxEnumerate, named(req.conjuncts)),
		columns: req.columns, part: make([]int, n)}
	w.number = w.resolve
	for i, p := range l.Key.Parts {
		w.part[i] = -1
		if p.Literal == nil && len(req.columns.parts) > 0 {
			if k := slices.IndexFunc(req.columns.parts, func(e expr.Expr) bool { return expr.Same(e, p.Expr) }); k >= 0 {
				w.part[i] = req.columns.first() + k
			}
		}
	}
	return w
}

// named counts the constants in es, those in IN lists too: more values than these are not worth a span each.
func named(es []expr.Expr) int {
	n := 0
	for _, e := range es {
		switch e := e.(type) {
		case *expr.Const:
			n++
		case *expr.In:
			n += len(e.List)
		default:
			n += named(expr.Children(e))
		}
	}
	return n
}

// branch is one way through the parts: the bytes so far and the columns' sets, narrowed by the choices made.
type branch struct {
	sets   facts
	likes  []*expr.Like
	table  string
	prefix []byte
	proven facts
	// matched are the patterns that every row of the branch matches.
	matched []*expr.Like
	begun   int
	bound   int
	// loose is set when the prefix holds a part that only the end of the key ends, uid AS TEXT, ts AS INT64: in a
	// longer key that begins with the prefix, that part may be a longer value. sure and sureMatched are what was proven
	// and matched before that part; this holds for such a key, too.
	loose       bool
	sure        facts
	sureMatched []*expr.Like
}

// with continues b with bytesOf.
func (w *walker) with(b *branch, bytesOf []byte) branch {
	c := *b
	c.prefix = w.join(b.prefix, bytesOf)
	return c
}

// fix sets column col to s for what follows.
func (b *branch) fix(col int, s types.Set) { b.sets = b.sets.with(col, s) }

// prove records that col lies in s for every row of the branch.
func (b *branch) prove(col int, s types.Set) {
	if p := b.proven.of(col); p != nil {
		s = p.Intersect(s)
	}
	b.proven = b.proven.with(col, s)
}

// walk adds the spans of the rows of b.
func (w *walker) walk(b box) {
	br := branch{sets: facts{base: b.cols}, likes: b.likes}
	w.tables(br, w.layout.Stored.Parts)
}

// tables walks the parts of the physical table's name, which must come out as single names.
func (w *walker) tables(br branch, parts []*catalog.Part) {
	for i, p := range parts {
		if p.Literal != nil {
			br.prefix = w.join(br.prefix, p.Literal)
			continue
		}
		vals, ok := w.values(&br, p)
		if !ok || w.listTables {
			w.listTables = true
			w.tablePrefix = string(br.prefix)
			br.prefix = nil
			w.key(br, 0, nil)
			return
		}
		for _, v := range vals {
			if nb, ok := w.take(&br, p, v); ok {
				w.tables(nb, parts[i+1:])
			}
		}
		return
	}
	br.table, br.prefix = string(br.prefix), nil
	w.key(br, 0, nil)
}

// values lists the values that p can have in br, when they are few.
func (w *walker) values(br *branch, p *catalog.Part) ([]types.Value, bool) {
	set, ok := w.image(br, p)
	if !ok {
		return nil, false
	}
	column := types.All()
	if len(p.Columns) == 1 {
		column = br.sets.setOf(p.Columns[0])
	}
	return p.Values(set, column, w.opt.MaxEnumerate)
}

// image gives the values of p when its only column is constrained, or its columns are all bound.
func (w *walker) image(br *branch, p *catalog.Part) (types.Set, bool) {
	if v, ok := w.computed(br, p); ok {
		if v.IsNull() {
			return nil, true
		}
		return types.Points(v), true
	}
	if len(p.Columns) == 1 {
		col := p.Columns[0]
		if s := br.sets.setOf(col); !s.IsAll() {
			if img, ok := p.Image(s); ok && !img.IsAll() {
				return img, true
			}
		}
	}
	return nil, false
}

// computed gives p's value when all its columns are bound to single values.
func (w *walker) computed(br *branch, p *catalog.Part) (types.Value, bool) {
	return p.Compute(br.sets.single, w.number)
}

// resolve answers LOOKUP calls from what is known and notes the others.
func (w *walker) resolve(table, column string, args []types.Value) (types.Value, bool) {
	k := LookupKey{Table: table, Column: column, Args: args}
	if w.lookup != nil {
		if v, ok := w.lookup(k); ok {
			return v, true
		}
	}
	w.lookups = append(w.lookups, k)
	return types.Value{}, false
}

// take continues br with part p having the value v.
func (w *walker) take(br *branch, p *catalog.Part, v types.Value) (branch, bool) {
	if v.IsNull() {
		return branch{}, false
	}
	enc, err := w.encode(p, v)
	if err != nil {
		return branch{}, false
	}
	nb := w.with(br, enc)
	if p.FixedTail() > 0 {
		nb.loose, nb.sure, nb.sureMatched = true, br.proven, br.matched
	}
	if len(p.Columns) == 1 {
		col := p.Columns[0]
		pt := types.Points(v)
		if _, ok := p.Column(); ok {
			nb.fix(col, pt)
			nb.prove(col, pt)
			return nb, true
		}
		if pre, ok := p.Preimage(pt, nb.sets.setOf(col)); ok {
			if pre.IsEmpty() {
				return branch{}, false
			}
			nb.fix(col, together(pre, nb.sets.setOf(col)))
		}
		if pre, ok := p.Preimage(pt, nb.proven.setOf(col)); ok {
			nb.prove(col, pre)
		}
	}
	return nb, true
}

// fewPieces is how many pieces of a column's set are worth a span each where a key part has one value.
const fewPieces = 2

// together gives what to walk of set where a part has the value that pre is the preimage of. The keys of that value that lie between
// two pieces of pre do not exist: where pre has many more pieces than set, what of set lies between its ends serves as well.
func together(pre, set types.Set) types.Set {
	if len(pre) <= max(len(set), fewPieces) {
		return pre
	}
	ends := pre[0]
	last := pre[len(pre)-1]
	ends.Hi, ends.HiOpen = last.Hi, last.HiOpen
	return set.Intersect(types.SetOf(ends))
}

// use notes what happens to key part i.
func (w *walker) use(i int, u partUse, s types.Set) {
	if u > w.uses[i] {
		w.uses[i] = u
	}
	switch {
	case w.detail[i] == nil:
		w.detail[i] = s
	case s != nil && !w.varied[i] && !alike(w.detail[i], s):
		w.varied[i] = true
	}
}

// alike tells that two sets have as many intervals and the same ends: enough to say "and others" by.
func alike(a, b types.Set) bool {
	if len(a) != len(b) || len(a) == 0 {
		return len(a) == len(b)
	}
	same := func(x, y types.Value) bool {
		if x.IsNull() || y.IsNull() {
			return x.IsNull() && y.IsNull()
		}
		c, err := types.Compare(x, y)
		return err == nil && c == 0
	}
	return same(a[0].Lo, b[0].Lo) && same(a[len(a)-1].Hi, b[len(b)-1].Hi)
}

// key walks the key's parts from i on. It tells whether any of them is bound or ranged.
// rest, when set, collects suffixes for a part computed from the rest of the key.
func (w *walker) key(br branch, i int, rest *[]keySpan) bool {
	if w.steps++; w.steps%256 == 1 {
		w.env.tick()
	}
	parts := w.layout.Key.Parts
	for ; i < len(parts); i++ {
		p := parts[i]
		if br.begun == i {
			br.begun++
		}
		if p.Literal != nil {
			br = w.with(&br, p.Literal)
			continue
		}
		if p.IsFromRest() {
			return w.fromRest(br, i, rest)
		}
		if v, ok := w.computed(&br, p); ok && !p.ManyScales() {
			nb, ok := w.take(&br, p, v)
			if !ok || !v.IsNull() && w.part[i] >= 0 && !br.sets.setOf(w.part[i]).Contains(v) {
				w.use(i, bound, nil)
				return true
			}
			w.use(i, bound, types.Points(v))
			w.proveOf(&nb, i, types.Points(v))
			nb.bound = i + 1
			br = nb
			continue
		}
		if !p.ManyScales() {
			if done, useful := w.split(br, i, rest); done {
				return useful
			}
		}
		if w.enumerate(br, i, rest) {
			return true
		}
		w.stopAt(i, p, &br)
		w.emit(br, nil, rest)
		return br.bound > 0
	}
	w.emit(br, &catalog.ByteRange{Point: true}, rest)
	return br.bound > 0
}

// split handles a part whose column (or columns) is constrained to several values.
func (w *walker) split(br branch, i int, rest *[]keySpan) (done, useful bool) {
	p := w.layout.Key.Parts[i]
	if len(p.Columns) > 1 {
		if done, useful = w.splitColumns(br, i, rest); done {
			return done, useful
		}
		s := w.partSet(&br, i)
		done = s != nil && w.splitValues(br, i, s, rest)
		return done, done
	}
	if len(p.Columns) == 0 {
		return false, false
	}
	col := p.Columns[0]
	if s := w.partSet(&br, i); s != nil && w.splitValues(br, i, s, rest) {
		return true, true
	}
	if done, useful := w.splitLike(br, i, rest); done {
		return true, useful
	}
	set := br.sets.of(col)
	if set == nil || set.IsAll() {
		return false, false
	}
	if p.Injective() {
		if w.splitSet(br, i, set, rest) {
			return true, true
		}
		if vs, ok := set.Values(w.few); ok { // the bytes are in no order, but there are few
			return w.splitPoints(br, i, col, vs, rest)
		}
		return false, true
	}
	// Not every value of the column has a value of its own here (a bucket, a hash, a day).
	if vs, ranges := w.scattered(p, set); len(vs) > 0 {
		_, useful = w.splitPoints(br, i, col, vs, rest)
		if len(ranges) > 0 {
			br.fix(col, ranges)
			useful = w.key(br, i, rest) || useful
		}
		return true, useful
	}
	if img, ok := p.Image(set); ok && !img.IsAll() {
		if dom, ok := p.Domain(); ok && dom.SubsetOf(img) {
			return false, false // no better than enumerating
		}
		vals, few := w.values(&br, p)
		if few && p.Monotone() != 0 {
			few = len(vals) <= maxSteps
		}
		if few && w.pays(br, i) {
			return true, w.each(br, i, vals, enumerated, rest)
		}
		if w.splitSet(br, i, img, rest) {
			return true, true
		}
		if few {
			return true, w.each(br, i, vals, enumerated, rest)
		}
	}
	if vs, ok := set.Values(w.opt.MaxEnumerate); ok {
		return w.splitPoints(br, i, col, vs, rest)
	}
	return false, false
}

// partSet gives what conditions on part i itself leave of its values, nil where there are none, or where the values of its
// column are few and say more.
func (w *walker) partSet(br *branch, i int) types.Set {
	if w.part[i] < 0 {
		return nil
	}
	set, p := br.sets.of(w.part[i]), w.layout.Key.Parts[i]
	if set == nil || set.IsAll() {
		return nil
	}
	if len(p.Columns) == 1 {
		column := br.sets.setOf(p.Columns[0])
		if _, few := column.Values(w.few); few {
			return nil
		}
		if img, ok := p.Image(column); ok {
			set = set.Intersect(img)
		}
	}
	return set
}

// scattered divides set, of p's only column, into the values that are best walked one by one and the ranges. Neighbours are
// one interval, which p, a bucket or a hash, tears apart: it would be read once in each bucket. Where its values are
// fewer than the buckets they say more.
func (w *walker) scattered(p *catalog.Part, set types.Set) (vs []types.Value, ranges types.Set) {
	each, all := 1, w.opt.MaxSpans // in steps and days neighbours stay together
	if p.Monotone() == 0 && !allPoints(set) {
		each, all = w.few, w.few
		if dom, ok := p.Domain(); ok {
			if buckets, ok := dom.Values(w.opt.MaxEnumerate); ok {
				each, all = len(buckets), w.opt.MaxSpans
			}
		}
	}
	for n := range set {
		some, ok := set[n : n+1].Values(each)
		if !ok {
			ranges = append(ranges, set[n])
		} else if vs = append(vs, some...); len(vs) > all {
			return nil, set
		}
	}
	return vs, ranges
}

// maxSteps bounds the values of a contiguous range that are read one by one so that later parts can be bound too.
const maxSteps = 64

// pays tells that a part after i is constrained, so that cutting part i into single values narrows the spans.
func (w *walker) pays(br branch, i int) bool {
	for j, p := range w.layout.Key.Parts[i+1:] {
		if p.Literal != nil {
			continue
		}
		if of := w.part[i+1+j]; of >= 0 && !br.sets.setOf(of).IsAll() {
			return true
		}
		for _, col := range p.Columns {
			if br.sets.setOf(col).IsAll() {
				return false
			}
		}
		return len(p.Columns) > 0
	}
	return false
}

func allPoints(s types.Set) bool {
	for _, iv := range s {
		if !iv.IsPoint() {
			return false
		}
	}
	return true
}

// splitColumns gives each of several columns its values one by one.
func (w *walker) splitColumns(br branch, i int, rest *[]keySpan) (done, useful bool) {
	for _, col := range w.layout.Key.Parts[i].Columns {
		s := br.sets.setOf(col)
		if len(s) == 1 && s[0].IsPoint() {
			continue
		}
		vs, ok := s.Values(w.few)
		if !ok {
			return false, false
		}
		return w.splitPoints(br, i, col, vs, rest)
	}
	return false, false
}

// splitPoints walks on from part i once for each value of col. They are values and no set, in which neighbours are one interval.
func (w *walker) splitPoints(br branch, i, col int, vs []types.Value, rest *[]keySpan) (done, useful bool) {
	for _, v := range vs {
		if w.full() {
			w.emit(br, nil, rest)
			return true, br.bound > 0
		}
		nb := br
		nb.fix(col, types.Points(v))
		useful = w.key(nb, i, rest) || useful
	}
	return true, useful
}

// full tells that the cap on the number of spans is reached.
func (w *walker) full() bool {
	if len(w.spans) >= w.opt.MaxSpans {
		w.capped = true
	}
	return w.capped
}

// splitSet covers the values of part i: points go on to the next part, ranges end here.
func (w *walker) splitSet(br branch, i int, set types.Set, rest *[]keySpan) (done bool) {
	p := w.layout.Key.Parts[i]
	if p.Injective() {
		if _, ok := p.Column(); !ok {
			img, ok := p.Image(set)
			if !ok {
				return false
			}
			set = img
		}
	}
	return w.splitValues(br, i, set, rest)
}

// splitValues is splitSet for a set of values of the part itself.
func (w *walker) splitValues(br branch, i int, set types.Set, rest *[]keySpan) (done bool) {
	p := w.layout.Key.Parts[i]
	out := make([]catalog.ByteRange, 0, len(set))
	of := make([]types.Set, 0, len(set)) // the interval that a range holds exactly, by range
	for n := range set {
		var exact, ok bool
		if out, exact, ok = p.Ranges(out, set[n]); !ok {
			return false
		}
		var proven types.Set
		if exact {
			proven = set[n : n+1]
		}
		for len(of) < len(out) {
			of = append(of, proven)
		}
	}
	if !allPointRanges(out) && w.pays(br, i) {
		column := types.All()
		if len(p.Columns) == 1 {
			column = br.sets.setOf(p.Columns[0])
		}
		if vals, ok := p.Values(set, column, maxSteps); ok {
			w.use(i, ranged, set)
			w.each(br, i, vals, ranged, rest)
			return true
		}
	}
	u := bound
	if !allPointRanges(out) {
		u = ranged
	}
	w.use(i, u, set)
	w.spans = slices.Grow(w.spans, min(len(out), w.opt.MaxSpans))
	for n, r := range out {
		if w.full() {
			w.emit(br, nil, rest)
			return true
		}
		if r.Point {
			if nb, ok := w.take(&br, p, r.Value); ok {
				w.proveOf(&nb, i, types.Points(r.Value))
				nb.bound = i + 1
				w.key(nb, i+1, rest)
			}
			continue
		}
		nb := br
		nb.bound = i + 1
		if of[n] != nil {
			if len(p.Columns) == 1 {
				if pre, ok := p.Preimage(of[n], nb.proven.setOf(p.Columns[0])); ok {
					nb.prove(p.Columns[0], pre)
				}
			}
			w.proveOf(&nb, i, of[n])
		}
		w.emit(nb, &r, rest)
	}
	return true
}

// proveOf records that the value of part i lies in s for every row of the branch.
func (w *walker) proveOf(br *branch, i int, s types.Set) {
	if w.part[i] >= 0 {
		br.prove(w.part[i], s)
	}
}

func allPointRanges(rs []catalog.ByteRange) bool {
	for _, r := range rs {
		if !r.Point {
			return false
		}
	}
	return true
}

// splitLike uses a pattern on the column: REVERSE(domain) under LIKE '%.suffix'.
func (w *walker) splitLike(br branch, i int, rest *[]keySpan) (done, useful bool) {
	p := w.layout.Key.Parts[i]
	col := p.Columns[0]
	for _, l := range br.likes {
		c, ok := l.X.(*expr.Column)
		if !ok || c.Index != col || l.Not || l.Fold || l.Fixed == nil {
			continue
		}
		pat, ok := p.LikeImage(l.Fixed)
		if !ok {
			continue
		}
		lit, whole, tail := pat.Prefix()
		if lit == "" || whole {
			continue
		}
		iv := expr.PrefixInterval(lit)
		out, exact, ok := p.Ranges(nil, iv)
		if !ok {
			continue
		}
		w.use(i, ranged, types.SetOf(iv))
		nb := br
		nb.bound = i + 1
		if exact && tail {
			nb.matched = append(slices.Clip(nb.matched), l)
		}
		for _, r := range out {
			w.emit(nb, &r, rest)
		}
		return true, true
	}
	return false, false
}

// each walks on once for each value of part i.
func (w *walker) each(br branch, i int, vals []types.Value, u partUse, rest *[]keySpan) (useful bool) {
	if w.detail[i] == nil {
		w.use(i, u, types.Points(vals...))
	}
	w.use(i, u, nil)
	for _, v := range vals {
		if w.full() {
			w.emit(br, nil, rest)
			return true
		}
		if nb, ok := w.take(&br, w.layout.Key.Parts[i], v); ok {
			w.proveOf(&nb, i, types.Points(v))
			nb.bound = i + 1
			w.key(nb, i+1, rest)
		}
	}
	return true
}

// enumerate reads all values of a finite part (a salt), if a later part narrows the key.
func (w *walker) enumerate(br branch, i int, rest *[]keySpan) bool {
	p := w.layout.Key.Parts[i]
	dom, ok := p.Domain()
	if !ok {
		return false
	}
	if dom, ok = p.Storable(dom); !ok {
		return false
	}
	vals, ok := dom.Values(w.opt.MaxEnumerate)
	if !ok || len(w.spans)+len(vals) > w.opt.MaxSpans {
		return false
	}
	// Without a bound part behind it, the enumeration is a full scan in pieces: the first value tells.
	spans, tails := len(w.spans), 0
	if rest != nil {
		tails = len(*rest)
	}
	uses, stopPart, stopWhy := slices.Clone(w.uses), w.stopPart, w.stopWhy
	tried := false
	for _, v := range vals {
		enc, err := p.Append(nil, v)
		if err != nil {
			continue
		}
		nb := w.with(&br, enc)
		nb.bound = 0
		if useful := w.key(nb, i+1, rest); !useful && !tried && !w.merging {
			w.spans = w.spans[:spans]
			if rest != nil {
				*rest = (*rest)[:tails]
			}
			w.uses, w.stopPart, w.stopWhy = uses, stopPart, stopWhy
			return false
		}
		tried = true
	}
	w.use(i, enumerated, dom)
	return true
}

// fromRest plans a part that is computed from the key bytes after it.
func (w *walker) fromRest(br branch, i int, rest *[]keySpan) bool {
	p := w.layout.Key.Parts[i]
	sub := br
	sub.prefix = nil
	var tails []keySpan
	if !w.key(sub, i+1, &tails) && !w.merging {
		w.stopAt(i, p, &br)
		w.emit(br, nil, rest)
		return false
	}
	dom, _ := p.Domain()
	vals, ok := dom.Values(w.opt.MaxEnumerate)
	if !ok {
		w.emit(br, nil, rest)
		return false
	}
	u := bound
	if rest == nil && len(tails) > 0 && !tails[0].Key {
		w.spans = slices.Grow(w.spans, len(tails)*len(vals))
	}
	for _, t := range tails {
		salts := vals
		if t.Key || sharesRest(p, t) {
			v, err := p.FromRest(t.Start)
			if err != nil {
				continue
			}
			salts = []types.Value{v}
		} else {
			u = enumerated
		}
		for _, v := range salts {
			enc, err := p.Encoding.Append(nil, v)
			if err != nil {
				continue
			}
			pre := w.join(br.prefix, enc)
			s := t
			s.Start, s.fixed = w.join(pre, t.Start), len(pre)+t.fixed
			switch {
			case t.Key:
				s.Stop = nil
			case len(t.Stop) == 0:
				s.Stop = types.PrefixEnd(pre)
			default:
				s.Stop = w.join(pre, t.Stop)
			}
			s.fuzzy = nil
			for _, f := range t.fuzzy {
				s.fuzzy = append(s.fuzzy, f.after(pre))
			}
			w.add(s, rest)
		}
	}
	if u == enumerated {
		w.use(i, u, dom)
	}
	w.use(i, u, nil)
	return true
}

// sharesRest tells that all keys of t begin with the bytes that p is computed from.
func sharesRest(p *catalog.Part, t keySpan) bool {
	n, ok := p.RestLength()
	if !ok || len(t.Start) < n {
		return false
	}
	common := t.Start[:n]
	return allBegin(t.Stop, common)
}

// allBegin tells that the keys below stop, of those from one on that begins with prefix, all begin with it.
func allBegin(stop, prefix []byte) bool {
	return bytes.HasPrefix(stop, prefix) || bytes.Equal(stop, types.PrefixEnd(prefix))
}

// emit adds the span of br continued by r: nil means everything that starts with
// br's bytes, a point that the key is complete.
func (w *walker) emit(br branch, r *catalog.ByteRange, rest *[]keySpan) {
	s := keySpan{Span: Span{Table: br.table}, proven: br.proven, likes: br.matched, bound: br.bound, begun: br.begun, sets: br.sets, fixed: len(br.prefix)}
	if br.loose && (r == nil || !r.Point) {
		s.proven, s.likes = br.sure, br.sureMatched
	}
	switch {
	case r == nil:
		s.Start, s.Stop = br.prefix, types.PrefixEnd(br.prefix)
		s.fuzzy, s.hop = w.fuzzy(br), w.hop(br)
	case r.Point:
		s.Start, s.Key = br.prefix, true
	default:
		s.fuzzy, s.hop = w.fuzzy(br), w.hop(br)
		s.Start = w.join(br.prefix, r.Lo)
		if r.Hi == nil {
			s.Stop = types.PrefixEnd(br.prefix)
		} else {
			s.Stop = w.join(br.prefix, r.Hi)
			if len(s.Stop) == 0 {
				return // nothing sorts before the empty string
			}
		}
		if len(s.Stop) > 0 && bytes.Compare(s.Start, s.Stop) >= 0 {
			return
		}
	}
	w.add(s, rest)
}

func (w *walker) add(s keySpan, rest *[]keySpan) {
	if rest != nil {
		*rest = append(*rest, s)
		return
	}
	w.spans = append(w.spans, s)
}

// stopAt notes why the walk ends before part i.
func (w *walker) stopAt(i int, p *catalog.Part, br *branch) {
	if i < w.stopPart {
		w.stopPart = i
		w.stopWhy = w.why(p, br)
	}
}
