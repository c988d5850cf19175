package gocode

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
)

const hqlPath, sqlPath = "github.com/hql-db/hql", "database/sql"

// apiSource declares, by package, the types whose methods take a statement, and the functions that return such types.
// Checked sources see these declarations in place of the packages. A statement is the first text that a method takes.
// TestAPI compares the declarations with the packages. Reading the packages by reflection would make the linker keep
// all methods of hql.
var apiSource = map[string]string{hqlPath: hqlSource, sqlPath: sqlSource}

//go:embed api/hql.txt
var hqlSource string

//go:embed api/sql.txt
var sqlSource string

// api are the packages of apiSource.
type api map[string]*types.Package

func newAPI(fset *token.FileSet) api {
	a := api{}
	for path, source := range apiSource {
		f, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
		if err == nil {
			a[path], err = new(types.Config).Check(path, fset, []*ast.File{f}, nil)
		}
		if err != nil {
			panic(err) // apiSource is no Go
		}
	}
	return a
}

// owns reports whether t, or the type to which t points, is declared in the API. With paths, it must be declared in one
// of these packages.
func (a api) owns(t types.Type, paths ...string) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	path := n.Obj().Pkg().Path()
	return a[path] == n.Obj().Pkg() && (paths == nil || slices.Contains(paths, path))
}

// takes returns the index of the parameter of f that takes a statement; -1 if f has none. f must be a method of the
// API, or a method of an interface that returns what such a method returns (see valueTakes).
func (a api) takes(f *types.Func) int {
	sig := f.Signature()
	switch {
	case sig.Recv() == nil:
	case a.owns(sig.Recv().Type()):
		return firstText(sig)
	case types.IsInterface(sig.Recv().Type()):
		return a.valueTakes(sig)
	}
	return -1
}

// valueTakes is takes for the signature of a function value or of a method of an interface. Such a function takes a
// statement if it returns rows or another result of statements: a type of the API without methods. In apiSource only
// connections have methods.
func (a api) valueTakes(sig *types.Signature) int {
	for v := range sig.Results().Variables() {
		if a.owns(v.Type()) && types.NewMethodSet(v.Type()).Len() == 0 {
			return firstText(sig)
		}
	}
	return -1
}

func firstText(sig *types.Signature) int {
	for i := range sig.Params().Len() {
		if b, ok := sig.Params().At(i).Type().(*types.Basic); ok && b.Kind() == types.String {
			return i
		}
	}
	return -1
}
