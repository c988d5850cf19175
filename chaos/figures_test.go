package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// figures are the counts of a run. The zero value is ready.
type figures struct {
	mu                              sync.Mutex
	queries, failed                 map[string]int // by kind
	rows                            int
	writes, acked, refused, unknown int
	faults                          map[string]int // by kind
	errors                          map[string]int // by text
	wrong, lost, doubled            int
	hung, leaked                    int
	slowest, slowestWrite           time.Duration
	details                         []string // of what must not be
}

func (f *figures) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.queries == nil {
		f.queries, f.failed, f.faults, f.errors = map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	}
	change()
}

// fault counts an injected fault of a kind.
func (f *figures) fault(kind string, n int) { f.do(func() { f.faults[kind] += n }) }

// bad records a broken promise.
func (f *figures) bad(format string, args ...any) {
	f.details = append(f.details, fmt.Sprintf(format, args...))
}

// broken returns the number of broken promises.
func (f *figures) broken() (n int) {
	f.do(func() { n = f.wrong + f.lost + f.doubled + f.hung + f.leaked })
	return n
}

func byKind(m map[string]int) string {
	var parts []string
	total := 0
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
		total += m[k]
	}
	return fmt.Sprintf("%d (%s)", total, strings.Join(parts, ", "))
}

// String returns the report.
func (f *figures) String() string {
	var b strings.Builder
	f.do(func() {
		fmt.Fprintf(&b, "queries run      %s, %d rows checked, slowest %v\n", byKind(f.queries), f.rows, f.slowest.Round(time.Millisecond))
		fmt.Fprintf(&b, "clear errors     %s\n", byKind(f.failed))
		fmt.Fprintf(&b, "rows written     %d: %d acknowledged, %d refused, %d unknown, slowest %v\n", f.writes, f.acked, f.refused, f.unknown, f.slowestWrite.Round(time.Millisecond))
		fmt.Fprintf(&b, "faults injected  %s\n", byKind(f.faults))
		fmt.Fprintf(&b, "wrong %d, lost %d, doubled %d, hung %d, leaked %d\n", f.wrong, f.lost, f.doubled, f.hung, f.leaked)
		for _, text := range slices.Sorted(maps.Keys(f.errors)) {
			fmt.Fprintf(&b, "  %d x %s\n", f.errors[text], text)
		}
	})
	return b.String()
}
