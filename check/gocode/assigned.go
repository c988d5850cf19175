package gocode

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// piece is a text that is appended to a variable.
type piece struct {
	text  ast.Expr // nil: it is not known
	at    token.Pos
	maybe bool // only if some condition is true
}

// assignments records the values that constants, variables and fields get, and the functions of a file.
func (f *finder) assignments(file *file) {
	var above []ast.Node
	ast.Inspect(file.File, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.FuncType:
			for _, p := range n.Params.List {
				for _, name := range p.Names {
					f.params[f.info.Defs[name]] = true
				}
			}
		case *ast.ForStmt, *ast.FuncLit:
			f.again = append(f.again, n)
		case *ast.FuncDecl:
			if o := f.info.Defs[n.Name]; o != nil {
				f.funcs[o] = n
			}
		case *ast.ValueSpec:
			f.embedded(n, above)
			for i, name := range n.Names {
				switch {
				case len(n.Values) == len(n.Names):
					f.set(name, n.Values[i])
				case len(n.Values) > 0:
					f.set(name, nil)
				case f.local(f.object(name)):
					f.set(name, &ast.BasicLit{ValuePos: name.Pos(), Kind: token.STRING, Value: "``"})
				}
			}
		case *ast.AssignStmt:
			f.assigned(n, above)
		case *ast.RangeStmt:
			f.again = append(f.again, n)
			f.set(n.Key, nil)
			f.set(n.Value, &ast.IndexExpr{X: n.X})
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				f.set(n.X, nil)
			}
		case *ast.CompositeLit:
			f.fields(n)
		case *ast.CallExpr:
			f.written(n, above)
		}
		above = append(above, n)
		return true
	})
}

// embedding matches the comment above a variable that holds a file.
var embedding = regexp.MustCompile(`(?m)^//go:embed[ \t]+("?)([^\s"*?\[]+)("?)[ \t]*$`)

// embedded records the text of the file after //go:embed as the value of the variable below.
func (f *finder) embedded(n *ast.ValueSpec, above []ast.Node) {
	doc := n.Doc
	if decl, ok := above[len(above)-1].(*ast.GenDecl); ok && doc == nil && len(decl.Specs) == 1 {
		doc = decl.Doc
	}
	if doc == nil || len(n.Values) > 0 {
		return
	}
	for _, c := range doc.List {
		m := embedding.FindStringSubmatch(c.Text)
		if m == nil {
			continue
		}
		name := filepath.Join(filepath.Dir(f.line(n.Pos(), 0).Filename), filepath.FromSlash(m[2]))
		if text, err := os.ReadFile(name); err == nil {
			of := f.fset.AddFile(name, -1, len(text)+1)
			of.SetLinesForContent(text)
			f.byName[name] = &file{name: name, text: text}
			f.set(n.Names[0], &ast.BasicLit{ValuePos: token.Pos(of.Base() - 1), Kind: token.STRING, Value: "`" + string(text) + "`"})
		}
	}
}

// of returns the constant, variable or field that an expression names; nil for other expressions.
func (f *finder) of(e ast.Expr) types.Object {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return f.object(x)
	case *ast.SelectorExpr:
		return f.object(x.Sel)
	}
	return nil
}

// result is one of the results of a call.
type result struct {
	*ast.CallExpr
	index int
}

// local reports whether o is a variable of a function.
func (f *finder) local(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && !v.IsField() && v.Parent() != nil && v.Parent() != v.Pkg().Scope()
}

// maybeLater reports whether e, a use of o, may run after code that follows it in the source: o is not local, or e is
// in a loop or in a function that is called later.
func (f *finder) maybeLater(o types.Object, e token.Pos) bool {
	return !f.local(o) || slices.ContainsFunc(f.again, func(n ast.Node) bool { return n.Pos() <= e && e < n.End() && o.Pos() < n.Pos() })
}

// set records that lhs gets the value rhs; nil is an unknown value.
func (f *finder) set(lhs, rhs ast.Expr) {
	if x, ok := lhs.(*ast.IndexExpr); ok { // one element of x
		lhs, rhs = x.X, &ast.CompositeLit{Elts: []ast.Expr{rhs}}
	}
	if o := f.of(lhs); o != nil {
		f.values[o] = append(f.values[o], rhs)
	}
}

// assigned notes an assignment.
func (f *finder) assigned(n *ast.AssignStmt, above []ast.Node) {
	var block ast.Node
	for _, a := range above {
		switch a.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			block = a
		}
	}
	for i, lhs := range n.Lhs {
		switch {
		case n.Tok == token.ADD_ASSIGN:
			f.append(f.of(lhs), n.Rhs[0], n.Pos(), above)
		case n.Tok != token.ASSIGN && n.Tok != token.DEFINE:
			f.set(lhs, nil)
		case len(n.Lhs) != len(n.Rhs):
			if call, ok := ast.Unparen(n.Rhs[0]).(*ast.CallExpr); ok {
				f.set(lhs, result{call, i})
				f.within[result{call, i}] = block
			} else {
				f.set(lhs, nil)
			}
		default:
			if sum, ok := n.Rhs[i].(*ast.BinaryExpr); ok && n.Tok == token.ASSIGN && f.of(lhs) != nil && f.of(sum.X) == f.of(lhs) {
				f.append(f.of(lhs), sum.Y, n.Pos(), above) // q = q + "..."
				continue
			}
			f.set(lhs, n.Rhs[i])
			f.within[n.Rhs[i]] = block
		}
	}
}

// fields records the values that the fields of a composite literal get.
func (f *finder) fields(n *ast.CompositeLit) {
	t := f.info.TypeOf(n)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element of []*T
		t = p.Elem()
	}
	of, ok := t.Underlying().(*types.Struct)
	for i, e := range n.Elts {
		if pair, named := e.(*ast.KeyValueExpr); ok && named {
			f.set(pair.Key, pair.Value)
		} else if ok && i < of.NumFields() {
			f.values[of.Field(i)] = append(f.values[of.Field(i)], e)
		}
	}
}

// written records the text that a call appends to a strings.Builder or a buffer, and the variables among the call's
// arguments.
func (f *finder) written(n *ast.CallExpr, above []ast.Node) {
	for _, a := range n.Args {
		f.passed[f.of(a)] = true
	}
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || f.of(s.X) == nil {
		return
	}
	switch s.Sel.Name {
	case "WriteString":
		if len(n.Args) == 1 {
			f.append(f.of(s.X), n.Args[0], n.Pos(), above)
		}
	case "WriteByte", "WriteRune", "Write", "Reset", "Truncate":
		f.append(f.of(s.X), nil, n.Pos(), above)
	}
}

// append records that the code at position at appends text to the variable o, such as a strings.Builder. It records an
// unknown text if the code is in a loop, a nested function or one of several branches, because the text may be appended
// any number of times there.
func (f *finder) append(o types.Object, text ast.Expr, at token.Pos, above []ast.Node) {
	if o == nil {
		return
	}
	p := piece{text: text, at: at}
	for _, n := range above {
		if n.Pos() <= o.Pos() && n.End() >= o.Pos() {
			continue // it is declared there too
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if p.maybe = true; n.Else != nil {
				p.text = nil
			}
		case *ast.BlockStmt, *ast.ExprStmt, *ast.AssignStmt:
		default:
			p.text = nil
		}
	}
	f.pieces[o] = append(f.pieces[o], p)
}
