package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// config holds the flags, the environment and the configuration file.
type config struct {
	commands, files list
	args            []any             // a string, or nil
	vars            map[string]string // of --var
	demo, version   bool
	keepGoing       bool
	readOnly        bool // of the embedded store, too
	quiet, noRC     bool
	tuples          bool
	pset            list
	output          string   // of -o
	separator       string   // of unaligned values
	record          string   // behind each row of them
	given           settings // by flags and the environment
	file            configFile
	settings        // those that hold
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// flags are those of hql itself.
func (c *config) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("hql", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Var(&c.commands, "c", "")
	fs.Var(&c.files, "f", "")
	fs.Var(&c.given.Catalog, "catalog", "")
	fs.Func("var", "", c.setVar)
	fs.Func("v", "", c.setVar)
	for name, format := range map[string]string{"csv": "csv", "A": "unaligned", "H": "html", "x": "vertical"} {
		fs.BoolFunc(name, "", func(string) error { c.given.Format = format; return nil })
	}
	fs.BoolVar(&c.tuples, "t", false, "")
	fs.StringVar(&c.separator, "F", "|", "")
	fs.StringVar(&c.record, "R", "\n", "")
	fs.BoolFunc("z", "", func(string) error { c.separator = "\x00"; return nil })
	fs.BoolFunc("0", "", func(string) error { c.record = "\x00"; return nil })
	fs.StringVar(&c.output, "o", "", "")
	fs.Var(&c.pset, "P", "")
	for name, what := range map[string]string{"a": "all", "e": "queries", "b": "errors"} {
		fs.BoolFunc(name, "", func(string) error { return c.setVar("ECHO=" + what) })
	}
	fs.BoolFunc("l", "", func(string) error { return c.commands.Set(`\l`) })
	fs.BoolVar(&c.quiet, "q", false, "")
	fs.BoolVar(&c.noRC, "X", false, "")
	fs.StringVar(&c.given.Connect, "connect", "", "")
	fs.StringVar(&c.given.Conf, "conf", "", "")
	queryFlags(fs, c)
	fs.StringVar(&c.given.Timezone, "timezone", "", "")
	fs.BoolVar(&c.given.Write, "write", false, "")
	fs.BoolVar(&c.given.Restricted, "restricted", false, "")
	fs.StringVar(&c.given.Color, "color", "", "")
	fs.BoolVar(&c.demo, "demo", false, "")
	fs.BoolVar(&c.version, "version", false, "")
	fs.BoolVar(&c.keepGoing, "keep-going", false, "")
	return fs
}

// addPsql adds psql's other names of flags.
func addPsql(fs *flag.FlagSet) {
	for long, short := range longFlags {
		fs.Var(fs.Lookup(short).Value, long, "")
	}
	for _, name := range []string{"w", "no-password", "n", "no-readline"} { // there are no passwords, and lines only at a prompt
		fs.Bool(name, false, "")
	}
}

// longFlags maps psql's other names of flags to those of hql.
var longFlags = map[string]string{
	"command": "c", "file": "f", "dbname": "connect", "d": "connect", "set": "v", "variable": "v", "pset": "P", "output": "o",
	"no-align": "A", "html": "H", "expanded": "x", "tuples-only": "t", "field-separator": "F", "record-separator": "R",
	"field-separator-zero": "z", "record-separator-zero": "0", "quiet": "q", "no-psqlrc": "X", "V": "version",
	"echo-all": "a", "echo-queries": "e", "echo-errors": "b", "list": "l",
}

// otherFlags maps flags of psql that hql does not have to reasons.
var otherFlags = map[string]string{
	"-s": noStep, "-single-step": noStep, "-S": noLine, "-single-line": noLine, "-L": noLog, "-log-file": noLog,
	"-1": noBlock, "-single-transaction": noBlock, "-U": noServer, "-p": noServer, "-W": noServer,
	"-username": noServer, "-port": noServer, "-host": noServer, "-password": noServer,
}

const (
	noBlock  = "there are no transactions: each statement writes at once"
	noStep   = "\\prompt asks between statements; -e shows each statement"
	noLine   = "each statement ends with a semicolon"
	noLog    = "-e writes the statements, too: hql -e ... | tee file"
	noServer = "--connect says where HBase is; psql -h HOST -p PORT -U USER asks hql serve"
)

// setVar is --var NAME=VALUE.
func (c *config) setVar(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || !variableName(name) {
		return errors.New("--var takes NAME=VALUE")
	}
	if c.vars == nil {
		c.vars = map[string]string{}
	}
	c.vars[name] = value
	return nil
}

func parseFlags(args []string) (*config, error) {
	c := &config{}
	fs := c.flags()
	addPsql(fs)
	for args = separated(args); ; args = fs.Args()[1:] { // flags may follow the address
		if err := fs.Parse(args); err != nil {
			return nil, flagError(err, "hql")
		}
		if fs.NArg() == 0 {
			break
		}
		if strings.ContainsAny(fs.Arg(0), " ;") {
			return nil, fmt.Errorf("unexpected argument %q (statements go after -c)", fs.Arg(0))
		}
		if c.given.Connect != "" {
			return nil, fmt.Errorf("unexpected argument %q: %s is the address already", fs.Arg(0), c.given.Connect)
		}
		c.given.Connect = fs.Arg(0)
	}
	if c.version {
		return c, nil
	}
	c.separator, c.record = unescaped(c.separator), unescaped(c.record)
	return c, c.load()
}

// joinedFlags are short flags in one word, as psql takes them: -Atc, -qAtX, -AtF,. The value of the last may follow.
var joinedFlags = regexp.MustCompile(`^-([AHtxqXz0aebl]+)(?:([cfoFRvP])(.*))?$`)

// attachedVariable is -vNAME=VALUE.
var attachedVariable = regexp.MustCompile(`^-v[A-Za-z_]\w*=`)

// separated makes each short flag of args a word of its own.
func separated(args []string) (out []string) {
	for _, a := range args {
		joined := joinedFlags.FindStringSubmatch(a)
		switch {
		case len(a) > 2 && joined != nil:
			for _, f := range joined[1] + joined[2] {
				out = append(out, "-"+string(f))
			}
			if joined[3] != "" {
				out = append(out, joined[3])
			}
		case (strings.HasPrefix(a, "-F") || strings.HasPrefix(a, "-R") || strings.HasPrefix(a, "-P")) && len(a) > 2 || attachedVariable.MatchString(a) && !strings.HasPrefix(a, "-var="):
			out = append(out, a[:2], a[2:])
		default:
			out = append(out, a)
		}
	}
	return out
}

// queryFlags adds the flags for the limits of statements and the format of results.
func queryFlags(fs *flag.FlagSet, c *config) {
	fs.Func("arg", "", func(s string) error { c.args = append(c.args, s); return nil })
	fs.BoolFunc("null", "", func(string) error { c.args = append(c.args, nil); return nil })
	fs.StringVar(&c.given.Format, "format", "", "")
	fs.StringVar(&c.given.FullScan, "full-scan", "", "")
	fs.Int64Var(&c.given.MaxScanRows, "max-scan-rows", 0, "")
	fs.StringVar(&c.given.MaxScanBytes, "max-scan-bytes", "", "")
	fs.DurationVar(&c.given.Timeout, "timeout", 0, "")
}

// flagError returns the error about a command's flags, and says where the flags are documented.
func flagError(err error, command string) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		text = "unknown flag " + name
		if why := otherFlags[name]; why != "" {
			return fmt.Errorf("%s\nhint: %s", text, why)
		}
	}
	return fmt.Errorf("%s\nhint: %s -h lists the flags", text, command)
}
