package worlds

import (
	_ "embed"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed grammar.txt
var grammar string

// rules holds the alternatives of grammar.txt by the name of the rule, or by its name and a type.
var rules = parseRules(grammar)

func parseRules(text string) map[string][]string {
	out := map[string][]string{}
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		head, isHead := strings.CutSuffix(line, ":")
		alternatives, indented := strings.CutPrefix(line, "\t")
		switch {
		case indented:
			for a := range strings.SplitSeq(alternatives, " | ") {
				times := 1
				if n, rest, ok := strings.Cut(a, "* "); ok {
					if k, err := strconv.Atoi(n); err == nil {
						times, a = k, rest
					}
				}
				if s, err := strconv.Unquote(a); err == nil && a[0] == '"' {
					a = s
				}
				for _, n := range names {
					out[n] = append(out[n], slices.Repeat([]string{a}, times)...)
				}
			}
		case isHead && line[0] != '#':
			words := strings.Fields(head)
			types := slices.IndexFunc(words, func(w string) bool { return w == strings.ToUpper(w) })
			if names = []string{head}; types < 0 {
				continue
			}
			names = nil
			for _, t := range words[types:] {
				names = append(names, strings.Join(words[:types], " ")+" "+t)
			}
		}
	}
	return out
}

var word = regexp.MustCompile(`\{[a-z][a-z 0-9]*\}`)

// draw returns a text of a rule for a type. own returns the texts of words that are not rules.
func draw(r *rand.Rand, rule, typ string, own func(word string) (string, bool)) string {
	alternatives, ok := rules[rule+" "+typ]
	if !ok {
		alternatives, ok = rules[rule]
	}
	if !ok {
		panic("grammar.txt lacks the rule " + rule + " for " + typ)
	}
	return word.ReplaceAllStringFunc(pick(r, alternatives), func(w string) string {
		w = w[1 : len(w)-1]
		if s, ok := own(w); ok {
			return s
		}
		return draw(r, w, typ, own)
	})
}

func pick[T any](r *rand.Rand, xs []T) T { return xs[r.IntN(len(xs))] }
