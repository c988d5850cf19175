// Package warning collects the warnings about the result of a statement.
package warning

import (
	"slices"
	"sync"
)

// Each warning begins with its code, which logs can be searched for. docs/operations.md lists the codes.
const (
	Key         = "HQL-W001" // a row was skipped because its key does not fit the layout
	Cell        = "HQL-W002" // a cell was read as NULL because it does not fit its column
	FullScan    = "HQL-W003" // all of a table is read
	Ranges      = "HQL-W004" // key ranges were widened to stay under the limit
	Line        = "HQL-W005" // a line was not copied because it does not fit
	ReadOnly    = "HQL-W006" // a definition lasts only as long as the connection
	Statistics  = "HQL-W008" // statistics last only as long as the connection
	TableKept   = "HQL-W007" // DROP TABLE left an HBase table that another definition uses
	Transaction = "HQL-W009" // BEGIN, COMMIT and VACUUM do nothing
	Index       = "HQL-W010" // another definition of the HBase table does not update an INDEX
	LongKey     = "HQL-W011" // the keys of a new table are long
	Regions     = "HQL-N001" // a note: the start keys of a new table's regions
	KeyNote     = "HQL-N002" // a note about the rowkey of a new table
	Absent      = "HQL-N003" // a note: a statement has no effect, as its object does not exist, or is there already
)

// List collects the warnings about a statement's result. It counts repeated warnings: a million malformed keys cause
// one line. It is safe for concurrent use.
type List struct {
	mu      sync.Mutex
	plain   []string
	counted []*counted
}

// counted is one warning about n events of the same kind.
type counted struct {
	code string
	of   any // the kind of event
	n    int64
	text func(n int64) string
}

// Add adds a warning, unless the list has it.
func (w *List) Add(code, text string) {
	text = code + ": " + text
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.plain, text) {
		w.plain = append(w.plain, text)
	}
}

// Count counts an event. of is the kind of the event, a comparable value. For the first event of a kind, Count calls
// first, which returns a function for the text of the warning about n events.
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

// Texts returns the texts of all warnings so far.
func (w *List) Texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.plain)
	for _, c := range w.counted {
		out = append(out, c.code+": "+c.text(c.n))
	}
	return out
}
