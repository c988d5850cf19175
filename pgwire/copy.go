package pgwire

import (
	"slices"
	"strings"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/parser"
)

// copyCommand is COPY TO STDOUT or FROM STDIN.
type copyCommand struct {
	*parser.Copy
	rows *hql.Stmt // the query whose rows are sent

	format               string // text, csv or binary
	text                 copytext.Format
	header, match        bool            // match: the header must have the columns' names
	forceAll             bool            // quote everything
	forceQuote           map[string]bool // columns whose values are quoted
	forceNull, forceText map[string]bool // columns where the NULL text means NULL in quotes; where it is text without quotes
}

// newCopy reads the options of COPY TO STDOUT or FROM STDIN.
func newCopy(stmt *hql.Stmt) (*copyCommand, error) {
	cp := &copyCommand{Copy: stmt.Statement().(*parser.Copy), rows: stmt.Copied(), format: "text"}
	if cp.File != "" {
		return nil, noFiles()
	}
	var null *string
	for _, o := range cp.Options {
		v := ""
		if l, ok := o.Value.(*parser.Literal); ok {
			v = l.Text
		}
		if err := cp.option(o, v, &null); err != nil {
			return nil, err
		}
	}
	if cp.format == "binary" && (cp.text.Delimiter != 0 || null != nil || cp.header) {
		return nil, failure("42601", "cannot specify DELIMITER, NULL or HEADER in BINARY mode")
	}
	cp.text.CSV = cp.format == "csv"
	switch err := cp.text.Complete(null); {
	case err == copytext.ErrOnlyCSV:
		return nil, failure("0A000", "%v", err)
	case err != nil:
		return nil, failure("22023", "%v", err)
	}
	return cp, nil
}

// option reads an option with the text v.
func (cp *copyCommand) option(o parser.Option, v string, null **string) error {
	letter := func(to *byte) error {
		if len(v) != 1 {
			return parser.Errorf(o.Pos, "this option of COPY is a single one-byte character, not %q", v)
		}
		*to = v[0]
		return nil
	}
	switch o.Key {
	case "FORMAT":
		if cp.format = strings.ToLower(v); cp.format != "text" && cp.format != "csv" && cp.format != "binary" {
			return failure("22023", "COPY format %q not recognized: text, csv or binary", v)
		}
	case "DELIMITER", "DELIMITERS":
		return letter(&cp.text.Delimiter)
	case "QUOTE":
		return letter(&cp.text.Quote)
	case "ESCAPE":
		return letter(&cp.text.Escape)
	case "NULL":
		*null = &v
	case "HEADER":
		on, ok := exec.ParseSwitch(v)
		if cp.match = strings.EqualFold(v, "match"); cp.match && cp.To {
			return failure("0A000", "cannot use \"match\" with HEADER in COPY TO")
		}
		if cp.header = on || o.Value == nil || cp.match; !ok && !cp.header {
			return parser.Errorf(o.Pos, "header requires a Boolean value or \"match\"")
		}
	case "FREEZE": // HBase has no pages to freeze
	case "ENCODING":
		if _, err := exec.ParseEncoding(v); err != nil {
			return failure("0A000", "%v", err)
		}
	case "FORCE_QUOTE":
		cp.forceAll, cp.forceQuote = v == "*", columnSet(o.Value)
	case "FORCE_NOT_NULL":
		cp.forceText = columnSet(o.Value)
	case "FORCE_NULL":
		cp.forceNull = columnSet(o.Value)
	default:
		return parser.Errorf(o.Pos, "unknown option %s of COPY", o.Key)
	}
	return nil
}

// columnSet returns the columns that an option names.
func columnSet(x parser.Expr) map[string]bool {
	out := map[string]bool{}
	parser.Walk(x, func(e parser.Expr) bool {
		if c, ok := e.(*parser.ColumnRef); ok {
			out[c.Name] = true
		}
		return true
	})
	return out
}

// formats returns the format of the whole copy and those of its n columns: 0 is text, 1 is binary.
func (cp *copyCommand) formats(n int) (whole byte, columns []uint16) {
	if cp.format == "binary" {
		whole = 1
	}
	return whole, slices.Repeat([]uint16{uint16(whole)}, n)
}
