package parser

import (
	"cmp"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

const (
	// maxStatement bounds the text of one statement, in bytes: enough for a VALUES or IN list of 100,000 items.
	maxStatement = 16 << 20
	// maxTokens bounds the number of tokens of a statement; they take more memory than its text.
	maxTokens = 2_000_000
	// maxDepth bounds the nesting of parentheses, brackets and CASE. The parser recurses for each level, and a Go program
	// cannot recover from a stack overflow.
	maxDepth = 256
)

// The types of tokens in the grammar. The Value of a keyword is the keyword in upper case, so that it equals a literal of the
// grammar; Pos.Filename has the keyword as the text spells it.
const (
	tokWord     lexer.TokenType = -(iota + 2) // a name, or a keyword that may be one
	tokGuarded                                // a keyword that is a name except as a bare alias
	tokReserved                               // a keyword that is never a name
	tokQuoted                                 // "name", quotes included
	tokNumber
	tokString // with quotes and prefix: a literal of the grammar never equals it
	tokBytes
	tokParam // for a ?, Pos.Line holds its number, from 1
	tokOp
	tokHint
	tokMarked // replaces the token at a mistake (expected.go)
)

var symbols = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Word": tokWord, "Guarded": tokGuarded, "Reserved": tokReserved, "Quoted": tokQuoted,
	"Number": tokNumber, "String": tokString, "Bytes": tokBytes, "Param": tokParam, "Op": tokOp, "Hint": tokHint,
}

var wordTypes = [...]lexer.TokenType{free: tokWord, guarded: tokGuarded, reserved: tokReserved}

// lexerDefinition tells participle the types of tokens. Statements are read with a tokenReader, which knows its position
// in a script.
type lexerDefinition struct{ symbols map[string]lexer.TokenType }

func (d lexerDefinition) Symbols() map[string]lexer.TokenType { return d.symbols }

func (lexerDefinition) Lex(_ string, r io.Reader) (lexer.Lexer, error) {
	src, err := io.ReadAll(r)
	return &tokenReader{src: string(src)}, err
}

// tokenReader returns the tokens of one statement, up to the next ';' or the end. For statements that are too long or too
// deep, or are not valid text, it returns an *Error.
type tokenReader struct {
	src        string
	start, pos int // offset of the statement; offset of the next token
	count      int // number of tokens returned, including the end
	depth      int
	questions  int // number of ? so far
	dollars    int // number of $n so far
	after      byte
}

// The kinds of the previous token that change the meaning of the next token.
const (
	afterOther   byte = iota
	afterSelect       // a hint may follow
	afterColon        // a qualifier follows: in f:case, CASE opens nothing
	afterOperand      // a ? is a JSON operator
)

// more moves to the next statement, and reports whether there is one.
func (r *tokenReader) more() bool {
	for {
		t := r.scan()
		if t.kind == EndToken {
			return false
		}
		if t.kind != OperatorToken || r.src[t.start] != ';' {
			*r = tokenReader{src: r.src, start: t.start, pos: t.start}
			return true
		}
		r.pos = t.end
	}
}

// scan returns the next token that is not a comment. It does not move.
func (r *tokenReader) scan() scanned {
	pos := r.pos
	for {
		t := scanNext(r.src, pos)
		if t.kind != CommentToken && (t.kind != HintToken || r.after == afterSelect) {
			return t
		}
		pos = t.end
	}
}

func (r *tokenReader) Next() (lexer.Token, error) {
	t := r.scan()
	if t.end-r.start > maxStatement {
		return lexer.Token{}, tooLong(r.start, "the statement is longer than %d MiB", maxStatement>>20)
	}
	if r.count++; r.count > maxTokens {
		return lexer.Token{}, tooLong(r.start, "the statement has more than %d words and signs", maxTokens)
	}
	out := lexer.Token{Value: r.src[t.start:t.end], Pos: lexer.Position{Offset: t.start}}
	if t.kind == EndToken || t.kind == OperatorToken && out.Value == ";" {
		r.pos = t.start
		out.Type, out.Value = lexer.EOF, ""
		return out, nil
	}
	r.pos = t.end
	if err := r.classify(&out, t); err != nil {
		return out, err
	}
	return out, nil
}

func tooLong(start int, format string, limit int) error {
	return Errorf(Pos(start), format, limit).WithHint("several INSERT statements, or COPY, take any number of rows")
}

func (r *tokenReader) classify(out *lexer.Token, t scanned) error {
	before := r.after
	r.after = afterOther
	switch t.kind {
	case KeywordToken:
		k, _ := keywordOf(out.Value)
		out.Type, out.Value, out.Pos.Filename = wordTypes[k.class], k.word, out.Value
		if before == afterColon {
			return nil
		}
		switch k.word {
		case "SELECT":
			r.after = afterSelect
		case "CASE":
			return r.deeper(t.start)
		case "END":
			r.depth--
		case "BOTH", "BY", "FIRST", "GROUPS", "LEADING", "NEXT", "OF", "RANGE", "ROWS", "TRAILING", "ZONE": // a ? may follow that is a parameter
		default:
			if k.class == free {
				r.after = afterOperand
			}
		}
	case NameToken:
		out.Type = tokWord
		if out.Value[0] == '"' {
			out.Type = tokQuoted
			r.after = afterOperand
			return r.checkName(out.Value, t.start)
		}
		r.after = afterOperand
	case NumberToken:
		out.Type, out.Value = tokNumber, decimal(out.Value)
	case StringToken, BytesToken:
		if out.Type = tokString; t.kind == BytesToken {
			out.Type = tokBytes
		}
		for n := r.scan(); t.kind == StringToken && n.kind == StringToken && r.src[t.end-1] == '\'' && r.src[n.start] == '\'' &&
			strings.Contains(r.src[t.end:n.start], "\n"); n = r.scan() { // a text goes on in another line
			out.Value = out.Value[:len(out.Value)-1] + r.src[n.start+1:n.end]
			r.pos, t.end = n.end, n.end
		}
		r.after = afterOperand
		if out.Value[0] != '\'' {
			_, err := decode(out)
			return err
		}
	case HintToken:
		out.Type, r.after = tokHint, afterSelect
	case ParamToken:
		if out.Value == "?" && before == afterOperand {
			out.Type = tokOp
			return nil
		}
		if out.Type = tokParam; out.Value != "?" {
			r.after = afterOperand
		}
		return r.param(out)
	case OperatorToken:
		out.Type = tokOp
		switch out.Value {
		case "(", "[":
			return r.deeper(t.start)
		case ")", "]":
			r.depth--
			r.after = afterOperand
		case ":", ".":
			r.after = afterColon
		case "!=":
			out.Value = "<>"
		}
	default:
		return r.problem(t)
	}
	return nil
}

func (r *tokenReader) deeper(pos int) error {
	if r.depth = max(r.depth, 0) + 1; r.depth > maxDepth {
		return Errorf(Pos(pos), "nested more than %d levels deep", maxDepth)
	}
	return nil
}

func (r *tokenReader) checkName(quoted string, pos int) error {
	if len(quoted) == 2 && r.start != pos && r.src[pos-1] != ':' {
		return Errorf(Pos(pos), "a name cannot be empty").WithHint("text is written in single quotes: ''")
	}
	if i := strings.IndexByte(quoted, 0); i >= 0 {
		return Errorf(Pos(pos+i), "a name cannot hold a NUL character")
	}
	if !utf8.ValidString(quoted) {
		return Errorf(Pos(pos+badUTF8At(quoted)), "not valid UTF-8")
	}
	return nil
}

func badUTF8At(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return 0
}

func (r *tokenReader) param(t *lexer.Token) error {
	switch t.Value[0] {
	case '?':
		r.questions++
		t.Pos.Line = r.questions
	case '$':
		r.dollars++
		if len(t.Value) > 6 || strings.Trim(t.Value[1:], "0") == "" {
			return Errorf(Pos(t.Pos.Offset), "no such parameter %s: they are $1, $2 ... $65535", clip(t.Value))
		}
	}
	if r.questions > 0 && r.dollars > 0 {
		return Errorf(Pos(t.Pos.Offset), "? and $n cannot be used in one statement")
	}
	return nil
}

// problem returns the error for an InvalidToken.
func (r *tokenReader) problem(t scanned) error {
	pos, text := Pos(t.start), r.src[t.start:t.end]
	switch t.problem {
	case unfinishedString:
		return Errorf(pos, "this string has no closing quote").WithHint("a quote inside a string is written twice: 'it''s'")
	case unfinishedName:
		return Errorf(pos, "this quoted name has no closing quote").WithHint("text is written in single quotes, names in double quotes")
	case unfinishedComment:
		return Errorf(pos, "this comment has no closing */")
	case badNumber:
		return Errorf(pos, "%q is neither a number nor a name", clip(text)).WithHint("a name that starts with a digit needs double quotes")
	case badParam:
		return Errorf(pos, "%q needs a number or a name: $1, @name", text)
	case badUTF8:
		return Errorf(pos, "not valid UTF-8 (byte 0x%02X)", text[0])
	}
	if text == "\x00" {
		return Errorf(pos, "a NUL character outside a string")
	}
	e := Errorf(pos, "unexpected character %q", text)
	if text == "!" && t.start == r.start { // a command of SQLLine or Beeline
		return e.WithHint("statements end with ; and commands of the prompt begin with a backslash: \\? lists them")
	}
	e.Hint = characterHints[text]
	if first := scanNext(r.src, r.start); text == "{" { // perhaps a command of HBase's shell: scan 't', {LIMIT => 1}
		e.Hint = cmp.Or(Elsewhere("statement", strings.ToUpper(r.src[first.start:first.end])), e.Hint)
	}
	return e
}

var characterHints = map[string]string{
	"`": `names are quoted with "`,
	"‘": "strings are quoted with '", "’": "strings are quoted with '",
	"“": `names are quoted with ", strings with '`, "”": `names are quoted with ", strings with '`,
	"；": "statements end with ;", "，": "write a plain comma", "（": "write a plain (", "）": "write a plain )",
	"!": "write NOT, or <> for unequal",
	"{": `rows of JSON text are written as strings: '{"a": 1}'`,
}

// clip shortens a token for a message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
