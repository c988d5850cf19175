package planner

import (
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// memberValues are the functions that return the values of a JSON object's members, by those that return the names as well.
var memberValues = map[string]string{"JSON_EACH": "JSON_EACH_VALUE", "JSONB_EACH": "JSONB_EACH_VALUE", "JSON_EACH_TEXT": "JSON_EACH_VALUE_TEXT", "JSONB_EACH_TEXT": "JSONB_EACH_VALUE_TEXT"}

// rowsOf returns the query for the rows of a function, numbered if t has WITH ORDINALITY.
func rowsOf(t *parser.TableFunction) *parser.Select {
	core := &parser.SelectCore{Pos: t.Pos}
	name := t.Called()
	add := func(f, alias string, args ...parser.Expr) {
		core.Items = append(core.Items, parser.SelectItem{Pos: t.Pos, Expr: &parser.Call{Pos: t.Pos, Name: f, Args: args}, Alias: alias})
	}
	switch {
	case t.Name == "_PG_EXPANDARRAY" && len(t.Args) == 1:
		add("UNNEST", "x", t.Args[0])
		add("GENERATE_SERIES", "n", &parser.Literal{Pos: t.Pos, Kind: parser.NumberLiteral, Text: "1"}, &parser.Call{Pos: t.Pos, Name: "CARDINALITY", Args: t.Args})
	case memberValues[t.Name] != "" && len(t.Args) == 1:
		kind, _, _ := strings.Cut(t.Name, "_")
		add(kind+"_OBJECT_KEYS", "key", t.Args[0])
		add(memberValues[t.Name], "value", t.Args[0])
	case t.Name == "UNNEST" && len(t.Args) > 1:
		for _, x := range t.Args {
			add("UNNEST", name, x)
		}
	case t.Alias == "" && (strings.HasSuffix(t.Name, "_ARRAY_ELEMENTS") || strings.HasSuffix(t.Name, "_ARRAY_ELEMENTS_TEXT")):
		add(t.Name, "value", t.Args...)
	default:
		add(t.Name, name, t.Args...)
	}
	if t.Ordinality {
		add("ROW_NUMBER", "ordinality")
		core.Items[len(core.Items)-1].Expr.(*parser.Call).Over = &parser.Window{Pos: t.Pos}
		in := &parser.Select{Pos: t.Pos, Cores: []*parser.SelectCore{{Pos: t.Pos, Items: core.Items[:len(core.Items)-1]}}}
		core.From = []parser.TableExpr{&parser.Subquery{Pos: t.Pos, Query: in, Alias: name}}
		core.Items = []parser.SelectItem{{Pos: t.Pos, Star: true}, core.Items[len(core.Items)-1]}
	}
	return &parser.Select{Pos: t.Pos, Cores: []*parser.SelectCore{core}}
}

// listed returns the elements of a constant array as rows; nil if t is not a constant array.
func (q *query) listed(t *parser.TableFunction) *source {
	if t.Name != "UNNEST" || len(t.Args) != 1 || t.Ordinality || refers(t) {
		return nil
	}
	x, err := expr.Compile(t.Args[0], q.scope(nil))
	if err != nil { // the error will be reported by the usual way
		return nil
	}
	k, ok := x.(*expr.Const)
	if !ok || !k.Typ.IsArray() && k.Typ != types.Null {
		return nil
	}
	v := &plan.Values{N: 1}
	if !k.Val.IsNull() {
		for _, x := range k.Val.Items() {
			v.Known = append(v.Known, []types.Value{x})
		}
	}
	name := t.Called()
	cols := renamed([]plan.OutputColumn{{Name: name, Type: k.Typ.Elem(), Limit: k.Limit}}, t.Columns, name, t.Pos)
	return &source{name: name, cols: cols, node: v}
}

// function returns the function with this name, or nil.
func (q *query) function(name string) *expr.Function {
	return q.env.funcs().Lookup(name)
}
