package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/types"
)

// session runs statements and prints their results.
type session struct {
	db     *hql.DB
	conf   *config
	args   []any
	stdout io.Writer
	stderr io.Writer
	format string
	tty    bool // stdout is a terminal
	footer bool // print how many rows came and what they took
}

// execute runs one statement and prints what it gives.
func (s *session) execute(ctx context.Context, text string) error {
	start := time.Now()
	rows, err := s.db.Query(ctx, text, s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	n, err := s.print(rows)
	for _, w := range rows.Warnings() {
		fmt.Fprintf(s.stderr, "warning: %s\n", w)
	}
	if err != nil {
		return err
	}
	if s.footer {
		s.summary(rows, n, time.Since(start))
	}
	return nil
}

// print writes the rows and gives their number.
func (s *session) print(rows *hql.Rows) (int, error) {
	cols := rows.Columns()
	n := 0
	if len(cols) == 0 { // a statement without a result
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil {
			return n, err
		}
		if a := rows.RowsAffected(); a >= 0 && !s.footer && s.tty {
			fmt.Fprintf(s.stderr, "%d rows\n", a)
		}
		return n, nil
	}
	ts := make([]types.Type, len(cols))
	for i, c := range rows.ColumnTypes() {
		ts[i] = c.Type
	}
	buf := bufio.NewWriterSize(s.stdout, 64<<10)
	if d := rows.Drawn(); d != nil && (s.format == "table" || s.format == "vertical") { // EXPLAIN is text to read
		for _, l := range d {
			buf.WriteString(paint(l, s.colour()) + "\n")
		}
		return len(d), buf.Flush()
	}
	if rows.Document() && s.format != "json" && s.format != "jsonl" {
		for rows.Next() {
			n++
			buf.WriteString(rows.Raw()[0].Text())
		}
		if err := rows.Err(); err != nil {
			return n, err
		}
		return n, buf.Flush()
	}
	if len(cols) == 1 && cols[0] == "plan" && (s.format == "table" || s.format == "vertical") {
		for rows.Next() {
			n++
			fmt.Fprintln(buf, printable(rows.Raw()[0].Text()))
		}
		if err := rows.Err(); err != nil {
			return n, err
		}
		return n, buf.Flush()
	}
	w := formats[s.format](buf, s.colour())
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
	fmt.Fprintf(s.stderr, "(%s, %s; %s, %s, %s read)\n", count(n, "row"), round(took), count(int(st.Gets), "get"), count(int(st.Scans), "scan"), count(int(st.RowsRead), "row"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(time.Millisecond)
}
