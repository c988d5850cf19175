package main

import "testing"

func TestBare(t *testing.T) {
	for line, want := range map[string]string{
		"exit;":            `\q`,
		"!quit":            `\q`,
		"list":             `\dt`,
		"!tables":          `\dt`,
		"!describe files":  `\d files`,
		"describe 'files'": `\d 'files'`,
		"describe files":   "describe files",
		"help select":      `\h select`,
		".tables":          `\dt`,
		".exit":            `\q`,
		".schema files":    `\d files`,
		".mode csv":        `\.mode csv`,
		"scan 'files'":     "scan 'files';",
		"get 'f', 'r' ;":   "get 'f', 'r';",
		"exists 'files'":   "exists 'files';",
		"list 'f.*'":       "list 'f.*';",
		"SELECT 'a'":       "SELECT 'a'",
		"-- 'a'":           "-- 'a'",
		"count files":      "count files",
		".5 + 1":           ".5 + 1",
		"list of things":   "list of things",
	} {
		if got := bare(line); got != want {
			t.Errorf("%q: %q, not %q", line, got, want)
		}
	}
}
