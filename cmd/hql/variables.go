package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgwire"
)

// words splits the arguments of a command at white space, except inside single quotes.
func words(arg string) ([]string, error) {
	var out []string
	var b strings.Builder
	in, word := false, false
	for i := 0; i < len(arg); i++ {
		c := arg[i]
		switch {
		case c == '\'' && in && i+1 < len(arg) && arg[i+1] == '\'':
			b.WriteByte(c)
			i++
		case c == '\'':
			in, word = !in, true
		case !in && (c == ' ' || c == '\t' || c == '\r'):
			if word {
				out = append(out, b.String())
				b.Reset()
				word = false
			}
		default:
			word = true
			b.WriteByte(c)
		}
	}
	if in {
		return nil, fmt.Errorf("a quote is not closed in %s", arg)
	}
	if word {
		out = append(out, b.String())
	}
	return out, nil
}

// split makes a command that takes its arguments as words.
func split(run func(*session, context.Context, []string) error) func(*session, context.Context, string) error {
	return func(s *session, ctx context.Context, arg string) error {
		args, err := words(arg)
		if err != nil {
			return err
		}
		return run(s, ctx, args)
	}
}

// substitute replaces :name, :'name', :"name" and :{?name} by variables, see reference. It leaves quotes, comments, casts (::),
// qualifiers (family:qualifier) and unknown variables alone: the parser reports the latter.
func (s *session) substitute(text string) string {
	if !strings.Contains(text, ":") {
		return text
	}
	var b strings.Builder
	var before parser.Token
	done := 0
	for _, t := range parser.Tokens(text) {
		at := int(t.Pos)
		qualifier := isName(before) && int(before.Pos)+len(before.Text) == at
		before = t
		if t.Kind != parser.OperatorToken || t.Text != ":" || at < done || qualifier {
			continue
		}
		if value, n := s.reference(text[at+1:]); n > 0 {
			b.WriteString(text[done:at])
			b.WriteString(value)
			done = at + 1 + n
		}
	}
	return b.String() + text[done:]
}

func isName(t parser.Token) bool { return t.Kind == parser.NameToken || t.Kind == parser.KeywordToken }

// set runs \set: it lists the variables, or sets one to the joined arguments.
func (s *session) set(_ context.Context, args []string) error {
	if len(args) == 0 {
		for _, k := range slices.Sorted(maps.Keys(s.vars)) {
			if !slices.Contains(ownVariables, k) {
				fmt.Fprintf(s.stdout, "%s = '%s'\n", k, printable(s.vars[k]))
			}
		}
		return nil
	}
	if !variableName(args[0]) {
		return fmt.Errorf("%s cannot be the name of a variable", args[0])
	}
	s.setVariable(args[0], strings.Join(args[1:], ""))
	return nil
}

// setVariable sets a variable. ON_ERROR_STOP and QUIET act on the session as they do in psql.
func (s *session) setVariable(name, value string) {
	if s.vars == nil {
		s.vars = map[string]string{}
	}
	s.vars[name] = value
	on, err := truth(value)
	switch {
	case err != nil:
	case name == "ON_ERROR_STOP":
		s.conf.keepGoing = !on
	case name == "QUIET":
		s.quiet = on
	}
}

// ownVariables are psql's variables that hql sets itself; \set does not list them.
var ownVariables = []string{"ERROR", "SQLSTATE", "ROW_COUNT", "LAST_ERROR_MESSAGE", "LAST_ERROR_SQLSTATE", "VERSION", "VERSION_NAME"}

// outcome sets psql's variables about the statement that ended with err.
func (s *session) outcome(err error) {
	s.setVariable("ERROR", strconv.FormatBool(err != nil))
	s.setVariable("SQLSTATE", "00000")
	if err == nil {
		return
	}
	text := err.Error()
	if pe, ok := errors.AsType[*hql.Error](err); ok {
		text = pe.Msg
	}
	state := pgwire.SQLState(err)
	s.vars["SQLSTATE"], s.vars["ROW_COUNT"] = state, "0"
	s.vars["LAST_ERROR_MESSAGE"], s.vars["LAST_ERROR_SQLSTATE"] = text, state
}

func variableName(name string) bool {
	toks := parser.Tokens(name)
	return len(toks) == 1 && isName(toks[0]) && !strings.HasPrefix(name, `"`)
}

// arguments returns the arguments of a statement: the variables that it names as @name, or those of --arg and --null.
func (s *session) arguments(text string) []any {
	named := hql.NamedArgs{}
	ask := false
	for _, t := range parser.Tokens(text) {
		if name, ok := strings.CutPrefix(t.Text, "@"); ok && t.Kind == parser.ParamToken {
			ask = true
			if v, ok := s.vars[name]; ok {
				named[name] = v
			}
		}
	}
	if ask {
		return []any{named}
	}
	if s.bound != nil {
		return s.bound
	}
	return s.args
}

func (s *session) unset(_ context.Context, arg string) error {
	if arg == "" {
		return fmt.Errorf(`\unset needs the name of a variable`)
	}
	s.setVariable(arg, "off") // of a variable that acts on the session
	delete(s.vars, arg)
	return nil
}

// setenv runs \setenv: it sets or removes a variable of the environment, as PAGER and EDITOR.
func setenv(_ *session, _ context.Context, args []string) error {
	switch {
	case len(args) == 0 || len(args) > 2:
		return errors.New(`\setenv takes the name of an environment variable, and its value`)
	case len(args) == 1:
		return os.Unsetenv(args[0])
	}
	return os.Setenv(args[0], args[1])
}

// getenv runs \getenv: it sets a variable to the value of one of the environment, if that exists.
func (s *session) getenv(_ context.Context, args []string) error {
	if len(args) != 2 || !variableName(args[0]) {
		return errors.New(`\getenv takes the names of a variable and of an environment variable`)
	}
	if value, ok := os.LookupEnv(args[1]); ok {
		s.setVariable(args[0], value)
	}
	return nil
}
