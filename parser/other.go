package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// otherNode is a statement of PostgreSQL about a kind of object that hql does not have, and that leaves all as it is: DROP ... IF
// EXISTS, CREATE EXTENSION and CREATE SCHEMA of what is there, COMMENT ON such an object.
type otherNode struct {
	out *Transaction
	err error
}

// dropped are the kinds of objects that DROP ... IF EXISTS finds nowhere.
var dropped = [][]string{{"TYPE"}, {"DOMAIN"}, {"SCHEMA"}, {"FUNCTION"}, {"PROCEDURE"}, {"AGGREGATE"}, {"SEQUENCE"}, {"EXTENSION"}, {"TRIGGER"}, {"MATERIALIZED", "VIEW"}}

// provided are the extensions of PostgreSQL of which hql has functions, and PL/pgSQL, which dumps of databases name.
var provided = map[string]bool{"plpgsql": true, "pgcrypto": true, "uuid-ossp": true}

func (n *otherNode) Parse(lex *lexer.PeekingLexer) error {
	at := lex.MakeCheckpoint()
	n.out = &Transaction{Pos: pos(lex.Peek())}
	var words []string
	next := func(is ...string) bool {
		here := lex.MakeCheckpoint()
		for _, w := range is {
			if !strings.EqualFold(lex.Next().Value, w) {
				lex.LoadCheckpoint(here)
				return false
			}
		}
		words = append(words, is...)
		return true
	}
	object := func() string {
		for _, kind := range dropped {
			if next(kind...) {
				return strings.Join(kind, " ")
			}
		}
		return ""
	}
	named := func() string {
		if t := lex.Peek(); t.Type == tokWord || t.Type == tokQuoted || t.Type == tokGuarded {
			return name(lex.Next())
		}
		return ""
	}
	verb, kind, of := "", "", ""
	switch {
	case next("DROP"):
		verb, kind = "DROP", object()
		if kind == "" || !next("IF", "EXISTS") {
			kind = ""
			break
		}
		of = named()
		for accept(lex, ".") {
			of = named()
		}
		n.out.Note = strings.ToLower(kind) + " " + quoteAlways(of) + " does not exist, skipping"
	case next("CREATE", "EXTENSION", "IF", "NOT", "EXISTS"), next("CREATE", "EXTENSION"):
		verb, kind, of = "CREATE", "EXTENSION", named()
		n.out.Note = "extension " + quoteAlways(of) + " already exists, skipping"
		if !provided[strings.ToLower(of)] {
			n.err = Errorf(n.out.Pos, "extension %q is not available", of).WithHint("functions are added in Go").Of(ErrUnsupported)
		}
	case next("CREATE", "SCHEMA", "IF", "NOT", "EXISTS"):
		verb, kind, of = "CREATE", "SCHEMA", named()
		n.out.Note = "schema " + quoteAlways(of) + " already exists, skipping"
		if !strings.EqualFold(of, "public") {
			n.err = Errorf(n.out.Pos, "CREATE SCHEMA is not supported").WithHint("%s", Elsewhere("object", "SCHEMA")).Of(ErrUnsupported)
		}
	case next("COMMENT", "ON"):
		verb, kind = "COMMENT", object()
		for _, also := range []string{"VIEW", "INDEX", "CONSTRAINT", "DATABASE"} {
			if kind == "" && next(also) {
				kind = also
			}
		}
		of, n.out.Note = named(), "comments are kept of tables and columns"
	}
	if kind == "" || of == "" {
		lex.LoadCheckpoint(at)
		return participle.NextMatch
	}
	if n.out.Verb = verb; verb != "COMMENT" {
		n.out.Verb += " " + kind
	}
	n.out.Name, n.out.Text = of, strings.Join(words, " ")+" "+quoteAlways(of)
	for !lex.Peek().EOF() { // the rest is about an object that is not there
		lex.Next()
	}
	return nil
}
