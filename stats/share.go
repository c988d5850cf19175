package stats

import (
	"bytes"
	"math"
	"sort"

	"github.com/hql-db/hql/types"
)

// Share returns the share of rows whose value is in set, without NULLs. ok is false if nothing is known of the values.
func (c *Column) Share(set types.Set) (share float64, ok bool) {
	if c == nil {
		return 0, false
	}
	if set.IsAll() {
		return 1 - c.Nulls, true
	}
	if len(c.Frequent)+len(c.Bounds) == 0 && c.Nulls < 1 {
		return 0, false
	}
	frequent := 0.0
	for _, f := range c.Frequent {
		frequent += f.Share
		if holds(set, f.Value.Value) {
			share += f.Share
		}
	}
	rest := max(0, 1-c.Nulls-frequent)
	one := rest / max(1, c.Distinct-float64(len(c.Frequent))) // of a value that is not frequent
	for _, iv := range set {
		if iv.IsPoint() {
			if c.holdsRare(iv.Lo) {
				share += one
			}
			continue
		}
		part := rest * c.piece(iv)
		if !iv.LoOpen && c.holdsRare(iv.Lo) || !iv.HiOpen && c.holdsRare(iv.Hi) {
			part = max(part, one) // at least the share of one value, its bound
		}
		share += part
	}
	return min(share, 1-c.Nulls), true
}

// holds reports whether v lies in set; values that cannot be compared do not.
func holds(set types.Set, v types.Value) bool {
	for _, iv := range set {
		if comparable(iv, v) && iv.Contains(v) {
			return true
		}
	}
	return false
}

// comparable reports whether v can be compared with the bounds of iv: statistics may describe an earlier type of the
// column.
func comparable(iv types.Interval, v types.Value) bool {
	for _, bound := range []types.Value{iv.Lo, iv.Hi} {
		if _, err := types.Compare(bound, v); !bound.IsNull() && err != nil {
			return false
		}
	}
	return true
}

func (c *Column) isFrequent(v types.Value) bool {
	for _, f := range c.Frequent {
		if order, err := types.Compare(f.Value.Value, v); err == nil && order == 0 {
			return true
		}
	}
	return false
}

// holdsRare reports whether v may be a value that is not frequent.
func (c *Column) holdsRare(v types.Value) bool {
	return !v.IsNull() && !c.isFrequent(v) && c.within(v)
}

// within reports whether v lies between the least value and the greatest that were seen.
func (c *Column) within(v types.Value) bool {
	if len(c.Bounds) == 0 {
		return false
	}
	return holds(types.Set{{Lo: c.Bounds[0].Value, Hi: c.Bounds[len(c.Bounds)-1].Value}}, short(v, maxBoundLength))
}

// piece returns the share of the infrequent values that is in iv.
func (c *Column) piece(iv types.Interval) float64 {
	n := len(c.Bounds) - 1
	if n < 0 || !comparable(iv, c.Bounds[0].Value) {
		return 0
	}
	lo, hi := 0.0, float64(max(n, 1))
	if n == 0 { // a single value
		if iv.Contains(c.Bounds[0].Value) {
			return 1
		}
		return 0
	}
	if !iv.Lo.IsNull() {
		lo = c.position(iv.Lo)
	}
	if !iv.Hi.IsNull() {
		hi = c.position(iv.Hi)
	}
	return max(0, hi-lo) / float64(n)
}

// position returns how many pieces are before v, including a fraction of the piece that holds it.
func (c *Column) position(v types.Value) float64 {
	n := len(c.Bounds)
	i := sort.Search(n, func(i int) bool { return order(c.Bounds[i].Value, v) > 0 }) // the first bound above v
	switch i {
	case 0:
		return 0
	case n:
		return float64(n - 1)
	}
	return float64(i-1) + between(c.Bounds[i-1].Value, c.Bounds[i].Value, v)
}

func order(a, b types.Value) int {
	n, err := types.Compare(a, b)
	if err != nil {
		return 0
	}
	return n
}

// between returns the position of v between lo and hi, as a fraction from 0 to 1.
func between(lo, hi, v types.Value) float64 {
	if lo.Type() == types.String || lo.Type() == types.Bytes || lo.Type().IsJSON() || lo.Type() == types.UUID {
		return betweenBytes([]byte(lo.Text()), []byte(hi.Text()), []byte(v.Text()))
	}
	a, b, x := number(lo), number(hi), number(v)
	if !(b > a) || math.IsInf(b-a, 0) {
		return 0.5
	}
	return min(1, max(0, (x-a)/(b-a)))
}

// number returns a number in the order of v's type.
func number(v types.Value) float64 {
	switch t := v.Type(); {
	case t == types.Float, t == types.Double:
		return v.Double()
	case t == types.Decimal:
		f, err := v.Decimal().Float64()
		if err != nil {
			return math.NaN()
		}
		return f
	}
	return float64(v.Int())
}

// betweenBytes is between for bytes: it uses the first eight bytes after the common prefix of lo and hi.
func betweenBytes(lo, hi, v []byte) float64 {
	n := types.CommonPrefix(lo, hi)
	if len(v) < n || !bytes.Equal(v[:n], lo[:n]) { // not between them, or v is the start of both
		if bytes.Compare(v, lo) <= 0 {
			return 0
		}
		return 1
	}
	a, b, x := leading(lo[n:]), leading(hi[n:]), leading(v[n:])
	if b <= a {
		return 0.5
	}
	return min(1, max(0, (x-a)/(b-a)))
}

// leading reads the first eight bytes as a number.
func leading(b []byte) float64 {
	var x float64
	for i := range 8 {
		x *= 256
		if i < len(b) {
			x += float64(b[i])
		}
	}
	return x
}
