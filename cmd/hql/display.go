package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"strconv"
	"strings"

	"github.com/hql-db/hql/types"
)

// border describes the lines of a table, as psql's \pset border and linestyle set them.
type border struct {
	width   int // 0: no lines; 1: lines between columns; 2: also around the table
	unicode bool
}

// strokes are the characters of a border: between columns, along a horizontal line, where lines cross, and the ends and
// crossings of the top, middle and bottom lines.
type strokes struct {
	column, rule, cross string
	left, right         string
	top, bottom         [3]string
}

func (b border) strokes() strokes {
	if b.unicode {
		return strokes{"│", "─", "┼", "├", "┤", [3]string{"┌", "┬", "┐"}, [3]string{"└", "┴", "┘"}}
	}
	return strokes{"|", "-", "+", "+", "+", [3]string{"+", "+", "+"}, [3]string{"+", "+", "+"}}
}

// htmlWriter writes a result as an HTML table, as psql -H does.
type htmlWriter struct {
	w *bufio.Writer
	look
	right []bool
}

func (h *htmlWriter) begin(cols []string, ts []types.Type) error {
	fmt.Fprintf(h.w, "<table border=\"%d\">\n", h.border.width)
	if h.title != "" && !h.tuples {
		fmt.Fprintf(h.w, "  <caption>%s</caption>\n", html.EscapeString(h.title))
	}
	for _, t := range ts {
		h.right = append(h.right, t.IsNumeric())
	}
	if h.tuples {
		return nil
	}
	h.w.WriteString("  <tr>\n")
	for _, c := range cols {
		fmt.Fprintf(h.w, "    <th align=\"center\">%s</th>\n", html.EscapeString(printable(c)))
	}
	_, err := h.w.WriteString("  </tr>\n")
	return err
}

func (h *htmlWriter) row(vals []types.Value) error {
	h.w.WriteString("  <tr valign=\"top\">\n")
	for i, v := range vals {
		align, text := "left", h.given
		if h.right[i] {
			align = "right"
		}
		if !v.IsNull() {
			text = strings.ReplaceAll(html.EscapeString(printableLines(v.String())), "\n", "<br />\n")
		}
		fmt.Fprintf(h.w, "    <td align=\"%s\">%s</td>\n", align, text)
	}
	_, err := h.w.WriteString("  </tr>\n")
	return err
}

func (h *htmlWriter) end() error {
	h.w.WriteString("</table>\n")
	return h.w.Flush()
}

// toggle makes a command that switches to a format, or back to the format "table".
func toggle(format string) func(s *session, ctx context.Context, arg string) error {
	return func(s *session, ctx context.Context, _ string) error {
		to := format
		if s.format == format {
			to = "table"
		}
		if err := s.setFormat(ctx, to); err != nil {
			return err
		}
		s.note("format is %s", s.format)
		return nil
	}
}

// tuplesOnly runs \t: it turns off headings, notes and the line with the number of rows, or turns them on again.
func (s *session) tuplesOnly(_ context.Context, arg string) error {
	on, err := s.onOff(arg, s.tuples)
	if err != nil {
		return err
	}
	s.tuples = on
	s.note("tuples only is %s", onOff(on))
	return nil
}

// onOff reads the argument of a command that turns a setting on or off. Without an argument it returns the opposite of now.
func (s *session) onOff(arg string, now bool) (bool, error) {
	if arg == "" {
		return !now, nil
	}
	return truth(arg)
}

// note prints what a command has set, unless hql is quiet.
func (s *session) note(format string, args ...any) {
	if !s.quiet {
		fmt.Fprintf(s.stderr, format+"\n", args...)
	}
}

// psqlFormats maps psql's names of formats to hql's, where these differ.
var psqlFormats = map[string]string{"aligned": "table", "wrapped": "table"}

// pset runs \pset: it shows or changes how results are printed.
func (s *session) pset(ctx context.Context, arg string) error {
	args, err := words(arg)
	if err != nil {
		return err
	}
	name, value := "", ""
	if len(args) > 0 {
		name, value = args[0], strings.Join(args[1:], " ")
	}
	switch name {
	case "":
		style := "ascii"
		if s.border.unicode {
			style = "unicode"
		}
		fmt.Fprintf(s.stdout, "border       %d\nfieldsep     '%s'\nfooter       %s\nformat       %s\nlinestyle    %s\nnull         '%s'\npager        %s\ntitle        %s\ntuples_only  %s\n",
			s.border.width, s.separator, onOff(s.footer), s.format, style, s.null, onOff(s.pager), s.title, onOff(s.tuples))
	case "format":
		if to, ok := psqlFormats[value]; ok {
			value = to
		}
		return s.setFormat(ctx, value)
	case "null":
		s.showNull(value)
	case "pager":
		return s.setPager(value)
	case "tuples_only", "t":
		return s.tuplesOnly(ctx, value)
	case "expanded", "x", "vertical":
		return s.setVertical(ctx, value)
	case "footer":
		s.footer, err = s.onOff(value, s.footer)
		return err
	case "title", "C":
		s.title = printable(value)
	case "fieldsep":
		s.separator = unescaped(value)
	case "recordsep":
		s.record = unescaped(value)
	case "csv_fieldsep":
		if value = unescaped(value); len(value) != 1 || strings.ContainsAny(value, "\"\r\n") {
			return errors.New(`\pset csv_fieldsep is one byte, but no quote and no line break`)
		}
		s.comma = value
	case "columns", "pager_min_lines", "xheader_width": // the screen decides
	case "unicode_border_linestyle", "unicode_column_linestyle", "unicode_header_linestyle":
		if value != "single" {
			return fmt.Errorf("\\pset %s is single: other lines are not drawn", name)
		}
	case "numericlocale":
		if on, err := truth(value); err != nil || on {
			return errors.New(`\pset numericlocale is off: to_char(number, '999,999') writes separators`)
		}
	case "tableattr", "T":
		return errors.New(`\pset tableattr is not supported: style the HTML by its elements`)
	case "fieldsep_zero":
		s.separator = "\x00"
	case "recordsep_zero":
		s.record = "\x00"
	case "border":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 2 {
			return fmt.Errorf("\\pset border is 0, 1 or 2, not %s", printable(value))
		}
		s.border.width = n
	case "linestyle":
		switch value {
		case "ascii", "old-ascii", "unicode":
			s.border.unicode = value == "unicode"
		default:
			return fmt.Errorf("\\pset linestyle is ascii or unicode, not %s", printable(value))
		}
	default:
		return fmt.Errorf("\\pset knows border, csv_fieldsep, expanded, fieldsep, footer, format, linestyle, null, pager, recordsep, title and tuples_only, not %s", printable(name))
	}
	return nil
}

// showNull sets the text that all formats for people print for NULL.
func (s *session) showNull(text string) {
	s.null = printable(text)
	s.given = s.null
}

// unescaped replaces \t and \n by a tab and a line feed, for separators in arguments.
func unescaped(text string) string { return strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(text) }

// promptText makes a prompt of psql's PROMPT1 or PROMPT2. %/ and %m are the store, %n the user of the operating system, %R = or -, %# >.
func (s *session) promptText(pattern, state string) string {
	store := s.conf.address()
	return strings.NewReplacer("%%", "%", "%/", store, "%~", store, "%m", store, "%M", store, "%R", state, "%x", "", "%#", ">", "%l", "", "%[", "", "%]", "",
		"%n", os.Getenv("USER"), "%>", "", "%p", "").Replace(pattern)
}
