package gocode

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"unicode/utf8"
)

// text is a value that a string expression may have.
type text struct {
	value   string
	pos     token.Pos     // where it begins in the sources
	literal *ast.BasicLit // nil: it is put together from several texts
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
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			value, err := strconv.Unquote(e.Value)
			if err != nil {
				return nil, &unknown{why: "it is no text of Go"}
			}
			return []text{{value, e.Pos(), e}}, nil
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
func (f *finder) concatenated(e *ast.BinaryExpr, depth int) (out []text, _ *unknown) {
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
	for _, x := range xs {
		for _, y := range ys {
			out = append(out, text{x.value + y.value, x.pos, nil})
		}
	}
	return out, nil
}

// called returns the texts of a conversion, or of strings.TrimSpace.
func (f *finder) called(e *ast.CallExpr, depth int) ([]text, *unknown) {
	name := types.ExprString(e.Fun)
	if t, ok := f.info.Types[e.Fun]; len(e.Args) == 1 && (ok && t.IsType() || name == "strings.TrimSpace") {
		return f.textsOf(e.Args[0], depth+1)
	}
	return nil, &unknown{why: fmt.Sprintf("%s makes it when the program runs", name)}
}

// named returns the texts of the constant or variable o, which e names.
func (f *finder) named(e ast.Expr, o types.Object, depth int) ([]text, *unknown) {
	switch o := o.(type) {
	case *types.Const:
		if value := f.values[o]; len(value) > 0 {
			return f.given(o, value, depth)
		}
		if o.Val().Kind() == constant.String { // of iota, or of a conversion
			return []text{{constant.StringVal(o.Val()), e.Pos(), nil}}, nil
		}
	case *types.Var:
		switch values := f.values[o]; {
		case f.params[o] && slices.Contains(values, nil):
			return nil, &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
		case f.params[o] || len(values) == 0:
			return nil, &unknown{why: fmt.Sprintf("%s gets its value when the program runs", o.Name()), of: o}
		default:
			return f.given(o, values, depth)
		}
	}
	return nil, &unknown{why: "it is not a constant"}
}

// given returns the texts that the variable or constant o may hold: those of values, all expressions that are assigned to it.
func (f *finder) given(o types.Object, values []ast.Expr, depth int) (out []text, _ *unknown) {
	for _, v := range values {
		if v == nil || len(out) > maxTexts {
			return nil, &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
		}
		ts, why := f.textsOf(v, depth+1)
		if why != nil {
			return nil, &unknown{why: why.why}
		}
		out = append(out, ts...)
	}
	return out, nil
}

// at returns the position in the sources of a byte of the text. Carriage returns in raw literals are not counted: the
// scanner leaves them out.
func (t text) at(offset int) token.Pos {
	if t.literal == nil {
		return t.pos
	}
	if t.literal.Value[0] == '`' {
		return t.pos + token.Pos(min(offset, len(t.value)-1)+1)
	}
	rest := t.literal.Value[1 : len(t.literal.Value)-1]
	at := len(t.literal.Value) - 1
	for offset >= 0 && rest != "" {
		at = len(t.literal.Value) - 1 - len(rest)
		r, multibyte, tail, err := strconv.UnquoteChar(rest, '"')
		if err != nil {
			break
		}
		if rest = tail; multibyte {
			offset -= utf8.RuneLen(r)
		} else {
			offset--
		}
	}
	return t.pos + token.Pos(at)
}
