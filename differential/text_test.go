package differential

import (
	"fmt"
	"strings"
	"testing"
)

// Statements are texts with marks, which are rendered differently for each side:
//
//	\x11 h \x12 p \x13           h for hql, p for PostgreSQL
//	\x14 n \x12 full \x12 less \x13   full, or less where the reducer dropped the piece of that number
//	\x15 n \x13                  the argument of that number
//
// Marks nest.
const (
	markDialect = '\x11'
	markNext    = '\x12'
	markEnd     = '\x13'
	markPiece   = '\x14'
	markArg     = '\x15'
)

// dialect marks texts that differ between hql and PostgreSQL.
func dialect(hql, pg string) string { return "\x11" + hql + "\x12" + pg + "\x13" }

// rendering renders the text for one side.
type rendering struct {
	pg      bool
	dropped map[int]bool // pieces
	arg     func(n int) string
	b       strings.Builder
	s       string
}

func render(s string, pg bool, dropped map[int]bool, arg func(n int) string) string {
	r := &rendering{pg: pg, dropped: dropped, arg: arg, s: s}
	for r.s != "" {
		r.next(true)
		if r.s != "" {
			panic(fmt.Sprintf("a stray mark before %q", r.s))
		}
	}
	return r.b.String()
}

// next renders or skips text up to the mark that ends it.
func (r *rendering) next(show bool) {
	for {
		i := strings.IndexAny(r.s, "\x11\x12\x13\x14\x15")
		if i < 0 {
			i = len(r.s)
		}
		if show {
			r.b.WriteString(r.s[:i])
		}
		r.s = r.s[i:]
		if r.s == "" || r.s[0] == markNext || r.s[0] == markEnd {
			return
		}
		mark := r.s[0]
		r.s = r.s[1:]
		switch mark {
		case markDialect:
			r.either(show, !r.pg)
		case markPiece:
			r.either(show, !r.dropped[r.number()])
		case markArg:
			n := r.number()
			if show {
				r.b.WriteString(r.arg(n))
			}
		}
	}
}

// either renders the first or the second of two texts.
func (r *rendering) either(show, first bool) {
	r.next(show && first)
	r.s = r.s[1:]
	r.next(show && !first)
	r.s = r.s[1:]
}

func (r *rendering) number() (n int) {
	for r.s[0] >= '0' && r.s[0] <= '9' {
		n = n*10 + int(r.s[0]-'0')
		r.s = r.s[1:]
	}
	r.s = r.s[1:]
	return n
}

func TestRender(t *testing.T) {
	s := "a " + dialect("h", "p"+dialect("x", "y")) + " \x141\x12b \x142\x12c\x12d\x13\x12e\x13 \x157\x13."
	arg := func(n int) string { return fmt.Sprint("$", n) }
	for _, c := range []struct {
		pg      bool
		dropped map[int]bool
		want    string
	}{
		{false, nil, "a h b c $7."}, {true, nil, "a py b c $7."}, {false, map[int]bool{2: true}, "a h b d $7."}, {false, map[int]bool{1: true}, "a h e $7."},
	} {
		if got := render(s, c.pg, c.dropped, arg); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
