package parser

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestData runs testdata. Commands:
//
//	parse   statements; prints each again, in the notation of String
//	expr    an expression a line; prints each with every operator in parentheses
//	error   a statement that is wrong; prints the error with its caret
//	split   a script; prints its pieces and the rest
//	tokens  prints kind and text
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return runParse(t, d)
			case "expr":
				return runExpr(t, d)
			case "error":
				return runError(t, d)
			case "tokens":
				return runTokens(d.Input)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func runParse(t *testing.T, d *datadriven.TestData) string {
	statements, err := Parse(d.Input)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	var b strings.Builder
	for _, s := range statements {
		b.WriteString(s.String() + "\n")
		checkRoundTrip(t, s)
	}
	return b.String()
}

func runExpr(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	for _, line := range strings.Split(d.Input, "\n") {
		e, err := ParseExpr(line)
		if err != nil {
			d.Fatalf(t, "%s: %v", line, err)
		}
		b.WriteString(parenthesised(e) + "\n")
		checkExprRoundTrip(t, e)
	}
	return b.String()
}

func runError(t *testing.T, d *datadriven.TestData) string {
	_, err := Parse(d.Input)
	var e *Error
	if !errors.As(err, &e) {
		d.Fatalf(t, "no error")
	}
	return e.Format() + "\n"
}

var kindNames = [...]string{
	KeywordToken: "keyword", NameToken: "name", NumberToken: "number", StringToken: "string", BytesToken: "bytes", ParamToken: "param",
	OperatorToken: "operator", CommentToken: "comment", HintToken: "hint", InvalidToken: "invalid",
}

func runTokens(src string) string {
	var b strings.Builder
	for _, t := range Tokens(src) {
		b.WriteString(kindNames[t.Kind] + " " + t.Text + "\n")
	}
	return b.String()
}
