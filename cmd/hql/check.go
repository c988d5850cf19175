package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/check"
	"github.com/hql-db/hql/check/gocode"
)

// checks are the flags of hql check.
type checks struct {
	catalogs list
	format   string
	tests    bool
}

func (k *checks) flags(fs *flag.FlagSet, _ *config) {
	fs.Var(&k.catalogs, "catalog", "")
	fs.StringVar(&k.format, "format", "text", "")
	fs.BoolVar(&k.tests, "tests", false, "")
}

func (k *checks) check(args []string) error {
	if len(args) == 0 {
		return errors.New("hql check: FILE is missing: SQL files, Go files or folders, ./... for all\nhint: hql check -h lists the flags")
	}
	if !slices.Contains(check.Formats, k.format) {
		return fmt.Errorf("--format is %s, not %q", strings.Join(check.Formats, ", "), k.format)
	}
	return nil
}

// errBad is returned if a statement misses the prefix of a rowkey, and no comment excuses it.
var errBad = errors.New("statements miss the prefix of a rowkey")

func (k *checks) run(ctx context.Context, _ *config, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c, err := k.definitions()
	if err != nil {
		return err
	}
	files, passed, err := k.files(args)
	if err != nil {
		return err
	}
	sources, results, err := read(files, stdin)
	if err != nil {
		return err
	}
	checker := check.New(c)
	for _, s := range sources {
		checker.Define(s)
	}
	for _, s := range sources {
		results = append(results, checker.Source(ctx, s)...)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortStableFunc(results, check.ByPlace)
	results = slices.CompactFunc(results, func(a, b check.Result) bool { // a SQL file that is given and that a Go file embeds was checked twice
		return check.ByPlace(a, b) == 0 && a.SQL == b.SQL && a.Excused == b.Excused
	})
	if err := check.Write(stdout, k.format, results); err != nil {
		return err
	}
	if passed > 0 {
		fmt.Fprintf(stderr, "note: %s passed over; --tests checks them\n", count(passed, "test file"))
	}
	fmt.Fprintln(stderr, check.Summary(results))
	return ended(results)
}

// ended is the error that results mean.
func ended(results []check.Result) error {
	failed := 0
	for i := range results {
		if results[i].Fails() {
			return errBad
		}
		if results[i].Verdict == check.Failed {
			failed++
		}
	}
	if failed > 0 {
		return errUnplanned
	}
	return nil
}

// errUnplanned is returned if some statements cannot be parsed or planned, and no statement makes the check fail.
var errUnplanned = errors.New("statements cannot be planned")

func (k *checks) definitions() (*catalog.Catalog, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	if len(k.catalogs) == 0 {
		k.catalogs = env.Catalog
	}
	c := catalog.New()
	for _, name := range k.catalogs {
		text, err := os.ReadFile(name)
		if err == nil {
			err = c.Load(string(text))
		}
		if err != nil {
			return nil, fmt.Errorf("catalog %s: %s", name, err) // with its file in place of its line
		}
	}
	return c, nil
}

// read reads files. It returns the sources to check, and results for files that need no plan.
func read(files []string, stdin io.Reader) (sources []check.Source, results []check.Result, err error) {
	var code []string
	for _, name := range files {
		if strings.HasSuffix(name, ".go") {
			code = append(code, name)
			continue
		}
		text, err := readInput(name, stdin)
		if err != nil {
			return nil, nil, err
		}
		if name == "-" {
			name = "stdin"
		}
		sources = append(sources, check.File(name, text))
	}
	found, results, err := gocode.Find(code)
	return append(sources, found...), results, err
}

// files returns the files that args name, each once, and the number of test files that it left out.
func (k *checks) files(args []string) (files []string, passed int, err error) {
	add := func(name string) {
		switch {
		case slices.Contains(files, name):
		case strings.HasSuffix(name, "_test.go") && !k.tests:
			passed++
		default:
			files = append(files, name)
		}
	}
	for _, arg := range args {
		if arg == "-" {
			add(arg)
			continue
		}
		found, err := named(arg)
		if err != nil {
			return nil, 0, err
		}
		for _, name := range found {
			add(name)
		}
	}
	if len(files) == 0 && passed == 0 {
		return nil, 0, fmt.Errorf("there are no .sql and .go files in %s", strings.Join(args, ", "))
	}
	return files, passed, nil
}

// named returns the files that one argument names: a file, a pattern, or a folder with the folders below it.
func named(arg string) ([]string, error) {
	arg = filepath.FromSlash(arg)
	if root, ok := strings.CutSuffix(arg, "..."); ok {
		arg = filepath.Clean(root)
	}
	info, err := os.Stat(arg)
	if err != nil {
		found, bad := filepath.Glob(arg)
		if bad != nil || len(found) == 0 || slices.Contains(found, arg) { // or a link to nothing
			return nil, err
		}
		var out []string
		for _, name := range found {
			more, err := named(name)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}
	if !info.IsDir() {
		return []string{filepath.Clean(arg)}, nil
	}
	var out []string
	err = filepath.WalkDir(arg, func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir():
			if name != arg && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "vendor" || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
		case strings.HasSuffix(base, ".sql"), strings.HasSuffix(base, ".go"):
			out = append(out, name)
		}
		return nil
	})
	return out, err
}
