package parser

import (
	"reflect"
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
	dropPositions(reflect.ValueOf(s))
	dropPositions(reflect.ValueOf(again))
	if !reflect.DeepEqual(s, again) {
		t.Fatalf("printed and read again, it differs:\n%s\n%s", text, again)
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
