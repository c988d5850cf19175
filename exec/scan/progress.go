package scan

import (
	"bytes"
	"slices"
	"sync"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// maxPlanned bounds the number of spans whose regions are counted in advance.
const maxPlanned = 10_000

// regionProgress follows the regions that one table access reads.
type regionProgress struct {
	mu       sync.Mutex
	first    regionParts    // the first region that answered: often the only one
	finished map[string]int // by name: number of scans that have read their part of the other regions
	spans    []plan.Span    // to read
	cuts     []plan.Cut     // keys at which regions are divided into parts
	unknown  bool           // there is too much to count in advance
	needs    map[string]int // by name: number of scans that will read a part of it, for spans[:counted]
	counted  int
}

// regionParts counts the scans that have read their part of a region.
type regionParts struct {
	name []byte // nil: no region
	n    int
}

// plan adds spans that will be read. cuts are the keys at which regions are divided between scans.
func (r *regionProgress) plan(spans []plan.Span, cuts []plan.Cut) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unknown = r.unknown || len(r.spans)+len(spans) > maxPlanned; !r.unknown {
		if r.cuts = cuts; len(r.spans) == 0 {
			r.spans = slices.Clip(spans) // usually the only ones: no copy
		} else {
			r.spans = append(r.spans, spans...)
		}
	}
}

func (r *regionProgress) Answered(name []byte, done bool) {
	n := 0
	if done {
		n = 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first.name == nil {
		r.first.name = name
	}
	if bytes.Equal(r.first.name, name) {
		r.first.n += n
		return
	}
	if r.finished == nil {
		r.finished = map[string]int{}
	}
	r.finished[string(name)] += n
}

// parts returns the number of scans that have read their part of a region; answered reports whether the region has
// answered.
func (r *regionProgress) parts(name string) (n int, answered bool) {
	if r.first.name != nil && string(r.first.name) == name {
		return r.first.n, true
	}
	n, answered = r.finished[name]
	return n, answered
}

// answered returns the number of regions that have answered.
func (r *regionProgress) answered() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.finished)
	if r.first.name != nil {
		n++
	}
	return n
}

func (r *regionProgress) addTo(seen map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first.name != nil {
		seen[string(r.first.name)] = true
	}
	for name := range r.finished {
		seen[name] = true
	}
}

// progress returns the number of planned regions that are completely read, and their total. regions lists a table's
// regions.
func (r *regionProgress) progress(regions func(table string) ([]hbase.Region, error)) (done, total int, err error) {
	r.mu.Lock()
	spans, cuts, counted, unknown := r.spans, r.cuts, r.counted, r.unknown
	r.mu.Unlock()
	if unknown {
		return 0, 0, nil
	}
	needs := map[string]int{}
	for _, s := range spans[counted:] { // without the lock: regions may read the store
		list, err := regions(s.Table)
		if err != nil {
			return 0, 0, err
		}
		for _, reg := range RegionsOf(cutRegions(list, s.Table, cuts), s) {
			n := needs[reg.Name]
			if !s.Key {
				n++
			}
			needs[reg.Name] = n
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.needs == nil {
		r.needs = map[string]int{}
	}
	if r.counted == counted { // no other goroutine did so
		for name, n := range needs {
			r.needs[name] += n
		}
		r.counted = len(spans)
	}
	for name, n := range r.needs {
		if have, seen := r.parts(name); seen && have >= n {
			done++
		}
	}
	return done, len(r.needs), nil
}

// RegionsOf returns the regions of list, sorted and without gaps, that overlap s.
func RegionsOf(list []hbase.Region, s plan.Span) []hbase.Region {
	first, found := slices.BinarySearchFunc(list, s.Start, func(r hbase.Region, k []byte) int { return bytes.Compare(r.Start, k) })
	if !found {
		first = max(0, first-1)
	}
	last := first
	for last < len(list) && (last == first || !s.Key && (len(s.Stop) == 0 || bytes.Compare(list[last].Start, s.Stop) < 0)) {
		last++
	}
	return list[first:last]
}
