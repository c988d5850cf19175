package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// Names in a schema of PostgreSQL: functions, operators, collations and types.

// catalogSchema reports whether t names a schema of hql's own functions, types and operators.
func catalogSchema(t *lexer.Token) bool {
	switch strings.ToLower(name(t)) {
	case "pg_catalog", "information_schema", "public":
		return true
	}
	return false
}

// qualifiedCall reads the arguments of schema.function(...), after the parenthesis.
func (r *exprReader) qualifiedCall(schema, t *lexer.Token) Expr {
	if !catalogSchema(schema) {
		panic(fail.With(Errorf(pos(schema), "unknown schema %q", name(schema)).WithHint("functions are those of pg_catalog")))
	}
	return r.call(t)
}

// collation reads the name after COLLATE, which must be a collation that compares bytes.
func (r *exprReader) collation(word *lexer.Token) error {
	if !isName(r.lex.Peek()) && r.lex.Peek().Value != "DEFAULT" {
		missed(r.lex, "a collation")
		return unexpected(r.lex)
	}
	t := r.lex.Next()
	if catalogSchema(t) && accept(r.lex, ".") {
		t = r.lex.Next()
	}
	switch strings.ToLower(name(t)) {
	case "c", "posix", "default", "ucs_basic", "c.utf8", "c.utf-8":
		return nil
	}
	return Errorf(pos(word), "unknown collation %q", name(t)).WithHint(`text is compared bytewise: COLLATE "C"`)
}

// qualifiedOperator reads (schema.op) after OPERATOR, and the right side.
func (r *exprReader) qualifiedOperator(x Expr) Expr {
	accept(r.lex, "(")
	if isName(r.lex.Peek()) {
		if schema := r.lex.Next(); !catalogSchema(schema) {
			panic(fail.With(Errorf(pos(schema), "unknown schema %q", name(schema))))
		}
		need(r.lex, ".")
	}
	op := r.lex.Next()
	switch infix[op.Value] {
	case bindCompare, bindOther, bindAdd, bindMul, bindPower:
	default:
		panic(fail.With(Errorf(pos(op), "unknown operator %s", op.Value)))
	}
	need(r.lex, ")")
	return r.operated(x, op, infix[op.Value], bindOther)
}

// typeWords are the types, in addition to typedLiterals, that may precede a constant: int4 '42', "char" 'r'.
var typeWords = func() map[string]bool {
	m := map[string]bool{`"char"`: true, `"CHAR"`: true}
	for _, w := range strings.Fields(`BOOLEAN BOOL TINYINT SMALLINT INT2 INT INTEGER INT4 BIGINT INT8 FLOAT REAL FLOAT4 DOUBLE FLOAT8 DECIMAL NUMERIC STRING VARCHAR
		CHAR TEXT CHARACTER BPCHAR BYTES BYTEA JSON JSONB UUID OID XID NAME REGCLASS REGTYPE REGPROC REGPROCEDURE REGNAMESPACE TIME TIMESTAMP`) {
		m[w] = true
	}
	return m
}()

// typedConstant reads the constant after t, the first word of a type. It returns nil if none follows.
func (r *exprReader) typedConstant(t *lexer.Token) Expr {
	word := t.Value
	if t.Type != tokQuoted {
		word = strings.ToUpper(word)
	}
	if !typeWords[word] {
		return nil
	}
	at := r.lex.MakeCheckpoint()
	n := typeName{Start: t}
	_, err := fail.Try(func() bool { n.rest(r.lex, strings.ToUpper(t.Value)); return true })
	if err != nil || r.lex.Peek().Type != tokString {
		r.lex.LoadCheckpoint(at)
		return nil
	}
	s := r.lex.Next()
	return &Cast{Pos: pos(t), X: &Literal{Pos: pos(s), Kind: StringLiteral, Text: text(s)}, Type: n.Text}
}
