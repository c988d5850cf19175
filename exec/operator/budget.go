package operator

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hql-db/hql/types"
)

// ErrMemoryLimit is the error of a query that needs more memory than allowed.
var ErrMemoryLimit = errors.New("memory limit exceeded")

// DefaultMemoryLimit is the default limit for the memory of a statement's operators, in bytes.
const DefaultMemoryLimit = 256 << 20

// Budget counts the bytes that something holds, as all operators of a query together.
type Budget struct {
	Limit int64
	used  int64
}

// Take reserves n more bytes. Beyond the limit it returns ErrMemoryLimit; what names the operation for the error.
func (b *Budget) Take(n int64, what string) error {
	if b.used+n > b.Limit {
		return fmt.Errorf("%s: %w: it needs more than %s (setting memory_limit)", what, ErrMemoryLimit, FormatSize(b.Limit))
	}
	b.used += n
	return nil
}

// share is the memory of one operator, within the budget.
type share struct {
	*Budget
	held int64
}

// take asks for n bytes more. An eighth of the limit is there for each, whatever others hold: one that writes to files when
// it gets no more must get that far while the one it reads from still holds its rows.
func (s *share) take(n int64, what string) error {
	if s.held+n <= s.Limit/8 {
		s.used += n
	} else if err := s.Budget.Take(n, what); err != nil {
		return err
	}
	s.held += n
	return nil
}

// release gives back all of the share.
func (s *share) release() {
	s.used -= s.held
	s.held = 0
}

// SizeOf estimates the memory behind a row.
func SizeOf(row []types.Value) int64 {
	n := int64(24)
	for _, v := range row {
		n += sizeOf(v)
	}
	return n
}

func sizeOf(v types.Value) int64 {
	n := 48 + int64(len(v.Text()))
	if v.Type() == types.Decimal {
		n += 64
	}
	return n
}

// sizes are the units of bytes, the largest first.
var sizes = []struct {
	unit  string
	bytes int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}

// ParseSize reads a positive number of bytes in the form of PostgreSQL's settings: '64MB', '1 GB', 1048576.
func ParseSize(text string) (int64, error) {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, s := range sizes {
		if n := len(number) - len(s.unit); n >= 0 && strings.EqualFold(number[n:], s.unit) {
			number, unit = strings.TrimSpace(number[:n]), s.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is no size: a positive number of bytes with kB, MB or GB behind it", text)
	}
	return n * unit, nil
}

// FormatSize is the shortest text that ParseSize reads as n.
func FormatSize(n int64) string {
	for _, s := range sizes {
		if n%s.bytes == 0 && s.bytes > 1 {
			return strconv.FormatInt(n/s.bytes, 10) + s.unit
		}
	}
	return strconv.FormatInt(n, 10)
}
