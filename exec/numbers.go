package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// numbered are the columns of t from which LOOKUP in another table's key takes numbers.
func (r *run) numbered(t *catalog.Table) []*catalog.Column {
	var out []*catalog.Column
	for _, o := range r.engine.catalog.Tables() {
		for _, u := range o.Lookups() {
			if !strings.EqualFold(u.Table, t.Name) {
				continue
			}
			if col, ok := t.Column(u.Column); ok && !slices.Contains(out, col) {
				out = append(out, col)
			}
		}
	}
	return out
}

// nextNumber draws a number for t.col that no name has.
func (r *run) nextNumber(ctx context.Context, t *catalog.Table, col *catalog.Column) (int64, error) {
	if _, err := r.counter(ctx, t, col); err != nil {
		return 0, err
	}
	return r.client.Increment(ctx, catalogTable, counterKey(t, col), catalogFamily, counterQualifier, 1)
}

// reserve keeps numbers up to n from being drawn for t.col: a name is about to get one of them by hand.
func (r *run) reserve(ctx context.Context, t *catalog.Table, col *catalog.Column, n int64) error {
	last, err := r.counter(ctx, t, col)
	if err == nil && last < n {
		_, err = r.client.Increment(ctx, catalogTable, counterKey(t, col), catalogFamily, counterQualifier, n-last)
	}
	return err
}

func counterKey(t *catalog.Table, col *catalog.Column) []byte {
	return []byte(counterPrefix + t.Name + "." + col.Name)
}

// counter gives the number drawn last for t.col. A counter that is not there yet is made, at the largest number
// that the table holds; of two writers who make it only one does, so that none draws a number below it.
func (r *run) counter(ctx context.Context, t *catalog.Table, col *catalog.Column) (int64, error) {
	if err := r.ensureCatalogTable(ctx); err != nil {
		return 0, err
	}
	key := counterKey(t, col)
	for {
		rows, err := r.client.Get(ctx, catalogTable, [][]byte{key}, &hbase.ReadOptions{Families: []string{catalogFamily}})
		if err != nil {
			return 0, err
		}
		for _, c := range rows[0].Cells {
			if string(c.Qualifier) == counterQualifier {
				if len(c.Value) != 8 {
					return 0, fmt.Errorf("the counter of %s.%s has %d bytes, not 8", t.Name, col.Name, len(c.Value))
				}
				return int64(binary.BigEndian.Uint64(c.Value)), nil
			}
		}
		most, err := r.largest(ctx, t, col)
		if err != nil {
			return 0, err
		}
		_, err = r.client.PutIfAbsent(ctx, catalogTable, hbase.Mutation{Kind: hbase.Put, Key: key, Timestamp: r.engine.clock.next(),
			Cells: []hbase.Cell{{Family: []byte(catalogFamily), Qualifier: []byte(counterQualifier), Value: binary.BigEndian.AppendUint64(nil, uint64(most))}}})
		if err != nil {
			return 0, err
		}
	}
}

// largest gives the largest number in t.col, at least 0.
func (r *run) largest(ctx context.Context, t *catalog.Table, col *catalog.Column) (most int64, err error) {
	p, err := r.env.Select(&parser.Select{Cores: []*parser.SelectCore{{
		Items: []parser.SelectItem{{Expr: &parser.Call{Name: "MAX", Args: []parser.Expr{&parser.ColumnRef{Name: col.Name, Quoted: true}}}}},
		From:  []parser.TableExpr{&parser.TableName{Name: t.Name}}}}, AllowFullScan: true})
	if err != nil {
		return 0, err
	}
	err = r.eachRow(ctx, p, allFirst, func(rows [][]types.Value) error {
		if len(rows) > 0 && !rows[0][0].IsNull() {
			most = max(most, rows[0][0].Int())
		}
		return nil
	})
	return most, err
}
