package hbase

import (
	"bytes"
	"context"
	"io"
	"iter"
)

// Rows scans a range and yields its rows, each valid until the next one. An error comes last, with an empty row.
func Rows(ctx context.Context, c Client, r ScanRange, o *ReadOptions) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		sc, err := c.Scan(ctx, r, o)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer sc.Close()
		for {
			rows, err := sc.Next(ctx)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// ReadAll scans a range and keeps all rows: use it for few rows.
func ReadAll(ctx context.Context, c Client, r ScanRange, o *ReadOptions) ([]Row, error) {
	var out []Row
	for row, err := range Rows(ctx, c, r, o) {
		if err != nil {
			return nil, err
		}
		out = append(out, row.Clone())
	}
	return out, nil
}

// Clone returns a copy of the row that shares no memory with it.
func (r Row) Clone() Row {
	out := Row{Key: bytes.Clone(r.Key), Encoded: bytes.Clone(r.Encoded)}
	if r.Cells != nil {
		out.Cells = make([]Cell, len(r.Cells))
	}
	for i, c := range r.Cells {
		out.Cells[i] = Cell{Family: bytes.Clone(c.Family), Qualifier: bytes.Clone(c.Qualifier), Timestamp: c.Timestamp, Value: bytes.Clone(c.Value)}
	}
	return out
}
