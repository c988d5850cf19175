package scan

import (
	"bytes"
	"context"
	"slices"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// byRegion divides the ranges of tasks at the starts of regions and at cuts, so that several workers read a long range.
// With pack, it joins the ranges in one region into one scan that seeks from range to range. It keeps the order of tasks
// and sets the names of their servers. A table's regions may come from a cache; if they cannot be read, the ranges stay
// unchanged.
func (st *Reads) byRegion(ctx context.Context, tasks []task, cuts []plan.Cut, pack bool) []task {
	out := make([]task, 0, len(tasks))
	var regions []hbase.Region
	region, table := "", "" // start and table of the region of the ranges since first
	first := 0
	flush := func() {
		if pack {
			out = append(out[:first], packed(out[first:])...)
		}
		first = len(out)
	}
	for _, t := range tasks {
		if t.keys != nil || t.hop != nil {
			flush()
			out = append(out, t)
			first = len(out)
			continue
		}
		if t.table != table {
			flush()
			table = t.table
			regions, _ = st.Client.KnownRegions(ctx, table)
			regions = cutRegions(regions, table, cuts)
		}
		if len(regions) == 0 {
			out = append(out, t)
			first = len(out)
			continue
		}
		touched := RegionsOf(regions, plan.Span{Start: t.start, Stop: t.stop})
		if string(touched[0].Start) != region || len(out) > first && bytes.Compare(t.start, out[len(out)-1].start) < 0 { // the half with the lesser keys comes last
			flush()
			region = string(touched[0].Start)
		}
		if t.server = touched[0].Server; len(touched) == 1 {
			out = append(out, t)
			continue
		}
		flush()
		for i, reg := range touched {
			head := t
			if head.server = reg.Server; i+1 < len(touched) {
				head.stop, t.start = touched[i+1].Start, touched[i+1].Start
			}
			out = append(out, head)
		}
		if t.reversed {
			slices.Reverse(out[first:])
		}
		first = len(out)
	}
	flush()
	return out
}

// cutRegions returns the sorted regions of a table, divided at the keys of cuts.
func cutRegions(regions []hbase.Region, table string, cuts []plan.Cut) []hbase.Region {
	var at [][]byte
	for _, c := range cuts {
		if c.Table == table {
			at = append(at, c.Key)
		}
	}
	if len(at) == 0 {
		return regions
	}
	var out []hbase.Region
	for _, g := range regions {
		out = append(out, g)
		for ; len(at) > 0 && (len(g.Stop) == 0 || bytes.Compare(at[0], g.Stop) < 0); at = at[1:] {
			if last := &out[len(out)-1]; bytes.Compare(last.Start, at[0]) < 0 {
				last.Stop, g.Start = at[0], at[0]
				out = append(out, g)
			}
		}
	}
	return out
}

// Limits for the number of ranges that one scan reads: for fewer than minPacked ranges, the filter that seeks from
// range to range does not pay, and more than maxPacked would make the request large.
const minPacked, maxPacked = 4, 1000

// packed joins the ranges in one region, which are sorted, into scans.
func packed(ranges []task) []task {
	if len(ranges) < minPacked {
		return ranges
	}
	var out []task
	for part := range slices.Chunk(ranges, maxPacked) {
		t := part[0]
		t.stop, t.ranges = part[len(part)-1].stop, make(filter.KeyRanges, len(part))
		for i, r := range part {
			t.ranges[i] = filter.KeyRange{Start: r.start, Stop: r.stop}
		}
		out = append(out, t)
	}
	return out
}

// RegionsOf returns the regions of list, sorted and without gaps, that overlap s.
func RegionsOf(list []hbase.Region, s plan.Span) []hbase.Region {
	first, found := slices.BinarySearchFunc(list, s.Start, func(r hbase.Region, k []byte) int { return bytes.Compare(r.Start, k) })
	if !found {
		first = max(0, first-1)
	}
	last := first
	for last < len(list) && (last == first || !s.Key && (len(s.Stop) == 0 || bytes.Compare(list[last].Start, s.Stop) < 0)) {
		last++
	}
	return list[first:last]
}
