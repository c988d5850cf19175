package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/types"
)

// String is EXPLAIN for a person: the steps from the last to the first, then each table's access.
//
//	scan files: 1 range, hits the rowkey prefix
//	  key      user_id AS TEXT(6)             bound   1
//	           create_time AS TEXT('yyyyMMdd') range   [DATE '2012-09-01' - DATE '2012-10-01']
//	           file_id AS TEXT(6)              unused
//	  range    files [00000120120901, 00000120121002)
//	  filter   name LIKE 'x%'      server
func (p *Plan) String() string {
	var b strings.Builder
	printNode(&b, p.Root, 0)
	for _, s := range p.Subplans {
		when := "for each row"
		if s.Closed {
			when = "once, before the query around it is planned"
			if s.Shown.Type() != types.Null {
				when += "; above as if it gave " + s.Shown.SQL()
			}
		}
		fmt.Fprintf(&b, "sub-query (%s) runs %s:\n", s.Text, when)
		for line := range strings.SplitSeq(s.Sample.String(), "\n") {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return strings.TrimRight(b.String(), "\n")
}

func printNode(b *strings.Builder, n Node, depth int) {
	in := strings.Repeat("  ", depth)
	next := depth + 1
	switch n := n.(type) {
	case *Scan:
		n.print(b, in)
		return
	case *Project:
		next = depth // says nothing that a reader needs
	case *Filter:
		fmt.Fprintf(b, "%sfilter %s\n", in, n.Cond)
	case *Limit:
		if n.Count >= 0 {
			fmt.Fprintf(b, "%slimit %d", in, n.Count)
		} else {
			fmt.Fprintf(b, "%sall rows", in)
		}
		if n.Offset > 0 {
			fmt.Fprintf(b, " offset %d", n.Offset)
		}
		b.WriteByte('\n')
	case *Sort:
		if n.Limit >= 0 {
			fmt.Fprintf(b, "%stop %d by %s\n", in, n.Limit, orderText(n.By))
		} else {
			fmt.Fprintf(b, "%ssort by %s\n", in, orderText(n.By))
		}
	case *Distinct:
		fmt.Fprintf(b, "%sdistinct%s\n", in, streams(n.Ordered))
	case *Aggregate:
		fmt.Fprintf(b, "%saggregate%s", in, streams(n.Ordered))
		for i, e := range n.GroupBy {
			fmt.Fprintf(b, "%s%s", [...]string{", ", " by "}[btoi(i == 0)], e)
		}
		b.WriteByte('\n')
	case *Join:
		kind := "inner"
		if n.Outer {
			kind = "left"
		}
		how := "nested loop"
		switch {
		case n.Lookup != nil:
			how = "look-up by key"
		case len(n.LeftKeys) > 0:
			how = "hash"
		}
		fmt.Fprintf(b, "%s%s join, %s", in, kind, how)
		if n.On != nil {
			fmt.Fprintf(b, ", on %s", n.On)
		}
		b.WriteByte('\n')
		printNode(b, n.Left, next)
		if n.Lookup != nil && n.Lookup.Sample != nil {
			fmt.Fprintf(b, "%s  for each left row:\n", in)
			n.Lookup.Sample.print(b, in+"    ")
		} else {
			printNode(b, n.Right, next)
		}
		return
	case *Union:
		fmt.Fprintf(b, "%sunion all\n", in)
	case *SetOp:
		what := [...]string{"intersect", "except"}[btoi(n.Except)]
		if n.All {
			what += " all"
		}
		fmt.Fprintf(b, "%s%s\n", in, what)
	case *Values:
		fmt.Fprintf(b, "%svalues: %d rows\n", in, len(n.Rows))
	}
	for _, x := range n.Inputs() {
		printNode(b, x, next)
	}
}

func streams(ordered bool) string {
	if ordered {
		return " (streaming)"
	}
	return ""
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

// print writes one table access.
func (s *Scan) print(b *strings.Builder, in string) {
	gets, scans := s.counts()
	fmt.Fprintf(b, "%s%s %s", in, s.Access, s.Table.Name)
	if s.Alias != "" && s.Alias != s.Table.Name {
		fmt.Fprintf(b, " %s", s.Alias)
	}
	switch {
	case s.Access == Empty:
		b.WriteString(": no row can match, nothing is read\n")
		return
	case s.Access == FullScan:
		b.WriteString(": MISSES the rowkey prefix\n")
	default:
		b.WriteString(": hits the rowkey prefix, " + plural(gets, "get", scans, "scan") + "\n")
	}
	line := func(label, format string, args ...any) {
		fmt.Fprintf(b, "%s  %-8s %s\n", in, label, fmt.Sprintf(format, args...))
	}
	width := 0
	for _, p := range s.Parts {
		width = max(width, len(p.Part))
	}
	for i, p := range s.Parts {
		label := ""
		if i == 0 {
			label = "key"
			if s.Layout.Name != "primary" {
				label = s.Layout.Name
			}
		}
		note := p.Detail
		if p.Why != "" {
			note = p.Why
		}
		line(label, "%s", strings.TrimRight(fmt.Sprintf("%-*s  %-10s  %s", width, p.Part, p.State, note), " "))
	}
	s.printSpans(line)
	if s.ListTables {
		line("tables", "every table named %s*, as nothing binds the name", s.TablePrefix)
	}
	for i, f := range s.Fates {
		label := ""
		if i == 0 {
			label = "where"
		}
		where := map[string]string{"key": "by the key", "server": "server filter", "client": "client filter",
			"server+client": "server filter, checked again on the client"}[f.Where]
		if f.Why != "" {
			where += ": " + f.Why
		}
		line(label, "%s  [%s]", f.Predicate, where)
	}
	if s.Filter != nil {
		line("server", "%s", s.Filter)
	}
	line("columns", "%s", s.columnsText())
	if s.Order != NoOrder {
		line("order", "%s (%s)", s.Order, orderText(s.OrderBy))
	}
	if s.Limit >= 0 {
		line("limit", "%d", s.Limit)
	}
	if len(s.Considered) > 1 {
		for _, c := range s.Considered {
			line("layout", "%s: %s, %d ranges, cost %.0f: %s", c.Layout, c.Access, c.Spans, c.Cost, c.Why)
		}
	}
	for _, w := range s.Warnings {
		line("warning", "%s", w)
	}
	if s.Advice != "" {
		line("to hit", "%s", s.Advice)
	}
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

func (s *Scan) printSpans(line func(string, string, ...any)) {
	const most = 12
	for i, sp := range s.Spans {
		label := ""
		if i == 0 {
			label = "read"
		}
		if i == most {
			line("", "... and %d more", len(s.Spans)-most)
			break
		}
		if sp.Key {
			line(label, "%s %s", sp.Table, Escape(sp.Start))
			continue
		}
		from, to := Escape(sp.Start), Escape(sp.Stop)
		if from == "" && to == "" {
			line(label, "%s: all of it", sp.Table)
			continue
		}
		line(label, "%s [%s, %s)", sp.Table, orOpen(from), orOpen(to))
	}
}

func orOpen(s string) string {
	if s == "" {
		return "open"
	}
	return s
}

// columnsText tells what is read of each row.
func (s *Scan) columnsText() string {
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Family+":"+Escape([]byte(c.Qualifier)))
	}
	list := strings.Join(names, ", ")
	switch {
	case s.KeyOnly:
		return "none: keys only"
	case s.Whole:
		f := slices.Clone(s.Families)
		return strings.TrimSpace(list + " (all of " + strings.Join(f, ", ") + ")")
	case s.FirstCell:
		return list + " and each row's first cell"
	}
	return list
}
