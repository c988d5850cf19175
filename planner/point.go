package planner

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Point is the plan of a query that reads one row by equality of all columns of the key with arguments or constants, or
// several rows by (columns) IN (arguments). It is made once: for other arguments of the same types only the keys are
// computed.
type Point struct {
	plan    *plan.Plan
	project *plan.Project
	scan    *plan.Scan
	row     []types.Value  // by column: its value, if it is a constant
	rows    [][]pointBind  // for each row: the columns' arguments
	loc     *time.Location // the time zone in which constants were read
	// checked is set if the key may not contain the whole values of its columns, as with LEFT(x, 8): then each key is
	// decoded and compared with the arguments.
	checked bool
}

type pointBind struct{ column, arg int }

// PointOf returns the Point for p, the plan that e.Select made of s. It returns nil if s is another kind of query, or if p
// is not valid for all arguments.
func (e *Env) PointOf(s *parser.Select, p *plan.Plan) *Point {
	if len(s.Cores) != 1 || len(s.With)+len(s.OrderBy) > 0 || s.Limit != nil || s.Offset != nil {
		return nil
	}
	c := s.Cores[0]
	if c.Where == nil || c.Distinct || len(c.On) > 0 || c.Having != nil || len(c.GroupBy)+len(c.Hints) > 0 || len(c.From) != 1 || !plainItems(c.Items) {
		return nil
	}
	project, ok := p.Root.(*plan.Project)
	if !ok {
		return nil
	}
	scan, ok := project.Input.(*plan.Scan)
	if !ok || len(scan.Alternatives) > 0 || scan.Access != plan.Get || scan.Filter != nil || scan.Residual != nil || scan.MaxTime > 0 || scan.AllVersions ||
		len(scan.Table.Layouts) > 1 || scan.Layout.Packed != nil || scan.Layout.Key.Drawn() != nil || scan.Layout.Stored.Drawn() != nil {
		return nil
	}
	if t, ok := c.From[0].(*parser.TableName); !ok || !strings.EqualFold(t.Name, scan.Table.Name) { // the columns of a query or view may have other names
		return nil
	}
	out := &Point{plan: p, project: project, scan: scan, row: make([]types.Value, len(scan.Table.Columns)), loc: e.Loc}
	if in, ok := c.Where.(*parser.In); ok {
		if spans := out.list(in).spans(e.Args); len(spans) > 0 && slices.EqualFunc(spans, scan.Spans, sameKey) {
			return out
		}
		return nil
	}
	terms := equalities(nil, c.Where)
	if len(scan.Spans) != 1 || len(terms) != len(scan.Fates) {
		return nil
	}
	var binds []pointBind
	for i, f := range scan.Fates {
		e, ok := f.Expr.(*expr.Compare)
		if !ok || e.Op != expr.EQ {
			return nil
		}
		col, isCol := e.X.(*expr.Column)
		k, isConst := e.Y.(*expr.Const)
		if !isCol || !isConst || col.Index >= len(scan.Table.Columns) || !scan.Table.Columns[col.Index].KeyPart || terms[i].ref == nil || !strings.EqualFold(terms[i].ref.Name, scan.Table.Columns[col.Index].Name) || !out.row[col.Index].IsNull() || !fits(k.Val, scan.Table.Columns[col.Index].Type) {
			return nil
		}
		out.row[col.Index] = k.Val
		out.checked = out.checked || !scan.Layout.Holds(col.Index)
		if param := terms[i].param; param != nil {
			binds = append(binds, pointBind{col.Index, param.Index - 1})
		}
	}
	out.rows = [][]pointBind{binds}
	return out
}

// list adds rows for a list of arguments, or of tuples of arguments, for columns of the key. For other lists it adds none.
func (t *Point) list(in *parser.In) *Point {
	columns := items(in.X)
	binds := make([]pointBind, 0, len(columns)*len(in.List))
	for _, tuple := range in.List {
		values := items(tuple)
		if in.Not || len(values) != len(columns) {
			return t
		}
		for i, v := range values {
			ref, _ := columns[i].(*parser.ColumnRef)
			param, _ := v.(*parser.Param)
			if ref == nil || param == nil || param.Name != "" {
				return t
			}
			k := slices.IndexFunc(t.scan.Table.Columns, func(c *catalog.Column) bool { return c.KeyPart && strings.EqualFold(c.Name, ref.Name) })
			if k < 0 {
				return t
			}
			t.checked = t.checked || !t.scan.Layout.Holds(k)
			binds = append(binds, pointBind{k, param.Index - 1})
		}
	}
	t.rows = slices.Collect(slices.Chunk(binds, max(len(columns), 1)))
	return t
}

// items returns the items of a tuple, or the expression itself.
func items(e parser.Expr) []parser.Expr {
	if t, ok := e.(*parser.Tuple); ok {
		return t.Items
	}
	return []parser.Expr{e}
}

// plainItems reports whether the SELECT list has only columns, so that it contains no arguments.
func plainItems(items []parser.SelectItem) bool {
	for _, it := range items {
		if _, ok := it.Expr.(*parser.ColumnRef); !ok && !it.Star {
			return false
		}
	}
	return true
}

// keyTerm is column = argument, or column = constant if param is nil. For other terms ref is nil.
type keyTerm struct {
	ref   *parser.ColumnRef
	param *parser.Param
}

// equalities appends the terms of a conjunction.
func equalities(dst []keyTerm, e parser.Expr) []keyTerm {
	b, ok := e.(*parser.Binary)
	switch {
	case ok && b.Op == "AND":
		return equalities(equalities(dst, b.X), b.Y)
	case ok && b.Op == "=":
		ref, _ := b.X.(*parser.ColumnRef)
		switch y := b.Y.(type) {
		case *parser.Param:
			if y.Name == "" {
				return append(dst, keyTerm{ref, y})
			}
		case *parser.Literal:
			return append(dst, keyTerm{ref, nil})
		}
	}
	return append(dst, keyTerm{})
}

// fits reports whether a value can be compared with a column of type t without conversion.
func fits(v types.Value, t types.Type) bool {
	return !v.IsNull() && (v.Type() == t || v.Type().IsInteger() && t.IsInteger())
}

// Plan returns the plan for the arguments of e. It returns nil if the query must be planned again: the table was replaced,
// the time zone differs, or the arguments have other types or values that no key can have.
func (t *Point) Plan(e *Env) *plan.Plan {
	scan, args := t.scan, e.Args
	if now, ok := e.Catalog.Table(scan.Table.Name); !ok || now != scan.Table || e.Loc != t.loc {
		return nil
	}
	if len(t.rows) >= access.WorthOneRange && e.Statistics != nil && e.Statistics(scan.Table) != nil {
		return nil // one range over all keys may cost less
	}
	spans := t.spans(args)
	if len(spans) == 0 {
		return nil
	}
	out := &struct {
		plan    plan.Plan
		project plan.Project
		scan    plan.Scan
	}{*t.plan, *t.project, *scan}
	out.scan.Spans, out.scan.Estimate = spans, nil
	out.project.Input = &out.scan
	out.plan.Root = &out.project
	return &out.plan
}

// spans returns the keys of the rows for args, sorted. It returns nil if the arguments have other types or values that no
// key can have.
func (t *Point) spans(args []types.Value) []plan.Span {
	columns, place := t.scan.Table.Columns, t.scan.Layout.Place
	if t.checked {
		place = t.scan.Layout.PlaceOf
	}
	row, out := slices.Clone(t.row), make([]plan.Span, 0, len(t.rows))
	for _, binds := range t.rows {
		for _, b := range binds {
			if b.arg >= len(args) || !fits(args[b.arg], columns[b.column].Type) {
				return nil
			}
			row[b.column] = columns[b.column].Limit.Compared(args[b.arg])
		}
		table, key, err := place(row)
		if err != nil || len(key) == 0 || len(key) > catalog.MaxKeyLength {
			return nil
		}
		out = append(out, plan.Span{Table: table, Start: key, Key: true})
	}
	if len(out) > 1 {
		slices.SortFunc(out, func(a, b plan.Span) int {
			return cmp.Or(cmp.Compare(a.Table, b.Table), bytes.Compare(a.Start, b.Start))
		})
		out = slices.CompactFunc(out, sameKey)
	}
	return out
}

func sameKey(a, b plan.Span) bool {
	return a.Key && b.Key && a.Table == b.Table && bytes.Equal(a.Start, b.Start)
}
