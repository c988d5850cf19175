package parser

import (
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Error messages list what the grammar expects at a mistake. To find it, the statement is parsed a second time, with the
// token that did not fit replaced by one of type tokMarked. This token matches nothing. Each part of the grammar that
// expects something else adds a note to the token's value. Names and expressions, which are parsed by hand, add notes by
// missed and wanted; notes takes those of participle's grammar from its trace.

// noteEnd ends each note. The marked token's value begins with it.
const noteEnd = "\x00"

const (
	// maxExplained bounds the number of tokens that are parsed a second time.
	maxExplained = 200_000
	// maxCompleted bounds the number of tokens that are parsed once more for each expected thing.
	maxCompleted = 2000
)

// missed adds a note to the next token if it is the marked one: the grammar would accept what there.
func missed(lex *lexer.PeekingLexer, what string) {
	if t := lex.Peek(); t.Type == tokMarked {
		t.Value += what + noteEnd
	}
}

// wanted accepts the tokens values, like accept. If the first tokens fit, it adds a note with the missing words.
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

// read parses with one of participle's parsers, from the position of lex.
func read[N any](p func() *participle.Parser[N], lex *lexer.PeekingLexer, options ...participle.ParseOption) (*N, error) {
	if i := lex.Range(0, 1)[0].Pos.Column; i > 0 {
		options = append(options, participle.Trace(notes{&lex.Range(0, lexer.RawCursor(i))[i-1]}))
	}
	return p().ParseFromLexer(lex, options...)
}

// notes writes participle's trace, which has a line for each thing that the grammar expects: it adds them to the marked token
// as notes.
type notes struct{ marked *lexer.Token }

// triedWord finds the expected thing in a line of the trace: "marked" literal{"WHERE", ""}, "marked" reference{String}.
var triedWord = regexp.MustCompile(`^ *"\\x00.* (?:literal\{"([^"]+)"|reference\{(\w+)\})`)

// references describes the kinds of tokens in the grammar that are not keywords.
var references = map[string]string{"String": "text in quotes", "Number": "a number", "Word": "a name"}

func (n notes) Write(line []byte) (int, error) {
	if m := triedWord.FindStringSubmatch(string(line)); m != nil {
		n.marked.Value += m[1] + references[m[2]] + noteEnd
	}
	return len(line), nil
}

// replay is a lexer that returns given tokens.
type replay struct{ tokens []lexer.Token }

func (r *replay) Next() (lexer.Token, error) {
	t := r.tokens[0]
	r.tokens = r.tokens[1:]
	return t, nil
}

// reading is a statement with a mistake.
type reading struct {
	tokens []lexer.Token
	again  func(*lexer.PeekingLexer) error // parses tokens as they were parsed
}

// lookedFor lists what the grammar expects after the first i tokens followed by words.
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
	_ = r.again(lex) // only the notes matter
	var out []string
	for _, what := range strings.Split(lex.Range(0, lexer.RawCursor(at+1))[at].Value, noteEnd) {
		if what != "" && what != "." && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	return out
}

// canEnd reports whether the first i tokens are a complete statement.
func (r reading) canEnd(i int) bool {
	if i == 0 || i > maxExplained {
		return false
	}
	lex, _ := lexer.Upgrade(&replay{append(slices.Clone(r.tokens[:i]), lexer.Token{Type: lexer.EOF})})
	return r.again(lex) == nil
}
