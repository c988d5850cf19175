package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// This file makes the manual page and the completion of shells from the output of -h.

// flagHelp is a flag in a usage text.
type flagHelp struct{ name, value, help string }

var (
	listedFlag = regexp.MustCompile(`^  (--?[0A-Za-z-]+)(?: ([A-Z]+(?:=[A-Z]+)?))? +(\S.*)$`) // of the main usage
	namedFlag  = regexp.MustCompile(`(--?[a-z][a-z-]*)(?: ([A-Z]+))?`)                        // of the first line of a tool's
)

// mainFlags returns the flags listed after "Flags:".
func mainFlags() []flagHelp {
	var out []flagHelp
	_, list, _ := strings.Cut(textOf("hql"), "Flags:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if m := listedFlag.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			out = append(out, flagHelp{m[1], m[2], m[3]})
		} else if len(out) > 0 {
			out[len(out)-1].help += " " + strings.TrimSpace(line)
		}
	}
	return out
}

// toolFlags returns the flags in the first line of a tool's usage.
func toolFlags(t *tool) []flagHelp {
	form, _, _ := strings.Cut(t.usage, "\n")
	var out []flagHelp
	for _, m := range namedFlag.FindAllStringSubmatch(form, -1) {
		out = append(out, flagHelp{name: m[1], value: m[2]})
	}
	return out
}

// completions are the words that may follow a tool's name.
func completions(t *tool) []string { return append(flagNames(toolFlags(t)), t.words...) }

// flagValues are the words that a flag takes; "FILE" and "DIR" take names of files and directories.
func flagValues(f flagHelp) []string {
	switch f.value {
	case "FORMAT":
		return slices.Sorted(maps.Keys(formats))
	case "WHEN":
		return []string{"auto", "always", "never"}
	case "MODE":
		return []string{"allow", "warn", "deny"}
	}
	return nil
}

// completionOf writes the completion script of a shell for hql.
func completionOf(shell string, w io.Writer) error {
	write, ok := map[string]func(*strings.Builder, map[string]*tool, []string){"bash": completeInBash, "zsh": completeInZsh, "fish": completeInFish}[shell]
	if !ok {
		return errors.New("hql completion is for bash, zsh or fish")
	}
	var b strings.Builder
	all := tools()
	write(&b, all, slices.Sorted(maps.Keys(all)))
	_, err := io.WriteString(w, b.String())
	return err
}

func completeInBash(b *strings.Builder, all map[string]*tool, names []string) {
	b.WriteString("# hql completion bash: source it, or keep it in bash-completion's folder\n_hql() {\n" +
		"  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words\n  COMPREPLY=()\n  case $before in\n")
	for _, f := range mainFlags() {
		if f.value == "" {
			continue
		}
		fmt.Fprintf(b, "    %s) ", f.name)
		switch values := flagValues(f); {
		case values != nil:
			fmt.Fprintf(b, "COMPREPLY=($(compgen -W '%s' -- \"$cur\")); ", strings.Join(values, " "))
		case f.value == "FILE":
			b.WriteString("compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); ")
		case f.value == "DIR":
			b.WriteString("compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$cur\")); ")
		}
		b.WriteString("return ;;\n")
	}
	b.WriteString("  esac\n  case ${COMP_WORDS[1]} in\n")
	for _, name := range names {
		fmt.Fprintf(b, "    %s) words='%s' ;;\n", name, strings.Join(completions(all[name]), " "))
	}
	fmt.Fprintf(b, "    *) words='%s'; [ \"$COMP_CWORD\" = 1 ] && words=\"$words %s\" ;;\n  esac\n", strings.Join(flagNames(mainFlags()), " "), strings.Join(names, " "))
	b.WriteString("  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -F _hql hql\n")
}

func completeInZsh(b *strings.Builder, all map[string]*tool, names []string) {
	quote := strings.NewReplacer("'", "'\\''", "[", "\\[", "]", "\\]", ":", "\\:").Replace
	b.WriteString("#compdef hql\n# hql completion zsh: keep it as _hql in a folder of $fpath\n_hql() {\n  local -a main\n  main=(\n")
	for _, f := range mainFlags() {
		fmt.Fprintf(b, "    '*%s[%s]", f.name, quote(f.help))
		if f.value != "" {
			action := " "
			switch values := flagValues(f); {
			case values != nil:
				action = "(" + strings.Join(values, " ") + ")"
			case f.value == "FILE":
				action = "_files"
			case f.value == "DIR":
				action = "_files -/"
			}
			fmt.Fprintf(b, ":%s:%s", f.value, action)
		}
		b.WriteString("'\n")
	}
	b.WriteString("  )\n  case $words[2] in\n")
	for _, name := range names {
		fmt.Fprintf(b, "    %s) compadd -- %s; _files ;;\n", name, strings.Join(completions(all[name]), " "))
	}
	fmt.Fprintf(b, "    *) (( CURRENT == 2 )) && compadd -- %s; _arguments $main ;;\n  esac\n}\n_hql \"$@\"\n", strings.Join(names, " "))
}

func completeInFish(b *strings.Builder, all map[string]*tool, names []string) {
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	b.WriteString("# hql completion fish: keep it as ~/.config/fish/completions/hql.fish\n")
	for _, f := range mainFlags() {
		option := "-l " + strings.TrimLeft(f.name, "-")
		if !strings.HasPrefix(f.name, "--") {
			option = "-s " + f.name[1:]
		}
		fmt.Fprintf(b, "complete -c hql %s -d %s", option, quote(f.help))
		switch values := flagValues(f); {
		case values != nil:
			fmt.Fprintf(b, " -x -a %s", quote(strings.Join(values, " ")))
		case f.value == "FILE", f.value == "DIR":
			b.WriteString(" -r")
		case f.value != "":
			b.WriteString(" -x")
		}
		b.WriteString("\n")
	}
	for _, name := range names {
		fmt.Fprintf(b, "complete -c hql -n __fish_use_subcommand -a %s -d %s\n", name, quote(all[name].summary()))
		for _, word := range completions(all[name]) {
			fmt.Fprintf(b, "complete -c hql -n '__fish_seen_subcommand_from %s' -a %s\n", name, quote(word))
		}
	}
}

func flagNames(flags []flagHelp) []string {
	var out []string
	for _, f := range flags {
		if !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out
}

// summary is the first sentence of a tool's usage.
func (t *tool) summary() string {
	_, text, _ := strings.Cut(t.usage, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if s, _, ok := strings.Cut(text, ". "); ok {
		return s
	}
	return strings.TrimSuffix(text, ".")
}

// manual writes the manual page, hql(1).
func manual(w io.Writer) error {
	var b strings.Builder
	text := func(s string) string { // a line of roff
		s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
		if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
			s = `\&` + s
		}
		return s
	}
	block := func(lines string) { // unchanged
		b.WriteString(".nf\n")
		for line := range strings.Lines(lines) {
			b.WriteString(text(strings.TrimRight(line, "\n")) + "\n")
		}
		b.WriteString(".fi\n")
	}
	paragraphs := strings.Split(strings.TrimSpace(textOf("hql")), "\n\n")
	name, forms := strings.TrimSuffix(paragraphs[0], "."), paragraphs[1]
	fmt.Fprintf(&b, ".TH HQL 1 \"\" \"hql %s\"\n.SH NAME\nhql \\- %s\n.SH SYNOPSIS\n", text(version()), text(strings.TrimPrefix(name, "hql ")))
	block(forms)
	b.WriteString(".SH OPTIONS\n")
	for _, f := range mainFlags() {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR", text(f.name))
		if f.value != "" {
			fmt.Fprintf(&b, " \\fI%s\\fR", f.value)
		}
		b.WriteString("\n" + text(f.help) + "\n")
	}
	b.WriteString(".SH COMMANDS\n")
	all := tools()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		form, what, _ := strings.Cut(strings.TrimSpace(all[name].usage), "\n\n")
		fmt.Fprintf(&b, ".SS %s\n", name)
		block(form)
		b.WriteString(".PP\n" + text(strings.Join(strings.Fields(what), " ")) + "\n")
	}
	b.WriteString(".SH COMMANDS OF THE PROMPT\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR %s\n%s\n", text(c.name), text(c.args), text(c.help))
	}
	for _, p := range paragraphs[3:] {
		title := "ENVIRONMENT AND FILES"
		if strings.HasPrefix(p, "Exit status") {
			title = "EXIT STATUS"
		}
		fmt.Fprintf(&b, ".SH %s\n%s\n", title, text(strings.Join(strings.Fields(p), " ")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// documents are the tools that print the manual page and the completion.
func documents() map[string]*tool {
	return map[string]*tool{
		"completion": {
			args:  1,
			words: []string{"bash", "zsh", "fish"},
			run: func(_ context.Context, _ *config, args []string, _ io.Reader, stdout, _ io.Writer) error {
				return completionOf(args[0], stdout)
			},
		},
		"man": {
			run: func(_ context.Context, _ *config, _ []string, _ io.Reader, stdout, _ io.Writer) error {
				return manual(stdout)
			},
		},
	}
}
