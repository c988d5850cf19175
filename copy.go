package hql

import (
	"context"
	"fmt"
	"iter"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// CopyFrom writes rows into a table, a thousand with one call for each region and four thousand at a time: several times
// as fast as one INSERT after the other. Each row has a value for each of columns; all columns of the table where columns
// is empty. It writes rows of one key in their order. A row that does not fit ends it with an error that names its
// number; the error tells how many are
// written (PartialError). CopyRows makes rows of a slice.
func (db *DB) CopyFrom(ctx context.Context, table string, columns []string, rows iter.Seq2[[]any, error]) (Result, error) {
	s := &parser.Copy{Pos: parser.NoPos, Table: table}
	for _, name := range columns {
		s.Columns = append(s.Columns, parser.Name{Pos: parser.NoPos, Name: name})
	}
	stmt := db.parsed(s, s.String())
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
	return stmt.Exec(ctx)
}

// CopyRows gives the rows of a slice to CopyFrom.
func CopyRows(rows [][]any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}
