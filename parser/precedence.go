package parser

// How tightly operators bind, as in PostgreSQL. BETWEEN, IN and LIKE bind more tightly
// than comparisons, IS less tightly.
const (
	bindNone = iota
	bindOr
	bindAnd
	bindNot
	bindIs
	bindCompare // does not chain: a < b < c is an error
	bindRange   // BETWEEN, IN, LIKE; does not chain either
	bindOther   // || -> ->> ~
	bindAdd
	bindMul
	bindZone
	bindSign
	bindCast
	bindOperand
)

var bindings = [...]int{
	opNot: bindNot, opMinus: bindSign, opPlus: bindSign, opOr: bindOr, opAnd: bindAnd, opIs: bindIs, opDistinct: bindIs,
	opCompare: bindCompare, opBetween: bindRange, opIn: bindRange, opLike: bindRange, opEscape: bindNone, opOther: bindOther,
	opAdd: bindAdd, opMul: bindMul, opZone: bindZone, opCast: bindCast,
}

// chain folds the items of an exprNode into a tree by precedence climbing. It recurses
// once for every prefix operator and every level of precedence, never for every operator.
type chain struct {
	l     *lowerer
	items []chainItem
	next  int
}

// expr lowers an expression; nil for a nil node.
func (l *lowerer) expr(e *exprNode) (Expr, error) {
	if e == nil {
		return nil, nil
	}
	if e.tail == nil {
		return l.operand(e.head)
	}
	c := chain{l: l, items: make([]chainItem, 0, 1+len(e.tail))}
	c.items = append(append(c.items, e.head), e.tail...)
	x, err := c.fold(bindOr)
	if err != nil {
		return nil, err
	}
	if c.next < len(c.items) { // only ESCAPE binds to nothing
		return nil, Errorf(pos(c.items[c.next].tok), "ESCAPE must follow the pattern of a LIKE")
	}
	return x, nil
}

// peek gives the operator that comes next, opNone at the end.
func (c *chain) peek() opCode {
	if c.next == len(c.items) {
		return opNone
	}
	return c.items[c.next].op
}

// fold reads an operand and the operators behind it that bind at least as tightly as least.
func (c *chain) fold(least int) (Expr, error) {
	x, err := c.operand()
	if err != nil {
		return nil, err
	}
	last := bindNone // of the operator that made x, where that one does not chain
	for c.next < len(c.items) {
		it := c.items[c.next]
		binding := bindings[it.op]
		if binding < least || binding == bindNone {
			break
		}
		if binding == last {
			return nil, doesNotChain(it)
		}
		c.next++
		if x, err = c.apply(x, it); err != nil {
			return nil, err
		}
		last = bindNone
		if binding == bindCompare || binding == bindRange {
			last = binding
		}
	}
	return x, nil
}

func doesNotChain(it chainItem) error {
	if it.op == opCompare {
		return Errorf(pos(it.tok), "comparisons do not chain").WithHint("write a < b AND b < c, or use parentheses")
	}
	return Errorf(pos(it.tok), "%s cannot follow another BETWEEN, IN or LIKE", it.tok.Value).WithHint("use parentheses")
}

// operand reads prefix operators and what they apply to.
func (c *chain) operand() (Expr, error) {
	it := c.items[c.next]
	c.next++
	switch it.op {
	case opNone:
		return c.l.operand(it)
	case opNot, opMinus, opPlus:
		x, err := c.fold(bindings[it.op])
		if err != nil {
			return nil, err
		}
		return &Unary{Pos: pos(it.tok), Op: it.tok.Value, X: x}, nil
	}
	return nil, Errorf(pos(it.tok), "%s has nothing on its left", it.tok.Value)
}

// apply makes the node of operator it, whose left side is x.
func (c *chain) apply(x Expr, it chainItem) (Expr, error) {
	at := pos(it.tok)
	switch it.op {
	case opIs:
		return &Is{Pos: at, Not: it.not, X: x, What: string(it.node.(isWord))}, nil
	case opCast:
		return &Cast{Pos: at, X: x, Type: it.node.(*castType).Text}, nil
	case opIn:
		return c.in(x, it)
	case opBetween:
		return c.between(x, it)
	case opLike:
		return c.like(x, it)
	}
	y, err := c.fold(bindings[it.op] + 1)
	if err != nil {
		return nil, err
	}
	switch it.op {
	case opZone:
		return &AtTimeZone{Pos: at, X: x, Zone: y}, nil
	case opDistinct:
		var e Expr = &Binary{Pos: at, Op: "IS DISTINCT FROM", X: x, Y: y}
		if it.not {
			e = &Unary{Pos: at, Op: "NOT", X: e}
		}
		return e, nil
	}
	return &Binary{Pos: at, Op: it.tok.Value, X: x, Y: y}, nil
}

// in takes the parentheses behind IN, which readOperator has seen.
func (c *chain) in(x Expr, it chainItem) (Expr, error) {
	paren := c.items[c.next].node.(*parenNode)
	c.next++
	out := &In{Pos: pos(it.tok), Not: it.not, X: x}
	var err error
	if paren.Query != nil {
		out.Query, err = c.l.query(paren.Query.selectNode)
	} else {
		out.List, err = c.l.exprs(&paren.List)
	}
	return out, err
}

func (c *chain) between(x Expr, it chainItem) (Expr, error) {
	lo, err := c.fold(bindRange + 1)
	if err != nil {
		return nil, err
	}
	if c.peek() != opAnd {
		return nil, Errorf(pos(it.tok), "BETWEEN needs two bounds: BETWEEN low AND high")
	}
	c.next++
	hi, err := c.fold(bindRange + 1)
	if err != nil {
		return nil, err
	}
	return &Between{Pos: pos(it.tok), Not: it.not, X: x, Lo: lo, Hi: hi}, nil
}

func (c *chain) like(x Expr, it chainItem) (Expr, error) {
	out := &Like{Pos: pos(it.tok), Not: it.not, Op: it.tok.Value, X: x}
	if out.Op == "SIMILAR" {
		out.Op = "SIMILAR TO"
	}
	var err error
	if out.Pattern, err = c.fold(bindRange + 1); err != nil {
		return nil, err
	}
	if c.peek() == opEscape {
		c.next++
		out.Escape, err = c.fold(bindRange + 1)
	}
	return out, err
}
