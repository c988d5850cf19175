package main

import (
	"flag"
	"regexp"
	"slices"
	"testing"
)

// The output of -h lists the flags that there are.
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
	listed := regexp.MustCompile(`(?m)^  (--?[0A-Za-z-]+)(?: ([A-Z]+(?:=[A-Z]+)?))? +\S`).FindAllStringSubmatch(textOf("hql"), -1)
	var got []string
	for _, f := range listed {
		got = append(got, f[1])
	}
	slices.Sort(got)
	slices.Sort(want)
	for _, f := range listed {
		if takes[f[1]] != (f[2] != "") {
			t.Errorf("-h has %q for the value of %s", f[2], f[1])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("-h lists\n%q\nthere are\n%q", got, want)
	}
}
