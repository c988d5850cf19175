package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// split continues the walk after part i, whose columns have several values. It makes a path for each value, or spans of
// ranges, which end the walk. done is false if the conditions do not restrict the part. useful reports whether this
// part or a later one restricts the keys.
//
//	a AS ORDERED INT32, a IN (1, 3)      a path for each
//	a AS ORDERED INT32, a > 5            [/6 - )
//	CRC32(u) % 8 AS UINT8, u > 'a'       not done: any bucket can hold such a row
func (w *spanBuilder) split(br path, i int) (done, useful bool) {
	p := w.layout.Key.Parts[i]
	if len(p.Columns) > 1 {
		if box, ok := p.Box(br.sets.setOf); ok && !w.listed(&br, p, len(box)) {
			if s := w.partSet(&br, i); s != nil {
				box = box.Intersect(s)
			}
			cell := br // in which the columns are not walked once more
			for _, col := range p.Columns {
				cell.fix(col, types.All())
			}
			if w.splitValues(cell, i, box) {
				return true, true
			}
		}
		if done, useful = w.splitColumns(br, i); done {
			return done, useful
		}
		if w.splitSteps(br, i) {
			return true, true
		}
		s := w.partSet(&br, i)
		done = s != nil && w.splitValues(br, i, s)
		return done, done
	}
	if len(p.Columns) == 0 {
		return false, false
	}
	col := p.Columns[0]
	if s := w.partSet(&br, i); s != nil && w.splitValues(br, i, s) {
		return true, true
	}
	set := br.sets.of(col)
	if set != nil && set.IsAll() && p.Nullable() && p.Injective() { // col IS NOT NULL: keys without NULL
		return w.splitSet(br, i, set), br.bound > 0
	}
	if set == nil || set.IsAll() {
		return false, false
	}
	if p.Injective() {
		vs, few := set.Values(w.few())
		inRanges := few && len(vs) > len(set) // single values of unordered bytes are better than ranges of them
		if !(inRanges && len(vs) <= maxSteps && p.Order() == catalog.Unordered) && w.splitSet(br, i, set) {
			return true, true
		}
		if few {
			return w.splitPoints(br, i, col, vs)
		}
		return false, true
	}
	// The part may have equal values for several values of the column (a bucket, a hash, a day).
	img, ranged := p.Image(set)
	ranged = ranged && !img.IsAll()
	_, listed := img.Values(w.few()) // the steps have the same values one by one
	if p.Monotone() == 0 && (!ranged || !listed || w.pays(br, i)) && w.splitSteps(br, i) {
		return true, true
	}
	if vs, ranges := w.scattered(p, set); len(vs) > 0 {
		_, useful = w.splitPoints(br, i, col, vs)
		if len(ranges) > 0 {
			br.fix(col, ranges)
			useful = w.key(br, i) || useful
		}
		return true, useful
	}
	if ranged {
		if dom, ok := p.Domain(); ok && dom.SubsetOf(img) {
			return false, false // enumerating is as good
		}
		vals, few := w.values(&br, p)
		if few && p.Monotone() != 0 {
			few = len(vals) <= maxSteps
		}
		if few && w.pays(br, i) {
			w.each(br, i, vals, plan.Enumerated)
			return true, true
		}
		if w.splitSet(br, i, img) {
			return true, true
		}
		if few {
			w.each(br, i, vals, plan.Enumerated)
			return true, true
		}
	}
	if vs, ok := set.Values(w.opt.MaxEnumerate); ok {
		return w.splitPoints(br, i, col, vs)
	}
	return false, false
}

// partSet returns the values of part i that conditions on the part itself allow. It returns nil if there are no such
// conditions, or if the column has few values, which restrict the keys more.
func (w *spanBuilder) partSet(br *path, i int) types.Set {
	if w.partOf(i) < 0 {
		return nil
	}
	set, p := br.sets.of(w.partOf(i)), w.layout.Key.Parts[i]
	if set == nil || set.IsAll() {
		return nil
	}
	if len(p.Columns) == 1 {
		column := br.sets.setOf(p.Columns[0])
		if _, few := column.Values(w.few()); few {
			return nil
		}
		if img, ok := p.Image(column); ok {
			set = set.Intersect(img)
		}
	}
	return set
}

// scattered divides set, the values of p's only column, into values to be walked one by one and ranges. A bucket or a hash
// separates neighbours, so that a range of the column is read once in each bucket. If the range has fewer values than
// there are buckets, a path for each value reads less.
//
//	x % 10 AS UINT8, x in [7 - 9]       7, 8 and 9, each in its bucket
//	x % 10 AS UINT8, x in [0 - 99]      the range, in ten buckets
func (w *spanBuilder) scattered(p *catalog.Part, set types.Set) (vs []types.Value, ranges types.Set) {
	each, all := 1, w.opt.MaxSpans // steps and days keep neighbours together
	if p.Monotone() == 0 && !set.IsList() {
		each, all = w.few(), w.few()
		dom, ok := p.Domain()
		if !ok {
			dom, ok = p.Image(set)
		}
		if ok {
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

// maxSteps bounds the number of values of a range that are walked one by one so that later parts can be bound, too.
const maxSteps = 64

// pays reports whether a part after i is restricted: then single values of part i give smaller spans than a range of them,
// which ends the walk.
//
//	DATE(t) AS TEXT('yyyyMMdd'), u AS TEXT, t in May                  a range of days
//	DATE(t) AS TEXT('yyyyMMdd'), u AS TEXT, t in May and u = 'a'      31 days, each with u
func (w *spanBuilder) pays(br path, i int) bool {
	for j := i + 1; j < len(w.layout.Key.Parts); j++ {
		if w.layout.Key.Parts[j].Literal == nil {
			return w.constrains(&br, j)
		}
	}
	return false
}

// listed reports whether p's columns have at most limit values, all together.
func (w *spanBuilder) listed(br *path, p *catalog.Part, limit int) bool {
	ways := 1
	for _, col := range p.Columns {
		vs, few := br.sets.setOf(col).Values(limit)
		if ways *= len(vs); !few || ways > limit {
			return false
		}
	}
	return true
}

// splitColumns gives each of several columns its values one by one.
func (w *spanBuilder) splitColumns(br path, i int) (done, useful bool) {
	for _, col := range w.layout.Key.Parts[i].Columns {
		s := br.sets.setOf(col)
		if len(s) == 1 && s[0].IsPoint() {
			continue
		}
		vs, ok := s.Values(w.few())
		if !ok {
			return false, false
		}
		return w.splitPoints(br, i, col, vs)
	}
	return false, false
}

// splitSteps makes a path for each step of the columns from which part i is computed, if the part depends only on
// something coarser, such as their day. done is false if there are no fewer steps than values of the columns or of the
// part.
//
//	LEFT(MD5(u || TO_CHAR(ts, 'YYYYMMDD')), 4), u = 'a' and ts in a week      seven hashes, each with ts in a day
func (w *spanBuilder) splitSteps(br path, i int) (done bool) {
	p, limit := w.layout.Key.Parts[i], w.few()
	if values := w.domain(i).values; values != nil {
		limit = len(values)
	}
	steps := make([][]solve.Step, len(p.Columns))
	ways := 1
	for n, col := range p.Columns {
		set := br.sets.setOf(col)
		if _, one := br.sets.single(col); one || set.IsAll() {
			steps[n] = []solve.Step{{Of: set}}
			if one {
				continue
			}
			return false
		}
		steps[n] = p.Steps(col, set, limit/ways)
		if ways *= len(steps[n]); ways == 0 {
			return false
		}
		if vs, few := set.Values(w.few()); few && len(vs) <= len(steps[n]) {
			return false
		}
	}
	w.use(i, plan.Enumerated, nil)
	for way := range ways {
		if w.full() {
			w.emit(br, nil)
			return true
		}
		nb, stand := br, facts{}
		for n, col := range p.Columns {
			of := steps[n][way%len(steps[n])].Of
			way /= len(steps[n])
			nb.fix(col, of)
			stand = stand.with(col, types.Points(of[0].Lo))
		}
		if v, ok := p.Compute(stand.single, w.number); ok {
			w.point(&nb, i, v)
		}
	}
	return true
}

// splitPoints makes a path for each value of col. vs is a list because a set would join neighbours to one interval.
func (w *spanBuilder) splitPoints(br path, i, col int, vs []types.Value) (done, useful bool) {
	for _, v := range vs {
		if w.full() {
			w.emit(br, nil)
			return true, br.bound > 0
		}
		nb := br
		nb.fix(col, types.Points(v))
		useful = w.key(nb, i) || useful
	}
	return true, useful
}

// stepsPerSpan bounds the number of steps of a walk per span. Spans do not suffice as a limit: paths that no key can match
// have none.
const stepsPerSpan = 16

// full reports whether the limit of spans or steps is reached.
func (w *spanBuilder) full() bool {
	if max(len(w.spans), len(*w.out)) >= w.opt.MaxSpans || w.steps >= stepsPerSpan*w.opt.MaxSpans {
		w.capped = true
	}
	return w.capped
}

// splitSet adds the values of part i in set to the walk: it continues after points, and ends with ranges.
func (w *spanBuilder) splitSet(br path, i int, set types.Set) (done bool) {
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
	return w.splitValues(br, i, set)
}

// splitValues works like splitSet for values of the part itself.
func (w *spanBuilder) splitValues(br path, i int, set types.Set) (done bool) {
	p := w.layout.Key.Parts[i]
	out := make([]catalog.ByteRange, 0, len(set))
	of := make([]types.Set, 0, len(set)) // by range: the interval that the range contains exactly
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
	if !allPointRanges(out) && (w.stepping || w.pays(br, i)) {
		column := types.All()
		if len(p.Columns) == 1 {
			column = br.sets.setOf(p.Columns[0])
		}
		if vals, ok := p.Values(set, column, maxSteps); ok {
			w.use(i, plan.Ranged, set)
			w.each(br, i, vals, plan.Ranged)
			return true
		}
	}
	u := plan.Bound
	if !allPointRanges(out) {
		u = plan.Ranged
	}
	w.use(i, u, set)
	w.spans = slices.Grow(w.spans, min(len(out), w.opt.MaxSpans))
	for n, r := range out {
		if w.full() {
			w.emit(br, nil)
			return true
		}
		if r.Point {
			w.point(&br, i, r.Value)
			continue
		}
		nb := br
		if !set.IsAll() { // otherwise nearly all keys
			nb.bound = i + 1
		}
		if of[n] != nil {
			if len(p.Columns) == 1 {
				if pre, ok := p.Preimage(of[n], nb.proven.setOf(p.Columns[0])); ok {
					nb.prove(p.Columns[0], pre)
				}
			}
			w.proveOf(&nb, i, of[n])
		}
		w.emit(nb, &r)
	}
	return true
}

// proveOf records that the value of part i is in s in every row of the path.
func (w *spanBuilder) proveOf(br *path, i int, s types.Set) {
	if w.partOf(i) >= 0 {
		br.prove(w.partOf(i), s)
	}
}

func (w *spanBuilder) provePoint(br *path, i int, v types.Value) {
	if w.partOf(i) >= 0 {
		w.proveOf(br, i, types.Points(v))
	}
}

// point continues the walk where part i has the value v.
func (w *spanBuilder) point(br *path, i int, v types.Value) {
	if nb, ok := w.take(br, w.layout.Key.Parts[i], v); ok {
		w.provePoint(&nb, i, v)
		nb.bound = i + 1
		w.key(nb, i+1)
	}
}

func allPointRanges(rs []catalog.ByteRange) bool {
	return !slices.ContainsFunc(rs, func(r catalog.ByteRange) bool { return !r.Point })
}

// each makes a path for each value of part i.
func (w *spanBuilder) each(br path, i int, vals []types.Value, u plan.Use) {
	if w.uses[i].Values == nil {
		w.use(i, u, types.Points(vals...))
	}
	w.use(i, u, nil)
	for _, v := range vals {
		if w.full() {
			w.emit(br, nil)
			return
		}
		w.point(&br, i, v)
	}
}

// enumerate makes a path for each value that part i can have, such as a salt, if a later part restricts the keys.
// Otherwise the whole table would be read in pieces.
//
//	SALT('a', 'b'), u AS TEXT, u = 'x'      /'a'/'x' and /'b'/'x'
func (w *spanBuilder) enumerate(br path, i int) bool {
	p, d := w.layout.Key.Parts[i], w.domain(i)
	if d.values == nil || len(w.spans)+len(d.values) > w.opt.MaxSpans || w.full() {
		return false
	}
	// The walk with the first value shows whether a later part is bound. If not, the enumeration would be a full scan in
	// pieces.
	spans := len(*w.out)
	uses, stopPart, stopWhy := slices.Clone(w.uses), w.stopPart, w.stopWhy
	tried := false
	for _, v := range d.values {
		enc, err := p.Append(nil, v)
		if err != nil {
			continue
		}
		nb := w.with(&br, enc)
		nb.bound = 0
		if useful := w.key(nb, i+1); !useful && !tried && !w.merging {
			*w.out = (*w.out)[:spans]
			w.uses, w.stopPart, w.stopWhy = uses, stopPart, stopWhy
			return false
		}
		tried = true
	}
	w.use(i, plan.Enumerated, d.set)
	return true
}

// domain holds all values that a part can have.
type domain struct {
	set    types.Set
	values []types.Value // nil: too many
}

// domain returns all values that part i can have. It caches them, because enumerate needs them for each path.
func (w *spanBuilder) domain(i int) domain {
	if w.domains == nil {
		w.domains = make([]*domain, len(w.layout.Key.Parts))
	}
	if w.domains[i] == nil {
		d, p := &domain{}, w.layout.Key.Parts[i]
		if set, ok := p.Domain(); ok {
			if d.set, ok = p.Storable(set); !ok {
				d.set = set // its bytes have no range, but few values can be listed
			}
			d.values, _ = d.set.Values(w.opt.MaxEnumerate)
		}
		w.domains[i] = d
	}
	return *w.domains[i]
}

// fromRest continues with part i, which is computed from the bytes of the key after it. It walks those first: a whole key
// determines the part, and a range of keys is read for each value of the part.
//
//	PHOENIX_SALT(2) AS UINT8, u AS TEXT, u = 'x'         one key
//	PHOENIX_SALT(2) AS UINT8, u AS TEXT, u LIKE 'x%'     [/0/'x' - /0/'x'] and [/1/'x' - /1/'x']
func (w *spanBuilder) fromRest(br path, i int) bool {
	p := w.layout.Key.Parts[i]
	sub := br
	sub.prefix = nil
	tails, useful := w.collect(sub, i+1)
	if !useful && !w.merging {
		w.stopAt(i, p, &br)
		w.emit(br, nil)
		return false
	}
	dom, _ := p.Domain()
	vals, ok := dom.Values(w.opt.MaxEnumerate)
	if !ok {
		w.emit(br, nil)
		return false
	}
	u := plan.Bound
	if len(tails) > 0 && !tails[0].Key {
		*w.out = slices.Grow(*w.out, len(tails)*len(vals))
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
			u = plan.Enumerated
		}
		for _, v := range salts {
			enc, err := p.Append(nil, v)
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
			w.add(s)
		}
	}
	if u == plan.Enumerated {
		w.use(i, u, dom)
	}
	w.use(i, u, nil)
	return true
}
