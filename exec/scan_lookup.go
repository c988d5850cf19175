package exec

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// dictionaries are the names by number that a statement has read, by LOOKUP call.
type dictionaries struct {
	mu   sync.Mutex
	read map[string]*dictionary
	load func(ctx context.Context, call *expr.Call) (map[string]types.Value, error)
	uid  func(ctx context.Context, kind string, id types.Value) (types.Value, error) // of OPENTSDB_UID; NULL: none
}

// dictionary holds the names of one call. A look-up table may have names in its key that are numbers themselves: then
// reading it reads another dictionary, never this one again.
type dictionary struct {
	slot  chan struct{} // holds one that reads or fills what follows
	names map[string]types.Value
	none  map[string]bool // numbers that were looked for after they were seen
	began time.Time       // reading the names
}

func (d *dictionaries) of(call *expr.Call) *dictionary {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := call.String()
	if d.read == nil {
		d.read = map[string]*dictionary{}
	}
	if d.read[id] == nil {
		d.read[id] = &dictionary{slot: make(chan struct{}, 1), none: map[string]bool{}}
	}
	return d.read[id]
}

// name gives the name of a number that stands in a row read at seen. Another writer may have drawn the number after
// the names were read, but the name was stored before the row: names that were read since then tell all.
func (d *dictionaries) name(ctx context.Context, call *expr.Call, number types.Value, seen time.Time) (types.Value, bool, error) {
	dict, n := d.of(call), string(number.AppendKey(nil))
	select {
	case dict.slot <- struct{}{}:
		defer func() { <-dict.slot }()
	case <-ctx.Done():
		return types.Value{}, false, ctx.Err()
	}
	if v, ok := dict.names[n]; ok || dict.none[n] {
		return v, ok, nil
	}
	if kind, ok := uidKind(call); ok { // millions of ids: each is asked for by itself
		v, err := d.uid(ctx, kind, number)
		if err != nil {
			return types.Value{}, false, err
		}
		if v.IsNull() {
			dict.none[n] = true
			return v, false, nil
		}
		if dict.names == nil {
			dict.names = map[string]types.Value{}
		}
		dict.names[n] = v
		return v, true, nil
	}
	if dict.names == nil || !dict.began.After(seen) {
		began := time.Now()
		names, err := d.load(ctx, call)
		if err != nil {
			return types.Value{}, false, err
		}
		dict.names, dict.began = names, began
	}
	v, ok := dict.names[n]
	if !ok {
		dict.none[n] = true
	}
	return v, ok, nil
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
	cols := t.Layouts[0].KeyColumns()
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
	p, err := r.resolved(ctx, func() (*planner.Plan, error) {
		return env.Select(&parser.Select{Cores: []*parser.SelectCore{q}, AllowFullScan: true})
	})
	if err != nil {
		return nil, err
	}
	names := map[string]types.Value{}
	st := *r.statement
	st.allowFull = true
	st.slots = make(chan struct{}, cap(r.slots)) // the caller may hold a slot
	op, err := operator.New(ctx, p.Root, st.scan, r.opt)
	if err != nil {
		return nil, err
	}
	return names, operator.Drain(ctx, op, func(rows [][]types.Value) error {
		for _, row := range rows {
			if !row[1].IsNull() {
				names[string(row[1].AppendKey(nil))] = row[0]
			}
		}
		return nil
	})
}
