package hbasetest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
)

// A process that borrows an HBase finds no table of the one before it, which left some.
func TestLentEmpty(t *testing.T) {
	const user = "HQL_TEST_BORROWER"
	if os.Getenv(user) == "" {
		if os.Getenv(quorumEnv) != "" {
			t.Skip("the HBase that " + quorumEnv + " names is not lent")
		}
		ClassPath(t, Plain()) // skips without Java
		for range 2 {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLentEmpty$")
			cmd.Env = append(os.Environ(), user+"=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		return
	}
	admin := gohbase.NewAdminClient(Quorum(t))
	list, err := hrpc.NewListTableNames(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names, err := admin.ListTableNames(list)
	if err != nil || len(names) > 0 {
		t.Fatal(names, err)
	}
	for _, name := range []string{"left", "left_too"} {
		if err := admin.CreateTable(hrpc.NewCreateTable(t.Context(), []byte(name), map[string]map[string]string{"f": nil})); err != nil {
			t.Fatal(err)
		}
	}
}
