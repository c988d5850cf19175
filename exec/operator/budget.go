package operator

import (
	"fmt"
	"sync/atomic"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// DefaultMemoryLimit is the default limit for the memory of a statement's operators, in bytes.
const DefaultMemoryLimit = 256 << 20

// Budget counts the bytes in memory of all operators of a query together, of a sub-query, or of Kepts. It
// is safe for concurrent use.
type Budget struct {
	Limit int64
	used  atomic.Int64
}

// Take reserves n more bytes. Beyond the limit it returns expr.ErrMemoryLimit; what names the operation in the error.
func (b *Budget) Take(n int64, what string) error {
	if b.used.Add(n) > b.Limit {
		b.used.Add(-n)
		return fmt.Errorf("%s: %w", what, expr.BeyondMemory(b.Limit))
	}
	return nil
}

// share is the part of a budget that one operator uses.
type share struct {
	*Budget
	held int64
}

// leastShare is the memory of an operator in bytes, under a limit that allows as much: with less it would write a file for every
// few rows.
const leastShare = 8 << 10

// take reserves n more bytes. Each operator may use an eighth of the limit, whatever the others use: an operator that
// could write its rows to files must be able to start while its input still holds rows.
func (s *share) take(n int64, what string) error {
	if s.held+n <= max(s.Limit/8, min(s.Limit, leastShare)) {
		s.used.Add(n)
	} else if err := s.Budget.Take(n, what); err != nil {
		return err
	}
	s.held += n
	return nil
}

// grow reserves n more bytes, and fails if the whole budget exceeds twice the limit.
func (s *share) grow(n int64, what string) error {
	s.held += n
	if s.used.Add(n) > 2*s.Limit && n > 0 {
		return fmt.Errorf("%s: %w", what, expr.BeyondMemory(s.Limit))
	}
	return nil
}

// give returns n bytes of the share.
func (s *share) give(n int64) {
	s.used.Add(-n)
	s.held -= n
}

func (s *share) release() { s.give(s.held) }

// SizeOf estimates the memory of a row in bytes.
func SizeOf(row []types.Value) int64 {
	n := int64(24)
	for i := range row {
		n += sizeOf(&row[i])
	}
	return n
}

func sizeOf(v *types.Value) int64 {
	n := 48 + int64(len(v.Text()))
	if v.Type() == types.Decimal {
		n += 64
	}
	return n
}
