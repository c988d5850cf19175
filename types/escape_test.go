package types

import (
	"encoding/json"
	"testing"
)

func TestEscapes(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range []string{"", "plain", `\`, `\x00`, `\N`, "\t\n\r\\t", string(all), `\udcff`, `\\udc80`, "\xed\xb2\x80", "\xf0\x9f\x98", "😀\xff"} {
		if back, err := UnescapeBytes(EscapeBytes(s)); err != nil || back != s {
			t.Errorf("bytes %q: %q %v", s, back, err)
		}
		quoted := string(NewString(s).AppendJSON(nil))
		if back, err := UnquoteJSON(quoted); err != nil || back != s || !json.Valid([]byte(quoted)) {
			t.Errorf("json %q: %s %q %v", s, quoted, back, err)
		}
	}
	for quoted, want := range map[string]string{`"\ud83d\uDE00"`: "😀", `"\ud83d\udc80"`: "\U0001f480", `"\uDCe9"`: "\xe9", `"\u00e9\\udce9"`: `é\udce9`, `"\udc7f"`: "\ufffd"} {
		if got, err := UnquoteJSON(quoted); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", quoted, got, err, want)
		}
	}
	for _, s := range []string{`\`, `\x`, `\x0`, `\xzz`, `\n`, `a\`} {
		if _, err := UnescapeBytes(s); err == nil {
			t.Errorf("%q is read", s)
		}
	}
}
