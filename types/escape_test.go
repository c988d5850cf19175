package types

import "testing"

func TestEscapes(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range []string{"", "plain", `\`, `\x00`, `\N`, "\t\n\r\\t", string(all)} {
		if back, err := UnescapeBytes(EscapeBytes(s)); err != nil || back != s {
			t.Errorf("bytes %q: %q %v", s, back, err)
		}
		if back := UnescapeTSV(EscapeTSV(s)); back != s {
			t.Errorf("tsv %q: %q", s, back)
		}
	}
	for _, s := range []string{`\`, `\x`, `\x0`, `\xzz`, `\n`, `a\`} {
		if _, err := UnescapeBytes(s); err == nil {
			t.Errorf("%q is read", s)
		}
	}
}
