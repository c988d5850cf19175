package catalog

import (
	"bytes"
	"fmt"
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

// KeyNotes returns notes that a team should read about l's keys before it writes rows. regions is the number of the
// table's regions; 0: unknown.
func (l *Layout) KeyNotes(regions int) (notes []string) {
	first, _ := l.firstPart()
	if l.OnlyGrows() {
		notes = append(notes, fmt.Sprintf("keys begin with %s, which follows the time: if that is the time of writing, all new rows are stored in one region", first.Source))
	}
	if first.Drawn() {
		notes = append(notes, fmt.Sprintf("%s is drawn at random, so that each read asks every value of it: a part that is computed from a column, such as CRC32(column) %% 16 AS UINT8, spreads rows as well", first.Source))
	}
	if _, column := first.Column(); !column && regions > 1 {
		if n := len(first.starts(nil)); n > regions && n <= 256 {
			notes = append(notes, fmt.Sprintf("%s has %d values for %d regions: reads that do not bind it are %d scans", first.Source, n, regions, n))
		}
	}
	width := 0
	for _, p := range l.Key.Parts {
		switch w := p.Width(); {
		case p.Literal != nil:
			width += len(p.Literal)
		case w > 0:
			width += w
		default:
			width++
		}
	}
	if width > longKey {
		notes = append(notes, fmt.Sprintf("a key has %d bytes at least, which each cell repeats: more than %d are a burden", width, longKey))
	} else if width > goodKey {
		notes = append(notes, fmt.Sprintf("a key has %d bytes at least, which each cell repeats: up to %d are good", width, goodKey))
	}
	return notes
}

// starts are the bytes of each value of p behind before; nil: they are many, or vary in length.
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
