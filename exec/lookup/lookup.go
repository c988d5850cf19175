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

// A Dictionary gives numbers to names. Another writer may use it at the same time.
type Dictionary interface {
	// ID reads the number of a name, NULL where it has none.
	ID(ctx context.Context, k plan.LookupKey) (types.Value, error)
	// Names reads the names that call has given numbers to, by their numbers' types.Value.AppendKey: all of them, or
	// that of one number where there may be millions.
	Names(ctx context.Context, call *expr.Call, number types.Value) (names map[string]types.Value, all bool, err error)
	// Allocate gives a name that has none the next number, unless another writer does.
	Allocate(ctx context.Context, k plan.LookupKey) error
	// Some is a number such as names get: what a key is tried with before its names have theirs.
	Some() types.Value
}

// Env is what dictionaries work with.
type Env struct {
	Client  hbase.Client
	Catalog *catalog.Catalog
	Cache   *Cache
	Clock   Clock
	Statement
}

// Clock gives the timestamps of writes.
type Clock interface{ Next() int64 }

// Statement is the one that goes by the numbers.
type Statement interface {
	// KeyEnv is what the parts of keys are computed in.
	KeyEnv() expr.Env
	// Query calls f with the rows of a query that reads whole tables; args are its parameters.
	Query(ctx context.Context, q *parser.SelectCore, args []types.Value, f func(rows [][]types.Value) error) error
	// Counters are in the store.
	Counters
}

// Numbers are what a statement goes by. What it was told once stays as it is, whatever other statements write: planning
// asks for numbers until it knows all that it needs, and a row is written with those under which it was looked for. They are
// safe for concurrent use.
type Numbers struct {
	env    Env
	uids   uids
	tables tables

	mu          sync.Mutex
	now, before map[string]types.Value // NULL for a name that has none
	names       map[string]*names      // by LOOKUP call
}

// Begin makes n, which is empty, the numbers of a statement.
func (n *Numbers) Begin(env Env) {
	n.env = env
	n.uids, n.tables = uids{&n.env}, tables{&n.env, n}
}

// dictionary is the one behind a table's name.
func (n *Numbers) dictionary(table string) Dictionary {
	if table == expr.UIDTable {
		return n.uids
	}
	return n.tables
}

// giver is the one that call asks.
func (n *Numbers) giver(call *expr.Call) Dictionary {
	if call.Func.Key.Lookup == expr.UIDDictionary {
		return n.uids
	}
	return n.tables
}

// Get gives the number of a name, NULL when it has none; ok is false when it must be asked for: Resolve. It is
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

// keep notes a number under n.mu. Most statements ask for none.
func (n *Numbers) keep(name string, v types.Value) {
	if n.now == nil {
		n.now = map[string]types.Value{}
	}
	n.now[name] = v
}

// Known is expr.Env.Lookup for the names that have numbers.
func (n *Numbers) Known(table, column string, args []types.Value) (types.Value, bool) {
	v, ok := n.Get(plan.LookupKey{Table: table, Column: column, Args: args})
	return v, ok && !v.IsNull()
}

// Any is Known with some number for each other name, as if it had one.
func (n *Numbers) Any(table, column string, args []types.Value) (types.Value, bool) {
	if v, ok := n.Known(table, column, args); ok {
		return v, true
	}
	return n.dictionary(table).Some(), true
}

// Trim lets go of numbers of rows that are done with; it is called before others are begun.
func (n *Numbers) Trim() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.now) > maxKept {
		n.before, n.now = n.now, nil
	}
}

// Resolve makes the number of k known, or that it has none.
func (n *Numbers) Resolve(ctx context.Context, k plan.LookupKey) error {
	if _, ok := n.Get(k); ok {
		return nil
	}
	_, err := n.ask(ctx, k)
	return err
}

// ask reads the number of k, NULL for none, which is known from then on.
func (n *Numbers) ask(ctx context.Context, k plan.LookupKey) (types.Value, error) {
	age := n.env.Cache.age()
	v, err := n.dictionary(k.Table).ID(ctx, k)
	if err != nil {
		return types.Value{}, err
	}
	name := nameOf(k)
	n.mu.Lock()
	n.keep(name, v)
	n.mu.Unlock()
	if !v.IsNull() {
		n.env.Cache.put(name, v, age)
	}
	return v, nil
}

// number makes the number of k known, which is a new one if it has none yet.
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
	v, err := n.ask(ctx, k) // ours, or the one that another writer gave meanwhile
	if err == nil && v.IsNull() {
		err = fmt.Errorf("LOOKUP in %s: the number that %s was given is gone: it was deleted, or one was with a later timestamp", k.Table, k.Args[len(k.Args)-1].SQL())
	}
	return err
}

// with calls eval until it asks for no number that is not known, and gives its error. Those are left to get,
// which makes them known: Resolve for reading, number where each name is to have one.
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

// maxAsked bounds how many names a statement asks a dictionary for at the same time.
const maxAsked = 16

// Allocate gives numbers to the names in a row of t that have none yet.
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

// ResolveNames makes the numbers of the names in rows of t, which were read, known.
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
				p.Expr.Eval(env) // where the row would stand is not the question
			}
			return nil
		}, n.Resolve, false)
		if err != nil {
			return err
		}
	}
	return nil
}

// names are the names by number that a statement has read of one call. A look-up table may have names in its key that are
// numbers themselves: then reading it reads others, never these again.
type names struct {
	slot  chan struct{} // holds one that reads or fills what follows
	found map[string]types.Value
	none  map[string]bool // numbers that were looked for after they were seen
	began time.Time       // reading all names
}

// namesOf gives the names of call.
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

// Name gives the name of a number that stands in a row read at seen. Another writer may have drawn the number after
// the names were read, but the name was stored before the row: names that were read since then tell all.
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
