package explain

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// In the picture a span lies over a region exactly when it holds keys of it.
func TestKeyspace(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		key := func() []byte {
			b := make([]byte, 1+rnd.IntN(2))
			for i := range b {
				b[i] = byte('a' + rnd.IntN(6))
			}
			return b
		}
		sorted := func(n int) [][]byte {
			var ks [][]byte
			for range n {
				ks = append(ks, key())
			}
			slices.SortFunc(ks, bytes.Compare)
			return slices.CompactFunc(ks, bytes.Equal)
		}
		splits := append(append([][]byte{nil}, sorted(rnd.IntN(8))...), nil)
		var regions []hbase.Region
		for i := range splits[1:] {
			regions = append(regions, hbase.Region{Start: splits[i], Stop: splits[i+1]})
		}
		var spans []plan.Span
		ks := sorted(2 + rnd.IntN(9))
		for i := 0; i+1 < len(ks); i += 2 {
			if rnd.IntN(3) == 0 {
				spans = append(spans, plan.Span{Start: ks[i], Key: true})
			} else {
				spans = append(spans, plan.Span{Start: ks[i], Stop: ks[i+1]})
			}
		}
		if len(spans) > 0 && rnd.IntN(4) == 0 && !spans[len(spans)-1].Key {
			spans[len(spans)-1].Stop = nil
		}
		k := drawKeyspace("t", regions, spans)
		read := 0
		for _, r := range regions {
			at := slices.IndexFunc(k.Regions, func(b keyBlock) bool { return b.Title == fmt.Sprintf("[%s, %s)", openKey(r.Start), openKey(r.Stop)) })
			touched := false
			for i, s := range spans {
				over := (len(r.Stop) == 0 || bytes.Compare(s.Start, r.Stop) < 0) && (len(end(s)) == 0 || bytes.Compare(end(s), r.Start) > 0)
				touched = touched || over
				if at < 0 {
					continue
				}
				b, d := k.Regions[at], k.Spans[i]
				if drawn := cmp.Less(d.X+1e-9, b.X+b.W) && cmp.Less(b.X+1e-9, d.X+d.W); drawn != over {
					t.Fatalf("seed %d: span %s, region %s: over %v, drawn %v: %+v", seed, d.Title, b.Title, over, drawn, k)
				}
			}
			if touched {
				read++
				if at < 0 || !k.Regions[at].Read {
					t.Fatalf("seed %d: region %q is read and not drawn so: %+v", seed, r.Start, k)
				}
			}
		}
		if k.Read != read || k.Total != len(regions) {
			t.Fatalf("seed %d: %d of %d regions read: %+v", seed, read, len(regions), k)
		}
	}
}

// Thousands of regions and spans make a picture of a few hundred boxes, with what is left out told.
func TestKeyspaceLarge(t *testing.T) {
	var regions []hbase.Region
	var spans []plan.Span
	for i := range 3000 {
		regions = append(regions, hbase.Region{Start: fmt.Appendf(nil, "%04d", i), Stop: fmt.Appendf(nil, "%04d", i+1)})
		spans = append(spans, plan.Span{Start: fmt.Appendf(nil, "%04dx", i), Stop: fmt.Appendf(nil, "%04dy", i)})
	}
	regions[0].Start, regions[2999].Stop = nil, nil
	k := drawKeyspace("t", regions, spans)
	if len(k.Regions) != 1 || k.Regions[0].Label != "3000 regions" || len(k.Spans) != maxDrawnSpans || k.More != 3000-maxDrawnSpans || k.Unlisted() != 3000-maxListedSpans {
		t.Errorf("%d regions %q, %d spans, %d more, %d unlisted", len(k.Regions), k.Regions[0].Label, len(k.Spans), k.More, k.Unlisted())
	}
	k = drawKeyspace("t", regions, spans[1500:1501])
	if len(k.Regions) != 3 || k.Regions[0].Title != "1500 regions [open, 1500)" || k.Read != 1 {
		t.Errorf("%+v", k)
	}
}
