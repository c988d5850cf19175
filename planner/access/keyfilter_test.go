package access

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"testing"
)

// The pattern of a range of bytes matches what lies in it, and what begins with its end's start or is shorter, nothing else.
func TestBytesFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(most int) []byte {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}[r.IntN(6)]
		}
		return b
	}
	inside := 0
	for range 20_000 {
		start, stop := draw(3), draw(3)
		if len(stop) > 0 && bytes.Compare(start, stop) >= 0 {
			continue
		}
		re := regexp.MustCompile(`(?s)\A` + bytesFrom(start, stop))
		for range 5 {
			key := draw(5)
			text := make([]rune, len(key))
			for i, c := range key {
				text[i] = rune(c)
			}
			want := bytes.Compare(key, start) >= 0 && (len(stop) == 0 || bytes.Compare(key, stop) < 0)
			if got := re.MatchString(string(text)); got != want {
				t.Fatalf("[%x, %x) and %x: %v, want %v by %s", start, stop, key, got, want, re)
			}
			if want {
				inside++
			}
		}
	}
	if inside < 1000 {
		t.Errorf("%d inside", inside)
	}
}
