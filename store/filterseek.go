package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tsuna/gohbase/pb"
)

// fuzzyRowFilter keeps rows that fit one of several patterns on their common length,
// seeking to the next possible row (FuzzyRowFilter).
type fuzzyRowFilter struct {
	filterBase
	rules     []fuzzyRule
	reversed  bool
	refused   bool
	done      bool
	lastFound int // where to look first
	next      []fuzzyNext
	started   bool
}

// fuzzyRule is a pattern: key's byte counts where mask is 0xff, any byte fits where it is 0.
type fuzzyRule struct{ key, mask []byte }

// fuzzyNext is the next row that a rule may fit.
type fuzzyNext struct {
	row  []byte
	rule int
}

func newFuzzyRow(m *pb.FuzzyRowFilter, reversed bool) (filter, error) {
	f := &fuzzyRowFilter{reversed: reversed}
	for _, d := range m.GetFuzzyKeysData() {
		key, mask := bytes.Clone(d.GetFirst()), bytes.Clone(d.GetSecond())
		if len(key) != len(mask) {
			return nil, fmt.Errorf("fuzzy pair lengths do not match: %q %q", key, mask)
		}
		normaliseMask(key, mask)
		f.rules = append(f.rules, fuzzyRule{key, mask})
	}
	if len(f.rules) == 0 {
		return nil, errors.New("no fuzzy keys")
	}
	return f, nil
}

// normaliseMask brings a mask of 0 (fixed) and 1 (any) to 0xff and 0. The server
// takes a mask of nothing but 0xff and 0 as already in that form.
func normaliseMask(key, mask []byte) {
	if slices.ContainsFunc(mask, func(b byte) bool { return b != 0xff && b != 0 }) {
		for i, b := range mask {
			switch b {
			case 0:
				mask[i] = 0xff
			case 1:
				mask[i] = 0
			}
		}
	}
	for i := range mask {
		if mask[i] == 0 {
			key[i] = 0
		}
		if mask[i] >= 0x80 {
			mask[i] = 0xff
		} else {
			mask[i] = 0
		}
	}
}

func (r fuzzyRule) fits(row []byte) bool {
	for i := range min(len(row), len(r.key)) {
		if row[i]&r.mask[i] != r.key[i] {
			return false
		}
	}
	return true
}

func (f *fuzzyRowFilter) hinting() bool      { return true }
func (f *fuzzyRowFilter) reset()             { f.refused = false }
func (f *fuzzyRowFilter) row() bool          { return f.refused }
func (f *fuzzyRowFilter) allRemaining() bool { return f.done }
func (f *fuzzyRowFilter) rowKey([]byte) bool { return f.done }

func (f *fuzzyRowFilter) cell(c *cell) returnCode {
	for i := range f.rules {
		j := (f.lastFound + i) % len(f.rules)
		if f.rules[j].fits(c.row) {
			f.lastFound = j
			return include
		}
	}
	f.lastFound = 0
	f.refused = true
	return seekUsingHint
}

func (f *fuzzyRowFilter) nextHint(c *cell) *cell {
	if !f.started {
		f.started = true
		for i := range f.rules {
			f.push(i, c.row)
		}
	} else {
		// Rules whose next row lies behind the cell move on.
		for {
			i := f.nearest()
			if i < 0 || f.before(c.row, f.next[i].row) {
				break
			}
			rule := f.next[i].rule
			f.next = slices.Delete(f.next, i, i+1)
			f.push(rule, c.row)
		}
	}
	i := f.nearest()
	if i < 0 {
		f.done = true
		return nil
	}
	return firstOnRow(f.next[i].row)
}

func (f *fuzzyRowFilter) before(a, b []byte) bool {
	if f.reversed {
		a, b = b, a
	}
	return bytes.Compare(a, b) < 0
}

func (f *fuzzyRowFilter) nearest() int {
	best := -1
	for i, n := range f.next {
		if best < 0 || f.before(n.row, f.next[best].row) {
			best = i
		}
	}
	return best
}

func (f *fuzzyRowFilter) push(rule int, row []byte) {
	if next := f.rules[rule].following(row, f.reversed); next != nil {
		f.next = append(f.next, fuzzyNext{next, rule})
	}
}

// following gives the first row behind row (in the direction of the scan) that may fit; nil: none.
func (r fuzzyRule) following(row []byte, reversed bool) []byte {
	n := max(len(row), len(r.key))
	out := make([]byte, n)
	copy(out, r.key)
	last, first := byte(0xff), byte(0)
	if reversed {
		last, first = first, last
		for i := len(r.key); i < n; i++ {
			out[i] = 0xff
		}
	}
	at := func(i int) byte { // the row's byte; a shorter row continues with zeros
		if i < len(row) {
			return row[i]
		}
		return 0
	}
	grow, grown := -1, false
	for i := range n {
		if i >= len(r.mask) || r.mask[i] == 0 {
			out[i] = at(i)
			if at(i) != last {
				grow = i
			}
			continue
		}
		less, more := at(i) < r.key[i], at(i) > r.key[i]
		if reversed {
			less, more = more, less
		}
		if less {
			grown = true // the fixed byte lies ahead: what precedes it can stay
			break
		}
		if more {
			break
		}
	}
	if !grown {
		if grow < 0 {
			return nil
		}
		if reversed {
			out[grow]--
		} else {
			out[grow]++
		}
		for i := grow + 1; i < n; i++ {
			if i >= len(r.mask) || r.mask[i] == 0 {
				out[i] = first
			}
		}
	}
	if reversed {
		return out
	}
	// Trailing bytes that may be anything are cut, so that shorter rows are not jumped over.
	end := min(len(r.mask), n) - 1
	for end >= 0 && r.mask[end] == 0 {
		end--
	}
	return out[:max(end, grow)+1]
}

// multiRowRangeFilter keeps rows in one of several ranges, seeking from one to the
// next (MultiRowRangeFilter).
type multiRowRangeFilter struct {
	filterBase
	ranges   []rowRange // sorted and disjoint, in the direction of the scan
	current  int        // the range of the last row; len(ranges): none yet
	code     returnCode
	done     bool
	reversed bool
}

type rowRange struct {
	start, stop         []byte
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
	return &multiRowRangeFilter{ranges: rs, current: len(rs), reversed: reversed}, nil
}

// mergeRanges sorts ranges and joins those that overlap or touch.
func mergeRanges(rs []rowRange) []rowRange {
	slices.SortStableFunc(rs, func(a, b rowRange) int { return bytes.Compare(a.start, b.start) })
	out := rs[:1]
	for _, r := range rs[1:] {
		last := &out[len(out)-1]
		if len(last.stop) > 0 {
			c := bytes.Compare(last.stop, r.start)
			if c < 0 || c == 0 && !last.stopIncl && !r.startIncl {
				out = append(out, r)
				continue
			}
			switch c := bytes.Compare(r.stop, last.stop); {
			case len(r.stop) == 0 || c > 0:
				last.stop, last.stopIncl = r.stop, r.stopIncl
			case c == 0:
				last.stopIncl = last.stopIncl || r.stopIncl
			}
		}
	}
	return out
}

func (r *rowRange) contains(row []byte) bool {
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

// ahead is the end of a range that a scan meets first.
func (f *multiRowRangeFilter) ahead(i int) []byte {
	if f.reversed {
		return f.ranges[i].stop
	}
	return f.ranges[i].start
}

// beyond tells whether a scan at row has range i still before it, wholly.
func (f *multiRowRangeFilter) beyond(i int, row []byte) bool {
	r := &f.ranges[i]
	if f.reversed {
		return len(r.stop) > 0 && bytes.Compare(row, r.stop) > 0
	}
	return bytes.Compare(row, r.start) < 0
}

func (f *multiRowRangeFilter) rowKey(row []byte) bool {
	if f.done {
		return true
	}
	if f.current < len(f.ranges) && f.ranges[f.current].contains(row) {
		f.code = include
		return false
	}
	// The first range that is not wholly behind the row.
	i, _ := slices.BinarySearchFunc(f.ranges, row, func(r rowRange, row []byte) int {
		switch {
		case r.contains(row):
			return 0
		case f.reversed && bytes.Compare(row, r.start) <= 0:
			return -1
		case !f.reversed && len(r.stop) > 0 && bytes.Compare(row, r.stop) >= 0 && !bytes.Equal(row, r.start):
			return -1
		}
		return 1
	})
	switch {
	case i == len(f.ranges):
		f.done, f.code = true, nextRow
		return false
	case f.ranges[i].contains(row):
		f.code = include
	case f.beyond(i, row):
		f.code = seekUsingHint
	default:
		f.code = nextRow // at an end that does not belong to the range
	}
	f.current = i
	return false
}
