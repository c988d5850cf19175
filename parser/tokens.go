package parser

// Token is one token of a text, for highlighting and completion.
type Token struct {
	Kind TokenKind
	Text string // as written
	Pos  Pos
}

// Tokens splits src into tokens and comments, without white space. It never fails: what
// cannot be read is an InvalidToken, and the Texts in order are src less its white space.
func Tokens(src string) []Token {
	var out []Token
	for pos := 0; ; {
		t := scanNext(src, pos)
		if t.kind == EndToken {
			return out
		}
		out = append(out, Token{Kind: t.kind, Text: src[t.start:t.end], Pos: Pos(t.start)})
		pos = t.end
	}
}
