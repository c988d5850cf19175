package parser

import (
	"encoding/hex"
	"fmt"
	"strings"
)

func printExpr(e Expr) string {
	var p printer
	p.expr(e, bindNone)
	return p.Builder.String()
}

func (e *Literal) String() string      { return printExpr(e) }
func (e *Param) String() string        { return printExpr(e) }
func (e *ColumnRef) String() string    { return printExpr(e) }
func (e *Unary) String() string        { return printExpr(e) }
func (e *Binary) String() string       { return printExpr(e) }
func (e *Between) String() string      { return printExpr(e) }
func (e *In) String() string           { return printExpr(e) }
func (e *Quantified) String() string   { return printExpr(e) }
func (e *Array) String() string        { return printExpr(e) }
func (e *Subscript) String() string    { return printExpr(e) }
func (e *Like) String() string         { return printExpr(e) }
func (e *Is) String() string           { return printExpr(e) }
func (e *Call) String() string         { return printExpr(e) }
func (e *RangeArg) String() string     { return printExpr(e) }
func (e *EncodedArg) String() string   { return printExpr(e) }
func (e *Case) String() string         { return printExpr(e) }
func (e *Cast) String() string         { return printExpr(e) }
func (e *AtTimeZone) String() string   { return printExpr(e) }
func (e *Tuple) String() string        { return printExpr(e) }
func (e *GroupingSets) String() string { return printExpr(e) }
func (e *SubqueryExpr) String() string { return printExpr(e) }

var binaryBindings = map[string]int{
	"OR": bindOr, "AND": bindAnd, "IS DISTINCT FROM": bindIs,
	"=": bindCompare, "<>": bindCompare, "<": bindCompare, "<=": bindCompare, ">": bindCompare, ">=": bindCompare,
	"+": bindAdd, "-": bindAdd, "*": bindMul, "/": bindMul, "%": bindMul, "^": bindPower,
}

func (e *Unary) binding() int {
	switch e.Op {
	case "NOT":
		return bindNot
	case "~":
		return bindOther
	}
	return bindSign
}

func (e *Binary) binding() int {
	if b, ok := binaryBindings[e.Op]; ok {
		return b
	}
	return bindOther
}

// expr writes e, in parentheses if it binds less tightly than least.
func (p *printer) expr(e Expr, least int) {
	if e.binding() < least {
		p.put("(")
		defer p.put(")")
	}
	switch e := e.(type) {
	case *Literal:
		p.literal(e)
	case *Param:
		if e.Name != "" {
			p.put("@", e.Name)
		} else {
			p.put("$", itoa(e.Index))
		}
	case *ColumnRef:
		p.columnRef(e)
	case *Unary:
		p.unary(e)
	case *Binary:
		p.binary(e)
	case *Between:
		p.expr(e.X, bindRange+1)
		p.put(negated(e.Not), " BETWEEN ")
		if e.Symmetric {
			p.put("SYMMETRIC ")
		}
		p.expr(e.Lo, bindRange+1)
		p.put(" AND ")
		p.expr(e.Hi, bindRange+1)
	case *In:
		p.in(e)
	case *Quantified:
		p.quantified(e)
	case *Array:
		p.put("ARRAY[")
		p.exprs(e.Items)
		p.put("]")
	case *Subscript:
		p.subscript(e)
	case *Like:
		p.expr(e.X, bindRange+1)
		p.put(negated(e.Not), " ", e.Op, " ")
		p.expr(e.Pattern, bindRange+1)
		if e.Escape != nil {
			p.put(" ESCAPE ")
			p.expr(e.Escape, bindRange+1)
		}
	case *Is:
		p.expr(e.X, bindIs)
		p.put(" IS", negated(e.Not), " ", e.What)
	case *Call:
		p.call(e)
	case *RangeArg:
		p.expr(e.Lo, bindOr)
		p.put(" TO ")
		p.expr(e.Hi, bindOr)
	case *EncodedArg:
		p.expr(e.X, bindOr)
		p.put(" AS ")
		p.encoding(e.Encoding)
	case *Case:
		p.caseExpr(e)
	case *Cast:
		p.put("CAST(")
		p.expr(e.X, bindNone)
		p.put(" AS ", e.Type)
		if e.Encoding != nil {
			p.put(" AS ")
			p.encoding(e.Encoding)
		}
		p.put(")")
	case *AtTimeZone:
		p.expr(e.X, bindZone)
		p.put(" AT TIME ZONE ")
		p.expr(e.Zone, bindZone+1)
	case *Tuple:
		p.tuple(e)
	case *GroupingSets:
		p.put(e.Kind, " (")
		p.groups(e.Items)
		p.put(")")
	case *SubqueryExpr:
		if e.Exists {
			p.put("EXISTS ")
		} else if e.Array {
			p.put("ARRAY")
		}
		p.put("(")
		p.query(e.Query)
		p.put(")")
	default:
		panic(fmt.Sprintf("parser: unknown expression %T", e))
	}
}

func negated(not bool) string {
	if not {
		return " NOT"
	}
	return ""
}

func (p *printer) literal(e *Literal) {
	switch e.Kind {
	case NullLiteral:
		p.put("NULL")
	case BoolLiteral:
		p.put(strings.ToUpper(e.Text))
	case NumberLiteral:
		p.put(e.Text)
	case StringLiteral:
		p.put(quoteText(e.Text))
	case BytesLiteral:
		p.put("X'", hex.EncodeToString([]byte(e.Text)), "'")
	case DateLiteral:
		p.put("DATE ", quoteText(e.Text))
	case TimeLiteral:
		p.put("TIME ", quoteText(e.Text))
	case TimestampLiteral:
		p.put("TIMESTAMP ", quoteText(e.Text))
	case IntervalLiteral:
		p.put("INTERVAL ", quoteText(e.Text))
	}
}

func (p *printer) columnRef(e *ColumnRef) {
	if e.Table != "" {
		p.put(QuoteName(e.Table), ".")
	}
	family, qualifier, ok := strings.Cut(e.Name, ":")
	switch {
	case e.Quoted:
		p.put(quoteAlways(e.Name))
	case ok && family != "":
		p.put(QuoteName(family), ":", QuoteName(qualifier))
	case isPlainColumn(e.Name):
		p.put(e.Name)
	default:
		p.put(quoteAlways(e.Name))
	}
	if e.Star {
		p.put(".*")
	}
}

// isPlainColumn reports whether a column's name needs no quotes. Keywords of the class guarded need none.
func isPlainColumn(name string) bool {
	k, ok := keywordOf(name)
	return isPlainName(name) || ok && k.class == guarded
}

func (p *printer) unary(e *Unary) {
	p.put(e.Op)
	if e.Op == "NOT" {
		p.put(" ")
		p.expr(e.X, bindNot)
		return
	}
	if inner, ok := e.X.(*Unary); ok && inner.Op != "NOT" {
		p.put(" ") // -- would start a comment
	}
	if e.Op == "~" {
		p.expr(e.X, bindOther+1)
		return
	}
	p.expr(e.X, bindSign)
}

// binary writes X op Y. It walks through the left sides of a long chain in a loop: a AND b AND c ...
func (p *printer) binary(e *Binary) {
	binding := e.binding()
	left := binding
	if binding == bindCompare {
		left++
	}
	chain := []*Binary{e}
	for {
		x, ok := e.X.(*Binary)
		if !ok || x.binding() < left || x.binding() != binding {
			break
		}
		chain, e = append(chain, x), x
	}
	p.expr(e.X, left)
	for i := len(chain) - 1; i >= 0; i-- {
		p.put(" ", chain[i].Op, " ")
		p.expr(chain[i].Y, binding+1)
	}
}

func (p *printer) in(e *In) {
	p.expr(e.X, bindRange+1)
	p.put(negated(e.Not), " IN (")
	if e.Query != nil {
		p.query(e.Query)
	} else {
		p.exprs(e.List)
	}
	p.put(")")
}

func (p *printer) quantified(e *Quantified) {
	p.expr(e.X, bindCompare+1)
	p.put(" ", e.Op, " ")
	if e.All {
		p.put("ALL ")
	} else {
		p.put("ANY ")
	}
	if _, ok := e.Y.(*SubqueryExpr); ok { // a sub-query has parentheses of its own
		p.expr(e.Y, bindNone)
		return
	}
	p.put("(")
	p.expr(e.Y, bindNone)
	p.put(")")
}

// subscript writes X[i][j:k]. It writes X in parentheses unless X is a column, a parameter, or a subscript of either.
func (p *printer) subscript(e *Subscript) {
	switch e.X.(type) {
	case *ColumnRef, *Param:
		p.expr(e.X, bindOperand)
	default:
		p.put("(")
		p.expr(e.X, bindNone)
		p.put(")")
	}
	for _, at := range e.At {
		p.put("[")
		p.bound(at.Lo)
		if at.Slice {
			p.put(" : ")
			p.bound(at.Hi)
		}
		p.put("]")
	}
}

func (p *printer) bound(e Expr) {
	switch e.(type) {
	case nil:
	case *Literal, *Param:
		p.expr(e, bindNone)
	default: // a:b would be a column
		p.put("(")
		p.expr(e, bindNone)
		p.put(")")
	}
}

func (p *printer) call(e *Call) {
	p.put(quoteFunction(e.Name), "(")
	if e.Star {
		p.put("*")
	}
	if e.Distinct {
		p.put("DISTINCT ")
	}
	p.exprs(e.Args)
	if e.Within {
		p.put(") WITHIN GROUP (")
		p.order("ORDER BY ", e.OrderBy)
	} else {
		p.order(" ORDER BY ", e.OrderBy)
	}
	p.put(")")
	if e.Filter != nil {
		p.put(" FILTER (WHERE ")
		p.expr(e.Filter, bindNone)
		p.put(")")
	}
	if e.Over != nil {
		p.over(e.Over)
	}
}

// quoteFunction returns a function's name, in quotes if it needs them. Guarded words (LEFT) and words that the grammar reads as
// functions (CURRENT_DATE) need none before a parenthesis.
func quoteFunction(name string) string {
	k, ok := keywordOf(name)
	if name == "ROLLUP" || name == "CUBE" || name == "LATERAL" { // they are not functions in GROUP BY or FROM
		return quoteAlways(name)
	}
	if ok && (k.class == guarded || strings.HasPrefix(name, "CURRENT_")) {
		return name
	}
	return QuoteName(name)
}

func (p *printer) caseExpr(e *Case) {
	p.put("CASE")
	p.clause(" ", e.X)
	for _, w := range e.Whens {
		p.clause(" WHEN ", w.Cond)
		p.clause(" THEN ", w.Then)
	}
	p.clause(" ELSE ", e.Else)
	p.put(" END")
}

// tuple writes (a, b). It writes ROW(a) for a single item, since (a) is a.
func (p *printer) tuple(e *Tuple) {
	if len(e.Items) < 2 {
		p.put("ROW")
	}
	p.put("(")
	p.exprs(e.Items)
	p.put(")")
}

// groups writes terms of GROUP BY.
func (p *printer) groups(list []Expr) {
	p.list(len(list), func(i int) {
		if t, ok := list[i].(*Tuple); ok && len(t.Items) == 0 {
			p.put("()")
			return
		}
		p.expr(list[i], bindNone)
	})
}
