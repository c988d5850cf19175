package stats

import (
	"bytes"
	"slices"
	"sort"

	"github.com/hql-db/hql/types"
)

// Range is a range of keys of an HBase table: [Start, Stop), an empty Stop being open.
type Range struct {
	Table       string
	Start, Stop []byte
	Key         bool // it is the one key Start
	// Bound is the number of leading parts that have the same bytes, Prefix, in all keys of the range; 0: unknown.
	Bound  int
	Prefix []byte
	// Tail is the share, 0 to 1, of the rows with Prefix whose keys are in the range, estimated from conditions on the
	// next part; negative: unknown.
	Tail float64
}

// InRange returns the number of rows with keys in r. ok is false if there are no statistics of the table's keys, or if
// ANALYZE did not read a part of r.
func (k *Key) InRange(r Range) (rows float64, ok bool) {
	if k == nil {
		return 0, false
	}
	s := k.StoredIn(r.Table)
	if s == nil {
		return 0, false
	}
	if s.Rows == 0 || len(s.Bounds) == 0 {
		return 0, true
	}
	if r.Key {
		return 1, true
	}
	if len(r.Start)+len(r.Stop) > 0 && slices.ContainsFunc(s.Unread, func(g Gap) bool {
		return (len(r.Stop) == 0 || bytes.Compare(g.Start, r.Stop) < 0) && (len(g.Stop) == 0 || bytes.Compare(r.Start, g.Stop) < 0)
	}) {
		return 0, false
	}
	byBounds, whole := s.rows(r.Start, r.Stop)
	if r.Bound <= 0 || r.Bound > len(k.Prefixes) {
		return byBounds, true
	}
	p := &k.Prefixes[r.Bound-1]
	prefix := p.Rare
	if j, found := slices.BinarySearchFunc(p.Frequent, r.Prefix, func(f FrequentPrefix, b []byte) int { return bytes.Compare(f.Prefix, b) }); found {
		prefix = p.Frequent[j].Share * k.Rows
	}
	if len(k.Stored) > 1 { // a prefix's share is that of all tables
		least, most := s.bounds(r.Prefix)
		prefix = min(max(prefix, least), most)
	}
	switch {
	case bytes.Equal(r.Start, r.Prefix) && bytes.Equal(r.Stop, types.PrefixEnd(r.Prefix)):
		return prefix, true
	case whole >= 2: // the pieces are finer than the prefix
		return byBounds, true
	case r.Tail >= 0:
		return prefix * r.Tail, true
	}
	return min(prefix, byBounds), true
}

// rows estimates the number of rows in [start, stop), and returns the number of whole pieces, see Stored.Bounds, in
// that range.
func (s *Stored) rows(start, stop []byte) (rows float64, whole int) {
	n := len(s.Bounds) - 1
	if n == 0 {
		if bytes.Compare(start, s.Bounds[0]) <= 0 && (len(stop) == 0 || bytes.Compare(s.Bounds[0], stop) < 0) {
			return s.Rows, 1
		}
		return 0, 0
	}
	from, to := s.position(start), float64(n)
	if len(stop) > 0 {
		to = s.position(stop)
	}
	if to <= from {
		return 0, 0
	}
	return (to - from) / float64(n) * s.Rows, int(to) - int(from+0.999999)
}

// bounds returns the least and the greatest number of rows of s that can begin with prefix, from the pieces that are
// wholly or partly within it.
func (s *Stored) bounds(prefix []byte) (least, most float64) {
	n := len(s.Bounds) - 1
	if n == 0 {
		return 0, s.Rows
	}
	_, whole := s.rows(prefix, types.PrefixEnd(prefix))
	piece := s.Rows / float64(n)
	return float64(max(0, whole)) * piece, min(s.Rows, float64(max(0, whole)+2)*piece)
}

// position returns how many pieces are before key, including a fraction of the piece that holds it.
func (s *Stored) position(key []byte) float64 {
	n := len(s.Bounds)
	i := sort.Search(n, func(i int) bool { return bytes.Compare(s.Bounds[i], key) > 0 })
	switch i {
	case 0:
		return 0
	case n:
		return float64(n - 1)
	}
	return float64(i-1) + betweenBytes(s.Bounds[i-1], s.Bounds[i], key)
}
