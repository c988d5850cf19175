package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tsuna/gohbase/pb"
)

// fuzzyRowFilter keeps rows that fit one of several patterns on their common length, seeking to the next possible row
// (FuzzyRowFilter). It is for forward scans only: HBase loses rows if a reversed scan uses it.
type fuzzyRowFilter struct {
	filterBase
	rules     []fuzzyRule
	refused   bool
	done      bool
	lastFound int // where to look first
	next      []fuzzyNext
	started   bool
}

// errReversed refuses filters that seek rows in a reversed scan. hql sends none.
var errReversed = errors.New("the filter cannot be used in a reversed scan")

// fuzzyRule is a pattern: key's byte counts where mask is 0xff, any byte fits where it is 0.
type fuzzyRule struct{ key, mask []byte }

// fuzzyNext is the next row that a rule may fit.
type fuzzyNext struct {
	row  []byte
	rule int
}

func (p filterParser) fuzzyRow(m *pb.FuzzyRowFilter) (filter, error) {
	if p.reversed {
		return nil, errReversed
	}
	f := &fuzzyRowFilter{}
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
			if i < 0 || bytes.Compare(c.row, f.next[i].row) < 0 {
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

func (f *fuzzyRowFilter) nearest() int {
	best := -1
	for i, n := range f.next {
		if best < 0 || bytes.Compare(n.row, f.next[best].row) < 0 {
			best = i
		}
	}
	return best
}

func (f *fuzzyRowFilter) push(rule int, row []byte) {
	if next := f.rules[rule].following(row); next != nil {
		f.next = append(f.next, fuzzyNext{next, rule})
	}
}

// following returns the first row behind row that may match; nil: none.
func (r fuzzyRule) following(row []byte) []byte {
	n := max(len(row), len(r.key))
	out := make([]byte, n)
	copy(out, r.key)
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
			if at(i) != 0xff {
				grow = i
			}
			continue
		}
		if at(i) < r.key[i] {
			grown = true // the fixed byte is still ahead: the bytes before it can stay
		}
		if at(i) != r.key[i] {
			break
		}
	}
	if !grown {
		if grow < 0 {
			return nil
		}
		out[grow]++
		for i := grow + 1; i < n; i++ {
			if i >= len(r.mask) || r.mask[i] == 0 {
				out[i] = 0
			}
		}
	}
	// Trailing bytes that may be anything are cut, so that shorter rows are not skipped.
	end := min(len(r.mask), n) - 1
	for end >= 0 && r.mask[end] == 0 {
		end--
	}
	return out[:max(end, grow)+1]
}
