package gocode

import (
	"go/ast"
	"go/token"
	"go/types"
)

// assignments records the values that constants, variables and fields get, and the functions of a file.
func (f *finder) assignments(file *file) {
	ast.Inspect(file.File, func(n ast.Node) bool {
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
				if len(n.Lhs) != len(n.Rhs) || n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
					f.set(lhs, nil)
				} else {
					f.set(lhs, n.Rhs[i])
				}
			}
		case *ast.RangeStmt:
			f.set(n.Key, nil)
			f.set(n.Value, nil)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				f.set(n.X, nil)
			}
		case *ast.CompositeLit:
			f.fields(n)
		}
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
