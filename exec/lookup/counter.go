package lookup

import (
	"context"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Counters are numbers in the store that all clients increment.
type Counters interface {
	// Count returns a counter's number; ok is false if the counter does not exist.
	Count(ctx context.Context, name string) (n int64, ok bool, err error)
	// Begin creates a counter with the number n, unless it exists.
	Begin(ctx context.Context, name string, n int64) error
	// Add adds n to a counter and returns the sum.
	Add(ctx context.Context, name string, n int64) (int64, error)
}

// next draws a number for t.col that no other name has.
func (d tables) next(ctx context.Context, t *catalog.Table, col *catalog.Column) (int64, error) {
	if _, err := d.count(ctx, t, col); err != nil {
		return 0, err
	}
	return d.Add(ctx, Counter(t, col), 1)
}

// Reserve prevents the numbers up to most from being drawn for t.col, because a statement is about to assign such a
// number explicitly.
func (n *Numbers) Reserve(ctx context.Context, t *catalog.Table, col *catalog.Column, most int64) error {
	last, err := n.tables.count(ctx, t, col)
	if err == nil && last < most {
		_, err = n.env.Add(ctx, Counter(t, col), most-last)
	}
	return err
}

// Counter returns the name of the counter from which numbers for t.col are drawn.
func Counter(t *catalog.Table, col *catalog.Column) string { return t.Name + "." + col.Name }

// count returns the number drawn last for t.col. If the counter is missing, count creates it with the largest number in
// the table. If two writers create it, only one succeeds, so that neither draws a number below the counter.
func (d tables) count(ctx context.Context, t *catalog.Table, col *catalog.Column) (int64, error) {
	for {
		n, ok, err := d.Count(ctx, Counter(t, col))
		if ok || err != nil {
			return n, err
		}
		most, err := d.largest(ctx, t, col)
		if err != nil {
			return 0, err
		}
		if err := d.Begin(ctx, Counter(t, col), most); err != nil {
			return 0, err
		}
	}
}

// largest returns the largest number in t.col, or 0 if there is no positive one.
func (d tables) largest(ctx context.Context, t *catalog.Table, col *catalog.Column) (most int64, err error) {
	q := &parser.SelectCore{
		Items: []parser.SelectItem{{Expr: &parser.Call{Name: "MAX", Args: []parser.Expr{&parser.ColumnRef{Name: col.Name, Quoted: true}}}}},
		From:  []parser.TableExpr{&parser.TableName{Name: t.Name}}}
	err = d.Query(ctx, q, nil, func(rows [][]types.Value) error {
		if len(rows) > 0 && !rows[0][0].IsNull() {
			most = max(most, rows[0][0].Int())
		}
		return nil
	})
	return most, err
}
