package exec

import (
	"bytes"
	"context"
	"slices"

	"github.com/hql-db/hql/filter"
)

// byRegion fits the ranges of tasks to the regions: a range is cut where regions begin, so that
// several workers read a long one, and with pack set the ranges in one region become one scan that
// seeks from range to range. The tasks' order stays. The tables of a statement are asked for their
// regions once in a while; where that fails, ranges stay as they are.
func (st *statement) byRegion(ctx context.Context, tasks []scanTask, pack bool) []scanTask {
	var out []scanTask
	var points [][]byte
	region, table := 0, "" // of the ranges since first
	first := 0
	flush := func() {
		if pack {
			out = append(out[:first], packed(out[first:])...)
		}
		first = len(out)
	}
	for _, t := range tasks {
		if t.keys != nil {
			flush()
			out = append(out, t)
			first = len(out)
			continue
		}
		if t.table != table {
			flush()
			table = t.table
			points, _ = st.client.SplitPoints(ctx, table)
		}
		from, found := slices.BinarySearchFunc(points, t.start, bytes.Compare)
		if found {
			from++ // the range begins with a region
		}
		to := len(points)
		if len(t.stop) > 0 {
			to, _ = slices.BinarySearchFunc(points, t.stop, bytes.Compare)
		}
		if from != region {
			flush()
			region = from
		}
		if from >= to {
			out = append(out, t)
			continue
		}
		flush()
		for _, p := range points[from:to] {
			head := t
			head.stop, t.start = p, p
			out = append(out, head)
		}
		out = append(out, t)
		if t.reversed {
			slices.Reverse(out[first:])
		}
		first = len(out)
	}
	flush()
	return out
}

// Ranges in one scan: as many as pay the seeking filter, no more than a request holds easily.
const minPacked, maxPacked = 4, 1000

// packed makes scans of the ranges in one region, which are in order.
func packed(ranges []scanTask) []scanTask {
	if len(ranges) < minPacked {
		return ranges
	}
	var out []scanTask
	for part := range slices.Chunk(ranges, maxPacked) {
		t := scanTask{table: part[0].table, start: part[0].start, stop: part[len(part)-1].stop}
		for _, r := range part {
			t.ranges = append(t.ranges, filter.KeyRange{Start: r.start, Stop: r.stop})
		}
		out = append(out, t)
	}
	return out
}
