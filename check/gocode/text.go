package gocode

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"unicode/utf8"
)

// text is a text of the program, with the place in the sources of each of its bytes.
type text struct {
	value  string
	at     []token.Pos
	joined bool // from several texts
}

// maxTexts bounds the texts that one expression may be.
const maxTexts = 32

// unknown says why the text of an expression is not known.
type unknown struct {
	why string
	of  types.Object // a parameter that it is, by itself
}

// texts are the texts that e may be, or why they are not known.
func (f *finder) texts(e ast.Expr) ([]text, *unknown) { return f.textsOf(e, 0) }

func (f *finder) textsOf(e ast.Expr, depth int) ([]text, *unknown) {
	if depth > 50 {
		return nil, &unknown{why: "it refers to itself"}
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.textsOf(e.X, depth+1)
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
	var out []text
	for _, x := range xs {
		for _, y := range ys {
			out = append(out, text{x.value + y.value, append(x.at[:len(x.at):len(x.at)], y.at...), true})
		}
	}
	return out, nil
}

// called are the texts that a call gives: a conversion, or strings.TrimSpace.
func (f *finder) called(e *ast.CallExpr, depth int) ([]text, *unknown) {
	name := nameOfFunc(e.Fun)
	if t, ok := f.info.Types[e.Fun]; len(e.Args) == 1 && (ok && t.IsType() || name == "strings.TrimSpace") {
		return f.textsOf(e.Args[0], depth+1)
	}
	return nil, &unknown{why: fmt.Sprintf("%s makes it when the program runs", name)}
}

// named are the texts of a constant or of a variable.
func (f *finder) named(e ast.Expr, o types.Object, depth int) ([]text, *unknown) {
	switch o := o.(type) {
	case *types.Const:
		if value := f.values[o]; len(value) == 1 && value[0] != nil {
			return f.textsOf(value[0], depth+1)
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
		values := f.values[o]
		if len(values) == 0 {
			return nil, &unknown{why: fmt.Sprintf("%s gets its value when the program runs", o.Name()), of: o}
		}
		var out []text
		for _, v := range values {
			if v == nil || len(out) > maxTexts {
				return nil, &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
			}
			more, why := f.textsOf(v, depth+1)
			if why != nil {
				return nil, &unknown{why: why.why}
			}
			out = append(out, more...)
		}
		return out, nil
	}
	return nil, &unknown{why: "it is not a constant"}
}

// nameOfFunc is the name of a called function as it is written: fmt.Sprintf.
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
