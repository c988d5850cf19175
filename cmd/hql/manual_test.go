package main

import (
	"flag"
	"slices"
	"testing"
)

// The flags in the output of -h, from which completion and the manual page are made, are the actual flags.
func TestUsage(t *testing.T) {
	var want []string
	takes := map[string]bool{}
	(&config{}).flags().VisitAll(func(f *flag.Flag) {
		dashes := "--"
		if len(f.Name) == 1 {
			dashes = "-"
		}
		want = append(want, dashes+f.Name)
		of, ok := f.Value.(interface{ IsBoolFlag() bool })
		takes[dashes+f.Name] = !ok || !of.IsBoolFlag()
	})
	got := flagNames(mainFlags())
	slices.Sort(got)
	slices.Sort(want)
	for _, f := range mainFlags() {
		if takes[f.name] != (f.value != "") {
			t.Errorf("-h has %q for the value of %s", f.value, f.name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("-h lists\n%q\nthere are\n%q", got, want)
	}
}
