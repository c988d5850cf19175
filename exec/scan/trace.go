package scan

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/hbase"
)

// trace collects the RPCs of one table access.
type trace struct {
	mu      sync.Mutex
	regions map[string]*explain.Region
	scanned *hbase.Scanned // nil: no server reported it
}

func (t *trace) TraceRPCStart(ctx context.Context, _ hbase.RPCStart) context.Context { return ctx }

func (t *trace) TraceRPCEnd(_ context.Context, c hbase.RPCEnd) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := c.Table + "\x00" + c.Region.Name
	r := t.regions[id]
	if r == nil {
		r = &explain.Region{Table: c.Table, Region: c.Region}
		if t.regions == nil {
			t.regions = map[string]*explain.Region{}
		}
		t.regions[id] = r
	}
	r.RPCs++
	r.Rows += c.Rows
	r.Bytes += c.Bytes
	r.Time += c.Took
	if c.Scanned != nil {
		if t.scanned == nil {
			t.scanned = &hbase.Scanned{}
		}
		t.scanned.Rows += c.Scanned.Rows
		t.scanned.Filtered += c.Scanned.Filtered
	}
}

// stats returns the regions, sorted by table and start key; the regions of failed calls come first in their table.
// scanned is nil if no server reported it.
func (t *trace) stats() (regions []explain.Region, scanned *hbase.Scanned) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]explain.Region, 0, len(t.regions))
	for _, r := range t.regions {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b explain.Region) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), bytes.Compare(a.Region.Start, b.Region.Start), cmp.Compare(a.Region.Name, b.Region.Name))
	})
	if t.scanned != nil {
		told := *t.scanned
		scanned = &told
	}
	return out, scanned
}
