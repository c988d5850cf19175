package exec

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// merger runs MERGE. One query joins the source with the table, and gives for each row the action and its values.
type merger struct {
	run     *run
	s       *parser.Merge
	table   *catalog.Table
	w       *write.Writer // of updates and deletions
	actions []mergeAction
	choose  *parser.Case        // gives the number of the action, from 1; 0: none
	random  bool                // the conditions of choose may differ at each evaluation: it is evaluated once for a row
	items   []parser.SelectItem // of the query: the table's row, the number of the action, the values of all actions
	source  []plan.OutputColumn // the columns of the source, which follow in the query
	hit     map[string]bool     // the IDs of the rows that the statement has changed or inserted
	held    operator.Budget     // of hit
}

// actionName names a query in FROM, and its column, with the number of the action. sourceName names the rows of the source that
// are given again.
const actionName, sourceName = "action of MERGE", "source of MERGE"

// mergeAction is an action of a MERGE.
type mergeAction struct {
	parser.MergeAction
	set    []bool            // by column: UPDATE sets it
	cols   []*catalog.Column // the columns that UPDATE or INSERT gives a value
	values []parser.Expr     // by cols
	first  int               // the index of the first value in the query's row
	in     *inserter         // of INSERT
}

// merge runs MERGE.
func (r *run) merge(ctx context.Context, s *parser.Merge) (*Rows, error) {
	m, p, err := r.newMerger(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := write.Writable(m.table, s.TablePos); err != nil {
		return nil, err
	}
	read := columnsRead(m.table, s, nil, nil)
	for _, a := range m.actions {
		for i, is := range columnsRead(m.table, s, nil, a.set) { // with those of CHECKs
			read[i] = read[i] || is
		}
	}
	m.w.DependOn(read)
	m.w.Hold(true)
	err = r.eachRow(ctx, p, allFirst, func(rows [][]types.Value) error {
		for part := range slices.Chunk(rows, write.Batch) {
			again, err := m.apply(ctx, part, false)
			if err == nil {
				err = m.retry(ctx, again)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return r.result(m.written(), nil), err
}

// newMerger checks s, and plans the query of the rows that it changes.
func (r *run) newMerger(ctx context.Context, s *parser.Merge) (*merger, *plan.Plan, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, nil, err
	}
	m := &merger{run: r, s: s, table: t, w: r.newWriter(t), hit: map[string]bool{}, held: operator.Budget{Limit: r.Opt.Memory()}}
	item := func(x parser.Expr) { m.items = append(m.items, parser.SelectItem{Pos: s.Pos, Expr: x}) }
	column := func(name string) parser.Expr {
		return &parser.ColumnRef{Pos: s.Pos, Table: cmp.Or(s.Alias, s.Table), Name: name, Quoted: true}
	}
	for _, c := range append(slices.Clip(t.ColumnNames()), catalog.KeyColumn, catalog.TimestampColumn) {
		item(column(c))
	}
	number := func(n int) parser.Expr {
		return &parser.Literal{Pos: s.Pos, Kind: parser.NumberLiteral, Text: strconv.Itoa(n)}
	}
	m.choose = &parser.Case{Pos: s.Pos, Else: number(0)}
	var which parser.Expr = m.choose
	if m.random = slices.ContainsFunc(s.Actions, func(a parser.MergeAction) bool { return a.Cond != nil && operator.CallsVolatile(a.Cond) }); m.random {
		which = &parser.ColumnRef{Pos: s.Pos, Table: actionName, Name: actionName, Quoted: true}
	}
	item(which)
	for i, of := range s.Actions {
		a, err := m.action(of)
		if err != nil {
			return nil, nil, err
		}
		if n := len(a.values); !a.Matched {
			all, err := m.ofSource(append(slices.Clone(a.values), of.Cond))
			if err != nil {
				return nil, nil, err
			}
			a.values, of.Cond = all[:n], all[n]
		}
		found := &parser.Is{Pos: of.Pos, Not: of.Matched, X: column(catalog.KeyColumn), What: "NULL"}
		m.choose.Whens = append(m.choose.Whens, parser.When{Cond: both(found, of.Cond), Then: number(i + 1)})
		a.first = len(m.items)
		for k, x := range a.values {
			r.env.Parameters.Want(x, a.cols[k].Type)
			this := &parser.Binary{Pos: x.Position(), Op: "=", X: which, Y: number(i + 1)}
			item(&parser.Case{Pos: x.Position(), Whens: []parser.When{{Cond: this, Then: x}}})
		}
		m.actions = append(m.actions, a)
	}
	width := len(m.items)
	source := &parser.SelectItem{Pos: s.Pos, Star: true, Table: s.Source.Called()}
	if source.Table == "" {
		return nil, nil, parser.Errorf(s.Source.Position(), "USING of MERGE takes a table, or a query in parentheses with a name")
	}
	m.items = append(m.items, *source)
	p, err := r.planSelect(ctx, m.query(s.Source))
	if err == nil {
		m.source = p.Columns[width:]
	}
	return m, p, err
}

// ofSource makes all, which belong to WHEN NOT MATCHED, copies in which names without a table mean columns of the source.
func (m *merger) ofSource(all []parser.Expr) (_ []parser.Expr, err error) {
	for i, x := range all {
		all[i] = parser.CopyOf(x)
		parser.Walk(all[i], func(x parser.Expr) bool {
			if ref, ok := x.(*parser.ColumnRef); ok {
				if _, is := m.table.Column(ref.Name); is && ref.Table == "" {
					ref.Table = m.s.Source.Called()
				}
				if strings.EqualFold(ref.Table, cmp.Or(m.s.Alias, m.s.Table)) {
					err = parser.Errorf(ref.Pos, "WHEN NOT MATCHED has no row of %s", ref.Table)
				}
			}
			return true
		})
	}
	return all, err
}

// action checks an action of the statement.
func (m *merger) action(of parser.MergeAction) (a mergeAction, err error) {
	a.MergeAction = of
	switch {
	case of.Set != nil:
		if a.set, a.values, err = assignments(m.table, &parser.Update{Set: of.Set}); err != nil {
			return a, err
		}
		for _, x := range of.Set {
			c, _ := m.table.Column(x.Column.Name)
			a.cols = append(a.cols, c)
		}
	case of.Insert != nil:
		s := of.Insert
		if _, a.cols, s, err = m.run.insertTarget(s); err != nil {
			return a, err
		}
		if a.values = s.Rows[0]; len(a.values) != len(a.cols) {
			return a, parser.Errorf(a.values[0].Position(), "INSERT gives %d values for %d columns", len(a.values), len(a.cols))
		}
		if a.in, err = m.run.newInserter(m.table, a.cols); err == nil {
			a.in.IfNew = !m.table.HiddenKey
		}
	}
	return a, err
}

// query returns the query that joins source with the table.
func (m *merger) query(source parser.TableExpr) *parser.Select {
	s := m.s
	join := &parser.Join{Pos: s.Pos, Left: source, Right: &parser.TableName{Pos: s.TablePos, Name: s.Table, Alias: s.Alias}, On: s.On}
	if slices.ContainsFunc(m.actions, func(a mergeAction) bool { return !a.Matched }) {
		join.Kind = parser.LeftJoin
	}
	core := &parser.SelectCore{Pos: s.Pos, Items: m.items, From: []parser.TableExpr{join}}
	if m.random {
		one := &parser.SelectCore{Pos: s.Pos, Items: []parser.SelectItem{{Pos: s.Pos, Expr: m.choose, Alias: actionName}}}
		core.From = append(core.From, &parser.Subquery{Pos: s.Pos, Lateral: true, Alias: actionName, Query: &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{one}}})
	}
	return &parser.Select{Pos: s.Pos, With: s.With, Cores: []*parser.SelectCore{core}, AllowFullScan: s.AllowFullScan}
}

// apply acts on the rows of the query. It returns those whose row in the table another statement has changed, inserted or
// deleted meanwhile. repeated is set if rows are read again for such a row: rows that the statement has changed stay then.
func (m *merger) apply(ctx context.Context, rows [][]types.Value, repeated bool) (again [][]types.Value, err error) {
	if err := m.run.Numbers.ResolveNames(ctx, m.table, rows); err != nil {
		return nil, err
	}
	width, of := m.w.Width(), map[string][]types.Value{}
	added, ids := make([][]write.Row, len(m.actions)), make([]map[string]bool, len(m.actions)) // by action; ids of rows that must be new
	for _, row := range rows {
		i := int(row[width].Int()) - 1
		if i < 0 || !m.actions[i].Delete && m.actions[i].cols == nil {
			continue
		}
		a := &m.actions[i]
		become := slices.Clone(row[:width])
		if a.in != nil {
			if become, err = a.in.newRow(); err != nil {
				return nil, err
			}
		}
		for k, c := range a.cols {
			if become[c.Index], err = m.run.assign(row[a.first+k], c, a.values[k].Position()); err != nil {
				return nil, err
			}
		}
		if a.in == nil || a.in.IfNew {
			if err := m.w.Allocate(ctx, []write.Row{{Values: become, Pos: a.Pos}}); err != nil {
				return nil, err
			}
			id, err := m.w.ID(become, a.Pos)
			switch {
			case err != nil:
				return nil, err
			case m.hit[id] && repeated:
				continue
			case m.hit[id]:
				return nil, parser.Errorf(a.Pos, "MERGE cannot change a row twice: several rows of the source lead to the same row of %s", m.table.Name)
			}
			if err := m.held.Take(int64(len(id))+64, "the keys of MERGE"); err != nil {
				return nil, err
			}
			m.hit[id], of[id] = true, row
			if a.in != nil {
				if ids[i] == nil {
					ids[i] = map[string]bool{}
				}
				ids[i][id] = true
			}
		}
		switch {
		case a.in != nil:
			added[i] = append(added[i], write.Row{Values: become, Pos: a.Pos, Drawn: a.in.drawsKey(a.values)})
		default:
			if a.Delete {
				become = nil
			}
			err = m.w.Change(ctx, row[:width], become, a.set, a.Pos)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := m.w.Flush(ctx); err != nil {
		return nil, err
	}
	lost := func(id string) { again = append(again, of[id]); delete(m.hit, id) }
	for _, missed := range m.w.TakeMissed() {
		id, err := m.w.ID(missed.Row, m.s.Pos)
		if err != nil {
			return nil, err
		}
		lost(id)
	}
	for i, rows := range added {
		if len(rows) == 0 {
			continue
		}
		in := m.actions[i].in
		if err := in.Write(ctx, rows); err != nil {
			return nil, err
		}
		for _, row := range in.New {
			id, err := m.w.ID(row.Values, row.Pos)
			if err != nil {
				return nil, err
			}
			delete(ids[i], id)
		}
		for id := range ids[i] {
			lost(id)
		}
	}
	m.run.wrote(m.written())
	return again, nil
}

// written returns the number of rows that were written or deleted.
func (m *merger) written() int64 {
	n := m.w.Changed
	for _, a := range m.actions {
		if a.in != nil {
			n += a.in.Written
		}
	}
	return n
}

// retry reads the table again for the rows of the source in rows, until other statements leave the rows of the table alone.
func (m *merger) retry(ctx context.Context, rows [][]types.Value) error {
	source := &parser.Select{Pos: m.s.Pos, Cores: []*parser.SelectCore{{Pos: m.s.Pos}}} // stands for the rows that are given
	q := m.query(&parser.TableName{Pos: m.s.Pos, Name: sourceName, Alias: m.s.Source.Called()})
	q.With = append(slices.Clip(q.With), parser.CTE{Pos: m.s.Pos, Name: sourceName, Query: source})
	for round := 0; len(rows) > 0; round++ {
		if round == maxChangeRounds {
			return parser.Errorf(m.s.Pos, "other statements change rows of %s all the time: repeat the statement", m.table.Name)
		}
		if err := write.Pause(ctx, round); err != nil {
			return err
		}
		given := &planner.Given{Columns: m.source}
		for _, row := range rows {
			given.Rows = append(given.Rows, row[len(row)-len(m.source):])
		}
		r, env := m.run.inner(false), *m.run.env
		r.env, env.Given = &env, maps.Clone(env.Given)
		if env.Given == nil {
			env.Given = map[*parser.Select]*planner.Given{}
		}
		env.Given[source] = given
		r.prepare(ctx, q)
		p, err := r.planSelect(ctx, q)
		if rows = nil; err == nil {
			err = r.eachRow(ctx, p, atOnce, func(now [][]types.Value) (err error) {
				rows, err = m.apply(ctx, now, true)
				return err
			})
		}
		r.subqueries.end()
		if err != nil {
			return err
		}
	}
	return nil
}
