package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// command is a backslash command: its function, and its line in the output of \?.
type command struct {
	name, args, help string
	run              func(s *session, ctx context.Context, arg string) error
}

func commands() []command {
	return []command{
		{`\g`, "[FILE | |COMMAND]", "run the statement, its result to a file or a command", (*session).run},
		{`\gx`, "[FILE | |COMMAND]", "the same, one column a line (also \\G)", (*session).runVertical},
		{`\G`, "", "run the statement, one column a line", (*session).runVertical},
		{`\e`, "[FILE]", "edit the statement, or the last one, with $EDITOR", (*session).edit},
		{`\gset`, "[PREFIX]", "run the statement, the columns of its one row become variables", (*session).gset},
		{`\gexec`, "", "run the statement, then each value of its result as a statement", (*session).gexec},
		{`\gdesc`, "", "the columns of the statement's result, without running it", (*session).gdesc},
		{`\crosstabview`, "[ROWS [COLUMNS [CELLS [ORDER]]]]", "run the statement, the values of a column become columns", split((*session).crosstab)},
		{`\bind`, "[VALUE] ...", "bind the parameters of the next statement", split((*session).bind)},
		{`\watch`, "[[i=]SECONDS] [c=TIMES]", "run the statement every 2 s until ^C, or so many times", (*session).watch},
		{`\p`, "", "print the statement so far, or the last one", buffer(`\p`)},
		{`\r`, "", "drop the statement so far", buffer(`\r`)},
		{`\w`, "FILE", "write the statement to a file", buffer(`\w`)},
		{`\s`, "[FILE]", "print the history", (*session).showHistory},
		{`\errverbose`, "", "the last error again, with its statement", (*session).lastError},
		{`\d`, "[TABLE]", "tables (\\d e*: those whose names match), or a table's key and columns", (*session).describe},
		{`\d+`, "TABLE", "the same with families, regions, the qualifiers in use and statistics", (*session).describeMore},
		{`\sample`, "TABLE [ROWS]", "stored keys, each with the values that hql reads from it", paged(split((*session).showSample))},
		{`\dt`, "[NAMES]", "tables; with NAMES those whose names match: events, e*, t_?", (*session).tables},
		{`\dv`, "", "views, each with its query", func(s *session, _ context.Context, _ string) error { return s.views() }},
		{`\di`, "[NAMES]", "indexes and row keys", listing(listIndexes)},
		{`\dT`, "[NAMES]", "types", listing(listTypes)},
		{`\l`, "", "databases: there is one", listing(listDatabases)},
		{`\dn`, "[NAMES]", "schemas, which are HBase's namespaces", listing(listSchemas)},
		{`\infer`, "TABLE [FILE]", "propose a definition for an HBase table, for \\g, \\e or a catalog file", split((*session).infer)},
		{`\df`, "[NAME]", "functions", paged((*session).functions)},
		{`\a`, "", "between tables and unaligned values", toggle("unaligned")},
		{`\H`, "", "between tables and HTML", toggle("html")},
		{`\t`, "[on | off]", "rows only, without headings", (*session).tuplesOnly},
		{`\x`, "[on | off | auto]", "one column a line; auto: only tables wider than the screen", (*session).setVertical},
		{`\format`, "FORMAT", "table, vertical, csv, tsv, json, jsonl, markdown or arrow", (*session).setFormat},
		{`\pset`, "[NAME [VALUE]]", "how results look: border, fieldsep, linestyle, null, pager, ...", (*session).pset},
		{`\f`, "[SEPARATOR]", "between unaligned values", func(s *session, ctx context.Context, arg string) error { return s.pset(ctx, "fieldsep "+arg) }},
		{`\C`, "[TITLE]", "a line above results", func(s *session, ctx context.Context, arg string) error { return s.pset(ctx, "title "+arg) }},
		{`\timing`, "[on | off]", "the line with rows and time under results", func(s *session, _ context.Context, arg string) (err error) {
			if s.footer, err = s.onOff(arg, s.footer); err == nil {
				s.note("timing is %s", onOff(s.footer))
			}
			return err
		}},
		{`\i`, "FILE", "run the statements and commands of a file", including(false)},
		{`\ir`, "FILE", "the same; FILE is relative to the file that is running", including(true)},
		{`\o`, "[FILE | |COMMAND]", "results to a file or a command, or to the screen again", (*session).redirect},
		{`\copy`, "TABLE | (QUERY) TO | FROM FILE [WITH (...)]", "COPY, whose FILE needs no quotes", (*session).copy},
		{`\echo`, "[-n] [TEXT]", "write a text to standard output", split(func(s *session, _ context.Context, args []string) error { return echo(s.screenOut(), args) })},
		{`\qecho`, "[-n] [TEXT]", "the same to the output of results, see \\o", split(func(s *session, _ context.Context, args []string) error { return echo(s.stdout, args) })},
		{`\warn`, "[-n] [TEXT]", "the same to standard error", split(func(s *session, _ context.Context, args []string) error { return echo(s.stderr, args) })},
		{`\prompt`, "[TEXT] NAME", "ask for the value of a variable", split((*session).promptFor)},
		{`\if`, "CONDITION", "run what follows if the condition is true; also \\elif, \\else", nil}, // these are in condition
		{`\endif`, "", "end an \\if", nil},
		{`\set`, "[NAME [VALUE]]", "set a variable, used as :NAME, :'NAME' and :\"NAME\"", split((*session).set)},
		{`\getenv`, "NAME VARIABLE", "set a variable from the environment", split((*session).getenv)},
		{`\setenv`, "NAME [VALUE]", "set a variable of the environment: PAGER, EDITOR", split(setenv)},
		{`\unset`, "NAME", "forget a variable", (*session).unset},
		{`\c`, "[URL | NAME]", "connect to another store", (*session).reconnect},
		{`\conninfo`, "", "the store in use", func(s *session, _ context.Context, _ string) error {
			mode := "read-only"
			if s.db.Writable() {
				mode = "writable"
			}
			fmt.Fprintf(s.stdout, "%s, %s\n", s.conf.address(), mode)
			return nil
		}},
		{`\encoding`, "", "the encoding of texts: UTF8", (*session).encoding},
		{`\cd`, "[DIRECTORY]", "change the working directory", changeDirectory},
		{`\!`, "[COMMAND]", "run a command of the shell", shell},
		{`\h`, "[STATEMENT]", "the form of SQL statements", paged((*session).syntax)},
		{`\?`, "", "this list", paged((*session).help)},
		{`\q`, "", "quit (also ^D, exit)", nil}, // the shell itself ends
	}
}

const (
	listIndexes   = `SELECT indexname AS "Name", tablename AS "Table", indexdef AS "Definition" FROM pg_indexes WHERE indexname LIKE $1 ORDER BY 1`
	listTypes     = `SELECT format_type(oid, NULL) AS "Name" FROM pg_type WHERE typelem = 0 AND typtype = 'b' AND typname LIKE $1 ORDER BY 1`
	listDatabases = `SELECT datname AS "Name" FROM pg_database WHERE datname LIKE $1 ORDER BY 1`
	listSchemas   = `SELECT nspname AS "Name" FROM pg_namespace WHERE nspname LIKE $1 ORDER BY 1`
)

// screenOut returns standard output, even while \o sends results elsewhere.
func (s *session) screenOut() io.Writer {
	if s.redirected != nil {
		return s.screen
	}
	return s.stdout
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// including makes \i and \ir. A relative file is relative to the file that runs.
func including(relative bool) func(s *session, ctx context.Context, arg string) error {
	return func(s *session, ctx context.Context, arg string) error {
		name, err := fileName(arg)
		if err != nil {
			return err
		}
		if relative && !filepath.IsAbs(name) {
			name = filepath.Join(s.dir, name)
		}
		return s.include(ctx, name)
	}
}

// fileName returns the file name in a command's argument; ~/ means the home directory.
func fileName(arg string) (string, error) {
	args, err := words(arg)
	if err != nil {
		return "", err
	}
	if len(args) != 1 || args[0] == "" {
		return "", errors.New("the name of one file is needed (in '' if it holds spaces)")
	}
	return home(args[0]), nil
}

func home(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		if dir, err := os.UserHomeDir(); err == nil {
			return dir + rest
		}
	}
	return name
}

// run is \g: it runs the statement so far, or the last one again.
func (s *session) run(ctx context.Context, arg string) error {
	text, err := s.take()
	if err != nil {
		return err
	}
	if arg == "" {
		return s.now(ctx, text)
	}
	w, err := target(arg)
	if err != nil {
		return err
	}
	savedOut, savedTTY := s.stdout, s.tty
	s.stdout, s.tty = w, false
	err = s.now(ctx, text)
	s.stdout, s.tty = savedOut, savedTTY
	return cmp.Or(err, w.Close())
}

func (s *session) runVertical(ctx context.Context, arg string) error {
	saved := s.format
	s.format = "vertical"
	defer func() { s.format = saved }()
	return s.run(ctx, arg)
}

// now runs a statement. It returns a stopped error if the statement failed; the cause is printed already.
func (s *session) now(ctx context.Context, text string) error {
	if code := s.piece(ctx, text, text, 0, false); code != exitOK {
		return stopped{code}
	}
	return nil
}

// target opens the output of \g and \o: a file, or a command after |.
func target(arg string) (io.WriteCloser, error) {
	if line, ok := strings.CutPrefix(arg, "|"); ok {
		return newPipe(exec.Command("sh", "-c", line))
	}
	name, err := fileName(arg)
	if err != nil {
		return nil, err
	}
	return os.Create(name)
}

// pipe is the standard input of a running command. It is no error if the command stops reading early.
type pipe struct {
	io.WriteCloser
	cmd *exec.Cmd
}

func newPipe(cmd *exec.Cmd) (*pipe, error) {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	w, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &pipe{w, cmd}, nil
}

// Close waits for the command.
func (p *pipe) Close() error {
	_ = p.WriteCloser.Close() // it was closed when the command left early
	err := p.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil // grep found nothing; the shell reports other failures
	}
	return err
}

func (s *session) redirect(_ context.Context, arg string) error {
	var to io.WriteCloser
	if arg != "" {
		var err error
		if to, err = target(arg); err != nil {
			return err
		}
	}
	var err error
	if s.redirected != nil {
		err = s.redirected.Close()
		s.stdout, s.tty = s.screen, isTerminal(s.screen)
	}
	if s.redirected = to; to != nil {
		s.screen, s.stdout, s.tty = s.stdout, to, false
	}
	return err
}

// copyFile finds the file behind TO or FROM in \copy, as its first group, if the file's name is not in quotes.
var copyFile = regexp.MustCompile(`^\s+([^'\s(]\S*)(.*)$`)

// streams finds, behind TO or FROM in \copy, a program, its command with quotes, or pstdin or pstdout.
var streams = regexp.MustCompile(`(?is)^\s+(?:program\s+'((?:[^']|'')*)'|pstd(?:in|out)\b)(.*)$`)

// copy runs \copy as the statement COPY, which reads and writes files on this machine, as psql's \copy does.
func (s *session) copy(ctx context.Context, arg string) error {
	text := "COPY " + arg
	toks := parser.Tokens(text)
	i, from := copyDirection(toks)
	if i < 0 {
		return s.now(ctx, text)
	}
	at := int(toks[i].Pos) + len(toks[i].Text)
	before, target := text[:at], text[at:]
	if m := streams.FindStringSubmatch(target); m != nil {
		return s.copyStream(ctx, before, from, strings.ReplaceAll(m[1], "''", "'"), m[2])
	}
	if m := copyFile.FindStringSubmatch(target); m != nil && !strings.EqualFold(m[1], "STDIN") && !strings.EqualFold(m[1], "STDOUT") {
		text = before + " " + types.NewString(home(m[1])).SQL() + m[2]
	}
	return s.now(ctx, text)
}

// copyDirection returns the index of the TO or FROM of COPY, which stands outside of parentheses, and whether it is FROM; -1
// if there is none.
func copyDirection(toks []parser.Token) (i int, from bool) {
	depth := 0
	for i, t := range toks {
		switch strings.ToUpper(t.Text) {
		case "(":
			depth++
		case ")":
			depth--
		case "TO", "FROM":
			if depth == 0 {
				return i, strings.EqualFold(t.Text, "FROM")
			}
		}
	}
	return -1, false
}

// copyStream runs COPY, whose text up to TO or FROM is before, with the shell's command line; "" for the standard streams of
// hql.
func (s *session) copyStream(ctx context.Context, before string, from bool, line, options string) error {
	defer func() { s.input, s.copyTo = nil, nil }()
	text := before + " STDOUT" + options
	if from {
		text = before + " STDIN" + options
	}
	if line == "" {
		s.copyTo = s.screenOut()
		if from {
			s.input = s.stdin
		}
		return s.now(ctx, text)
	}
	if s.conf.Restricted {
		return errors.New("\\copy ... PROGRAM runs a command, which --restricted forbids")
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Stdout, cmd.Stderr = s.screenOut(), s.stderr
	var end io.Closer
	var err error
	if from {
		var out io.ReadCloser
		cmd.Stdout = nil
		out, err = cmd.StdoutPipe()
		s.input, end = out, out
	} else {
		var in io.WriteCloser
		in, err = cmd.StdinPipe()
		s.copyTo, end = in, in
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = s.now(ctx, text)
	_ = end.Close() // it was closed when the command ended early
	if failed := cmd.Wait(); err == nil && failed != nil {
		err = fmt.Errorf("program %q: %w", line, failed)
	}
	return err
}

// copies reports whether text is COPY from or to stream: STDIN, STDOUT or a file in quotes.
func copies(text string, from bool, stream string) bool {
	toks := slices.DeleteFunc(parser.Tokens(text), func(t parser.Token) bool { return t.Kind == parser.CommentToken || t.Kind == parser.HintToken })
	if len(toks) == 0 || !strings.EqualFold(toks[0].Text, "COPY") {
		return false
	}
	i, is := copyDirection(toks)
	return i >= 0 && is == from && i+1 < len(toks) && strings.EqualFold(toks[i+1].Text, stream)
}

// behind says that rest is the text behind the line that runs next.
func (s *session) behind(rest *string, inFile bool) {
	if s.rest = nil; inFile && s.inline {
		s.rest = rest
	}
}

// copyInput returns the rows of COPY FROM STDIN: the lines behind the statement in a file, those that are typed at the
// prompt, or standard input. A line with \. ends them.
func (s *session) copyInput() io.Reader {
	read, rest := s.stdin.ReadString, s.rest
	switch {
	case rest != nil:
		read = func(byte) (line string, err error) {
			if *rest == "" {
				return "", io.EOF
			}
			line, *rest, _ = strings.Cut(*rest, "\n")
			return line + "\n", nil
		}
	case s.ask != nil:
		s.note(`Enter the rows, a line each; a line with \. or ^D ends them.`)
		read = func(byte) (string, error) {
			line, err := s.ask(">> ")
			return line + "\n", err
		}
	}
	return &copyLines{read: read}
}

// copyLines reads lines up to a line with \.
type copyLines struct {
	read func(byte) (string, error)
	line string
	err  error
}

func (c *copyLines) Read(b []byte) (int, error) {
	if c.line == "" && c.err == nil {
		c.line, c.err = c.read('\n')
		if end := strings.TrimRight(c.line, "\r\n"); end == `\.` || c.err != nil && end == "" {
			c.line, c.err = "", cmp.Or(c.err, io.EOF)
		}
	}
	if c.line == "" {
		return 0, c.err
	}
	n := copy(b, c.line)
	c.line = c.line[n:]
	return n, nil
}

// copyOutput returns the writer of COPY TO STDOUT.
func (s *session) copyOutput() io.Writer {
	if s.copyTo != nil {
		return s.copyTo
	}
	return s.stdout
}

// edit runs \e: it opens the statement in an editor, and runs the saved text as if it had been typed.
func (s *session) edit(_ context.Context, arg string) error {
	text := strings.TrimSpace(s.query)
	if text == "" && s.last != "" {
		text = s.last + ";"
	}
	name := ""
	if arg != "" {
		var err error
		if name, err = fileName(arg); err != nil {
			return err
		}
	} else {
		f, err := os.CreateTemp("", "hql-*.sql")
		if err != nil {
			return err
		}
		name = f.Name()
		defer os.Remove(name)
		_, err = f.WriteString(text + "\n")
		err = cmp.Or(err, f.Close())
		if err != nil {
			return err
		}
	}
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	if err := foreground(editor+` "$0"`, name); err != nil {
		return fmt.Errorf("%s: %w", editor, err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	s.query = strings.TrimSpace(string(b))
	if s.query != "" {
		fmt.Fprintln(s.stdout, s.query)
	}
	return nil
}

// foreground runs a shell command, which uses the terminal for its input and output.
func foreground(line string, args ...string) error {
	cmd := exec.Command("sh", append([]string{"-c", line}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

func shell(_ *session, _ context.Context, arg string) error {
	if arg == "" {
		arg = `exec "${SHELL:-sh}"`
	}
	return foreground(arg)
}

func changeDirectory(_ *session, _ context.Context, arg string) error {
	name := home("~")
	if arg != "" {
		var err error
		if name, err = fileName(arg); err != nil {
			return err
		}
	}
	return os.Chdir(name)
}

// watch is \watch: it ends with ^C or an error.
func (s *session) watch(ctx context.Context, arg string) error {
	seconds, times := 2.0, 0.0
	for _, word := range strings.Fields(arg) {
		to, number := &seconds, strings.TrimPrefix(word, "i=")
		if count, ok := strings.CutPrefix(word, "c="); ok {
			to, number = &times, count
		}
		var err error
		if *to, err = strconv.ParseFloat(number, 64); err != nil || !(*to > 0 && *to < 1e6) {
			return fmt.Errorf("\\watch takes a number of seconds and c=TIMES, not %s", printable(word))
		}
	}
	text, err := s.take()
	if err != nil {
		return err
	}
	for {
		fmt.Fprintf(s.stdout, "%s (every %g s)\n", time.Now().Format(time.DateTime), seconds)
		if err := s.now(ctx, text); err != nil {
			return err
		}
		if times--; times == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		}
	}
}

func (s *session) setVertical(_ context.Context, arg string) error {
	auto := false
	switch {
	case arg == "auto":
		s.format, auto = "table", true
	case arg == "on", arg == "" && s.format != "vertical" && !s.auto:
		s.format = "vertical"
	case arg == "off", arg == "":
		s.format = "table"
	default:
		return fmt.Errorf("\\x is on, off or auto, not %s", printable(arg))
	}
	s.auto = auto
	more := ""
	if auto {
		more = ", or vertical where that is too wide"
	}
	s.note("format is %s%s", s.format, more)
	return nil
}

func (s *session) setFormat(_ context.Context, arg string) error {
	if _, ok := formats[arg]; !ok {
		return fmt.Errorf("unknown format %q (%s)", arg, formatNames)
	}
	s.format, s.auto = arg, false
	return nil
}

// reconnect is \c: the store in use is left only once the other one is open.
func (s *session) reconnect(ctx context.Context, arg string) error {
	conf := *s.conf
	if arg != "" {
		conf.given.Connect, conf.demo = arg, false
	}
	if err := conf.resolve(); err != nil {
		return err
	}
	if same := conf.address(); same == s.conf.address() && strings.HasPrefix(same, "dir:") {
		s.note("connected to %s", same) // only one connection can have a store in a directory
		return nil
	}
	made := conf.makes()
	db, err := open(ctx, &conf)
	if err != nil {
		return err
	}
	if made != "" {
		fmt.Fprintf(s.stderr, "note: %s was not there: an empty store was made in it\n", printable(made))
	}
	old := s.db
	s.db, s.conf = db, &conf
	s.note("connected to %s", conf.address())
	return old.Close()
}
