package functions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
)

func TestRing(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(testdata.Ring), "\n")[1:]
	if len(lines) != 10 {
		t.Fatalf("%d messages", len(lines))
	}
	for _, line := range lines {
		f := strings.Split(line, "\t") // message id, hash, node
		if h := fmt.Sprint(ringHash(f[0])); h != f[1] {
			t.Errorf("hash of %s is %s, want %s", f[0], h, f[1])
		}
		tree, err := parser.ParseExpr("RING('" + f[0] + "', '0001' TO '0010', 100)")
		if err != nil {
			t.Fatal(err)
		}
		e, err := expr.Compile(tree, &expr.Scope{Key: true, Funcs: Builtins()})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := e.Eval(new(expr.Env)); err != nil || v.Text() != f[2] {
			t.Errorf("%s belongs to %s (%v), want %s", f[0], v, err, f[2])
		}
	}
}
