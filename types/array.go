package types

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The text of an array's Value holds the number of its dimensions, the lower bound and the length of each, and its
// elements in the form of AppendBinary. The last subscript changes fastest. An array without elements has no dimensions.

// Dim is a dimension of an array.
type Dim struct{ Lower, Len int }

// maxDims is the greatest number of dimensions of an array, as in PostgreSQL.
const maxDims = 6

// ArrayOf returns the type of arrays whose elements have type t; t is not an array type.
func ArrayOf(t Type) Type { return t | array }

// IsArray reports whether t is an array type, INT2VECTOR or OIDVECTOR.
func (t Type) IsArray() bool { return t&array != 0 || t == Int2Vector || t == OIDVector }

// Elem returns the type of the elements of an array type, and Null for any other type.
func (t Type) Elem() Type {
	switch {
	case t == Int2Vector:
		return SmallInt
	case t == OIDVector:
		return OID
	case t&array != 0:
		return t &^ array
	}
	return Null
}

// ElemOrSelf returns the type of the elements of t, or t if it is not an array.
func (t Type) ElemOrSelf() Type {
	if t.IsArray() {
		return t.Elem()
	}
	return t
}

// NewArray returns an array of one dimension with subscripts from 1. Items have type elem or are NULL.
func NewArray(elem Type, items []Value) Value {
	return NewArrayOf(ArrayOf(elem), []Dim{{1, len(items)}}, items)
}

func NewArrayOf(t Type, dims []Dim, items []Value) Value {
	if len(items) == 0 {
		dims = nil
	}
	b := []byte{byte(len(dims))}
	for _, d := range dims {
		b = binary.AppendUvarint(binary.AppendVarint(b, int64(d.Lower)), uint64(d.Len))
	}
	for _, x := range items {
		b = x.AppendBinary(b)
	}
	return Value{typ: t, s: string(b)}
}

// dimsOf decodes the dimensions of an array from b, its text or the beginning of it, and returns the bytes of its
// elements.
func dimsOf(b []byte) (dims []Dim, rest []byte) {
	if len(b) == 0 {
		return nil, nil
	}
	dims, rest = make([]Dim, 0, b[0]), b[1:]
	for range int(b[0]) {
		lower, n := binary.Varint(rest)
		if n <= 0 {
			return nil, nil
		}
		length, m := binary.Uvarint(rest[n:])
		if m <= 0 {
			return nil, nil
		}
		dims, rest = append(dims, Dim{int(lower), int(length)}), rest[n+m:]
	}
	return dims, rest
}

// Dims returns the dimensions of an array.
func (v Value) Dims() []Dim {
	dims, _ := dimsOf([]byte(v.s[:min(len(v.s), 1+maxDims*2*binary.MaxVarintLen64)]))
	return dims
}

// Len returns the number of elements of an array, or 0 for other values.
func (v Value) Len() int {
	if !v.typ.IsArray() {
		return 0
	}
	return size(v.Dims())
}

// Items returns the elements of an array; the last subscript changes fastest.
func (v Value) Items() []Value {
	dims, rest := dimsOf([]byte(v.s))
	out := make([]Value, 0, size(dims))
	for len(rest) > 0 {
		x, more, err := DecodeBinary(rest)
		if err != nil {
			return out
		}
		out, rest = append(out, x), more
	}
	return out
}

// size returns the number of elements of an array with dims.
func size(dims []Dim) int {
	if len(dims) == 0 {
		return 0
	}
	n := 1
	for _, d := range dims {
		n *= d.Len
	}
	return n
}

// compareArrays compares the elements, with NULL above all others, then their number and their subscripts.
func compareArrays(a, b Value) (int, error) {
	x, y := a.Items(), b.Items()
	for i := range min(len(x), len(y)) {
		switch {
		case x[i].IsNull() || y[i].IsNull():
			if c := Bit(x[i].IsNull()) - Bit(y[i].IsNull()); c != 0 {
				return c, nil
			}
		default:
			if c, err := Compare(x[i], y[i]); c != 0 || err != nil {
				return c, err
			}
		}
	}
	if c := cmp.Compare(len(x), len(y)); c != 0 {
		return c, nil
	}
	p, q := a.Dims(), b.Dims()
	if c := cmp.Compare(len(p), len(q)); c != 0 {
		return c, nil
	}
	return slices.CompareFunc(p, q, func(d, e Dim) int { return cmp.Or(cmp.Compare(d.Len, e.Len), cmp.Compare(d.Lower, e.Lower)) }), nil
}

func (v Value) appendArrayKey(dst []byte) []byte {
	dims := v.Dims()
	dst = append(dst, byte(len(dims)))
	for _, d := range dims {
		dst = appendUint64(appendUint64(dst, uint64(d.Lower)), uint64(d.Len))
	}
	for _, x := range v.Items() {
		dst = x.AppendKey(dst)
	}
	return dst
}

// retyped returns v, an array of type t, with each element converted by f.
func (v Value) retyped(t Type, f func(Value) (Value, error)) (Value, error) {
	dims, items := v.Dims(), v.Items()
	for i, x := range items {
		if x.IsNull() {
			continue
		}
		y, err := f(x)
		if err != nil {
			return Value{}, err
		}
		items[i] = y
	}
	return NewArrayOf(t, dims, items), nil
}

// toArray casts v to an array type.
func toArray(v Value, to Type, loc *time.Location) (Value, error) {
	elem := to.Elem()
	element := func(x Value) (Value, error) { return Cast(x, elem, loc) }
	switch {
	case v.typ.IsArray():
		return v.retyped(to, element)
	case v.typ.IsJSON():
		tree := readJSON(v.s)
		switch tree.Kind {
		case JSONNull:
			return Value{}, nil
		case JSONArray:
		default:
			return Value{}, fmt.Errorf("%s is no JSON array", Short(v.s))
		}
		items := make([]Value, len(tree.Items))
		for i, x := range tree.Items {
			var err error
			if x.Kind == JSONString {
				items[i], err = element(NewString(x.Text))
			} else if x.Kind != JSONNull {
				items[i], err = element(x.Value())
			}
			if err != nil {
				return Value{}, err
			}
		}
		return NewArray(elem, items), nil
	case !v.typ.IsText():
		return Value{}, fmt.Errorf("%s cannot be cast to %s", v.typ, to)
	case to == Int2Vector || to == OIDVector:
		var items []Value
		for _, word := range strings.Fields(v.s) {
			x, err := element(NewString(word))
			if err != nil {
				return x, err
			}
			items = append(items, x)
		}
		return NewArrayOf(to, []Dim{{0, len(items)}}, items), nil
	}
	r := arrayReader{text: v.s, element: element}
	dims, items, err := r.read()
	if err != nil {
		return Value{}, fmt.Errorf("invalid array %s: %w", Short(v.s), err)
	}
	return NewArrayOf(to, dims, items), nil
}

// castElement returns the text of an element in an array's CAST to text.
func castElement(x Value, loc *time.Location) (string, error) {
	if x.typ == Boolean || x.typ == Bytes {
		return x.elementText(loc), nil
	}
	s, err := Cast(x, String, loc)
	return s.s, err
}

// elementText returns the text of an element, as PostgreSQL writes it and Cast reads it.
func (v Value) elementText(loc *time.Location) string {
	switch v.typ {
	case Boolean:
		return v.Format(loc)[:1]
	case Bytes:
		return fmt.Sprintf(`\x%x`, v.s)
	}
	return v.Format(loc)
}

// ArrayText writes an array as PostgreSQL does; text returns the text of an element.
func (v Value) ArrayText(text func(Value) (string, error)) string {
	dims, items := v.Dims(), v.Items()
	write := func(b *strings.Builder, x Value) {
		s, err := text(x)
		switch {
		case x.IsNull():
			s = "NULL"
		case err != nil:
			s = x.String()
		}
		if !x.IsNull() && v.typ&array != 0 && (s == "" || strings.EqualFold(s, "NULL") || strings.ContainsAny(s, "{},\"\\ \t\n\r\v\f")) {
			s = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
		}
		b.WriteString(s)
	}
	var b strings.Builder
	if v.typ&array == 0 {
		for i, x := range items {
			if i > 0 {
				b.WriteByte(' ')
			}
			write(&b, x)
		}
		return b.String()
	}
	if len(dims) == 0 {
		return "{}"
	}
	if slices.ContainsFunc(dims, func(d Dim) bool { return d.Lower != 1 }) {
		for _, d := range dims {
			fmt.Fprintf(&b, "[%d:%d]", d.Lower, d.Lower+d.Len-1)
		}
		b.WriteByte('=')
	}
	writeNested(&b, "{}", dims, items, write)
	return b.String()
}

// writeNested writes items in the brackets of their dimensions.
func writeNested[B interface{ WriteByte(byte) error }](b B, brackets string, dims []Dim, items []Value, write func(B, Value)) {
	_ = b.WriteByte(brackets[0])
	part := len(items) / dims[0].Len
	for i := range dims[0].Len {
		if i > 0 {
			_ = b.WriteByte(',')
		}
		if len(dims) == 1 {
			write(b, items[i])
			continue
		}
		writeNested(b, brackets, dims[1:], items[i*part:(i+1)*part], write)
	}
	_ = b.WriteByte(brackets[1])
}

func (v Value) appendArrayJSON(dst []byte) []byte {
	dims, items := v.Dims(), v.Items()
	if len(dims) == 0 {
		return append(dst, "[]"...)
	}
	var b strings.Builder
	writeNested(&b, "[]", dims, items, func(b *strings.Builder, x Value) { b.Write(x.AppendJSON(nil)) })
	return append(dst, b.String()...)
}

// arrayReader reads the text of an array: {1,2}, {{a,"b c"},{NULL,d}}, [0:1]={1,2}.
type arrayReader struct {
	text    string
	at      int
	element func(Value) (Value, error)
	dims    []Dim
	items   []Value
}

func (r *arrayReader) skip() {
	for r.at < len(r.text) && strings.IndexByte(" \t\n\r\v\f", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *arrayReader) accept(c byte) bool {
	if r.skip(); r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *arrayReader) read() (dims []Dim, items []Value, err error) {
	bounds, err := r.bounds()
	if err != nil {
		return nil, nil, err
	}
	if !r.accept('{') {
		return nil, nil, fmt.Errorf(`it must begin with "{"`)
	}
	if err = r.nested(0); err != nil {
		return nil, nil, err
	}
	if r.skip(); r.at < len(r.text) {
		return nil, nil, fmt.Errorf(`text follows the last "}"`)
	}
	if bounds == nil || len(r.items) == 0 {
		return r.dims, r.items, nil
	}
	if !slices.EqualFunc(bounds, r.dims, func(a, b Dim) bool { return a.Len == b.Len }) {
		return nil, nil, fmt.Errorf("its dimensions differ from the bounds before it")
	}
	return bounds, r.items, nil
}

// bounds reads the bounds before the elements: [0:2][1:3]=.
func (r *arrayReader) bounds() (out []Dim, err error) {
	for r.accept('[') {
		end := strings.IndexByte(r.text[r.at:], ']')
		if end < 0 {
			return nil, fmt.Errorf(`"]" is missing`)
		}
		from, to, ok := strings.Cut(r.text[r.at:r.at+end], ":")
		if !ok {
			from, to = "1", from
		}
		lo, err1 := strconv.ParseInt(strings.TrimSpace(from), 10, 32)
		hi, err2 := strconv.ParseInt(strings.TrimSpace(to), 10, 32)
		if err1 != nil || err2 != nil || hi < lo || len(out) == maxDims {
			return nil, fmt.Errorf("its bounds must be two numbers, the lower one first")
		}
		out, r.at = append(out, Dim{int(lo), int(hi - lo + 1)}), r.at+end+1
	}
	if out != nil && !r.accept('=') {
		return nil, fmt.Errorf(`"=" is missing after its bounds`)
	}
	return out, nil
}

// nested reads the elements after the "{" of dimension depth.
func (r *arrayReader) nested(depth int) error {
	if depth == maxDims {
		return fmt.Errorf("it has more than %d dimensions", maxDims)
	}
	deepest := len(r.items) == 0 && depth == len(r.dims)
	if deepest {
		r.dims = append(r.dims, Dim{1, -1})
	}
	n := 0
	if !r.accept('}') {
		for {
			nested := r.accept('{')
			if depth >= len(r.dims) || nested && len(r.items) > 0 && depth == len(r.dims)-1 || !nested && depth != len(r.dims)-1 {
				return fmt.Errorf("its parts have different dimensions")
			}
			err := error(nil)
			if nested {
				err = r.nested(depth + 1)
			} else {
				err = r.item()
			}
			if err != nil {
				return err
			}
			if n++; r.accept('}') {
				break
			}
			if !r.accept(',') {
				return fmt.Errorf(`"}" is missing`)
			}
		}
	} else if depth > 0 || len(r.items) > 0 {
		if n == 0 && depth > 0 {
			return fmt.Errorf("a part of it is empty")
		}
	}
	if r.dims[depth].Len < 0 {
		r.dims[depth].Len = n
	}
	if r.dims[depth].Len != n {
		return fmt.Errorf("its parts have different lengths")
	}
	return nil
}

func (r *arrayReader) item() error {
	r.skip()
	var b strings.Builder
	quoted, kept := false, 0 // length of the element without trailing spaces
	for r.at < len(r.text) {
		c := r.text[r.at]
		switch {
		case c == '\\':
			if r.at++; r.at == len(r.text) {
				return fmt.Errorf(`it ends with "\"`)
			}
			b.WriteByte(r.text[r.at])
			r.at, kept, quoted = r.at+1, b.Len(), true
			continue
		case c == '"':
			if err := r.quoted(&b); err != nil {
				return err
			}
			quoted, kept = true, b.Len()
			continue
		case c == ',' || c == '}':
			s := b.String()
			s = s[:max(kept, len(strings.TrimRight(s, " \t\n\r\v\f")))]
			if s == "" && !quoted {
				return fmt.Errorf("an element is missing")
			}
			v := Value{}
			if quoted || !strings.EqualFold(s, "NULL") {
				var err error
				if v, err = r.element(NewString(s)); err != nil {
					return err
				}
			}
			r.items = append(r.items, v)
			return nil
		case c == '{':
			return fmt.Errorf(`an element contains "{" without quotes`)
		}
		b.WriteByte(c)
		r.at++
	}
	return fmt.Errorf(`"}" is missing`)
}

// quoted reads "..." and removes its backslashes.
func (r *arrayReader) quoted(b *strings.Builder) error {
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case '"':
			r.at++
			return nil
		case '\\':
			if r.at++; r.at == len(r.text) {
				return fmt.Errorf(`it ends with "\"`)
			}
			b.WriteByte(r.text[r.at])
		default:
			b.WriteByte(c)
		}
	}
	return fmt.Errorf("a quote is not closed")
}
