package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/hql-db/hql"
)

// printPieces cuts a query and prints its pieces, a line each, or the schema of their rows.
func printPieces(ctx context.Context, c *config, sql string, schema bool, stdout, stderr io.Writer) error {
	db, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	cut, err := db.Pieces(ctx, sql, c.args...)
	if err != nil {
		return err
	}
	for _, w := range cut.Warnings {
		fmt.Fprintf(stderr, "warning: %s\n", printable(w))
	}
	if schema {
		w := &arrowWriter{w: bufio.NewWriter(stdout), columns: cut.Columns, fixed: true, look: look{screen: isTerminal(stdout)}}
		if err := w.begin(nil, nil); err != nil {
			return err
		}
		return w.end()
	}
	enc := json.NewEncoder(stdout)
	known := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	for _, p := range cut.Pieces {
		line := struct {
			Piece  string `json:"piece"`
			Rows   *int64 `json:"rows"`
			Bytes  *int64 `json:"bytes"`
			Server string `json:"server"`
		}{p.Text, known(p.Rows), known(p.Bytes), p.Server}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// runPiece runs a piece of a query and prints its rows; the text "-" means that the piece is on standard input.
func runPiece(ctx context.Context, c *config, text string, stdin io.Reader, stdout, stderr io.Writer) error {
	if text == "-" {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return err
		}
		text = string(b)
	}
	db, err := open(ctx, c)
	if err != nil {
		return err
	}
	s := &session{db: db, conf: c, stdout: stdout, stderr: stderr, format: cmp.Or(c.given.Format, "arrow"), inPiece: true, null: "NULL"}
	s.tty = isTerminal(stdout)
	defer s.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go whileRead(ctx, cancel, stdout)
	rows, err := db.Piece(ctx, text, hql.QueryOptions{})
	if seenEnough(ctx, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	_, err = s.print(stdout, rows)
	if seenEnough(ctx, err) {
		err = nil
	}
	for _, w := range rows.Warnings() {
		fmt.Fprintf(stderr, "warning: %s\n", printable(w))
	}
	return err
}
