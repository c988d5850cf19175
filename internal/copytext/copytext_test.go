package copytext

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// If reading fails within a line, the part that was read is not a record.
func TestPartOfALine(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, text := range []string{"1\n2", "1\n\"2", "1\n\"2\n3", "1\n"} {
		for _, f := range []Format{CSV, Text} {
			r := &Reader{Format: f, In: bufio.NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))}
			var err error
			n := -1
			for ; err == nil; n++ {
				_, err = r.Read()
			}
			whole := strings.Count(text, "\n")
			if !errors.Is(err, broken) || n > whole {
				t.Errorf("%q: %d records, then %v", text, n, err)
			}
		}
	}
}

// A Reader returns the fields that Append wrote, and tells NULL from a text that looks like it.
func TestRoundTrip(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	texts := []string{"", "plain", `\`, `\N`, `\.`, "\t\n\r\\t\b\f\v", string(all), `a"b`, `""`, "a,b;c|", " x ", "a\r", "\n", `x`, `it''s`}
	for _, f := range []Format{CSV, Text, {CSV: true, Delimiter: ';', Quote: '\'', Escape: '\\', Null: "x"}, {Delimiter: '|', Null: "x"}} {
		for _, s := range texts {
			if !f.CSV && s == f.Null && s == "x" { // PostgreSQL does not tell them apart, either
				continue
			}
			line := append(f.Append(nil, s, false), f.Delimiter)
			line = append(append(append(line, f.Null...), f.Delimiter), 'z', '\n')
			r := &Reader{Format: f, Strict: true, In: bufio.NewReaderSize(strings.NewReader(string(line)), 16)}
			got, err := r.Read()
			if err != nil || len(got) != 3 || got[0].Text != s || got[0].Null || !got[1].Null || got[2].Text != "z" {
				t.Errorf("%+v: %q is read as %+v, %v", f, line, got, err)
			}
		}
	}
}

// The text format knows PostgreSQL's escapes.
func TestEscapes(t *testing.T) {
	r := &Reader{Format: Text, In: bufio.NewReader(strings.NewReader(`\b\f\v\101\x42\x4\8\z\\x` + "\n"))}
	if got, err := r.Read(); err != nil || got[0].Text != "\b\f\vAB\x048z\\x" {
		t.Errorf("%+v %v", got, err)
	}
}
