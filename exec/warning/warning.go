// Package warning collects the warnings about the result of a statement.
package warning

import (
	"slices"
	"sync"
)

// Each warning begins with its code, for search and filters in logs. docs/operations.md lists the codes.
const (
	Key         = "HQL-W001" // a key that does not fit the layout was skipped
	Cell        = "HQL-W002" // a cell that does not fit its column was read as NULL
	FullScan    = "HQL-W003" // a table is read whole
	Ranges      = "HQL-W004" // key ranges were widened to stay under the limit
	Line        = "HQL-W005" // a line was not copied
	ReadOnly    = "HQL-W006" // a definition is not kept beyond the connection
	Statistics  = "HQL-W008" // statistics are not kept beyond the connection
	TableKept   = "HQL-W007" // DROP TABLE left an HBase table that another definition uses
	Transaction = "HQL-W009" // BEGIN and COMMIT do nothing
	Index       = "HQL-W010" // another definition of the HBase table writes past an INDEX
	LongKey     = "HQL-W011" // keys of a new table are a burden
	Regions     = "HQL-N001" // a note: where the regions of a new table begin
	KeyNote     = "HQL-N002" // a note about the rowkey of a new table
)

// List collects the warnings about a statement's result. It counts repeated ones: a million malformed keys are one
// line. It is safe for concurrent use.
type List struct {
	mu      sync.Mutex
	plain   []string
	counted []*counted
}

// counted is one warning about n events.
type counted struct {
	code string
	of   any // what it is about; equal for events counted together
	n    int64
	text func(n int64) string
}

// Add notes a warning once.
func (w *List) Add(code, text string) {
	text = code + ": " + text
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.plain, text) {
		w.plain = append(w.plain, text)
	}
}

// Count counts an event of the comparable kind of; text, made by first at the
// first event only, words the warning for the final number.
func (w *List) Count(code string, of any, first func() func(n int64) string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.counted {
		if c.of == of {
			c.n++
			return
		}
	}
	w.counted = append(w.counted, &counted{code: code, of: of, n: 1, text: first()})
}

// Texts words all warnings so far.
func (w *List) Texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.plain)
	for _, c := range w.counted {
		out = append(out, c.code+": "+c.text(c.n))
	}
	return out
}
