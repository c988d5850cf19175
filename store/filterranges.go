package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tsuna/gohbase/pb"
)

// multiRowRangeFilter keeps rows in one of several ranges, seeking from one to the next (MultiRowRangeFilter). It takes
// the ranges that hql sends: in order, in forward scans.
type multiRowRangeFilter struct {
	filterBase
	ranges []rowRange // from that of the last row on
	code   returnCode
}

type rowRange struct {
	start, stop         []byte // empty: open
	startIncl, stopIncl bool
}

func (p filterParser) multiRowRange(m *pb.MultiRowRangeFilter) (filter, error) {
	if p.reversed {
		return nil, errReversed
	}
	f := &multiRowRangeFilter{}
	for i, r := range m.GetRowRangeList() {
		rr := rowRange{r.GetStartRow(), r.GetStopRow(), r.GetStartRowInclusive(), r.GetStopRowInclusive()}
		if rr.behind(rr.start) {
			return nil, fmt.Errorf("invalid range: start row => %q, stop row => %q", rr.start, rr.stop)
		}
		if i > 0 && (len(f.ranges[i-1].stop) == 0 || bytes.Compare(f.ranges[i-1].stop, rr.start) > 0) {
			return nil, fmt.Errorf("ranges must be in order: %q, %q", f.ranges[i-1].start, rr.start)
		}
		f.ranges = append(f.ranges, rr)
	}
	if len(f.ranges) == 0 {
		return nil, errors.New("no ranges found")
	}
	return f, nil
}

// behind reports whether the range ends before row.
func (r rowRange) behind(row []byte) bool {
	c := bytes.Compare(row, r.stop)
	return len(r.stop) > 0 && (c > 0 || c == 0 && !r.stopIncl)
}

func (f *multiRowRangeFilter) hinting() bool         { return true }
func (f *multiRowRangeFilter) allRemaining() bool    { return len(f.ranges) == 0 }
func (f *multiRowRangeFilter) cell(*cell) returnCode { return f.code }
func (f *multiRowRangeFilter) nextHint(*cell) *cell  { return firstOnRow(f.ranges[0].start) }

func (f *multiRowRangeFilter) rowKey(row []byte) bool {
	for len(f.ranges) > 0 && f.ranges[0].behind(row) {
		f.ranges = f.ranges[1:]
	}
	f.code = include
	if len(f.ranges) == 0 {
		f.code = nextRow
	} else if c := bytes.Compare(row, f.ranges[0].start); c < 0 {
		f.code = seekUsingHint
	} else if c == 0 && !f.ranges[0].startIncl {
		f.code = nextRow
	}
	return false
}
