package hql

import "github.com/hql-db/hql/parser"

// params are the parameters of a statement and the IN lists that stand in it.
type params struct {
	count int             // the greatest index of ? or $n
	named []*parser.Param // @name
	all   []*parser.Param
	ins   []*parser.In
}

func findParams(s parser.Statement) *params {
	p := &params{}
	p.statement(s)
	return p
}

// expand replaces the parameters of IN lists for which list gives values by those.
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
	for _, q := range p.all {
		if _, ok := list(q); ok && !inList[q] {
			return parser.Errorf(q.Pos, "a list of values stands only in IN (...)")
		}
	}
	return nil
}

func (p *params) statement(s parser.Statement) {
	switch s := s.(type) {
	case *parser.Select:
		p.query(s)
	case *parser.Insert:
		for _, row := range s.Rows {
			p.exprs(row...)
		}
		p.query(s.Query)
	case *parser.Update:
		for _, a := range s.Set {
			p.exprs(a.Expr)
		}
		p.exprs(s.Where)
	case *parser.Delete:
		p.exprs(s.Where)
	case *parser.Explain:
		p.statement(s.Statement)
	case *parser.Set:
		p.exprs(s.Value)
	case *parser.Copy:
		p.query(s.Query)
	}
}

func (p *params) query(s *parser.Select) {
	if s == nil {
		return
	}
	for _, w := range s.With {
		p.query(w.Query)
	}
	for _, c := range s.Cores {
		p.query(c.Query)
		for _, it := range c.Items {
			p.exprs(it.Expr)
		}
		for _, f := range c.From {
			p.table(f)
		}
		p.exprs(c.Where, c.Having)
		p.exprs(c.GroupBy...)
		for _, row := range c.Values {
			p.exprs(row...)
		}
	}
	for _, o := range s.OrderBy {
		p.exprs(o.Expr)
	}
	p.exprs(s.Limit, s.Offset)
}

func (p *params) table(t parser.TableExpr) {
	switch t := t.(type) {
	case *parser.TableName:
		if t.SystemTime != nil {
			p.exprs(t.SystemTime.From, t.SystemTime.To)
		}
	case *parser.Subquery:
		p.query(t.Query)
	case *parser.Join:
		p.table(t.Left)
		p.table(t.Right)
		p.exprs(t.On)
	}
}

func (p *params) exprs(xs ...parser.Expr) {
	for _, x := range xs {
		parser.Walk(x, func(x parser.Expr) bool {
			switch x := x.(type) {
			case *parser.Param:
				if x.Name != "" {
					p.named = append(p.named, x)
				}
				p.count = max(p.count, x.Index)
				p.all = append(p.all, x)
			case *parser.In:
				p.ins = append(p.ins, x)
				p.query(x.Query)
			case *parser.SubqueryExpr:
				p.query(x.Query)
			}
			return true
		})
	}
}
