package access

import (
	"bytes"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// fuzzyPattern is a pattern of keys, with the columns whose values it fixes.
type fuzzyPattern struct {
	filter.FuzzyKey
	cols []int
}

// after returns the pattern for keys that begin with pre.
func (f fuzzyPattern) after(pre []byte) fuzzyPattern {
	f.Key = append(slices.Clip(pre), f.Key...)
	f.Mask = append(make([]byte, len(pre)), f.Mask...)
	return f
}

// fuzzy returns patterns for the keys that begin with the bytes of br, a path that ended at a part that is not bound. A
// pattern skips parts of fixed width, and contains the bound parts after them. A range of keys cannot use these parts;
// servers can seek by a pattern.
func (w *spanBuilder) fuzzy(br path) []fuzzyPattern {
	type way struct {
		path
		mask []byte
		end  int // length of the pattern up to the end of the last bound part
		cols []int
	}
	if w.hopping || len(*w.out) > plan.MaxPatterns {
		return nil
	}
	first := br.begun - 1
	ways := []way{{path: br, mask: make([]byte, len(br.prefix))}}
	for i, p := range w.layout.Key.Parts[first:] {
		width := p.Width()
		if width == catalog.Variable {
			break
		}
		var out []way
		for _, x := range ways {
			if p.Literal != nil {
				x.path, x.mask = w.with(&x.path, p.Literal), append(slices.Clip(x.mask), make([]byte, width)...)
				out = append(out, x)
				continue
			}
			var vals []types.Value
			ok := i > 0 && !p.IsFromRest()
			if ok {
				vals, ok = w.values(&x.path, p)
			}
			if !ok || len(vals)*len(ways) > plan.MaxPatterns {
				x.path, x.mask = w.with(&x.path, make([]byte, width)), append(slices.Clip(x.mask), bytes.Repeat([]byte{1}, width)...)
				out = append(out, x)
				continue
			}
			for _, v := range vals {
				if nb, ok := w.take(&x.path, p, v); ok {
					out = append(out, way{nb, append(slices.Clip(x.mask), make([]byte, width)...), len(nb.prefix), append(slices.Clip(x.cols), p.Columns...)})
				}
			}
		}
		ways = out
	}
	var out []fuzzyPattern
	for _, x := range ways {
		if x.end == 0 {
			return nil
		}
		out = append(out, fuzzyPattern{filter.FuzzyKey{Key: x.prefix[:x.end], Mask: x.mask[:x.end]}, x.cols})
	}
	return out
}

// hasPatterns reports whether all spans of c have patterns.
func (c *candidate) hasPatterns() bool {
	return len(c.spans) > 0 && !slices.ContainsFunc(c.spans, func(s keySpan) bool { return len(s.fuzzy) == 0 })
}

// fuzzy returns the filter for the keys of all spans, or nil if one of them has no pattern. It records in the Fates
// which predicates the filter implies.
func (c *candidate) fuzzy() filter.Filter {
	var f filter.Fuzzy
	cols := map[int]bool{}
	for i, s := range c.spans {
		if len(s.fuzzy) == 0 {
			return nil
		}
		for k, p := range s.fuzzy {
			if !slices.ContainsFunc(f, func(q filter.FuzzyKey) bool { return bytes.Equal(q.Key, p.Key) && bytes.Equal(q.Mask, p.Mask) }) {
				f = append(f, p.FuzzyKey)
			}
			of := map[int]bool{}
			for _, col := range p.cols {
				of[col] = i+k == 0 || cols[col]
			}
			cols = of
		}
		if len(f) > plan.MaxPatterns {
			return nil
		}
	}
	if len(f) == 0 {
		return nil
	}
	c.compared(only(cols), "the servers seek to keys that fit")
	return f
}
