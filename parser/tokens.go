package parser

import "strings"

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

// Piece is one statement of a script.
type Piece struct {
	Text   string // without the closing ';' and white space around it; comments are kept
	Offset int    // of Text in the script
}

// Split cuts a script at its top-level semicolons. complete holds the statements that a
// semicolon closes; empty ones are left out. rest is the end of src that follows the last
// semicolon (its offset is len(src) - len(rest)), or "" when only white space and finished
// comments do. Quotes and comments hide semicolons; nothing else is checked.
//
//	"select 1; select ';" -> ["select 1"], " select ';"
func Split(src string) (complete []Piece, rest string) {
	start, pos, empty := 0, 0, true
	for {
		t := scanNext(src, pos)
		pos = t.end
		switch {
		case t.kind == EndToken:
			if empty {
				return complete, ""
			}
			return complete, src[start:]
		case t.kind == OperatorToken && src[t.start] == ';':
			if !empty {
				complete = append(complete, piece(src, start, t.start))
			}
			start, empty = t.end, true
		case t.kind != CommentToken && t.kind != HintToken:
			empty = false
		}
	}
}

func piece(src string, start, end int) Piece {
	for start < end && strings.IndexByte(" \t\r\n\f\v", src[start]) >= 0 {
		start++
	}
	return Piece{Text: strings.TrimRight(src[start:end], " \t\r\n\f\v"), Offset: start}
}
