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
// NULL in place of each parameter.
type Parameters struct {
	Types []ParameterType // the types of ?, $1 and so on, in their order
	at    map[parser.Pos]int
	// assumed has the parameters, numbered from 0, that only took the type of the other operand. A context that expects
	// a type overrides it.
	assumed map[int]bool
}

// ParametersOf returns the Parameters of s, beginning with the given types; Null means unknown.
func ParametersOf(s parser.Statement, n int, given []types.Type) *Parameters {
	p := &Parameters{Types: make([]ParameterType, max(n, len(given))), at: map[parser.Pos]int{}, assumed: map[int]bool{}}
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

// typeOf returns the type of q, or Null if it is unknown. A nil p knows no types.
func (p *Parameters) typeOf(q *parser.Param) types.Type {
	if p == nil || q.Index < 1 || q.Index > len(p.Types) || p.Types[q.Index-1].List {
		return types.Null
	}
	return p.Types[q.Index-1].Type
}

// Want records that the context of x expects the type t, if x is a parameter of unknown type or a computation with such
// parameters.
func (p *Parameters) Want(x parser.Expr, t types.Type) {
	if p != nil {
		EachOperand(x, t, func(q *parser.Param, t types.Type) {
			if i, ok := p.at[q.Pos]; ok && p.assumed[i] && t != types.Null {
				p.Types[i], p.assumed[i] = ParameterType{}, false
			}
			p.want(q.Pos, ParameterType{Type: t})
		})
	}
}

// EachOperand calls f for each parameter in x, an expression whose context expects a value of type t. It passes the
// type that the parameter must have for that.
//
//	?                           t
//	? + INTERVAL '1 hour'       t, if that is a moment
//	NOW() - ?                   INTERVAL, or BIGINT for a DATE
func EachOperand(x parser.Expr, t types.Type, f func(*parser.Param, types.Type)) {
	switch x := x.(type) {
	case *parser.Param:
		f(x, t)
	case *parser.Binary:
		if x.Op != "+" && x.Op != "-" || !t.IsTimestamp() && t != types.Date {
			return
		}
		moment, step, by := x.X, x.Y, types.Duration
		if k, ok := moment.(*parser.Literal); ok && k.Kind == parser.IntervalLiteral {
			moment, step = step, moment
		} else if k, ok := step.(*parser.Literal); t == types.Date && !(ok && k.Kind == parser.IntervalLiteral) {
			by = types.BigInt
		}
		EachOperand(moment, t, f)
		EachOperand(step, by, f)
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
	case op == "||" || op == "@>" || op == "<@":
		for _, o := range [][2]Expr{{x, y}, {y, x}} {
			if t := o[1].Type(); t == types.JSON {
				c.wants(o[0], t)
			} else if op == "||" && !t.IsArray() { // elements does so for arrays
				c.wants(o[0], types.String)
			}
		}
	case op == "->>" || op == "->" || op == "@?" || op == "@@" || op == "~" || op == "~*" || op == "!~" || op == "!~*":
		c.wants(y, types.String)
	default:
		for _, o := range [][2]Expr{{x, y}, {y, x}} {
			t := o[1].Type()
			switch {
			case op == "+" && t.IsTimestamp():
				t = types.Duration
			case t == types.Duration && op != "+" && op != "-":
				t = types.Double
			case !t.IsNumeric() && !t.IsTimestamp() && t != types.Duration && !(op == "-" && t == types.Date):
				continue
			}
			if i, ok := c.s.Parameters.at[o[0].Position()]; ok && c.s.Parameters.Types[i].Type == types.Null {
				c.s.Parameters.assumed[i] = true
				c.wants(o[0], t)
			}
		}
	}
}
