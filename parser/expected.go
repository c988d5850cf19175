package parser

import (
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// What was expected at a mistake is what the grammar looked for there. To learn it, the
// statement is read a second time with a token of type tokMarked in the place of the one
// that did not fit. It fits nowhere, and who looks for something else leaves a note on it:
// names and expressions do by themselves (missed, wanted), the words of participle's
// grammar by its trace (notes).

// noteEnd stands behind each note, and first of all in the token.
const noteEnd = "\x00"

const (
	// maxExplained bounds the tokens that are read a second time.
	maxExplained = 200_000
	// maxCompleted bounds those that are read once more for each thing that was expected.
	maxCompleted = 2000
)

// missed leaves a note that what could stand next.
func missed(lex *lexer.PeekingLexer, what string) {
	if t := lex.Peek(); t.Type == tokMarked {
		t.Value += what + noteEnd
	}
}

// wanted is accept with a note where a word is missed.
func wanted(lex *lexer.PeekingLexer, values ...string) bool {
	if accept(lex, values...) {
		return true
	}
	at := lex.MakeCheckpoint()
	for i, v := range values {
		if lex.Peek().Value != v {
			missed(lex, strings.Join(values[i:], " "))
			break
		}
		lex.Next()
	}
	lex.LoadCheckpoint(at)
	return false
}

// read reads what one of participle's parsers reads, where lex stands.
func read[N any](p func() *participle.Parser[N], lex *lexer.PeekingLexer, options ...participle.ParseOption) (*N, error) {
	if i := lex.Range(0, 1)[0].Pos.Column; i > 0 {
		options = append(options, participle.Trace(notes{&lex.Range(0, lexer.RawCursor(i))[i-1]}))
	}
	return p().ParseFromLexer(lex, options...)
}

// notes takes participle's trace, a line for each thing that it tries, for the marked token.
type notes struct{ marked *lexer.Token }

// triedWord finds what a line of the trace tries: "marked" literal{"WHERE", ""}, "marked" reference{String}.
var triedWord = regexp.MustCompile(`^ *"\\x00.* (?:literal\{"([^"]+)"|reference\{(\w+)\})`)

// references says in the user's words what is no word of the grammar.
var references = map[string]string{"String": "text in quotes", "Number": "a number", "Word": "a name"}

// Write implements io.Writer.
func (n notes) Write(line []byte) (int, error) {
	if m := triedWord.FindStringSubmatch(string(line)); m != nil {
		n.marked.Value += m[1] + references[m[2]] + noteEnd
	}
	return len(line), nil
}

// replay gives tokens that were read before.
type replay struct{ tokens []lexer.Token }

// Next implements lexer.Lexer.
func (r *replay) Next() (lexer.Token, error) {
	t := r.tokens[0]
	r.tokens = r.tokens[1:]
	return t, nil
}

// reading is a statement in which a mistake was found.
type reading struct {
	tokens []lexer.Token
	again  func(*lexer.PeekingLexer) error // reads tokens as they were read
}

// lookedFor lists what is looked for behind the first i tokens and these words.
func (r reading) lookedFor(i int, words ...string) []string {
	if i > maxExplained {
		return nil
	}
	tokens := slices.Clone(r.tokens[:i])
	for _, w := range words {
		tokens = append(tokens, lexer.Token{Type: tokReserved, Value: w})
	}
	at := len(tokens)
	tokens = append(tokens, lexer.Token{Type: tokMarked, Value: noteEnd}, lexer.Token{Type: lexer.EOF})
	tokens[0].Pos.Column = at + 1
	lex, _ := lexer.Upgrade(&replay{tokens})
	_ = r.again(lex) // it is the notes that are wanted
	var out []string
	for _, what := range strings.Split(lex.Range(0, lexer.RawCursor(at+1))[at].Value, noteEnd) {
		if what != "" && what != "." && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	return out
}

// canEnd reports whether the first i tokens are a whole statement.
func (r reading) canEnd(i int) bool {
	if i == 0 || i > maxExplained {
		return false
	}
	lex, _ := lexer.Upgrade(&replay{append(slices.Clone(r.tokens[:i]), lexer.Token{Type: lexer.EOF})})
	return r.again(lex) == nil
}
