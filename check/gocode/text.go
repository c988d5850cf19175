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
		return f.elements(e.X, e.Index, depth+1)
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
	case result:
		if fn := f.funcs[f.of(e.Fun)]; fn != nil && fn.Body != nil {
			return f.returned(fn, e.index, madeBy(e.CallExpr), depth)
		}
		return nil, madeBy(e.CallExpr)
	}
	return nil, &unknown{why: "it is not a constant"}
}

// madeBy says that a call makes a text.
func madeBy(e *ast.CallExpr) *unknown {
	return &unknown{why: fmt.Sprintf("%s makes it when the program runs", nameOfFunc(e.Fun))}
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

// elements returns the texts at an index of the slice, array or map x; with a nil index, the texts of all elements.
func (f *finder) elements(x, index ast.Expr, depth int) (out []text, _ *unknown) {
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
				if at, want := f.constant(pair.Key), f.constant(index); at != want && at != "" && want != "" {
					continue
				}
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

// constant returns the value of a constant as it is written; "" if e is not a constant.
func (f *finder) constant(e ast.Expr) string {
	if v := f.info.Types[e].Value; e != nil && v != nil {
		return v.ExactString()
	}
	return ""
}

// called returns the texts that a call may return: a conversion, a function of the standard library that combines
// constants, the String method of a strings.Builder, or a function of the program.
func (f *finder) called(e *ast.CallExpr, depth int) ([]text, *unknown) {
	name, made := nameOfFunc(e.Fun), madeBy(e)
	if t, ok := f.info.Types[e.Fun]; len(e.Args) == 1 && (ok && t.IsType() || name == "strings.TrimSpace") {
		return f.textsOf(e.Args[0], depth+1)
	}
	if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "String" && len(f.pieces[f.of(s.X)]) > 0 {
		o := f.of(s.X)
		if f.passed[o] || slices.Contains(f.values[o], nil) {
			return nil, made
		}
		return f.appended([]text{{}}, o, o.Pos(), e.Pos(), depth)
	}
	if fn := f.funcs[f.of(e.Fun)]; fn != nil && fn.Body != nil {
		return f.returned(fn, 0, made, depth)
	}
	texts := [][]string{nil}
	for i, a := range e.Args {
		all, why := f.argumentTexts(a, name == "strings.Join" && i == 0, depth)
		if why != nil || len(texts)*len(all) > maxTexts {
			return nil, made
		}
		var next [][]string
		for _, before := range texts {
			for _, t := range all {
				next = append(next, append(slices.Clone(before), t...))
			}
		}
		texts = next
	}
	var out []text
	for _, args := range texts {
		value, ok := evaluate(name, args)
		if !ok {
			return nil, made
		}
		out = append(out, text{value, slices.Repeat([]token.Pos{e.Pos()}, len(value)), true})
	}
	return out, nil
}

// argumentTexts returns the texts that an argument may have, each in a list of its own. If list is set, the argument is
// a list, and its elements are returned in one list.
func (f *finder) argumentTexts(a ast.Expr, list bool, depth int) (out [][]string, _ *unknown) {
	ts, why := []text(nil), (*unknown)(nil)
	switch v := f.info.Types[a].Value; {
	case list:
		if ts, why = f.elements(a, nil, depth+1); why == nil {
			out = [][]string{{}}
		}
		for _, t := range ts {
			out[0] = append(out[0], t.value)
		}
		return out, why
	case v != nil && v.Kind() != constant.String:
		return [][]string{{v.ExactString()}}, nil
	}
	ts, why = f.textsOf(a, depth+1)
	for _, t := range ts {
		out = append(out, []string{t.value})
	}
	return out, why
}

// evaluate calls a function of the standard library.
func evaluate(name string, args []string) (string, bool) {
	n := len(args)
	switch {
	case name == "fmt.Sprint" && n == 1:
		return args[0], true
	case name == "strings.Join" && n > 1:
		return strings.Join(args[:n-1], args[n-1]), true
	case name == "strings.ReplaceAll" && n == 3:
		return strings.ReplaceAll(args[0], args[1], args[2]), true
	case name == "strings.Repeat" && n == 2:
		times, err := strconv.Atoi(args[1])
		return strings.Repeat(args[0], min(max(times, 0), 1000)), err == nil
	case name == "fmt.Sprintf" && n > 0:
		given := make([]any, n-1)
		for i, a := range args[1:] {
			given[i] = a
		}
		format := strings.NewReplacer("%%", "%%", "%d", "%s", "%v", "%s").Replace(args[0])
		out := fmt.Sprintf(format, given...)
		return out, !strings.Contains(out, "%!")
	}
	return "", false
}

// returned returns the texts that a function of the program may return as its result with this index.
func (f *finder) returned(fn *ast.FuncDecl, index int, made *unknown, depth int) (out []text, why *unknown) {
	var names []*ast.Ident
	for _, r := range fn.Type.Results.List {
		names = append(names, r.Names...)
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			ts, unknown := []text(nil), made
			switch {
			case len(n.Results) == fn.Type.Results.NumFields():
				ts, unknown = f.textsOf(n.Results[index], depth+1)
			case len(n.Results) == 0 && index < len(names):
				ts, unknown = f.named(&ast.Ident{NamePos: n.Pos()}, f.object(names[index]), depth+1)
			}
			if out = append(out, ts...); unknown != nil || len(out) > maxTexts {
				why = made
			}
		}
		return why == nil
	})
	if why == nil && len(out) == 0 {
		why = made
	}
	return out, why
}

// appended returns the texts that the variable o may have at the position at: ts, which it has at from, with the texts
// appended since.
func (f *finder) appended(ts []text, o types.Object, from, at token.Pos, depth int) ([]text, *unknown) {
	for _, p := range f.pieces[o] {
		if p.text != nil && (p.at >= at || p.at < from && f.local(o)) {
			continue
		}
		changes := &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
		if p.text == nil {
			return nil, changes
		}
		more, why := f.textsOf(p.text, depth+1)
		if why != nil || len(ts)*(len(more)+1) > maxTexts {
			return nil, changes
		}
		out := []text(nil)
		if p.maybe {
			out = ts
		}
		for _, t := range ts {
			for _, m := range more {
				out = append(out[:len(out):len(out)], text{t.value + m.value, append(t.at[:len(t.at):len(t.at)], m.at...), true})
			}
		}
		ts = out
	}
	return ts, nil
}

// named returns the texts of the constant or variable o, which e names.
func (f *finder) named(e ast.Expr, o types.Object, depth int) ([]text, *unknown) {
	switch o := o.(type) {
	case *types.Const:
		if value := f.values[o]; len(value) > 0 && !slices.Contains(value, nil) { // several by build tags
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
		case f.params[o] && len(f.pieces[o]) > 0:
			return nil, &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
		case f.params[o] || len(values) == 0:
			return nil, &unknown{why: fmt.Sprintf("%s gets its value when the program runs", o.Name()), of: o}
		default:
			return f.given(e, o, values, depth)
		}
	}
	return nil, &unknown{why: "it is not a constant"}
}

// given returns the texts that the variable or constant o may hold where e uses it. values are all expressions that are
// assigned to o; those that are replaced before e, or assigned after e, do not count.
func (f *finder) given(e ast.Expr, o types.Object, values []ast.Expr, depth int) (out []text, _ *unknown) {
	var since token.Pos // of the last value that replaces all earlier ones
	for _, v := range values {
		if in := f.within[v]; in != nil && f.local(o) && v.Pos() < e.Pos() && in.Pos() <= e.Pos() && e.Pos() < in.End() {
			since = max(since, v.Pos())
		}
	}
	for _, v := range values {
		if v == nil || len(out) > maxTexts {
			return nil, &unknown{why: fmt.Sprintf("%s changes when the program runs", o.Name())}
		}
		if v.Pos() < since || v.Pos() > e.Pos() && !f.maybeLater(o, e.Pos()) {
			continue
		}
		ts, why := f.textsOf(v, depth+1)
		if why == nil {
			ts, why = f.appended(ts, o, v.Pos(), e.Pos(), depth)
		}
		if why != nil {
			return nil, &unknown{why: why.why}
		}
		out = append(out, ts...)
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
