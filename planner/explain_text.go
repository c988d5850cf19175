package planner

import (
	"fmt"
	"slices"
	"strings"

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
func (p *Plan) String() string {
	var b strings.Builder
	for i, l := range p.Draw(nil) {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.String())
	}
	return b.String()
}

// Draw is String as lines of styled pieces. notes, where not nil, gives what was measured of a
// step: the first line goes behind the step's own, the others under it.
func (p *Plan) Draw(notes func(Node) []string) []Line {
	d := &drawing{notes: notes}
	root := p.Root
	for {
		x, ok := root.(*Project) // says nothing that a reader needs
		if !ok || notes != nil {
			break
		}
		root = x.Input
	}
	if _, ok := root.(*Scan); !ok {
		d.lines = append(d.lines, p.Verdict())
	}
	d.node(root, 0)
	for _, s := range p.Subplans {
		when := "for each row"
		if s.Closed {
			when = "once, before the query around it is planned"
			if s.Shown.Type() != types.Null {
				when += "; above as if it gave " + s.Shown.SQL()
			}
		}
		d.add(textf("sub-query (%s) runs %s:", s.Text, when))
		for _, l := range s.Sample.Draw(nil) {
			d.add(append(Line{textf("  ")}, l...)...)
		}
	}
	return d.lines
}

// Verdict tells in a line whether every table of the plan is read by its rowkey's prefix.
func (p *Plan) Verdict() Line {
	scans := Scans(p.Root)
	var missed []string
	for _, s := range scans {
		if s.Access == FullScan {
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

// of tells of how many reads of tables something is said; one needs no telling.
func of(reads int, prefix string) string {
	if reads == 1 {
		return ""
	}
	return fmt.Sprintf(" (%s%d reads)", prefix, reads)
}

func (d *drawing) node(n Node, depth int) {
	in := strings.Repeat("  ", depth)
	next := depth + 1
	switch n := n.(type) {
	case *Scan:
		d.scan(n, in)
		return
	case *Project:
		if d.notes == nil {
			next = depth
			break
		}
		d.add(textf("%scolumns", in), Piece{Dim, "  (" + d.measured(n)[0] + ")"})
	default:
		line := Line{textf("%s%s", in, Title(n))}
		notes := d.measured(n)
		if len(notes) > 0 {
			line = append(line, Piece{Dim, "  (" + notes[0] + ")"})
		}
		d.add(line...)
	}
	if j, ok := n.(*Join); ok && j.Lookup != nil {
		d.node(j.Left, next)
		d.add(textf("%s  for each left row, shown for a made-up one:", in))
		d.node(j.Right, next+1)
		return
	}
	for _, x := range n.Inputs() {
		d.node(x, next)
	}
}

// Title names a step in one line.
func Title(n Node) string {
	switch n := n.(type) {
	case *Scan:
		t := n.Access.String() + " " + n.Table.Name
		if n.Alias != "" && n.Alias != n.Table.Name {
			t += " " + n.Alias
		}
		if n.Layout.Name != "primary" {
			t += " (" + n.Layout.Name + ")"
		}
		return t
	case *Project:
		return "columns"
	case *Filter:
		return "filter " + n.Cond.String()
	case *Limit:
		t := "all rows"
		if n.Count >= 0 {
			t = fmt.Sprintf("limit %d", n.Count)
		}
		if n.Offset > 0 {
			t += fmt.Sprintf(" offset %d", n.Offset)
		}
		return t
	case *Sort:
		if n.Limit >= 0 {
			return fmt.Sprintf("top %d by %s", n.Limit, orderText(n.By))
		}
		return "sort by " + orderText(n.By)
	case *Distinct:
		return "distinct"
	case *Aggregate:
		t := "aggregate"
		if n.Ordered {
			t += " (streaming)"
		}
		for i, e := range n.GroupBy {
			t += [...]string{", ", " by "}[btoi(i == 0)] + e.String()
		}
		return t
	case *Join:
		t := [...]string{"inner join, ", "left join, ", "full join, "}[btoi(n.Outer)+btoi(n.Full)]
		if n.Swapped {
			t = "right join from its right side, "
		}
		switch {
		case n.Lookup != nil:
			t += "look-up by key"
		case len(n.LeftKeys) > 0:
			t += "hash"
		default:
			t += "nested loop"
		}
		if n.On != nil {
			t += ", on " + n.On.String()
		}
		return t
	case *Union:
		return "union all"
	case *SetOp:
		t := [...]string{"intersect", "except"}[btoi(n.Except)]
		if n.All {
			t += " all"
		}
		return t
	case *Values:
		return "values: " + plural(len(n.Rows), "row", 0, "")
	}
	return fmt.Sprintf("%T", n)
}

func orderText(terms []SortTerm) string {
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = t.Expr.String()
		if t.Desc {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

// Verdict tells in words whether s hits the rowkey prefix and what it opens.
func (s *Scan) Verdict() string {
	switch s.Access {
	case Empty:
		return "no row can match, nothing is read"
	case FullScan:
		return "MISSES the rowkey prefix"
	}
	gets, scans := s.counts()
	hits := "hits the rowkey prefix, " + plural(gets, "get", scans, "scan")
	if s.Access == SkipScan {
		hits = "hops from value to value of the rowkey prefix"
	}
	used, all := 0, 0
	for _, p := range s.Parts() {
		if p.State != "literal" {
			all++
			used += btoi(p.State != "unused")
		}
	}
	if all == 1 {
		return hits
	}
	return fmt.Sprintf("%s, %d of %d key parts", hits, used, all)
}

// Style is that of the verdict.
func (s *Scan) Style() Style {
	if s.Access == FullScan {
		return Miss
	}
	return Hit
}

// scan draws one table access.
func (d *drawing) scan(s *Scan, in string) {
	d.add(textf("%s%s: ", in, Title(s)), Piece{s.Style(), s.Verdict()})
	if s.Access == Empty {
		return
	}
	line := func(label, format string, args ...any) { d.labelled(in, label, textf(format, args...)) }
	d.drawKey(s, in)
	d.drawSpans(s, in)
	if s.ListTables {
		line("tables", "every table named %s*, as nothing binds the name", s.TablePrefix)
	}
	label := "where"
	for _, f := range s.Fates {
		where := "  [" + f.Place()
		if f.Why != "" {
			where += ": " + f.Why
		}
		d.labelled(in, label, textf("%s", f.Expr), Piece{Dim, where + "]"})
		label = ""
	}
	if s.Filter != nil {
		line("server", "%s", s.Filter)
	}
	line("columns", "%s", s.ColumnsText())
	if s.Entries {
		line("checked", "against the primary: the keys lead to its rows")
	}
	if versions := s.versionsText(); versions != "" {
		line("versions", "%s", versions)
	}
	if kind, why := s.bloom(); kind != "" {
		line("bloom", "%s: %s", kind, why)
	}
	if s.Order != NoOrder {
		line("order", "%s", s.OrderText())
	}
	if s.Limit >= 0 {
		line("limit", "%d", s.Limit)
	}
	if s.Hop != nil {
		line("hops", "%s", s.hopText())
	}
	if s.Skip > 0 {
		n := s.Skip - 1
		for s.Layout.Key.Parts[n].Literal != nil { // the delimiter behind the part
			n--
		}
		line("skip", "from value to value of %s", s.Layout.Key.Parts[n].Source)
	}
	if len(s.Considered) > 1 {
		for _, c := range s.Considered {
			if c.Lost != "" {
				line("layout", "%s: no, it has no rows in which %s is NULL", c.Layout, c.Lost)
				continue
			}
			line("layout", "%s: %s, %d ranges, cost %.0f: %s", c.Layout, c.Access, c.Spans, c.Cost, c.Why)
		}
	}
	label = "took"
	for _, n := range d.measured(s) {
		line(label, "%s", n)
		label = ""
	}
	for _, w := range s.Warnings {
		d.labelled(in, "warning", Piece{Miss, w})
	}
	if a := s.Advice(); a != "" && s.Access == FullScan {
		d.labelled(in, "to hit", Piece{Hit, a})
	}
}

// versionsText tells which versions of the cells are read; "" for the newest.
func (s *Scan) versionsText() string {
	var out []string
	if s.AllVersions {
		out = append(out, "all")
	}
	if s.MaxTime > 0 {
		if s.MinTime > 0 {
			out = append(out, "from "+types.NewTimestamp(s.MinTime).String())
		}
		out = append(out, "up to "+types.NewTimestamp(s.MaxTime-1).String())
	}
	return strings.Join(out, " ")
}

// Place tells in words where the predicate is checked.
func (f Fate) Place() string {
	return map[string]string{"key": "by the key", "server": "server filter", "client": "client filter",
		"server+client": "server filter, checked again on the client"}[f.Where]
}

// OrderText tells in which order rows come and how, "" for none.
func (s *Scan) OrderText() string {
	if s.Order == NoOrder {
		return ""
	}
	return fmt.Sprintf("%s (%s)", s.Order, orderText(s.OrderBy))
}

func plural(gets int, get string, scans int, scan string) string {
	var parts []string
	for _, x := range []struct {
		n    int
		what string
	}{{gets, get}, {scans, scan}} {
		if x.n == 1 {
			parts = append(parts, "1 "+x.what)
		} else if x.n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", x.n, x.what))
		}
	}
	return strings.Join(parts, " and ")
}

// ColumnsText tells what is read of each row.
func (s *Scan) ColumnsText() string {
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Family+":"+Escape([]byte(c.Qualifier)))
	}
	list := strings.Join(names, ", ")
	switch {
	case s.KeyOnly:
		return "none: keys only"
	case s.Whole:
		return strings.TrimSpace(list + " (all of " + strings.Join(s.Families, ", ") + ")")
	case s.FirstCell:
		return list + " and each row's first cell"
	}
	return list
}
