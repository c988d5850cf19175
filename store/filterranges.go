package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tsuna/gohbase/pb"
)

// multiRowRangeFilter keeps rows in one of several ranges, seeking from one to the
// next (MultiRowRangeFilter).
type multiRowRangeFilter struct {
	filterBase
	ranges   []rowRange // in the direction of the scan
	current  int        // the range of the last row
	found    bool       // current is set
	code     returnCode
	done     bool
	reversed bool
}

type rowRange struct {
	start, stop         []byte // empty: open
	startIncl, stopIncl bool
}

func newMultiRowRange(m *pb.MultiRowRangeFilter, reversed bool) (filter, error) {
	var rs []rowRange
	for _, r := range m.GetRowRangeList() {
		rr := rowRange{r.GetStartRow(), r.GetStopRow(), r.GetStartRowInclusive(), r.GetStopRowInclusive()}
		if c := bytes.Compare(rr.start, rr.stop); len(rr.start) > 0 && len(rr.stop) > 0 && (c > 0 || c == 0 && !rr.stopIncl) {
			return nil, fmt.Errorf("invalid range: start row => %q, stop row => %q", rr.start, rr.stop)
		}
		rs = append(rs, rr)
	}
	if len(rs) == 0 {
		return nil, errors.New("no ranges found")
	}
	rs = mergeRanges(rs)
	if reversed {
		slices.Reverse(rs)
	}
	return &multiRowRangeFilter{ranges: rs, reversed: reversed}, nil
}

// mergeRanges sorts ranges by their starts and joins those that overlap or touch, as servers do: of ranges with the
// same start the first decides whether the start is included; once a range has been extended, a later one within it
// whose stop is inclusive makes the joint stop inclusive.
func mergeRanges(rs []rowRange) (out []rowRange) {
	slices.SortStableFunc(rs, func(a, b rowRange) int { return bytes.Compare(a.start, b.start) })
	if len(rs) == 1 {
		return rs
	}
	last := rs[0]
	for i := 1; i < len(rs); i++ {
		r := rs[i]
		if len(last.stop) == 0 {
			return append(out, last)
		}
		if last.reaches(r) {
			if len(r.stop) == 0 {
				return append(out, last.until(r))
			}
			if c := bytes.Compare(last.stop, r.stop); c >= 0 {
				last.stopIncl = last.stopIncl || c == 0 && r.stopIncl
				if i+1 == len(rs) {
					out = append(out, last)
				}
				continue
			}
			last = last.until(r)
			if i+1 == len(rs) {
				return append(out, last)
			}
			for r, i = rs[i+1], i+1; last.reaches(r) && len(r.stop) > 0; r = rs[i] {
				if bytes.Compare(last.stop, r.stop) >= 0 {
					last.stopIncl = last.stopIncl || r.stopIncl
				} else {
					last = last.until(r)
				}
				if i++; i == len(rs) {
					break
				}
			}
			if len(r.stop) == 0 {
				if last.reaches(r) {
					return append(out, last.until(r))
				}
				out = append(out, last, r) // and again below: a server's list has both twice
			}
		}
		out = append(out, last)
		if i+1 == len(rs) {
			out = append(out, r)
		}
		last = r
	}
	return out
}

// reaches reports whether a range that starts no later overlaps or touches s.
func (r rowRange) reaches(s rowRange) bool {
	c := bytes.Compare(r.stop, s.start)
	return c > 0 || c == 0 && (r.stopIncl || s.startIncl)
}

// until returns r with the stop of s.
func (r rowRange) until(s rowRange) rowRange {
	r.stop, r.stopIncl = s.stop, s.stopIncl
	return r
}

func (r rowRange) contains(row []byte) bool {
	if c := bytes.Compare(row, r.start); c < 0 || c == 0 && !r.startIncl {
		return false
	}
	if len(r.stop) == 0 {
		return true
	}
	c := bytes.Compare(row, r.stop)
	return c < 0 || c == 0 && r.stopIncl
}

func (f *multiRowRangeFilter) hinting() bool          { return true }
func (f *multiRowRangeFilter) allRemaining() bool     { return f.done }
func (f *multiRowRangeFilter) cell(*cell) returnCode  { return f.code }
func (f *multiRowRangeFilter) nextHint(c *cell) *cell { return firstOnRow(f.ahead(f.current)) }

// ahead returns the end of a range that a scan meets first. In a reversed scan, that end of an open range is the empty
// key, which sorts behind all rows: search then places every row outside that first range before the first range, and
// its hint ends the region. Servers do the same.
func (f *multiRowRangeFilter) ahead(i int) []byte {
	if f.reversed {
		return f.ranges[i].stop
	}
	return f.ranges[i].start
}

// search finds the place of row among the near ends of the ranges, halving as servers do: if the ends are not in order
// (see ahead), the steps decide the result.
func (f *multiRowRangeFilter) search(row []byte) (i int, found bool) {
	low, high := 0, len(f.ranges)-1
	for low <= high {
		mid := (low + high) / 2
		c := bytes.Compare(f.ahead(mid), row)
		if f.reversed {
			c = -c
		}
		switch {
		case c < 0:
			low = mid + 1
		case c > 0:
			high = mid - 1
		default:
			return mid, true
		}
	}
	return low, false
}

func (f *multiRowRangeFilter) rowKey(row []byte) bool {
	if f.done {
		return true
	}
	f.code = include
	if f.found && f.ranges[f.current].contains(row) {
		return false
	}
	i, exact := f.search(row)
	first := !f.found
	switch {
	case exact:
		incl := f.ranges[i].startIncl
		if f.reversed {
			incl = f.ranges[i].stopIncl
		}
		if f.current = i; !incl {
			f.code = nextRow // and the next row decides
			return false
		}
	case i > 0 && f.ranges[i-1].contains(row):
		f.current = i - 1
	case i == len(f.ranges):
		f.done, f.code = true, nextRow
		return false
	default:
		f.current, first = i, false
	}
	// The first row met at the near end of a range passes even if the other end excludes it.
	f.found = true
	if !first && !f.ranges[f.current].contains(row) {
		f.code = seekUsingHint
	}
	return false
}
