package main

import "testing"

// Functions with other bodies have both forms; what differs in anything else has not.
func TestForms(t *testing.T) {
	const now = "package p\n\nimport \"fmt\"\n\nfunc (s *T) f(a int, b ...string) error {\n\tfmt.Println(a)\n\treturn nil\n}\n\nfunc g() {\n\th()\n}\n\nvar x = 1\n"
	for _, test := range []struct{ from, to, call string }{
		{"fmt.Println(a)", "fmt.Println(b)", "{ if mutantsActive.Is(7) { return s.f_mend7(a, b..., ) }; "},
		{"\th()\n", "", "{ if mutantsActive.Is(7) { g_mend7(); return }; "},
		{"a int", "a uint", ""},
		{"x = 1", "x = 2", ""},
		{"func g() {\n\th()\n}\n\n", "", ""},
		{"(s *T) f", "(*T) f", ""},
	} {
		changed := map[string][]byte{"p.go": []byte(now)}
		m := mend{name: "m", now: []string{test.from}, reverted: []string{test.to}}
		was, err := m.revert(changed)
		if err != nil {
			t.Fatal(err)
		}
		in, ok := forms([]byte(now), was["p.go"], 7, true)
		if ok != (test.call != "") || ok && (len(in) != 2 || in[0].text != test.call[1:]) {
			t.Errorf("%q -> %q: %t, %v, want %q", test.from, test.to, ok, in, test.call)
		}
	}
}
