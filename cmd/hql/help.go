package main

import (
	"context"
	"fmt"
	"strings"
)

// topic is one statement of \h.
type topic struct{ name, text string }

// topics are the sections of text/syntax.txt, each under a line with = and its name.
var topics = func() (out []topic) {
	for section := range strings.SplitSeq(strings.TrimPrefix(textOf("syntax"), "= "), "\n= ") {
		name, form, _ := strings.Cut(section, "\n")
		out = append(out, topic{name, strings.TrimSuffix(form, "\n")})
	}
	return out
}()

// syntax is \h: the statements, or the form of those that begin with the given words.
func (s *session) syntax(_ context.Context, arg string) error {
	if arg == "" {
		fmt.Fprintln(s.stdout, `\h STATEMENT shows a statement's form, \df the functions, \? the commands.`)
		for _, t := range topics {
			fmt.Fprintln(s.stdout, " ", t.name)
		}
		return nil
	}
	want := strings.ToUpper(strings.Join(strings.Fields(arg), " "))
	if want == "UPSERT" {
		want = "INSERT"
	}
	found := false
	for _, t := range topics {
		if strings.HasPrefix(t.name, want) {
			fmt.Fprintln(s.stdout, t.text)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("no help on %s (\\h lists the statements)", printable(arg))
	}
	return nil
}

func (s *session) help(context.Context, string) error {
	fmt.Fprintln(s.stdout, `Statements end with ';'. EXPLAIN shows how a query uses the rowkey.`)
	for _, c := range commands() {
		fmt.Fprintf(s.stdout, "  %-10s %-20s %s\n", c.name, c.args, c.help)
	}
	return nil
}
