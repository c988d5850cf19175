package gocode

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// text is a value that a string expression may have, with the position in the sources of each of its bytes.
type text struct {
	value  string
	at     []token.Pos
	joined bool // from several texts
}

// maxTexts bounds the number of texts that one expression may have.
const maxTexts = 32

// unknown is the reason why the text of an expression is not known.
type unknown struct {
	why string
	of  types.Object // the parameter, if the expression is just a parameter
}

// texts returns the texts that e may have, or the reason why they are unknown.
func (f *finder) texts(e ast.Expr) ([]text, *unknown) { return f.textsOf(e, 0) }

func (f *finder) textsOf(e ast.Expr, depth int) ([]text, *unknown) {
	if depth > 50 {
		return nil, &unknown{why: "it refers to itself"}
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.textsOf(e.X, depth+1)
	case *ast.IndexExpr:
		return f.elements(e.X, depth+1)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return []text{literal(e)}, nil
		}
	case *ast.BinaryExpr:
		return f.concatenated(e, depth)
	case *ast.Ident:
		return f.named(e, f.object(e), depth)
	case *ast.SelectorExpr:
		return f.named(e, f.object(e.Sel), depth)
	case *ast.CallExpr:
		return f.called(e, depth)
	}
	return nil, &unknown{why: "it is not a constant"}
}

// concatenated are the texts of x + y.
func (f *finder) concatenated(e *ast.BinaryExpr, depth int) ([]text, *unknown) {
	xs, why := f.textsOf(e.X, depth+1)
	if why != nil {
		return nil, &unknown{why: why.why}
	}
	ys, why := f.textsOf(e.Y, depth+1)
	if why != nil {
		return nil, &unknown{why: why.why}
	}
	if e.Op != token.ADD || len(xs)*len(ys) > maxTexts {
		return nil, &unknown{why: "it is not a constant"}
	}
	return joined(xs, ys), nil
}

// joined returns each of xs with each of ys behind it.
func joined(xs, ys []text) (out []text) {
	for _, x := range xs {
		for _, y := range ys {
			out = append(out, text{x.value + y.value, append(x.at[:len(x.at):len(x.at)], y.at...), true})
		}
	}
	return out
}

// elements returns the texts of all elements of the slice, array or map x.
func (f *finder) elements(x ast.Expr, depth int) (out []text, _ *unknown) {
	literals := []ast.Expr{x}
	if o := f.of(x); o != nil {
		literals = f.values[o]
	}
	for _, l := range literals {
		c, ok := l.(*ast.CompositeLit)
		if !ok {
			return nil, &unknown{why: "it is an element of what the program makes"}
		}
		for _, e := range c.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				e = pair.Value
			}
			ts, why := f.textsOf(e, depth)
			if out = append(out, ts...); why != nil || len(out) > maxTexts {
				return nil, &unknown{why: "an element is not a constant"}
			}
		}
	}
	if len(out) == 0 {
		return nil, &unknown{why: "it is an element of what the program makes"}
	}
	return out, nil
}

// called returns the texts that a call may return: a conversion, or a function of the standard library that combines
// constants.
func (f *finder) called(e *ast.CallExpr, depth int) ([]text, *unknown) {
	name := nameOfFunc(e.Fun)
	if t, ok := f.info.Types[e.Fun]; len(e.Args) == 1 && (ok && t.IsType() || name == "strings.TrimSpace") {
		return f.textsOf(e.Args[0], depth+1)
	}
	if name == "fmt.Sprintf" {
		if value, ok := f.formatted(e.Args, depth); ok {
			return []text{{value, slices.Repeat([]token.Pos{e.Pos()}, len(value)), true}}, nil
		}
	}
	return nil, &unknown{why: fmt.Sprintf("%s makes it when the program runs", name)}
}

// formatted returns what fmt.Sprintf makes of constants.
func (f *finder) formatted(args []ast.Expr, depth int) (string, bool) {
	var given []any
	for _, a := range args {
		if v := f.info.Types[a].Value; v != nil && v.Kind() != constant.String {
			given = append(given, v.ExactString())
			continue
		}
		ts, why := f.textsOf(a, depth+1)
		if why != nil || len(ts) != 1 {
			return "", false
		}
		given = append(given, ts[0].value)
	}
	if len(given) == 0 {
		return "", false
	}
	format := strings.NewReplacer("%%", "%%", "%d", "%s", "%v", "%s").Replace(fmt.Sprint(given[0]))
	out := fmt.Sprintf(format, given[1:]...)
	return out, !strings.Contains(out, "%!")
}

// named returns the texts of the constant or variable o, which e names.
func (f *finder) named(e ast.Expr, o types.Object, depth int) ([]text, *unknown) {
	switch o := o.(type) {
	case *types.Const:
		if value := f.values[o]; len(value) > 0 {
			return f.given(e, o, value, depth)
		}
		if o.Val().Kind() == constant.String { // of iota, or of a conversion
			v := constant.StringVal(o.Val())
			at := make([]token.Pos, len(v))
			for i := range at {
				at[i] = e.Pos()
			}
			return []text{{v, at, false}}, nil
		}
	case *types.Var:
		switch values := f.values[o]; {
		case f.params[o] && (len(f.pieces[o]) > 0 || slices.Contains(values, nil)):
			return nil, &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
		case f.params[o] || len(values) == 0:
			return nil, &unknown{why: fmt.Sprintf("%s gets its value when the program runs", o.Name()), of: o}
		default:
			return f.given(e, o, values, depth)
		}
	}
	return nil, &unknown{why: "it is not a constant"}
}

// given returns the texts that the variable or constant o may hold where e uses it: those of values, all expressions that
// are assigned to it, with the texts that are appended before e.
func (f *finder) given(e ast.Expr, o types.Object, values []ast.Expr, depth int) (out []text, _ *unknown) {
	changes := &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
	if len(f.pieces[o]) > 0 && len(values) > 1 {
		return nil, changes
	}
	for _, v := range values {
		if v == nil || len(out) > maxTexts {
			return nil, changes
		}
		ts, why := f.textsOf(v, depth+1)
		if why != nil {
			return nil, &unknown{why: why.why}
		}
		out = append(out, ts...)
	}
	for _, p := range f.pieces[o] {
		if p.text == nil {
			return nil, changes
		}
		if p.at >= e.Pos() {
			continue
		}
		more, why := f.textsOf(p.text, depth+1)
		if why != nil || len(out)*(len(more)+1) > maxTexts {
			return nil, changes
		}
		if longer := joined(out, more); p.maybe {
			out = append(out, longer...)
		} else {
			out = longer
		}
	}
	return out, nil
}

// nameOfFunc returns the name of a called function as it is written, such as fmt.Sprintf.
func nameOfFunc(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	case *ast.ParenExpr:
		return nameOfFunc(e.X)
	}
	return "a function"
}

// literal is the text of a string literal.
func literal(e *ast.BasicLit) text {
	var b strings.Builder
	var t text
	add := func(s string, offset int) {
		b.WriteString(s)
		for range len(s) {
			t.at = append(t.at, e.ValuePos+token.Pos(offset))
		}
	}
	if body, ok := strings.CutPrefix(e.Value, "`"); ok {
		body = strings.TrimSuffix(body, "`")
		for i := range len(body) {
			add(body[i:i+1], i+1) // the scanner has left out carriage returns
		}
		t.value = b.String()
		return t
	}
	for rest := e.Value[1 : len(e.Value)-1]; rest != ""; {
		offset := len(e.Value) - 1 - len(rest)
		r, multibyte, tail, err := strconv.UnquoteChar(rest, '"')
		switch {
		case err != nil:
			tail = ""
		case multibyte || r < utf8.RuneSelf:
			add(string(r), offset)
		default:
			add(string([]byte{byte(r)}), offset)
		}
		rest = tail
	}
	t.value = b.String()
	return t
}
