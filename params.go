package hql

import (
	"strconv"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// params holds the parameters of a statement, and the IN expressions that take lists.
type params struct {
	count int             // the greatest index of ? or $n
	named []*parser.Param // @name
	all   []*parser.Param
	ins   []*parser.In
	// explained is set for EXPLAIN without ANALYZE, which needs no arguments.
	explained bool
}

func findParams(s parser.Statement) *params {
	p := &params{}
	if x, ok := s.(*parser.Explain); ok {
		p.explained = !x.Analyze
	}
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
		}
		return true
	})
	return p
}

// expand replaces parameters in IN lists by those of lists, whose keys are the number of a parameter or @ and its name, and adds
// their values to args. In other places such a parameter is an array.
func (p *params) expand(args *exec.Args, lists map[string][]types.Value) {
	if len(lists) == 0 {
		return
	}
	for _, in := range p.ins {
		if in.Query != nil {
			continue
		}
		var out []parser.Expr
		for _, x := range in.List {
			q, ok := x.(*parser.Param)
			key := ""
			if ok && q.Name != "" {
				key = "@" + q.Name
			} else if ok {
				key = strconv.Itoa(q.Index)
			}
			list, ok := lists[key]
			if !ok {
				out = append(out, x)
			}
			for _, v := range list {
				args.Positional = append(args.Positional, v)
				out = append(out, &parser.Param{Pos: q.Pos, Index: len(args.Positional)})
			}
		}
		in.List = out
		if len(out) == 0 { // IN an empty list is false, even for NULL
			in.X = &parser.Literal{Pos: in.Pos, Kind: parser.BoolLiteral, Text: "true"}
			in.List = []parser.Expr{&parser.Literal{Pos: in.Pos, Kind: parser.BoolLiteral, Text: "false"}}
		}
	}
}
