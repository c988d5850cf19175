package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/hql-db/hql/types"
)

// chunk is the number of rows that a table collects before it is printed. The first chunk determines the widths of the columns.
const chunk = 1000

type tableWriter struct {
	w *bufio.Writer
	look
	markdown bool
	cols     []string
	right    []bool
	widths   []int
	rows     [][]string
	nulls    [][]bool
	headed   bool
	vertical *verticalWriter // what shows a table that is too wide
}

func (t *tableWriter) begin(cols []string, ts []types.Type) error {
	for i, c := range cols {
		c = printable(c)
		if t.markdown {
			c = strings.ReplaceAll(c, "|", `\|`)
		}
		t.cols = append(t.cols, c)
		t.right = append(t.right, ts[i].IsNumeric())
	}
	return nil
}

func (t *tableWriter) row(vals []types.Value) error {
	cells := make([]string, len(vals))
	nulls := make([]bool, len(vals))
	for i, v := range vals {
		cells[i], nulls[i] = t.display(v), v.IsNull()
		if t.markdown {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
	}
	t.rows, t.nulls = append(t.rows, cells), append(t.nulls, nulls)
	if len(t.rows) == chunk {
		return t.flush()
	}
	return nil
}

func (t *tableWriter) flush() error {
	if t.vertical != nil {
		return t.flushVertical()
	}
	if t.widths == nil {
		for _, c := range t.cols {
			t.widths = append(t.widths, runewidth.StringWidth(c))
		}
		for _, r := range t.rows {
			for i, c := range r {
				t.widths[i] = max(t.widths[i], runewidth.StringWidth(c))
			}
		}
		total := t.total()
		if t.fit > 0 && total > t.fit && len(t.rows) > 0 {
			t.vertical = &verticalWriter{w: t.w, look: t.look}
			t.vertical.names(t.cols)
			return t.flushVertical()
		}
		if last := len(t.widths) - 1; t.cut > 0 && total > t.cut {
			t.widths[last] = max(t.widths[last]-(total-t.cut), len("..."))
		}
	}
	if !t.headed {
		t.headed = true
		t.heading()
	}
	for i, r := range t.rows {
		t.line(r, t.nulls[i], true)
	}
	t.rows, t.nulls = t.rows[:0], t.nulls[:0]
	return t.w.Flush()
}

func (t *tableWriter) flushVertical() error {
	for i, r := range t.rows {
		t.vertical.cells(r, t.nulls[i])
	}
	t.rows, t.nulls = t.rows[:0], t.nulls[:0]
	return t.w.Flush()
}

// total returns the width of the table.
func (t *tableWriter) total() int {
	total := 3*len(t.widths) - 1
	switch {
	case t.border.width == 0:
		total = len(t.widths) - 1
	case t.edges():
		total += 2
	}
	for _, w := range t.widths {
		total += w
	}
	return total
}

// heading writes the columns' names between rules.
func (t *tableWriter) heading() {
	t.caption(t.w, t.total())
	s := t.border.strokes()
	if t.edges() && !t.markdown {
		t.rule(s.top)
	}
	if t.tuples {
		return
	}
	t.line(t.cols, nil, false)
	t.rule([3]string{s.left, s.cross, s.right})
}

// rule writes a line between rows; ends are its left end, a crossing and its right end.
func (t *tableWriter) rule(ends [3]string) {
	s := t.border.strokes()
	for i, w := range t.widths {
		fill := strings.Repeat(s.rule, w)
		switch {
		case t.markdown:
			t.w.WriteString("| " + fill + " ")
			continue
		case i == 0 && t.edges():
			t.w.WriteString(ends[0])
		case i > 0 && t.border.width == 0:
			t.w.WriteString(" ")
		case i > 0:
			t.w.WriteString(ends[1])
		}
		if t.border.width > 0 {
			fill = s.rule + fill + s.rule
		}
		t.w.WriteString(fill)
	}
	if t.markdown {
		t.w.WriteByte('|')
	} else if t.edges() {
		t.w.WriteString(ends[2])
	}
	t.w.WriteByte('\n')
}

// edges reports whether each line begins and ends with a border character.
func (t *tableWriter) edges() bool { return t.markdown || t.border.width == 2 }

func (t *tableWriter) line(cells []string, nulls []bool, align bool) {
	column, space := t.border.strokes().column, " "
	if t.border.width == 0 {
		column, space = " ", ""
	}
	for i, c := range cells {
		if t.cut > 0 && i == len(cells)-1 {
			c = runewidth.Truncate(c, t.widths[i], "…")
		}
		if i > 0 || t.edges() {
			t.w.WriteString(column)
		}
		pad := strings.Repeat(" ", max(0, t.widths[i]-runewidth.StringWidth(c)))
		if nulls != nil && nulls[i] {
			c = t.dim(c)
		}
		open := i == len(cells)-1 && !t.edges() // nothing follows
		switch {
		case align && t.right[i] && open:
			t.w.WriteString(space + pad + c)
		case align && t.right[i]:
			t.w.WriteString(space + pad + c + space)
		case open:
			t.w.WriteString(space + c)
		default:
			t.w.WriteString(space + c + pad + space)
		}
	}
	if t.edges() {
		t.w.WriteString(column)
	}
	t.w.WriteByte('\n')
}

func (t *tableWriter) end() error {
	err := t.flush()
	if err == nil && t.border.width == 2 && !t.markdown && t.vertical == nil {
		t.rule(t.border.strokes().bottom)
		err = t.w.Flush()
	}
	return err
}

type verticalWriter struct {
	w *bufio.Writer
	look
	cols []string
	n    int
}

func (v *verticalWriter) begin(cols []string, _ []types.Type) error {
	shown := make([]string, len(cols))
	for i, c := range cols {
		shown[i] = printable(c)
	}
	v.names(shown)
	return nil
}

// names sets the columns' names, in which control characters are escaped already.
func (v *verticalWriter) names(cols []string) {
	v.caption(v.w, 0)
	width := 0
	for _, c := range cols {
		width = max(width, runewidth.StringWidth(c))
	}
	for _, c := range cols {
		v.cols = append(v.cols, runewidth.FillRight(c, width))
	}
}

func (v *verticalWriter) row(vals []types.Value) error {
	cells, nulls := make([]string, len(vals)), make([]bool, len(vals))
	for i, x := range vals {
		cells[i], nulls[i] = v.display(x), x.IsNull()
	}
	v.cells(cells, nulls)
	return nil
}

// cells writes a row whose values are already texts.
func (v *verticalWriter) cells(cells []string, nulls []bool) {
	if v.n++; !v.tuples {
		fmt.Fprintf(v.w, "-[ row %d ]-\n", v.n)
	} else if v.n > 1 {
		v.w.WriteByte('\n')
	}
	for i, c := range cells {
		if nulls[i] {
			c = v.dim(c)
		}
		fmt.Fprintf(v.w, "%s | %s\n", v.cols[i], c)
	}
}

func (v *verticalWriter) end() error { return v.w.Flush() }
