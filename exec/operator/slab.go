package operator

import "github.com/hql-db/hql/types"

// slab allocates rows of values, many in one array.
type slab struct{ free []types.Value }

// maxSlab is the size of a slab's later arrays in values. It is small, because one kept row keeps its whole array in memory.
const maxSlab = 2048

// row returns a row of n NULLs.
func (s *slab) row(n int) []types.Value {
	at := len(s.free)
	if cap(s.free)-at < n {
		s.free, at = make([]types.Value, 0, max(n, min(2*cap(s.free), maxSlab))), 0
	}
	s.free = s.free[:at+n]
	row := s.free[at : at+n : at+n]
	for i := range row {
		row[i].Clear()
	}
	return row
}

// reserve makes room for n rows of the given width.
func (s *slab) reserve(n, width int) {
	if cap(s.free) < n*width {
		s.free = make([]types.Value, 0, n*width)
	}
}

// drop releases row, the last one.
func (s *slab) drop(row []types.Value) { s.free = s.free[:len(s.free)-len(row)] }

// reset releases all rows; no caller may still use them.
func (s *slab) reset() { s.free = s.free[:0] }
