package scan

import (
	"context"
	"fmt"
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
