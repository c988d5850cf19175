package infer

import (
	"bytes"
	"context"
	"math/big"

	"github.com/hql-db/hql/hbase"
)

// points is how many places of each region a sample is taken from, maxRegions of how many regions.
const (
	points     = 8
	maxRegions = 64
)

// Sample reads about n rows of an HBase table, some from many places of each region:
// the first rows alone would all carry the same salt or the same day.
func Sample(ctx context.Context, c hbase.Client, table string, n int) ([]hbase.Row, error) {
	regions, err := c.Regions(ctx, table)
	if err != nil {
		return nil, err
	}
	if n := len(regions); n > maxRegions { // evenly spread
		for i := range maxRegions {
			regions[i] = regions[i*n/maxRegions]
		}
		regions = regions[:maxRegions]
	}
	each := max(1, n/max(1, len(regions)*points))
	uncached := &hbase.ReadOptions{NoCacheBlocks: true}
	var out []hbase.Row
	for _, r := range regions {
		first, err := hbase.ReadAll(ctx, c, hbase.ScanRange{Table: table, Start: r.Start, Stop: r.Stop, Limit: each}, uncached)
		if err != nil {
			return nil, err
		}
		last, err := hbase.ReadAll(ctx, c, hbase.ScanRange{Table: table, Start: r.Start, Stop: r.Stop, Limit: 1, Reversed: true}, uncached)
		if err != nil {
			return nil, err
		}
		out = append(out, first...)
		if len(first) < each || len(last) == 0 {
			continue
		}
		at := first[len(first)-1].Key
		for _, from := range between(at, last[0].Key, points-1) {
			if bytes.Compare(from, at) <= 0 {
				from = append(bytes.Clone(at), 0)
			}
			rows, err := hbase.ReadAll(ctx, c, hbase.ScanRange{Table: table, Start: from, Stop: r.Stop, Limit: each}, uncached)
			if err != nil {
				return nil, err
			}
			if len(rows) == 0 {
				break
			}
			out = append(out, rows...)
			at = rows[len(rows)-1].Key
		}
		out = append(out, last...)
	}
	return out, nil
}

// between gives n keys from lo to below hi, evenly by the bytes after what both begin with.
func between(lo, hi []byte, n int) [][]byte {
	common := 0
	for common < len(lo) && common < len(hi) && lo[common] == hi[common] {
		common++
	}
	number := func(k []byte) *big.Int {
		var b [8]byte
		copy(b[:], k[common:])
		return new(big.Int).SetBytes(b[:])
	}
	a, b := number(lo), number(hi)
	step := new(big.Int).Sub(b, a)
	var out [][]byte
	for i := range n {
		x := new(big.Int).Mul(step, big.NewInt(int64(i)))
		x.Div(x, big.NewInt(int64(n)))
		out = append(out, append(bytes.Clone(lo[:common]), x.Add(x, a).FillBytes(make([]byte, 8))...))
	}
	return out
}
