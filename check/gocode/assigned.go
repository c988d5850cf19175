package gocode

import (
	"go/ast"
	"go/token"
	"go/types"
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
		case *ast.FuncDecl:
			if o := f.info.Defs[n.Name]; o != nil {
				f.funcs[o] = n
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				switch {
				case len(n.Values) == len(n.Names):
					f.set(name, n.Values[i])
				case len(n.Values) > 0:
					f.set(name, nil)
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				switch {
				case n.Tok == token.ADD_ASSIGN:
					f.append(f.of(lhs), n.Rhs[0], n.Pos(), above)
				case len(n.Lhs) != len(n.Rhs) || n.Tok != token.ASSIGN && n.Tok != token.DEFINE:
					f.set(lhs, nil)
				default:
					if sum, ok := n.Rhs[i].(*ast.BinaryExpr); ok && n.Tok == token.ASSIGN && f.of(lhs) != nil && f.of(sum.X) == f.of(lhs) {
						f.append(f.of(lhs), sum.Y, n.Pos(), above) // q = q + "..."
					} else {
						f.set(lhs, n.Rhs[i])
					}
				}
			}
		case *ast.RangeStmt:
			f.set(n.Key, nil)
			f.set(n.Value, &ast.IndexExpr{X: n.X})
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				f.set(n.X, nil)
			}
		case *ast.CompositeLit:
			f.fields(n)
		}
		above = append(above, n)
		return true
	})
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

// set records that lhs gets the value rhs; nil is an unknown value.
func (f *finder) set(lhs, rhs ast.Expr) {
	if x, ok := lhs.(*ast.IndexExpr); ok { // one element of x
		lhs, rhs = x.X, &ast.CompositeLit{Elts: []ast.Expr{rhs}}
	}
	if o := f.of(lhs); o != nil {
		f.values[o] = append(f.values[o], rhs)
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

// append records that the code at position at appends text to the variable o. It records an unknown text if the code is in
// a loop, a nested function or one of several branches, because the text may be appended any number of times there.
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
		case *ast.BlockStmt:
		default:
			p.text = nil
		}
	}
	f.pieces[o] = append(f.pieces[o], p)
}
