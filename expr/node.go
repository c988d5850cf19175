package expr

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

func (c *Const) Type() types.Type { return c.Typ }
func (c *Column) Type() types.Type {
	return c.Typ
}
func (*And) Type() types.Type     { return types.Boolean }
func (*Or) Type() types.Type      { return types.Boolean }
func (*Not) Type() types.Type     { return types.Boolean }
func (*Compare) Type() types.Type { return types.Boolean }
func (*In) Type() types.Type      { return types.Boolean }
func (*Like) Type() types.Type    { return types.Boolean }
func (*IsNull) Type() types.Type  { return types.Boolean }
func (c *Call) Type() types.Type  { return c.Typ }
func (c *Cast) Type() types.Type  { return c.Typ }
func (c *Case) Type() types.Type  { return c.Typ }

func (a *And) Position() parser.Pos { return a.Terms[0].Position() }
func (o *Or) Position() parser.Pos  { return o.Terms[0].Position() }
func (n *Not) Position() parser.Pos { return n.X.Position() }

var opText = [...]string{"=", "<>", "<", "<=", ">", ">="}

// String returns the operator's symbol.
func (o CompareOp) String() string { return opText[o] }

// Negate returns the operator that is true where o is false, if neither side is NULL.
func (o CompareOp) Negate() CompareOp { return [...]CompareOp{NE, EQ, GE, GT, LE, LT}[o] }

// Flip returns the operator for exchanged sides.
func (o CompareOp) Flip() CompareOp { return [...]CompareOp{EQ, NE, GT, GE, LT, LE}[o] }

// Holds reports whether o is true for two values whose comparison is c.
func (o CompareOp) Holds(c int) bool {
	switch o {
	case EQ:
		return c == 0
	case NE:
		return c != 0
	case LT:
		return c < 0
	case LE:
		return c <= 0
	case GT:
		return c > 0
	}
	return c >= 0
}

func (c *Const) String() string { return c.Val.SQL() }
func (c *Column) String() string {
	if c.Text != "" {
		return c.Text
	}
	return parser.QuoteName(c.Name)
}

// operand formats e as an operand of an operator.
func operand(e Expr) string {
	switch x := e.(type) {
	case *And, *Or, *Not, *Compare, *In, *Like, *IsNull:
		return "(" + e.String() + ")"
	case *Call:
		if x.Func.Group == "operator" {
			return "(" + e.String() + ")"
		}
	}
	return e.String()
}

func (a *And) String() string { return joined(a.Terms, " AND ") }
func (o *Or) String() string  { return joined(o.Terms, " OR ") }

// joined returns the terms of an AND or OR as SQL.
func joined(terms []Expr, by string) string {
	return words.Join(terms, by, func(t Expr) string {
		_, and := t.(*And)
		if _, or := t.(*Or); or || and && by == " AND " {
			return "(" + t.String() + ")"
		}
		return t.String()
	})
}

func (n *Not) String() string { return "NOT (" + n.X.String() + ")" }
func (c *Compare) String() string {
	return operand(c.X) + " " + c.Op.String() + " " + operand(c.Y)
}

func not(b bool) string {
	if b {
		return "NOT "
	}
	return ""
}

func (i *In) String() string {
	const most = 20
	parts := make([]string, 0, min(len(i.List), most)+1)
	for n, v := range i.List {
		if n == most {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, v.SQL())
	}
	if i.HasNull {
		parts = append(parts, "NULL")
	}
	return operand(i.X) + " " + not(i.Not) + "IN (" + strings.Join(parts, ", ") + ")"
}

func (l *Like) String() string {
	op := "LIKE "
	if l.Lower != nil {
		op = "ILIKE "
	}
	return operand(l.X) + " " + not(l.Not) + op + operand(l.Pattern)
}

func (i *IsNull) String() string { return operand(i.X) + " IS " + not(i.Not) + "NULL" }

func (c *Call) String() string {
	if c.Func.Group == "array" {
		if s, ok := c.arrayText(); ok {
			return s
		}
	}
	if c.Func.Group == "operator" {
		switch {
		case len(c.Args) == 1: // NEGATE
			return "-" + operand(c.Args[0])
		case c.Func.Name == "DECIMAL":
			return "CAST(" + c.Args[0].String() + " AS " + c.Func.Name + "(" + Texts(c.Args[1:]) + "))"
		}
		return operand(c.Args[0]) + " " + c.Func.Name + " " + operand(c.Args[1])
	}
	if c.Func.Group == encodedGroup {
		return c.Args[0].String() + " AS " + c.Func.Name
	}
	return c.Func.Name + "(" + Texts(c.Args) + ")"
}

// Texts returns expressions as SQL, separated by commas.
func Texts(list []Expr) string {
	return words.Join(list, ", ", Expr.String)
}

func (c *Cast) String() string { return "CAST(" + c.X.String() + " AS " + c.Typ.String() + ")" }

func (c *Case) String() string {
	var b strings.Builder
	b.WriteString("CASE")
	for _, w := range c.Whens {
		b.WriteString(" WHEN " + w.Cond.String() + " THEN " + w.Then.String())
	}
	return b.String() + " ELSE " + c.Else.String() + " END"
}

// Children returns the expressions directly below e; nil for a nil e.
func Children(e Expr) []Expr {
	if e == nil {
		return nil
	}
	return e.children()
}

func (*Const) children() []Expr     { return nil }
func (*Column) children() []Expr    { return nil }
func (a *And) children() []Expr     { return a.Terms }
func (o *Or) children() []Expr      { return o.Terms }
func (n *Not) children() []Expr     { return []Expr{n.X} }
func (c *Compare) children() []Expr { return []Expr{c.X, c.Y} }
func (i *In) children() []Expr      { return []Expr{i.X} }
func (l *Like) children() []Expr    { return []Expr{l.X, l.Pattern} }
func (i *IsNull) children() []Expr  { return []Expr{i.X} }
func (c *Call) children() []Expr    { return c.Args }
func (c *Cast) children() []Expr    { return []Expr{c.X} }
func (c *Case) children() (out []Expr) {
	for _, w := range c.Whens {
		out = append(out, w.Cond, w.Then)
	}
	return append(out, c.Else)
}
func (s *Subquery) children() []Expr { return slices.Concat(s.Outer, s.X) }

// Some reports whether is returns true for e or for an expression below it.
func Some(e Expr, is func(Expr) bool) bool {
	if is(e) {
		return true
	}
	switch e := e.(type) { // without Children, for speed: a WHERE may have many terms
	case *Compare:
		return Some(e.X, is) || Some(e.Y, is)
	case *In:
		return Some(e.X, is)
	}
	for _, x := range Children(e) {
		if Some(x, is) {
			return true
		}
	}
	return false
}

// IsSubquery reports whether e is a sub-query.
func IsSubquery(e Expr) bool {
	_, ok := e.(*Subquery)
	return ok
}

// SomeColumn reports whether is returns true for a column that e reads.
func SomeColumn(e Expr, is func(col int) bool) bool {
	return Some(e, func(x Expr) bool {
		c, ok := x.(*Column)
		return ok && is(c.Index)
	})
}

// Columns returns the columns that e reads, in ascending order.
func Columns(e Expr) []int {
	var out []int
	SomeColumn(e, func(col int) bool {
		if i, found := slices.BinarySearch(out, col); !found {
			out = slices.Insert(out, i, col)
		}
		return false
	})
	return out
}

// Same reports whether a and b are the same expression of the same columns, regardless of table names and positions.
func Same(a, b Expr) bool { return sameNode(a, b) && slices.EqualFunc(Children(a), Children(b), Same) }

// zoned reports whether the time zone determines the result of c.
func (c *Cast) zoned() bool {
	from, to := c.X.Type(), c.Typ
	return from == types.Timestamp && !to.IsNumeric() || to == types.Timestamp && !from.IsNumeric()
}

// sameNode compares two nodes without their children and positions.
func sameNode(a, b Expr) bool {
	if a.Type() != b.Type() {
		return false
	}
	switch x := a.(type) {
	case *And, *Or, *Not, *Case:
		return reflect.TypeOf(a) == reflect.TypeOf(b)
	case *Cast:
		y, ok := b.(*Cast)
		return ok && (x.Key == y.Key || x.Zone == y.Zone || !x.zoned())
	case *Const:
		y, ok := b.(*Const)
		return ok && x.Val.Identical(y.Val)
	case *Column:
		y, ok := b.(*Column)
		return ok && x.Index == y.Index
	case *Compare:
		y, ok := b.(*Compare)
		return ok && x.Op == y.Op
	case *In:
		y, ok := b.(*In)
		return ok && x.Not == y.Not && x.HasNull == y.HasNull && slices.EqualFunc(x.List, y.List, types.Value.Identical)
	case *Like:
		y, ok := b.(*Like)
		return ok && x.Not == y.Not && (x.Lower != nil) == (y.Lower != nil) && x.escape() == y.escape()
	case *IsNull:
		y, ok := b.(*IsNull)
		return ok && x.Not == y.Not
	case *Call:
		y, ok := b.(*Call)
		return ok && (x.Func == y.Func || x.Func.Group == encodedGroup && y.Func.Group == encodedGroup && x.Func.Name == y.Func.Name)
	case *Subquery:
		y, ok := b.(*Subquery)
		return ok && x.Kind == y.Kind && x.Not == y.Not && x.Op == y.Op && x.Column == y.Column && x.Text == y.Text
	}
	return a == b
}

// Map rebuilds e from the leaves up, replacing every node by f's result for it. It keeps nodes that do not change.
func Map(e Expr, f func(Expr) Expr) Expr {
	children := Children(e)
	var changed []Expr
	for i, x := range children {
		y := Map(x, f)
		if y != x && changed == nil {
			changed = slices.Clone(children)
		}
		if changed != nil {
			changed[i] = y
		}
	}
	if changed != nil {
		e = withChildren(e, changed)
	}
	return f(e)
}

// MapColumns replaces each column of e by f's result for it.
func MapColumns(e Expr, f func(*Column) Expr) Expr {
	return Map(e, func(x Expr) Expr {
		if c, ok := x.(*Column); ok {
			return f(c)
		}
		return x
	})
}

// withChildren returns a copy of e over other children, which are in the order of Children.
func withChildren(e Expr, to []Expr) Expr {
	switch x := e.(type) {
	case *And:
		return &And{Terms: to}
	case *Or:
		return &Or{Terms: to}
	case *Not:
		return &Not{X: to[0]}
	case *Compare:
		return with(x, func(c *Compare) { c.X, c.Y = to[0], to[1] })
	case *In:
		return with(x, func(c *In) { c.X = to[0] })
	case *Like:
		return with(x, func(c *Like) { c.X, c.Pattern = to[0], to[1] })
	case *IsNull:
		return with(x, func(c *IsNull) { c.X = to[0] })
	case *Call:
		return with(x, func(c *Call) { c.Args = to })
	case *Cast:
		return with(x, func(c *Cast) { c.X = to[0] })
	case *Case:
		c := &Case{Pos: x.Pos, Else: to[len(to)-1], Typ: x.Typ}
		for when := range slices.Chunk(to[:len(to)-1], 2) {
			c.Whens = append(c.Whens, When{when[0], when[1]})
		}
		return c
	case *Subquery:
		n := len(x.Outer)
		return with(x, func(c *Subquery) { c.Outer, c.X = to[:n:n], slices.Clone(to[n:]) })
	}
	panic(fmt.Sprintf("expr: %T has no children", e))
}

// with returns a copy of x that change has changed.
func with[T any](x *T, change func(*T)) *T {
	c := *x
	change(&c)
	return &c
}
