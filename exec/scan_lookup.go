package exec

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// nameColumn is a key column of which the key holds only the number that a LOOKUP
// gave it: reading turns the number back into the name.
type nameColumn struct {
	col           int
	offset, width int // of the number in the key
	part          *catalog.Part
	call          *expr.Call
}

// nameColumns finds the columns of l that stand in the key as numbers. Their
// parts come after parts of fixed width, or they cannot be found in a key.
func nameColumns(t *catalog.Table, l *catalog.Layout) ([]nameColumn, error) {
	var out []nameColumn
	offset := 0
	for _, p := range l.Key.Parts {
		if p.Literal != nil {
			if offset >= 0 {
				offset += len(p.Literal)
			}
			continue
		}
		w := p.Encoding.Width()
		if call, ok := p.Expr.(*expr.Call); ok && call.Func.Key != nil && call.Func.Key.Lookup {
			for _, c := range p.Columns {
				if !t.Columns[c].KeyPart || directPart(l, c) {
					continue
				}
				if offset < 0 || w == catalog.Variable {
					return nil, fmt.Errorf("column %s of %s cannot be read back: the part %s stands behind one of varying width", t.Columns[c].Name, t.Name, p.Source)
				}
				out = append(out, nameColumn{c, offset, w, p, call})
			}
		}
		if w == catalog.Variable {
			offset = -1
		} else if offset >= 0 {
			offset += w
		}
	}
	return out, nil
}

func directPart(l *catalog.Layout, col int) bool {
	for _, p := range append(append([]*catalog.Part(nil), l.Stored.Parts...), l.Key.Parts...) {
		if c, ok := p.Expr.(*expr.Column); ok && c.Index == col {
			return true
		}
	}
	return false
}

// dictionaries are the names by number that a statement has read, by LOOKUP call.
type dictionaries struct {
	mu   sync.Mutex
	read map[string]map[string]types.Value
	load func(ctx context.Context, call *expr.Call) (map[string]types.Value, error)
	uid  func(ctx context.Context, kind string, id types.Value) (types.Value, error) // of OPENTSDB_UID; NULL: none
}

// name gives the name of a number. An unknown number is looked for once more:
// another writer may have drawn it since.
func (d *dictionaries) name(ctx context.Context, call *expr.Call, number types.Value) (types.Value, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, n := call.String(), number.AppendKey(nil)
	if kind, ok := uidKind(call); ok { // millions of ids: each is asked for by itself
		v, ok := d.read[id][string(n)]
		if !ok {
			var err error
			if v, err = d.uid(ctx, kind, number); err != nil {
				return types.Value{}, false, err
			}
			if d.read[id] == nil {
				if d.read == nil {
					d.read = map[string]map[string]types.Value{}
				}
				d.read[id] = map[string]types.Value{}
			}
			d.read[id][string(n)] = v
		}
		return v, !v.IsNull(), nil
	}
	for range 2 {
		names, ok := d.read[id]
		if !ok {
			var err error
			if names, err = d.load(ctx, call); err != nil {
				return types.Value{}, false, err
			}
			if d.read == nil {
				d.read = map[string]map[string]types.Value{}
			}
			d.read[id] = names
		}
		if v, ok := names[string(n)]; ok {
			return v, !v.IsNull(), nil
		}
		delete(d.read, id)
	}
	return types.Value{}, false, nil
}

// loadNames reads the names and numbers of one LOOKUP call: the rows of its table
// whose other key columns have the call's constants.
func (r *run) loadNames(ctx context.Context, call *expr.Call) (map[string]types.Value, error) {
	target, ok := call.Args[0].(*expr.Const)
	if !ok || call.Func.Name != "LOOKUP" {
		return nil, fmt.Errorf("the names of %s cannot be listed", call)
	}
	table, column, _ := strings.Cut(target.Val.Text(), ".")
	t, err := r.tableNamed(table, parser.NoPos)
	if err != nil {
		return nil, err
	}
	cols := keyColumnsInOrder(t.Layouts[0])
	if len(cols) != len(call.Args)-1 {
		return nil, fmt.Errorf("the key of %s has %d columns, %s names %d", table, len(cols), call, len(call.Args)-1)
	}
	q := &parser.SelectCore{From: []parser.TableExpr{&parser.TableName{Name: table}}}
	env := *r.env
	env.Args = nil
	for i, a := range call.Args[1:] {
		ref := &parser.ColumnRef{Name: t.Columns[cols[i]].Name, Quoted: true}
		k, constant := a.(*expr.Const)
		if !constant {
			q.Items = append(q.Items, parser.SelectItem{Expr: ref})
			continue
		}
		env.Args = append(env.Args, k.Val)
		var cond parser.Expr = &parser.Binary{Op: "=", X: ref, Y: &parser.Param{Index: len(env.Args)}}
		if q.Where != nil {
			cond = &parser.Binary{Op: "AND", X: q.Where, Y: cond}
		}
		q.Where = cond
	}
	if len(q.Items) != 1 {
		return nil, fmt.Errorf("%s: its number stands for %d columns", call, len(q.Items))
	}
	q.Items = append(q.Items, parser.SelectItem{Expr: &parser.ColumnRef{Name: column, Quoted: true}})
	p, err := env.Select(&parser.Select{Cores: []*parser.SelectCore{q}, AllowFullScan: true})
	if err != nil {
		return nil, err
	}
	names := map[string]types.Value{}
	st := *r.statement
	st.allowFull = true
	st.slots = make(chan struct{}, cap(r.slots)) // the caller may hold a slot
	op, err := newOperator(ctx, p.Root, st.scan, r.opt)
	if err != nil {
		return nil, err
	}
	return names, drainTo(ctx, op, func(row []types.Value) {
		if !row[1].IsNull() {
			names[string(row[1].AppendKey(nil))] = row[0]
		}
	})
}

// setNames fills in the columns that the key holds as numbers. A number without a
// name makes the key malformed.
func (d *decoder) setNames(row []types.Value, key []byte) error {
	for i := range d.names {
		n := &d.names[i]
		number, err := n.part.Encoding.Decode(key[n.offset : n.offset+n.width])
		if err != nil {
			return &catalog.MalformedError{Part: n.part.Source, Msg: err.Error()}
		}
		v, ok, err := d.st.names.name(d.ctx, n.call, number)
		if err != nil {
			return err
		}
		if !ok {
			return &catalog.MalformedError{Part: n.part.Source, Msg: "the number " + number.SQL() + " has no name"}
		}
		row[n.col] = v
	}
	return nil
}

// drainTo calls f with every row of op and closes it.
func drainTo(ctx context.Context, op operator, f func(row []types.Value)) error {
	defer op.Close()
	for {
		rows, err := op.Next(ctx)
		if err == io.EOF {
			return op.Close()
		}
		if err != nil {
			return err
		}
		for _, row := range rows {
			f(row)
		}
	}
}
