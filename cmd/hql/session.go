package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/types"
)

// session runs statements and prints their results.
type session struct {
	db      *hql.DB
	conf    *config
	args    []any
	stdout  io.Writer
	stderr  io.Writer
	format  string
	inPiece bool // it runs a piece of a query
	auto    bool // tables that are too wide are shown one column a line
	cut     bool // tables that are too wide are cut at the screen's edge
	tty     bool // stdout is a terminal
	footer  bool // print the number of rows and the time
	null    string
	given   string // the text for NULL in formats that by default print nothing for NULL
	pager   bool
	quiet   bool // no notes, no command tags
	noRC    bool // ~/.hqlrc is not run
	tuples  bool // rows only
	border  border

	title     string // above results
	separator string // of unaligned values
	record    string // behind each row of them
	comma     string // between the values of csv
	person    bool   // somebody types at stdin

	query  string            // the statement that is being typed
	last   string            // the statement that ran last
	vars   map[string]string // of \set
	dir    string            // of the file that is running
	depth  int               // of files within files
	within string            // the file that another file or the prompt runs now

	ifs       []branch                                     // the \if that are open
	bound     []any                                        // of \bind; nil: the arguments of the flags
	execution func(ctx context.Context, text string) error // nil: execute
	failure   error                                        // the last one
	history   *history
	unnamed   []string // the HBase tables without a definition, when they were last listed
	stdin     *bufio.Reader
	ask       func(prompt string) (string, error) // nil: stdin is asked

	inline bool      // a file runs, which has the rows of COPY FROM STDIN behind the statement
	rest   *string   // the text of that file behind the line that runs; COPY takes its rows from it
	input  io.Reader // the rows of COPY FROM STDIN
	copyTo io.Writer // where COPY TO STDOUT writes; nil: to the results

	failed int // with --keep-going, the exit status of the first failure

	redirected io.WriteCloser // where \o sends results; nil: the screen
	screen     io.Writer
}

// close releases the resources of the session.
func (s *session) close() {
	if s.redirected != nil {
		if err := s.redirected.Close(); err != nil {
			s.report(err)
		}
	}
	s.db.Close()
}

// execute runs one statement and prints its result.
func (s *session) execute(ctx context.Context, text string) error {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var p *progress
	if isTerminal(s.stderr) {
		p = showProgress(ctx, s.stderr)
		defer p.stop()
	}
	rows, err := s.db.Query(ctx, text, append([]any{hql.QueryOptions{Watch: p.watch, Stdin: s.input, Stdout: s.copyOutput()}}, s.arguments(text)...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if s.redirected == nil { // the writer has finished
		go whileRead(ctx, cancel, s.stdout)
	}
	out := s.output(p.stop)
	n, err := s.print(out, rows)
	rows.Close() // a pager that is left early, or an error, ends the reading
	p.stop()
	took := time.Since(start)
	err = cmp.Or(err, out.Close())
	if seenEnough(ctx, err) {
		err = nil
	}
	for _, w := range rows.Warnings() {
		fmt.Fprintf(s.stderr, "%s: %s\n", warningKind(w), printable(w))
		if strings.HasPrefix(w, warning.Line) && strings.HasSuffix(w, " not copied") {
			s.failed = cmp.Or(s.failed, exitFailed) // of a script, which goes on
		}
	}
	if err != nil {
		return err
	}
	s.setVariable("ROW_COUNT", strconv.Itoa(max(n, int(rows.RowsAffected()))))
	s.tag(text, rows, n)
	if s.footer {
		s.summary(rows, n, took)
	}
	return nil
}

// tag prints the command tag of a statement, as psql does. It prints none with --quiet or in the formats for programs.
func (s *session) tag(text string, rows *hql.Rows, n int) {
	switch s.format {
	case "table", "vertical", "unaligned", "html", "markdown":
		t := rows.CommandTag(n)
		verb, _, _ := strings.Cut(t, " ")
		switch {
		case s.quiet, copies(text, false, "STDOUT"), copies(text, false, "'/dev/stdout'"): // where the tag does not belong
		case verb == "INSERT", verb == "UPDATE", verb == "DELETE", verb == "MERGE", len(rows.Columns()) == 0:
			fmt.Fprintln(s.stdout, t)
		}
	}
}

// warningKind names a line that begins with a code.
func warningKind(w string) string {
	if strings.HasPrefix(w, "HQL-N") {
		return "note"
	}
	return "warning"
}

// errUnread is the cause with which whileRead cancels a query.
var errUnread = errors.New("nobody reads the result")

// whileRead cancels ctx when the process that reads the pipe w has closed it.
func whileRead(ctx context.Context, cancel context.CancelCauseFunc, w io.Writer) {
	if unread(w, ctx.Done()) {
		cancel(errUnread)
	}
}

// seenEnough reports whether a query failed with err because the reader of its result stopped reading.
func seenEnough(ctx context.Context, err error) bool {
	return errors.Is(err, syscall.EPIPE) || err != nil && context.Cause(ctx) == errUnread
}

// print writes the rows to out and returns their number.
func (s *session) print(out io.Writer, rows *hql.Rows) (int, error) {
	cols := rows.Columns()
	n := 0
	if len(cols) == 0 { // a statement without a result
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil {
			return n, err
		}
		return n, nil
	}
	ts := make([]types.Type, len(cols))
	for i, c := range rows.ColumnTypes() {
		ts[i] = c.Type
	}
	buf := bufio.NewWriterSize(out, 64<<10)
	if d := rows.Drawn(); d != nil && (s.format == "table" || s.format == "vertical") { // EXPLAIN is text to read
		for _, l := range d {
			buf.WriteString(paint(l, s.colour()) + "\n")
		}
		return len(d), buf.Flush()
	}
	if rows.Document() && s.format != "json" && s.format != "jsonl" && s.format != "arrow" {
		for rows.Next() {
			n++
			text := rows.Raw()[0].Text()
			if s.terminal() != nil {
				text = printableLines(text)
			}
			buf.WriteString(text)
		}
		if err := rows.Err(); err != nil {
			return n, err
		}
		return n, buf.Flush()
	}
	w := formats[s.format](buf, s.look())
	if a, ok := w.(*arrowWriter); ok {
		a.columns, a.fixed = rows.ColumnTypes(), s.inPiece
	}
	if err := w.begin(cols, ts); err != nil {
		return 0, err
	}
	for rows.Next() {
		n++
		if err := w.row(rows.Raw()); err != nil {
			return n, err
		}
	}
	if err := rows.Err(); err != nil {
		buf.Flush() // the rows that came before the error were right
		return n, err
	}
	return n, w.end()
}

// summary is the line under a result at the prompt.
func (s *session) summary(rows *hql.Rows, n int, took time.Duration) {
	st := rows.Stats()
	if a := rows.RowsAffected(); a >= 0 {
		fmt.Fprintf(s.stderr, "(%s written, %s)\n", count(int(a), "row"), round(took))
		return
	}
	line := count(n, "row") + ", " + round(took)
	var parts []string
	for _, c := range []struct {
		n    int64
		what string
	}{{st.Gets, "get"}, {st.Scans, "scan"}, {st.Regions, "region"}} {
		if c.n > 0 {
			parts = append(parts, count(int(c.n), c.what))
		}
	}
	if len(parts) > 0 {
		line += "; " + strings.Join(append(parts, count(int(st.RowsRead), "row")+" read"), ", ")
	}
	fmt.Fprintf(s.stderr, "(%s)\n", line)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// round formats a duration for people: 340 µs, 41 ms, 2.35 s, 3m20s.
func round(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// width is the terminal's, in columns.
func (s *session) width() int {
	if f := s.terminal(); f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 100
}
