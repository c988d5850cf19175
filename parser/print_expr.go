package parser

import (
	"encoding/hex"
	"fmt"
	"strings"
)

func (e *Literal) String() string      { return sql(e) }
func (e *Param) String() string        { return sql(e) }
func (e *ColumnRef) String() string    { return sql(e) }
func (e *Unary) String() string        { return sql(e) }
func (e *Binary) String() string       { return sql(e) }
func (e *Between) String() string      { return sql(e) }
func (e *In) String() string           { return sql(e) }
func (e *Quantified) String() string   { return sql(e) }
func (e *Array) String() string        { return sql(e) }
func (e *Subscript) String() string    { return sql(e) }
func (e *Like) String() string         { return sql(e) }
func (e *Is) String() string           { return sql(e) }
func (e *Call) String() string         { return sql(e) }
func (e *RangeArg) String() string     { return sql(e) }
func (e *EncodedArg) String() string   { return sql(e) }
func (e *Case) String() string         { return sql(e) }
func (e *Cast) String() string         { return sql(e) }
func (e *AtTimeZone) String() string   { return sql(e) }
func (e *Tuple) String() string        { return sql(e) }
func (e *GroupingSets) String() string { return sql(e) }
func (e *SubqueryExpr) String() string { return sql(e) }

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
		p.put(bounded(e.X), when(e.Not, " NOT"), " BETWEEN ", when(e.Symmetric, "SYMMETRIC "), bounded(e.Lo), " AND ", bounded(e.Hi))
	case *In:
		p.put(bounded(e.X), when(e.Not, " NOT"), " IN (")
		if e.Query != nil {
			p.put(e.Query)
		}
		p.put(commas(e.List), ")")
	case *Quantified:
		p.quantified(e)
	case *Array:
		p.put("ARRAY[", commas(e.Items), "]")
	case *Subscript:
		p.subscript(e)
	case *Like:
		p.put(bounded(e.X), when(e.Not, " NOT"), " ", e.Op, " ", bounded(e.Pattern))
		if e.Escape != nil {
			p.put(" ESCAPE ", bounded(e.Escape))
		}
	case *Is:
		p.put(operand{e.X, bindIs}, " IS", when(e.Not, " NOT"), " ", e.What)
	case *Call:
		p.call(e)
	case *RangeArg:
		p.put(operand{e.Lo, bindOr}, " TO ", operand{e.Hi, bindOr})
	case *EncodedArg:
		p.put(operand{e.X, bindOr}, encoded(e.Encoding))
	case *Case:
		p.put("CASE", clause{" ", e.X})
		for _, w := range e.Whens {
			p.put(" WHEN ", w.Cond, " THEN ", w.Then)
		}
		p.put(clause{" ELSE ", e.Else}, " END")
	case *Cast:
		p.put("CAST(", e.X, " AS ", e.Type, encoded(e.Encoding), ")")
	case *AtTimeZone:
		p.put(operand{e.X, bindZone}, " AT TIME ZONE ", operand{e.Zone, bindZone + 1})
	case *Tuple: // (a) is a, without ROW
		p.put(when(len(e.Items) < 2, "ROW"), row(e.Items))
	case *GroupingSets:
		p.put(e.Kind, " (", groupTerms(e.Items), ")")
	case *SubqueryExpr:
		p.put(when(e.Exists, "EXISTS "), when(e.Array && !e.Exists, "ARRAY"), "(", e.Query, ")")
	default:
		panic(fmt.Sprintf("parser: unknown expression %T", e))
	}
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
	p.put(when(e.Star, ".*"))
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

func (p *printer) quantified(e *Quantified) {
	_, sub := e.Y.(*SubqueryExpr) // which has parentheses of its own
	p.put(operand{e.X, bindCompare + 1}, " ", e.Op, when(e.All, " ALL "), when(!e.All, " ANY "), when(!sub, "("), e.Y, when(!sub, ")"))
}

// subscript writes X[i][j:k]. It writes X in parentheses unless X is a column, a parameter, or a subscript of either.
func (p *printer) subscript(e *Subscript) {
	switch e.X.(type) {
	case *ColumnRef, *Param:
		p.put(e.X)
	default:
		p.put("(", e.X, ")")
	}
	for _, at := range e.At {
		p.put("[")
		p.bound(at.Lo)
		p.put(when(at.Slice, " : "))
		p.bound(at.Hi)
		p.put("]")
	}
}

func (p *printer) bound(e Expr) {
	switch e.(type) {
	case nil:
	case *Literal, *Param:
		p.put(e)
	default: // a:b would be a column
		p.put("(", e, ")")
	}
}

func (p *printer) call(e *Call) {
	p.put(quoteFunction(e.Name), "(", when(e.Star, "*"), when(e.Distinct, "DISTINCT "), commas(e.Args))
	if e.Within {
		p.put(") WITHIN GROUP (", some("ORDER BY ", e.OrderBy, ""))
	} else {
		p.put(some(" ORDER BY ", e.OrderBy, ""))
	}
	p.put(")")
	if e.Filter != nil {
		p.put(" FILTER (WHERE ", e.Filter, ")")
	}
	if w := e.Over; w != nil && w.Name != "" && !w.Copies {
		p.put(" OVER ", QuoteName(w.Name))
	} else if w != nil {
		p.put(" OVER ", w)
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

// groupTerms are terms of GROUP BY.
type groupTerms []Expr

func (list groupTerms) print(p *printer) {
	for i, x := range list {
		p.put(when(i > 0, ", "))
		if t, ok := x.(*Tuple); ok && len(t.Items) == 0 {
			p.put("()")
		} else {
			p.put(x)
		}
	}
}
