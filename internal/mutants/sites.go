package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// site is a place that can be changed, and the code that holds both forms of it.
type site struct {
	file     string
	from, to int // bytes of the file
	line     int
	what     string             // the change, for people
	code     func(n int) string // what stands there when it is mutant n
}

func (s site) String() string { return fmt.Sprintf("%s:%d: %s", s.file, s.line, firstLine(s.what)) }

// activePath is the package that mutated code imports, and activeName its name there.
const (
	activePath = "github.com/hql-db/hql/internal/mutants/active"
	activeName = "mutantsActive"
)

// finder collects the sites of one file.
type finder struct {
	fset  *token.FileSet
	info  *types.Info
	src   []byte
	name  string
	sites []site

	without map[ast.Node]bool   // changes nothing that can be seen
	failed  map[ast.Stmt]string // the error that is not nil where the statement runs
}

// findSites gives all sites of a package but those of tests.
func findSites(p *packages.Package, read func(string) ([]byte, error)) ([]site, error) {
	var out []site
	for i, f := range p.Syntax {
		name := p.CompiledGoFiles[i]
		src, err := read(name)
		if err != nil {
			return nil, err
		}
		w := &finder{fset: p.Fset, info: p.TypesInfo, src: src, name: name, without: map[ast.Node]bool{}, failed: map[ast.Stmt]string{}}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				ast.Inspect(fn.Body, w.visit)
			}
		}
		out = append(out, w.sites...)
	}
	return out, nil
}

func (w *finder) text(n ast.Node) string {
	return string(w.src[w.fset.Position(n.Pos()).Offset:w.fset.Position(n.End()).Offset])
}

func (w *finder) add(n ast.Node, what string, code func(n int) string) {
	from, to := w.fset.Position(n.Pos()), w.fset.Position(n.End())
	w.sites = append(w.sites, site{file: w.name, from: from.Offset, to: to.Offset, line: from.Line, what: what, code: code})
}

// either is an expression that is mutant or plain. It evaluates one of the two.
func either(mutant, plain string) func(int) string {
	return func(n int) string {
		return fmt.Sprintf("(%[1]s.Is(%[2]d) && (%[3]s) || !%[1]s.Is(%[2]d) && (%[4]s))", activeName, n, mutant, plain)
	}
}

// chosen is mutant or plain where both may be evaluated.
func chosen(mutant, plain string) func(int) string {
	return func(n int) string { return fmt.Sprintf("%s.If(%d, %s, %s)", activeName, n, mutant, plain) }
}

// unless is a statement that a mutant drops.
func unless(stmt string) func(int) string {
	return func(n int) string { return fmt.Sprintf("if !%s.Is(%d) { %s }", activeName, n, stmt) }
}

// comparisons are the operators that stand for each other.
var comparisons = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

func (w *finder) visit(n ast.Node) bool {
	if w.without[n] {
		return false
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.BinaryExpr:
		w.binary(n)
	case *ast.IfStmt:
		w.noteFailed(n)
		if _, ok := n.Cond.(*ast.BinaryExpr); !ok {
			cond := w.text(n.Cond)
			w.add(n.Cond, "not "+cond, func(k int) string { return fmt.Sprintf("(%s.Is(%d) != (%s))", activeName, k, cond) })
		}
	case *ast.BasicLit:
		if t := w.integer(n); t != "" {
			plain := w.text(n)
			w.add(n, plain+" + 1", func(k int) string { return fmt.Sprintf("%s.If[%s](%d, %s + 1, %s)", activeName, t, k, plain, plain) })
		}
	case *ast.BlockStmt:
		w.statements(n.List)
	case *ast.CaseClause:
		w.statements(n.Body)
		for _, s := range n.Body {
			ast.Inspect(s, w.visit)
		}
		return false // the values of a case are constants that must differ
	case *ast.CommClause:
		w.statements(n.Body)
	case *ast.CallExpr:
		w.leaveOutCapacity(n)
		w.call(n)
	case *ast.ReturnStmt:
		w.leaveOutBesideError(n)
		w.returns(n)
	case *ast.ArrayType:
		return false
	}
	return true
}

func (w *finder) binary(n *ast.BinaryExpr) {
	if w.info.Types[n].Value != nil {
		return
	}
	x, y := w.text(n.X), w.text(n.Y)
	if other, ok := comparisons[n.Op]; ok {
		plain := x + " " + n.Op.String() + " " + y
		w.add(n, plain+" -> "+other.String(), either(x+" "+other.String()+" "+y, plain))
		return
	}
	b, ok := w.info.TypeOf(n).Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 || calls(n) {
		return
	}
	switch n.Op {
	case token.ADD:
		w.add(n, x+" + "+y+" -> -", chosen(x+" - ("+y+")", x+" + "+y))
	case token.SUB:
		w.add(n, x+" - "+y+" -> +", chosen(x+" + "+y, x+" - "+y))
	}
}

// integer gives the type of a literal that is an integer of a predeclared type; "" for others.
func (w *finder) integer(n *ast.BasicLit) string {
	if n.Kind != token.INT {
		return ""
	}
	b, ok := w.info.TypeOf(n).(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 || b.Info()&types.IsUntyped != 0 {
		return ""
	}
	if k, _ := constant.Int64Val(w.info.Types[n].Value); b.Kind() == types.Byte && k == math.MaxUint8 {
		return "" // one more would not compile
	}
	return b.Name()
}

// statements adds what can be dropped of a block.
func (w *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok || w.text(call.Fun) == "panic" {
				continue
			}
			w.add(s, "no "+firstLine(w.text(s)), unless(w.text(s)))
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return w.text(e) == "_" }) {
				w.add(s, "no "+firstLine(w.text(s)), unless(w.text(s)))
			}
		case *ast.IncDecStmt:
			w.add(s, "no "+w.text(s), unless(w.text(s)))
		}
	}
}

// symmetric are functions that give the same whatever the order of their arguments.
var symmetric = []string{"bytes.Equal", "strings.EqualFold", "slices.Equal", "maps.Equal", "errors.Join"}

// call adds the neighbours among the arguments of a call that can be swapped.
func (w *finder) call(n *ast.CallExpr) {
	if w.info.Types[n.Fun].IsType() || w.info.Types[n.Fun].IsBuiltin() || n.Ellipsis.IsValid() || slices.Contains(symmetric, w.text(n.Fun)) {
		return
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		ta, tb := w.info.Types[a], w.info.Types[b]
		if ta.Type == nil || tb.Type == nil || ta.Value != nil || tb.Value != nil || ta.IsNil() || tb.IsNil() ||
			!types.Identical(ta.Type, tb.Type) || calls(a) || calls(b) || w.text(a) == w.text(b) {
			continue
		}
		x, y := w.text(a), w.text(b)
		from, to := w.fset.Position(a.Pos()), w.fset.Position(b.End())
		w.sites = append(w.sites, site{file: w.name, from: from.Offset, to: to.Offset, line: from.Line, what: x + ", " + y + " swapped",
			code: func(k int) string { return chosen(y, x)(k) + ", " + chosen(x, y)(k) }})
	}
}

// leaveOutCapacity leaves out what only says how much room is made at once.
func (w *finder) leaveOutCapacity(n *ast.CallExpr) {
	switch f := w.text(n.Fun); {
	case f == "make" && len(n.Args) == 3:
		w.without[n.Args[2]] = true
	case f == "make" && len(n.Args) == 2:
		if _, ok := w.info.TypeOf(n).Underlying().(*types.Map); ok {
			w.without[n.Args[1]] = true
		}
	case f == "slices.Grow":
		w.without[n.Args[1]] = true
	}
}

// noteFailed notes that an error is not nil in the statements of an if.
func (w *finder) noteFailed(n *ast.IfStmt) {
	c, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || c.Op != token.NEQ || w.text(c.Y) != "nil" {
		return
	}
	for _, s := range n.Body.List {
		w.failed[s] = w.text(c.X)
	}
}

// leaveOutBesideError leaves out what is returned beside an error that is not nil: nobody reads that.
func (w *finder) leaveOutBesideError(n *ast.ReturnStmt) {
	if len(n.Results) < 2 {
		return
	}
	last := n.Results[len(n.Results)-1]
	if t := w.info.TypeOf(last); t == nil || t.String() != "error" {
		return
	}
	made := false
	switch e := last.(type) {
	case *ast.CallExpr:
		made = w.text(e.Fun) == "errors.New" || strings.HasSuffix(w.text(e.Fun), "Errorf")
	case *ast.UnaryExpr: // &MalformedError{...}
		made = e.Op == token.AND
	}
	if !made && w.failed[n] != w.text(last) {
		return
	}
	for _, r := range n.Results[:len(n.Results)-1] {
		w.without[r] = true
	}
}

// returns adds errors that are not returned and flags that are returned the other way.
func (w *finder) returns(n *ast.ReturnStmt) {
	for _, r := range n.Results {
		t := w.info.TypeOf(r)
		if t == nil || w.without[r] {
			continue
		}
		plain := w.text(r)
		switch id, ok := r.(*ast.Ident); {
		case ok && (id.Name == "true" || id.Name == "false"):
			w.add(r, "return not "+plain, func(k int) string { return fmt.Sprintf("(%s.Is(%d) != %s)", activeName, k, plain) })
		case ok && id.Name != "nil" && t.String() == "error":
			w.add(r, "return no "+plain, func(k int) string { return fmt.Sprintf("%s.If[error](%d, nil, %s)", activeName, k, plain) })
		}
	}
}

// calls reports whether evaluating an expression twice may do something twice, or reads what may not be there.
func calls(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit, *ast.IndexExpr, *ast.StarExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

func firstLine(s string) string {
	if line, _, ok := strings.Cut(s, "\n"); ok {
		return line + " ..."
	}
	return s
}
