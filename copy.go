package hql

import (
	"context"
	"fmt"
	"iter"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// CopyFrom writes rows into a table, several times as fast as one INSERT after the other: it sends a thousand rows per
// batch, and up to four batches at the same time. Each row has a value for each of columns, or for each column of the
// table if columns is empty. Rows with the same key are written in order. A row that does not fit ends CopyFrom with an
// error that has the row's number; a PartialError has the number of rows written. CopyRows converts a slice to rows.
func (db *DB) CopyFrom(ctx context.Context, table string, columns []string, rows iter.Seq2[[]any, error]) (Result, error) {
	s := &parser.Copy{Pos: parser.NoPos, TablePos: parser.NoPos, Table: table}
	for _, name := range columns {
		s.Columns = append(s.Columns, parser.Name{Pos: parser.NoPos, Name: name})
	}
	text := s.String()
	parsed, _, err := db.parse(text) // its positions let search_path place the table
	if err != nil {
		return Result{}, err
	}
	stmt := db.parsed(parsed, text)
	stmt.source = func(yield func([]types.Value, error) bool) {
		n := 0
		for row, err := range rows {
			n++
			values := make([]types.Value, len(row))
			for i, a := range row {
				if err == nil {
					values[i], _, _, err = argument(a)
				}
			}
			if err != nil {
				err = fmt.Errorf("COPY: row %d: %w", n, err)
			}
			if !yield(values, err) {
				return
			}
		}
	}
	written, err := stmt.runPiece(ctx, nil, nil)
	if err != nil {
		return Result{}, err
	}
	return written.drain()
}

// CopyRows returns the rows of a slice for CopyFrom.
func CopyRows(rows [][]any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}
