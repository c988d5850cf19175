// Package python finds a Python for tests that compare with what is written in it.
package python

import (
	"cmp"
	"os"
	"os/exec"
	"testing"
)

// With gives a Python that has the modules: that of HQL_TEST_PYTHON, or python3. Without one the test is skipped, unless
// HQL_TEST_PYTHON is set: then it fails.
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
		t.Skipf("there is no python3 with the modules %v (HQL_TEST_PYTHON names another): %v", modules, err)
	}
	return py
}
