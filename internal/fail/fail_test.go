package fail_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hql-db/hql/internal/fail"
)

func TestCatch(t *testing.T) {
	bad := errors.New("bad")
	outer := func() (v int, err error) {
		defer fail.Catch(&err)
		return fail.Must(1, bad), nil
	}
	if _, err := outer(); err != bad {
		t.Errorf("got %v", err)
	}
	if v, err := fail.Try(func() int { fail.On(nil); return 2 }); v != 2 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("Catch changed another panic to %v", p)
		}
	}()
	_, _ = fail.Try(func() int { panic("other") })
}

// TestCaught holds the packages that end recursions by fail against a rule: a function that is exported, a Parse that another
// package calls, or a function that returns an error catches the errors of the functions that it calls.
func TestCaught(t *testing.T) {
	found := 0
	for _, dir := range []string{"parser", "expr", "planner", "catalog"} {
		g := load(t, filepath.Join("..", "..", dir))
		for changed := true; changed; {
			changed = false
			for f, d := range g.decls {
				if !g.fails[f] && g.throws(d.Body) {
					g.fails[f], changed = true, true
				}
			}
		}
		found += len(g.fails)
		for f, d := range g.decls {
			if g.fails[f] && (d.Name.IsExported() || returnsError(d.Type)) {
				t.Errorf("%s: %s does not catch what it calls", g.files.Position(d.Pos()), d.Name.Name)
			}
			ast.Inspect(d.Body, func(n ast.Node) bool {
				if l, ok := n.(*ast.FuncLit); ok && returnsError(l.Type) && g.throws(l.Body) {
					t.Errorf("%s: a function literal does not catch what it calls", g.files.Position(l.Pos()))
				}
				return true
			})
		}
	}
	if found < 100 {
		t.Errorf("only %d functions fail: the test does not see them", found)
	}
}

// graph has the functions of a package.
type graph struct {
	files *token.FileSet
	info  *types.Info
	decls map[types.Object]*ast.FuncDecl
	fails map[types.Object]bool // those that may end a recursion of their callers
}

// only imports the package fail alone; of others nothing is known.
type only struct{ fail *types.Package }

func (o only) Import(path string) (*types.Package, error) {
	if strings.HasSuffix(path, "internal/fail") {
		return o.fail, nil
	}
	return nil, errors.New("not imported")
}

func load(t *testing.T, dir string) *graph {
	g := &graph{files: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}, decls: map[types.Object]*ast.FuncDecl{}, fails: map[types.Object]bool{}}
	parse := func(dir string) (out []*ast.File) {
		list, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || list == nil {
			t.Fatal("no files in ", dir)
		}
		for _, name := range list {
			if !strings.HasSuffix(name, "_test.go") {
				f, err := parser.ParseFile(g.files, name, nil, 0)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, f)
			}
		}
		return out
	}
	own, err := new(types.Config).Check("internal/fail", g.files, parse("."), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := parse(dir)
	lax := types.Config{Importer: only{own}, Error: func(error) {}}
	_, _ = lax.Check(dir, g.files, all, g.info) // the errors are about other packages
	for _, f := range all {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				g.decls[g.info.Defs[d.Name]] = d
			}
		}
	}
	return g
}

// throws reports whether body may end a recursion that it does not catch.
func (g *graph) throws(body *ast.BlockStmt) (found bool) {
	for _, s := range body.List {
		if d, ok := s.(*ast.DeferStmt); ok && g.of(d.Call) == "Catch" {
			return false
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !returnsError(n.Type) // it is looked at by itself
		case *ast.CallExpr:
			switch g.of(n) {
			case "Try":
				return false
			case "With", "On", "Must", "Must2":
				found = true
			}
		case *ast.Ident:
			if f, ok := g.info.Uses[n].(*types.Func); ok && g.fails[f.Origin()] {
				found = true
			}
		}
		return true
	})
	return found
}

// of returns the name of the function of fail that c calls, or "".
func (g *graph) of(c *ast.CallExpr) string {
	if s, ok := c.Fun.(*ast.SelectorExpr); ok {
		if p, ok := s.X.(*ast.Ident); ok && p.Name == "fail" {
			return s.Sel.Name
		}
	}
	return ""
}

func returnsError(t *ast.FuncType) bool {
	if t.Results == nil {
		return false
	}
	for _, r := range t.Results.List {
		if x, ok := r.Type.(*ast.Ident); ok && x.Name == "error" {
			return true
		}
	}
	return false
}
