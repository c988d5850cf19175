package hql

import "github.com/hql-db/hql/parser"

// params are the parameters of a statement, and where lists stand in it.
type params struct {
	count int             // the greatest index of ? or $n
	named []*parser.Param // @name
	all   []*parser.Param
	ins   []*parser.In
	some  []*parser.Expr // what stands for an array: of ANY, ALL and UNNEST
}

func findParams(s parser.Statement) *params {
	p := &params{}
	parser.Inspect(s, func(n parser.Node) bool {
		switch n := n.(type) {
		case *parser.Param:
			if n.Name != "" {
				p.named = append(p.named, n)
			}
			p.count = max(p.count, n.Index)
			p.all = append(p.all, n)
		case *parser.In:
			p.ins = append(p.ins, n)
		case *parser.Quantified:
			p.some = append(p.some, &n.Y)
		case *parser.TableFunction:
			if n.Name == "UNNEST" && len(n.Args) == 1 {
				p.some = append(p.some, &n.Args[0])
			}
		}
		return true
	})
	return p
}

// expand replaces the parameters of IN, ANY and ALL for which list gives values by those.
// Elsewhere such a parameter is an error.
func (p *params) expand(list func(*parser.Param) ([]parser.Expr, bool)) error {
	inList := map[*parser.Param]bool{}
	for _, in := range p.ins {
		if in.Query != nil {
			continue
		}
		var out []parser.Expr
		for _, x := range in.List {
			if q, ok := x.(*parser.Param); ok {
				if items, ok := list(q); ok {
					inList[q] = true
					out = append(out, items...)
					continue
				}
			}
			out = append(out, x)
		}
		in.List = out
		if len(out) == 0 { // in no value: false, also for NULL
			in.X = &parser.Literal{Pos: in.Pos, Kind: parser.BoolLiteral, Text: "true"}
			in.List = []parser.Expr{&parser.Literal{Pos: in.Pos, Kind: parser.BoolLiteral, Text: "false"}}
		}
	}
	for _, some := range p.some {
		array, _ := parser.ArrayOf(some)
		if array == nil {
			continue // a query
		}
		if q, ok := (*array).(*parser.Param); ok {
			if items, ok := list(q); ok {
				inList[q] = true
				*array = &parser.Array{Pos: q.Pos, Items: items}
			}
		}
	}
	for _, q := range p.all {
		if _, ok := list(q); ok && !inList[q] {
			return parser.Errorf(q.Pos, "a list of values stands only in IN (...), ANY (...), ALL (...) and UNNEST (...)")
		}
	}
	return nil
}
