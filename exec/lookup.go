package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// lookupCache keeps the numbers that LOOKUP gives to names. A name that has none
// is remembered for a moment only: another writer may be adding it.
type lookupCache struct {
	mu     sync.Mutex
	byName map[string]lookupEntry
}

type lookupEntry struct {
	v       types.Value
	expires time.Time // zero: never; numbers do not change
}

const (
	maxLookups   = 100_000
	lookupAbsent = time.Second
)

func lookupName(k planner.LookupKey) string {
	b := append([]byte(k.Table), 0)
	b = append(append(b, k.Column...), 0)
	for _, a := range k.Args {
		b = a.AppendKey(b)
	}
	return string(b)
}

// get gives a number, NULL for a name that has none; ok is false when it must be asked for.
func (c *lookupCache) get(k planner.LookupKey) (types.Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byName[lookupName(k)]
	if !ok || !e.expires.IsZero() && time.Now().After(e.expires) {
		return types.Value{}, false
	}
	return e.v, true
}

// known is get for numbers that exist.
func (c *lookupCache) known(table, column string, args []types.Value) (types.Value, bool) {
	v, ok := c.get(planner.LookupKey{Table: table, Column: column, Args: args})
	return v, ok && !v.IsNull()
}

func (c *lookupCache) put(k planner.LookupKey, v types.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil || len(c.byName) >= maxLookups {
		c.byName = map[string]lookupEntry{}
	}
	e := lookupEntry{v: v}
	if v.IsNull() {
		e.expires = time.Now().Add(lookupAbsent)
	}
	c.byName[lookupName(k)] = e
}

// lookupPlace finds where the number of k stands: the row of the look-up table whose key columns are k's arguments.
func (r *run) lookupPlace(k planner.LookupKey) (*catalog.Table, *catalog.Column, place, []types.Value, error) {
	t, err := r.tableNamed(k.Table, parser.NoPos)
	if err != nil {
		return nil, nil, place{}, nil, err
	}
	col, ok := t.Column(k.Column)
	if !ok {
		return nil, nil, place{}, nil, parser.Errorf(parser.NoPos, "LOOKUP: table %s has no column %q", k.Table, k.Column)
	}
	cols := keyColumnsInOrder(t.Layouts[0])
	if len(cols) != len(k.Args) {
		return nil, nil, place{}, nil, parser.Errorf(parser.NoPos, "LOOKUP: the key of %s has %d columns, %d are given", k.Table, len(cols), len(k.Args))
	}
	row := make([]types.Value, len(t.Columns)+2)
	for i, c := range cols {
		if row[c], err = types.Cast(k.Args[i], t.Columns[c].Type, nil); err != nil {
			return nil, nil, place{}, nil, fmt.Errorf("LOOKUP in %s: column %s: %w", k.Table, t.Columns[c].Name, err)
		}
	}
	env := r.keyEnv()
	var at place
	at.table, at.key, at.qualifier, err = t.Layouts[0].EncodeRow(row, &env)
	return t, col, at, row, err
}

// keyColumnsInOrder are the columns of l's key in the order of its parts.
func keyColumnsInOrder(l *catalog.Layout) []int {
	var out []int
	seen := map[int]bool{}
	for _, p := range l.Key.Parts {
		for _, c := range p.Columns {
			if !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// resolve asks for the number of k and remembers it.
func (r *run) resolve(ctx context.Context, k planner.LookupKey) error {
	if _, ok := r.engine.lookups.get(k); ok {
		return nil
	}
	if k.Table == uidTable {
		return r.resolveUID(ctx, k)
	}
	_, col, at, _, err := r.lookupPlace(k)
	var refused *catalog.KeyError
	if errors.As(err, &refused) { // a name that cannot be stored has no number
		r.engine.lookups.put(k, types.Value{})
		return nil
	}
	if err != nil {
		return err
	}
	rows, err := r.client.Get(ctx, at.table, [][]byte{at.key}, &hbase.ReadOptions{Families: []string{col.Family}})
	if err != nil {
		return fmt.Errorf("LOOKUP in %s: %w", k.Table, err)
	}
	var v types.Value
	for _, c := range rows[0].Cells {
		if string(c.Family) == col.Family && string(c.Qualifier) == col.Qualifier {
			if v, err = col.DecodeCell(c.Value); err != nil {
				return fmt.Errorf("LOOKUP in %s: column %s at key %s: %w", k.Table, k.Column, hexBytes(at.key), err)
			}
			break
		}
	}
	r.engine.lookups.put(k, v)
	return nil
}

// lookupParts are the expressions of t's keys and names that LOOKUP stands in.
func lookupParts(t *catalog.Table) []expr.Expr {
	var parts []expr.Expr
	for _, l := range t.Layouts {
		for _, p := range append(append([]*catalog.Part(nil), l.Stored.Parts...), l.Key.Parts...) {
			if usesLookup(p.Expr) {
				parts = append(parts, p.Expr)
			}
		}
	}
	return parts
}

// allocate gives numbers to the names in rows that have none yet.
func (r *run) allocate(ctx context.Context, w *writer, rows []pendingRow) error {
	parts := lookupParts(w.table)
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
	for _, row := range rows {
		for _, x := range parts {
			if err := r.allocateFor(ctx, x, row.row); err != nil {
				return w.refuse(err, row.pos)
			}
		}
	}
	return nil
}

// know asks for the numbers of the names in rows, which were read: the cache may have lost them since.
func (r *run) know(ctx context.Context, w *writer, rows [][]types.Value) error {
	for _, x := range lookupParts(w.table) {
		for _, row := range rows {
			for range maxLookupRounds {
				wanted, _ := r.unknown(x, row)
				if len(wanted) == 0 {
					break
				}
				for _, k := range wanted {
					if err := r.resolve(ctx, k); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func usesLookup(e expr.Expr) bool {
	if e == nil {
		return false
	}
	if c, ok := e.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.Lookup {
		return true
	}
	for _, x := range expr.Children(e) {
		if usesLookup(x) {
			return true
		}
	}
	return false
}

// unknown evaluates x for row and gives the names whose numbers are not known.
func (r *run) unknown(x expr.Expr, row []types.Value) (wanted []planner.LookupKey, err error) {
	env := expr.Env{Row: row} // in UTC: see catalog.Pattern.Append
	env.Lookup = func(table, column string, args []types.Value) (types.Value, bool) {
		v, ok := r.engine.lookups.known(table, column, args)
		if !ok {
			wanted = append(wanted, planner.LookupKey{Table: table, Column: column, Args: args})
		}
		return v, ok
	}
	_, err = x.Eval(&env)
	return wanted, err
}

// allocateFor evaluates x for row until all the names that it asks for have numbers.
func (r *run) allocateFor(ctx context.Context, x expr.Expr, row []types.Value) error {
	for range maxLookupRounds {
		wanted, err := r.unknown(x, row)
		if len(wanted) == 0 {
			return err
		}
		for _, k := range wanted {
			if err := r.number(ctx, k); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("LOOKUP: numbers are needed to find numbers, more than %d deep", maxLookupRounds)
}

// number finds the number of k or draws a new one. Numbers come from a counter
// that servers increment, and the name's cell is written only if it has none: two
// writers cannot give one name two numbers.
func (r *run) number(ctx context.Context, k planner.LookupKey) error {
	if v, ok := r.engine.lookups.get(k); !ok || v.IsNull() {
		r.engine.lookups.forget(k)
		if err := r.resolve(ctx, k); err != nil {
			return err
		}
	}
	if _, ok := r.engine.lookups.known(k.Table, k.Column, k.Args); ok {
		return nil
	}
	if k.Table == uidTable {
		return r.allocateUID(ctx, k)
	}
	t, col, at, _, err := r.lookupPlace(k)
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
	r.engine.lookups.forget(k)
	return r.resolve(ctx, k) // ours, or the one that another writer gave meanwhile
}

func (c *lookupCache) forget(k planner.LookupKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byName, lookupName(k))
}

// clear forgets all: a look-up table was changed.
func (c *lookupCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName = nil
}
