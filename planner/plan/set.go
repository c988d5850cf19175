package plan

import (
	"sync/atomic"

	"github.com/hql-db/hql/internal/keyset"
	"github.com/hql-db/hql/types"
)

// Set holds the rows of a query.
type Set struct {
	Keys keyset.Set // if the rows are distinct: their numbers, by their values (see types.Value.AppendKey)
	rows types.Rows // empty while alone is set
	// alone, unless it is NULL, is the type of all values: each row is an integer, which Keys has.
	alone    types.Type
	key      []byte
	released int // number of rows before Release
	err      atomic.Pointer[error]
}

// Fail keeps the error of reading the rows for the first row that asks for them. Err returns it.
func (s *Set) Fail(err error) { s.err.Store(&err) }

// Err returns the error of Fail, or nil.
func (s *Set) Err() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Len returns the number of rows.
func (s *Set) Len() int { return max(s.rows.Len(), s.Keys.Len(), s.released) }

// Release lets other sets use the memory of s. From then on s only knows how many rows it had.
func (s *Set) Release() {
	s.released = s.Len()
	s.rows = types.Rows{}
	s.Keys.Release()
}

// Get sets row, whose values are NULL, to the row with number i.
func (s *Set) Get(i int, row []types.Value) {
	if s.alone == types.Null {
		s.rows.Get(i, row)
	} else if n, ok := s.Keys.Number(i); ok {
		row[0].SetInt(s.alone, int64(n))
	}
}

// Add adds row and returns the bytes that it takes, about. With distinct, it does nothing if row has a NULL or is not new.
func (s *Set) Add(row []types.Value, distinct bool) (size int64) {
	if !distinct {
		return int64(48*len(row)) + s.rows.Add(row) // Values takes it
	}
	if t, _, ok := row[0].Integer(); ok && len(row) == 1 && (s.alone == t || s.Len() == 0) {
		s.alone = t
		first, number, _ := row[0].NumberKey()
		if _, fresh := s.Keys.AddNumber(first, number); fresh {
			return 25
		}
		return 0
	}
	s.key = s.key[:0]
	for _, v := range row {
		if v.IsNull() {
			return 0
		}
		s.key = v.AppendKey(s.key)
	}
	if s.alone != types.Null {
		s.fill()
	}
	if _, fresh := s.Keys.Add(s.key); !fresh {
		return 0
	}
	return int64(len(s.key)) + 16 + s.rows.Add(row)
}

// fill fills rows, because a row comes that is not an integer of the same type.
func (s *Set) fill() {
	for i := range s.Keys.Len() {
		row := make([]types.Value, 1)
		s.Get(i, row)
		s.rows.Add(row)
	}
	s.alone = types.Null
}

// Values returns the values of the rows, each of n values.
func (s *Set) Values(n int) []types.Value {
	out := make([]types.Value, n*s.Len())
	for i := range s.Len() {
		s.Get(i, out[i*n:(i+1)*n])
	}
	return out
}
