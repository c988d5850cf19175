package pgwire

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/parser"
)

// copyCommand is COPY TO STDOUT or FROM STDIN.
type copyCommand struct {
	query  string // the query whose rows are sent; "" for all rows of table
	offset int    // where query begins
	table  string // as it is written
	cols   []string
	to     bool
	allow  bool // ALLOW FULL SCAN

	format               string // text, csv or binary
	text                 copytext.Format
	header               bool
	forceAll             bool            // quote everything
	forceQuote           map[string]bool // columns whose values are quoted
	forceNull, forceText map[string]bool // columns where the NULL text means NULL in quotes; where it is text without quotes
}

// parseCopy parses COPY TO STDOUT or FROM STDIN as in PostgreSQL, with the options of version 9 and later or of older versions.
func parseCopy(sql string) (*copyCommand, error) {
	w := newWords(sql)
	w.take("COPY")
	cp := &copyCommand{format: "text"}
	if w.take("BINARY") {
		cp.format = "binary"
	}
	if err := cp.source(w); err != nil {
		return nil, err
	}
	switch {
	case w.take("TO"):
		cp.to = true
	case w.take("FROM"):
	default:
		return nil, w.unexpected()
	}
	if cp.query != "" && !cp.to {
		return nil, parser.Errorf(w.pos(), "COPY FROM needs a table: a query can only be copied TO")
	}
	if w.take("PROGRAM") || strings.HasPrefix(w.peek(), "'") {
		return nil, noFiles()
	}
	if !w.take("STDIN") && !w.take("STDOUT") {
		return nil, w.unexpected()
	}
	null, err := cp.options(w)
	if err != nil {
		return nil, err
	}
	return cp, cp.defaults(null)
}

// source reads what COPY copies: a query, or a table with its columns.
func (cp *copyCommand) source(w *words) error {
	if w.peek() == "(" {
		from := w.at + 1
		for depth := 0; w.at < len(w.toks); w.at++ {
			if t := w.peek(); t == "(" {
				depth++
			} else if t == ")" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if w.at >= len(w.toks) || from == w.at {
			return w.unexpected()
		}
		cp.offset = int(w.toks[from].Pos)
		cp.query = w.sql[cp.offset:w.pos()]
		w.at++
		return nil
	}
	begin := w.pos()
	if _, err := w.dotted(); err != nil {
		return err
	}
	cp.table = strings.TrimSpace(w.sql[begin:w.pos()])
	if !w.take("(") {
		return nil
	}
	var err error
	cp.cols, err = w.columnList()
	return err
}

// columnList reads names up to the closing parenthesis.
func (w *words) columnList() (out []string, err error) {
	for {
		name, err := w.name()
		if err != nil {
			return nil, err
		}
		out = append(out, name)
		if w.take(")") {
			return out, nil
		}
		if !w.take(",") {
			return nil, w.unexpected()
		}
	}
}

// options reads the options after STDIN or STDOUT.
func (cp *copyCommand) options(w *words) (null *string, err error) {
	cp.allow = w.take("ALLOW", "FULL", "SCAN")
	w.take("WITH")
	listed := w.take("(")
	for w.at < len(w.toks) && err == nil {
		if listed && w.take(")") {
			listed = false
			continue
		}
		if !listed && w.take("ALLOW", "FULL", "SCAN") {
			cp.allow = true
			continue
		}
		err = cp.option(w, listed, &null)
		if listed && err == nil && !w.take(",") && w.peek() != ")" {
			err = w.unexpected()
		}
	}
	if err == nil && listed {
		err = w.unexpected()
	}
	return null, err
}

// option reads one option.
func (cp *copyCommand) option(w *words, listed bool, null **string) error {
	at := w.pos()
	text := func() (string, error) {
		w.take("AS")
		w.take("=")
		return w.value()
	}
	letter := func(to *byte) error {
		v, err := text()
		if err == nil && len(v) != 1 {
			err = parser.Errorf(at, "this option of COPY is a single one-byte character, not %q", v)
		}
		if err == nil {
			*to = v[0]
		}
		return err
	}
	names := func(to *map[string]bool) error {
		*to = map[string]bool{}
		if w.take("*") {
			cp.forceAll = cp.forceAll || to == &cp.forceQuote
			return nil
		}
		if !w.take("(") {
			name, err := w.name()
			(*to)[name] = true
			return err
		}
		list, err := w.columnList()
		for _, n := range list {
			(*to)[n] = true
		}
		return err
	}
	switch {
	case !listed && w.take("BINARY"):
		cp.format = "binary"
	case !listed && w.take("CSV"):
		cp.format = "csv"
	case listed && w.take("FORMAT"):
		v, err := text()
		if cp.format = strings.ToLower(v); err != nil {
			return err
		}
		if cp.format != "text" && cp.format != "csv" && cp.format != "binary" {
			return failure("22023", "COPY format %q not recognized: text, csv or binary", v)
		}
	case w.take("DELIMITER"), w.take("DELIMITERS"):
		return letter(&cp.text.Delimiter)
	case w.take("QUOTE"):
		return letter(&cp.text.Quote)
	case w.take("ESCAPE"):
		return letter(&cp.text.Escape)
	case w.take("NULL"):
		v, err := text()
		*null = &v
		return err
	case w.take("HEADER"):
		cp.header = true
		if next := w.peek(); listed && next != "," && next != ")" {
			v, err := text()
			if on, ok := exec.ParseSwitch(v); ok {
				cp.header = on
			} else if !strings.EqualFold(v, "match") {
				return parser.Errorf(at, "header requires a Boolean value or \"match\"")
			}
			return err
		}
	case w.take("ENCODING"):
		v, err := text()
		if err == nil {
			if _, err = exec.ParseEncoding(v); err != nil {
				err = failure("0A000", "%v", err)
			}
		}
		return err
	case w.take("FORCE_QUOTE"), w.take("FORCE", "QUOTE"):
		return names(&cp.forceQuote)
	case w.take("FORCE_NOT_NULL"), w.take("FORCE", "NOT", "NULL"):
		return names(&cp.forceText)
	case w.take("FORCE_NULL"), w.take("FORCE", "NULL"):
		return names(&cp.forceNull)
	default:
		return w.unexpected()
	}
	return nil
}

// defaults sets the options that are not given.
func (cp *copyCommand) defaults(null *string) error {
	f := &cp.text
	if cp.format == "binary" && (f.Delimiter != 0 || null != nil || cp.header) {
		return failure("42601", "cannot specify DELIMITER, NULL or HEADER in BINARY mode")
	}
	f.CSV = cp.format == "csv"
	switch err := f.Complete(null); {
	case err == copytext.ErrOnlyCSV:
		return failure("0A000", "%v", err)
	case err != nil:
		return failure("22023", "%v", err)
	}
	return nil
}

// formats returns the format of the whole copy and those of its n columns: 0 is text, 1 is binary.
func (cp *copyCommand) formats(n int) (whole byte, columns []uint16) {
	if cp.format == "binary" {
		whole = 1
	}
	return whole, slices.Repeat([]uint16{uint16(whole)}, n)
}

// selects returns the query whose rows are sent.
func (cp *copyCommand) selects() string {
	q := cp.query
	if q == "" {
		cols := "*"
		if cp.cols != nil {
			cols = quoteNames(cp.cols)
		}
		q = "SELECT " + cols + " FROM " + cp.table
	}
	if cp.allow {
		q += " ALLOW FULL SCAN"
	}
	return q
}

func quoteNames(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = parser.QuoteName(n)
	}
	return strings.Join(out, ", ")
}
