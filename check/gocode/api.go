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

// apiSource declares, by package, the types whose methods take a statement, and what leads to them: checked sources see
// these declarations in place of the packages. A statement is the first text that a method takes. TestAPI compares the
// declarations with the packages. Reading the packages by reflection would make the linker keep all methods of hql.
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

// owns reports whether t, or the type that it points to, is one of the API; of one of these packages, if any is given.
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

// takes gives the index of the argument of f that is a statement; -1: there is none. It is the first text that a method
// of the API takes, or a method of an interface that gives what these give.
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

// valueTakes is takes for a value that is a function: it takes a statement if it gives rows or another result of one. All
// types of the API with methods are connections.
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
