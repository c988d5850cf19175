package parser

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

const (
	// maxHeight bounds the height of an expression's tree, including all sub-queries: a tree of this height can still be
	// walked recursively.
	maxHeight = 20000
	// maxPrefixes bounds NOT NOT NOT ... and - - - ..., for which the parser recurses. It also recurses for brackets and
	// CASE, whose depth the lexer bounds (maxDepth).
	maxPrefixes = 256
)

// The precedence of operators, as in PostgreSQL, from weak to strong. BETWEEN, IN and LIKE bind more tightly than
// comparisons, IS less tightly.
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
	bindPower
	bindZone
	bindCollate
	bindSign
	bindCast
	bindOperand
)

// infix maps words and signs to the precedence of the operator that begins with them. NOT is the precedence of NOT IN, NOT
// LIKE and NOT BETWEEN.
var infix = map[string]int{
	"OR": bindOr, "AND": bindAnd, "IS": bindIs, "ISNULL": bindIs, "NOTNULL": bindIs,
	"=": bindCompare, "<>": bindCompare, "<": bindCompare, "<=": bindCompare, ">": bindCompare, ">=": bindCompare,
	"BETWEEN": bindRange, "IN": bindRange, "LIKE": bindRange, "ILIKE": bindRange, "SIMILAR": bindRange, "NOT": bindRange,
	"||": bindOther, "->": bindOther, "->>": bindOther, "#>": bindOther, "#>>": bindOther, "~": bindOther, "~*": bindOther, "!~": bindOther, "!~*": bindOther,
	"~~": bindOther, "~~*": bindOther, "!~~": bindOther, "!~~*": bindOther,
	"@>": bindOther, "@?": bindOther, "@@": bindOther, "#-": bindOther, "^@": bindOther, "OVERLAPS": bindRange, "<@": bindOther, "?": bindOther, "&&": bindOther, "OPERATOR": bindOther, "COLLATE": bindCollate,
	"&": bindOther, "|": bindOther, "#": bindOther, "<<": bindOther, ">>": bindOther,
	"+": bindAdd, "-": bindAdd, "*": bindMul, "/": bindMul, "%": bindMul, "^": bindPower, "AT": bindZone, "::": bindCast,
}

// exprNode is an expression in the grammar. It parses itself directly into the AST.
type exprNode struct {
	X      Expr
	height int
}

func (n *exprNode) Parse(lex *lexer.PeekingLexer) error { return n.parse(lex, "an expression", "") }

func (n *exprNode) parse(lex *lexer.PeekingLexer, what, stop string) error {
	if !startsOperand(lex.Peek()) {
		missed(lex, what)
		return participle.NextMatch
	}
	r := exprReader{lex: lex}
	x, err := r.until(stop)
	n.X, n.height = x, r.height
	return err
}

// lowBound is an expression that ends before AND: a in FOR SYSTEM_TIME BETWEEN a AND b.
type lowBound struct{ exprNode }

func (n *lowBound) Parse(lex *lexer.PeekingLexer) error { return n.parse(lex, "an expression", "AND") }

// keyPart is an expression that is part of a row key.
type keyPart struct{ exprNode }

func (n *keyPart) Parse(lex *lexer.PeekingLexer) error { return n.parse(lex, "a key part", "") }

// exprList is a list of expressions. It is one node, not a grammar repetition, because IN and VALUES lists are long.
type exprList struct {
	items  []Expr
	height int
}

func (n *exprList) Parse(lex *lexer.PeekingLexer) error {
	r := exprReader{lex: lex}
	if !r.startsOperand() {
		return participle.NextMatch
	}
	items, err := r.list(0)
	n.items, n.height = items, r.height
	return err
}

// rowList is the list of rows of VALUES: (a, b), (c, d).
type rowList struct {
	rows   [][]Expr
	height int
}

func (n *rowList) Parse(lex *lexer.PeekingLexer) error {
	r := exprReader{lex: lex}
	if lex.Peek().Value != "(" {
		missed(lex, "( and a row")
		return participle.NextMatch
	}
	for width := 0; ; {
		if !accept(lex, "(") {
			missed(lex, "( and a row")
			return unexpected(lex)
		}
		row, err := r.list(width)
		if row, err = ended(lex, ")", row, err); err != nil {
			return err
		}
		width = len(row)
		if n.rows = append(n.rows, row); !wanted(lex, ",") {
			n.height = r.height
			return nil
		}
	}
}

// exprReader parses expressions by precedence (a Pratt parser): it reads an operand, then operators and their right sides, as
// long as the operators bind tightly enough.
type exprReader struct {
	lex *lexer.PeekingLexer
	// stop is a word that ends the expression because the grammar expects it next: AND in SYSTEM_TIME BETWEEN a AND b, IN in
	// POSITION(a IN b). "": no word does.
	stop     string
	prefixes int // number of prefix operators whose operand is being read
	// height is the height of the highest tree that has been read for the current node.
	height  int
	numbers []Literal // unused ones: the numbers of a long list share an allocation
}

// until reads an expression that ends before the word stop.
func (r *exprReader) until(stop string) (Expr, error) {
	outer := r.stop
	r.stop = stop
	x, err := r.binary(bindOr)
	r.stop = outer
	if err == nil && r.lex.Peek().Value == "ESCAPE" {
		err = Errorf(pos(r.lex.Peek()), "ESCAPE must follow the pattern of a LIKE")
	}
	return x, err
}

func (r *exprReader) expr() (Expr, error) { return r.until("") }

// list reads a list of about n expressions.
func (r *exprReader) list(n int) ([]Expr, error) {
	out := make([]Expr, 0, max(n, 1))
	for {
		if len(out) == cap(out) && len(out) >= 256 {
			out = slices.Grow(out, 3*len(out)) // grow long lists fast, to copy them less often
		}
		if len(out) >= 16 && len(r.numbers) == 0 {
			r.numbers = make([]Literal, min(len(out), 256))
		}
		x, err := r.expr()
		if err != nil {
			return nil, err
		}
		if out = append(out, x); !wanted(r.lex, ",") {
			return out, nil
		}
	}
}

// binary reads an operand and the operators after it that bind at least as tightly as least.
func (r *exprReader) binary(least int) (Expr, error) {
	outer := r.height
	r.height = 0
	x, err := r.operand()
	if err != nil {
		return nil, err
	}
	last := bindNone // precedence of the operator that made x, if it does not chain
	for {
		t := r.lex.Peek()
		binding := r.infix(t)
		if binding < least || binding == bindNone {
			break
		}
		if binding == last {
			return nil, doesNotChain(t, binding)
		}
		if x, err = r.apply(x, binding); err != nil {
			return nil, err
		}
		if r.height++; r.height > maxHeight {
			return nil, Errorf(pos(t), "more than %d operators in one expression", maxHeight).
				WithHint("a long list of alternatives is shorter as x IN (...)")
		}
		last = bindNone
		if binding == bindCompare || binding == bindRange {
			last = binding
		}
	}
	r.height = max(r.height+1, outer)
	return x, nil
}

// infix returns the precedence of the operator that begins with t, or bindNone if none does.
func (r *exprReader) infix(t *lexer.Token) int {
	switch t.Type {
	case tokMarked:
		missed(r.lex, "an operator")
		return bindNone
	case tokOp:
	case tokReserved, tokGuarded:
		if t.Value == r.stop || t.Value == "OPERATOR" && !isNext(r.lex, "OPERATOR", "(") || t.Value == "SIMILAR" && !isNext(r.lex, "SIMILAR", "TO") {
			return bindNone
		}
	case tokWord: // AT is a name elsewhere
		if !isNext(r.lex, "AT", "TIME", "ZONE") {
			return bindNone
		}
	default:
		return bindNone
	}
	return infix[t.Value]
}

func doesNotChain(t *lexer.Token, binding int) error {
	if binding == bindCompare {
		return Errorf(pos(t), "comparisons do not chain").WithHint("write a < b AND b < c, or use parentheses")
	}
	return Errorf(pos(t), "%s cannot follow another BETWEEN, IN or LIKE", t.Value).WithHint("use parentheses")
}

// apply reads the next operator and its right side, and applies it to x.
func (r *exprReader) apply(x Expr, binding int) (Expr, error) {
	t := r.lex.Next()
	switch t.Value {
	case "IS":
		return r.is(x, t)
	case "ISNULL", "NOTNULL":
		return &Is{Pos: pos(t), Not: t.Value == "NOTNULL", X: x, What: "NULL"}, nil
	case "::":
		return r.castTo(&Cast{Pos: pos(t), X: x})
	case "COLLATE":
		return x, r.collation(t)
	case "~~", "~~*", "!~~", "!~~*":
		out := &Like{Pos: pos(t), Not: t.Value[0] == '!', Op: "LIKE", X: x}
		if strings.HasSuffix(t.Value, "*") {
			out.Op = "ILIKE"
		}
		return r.like(out)
	case "^@":
		y, err := r.binary(bindOther + 1)
		return &Call{Pos: pos(t), Name: "STARTS_WITH", Args: []Expr{x, y}}, err
	case "OVERLAPS":
		y, err := r.binary(bindRange + 1)
		a, one := x.(*Tuple)
		b, other := y.(*Tuple)
		if err == nil && (!one || !other || len(a.Items) != 2 || len(b.Items) != 2) {
			err = Errorf(pos(t), "OVERLAPS compares two periods: (start, end) OVERLAPS (start, end)")
		}
		if err != nil {
			return nil, err
		}
		return &Call{Pos: pos(t), Name: "OVERLAPS", Args: append(slices.Clone(a.Items), b.Items...)}, nil
	case "OPERATOR":
		return r.qualifiedOperator(x)
	case "?":
		out := &Call{Pos: pos(t), Name: "JSONB_EXISTS", Args: []Expr{x, nil}}
		if accept(r.lex, "|") {
			out.Name = "JSONB_EXISTS_ANY"
		} else if accept(r.lex, "&") {
			out.Name = "JSONB_EXISTS_ALL"
		}
		var err error
		out.Args[1], err = r.binary(bindOther + 1)
		return out, err
	case "AT":
		accept(r.lex, "TIME", "ZONE")
		zone, err := r.binary(bindZone + 1)
		return &AtTimeZone{Pos: pos(t), X: x, Zone: zone}, err
	case "NOT":
		switch word := r.lex.Peek(); word.Value {
		case "IN", "BETWEEN", "LIKE", "ILIKE", "SIMILAR":
			return r.ranged(x, t, r.lex.Next(), true)
		}
		missed(r.lex, "IN, BETWEEN, LIKE")
		return nil, unexpected(r.lex)
	}
	if binding == bindRange {
		return r.ranged(x, t, t, false)
	}
	return r.operated(x, t, binding, binding)
}

// operated reads the right side of the operator t, and applies t to x. t has the precedence binding; operators in its right
// side must bind more tightly than as.
func (r *exprReader) operated(x Expr, t *lexer.Token, binding, as int) (Expr, error) {
	if binding == bindCompare {
		if word := r.quantifier(); word != "" {
			return r.quantified(&Quantified{Pos: pos(t), Op: t.Value, All: word == "ALL", X: x})
		}
	}
	y, err := r.binary(as + 1)
	return &Binary{Pos: pos(t), Op: t.Value, X: x, Y: y}, err
}

// quantifier returns the next word if it is ANY, SOME or ALL before a parenthesis, otherwise "".
func (r *exprReader) quantifier() string {
	for _, word := range [...]string{"ALL", "ANY", "SOME"} {
		if isNext(r.lex, word, "(") {
			return word
		}
	}
	return ""
}

// quantified reads ANY, SOME or ALL, and the query or array with which x is compared.
func (r *exprReader) quantified(out *Quantified) (_ Expr, err error) {
	word, open := r.lex.Next(), r.lex.Next()
	if isQuery(r.lex) {
		q, err := r.query()
		out.Y = &SubqueryExpr{Pos: pos(open), Query: q}
		return r.close(out, err)
	}
	if out.Y, err = r.expr(); err == nil && r.lex.Peek().Value == "," {
		err = Errorf(pos(word), "%s takes a query or an array", word.Value).
			WithHint("an array is ARRAY[1, 2], or ? for a slice; = ANY (ARRAY[1, 2]) is IN (1, 2)")
	}
	return r.close(out, err)
}

// is reads the rest of IS: [NOT] NULL | TRUE | FALSE | UNKNOWN | DISTINCT FROM y.
func (r *exprReader) is(x Expr, t *lexer.Token) (Expr, error) {
	not := wanted(r.lex, "NOT")
	switch word := r.lex.Peek().Value; word {
	case "NULL", "TRUE", "FALSE", "UNKNOWN":
		r.lex.Next()
		return &Is{Pos: pos(t), Not: not, X: x, What: word}, nil
	}
	missed(r.lex, "NULL, TRUE, FALSE, UNKNOWN")
	if !wanted(r.lex, "DISTINCT", "FROM") {
		accept(r.lex, "DISTINCT") // then the error says that FROM is missing
		return nil, unexpected(r.lex)
	}
	y, err := r.binary(bindIs + 1)
	var out Expr = &Binary{Pos: pos(t), Op: "IS DISTINCT FROM", X: x, Y: y}
	if not {
		out = &Unary{Pos: pos(t), Op: "NOT", X: out}
		r.height++
	}
	return out, err
}

// ranged reads the rest of [NOT] IN, BETWEEN, LIKE, ILIKE and SIMILAR, after word; start is NOT or the word itself.
func (r *exprReader) ranged(x Expr, start, word *lexer.Token, not bool) (Expr, error) {
	switch word.Value {
	case "IN":
		return r.in(&In{Pos: pos(start), Not: not, X: x})
	case "BETWEEN":
		return r.between(&Between{Pos: pos(start), Not: not, X: x})
	case "LIKE", "ILIKE":
		return r.like(&Like{Pos: pos(word), Not: not, Op: word.Value, X: x})
	}
	if !wanted(r.lex, "TO") { // SIMILAR TO
		return nil, unexpected(r.lex)
	}
	return r.like(&Like{Pos: pos(word), Not: not, Op: "SIMILAR TO", X: x})
}

func (r *exprReader) in(out *In) (Expr, error) {
	if !wanted(r.lex, "(") {
		return nil, unexpected(r.lex)
	}
	var err error
	if isQuery(r.lex) {
		out.Query, err = r.query()
	} else {
		out.List, err = r.list(0)
	}
	return r.close(out, err)
}

func (r *exprReader) between(out *Between) (_ Expr, err error) {
	if out.Symmetric = accept(r.lex, "SYMMETRIC"); !out.Symmetric {
		accept(r.lex, "ASYMMETRIC")
	}
	if out.Lo, err = r.binary(bindRange + 1); err != nil {
		return nil, err
	}
	if !wanted(r.lex, "AND") {
		return nil, Errorf(out.Pos, "BETWEEN needs two bounds: BETWEEN low AND high")
	}
	out.Hi, err = r.binary(bindRange + 1)
	return out, err
}

func (r *exprReader) like(out *Like) (_ Expr, err error) {
	if word := r.quantifier(); word != "" {
		return r.likeAny(out, word)
	}
	if out.Pattern, err = r.binary(bindRange + 1); err != nil {
		return nil, err
	}
	if wanted(r.lex, "ESCAPE") {
		out.Escape, err = r.binary(bindRange + 1)
	}
	return out, err
}

// likeAny reads ANY (ARRAY[pattern, ...]) or ALL after LIKE. It returns x LIKE for each pattern, joined by OR or AND.
func (r *exprReader) likeAny(out *Like, word string) (Expr, error) {
	r.lex.Next()
	open := r.lex.Next()
	y, err := r.expr()
	if err != nil {
		return nil, err
	}
	list, ok := y.(*Array)
	if out.Op != "SIMILAR TO" && (!ok || len(list.Items) == 0) {
		call := &Call{Pos: out.Pos, Name: "LIKE_ANY", Args: []Expr{out.X, y, &Literal{Pos: pos(open), Kind: StringLiteral, Text: out.Op}}}
		if word == "ALL" { // NOT LIKE ALL is NOT (LIKE ANY), and NOT LIKE ANY is NOT (LIKE ALL)
			call.Name = "LIKE_ALL"
		}
		if !out.Not {
			return r.close(call, nil)
		}
		call.Name = map[string]string{"LIKE_ANY": "LIKE_ALL", "LIKE_ALL": "LIKE_ANY"}[call.Name]
		return r.close(&Unary{Pos: out.Pos, Op: "NOT", X: call}, nil)
	}
	if !ok || len(list.Items) == 0 {
		return nil, Errorf(pos(open), "%s %s takes ARRAY['pattern', ...]", out.Op, word)
	}
	op := "OR"
	if word == "ALL" {
		op = "AND"
	}
	r.height += len(list.Items)
	var all Expr
	for _, p := range list.Items {
		one := *out
		one.Pattern = p
		if all == nil {
			all = &one
		} else {
			all = &Binary{Pos: out.Pos, Op: op, X: all, Y: &one}
		}
	}
	return r.close(all, nil)
}

// close reads the closing parenthesis after x.
func (r *exprReader) close(x Expr, err error) (Expr, error) {
	return ended(r.lex, ")", x, err)
}

// ended reads the word, or the bracket, that ends x.
func ended[T any](lex *lexer.PeekingLexer, word string, x T, err error) (T, error) {
	if err == nil && !wanted(lex, word) {
		err = unexpected(lex)
	}
	return x, err
}

// query reads a query inside an expression.
func (r *exprReader) query() (*Select, error) {
	n, err := read(selectParser, r.lex, participle.AllowTrailing(true))
	if err != nil {
		return nil, err
	}
	var l lowerer
	q, err := l.query(n)
	r.height = max(r.height, l.height)
	return q, err
}

func (r *exprReader) typeName() (string, error) {
	var n typeName
	err := n.Parse(r.lex)
	if err == participle.NextMatch {
		err = unexpected(r.lex)
	}
	return n.Text, err
}
