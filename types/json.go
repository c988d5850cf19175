package types

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// The kinds of JSON values, in PostgreSQL's order.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonString
	jsonNumber
	jsonBoolean
	jsonArray
	jsonObject
)

// jsonNode is a JSON value with the rules of JSONB: of members with the same name only the last is kept, and members are
// sorted by the length of their names, then bytewise.
type jsonNode struct {
	kind  jsonKind
	text  string // the text of a string; "true" or "false" for a boolean
	num   *apd.Decimal
	names []string // the names of an object's members
	items []jsonNode
}

// readJSON reads text; ok is false if it is not JSON.
func readJSON(text string) (n jsonNode, ok bool) {
	if !json.Valid([]byte(text)) {
		return n, false
	}
	r := jsonReader{rest: text}
	return r.value(), true
}

// jsonReader reads values from valid JSON.
type jsonReader struct{ rest string }

// next skips to the next character that is not in set, and returns it.
func (r *jsonReader) next(set string) byte {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n"+set)
	return r.rest[0]
}

func (r *jsonReader) value() (n jsonNode) {
	switch c := r.next(""); c {
	case '{':
		n.kind, r.rest = jsonObject, r.rest[1:]
		for r.next(",") != '}' {
			name := r.text()
			r.next(":")
			n.names, n.items = append(n.names, name), append(n.items, r.value())
		}
		r.rest = r.rest[1:]
		n.sortMembers()
	case '[':
		n.kind, r.rest = jsonArray, r.rest[1:]
		for r.next(",") != ']' {
			n.items = append(n.items, r.value())
		}
		r.rest = r.rest[1:]
	case '"':
		n.kind, n.text = jsonString, r.text()
	default:
		end := strings.IndexAny(r.rest, " \t\r\n,]}")
		if end < 0 {
			end = len(r.rest)
		}
		word := r.rest[:end]
		r.rest = r.rest[end:]
		switch c {
		case 'n':
		case 't', 'f':
			n.kind, n.text = jsonBoolean, word
		default:
			n.kind, n.text = jsonNumber, word
			n.num, _, _ = apd.NewFromString(word)
		}
	}
	return n
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

func (n *jsonNode) sortMembers() {
	order := make([]int, 0, len(n.names))
	last := map[string]int{}
	for i, name := range n.names {
		last[name] = i
	}
	for i, name := range n.names {
		if last[name] == i {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(n.names[a]), len(n.names[b])), strings.Compare(n.names[a], n.names[b]))
	})
	names, items := make([]string, len(order)), make([]jsonNode, len(order))
	for to, from := range order {
		names[to], items[to] = n.names[from], n.items[from]
	}
	n.names, n.items = names, items
}

// compareJSON orders JSON as JSONB's operators do. Texts that are not JSON come last.
func compareJSON(a, b string) int {
	if a == b {
		return 0
	}
	x, okX := readJSON(a)
	y, okY := readJSON(b)
	if !okX || !okY {
		return cmp.Or(btoi(!okX)-btoi(!okY), strings.Compare(a, b))
	}
	if emptyX, emptyY := x.kind == jsonArray && len(x.items) == 0, y.kind == jsonArray && len(y.items) == 0; emptyX != emptyY &&
		x.kind != jsonObject && y.kind != jsonObject && (x.kind != y.kind) { // an empty array is less than any value that is not an array
		return btoi(emptyY) - btoi(emptyX)
	}
	return x.compare(y)
}

func (n jsonNode) compare(o jsonNode) int {
	if n.kind != o.kind {
		return cmp.Compare(n.kind, o.kind)
	}
	switch n.kind {
	case jsonNumber:
		return n.num.Cmp(o.num)
	case jsonString:
		return strings.Compare(n.text, o.text)
	case jsonBoolean:
		return btoi(n.text == "true") - btoi(o.text == "true")
	}
	if c := cmp.Compare(len(n.items), len(o.items)); c != 0 {
		return c
	}
	for i := range n.items {
		if n.kind == jsonObject {
			if c := strings.Compare(n.names[i], o.names[i]); c != 0 {
				return c
			}
		}
		if c := n.items[i].compare(o.items[i]); c != 0 {
			return c
		}
	}
	return 0
}

// append writes n without spaces; with key set, equal values have equal bytes.
func (n jsonNode) append(dst []byte, key bool) []byte {
	switch n.kind {
	case jsonNull:
		return append(dst, "null"...)
	case jsonString:
		return appendJSONString(dst, n.text)
	case jsonBoolean:
		return append(dst, n.text...)
	case jsonNumber:
		switch {
		case key:
			return append(dst, reduced(n.num).Text('E')...)
		case n.num.Exponent > 6144 || n.num.Exponent < -6144:
			return append(dst, n.text...)
		}
		return append(dst, NewDecimal(n.num).d.Text('f')...)
	}
	ends := "[]"
	if n.kind == jsonObject {
		ends = "{}"
	}
	dst = append(dst, ends[0])
	for i, x := range n.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == jsonObject {
			dst = append(appendJSONString(dst, n.names[i]), ':')
		}
		dst = x.append(dst, key)
	}
	return append(dst, ends[1])
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
	if n, ok := readJSON(text); ok {
		return string(n.append(nil, true))
	}
	return "!" + text
}

// ConcatJSON returns a || b: the members of two objects, where b's replace a's, or the elements of two arrays; a value
// that is not an array counts as an array of one element.
func ConcatJSON(a, b Value) (Value, bool) {
	x, okX := readJSON(a.s)
	y, okY := readJSON(b.s)
	if !okX || !okY {
		return Value{}, false
	}
	if x.kind == jsonObject && y.kind == jsonObject {
		x.names, x.items = append(x.names, y.names...), append(x.items, y.items...)
		x.sortMembers()
		return NewJSON(string(x.append(nil, false))), true
	}
	out := jsonNode{kind: jsonArray}
	for _, n := range []jsonNode{x, y} {
		if n.kind == jsonArray {
			out.items = append(out.items, n.items...)
		} else {
			out.items = append(out.items, n)
		}
	}
	return NewJSON(string(out.append(nil, false))), true
}
