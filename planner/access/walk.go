package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// spanBuilder makes the spans of one layout, for one box after the other. It walks through the parts of the key from left
// to right, and collects the bytes of the key. A part with one value extends them. A part with several values makes a path
// for each. A range, and a part that nothing restricts, end the walk: the span contains all keys that begin with the
// bytes.
//
//	ROW KEY (CRC32(u) % 2 AS UINT8, u AS TEXT, X'00', t AS INT64)
//	u IN ('a', 'b') AND t >= 5      /1 -> /1/'a' -> /1/'a'/0x00 -> [/1/'a'/0x00/5 - /1/'a'/0x00]
//	                                /1 -> /1/'b' -> /1/'b'/0x00 -> [/1/'b'/0x00/5 - /1/'b'/0x00]
type spanBuilder struct {
	env    *Env
	table  *catalog.Table
	layout *catalog.Layout
	opt    Options
	spans  []keySpan
	out    *[]keySpan     // receives new spans: spans, or those of a part that is computed from the rest of the key
	uses   []plan.PartUse // by key part; their values are those of the first box
	// stopPart is the first part at which a walk ended; stopWhy is the reason.
	stopPart int
	stopWhy  string
	capped   bool // there were too many spans, so they are wider than the boxes
	// listTables is set if nothing binds the HBase table's name; the spans then apply to every table whose name begins
	// with tablePrefix.
	listTables  bool
	tablePrefix string
	tableNames  []keySpan // ranges of the names of these tables; all names if anyName is set
	anyName     bool
	// merging is set to enumerate finite parts even if no later part is bound, because the spans of their values can be
	// merged into an order.
	merging   bool
	stepping  bool // each value of a range of few values has a span, too
	lookups   []plan.LookupKey
	lookup    func(plan.LookupKey) (types.Value, bool)
	number    expr.LookupFunc // resolve, allocated once
	bytes     []byte          // unused memory for keys
	steps     int             // number of calls of key
	conjuncts []expr.Expr     // of the WHERE
	most      int             // see few; 0: not computed yet
	columns   *columns
	part      []int     // see partOf; nil: no condition refers to a part
	domains   []*domain // see domain; nil: not computed yet
	hopping   bool      // the walk begins after parts that nothing binds: see tails
}

// room returns an empty slice with capacity n.
func (w *spanBuilder) room(n int) []byte {
	if n > cap(w.bytes)-len(w.bytes) {
		w.bytes = make([]byte, 0, max(n, min(2*cap(w.bytes), 1<<16), 64))
	}
	at := len(w.bytes)
	w.bytes = w.bytes[:at+n]
	return w.bytes[at : at : at+n]
}

// join returns a followed by b.
func (w *spanBuilder) join(a, b []byte) []byte {
	return append(append(w.room(len(a)+len(b)), a...), b...)
}

// encode returns the bytes of v in p; an error means that p cannot have that value.
func (w *spanBuilder) encode(p *catalog.Part, v types.Value) ([]byte, error) {
	n := p.Width()
	if n == catalog.Variable {
		n = len(v.Text())
	}
	out, err := p.Append(w.room(n), v)
	if err != nil && w.env.MadeUp {
		return append(w.room(n), make([]byte, n)...), nil
	}
	return out, err
}

func newSpanBuilder(l *catalog.Layout, e *Env, req *Request) *spanBuilder {
	n, opt := len(l.Key.Parts), e.Options.withDefaults()
	w := &spanBuilder{env: e, table: req.Table, layout: l, opt: opt, uses: partUses(l),
		stopPart: n, lookup: e.Lookups, conjuncts: req.Conjuncts, columns: &req.columns}
	w.out, w.number = &w.spans, w.resolve
	if len(req.columns.parts) == 0 {
		return w
	}
	w.part = make([]int, n)
	for i, p := range l.Key.Parts {
		w.part[i] = -1
		if p.Literal == nil {
			if k := slices.IndexFunc(req.columns.parts, func(e expr.Expr) bool { return expr.Same(e, p.Expr) }); k >= 0 {
				w.part[i] = req.columns.first() + k
			}
		}
	}
	return w
}

// partOf returns the pseudo-column of key part i, or -1 if no condition refers to it.
func (w *spanBuilder) partOf(i int) int {
	if w.part == nil {
		return -1
	}
	return w.part[i]
}

// few returns the greatest number of values of one column that are walked one by one: MaxEnumerate, or the number of
// constants in the statement if that is greater.
func (w *spanBuilder) few() int {
	if w.most == 0 {
		w.most = max(w.opt.MaxEnumerate, named(w.conjuncts))
	}
	return w.most
}

// named counts the constants in es, including those in IN lists.
func named(es []expr.Expr) int {
	n := 0
	for _, e := range es {
		expr.Some(e, func(x expr.Expr) bool {
			switch x := x.(type) {
			case *expr.Const:
				n++
			case *expr.In:
				n += len(x.List)
			}
			return false
		})
	}
	return n
}

// path is one way through the key's parts: the bytes so far, and the columns' sets, restricted by the values chosen.
type path struct {
	sets   facts
	nulls  []int // columns that must be NULL
	table  string
	prefix []byte
	null   bool // the previous part is NULL
	// loose is the number of bytes at the end of prefix that are delimiters which a key lacks if only NULLs follow.
	loose  int
	proven facts
	begun  int // key parts that begin within prefix or at its end
	bound  int // leading key parts that the path binds or restricts to a range
	// openTail is set if prefix has a part that only the end of the key ends, such as uid AS TEXT before a missing ts AS
	// INT64: in a longer key that begins with prefix, the part may be a longer value. provenBeforeTail has the facts
	// proven before that part, which are true for such keys, too.
	openTail         bool
	provenBeforeTail facts
}

// with returns b with more bytes after its prefix.
func (w *spanBuilder) with(b *path, more []byte) path {
	c := *b
	c.prefix, c.loose = w.join(b.prefix, more), 0
	return c
}

// isNull reports whether p must be NULL in the rows of b.
func (b *path) isNull(p *catalog.Part) bool {
	return p.Nullable() && slices.Contains(b.nulls, p.Columns[0])
}

// fix sets the values of column col to s for the rest of the walk.
func (b *path) fix(col int, s types.Set) { b.sets = b.sets.with(col, s) }

// prove records that col is in s in every row of the path.
func (b *path) prove(col int, s types.Set) {
	if p := b.proven.of(col); p != nil {
		s = p.Intersect(s)
	}
	b.proven = b.proven.with(col, s)
}

// walkAll adds the spans of the rows in boxes.
func (w *spanBuilder) walkAll(boxes []box) {
	key := len(w.table.Columns) // _key is the key of the primary layout
	w.spans = slices.Grow(w.spans, min(len(boxes), w.opt.MaxSpans))
	for _, b := range boxes {
		n := len(w.spans)
		w.walk(b)
		if s := b.cols[key]; w.layout.Kind == catalog.Primary && s != nil && !s.IsAll() {
			w.spans = append(w.spans[:n], cutSpans(w.spans[n:], s, key)...)
		}
	}
}

// walk adds the spans of the rows in b.
func (w *spanBuilder) walk(b box) {
	br := path{sets: facts{base: b.cols}, nulls: b.nulls}
	w.tables(br, w.layout.Stored.Parts)
}

// tables walks the parts of the HBase table's name, whose result must be single names.
func (w *spanBuilder) tables(br path, parts []*catalog.Part) {
	for i, p := range parts {
		if p.Literal != nil {
			br.prefix = w.join(br.prefix, p.Literal)
			continue
		}
		vals, ok := w.values(&br, p)
		if !ok || w.listTables {
			w.listTables = true
			w.tablePrefix = string(br.prefix)
			w.nameRanges(&br, p)
			br.prefix = nil
			w.key(br, 0)
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
	w.key(br, 0)
}

// nameRanges records the ranges of the names of the tables, which contain the values that the sets of br allow for part p.
//
//	STORED IN ('tx_', DATE(ts) AS TEXT('yyyyMMdd')), ts >= '2024-03-05 10:00'      ['tx_20240305' - )
func (w *spanBuilder) nameRanges(br *path, p *catalog.Part) {
	set, ok := w.image(br, p)
	var found []catalog.ByteRange
	for i := 0; ok && i < len(set); i++ {
		found, _, ok = p.Ranges(found, set[i])
	}
	if !ok {
		w.anyName = true
		return
	}
	for _, r := range found {
		s := keySpan{Span: plan.Span{Start: w.join(br.prefix, r.Lo), Stop: types.PrefixEnd(br.prefix)}}
		switch {
		case r.Point:
			s.Stop = types.PrefixEnd(s.Start)
		case r.Hi != nil:
			s.Stop = w.join(br.prefix, r.Hi)
		}
		w.tableNames = append(w.tableNames, s)
	}
}

// values returns the values that p can have in br, or false if they are many or unknown.
func (w *spanBuilder) values(br *path, p *catalog.Part) ([]types.Value, bool) {
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

// image returns the values that p can have in br. It returns false unless all columns of p are bound, or its only
// column is restricted.
func (w *spanBuilder) image(br *path, p *catalog.Part) (types.Set, bool) {
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

// computed returns p's value, or false if not all of its columns are bound to single values.
func (w *spanBuilder) computed(br *path, p *catalog.Part) (types.Value, bool) {
	return p.Compute(br.sets.single, w.number)
}

// resolve returns the known value of a LOOKUP call, and records calls whose value is unknown.
func (w *spanBuilder) resolve(table, column string, args []types.Value) (types.Value, bool) {
	k := plan.LookupKey{Table: table, Column: column, Args: args}
	if w.lookup != nil {
		if v, ok := w.lookup(k); ok {
			return v, true
		}
	}
	w.lookups = append(w.lookups, k)
	return types.Value{}, false
}

// take continues br after part p with the value v.
func (w *spanBuilder) take(br *path, p *catalog.Part, v types.Value) (path, bool) {
	if v.IsNull() {
		return path{}, false
	}
	enc, err := w.encode(p, v)
	if err != nil {
		return path{}, false
	}
	nb := w.with(br, enc)
	if p.FixedTail() > 0 {
		nb.openTail, nb.provenBeforeTail = true, br.proven
	}
	if len(p.Columns) == 1 {
		col := p.Columns[0]
		pt := types.Points(v)
		if _, ok := p.Column(); ok {
			nb.fix(col, pt)
			nb.prove(col, pt)
			return nb, true
		}
		if x, one := nb.sets.single(col); one { // v was computed from it
			if p.Injective() && !p.UsesLookup() { // a dictionary may change
				nb.prove(col, types.Points(x))
			}
			return nb, true
		}
		if pre, ok := p.Preimage(pt, types.All()); ok && p.Injective() { // intersecting afterwards avoids quadratic time for a long list
			set := pre.Intersect(nb.sets.setOf(col))
			if set.IsEmpty() {
				return path{}, false
			}
			nb.fix(col, set)
			nb.prove(col, pre)
			return nb, true
		}
		if pre, ok := p.Preimage(pt, nb.sets.setOf(col)); ok {
			if pre.IsEmpty() {
				return path{}, false
			}
			nb.fix(col, together(pre, nb.sets.setOf(col)))
		}
		if pre, ok := p.Preimage(pt, nb.proven.setOf(col)); ok {
			nb.prove(col, pre)
		}
	}
	return nb, true
}

// fewPieces is the number of intervals of a column's set that are worth a span each when a key part has one value.
const fewPieces = 2

// together returns the values of a column to walk after a part with one value, of which pre is the preimage. Keys with
// that value of the part do not have values of the column between the intervals of pre. So if pre has many more intervals
// than set, the part of set between the ends of pre selects the same keys with fewer spans.
//
//	x % 10 = 3, x in [0 - 99]      pre is 3, 13, 23 ... 93; in bucket 3 one span, [3 - 93], is read
func together(pre, set types.Set) types.Set {
	if len(pre) <= max(len(set), fewPieces) {
		return pre
	}
	ends := pre[0]
	last := pre[len(pre)-1]
	ends.Hi, ends.HiOpen = last.Hi, last.HiOpen
	return set.Intersect(types.SetOf(ends))
}

// use records the use of key part i.
func (w *spanBuilder) use(i int, u plan.Use, s types.Set) {
	of := &w.uses[i]
	of.Use = max(of.Use, u)
	switch {
	case of.Values == nil:
		of.Values = s
	case s != nil && !of.Varied && !alike(of.Values, s):
		of.Varied = true
	}
}

// alike reports whether two sets have the same ends and the same number of intervals: then EXPLAIN shows them as one, "and
// others".
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

// key walks the key's parts from i on. It reports whether one of them is bound or restricted to a range.
func (w *spanBuilder) key(br path, i int) bool {
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
			loose, literal, may := br.loose, p.Delimiter(br.null), w.layout.Key.MayLackDelimiter(i) || br.null && w.layout.Key.MayLack(i)
			br = w.with(&br, literal)
			if br.null = false; may {
				br.loose = loose + len(literal)
			}
			continue
		}
		if br.isNull(p) {
			w.use(i, plan.Bound, nil)
			if br.null, br.bound = true, i+1; p.EndsKey() {
				break
			}
			continue
		}
		if p.IsFromRest() {
			return w.fromRest(br, i)
		}
		if v, ok := w.computed(&br, p); ok && !p.ManyScales() {
			nb, ok := w.take(&br, p, v)
			if !ok || !v.IsNull() && w.partOf(i) >= 0 && !br.sets.setOf(w.partOf(i)).Contains(v) {
				w.use(i, plan.Bound, nil)
				return true
			}
			w.use(i, plan.Bound, types.Points(v))
			w.provePoint(&nb, i, v)
			nb.bound = i + 1
			br = nb
			continue
		}
		if !p.ManyScales() {
			if done, useful := w.split(br, i); done {
				return useful
			}
		}
		if w.enumerate(br, i) {
			return true
		}
		w.stopAt(i, p, &br)
		w.emit(br, nil)
		return br.bound > 0
	}
	w.emit(br, &catalog.ByteRange{Point: true})
	return br.bound > 0
}

// stopAt records why the walk ends before part i.
func (w *spanBuilder) stopAt(i int, p *catalog.Part, br *path) {
	if i < w.stopPart {
		w.stopPart = i
		w.stopWhy = w.why(p, br)
	}
}
