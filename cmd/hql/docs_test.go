package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/types"
)

var update = flag.Bool("update", false, "write the generated parts of docs/sql.md anew")

// TestDocs checks the parts of docs/sql.md between <!-- name --> and <!-- end --> against what they are made from.
func TestDocs(t *testing.T) {
	const path = "../../docs/sql.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]func(*testing.T) string{"statements": docStatements, "functions": docFunctions, "binding": docBinding, "encodings": docEncodings, "settings": docSettings, "yardstick": docYardstick}
	block := regexp.MustCompile(`(?s)<!-- (\w+) -->\n.*?<!-- end -->`)
	now := block.ReplaceAllStringFunc(string(text), func(s string) string {
		name := block.FindStringSubmatch(s)[1]
		part := parts[name]
		if part == nil {
			t.Fatalf("%s: nothing makes %q, or it stands there twice", path, name)
		}
		delete(parts, name)
		return "<!-- " + name + " -->\n" + part(t) + "<!-- end -->"
	})
	for name := range parts {
		t.Errorf("%s has no <!-- %s -->", path, name)
	}
	if now == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is not current: go test ./cmd/hql -run TestDocs -update", path)
	}
	if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

func docStatements(*testing.T) string {
	var b strings.Builder
	for _, topic := range topics {
		b.WriteString("\n    " + strings.ReplaceAll(topic.text, "\n", "\n    ") + "\n")
	}
	return b.String() + "\n"
}

func docFunctions(*testing.T) string {
	titles := []struct{ group, title string }{
		{"aggregate", "Aggregates"}, {"window", "Window functions"}, {"conditional", "Conditional"}, {"string", "Text"}, {"number", "Numbers"}, {"time", "Dates and times"},
		{"json", "JSON"}, {"array", "Arrays"}, {"hash", "Hashes"}, {"sequence", "Sequences"}, {"key", "Only in key parts"},
	}
	funcs := functions.Builtins()
	var b strings.Builder
	for _, t := range titles {
		fmt.Fprintf(&b, "\n%s\n\n", t.title)
		for _, f := range funcs.All() {
			if f.Group != t.group {
				continue
			}
			doc := f.Doc
			called, _, call := strings.Cut(f.Signature, "(")
			names := slices.DeleteFunc(append(funcs.Aliases(f.Name), f.Name), func(name string) bool {
				return !call || strings.Contains(called, " ") || strings.EqualFold(name, called)
			})
			if len(names) > 0 {
				doc += " Also `" + strings.ToLower(strings.Join(names, "`, `")) + "`."
			}
			b.WriteString(docItem("`"+f.Signature+"`", doc))
		}
	}
	return b.String() + "\n"
}

// docBinding sums up the sweep of package solve: expressions of a column with what is known of their comparisons, and of them as key parts. Functions
// that the sweep lacks follow with what they say of themselves.
func docBinding(t *testing.T) string {
	text, err := os.ReadFile("../../expr/solve/testdata/sweep")
	if err != nil {
		t.Fatal(err)
	}
	constants := regexp.MustCompile(`(?:TIMESTAMP |DATE |INTERVAL )?'[^']*'|X'\d+'|\b\d[\d.]*(?:::DOUBLE)?\b`)
	comparison := regexp.MustCompile(`(\S+) ([TWtw-])(?:  | \|)`)
	swept := map[string]map[string][]string{} // by type and what is said of them, expressions
	groups := map[string]map[string]bool{}    // of expressions without their constants, what is said of them
	var types []string
	each := func(do func(expression, general, head string)) {
		for line := range strings.Lines(string(text)) {
			switch {
			case line[0] == '#':
				continue
			case line[0] != ' ':
				types = append(types, strings.TrimSpace(line))
				continue
			}
			line, why, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  because ")
			at := regexp.MustCompile(" = [TWtw-]  ").FindStringIndex(line)[0]
			expression := strings.TrimSpace(line[:at])
			do(expression, constants.ReplaceAllString(expression, "k"), bindingOf(comparison.FindAllStringSubmatch(line[at:], -1), why)+"; as a key part "+partOf(line[strings.LastIndex(line, "| "):]))
		}
	}
	each(func(_, general, head string) {
		if groups[general] == nil {
			groups[general] = map[string]bool{}
		}
		groups[general][head] = true
	})
	types = nil
	each(func(expression, general, head string) {
		of := types[len(types)-1]
		if swept[of] == nil {
			swept[of] = map[string][]string{}
		}
		if len(groups[general]) > 1 { // its constants matter
			general = expression
		}
		if general = "`" + strings.ReplaceAll(general, " ", unbroken) + "`"; !slices.Contains(swept[of][head], general) {
			swept[of][head] = append(swept[of][head], general)
		}
	})
	var b strings.Builder
	for _, of := range types {
		b.WriteString("\n" + of + "\n\n")
		for _, head := range slices.Sorted(maps.Keys(swept[of])) {
			b.WriteString(docItem(head[1:], strings.Join(swept[of][head], ", ")+"."))
		}
	}
	others := map[string][]string{} // functions by what they say
	for _, f := range functions.Builtins().All() {
		name := strings.ToLower(f.Name)
		switch {
		case f.Group == "aggregate" || f.Group == "window" || f.Group == "key" || regexp.MustCompile(`(?i)[ (]`+regexp.QuoteMeta(name)+`[ (]`).Match(text):
		case f.Binds != "":
			others["Bound "+f.Binds] = append(others["Bound "+f.Binds], "`"+name+"`")
		case f.Unknown != "":
			others["Nothing, because "+f.Unknown] = append(others["Nothing, because "+f.Unknown], "`"+name+"`")
		}
	}
	b.WriteString("\nOther functions\n\n")
	for _, what := range slices.Sorted(maps.Keys(others)) {
		b.WriteString(docItem(what, strings.Join(others[what], ", ")+"."))
	}
	return b.String() + "\n"
}

// bindingOf says what comparisons bind, which are pairs of an operator and the sweep's letter. Its first byte is for sorting.
func bindingOf(comparisons [][]string, why string) string {
	words := []struct{ letter, words string }{{"T", "exact"}, {"W", "wider"}, {"t", "exact within a range"}, {"w", "wider within a range"}, {"-", "nothing"}}
	by := map[string][]string{}
	within := slices.ContainsFunc(comparisons, func(c []string) bool { return c[2] == "t" || c[2] == "w" })
	for _, c := range comparisons {
		switch letter := c[2]; {
		case c[1] == "NULL" || c[1] == "<>":
		case within && letter == "T": // a constant at the end of the values decides it without a range
			by["t"] = append(by["t"], c[1])
		default:
			by[letter] = append(by[letter], c[1])
		}
	}
	out, sort := "", "4"
	for i, w := range words {
		ops := by[w.letter]
		if len(ops) == 0 {
			continue
		}
		if out == "" {
			sort = string(rune('0' + i))
		} else {
			out += "; "
		}
		if len(by) > 1 {
			out += "`" + strings.Join(ops, "` `") + "` "
		}
		if out += w.words; w.letter == "-" {
			out += ", because " + why
		}
	}
	return sort + strings.ToUpper(out[:1]) + out[1:]
}

// partOf says what the sweep's words on a key part mean.
func partOf(words string) string {
	var out []string
	if strings.Contains(words, "rises") || strings.Contains(words, "falls") {
		out = append(out, "ordered")
	} else if strings.Contains(words, "ranges") {
		out = append(out, "ranged")
	}
	if strings.Contains(words, " values") {
		out = append(out, "enumerated")
	}
	if out == nil {
		return "computed"
	}
	return strings.Join(out, " and ")
}

func docEncodings(*testing.T) string {
	all := catalog.New().Encodings()
	var b strings.Builder
	b.WriteString("\n")
	for len(all) > 0 {
		first, n := all[0], 1
		for n < len(all) && all[n].Doc == first.Doc && slices.Equal(all[n].Types, first.Types) {
			n++
		}
		var names []string
		for _, e := range all[:n] {
			names = append(names, "`"+e.Usage()+"`")
		}
		list := strings.Join(names, ", ")
		if n > 4 {
			list = names[0] + ", " + names[1] + " ... " + names[n-1]
		}
		b.WriteString(docItem(list+" ("+typeList(first.Types)+")", first.Doc))
		all = all[n:]
	}
	return b.String() + "\n"
}

// typeList names types, all integers in one word.
func typeList(ts []types.Type) string {
	if ts == nil {
		return "all"
	}
	var out []string
	for _, t := range ts {
		name := t.String()
		if t.IsInteger() {
			name = "integers"
		} else if t.IsArray() {
			name = "arrays"
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// docItem is an item of a list, in lines of 118 characters at most: HEAD: doc.
func docItem(head, doc string) string {
	line, out := "-", ""
	for _, word := range strings.Fields(head + ": " + doc) {
		if len([]rune(line))+1+len([]rune(word)) > 118 {
			out, line = out+line+"\n", " "
		}
		line += " " + word
	}
	return strings.ReplaceAll(out+line+"\n", unbroken, " ")
}

// unbroken stands for a space at which docItem begins no line; strings.Fields takes U+00A0 for a space.
const unbroken = "\x00"

func docSettings(t *testing.T) string {
	db, err := hql.Open(t.Context(), "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(context.Background(), "SHOW ALL")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := "\n| | |\n|---|---|\n"
	for row, err := range rows.All() {
		if err != nil {
			t.Fatal(err)
		}
		var name, value, doc string
		if err := row.Scan(&name, &value, &doc); err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf("| `SET %s = ...` | %s |\n", name, doc)
	}
	return out + "\n"
}

// docYardstick adds up the counts that package sqllogic keeps.
func docYardstick(t *testing.T) string {
	f, err := os.Open("../../sqllogic/testdata/counts.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, sum := "\n| file | pass | wrong | not supported |\n|---|---|---|---|\n", [3]int{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		var name string
		var n [3]int
		if _, err := fmt.Sscan(s.Text(), &name, &n[0], &n[1], &n[2]); err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf("| %s | %d | %d | %d |\n", name, n[0], n[1], n[2])
		for i := range n {
			sum[i] += n[i]
		}
	}
	return out + fmt.Sprintf("| all | %d | %d | %d |\n\n", sum[0], sum[1], sum[2])
}

// TestDocumentedEncodings stores a column with each encoding that docs/sql.md lists, of one of the types it is for.
func TestDocumentedEncodings(t *testing.T) {
	text, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Encodings\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := strings.NewReplacer("integers", "BIGINT", "all", "STRING", "arrays", "STRING[]")
	arguments := strings.NewReplacer("(n)", "(4)", "INVERTED encoding", "INVERTED TEXT", "NULLABLE encoding", "NULLABLE TEXT", "(value, 'encoding')", "('none', 'TEXT')", "(n, 'encoding')", "(11, 'TEXT')", "('encoding')", "('TEXT')")
	names, n := regexp.MustCompile("`([^`]+)`"), 0
	for _, row := range regexp.MustCompile("(?m)^- (`.*?`) \\((.*?)\\):").FindAllStringSubmatch(section, -1) {
		for _, name := range names.FindAllStringSubmatch(row[1], -1) {
			enc := arguments.Replace(name[1])
			if enc == "OPENTSDB_VALUE" {
				continue // stands under its qualifier only
			}
			n++
			err := errors.New("no type")
			for _, typ := range strings.Split(all.Replace(row[2]), ", ") {
				if err != nil {
					err = catalog.New().Load("CREATE TABLE t (k INT, v " + typ + " FROM f:v AS " + enc + ") ROW KEY (k AS INT32)")
				}
			}
			if err != nil {
				t.Errorf("%s of %s: %v", enc, row[2], err)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d encodings found", n)
	}
}
