package parser

import (
	"slices"
	"strings"
	"testing"
)

// TestElsewhere checks that each line of elsewhere.txt can be found: a word has one hint of each kind.
func TestElsewhere(t *testing.T) {
	kinds := []string{"statement", "unsupported", "upkeep", "definition", "constraint", "object", "alter", "function", "type"}
	seen := map[string]bool{}
	for line := range strings.Lines(elsewhereText) {
		head, hint, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok || hint == "" {
			t.Errorf("no hint: %s", line)
		}
		for group := range strings.SplitSeq(head, "; ") {
			kind, words, _ := strings.Cut(group, " ")
			if !slices.Contains(kinds, kind) {
				t.Errorf("unknown kind %q: %s", kind, line)
			}
			for word := range strings.SplitSeq(words, ", ") {
				if seen[kind+" "+word] || word == "" || word != strings.ToUpper(word) || Elsewhere(kind, word) != hint {
					t.Errorf("%s %q is repeated or not found: %s", kind, word, line)
				}
				seen[kind+" "+word] = true
			}
		}
	}
}
