package parser

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// checkRoundTrip checks that s's text parses to an equal statement.
func checkRoundTrip(t *testing.T, s Statement) {
	t.Helper()
	text := s.String()
	again, err := ParseStatement(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	checkEqual(t, text, s, again)
}

func checkExprRoundTrip(t *testing.T, e Expr) {
	t.Helper()
	text := e.String()
	again, err := ParseExpr(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	checkEqual(t, text, e, again)
}

func checkEqual(t *testing.T, text string, was, is any) {
	t.Helper()
	dropPositions(reflect.ValueOf(was))
	dropPositions(reflect.ValueOf(is))
	if !reflect.DeepEqual(was, is) {
		t.Fatalf("printed and read again, it differs:\n%s\n%s", text, is)
	}
}

// dropPositions sets every Pos below v to 0.
func dropPositions(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dropPositions(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			dropPositions(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			dropPositions(v.Field(i))
		}
	case reflect.Int:
		if v.Type() == reflect.TypeFor[Pos]() {
			v.SetInt(0)
		}
	}
}

// parenthesised shows how an expression was understood: (+ a (* b c)).
func parenthesised(e Expr) string {
	var children []Expr
	Walk(e, func(x Expr) bool {
		if x != e {
			children = append(children, x)
		}
		return x == e
	})
	var op string
	switch e := e.(type) {
	case *Unary:
		op = e.Op
	case *Binary:
		op = e.Op
	case *Between:
		op = strings.TrimSpace(when(e.Not, " NOT") + " BETWEEN")
	case *In:
		op = strings.TrimSpace(when(e.Not, " NOT") + " IN")
	case *Quantified:
		op = e.Op + map[bool]string{true: " ALL", false: " ANY"}[e.All]
	case *Array:
		op = "ARRAY"
	case *Like:
		op = strings.TrimSpace(when(e.Not, " NOT") + " " + e.Op)
	case *Is:
		op = "IS" + when(e.Not, " NOT") + " " + e.What
	case *Cast:
		op = "CAST " + e.Type
	case *AtTimeZone:
		op = "AT"
	case *Tuple:
		op = "ROW"
	default:
		return e.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%s", op)
	for _, c := range children {
		b.WriteString(" " + parenthesised(c))
	}
	return b.String() + ")"
}
