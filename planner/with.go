package planner

import (
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// with is a query that has a name, one of WITH or a view. It is planned once however often it is named, and where its rows are read in
// several places, they are computed once. A query that is read as its table (see pulled) is read in each place for itself: there the
// conditions around it reach the key.
type with struct {
	parser.CTE
	in    *query // knows the names that the query may use
	uses  int    // in how many places the query is named; one that may be run repeatedly counts twice
	mu    sync.Mutex
	ways  [pullNone + 1]*planned
	picks pick
}

// pick says whether a with is one that query.picks accepts.
type pick uint8

const (
	pickUnknown pick = iota
	pickYes
	pickNo
)

// planned is a plan of a with.
type planned struct {
	src    *source
	plan   *plan.Plan    // its sub-queries; of rows that are not read as their table, also the steps
	shared *plan.Subplan // how the plans that read its rows name it
	// final is set when the plan does not change any more: it waits for no sub-query and no LOOKUP. mu of the with guards it.
	final bool
}

// source is w as a source of q.
func (w *with) source(q *query) (*source, error) {
	mode := q.pull
	if mode != pullNone && !w.picked() {
		mode = pullNone
	}
	p, err := w.plan(mode, q.few && w.uses < 2)
	if err != nil {
		return nil, err
	}
	src := *p.src
	if src.table != nil {
		return &src, nil
	}
	if w.uses < 2 { // src.again plans it again for the conditions around it
		q.needs(p.plan.Subplans...)
		return &src, nil
	}
	q.needs(p.shared)
	src.again = nil
	src.node = &plan.Reuse{Query: p.shared}
	return &src, nil
}

// needs adds sub-queries to the plan of q.
func (q *query) needs(subs ...*plan.Subplan) {
	for _, s := range subs {
		if !slices.Contains(q.plan.Subplans, s) {
			q.plan.Subplans = append(q.plan.Subplans, s)
		}
	}
}

// plan returns the plan of w for a mode. Two goroutines may plan w at the same time: mu is not held meanwhile, because
// the plan of w needs the plans of others.
func (w *with) plan(mode pulling, few bool) (*planned, error) {
	w.mu.Lock()
	p := w.ways[mode]
	if p != nil && (p.final || p.holds(w.in.env)) {
		w.mu.Unlock()
		return p, nil
	}
	w.mu.Unlock()
	in := w.in.inside()
	in.plan, in.pull, in.few = &plan.Plan{}, mode, few
	src, err := in.derive(w)
	if err != nil {
		return nil, err
	}
	p = &planned{src: src, plan: in.plan}
	if src.table == nil {
		in.plan.Root, in.plan.Columns = src.node, src.cols
		p.shared = &plan.Subplan{Name: w.Name, Text: w.Name, Sample: in.plan, Within: w.in.top}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ways[mode] = p; src.table == nil {
		w.ways[pullNone] = p
	}
	return p, nil
}

// derive plans w, which q knows the names for.
func (q *query) derive(w *with) (*source, error) {
	if w.recursive() {
		return q.recursiveSource(w)
	}
	return q.derived(w.Query, w.Name, w.Columns, w.Name, w.Pos)
}

// recursive reports whether w refers to itself.
func (w *with) recursive() bool { return w.Recursive && refersTo(w.Query, w.CTE) }

// holds reports whether planning once more would give the same plan: no answer of a sub-query and no value of a LOOKUP is known that
// was not known when p was made.
func (p *planned) holds(env *Env) bool {
	holds := true
	p.final = true
	p.plan.EachRead(func(part *plan.Plan) {
		for _, s := range part.Subplans {
			if s.Closed {
				p.final = false
				if env.Subqueries != nil {
					_, known := env.Subqueries(s)
					holds = holds && !known
				}
			}
		}
		if part.Root == nil {
			return
		}
		for _, s := range plan.Scans(part.Root) {
			for _, k := range s.Lookups {
				p.final = false
				if env.Lookups != nil {
					_, known := env.Lookups(k)
					holds = holds && !known
				}
			}
		}
	})
	return holds
}

// picked reports whether w may be read as its table.
func (w *with) picked() bool {
	w.mu.Lock()
	known := w.picks
	w.mu.Unlock()
	if known == pickUnknown {
		if known = pickNo; w.in.picks(w.Query, 0) {
			known = pickYes
		}
		w.mu.Lock()
		w.picks = known
		w.mu.Unlock()
	}
	return known == pickYes
}

// with adds the queries of WITH of s to those that q knows.
func (q *query) with(s *parser.Select) error {
	if len(s.With) == 0 {
		return nil
	}
	list := slices.Grow(slices.Clone(q.ctes), len(s.With))
	for _, c := range s.With {
		in := q.inside()
		in.ctes = slices.Clip(list)
		list = append(list, &with{CTE: c, in: in})
	}
	own := list[len(q.ctes):]
	naming{}.query(s, 1, func(i, uses int) { own[i].uses = uses })
	q.ctes = slices.Clip(list)
	for _, w := range own {
		if w.uses > 0 {
			continue
		}
		if err := q.unread(w); err != nil {
			return err
		}
	}
	return nil
}

// unread plans w, which nothing reads, to find its mistakes. It is not run.
func (q *query) unread(w *with) error {
	env := *q.env
	env.Subqueries = nil
	in := w.in.inside()
	in.env, in.plan, in.views = &env, &plan.Plan{}, &views{text: q.views.text}
	_, err := in.derive(w)
	return err
}

// cteOf finds the query of WITH that t names, or returns nil.
func (q *query) cteOf(t *parser.TableName) *with {
	for _, w := range slices.Backward(q.ctes) {
		if names(t, w.CTE) {
			return w
		}
	}
	return nil
}

// names reports whether t is the name of c.
func names(t *parser.TableName, c parser.CTE) bool {
	return !t.InSchema && strings.EqualFold(t.Name, c.Name)
}

// naming counts how often text names something that it does not define, in upper case.
type naming map[string]int

// add counts the names in n, each of them times. What a sub-query names counts twice, as the sub-query may be run for each row.
func (c naming) add(n parser.Node, times int) {
	parser.Inspect(n, func(x parser.Node) bool {
		switch x := x.(type) {
		case *parser.Select:
			if len(x.With) > 0 {
				c.query(x, times, func(int, int) {})
				return false
			}
		case *parser.TableName:
			c[strings.ToUpper(x.Name)] += times
		case *parser.SubqueryExpr:
			return times > 1 || c.twice(x.Query)
		case *parser.In:
			if x.Query != nil && times == 1 {
				c.add(x.X, 2)
				return c.twice(x.Query)
			}
		case *parser.Join:
			if times == 1 && holdsLateral(x) {
				c.add(x, 2)
				return false
			}
		case *parser.Subquery:
			return !x.Lateral || times > 1 || c.twice(x.Query)
		}
		return true
	})
}

// query adds the names in s but those that s gives itself, and calls uses with the number of each of these.
func (c naming) query(s *parser.Select, times int, uses func(i, n int)) {
	rest, named := *s, naming{}
	rest.With = nil
	named.add(&rest, times)
	for i, w := range slices.Backward(s.With) {
		name := strings.ToUpper(w.Name)
		uses(i, named[name])
		delete(named, name)
		inside := naming{}
		if inside.add(w.Query, times); w.Recursive && inside[name] > 0 {
			inside.add(w.Query, times) // what the last part names is read in each step
			delete(inside, name)
		}
		named.merge(inside)
	}
	c.merge(named)
}

func (c naming) merge(d naming) {
	for name, n := range d {
		c[name] += n
	}
}

// twice records the names that occur twice in s, and always returns false.
func (c naming) twice(s *parser.Select) bool {
	c.add(s, 2)
	return false
}

// views are the views that one statement names.
type views struct {
	text []parser.Node // of the statement
	mu   sync.Mutex
	all  map[*catalog.View]*with
	uses naming // of the text and, once each, of the views that it names, and they name
}

// view gives v, which q names at t.
func (vs *views) view(q *query, v *catalog.View, t *parser.TableName) *with {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if w := vs.all[v]; w != nil {
		return w
	}
	if vs.all == nil {
		vs.all, vs.uses = map[*catalog.View]*with{}, naming{}
		for _, n := range vs.text {
			vs.uses.add(n, 1)
		}
		vs.count(q.env.Catalog)
	}
	in := &query{env: q.env, plan: q.plan, views: vs, layout: q.layout, pieces: q.pieces, sample: q.sample,
		reading: append(slices.Clip(q.reading), strings.ToLower(v.Name))}
	w := &with{CTE: parser.CTE{Pos: t.Pos, Name: v.Name, Columns: v.Def.Columns, Query: q.env.Views.query(v, t)}, in: in, uses: vs.uses[strings.ToUpper(v.Name)]}
	vs.all[v] = w
	return w
}

// count adds to vs.uses the names in the views that are in it, and in the views that these name.
func (vs *views) count(c *catalog.Catalog) {
	seen := map[string]bool{}
	for more := true; more; {
		more = false
		for name := range vs.uses {
			if seen[name] {
				continue
			}
			seen[name] = true
			if v, ok := c.View(name); ok {
				vs.uses.add(v.Def.Query, 1)
				more = true
			}
		}
	}
}
