package explain

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
)

// rulerPart is one part of a key as it lies in the key's bytes.
type rulerPart struct {
	plan.PartUse
	Offset int // of its first byte; -1 after a part whose length varies
	Width  int // in bytes, or catalog.Variable (-1)
}

// ruler lays out the parts of s's key byte by byte.
func ruler(s *plan.Scan) []rulerPart {
	parts := s.Key
	out := make([]rulerPart, len(parts))
	at := 0
	for i, use := range parts {
		w := use.Part.Width()
		out[i] = rulerPart{PartUse: use, Offset: at, Width: w}
		if w == catalog.Variable {
			at = -1
		} else if at >= 0 {
			at += w
		}
	}
	return out
}

// Bytes returns the offsets of the part's bytes: "6-13", "20", "14-" if the part's length varies, "" if they are unknown.
func (r rulerPart) Bytes() string {
	switch {
	case r.Offset < 0:
		return ""
	case r.Width == catalog.Variable:
		return fmt.Sprintf("%d-", r.Offset)
	case r.Width == 1:
		return fmt.Sprint(r.Offset)
	}
	return fmt.Sprintf("%d-%d", r.Offset, r.Offset+r.Width-1)
}

// Style returns the style for the use of the part.
func (r rulerPart) Style() Style {
	switch r.Use {
	case plan.Bound:
		return Bound
	case plan.Ranged:
		return Ranged
	case plan.Enumerated, plan.Skipped:
		return Enumerated
	case plan.Literal:
		return Literal
	}
	return Dim
}

// mark returns the character that stands for a byte of the part in the drawing.
func (r rulerPart) mark() string {
	if r.Use == plan.Skipped {
		return ">"
	}
	return map[Style]string{Bound: "#", Ranged: "~", Enumerated: "*", Literal: "=", Dim: "."}[r.Style()]
}

// maxMarks is the number of bytes of a part that are drawn one by one. In a longer part, and in a part whose length varies,
// "//" replaces the other bytes.
const maxMarks = 16

// bar draws the part's bytes.
func (r rulerPart) bar() string {
	switch {
	case r.Width == catalog.Variable:
		return strings.Repeat(r.mark(), 4) + "//" + strings.Repeat(r.mark(), 2)
	case r.Width > maxMarks:
		side := strings.Repeat(r.mark(), (maxMarks-2)/2)
		return side + "//" + side
	}
	return strings.Repeat(r.mark(), r.Width)
}

// drawKey draws the key: a scale of byte offsets, the bytes under it, then a line for each part.
func (d *drawing) drawKey(s *plan.Scan, in string) {
	parts := ruler(s)
	var scale strings.Builder
	bytes := Line{{Dim, fmt.Sprintf("%s  %-8s |", in, "")}}
	for _, p := range parts {
		bar := p.bar()
		label := "?"
		if p.Offset >= 0 {
			label = fmt.Sprint(p.Offset)
		}
		pad := strings.Repeat(" ", max(0, len(label)-len(bar))) // so that the offsets do not run into one another
		bytes = append(bytes, Piece{p.Style(), bar}, Piece{Dim, pad + "|"})
		fmt.Fprintf(&scale, "%-*s", len(bar)+len(pad)+1, label)
	}
	end := "varies"
	if last := parts[len(parts)-1]; last.Offset >= 0 && last.Width != catalog.Variable {
		end = fmt.Sprintf("%d bytes", last.Offset+last.Width)
	}
	d.labelled(in, "key", Piece{Dim, scale.String() + end})
	d.lines = append(d.lines, bytes)

	source, at := 0, 0
	for _, p := range parts {
		source, at = max(source, runewidth.StringWidth(p.Part.Source)), max(at, len(p.Bytes()))
	}
	for _, p := range parts {
		note := p.Detail()
		if p.Why != "" {
			note = p.Why
		}
		line := Line{{Dim, fmt.Sprintf("%-*s ", at, p.Bytes())}, {p.Style(), p.mark()}, {Plain, " " + runewidth.FillRight(p.Part.Source, source) + "  "}}
		if note == "" {
			line = append(line, Piece{p.Style(), p.Use.String()})
		} else {
			line = append(line, Piece{p.Style(), fmt.Sprintf("%-10s", p.Use)}, Piece{Plain, "  " + note})
		}
		d.labelled(in, "", line...)
	}
}
