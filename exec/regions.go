package exec

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// maxPlanned bounds the spans, and the physical tables, whose regions are counted beforehand.
const maxPlanned, maxPlannedTables = 10_000, 100

// regionProgress follows the regions that one table access reads.
type regionProgress struct {
	mu       sync.Mutex
	finished map[string]int // by name: scans that read their part of it
	spans    []plan.Span    // what is to be read
	unknown  bool           // too much to count beforehand
	needs    map[string]int // by name: scans that will read a part of it; of spans[:counted]
	counted  int
}

// plan adds what is to be read.
func (r *regionProgress) plan(spans []plan.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unknown = r.unknown || len(r.spans)+len(spans) > maxPlanned; !r.unknown {
		r.spans = append(r.spans, spans...)
	}
}

// answered is hbase.ReadOptions.Region.
func (r *regionProgress) answered(name string, done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished == nil {
		r.finished = map[string]int{}
	}
	n := r.finished[name]
	if done {
		n++
	}
	r.finished[name] = n
}

func (r *regionProgress) addTo(seen map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.finished {
		seen[name] = true
	}
}

// progress counts the planned regions that are read. regions lists a table's.
func (r *regionProgress) progress(regions func(table string) ([]hbase.Region, error)) (done, total int, err error) {
	r.mu.Lock()
	spans, counted, unknown := r.spans, r.counted, r.unknown
	r.mu.Unlock()
	if unknown {
		return 0, 0, nil
	}
	needs := map[string]int{}
	for _, s := range spans[counted:] { // without the lock: it may ask the store
		list, err := regions(s.Table)
		if err != nil {
			return 0, 0, err
		}
		for _, reg := range regionsOf(list, s) {
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
	if r.counted == counted { // nobody else did
		for name, n := range needs {
			r.needs[name] += n
		}
		r.counted = len(spans)
	}
	for name, n := range r.needs {
		if have, seen := r.finished[name]; seen && have >= n {
			done++
		}
	}
	return done, len(r.needs), nil
}

// regionsOf gives the regions, sorted and without gaps, that s touches.
func regionsOf(list []hbase.Region, s plan.Span) []hbase.Region {
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

// Regions says how many of the regions that the statement reads from are done, of those that are
// known beforehand; total is 0 when that is too much to count. It asks hbase:meta once a table,
// and may be called while another goroutine reads the rows.
func (r *Rows) Regions(ctx context.Context) (done, total int, err error) {
	rec := r.run.rec
	rec.mu.Lock()
	scans := slices.Clone(rec.scans)
	rec.mu.Unlock()
	rec.meta.Lock()
	defer rec.meta.Unlock()
	list := func(table string) ([]hbase.Region, error) {
		if l, ok := rec.tables[table]; ok {
			return l, nil
		}
		if len(rec.tables) == maxPlannedTables {
			return nil, nil
		}
		l, err := r.run.client.Regions(ctx, table)
		if err != nil {
			return nil, err
		}
		if rec.tables == nil {
			rec.tables = map[string][]hbase.Region{}
		}
		rec.tables[table] = l
		return l, nil
	}
	for _, s := range scans {
		d, t, err := s.regions.progress(list)
		if err != nil {
			return 0, 0, err
		}
		done, total = done+d, total+t
	}
	if len(rec.tables) == maxPlannedTables {
		return done, 0, nil
	}
	return done, total, nil
}
