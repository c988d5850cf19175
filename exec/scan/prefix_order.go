package scan

import (
	"context"
	"io"
	"strings"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// prefixOrderScan sorts rows by a key column that a delimiter ends, if the rows are read in the reverse order of their
// keys. The orders of keys and values differ if a value has bytes that sort before the delimiter:
//
//	keys, reversed   a|    a\x10|    Z|
//	values, wanted   a\x10 a         Z
//
// It holds a row back until it has read the rows whose values begin with the row's value. They follow the row directly,
// so each held value begins with the previous held value.
type prefixOrderScan struct {
	in    operator.Operator
	col   int
	limit plan.RowLimit // of all rows: more rows with one value need not be held
	held  []heldRows
	out   [][]types.Value
	err   error
}

// heldRows are the rows with one value, in the order of arrival.
type heldRows struct {
	value string
	rows  [][]types.Value
}

// Next returns the rows that no later row can precede.
func (h *prefixOrderScan) Next(ctx context.Context) ([][]types.Value, error) {
	if h.err != nil {
		return nil, h.err
	}
	h.out = nil
	for len(h.out) == 0 {
		rows, err := h.in.Next(ctx)
		if err == io.EOF {
			h.release("", true)
			h.err = err
			if len(h.out) > 0 {
				return h.out, nil
			}
		}
		if err != nil {
			h.err = err
			return nil, err
		}
		for _, row := range rows {
			h.take(row)
		}
	}
	return h.out, nil
}

func (h *prefixOrderScan) take(row []types.Value) {
	v := row[h.col].Text()
	h.release(v, false)
	if n := len(h.held); n == 0 || h.held[n-1].value != v {
		h.held = append(h.held, heldRows{value: v})
	}
	g := &h.held[len(h.held)-1]
	if !h.limit.Set || int64(len(g.rows)) < h.limit.Rows {
		g.rows = append(g.rows, append([]types.Value(nil), row...))
	}
}

// release adds to h.out the held rows whose value is not a prefix of v. With end, it adds all held rows.
func (h *prefixOrderScan) release(v string, end bool) {
	n := len(h.held)
	for n > 0 && (end || !strings.HasPrefix(v, h.held[n-1].value)) {
		n--
		h.out = append(h.out, h.held[n].rows...)
	}
	h.held = h.held[:n]
}

func (h *prefixOrderScan) Close() error { return h.in.Close() }
