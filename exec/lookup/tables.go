package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// tables is the Dictionary of the tables that LOOKUP names: each row is a name, with the name in its key columns and the
// number in a cell. Numbers come from a counter that servers increment. The cell is written only if it is missing, so that
// two writers cannot assign two numbers to one name.
type tables struct {
	*Env
	numbers *Numbers // for keys that contain numbers of other names
}

// Some returns 0.
func (tables) Some() types.Value { return types.NewInt(0) }

// ID reads the cell of a name.
func (d tables) ID(ctx context.Context, k plan.LookupKey) (types.Value, error) {
	at, err := d.place(ctx, k, d.numbers.Resolve, false)
	if _, ok := errors.AsType[*catalog.KeyError](err); ok { // a name that cannot be stored has no number
		return types.Value{}, nil
	}
	if err != nil {
		return types.Value{}, err
	}
	rows, err := d.Client.Get(ctx, at.stored, [][]byte{at.key}, &hbase.ReadOptions{Families: []string{at.col.Family}})
	if err != nil {
		return types.Value{}, fmt.Errorf("LOOKUP in %s: %w", k.Table, err)
	}
	for _, c := range rows[0].Cells {
		if string(c.Family) == at.col.Family && string(c.Qualifier) == at.col.Qualifier {
			v, err := at.col.DecodeCell(c.Value)
			if err != nil {
				return types.Value{}, fmt.Errorf("LOOKUP in %s: column %s at key x'%x': %w", k.Table, k.Column, at.key, err)
			}
			return v, nil
		}
	}
	return types.Value{}, nil
}

// cell is the position of a name's number.
type cell struct {
	table  *catalog.Table
	col    *catalog.Column
	stored string // the name of the HBase table
	key    []byte
}

// place returns the cell that holds the number of k, in the row whose key columns are the arguments of k. get and each
// apply to the numbers that the key of this row contains: see Numbers.with.
func (d tables) place(ctx context.Context, k plan.LookupKey, get func(context.Context, plan.LookupKey) error, each bool) (at cell, err error) {
	t, ok := d.Catalog.Table(k.Table)
	if !ok {
		return at, parser.Errorf(parser.NoPos, "LOOKUP: there is no table %q", k.Table)
	}
	at.table = t
	if at.col, ok = t.Column(k.Column); !ok {
		return at, parser.Errorf(parser.NoPos, "LOOKUP: table %s has no column %q", k.Table, k.Column)
	}
	cols := t.Layouts[0].KeyColumns()
	if len(cols) != len(k.Args) {
		return at, parser.Errorf(parser.NoPos, "LOOKUP: the key of %s has %d columns, %d are given", k.Table, len(cols), len(k.Args))
	}
	row := make([]types.Value, len(t.Columns)+2)
	for i, c := range cols {
		if row[c], err = types.Cast(k.Args[i], t.Columns[c].Type, nil); err != nil {
			return at, fmt.Errorf("LOOKUP in %s: column %s: %w", k.Table, t.Columns[c].Name, err)
		}
	}
	err = d.numbers.with(ctx, func(env *expr.Env) (err error) {
		at.stored, at.key, _, err = t.Layouts[0].EncodeRow(row, env)
		return err
	}, get, each)
	return at, err
}

// Allocate draws a number for the name of k and writes it if the name has none.
func (d tables) Allocate(ctx context.Context, k plan.LookupKey) error {
	at, err := d.place(ctx, k, d.numbers.number, true)
	if err != nil {
		return err
	}
	n, err := d.next(ctx, at.table, at.col)
	if err != nil {
		return err
	}
	value, err := at.col.AppendCell(nil, types.NewIntOf(at.col.Type, n))
	if err != nil {
		return fmt.Errorf("LOOKUP in %s: the next number, %d: %w", k.Table, n, err)
	}
	_, err = d.Client.PutIf(ctx, at.stored, nil, hbase.Mutation{Kind: hbase.Put, Key: at.key, Timestamp: d.Clock.Next(),
		Cells: []hbase.Cell{{Family: []byte(at.col.Family), Qualifier: []byte(at.col.Qualifier), Value: value}}})
	if err != nil {
		return fmt.Errorf("LOOKUP in %s: %w", k.Table, err)
	}
	return nil
}

// Names reads the rows of the look-up table in which key columns have the constants of call. The key column without a
// constant holds the names.
func (d tables) Names(ctx context.Context, call *expr.Call, _ types.Value) (names map[string]types.Value, all bool, err error) {
	target, ok := call.Args[0].(*expr.Const)
	if !ok || call.Func.Key.Lookup != expr.TableDictionary {
		return nil, false, fmt.Errorf("the names of %s cannot be listed", call)
	}
	table, column, _ := strings.Cut(target.Val.Text(), ".")
	t, err := d.Catalog.TableAt(table, parser.NoPos)
	if err != nil {
		return nil, false, err
	}
	cols := t.Layouts[0].KeyColumns()
	if len(cols) != len(call.Args)-1 {
		return nil, false, fmt.Errorf("the key of %s has %d columns, %s names %d", table, len(cols), call, len(call.Args)-1)
	}
	q := &parser.SelectCore{From: []parser.TableExpr{&parser.TableName{Name: table}}}
	var args []types.Value
	for i, a := range call.Args[1:] {
		ref := &parser.ColumnRef{Name: t.Columns[cols[i]].Name, Quoted: true}
		k, constant := a.(*expr.Const)
		if !constant {
			q.Items = append(q.Items, parser.SelectItem{Expr: ref})
			continue
		}
		args = append(args, k.Val)
		var cond parser.Expr = &parser.Binary{Op: "=", X: ref, Y: &parser.Param{Index: len(args)}}
		if q.Where != nil {
			cond = &parser.Binary{Op: "AND", X: q.Where, Y: cond}
		}
		q.Where = cond
	}
	if len(q.Items) != 1 {
		return nil, false, fmt.Errorf("%s: exactly one argument must be a column, the others constants; %d are columns", call, len(q.Items))
	}
	q.Items = append(q.Items, parser.SelectItem{Expr: &parser.ColumnRef{Name: column, Quoted: true}})
	names = map[string]types.Value{}
	return names, true, d.Query(ctx, q, args, func(rows [][]types.Value) error {
		for _, row := range rows {
			if !row[1].IsNull() {
				names[string(row[1].AppendKey(nil))] = row[0]
			}
		}
		return nil
	})
}
