package coverage

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
)

// notDrawn are features that no world draws, with the reason; of a kind of node it holds for its fields too.
var notDrawn = map[string]string{
	"key encoding OPENTSDB_VALUE": "stands in cells only", "key function OPENTSDB_QUALIFIER": "stands in qualifiers only",
	"key encoding PHOENIX ARRAY": "stands in cells only", "key encoding PHOENIX ELEMENT": "stands in cells only",
	"key encoding INVERTED": "stands before the name of another",
	"key encoding NULLABLE": "is that of the layout phoenix_nulls", "key encoding DEFAULT": "stands in cells only",
	"key function OPENTSDB_UID": "is that of the layout tsdb, which has cases of its own",

	"function SIMILAR_TO": isOperator, "function SUBSTRING_MATCH": isOperator, "function TIMEZONE": isOperator, "function BIT_NOT": isOperator,
	"function DATE_ADD_INTERVAL": isOperator, "function INTERVAL_ADD": isOperator, "function INTERVAL_DIVIDE": isOperator,
	"function INTERVAL_FIELD": isOperator, "function INTERVAL_MULTIPLY": isOperator,

	"PartDef": isNamed, "EncodingDef": isNamed, "IncludeDef": isNamed, "RangeArg": isNamed,
	"Show": noQuery, "Explain": noQuery, "Set": noQuery, "Transaction": noQuery, "Analyze": noQuery, "DropView": noQuery, "CheckTable.Repair": noQuery,
	"CreateTable.External": "is of tables that others made: hql's own are as good", "CreateTable.IfNotExists": "the world is new",
	"LayoutDef.Include": "is of an INDEX that others write", "Cast.Encoding": "is of columns that no definition has",
}

const (
	isOperator = "is written as an operator"
	isNamed    = "is told by what stands in it"
	noQuery    = "neither reads nor writes rows"
)

// apart says why two features never come together; "" where they may.
func apart(a, b string) string {
	salt := func(f string) bool { return strings.Contains(f, "SALT") }
	switch {
	case salt(a) && salt(b):
		return "a key has one salt"
	case salt(a) && b == "key function LOOKUP", salt(b) && a == "key function LOOKUP":
		return "numbers spread rows as a salt does: no key has both"
	}
	return ""
}

// fullLength is the number of tables from which on each pair must have come up, and of queries from which on each feature: what a
// nightly run draws of each.
const fullLength = 200_000

// wanted lists what must be drawn: the catalog's encodings and the functions of the key algebra in keys, the kinds of nodes in queries.
func wanted(t *testing.T) (out []string) {
	for _, e := range catalog.New().Encodings() {
		if _, of, ok := strings.Cut(e.Name, "INT"); !ok || of == "" {
			out = append(out, "key encoding "+e.Name)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for _, kind := range []string{"INT", "UINT", "ORDERED INT", "LITTLE INT"} {
		out = append(out, "key encoding "+kind, "index encoding "+kind, "cell encoding "+kind)
	}
	for _, f := range expr.Builtins().All() {
		if f.Group == "operator" {
			continue
		}
		if f.Key != nil && f.Name != "DATE_ADD_INTERVAL" {
			out = append(out, "key function "+f.Name)
		}
		if f.Group != "key" {
			out = append(out, "function "+f.Name)
		}
	}
	for _, file := range []string{"ast.go", "ast_expr.go", "view.go"} {
		out = append(out, nodes(source(t, "../../parser/"+file))...)
	}
	for _, n := range []string{"1", "2", "3"} {
		out = append(out, "delimiter of "+n)
	}
	return append(out, "no delimiter", "computed name")
}

// nodes lists the kinds of nodes that a file of the parser's declares, and of each the fields that may be left empty.
func nodes(file *ast.File) (out []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		node, ok := spec.Type.(*ast.StructType)
		kind := spec.Name.Name
		if !ok || !ast.IsExported(kind) || notDrawn[kind] != "" {
			return false
		}
		switch kind {
		case "SelectCore":
			kind = "SELECT"
		case "ColumnSource": // within a definition only
			kind = "ColumnDef.From"
		}
		out = append(out, kind)
		for _, f := range node.Fields.List {
			if !mayBeEmpty(f.Type) {
				continue
			}
			for _, name := range f.Names {
				out = append(out, spec.Name.Name+"."+name.Name)
			}
		}
		return false
	})
	return out
}

func mayBeEmpty(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.ArrayType, *ast.StarExpr:
		return true
	case *ast.Ident:
		return t.Name == "bool" || t.Name == "Expr" || t.Name == "TableExpr"
	}
	return false
}

func source(t *testing.T, path string) *ast.File {
	f, err := goparser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What the tests of a nightly run drew, by what they left in the directory that HQL_COVERAGE names.
func TestDrawn(t *testing.T) {
	dir := os.Getenv(Env)
	if dir == "" {
		t.Skipf("%s names no directory with counts", Env)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no counts in %s: %v", dir, err)
	}
	sum := map[string]int{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			n, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			count, err := strconv.Atoi(n)
			if err != nil {
				t.Fatalf("%s: %q", file, line)
			}
			sum[what] += count
		}
	}
	want := wanted(t)
	for _, k := range slices.Sorted(maps.Keys(sum)) {
		if !strings.Contains(k, "\t") {
			t.Logf("%9d %s", sum[k], k)
		}
	}
	drawn := func(f string) bool { // TEXT is any of TEXT, TEXT(n) and TEXT('...')
		return sum[f] > 0 || sum[f+"(n)"] > 0 || sum[f+"('...')"] > 0
	}
	var never, keys []string
	for _, f := range want {
		switch {
		case drawn(f):
			if strings.HasPrefix(f, "key ") || strings.HasPrefix(f, "delimiter") {
				keys = append(keys, f)
			}
		case notDrawn[f] == "":
			never = append(never, f)
		}
	}
	pairs, lacking := 0, []string{}
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			if apart(a, b) != "" {
				continue
			}
			pairs++
			found := false
			for _, x := range []string{"", "(n)", "('...')"} {
				for _, y := range []string{"", "(n)", "('...')"} {
					p := []string{a + x, b + y}
					slices.Sort(p)
					found = found || sum[p[0]+"\t"+p[1]] > 0
				}
			}
			if !found {
				lacking = append(lacking, a+" with "+b)
			}
		}
	}
	t.Logf("pairs never drawn: %s", strings.Join(lacking, "; "))
	t.Logf("figures: features %d, features never drawn %d, pairs in keys %d, pairs never drawn %d, seeds from 0", len(want), len(never), pairs, len(lacking))
	t.Logf("never drawn: %s", strings.Join(never, ", "))
	if sum["CreateTable"] >= fullLength && sum["SELECT"] >= fullLength && len(never) > 0 {
		t.Errorf("%d features never drawn", len(never))
	}
	if sum["CreateTable"] >= fullLength && len(lacking) > 0 {
		t.Errorf("%d pairs never drawn", len(lacking))
	}
}

func TestOf(t *testing.T) {
	s, err := parser.ParseStatement("CREATE TABLE t (a INT, s STRING, v INT AS ORDERED INT32) ROW KEY main (LEFT(MD5(s), 2), s AS TEXT, '::', a AS TEXT(4)) STORED IN ('t_', FLOORMOD(a, 3) AS TEXT(1)) INDEX x (v AS INT32, s AS TEXT, X'00', a AS INT32)")
	if err != nil {
		t.Fatal(err)
	}
	got := Of(s)
	for _, f := range []string{"key function MD5", "key encoding TEXT", "key encoding TEXT(n)", "delimiter of 2", "delimiter of 1", "computed name", "name function FLOORMOD", "index encoding INT", "cell encoding ORDERED INT", "LayoutDef.Index"} {
		if !slices.Contains(got, f) {
			t.Errorf("no %q in %q", f, got)
		}
	}
	s, err = parser.ParseStatement("SELECT 1 FROM t WHERE a NOT IN (SELECT 1) AND EXISTS (SELECT 1)")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"In.Not", "In.Query", "SubqueryExpr.Exists", "Binary.Op AND"} {
		if got := Of(s); !slices.Contains(got, f) {
			t.Errorf("no %q in %q", f, got)
		}
	}
}
