package parser

import (
	"cmp"
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

// absentKinds are the kinds of objects that IF EXISTS finds nowhere.
var absentKinds = []string{"EVENT TRIGGER", "FOREIGN TABLE", "TYPE|DOMAIN|SCHEMA|FUNCTION|PROCEDURE|AGGREGATE|EXTENSION|TRIGGER|ROLE|USER|GROUP|POLICY|RULE|COLLATION|PUBLICATION|SUBSCRIPTION|STATISTICS"}

// provided are the extensions of PostgreSQL of which hql has functions, and PL/pgSQL, which dumps of databases name.
var provided = map[string]bool{"plpgsql": true, "pgcrypto": true, "uuid-ossp": true}

func (n *otherNode) Parse(lex *lexer.PeekingLexer) error {
	at := lex.MakeCheckpoint()
	verb := strings.ToUpper(lex.Peek().Value)
	n.out = &Transaction{Pos: pos(lex.Peek()), Verb: verb}
	text, kind, of := "", "", ""
	about := func(before, behind string, kinds ...string) bool { // reads the kind and the name of the object
		for _, k := range kinds {
			text = cmp.Or(text, phrase(lex, before+" "+k+" "+behind))
		}
		kind = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, before), behind))
		for text != "" && (of == "" || accept(lex, ".")) && isName(lex.Peek()) {
			of = name(lex.Next())
		}
		return of != ""
	}
	switch {
	case Elsewhere("upkeep", verb) != "":
		n.out.Text, n.out.Note, of = verb, verb+" does nothing: "+Elsewhere("upkeep", verb), verb
	case phrase(lex, "SET CONSTRAINTS") != "":
		n.out.Text, n.out.Verb, of = "SET CONSTRAINTS", "SET CONSTRAINTS", verb
		n.out.Note = "SET CONSTRAINTS does nothing: each row is checked when it is written"
	case verb == "LOCK":
		for n.out.Note == "" && !lex.Peek().EOF() {
			if mode := phrase(lex, "IN ACCESS SHARE MODE"); mode != "" { // pg_dump locks out DROP TABLE
				n.out.Verb, n.out.Note, of = "LOCK TABLE", Elsewhere("unsupported", verb), verb
				n.out.Text = text + mode
			} else {
				text += lex.Next().Value + " "
			}
		}
	case verb != "DROP" && verb != "ALTER" && verb != "CREATE" && verb != "COMMENT":
	case verb != "CREATE" && about(verb, "IF EXISTS", absentKinds...):
		if n.out.Note = strings.ToLower(kind) + " " + quoteAlways(of) + " does not exist, skipping"; kind == "ROLE" || kind == "USER" || kind == "GROUP" {
			n.out.Note = verb + " " + kind + " does nothing: " + Elsewhere("object", kind)
		}
	case verb == "DROP" && about(verb, "", "SCHEMA"), verb == "CREATE" && (about(verb, "IF NOT EXISTS", "SCHEMA") || about(verb, "", "SCHEMA")):
		n.out.Note = verb + " SCHEMA does nothing: " + Elsewhere("object", "SCHEMA")
	case verb == "CREATE" && (about("CREATE", "IF NOT EXISTS", "EXTENSION") || about("CREATE", "", "EXTENSION")):
		n.out.Note = strings.ToLower(kind) + " " + quoteAlways(of) + " already exists, skipping"
		if kind == "EXTENSION" && !provided[strings.ToLower(of)] {
			n.err = Errorf(n.out.Pos, "extension %q is not available", of).WithHint("functions are added in Go").Of(ErrUnsupported)
		}
	case about("COMMENT ON", "", append(absentKinds, "SEQUENCE|VIEW|INDEX|CONSTRAINT|DATABASE")...):
		n.out.Note = "comments are kept of tables and columns"
	case verb == "ALTER" && about("ALTER", "", "SCHEMA"):
		if owner := phrase(lex, "OWNER TO *"); owner != "" {
			n.out.Verb, n.out.Text = "ALTER SCHEMA", text+" "+quoteAlways(of)+" "+owner
			n.out.Note = "ALTER SCHEMA does nothing: " + Elsewhere("object", "ROLE")
		}
	}
	if n.out.Note == "" {
		lex.LoadCheckpoint(at)
		return participle.NextMatch
	}
	if n.out.Name = of; n.out.Text == "" {
		n.out.Text = text + " " + quoteAlways(of)
		if verb != "COMMENT" {
			n.out.Verb += " " + kind
		}
	}
	for !lex.Peek().EOF() { // the rest is about an object that is not there
		lex.Next()
	}
	return nil
}
