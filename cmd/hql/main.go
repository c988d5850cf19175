// Command hql answers SQL over Apache HBase tables: at a prompt, from -c or -f, or from standard input.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/demo"
	"github.com/hql-db/hql/parser"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a statement failed
	exitUsage       = 2
	exitUnreachable = 3
	exitGuard       = 4 // the full-scan guard refused
	exitInterrupted = 130
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	commands, files, catalogs, args list
	connect, format, fullScan       string
	write, demo, version            bool
	timeout                         time.Duration
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

const usage = `hql answers SQL over Apache HBase tables.

  hql [flags]              a prompt, or statements from standard input
  hql [flags] -c SQL       run and exit
  hql [flags] -f FILE      run a file and exit; -f - is standard input
  hql infer TABLE          proposes definitions for an HBase table; -h tells more
  hql advise -f FILE       says what a workload costs and which INDEX would serve it
  hql import FORMAT FILE   turns a catalog of SHC, Hive or Phoenix into hql's

Flags:
  -c SQL            statements separated by ';' (repeatable)
  -f FILE           a file of statements (repeatable)
  --connect URL     mem: (default), dir:PATH or hbase://zk1,zk2:2181/hbase
  --catalog FILE    CREATE TABLE statements that describe the tables (repeatable)
  --format FORMAT   table, vertical, csv, tsv, json, jsonl or markdown
  --arg VALUE       binds the next ? (repeatable)
  --full-scan MODE  allow, warn or deny plans that miss the rowkey prefix
                    (default: deny on hbase://, warn on the embedded store)
  --write           lets statements write on hbase://
  --demo            an embedded store with sample tables
  --timeout D       ends each statement after a while: 30s, 5m
  --version         prints the version

Exit status: 0; 1 a statement failed; 2 usage; 3 the store cannot be reached;
4 the full-scan guard refused; 130 after ^C.
`

func parseFlags(args []string, stderr io.Writer) (*config, error) {
	c := &config{}
	fs := flag.NewFlagSet("hql", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() { fmt.Fprint(stderr, usage) }
	fs.Var(&c.commands, "c", "")
	fs.Var(&c.files, "f", "")
	fs.Var(&c.catalogs, "catalog", "")
	fs.Var(&c.args, "arg", "")
	fs.StringVar(&c.connect, "connect", os.Getenv("HQL_CONNECT"), "")
	fs.StringVar(&c.format, "format", "", "")
	fs.StringVar(&c.fullScan, "full-scan", "", "")
	fs.BoolVar(&c.write, "write", false, "")
	fs.BoolVar(&c.demo, "demo", false, "")
	fs.BoolVar(&c.version, "version", false, "")
	fs.DurationVar(&c.timeout, "timeout", 0, "")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q (statements go after -c)", fs.Arg(0))
	}
	if c.demo && c.connect != "" {
		return nil, errors.New("--demo is a store of its own: it cannot be used with --connect")
	}
	if _, ok := formats[c.format]; c.format != "" && !ok {
		return nil, fmt.Errorf("unknown format %q (table, vertical, csv, tsv, json, jsonl or markdown)", c.format)
	}
	if _, ok := policies[c.fullScan]; !ok {
		return nil, fmt.Errorf("unknown full-scan mode %q (allow, warn or deny)", c.fullScan)
	}
	return c, nil
}

var policies = map[string]*hql.FullScan{"": nil, "allow": ptr(hql.Allow), "warn": ptr(hql.Warn), "deny": ptr(hql.Deny)}

func ptr[T any](v T) *T { return &v }

// run is the whole program: what is read and written is handed in, the exit status comes back.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, ok := runTool(ctx, args, stdin, stdout, stderr); ok {
		return code
	}
	c, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return exitUsage
	}
	if c.version {
		fmt.Fprintln(stdout, "hql "+version())
		return exitOK
	}
	db, err := open(ctx, c)
	if err != nil {
		s := &session{stderr: stderr}
		return s.report(err, "")
	}
	defer db.Close()
	s := &session{db: db, conf: c, stdout: stdout, stderr: stderr, format: c.format}
	for _, a := range c.args {
		s.args = append(s.args, a)
	}
	tty := isTerminal(stdin)
	s.tty = isTerminal(stdout)
	if s.format == "" {
		s.format = "table"
	}
	switch {
	case len(c.commands)+len(c.files) > 0:
		return s.batch(ctx, stdin)
	case tty:
		return s.repl(ctx)
	}
	return s.file(ctx, "-", stdin)
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func open(ctx context.Context, c *config) (*hql.DB, error) {
	var opts []hql.Option
	for _, f := range c.catalogs {
		opts = append(opts, hql.WithCatalogFile(f))
	}
	if p := policies[c.fullScan]; p != nil {
		opts = append(opts, hql.WithFullScan(*p))
	}
	if c.write {
		opts = append(opts, hql.WithWrites(true))
	}
	if c.demo {
		return demo.Open(ctx, opts...)
	}
	dsn := c.connect
	if dsn == "" {
		dsn = "mem:"
	}
	return hql.Open(ctx, dsn, opts...)
}

// batch runs the -c texts and -f files in turn, stopping at the first error.
func (s *session) batch(ctx context.Context, stdin io.Reader) int {
	for _, text := range s.conf.commands {
		if code := s.script(ctx, text); code != exitOK {
			return code
		}
	}
	for _, f := range s.conf.files {
		if code := s.file(ctx, f, stdin); code != exitOK {
			return code
		}
	}
	return exitOK
}

func (s *session) file(ctx context.Context, name string, stdin io.Reader) int {
	var b []byte
	var err error
	if name == "-" {
		b, err = io.ReadAll(stdin)
	} else {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		fmt.Fprintf(s.stderr, "error: %v\n", err)
		return exitFailed
	}
	return s.script(ctx, string(b))
}

// script runs statements separated by ';'. Errors name their place in the whole text.
func (s *session) script(ctx context.Context, text string) int {
	pieces, rest := parser.Split(text)
	if strings.TrimSpace(rest) != "" {
		pieces = append(pieces, parser.Piece{Text: rest, Offset: len(text) - len(rest)})
	}
	for _, p := range pieces {
		if code := s.statement(ctx, p.Text, text, p.Offset); code != exitOK {
			return code
		}
	}
	return exitOK
}

// statement runs one statement, which stands at offset in source; ^C cancels it.
func (s *session) statement(ctx context.Context, text, source string, offset int) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if s.conf.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.conf.timeout)
		defer cancel()
	}
	err := s.execute(ctx, text)
	if err == nil {
		return exitOK
	}
	var pe *hql.Error
	if errors.As(err, &pe) && pe.Pos >= 0 {
		moved := *pe
		moved.Pos += parser.Pos(offset)
		moved.Source = source
		err = &moved
		if errors.Is(pe, hql.ErrFullScan) {
			err = fmt.Errorf("%w", pe)
		}
	}
	return s.report(err, source)
}

// report prints an error and gives the exit status that it means.
func (s *session) report(err error, _ string) int {
	var pe *hql.Error
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(s.stderr, "error: interrupted")
		return exitInterrupted
	case errors.As(err, &pe):
		fmt.Fprintln(s.stderr, strings.TrimRight(pe.Format(), "\n"))
	default:
		fmt.Fprintf(s.stderr, "error: %v\n", err)
	}
	switch {
	case errors.Is(err, hql.ErrFullScan):
		return exitGuard
	case errors.Is(err, hql.ErrUnreachable):
		return exitUnreachable
	}
	return exitFailed
}
