package lookup

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Dictionary assigns numbers to names. Several writers may use it at the same time.
type Dictionary interface {
	// ID reads the number of a name; NULL if it has none.
	ID(ctx context.Context, k plan.LookupKey) (types.Value, error)
	// Names reads the names to which call has assigned numbers, and returns them by number, encoded by
	// types.Value.AppendKey. all reports whether it has read all names. If there may be millions of names, Names reads
	// only the name of number.
	Names(ctx context.Context, call *expr.Call, number types.Value) (names map[string]types.Value, all bool, err error)
	// Allocate assigns the next number to a name without one, unless another writer does.
	Allocate(ctx context.Context, k plan.LookupKey) error
	// Some returns any number of the right type, to test a key before its names have numbers.
	Some() types.Value
}

// Env is the environment of dictionaries.
type Env struct {
	Client  hbase.Client
	Catalog *catalog.Catalog
	Cache   *Cache
	Clock   Clock
	Statement
}

// Clock gives the timestamps of writes.
type Clock interface{ Next() int64 }

// Statement is the statement that uses the numbers.
type Statement interface {
	// KeyEnv returns the environment in which parts of keys are computed.
	KeyEnv() expr.Env
	// Query calls f with the rows of a query; args are its parameters. The query may read whole tables.
	Query(ctx context.Context, q *parser.SelectCore, args []types.Value, f func(rows [][]types.Value) error) error
	// Counters in the store.
	Counters
}

// Numbers are the numbers that a statement uses. A number or its absence, once read, stays the same for the statement,
// whatever other statements write: planning asks for numbers until it has all that it needs, and a row is written with
// the numbers under which it was searched. They are safe for concurrent use.
type Numbers struct {
	env    Env
	age    int // of the cache when the statement began: the statement may use definitions that were changed since
	uids   uids
	tables tables

	mu          sync.Mutex
	now, before map[string]types.Value // NULL for a name without a number
	names       map[string]*names      // by LOOKUP call
}

// Begin initializes n, which must be empty, for a statement.
func (n *Numbers) Begin(env Env) {
	n.env, n.age = env, env.Cache.age()
	n.uids, n.tables = uids{&n.env}, tables{&n.env, n}
}

// dictionary returns the dictionary for a table's name.
func (n *Numbers) dictionary(table string) Dictionary {
	if table == expr.UIDTable {
		return n.uids
	}
	return n.tables
}

// giver returns the dictionary that call uses.
func (n *Numbers) giver(call *expr.Call) Dictionary {
	if call.Func.Key.Lookup == expr.UIDDictionary {
		return n.uids
	}
	return n.tables
}

// Get returns the number of a name, or NULL if it has none. ok is false if Resolve must read it first. It is
// planner.Env.Lookups.
func (n *Numbers) Get(k plan.LookupKey) (v types.Value, ok bool) {
	name := nameOf(k)
	n.mu.Lock()
	defer n.mu.Unlock()
	if v, ok = n.now[name]; ok {
		return v, true
	}
	if v, ok = n.before[name]; !ok {
		v, ok = n.env.Cache.get(name)
	}
	if ok {
		n.keep(name, v)
	}
	return v, ok
}

// keep records a number; the caller holds n.mu. The maps are allocated late, because most statements need none.
func (n *Numbers) keep(name string, v types.Value) {
	if n.now == nil {
		n.now = map[string]types.Value{}
	}
	n.now[name] = v
}

// Known implements expr.Env.Lookup: it returns only existing numbers.
func (n *Numbers) Known(table, column string, args []types.Value) (types.Value, bool) {
	v, ok := n.Get(plan.LookupKey{Table: table, Column: column, Args: args})
	return v, ok && !v.IsNull()
}

// Any works like Known, but it returns an arbitrary number for a name without one.
func (n *Numbers) Any(table, column string, args []types.Value) (types.Value, bool) {
	if v, ok := n.Known(table, column, args); ok {
		return v, true
	}
	return n.dictionary(table).Some(), true
}

// Trim forgets the numbers of earlier rows. It must be called between batches of rows.
func (n *Numbers) Trim() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.now) > maxKept {
		n.before, n.now = n.now, nil
	}
}

// Resolve reads and records the number of k, or the fact that k has none. Afterwards Get returns it.
func (n *Numbers) Resolve(ctx context.Context, k plan.LookupKey) error {
	if _, ok := n.Get(k); ok {
		return nil
	}
	_, err := n.ask(ctx, k)
	return err
}

// ask reads and records the number of k; NULL if there is none.
func (n *Numbers) ask(ctx context.Context, k plan.LookupKey) (types.Value, error) {
	v, err := n.dictionary(k.Table).ID(ctx, k)
	if err != nil {
		return types.Value{}, err
	}
	name := nameOf(k)
	n.mu.Lock()
	n.keep(name, v)
	n.mu.Unlock()
	if !v.IsNull() {
		n.env.Cache.put(name, v, n.age)
	}
	return v, nil
}

// number reads the number of k, and assigns a new one if it has none.
func (n *Numbers) number(ctx context.Context, k plan.LookupKey) error {
	if v, ok := n.Get(k); ok && !v.IsNull() {
		return nil
	}
	if v, err := n.ask(ctx, k); err != nil || !v.IsNull() {
		return err
	}
	if err := n.dictionary(k.Table).Allocate(ctx, k); err != nil {
		return err
	}
	v, err := n.ask(ctx, k) // the new number, or the one that another writer has assigned meanwhile
	if err == nil && v.IsNull() {
		err = fmt.Errorf("LOOKUP in %s: the number that %s was given is gone: it was deleted, or one was with a later timestamp", k.Table, k.Args[len(k.Args)-1].SQL())
	}
	return err
}

// with calls eval until eval needs no unknown number, and returns eval's error. It calls get for each unknown number
// that eval needs: get is Resolve to read the number, or number to assign one. With each, it also calls get for names
// that have no number.
func (n *Numbers) with(ctx context.Context, eval func(env *expr.Env) error, get func(context.Context, plan.LookupKey) error, each bool) error {
	env := n.env.KeyEnv()
	for {
		var wanted []plan.LookupKey
		var asked map[string]bool
		env.Lookup = func(table, column string, args []types.Value) (types.Value, bool) {
			k := plan.LookupKey{Table: table, Column: column, Args: args}
			v, ok := n.Get(k)
			if !ok || each && v.IsNull() {
				if id := nameOf(k); !asked[id] {
					if asked == nil {
						asked = map[string]bool{}
					}
					asked[id] = true
					wanted = append(wanted, k)
				}
				return types.Value{}, false
			}
			return v, true
		}
		err := eval(&env)
		if len(wanted) == 0 {
			return err
		}
		g, ctx := errgroup.WithContext(ctx)
		if g.SetLimit(maxAsked); each { // names get their numbers in the order of the rows
			g.SetLimit(1)
		}
		for _, k := range wanted {
			g.Go(func() error { return get(ctx, k) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
}

// maxAsked bounds the number of parallel requests of a statement to a dictionary.
const maxAsked = 16

// Allocate assigns numbers to the names in a row of t that have none yet.
func (n *Numbers) Allocate(ctx context.Context, t *catalog.Table, row []types.Value) error {
	for _, p := range t.LookupParts() {
		err := n.with(ctx, func(env *expr.Env) error {
			env.Row = row
			_, err := p.Expr.Eval(env)
			return err
		}, n.number, true)
		if err != nil {
			return err
		}
	}
	return nil
}

// ResolveNames reads the numbers of the names in rows of t.
func (n *Numbers) ResolveNames(ctx context.Context, t *catalog.Table, rows [][]types.Value) error {
	parts := t.LookupParts()
	if len(parts) == 0 {
		return nil
	}
	n.Trim()
	for _, p := range parts {
		err := n.with(ctx, func(env *expr.Env) error {
			for _, row := range rows {
				env.Row = row
				p.Expr.Eval(env) // only the names matter, not the result
			}
			return nil
		}, n.Resolve, false)
		if err != nil {
			return err
		}
	}
	return nil
}

// names are the names by number that a statement has read for one call. The key of a look-up table may contain numbers
// of other names: to read that table, a statement reads names of other calls, but never of the same call.
type names struct {
	slot  chan struct{} // held by the goroutine that reads or changes the other fields
	found map[string]types.Value
	none  map[string]bool // numbers that were not found by a later read
	began time.Time       // of the last read of all names
}

// namesOf returns the names for call.
func (n *Numbers) namesOf(call *expr.Call) *names {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := call.String()
	if n.names == nil {
		n.names = map[string]*names{}
	}
	if n.names[id] == nil {
		n.names[id] = &names{slot: make(chan struct{}, 1), found: map[string]types.Value{}, none: map[string]bool{}}
	}
	return n.names[id]
}

// Name returns the name of a number in a row that was read at the time seen; ok is false if there is none. If the names
// were read before seen, Name reads them again, because another writer may have drawn the number meanwhile. A name is
// stored before its row, so names that were read after seen are complete.
func (n *Numbers) Name(ctx context.Context, call *expr.Call, number types.Value, seen time.Time) (name types.Value, ok bool, err error) {
	known, key := n.namesOf(call), string(number.AppendKey(nil))
	select {
	case known.slot <- struct{}{}:
		defer func() { <-known.slot }()
	case <-ctx.Done():
		return types.Value{}, false, ctx.Err()
	}
	if v, ok := known.found[key]; ok || known.none[key] {
		return v, ok, nil
	}
	if !known.began.After(seen) {
		began := time.Now()
		found, all, err := n.giver(call).Names(ctx, call, number)
		if err != nil {
			return types.Value{}, false, err
		}
		if all {
			known.found, known.began = found, began
		} else {
			maps.Copy(known.found, found)
		}
	}
	v, ok := known.found[key]
	if !ok {
		known.none[key] = true
	}
	return v, ok, nil
}
