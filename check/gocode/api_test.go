package gocode

import (
	"database/sql"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"testing"

	"github.com/hql-db/hql"
)

// apiSource declares every method that takes a statement, or leads to one, with the statement at its place.
func TestAPI(t *testing.T) {
	a := newAPI(token.NewFileSet())
	notStatements := []string{"DB.Piece", "DB.Ping", "DB.CopyFrom", "DB.RelationOID"}
	for _, x := range []any{(*hql.DB)(nil), (*hql.Batch)(nil), (*sql.DB)(nil), (*sql.Tx)(nil), (*sql.Conn)(nil)} {
		of := reflect.TypeOf(x)
		path, name := of.Elem().PkgPath(), of.Elem().Name()
		declared, ok := a[path].Scope().Lookup(name).Type().(*types.Named)
		if !ok {
			t.Fatalf("%s.%s is not declared", path, name)
		}
		methods := map[string]*types.Func{}
		for m := range declared.Methods() {
			methods[m.Name()] = m
		}
		for i := range of.NumMethod() {
			m := of.Method(i)
			if slices.Contains(notStatements, name+"."+m.Name) {
				continue
			}
			statement := -1
			for k := m.Type.NumIn() - 1; k > 0; k-- {
				if m.Type.In(k).Kind() == reflect.String {
					statement = k - 1
				}
			}
			switch f := methods[m.Name]; {
			case f == nil && statement >= 0:
				t.Errorf("%s.%s.%s is not declared", path, name, m.Name)
			case f != nil && a.takes(f) != statement:
				t.Errorf("%s.%s.%s: the statement is argument %d, declared as %d", path, name, m.Name, statement, a.takes(f))
			case f != nil && f.Signature().Params().Len() != m.Type.NumIn()-1:
				t.Errorf("%s.%s.%s has %d parameters", path, name, m.Name, m.Type.NumIn()-1)
			}
			delete(methods, m.Name)
		}
		for name := range methods {
			t.Errorf("%s has no method %s", path, name)
		}
	}
}
