// Package python finds a Python for tests that compare hql with Python programs.
package python

import (
	"cmp"
	"os"
	"os/exec"
	"testing"
)

// With returns a Python that has the modules: HQL_TEST_PYTHON, or python3. Without one the test is skipped; if
// HQL_TEST_PYTHON is set, the test fails.
func With(t testing.TB, modules ...string) string {
	t.Helper()
	given := os.Getenv("HQL_TEST_PYTHON")
	py, err := exec.LookPath(cmp.Or(given, "python3"))
	for i := 0; err == nil && i < len(modules); i++ {
		err = exec.Command(py, "-c", "import "+modules[i]).Run()
	}
	switch {
	case err != nil && given != "":
		t.Fatalf("HQL_TEST_PYTHON=%s lacks one of the modules %v: %v", given, modules, err)
	case err != nil:
		t.Skipf("python3 lacks one of the modules %v (set HQL_TEST_PYTHON to another Python): %v", modules, err)
	}
	return py
}
