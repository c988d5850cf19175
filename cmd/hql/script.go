package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// This file has the commands for scripts that psql has as well: output, conditions, and variables set by a query.

// echo is \echo, \qecho and \warn: it writes its arguments to w.
func echo(w io.Writer, args []string) error {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	_, err := fmt.Fprint(w, strings.Join(args, " ")+end)
	return err
}

// echoed prints text if the variable ECHO is kind: all (what a script holds) or queries (each statement that runs).
func (s *session) echoed(kind, text string) {
	if s.vars["ECHO"] == kind {
		fmt.Fprintln(s.screenOut(), printableLines(strings.TrimSpace(text)))
	}
}

// branch is an \if that is open.
type branch struct {
	runs bool // its commands and statements run now
	done bool // one of its conditions was true, or the \if itself is skipped
	last bool // \else was read

	kept string // the statement so far, before what is skipped
}

// skips reports whether an \if skips statements and commands now.
func (s *session) skips() bool { return len(s.ifs) > 0 && !s.ifs[len(s.ifs)-1].runs }

// condition runs \if, \elif, \else and \endif; ok is false for other commands.
func (s *session) condition(name, arg string) (ok bool, err error) {
	var open *branch
	if n := len(s.ifs); n > 0 {
		open = &s.ifs[n-1]
	}
	switch name {
	case `\if`:
		b := branch{done: s.skips(), kept: s.query}
		if !b.done {
			b.runs, err = truth(arg) // an unreadable condition is false, as in psql
			b.done = b.runs
		}
		s.ifs = append(s.ifs, b)
		return true, err
	case `\elif`, `\else`, `\endif`:
		if open == nil || open.last && name != `\endif` {
			return true, fmt.Errorf("%s has no \\if before it", name)
		}
	default:
		return false, nil
	}
	if open.runs {
		open.kept = s.query
	} else {
		s.query = open.kept // the skipped text does not belong to a statement
	}
	switch {
	case name == `\endif`:
		s.ifs = s.ifs[:len(s.ifs)-1]
		return true, nil
	case open.done:
		open.runs = false
	case name == `\else`:
		open.runs, open.done = true, true
	default:
		open.runs, err = truth(arg)
		open.done = open.runs
	}
	open.last = name == `\else`
	return true, err
}

// truth reads the condition of an \if as psql does: true, false, on, off, yes, no, 1, 0, or the beginning of one of them.
func truth(arg string) (bool, error) {
	args, err := words(arg)
	if err != nil {
		return false, err
	}
	text := strings.ToLower(strings.Join(args, " "))
	switch {
	case text == "":
	case text == "1", strings.HasPrefix("true", text), strings.HasPrefix("yes", text), text == "on":
		return true, nil
	case text == "0", strings.HasPrefix("false", text), strings.HasPrefix("no", text), strings.HasPrefix("off", text) && len(text) > 1:
		return false, nil
	}
	return false, fmt.Errorf("the condition of \\if is true or false, not %q", printable(text))
}

// instead runs the current statement as \g does, but calls f in place of printing the result.
func (s *session) instead(ctx context.Context, f func(ctx context.Context, text string) error) error {
	text, err := s.take()
	if err != nil {
		return err
	}
	s.execution = f
	defer func() { s.execution = nil }()
	return s.now(ctx, text)
}

// results runs the current statement as \g does, but calls f with its rows in place of printing them.
func (s *session) results(ctx context.Context, f func(ctx context.Context, rows *hql.Rows) error) error {
	return s.instead(ctx, func(ctx context.Context, text string) error {
		rows, err := s.db.Query(ctx, text, s.arguments(text)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return f(ctx, rows)
	})
}

// gset runs \gset: each column of the result's only row becomes a variable, whose name begins with prefix.
func (s *session) gset(ctx context.Context, prefix string) error {
	return s.results(ctx, func(_ context.Context, rows *hql.Rows) error {
		if !rows.Next() {
			if rows.Err() != nil {
				return rows.Err()
			}
			return errors.New(`\gset needs one row; the result has none`)
		}
		vals := slices.Clone(rows.Raw())
		if rows.Next() {
			return errors.New(`\gset needs one row; the result has more (LIMIT 1?)`)
		}
		s.setVariable("ROW_COUNT", "1")
		for i, c := range rows.Columns() {
			name := prefix + c
			switch {
			case !variableName(name):
				return fmt.Errorf("%s cannot be the name of a variable: name the column with AS", printable(name))
			case vals[i].IsNull():
				delete(s.vars, name)
			default:
				s.setVariable(name, vals[i].String())
			}
		}
		return rows.Err()
	})
}

// gexec runs \gexec: it runs each value of the statement's result as a statement, row by row, except NULL.
func (s *session) gexec(ctx context.Context, _ string) error {
	return s.results(ctx, func(ctx context.Context, rows *hql.Rows) error {
		var statements []string
		for rows.Next() {
			for _, v := range rows.Raw() {
				if !v.IsNull() {
					statements = append(statements, v.String())
				}
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		s.execution = nil
		for _, sql := range statements {
			if err := s.execute(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// gdesc runs \gdesc: it prints the columns of the statement's result, without running the statement.
func (s *session) gdesc(ctx context.Context, _ string) error {
	return s.instead(ctx, func(ctx context.Context, text string) error {
		stmt, err := s.db.Parse(text)
		if err != nil {
			return err
		}
		d, err := stmt.Describe(ctx, nil)
		if err != nil {
			return err
		}
		if len(d.Columns) == 0 {
			fmt.Fprintln(s.stdout, "The statement gives no rows.")
			return nil
		}
		var rows [][]types.Value
		for _, c := range d.Columns {
			rows = append(rows, []types.Value{types.NewString(c.Name), types.NewString(c.Type.String())})
		}
		return s.grid([]string{"Column", "Type"}, []types.Type{types.String, types.String}, rows)
	})
}

// bind runs \bind: its arguments become the arguments of the next statement.
func (s *session) bind(_ context.Context, args []string) error {
	s.bound = []any{}
	for _, a := range args {
		s.bound = append(s.bound, a)
	}
	return nil
}

// promptFor runs \prompt: it asks the user for the value of a variable.
func (s *session) promptFor(_ context.Context, args []string) error {
	if len(args) == 0 || len(args) > 2 || !variableName(args[len(args)-1]) {
		return errors.New(`\prompt takes the name of a variable, and may have a text before it`)
	}
	text := ""
	if len(args) == 2 {
		text = args[0]
	}
	ask := s.ask
	if ask == nil {
		ask = func(text string) (string, error) {
			fmt.Fprint(s.stdout, text)
			line, err := s.stdin.ReadString('\n')
			if line != "" {
				err = nil
			}
			return strings.TrimRight(line, "\r\n"), err
		}
	}
	value, err := ask(text)
	if err != nil {
		return fmt.Errorf("\\prompt got no answer: %w", err)
	}
	s.setVariable(args[len(args)-1], value)
	return nil
}

// buffer makes the commands \p, \r and \w: they print, empty, or write to a file the unfinished statement, or else the last
// one.
func buffer(name string) func(s *session, _ context.Context, arg string) error {
	return func(s *session, _ context.Context, arg string) error {
		text := strings.TrimSpace(s.query)
		if text == "" {
			text = s.last
		}
		switch name {
		case `\r`:
			s.query, s.last = "", ""
			return nil
		case `\p`:
			if text == "" {
				text = "There is no statement."
			}
			_, err := fmt.Fprintln(s.stdout, printableLines(text))
			return err
		}
		w, err := target(arg)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, text+"\n")
		return cmp.Or(err, w.Close())
	}
}

// showHistory runs \s: it prints the history, or writes it to a file.
func (s *session) showHistory(_ context.Context, arg string) error {
	if s.history == nil {
		return errors.New("only the prompt has a history")
	}
	var w io.WriteCloser = nopCloser{s.stdout}
	if arg != "" {
		name, err := fileName(arg)
		if err != nil {
			return err
		}
		if w, err = os.Create(name); err != nil {
			return err
		}
	}
	var err error
	for _, statement := range s.history.load() {
		if arg == "" {
			statement = printableLines(statement)
		}
		if _, err = fmt.Fprintln(w, statement); err != nil {
			break
		}
	}
	return cmp.Or(err, w.Close())
}

// lastError runs \errverbose: it prints the last error again, with its statement.
func (s *session) lastError(context.Context, string) error {
	if s.failure == nil {
		fmt.Fprintln(s.stdout, "There is no previous error.")
		return nil
	}
	if s.last != "" {
		fmt.Fprintf(s.stdout, "statement: %s\n", printableLines(s.last))
	}
	s.report(s.failure)
	return nil
}

// encoding runs \encoding, which prints UTF8 and accepts no other encoding.
func (s *session) encoding(_ context.Context, arg string) error {
	switch strings.ToUpper(strings.Trim(arg, "'")) {
	case "":
		fmt.Fprintln(s.stdout, "UTF8")
	case "UTF8", "UTF-8", "UNICODE":
	default:
		return fmt.Errorf("texts are UTF8 here; %s is not available", printable(arg))
	}
	return nil
}

// listing makes a command that runs a query over pg_catalog.
func listing(sql string) func(s *session, ctx context.Context, arg string) error {
	return paged(func(s *session, ctx context.Context, arg string) error {
		args, err := words(arg)
		if err != nil {
			return err
		}
		defer func(footer bool) { s.footer = footer }(s.footer)
		s.footer = false
		pattern := "%"
		if len(args) > 0 {
			pattern = strings.NewReplacer("%", `\%`, "_", `\_`, "*", "%", "?", "_").Replace(args[0])
		}
		return s.execute(ctx, strings.ReplaceAll(sql, "$1", types.NewString(pattern).SQL()))
	})
}

// endOfCommand returns the length of the command at the beginning of line, and the length of the text to skip after it.
// Another command ends it, and so does psql's separator \\.
func endOfCommand(line string) (end, skipped int) {
	name := commandName.FindString(line)
	switch name {
	case `\!`, `\copy`, `\h`, `\?`:
		return len(line), 0
	}
	quoted := false
	for i := len(name); i+1 < len(line); i++ {
		switch {
		case line[i] == '\'':
			quoted = !quoted
		case quoted:
		case line[i] == '|' && strings.TrimSpace(line[len(name):i]) == "": // a line of the shell
			return len(line), 0
		case strings.HasPrefix(line[i:], `\\`):
			return i, 2
		case line[i] == '\\':
			return i, 0
		}
	}
	return len(line), 0
}

// expand puts variables in the places of :name, :'name', :"name" and :{?name} in the arguments of a command. Values that hold
// white space or quotes become one argument.
func (s *session) expand(arg string) string {
	if !strings.Contains(arg, ":") {
		return arg
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(arg); i++ {
		if arg[i] == '\'' {
			quoted = !quoted
		}
		value, n := "", 0
		if arg[i] == ':' && !quoted && (i == 0 || !partOfName(arg[i-1])) {
			value, n = s.reference(arg[i+1:])
		}
		if n == 0 {
			b.WriteByte(arg[i])
			continue
		}
		if value == "" || strings.ContainsAny(value, " \t\r\n'\\") {
			value = types.NewString(value).SQL()
		}
		b.WriteString(value)
		i += n
	}
	return b.String()
}

func partOfName(c byte) bool {
	return c == ':' || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// reference returns the value of the variable with whose name text, after a colon, begins. It returns the value unchanged,
// as a text in single quotes, as a name in double quotes, or for {?} whether it is set. n is the length of the reference;
// 0 if there is none.
func (s *session) reference(text string) (value string, n int) {
	open, end := "", ""
	switch {
	case strings.HasPrefix(text, "{?"):
		open, end = "{?", "}"
	case strings.HasPrefix(text, "'"):
		open, end = "'", "'"
	case strings.HasPrefix(text, `"`):
		open, end = `"`, `"`
	}
	name := text[len(open):]
	for n < len(name) && partOfName(name[n]) && name[n] != ':' {
		n++
	}
	name = name[:n]
	if n == 0 || !strings.HasPrefix(text[len(open)+n:], end) || !variableName(name) {
		return "", 0
	}
	n += len(open) + len(end)
	v, ok := s.vars[name]
	switch {
	case open == "{?":
		return fmt.Sprint(ok), n
	case !ok:
		return "", 0
	case open == "'":
		return types.NewString(v).SQL(), n
	case open == `"`:
		return parser.QuoteName(v), n
	}
	return v, n
}
