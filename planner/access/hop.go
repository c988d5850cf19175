package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// tailHop is a plan.Hop during planning. Its free parts are the key parts that no condition binds, over whose values
// the scan hops. uses says how the parts after them are used.
type tailHop struct {
	plan.Hop
	uses      []plan.PartUse
	scattered bool // the free parts have too many values to hop over: the hop only serves for keyFilter
}

// maxTails bounds the number of ranges after each value to which a scan hops.
const maxTails = 64

// scatters reports whether p has a different value for nearly each row, or for each value of its columns, so that hopping
// is useless. Buckets have few values.
func (w *spanBuilder) scatters(p *catalog.Part) bool {
	return p.Literal == nil && p.Monotone() == 0 && !p.Injective() && !w.enumerable(p)
}

// hop returns a hop to the first key part, after the end of path br, that the sets of br bind or restrict. It returns
// nil if there is no such part, or if the end of the parts before it cannot be found in a key.
func (w *spanBuilder) hop(br path) *tailHop {
	parts := w.layout.Key.Parts
	if w.hopping || br.openTail || br.begun == 0 || w.opt.NoSkip || w.capped || w.table.MalformedKeyError || len(*w.out) > plan.MaxPatterns {
		return nil
	}
	scattered := false
	for n := br.begun; n < len(parts); n++ {
		p := parts[n-1]
		if p.FixedTail() > 0 {
			return nil
		}
		scattered = scattered || w.scatters(p)
		if p := parts[n]; p.Literal != nil || p.IsFromRest() || !w.constrains(&br, n) {
			continue
		}
		if h := w.tails(br, n); h != nil {
			h.scattered = scattered
			return h
		}
	}
	return nil
}

// shareHop gives a hop also to ranges that have none because they bind the parts over which the other spans hop. A scan
// hops only if all of its spans have a hop.
func (w *spanBuilder) shareHop(spans []keySpan) {
	at := slices.IndexFunc(spans, func(s keySpan) bool { return s.hop != nil })
	if at < 0 {
		return
	}
	for i, n := 0, spans[at].hop.Parts; i < len(spans); i++ {
		if s := &spans[i]; s.hop == nil && !s.Key && s.begun > n {
			s.hop = w.tails(path{sets: s.sets, table: s.Table}, n)
		}
	}
}

// constrains reports whether br restricts part i of the key, or all of its columns.
func (w *spanBuilder) constrains(br *path, i int) bool {
	p, of := w.layout.Key.Parts[i], w.partOf(i)
	if br.isNull(p) || of >= 0 && !br.sets.setOf(of).IsAll() {
		return true
	}
	for _, col := range p.Columns {
		if br.sets.setOf(col).IsAll() {
			return false
		}
	}
	return len(p.Columns) > 0
}

// mayEnd reports whether all key parts from n on can be NULL; br restricts the first of them.
func (w *spanBuilder) mayEnd(br *path, n int) bool {
	for i, p := range w.layout.Key.Parts[n:] {
		if p.Literal == nil && !br.isNull(p) && w.constrains(br, n+i) {
			return false
		}
	}
	return true
}

// tails walks the key parts from n on as if the key began with part n, and returns a hop to the resulting ranges. It
// returns nil if no condition restricts these parts, or if there are too many ranges.
func (w *spanBuilder) tails(br path, n int) *tailHop {
	was := *w
	w.hopping = true
	w.uses = partUses(w.layout)
	br.prefix, br.loose, br.bound, br.begun = nil, 0, 0, n
	found, useful := w.collect(br, n)
	k := w.layout.Key
	h := &tailHop{Hop: plan.Hop{Parts: n, Ended: k.MayLack(n-1) && w.mayEnd(&br, n)}, uses: w.uses}
	capped := w.capped
	w.hopping, w.uses = false, was.uses
	w.stopPart, w.stopWhy, w.capped, w.spans = was.stopPart, was.stopWhy, was.capped, was.spans
	if !useful || capped {
		return nil
	}
	if h.Ended && k.MayLackDelimiter(n-1) { // no key ends with a delimiter that it may lack
		found = slices.DeleteFunc(found, func(s keySpan) bool { return s.Key && len(s.Start) == 0 })
	}
	h.Tails, _ = mergeSpans(found, true)
	if len(h.Tails) == 0 && !h.Ended || len(h.Tails) > maxTails || slices.ContainsFunc(h.Tails, func(s plan.Span) bool { return !s.Key && len(s.Start)+len(s.Stop) == 0 }) {
		return nil
	}
	return h
}

// fewHops is the number of values over which a scan may hop in any case.
const fewHops = 500

// hopsOver returns the access of s, whose key no condition binds, with hops over the values of the first n parts: a
// SkipScan if the definition bounds the number of these values.
func hopsOver(s *plan.Scan, n int) plan.Access {
	values := 1
	for _, p := range s.Layout.Key.Parts[:n] {
		if p.Literal != nil {
			continue
		}
		n := 256
		if p.Width() != 1 {
			dom, _ := p.Domain()
			vs, _ := dom.Values(fewHops)
			n = len(vs)
		}
		if values *= n; n == 0 || values > fewHops {
			return plan.HopScan
		}
	}
	if s.ListTables {
		return plan.HopScan
	}
	return plan.SkipScan
}

// knownFew reports whether recent statistics say that the first n parts of s's key have few values.
func (e *Env) knownFew(s *plan.Scan, n int) bool {
	if e.Statistics == nil {
		return false
	}
	t := e.Statistics(s.Table)
	k := t.Key(s.Layout.Name)
	return k != nil && !t.Unscaled && n <= len(k.Prefixes) && k.Prefixes[n-1].Distinct <= fewHops && (e.Trusted == nil || e.Trusted(t))
}

// hop returns the hop that all spans of c share, with the Tails of all spans, and the uses of the key's parts in the
// first span. It returns nil if the spans share no hop.
func (c *candidate) hop() (*plan.Hop, []plan.PartUse) { return c.tails(false) }

// tails does what hop does. If scattered is set, it also returns a hop over parts that have too many values for
// hopping.
func (c *candidate) tails(scattered bool) (*plan.Hop, []plan.PartUse) {
	if c.scan.CapHit || len(c.spans) == 0 {
		return nil, nil
	}
	parts, ended := 0, false
	var tails []keySpan
	for i, s := range c.spans {
		if s.hop == nil || s.hop.scattered && !scattered || i > 0 && s.hop.Parts != parts {
			return nil, nil
		}
		if i > 0 && s.hop == c.spans[i-1].hop {
			continue
		}
		parts, ended = s.hop.Parts, ended || s.hop.Ended
		for _, t := range s.hop.Tails {
			tails = append(tails, keySpan{Span: t})
		}
	}
	merged, _ := mergeSpans(tails, true)
	if len(merged) > maxTails {
		return nil, nil
	}
	return &plan.Hop{Parts: parts, Ended: ended, Tails: merged}, c.spans[0].hop.uses
}

// hopsInRange reports whether a scan of c's ranges should hop: the free parts within the ranges (see tailHop) are
// texts, and there is no fuzzy filter. Typically many rows have the same text, but only one or a few the same number or
// moment. With a fuzzy filter, the servers seek with fewer calls than hops need. A full scan tries hops in any case:
// they end early if each row has a different value, while a server would seek through all rows.
func (c *candidate) hopsInRange() bool {
	return !slices.ContainsFunc(c.spans, func(s keySpan) bool {
		return !s.Key && (s.hop == nil || s.hop.scattered || len(s.fuzzy) > 0 || slices.ContainsFunc(c.scan.Layout.Key.Parts[min(s.begun-1, s.hop.Parts):s.hop.Parts], func(p *catalog.Part) bool {
			col, ok := p.Column()
			return p.Literal == nil && (!ok || c.scan.Table.Columns[col].Type != types.String)
		}))
	})
}
