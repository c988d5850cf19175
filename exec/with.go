package exec

import (
	"context"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// writing runs a statement behind a WITH list of which queries write. Each part runs once: the queries that write, those
// that several parts read, and the statement. A part reads the rows of earlier ones from memory.
//
// No part sees what another one writes. So a query of the list does not write before the parts behind it have run if
// these read its table. Nor does a DELETE whose rows another part writes: a fault between them must lose no row.
type writing struct {
	*run
	*parser.Writing
	parts []*part
	main  *Rows // the result of the statement
}

// part is a query of the list, or the statement behind it.
type part struct {
	statement parser.Statement
	writes    *catalog.Table // nil: it only reads
	reads     []*catalog.Table
	rowsOf    []int          // the queries of the list that it names, directly or through others
	rows      *parser.Select // stands for its rows, once they are known
	turn      turn
}

// turn is when a part that writes runs.
type turn uint8

const (
	inOrder    turn = iota
	afterRest       // when the parts behind it have run
	aroundRest      // it reads before the parts behind it run, and deletes afterwards
)

func (r *run) writing(ctx context.Context, s *parser.Writing) (*Rows, error) {
	plans := r.inner(false)
	env := *r.env
	env.Subqueries, env.Views, plans.env, plans.subqueries = nil, nil, &env, nil
	if _, err := plans.describeWriting(ctx, s); err != nil { // a part with a mistake must not fail behind others that wrote
		return nil, err
	}
	w, err := r.newWriting(s)
	if err == nil {
		err = w.from(ctx, 0)
	}
	if err != nil {
		return nil, err
	}
	return w.main, nil
}

// newWriting finds what each part of s reads and writes.
func (r *run) newWriting(s *parser.Writing) (*writing, error) {
	w := &writing{run: r, Writing: s}
	r.env.Given = map[*parser.Select]*planner.Given{}
	for i := range len(s.With) + 1 {
		p := &part{statement: s.Statement}
		if i < len(s.With) {
			if p.statement = s.With[i].Write; p.statement == nil {
				p.statement = s.With[i].Query
			}
		}
		if parser.Written(p.statement) != "" {
			var err error
			if p.statement, err = r.throughView(p.statement); err != nil {
				return nil, err
			}
			if p.writes, err = r.tableNamed(parser.Written(p.statement), p.statement.Position()); err != nil {
				return nil, err
			}
			if _, insert := p.statement.(*parser.Insert); !insert {
				p.reads = append(p.reads, p.writes)
			}
		}
		w.addReads(p, p.statement, i)
		w.parts = append(w.parts, p)
	}
	for i, p := range w.parts[:len(s.With)] {
		if p.writes == nil {
			continue
		}
		some := func(is func(o *part) bool) bool { return slices.ContainsFunc(w.parts[i+1:], is) }
		names := func(o *part) bool { return slices.Contains(o.rowsOf, i) }
		seen := some(func(o *part) bool { return o.readsAnyOf(p.writes) })
		_, deletes := p.statement.(*parser.Delete)
		switch {
		case deletes && (seen || some(func(o *part) bool { return o.writes != nil && names(o) })):
			p.turn = aroundRest
		case seen && (some(names) || some(func(o *part) bool { return o.writes != nil && p.readsAnyOf(o.writes) })):
			return nil, parser.Errorf(s.With[i].Pos, "%s writes %s, which another part of the statement reads: this is not supported, since HBase keeps no snapshot of the rows", s.With[i].Name, p.writes.Name).
				WithHint("run the %s as a statement of its own, with RETURNING, and the rest before or after it", p.statement.Command())
		case seen:
			p.turn = afterRest
		}
	}
	return w, nil
}

// addReads adds to p what n reads; n may name the first i queries of the list.
func (w *writing) addReads(p *part, n parser.Node, i int) {
	for _, t := range parser.Tables(n) {
		k := slices.IndexFunc(w.With[:i], func(c parser.CTE) bool { return !t.InSchema && strings.EqualFold(c.Name, t.Name) })
		if k >= 0 {
			p.rowsOf = append(append(p.rowsOf, k), w.parts[k].rowsOf...)
			if w.parts[k].writes == nil {
				p.reads = append(p.reads, w.parts[k].reads...)
			}
		} else if v, ok := w.engine.catalog.View(t.Name); ok {
			w.addReads(p, v.Def.Query, 0)
		} else if read, ok := w.engine.catalog.Table(t.Name); ok {
			p.reads = append(p.reads, read)
		}
	}
}

// from runs part i and those behind it.
func (w *writing) from(ctx context.Context, i int) error {
	if i == len(w.With) {
		rows, kept, err := w.runPart(ctx, i, false)
		if err == nil {
			w.main = &Rows{Columns: rows.Columns, Affected: rows.Affected, run: w.run}
			if rows.op != nil {
				w.main.op = kept.Reader()
			} else {
				w.rec.end(w.Client)
			}
		}
		return err
	}
	p, behind := w.parts[i], w.parts[i+1:]
	switch {
	case p.writes == nil: // several parts must read the same rows
		names := func(o *part) bool { return slices.Contains(o.rowsOf, i) }
		if first := slices.IndexFunc(behind, names); first < 0 || !slices.ContainsFunc(behind[first+1:], names) {
			return w.from(ctx, i+1)
		}
	case p.turn == afterRest:
		if err := w.from(ctx, i+1); err != nil {
			return err
		}
		return w.keep(ctx, i)
	case p.turn == aroundRest:
		sub := w.sub()
		_, err := sub.delete(ctx, parser.Behind(w.list(i), p.statement).(*parser.Delete), func(columns []plan.OutputColumn, rows [][]types.Value) error {
			w.give(i, columns, rows)
			err := w.from(ctx, i+1)
			sub.before = w.rec.written.Load()
			return err
		})
		sub.endSubqueries()
		return err
	}
	if err := w.keep(ctx, i); err != nil {
		return err
	}
	return w.from(ctx, i+1)
}

func (p *part) readsAnyOf(written *catalog.Table) bool {
	return slices.ContainsFunc(p.reads, func(t *catalog.Table) bool { return shareStored(t, written) })
}

// list returns the queries of the list that part i may name.
func (w *writing) list(i int) (out []parser.CTE) {
	for k, p := range w.parts[:i] {
		c := w.With[k]
		if p.rows != nil {
			c.Query, c.Write = p.rows, nil
		}
		if c.Write == nil {
			out = append(out, c)
		}
	}
	return out
}

// sub returns a run for a part.
func (w *writing) sub() *run {
	sub, env := w.inner(false), *w.env
	sub.env, sub.before = &env, w.rec.written.Load()
	return sub
}

// runPart runs part i and keeps its rows; in memory is set if they must fit in memory.
func (w *writing) runPart(ctx context.Context, i int, inMemory bool) (*Rows, *operator.Kept, error) {
	sub, s := w.sub(), w.parts[i].statement
	if i < len(w.With) && w.parts[i].writes == nil { // it may name itself
		c := &w.With[i]
		s = parser.Behind([]parser.CTE{*c}, parser.AllOf(&parser.TableName{Pos: c.Pos, Name: c.Name}))
	}
	rows, err := sub.do(ctx, parser.Behind(w.list(i), s), nil)
	defer func() { sub.subqueries.end() }()
	if err != nil {
		return nil, nil, err
	}
	kept := operator.NewKept(w.Opt, "the rows of WITH", inMemory)
	if rows.op != nil {
		err = operator.Drain(ctx, rows.op, kept.Add)
	}
	if err == nil && rows.Plan != nil {
		err = sub.checkUnchanged(ctx, rows.Plan.Tables()...)
	}
	if err != nil {
		kept.Close()
	}
	return rows, kept, err
}

// keep runs part i, whose rows the parts behind it may read.
func (w *writing) keep(ctx context.Context, i int) error {
	rows, kept, err := w.runPart(ctx, i, true)
	if err == nil {
		w.give(i, rows.Columns, kept.All())
	}
	return err
}

// give makes rows those of part i.
func (w *writing) give(i int, columns []plan.OutputColumn, rows [][]types.Value) {
	q := &parser.Select{Pos: w.With[i].Pos, Cores: []*parser.SelectCore{{Pos: w.With[i].Pos}}}
	w.parts[i].rows, w.env.Given[q] = q, &planner.Given{Columns: columns, Rows: rows}
}

// describeWriting returns the columns of s.
func (r *run) describeWriting(ctx context.Context, s *parser.Writing) ([]plan.OutputColumn, error) {
	w, err := r.newWriting(s)
	for i := 0; i < len(s.With) && err == nil; i++ {
		if c := s.With[i]; c.Write != nil {
			var columns []plan.OutputColumn
			columns, err = r.describeStatement(ctx, parser.Behind(w.list(i), w.parts[i].statement))
			w.give(i, columns, nil)
		}
	}
	if err != nil {
		return nil, err
	}
	return r.describeStatement(ctx, parser.Behind(w.list(len(s.With)), w.parts[len(s.With)].statement))
}
