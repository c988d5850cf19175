package types

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// JSONKind is the kind of a JSON value.
type JSONKind uint8

// The kinds, in PostgreSQL's order.
const (
	JSONNull JSONKind = iota
	JSONString
	JSONNumber
	JSONBoolean
	JSONArray
	JSONObject
)

// JSONTree is a JSON value with the rules of JSONB: of members with the same name only the last is kept, and members are
// sorted by the length of their names, then bytewise.
type JSONTree struct {
	Kind  JSONKind
	Text  string // the text of a string; "true" or "false" for a boolean
	Num   *apd.Decimal
	Names []string // the names of an object's members
	Items []JSONTree
}

// ReadJSON reads text; ok is false if it is not JSON.
func ReadJSON(text string) (n JSONTree, ok bool) {
	if !json.Valid([]byte(text)) {
		return n, false
	}
	return readJSON(text), true
}

// readJSON reads valid JSON.
func readJSON(text string) (n JSONTree) {
	switch text = strings.Trim(text, " \t\r\n"); text[0] {
	case '{', '[':
		names, parts := jsonParts(text)
		n.Kind, n.Names, n.Items = JSONArray, names, make([]JSONTree, len(parts))
		for i, part := range parts {
			n.Items[i] = readJSON(part)
		}
		if text[0] == '{' {
			n.Kind = JSONObject
			n.sortMembers()
		}
	case '"':
		r := jsonReader{rest: text}
		n.Kind, n.Text = JSONString, r.text()
	case 't', 'f':
		n.Kind, n.Text = JSONBoolean, text
	case 'n':
	default:
		n.Kind, n.Text = JSONNumber, text
		n.Num, _, _ = apd.NewFromString(text)
	}
	return n
}

// jsonReader reads values from valid JSON.
type jsonReader struct{ rest string }

// JSONParts returns the names and the texts of an object's members, or nil and the texts of an array's elements; of
// members with the same name only the last. ok is false if text is neither.
func JSONParts(text string) (names, parts []string, ok bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	if !json.Valid([]byte(text)) || text[0] != '{' && text[0] != '[' {
		return nil, nil, false
	}
	names, parts = jsonParts(text)
	last := make(map[string]int, len(names))
	for i, name := range names {
		last[name] = i
	}
	for i := len(names) - 1; i >= 0 && len(last) < len(names); i-- {
		if last[names[i]] != i {
			names, parts = slices.Delete(names, i, i+1), slices.Delete(parts, i, i+1)
		}
	}
	return names, parts, true
}

// jsonParts splits an object or an array, which is valid JSON.
func jsonParts(text string) (names, parts []string) {
	if text[0] == '{' {
		names = []string{}
	}
	for r := (jsonReader{rest: text[1:]}); strings.IndexByte("}]", r.next(",")) < 0; parts = append(parts, r.skip()) {
		if names != nil {
			names = append(names, r.text())
			r.next(":")
		}
	}
	return names, parts
}

// skip returns the text of the next value.
func (r *jsonReader) skip() string {
	s, depth, quoted, i := r.rest, 0, false, 0
	for ; quoted || depth > 0 || strings.IndexByte(",}]", s[i]) < 0; i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '{' || c == '['):
			depth++
		case !quoted && (c == '}' || c == ']'):
			depth--
		}
	}
	r.rest = s[i:]
	return strings.TrimRight(s[:i], " \t\r\n")
}

// next skips to the next character that is not in set, and returns it.
func (r *jsonReader) next(set string) byte {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n"+set)
	return r.rest[0]
}

func (r *jsonReader) text() string {
	end := 1
	for ; r.rest[end] != '"'; end++ {
		if r.rest[end] == '\\' {
			end++
		}
	}
	s, err := UnquoteJSON(r.rest[:end+1])
	if err != nil {
		s = r.rest[1:end]
	}
	r.rest = r.rest[end+1:]
	return s
}

func (n *JSONTree) sortMembers() {
	last := map[string]int{}
	for i, name := range n.Names {
		last[name] = i
	}
	n.Names = slices.SortedFunc(maps.Keys(last), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	items := make([]JSONTree, len(n.Names))
	for i, name := range n.Names {
		items[i] = n.Items[last[name]]
	}
	n.Items = items
}

// compareJSON orders JSON as JSONB's operators do. Texts that are not JSON come last.
func compareJSON(a, b string) int {
	if a == b {
		return 0
	}
	x, okX := ReadJSON(a)
	y, okY := ReadJSON(b)
	if !okX || !okY {
		return cmp.Or(Bit(!okX)-Bit(!okY), strings.Compare(a, b))
	}
	if emptyX, emptyY := x.Kind == JSONArray && len(x.Items) == 0, y.Kind == JSONArray && len(y.Items) == 0; emptyX != emptyY &&
		x.Kind != JSONObject && y.Kind != JSONObject && (x.Kind != y.Kind) { // an empty array is less than any value that is not an array
		return Bit(emptyY) - Bit(emptyX)
	}
	return x.Compare(y)
}

// Compare orders n and o as JSONB's operators do, except for empty arrays.
func (n JSONTree) Compare(o JSONTree) int {
	if n.Kind != o.Kind {
		return cmp.Compare(n.Kind, o.Kind)
	}
	switch n.Kind {
	case JSONNumber:
		return n.Num.Cmp(o.Num)
	case JSONString:
		return strings.Compare(n.Text, o.Text)
	case JSONBoolean:
		return Bit(n.Text == "true") - Bit(o.Text == "true")
	}
	if c := cmp.Compare(len(n.Items), len(o.Items)); c != 0 {
		return c
	}
	for i := range n.Items {
		if n.Kind == JSONObject {
			if c := strings.Compare(n.Names[i], o.Names[i]); c != 0 {
				return c
			}
		}
		if c := n.Items[i].Compare(o.Items[i]); c != 0 {
			return c
		}
	}
	return 0
}

// Member returns the member of an object with this name; nil if there is none.
func (n *JSONTree) Member(name string) *JSONTree {
	if i := slices.Index(n.Names, name); i >= 0 {
		return &n.Items[i]
	}
	return nil
}

// Add adds a member to an object.
func (n *JSONTree) Add(name string, x JSONTree) {
	n.Names, n.Items = append(n.Names, name), append(n.Items, x)
	n.sortMembers()
}

// Value returns n as JSONB.
func (n JSONTree) Value() Value { return Value{typ: JSONB, s: string(n.append(nil, false, ""))} }

// Pretty returns n in lines.
func (n JSONTree) Pretty() string { return string(n.append(nil, false, "\n")) }

// normalJSON returns the text of a JSONB; a text that is not JSON stays as it is.
func normalJSON(text string) string {
	if n, ok := ReadJSON(text); ok {
		return n.Value().s
	}
	return text
}

// append writes n as PostgreSQL writes a JSONB; with key set, equal values have equal bytes. line is "", or what begins a line:
// a line feed, and the blanks in front of n.
func (n JSONTree) append(dst []byte, key bool, line string) []byte {
	switch n.Kind {
	case JSONNull:
		return append(dst, "null"...)
	case JSONString:
		return appendJSONString(dst, n.Text)
	case JSONBoolean:
		return append(dst, n.Text...)
	case JSONNumber:
		switch {
		case key:
			return append(dst, reduced(n.Num).Text('E')...)
		case n.Num.Exponent > 6144 || n.Num.Exponent < -6144:
			return append(dst, n.Text...)
		}
		return append(dst, NewDecimal(n.Num).d.Text('f')...)
	}
	ends := "[]"
	if n.Kind == JSONObject {
		ends = "{}"
	}
	inner, comma := "", ", "
	if line != "" {
		inner, comma = line+"    ", ","
	}
	dst = append(dst, ends[0])
	for i, x := range n.Items {
		if i > 0 {
			dst = append(dst, comma...)
		}
		dst = append(dst, inner...)
		if n.Kind == JSONObject {
			dst = append(appendJSONString(dst, n.Names[i]), ": "...)
		}
		dst = x.append(dst, key, inner)
	}
	return append(append(dst, line...), ends[1])
}

// reduced returns d without trailing zeros, and 0 for -0.
func reduced(d *apd.Decimal) *apd.Decimal {
	out := new(apd.Decimal)
	if d.IsZero() {
		return out
	}
	out.Reduce(d)
	return out
}

// jsonKey returns a text that is equal for equal JSON values.
func jsonKey(text string) string {
	if n, ok := ReadJSON(text); ok {
		return string(n.append(nil, true, ""))
	}
	return "!" + text
}

// ConcatJSON returns a || b: the members of two objects, where b's replace a's, or the elements of two arrays; a value
// that is not an array counts as an array of one element.
func ConcatJSON(a, b Value) (Value, bool) {
	x, okX := ReadJSON(a.s)
	y, okY := ReadJSON(b.s)
	if !okX || !okY {
		return Value{}, false
	}
	if x.Kind == JSONObject && y.Kind == JSONObject {
		x.Names, x.Items = append(x.Names, y.Names...), append(x.Items, y.Items...)
		x.sortMembers()
		return x.Value(), true
	}
	out := JSONTree{Kind: JSONArray}
	for _, n := range []JSONTree{x, y} {
		if n.Kind == JSONArray {
			out.Items = append(out.Items, n.Items...)
		} else {
			out.Items = append(out.Items, n)
		}
	}
	return out.Value(), true
}
