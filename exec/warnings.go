package exec

import (
	"slices"
	"sync"
)

// warnings collects what a statement's result should be read with. Repeated
// ones are counted: a million malformed keys are one line. Safe for concurrent use.
type warnings struct {
	mu      sync.Mutex
	plain   []string
	counted []*countedWarning
}

// countedWarning is a warning that stands for n events.
type countedWarning struct {
	of   any // what it is about; equal for events counted together
	n    int64
	text func(n int64) string
}

// add notes a warning once.
func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.plain, text) {
		w.plain = append(w.plain, text)
	}
}

// count counts an event of the comparable kind of; text, made by first at the
// first event only, words the warning for the final number.
func (w *warnings) count(of any, first func() func(n int64) string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.counted {
		if c.of == of {
			c.n++
			return
		}
	}
	w.counted = append(w.counted, &countedWarning{of: of, n: 1, text: first()})
}

// list words all warnings so far.
func (w *warnings) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.plain)
	for _, c := range w.counted {
		out = append(out, c.text(c.n))
	}
	return out
}
