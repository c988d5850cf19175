package gocode

import (
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
var apiSource = map[string]string{
	hqlPath: `package hql
func Open(ctx any, dsn string, opts ...any) (*DB, error)
func New(client, admin, cat any, opts ...any) (*DB, error)
type DB struct{}
func (*DB) Exec(ctx any, sql string, args ...any) (Result, error)
func (*DB) Explain(ctx any, sql string, args ...any) (*Plan, error)
func (*DB) Parse(sql string) (*Stmt, error)
func (*DB) Pieces(ctx any, sql string, args ...any) (*Pieces, error)
func (*DB) Prepare(ctx any, sql string) (*Stmt, error)
func (*DB) Query(ctx any, sql string, args ...any) (*Rows, error)
func (*DB) QueryRow(ctx any, sql string, args ...any) *OneRow
func (*DB) Session() *DB
type Batch struct{}
func (*Batch) Queue(sql string, args ...any)
type Stmt struct{}
type Rows struct{}
type OneRow struct{}
type Result struct{}
type Plan struct{}
type Pieces struct{}
`,
	sqlPath: `package sql
func Open(driverName, dataSourceName string) (*DB, error)
func OpenDB(c any) *DB
type DB struct{}
func (*DB) Begin() (*Tx, error)
func (*DB) BeginTx(ctx, opts any) (*Tx, error)
func (*DB) Conn(ctx any) (*Conn, error)
func (*DB) Exec(query string, args ...any) (Result, error)
func (*DB) ExecContext(ctx any, query string, args ...any) (Result, error)
func (*DB) Prepare(query string) (*Stmt, error)
func (*DB) PrepareContext(ctx any, query string) (*Stmt, error)
func (*DB) Query(query string, args ...any) (*Rows, error)
func (*DB) QueryContext(ctx any, query string, args ...any) (*Rows, error)
func (*DB) QueryRow(query string, args ...any) *Row
func (*DB) QueryRowContext(ctx any, query string, args ...any) *Row
type Tx struct{}
func (*Tx) Exec(query string, args ...any) (Result, error)
func (*Tx) ExecContext(ctx any, query string, args ...any) (Result, error)
func (*Tx) Prepare(query string) (*Stmt, error)
func (*Tx) PrepareContext(ctx any, query string) (*Stmt, error)
func (*Tx) Query(query string, args ...any) (*Rows, error)
func (*Tx) QueryContext(ctx any, query string, args ...any) (*Rows, error)
func (*Tx) QueryRow(query string, args ...any) *Row
func (*Tx) QueryRowContext(ctx any, query string, args ...any) *Row
type Conn struct{}
func (*Conn) BeginTx(ctx, opts any) (*Tx, error)
func (*Conn) ExecContext(ctx any, query string, args ...any) (Result, error)
func (*Conn) PrepareContext(ctx any, query string) (*Stmt, error)
func (*Conn) QueryContext(ctx any, query string, args ...any) (*Rows, error)
func (*Conn) QueryRowContext(ctx any, query string, args ...any) *Row
type Stmt struct{}
type Rows struct{}
type Row struct{}
type Result interface{}
`,
}

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
