package wire

import (
	"errors"
	"slices"
	"testing"
)

func TestFields(t *testing.T) {
	type field struct {
		number int32
		bytes  string // "-": a number
		varint uint64
	}
	for _, test := range []struct {
		name, message string
		want          []field
		malformed     bool
	}{
		{name: "nothing"},
		{name: "a number, an empty text, a text", message: "\x08\xac\x02\x12\x00\x1a\x01a", want: []field{{1, "-", 300}, {2, "", 0}, {3, "a", 0}}},
		{name: "fixed widths and a group between", message: "\x09\x00\x00\x00\x00\x00\x00\x00\x00\x15\x00\x00\x00\x00\x1b\x08\x01\x1c\x20\x05", want: []field{{4, "-", 5}}},
		{name: "cut in a tag", message: "\x08\x01\x80", want: []field{{1, "-", 1}}, malformed: true},
		{name: "cut in a text", message: "\x08\x01\x12\x02a", want: []field{{1, "-", 1}}, malformed: true},
		{name: "cut in a number", message: "\x08\x80", malformed: true},
		{name: "no field zero", message: "\x00\x01", malformed: true},
	} {
		var got []field
		malformed := false
		for f, err := range Fields([]byte(test.message)) {
			if malformed = errors.Is(err, ErrMalformed); malformed {
				if f.Number != 0 {
					t.Errorf("%s: the error comes with field %d", test.name, f.Number)
				}
				continue
			}
			b := string(f.Bytes)
			if f.Bytes == nil {
				b = "-"
			}
			got = append(got, field{int32(f.Number), b, f.Varint})
		}
		if !slices.Equal(got, test.want) || malformed != test.malformed {
			t.Errorf("%s: got %v, malformed %v", test.name, got, malformed)
		}
	}
}
