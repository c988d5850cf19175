package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// String is EXPLAIN for a person: whether the rowkey prefix is hit, the steps from the last to the
// first, and each table's access with the key drawn byte by byte.
//
//	scan files: hits the rowkey prefix, 1 scan, 2 of 3 key parts
//	  key      0      6        14     20 bytes
//	           |######|~~~~~~~~|......|
//	           0-5   # user_id AS TEXT(6)               bound       1
//	           6-13  ~ create_time AS TEXT('yyyyMMdd')  range       [DATE '2012-09-01' - DATE '2012-10-01']
//	           14-19 . file_id AS TEXT(6)               unused      the prefix ends with the range before it
//	  read     files [00000120120901, 00000120121002)
func String(p *plan.Plan) string {
	var b strings.Builder
	for i, l := range Text(p, nil) {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.String())
	}
	return b.String()
}

// Text returns the text of String as lines of styled pieces. If f is not nil, the measurements of a step follow the step, and
// the last line has their sums.
func Text(p *plan.Plan, f *Figures) []Line {
	d := &drawing{figures: f}
	if f != nil {
		d.runs = f.Runs
	}
	if p.MadeUp != nil {
		d.add(textf("%s", madeUp(p)))
	}
	d.plan(p, map[*plan.Subplan]bool{})
	if text := estimateText(p.Estimate, f); text != "" {
		d.add(textf("%s", text))
	}
	if f != nil {
		for _, line := range f.inside() {
			d.add(textf("%s", line))
		}
		d.add(textf("%s", f.summary()))
	}
	return d.lines
}

// madeUp returns a line with the arguments that the planner made up, because EXPLAIN had none.
func madeUp(p *plan.Plan) string {
	return "planned for made-up arguments: " + strings.Join(p.MadeUp, ", ")
}

// plan draws p and its sub-queries, without the sub-queries in seen.
func (d *drawing) plan(p *plan.Plan, seen map[*plan.Subplan]bool) {
	root := p.Root
	for {
		x, ok := root.(*plan.Project) // says nothing that a reader needs
		if !ok || d.figures != nil {
			break
		}
		root = x.Input
	}
	if _, ok := root.(*plan.Scan); !ok {
		d.lines = append(d.lines, planVerdict(p))
	}
	d.node(root, 0)
	if p.Deletes != "" {
		d.add(textf("deletes  %s", p.Deletes))
	}
	for _, s := range p.Subplans {
		if seen[s] {
			continue
		}
		seen[s] = true
		in := &drawing{runs: d.runs}
		if s.Name == "" {
			line := Line{textf("sub-query (%s) runs %s:", s.Text, when(s))}
			if r := d.runs[s.Select]; r.Times > 0 {
				line = append(line, Piece{Dim, fmt.Sprintf("  (%s, %s)", words.Count(r.Times, "run"), words.Count(r.Rows, "row"))})
			}
			d.add(line...)
		} else {
			d.add(textf("%s is computed once:", parser.QuoteName(s.Name)))
			in.figures = d.figures
		}
		in.plan(s.Sample, seen)
		for _, l := range in.lines {
			d.add(append(Line{textf("  ")}, l...)...)
		}
	}
}

// when describes when a sub-query runs.
func when(s *plan.Subplan) string {
	switch {
	case s.Steps:
		return "for the rows of each step, shown for a made-up one"
	case !s.Closed && s.Groups != nil:
		return "for a few rows, then (" + s.Groups.Text + ") once"
	case !s.Closed:
		return "for each row"
	case len(s.Shown) == 0:
		return "once, before the query around it is planned"
	}
	return "once, before the query around it is planned; above as if it gave " + words.Join(s.Shown, ", ", types.Value.SQL)
}

// planVerdict returns a line that says whether every table of the plan, and of its sub-queries, is read by its rowkey's
// prefix.
func planVerdict(p *plan.Plan) Line {
	scans := p.Scans()
	var missed []string
	for _, s := range scans {
		if !s.Access.HitsPrefix() {
			missed = append(missed, s.Table.Name)
		}
	}
	names := slices.Compact(slices.Sorted(slices.Values(missed)))
	switch {
	case len(scans) == 0:
		return Line{{Hit, "reads no table"}}
	case len(missed) == 0:
		return Line{{Hit, "hits the rowkey prefix"}, textf("%s", of(len(scans), ""))}
	}
	return Line{{Miss, "MISSES the rowkey prefix"}, textf(" of %s%s", strings.Join(names, ", "), of(len(scans), fmt.Sprintf("%d of ", len(missed))))}
}

// of returns a text that says how many of the reads a sentence is about, such as "(1 of 3 reads)"; "" if there is one read.
func of(reads int, prefix string) string {
	if reads == 1 {
		return ""
	}
	return fmt.Sprintf(" (%s%d reads)", prefix, reads)
}

func (d *drawing) node(n plan.Node, depth int) {
	in := strings.Repeat("  ", depth)
	next := depth + 1
	switch n := n.(type) {
	case *plan.Scan:
		d.scan(n, in)
		return
	case *plan.Project:
		if d.figures == nil {
			next = depth
			break
		}
		d.add(textf("%scolumns", in), Piece{Dim, "  (" + d.measured(n)[0] + ")"})
	default:
		line := Line{textf("%s%s", in, titleOf(n))}
		notes := d.measured(n)
		if len(notes) > 0 {
			line = append(line, Piece{Dim, "  (" + notes[0] + ")"})
		}
		d.add(line...)
	}
	if j, ok := n.(*plan.Join); ok && j.Lookup != nil {
		d.node(j.Left, next)
		d.add(textf("%s  for each left row, shown for a made-up one:", in))
		d.node(j.Right, next+1)
		return
	}
	for _, x := range n.Inputs() {
		d.node(x, next)
	}
}

// Headline says in one line how s reads its table:
//
//	scan files: hits the rowkey prefix, 1 scan, 2 of 3 key parts
func Headline(s *plan.Scan) string { return titleOf(s) + ": " + verdictOf(s) }

// verdictOf returns a text that says whether s hits the rowkey prefix, and how much s reads.
func verdictOf(s *plan.Scan) (text string) {
	switch s.Access {
	case plan.Empty:
		return "no row can match, nothing is read"
	case plan.HopScan:
		return "MISSES the rowkey prefix, hops over the values of its first parts while they are few"
	case plan.FullScan:
		if most := s.Reads(); most.Set {
			return "MISSES the rowkey prefix, reads " + words.Count(int(most.Rows), "row") + " at most"
		}
		return "MISSES the rowkey prefix"
	}
	gets, scans := s.Counts()
	hits := "hits the rowkey prefix, " + gotten(gets, scans)
	if s.Access == plan.SkipScan {
		hits = "hits the rowkey prefix, hops over the few values of its first parts"
	}
	used, all := 0, 0
	defer func() {
		whole := !slices.ContainsFunc(s.Spans, func(sp plan.Span) bool { return sp.Key || len(sp.Start)+len(sp.Stop) > 0 })
		if used == 0 && all > 0 && s.Access == plan.RangeScan && whole {
			text = fmt.Sprintf("hits the name of its HBase tables and reads these whole, %s, 0 of %d key parts", gotten(gets, scans), all)
		}
	}()
	for _, p := range s.Key {
		switch p.Use {
		case plan.Literal:
		case plan.Unused:
			all++
		default:
			all, used = all+1, used+1
		}
	}
	if all == 1 {
		return hits
	}
	return fmt.Sprintf("%s, %d of %d key parts", hits, used, all)
}

// scan draws one table access.
func (d *drawing) scan(s *plan.Scan, in string) {
	style := Hit
	if !s.Access.HitsPrefix() {
		style = Miss
	}
	d.add(textf("%s%s: ", in, titleOf(s)), Piece{style, verdictOf(s)})
	if s.Access == plan.Empty {
		return
	}
	line := func(label, format string, args ...any) { d.labelled(in, label, textf(format, args...)) }
	d.drawKey(s, in)
	d.drawSpans(s, in)
	if s.ListTables {
		line("tables", "every table named %s*: %s", s.TablePrefix, namesWhy(s))
	}
	label := "where"
	for _, f := range s.Fates {
		where := "  [" + placeOf(f)
		if f.Why != "" {
			where += ": " + f.Why
		}
		d.labelled(in, label, textf("%s", f.Expr), Piece{Dim, where + "]"})
		label = ""
	}
	if s.Filter != nil {
		line("server", "%s", s.Filter)
	}
	line("columns", "%s", columnsText(s))
	if s.Entries {
		line("checked", "against the primary: the keys lead to its rows")
	}
	if versions := versionsText(s); versions != "" {
		line("versions", "%s", versions)
	}
	if kind, why := bloom(s); kind != "" {
		line("bloom", "%s: %s", kind, why)
	}
	if s.Order != plan.NoOrder {
		line("order", "%s", orderOf(s))
	}
	if s.Limit.Set {
		line("limit", "%d", s.Limit.Rows)
	}
	if s.Hop != nil {
		line("hops", "%s", hopText(s))
	}
	if s.DistinctPrefix > 0 {
		line("skip", "%s", skipText(s))
	}
	d.choices(s, in)
	label = "took"
	for _, n := range d.measured(s) {
		line(label, "%s", n)
		label = ""
	}
	for _, w := range s.Warnings {
		d.labelled(in, "warning", Piece{Miss, w})
	}
	if a := s.Advice(); a != "" && !s.Access.HitsPrefix() {
		d.labelled(in, "to hit", Piece{Hit, a})
	}
}

// namesWhy explains a scan that lists HBase tables, because the conditions do not give the names of the tables. It says
// which tables are read, and why.
func namesWhy(s *plan.Scan) string {
	var of []string
	for _, p := range s.Layout.Stored.Parts {
		for _, c := range p.Columns {
			for _, f := range s.Fates {
				if name := s.Table.Columns[c].Name; slices.Contains(expr.Columns(f.Expr), c) && !slices.Contains(of, name) {
					of = append(of, name)
				}
			}
		}
	}
	if of == nil {
		return "nothing binds the name"
	}
	if s.TableNames != nil {
		return "those in " + words.Join(s.TableNames, ", ", plan.Span.Bounds) + ", by " + strings.Join(of, ", ")
	}
	return "the conditions on " + strings.Join(of, ", ") + " leave too many names"
}

// skipText describes a scan that jumps from value to value of the key's first parts, and reads a few rows of each value.
func skipText(s *plan.Scan) string {
	n := s.DistinctPrefix - 1
	for s.Layout.Key.Parts[n].Literal != nil { // the delimiter behind the part
		n--
	}
	of, rows := "", "row"
	if s.DistinctRows > 1 {
		rows = words.Count(s.DistinctRows, "row")
	}
	switch {
	case s.DistinctBoth:
		of = ", the first and the last " + rows + " of each"
	case s.DistinctFirst && s.Reversed:
		of = ", the last " + rows + " of each"
	case s.DistinctFirst || s.DistinctRows > 1:
		of = ", the first " + rows + " of each"
	}
	return "from value to value of " + s.Layout.Key.Parts[n].Source + of
}

// choices draws the other layouts that the planner compared, and what it decided by statistics.
func (d *drawing) choices(s *plan.Scan, in string) {
	line := func(label, format string, args ...any) { d.labelled(in, label, textf(format, args...)) }
	if len(s.Candidates) > 1 {
		for _, c := range s.Candidates {
			switch {
			case c.Lost != "":
				line("layout", "%s: no, it has no rows in which %s", c.Layout, c.Lost)
				continue
			case c.Denied:
				line("layout", "%s: no, %s", c.Layout, c.Why)
				continue
			}
			line("layout", "%s: %s, %s, cost %.0f: %s", c.Layout, c.Access, words.Count(c.Spans, "range"), c.Cost, c.Why)
		}
	}
	if s.First > 0 {
		line("first", "asks for %s, by statistics", words.Count(s.First, "row"))
	}
	if n := len(s.Cuts); n > 0 {
		line("pieces", "%d, read at a time where regions are large, by statistics", n+1)
	}
	if s.Estimate != nil && len(s.Alternatives) > 0 {
		line("chosen", "by statistics: %s", amounts(s.Estimate))
		for i := range s.Alternatives {
			line("not", "%s", alternativeText(&s.Alternatives[i]))
		}
	}
}

// versionsText returns which versions of the cells are read; "" if only the newest is.
func versionsText(s *plan.Scan) string {
	var out []string
	if s.AllVersions {
		out = append(out, "all")
	}
	if s.MinTime > 0 {
		out = append(out, "from "+types.NewTimestamp(s.MinTime).String())
	}
	if s.MaxTime > 0 && s.MaxTime < math.MaxInt64 {
		out = append(out, "up to "+types.NewTimestamp(s.MaxTime-1).String())
	}
	if s.ByTime {
		out = append(out, "find the rows, which are then read whole")
	}
	return strings.Join(out, " ")
}

// placeOf returns where a predicate is checked: by the key, by the servers or by the client.
func placeOf(f plan.Fate) string {
	return [...]string{plan.ByKey: "by the key", plan.ByServer: "server filter", plan.ByClient: "client filter",
		plan.ByBoth: "server filter, checked again on the client"}[f.By]
}

// orderOf returns the order of the rows of s and how it is obtained; "" if they have no order.
func orderOf(s *plan.Scan) string {
	if s.Order == plan.NoOrder {
		return ""
	}
	return fmt.Sprintf("%s (%s)", s.Order, orderText(s.OrderBy))
}

// gotten counts Gets and scans: "2 gets and 1 scan".
func gotten(gets, scans int) string {
	var parts []string
	if gets > 0 {
		parts = append(parts, words.Count(gets, "get"))
	}
	if scans > 0 {
		parts = append(parts, words.Count(scans, "scan"))
	}
	return strings.Join(parts, " and ")
}

// hopText describes a scan that hops from value to value of some key parts: it names these parts, and what is read after each
// value.
func hopText(s *plan.Scan) string {
	reads := make([]string, 0, len(s.Hop.Tails))
	for i, t := range s.Hop.Tails {
		if i == 3 {
			reads = append(reads, fmt.Sprintf("... (%d in all)", len(s.Hop.Tails)))
			break
		}
		reads = append(reads, t.Bounds())
	}
	if s.Hop.Ended {
		reads = append(reads, "nothing")
	}
	return fmt.Sprintf("over the values of %s, unless they turn out to be many; reads %s behind each", freeParts(s), strings.Join(reads, ", "))
}

// freeParts names the key parts without a condition, whose values the scan hops over.
func freeParts(s *plan.Scan) string {
	var free []string
	for i, p := range s.Key {
		if p.Use == plan.Skipped || s.Hop != nil && i < s.Hop.Parts && p.Use != plan.Literal && p.Use != plan.Bound && p.Use != plan.Enumerated {
			free = append(free, p.Part.Source)
		}
	}
	return strings.Join(free, ", ")
}

// columnsIn names the columns of s's table whose values are read from the given cell.
func columnsIn(s *plan.Scan, cell filter.Column) []string {
	var names []string
	for _, c := range s.Table.Columns {
		if s.Needed[c.Index] && c.Family == cell.Family && c.Qualifier == cell.Qualifier {
			names = append(names, c.Name)
		}
	}
	return names
}

// columnsText describes the cells that are read of each row.
func columnsText(s *plan.Scan) string {
	var names []string
	for i, c := range s.Columns {
		if slices.Contains(s.Columns[:i], c) {
			continue // several columns share it
		}
		qualifier := plan.Escape([]byte(c.Qualifier))
		name := c.Family + ":" + qualifier
		if of := columnsIn(s, c); qualifier != c.Qualifier || len(of) > 1 {
			name += " (" + strings.Join(of, ", ") + ")" // the qualifier alone does not say which columns are meant
		}
		names = append(names, name)
	}
	list := strings.Join(names, ", ")
	switch s.Fetch {
	case plan.FetchKeys:
		return "none: keys only"
	case plan.FetchAll:
		return strings.TrimSpace(list + " (all of " + strings.Join(s.Families, ", ") + ")")
	case plan.FetchFirst:
		return list + " and each row's first cell"
	}
	return list
}
