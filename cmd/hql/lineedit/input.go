package lineedit

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Private-use characters that replace keys and pasted text in readline's input.
const (
	deleteKey = '\uf8f3' + iota
	pasteKey
)

// Control characters.
const (
	interrupt = 3
	bell      = 7 // ^G ends readline's list of choices
)

// sequences maps the escape sequences of keys that readline does not know, or handles differently, to their replacements.
var sequences = map[string]string{
	"\x1b[3~": string(deleteKey), "\x1b[1~": "\x01", "\x1b[7~": "\x01", "\x1b[4~": "\x05", "\x1b[8~": "\x05",
	"\x1b[1;5C": "\x1bf", "\x1b[1;3C": "\x1bf", "\x1b[1;5D": "\x1bb", "\x1b[1;3D": "\x1bb",
}

var (
	escape     = regexp.MustCompile(`^\x1b\[[0-9;]*[@-~]`)
	escapePart = regexp.MustCompile(`^\x1b(\[[0-9;]*)?$`)
)

// input filters the terminal's bytes. It replaces each pasted line by one character, which OnChange replaces by the text.
type input struct {
	r         io.Reader
	searching func() bool // readline searches the history
	search    func(rune)  // adds a character to the search

	out     []byte
	pending []byte // the beginning of an incomplete escape sequence
	pasting bool
	afterCR bool
	text    []byte

	mu     sync.Mutex // readline calls OnChange from two goroutines
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
			if len(b) > 1 && (b[1] == '\r' || b[1] == '\n') && !f.pasting { // Alt-Enter
				b = b[1:]
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
		case b[0] == 0: // ^@: readline would end the input
		case b[0] == interrupt: // ^C: while words or the history are shown, readline would only end the choice
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
	case f.pasting: // ignore keys in pasted text
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

// filter implements readline's input filter. A search of the history receives pasted text, but no other private-use
// character.
func (f *input) filter(key rune) (rune, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case key == pasteKey && f.searching():
		text := f.takePasted()
		if len(text) == 0 {
			return 0, false
		}
		last := len(text) - 1
		for _, r := range text[:last] {
			f.search(r)
		}
		return text[last], true
	case key == deleteKey && f.searching():
		return 0, false
	}
	return key, true
}

// OnChange implements readline's listener.
func (f *input) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if pos == 0 || key != deleteKey && key != pasteKey {
		return line, pos, false
	}
	before, after := line[:pos-1], line[pos:]
	var text []rune
	if key == pasteKey {
		text = f.takePasted()
	} else if len(after) > 0 {
		after = after[1:]
	}
	return slices.Concat(before, text, after), len(before) + len(text), true
}

// takePasted returns the text that the next pasteKey replaces. The caller holds f.mu.
func (f *input) takePasted() []rune {
	if len(f.pasted) == 0 {
		return nil
	}
	text := []rune(f.pasted[0])
	f.pasted = f.pasted[1:]
	return text
}
