package planner

import (
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// with is a named query: of WITH or of a view. It is planned once, and if it is read in several places, its rows are
// computed once. A query that is replaced by its table (see pulled) is read separately in each place, so that the
// conditions around it bind the key. So is a query that reads a whole table, in a place where conditions bind the key.
type with struct {
	parser.CTE
	in    *query // resolves the names that the query may use
	uses  references
	mu    sync.Mutex
	ways  [pullNone + 1]*planned
	picks pick // the result of picked
	draws pick // the result of volatile
	open  bool // it depends on rows around it
}

// pick is a property of a named query that is found once.
type pick uint8

const (
	pickUnknown pick = iota
	pickYes
	pickNo
)

// planned is a plan of a with.
type planned struct {
	src    *source
	plan   *plan.Plan    // its sub-queries and, unless it is replaced by its table, its steps
	shared *plan.Subplan // the identity of its rows for the plans that read them
	// final is set when the plan is complete: it needs no sub-query and no LOOKUP. The mutex of the with guards it.
	final bool
}

// source returns w as a source of q.
func (w *with) source(q *query) (*source, error) {
	mode := q.pull
	if mode != pullNone && !w.picked() {
		mode = pullNone
	}
	p, err := w.plan(mode, q.few && !w.uses.several())
	if err != nil {
		return nil, err
	}
	if q.depends != nil {
		w.mu.Lock()
		open := w.open
		w.mu.Unlock()
		if open {
			q.depends(w.in.level)
		}
	}
	src := *p.src
	if src.table != nil {
		return &src, nil
	}
	if q.joins && w.uses.texts < 2 || !w.uses.several() { // src.again plans it again for the conditions around it
		q.needs(p.plan.Subplans...)
		return &src, nil
	}
	q.needs(p.shared)
	again := src.first
	src.again, src.first = nil, nil
	src.node = &plan.Reuse{Query: p.shared}
	if again != nil && q.narrowed == 0 && reads(p.src.node).Wide() && !w.volatile() {
		src.first = func(q *query, conds []expr.Expr, want accessOrder) (plan.Node, []expr.Expr, error) {
			in := q.apart()
			n, rest, err := again(in, conds, want)
			if n == nil || err != nil || reads(n).Wide() {
				return nil, conds, err
			}
			q.needs(in.plan.Subplans...)
			return n, rest, nil
		}
		src.again = func(q *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) {
			return src.first(q, conds, accessOrder{})
		}
	}
	return &src, nil
}

// volatile reports whether w, or a named query that it reads, calls a function that may return other values each time that w is read.
func (w *with) volatile() bool {
	return w.once(&w.draws, func() (found bool) {
		parser.Inspect(w.Query, func(n parser.Node) bool {
			switch n := n.(type) {
			case *parser.Call:
				found = found || w.in.volatile(n.Name)
			case *parser.TableFunction:
				f := w.in.function(n.Name)
				found = found || f != nil && f.Volatile
			case *parser.TableName:
				of := w.in.cteOf(n)
				if _, v, _ := w.in.env.Catalog.TableOrView(n.Name, n.Pos); of == nil && v != nil {
					of = w.in.views.view(w.in, v, n)
				}
				found = found || of != nil && of.volatile()
			}
			return !found
		})
		return found
	})
}

// once returns what is, a field of w, holds. It holds what find returns the first time.
func (w *with) once(is *pick, find func() bool) bool {
	w.mu.Lock()
	known := *is
	w.mu.Unlock()
	if known == pickUnknown {
		if known = pickNo; find() {
			known = pickYes
		}
		w.mu.Lock()
		*is = known
		w.mu.Unlock()
	}
	return known == pickYes
}

// dropUnread removes from p the named queries whose rows none of its steps reads, as each part reads its own by key.
func dropUnread(p *plan.Plan) *plan.Plan {
	p.Subplans = slices.DeleteFunc(p.Subplans, func(s *plan.Subplan) bool { return s.Name != "" && !shares(p.Root, s) })
	return p
}

// needs adds sub-queries to the plan of q.
func (q *query) needs(subs ...*plan.Subplan) {
	for _, s := range subs {
		if !slices.Contains(q.plan.Subplans, s) {
			q.plan.Subplans = append(q.plan.Subplans, s)
		}
	}
}

// plan returns the plan of w for a mode. It does not hold mu during planning, because the plan may need the plans of
// other named queries. So two goroutines may plan w at the same time.
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
	open := false
	if outer, depends := in.outer, in.depends; outer != nil {
		in.outer = func(ref *parser.ColumnRef) (expr.Expr, error) {
			x, err := outer(ref)
			if x != nil && !open {
				open = true
			}
			return x, err
		}
		in.depends = func(level int) {
			if !open {
				open = true
			}
			if depends != nil {
				depends(level)
			}
		}
	}
	src, err := in.derive(w)
	if err != nil {
		return nil, err
	}
	p = &planned{src: src, plan: in.plan}
	if src.table == nil {
		in.plan.Root, in.plan.Columns = src.node, src.cols
		p.shared = &plan.Subplan{Name: w.Name, Text: w.Name, Sample: dropUnread(in.plan), Within: w.in.top}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = w.open || open
	if w.ways[mode] = p; src.table == nil {
		w.ways[pullNone] = p
	}
	return p, nil
}

// derive plans w with the names that q resolves.
func (q *query) derive(w *with) (_ *source, err error) {
	defer fail.Catch(&err)
	if g := q.env.Given[w.Query]; g != nil {
		if g.Columns == nil && w.uses.texts > 0 {
			return nil, parser.Errorf(w.Pos, "WITH query %q does not have a RETURNING clause", w.Name)
		}
		cols := renamed(g.Columns, w.Columns, w.Name, w.Pos)
		return &source{name: w.Name, cols: cols, node: &plan.Values{N: len(cols), Known: g.Rows}}, nil
	}
	if w.recursive() {
		return q.recursiveSource(w)
	}
	return q.derived(w.Query, w.Name, w.Columns, w.Name, w.Pos)
}

// recursive reports whether w refers to itself.
func (w *with) recursive() bool { return w.Recursive && refersTo(w.Query, w.CTE) }

// holds reports whether planning again would return the same plan: no value of a sub-query or a LOOKUP has become known
// since p was made.
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

// picked reports whether w may be replaced by its table.
func (w *with) picked() bool {
	return w.once(&w.picks, func() bool { return w.in.picks(w.Query, 0) })
}

// with adds the WITH queries of s to those that q resolves.
func (q *query) with(s *parser.Select) {
	if len(s.With) == 0 {
		return
	}
	list := slices.Grow(slices.Clone(q.ctes), len(s.With))
	for _, c := range s.With {
		in := q.inside()
		in.ctes = slices.Clip(list)
		list = append(list, &with{CTE: c, in: in})
	}
	own := list[len(q.ctes):]
	naming{}.query(s, false, func(i int, uses references) { own[i].uses = uses })
	q.ctes = slices.Clip(list)
	for _, w := range own {
		if w.uses.texts == 0 {
			q.unread(w)
		}
	}
}

// unread plans w, which no part of the query reads, to report its errors. It is not run.
func (q *query) unread(w *with) {
	env := *q.env
	env.Subqueries = nil
	in := w.in.inside()
	in.env, in.plan, in.views = &env, &plan.Plan{}, &views{text: q.views.text}
	fail.Must(in.derive(w))
}

// cteOf returns the WITH query to which t refers, or nil.
func (q *query) cteOf(t *parser.TableName) *with {
	for _, w := range slices.Backward(q.ctes) {
		if names(t, w.CTE) {
			return w
		}
	}
	return nil
}

// names reports whether t refers to c.
func names(t *parser.TableName, c parser.CTE) bool {
	return !t.InSchema && strings.EqualFold(t.Name, c.Name)
}

// references counts the references to a name in a text.
type references struct {
	texts    int
	repeated bool // one is in a part that may run for each row
}

// several reports whether the query with the name may be read more than once.
func (r references) several() bool { return r.texts > 1 || r.repeated }

// naming counts, by upper-case name, the references in a text to names that it does not define.
type naming map[string]references

func (c naming) count(name string, r references) {
	had := c[name]
	c[name] = references{had.texts + r.texts, had.repeated || r.repeated}
}

// add counts the names in n. repeated is set inside a query that may run for each row.
func (c naming) add(n parser.Node, repeated bool) {
	within := func(part parser.Node) bool {
		c.add(part, true)
		return false
	}
	parser.Inspect(n, func(x parser.Node) bool {
		switch x := x.(type) {
		case *parser.Select:
			if len(x.With) > 0 {
				c.query(x, repeated, func(int, references) {})
				return false
			}
		case *parser.TableName:
			c.count(strings.ToUpper(x.Name), references{1, repeated})
		case *parser.SubqueryExpr:
			return repeated || within(x.Query)
		case *parser.In:
			if x.Query != nil && !repeated {
				within(x.X)
				return within(x.Query)
			}
		case *parser.Join:
			return repeated || !holdsLateral(x) || within(x)
		case *parser.Subquery:
			return !x.Lateral || repeated || within(x.Query)
		}
		return true
	})
}

// query adds to c the names that s refers to. It leaves out the names that s defines in WITH; for each of these it calls
// uses with the references to it.
func (c naming) query(s *parser.Select, repeated bool, uses func(i int, r references)) {
	rest, named := *s, naming{}
	rest.With = nil
	named.add(&rest, repeated)
	for i, w := range slices.Backward(s.With) {
		name := strings.ToUpper(w.Name)
		uses(i, named[name])
		delete(named, name)
		inside := naming{}
		if inside.add(w.Query, repeated); w.Recursive && inside[name].texts > 0 {
			inside.add(w.Query, repeated) // the last part is read in each step
			delete(inside, name)
		}
		named.merge(inside)
	}
	c.merge(named)
}

func (c naming) merge(d naming) {
	for name, r := range d {
		c.count(name, r)
	}
}

// views are the views that one statement names.
type views struct {
	text []parser.Node // the statement and its parts
	mu   sync.Mutex
	all  map[*catalog.View]*with
	uses naming // references in the text and, once each, in the views that it names directly or indirectly
	// names are the result of columns, once read is set.
	names map[string]bool
	read  bool
}

// view returns the named query for the view v, to which q refers at t.
func (vs *views) view(q *query, v *catalog.View, t *parser.TableName) *with {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if w := vs.all[v]; w != nil {
		return w
	}
	if vs.all == nil {
		vs.all, vs.uses = map[*catalog.View]*with{}, naming{}
		for _, n := range vs.text {
			vs.uses.add(n, false)
		}
		vs.count(q.env.Catalog)
	}
	in := &query{env: q.env, plan: q.plan, views: vs, layout: q.layout, pieces: q.pieces, sample: q.sample,
		reading: append(slices.Clip(q.reading), strings.ToLower(v.Name))}
	w := &with{CTE: parser.CTE{Pos: t.Pos, Name: v.Name, Columns: v.Def.Columns, Query: q.env.Views.query(v, t)}, in: in, uses: vs.uses[strings.ToUpper(v.Name)]}
	vs.all[v] = w
	return w
}

// count adds to vs.uses the references inside the views that vs.uses names, and inside the views to which these refer.
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
				vs.uses.add(v.Def.Query, false)
				more = true
			}
		}
	}
}
