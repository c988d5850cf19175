package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/types"
)

// String formats the reads of s: a line for the access and one for each span.
func (s *Scan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s)", s.Access, s.Table.Name, s.Layout.Name)
	for _, sp := range s.Spans {
		fmt.Fprintf(&b, "\n  %s", sp.Over(s.Layout))
	}
	if s.Hop != nil {
		fmt.Fprintf(&b, "\n  %s", s.Hop.Over(s.Layout))
	}
	return b.String()
}

// Over prints where a scan of l reads after each value to which it hops:
//
//	/*/* [/5 - /9]     behind the first two parts
//	/*/* ended         keys that end before the second
func (h *Hop) Over(l *catalog.Layout) string {
	tails := catalog.Layout{Stored: &catalog.Composite{Parts: []*catalog.Part{{Literal: []byte{}}}}, Key: &catalog.Composite{Parts: l.Key.Parts[h.Parts:]}}
	text := strings.Repeat("/*", h.Parts)
	if h.Ended {
		text += " ended"
	}
	for _, t := range h.Tails {
		text += " " + t.Over(&tails)
	}
	return text
}

// Over prints a span of l as values of the key's parts:
//
//	/1/'x'                    the one key of 1 and 'x'
//	[/1/'x' - /3)             from the first key that begins with 1 and 'x' to below the first that begins with 3
//	[/1 - /1]                 up to the last key that begins with 1
//	[ - /3)                   all keys below 3
//	[/1/'x'% - /1/'x'%]       'x'% is the start of a text of fixed width
//	[/1/0x7C - )              0x7C is a literal of the key, or bytes that no value of the part has
//	events_2024 [/1 - /1]     of the HBase table events_2024, where the layout has several; * means each of them
//	[ - ) from /0x80          the rows from /0x80 on come before those below it: see SignSplit
func (sp Span) Over(l *catalog.Layout) string {
	var b strings.Builder
	if len(l.Stored.Parts) > 1 || l.Stored.Parts[0].Literal == nil {
		b.WriteString(cmp.Or(sp.Table, "*") + " ")
	}
	start := tupleOf(l.Key, sp.Start, sp.Key)
	if sp.Key {
		return b.String() + cmp.Or(start.text, "/")
	}
	fmt.Fprintf(&b, "[%s - %s", start.text, endText(l.Key, sp.Start, sp.Stop))
	if len(sp.SignSplit) > 0 {
		b.WriteString(" from " + tupleOf(l.Key, sp.SignSplit, false).text)
	}
	return b.String()
}

// endText prints the end of a span. If possible, it prints the values with which the span's last keys begin: they must
// also begin the span, or be numbers, which have a predecessor. Otherwise it prints the values of the first key after the
// span.
func endText(k *catalog.Composite, start, stop []byte) string {
	if len(stop) == 0 {
		return ")"
	}
	last := bytes.Clone(stop)
	last[len(last)-1]-- // keys before stop begin with these bytes; 0xFF bytes may follow
	for range 16 {
		if bytes.Equal(types.PrefixEnd(last), stop) {
			if t := tupleOf(k, last, false); bytes.HasPrefix(start, last) || t.countable {
				return t.text + "]"
			}
		}
		last = append(last, 0xff)
	}
	return tupleOf(k, stop, false).text + ")"
}

// tuple is the beginning of a key as values of its parts.
type tuple struct {
	text      string
	countable bool // the last value has a successor
}

// tupleOf decodes key, which is a whole key or the beginning of one.
func tupleOf(k *catalog.Composite, key []byte, whole bool) (t tuple) {
	at, ends := 0, k.Ends(key, whole)
	for i, p := range k.Parts {
		if at == len(key) {
			break
		}
		end := len(key)
		if i < len(ends) {
			end = ends[i]
		}
		text, isValue := element(p, key[at:end])
		t.text += "/" + text
		t.countable = isValue && !isText(p)
		at = end
	}
	if at < len(key) {
		t = tuple{text: t.text + fmt.Sprintf("/0x%X", key[at:])}
	}
	return t
}

func isText(p *catalog.Part) bool { return p.Expr.Type().IsText() || p.Expr.Type() == types.Bytes }

// element formats bytes of p: as a value, if they encode one that SQL can write.
func element(p *catalog.Part, b []byte) (text string, isValue bool) {
	if p.Literal == nil {
		if v, err := p.Decode(b); err == nil {
			read, err1 := readAgain(v)
			again, err2 := p.Append(nil, read)
			if err1 == nil && err2 == nil && bytes.Equal(again, b) {
				return literal(v), true
			}
		}
		if isText(p) && utf8.Valid(b) {
			return literal(types.NewString(string(b))) + "%", false
		}
	}
	return fmt.Sprintf("0x%X", b), false
}

// readAgain returns v as parsed from its text. Some values differ or fail: moments far from now; a DECIMAL whose last
// digits before the point are unknown, such as -1E1; a FLOAT with a value outside its range; and JSON, whose bytes can
// only end a range.
func readAgain(v types.Value) (types.Value, error) {
	if !v.Type().IsNumeric() && !v.Type().IsTemporal() && !v.Type().IsJSON() {
		return v, nil
	}
	return types.Cast(types.NewString(v.String()), v.Type(), nil)
}

// literal formats v as SQL with printable characters only.
func literal(v types.Value) string {
	text := v.SQL()
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return text
	}
	var b strings.Builder
	b.WriteString("E'")
	for _, c := range []byte(v.Text()) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c > 0x7e:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
