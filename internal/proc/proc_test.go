package proc

import (
	"os"
	"testing"
)

// A process knows its parent, and that it has run.
func TestRead(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("this system tells nothing under /proc")
	}
	before, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if before.Parent != os.Getppid() {
		t.Errorf("parent %d, want %d", before.Parent, os.Getppid())
	}
	now := before
	for now.CPU <= before.CPU {
		if now, err = Read(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(-1); err == nil {
		t.Error("there is a process -1")
	}
}
