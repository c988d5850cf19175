package exec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// Piece is a part of a query's rows. All pieces of a query have the same plan, and each has the rows that this plan
// reads in the piece's key ranges.
type Piece struct {
	Tables      []string       // by name, and views
	Definitions string         // digest of the tables' definitions when the query was cut
	Layout      string         // the layout read of the only table; "" if there are several
	Reads       string         // the table and the layout to which Ranges belong
	Now         int64          // the query's NOW()
	Ranges      []plan.Span    // of HBase tables: by table, then start; disjoint
	FullScan    FullScanPolicy // for a full scan that is noticed only when the piece runs
	KnownSmall  bool           // statistics showed that the query reads little: a piece fails if it reads more
}

// CutPiece is a Piece with the estimates made when the query is cut.
type CutPiece struct {
	Piece
	Server   string         // the server that has most of its rows, or ""
	Estimate *plan.Estimate // nil if unknown
}

// Cut is a query cut into pieces, which together return each row of the query once.
type Cut struct {
	Pieces   []CutPiece // at least one
	Columns  []plan.OutputColumn
	Warnings []string
	Location *time.Location // the time zone with which the query was planned
}

// ErrUncut marks, for errors.Is, the refusal to cut a query.
var ErrUncut = planner.ErrUncut

// ErrPieceChanged marks, for errors.Is, the refusal of a piece whose tables have been redefined.
var ErrPieceChanged = errors.New("the definitions of tables have changed since the statement was cut into pieces: cut it again")

// Cut cuts a query into pieces of about one region each. It reads only the locations of regions. The full-scan policy,
// and the scan limit if there are statistics, apply to the query as a whole.
func (e *Engine) Cut(ctx context.Context, s *parser.Select, args Args) (*Cut, error) {
	var out *Cut
	err := e.during(ctx, args, func(ctx context.Context, r *run) error {
		return operator.Safely(func() (err error) {
			out, err = r.cut(ctx, s)
			return err
		})
	})
	return out, err
}

func (r *run) cut(ctx context.Context, s *parser.Select) (*Cut, error) {
	piece, p, err := r.pieceOf(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := r.checkPlan(p); err != nil {
		return nil, err
	}
	piece.FullScan, piece.KnownSmall = r.policy, slices.ContainsFunc(p.Scans(), func(s *plan.Scan) bool { return r.judge(s) == budgeted })
	if r.allowFull {
		piece.FullScan = AllowFullScan // the policy was applied to the whole query
	}
	read := planner.CutScan(p)
	if err := r.filled(ctx, read.Table, read.Layout); err != nil {
		return nil, err
	}
	out := &Cut{Columns: p.Columns, Warnings: r.Warn.Texts(), Location: r.settings.loc}
	spans := read.Spans
	if read.ListTables {
		if spans, err = r.ListTables(ctx, read); err != nil {
			return nil, err
		}
	}
	w := weigher{all: spans}
	if figures := r.statistics(read.Table); figures != nil {
		if e, ok := estimate.Scan(read, figures); ok {
			w.key, w.estimate = figures.Key(read.Layout.Name), &e
		}
	}
	for _, table := range tablesOf(spans) {
		regions, err := r.Client.Regions(ctx, table)
		if err == nil && len(regions) == 0 {
			err = hbase.ErrNoTable
		}
		if errors.Is(err, hbase.ErrNoTable) && scan.ComputedName(read.Layout) {
			continue // an empty range
		}
		if err != nil {
			return nil, fmt.Errorf("the regions of %s: %w", table, err)
		}
		out.Pieces = append(out.Pieces, w.pieces(piece, table, regions, float64(r.Tuning.PieceBytes))...)
	}
	if out.Pieces == nil { // a query that reads nothing may still return a row: an aggregate over no rows
		out.Pieces = []CutPiece{{Piece: piece}}
	}
	return out, r.checkUnchanged(ctx, p.Tables()...)
}

// pieceOf returns the common part of all pieces of s, and the plan that is cut.
func (r *run) pieceOf(ctx context.Context, s *parser.Select) (piece Piece, p *plan.Plan, err error) {
	piece.Now = r.env.Now
	if p, err = r.planPiece(ctx, s, ""); err != nil {
		return piece, nil, err
	}
	if len(p.Reads()) == 1 { // statistics may recommend another layout
		best, err := r.resolved(ctx, func() (*plan.Plan, error) { return r.env.Piece(s, "") })
		if err != nil {
			return piece, nil, err
		}
		piece.Layout = planner.CutScan(best).Layout.Name
		if p, err = r.planPiece(ctx, s, piece.Layout); err != nil {
			return piece, nil, err
		}
		planner.CutScan(p).Cheaper = planner.CutScan(best).Cheaper
	}
	for _, t := range p.Tables() {
		piece.Tables = append(piece.Tables, t.Name)
	}
	piece.Tables = r.views(s, piece.Tables)
	slices.Sort(piece.Tables)
	piece.Tables = slices.Compact(piece.Tables)
	piece.Reads = reads(planner.CutScan(p))
	piece.Definitions, err = r.digest(piece.Tables)
	return piece, p, err
}

// reads returns the names of the table and layout that s reads.
func reads(s *plan.Scan) string { return s.Table.Name + " by " + s.Layout.Name }

// planPiece plans s to be cut. It uses no statistics: the engine that cuts the query and the one that runs a piece must
// make the same plan.
func (r *run) planPiece(ctx context.Context, s *parser.Select, layout string) (*plan.Plan, error) {
	env := *r.env
	env.Statistics = nil
	return r.resolved(ctx, func() (*plan.Plan, error) { return env.Piece(s, layout) })
}

// weigher estimates which share of a query's reads falls in some of the query's spans.
type weigher struct {
	all      []plan.Span
	estimate *plan.Estimate // of the whole query; nil if unknown
	key      *stats.Key
}

// pieces returns the pieces of a table with about most bytes each, by its current regions.
func (w *weigher) pieces(piece Piece, table string, regions []hbase.Region, most float64) (out []CutPiece) {
	var start []byte // of the remaining keys: pieces must cover every key, even if regions change before they run
	for i, g := range regions {
		whole := plan.Span{Table: table, Start: start}
		if i+1 < len(regions) {
			if whole.Stop = regions[i+1].Start; bytes.Compare(whole.Stop, start) <= 0 {
				continue // a region split or merged between the two reads
			}
		}
		start = whole.Stop
		for _, part := range w.cut(whole, most) {
			if of := plan.Within(w.all, []plan.Span{part}); len(of) > 0 {
				c := CutPiece{Piece: piece, Server: g.Server, Estimate: w.of(of)}
				c.Ranges = []plan.Span{part}
				out = append(out, c)
			}
		}
	}
	return out
}

// rows estimates the number of rows with keys in spans, from the histogram of ANALYZE. ok is false if the histogram
// does not cover the spans.
func (w *weigher) rows(spans []plan.Span) (n float64, ok bool) {
	for _, s := range spans {
		rows, ok := w.key.InRange(stats.Range{Table: s.Table, Start: s.Start, Stop: s.Stop, Key: s.Key})
		if !ok {
			return 0, false
		}
		n += rows
	}
	return n, true
}

// of estimates the reads in spans.
func (w *weigher) of(spans []plan.Span) *plan.Estimate {
	if w.estimate == nil {
		return nil
	}
	all, known := w.rows(w.all)
	here, ok := w.rows(spans)
	if !known || !ok || all == 0 {
		return nil
	}
	out, share := *w.estimate, here/all
	out.Rows, out.Bytes, out.RPCs, out.Cost = out.Rows*share, out.Bytes*share, out.RPCs*share, out.Cost*share
	return &out
}

// cut cuts a range with more than most estimated bytes, at bounds from the histogram of ANALYZE.
func (w *weigher) cut(whole plan.Span, most float64) []plan.Span {
	e := w.of(plan.Within(w.all, []plan.Span{whole}))
	if e == nil || e.Bytes <= most {
		return []plan.Span{whole}
	}
	var at [][]byte
	for _, s := range w.key.Stored {
		for _, b := range s.Bounds {
			if s.Table == whole.Table && bytes.Compare(b, whole.Start) > 0 && (len(whole.Stop) == 0 || bytes.Compare(b, whole.Stop) < 0) {
				at = append(at, b)
			}
		}
	}
	n := int(min(float64(len(at)+1), math.Ceil(e.Bytes/most)))
	var out []plan.Span
	for i := 1; i < n; i++ {
		part := whole
		part.Stop = at[i*(len(at)+1)/n-1]
		out, whole.Start = append(out, part), part.Stop
	}
	return append(out, whole)
}

// tablesOf lists the HBase tables of spans.
func tablesOf(spans []plan.Span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, s.Table)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// views appends to names the views that s reads, directly or through other views.
func (r *run) views(s *parser.Select, names []string) []string {
	for _, t := range parser.Tables(s) {
		if v, ok := r.env.Catalog.View(t.Name); ok && !slices.Contains(names, v.Name) {
			names = r.views(v.Def.Query, append(names, v.Name))
		}
	}
	return names
}

// digest returns a digest of the definitions of tables and views.
func (r *run) digest(tables []string) (string, error) {
	h := sha256.New()
	for _, name := range tables {
		if v, ok := r.env.Catalog.View(name); ok {
			fmt.Fprintf(h, "%s;\n", v.Def)
			continue
		}
		t, ok := r.env.Catalog.Table(name)
		if !ok {
			return "", fmt.Errorf("%w: there is no table %s (%w)", ErrPieceChanged, name, catalog.ErrUnknownTable)
		}
		fmt.Fprintf(h, "%s;\n", t.SQL())
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// piece runs a piece of s.
func (r *run) piece(ctx context.Context, s *parser.Select, of *Piece) (*Rows, error) {
	now, err := r.digest(of.Tables)
	if err != nil {
		return nil, err
	}
	if now != of.Definitions {
		return nil, fmt.Errorf("%w: cut it again; it reads %s", ErrPieceChanged, strings.Join(of.Tables, ", "))
	}
	p, err := r.planPiece(ctx, s, of.Layout)
	if err != nil {
		return nil, err
	}
	read := planner.CutScan(p)
	if now := reads(read); now != of.Reads {
		return nil, fmt.Errorf("the piece reads %s, and here the statement reads %s: run it with the hql that cut it, and with its options", of.Reads, now)
	}
	read.Spans, read.ListTables = plan.Within(read.Spans, of.Ranges), false
	if r.policy != AllowFullScan {
		r.policy, r.knownSmall = of.FullScan, of.KnownSmall
	}
	op, err := r.open(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Rows{Columns: p.Columns, Affected: -1, Plan: p, run: r, op: op}, nil
}
