package parser

import (
	_ "embed"
	"strings"
	"sync"
)

// elsewhereText has the words of other systems that hql does not have, and what a user writes in their place. A line has
// words of some kinds and a hint:
//
//	statement RELEASE, SAVEPOINT: there are no transactions: ...
//	function XPATH; type XML: TEXT holds XML, ...
//
//go:embed elsewhere.txt
var elsewhereText string

var hintsElsewhere = sync.OnceValue(func() map[string]string {
	hints := map[string]string{}
	for line := range strings.Lines(elsewhereText) {
		head, hint, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		for group := range strings.SplitSeq(head, "; ") {
			kind, words, _ := strings.Cut(group, " ")
			for word := range strings.SplitSeq(words, ", ") {
				hints[kind+" "+word] = hint
			}
		}
	}
	return hints
})

// Elsewhere returns the hint for a word of another system, in upper case, that names a thing of the given kind: a
// statement, a clause of a definition, a constraint, a kind of object that CREATE or ALTER names, a function or a type. It
// returns "" if there is no hint.
func Elsewhere(kind, word string) string { return hintsElsewhere()[kind+" "+word] }
