package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	_ "time/tzdata" // zones where the system has none

	"golang.org/x/term"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/demo"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a statement failed
	exitUsage       = 2
	exitUnreachable = 3
	exitGuard       = 4 // the full-scan guard refused, or the scan limit
	exitInterrupted = 130
	exitTerminated  = 143 // SIGTERM
)

func main() {
	// If the reader of a pipe ends early, as head does, the write fails and hql closes its scanners. Without this line
	// the signal would kill hql. signal.Ignore would also make the commands that hql starts ignore the signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	collectLater()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// startHeap is the size of the heap at the first garbage collection, as a multiple of Go's usual 4 MB.
const startHeap = 4

// collectLater delays the first garbage collection. Otherwise it would run twice before the first row of a short query,
// because the start allocates most of the 4 MB at which Go first collects. Later collections are not affected. A GOGC set
// by the user is kept.
func collectLater() {
	if _, set := os.LookupEnv("GOGC"); set {
		return
	}
	usual := debug.SetGCPercent(startHeap * 100)
	runtime.AddCleanup(new(any), func(usual int) { debug.SetGCPercent(usual) }, usual) // runs after the first one
}

var policies = map[string]*hql.FullScan{"": nil, "allow": ptr(hql.FullScanAllow), "warn": ptr(hql.FullScanWarn), "deny": ptr(hql.FullScanDeny)}

func ptr[T any](v T) *T { return &v }

// run is the whole program, with the given streams; it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 1 {
		switch args[0] {
		case "help", "-?":
			args = []string{"-h"}
		case "version":
			args = []string{"--version"}
		}
	}
	if code, ok := runTool(ctx, args, stdin, stdout, stderr); ok {
		return code
	}
	c, err := parseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, textOf("hql"))
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return exitUsage
	}
	if c.version {
		fmt.Fprintln(stdout, built())
		return exitOK
	}
	made := c.makes()
	db, err := open(ctx, c)
	if err != nil {
		s := &session{stderr: stderr}
		return s.report(err)
	}
	if made != "" {
		fmt.Fprintf(stderr, "note: %s was not there: an empty store was made in it\n", printable(made))
	}
	s := &session{db: db, conf: c, stdout: stdout, stderr: stderr, format: cmp.Or(c.Format, "table"), null: "NULL", dir: ".", pager: true, border: border{width: 1}}
	if c.Null != nil {
		s.showNull(*c.Null)
	}
	s.quiet, s.noRC, s.tuples, s.separator, s.record = c.quiet, c.noRC, c.tuples, c.separator, c.record
	s.stdin = bufio.NewReader(stdin)
	defer s.close()
	for _, p := range c.pset {
		name, value, _ := strings.Cut(p, "=")
		if err := s.pset(ctx, name+" "+value); err != nil {
			return s.report(err)
		}
	}
	s.args = c.args
	s.vars = map[string]string{"VERSION": "hql " + version(), "VERSION_NAME": version(), "ROW_COUNT": "0",
		"LAST_ERROR_MESSAGE": "", "LAST_ERROR_SQLSTATE": "00000"}
	for name, value := range c.vars {
		s.setVariable(name, value)
	}
	if c.output != "" {
		err := s.allowed(`\o`, c.output)
		if err == nil {
			err = s.redirect(ctx, c.output)
		}
		if err != nil {
			return s.report(err)
		}
	}
	s.person = isTerminal(stdin)
	s.tty = isTerminal(stdout)
	s.auto = s.person && s.tty && c.Format == "" // a table that is wider than the screen would wrap in its words
	if len(c.commands)+len(c.files) == 0 {
		if s.person {
			return s.repl(ctx)
		}
		c.files = list{"-"}
	}
	return s.batch(ctx)
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func open(ctx context.Context, c *config) (*hql.DB, error) { return openAs(ctx, c, "") }

// openAs opens the store like open, but HBase sees the given user; "" for the user in the address or of the operating system.
func openAs(ctx context.Context, c *config, user string) (*hql.DB, error) {
	var opts []hql.Option
	if user != "" {
		opts = append(opts, hql.WithUser(user))
	}
	for _, f := range c.Catalog {
		opts = append(opts, hql.WithCatalogFile(f))
	}
	var limit hql.ScanLimit
	if limit.Rows = c.MaxScanRows; c.MaxScanBytes != "" {
		var err error
		if limit.Bytes, err = exec.ParseScanLimit(c.MaxScanBytes); err != nil {
			return nil, err
		}
	}
	if p := policies[c.FullScan]; p != nil {
		opts = append(opts, hql.WithFullScan(*p))
	}
	switch {
	case c.Write:
		opts = append(opts, hql.WithWrites(true))
	case c.readOnly && !c.demo: // whose tables are written when it is opened
		opts = append(opts, hql.WithWrites(false))
	}
	if c.Restricted {
		opts = append(opts, hql.WithoutFiles())
	}
	if c.Timezone != "" {
		loc, err := types.Zone(c.Timezone)
		if err != nil {
			return nil, err
		}
		opts = append(opts, hql.WithLocation(loc))
	}
	if c.demo {
		db, err := demo.Open(ctx, opts...)
		if err != nil {
			return nil, err
		}
		if limit.Rows > 0 { // from here on: filling the sample tables reads as well
			_, err = db.Exec(ctx, fmt.Sprintf("SET max_scan_rows = %d", limit.Rows))
		}
		if err == nil && limit.Bytes > 0 {
			_, err = db.Exec(ctx, fmt.Sprintf("SET max_scan_bytes = %d", limit.Bytes))
		}
		return db, err
	}
	opts = append(opts, hql.WithScanLimit(limit))
	return hql.Open(ctx, c.address(), opts...)
}

// makes returns the directory that opening the store would create; "" if it creates none.
func (c *config) makes() string {
	if dir, ok := strings.CutPrefix(c.address(), "dir:"); ok && dir != "" {
		dir, _, _ = strings.Cut(dir, "?")
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return dir
		}
	}
	return ""
}

// address names the store.
func (c *config) address() string {
	switch {
	case c.demo:
		return "the sample tables"
	case c.Connect == "":
		return "mem:"
	}
	return c.Connect
}

// batch runs the -c texts and -f files in turn. It stops at the first error, unless --keep-going is given.
func (s *session) batch(ctx context.Context) int {
	for _, text := range s.conf.commands {
		if code := s.script(ctx, text); code != exitOK {
			return exit(code)
		}
	}
	for _, f := range s.conf.files {
		if code := s.file(ctx, f); code != exitOK {
			return code
		}
	}
	return s.failed
}

func (s *session) file(ctx context.Context, name string) int {
	var err error
	if name == "-" {
		var b []byte
		if b, err = io.ReadAll(s.stdin); err == nil {
			s.inline = true
			return exit(s.script(ctx, string(b)))
		}
	} else {
		err = s.include(ctx, name)
	}
	var st stopped
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &st):
		return exit(st.code)
	}
	return s.report(err)
}

// exit is the status that a script ends hql with.
func exit(code int) int {
	if code == quit {
		return exitOK
	}
	return code
}

// statement runs one statement, which is at offset in source; ^C cancels it.
func (s *session) statement(ctx context.Context, text, source string, offset int) int {
	if filled := s.substitute(text); filled != text {
		text, source, offset = filled, filled, 0
	}
	s.echoed("queries", text+";")
	run := s.execution
	if run == nil {
		run = s.execute
	}
	err := s.conf.bounded(ctx, func(ctx context.Context) error { return s.withHint(ctx, run(ctx, text)) })
	s.bound = nil
	s.outcome(err)
	if err == nil {
		return exitOK
	}
	if pe, ok := errors.AsType[*hql.Error](err); ok && pe.Pos >= 0 {
		moved := *pe
		moved.Pos += parser.Pos(offset)
		moved.Source = source
		err = &moved
	}
	code := s.report(err)
	if s.vars["ECHO"] == "errors" {
		fmt.Fprintf(s.stderr, "statement: %s\n", printableLines(text))
	}
	return code
}

// bounded runs f until it ends, or ^C, SIGTERM or the timeout ends it. The error says which of these ended it.
func (c *config) bounded(ctx context.Context, f func(context.Context) error) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	err := f(ctx)
	switch {
	case errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errTerminated):
		return terminated{err}
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("timed out after %v (--timeout)%s", c.Timeout, standing(err))
	}
	return err
}

// errTerminated is the cause with which SIGTERM cancels a context.
var errTerminated = errors.New("terminated")

// terminated is the error of a statement that SIGTERM ended.
type terminated struct{ error }

func (t terminated) Unwrap() error { return t.error }

// untilSignal returns a context that ends at ^C or SIGTERM. A second signal ends the program, because some expressions cannot
// be interrupted.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case sig := <-came:
			signal.Stop(came)
			if sig == syscall.SIGTERM {
				cancel(errTerminated)
			}
			cancel(nil)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(came); cancel(nil) }
}

// standing returns a text with the number of rows that a failed statement has written; "" if it has written none.
func standing(err error) string {
	if partial, ok := errors.AsType[*hql.PartialError](err); ok {
		return partial.Stand()
	}
	return ""
}

// report prints an error and returns the exit status for it.
func (s *session) report(err error) int {
	s.failure = err
	at := ""
	if s.within != "" {
		at = printable(s.within) + ":"
	}
	var pe *hql.Error
	var t terminated
	switch {
	case errors.As(err, &t):
		fmt.Fprintln(s.stderr, "error: terminated"+standing(err))
		return exitTerminated
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(s.stderr, "error: interrupted"+standing(err))
		return exitInterrupted
	case errors.As(err, &pe):
		shown := *pe // its text may hold keys and cells
		shown.Msg, shown.Hint = printableLines(pe.Msg), printableLines(pe.Hint)
		text := strings.TrimRight(shown.Format(), "\n")
		if file, ok := strings.CutSuffix(err.Error(), pe.Error()); ok && strings.HasPrefix(file, "catalog ") {
			text = strings.Replace(text, "error: ", "error: "+printableLines(file), 1)
		}
		fmt.Fprintln(s.stderr, strings.Replace(text, "error: ", "error: "+at, 1))
	default:
		fmt.Fprintf(s.stderr, "error: %s\n", strings.TrimPrefix(at+" ", " ")+printableLines(err.Error()))
	}
	switch {
	case errors.Is(err, hql.ErrFullScan), errors.Is(err, hql.ErrScanLimit):
		return exitGuard
	case errors.Is(err, hql.ErrUnreachable):
		return exitUnreachable
	}
	return exitFailed
}
