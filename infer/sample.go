package infer

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hql-db/hql/hbase"
)

// Limits of a sample: the number of reads of all regions together, and of regions.
const (
	maxReads   = 300
	maxRegions = 32
)

// Sampled is a sample of an HBase table.
type Sampled struct {
	Rows  []hbase.Row // what Propose learns from
	Check []hbase.Row // a second sample, drawn independently, on which proposals are checked
	Reads int         // the number of scans that the samples took
}

// sampler reads a few rows at each of many places.
type sampler struct {
	*rand.Rand
	client   hbase.Client
	table    string
	each     int // rows of a read
	progress func(reads, most int)
	out      *Sampled
	regions  []*sampledRegion
	keys     [][]byte // all known keys
	tried    [ways]struct{ reads, found int }
}

// sampledRegion is a region with its known keys.
type sampledRegion struct {
	hbase.Region
	keys [][]byte // ascending, distinct
	// until maps a known key to the end of the range after it in which unknown rows may be. Without an entry, that
	// range ends at the next known key.
	until map[string][]byte
	open  [][]byte // the last keys of reads: the rows after them are unknown
	whole bool     // all of its keys are known
}

// Sample reads about n rows of an HBase table, half of them for the check. It sends at most a few hundred scans of a
// few rows each, whatever the size of the table. They are spread over the regions, and within a region over the ranges
// of keys and the values of each byte of a key: the first rows alone could all have the same salt or the same day.
// progress, which may be nil, is called before each scan.
func Sample(ctx context.Context, c hbase.Client, table string, n int, progress func(reads, most int)) (*Sampled, error) {
	regions, err := c.Regions(ctx, table)
	if err != nil {
		return nil, err
	}
	s := &sampler{Rand: rand.New(rand.NewPCG(1, 2)), client: c, table: table, each: max(1, (n+maxReads-1)/maxReads), progress: progress, out: &Sampled{}}
	for i := range min(len(regions), maxRegions) { // evenly spread
		s.regions = append(s.regions, &sampledRegion{Region: regions[i*len(regions)/min(len(regions), maxRegions)], until: map[string][]byte{}})
	}
	for _, r := range s.regions {
		if err := s.ends(ctx, r); err != nil {
			return nil, err
		}
	}
	half := (s.out.Reads + maxReads) / 2
	for try := 0; s.out.Reads < maxReads && len(s.out.Rows)+len(s.out.Check) < n && try < 4*maxReads; try++ {
		r := s.regions[try%len(s.regions)]
		if r.whole {
			continue
		}
		found, err := s.somewhere(ctx, r)
		if err != nil {
			return nil, err
		}
		if s.out.Reads > half || 2*len(s.out.Rows) >= n {
			s.out.Check = append(s.out.Check, found...)
		} else {
			s.out.Rows = append(s.out.Rows, found...)
		}
	}
	return s.out, nil
}

// read runs a scan in the region r and returns the rows that were unknown. all is true if the scan reached the end of
// its range.
func (s *sampler) read(ctx context.Context, r *sampledRegion, scan hbase.ScanRange) (found []hbase.Row, all bool, err error) {
	if s.out.Reads++; s.progress != nil {
		s.progress(s.out.Reads, max(maxReads, s.out.Reads))
	}
	scan.Table = s.table
	rows, err := hbase.ReadAll(ctx, s.client, scan, &hbase.ReadOptions{NoCacheBlocks: true})
	for _, row := range rows {
		i, known := slices.BinarySearchFunc(r.keys, row.Key, bytes.Compare)
		if !known {
			r.keys = slices.Insert(r.keys, i, row.Key)
			s.keys = append(s.keys, row.Key)
			found = append(found, row)
		}
	}
	if len(found) > 0 && !scan.Reversed {
		r.open = append(r.open, found[len(found)-1].Key)
	}
	return found, len(rows) < scan.Limit, err
}

// ends reads the first rows and the last one of a region.
func (s *sampler) ends(ctx context.Context, r *sampledRegion) error {
	first, all, err := s.read(ctx, r, hbase.ScanRange{Start: r.Start, Stop: r.Stop, Limit: s.each + 1})
	if err != nil {
		return err
	}
	s.out.Rows = append(s.out.Rows, first...)
	if r.whole = all; all {
		return nil
	}
	last, _, err := s.read(ctx, r, hbase.ScanRange{Start: r.Start, Stop: r.Stop, Limit: 1, Reversed: true})
	s.out.Rows = append(s.out.Rows, last...)
	return err
}

// The ways to choose a place. A way that finds many unknown rows is chosen more often.
const (
	behindShort = iota // after all keys with the prefix of a known key up to the first byte or two that vary: salts and the like
	behindAny          // likewise, with a prefix of any length
	inWidest           // in the widest range between two known keys
	invented           // at a key invented from the bytes of known ones
	inventedEnd        // at a known key whose end is invented
	ways
)

// way draws a way to choose a place.
func (s *sampler) way() int {
	var weights [ways]float64
	total := 0.0
	for i, t := range s.tried {
		weights[i] = float64(t.found+2*s.each) / float64(t.reads+2)
		total += weights[i]
	}
	x := s.Float64() * total
	for i, w := range weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return invented
}

// somewhere reads rows of r at some place.
func (s *sampler) somewhere(ctx context.Context, r *sampledRegion) ([]hbase.Row, error) {
	var lo, from []byte
	way, first, last := s.way(), r.keys[0], r.keys[len(r.keys)-1]
	switch a, begin := s.any(r.keys), common(first, last); way {
	case behindShort:
		from = behind(a[:min(len(a), begin+1+s.IntN(2))])
	case behindAny:
		a = s.any(r.open)
		from = behind(a[:1+s.IntN(len(a))])
	case inWidest:
		if lo, from = s.within(r); from == nil {
			r.whole = true
			return nil, nil
		}
	case invented:
		from = s.invent(first[:begin])
	case inventedEnd:
		a = s.any(r.open)
		from = s.invent(a[:s.IntN(len(a))])
	}
	if bytes.Compare(from, first) <= 0 || bytes.Compare(from, last) >= 0 {
		return nil, nil
	}
	found, _, err := s.read(ctx, r, hbase.ScanRange{Start: from, Stop: r.Stop, Limit: s.each})
	s.tried[way].reads++
	s.tried[way].found += len(found)
	if lo != nil && len(found) == 0 {
		r.until[string(lo)] = from
	}
	return found, err
}

// behind returns the first key after all keys with this prefix, or nil.
func behind(prefix []byte) []byte {
	prefix = bytes.Clone(bytes.TrimRight(prefix, "\xff"))
	if len(prefix) > 0 {
		prefix[len(prefix)-1]++
	}
	return prefix
}

func (s *sampler) any(keys [][]byte) []byte { return keys[s.IntN(len(keys))] }

// invent extends the beginning of a key: each new byte is drawn between those of two known keys.
func (s *sampler) invent(prefix []byte) []byte {
	key := bytes.Clone(prefix)
	for {
		a, b := s.any(s.keys), s.any(s.keys)
		at := len(key)
		if at >= len(a) || at >= len(b) {
			return key
		}
		x, y := min(a[at], b[at]), max(a[at], b[at])
		lo, hi := kindOf(x)
		switch wide := s.IntN(6); {
		case y > hi:
			x, y = a[at], a[at]
		case wide == 0 || wide < 3 && x < y: // prefer values that are still unknown
			x, y = lo, hi
		}
		key = append(key, x+byte(s.IntN(int(y-x)+1)))
	}
}

// kindOf returns the first and the last byte of c's kind: digits, letters of one case, other bytes.
func kindOf(c byte) (lo, hi byte) {
	switch {
	case c >= '0' && c <= '9':
		return '0', '9'
	case c >= 'a' && c <= 'z':
		return 'a', 'z'
	case c >= 'A' && c <= 'Z':
		return 'A', 'Z'
	case c > ' ' && c < 0x7f:
		return c, c
	}
	return 0, 0xff
}

// within returns a key near the middle of the widest range between two known keys, and the known key before it; nil for
// none.
func (s *sampler) within(r *sampledRegion) (lo, mid []byte) {
	width := 0.0
	for i, a := range r.keys[:len(r.keys)-1] {
		b := r.keys[i+1]
		if end := r.until[string(a)]; end != nil && bytes.Compare(end, b) < 0 {
			b = end
		}
		n := common(a, b)
		x, y := firstTwo(a[n:]), firstTwo(b[n:])
		if y-x < 2 {
			continue
		}
		if w := float64(y-x) * math.Pow(16, -float64(n)) * (0.5 + s.Float64()); w > width {
			between := (x + y) / 2
			lo, mid, width = a, append(bytes.Clone(a[:n]), byte(between>>8), byte(between)), w
		}
	}
	return lo, mid
}

// common returns the length of the common prefix.
func common(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// firstTwo is the number in the first two bytes of b.
func firstTwo(b []byte) int {
	var two [2]byte
	copy(two[:], b)
	return int(two[0])<<8 | int(two[1])
}
