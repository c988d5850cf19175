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

// somewhere reads rows of r at some place: in the widest range between two known keys, or after all keys with a prefix of a
// known key, such as a salt or a day.
func (s *sampler) somewhere(ctx context.Context, r *sampledRegion) ([]hbase.Row, error) {
	var lo, from []byte
	switch a := r.open[s.IntN(len(r.open))]; s.IntN(4) {
	case 0, 1:
		if lo, from = s.within(r); from == nil {
			r.whole = true
			return nil, nil
		}
	case 2: // the first byte or two that vary: a salt and the like
		begin := common(r.keys[0], r.keys[len(r.keys)-1])
		from = behind(a[:min(len(a), begin+1+s.IntN(2))])
	default:
		from = behind(a[:1+s.IntN(len(a))])
	}
	if bytes.Compare(from, r.keys[0]) <= 0 || bytes.Compare(from, r.keys[len(r.keys)-1]) >= 0 {
		return nil, nil
	}
	found, _, err := s.read(ctx, r, hbase.ScanRange{Start: from, Stop: r.Stop, Limit: s.each})
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
