package parser

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGrammarWords checks that every word in the grammar is in the keyword list: one that
// is not could never match.
func TestGrammarWords(t *testing.T) {
	grammar := statementParser().String() + derivedParser().String() + joinParser().String() + systemTimeParser().String()
	words := regexp.MustCompile(`"([A-Z_]+)"`).FindAllStringSubmatch(grammar, -1)
	if len(words) < 50 {
		t.Fatalf("found only %d words in the grammar", len(words))
	}
	for _, w := range words {
		if _, ok := keywordOf(w[1]); !ok {
			t.Errorf("%s is missing in keywordList", w[1])
		}
	}
	if !slices.IsSorted(Keywords()) {
		t.Error("keywordList is not sorted")
	}
	for _, w := range Keywords() {
		if len(w) > longestKeyword {
			t.Errorf("%s is longer than longestKeyword", w)
		}
	}
}

// TestKeywordsAsNames checks that all words but the reserved ones are columns, tables and aliases as they stand.
func TestKeywordsAsNames(t *testing.T) {
	for _, k := range keywordList {
		name := strings.ToLower(k.word)
		src := "SELECT " + name + ", t." + name + ", f:" + name + ", a AS " + name + " FROM " + name
		if k.class == free {
			src += " " + name + " WHERE " + name + " = " + name + " ORDER BY " + name
		}
		_, err := ParseStatement(src)
		if k.class == reserved {
			if err == nil && !strings.HasPrefix(k.word, "CURRENT_") {
				t.Errorf("%s is reserved but was read: %s", k.word, src)
			}
			src = strings.ReplaceAll(src, name, quoteAlways(name))
			_, err = ParseStatement(src)
		}
		if err != nil {
			t.Errorf("%s: %v", src, err)
		}
		if k.class != reserved {
			for _, ddl := range []string{
				"CREATE TABLE " + name + " (" + name + " INT) ROW KEY " + name + " (" + name + " AS INT32)",
				"INSERT INTO " + name + " (" + name + ") VALUES (" + name + ")", "UPDATE " + name + " SET " + name + " = " + name,
			} {
				if _, err := ParseStatement(ddl); err != nil {
					t.Errorf("%s: %v", ddl, err)
				}
			}
		}
	}
}

func TestQuoteName(t *testing.T) {
	for name, want := range map[string]string{
		"uid": "uid", "order": `"order"`, "f:q": `"f:q"`, `a"b`: `"a""b"`, "": `""`, "1a": `"1a"`, "a b": `"a b"`, "user": "user",
		"用户": "用户", "left": `"left"`, "_key": "_key", "A1": "A1", "a-b": `"a-b"`,
	} {
		if got := QuoteName(name); got != want {
			t.Errorf("QuoteName(%q) = %s, want %s", name, got, want)
		}
	}
}

// TestPositions checks that nodes know where they stand.
func TestPositions(t *testing.T) {
	const src = "SELECT 1;\n SELECT a + b.c FROM t WHERE x IN (?, f(y))"
	statements, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	s := statements[1].(*Select)
	var got []string
	add := func(p Pos) { got = append(got, src[p:min(int(p)+3, len(src))]) }
	add(s.Pos)
	add(s.Cores[0].Items[0].Pos)
	add(s.Cores[0].From[0].Position())
	for _, root := range []Expr{s.Cores[0].Items[0].Expr, s.Cores[0].Where} {
		Walk(root, func(e Expr) bool { add(e.Position()); return true })
	}
	want := []string{"SEL", "a +", "t W", "+ b", "a +", "b.c", "IN ", "x I", "?, ", "f(y", "y))"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestParams checks how parameters are counted: in the order of the text, in each statement anew.
func TestParams(t *testing.T) {
	statements, err := Parse("SELECT a FROM t WHERE b = ? AND c IN (?, ?) LIMIT ? OFFSET ?; SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	s := statements[0].(*Select)
	if got := s.Cores[0].Where.String(); got != "b = $1 AND c IN ($2, $3)" {
		t.Error(got)
	}
	if s.Limit.String() != "$4" || s.Offset.String() != "$5" || statements[1].String() != "SELECT $1" {
		t.Error(s.Limit, s.Offset, statements[1])
	}
}

// TestPartialScript checks that the statements before a mistake are returned, and that
// its place is one in the script.
func TestPartialScript(t *testing.T) {
	statements, err := Parse("SELECT 1;\nSELECT 2;\n  SELECT x FROM;")
	if len(statements) != 2 || err == nil || !strings.HasPrefix(err.Error(), "3:16: ") {
		t.Error(statements, err)
	}
}

// TestTokensCover checks that the tokens of any text are the text less white space.
func TestTokensCover(t *testing.T) {
	for _, src := range []string{"", " \n", "SELECT 'a", "\x00\xff'", "a /* b", "1.2.3e b''' ", "$@?!~"} {
		at := 0
		for _, tok := range Tokens(src) {
			if strings.TrimSpace(src[at:tok.Pos]) != "" || src[tok.Pos:int(tok.Pos)+len(tok.Text)] != tok.Text {
				t.Errorf("%q: token %q at %d", src, tok.Text, tok.Pos)
			}
			at = int(tok.Pos) + len(tok.Text)
		}
		if strings.TrimSpace(src[at:]) != "" {
			t.Errorf("%q: ends at %d", src, at)
		}
	}
}
