package parser

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
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

func (n *exprNode) parse(lex *lexer.PeekingLexer, what, stop string) (err error) {
	defer fail.Catch(&err)
	if !startsOperand(lex.Peek()) {
		missed(lex, what)
		return participle.NextMatch
	}
	r := exprReader{lex: lex}
	n.X = r.until(stop)
	n.height = r.height
	return nil
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

func (n *exprList) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	r := exprReader{lex: lex}
	if !r.startsOperand() {
		return participle.NextMatch
	}
	n.items = r.list(0)
	n.height = r.height
	return nil
}

// rowList is the list of rows of VALUES: (a, b), (c, d).
type rowList struct {
	rows   [][]Expr
	height int
}

func (n *rowList) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
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
		row := r.list(width)
		need(lex, ")")
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
func (r *exprReader) until(stop string) Expr {
	outer := r.stop
	r.stop = stop
	x := r.binary(bindOr)
	if r.stop = outer; r.lex.Peek().Value == "ESCAPE" {
		panic(fail.With(Errorf(pos(r.lex.Peek()), "ESCAPE must follow the pattern of a LIKE")))
	}
	return x
}

func (r *exprReader) expr() Expr { return r.until("") }

// list reads a list of about n expressions.
func (r *exprReader) list(n int) []Expr {
	out := make([]Expr, 0, max(n, 1))
	for {
		if len(out) == cap(out) && len(out) >= 256 {
			out = slices.Grow(out, 3*len(out)) // grow long lists fast, to copy them less often
		}
		if len(out) >= 16 && len(r.numbers) == 0 {
			r.numbers = make([]Literal, min(len(out), 256))
		}
		x := r.expr()
		if out = append(out, x); !wanted(r.lex, ",") {
			return out
		}
	}
}

// binary reads an operand and the operators after it that bind at least as tightly as least.
func (r *exprReader) binary(least int) Expr {
	outer := r.height
	r.height = 0
	x := r.operand()
	last := bindNone // precedence of the operator that made x, if it does not chain
	for {
		t := r.lex.Peek()
		binding := r.infix(t)
		if binding < least || binding == bindNone {
			break
		}
		if binding == last {
			panic(fail.With(doesNotChain(t, binding)))
		}
		x = r.apply(x, binding)
		if r.height++; r.height > maxHeight {
			panic(fail.With(Errorf(pos(t), "more than %d operators in one expression", maxHeight).
				WithHint("a long list of alternatives is shorter as x IN (...)")))
		}
		last = bindNone
		if binding == bindCompare || binding == bindRange {
			last = binding
		}
	}
	r.height = max(r.height+1, outer)
	return x
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
func (r *exprReader) apply(x Expr, binding int) Expr {
	t := r.lex.Next()
	switch t.Value {
	case "IS":
		return r.is(x, t)
	case "ISNULL", "NOTNULL":
		return &Is{Pos: pos(t), Not: t.Value == "NOTNULL", X: x, What: "NULL"}
	case "::":
		return r.castTo(&Cast{Pos: pos(t), X: x})
	case "COLLATE":
		fail.On(r.collation(t))
		return x
	case "~~", "~~*", "!~~", "!~~*":
		out := &Like{Pos: pos(t), Not: t.Value[0] == '!', Op: "LIKE", X: x}
		if strings.HasSuffix(t.Value, "*") {
			out.Op = "ILIKE"
		}
		return r.like(out)
	case "^@":
		y := r.binary(bindOther + 1)
		return &Call{Pos: pos(t), Name: "STARTS_WITH", Args: []Expr{x, y}}
	case "OVERLAPS":
		y := r.binary(bindRange + 1)
		a, one := x.(*Tuple)
		b, other := y.(*Tuple)
		if !one || !other || len(a.Items) != 2 || len(b.Items) != 2 {
			panic(fail.With(Errorf(pos(t), "OVERLAPS compares two periods: (start, end) OVERLAPS (start, end)")))
		}
		return &Call{Pos: pos(t), Name: "OVERLAPS", Args: append(slices.Clone(a.Items), b.Items...)}
	case "OPERATOR":
		return r.qualifiedOperator(x)
	case "?":
		out := &Call{Pos: pos(t), Name: "JSONB_EXISTS", Args: []Expr{x, nil}}
		if accept(r.lex, "|") {
			out.Name = "JSONB_EXISTS_ANY"
		} else if accept(r.lex, "&") {
			out.Name = "JSONB_EXISTS_ALL"
		}
		out.Args[1] = r.binary(bindOther + 1)
		return out
	case "AT":
		accept(r.lex, "TIME", "ZONE")
		zone := r.binary(bindZone + 1)
		return &AtTimeZone{Pos: pos(t), X: x, Zone: zone}
	case "NOT":
		switch word := r.lex.Peek(); word.Value {
		case "IN", "BETWEEN", "LIKE", "ILIKE", "SIMILAR":
			return r.ranged(x, t, r.lex.Next(), true)
		}
		panic(absent(r.lex, "IN, BETWEEN, LIKE"))
	}
	if binding == bindRange {
		return r.ranged(x, t, t, false)
	}
	return r.operated(x, t, binding, binding)
}

// operated reads the right side of the operator t, and applies t to x. t has the precedence binding; operators in its right
// side must bind more tightly than as.
func (r *exprReader) operated(x Expr, t *lexer.Token, binding, as int) Expr {
	if binding == bindCompare {
		if word := r.quantifier(); word != "" {
			return r.quantified(&Quantified{Pos: pos(t), Op: t.Value, All: word == "ALL", X: x})
		}
	}
	y := r.binary(as + 1)
	return &Binary{Pos: pos(t), Op: t.Value, X: x, Y: y}
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
func (r *exprReader) quantified(out *Quantified) Expr {
	word, open := r.lex.Next(), r.lex.Next()
	if isQuery(r.lex) {
		out.Y = &SubqueryExpr{Pos: pos(open), Query: r.query()}
		return r.close(out)
	}
	if out.Y = r.expr(); r.lex.Peek().Value == "," {
		panic(fail.With(Errorf(pos(word), "%s takes a query or an array", word.Value).
			WithHint("an array is ARRAY[1, 2], or ? for a slice; = ANY (ARRAY[1, 2]) is IN (1, 2)")))
	}
	return r.close(out)
}

// is reads the rest of IS: [NOT] NULL | TRUE | FALSE | UNKNOWN | DISTINCT FROM y.
func (r *exprReader) is(x Expr, t *lexer.Token) Expr {
	not := wanted(r.lex, "NOT")
	switch word := r.lex.Peek().Value; word {
	case "NULL", "TRUE", "FALSE", "UNKNOWN":
		r.lex.Next()
		return &Is{Pos: pos(t), Not: not, X: x, What: word}
	}
	missed(r.lex, "NULL, TRUE, FALSE, UNKNOWN")
	if !wanted(r.lex, "DISTINCT", "FROM") {
		accept(r.lex, "DISTINCT") // then the error says that FROM is missing
		panic(fail.With(unexpected(r.lex)))
	}
	y := r.binary(bindIs + 1)
	var out Expr = &Binary{Pos: pos(t), Op: "IS DISTINCT FROM", X: x, Y: y}
	if not {
		out = &Unary{Pos: pos(t), Op: "NOT", X: out}
		r.height++
	}
	return out
}

// ranged reads the rest of [NOT] IN, BETWEEN, LIKE, ILIKE and SIMILAR, after word; start is NOT or the word itself.
func (r *exprReader) ranged(x Expr, start, word *lexer.Token, not bool) Expr {
	switch word.Value {
	case "IN":
		return r.in(&In{Pos: pos(start), Not: not, X: x})
	case "BETWEEN":
		return r.between(&Between{Pos: pos(start), Not: not, X: x})
	case "LIKE", "ILIKE":
		return r.like(&Like{Pos: pos(word), Not: not, Op: word.Value, X: x})
	}
	if !wanted(r.lex, "TO") { // SIMILAR TO
		panic(fail.With(unexpected(r.lex)))
	}
	return r.like(&Like{Pos: pos(word), Not: not, Op: "SIMILAR TO", X: x})
}

func (r *exprReader) in(out *In) Expr {
	need(r.lex, "(")
	if isQuery(r.lex) {
		out.Query = r.query()
	} else {
		out.List = r.list(0)
	}
	return r.close(out)
}

func (r *exprReader) between(out *Between) Expr {
	if out.Symmetric = accept(r.lex, "SYMMETRIC"); !out.Symmetric {
		accept(r.lex, "ASYMMETRIC")
	}
	out.Lo = r.binary(bindRange + 1)
	if !wanted(r.lex, "AND") {
		panic(fail.With(Errorf(out.Pos, "BETWEEN needs two bounds: BETWEEN low AND high")))
	}
	out.Hi = r.binary(bindRange + 1)
	return out
}

func (r *exprReader) like(out *Like) Expr {
	if word := r.quantifier(); word != "" {
		return r.likeAny(out, word)
	}
	out.Pattern = r.binary(bindRange + 1)
	if wanted(r.lex, "ESCAPE") {
		out.Escape = r.binary(bindRange + 1)
	}
	return out
}

// likeAny reads ANY (ARRAY[pattern, ...]) or ALL after LIKE. It returns x LIKE for each pattern, joined by OR or AND.
func (r *exprReader) likeAny(out *Like, word string) Expr {
	r.lex.Next()
	open := r.lex.Next()
	y := r.expr()
	list, ok := y.(*Array)
	if out.Op != "SIMILAR TO" && (!ok || len(list.Items) == 0) {
		call := &Call{Pos: out.Pos, Name: "LIKE_ANY", Args: []Expr{out.X, y, &Literal{Pos: pos(open), Kind: StringLiteral, Text: out.Op}}}
		if word == "ALL" { // NOT LIKE ALL is NOT (LIKE ANY), and NOT LIKE ANY is NOT (LIKE ALL)
			call.Name = "LIKE_ALL"
		}
		if !out.Not {
			return r.close(call)
		}
		call.Name = map[string]string{"LIKE_ANY": "LIKE_ALL", "LIKE_ALL": "LIKE_ANY"}[call.Name]
		return r.close(&Unary{Pos: out.Pos, Op: "NOT", X: call})
	}
	if !ok || len(list.Items) == 0 {
		panic(fail.With(Errorf(pos(open), "%s %s takes ARRAY['pattern', ...]", out.Op, word)))
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
	return r.close(all)
}

// close reads the closing parenthesis after x.
func (r *exprReader) close(x Expr) Expr {
	need(r.lex, ")")
	return x
}

// query reads a query inside an expression.
func (r *exprReader) query() *Select {
	var l lowerer
	q := l.query(fail.Must(read(selectParser, r.lex, participle.AllowTrailing(true))))
	r.height = max(r.height, l.height)
	return q
}

func (r *exprReader) typeName() string {
	var n typeName
	follow(r.lex, &n)
	return n.Text
}
