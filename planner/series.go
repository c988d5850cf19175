package planner

import (
	"cmp"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// tableFunction plans a function in FROM.
func (q *query) tableFunction(t *parser.TableFunction) (*source, error) {
	if t.Name != "GENERATE_SERIES" {
		return nil, parser.Errorf(t.Pos, "%s gives no rows: FROM takes tables, queries, generate_series(from, to [, step]) and unnest(array)", t.Name)
	}
	if len(t.Args) < 2 || len(t.Args) > 3 {
		return nil, parser.Errorf(t.Pos, "GENERATE_SERIES takes from, to and a step, not %d arguments", len(t.Args))
	}
	node, err := q.series(t)
	if err != nil {
		return nil, err
	}
	name := functionAlias(t)
	cols, err := renamed([]plan.OutputColumn{{Name: name, Type: node.Typ}}, t.Columns, name, t.Pos)
	return &source{name: name, cols: cols, node: node}, err
}

// functionAlias is the name of t's rows in the statement.
func functionAlias(t *parser.TableFunction) string { return cmp.Or(t.Alias, strings.ToLower(t.Name)) }

// elements is the query whose rows are the elements of UNNEST's array.
func elements(t *parser.TableFunction) (*parser.Select, error) {
	var array *parser.Expr
	elem := ""
	if len(t.Args) == 1 {
		array, elem = parser.ArrayOf(&t.Args[0])
	}
	if array == nil {
		return nil, parser.Errorf(t.Pos, "UNNEST takes one array").WithHint("an array is ARRAY[1, 2], or ? for a slice")
	}
	core := &parser.SelectCore{Pos: t.Pos}
	out := &parser.Select{Pos: t.Pos, Cores: []*parser.SelectCore{core}}
	list, ok := (*array).(*parser.Array)
	switch null, _ := (*array).(*parser.Literal); {
	case !ok && null == nil:
		return nil, parser.Errorf((*array).Position(), "UNNEST takes a list of values")
	case !ok || len(list.Items) == 0:
		core.Items = []parser.SelectItem{{Pos: t.Pos, Expr: &parser.Literal{Pos: t.Pos, Kind: parser.NullLiteral}}}
		core.Where = &parser.Literal{Pos: t.Pos, Kind: parser.BoolLiteral, Text: "false"}
		if elem != "" {
			core.Items[0].Expr = &parser.Cast{Pos: t.Pos, X: core.Items[0].Expr, Type: elem}
		}
		return out, nil
	}
	for _, x := range list.Items {
		if elem != "" {
			x = &parser.Cast{Pos: x.Position(), X: x, Type: elem}
		}
		core.Values = append(core.Values, []parser.Expr{x})
	}
	return out, nil
}

func (q *query) series(t *parser.TableFunction) (*plan.Series, error) {
	scope := q.scope(nil)
	var step parser.Expr = &parser.Literal{Pos: t.Pos, Kind: parser.NumberLiteral, Text: "1"}
	if len(t.Args) == 3 {
		step = t.Args[2]
	}
	by, err := expr.Compile(step, scope)
	if err != nil {
		return nil, err
	}
	moments := by.Type() == types.Duration
	var ends []expr.Expr
	for _, x := range t.Args[:2] {
		e, err := expr.Compile(x, scope)
		if err != nil {
			return nil, err
		}
		if typ := e.Type(); typ.IsTemporal() && !moments {
			return nil, parser.Errorf(t.Pos, "GENERATE_SERIES of %s takes an INTERVAL as its third argument", typ)
		}
		ends = append(ends, e)
	}
	if !moments {
		ends = append(ends, by)
	}
	texts := true
	for _, e := range ends {
		texts = texts && e.Type() == types.String
	}
	for i := range ends {
		if texts { // arguments that are texts, whose place wants numbers
			ends[i] = constant(ends[i], types.BigInt)
		}
	}
	same, typ, err := expr.Common(ends, scope, t.Pos)
	if err != nil {
		return nil, err
	}
	switch {
	case moments && typ == types.Date: // as where an INTERVAL is added to one
		typ = types.LocalTimestamp
		for i := range same {
			if same[i], err = q.moved(same[i], "+", &parser.Literal{Pos: t.Pos, Kind: parser.IntervalLiteral, Text: "0 days"}); err != nil {
				return nil, err
			}
		}
	case moments && typ.IsTimestamp():
	case moments:
		return nil, parser.Errorf(t.Pos, "GENERATE_SERIES of %s takes no INTERVAL", typ)
	case !moments && (typ.IsInteger() || typ == types.Decimal || typ == types.Null):
	default:
		return nil, parser.Errorf(t.Pos, "GENERATE_SERIES of %s is not defined", typ).WithHint("it counts integers, DECIMALs and, by an INTERVAL, TIMESTAMPs")
	}
	out := &plan.Series{From: same[0], To: same[1], Typ: typ}
	value := &expr.Column{Pos: t.Pos, Name: "value", Typ: typ}
	if moments {
		out.Next, err = q.moved(value, "+", step)
		return out, err
	}
	scope.Column = func(ref *parser.ColumnRef) (expr.Expr, error) {
		if ref.Name == "value" {
			return value, nil
		}
		return same[2], nil
	}
	out.Next, err = expr.Compile(&parser.Binary{Pos: t.Pos, Op: "+", X: &parser.ColumnRef{Name: "value"}, Y: &parser.ColumnRef{Name: "step"}}, scope)
	return out, err
}
