package check

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Baseline counts the statements that may continue to fail, by file, verdict and text, not by line.
type Baseline map[string]int

const baselineHead = "# hql check: statements that missed the rowkey prefix when this file was written. Lines: file, verdict, statement.\n"

// fingerprint returns the line for r in a baseline.
func (r *Result) fingerprint() string {
	return filepath.ToSlash(filepath.Clean(r.File)) + "\t" + string(r.Verdict) + "\t" + r.SQL
}

// ReadBaseline reads the text of a baseline file.
func ReadBaseline(text string) (Baseline, error) {
	b := Baseline{}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.Count(line, "\t") < 2 {
			return nil, fmt.Errorf("line %d is no line of a baseline: it needs a file, a verdict and a statement, with tabs between", i+1)
		}
		b[line]++
	}
	return b, nil
}

// Apply marks the results that are in the baseline as known. It returns the number of the baseline's statements that no
// longer fail.
func (b Baseline) Apply(results []Result) (gone int) {
	left := Baseline{}
	for line, n := range b {
		left[line], gone = n, gone+n
	}
	for i := range results {
		r := &results[i]
		if line := r.fingerprint(); r.Fails() && left[line] > 0 {
			left[line]--
			gone--
			r.Known = true
		}
	}
	return gone
}

// BaselineOf returns the text of a baseline with the results that fail.
func BaselineOf(results []Result) string {
	var lines []string
	for i := range results {
		if results[i].Fails() {
			lines = append(lines, results[i].fingerprint()+"\n")
		}
	}
	slices.Sort(lines)
	return baselineHead + strings.Join(lines, "")
}
