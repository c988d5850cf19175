package scan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
)

// ListTables returns the spans of s in each HBase table whose name fits the layout.
func (st *Reads) ListTables(ctx context.Context, s *plan.Scan) ([]plan.Span, error) {
	names, err := st.Tables(ctx, s.Layout, s.TablePrefix)
	if err != nil {
		return nil, err
	}
	var out []plan.Span
	for _, n := range names {
		if !s.MayRead(n) {
			continue
		}
		for _, sp := range s.Spans {
			sp.Table = n
			out = append(out, sp)
		}
	}
	return out, nil
}

// existing returns the spans of s without the spans of HBase tables that do not exist. If the spans name few HBase
// tables, it returns all spans, because listing the tables would cost more.
func (st *Reads) existing(ctx context.Context, s *plan.Scan, spans []plan.Span) ([]plan.Span, error) {
	const most = 8
	if len(spans) <= most || spans[most].Table == spans[0].Table {
		return spans, nil
	}
	prefix := spans[0].Table
	for _, sp := range spans {
		for !strings.HasPrefix(sp.Table, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	there, err := st.Tables(ctx, s.Layout, prefix)
	return slices.DeleteFunc(slices.Clone(spans), func(sp plan.Span) bool {
		_, found := slices.BinarySearch(there, sp.Table)
		return !found
	}), err
}

// Tables returns the HBase tables of l whose names begin with prefix, sorted.
func (st *Reads) Tables(ctx context.Context, l *catalog.Layout, prefix string) ([]string, error) {
	names, err := st.Client.Tables(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("list tables %s*: %w", prefix, err)
	}
	out := names[:0]
	for _, n := range names {
		if strings.HasPrefix(n, prefix) && l.Stored.Fits(n) {
			out = append(out, n)
		}
	}
	return out, nil
}
