package planner

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// A Hop tells where in the spans of a Scan the keys lie that can match: behind each value of the first Parts parts of the
// key, which nothing binds, in one of Tails. A reader hops from value to value of these parts instead of reading them all.
//
//	ROW KEY (host AS TEXT, X'00', ts AS INT64), ts BETWEEN 5 AND 9      Parts 2, Tails [00..05, 00..0A)
type Hop struct {
	Parts int    // with the literals behind the last of them
	Tails []Span // what follows them: sorted, disjoint, of no table; one with Key ends the key
}

// tailHop is a Hop while it is planned: with what is known of the parts behind the free ones.
type tailHop struct {
	Hop
	uses   []partUse
	detail []types.Set
}

// maxTails bounds the ranges behind each value that is hopped to.
const maxTails = 64

// scatters tells that p has a value of its own for about each row, or each of its columns: there is nothing to hop to. Buckets are few.
func (w *walker) scatters(p *catalog.Part) bool {
	return p.Literal == nil && p.Monotone() == 0 && !p.Injective() && !w.enumerable(p)
}

// hop finds a part behind the one where the walk of br ended that br's sets bind or range over. Nil: there is none, or the bytes of a
// key do not tell where the parts before it end.
func (w *walker) hop(br branch) *tailHop {
	parts := w.layout.Key.Parts
	if w.hopping || br.loose || br.begun == 0 || w.opt.NoSkip || w.capped || w.table.MalformedKeyError || len(w.spans) > maxFuzzy {
		return nil
	}
	for n := br.begun; n < len(parts); n++ {
		if p := parts[n-1]; p.FixedTail() > 0 || w.scatters(p) {
			return nil
		}
		if p := parts[n]; p.Literal != nil || p.IsFromRest() || !w.constrains(&br, p) {
			continue
		}
		if h := w.tails(br, n); h != nil {
			return h
		}
	}
	return nil
}

// constrains tells that br narrows all columns of p.
func (w *walker) constrains(br *branch, p *catalog.Part) bool {
	for _, col := range p.Columns {
		if s := br.sets.of(col); (s == nil || s.IsAll()) && !slices.ContainsFunc(br.likes, func(l *expr.Like) bool { return slices.Contains(expr.Columns(l), col) }) {
			return false
		}
	}
	return len(p.Columns) > 0
}

// tails walks the parts from n on as if the key began there.
func (w *walker) tails(br branch, n int) *tailHop {
	was := *w
	w.hopping = true
	w.uses, w.detail, w.varied = make([]partUse, len(was.uses)), make([]types.Set, len(was.uses)), make([]bool, len(was.uses))
	br.prefix, br.bound, br.begun = nil, 0, n
	var found []keySpan
	useful := w.key(br, n, &found)
	h := &tailHop{Hop: Hop{Parts: n}, uses: w.uses, detail: w.detail}
	capped := w.capped
	w.hopping, w.uses, w.detail, w.varied = false, was.uses, was.detail, was.varied
	w.stopPart, w.stopWhy, w.capped, w.spans, w.lookups = was.stopPart, was.stopWhy, was.capped, was.spans, was.lookups
	if !useful || capped {
		return nil
	}
	h.Tails, _ = mergeSpans(found, true)
	if len(h.Tails) == 0 || len(h.Tails) > maxTails || slices.ContainsFunc(h.Tails, func(s Span) bool { return len(s.Start)+len(s.Stop) == 0 }) {
		return nil
	}
	return h
}

// hop is the one that all spans of c have, with the tails of each of them; nil: they have none.
func (c *candidate) hop() *Hop {
	if c.scan.CapHit || len(c.spans) == 0 {
		return nil
	}
	var out Hop
	var tails []keySpan
	for i, s := range c.spans {
		if s.hop == nil || i > 0 && s.hop.Parts != out.Parts {
			return nil
		}
		if i > 0 && s.hop == c.spans[i-1].hop {
			continue
		}
		out.Parts = s.hop.Parts
		for _, t := range s.hop.Tails {
			tails = append(tails, keySpan{Span: t})
		}
	}
	if out.Tails, _ = mergeSpans(tails, true); len(out.Tails) > maxTails {
		return nil
	}
	c.walker.hopped = c.spans[0].hop
	return &out
}

// hopped puts what a skip scan does with part i into st.
func (s *Scan) hopped(st *PartState, i int) {
	n := s.Skip
	if s.Hop != nil {
		n = s.Hop.Parts
	}
	if i < n {
		st.State, st.Why = "skipped", ""
	} else if h := s.walker.hopped; s.Hop != nil && h.uses[i] != unused {
		st.State, st.Detail, st.Why = h.uses[i].String(), describe(h.detail[i]), ""
	}
}
