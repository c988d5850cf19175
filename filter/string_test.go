package filter

import "testing"

func TestString(t *testing.T) {
	cell := func(op Op, v string) Cell { return Cell{Family: "f", Qualifier: "name", Op: op, Value: []byte(v)} }
	for _, c := range []struct {
		f    Filter
		want string
	}{
		{cell(Equal, "it's"), "f:name = 'it''s'"},
		{cell(Prefix, "中国"), "f:name STARTS WITH '中国'"},
		{cell(GreaterOrEqual, "\x80\x00\\"), `f:name >= '\x80\x00\x5C'`},
		{Cell{Family: "f", Qualifier: "n", Value: []byte("x"), KeepMissing: true}, "f:n = 'x' OR MISSING"},
		{And{cell(Equal, "a"), Or{cell(Less, "b"), CellNull{Family: "f", Qualifier: "x"}}}, "f:name = 'a' AND (f:name < 'b' OR f:x MISSING)"},
		{CellNull{Family: "f", Qualifier: "x", Not: true}, "f:x PRESENT"},
		{Regex{Family: "f", Qualifier: "x", Pattern: "\\Aé.*\\z"}, `f:x ~ '\A\xE9.*\z'`},
		{KeyRanges{{[]byte("a"), []byte("b")}, {[]byte("x"), nil}}, "KEY IN [a, b) [x, )"},
		{Fuzzy{{Key: []byte{0, 'a'}, Mask: []byte{1, 0}}, {Key: []byte{0, 1}, Mask: []byte{1, 0}}}, `KEY LIKE ?a OR ?\x01`},
		{ColumnRange{Family: "f", Min: []byte{1}}, `f:[\x01, )`},
		{Columns{{"f", "a"}, {"f", "b"}}, "FIRST CELL OR f:a, f:b"},
		{And{FirstCell{}, KeyOnly{}}, "FIRST CELL AND KEY ONLY"},
	} {
		if got := c.f.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
