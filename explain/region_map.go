package explain

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// keyspace is the picture of an HBase table: its regions side by side, and above them the spans that are read. Widths do
// not show distances: keys have only an order. X and W of a block are per cent of the picture's width.
type keyspace struct {
	Table   string
	Regions []keyBlock
	Spans   []keyBlock
	More    int    // spans that are not drawn
	Total   int    // regions in all
	Read    int    // regions that spans touch
	Note    string // why the regions are not known
}

// maxListedSpans is the greatest number of spans that are listed as text under the picture.
const maxListedSpans = 12

// Unlisted is the number of spans that are not listed under the picture.
func (k keyspace) Unlisted() int { return max(0, len(k.Spans)+k.More-maxListedSpans) }

// keyBlock is one box of a keyspace.
type keyBlock struct {
	X, W  float64
	Label string // of a region: where it starts, as much as fits
	Title string
	Read  bool // of a region: a span touches it
	Key   bool // of a span: a single key
}

const (
	maxDrawnSpans   = 200
	maxDrawnRegions = 40 // more that are read are drawn as one box
)

// drawKeyspace draws spans, which are sorted, over regions, which are sorted and cover all keys.
func drawKeyspace(table string, regions []hbase.Region, spans []plan.Span) keyspace {
	out := keyspace{Table: table, Total: len(regions)}
	read := make([]bool, len(regions))
	for i, r := range regions {
		at := sort.Search(len(spans), func(k int) bool { return len(end(spans[k])) == 0 || bytes.Compare(end(spans[k]), r.Start) > 0 })
		read[i] = at < len(spans) && (len(r.Stop) == 0 || bytes.Compare(spans[at].Start, r.Stop) < 0)
		if read[i] {
			out.Read++
		}
	}
	if n := len(spans) - maxDrawnSpans; n > 0 {
		spans, out.More = spans[:maxDrawnSpans], n
	}
	m := newRegionBoxes(regions, read, out.Read, spans)
	for _, b := range m.boxes {
		title := fmt.Sprintf("[%s, %s)", openKey(b.start), openKey(b.stop))
		label := plan.Escape(b.start)
		if b.n > 1 {
			title = fmt.Sprintf("%d regions %s", b.n, title)
			label = fmt.Sprintf("%d regions", b.n)
		}
		w := m.percent(b.weight)
		out.Regions = append(out.Regions, keyBlock{X: m.percent(b.at), W: w, Label: fit(label, w), Title: title, Read: b.read})
	}
	for _, s := range spans {
		x := m.place(s.Start, false)
		w := m.place(end(s), true) - x
		out.Spans = append(out.Spans, keyBlock{X: x, W: w, Title: s.Bounds(), Key: s.Key})
	}
	return out
}

// regionBox is a box of the picture: one region, or neighbouring regions that are all not read, or all read if more than
// maxDrawnRegions are.
type regionBox struct {
	start, stop []byte
	n           int
	read        bool
	cuts        [][]byte // where spans begin and end inside it
	at, weight  float64
}

// regionBoxes maps keys to positions in the picture. A box is wider the more spans begin and end inside it.
type regionBoxes struct {
	boxes []regionBox
	total float64 // of the weights
}

func newRegionBoxes(regions []hbase.Region, read []bool, reads int, spans []plan.Span) *regionBoxes {
	m := &regionBoxes{}
	for i, r := range regions {
		if k := len(m.boxes) - 1; k >= 0 && m.boxes[k].read == read[i] && (!read[i] || reads > maxDrawnRegions) {
			m.boxes[k].stop, m.boxes[k].n = r.Stop, m.boxes[k].n+1
			continue
		}
		m.boxes = append(m.boxes, regionBox{start: r.Start, stop: r.Stop, n: 1, read: read[i]})
	}
	for i := range m.boxes {
		b := &m.boxes[i]
		for _, s := range spans {
			for _, k := range [][]byte{s.Start, end(s)} {
				if bytes.Compare(k, b.start) > 0 && (len(b.stop) == 0 || bytes.Compare(k, b.stop) < 0) {
					b.cuts = append(b.cuts, k)
				}
			}
		}
		slices.SortFunc(b.cuts, bytes.Compare)
		b.cuts = slices.CompactFunc(b.cuts, bytes.Equal)
		b.at, b.weight = m.total, 3+float64(len(b.cuts))
		if !b.read {
			b.weight = 2
		}
		m.total += b.weight
	}
	return m
}

func (m *regionBoxes) percent(weight float64) float64 { return 100 * weight / m.total }

// place returns the position of key k in per cent. With stop, an empty k means the end of the table.
func (m *regionBoxes) place(k []byte, stop bool) float64 {
	if stop && len(k) == 0 {
		return 100
	}
	i := sort.Search(len(m.boxes), func(i int) bool { return bytes.Compare(m.boxes[i].start, k) > 0 }) - 1
	b := m.boxes[max(i, 0)]
	in := 0.0
	if at, ok := slices.BinarySearchFunc(b.cuts, k, bytes.Compare); ok {
		in = b.weight * float64(at+1) / float64(len(b.cuts)+1)
	}
	return m.percent(b.at + in)
}

// end returns the first key after span s; it returns "" if s reaches the end of the table.
func end(s plan.Span) []byte {
	if s.Key {
		return append(slices.Clone(s.Start), 0)
	}
	return s.Stop
}

// fit shortens ASCII text to fit a box of w per cent of the picture's width, which is about 130 characters.
func fit(s string, w float64) string {
	n := int(w * 1.3)
	switch {
	case len(s) <= n:
		return s
	case n < 5:
		return ""
	}
	return s[:n-2] + ".."
}
