package expr

import (
	"strings"

	"github.com/hql-db/hql/internal/fail"
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

// place returns x, whose context expects the type t: it reads a text constant as t, and records t for a parameter. All
// contexts that know the type call it.
func (c compiler) place(x Expr, t types.Type) Expr {
	c.wants(x, t)
	if k, ok := x.(*Const); ok && k.untyped() && t != types.Null {
		return c.adapt(k, t)
	}
	return x
}

// Place returns x, whose context expects the type t: a text constant is read as t, and t is recorded for a parameter.
func Place(x Expr, t types.Type, s *Scope) (_ Expr, err error) {
	defer fail.Catch(&err)
	return compiler{s}.place(x, t), nil
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

// operands returns the operands of an operator. It reads a text constant as the type that the operator expects next to
// the other operand, and records that type for a parameter.
func (c compiler) operands(op string, x, y Expr) (Expr, Expr) {
	tx, assumed := operandType(op, y.Type(), false)
	ty, _ := operandType(op, x.Type(), true)
	return c.operand(op, x, tx, assumed), c.operand(op, y, ty, assumed)
}

func (c compiler) operand(op string, x Expr, t types.Type, assumed bool) Expr {
	if p := c.s.Parameters; p != nil && assumed && t != types.Null {
		if i, ok := p.at[x.Position()]; ok && p.Types[i].Type == types.Null {
			p.assumed[i] = true
		}
	}
	if k, ok := x.(*Const); ok && k.untyped() && op == "-" && t.IsTemporal() && strings.ContainsAny(k.Val.Text(), "abcdefghijklmnopqrstuvwxyzPT:") { // NOW() - '1 hour', not '1'
		if _, err := fail.Try(func() Expr { return c.adapt(k, t) }); err != nil {
			if span, err := fail.Try(func() Expr { return c.adapt(k, types.Duration) }); err == nil {
				return span
			}
		}
	}
	return c.place(x, t)
}

// operandType returns the type that op expects of one operand if the other one has the type t; NULL means any. right is
// set for the operand on the right. assumed is set if the context of the operation may want another type.
func operandType(op string, t types.Type, right bool) (_ types.Type, assumed bool) {
	switch op {
	case "||":
		if t.IsArray() { // elements converts them
			return types.Null, false
		}
		if t.IsJSON() || t == types.Bytes {
			return t, false
		}
		return types.String, false
	case "@>", "<@":
		if t.IsJSON() {
			return t, false
		}
		return types.Null, false
	case "->>", "->", "@?", "@@", "~", "~*", "!~", "!~*":
		if right {
			return types.String, false
		}
		return types.Null, false
	}
	switch {
	case op == "^" && t.IsInteger():
		return types.Double, true
	case op == "+" && (t.IsTimestamp() || t == types.Time):
		return types.Duration, true
	case t == types.Duration && (op == "*" || op == "/"):
		return types.Double, true
	case op == "+" && t == types.Date:
		return types.BigInt, true
	case t.IsNumeric(), t.IsTemporal(), t == types.Duration:
		return t, true
	}
	return types.Null, true
}
