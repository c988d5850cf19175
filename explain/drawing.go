package explain

import (
	"fmt"
	"strings"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// Style is the meaning of a piece of EXPLAIN's text, so that a terminal can colour it.
type Style uint8

// The styles.
const (
	Plain      Style = iota
	Dim              // labels and side remarks
	Hit              // the rowkey prefix is hit
	Miss             // it is missed; warnings
	Bound            // a key part with one value
	Ranged           // a key part with a range, which ends the prefix
	Enumerated       // a key part of which every value is read
	Literal          // a key part that never varies
)

// Piece is text of one style.
type Piece struct {
	Style Style
	Text  string
}

// Line is one line of a drawing.
type Line []Piece

// String is the line without its styles.
func (l Line) String() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.Text)
	}
	return b.String()
}

// drawing is an unfinished text of EXPLAIN.
type drawing struct {
	lines   []Line
	figures *Figures // of EXPLAIN ANALYZE; or nil
	runs    map[*parser.Select]Runs
}

func (d *drawing) add(pieces ...Piece) { d.lines = append(d.lines, pieces) }

func (d *drawing) measured(n plan.Node) []string {
	if d.figures == nil {
		return nil
	}
	return d.figures.notes(n)
}

// labelled adds a line about a table access: the label, which has a column of its own, and the pieces.
func (d *drawing) labelled(in, label string, pieces ...Piece) {
	d.add(append(Line{{Dim, fmt.Sprintf("%s  %-8s ", in, label)}}, pieces...)...)
}

func textf(format string, args ...any) Piece { return Piece{Plain, fmt.Sprintf(format, args...)} }
