package exec

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// explain runs EXPLAIN: one column "plan", a row a line; JSON in one row.
func (r *run) explain(ctx context.Context, s *parser.Explain) (*Rows, error) {
	p, err := r.plan(ctx, s.Statement)
	if err != nil {
		return nil, err
	}
	var counted *Stats
	if s.Analyze {
		if counted, err = r.analyze(ctx, s, p); err != nil {
			return nil, err
		}
	}
	switch s.Format {
	case "", "TEXT":
		drawn := p.Draw(nil)
		if counted != nil {
			for line := range strings.SplitSeq(counted.text(), "\n") {
				drawn = append(drawn, planner.Line{{Text: line}})
			}
		}
		var lines [][]string
		for _, l := range drawn {
			lines = append(lines, []string{l.String()})
		}
		rows := r.table(textColumns("plan"), textRows(lines...))
		rows.Drawn = drawn
		return rows, nil
	case "JSON":
		b, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if counted != nil {
			b = append(append(b[:len(b)-1], `,"analyze":`...), append(counted.json(), '}')...)
		}
		return r.table([]planner.OutputColumn{{Name: "plan", Type: types.JSON}}, [][]types.Value{{types.NewJSON(string(b))}}), nil
	}
	return nil, parser.Errorf(s.Pos, "EXPLAIN gives TEXT or JSON, not %s", s.Format)
}

// analyze runs the query of p and counts.
func (r *run) analyze(ctx context.Context, s *parser.Explain, p *planner.Plan) (*Stats, error) {
	if _, ok := s.Statement.(*parser.Select); !ok {
		return nil, parser.Errorf(s.Pos, "EXPLAIN ANALYZE runs queries only")
	}
	op, cancel, err := r.open(ctx, p)
	if err != nil {
		return nil, err
	}
	defer cancel()
	defer op.Close()
	for {
		rows, err := op.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		r.rec.returned.Add(int64(len(rows)))
	}
	if err := op.Close(); err != nil {
		return nil, err
	}
	out := r.rec.stats(r.client)
	return &out, nil
}

// text is what EXPLAIN ANALYZE adds.
func (s *Stats) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "returned %s in %s: %s, %d bytes, %d retries", counted(s.RowsReturned, "row"), ms(s.Elapsed), counted(s.RPCs, "RPC"), s.Bytes, s.Retries)
	for _, t := range s.Tables {
		fmt.Fprintf(&b, "\n  %s", t.Table)
		if t.Layout != "primary" {
			fmt.Fprintf(&b, " (%s)", t.Layout)
		}
		fmt.Fprintf(&b, ": %s, %s, read %s, kept %d, %s", counted(t.Gets, "get"), counted(t.Scans, "scan"), counted(t.RowsRead, "row"), t.Rows, ms(t.Elapsed))
	}
	return b.String()
}

func (s *Stats) json() []byte {
	b := fmt.Appendf(nil, `{"rows_returned":%d,"rows_read":%d,"gets":%d,"scans":%d,"rpcs":%d,"bytes":%d,"retries":%d,"ms":%.3f}`,
		s.RowsReturned, s.RowsRead, s.Gets, s.Scans, s.RPCs, s.Bytes, s.Retries, float64(s.Elapsed)/float64(time.Millisecond))
	return b
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }
