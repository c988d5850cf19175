package gocode

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// program holds the checked files, and the packages of their module that these files import.
type program struct {
	fset     *token.FileSet
	api      api
	info     *types.Info
	files    []*file
	byName   map[string]*file
	imported map[string]*types.Package
	loaded   map[string]bool   // folders, as absolute paths
	modules  map[string]module // by folder
	given    map[string]string // the names that the user gave files
}

// file is one Go file.
type file struct {
	*ast.File
	name   string
	text   []byte
	broken error // of its syntax; nil: none
}

// module is a folder with a go.mod.
type module struct{ dir, path string }

func newProgram() *program {
	fset := token.NewFileSet()
	return &program{fset: fset, api: newAPI(fset), byName: map[string]*file{}, imported: map[string]*types.Package{},
		loaded: map[string]bool{}, modules: map[string]module{}, given: map[string]string{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}}
}

// load parses and checks the Go files of a folder. It ignores type errors: the types that they concern stay unknown.
func (p *program) load(dir string) error {
	p.loaded[dir] = true
	importPath := p.importPath(dir)
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	packages := map[string][]*file{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(p.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if f == nil || f.Name == nil {
			return err
		}
		of := &file{f, name, text, err}
		p.files, p.byName[name] = append(p.files, of), of
		packages[f.Name.Name] = append(packages[f.Name.Name], of)
	}
	var main *types.Package
	for name, files := range packages {
		conf := types.Config{Importer: p, Error: func(error) {}, FakeImportC: true, DisableUnusedImportCheck: true}
		var trees []*ast.File
		for _, f := range files {
			trees = append(trees, f.File)
		}
		pkg, _ := conf.Check(cmp.Or(importPath, dir), p.fset, trees, p.info)
		if !strings.HasSuffix(name, "_test") && (main == nil || len(files) > len(packages[main.Name()])) {
			main = pkg
		}
	}
	if main != nil && importPath != "" {
		p.imported[importPath] = main
	}
	return nil
}

// Import implements types.Importer: it returns the declarations of the API, the packages of the module, and empty
// packages for all others.
func (p *program) Import(of string) (*types.Package, error) { return p.ImportFrom(of, "", 0) }

// ImportFrom implements types.ImporterFrom.
func (p *program) ImportFrom(of, dir string, _ types.ImportMode) (*types.Package, error) {
	switch {
	case of == "unsafe":
		return types.Unsafe, nil
	case p.api[of] != nil:
		return p.api[of], nil
	case p.imported[of] != nil:
		return p.imported[of], nil
	}
	empty := types.NewPackage(of, nameOf(of))
	empty.MarkComplete()
	p.imported[of] = empty // also of a package that imports itself, by error
	if m := p.module(dir); m.path != "" && (of == m.path || strings.HasPrefix(of, m.path+"/")) {
		in := filepath.Join(m.dir, filepath.FromSlash(strings.TrimPrefix(of[len(m.path):], "/")))
		if !p.loaded[in] {
			if err := p.load(in); err != nil {
				return nil, err
			}
		}
	}
	return p.imported[of], nil
}

// nameOf guesses the name of a package that is not at hand.
func nameOf(of string) string {
	base := path.Base(of)
	if regexp.MustCompile(`^v\d+$`).MatchString(base) {
		base = path.Base(path.Dir(of))
	}
	base, _, _ = strings.Cut(base, ".")
	return strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)

// module finds the module of a folder.
func (p *program) module(dir string) module {
	if m, ok := p.modules[dir]; ok {
		return m
	}
	var m module
	if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
		if found := moduleLine.FindSubmatch(text); found != nil {
			m = module{dir, string(found[1])}
		}
	} else if up := filepath.Dir(dir); up != dir {
		m = p.module(up)
	}
	p.modules[dir] = m
	return m
}

// importPath returns the path by which other packages import the package in dir; "" if it is unknown.
func (p *program) importPath(dir string) string {
	m := p.module(dir)
	rel, err := filepath.Rel(m.dir, dir)
	if m.path == "" || err != nil {
		return ""
	}
	return path.Join(m.path, filepath.ToSlash(rel))
}

// display returns the name of a file as the user gave it, or else relative to the current folder.
func (p *program) display(name string) string {
	if given, ok := p.given[name]; ok {
		return given
	}
	if here, err := filepath.Abs("."); err == nil {
		if rel, err := filepath.Rel(here, name); err == nil {
			return rel
		}
	}
	return name
}
