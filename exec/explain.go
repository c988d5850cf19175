package exec

import (
	"cmp"
	"context"
	"time"

	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// explain runs EXPLAIN. The result has one column "plan", with one row per line; JSON and HTML are a single row.
func (r *run) explain(ctx context.Context, s *parser.Explain) (*Rows, error) {
	planned := r.planFor
	if s.Analyze {
		planned = r.plan
	}
	p, err := planned(ctx, s.Statement)
	if err != nil {
		return nil, err
	}
	if p.MadeUp == nil {
		p.Estimate = estimate.Of(p, r.env.Statistics)
	}
	var figures *explain.Figures
	if s.Analyze {
		if figures, err = r.analyze(ctx, s, p); err != nil {
			return nil, err
		}
	}
	switch s.Format {
	case "", "TEXT":
		drawn := explain.Text(p, figures)
		var lines [][]string
		for _, l := range drawn {
			for i := range l {
				l[i].Text = r.session.named(l[i].Text)
			}
			lines = append(lines, []string{l.String()})
		}
		rows := r.table(textColumns("plan"), textRows(lines...))
		rows.Drawn = drawn
		return rows, nil
	case "JSON":
		b, err := explain.JSON(p, figures)
		if err != nil {
			return nil, err
		}
		rows := r.table([]plan.OutputColumn{{Name: "plan", Type: types.JSON}}, [][]types.Value{{types.NewJSON(string(b))}})
		rows.Drawn = []explain.Line{{{Text: string(b)}}}
		return rows, nil
	case "HTML":
		page := explain.HTML(s.Statement.String(), p, figures)
		rows := r.table(textColumns("plan"), textRows([]string{page}))
		rows.Document = true
		return rows, nil
	}
	return nil, parser.Errorf(s.Pos, "EXPLAIN gives TEXT, JSON or HTML, not %s", s.Format)
}

// planFor plans stmt. If stmt has parameters and no arguments are given, planFor makes up arguments.
func (r *run) planFor(ctx context.Context, stmt parser.Statement) (*plan.Plan, error) {
	if len(r.args.Positional) > 0 || len(r.args.Named) > 0 || parser.FirstParam(stmt) == nil {
		return r.plan(ctx, stmt)
	}
	u, err := r.engine.planUnbound(ctx, readerOf(stmt), r.args.Session)
	if err != nil {
		return nil, err
	}
	if u.Plan == nil {
		return r.plan(ctx, stmt)
	}
	u.Plan.MadeUp = u.Arguments
	return u.Plan, nil
}

// analyze runs the query of p and measures it.
func (r *run) analyze(ctx context.Context, s *parser.Explain, p *plan.Plan) (*explain.Figures, error) {
	if _, ok := s.Statement.(*parser.Select); !ok {
		return nil, parser.Errorf(s.Pos, "EXPLAIN ANALYZE runs queries only")
	}
	planning := time.Since(r.rec.began.at)
	m := &meter{steps: map[plan.Node]*meteredOp{}}
	r.Opt.Wrap = m.wrap
	r.record(newRecorder(r.Client))
	r.rec.Tracing = true
	err := r.eachRow(ctx, p, asRead, func(rows [][]types.Value) error {
		r.rec.returned.Add(int64(len(rows)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	st := r.rec.stats(r.Client)
	out := &explain.Figures{RowsReturned: st.RowsReturned, RowsRead: st.RowsRead, Gets: st.Gets, Scans: st.Scans, RPCs: st.RPCs, Bytes: st.Bytes,
		Retries: st.Retries, Planning: planning, Elapsed: st.Elapsed}
	out.Runs = r.subqueries.runs
	p.EachRead(func(part *plan.Plan) { out.Steps = append(out.Steps, explain.Steps(part.Root, m.of)...) })
	for _, s := range out.Steps {
		if a, ok := s.Node.(*plan.Apply); ok {
			left, _ := m.of(a.Left)
			out.Runs[a.Query.Select] = explain.Runs{Times: left, Rows: s.Rows}
		}
	}
	for _, t := range st.Tables {
		out.Tables = append(out.Tables, explain.Table{Scan: cmp.Or(t.Scan.For, t.Scan), Gets: t.Gets, Scans: t.Scans, RowsRead: t.RowsRead, Rows: t.Rows,
			RPCs: t.RPCs, Bytes: t.Bytes, Scanned: t.Scanned, Elapsed: t.Elapsed, Regions: t.Regions})
	}
	return out, nil
}
