package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// titleOf returns one line that names the step n. It has a case for each kind of step.
func titleOf(n plan.Node) string {
	switch n := n.(type) {
	case *plan.Scan:
		t := n.Access.String() + " " + n.Table.Name
		if n.Alias != "" && n.Alias != n.Table.Name {
			t += " " + n.Alias
		}
		if n.Layout.Name != "primary" {
			t += " (" + n.Layout.Name + ")"
		}
		return t
	case *plan.Project:
		return "columns"
	case *plan.Filter:
		return "filter " + n.Cond.String()
	case *plan.Limit:
		t := "all rows"
		if n.Count.Set {
			t = fmt.Sprintf("limit %d", n.Count.Rows)
		}
		if n.Ties {
			t += " with ties"
		}
		if n.Offset > 0 {
			t += fmt.Sprintf(" offset %d", n.Offset)
		}
		return t
	case *plan.Sort:
		within := ""
		if n.Sorted > 0 && n.Sorted < len(n.By) {
			within = ", within the same " + orderText(n.By[:n.Sorted])
		}
		if n.Limit.Set {
			return fmt.Sprintf("top %d by %s", n.Limit.Rows, orderText(n.By)) + within
		}
		return "sort by " + orderText(n.By) + within
	case *plan.Distinct:
		return "distinct"
	case *plan.DistinctOn:
		return "first of each " + expr.Texts(n.By)
	case *plan.Window:
		t := "window"
		if len(n.PartitionBy) > 0 {
			t += " of each " + expr.Texts(n.PartitionBy)
		}
		if len(n.OrderBy) > 0 {
			t += " by " + orderText(n.OrderBy)
		}
		return t
	case *plan.Expand:
		return "grouping sets " + setsText(n)
	case *plan.Aggregate:
		t := "aggregate"
		if n.Ordered {
			t += " (streaming)"
		}
		if len(n.GroupBy) > 0 {
			t += " by " + expr.Texts(n.GroupBy)
		}
		return t
	case *plan.Join:
		return joinTitle(n)
	case *plan.Apply:
		t := "lateral join, a sub-query for each row"
		if n.Outer {
			t = "left lateral join, a sub-query for each row"
		}
		if n.Query.Sample.Brief() {
			t += ", for several rows at a time"
		}
		if n.On != nil {
			t += ", on " + n.On.String()
		}
		return t
	case *plan.Reuse:
		return "rows of " + parser.QuoteName(n.Query.Name)
	case *plan.Recursive:
		if n.Distinct {
			return "recursive union"
		}
		return "recursive union all"
	case *plan.Union:
		return "union all"
	case *plan.SetOp:
		t := "intersect"
		if n.Except {
			t = "except"
		}
		if n.All {
			t += " all"
		}
		return t
	case *plan.Unnest:
		return "rows of " + expr.Texts(n.Sets)
	case *plan.Virtual:
		return "rows of " + n.Name
	case *plan.Values:
		return "values: " + words.Count(n.Len(), "row")
	}
	return fmt.Sprintf("%T", n)
}

func joinTitle(j *plan.Join) string {
	t := "inner join, "
	switch {
	case j.Anti:
		t = "anti-join, "
	case j.Semi:
		t = "semi-join, "
	case j.Swapped:
		t = "right join from its right side, "
	case j.Full:
		t = "full join, "
	case j.Outer:
		t = "left join, "
	}
	switch {
	case j.Lookup != nil:
		t += "look-up by key"
	case len(j.LeftKeys) > 0:
		if t += "hash"; j.Narrow != nil && !j.Full || j.NarrowLeft != nil {
			t += ", few keys of one side narrow the other"
		}
	default:
		t += "nested loop"
	}
	if on := joinText(j); on != "" {
		t += ", on " + on
	}
	return t
}

// joinText returns the join's whole condition, with columns written as table.column. It returns "" if all pairs of rows match.
func joinText(j *plan.Join) string {
	left, right := namesOf(j.Left), namesOf(j.Right)
	var terms []string
	for i, l := range j.LeftKeys {
		terms = append(terms, under(l, left)+" = "+under(j.RightKeys[i], right))
	}
	if j.On != nil {
		on := under(j.On, append(left, right...))
		if _, ok := j.On.(*expr.Or); ok && len(terms) > 0 {
			on = "(" + on + ")"
		}
		terms = append(terms, on)
	}
	return strings.Join(terms, " AND ")
}

// under prints e with names for its columns.
func under(e expr.Expr, names []string) string {
	return expr.MapColumns(e, func(c *expr.Column) expr.Expr {
		if c.Index >= len(names) || names[c.Index] == "" {
			return c
		}
		named := *c
		named.Text = names[c.Index]
		return &named
	}).String()
}

// namesOf returns the columns of a node's rows as table.column, and "" for a computed column.
func namesOf(n plan.Node) []string {
	var out []string
	switch n := n.(type) {
	case *plan.Scan:
		table := parser.QuoteName(cmp.Or(n.Alias, n.Table.Name)) + "."
		for _, c := range n.Table.ColumnNames() {
			out = append(out, table+parser.QuoteName(c))
		}
		out = append(out, table+catalog.KeyColumn, table+catalog.TimestampColumn)
	case *plan.Join:
		out = append(namesOf(n.Left), namesOf(n.Right)...) // the right ones of a semi-join are cut off
	case *plan.Filter:
		out = namesOf(n.Input)
	}
	return append(out, make([]string, max(n.Width()-len(out), 0))...)[:n.Width()]
}

// setsText returns the grouping sets of n as they are written in SQL.
func setsText(n *plan.Expand) string {
	texts := make([]string, len(n.Sets))
	for i, s := range n.Sets {
		var of []expr.Expr
		for k, has := range s.Has {
			if has {
				of = append(of, n.GroupBy[k])
			}
		}
		texts[i] = "(" + expr.Texts(of) + ")"
	}
	return strings.Join(texts, ", ")
}

func orderText(terms []plan.SortTerm) string {
	return words.Join(terms, ", ", func(t plan.SortTerm) string {
		if t.Desc {
			return t.Expr.String() + " DESC"
		}
		return t.Expr.String()
	})
}
