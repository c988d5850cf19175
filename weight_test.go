package hql_test

import (
	osexec "os/exec"
	"strings"
	"testing"
)

// A program that asks clusters compiles no embedded store and no columnar format: their packages register themselves.
func TestWeight(t *testing.T) {
	const most = 400 // packages, those of the standard library included
	out, err := osexec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) > most {
		t.Errorf("the library compiles %d packages, more than %d: find the heavy one by go list -deps .", len(packages), most)
	}
	for _, p := range packages {
		for _, heavy := range []string{
			"github.com/apache/arrow-go", "github.com/apache/thrift", "github.com/cockroachdb/pebble", "github.com/getsentry",
			"github.com/hql-db/hql/columnar", "github.com/hql-db/hql/embedded", "github.com/hql-db/hql/store",
			"github.com/parquet-go", "google.golang.org/grpc",
		} {
			if p == heavy || strings.HasPrefix(p, heavy+"/") {
				t.Errorf("the library compiles %s: go list -deps shows the way to it", p)
			}
		}
	}
}
