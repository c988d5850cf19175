package parser

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse checks that no text makes the parser panic, that what it reads survives being
// printed, and that errors have a place.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"../testdata/layouts.sql", "testdata/select", "testdata/ddl", "testdata/expr", "testdata/error", "testdata/tokens"} {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range strings.FieldsFunc(string(src), func(r rune) bool { return r == ';' }) {
			f.Add(s)
		}
		for _, s := range strings.Split(string(src), "\n") {
			f.Add(s)
		}
	}
	// by class: quotes, escapes, comments, bad UTF-8, signs that could become a comment
	for _, s := range []string{
		"SELECT 'it''s', E'\\'', b'\\x00', X'', \"a\"\"b\"", "SELECT - -1, -+-a, a--b\n, /*/* */*/1", "SELECT '\xff', \"\xff\", \xff",
		"SELECT \x00", "SELECT '\x00'", "SELECT 1e, 1e+, 1..2, .e1", "SELECT NOT NOT a IS NOT NULL", "select a:b.c", "select t.\"f:q\":r",
		"SELECT ROW(), ROW(ROW(1)), (((a)))", "SELECT \"a:b\", \"\", a:\"\"", "SELECT a AT TIME ZONE b AT TIME ZONE c::INT",
	} {
		f.Add(s)
	}
	f.Fuzz(checkParse)
}

func checkParse(t *testing.T, src string) {
	checkTokens(t, src)
	if e, err := ParseExpr(src); err == nil {
		checkExprRoundTrip(t, e)
		Walk(e, func(Expr) bool { return true })
	}
	statements, err := Parse(src)
	if err != nil {
		e, ok := err.(*Error)
		if !ok {
			t.Fatalf("%T: %v", err, err)
		}
		if e.Pos < 0 || int(e.Pos) > len(src) || e.Source != src || e.Msg == "" || !utf8.ValidString(e.Format()) && utf8.ValidString(src) {
			t.Fatalf("no good error: %#v", e)
		}
		return
	}
	for _, s := range statements {
		checkRoundTrip(t, s)
	}
	if !strings.Contains(src, "?") { // in a script, every statement counts its own
		checkPieces(t, src, statements)
	}
}

// checkTokens checks that the tokens of src stand where they say, in order.
func checkTokens(t *testing.T, src string) {
	end := 0
	for _, tok := range Tokens(src) {
		at := int(tok.Pos)
		if at < end || at+len(tok.Text) > len(src) || src[at:at+len(tok.Text)] != tok.Text || tok.Text == "" {
			t.Fatalf("token %q is not at %d of %q", tok.Text, at, src)
		}
		end = at + len(tok.Text)
	}
}

// checkPieces checks that the ';' tokens of src cut it into its statements, which is how a prompt reads it.
func checkPieces(t *testing.T, src string, statements []Statement) {
	var pieces []string
	start, empty := 0, true
	cut := func(end int) {
		if !empty {
			pieces = append(pieces, src[start:end])
		}
		start, empty = end+1, true
	}
	for _, tok := range Tokens(src) {
		switch {
		case tok.Kind == OperatorToken && tok.Text == ";":
			cut(int(tok.Pos))
		case tok.Kind != CommentToken && tok.Kind != HintToken:
			empty = false
		}
	}
	cut(len(src))
	if len(pieces) != len(statements) {
		t.Fatalf("%d pieces, %d statements", len(pieces), len(statements))
	}
	for i, p := range pieces {
		s, err := ParseStatement(p)
		if err != nil {
			t.Fatal(err)
		}
		dropPositions(reflect.ValueOf(s))
		if !reflect.DeepEqual(s, statements[i]) {
			t.Fatalf("piece %q is not %s", p, statements[i])
		}
	}
}
