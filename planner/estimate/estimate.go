// Package estimate estimates the reads of a plan from statistics. It computes figures from a plan and statistics without
// I/O, and returns no figure if a fact that it needs is unknown.
package estimate

import (
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// Of estimates the rows and bytes that the region servers send for p. It returns nil if they are unknown.
func Of(p *plan.Plan, find Statistics) *plan.Estimate {
	if len(p.Subplans) > 0 && len(p.Asked(map[*plan.Subplan]bool{})) > 0 {
		return nil
	}
	r, all, ok := New(find), plan.Estimate{}, true
	p.EachRead(func(part *plan.Plan) {
		e, known := r.read(part.Root, true)
		if ok = ok && known; part != p {
			e.Result = all.Result
		}
		all = sum(all, e, e.Result)
	})
	if !ok || all.At.IsZero() || !sane(&all) {
		return nil
	}
	return &all
}

// Scan estimates one table access in the order of its execution: key ranges, skips within them, the servers' filter, the
// client's filter, and the limit. Each step needs the figures of the previous ones.
func Scan(s *plan.Scan, t *stats.Table) (e plan.Estimate, ok bool) {
	k := t.Key(s.Layout.Name)
	if k == nil || t.Unscaled || s.AllVersions || s.MaxTime > 0 {
		return e, false
	}
	looked, ok := inSpans(s, t, k) // rows that the servers look at
	if !ok {
		return e, false
	}
	of := allRows(s.Table, t)
	if slices.ContainsFunc(s.Fates, func(f plan.Fate) bool { return f.By != plan.ByKey }) {
		for _, f := range s.Fates {
			if f.By == plan.ByKey && !of.where(f.Expr) {
				of.left = nil // the rows in these ranges need not be like the sample's
			}
		}
		of.share = 1 // the ranges already select the matching rows
	}
	ranges := len(s.Spans)
	if s.ListTables {
		ranges *= max(1, len(k.Stored))
	}
	w := work{ranges: ranges, found: float64(ranges)}
	if len(s.Key) > 0 && len(k.Stored) == 1 {
		w.values, w.read = buckets(s, s.Key[0])
	}
	if s.Access == plan.Get { // keys without a row are requested as well
		w.gets, w.ranges, w.found = float64(len(s.Spans)), 0, looked/max(1, t.Packed)
	}
	sought := s.Hop != nil // the servers seek to the rows that match the conditions on the key
	switch {
	case s.Hop != nil || s.DistinctPrefix > 0:
		if looked, sought, ok = w.hop(s, t, k, looked); !ok {
			return e, false
		}
	case fuzzy(s.Filter):
		if matching, ok := byKeyColumns(s, t, k); ok {
			w.skipped, sought = max(0, looked-matching), true
			looked = min(looked, matching)
		}
	}
	partly, ok := filtered(s, of, sought)
	if !ok {
		return e, false
	}
	rows := min(looked*of.share, k.Rows*of.least)
	hidden := hiddenFrom(s, t, k)
	if rows*(1-t.Unread) < hidden {
		return e, false
	}
	byServers := of.share
	of.share = 1
	known := true
	for _, f := range s.Fates {
		if f.By == plan.ByClient && !math.IsInf(denser(s, f.Expr), 1) {
			known = known && of.inRanges(s, f.Expr, f.Expr)
		}
	}
	for _, cond := range partly {
		known = known && of.where(cond)
	}
	known = known && rows*of.share*(1-t.Unread) >= hidden
	if s.Limit.Set {
		if !known {
			return e, false
		}
		if wanted := float64(s.Limit.Rows) / of.share; of.share > 0 && rows > wanted {
			if s.Order == plan.MergeOrder {
				wanted = max(wanted, min(rows, float64(len(s.Spans))*firstOfStream(s)))
			}
			rows = min(rows, wanted)
			looked = min(looked, rows/max(byServers, 1e-9))
		}
	}
	result := plan.Unknown
	if known {
		result = min(rows*of.share, k.Rows*of.least)
		if s.Limit.Set {
			result = min(result, float64(s.Limit.Rows))
		}
	}
	w.look(s, t, k, looked)
	w.send(w.keysSeen, sentOf(s, t, k, true))
	w.send(rows, sentOf(s, t, k, s.Entries))
	if s.Entries {
		w.follow(t, rows)
	}
	e = w.estimate(k)
	e.Result = result
	return e, sane(&e)
}

// firstOfStream returns the number of rows that are requested first for each of the streams that s merges up to its limit:
// see exec/scan.
func firstOfStream(s *plan.Scan) float64 {
	limit := float64(s.Limit.Rows)
	if s.Residual != nil {
		return max(firstRows, 2*limit)
	}
	return min(limit, float64(plan.FirstShare(int(s.Limit.Rows), len(s.Spans))))
}

// hiddenFrom estimates how many rows that match s's conditions may be among those that ANALYZE had no time to read. If
// they may be more than those it has read, the number of matching rows is unknown.
func hiddenFrom(s *plan.Scan, t *stats.Table, k *stats.Key) float64 {
	if len(s.Fates) == 0 || s.Access == plan.Get || s.Layout == s.Table.Layouts[0] && !slices.ContainsFunc(s.Spans, func(sp plan.Span) bool { return len(sp.Start)+len(sp.Stop) == 0 }) {
		return 0 // keys are counted, and ranges that ANALYZE has not read completely are not estimated
	}
	return t.Unread * k.Rows
}

// filtered takes in of the rows that are read, and reduces them to the rows that pass the servers' filter. It returns
// in partly the conditions for which the servers only check that a cell exists. ok is false if the number of matching
// rows is unknown. sought reports that only rows that match the conditions on the key are read.
func filtered(s *plan.Scan, of *rows, sought bool) (partly []expr.Expr, ok bool) {
	for _, f := range s.Fates {
		if f.By != plan.ByServer && f.By != plan.ByBoth {
			continue
		}
		was, cond := of.share, f.Expr
		if there := presence(s, f); there != nil {
			partly, cond = append(partly, f.Expr), there
		}
		if !of.inRanges(s, f.Expr, cond) {
			return nil, false
		}
		if sought && onKey(s, f.Expr) {
			of.share = was
		}
	}
	return partly, true
}

// inRanges keeps those rows in the ranges of s for which cond is true, and reports whether it could estimate cond. The
// servers check cond in place of the whole condition e.
func (r *rows) inRanges(s *plan.Scan, e, cond expr.Expr) bool {
	was := r.share
	ok := r.where(cond)
	if by := denser(s, e); math.IsInf(by, 1) {
		r.share = was
	} else {
		r.share = min(was, r.share*by)
	}
	return ok
}

// denser returns the factor by which rows that match e are more frequent in the ranges of s than in the whole table.
// They are more frequent if bound key parts are computed from e's column. The factor is infinite for a part with many
// values, such as a hash: then nearly all rows in the ranges match.
//
//	CRC32(device) % 16 AS UINT8, ts AS INT64, device AS TEXT      device = 'd7' is 16 times as frequent in one bucket
func denser(s *plan.Scan, e expr.Expr) float64 {
	times, columns := 1.0, expr.Columns(e)
	for _, p := range s.Key {
		if _, column := p.Part.Column(); column || len(columns) != 1 || !slices.Equal(p.Part.Columns, columns) || p.Use != plan.Bound && p.Use != plan.Enumerated {
			continue
		}
		switch all, read := buckets(s, p); {
		case all > 0:
			times *= max(1, all/read)
		case p.Use == plan.Bound:
			return math.Inf(1)
		}
	}
	return times
}

// buckets returns how many values a key part can have, and how many of them s reads; 0 if there are too many, or if they
// are not known.
func buckets(s *plan.Scan, p plan.PartUse) (all, read float64) {
	dom, ok := p.Part.Domain()
	values, listed := dom.Values(fewValues)
	if !ok || !listed || p.Use != plan.Bound && p.Use != plan.Enumerated {
		return 0, 0
	}
	these, _ := p.Values.Values(fewValues)
	if p.Varied || len(these) == 0 { // not all are known
		return float64(len(values)), float64(min(len(values), max(1, len(s.Spans))))
	}
	return float64(len(values)), float64(len(these))
}

// fewValues is the greatest number of values of a part like a bucket: rows with one of them have many values of its column.
const fewValues = 4096

// sane reports whether e has figures that are possible: damaged statistics may lead to others.
func sane(e *plan.Estimate) bool {
	const most = 1e18 // fits in an int64
	for _, f := range []float64{e.Rows, e.Bytes, e.RPCs, e.Cost} {
		if !(f >= 0 && f <= most) {
			return false
		}
	}
	return e.Result >= plan.Unknown && e.Result <= most
}

// presence returns the condition that a column is not NULL, if this is all that the servers check of the predicate of
// f. Otherwise it returns nil.
func presence(s *plan.Scan, f plan.Fate) expr.Expr {
	columns := expr.Columns(f.Expr)
	if f.By != plan.ByBoth || len(columns) != 1 || columns[0] >= len(s.Table.Columns) {
		return nil
	}
	c := s.Table.Columns[columns[0]]
	all, ok := s.Filter.(filter.And)
	if !ok {
		all = filter.And{s.Filter}
	}
	if !slices.Contains(all, filter.Filter(filter.CellNull{Family: c.Family, Qualifier: c.Qualifier, Not: true})) {
		return nil
	}
	return &expr.IsNull{X: &expr.Column{Index: c.Index, Name: c.Name, Typ: c.Type}, Not: true}
}

// inSpans estimates the rows in the spans of s.
func inSpans(s *plan.Scan, t *stats.Table, k *stats.Key) (rows float64, ok bool) {
	bound, tail := 0, -1.0
	for i, p := range s.Key {
		if p.Use == plan.Bound || p.Use == plan.Enumerated || p.Use == plan.Literal {
			bound = i + 1
			continue
		}
		if col, isColumn := p.Part.Column(); isColumn && p.Use == plan.Ranged && !p.Varied && p.Values != nil {
			if c := t.Column(col); c != nil && c.Nulls < 1 {
				if share, ok := c.Share(p.Values); ok {
					tail = share / (1 - c.Nulls)
					before := under(s, t, i)
					if n := before.left.count(); n > 0 {
						kept, _ := before.within(col, p.Values)
						tail = given(tail, true, kept.count(), n, before.whole)
					}
				}
			}
		}
		if p.Use == plan.Unused {
			tail = 1
		}
		break
	}
	if here := inTables(s, k); tail > 0 && here > 0 { // the other tables have no row in the range
		tail = min(1, tail*k.Rows/here)
	}
	for _, sp := range s.Spans {
		r := stats.Range{Table: sp.Table, Start: sp.Start, Stop: sp.Stop, Key: sp.Key, Tail: tail}
		if n := s.Layout.Key.PrefixLen(sp.Start, bound, false); bound > 0 && n > 0 && sp.AllBegin(sp.Start[:n]) {
			r.Bound, r.Prefix = bound, sp.Start[:n]
		}
		tables := []string{sp.Table}
		if s.ListTables {
			tables = tables[:0]
			for _, stored := range k.Stored {
				if s.MayRead(stored.Table) {
					tables = append(tables, stored.Table)
				}
			}
		}
		for _, name := range tables {
			r.Table = name
			n, ok := k.InRange(r)
			if !ok {
				return 0, false
			}
			if sp.Key {
				n *= max(1, t.Packed)
			}
			rows += n
		}
	}
	if len(k.Stored) > 1 || slices.ContainsFunc(s.Key, func(p plan.PartUse) bool { return p.Use == plan.Enumerated }) {
		for _, f := range s.Fates { // a rare value occurs neither in each table nor with each enumerated value
			if share, ok := shareOf(f.Expr, t); ok && f.By == plan.ByKey {
				rows = min(rows, share*k.Rows)
			}
		}
	}
	return min(rows, max(k.Rows, float64(len(s.Spans)))), true
}

// inTables returns the number of rows in the HBase tables that s reads, if it reads only some of the layout's tables;
// otherwise 0.
func inTables(s *plan.Scan, k *stats.Key) (rows float64) {
	if s.ListTables || len(k.Stored) < 2 {
		return 0
	}
	last := ""
	for _, sp := range s.Spans {
		if stored := k.StoredIn(sp.Table); stored != nil && sp.Table != last {
			rows += stored.Rows
		}
		last = sp.Table
	}
	return rows
}

// under returns the rows that have the values of the first n parts of s's key, which are all bound.
func under(s *plan.Scan, t *stats.Table, n int) *rows {
	r := allRows(s.Table, t)
	for _, p := range s.Key[:n] {
		col, isColumn := p.Part.Column()
		if p.Varied || p.Use != plan.Literal && !isColumn {
			r.left = nil
		} else if isColumn && r.left != nil {
			r.left, _ = r.within(col, p.Values)
		}
	}
	return r
}

// shareOf estimates the share of a table's rows for which e is true.
func shareOf(e expr.Expr, t *stats.Table) (share float64, ok bool) {
	switch e := e.(type) {
	case *expr.And:
		return product(e.Terms, t, func(share float64) float64 { return share })
	case *expr.IsNull:
		if c, ok := e.X.(*expr.Column); ok {
			if known := t.Column(c.Index); known != nil {
				if e.Not {
					return 1 - known.Nulls, true
				}
				return known.Nulls, true
			}
		}
		return 0, false
	}
	if col, set, exact, ok := solve.Sarg(e); ok && exact {
		return t.Column(col).Share(set)
	}
	if or, is := e.(*expr.Or); is {
		none, ok := product(or.Terms, t, func(share float64) float64 { return 1 - share })
		return 1 - none, ok
	}
	return 0, false
}

// product multiplies what of makes of the share of each of terms.
func product(terms []expr.Expr, t *stats.Table, of func(share float64) float64) (all float64, ok bool) {
	all = 1
	for _, term := range terms {
		share, ok := shareOf(term, t)
		if !ok {
			return 0, false
		}
		all *= of(share)
	}
	return all, true
}

// size is the mean number of cells of a row, and the mean number of their bytes.
type size struct{ cells, bytes float64 }

// keyValue is the size of a cell in bytes without its rowkey, its name and its value.
const keyValue = 24

// sentOf returns the size of the part of a row that the servers send.
func sentOf(s *plan.Scan, t *stats.Table, k *stats.Key, keysOnly bool) size {
	name := 4.0
	if families := s.Families; len(families) > 0 {
		name = float64(len(families[0])) + 1
	}
	switch {
	case keysOnly || s.Fetch == plan.FetchKeys:
		return size{1, keyValue + k.Bytes + name} // one cell without its value
	}
	if s.Fetch == plan.FetchAll {
		return size{t.Cells, t.Bytes}
	}
	var sum size
	for i, c := range s.Table.Columns {
		if c.KeyPart || c.Packed != nil {
			continue
		}
		if slices.ContainsFunc(s.Columns, func(f filter.Column) bool { return f.Family == c.Family && f.Qualifier == c.Qualifier }) {
			sum.cells += 1 - t.Columns[i].Nulls
			sum.bytes += t.Columns[i].Bytes * (1 - t.Columns[i].Nulls)
		}
	}
	if s.Fetch == plan.FetchFirst {
		return size{max(sum.cells, 1), max(sum.bytes, t.Bytes/max(t.Cells, 1))}
	}
	return sum
}
