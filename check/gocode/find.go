package gocode

import (
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/check"
)

// Find returns the texts of statements in Go files. dynamic lists the calls whose statement is not known before the
// program runs.
func Find(names []string) (sources []check.Source, dynamic []check.Result, err error) {
	p := newProgram()
	wanted := map[string]bool{}
	for _, name := range names {
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, nil, err
		}
		wanted[abs], p.given[abs] = true, name
		if dir := filepath.Dir(abs); !p.loaded[dir] {
			if err := p.load(dir); err != nil {
				return nil, nil, err
			}
		}
	}
	f := &finder{program: p, wanted: wanted, values: map[types.Object][]ast.Expr{}, funcs: map[types.Object]*ast.FuncDecl{}, params: map[types.Object]bool{}, wrappers: map[types.Object]place{}, seen: map[string]bool{}}
	for _, file := range p.files {
		f.assignments(file)
		f.notes(file)
	}
	for _, file := range p.files {
		if file.broken != nil && wanted[file.name] {
			f.dynamic = append(f.dynamic, f.brokenAt(file))
		}
	}
	for before := -1; before < len(f.wrappers); { // a function that calls a wrapper may be one
		before = len(f.wrappers)
		f.collect(false)
	}
	f.collect(true)
	return f.sources, f.dynamic, nil
}

// brokenAt returns a result for the first syntax error in a file.
func (f *finder) brokenAt(file *file) check.Result {
	r := check.Result{File: f.display(file.name), Line: 1, Column: 1, Verdict: check.Failed, Text: file.broken.Error()}
	var list scanner.ErrorList
	if errors.As(file.broken, &list) && len(list) > 0 {
		r.Line, r.Column, r.Text = list[0].Pos.Line, list[0].Pos.Column, list[0].Msg
	}
	r.Text = "this is no Go: " + r.Text
	return r
}

// finder finds statements in a program.
type finder struct {
	*program
	wanted map[string]bool // files, by absolute name
	// values lists the expressions that each constant or variable gets; nil is an unknown value.
	values map[types.Object][]ast.Expr
	funcs  map[types.Object]*ast.FuncDecl
	params map[types.Object]bool // of functions
	// wrappers maps a function, or a variable that holds one, to the parameter that it passes on as a statement.
	wrappers map[types.Object]place
	excused  map[token.Position]bool // lines with a comment that excuses
	marked   map[token.Position]bool // lines with a comment that marks statements
	seen     map[string]bool

	sources []check.Source
	dynamic []check.Result
}

// place is a parameter that takes a statement: its index, and the kind of database that the statement is for.
type place struct {
	index  int
	origin check.Origin
}

func (f *finder) object(id *ast.Ident) types.Object {
	if o := f.info.Uses[id]; o != nil {
		return o
	}
	return f.info.Defs[id]
}

// marking matches a comment that marks statements.
var marking = regexp.MustCompile(`(?i)\bhql:\s*query\b`)

// notes notes the lines with comments for hql.
func (f *finder) notes(file *file) {
	if f.excused == nil {
		f.excused, f.marked = map[token.Position]bool{}, map[token.Position]bool{}
	}
	for _, g := range file.Comments {
		for _, c := range g.List {
			for lines, pattern := range map[*map[token.Position]bool]*regexp.Regexp{&f.excused: check.Excuse, &f.marked: marking} {
				if !pattern.MatchString(c.Text) {
					continue
				}
				(*lines)[f.line(c.End(), 0)] = true
				if f.alone(file, c) {
					(*lines)[f.line(g.End(), 1)] = true
				}
			}
		}
	}
}

// alone reports whether no code stands before a comment on its line.
func (f *finder) alone(file *file, c *ast.Comment) bool {
	p := f.fset.PositionFor(c.Pos(), false)
	return strings.TrimSpace(string(file.text[p.Offset-(p.Column-1):p.Offset])) == ""
}

// line returns the line that is so many lines further than the line of pos.
func (f *finder) line(pos token.Pos, further int) token.Position {
	p := f.fset.PositionFor(pos, false)
	return token.Position{Filename: p.Filename, Line: p.Line + further}
}

// noted reports whether lines contains one of the lines of a node, which begins at from and ends at to.
func (f *finder) noted(lines map[token.Position]bool, from, to token.Pos) bool {
	last := f.line(to, 0)
	for l := f.line(from, 0); l.Line <= last.Line; l.Line++ {
		if lines[l] {
			return true
		}
	}
	return false
}

// collect visits all calls. It records wrappers and, if report is set, the statements that it finds.
func (f *finder) collect(report bool) {
	for _, file := range f.files {
		keys := map[ast.Node]bool{}
		ast.Inspect(file.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				f.call(n, report)
			case *ast.KeyValueExpr:
				keys[n.Key] = true
			case ast.Expr:
				if report && !keys[n] && f.isText(n) && f.noted(f.marked, n.Pos(), n.End()) {
					f.argument(n, n, check.Own, true)
					return false
				}
			}
			return true
		})
	}
}

// isText reports whether e is a string literal, or a concatenation that contains one.
func (f *finder) isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (f.isText(e.X) || f.isText(e.Y))
	}
	return false
}

// call notes the statement that a call passes on.
func (f *finder) call(n *ast.CallExpr, report bool) {
	var id *ast.Ident
	fun := ast.Unparen(n.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok { // a function with a type argument
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return
	}
	switch o := f.object(id).(type) {
	case *types.Func:
		o = o.Origin()
		at, ok := f.wrappers[o]
		if i := f.api.takes(o); i >= 0 {
			at, ok = place{i, f.originOf(o.Signature())}, true
		}
		if ok && at.index < len(n.Args) && len(n.Args) > 0 {
			f.argument(n, n.Args[at.index], at.origin, report)
		} else if s, method := fun.(*ast.SelectorExpr); !ok && method && types.IsInterface(recvOf(o)) {
			f.guess(n, s, report)
		}
	case *types.Var:
		if at, ok := f.wrappers[o]; ok && at.index < len(n.Args) {
			f.argument(n, n.Args[at.index], at.origin, report)
			return
		}
		sig, ok := f.info.TypeOf(n.Fun).(*types.Signature)
		if !ok {
			return
		}
		if i := f.api.valueTakes(sig); i >= 0 && i < len(n.Args) {
			f.argument(n, n.Args[i], f.originOf(sig), report)
		}
	case nil:
		if s, ok := fun.(*ast.SelectorExpr); ok {
			f.guess(n, s, report)
		}
	}
}

// queries are the beginnings of the names of methods that probably take a statement.
var queries = regexp.MustCompile("^(Must)?(Named)?(Query|Exec|Prepare|Queue|Select|Get)|^(In|Named)$")

// guess handles a call of a method whose type is unknown. It records the texts among the arguments, and the parameters
// that the call may pass on as statements.
func (f *finder) guess(n *ast.CallExpr, s *ast.SelectorExpr, report bool) {
	if s.Sel.Name == "WriteString" { // a part of a text
		return
	}
	if x, ok := s.X.(*ast.Ident); ok {
		if _, ok := f.object(x).(*types.PkgName); ok && !queries.MatchString(s.Sel.Name) {
			return
		}
	}
	for _, a := range n.Args {
		switch ts, why := f.texts(a); {
		case why == nil && report:
			f.add(n, ts, check.Guess)
		case why != nil && why.of != nil && types.Identical(why.of.Type(), types.Typ[types.String]) && queries.MatchString(s.Sel.Name):
			if o, i := f.parameter(why.of); o != nil {
				if _, known := f.wrappers[o]; !known {
					f.wrappers[o] = place{i, check.Guess}
				}
			}
		}
	}
}

// originOf returns the kind of database for which a function takes statements: hql if the receiver or a result has a
// type of hql.
func (f *finder) originOf(sig *types.Signature) check.Origin {
	vars := slices.Collect(sig.Results().Variables())
	if sig.Recv() != nil {
		vars = append(vars, sig.Recv())
	}
	if slices.ContainsFunc(vars, func(v *types.Var) bool { return f.api.owns(v.Type(), hqlPath) }) {
		return check.Own
	}
	return check.Other
}

// argument records the statement arg of the call n: its texts, or the parameter of the enclosing function that arg is.
func (f *finder) argument(n, arg ast.Expr, origin check.Origin, report bool) {
	ts, why := f.texts(arg)
	switch {
	case why == nil && report:
		f.add(n, ts, origin)
	case why == nil:
	case why.of != nil:
		if o, i := f.parameter(why.of); o != nil {
			f.wrappers[o] = place{i, origin}
			for _, v := range f.values[why.of] {
				if ts, why := f.textsOf(v, 1); why == nil && report {
					f.add(n, ts, origin)
				}
			}
			return
		}
		fallthrough
	default:
		if report && origin != check.Guess {
			f.unknown(n, why)
		}
	}
}

// recvOf returns the type whose method o is; if o is a function, it returns a type without methods.
func recvOf(o *types.Func) types.Type {
	if r := o.Signature().Recv(); r != nil {
		return r.Type()
	}
	return types.Typ[types.Invalid]
}

// parameter returns the function whose parameter v is, or the variable that holds this function, and the parameter's
// index. It returns nil if v is no parameter.
func (f *finder) parameter(v types.Object) (types.Object, int) {
	index := func(params *ast.FieldList) int {
		i := 0
		for _, p := range params.List {
			for _, name := range p.Names {
				if f.info.Defs[name] == v {
					return i
				}
				i++
			}
		}
		return -1
	}
	for o, fn := range f.funcs {
		if i := index(fn.Type.Params); i >= 0 {
			return o, i
		}
	}
	for o, values := range f.values {
		if len(values) != 1 {
			continue
		}
		if fn, ok := values[0].(*ast.FuncLit); ok {
			if i := index(fn.Type.Params); i >= 0 {
				return o, i
			}
		}
	}
	return nil, 0
}

// add adds the texts of a call.
func (f *finder) add(n ast.Expr, ts []text, origin check.Origin) {
	for _, t := range ts {
		if strings.TrimSpace(t.value) == "" || !f.reports(n, t) {
			continue
		}
		allowed := f.noted(f.excused, n.Pos(), n.End()) || f.noted(f.excused, t.pos, t.at(len(t.value)))
		key := fmt.Sprint(t.pos, allowed, t.value)
		if t.literal == nil {
			key += fmt.Sprint(n.Pos())
		}
		if f.seen[key] {
			continue
		}
		f.seen[key] = true
		s := check.Source{Text: t.value, Allowed: allowed, Origin: origin, At: func(offset int) check.Place { return f.placeOf(t.at(offset)) }}
		if t.literal == nil {
			at := f.placeOf(n.Pos())
			s.Place = &at
		}
		f.sources = append(f.sources, s)
	}
}

// reports reports whether the call n, or the text t that it takes, is in a file that is to be checked.
func (f *finder) reports(n ast.Expr, t text) bool {
	return f.wanted[f.line(n.Pos(), 0).Filename] || f.wanted[f.line(t.pos, 0).Filename]
}

// unknown notes a call whose statement is not known.
func (f *finder) unknown(n ast.Expr, why *unknown) {
	if !f.wanted[f.line(n.Pos(), 0).Filename] {
		return
	}
	at := f.placeOf(n.Pos())
	r := check.Result{File: at.File, Line: at.Line, Column: at.Column, Verdict: check.Unchecked, Text: "cannot be checked: " + why.why}
	if !slices.ContainsFunc(f.dynamic, func(o check.Result) bool { return o.File == r.File && o.Line == r.Line && o.Column == r.Column }) {
		f.dynamic = append(f.dynamic, r)
	}
}

// placeOf returns the position of pos as a file, a line and a column in characters.
func (f *finder) placeOf(pos token.Pos) check.Place {
	p := f.fset.PositionFor(pos, false)
	file := f.byName[p.Filename]
	if file == nil {
		return check.Place{File: p.Filename, Line: p.Line, Column: p.Column}
	}
	begin := p.Offset - (p.Column - 1)
	column := utf8.RuneCount(file.text[begin:min(p.Offset, len(file.text))]) + 1
	return check.Place{File: f.display(p.Filename), Line: p.Line, Column: column}
}
