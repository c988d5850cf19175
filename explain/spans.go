package explain

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
)

// maxLeaves is the greatest number of spans that EXPLAIN draws for one table access.
const maxLeaves = 12

// leaf is a span and the leading key parts that have the same value in all keys of the span.
type leaf struct {
	plan.Span
	bytes  [][]byte // of each common part
	values []string // in readable form; "" for literals
}

// cutLeaf finds the leading parts of l's key that all keys of sp share.
func cutLeaf(l *catalog.Layout, sp plan.Span) leaf {
	out := leaf{Span: sp}
	at := 0
	for i, end := range l.Key.Ends(sp.Start, sp.Key) {
		if !sp.Key && (end == at || !sp.AllBegin(sp.Start[:end])) {
			break
		}
		part, value := sp.Start[at:end], ""
		if p := l.Key.Parts[i]; p.Literal == nil {
			if len(part) == 0 && p.Nullable() {
				value = "NULL"
			} else if v, err := p.Decode(part); err == nil {
				value = runewidth.Truncate(v.SQL(), 40, "...")
			} else {
				value = plan.Escape(part)
			}
		}
		out.bytes, out.values = append(out.bytes, part), append(out.values, value)
		at = end
	}
	return out
}

// drawSpans draws what s reads: the HBase tables, and under each table its spans as a tree of their common key parts.
func (d *drawing) drawSpans(s *plan.Scan, in string) {
	label, drawn := "read", 0
	for i := 0; i < len(s.Spans); {
		if drawn >= maxLeaves {
			d.labelled(in, label, Piece{Dim, fmt.Sprintf("... and %d more", len(s.Spans)-drawn)})
			return
		}
		j := i
		for j < len(s.Spans) && s.Spans[j].Table == s.Spans[i].Table {
			j++
		}
		table := s.Spans[i].Table
		if s.ListTables {
			table = s.TablePrefix + "*"
		}
		if j-i > 1 {
			d.labelled(in, label, textf("%s", table))
			leaves := make([]leaf, 0, min(j-i, maxLeaves-drawn))
			for _, sp := range s.Spans[i : i+cap(leaves)] {
				leaves = append(leaves, cutLeaf(s.Layout, sp))
			}
			d.drawLeaves(in, "", leaves, 0, j-i-len(leaves))
			drawn += len(leaves)
			if len(leaves) < j-i {
				if j < len(s.Spans) {
					d.labelled(in, "", Piece{Dim, fmt.Sprintf("... and %d more in other tables", len(s.Spans)-j)})
				}
				return
			}
		} else {
			bounds := s.Spans[i].Bounds()
			if s.Access.Hops() && len(s.Spans[i].Start)+len(s.Spans[i].Stop) == 0 {
				bounds = "from value to value of " + freeParts(s)
			}
			d.labelled(in, label, textf("%s %s", table, bounds))
			drawn++
		}
		label, i = "", j
	}
}

// drawLeaves draws leaves whose first depth parts are equal. more is the number of further spans that are not drawn.
func (d *drawing) drawLeaves(in, branch string, leaves []leaf, depth, more int) {
	var groups [][]leaf
	for i := 0; i < len(leaves); {
		j := i + 1
		for j < len(leaves) && depth < len(leaves[i].bytes) && depth < len(leaves[j].bytes) && bytes.Equal(leaves[i].bytes[depth], leaves[j].bytes[depth]) {
			j++
		}
		groups = append(groups, leaves[i:j])
		i = j
	}
	if len(groups) == 1 && len(leaves) > 1 && depthOf(leaves) == len(leaves[0].bytes) { // nothing more distinguishes them
		groups = nil
		for i := range leaves {
			groups = append(groups, leaves[i:i+1])
		}
	}
	names, ends, width := make([]string, len(groups)), make([]int, len(groups)), 0
	for i, g := range groups {
		ends[i] = depthOf(g)
		var values []string
		for _, v := range g[0].values[min(depth, len(g[0].values)):ends[i]] {
			if v != "" {
				values = append(values, v)
			}
		}
		names[i] = strings.Join(values, ", ")
		if len(g) == 1 {
			width = max(width, runewidth.StringWidth(names[i]))
		}
	}
	for i, g := range groups {
		fork, under := "├─ ", "│  "
		if i == len(groups)-1 && more == 0 {
			fork, under = "└─ ", "   "
		}
		line := Line{{Dim, branch + fork}}
		if len(g) > 1 {
			d.labelled(in, "", append(line, Piece{Enumerated, names[i]})...)
			d.drawLeaves(in, branch+under, g, ends[i], 0)
			continue
		}
		if width > 0 {
			line = append(line, Piece{Enumerated, runewidth.FillRight(names[i], width) + "  "})
		}
		d.labelled(in, "", append(line, textf("%s", g[0].Bounds()))...)
	}
	if more > 0 {
		d.labelled(in, "", Piece{Dim, fmt.Sprintf("%s└─ ... and %d more", branch, more)})
	}
}

// depthOf returns the number of leading parts that are equal in all leaves.
func depthOf(leaves []leaf) int {
	n := len(leaves[0].bytes)
	for _, l := range leaves[1:] {
		k := 0
		for k < min(n, len(l.bytes)) && bytes.Equal(l.bytes[k], leaves[0].bytes[k]) {
			k++
		}
		n = k
	}
	return n
}
