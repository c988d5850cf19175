package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// lookupCache keeps numbers that LOOKUP gave to names, for statements to come. Numbers do not change; a name that
// has none may get one at any time, and is not kept.
type lookupCache struct {
	mu      sync.Mutex
	byName  map[string]types.Value
	cleared int // how often: a number that was read before is not kept after
}

// maxLookups bounds the numbers that an engine keeps, and a statement beyond those of the rows it is at.
const maxLookups = 100_000

func lookupName(k planner.LookupKey) string {
	b := append([]byte(k.Table), 0)
	b = append(append(b, k.Column...), 0)
	for _, a := range k.Args {
		b = a.AppendKey(b)
	}
	return string(b)
}

func (c *lookupCache) get(name string) (types.Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.byName[name]
	return v, ok
}

// age says what put must be told of a number that is read from now on.
func (c *lookupCache) age() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cleared
}

func (c *lookupCache) put(name string, v types.Value, age int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age != c.cleared {
		return
	}
	if c.byName == nil || len(c.byName) >= maxLookups {
		c.byName = map[string]types.Value{}
	}
	c.byName[name] = v
}

// clear forgets all: a look-up table was changed.
func (c *lookupCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName = nil
	c.cleared++
}

// lookupView are the numbers that a statement goes by, NULL for a name that has none. What it was told once
// stays as it is, whatever other statements write: planning asks for numbers until it knows all that it needs, and
// a row is written with those under which it was looked for.
type lookupView struct {
	mu          sync.Mutex
	now, before map[string]types.Value
}

func (w *lookupView) get(name string) (types.Value, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.now[name]
	if !ok {
		if v, ok = w.before[name]; ok {
			w.now[name] = v
		}
	}
	return v, ok
}

func (w *lookupView) put(name string, v types.Value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		w.now = map[string]types.Value{}
	}
	w.now[name] = v
}

// trim lets go of numbers of rows that are done with; it is called before others are begun.
func (w *lookupView) trim() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.now) > maxLookups {
		w.before, w.now = w.now, map[string]types.Value{}
	}
}

// lookedUp gives the number of a name, NULL when it has none; ok is false when it must be asked for.
func (r *run) lookedUp(k planner.LookupKey) (types.Value, bool) {
	name := lookupName(k)
	if v, ok := r.numbers.get(name); ok {
		return v, true
	}
	v, ok := r.engine.lookups.get(name)
	if ok {
		r.numbers.put(name, v)
	}
	return v, ok
}

// knownNumber is expr.Env.Lookup for the names that have numbers.
func (r *run) knownNumber(table, column string, args []types.Value) (types.Value, bool) {
	v, ok := r.lookedUp(planner.LookupKey{Table: table, Column: column, Args: args})
	return v, ok && !v.IsNull()
}

// withNumbers calls eval until it asks for no number that is not known, and gives its error. Those are left to get,
// which makes them known: resolve for reading, number where each name is to have one.
func (r *run) withNumbers(ctx context.Context, eval func(env *expr.Env) error, get func(context.Context, planner.LookupKey) error, each bool) error {
	env := r.keyEnv()
	for {
		var wanted []planner.LookupKey
		env.Lookup = func(table, column string, args []types.Value) (types.Value, bool) {
			k := planner.LookupKey{Table: table, Column: column, Args: args}
			v, ok := r.lookedUp(k)
			if !ok || each && v.IsNull() {
				wanted = append(wanted, k)
				return types.Value{}, false
			}
			return v, true
		}
		err := eval(&env)
		if len(wanted) == 0 {
			return err
		}
		for _, k := range wanted {
			if err := get(ctx, k); err != nil {
				return err
			}
		}
	}
}

// lookupPlace finds where the number of k stands: the row of the look-up table whose key columns are k's arguments.
// Numbers that stand in that key themselves are had from get: see withNumbers.
func (r *run) lookupPlace(ctx context.Context, k planner.LookupKey, get func(context.Context, planner.LookupKey) error, each bool) (t *catalog.Table, col *catalog.Column, at place, err error) {
	t, ok := r.engine.catalog.Table(k.Table)
	if !ok {
		return nil, nil, at, parser.Errorf(parser.NoPos, "LOOKUP: there is no table %q", k.Table)
	}
	col, ok = t.Column(k.Column)
	if !ok {
		return nil, nil, at, parser.Errorf(parser.NoPos, "LOOKUP: table %s has no column %q", k.Table, k.Column)
	}
	cols := t.Layouts[0].KeyColumns()
	if len(cols) != len(k.Args) {
		return nil, nil, at, parser.Errorf(parser.NoPos, "LOOKUP: the key of %s has %d columns, %d are given", k.Table, len(cols), len(k.Args))
	}
	row := make([]types.Value, len(t.Columns)+2)
	for i, c := range cols {
		if row[c], err = types.Cast(k.Args[i], t.Columns[c].Type, nil); err != nil {
			return nil, nil, at, fmt.Errorf("LOOKUP in %s: column %s: %w", k.Table, t.Columns[c].Name, err)
		}
	}
	err = r.withNumbers(ctx, func(env *expr.Env) (err error) {
		at.table, at.key, at.qualifier, err = t.Layouts[0].EncodeRow(row, env)
		return err
	}, get, each)
	return t, col, at, err
}

// resolve makes the number of k known, or that it has none.
func (r *run) resolve(ctx context.Context, k planner.LookupKey) error {
	if _, ok := r.lookedUp(k); ok {
		return nil
	}
	_, err := r.ask(ctx, k)
	return err
}

// ask reads the number of k, NULL for none, which is known from then on.
func (r *run) ask(ctx context.Context, k planner.LookupKey) (v types.Value, err error) {
	age := r.engine.lookups.age()
	if k.Table == uidTable {
		v, err = r.readUID(ctx, k)
	} else {
		v, err = r.readNumber(ctx, k)
	}
	if err != nil {
		return types.Value{}, err
	}
	name := lookupName(k)
	r.numbers.put(name, v)
	if !v.IsNull() {
		r.engine.lookups.put(name, v, age)
	}
	return v, nil
}

func (r *run) readNumber(ctx context.Context, k planner.LookupKey) (types.Value, error) {
	_, col, at, err := r.lookupPlace(ctx, k, r.resolve, false)
	var refused *catalog.KeyError
	if errors.As(err, &refused) { // a name that cannot be stored has no number
		return types.Value{}, nil
	}
	if err != nil {
		return types.Value{}, err
	}
	rows, err := r.client.Get(ctx, at.table, [][]byte{at.key}, &hbase.ReadOptions{Families: []string{col.Family}})
	if err != nil {
		return types.Value{}, fmt.Errorf("LOOKUP in %s: %w", k.Table, err)
	}
	for _, c := range rows[0].Cells {
		if string(c.Family) == col.Family && string(c.Qualifier) == col.Qualifier {
			v, err := col.DecodeCell(c.Value)
			if err != nil {
				return types.Value{}, fmt.Errorf("LOOKUP in %s: column %s at key %s: %w", k.Table, k.Column, hexBytes(at.key), err)
			}
			return v, nil
		}
	}
	return types.Value{}, nil
}

// allocate gives numbers to the names in rows that have none yet.
func (r *run) allocate(ctx context.Context, w *writer, rows []pendingRow) error {
	parts := w.table.LookupParts()
	if len(parts) == 0 {
		return nil
	}
	for _, row := range rows { // a row that is refused for another reason draws no number
		for _, l := range w.table.Layouts {
			if _, err := w.fits(l, row.row); err != nil {
				return w.refuse(err, row.pos)
			}
		}
	}
	r.numbers.trim()
	for _, row := range rows {
		for _, x := range parts {
			err := r.withNumbers(ctx, func(env *expr.Env) error {
				env.Row = row.row
				_, err := x.Expr.Eval(env)
				return err
			}, r.number, true)
			if err != nil {
				return w.refuse(err, row.pos)
			}
		}
	}
	return nil
}

// know makes the numbers of the names in rows, which were read, known.
func (r *run) know(ctx context.Context, t *catalog.Table, rows [][]types.Value) error {
	parts := t.LookupParts()
	if len(parts) == 0 {
		return nil
	}
	r.numbers.trim()
	for _, x := range parts {
		for _, row := range rows {
			err := r.withNumbers(ctx, func(env *expr.Env) error {
				env.Row = row
				x.Expr.Eval(env) // where the row would stand is not the question
				return nil
			}, r.resolve, false)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// number makes the number of k known, which is a new one if it has none yet. Numbers come from a counter
// that servers increment, and the name's cell is written only if it has none: two
// writers cannot give one name two numbers.
func (r *run) number(ctx context.Context, k planner.LookupKey) error {
	if _, ok := r.knownNumber(k.Table, k.Column, k.Args); ok {
		return nil
	}
	if v, err := r.ask(ctx, k); err != nil || !v.IsNull() {
		return err
	}
	if err := r.draw(ctx, k); err != nil {
		return err
	}
	v, err := r.ask(ctx, k) // ours, or the one that another writer gave meanwhile
	if err == nil && v.IsNull() {
		err = fmt.Errorf("LOOKUP in %s: the number that %s was given is gone: it was deleted, or one was with a later timestamp", k.Table, k.Args[len(k.Args)-1].SQL())
	}
	return err
}

// draw gives k a new number, unless another writer does.
func (r *run) draw(ctx context.Context, k planner.LookupKey) error {
	if k.Table == uidTable {
		return r.allocateUID(ctx, k)
	}
	t, col, at, err := r.lookupPlace(ctx, k, r.number, true)
	if err != nil {
		return err
	}
	n, err := r.nextNumber(ctx, t, col)
	if err != nil {
		return err
	}
	value, err := col.AppendCell(nil, types.NewIntOf(col.Type, n))
	if err != nil {
		return fmt.Errorf("LOOKUP in %s: the next number, %d: %w", k.Table, n, err)
	}
	_, err = r.client.PutIfAbsent(ctx, at.table, hbase.Mutation{Kind: hbase.Put, Key: at.key, Timestamp: r.engine.clock.next(),
		Cells: []hbase.Cell{{Family: []byte(col.Family), Qualifier: []byte(col.Qualifier), Value: value}}})
	if err != nil {
		return fmt.Errorf("LOOKUP in %s: %w", k.Table, err)
	}
	return nil
}
