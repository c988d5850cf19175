package parser

import (
	"math/big"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var uescape = regexp.MustCompile(`(?i)^\s+UESCAPE\s*'[^0-9a-f+'"\s]'`)

// TokenKind is the kind of a Token, for highlighting and completion.
type TokenKind uint8

// The kinds of tokens.
const (
	EndToken      TokenKind = iota // the end of the text; used only inside the package
	KeywordToken                   // a keyword; most keywords may also be names
	NameToken                      // user, "user", 用户
	NumberToken                    // 12, 1.5, .5, 1e3
	StringToken                    // 'it''s', E'a\n', U&'\0061', $$it's$$
	BytesToken                     // X'00ff', b'\x00a'
	ParamToken                     // ?, $1, @name
	OperatorToken                  // <=, ::, (, and the like
	CommentToken                   // -- to the line's end, /* nested */
	HintToken                      // /*+ LAYOUT(x) */
	InvalidToken                   // an unfinished quote or comment, or a character without meaning
)

// scanned is one token of the source, src[start:end].
type scanned struct {
	kind       TokenKind
	start, end int
	problem    problem // for InvalidToken
}

// problem is the reason why a token is invalid. Its message is made only when needed.
type problem uint8

const (
	noProblem problem = iota
	unfinishedString
	unfinishedName
	unfinishedComment
	badNumber
	badCharacter
	badUTF8
	badParam
)

// scanNext returns the first token at or after pos; it skips only white space. It never fails: unreadable text is an
// InvalidToken of at least one byte.
func scanNext(src string, pos int) scanned {
	pos = skipSpace(src, pos)
	if pos >= len(src) {
		return scanned{kind: EndToken, start: len(src), end: len(src)}
	}
	t := scanned{start: pos}
	c := src[pos]
	switch {
	case c == '\'':
		t.quoted(src, pos, StringToken, false)
	case c == '"':
		if t.quoted(src, pos, NameToken, false); t.kind == InvalidToken {
			t.problem = unfinishedName
		}
	case isDigit(c) || c == '.' && pos+1 < len(src) && isDigit(src[pos+1]):
		t.number(src, pos)
	case isWordStart(src, pos):
		t.word(src, pos)
	case c == '-' && strings.HasPrefix(src[pos:], "--"):
		t.kind, t.end = CommentToken, len(src)
		if i := strings.IndexByte(src[pos:], '\n'); i >= 0 {
			t.end = pos + i
		}
	case c == '/' && strings.HasPrefix(src[pos:], "/*"):
		t.comment(src, pos)
	case c == '?':
		t.kind, t.end = ParamToken, pos+1
	case c == '$' && dollarTag(src, pos) > pos:
		t.dollarQuoted(src, pos, dollarTag(src, pos))
	case c == '$':
		end := pos + 1
		for end < len(src) && isDigit(src[end]) {
			end++
		}
		t.param(pos, end)
	case c == '@' && !strings.HasPrefix(src[pos:], "@>") && wordEnd(src, pos+1) > pos+1:
		t.param(pos, wordEnd(src, pos+1))
	default:
		t.operator(src, pos)
	}
	return t
}

func (t *scanned) invalid(p problem, end int) { t.kind, t.problem, t.end = InvalidToken, p, end }

// quoted reads a text in quotes like the one at open. With escapes, a backslash escapes the next byte.
func (t *scanned) quoted(src string, open int, kind TokenKind, escapes bool) {
	for i := open + 1; i < len(src); i++ {
		switch src[i] {
		case src[open]:
			if i+1 < len(src) && src[i+1] == src[open] {
				i++
				continue
			}
			t.kind, t.end = kind, i+1
			return
		case '\\':
			if escapes {
				i++
			}
		}
	}
	t.invalid(unfinishedString, len(src))
}

// dollarTag returns the end of $$ or $tag$ at pos, or pos if there is none.
func dollarTag(src string, pos int) int {
	end := wordEnd(src, pos+1)
	if end < len(src) && src[end] == '$' {
		return end + 1
	}
	return pos
}

// dollarQuoted reads a text between two equal tags, of which the first is src[pos:end].
func (t *scanned) dollarQuoted(src string, pos, end int) {
	n := strings.Index(src[end:], src[pos:end])
	if n < 0 {
		t.invalid(unfinishedString, len(src))
		return
	}
	t.kind, t.end = StringToken, end+n+end-pos
}

// number reads 12, 12., 1.5, .5, 1e3, 1.5E-3. A number directly followed by a word is invalid: 12abc.
func (t *scanned) number(src string, pos int) {
	if pos+1 < len(src) && src[pos] == '0' && strings.IndexByte("xXoObB", src[pos+1]) >= 0 {
		t.end = wordRest(src, pos)
		if t.kind = NumberToken; decimal(src[pos:t.end]) == "" {
			t.invalid(badNumber, t.end)
		}
		return
	}
	i := digitsEnd(src, pos)
	if i < len(src) && src[i] == '.' {
		i = digitsEnd(src, i+1)
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		j := i + 1
		if j < len(src) && (src[j] == '+' || src[j] == '-') {
			j++
		}
		if k := digitsEnd(src, j); k > j {
			i = k
		}
	}
	if end := wordRest(src, i); end > i {
		t.invalid(badNumber, end)
		return
	}
	t.kind, t.end = NumberToken, i
}

func (t *scanned) word(src string, pos int) {
	end := wordRest(src, pos)
	if end == pos+1 && end < len(src) && src[end] == '\'' {
		switch src[pos] {
		case 'x', 'X':
			t.quoted(src, end, BytesToken, false)
			return
		case 'b', 'B':
			t.quoted(src, end, BytesToken, true)
			return
		case 'e', 'E':
			t.quoted(src, end, StringToken, true)
			return
		}
	}
	if end == pos+1 && src[pos]|' ' == 'u' && strings.HasPrefix(src[end:], "&'") {
		t.quoted(src, end+1, StringToken, false)
		if m := uescape.FindString(src[t.end:]); t.kind == StringToken {
			t.end += len(m)
		}
		return
	}
	t.kind, t.end = NameToken, end
	if _, ok := keywordOf(src[pos:end]); ok {
		t.kind = KeywordToken
	}
}

func (t *scanned) comment(src string, pos int) {
	depth := 0
	for i := pos; i+1 < len(src); i++ {
		switch {
		case src[i] == '/' && src[i+1] == '*':
			depth++
			i++
		case src[i] == '*' && src[i+1] == '/':
			depth--
			i++
			if depth == 0 {
				t.kind, t.end = CommentToken, i+1
				if src[pos+2] == '+' {
					t.kind = HintToken
				}
				return
			}
		}
	}
	t.invalid(unfinishedComment, len(src))
}

func (t *scanned) param(pos, end int) {
	t.kind, t.end = ParamToken, end
	if end == pos+1 {
		t.invalid(badParam, end)
	}
}

// operators with a common prefix are sorted from long to short.
var operators = []string{
	"->>", "#>>", "||/", "|/", "^@", "=>", "!~~*", "!~~", "!~*", "~~*", "~~", "#>", "#-", "@>", "@?", "@@", "<@", "&&", "->", "!~", "~*", "||", "::", "<=", "<>", "<<", ">=", ">>", "!=",
	"=", "<", ">", "+", "-", "*", "/", "%", "~", "&", "|", "#", "^", "@", "(", ")", "[", "]", ",", ".", ";", ":",
}

func (t *scanned) operator(src string, pos int) {
	for _, op := range operators {
		if op[0] == src[pos] && strings.HasPrefix(src[pos:], op) && (op != "<@" || wordEnd(src, pos+2) == pos+2) { // a<@b is a < @b
			t.kind, t.end = OperatorToken, pos+len(op)
			return
		}
	}
	r, n := utf8.DecodeRuneInString(src[pos:])
	if r == utf8.RuneError && n <= 1 {
		t.invalid(badUTF8, pos+1)
		return
	}
	t.invalid(badCharacter, pos+n)
}

func skipSpace(src string, pos int) int {
	for pos < len(src) {
		c := src[pos]
		if c == ' ' || '\t' <= c && c <= '\r' {
			pos++
			continue
		}
		if c < utf8.RuneSelf {
			return pos
		}
		r, n := utf8.DecodeRuneInString(src[pos:])
		if !unicode.IsSpace(r) && r != '\uFEFF' {
			return pos
		}
		pos += n
	}
	return pos
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digitsEnd returns the end of the digits at pos; a single _ may separate two digits.
func digitsEnd(src string, pos int) int {
	for start := pos; pos < len(src) && (isDigit(src[pos]) || src[pos] == '_' && pos > start && pos+1 < len(src) && src[pos-1] != '_' && isDigit(src[pos+1])); {
		pos++
	}
	return pos
}

// decimal returns a number in decimal digits: it may be written 1_000, 0x1F, 0o17 or 0b11. It returns "" for invalid text.
func decimal(number string) string {
	if len(number) > 2 && number[0] == '0' && !isDigit(number[1]) && strings.IndexByte("xXoObB", number[1]) >= 0 {
		n, ok := new(big.Int).SetString(number, 0)
		if !ok {
			return ""
		}
		return n.String()
	}
	return strings.ReplaceAll(number, "_", "")
}

func isWordStart(src string, pos int) bool {
	c := src[pos]
	if c < utf8.RuneSelf {
		return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	r, _ := utf8.DecodeRuneInString(src[pos:])
	return unicode.IsLetter(r)
}

// wordEnd returns the end of the word that begins at pos, or pos if none does.
func wordEnd(src string, pos int) int {
	if pos >= len(src) || !isWordStart(src, pos) {
		return pos
	}
	return wordRest(src, pos)
}

// wordRest returns the end of the letters, digits, marks and underscores at pos.
func wordRest(src string, pos int) int {
	for pos < len(src) {
		c := src[pos]
		if c < utf8.RuneSelf {
			if c != '_' && !isDigit(c) && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') {
				return pos
			}
			pos++
			continue
		}
		r, n := utf8.DecodeRuneInString(src[pos:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return pos
		}
		pos += n
	}
	return pos
}
