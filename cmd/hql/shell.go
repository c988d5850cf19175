package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
)

// quit is returned by feed if the session is to end; it is not an exit status.
const quit = -1

// stopped is the error of a failed command whose cause is printed already; code is the exit status.
type stopped struct{ code int }

func (stopped) Error() string { return "stopped" }

// feed runs text: statements, which end with ';', and commands, which reach from a backslash outside quotes and comments to the
// end of the line. s.query is the unfinished statement, before the call and after it. With inFile, positions in errors count
// from the start of text. feed returns at the first failure, unless goOn allows it to continue.
func (s *session) feed(ctx context.Context, text string, inFile bool) int {
	if s.query != "" && !strings.ContainsAny(text, `;\`) { // no statement ends: do not split a long statement again for each line
		s.query += text
		return exitOK
	}
	text = s.query + text
	s.query = ""
	at, empty := 0, true // the statement so far; nothing but comments in it
	base := 0
	toks := parser.Tokens(text)
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		pos := base + int(t.Pos)
		switch {
		case t.Kind == parser.OperatorToken && t.Text == ";", strings.HasPrefix(text[pos:], `\;`) && t.Kind == parser.InvalidToken: // psql has \; as well
			line, rest, _ := strings.Cut(text[pos+1:], "\n")
			left := len(rest)
			if stmt := text[at:pos]; !empty {
				s.behind(&rest, inFile)
				if code := s.goOn(s.piece(ctx, stmt, text, at, inFile), inFile); code != exitOK {
					return code
				}
			}
			if len(rest) < left { // COPY took its rows; positions in the file stay as they are
				taken := strings.Count(text[len(text)-left:len(text)-len(rest)], "\n")
				text = text[:pos+1] + line + strings.Repeat("\n", taken+1) + rest
				at, base, empty = pos+1, pos+1, true
				toks, i = parser.Tokens(text[base:]), -1
				continue
			}
			if t.Text == `\` {
				i, pos = i+1, pos+1
			}
			at, empty = pos+1, true
		case t.Kind == parser.InvalidToken && t.Text == `\`:
			line, rest, _ := strings.Cut(text[pos:], "\n")
			if end, skipped := endOfCommand(line); end < len(line) {
				line, rest = line[:end], text[pos+end+skipped:]
			}
			before := text[at:pos]
			if empty {
				before = ""
			}
			s.query = before
			if inFile {
				s.echoed("all", before+line)
			}
			s.behind(&rest, inFile)
			if code := s.goOn(s.command(ctx, line), inFile); code != exitOK {
				return code
			}
			switch {
			case s.query == "":
				at, empty = len(text)-len(rest), true
				base = at
			case inFile && s.query == before: // the statement goes on, and positions in the file stay as they are
				text = text[:pos] + strings.Repeat(" ", len(text)-len(rest)-pos-1) + "\n" + rest
				base, empty = at, true
				s.query = ""
			default: // it was edited
				text = strings.TrimRight(s.query, "\n") + "\n" + rest
				at, base, empty = 0, 0, true
				s.query = ""
			}
			toks, i = parser.Tokens(text[base:]), -1
		case t.Kind != parser.CommentToken && t.Kind != parser.HintToken:
			empty = false
		}
	}
	if !empty {
		s.query = text[at:]
	}
	return exitOK
}

// goOn returns exitOK if a file continues after a statement failed with code, as --keep-going and ON_ERROR_STOP=off ask for;
// s.failed keeps the code. Otherwise it returns code.
func (s *session) goOn(code int, inFile bool) int {
	if !s.conf.keepGoing || !inFile || code != exitFailed && code != exitGuard {
		return code
	}
	s.failed = cmp.Or(s.failed, code)
	return exitOK
}

// piece runs stmt, which begins at byte at of text.
func (s *session) piece(ctx context.Context, stmt, text string, at int, inFile bool) int {
	trimmed := strings.TrimLeft(stmt, " \t\r\n\f\v")
	at += len(stmt) - len(trimmed)
	stmt = strings.TrimSpace(trimmed)
	if inFile {
		s.echoed("all", stmt+";")
	}
	if s.input == nil && copies(stmt, true, "STDIN") {
		s.input = s.copyInput()
		defer func(in io.Reader, inFile bool) {
			if s.input = nil; inFile { // the rows of a statement that failed are no statements
				_, _ = io.Copy(io.Discard, in)
			}
		}(s.input, s.rest != nil)
	}
	if s.skips() {
		return exitOK
	}
	s.last = stmt
	if !inFile {
		text, at = stmt, 0
	}
	return s.statement(ctx, stmt, text, at)
}

// script runs a whole text; a last statement needs no ';'.
func (s *session) script(ctx context.Context, text string) int {
	saved, open := s.query, len(s.ifs)
	s.query = ""
	defer func() { s.query, s.ifs = saved, s.ifs[:min(open, len(s.ifs))] }()
	if code := s.feed(ctx, text, true); code != exitOK {
		return code
	}
	if rest := s.query; rest != "" {
		at := strings.LastIndex(text, rest)
		if at < 0 { // it was edited
			text, at = rest, 0
		}
		if code := s.goOn(s.piece(ctx, rest, text, at, true), true); code != exitOK {
			return code
		}
	}
	if len(s.ifs) > open {
		return s.report(errors.New(`an \if has no \endif`))
	}
	return exitOK
}

// include runs a file; s.dir is the directory for \ir inside it.
func (s *session) include(ctx context.Context, name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	defer func(dir string, inline bool) { s.dir, s.inline = dir, inline }(s.dir, s.inline)
	s.dir, s.inline = filepath.Dir(name), true
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > 100 {
		return fmt.Errorf("%s includes itself", name)
	}
	defer func(outer string) { s.within = outer }(s.within)
	if s.depth > 1 || s.history != nil {
		s.within = name
	}
	if code := s.script(ctx, string(b)); code != exitOK {
		return stopped{code}
	}
	return nil
}

// take returns the unfinished statement and empties s.query. It returns the previous statement if there is none.
func (s *session) take() (string, error) {
	text := strings.TrimSpace(s.query)
	s.query = ""
	if text == "" {
		text = s.last
	}
	if text == "" {
		return "", errors.New("there is no statement to run")
	}
	return text, nil
}

var commandName = regexp.MustCompile(`^\\([A-Za-z]\w*\+?|[?!])?`)

// psqlCommands are commands of psql that hql lacks, with hql's replacements.
var psqlCommands = map[string]string{
	`\ds`: `SHOW TABLES lists the sequences, SELECT * FROM name shows the state of one`,
	`\du`: `HBase keeps the rights: see its shell's user_permission`, `\dp`: `HBase keeps the rights: see its shell's user_permission`,
	`\z`: `HBase keeps the rights: see its shell's user_permission`, `\password`: `HBase keeps the users`,
	`\do`: `\df lists the operators, too`, `\sf`: `\df NAME describes a function`,
	`\sv`:      `\d VIEW shows the query of a view`,
	`\timeout`: `--timeout bounds each statement`,
	`\T`:       `\pset border`,
	`\da`:      `\df lists the aggregate functions, too`, `\dg`: `HBase keeps the rights: see its shell's user_permission`,
	`\dC`: `docs/sql.md lists the casts`, `\dd`: `\d TABLE shows comments`, `\dconfig`: `SHOW ALL lists the settings`,
	`\ddp`: `HBase keeps the rights: see its shell's user_permission`, `\dm`: `\dt lists materialized views, too`,
	`\ef`: `functions cannot be defined`, `\ev`: `\d VIEW shows the query of a view`, `\dD`: `there are no domains: \dT lists the types`,
	`\parse`: `PREPARE name AS statement`, `\bind_named`: `EXECUTE name (values)`, `\close`: `DEALLOCATE name`,
	`\copyright`: `hql version`, `\lo_list`: `there are no large objects: BYTES columns hold bytes`,
}

// longNames are the long names that psql has for some commands.
var longNames = map[string]string{
	`\connect`: `\c`, `\edit`: `\e`, `\help`: `\h`, `\html`: `\H`, `\include`: `\i`, `\include_relative`: `\ir`, `\list`: `\l`, `\list+`: `\l`,
	`\out`: `\o`, `\print`: `\p`, `\quit`: `\q`, `\reset`: `\r`, `\write`: `\w`,
}

// reasonUnknown returns why hql has no command of this name, or how to list the commands.
func reasonUnknown(name string) string {
	if reason, ok := psqlCommands[strings.TrimSuffix(name, "+")]; ok {
		return reason
	}
	if strings.HasPrefix(name, `\d`) && !strings.ContainsAny(name[2:], "_0123456789") {
		return `hql lists only what \d, \df, \di, \dn, \dt, \dT and \dv list`
	}
	return `\? lists them`
}

// command runs a line that begins with a backslash.
func (s *session) command(ctx context.Context, line string) int {
	name := commandName.FindString(line)
	arg := strings.TrimSpace(line[len(name):])
	name = cmp.Or(longNames[name], name)
	if name != `\!` && !strings.HasSuffix(arg, "fieldsep ;") {
		arg = strings.TrimSpace(strings.TrimSuffix(arg, ";"))
	}
	if ok, err := s.condition(name, s.expand(arg)); err != nil {
		return s.report(err)
	} else if ok || s.skips() {
		return exitOK
	}
	if name == `\q` {
		return quit
	}
	switch name {
	case `\!`, `\copy`:
	default:
		arg = s.expand(arg)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	err := fmt.Errorf("unknown command %s (%s)", printable(strings.Fields(line)[0]), reasonUnknown(name))
	if strings.HasPrefix(line, `\.`) {
		err = fmt.Errorf("commands begin with a backslash: \\%s (\\? lists them)", printable(strings.Fields(line)[0][2:]))
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		i = slices.IndexFunc(all, func(c command) bool { return c.name+"+" == name })
	}
	if i >= 0 {
		if err = s.allowed(name, arg); err == nil {
			err = all[i].run(s, ctx, arg)
		}
	}
	var st stopped
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &st):
		return st.code
	}
	return s.report(err)
}

// allowed returns an error with --restricted for commands that reach files, the shell or other stores.
func (s *session) allowed(name, arg string) error {
	reaches := false
	switch name {
	case `\g`, `\gx`, `\G`, `\o`, `\c`, `\s`: // only with an argument, which names a file or store
		reaches = arg != ""
	case `\infer`: // its second word is a file
		reaches = len(strings.Fields(arg)) > 1
	case `\e`, `\i`, `\ir`, `\cd`, `\!`, `\w`, `\setenv`:
		reaches = true
	}
	if reaches && s.conf.Restricted {
		return fmt.Errorf("%s reaches files, the shell or another store, which --restricted forbids", strings.TrimSpace(name+" "+printable(arg)))
	}
	return nil
}

// bare translates words that people type at the prompts of other programs, without a backslash, to hql's commands.
func bare(line string) string {
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), ";"))
	word, arg, _ := strings.Cut(text, " ")
	switch strings.ToLower(word) {
	case "exit", "quit", "!quit", ".exit", ".quit":
		if arg == "" {
			return `\q`
		}
	case "help":
		return strings.TrimSpace(`\h ` + arg)
	case "!describe", ".schema":
		return strings.TrimSpace(`\d ` + arg)
	case "list", "!tables", ".tables":
		if arg == "" {
			return `\dt`
		}
	case "describe", "desc":
		if strings.HasPrefix(strings.TrimSpace(arg), "'") { // HBase's way; without quotes it is SQL
			return `\d ` + arg
		}
	}
	if strings.HasPrefix(strings.TrimSpace(arg), "'") && aWord.MatchString(word) && !strings.EqualFold(word, "select") {
		return text + ";" // a command of HBase's shell: ends here, so that the parser's hint is printed at once
	}
	if dotCommand.MatchString(text) {
		return `\` + text // so that the user sees how commands begin
	}
	return line
}

// aWord matches a word. Only a SELECT may have a text after its first word.
var aWord = regexp.MustCompile(`^[A-Za-z_]+$`)

// dotCommand is a command as DuckDB and SQLite write it.
var dotCommand = regexp.MustCompile(`^\.[a-z]`)
