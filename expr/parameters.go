package expr

import (
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// ParameterType is the type that the context of a parameter expects; Null means any type. List means several values of it,
// as in ANY (?).
type ParameterType struct {
	Type types.Type
	List bool
}

// Parameters finds the types that the contexts of a statement's parameters expect, while the statement is compiled with
// NULL for each.
type Parameters struct {
	Types []ParameterType // of ?, $1 and so on, in their order
	at    map[parser.Pos]int
}

// ParametersOf returns the Parameters of s, beginning with the given types; Null means unknown.
func ParametersOf(s parser.Statement, n int, given []types.Type) *Parameters {
	p := &Parameters{Types: make([]ParameterType, max(n, len(given))), at: map[parser.Pos]int{}}
	for i, t := range given {
		p.Types[i].Type = t
	}
	parser.Inspect(s, func(n parser.Node) bool {
		if q, ok := n.(*parser.Param); ok && q.Name == "" {
			p.at[q.Pos] = q.Index - 1
		}
		return true
	})
	return p
}

// typeOf returns the type of q, if it is known. A nil p knows none.
func (p *Parameters) typeOf(q *parser.Param) types.Type {
	if p == nil || q.Index < 1 || q.Index > len(p.Types) || p.Types[q.Index-1].List {
		return types.Null
	}
	return p.Types[q.Index-1].Type
}

// Want records that the context of x expects the type t, if x is a parameter of unknown type.
func (p *Parameters) Want(x parser.Expr, t types.Type) {
	if q, ok := x.(*parser.Param); ok && p != nil {
		p.want(q.Pos, ParameterType{Type: t})
	}
}

func (p *Parameters) want(pos parser.Pos, t ParameterType) {
	if i, ok := p.at[pos]; ok && p.Types[i].Type == types.Null && t.Type != types.Null {
		p.Types[i] = t
	}
}

// wants records that the context of x expects the type t, if x is a parameter.
func (c compiler) wants(x Expr, t types.Type) {
	if c.s.Parameters == nil {
		return
	}
	if k, ok := x.(*Const); ok && k.Typ == types.Null && k.Val.IsNull() {
		c.s.Parameters.want(k.Pos, ParameterType{Type: t})
	}
}

// operandTypes records the types that an arithmetic operator or || expects of parameters.
func (c compiler) operandTypes(op string, x, y Expr) {
	switch {
	case c.s.Parameters == nil:
	case op == "||":
		c.wants(x, types.String)
		c.wants(y, types.String)
	case op == "->>" || op == "->" || op == "#>" || op == "#>>" || op == "~" || op == "~*" || op == "!~" || op == "!~*":
		c.wants(y, types.String)
	default:
		if y.Type().IsNumeric() {
			c.wants(x, y.Type())
		}
		if x.Type().IsNumeric() {
			c.wants(y, x.Type())
		}
	}
}
