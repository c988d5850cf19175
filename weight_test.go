package hql_test

import (
	osexec "os/exec"
	"strings"
	"testing"
)

// A program that asks clusters compiles no embedded store and no columnar format: their packages register themselves.
func TestWeight(t *testing.T) {
	const most = 400 // packages, those of the standard library included
	packages := compiled(t, ".",
		"github.com/apache/arrow-go", "github.com/apache/thrift", "github.com/cockroachdb/pebble", "github.com/getsentry",
		"github.com/hql-db/hql/columnar", "github.com/hql-db/hql/embedded", "github.com/hql-db/hql/store",
		"github.com/parquet-go", "google.golang.org/grpc", "text/template")
	if packages > most {
		t.Errorf("the library compiles %d packages, more than %d: find the heavy one by go list -deps .", packages, most)
	}
}

// The linker keeps all exported methods of a program with text/template: the command was a sixth larger.
func TestWeightOfCommand(t *testing.T) { compiled(t, "./cmd/hql", "text/template") }

// compiled counts the packages that a package of this module compiles, and checks that none of them is in heavy or
// below one of these.
func compiled(t *testing.T, of string, heavy ...string) int {
	t.Helper()
	out, err := osexec.Command("go", "list", "-deps", of).Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, p := range packages {
		for _, h := range heavy {
			if p == h || strings.HasPrefix(p, h+"/") {
				t.Errorf("%s compiles %s: go list -deps shows the way to it", of, p)
			}
		}
	}
	return len(packages)
}
