package worlds

import (
	"slices"
	"strings"
	"testing"
)

// ofCode are the words that the code draws, and not a rule.
var ofCode = strings.Fields("c k condition deeper other same quoted part joined piece hex e x y")

// Something draws each word of the grammar: a rule, or the code.
func TestGrammar(t *testing.T) {
	named := func(w string) bool {
		for r := range rules {
			if r == w || strings.HasPrefix(r, w+" ") {
				return true
			}
		}
		return w == "other k" || slices.Contains(ofCode, w)
	}
	for rule, alternatives := range rules {
		for _, a := range alternatives {
			for _, w := range word.FindAllString(a, -1) {
				if !named(strings.Trim(w, "{}")) {
					t.Errorf("the rule %s has the word %s, which nothing draws", rule, w)
				}
			}
		}
	}
}
