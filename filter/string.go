package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hql-db/hql/internal/words"
)

var opNames = [...]string{"=", "<>", "<", "<=", ">", ">=", "STARTS WITH"}

// String returns the comparison for EXPLAIN.
func (o Op) String() string { return opNames[o] }

func (f And) String() string { return join([]Filter(f), " AND ") }
func (f Or) String() string  { return join([]Filter(f), " OR ") }

func join(fs []Filter, sep string) string {
	parts := make([]string, len(fs))
	for i, f := range fs {
		parts[i] = f.String()
		switch f.(type) {
		case And, Or:
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, sep)
}

// String returns family:qualifier.
func (c Column) String() string { return c.Family + ":" + text([]byte(c.Qualifier)) }

func (f Cell) String() string {
	s := fmt.Sprintf("%s %s %s", Column{f.Family, f.Qualifier}, f.Op, quoted(f.Value))
	if f.KeepMissing {
		s += " OR MISSING"
	}
	return s
}

func (f CellNull) String() string {
	if f.Not {
		return Column{f.Family, f.Qualifier}.String() + " PRESENT"
	}
	return Column{f.Family, f.Qualifier}.String() + " MISSING"
}

func (f Written) String() string {
	column := Column{f.Family, f.Qualifier}.String()
	if f.All {
		column = f.Family + ":*"
	}
	return fmt.Sprintf("%s WRITTEN AT %v", column, f.Times)
}

func (f Regex) String() string {
	pattern := []byte(f.Pattern)
	if !f.UTF8 {
		pattern = pattern[:0:0]
		for _, r := range f.Pattern { // a character represents the byte with its number
			pattern = append(pattern, byte(r))
		}
	}
	return fmt.Sprintf("%s ~ %s", Column{f.Family, f.Qualifier}, strings.ReplaceAll(quoted(pattern), `\x5C`, `\`)) // its backslashes are its own
}

func (f KeyRegex) String() string { return f.Text }

func (f KeyRanges) String() string {
	return "KEY IN " + words.Join(f, " ", func(r KeyRange) string { return fmt.Sprintf("[%s, %s)", text(r.Start), text(r.Stop)) })
}

// String shows the patterns with ? where any byte fits.
func (f Fuzzy) String() string {
	var b strings.Builder
	b.WriteString("KEY LIKE ")
	for i, k := range f {
		if i > 0 {
			b.WriteString(" OR ")
		}
		for i, c := range k.Key {
			if k.Mask[i] != 0 {
				b.WriteByte('?')
			} else {
				b.WriteString(text([]byte{c}))
			}
		}
	}
	return b.String()
}

// String returns, for example, "sample 0.25".
func (f Sample) String() string { return fmt.Sprintf("sample %g", f.Share) }

func (f ColumnRange) String() string {
	return fmt.Sprintf("%s:[%s, %s)", f.Family, text(f.Min), text(f.Max))
}

func (FirstCell) String() string { return "FIRST CELL" }
func (KeyOnly) String() string   { return "KEY ONLY" }

func (f Columns) String() string {
	return "FIRST CELL OR " + words.Join(f, ", ", Column.String)
}

// quoted returns b in single quotes; inside them, text escapes what is not printable.
func quoted(b []byte) string { return "'" + strings.ReplaceAll(text(b), "'", "''") + "'" }

// text keeps printable UTF-8 and escapes everything else as \xNN.
func text(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) || r == '\\' {
			for _, c := range b[:n] {
				fmt.Fprintf(&s, `\x%02X`, c)
			}
		} else {
			s.WriteRune(r)
		}
		b = b[n:]
	}
	return s.String()
}
