package expr

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

// BeyondMemory returns an ErrMemoryLimit that names the limit, which is in bytes.
func BeyondMemory(limit int64) error {
	return fmt.Errorf("%w: it needs more than %s (setting memory_limit)", ErrMemoryLimit, FormatSize(limit))
}

// Hold adds the text of v to Held, which the caller restores later. Beyond Memory it fails with ErrMemoryLimit.
func (e *Env) Hold(v types.Value) error {
	e.Held += int64(len(v.Text()))
	if e.Held > longText {
		return e.Room(0)
	}
	return nil
}

// holdArgument is Hold for an argument, with room for its elements: functions decode arrays and JSON.
func (e *Env) holdArgument(v types.Value) error {
	err := e.Hold(v)
	if err == nil && len(v.Text()) > longText {
		switch {
		case v.Type().IsJSON():
			return e.RoomForItems(strings.Count(v.Text(), ","))
		case v.Type().IsArray():
			return e.RoomForItems(v.Len())
		}
	}
	return err
}

// Room fails with ErrMemoryLimit if n more bytes would exceed Memory.
func (e *Env) Room(n int64) error {
	if e.Memory > 0 && e.Held+n > e.Memory {
		return BeyondMemory(e.Memory)
	}
	return nil
}

// RoomForItems is Room for n values, such as the elements of an array.
func (e *Env) RoomForItems(n int) error { return e.Room(int64(n) * sizeOfValue) }

// sizeOfValue is the approximate size of a types.Value in bytes.
const sizeOfValue = 48

// sizes are the units of bytes, the largest first.
var sizes = []struct {
	unit  string
	bytes int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}

// ParseSize parses a positive number of bytes in the notation of PostgreSQL's settings: '64MB', '1 GB', 1048576.
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
		return 0, fmt.Errorf("%q is not a valid size: write a positive number of bytes with kB, MB or GB after it", text)
	}
	return n * unit, nil
}

// FormatSize returns the shortest text that ParseSize parses as n.
func FormatSize(n int64) string {
	for _, s := range sizes {
		if n%s.bytes == 0 && s.bytes > 1 {
			return strconv.FormatInt(n/s.bytes, 10) + s.unit
		}
	}
	return strconv.FormatInt(n, 10)
}
