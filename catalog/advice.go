package catalog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/hql-db/hql/parser"
)

// OnlyGrows reports whether the keys of l begin with a moment that only grows, or falls, as rows are written, so that all
// new rows are stored in one region.
//
//	ts AS INT64, ...                              true
//	9223372036854775807 - ts AS INT64, ...        true
//	ts % 16 AS UINT8, ts AS INT64                 false
func (l *Layout) OnlyGrows() bool {
	first, _ := l.firstPart()
	return first.Literal == nil && len(first.Columns) == 1 && l.Key.table.Columns[first.Columns[0]].Type.IsTemporal() && first.Monotone() != 0
}

// Good and greatest lengths of a key, in bytes: each cell repeats it.
const goodKey, longKey = 16, 100

// KeyNote is a note that a team should read about a key before it writes rows.
type KeyNote struct {
	Text    string
	Warning bool // the key is a burden for any use
}

// KeyNotes returns notes about the keys of t. starts are the first keys of its regions, in order; nil: unknown.
func (t *Table) KeyNotes(starts [][]byte) []KeyNote {
	l := t.Layouts[0]
	notes := l.KeyNotes(len(starts))
	if n := l.emptyRegions(starts); n > 0 {
		notes = append(notes, KeyNote{Text: fmt.Sprintf("%d of %d regions can get no row: no key begins as they do", n, len(starts))})
	}
	for _, l := range t.Layouts[1:] {
		for _, n := range l.KeyNotes(0) {
			notes = append(notes, KeyNote{l.Name + ": " + n.Text, n.Warning})
		}
	}
	return notes
}

// KeyNotes returns notes about l's keys. regions is the number of the table's regions; 0: unknown.
func (l *Layout) KeyNotes(regions int) (notes []KeyNote) {
	add := func(format string, args ...any) { notes = append(notes, KeyNote{Text: fmt.Sprintf(format, args...)}) }
	first, _ := l.firstPart()
	if l.OnlyGrows() {
		add("keys begin with %s, which follows the time: if that is the time of writing, all new rows are stored in one region", first.Source)
	}
	if c, ok := first.Column(); ok && l.Kind == Primary && l.Key.table.Columns[c].Draws() != "" {
		name := parser.QuoteName(l.Key.table.Columns[c].Name)
		add("keys begin with %s, whose numbers ascend: all new rows are stored in one region. ROW KEY (%[1]s %% 16 AS UINT8, %[2]s) SPLIT INTO 16 BY KEY spreads them", name, first.Source)
	}
	if first.Drawn() {
		add("%s is drawn at random, so that each read asks every value of it: a part that is computed from a column, such as CRC32(column) %% 16 AS UINT8, spreads rows as well", first.Source)
	}
	if _, column := first.Column(); !column && regions > 0 {
		n := len(first.starts(nil))
		switch {
		case n <= regions || n > 256:
		case regions == 1:
			add("%s has %d values, but the table has one region: SPLIT INTO %d BY KEY in CREATE TABLE makes one for each", first.Source, n, n)
		default:
			add("%s has %d values for %d regions: reads that do not bind it are %d scans", first.Source, n, regions, n)
		}
	}
	width := 0
	for _, p := range l.Key.Parts {
		if w := p.Width(); w == Variable {
			width++
		} else {
			width += w
		}
	}
	switch {
	case l.Kind == Index: // its entries are one cell each
	case width > longKey:
		add("a key has %d bytes at least, which each cell repeats: more than %d are a burden", width, longKey)
		notes[len(notes)-1].Warning = true
	case width > goodKey:
		add("a key has %d bytes at least, which each cell repeats: up to %d are good", width, goodKey)
	}
	return notes
}

// emptyRegions counts the regions in which no key of l can be stored. from holds the first keys of all regions.
//
//	SALT(0 TO 3) AS UINT8, from '', 01, 02, 03, 04, 05                 2: no key begins with 04 or 05
//	user_id AS TEXT(6), from '', '3', '6', 'a', 'd'                    2: digits end before 'a'
//	'u:', id AS TEXT, from '', 'a', 'm'                                2
func (l *Layout) emptyRegions(from [][]byte) (n int) {
	first, before := l.firstPart()
	starts := first.starts(before)
	if starts == nil {
		chars := first.leading().Chars
		if _, ok := first.Encoding.(digits); ok || first.Width() == Variable {
			chars = cmp.Or(chars, first.alphabet())
		}
		for _, c := range []byte(chars) {
			starts = append(starts, append(bytes.Clone(before), c))
		}
	}
	if starts == nil && len(before) > 0 {
		starts = [][]byte{before}
	}
	if starts == nil {
		return 0 // any bytes may begin a key
	}
	for i, at := range from {
		if !slices.ContainsFunc(starts, func(s []byte) bool { // of the keys that begin with s some are in the region
			return (i+1 == len(from) || bytes.Compare(s, from[i+1]) < 0) && (bytes.Compare(s, at) >= 0 || bytes.HasPrefix(at, s))
		}) {
			n++
		}
	}
	return n
}

// starts returns, for each value that p can have, the bytes before followed by the value's bytes. It returns nil if p
// has too many values, or if their bytes vary in length.
func (p *Part) starts(before []byte) (out [][]byte) {
	dom, ok := p.Domain()
	if !ok || p.Literal != nil || p.Width() == Variable {
		return nil
	}
	vals, _ := dom.Values(1 << 16)
	for _, v := range vals {
		if b, err := p.Append(bytes.Clone(before), v); err == nil {
			out = append(out, b)
		}
	}
	return out
}
