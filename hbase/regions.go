package hbase

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// maxRegionAge is the greatest age of a list of regions that is used for dividing work.
const maxRegionAge = 5 * time.Minute

// byRegion groups keys by region. at holds their indexes, sorted by key.
func (c *client) byRegion(ctx context.Context, table string, keys [][]byte, at []int, fresh bool) ([][]int, error) {
	age := maxRegionAge
	if fresh {
		age = 0
	}
	rs, err := c.knownRegions(ctx, table, age)
	if err != nil {
		return nil, err
	}
	var groups [][]int
	for len(at) > 0 {
		k := keys[at[0]]
		i, found := slices.BinarySearchFunc(rs, k, func(r Region, k []byte) int { return bytes.Compare(r.Start, k) })
		if !found {
			i--
		}
		n := len(at)
		if i >= 0 && len(rs[i].Stop) > 0 {
			stop := rs[i].Stop
			n, _ = slices.BinarySearchFunc(at, stop, func(a int, stop []byte) int { return bytes.Compare(keys[a], stop) })
			n = max(n, 1) // a hole in hbase:meta: the server reports it
		}
		groups = append(groups, at[:n])
		at = at[n:]
	}
	return groups, nil
}

// knownRegions returns a table's regions from the cache if they were read less than age ago, else from hbase:meta.
func (c *client) knownRegions(ctx context.Context, table string, age time.Duration) ([]Region, error) {
	if rs, ok := c.regions.get(table, age); ok {
		return rs, nil
	}
	rs, err := c.metaRegions(ctx, table)
	if err == nil {
		c.regions.put(table, rs)
	}
	return rs, err
}

// KnownRegions returns the cached regions.
func (c *client) KnownRegions(ctx context.Context, table string) ([]Region, error) {
	return c.knownRegions(ctx, table, maxRegionAge)
}

// Regions reads a table's regions from hbase:meta, in key order.
func (c *client) Regions(ctx context.Context, table string) ([]Region, error) {
	return c.metaRegions(ctx, table)
}

func (c *client) metaRegions(ctx context.Context, table string) (out []Region, err error) {
	table = strings.TrimPrefix(table, "default:")
	for row, err := range Rows(ctx, c, ScanRange{Table: "hbase:meta", Start: []byte(table + ",,"), Stop: []byte(table + "-")}, &ReadOptions{Families: []string{"info"}}) {
		if err != nil {
			return nil, err
		}
		reg, ok, err := parseRegion(row)
		if err != nil {
			return nil, fmt.Errorf("regions of %s: %w", table, err)
		}
		if ok && bytes.HasPrefix(row.Key, []byte(table+",")) {
			out = append(out, reg)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w", table, ErrNoTable)
	}
	slices.SortStableFunc(out, func(a, b Region) int { return bytes.Compare(a.Start, b.Start) })
	return youngest(out), nil
}

// youngest keeps, of regions that begin at the same key, only the last. It is the youngest and the only one to which
// gohbase sends calls. Several begin at one key if hbase:meta is inconsistent, or if a region was split during the
// read: a table divided at such keys would be read twice there.
func youngest(sorted []Region) []Region {
	out := sorted[:0]
	for i, r := range sorted {
		if i+1 == len(sorted) || !bytes.Equal(r.Start, sorted[i+1].Start) {
			out = append(out, r)
		}
	}
	return out
}

// parseRegion reads a row of hbase:meta; ok is false for regions that were split or merged away.
func parseRegion(r Row) (reg Region, ok bool, err error) {
	reg.Name = string(r.Key)
	seen := map[string]bool{}
	for _, cell := range r.Cells {
		q := string(cell.Qualifier)
		if seen[q] || string(cell.Family) != "info" {
			continue // only the newest version
		}
		seen[q] = true
		switch q {
		case "server":
			reg.Server = string(cell.Value)
		case "regioninfo":
			if !bytes.HasPrefix(cell.Value, []byte("PBUF")) {
				return reg, false, fmt.Errorf("region info of an unknown format in %q", r.Key)
			}
			var info pb.RegionInfo
			if err := proto.Unmarshal(cell.Value[4:], &info); err != nil {
				return reg, false, fmt.Errorf("region info in %q: %w", r.Key, err)
			}
			reg.Start, reg.Stop = info.StartKey, info.EndKey
			ok = !info.GetOffline() && !info.GetSplit()
		}
	}
	return reg, ok, nil
}

// metaTimeout bounds each request to the master and to hbase:meta.
const metaTimeout = 60 * time.Second
