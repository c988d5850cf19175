package operator

// slab allocates rows of values, many in one array.
type slab[T any] struct{ free []T }

// maxSlab is the size of a slab's later arrays in values. It is small, because one kept row keeps its whole array in memory.
const maxSlab = 2048

// join returns a row with the values of a, b and rest.
func (s *slab[T]) join(a, b, rest []T) []T {
	at, n := len(s.free), len(a)+len(b)+len(rest)
	if cap(s.free)-at < n {
		s.free, at = make([]T, 0, max(n, min(2*cap(s.free), maxSlab))), 0
	}
	s.free = append(append(append(s.free, a...), b...), rest...)
	return s.free[at : at+n : at+n]
}

// drop releases row, the last one.
func (s *slab[T]) drop(row []T) { s.free = s.free[:len(s.free)-len(row)] }

// reset releases all rows; no caller may still use them.
func (s *slab[T]) reset() { s.free = s.free[:0] }
