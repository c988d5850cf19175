package lineedit

import (
	"io"
	"regexp"
	"strings"
	"sync"
)

// Private characters that stand for a Delete key and for pasted text in what readline reads.
const (
	deleteKey = '\uf8f3'
	pasteKey  = '\uf8f4'
)

// Control characters.
const (
	interrupt = 3
	bell      = 7 // ^G ends a choice
)

// sequences are keys that readline does not know, with what it does.
var sequences = map[string]string{
	"\x1b[3~": string(deleteKey), "\x1b[1~": "\x01", "\x1b[7~": "\x01", "\x1b[4~": "\x05", "\x1b[8~": "\x05",
	"\x1b[1;5C": "\x1bf", "\x1b[1;3C": "\x1bf", "\x1b[1;5D": "\x1bb", "\x1b[1;3D": "\x1bb",
}

var (
	escape     = regexp.MustCompile(`^\x1b\[[0-9;]*[@-~]`)
	escapePart = regexp.MustCompile(`^\x1b(\[[0-9;]*)?$`)
)

// input filters the terminal's bytes: each pasted line reaches readline as one
// character, which the listener swaps for the text.
type input struct {
	r       io.Reader
	out     []byte
	pending []byte // an escape sequence that is not complete
	pasting bool
	afterCR bool
	text    []byte

	mu     sync.Mutex
	pasted []string
}

func (f *input) Close() error { return nil }

func (f *input) Read(p []byte) (int, error) {
	var b [4096]byte
	for len(f.out) == 0 {
		n, err := f.r.Read(b[:])
		if n == 0 && err != nil {
			return 0, err
		}
		f.feed(b[:n])
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

func (f *input) feed(b []byte) {
	b = append(f.pending, b...)
	f.pending = nil
	for len(b) > 0 {
		if b[0] == 0x1b {
			if m := escape.Find(b); m != nil {
				f.sequence(string(m))
				b = b[len(m):]
				continue
			}
			if len(b) > 1 && escapePart.Match(b) {
				f.pending = append(f.pending, b...)
				return
			}
		}
		switch {
		case f.pasting:
			f.paste(b[0])
		case b[0] == interrupt: // where words or the history are being chosen, readline takes ^C for the end of that only
			f.out = append(f.out, bell, interrupt)
		default:
			f.out = append(f.out, b[0])
		}
		b = b[1:]
	}
}

func (f *input) sequence(s string) {
	switch {
	case s == "\x1b[200~":
		f.pasting = true
	case s == "\x1b[201~":
		f.flush()
		f.pasting = false
	case f.pasting: // a key cannot be pasted
	default:
		if t, ok := sequences[s]; ok {
			s = t
		}
		f.out = append(f.out, s...)
	}
}

func (f *input) paste(c byte) {
	after := f.afterCR
	f.afterCR = c == '\r'
	switch {
	case c == '\t':
		f.text = append(f.text, "  "...)
	case c == '\n' && after:
	case c == '\n' || c == '\r':
		f.flush()
		f.out = append(f.out, '\n')
	case c >= 0x20 && c != 0x7f:
		f.text = append(f.text, c)
	}
}

func (f *input) flush() {
	if len(f.text) == 0 {
		return
	}
	f.mu.Lock()
	f.pasted = append(f.pasted, strings.ToValidUTF8(string(f.text), "\ufffd"))
	f.mu.Unlock()
	f.text = nil
	f.out = append(f.out, string(pasteKey)...)
}

// OnChange is readline's listener.
func (f *input) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	if pos == 0 || key != deleteKey && key != pasteKey {
		return nil, 0, false
	}
	out := append([]rune{}, line[:pos-1]...)
	rest := line[pos:]
	if key == pasteKey {
		f.mu.Lock()
		if len(f.pasted) > 0 {
			out = append(out, []rune(f.pasted[0])...)
			f.pasted = f.pasted[1:]
		}
		f.mu.Unlock()
	} else if len(rest) > 0 {
		rest = rest[1:]
	}
	return append(out, rest...), len(out), true
}
