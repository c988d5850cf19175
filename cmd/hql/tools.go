package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/importer"
)

// texts are the usage of hql and of its sub-commands, and the forms of statements.
//
//go:embed text
var texts embed.FS

// textOf returns the file of a name in texts.
func textOf(name string) string {
	b, err := texts.ReadFile("text/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	return string(b)
}

// tool is a sub-command: hql NAME [flags] [arguments].
type tool struct {
	usage string // textOf(NAME)
	store bool   // it takes the flags that say where the tables are
	query bool   // it takes the flags of queryFlags
	flags func(fs *flag.FlagSet, c *config)
	args  int                       // arguments taken
	fewer int                       // how many of them may be left out
	check func(args []string) error // of flags and arguments; nil: none
	run   func(ctx context.Context, c *config, args []string, stdin io.Reader, stdout, stderr io.Writer) error
}

// anyNumber is the number of arguments of a tool that takes any number of them.
const anyNumber = math.MaxInt

// tools returns the sub-commands by name. The usage text is made from this one table.
func tools() map[string]*tool {
	sample, most := inferredFrom, proposed
	var statement string
	var designed designing
	var heat heated
	var schema bool
	var serve server
	var checked checks
	var asked assistant
	all := map[string]*tool{
		"infer": {
			store: true,
			flags: func(fs *flag.FlagSet, c *config) {
				fs.IntVar(&sample, "sample", sample, "")
				fs.IntVar(&most, "max", most, "")
			},
			args: 1,
			check: func([]string) error {
				if sample < 1 || most < 1 {
					return errors.New("--sample and --max take a number from 1")
				}
				return nil
			},
			run: func(ctx context.Context, c *config, args []string, _ io.Reader, stdout, stderr io.Writer) error {
				return inferTable(ctx, c, args[0], sample, most, stdout, stderr)
			},
		},
		"design": {store: true, flags: designed.flags, check: designed.check, run: designed.run},
		"hot":    {store: true, args: 1, fewer: 1, flags: heat.flags, check: heat.check, run: heat.run},
		"check":  {args: anyNumber, fewer: anyNumber, flags: checked.flags, check: checked.check, run: checked.run},
		"serve":  {store: true, flags: serve.flags, check: serve.check, run: serve.run},
		"mcp":    {store: true, flags: asked.flags, check: asked.check, run: asked.run},
		"pieces": {
			store: true,
			query: true,
			flags: func(fs *flag.FlagSet, c *config) {
				fs.StringVar(&statement, "c", "", "")
				fs.BoolVar(&schema, "schema", false, "")
				fs.StringVar(&c.given.Timezone, "timezone", "", "")
			},
			check: func([]string) error {
				if statement == "" {
					return errors.New("-c SELECT is missing: the query to cut")
				}
				return nil
			},
			run: func(ctx context.Context, c *config, _ []string, _ io.Reader, stdout, stderr io.Writer) error {
				return printPieces(ctx, c, statement, schema, stdout, stderr)
			},
		},
		"piece": {
			store: true,
			query: true,
			args:  1,
			run: func(ctx context.Context, c *config, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
				return runPiece(ctx, c, args[0], stdin, stdout, stderr)
			},
		},
		"import": {
			store: true,
			args:  2,
			fewer: 1,
			check: func(args []string) error {
				if !slices.Contains(importer.Formats(), args[0]) {
					return fmt.Errorf("unknown catalog format %q (%s)", args[0], strings.Join(importer.Formats(), ", "))
				}
				if len(args) == 1 && args[0] != "phoenix" {
					return errors.New("FILE is missing: hql import shc|hive|phoenix FILE")
				}
				return nil
			},
			run: func(ctx context.Context, c *config, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
				out, err := importCatalog(ctx, c, args, stdin)
				if err != nil {
					return err
				}
				for line := range strings.Lines(out) { // visible also if the definitions go to a file
					if todo, ok := strings.CutPrefix(line, "-- TODO "); ok {
						fmt.Fprint(stderr, "TODO ", printableLines(todo))
					}
				}
				_, err = io.WriteString(stdout, out)
				return err
			},
		},
	}
	for name, t := range all {
		t.usage = textOf(name)
	}
	return all
}

// runTool runs the sub-command that args begin with; ok is false if they begin with no sub-command.
func runTool(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	t := tools()[args[0]]
	if t == nil {
		return 0, false
	}
	c := &config{}
	fs := flag.NewFlagSet("hql "+args[0], flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	if t.store {
		fs.Var(&c.given.Catalog, "catalog", "")
		fs.StringVar(&c.given.Connect, "connect", "", "")
		fs.StringVar(&c.given.Conf, "conf", "", "")
		fs.BoolVar(&c.demo, "demo", false, "")
	}
	if t.query {
		queryFlags(fs, c)
	}
	if t.flags != nil {
		t.flags(fs, c)
	}
	var rest []string
	for args = args[1:]; ; args = fs.Args()[1:] { // flags may follow arguments
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, t.usage)
			return exitOK, true
		}
		if err != nil {
			fmt.Fprintf(stderr, "error: %v\n", flagError(err, fs.Name()))
			return exitUsage, true
		}
		if fs.NArg() == 0 {
			break
		}
		rest = append(rest, fs.Arg(0))
	}
	if len(rest) > t.args || len(rest) < t.args-t.fewer {
		form, _, _ := strings.Cut(t.usage, "\n")
		fmt.Fprintf(stderr, "error: %s takes %s, not %d: %s\n", fs.Name(), count(t.args, "argument"), len(rest), form)
		return exitUsage, true
	}
	if t.store {
		if err := c.load(); err != nil {
			fmt.Fprintf(stderr, "error: %v\n", err)
			return exitUsage, true
		}
	}
	if t.check != nil {
		if err := t.check(rest); err != nil {
			fmt.Fprintf(stderr, "error: %v\n", err)
			return exitUsage, true
		}
	}
	run := func(ctx context.Context) error { return t.run(ctx, c, rest, stdin, stdout, stderr) }
	if inner := run; t.query {
		run = func(ctx context.Context) error { return c.bounded(ctx, inner) }
	}
	switch err := run(ctx); {
	case errors.Is(err, errBad):
		return exitGuard, true
	case errors.Is(err, errUnplanned):
		return exitFailed, true
	case err != nil:
		s := &session{stderr: stderr}
		return s.report(err), true
	}
	return exitOK, true
}

// importCatalog returns the definitions in a file or, without one, in Phoenix's catalog on a cluster.
func importCatalog(ctx context.Context, c *config, args []string, stdin io.Reader) (string, error) {
	if len(args) == 2 {
		src, err := readInput(args[1], stdin)
		if err != nil {
			return "", err
		}
		return importer.Import(args[0], src)
	}
	db, err := open(ctx, c)
	if err != nil {
		return "", err
	}
	defer db.Close()
	return importer.PhoenixCatalog(ctx, db.Client())
}

// readInput reads a file, or standard input for "-".
func readInput(name string, stdin io.Reader) (string, error) {
	var b []byte
	var err error
	if name == "-" {
		b, err = io.ReadAll(stdin)
	} else {
		b, err = os.ReadFile(name)
	}
	return string(b), err
}

// inferTable prints definitions for an HBase table, inferred from its rows.
func inferTable(ctx context.Context, c *config, table string, sample, most int, stdout, stderr io.Writer) error {
	db, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = propose(ctx, db, table, sample, most, stdout, stderr)
	return err
}

// storedAs returns a text with the HBase table that holds the rows of the table called name.
func storedAs(db *hql.DB, name string) string {
	t, ok := db.Catalog().Table(name)
	if !ok {
		return ""
	}
	if name, whole := t.Layouts[0].Stored.Prefix(); whole {
		return fmt.Sprintf(" (the table %s is stored in %s)", t.Name, name)
	}
	return ""
}
