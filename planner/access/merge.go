package access

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// cutSpans restricts spans to keys, the values of _key, column col.
func cutSpans(spans []keySpan, keys types.Set, col int) (out []keySpan) {
	for _, s := range spans {
		for _, iv := range keys {
			if c, ok := cutSpan(s, iv, col); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// cutSpan restricts s to the keys in iv; ok is false if there are none.
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
	return s, true
}

// mergeSpans sorts spans and merges those that overlap; with adjacent also those that follow without a gap. mixedSplits
// reports whether it merged spans with different SignSplits: then the result cannot be read in order.
func mergeSpans(spans []keySpan, adjacent bool) (out []plan.Span, mixedSplits bool) {
	out = make([]plan.Span, 0, len(spans))
	for _, s := range spans {
		out = append(out, s.Span)
	}
	slices.SortFunc(out, func(a, b plan.Span) int {
		if c := cmp.Compare(a.Table, b.Table); c != 0 {
			return c
		}
		if c := bytes.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		return types.Bit(a.Key) - types.Bit(b.Key)
	})
	n := 0
	for _, s := range out {
		if n > 0 && out[n-1].Table == s.Table {
			last := &out[n-1]
			if c := compareStop(*last, s.Start); c > 0 || c == 0 && adjacent && !last.Key && !s.Key {
				mixedSplits = mixedSplits || !bytes.Equal(last.SignSplit, s.SignSplit)
				if less(*last, s) {
					last.Stop, last.Key = s.Stop, false
				}
				continue
			}
		}
		out[n] = s
		n++
	}
	return out[:n], mixedSplits
}

// closeGaps extends a span to the start of the next one if no key can be between them, as between January 31 and February
// 1.
func (c *candidate) closeGaps() {
	const most = 1000 // for more spans, saving a call is not worth the time
	if len(c.spans) < 2 || len(c.spans) > most || c.scan.Table.MalformedKeyError || slices.ContainsFunc(c.spans, func(s keySpan) bool { return s.Key || len(s.SignSplit) > 0 }) ||
		slices.ContainsFunc(c.scan.Layout.Key.Parts, func(p *catalog.Part) bool { return p.FixedTail() > 0 }) {
		return
	}
	begins := map[string][]byte{} // by table and stop: the start after the gap
	for _, s := range c.spans {
		if stop := c.scan.Layout.Key.EndBefore(s.Start); stop != nil {
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

// compareStop compares the end of s with key; the result is positive if key is in s or before it.
func compareStop(s plan.Span, key []byte) int {
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

// less reports whether a ends before b.
func less(a, b plan.Span) bool {
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
