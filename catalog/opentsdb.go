package catalog

import (
	"errors"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
)

// Point is a data point of an OpenTSDB row.
type Point struct {
	Offset           int64  // milliseconds since the row's hour began
	Qualifier, Value []byte // as in a cell with this point alone
}

// HoldsPoints reports whether c's cells are OpenTSDB's: a cell holds one data point or many, and a point's qualifier
// depends on the width of its number.
func (c *Column) HoldsPoints() bool {
	_, ok := c.Encoding.(openTSDBValue)
	return ok && c.Packed != nil
}

// tsdbAppend is the qualifier of the cell that OpenTSDB appends points to, each a qualifier and a value.
const tsdbAppend = "\x05\x00\x00"

var errCompacted = errors.New("its value does not fit its qualifier")

// Points appends the data points of a cell to dst: one point, or all that OpenTSDB compacted into or appended to the
// cell, or none if the cell is an annotation or a histogram.
func (c *Column) Points(dst []Point, qualifier, value []byte) ([]Point, error) {
	n := len(dst)
	q, one := pointQualifier(qualifier)
	switch {
	case string(qualifier) == tsdbAppend:
		for len(value) > 0 {
			q, ok := pointQualifier(value)
			w := pointWidth(q)
			if !ok || len(q)+w > len(value) {
				return dst[:n], errCompacted
			}
			dst = append(dst, newPoint(q, value[len(q):len(q)+w]))
			value = value[len(q)+w:]
		}
		return dst, nil
	case len(qualifier)%2 == 1 || len(qualifier) == 0:
		return dst, nil
	case one && len(q) == len(qualifier):
		if len(value) == 8 && q[len(q)-1]&0xf == 0xb && string(value[:4]) == "\x00\x00\x00\x00" {
			value = value[4:] // early versions stored 4 bytes of floating point in 8
		}
		return append(dst, newPoint(q, value)), nil
	}
	if len(value) == 0 || value[len(value)-1] > 1 { // 1: seconds and milliseconds are mixed
		return dst, errCompacted
	}
	value = value[:len(value)-1]
	for len(qualifier) > 0 {
		q, ok := pointQualifier(qualifier)
		w := pointWidth(q)
		if !ok || w > len(value) {
			return dst[:n], errCompacted
		}
		dst = append(dst, newPoint(q, value[:w]))
		qualifier, value = qualifier[len(q):], value[w:]
	}
	if len(value) > 0 {
		return dst[:n], errCompacted
	}
	return dst, nil
}

func newPoint(q, value []byte) Point {
	offset, _ := functions.OpenTSDBOffset(string(q))
	return Point{offset, q, value}
}

// pointQualifier returns the qualifier of the first point in b: four bytes if its time is in milliseconds, else two. ok
// is false if b is too short.
func pointQualifier(b []byte) ([]byte, bool) {
	n := 2
	if len(b) > 0 && b[0]&0xf0 == 0xf0 {
		n = 4
	}
	if len(b) < n {
		return nil, false
	}
	return b[:n:n], true
}

// pointWidth returns the number of bytes of the value for the qualifier q.
func pointWidth(q []byte) int {
	if len(q) == 0 {
		return 0
	}
	return int(q[len(q)-1]&7) + 1
}

// Compact makes one cell of points, in the order of their offsets, as OpenTSDB does.
func Compact(points []Point) (qualifier, value []byte) {
	if len(points) == 1 {
		return points[0].Qualifier, points[0].Value
	}
	seconds := 0
	for _, p := range points {
		qualifier, value = append(qualifier, p.Qualifier...), append(value, p.Value...)
		if len(p.Qualifier) == 2 {
			seconds++
		}
	}
	if seconds == 0 || seconds == len(points) {
		return qualifier, append(value, 0)
	}
	return qualifier, append(value, 1)
}

// isOpenTSDB reports whether a qualifier is OpenTSDB's.
func isOpenTSDB(p *Composite) bool {
	if p == nil || len(p.Parts) != 1 {
		return false
	}
	c, ok := p.Parts[0].Expr.(*expr.Call)
	return ok && c.Func.Key != nil && c.Func.Key.OpenTSDB
}
