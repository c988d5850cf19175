package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// subqueries runs the queries inside a statement's expressions and caches their results. It is safe for concurrent use,
// because scans evaluate expressions in several goroutines.
type subqueries struct {
	run *run
	ctx context.Context
	// views are the views that the statement names.
	views planner.Views

	mu      sync.Mutex
	closed  map[closedQuery]*plan.Set
	ran     []*plan.Plan                                             // the plans of those in closed
	answers map[*plan.Subplan]map[string]func() ([]expr.Expr, error) // by the values of the outer row; one for each assigned column
	held    int64                                                    // bytes kept in answers
	groups  map[*plan.Subplan]*groups
	shared  map[*plan.Subplan]*operator.Kept
	repeats map[string]*repeat
	runs    map[*parser.Select]explain.Runs
	sharing operator.Budget // of the rows in shared
}

// closedQuery identifies a closed sub-query in all plans of a statement.
type closedQuery struct {
	of         *parser.Select
	among, cut bool
}

func newSubqueries(ctx context.Context, r *run) *subqueries {
	q := &subqueries{run: r, ctx: ctx, closed: map[closedQuery]*plan.Set{}, runs: map[*parser.Select]explain.Runs{}, answers: map[*plan.Subplan]map[string]func() ([]expr.Expr, error){},
		groups: map[*plan.Subplan]*groups{}, shared: map[*plan.Subplan]*operator.Kept{}, repeats: map[string]*repeat{}}
	q.sharing.Limit = r.Opt.Memory() / 4
	return q
}

// values implements planner.Env.Subqueries.
func (q *subqueries) values(s *plan.Subplan) (*plan.Set, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	v, ok := q.closed[closedQuery{s.Select, s.Among, s.Cut}]
	return v, ok
}

// failure returns the error of a sub-query that no row has asked for yet, or else err.
func (q *subqueries) failure(err error) error {
	if q == nil || err == nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.closed {
		err = cmp.Or(s.Err(), err)
	}
	return err
}

// close runs a sub-query that does not depend on an outer row.
func (q *subqueries) close(ctx context.Context, s *plan.Subplan) error {
	if _, ok := q.values(s); ok {
		return nil
	}
	rows := &plan.Set{}
	if s.Among {
		rows.Keys.Reuse()
	}
	err := q.each(ctx, s, nil, func(row []types.Value) int64 { return rows.Add(row, s.Among) })
	if _, evaluated := errors.AsType[*parser.Error](err); err != nil && (!evaluated || ctx.Err() != nil || errors.Is(err, ErrFullScan) || errors.Is(err, ErrScanLimit)) {
		return err
	}
	if err != nil {
		rows = &plan.Set{}
		rows.Fail(err)
	}
	q.mu.Lock()
	q.closed[closedQuery{s.Select, s.Among, s.Cut}], q.ran = rows, append(q.ran, s.Sample)
	q.mu.Unlock()
	return nil
}

// answer implements expr.Env.Subquery.
func (q *subqueries) answer(s *expr.Subquery, outer []types.Value) (expr.Expr, error) {
	sub := s.Query.(*plan.Subplan)
	var b []byte
	for _, x := range s.X {
		b = append(b, byte(x.Type()))
	}
	for _, v := range outer { // the values' representation counts: 1.50 and 1.5 are equal but the query may print them
		b = v.AppendBinary(b)
	}
	key := string(b)
	q.mu.Lock()
	kept, known := q.answers[sub]
	if !known { // a query that gives other rows each time runs once for each row of the outer query: nothing of it is kept
		if s.Columns > 0 || !operator.CallsVolatile(sub.Select) {
			kept = map[string]func() ([]expr.Expr, error){}
		}
		q.answers[sub] = kept
	}
	ask, run := kept[key], q.rowsFor
	if kept == nil {
		run = func(sub *plan.Subplan, outer []types.Value) ([]types.Value, error) { return q.read(q.ctx, sub, outer) }
	}
	if ask == nil {
		for i, v := range outer { // the plan and its answer are kept longer than the row
			outer[i] = v.Clone()
		}
		ask = sync.OnceValues(func() ([]expr.Expr, error) {
			values, err := run(sub, outer)
			if err != nil {
				return nil, err
			}
			out := make([]expr.Expr, max(1, s.Columns))
			of := s.Bare()
			for of.Column = range out {
				if out[of.Column], err = of.Answer(values, q.run.Opt.Loc); err != nil {
					return nil, err
				}
			}
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.held += operator.SizeOf(values) + int64(len(key)) + 256; q.held > q.run.Opt.Memory()/4 {
				clear(q.answers) // the answers can be computed again
				q.held = 0
			}
			return out, nil
		})
		if kept != nil {
			kept[key] = ask
		}
	}
	q.mu.Unlock()
	out, err := ask()
	if err != nil {
		return nil, err
	}
	return out[s.Column], nil
}

// groups are the rows of a sub-query that was read once for all outer values, by outer value.
type groups struct {
	mu     sync.Mutex
	asked  int
	failed bool // reading all rows failed: they do not fit in memory, or a row that nobody asks for has an error
	rows   map[string][]types.Value
	empty  []types.Value // for outer values that have none; nil: not yet known
}

// fewAsked is the number of outer values for which a sub-query runs separately, before it runs once for all outer
// values.
const fewAsked = 4

// rowsFor returns the rows of sub for the outer values.
func (q *subqueries) rowsFor(sub *plan.Subplan, outer []types.Value) ([]types.Value, error) {
	if sub.Groups == nil {
		return q.read(q.ctx, sub, outer)
	}
	q.mu.Lock()
	g := q.groups[sub]
	if g == nil {
		g = &groups{}
		q.groups[sub] = g
	}
	q.mu.Unlock()
	g.mu.Lock()
	if g.asked++; g.asked > fewAsked && !g.failed && g.rows == nil {
		g.failed = q.load(sub, g) != nil
	}
	loaded := g.rows != nil // once loaded, the groups do not change
	g.mu.Unlock()
	if !loaded {
		return q.read(q.ctx, sub, outer)
	}
	keys := make([]types.Value, len(sub.Keys))
	for i, k := range sub.Keys {
		keys[i] = outer[k]
	}
	var rows []types.Value
	if !slices.ContainsFunc(keys, types.Value.IsNull) {
		rows = g.rows[string(operator.RowKey(nil, keys))]
	}
	if len(rows) > 0 || !sub.Aggregated {
		return rows, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var err error
	if g.empty == nil {
		g.empty, err = q.read(q.ctx, sub, outer)
	}
	return g.empty, err
}

// load reads all groups of sub.
func (q *subqueries) load(sub *plan.Subplan, g *groups) error {
	values, err := q.read(q.ctx, sub.Groups, nil)
	if err != nil {
		return err
	}
	g.rows = map[string][]types.Value{}
	for row := range slices.Chunk(values, sub.Groups.Width) {
		key := string(operator.RowKey(nil, row[:len(sub.Keys)]))
		g.rows[key] = append(g.rows[key], row[len(sub.Keys):]...)
	}
	return nil
}

// read runs sub for the outer values and returns the values of its columns, row by row.
func (q *subqueries) read(ctx context.Context, sub *plan.Subplan, outer []types.Value) (out []types.Value, err error) {
	err = q.each(ctx, sub, outer, func(row []types.Value) int64 {
		out = append(out, row...)
		return operator.SizeOf(row)
	})
	return out, err
}

// each runs sub for the outer values and calls hold with the columns of each row. hold returns the bytes that it keeps.
func (q *subqueries) each(ctx context.Context, sub *plan.Subplan, outer []types.Value, hold func(row []types.Value) int64) error {
	r := q.run.inner(!sub.Closed)
	p, err := r.resolved(ctx, func() (*plan.Plan, error) { return sub.Plan(outer) })
	if err != nil {
		return err
	}
	defer q.endWithin(p)
	held, n := &operator.Budget{Limit: r.Opt.Memory()}, int64(0)
	err = r.eachRow(ctx, p, asRead, func(rows [][]types.Value) error {
		size := int64(0)
		for _, row := range rows {
			if len(row) < sub.Width { // EXISTS (SELECT FROM t)
				row = make([]types.Value, sub.Width)
			}
			size += hold(row[:sub.Width])
		}
		n += int64(len(rows))
		if err := held.Take(size, "sub-query"); err != nil {
			return fmt.Errorf("(%s): %w", sub.Text, err)
		}
		return nil
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	ran := q.runs[sub.Select]
	q.runs[sub.Select] = explain.Runs{Times: ran.Times + 1, Rows: ran.Rows + n}
	return err
}

// open implements operator.Options.Open.
func (q *subqueries) open(ctx context.Context, ask func() (*plan.Plan, error)) (operator.Operator, error) {
	r := q.run.inner(true)
	p, err := r.resolvedBatch(ctx, ask)
	if err != nil {
		return nil, err
	}
	op, err := r.open(ctx, p)
	if err != nil {
		q.endWithin(p)
		return nil, err
	}
	return &openedOp{op, func() { q.endWithin(p) }}, nil
}

// openedOp is an operator that calls after when it is closed.
type openedOp struct {
	operator.Operator
	after func()
}

func (o *openedOp) Close() error {
	defer o.after()
	return o.Operator.Close()
}

// reuse implements operator.Options.Reuse.
func (q *subqueries) reuse(s *plan.Subplan) operator.Operator {
	q.mu.Lock()
	defer q.mu.Unlock()
	rows := q.shared[s]
	if rows == nil {
		r := q.run.inner(true)
		rows = operator.NewShared(q.ctx, func() (operator.Operator, error) { return r.open(q.ctx, s.Sample) }, &q.sharing, r.Opt.SpillDir)
		q.shared[s] = rows
	}
	return rows.Reader()
}

// endWithin drops the rows of the WITH queries that belong to p, which has been read.
func (q *subqueries) endWithin(p *plan.Plan) {
	q.endWhere(func(s *plan.Subplan) bool { return s.Within == p })
}

// end drops the rows of all queries. A nil q has none.
func (q *subqueries) end() {
	if q != nil {
		q.endWhere(func(*plan.Subplan) bool { return true })
		q.mu.Lock()
		for _, rows := range q.closed {
			rows.Release()
		}
		q.closed = nil
		q.mu.Unlock()
	}
}

// endSubqueries drops the rows of the queries of r, unless they are those of a run around it.
func (r *run) endSubqueries() {
	if q := r.subqueries; q != nil && q.run == r {
		q.end()
	}
}

func (q *subqueries) endWhere(is func(*plan.Subplan) bool) {
	var done []*operator.Kept
	q.mu.Lock()
	for s, rows := range q.shared {
		if is(s) {
			done = append(done, rows)
			delete(q.shared, s)
		}
	}
	q.mu.Unlock()
	for _, rows := range done {
		_ = rows.Close() // the query that read them has ended
	}
}

// inner returns a run for a query inside r's query. It has read slots of its own, since the outer query waits for it.
func (r *run) inner(repeated bool) *run {
	st := *r.statement
	st.Slots, st.Opt.AtOnce = make(chan struct{}, cap(r.Slots)), 0
	out := *r
	out.statement, out.repeated, out.inside = &st, repeated, true
	return &out
}
