package main

import "testing"

// TestMendsApply checks that each piece of code that a mend names still stands in the code, once.
func TestMendsApply(t *testing.T) {
	const root = "../.."
	mends, err := readMends(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mends {
		if _, err := m.revert(files); err != nil {
			t.Error(err)
		}
	}
}
