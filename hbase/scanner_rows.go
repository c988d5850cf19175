package hbase

import (
	"bytes"
	"slices"
	"sync"

	"github.com/tsuna/gohbase/pb"
)

// This file makes rows of the answers to a scan.

// decode reads the rows of an answer and joins parts of rows.
func (s *scanner) decode(resp *pb.ScanResponse, block []byte) ([]Row, error) {
	s.cells, s.rows = s.cells[:0], s.rows[:0]
	total := 0
	for _, n := range resp.CellsPerResult {
		total += int(n)
	}
	total = min(total, len(block)/minKeyValue) // allocate for the cells that are there, not for the number announced
	if cap(s.cells) < total && !s.encoded {
		s.cells = make([]Cell, 0, total)
	}
	if n := min(len(resp.CellsPerResult), len(block)/minKeyValue) + len(resp.Results); cap(s.rows) < n {
		if n >= longList && s.rows == nil {
			s.rows = *rowLists.Get().(*[]Row)
		}
		s.rows = slices.Grow(s.rows[:0], n+1) // and the row of which a part is held
	}
	size := len(block)
	for i, n := range resp.CellsPerResult {
		first, whole := len(s.cells), block
		var key []byte
		for range n {
			var err error
			var row []byte
			if s.encoded {
				row, block, err = checkKeyValue(block)
			} else {
				s.cells, row, block, err = appendKeyValue(s.cells, block)
			}
			if err == nil && key != nil && !bytes.Equal(key, row) {
				err = mixedRows(key, row)
			}
			if err != nil {
				return nil, err
			}
			key = row
		}
		if n > 0 {
			s.rows = append(s.rows, Row{})
			r := &s.rows[len(s.rows)-1] // set where it is, since a copy costs time
			if r.Key = key; s.encoded {
				r.Encoded = whole[: len(whole)-len(block) : len(whole)-len(block)]
			} else {
				r.Cells = s.cells[first:len(s.cells):len(s.cells)]
			}
			if partial := i < len(resp.PartialFlagPerResult) && resp.PartialFlagPerResult[i]; partial || s.part != nil {
				part := *r
				s.rows = s.rows[:len(s.rows)-1]
				s.addRow(part, partial)
			}
		}
	}
	for _, r := range resp.Results { // cells inside the message
		if len(r.Cell) > 0 {
			for _, c := range r.Cell {
				if !bytes.Equal(c.Row, r.Cell[0].Row) {
					return nil, mixedRows(r.Cell[0].Row, c.Row)
				}
				size += len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value)
			}
			total += len(r.Cell)
			s.addRow(Row{Key: r.Cell[0].Row, Cells: appendCells(nil, r.Cell)}, r.GetPartial())
		}
	}
	s.c.stats.cells.Add(int64(total))
	s.c.stats.bytes.Add(int64(size))
	s.most = max(s.most, len(s.rows)+1)
	return s.rows, nil
}

// rowLists are the lists of rows of scanners that were closed, each for longList rows or more.
var rowLists = sync.Pool{New: func() any { return new([]Row) }}

const longList = 256

// addRow adds a row or a part of one; the parts of a row come consecutively.
func (s *scanner) addRow(r Row, partial bool) {
	if s.part != nil {
		if bytes.Equal(s.part.Key, r.Key) {
			s.part.join(r)
			r = *s.part
		} else {
			s.rows = append(s.rows, *s.part)
		}
		s.part = nil
	}
	if partial {
		s.part = &Row{Key: slices.Clone(r.Key), Cells: slices.Clone(r.Cells), Encoded: slices.Clone(r.Encoded)} // the slab is reused
		return
	}
	s.rows = append(s.rows, r)
}

// join appends the cells of the next part of the row. Usually both parts are encoded, or both decoded.
func (r *Row) join(next Row) {
	if r.Cells == nil && next.Cells == nil {
		r.Encoded = append(r.Encoded, next.Encoded...)
		return
	}
	r.Cells = append(append(decodeCells(nil, r.Encoded), r.Cells...), decodeCells(next.Cells, next.Encoded)...)
	r.Encoded = nil
}
