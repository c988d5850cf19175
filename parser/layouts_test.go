package parser

import (
	"os"
	"strings"
	"testing"
)

// TestLayouts reads every statement of the notation's own spec and every query on it,
// and prints and reads each again.
func TestLayouts(t *testing.T) {
	src, err := os.ReadFile("../testdata/layouts.sql")
	if err != nil {
		t.Fatal(err)
	}
	statements, err := Parse(string(src))
	if err != nil {
		t.Fatal(err)
	}
	if len(statements) < 40 {
		t.Fatalf("only %d statements", len(statements))
	}
	for _, s := range statements {
		checkRoundTrip(t, s)
	}
	queries, err := os.ReadFile("../testdata/queries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(queries)), "\n") {
		if fields := strings.Split(line, "\t"); len(fields) > 1 {
			s, err := ParseStatement(fields[1])
			if err != nil {
				t.Fatalf("%s: %v", fields[1], err)
			}
			checkRoundTrip(t, s)
		}
	}
}
