package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// build.sh sets these variables; other builds leave them empty, and version and built read Go's build information.
var release, commit string

// version returns the release, or the module's version in the build information.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(release, b.Main.Version, "(devel)")
	}
	return cmp.Or(release, "(devel)")
}

// built returns the output of --version: the version, the commit if known, the Go version and the platform.
func built() string {
	of := commit
	if b, ok := debug.ReadBuildInfo(); ok && of == "" {
		changed := false
		for _, s := range b.Settings {
			switch s.Key {
			case "vcs.revision":
				of = s.Value[:min(len(s.Value), 12)]
			case "vcs.modified":
				changed = s.Value == "true"
			}
		}
		if changed {
			of += " and changes"
		}
	}
	if of != "" {
		of = "commit " + of + ", "
	}
	return fmt.Sprintf("hql %s (%s%s, %s/%s)", version(), of, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
