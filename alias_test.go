package hql

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// go doc shows no fields of an alias, so the alias's comment lists them.
func TestAliasesListFields(t *testing.T) {
	types := map[string]reflect.Type{
		"BatchError": reflect.TypeFor[BatchError](), "Error": reflect.TypeFor[Error](), "FullScanError": reflect.TypeFor[FullScanError](),
		"ParameterType": reflect.TypeFor[ParameterType](), "Partial": reflect.TypeFor[Partial](), "PartialError": reflect.TypeFor[PartialError](),
		"QueryOptions": reflect.TypeFor[QueryOptions](), "ScanLimit": reflect.TypeFor[ScanLimit](),
		"ScanLimitError": reflect.TypeFor[ScanLimitError](), "Stats": reflect.TypeFor[Stats](),
	}
	fset := token.NewFileSet()
	var files []*ast.File
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/hql-db/hql")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Types {
		spec := d.Decl.Specs[0].(*ast.TypeSpec)
		if !spec.Assign.IsValid() {
			continue
		}
		of, ok := types[d.Name]
		if !ok {
			if !strings.Contains(d.Doc, "[") && d.Name != "FullScan" {
				t.Errorf("%s: its comment does not link to the type", d.Name)
			}
			continue
		}
		delete(types, d.Name)
		for i := range of.NumField() {
			if name := of.Field(i).Name; !regexp.MustCompile(`\b` + name + `\b`).MatchString(d.Doc) {
				t.Errorf("%s: its comment does not tell of the field %s", d.Name, name)
			}
		}
	}
	for name := range types {
		t.Errorf("%s is no alias", name)
	}
}
