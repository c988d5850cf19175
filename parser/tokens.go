package parser

// Token is one token of a text, for highlighting and completion.
type Token struct {
	Kind TokenKind
	Text string // as written
	Pos  Pos
}

// Tokens splits src into tokens and comments, without white space. It never fails: unreadable text is an InvalidToken. The
// texts of all tokens are src without white space between tokens.
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
