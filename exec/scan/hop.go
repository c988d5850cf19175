package scan

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// hopper finds the parts of a task that are worth reading, as Scan.Hop describes. It alternates between a look, which
// reads a few keys, and a hop, which continues after all keys with the last value of the key's first parts. The tasks
// that it returns contain each matching row of the task, in its order. After it has given up hopping, they contain all
// remaining rows.
type hopper struct {
	st    *Reads
	scan  *plan.Scan
	stats *Counts
	opts  *hbase.ReadOptions
	looks *atomic.Int64 // looks of the whole table access
	pace  pace
	want  int // number of values to find before their rows are read; see reader
}

// fewLooks is the number of looks after which a scan whose filter seeks does so itself.
const fewLooks = 4

// hop sets t, a range, to be read by hops.
func (st *Reads) hop(t *task, s *plan.Scan, stats *Counts, looks *atomic.Int64) {
	o := ReadOptions(s, s.Layout)
	if !s.Entries {
		o.Families = s.Families
	}
	o.MinTime, o.MaxTime = s.MinTime, s.MaxTime
	o.Columns, o.Filter, o.NoCacheBlocks = nil, filter.And{filter.FirstCell{}, filter.KeyOnly{}}, false
	o.Region, o.Slots, o.Metrics = stats.regions, st.Slots, st.Metrics || stats.trace != nil
	t.hop = &hopper{st: st, scan: s, stats: stats, opts: &o, looks: looks, want: 1,
		pace: newPace(&st.Tuning, max(st.Tuning.HopRows, st.Tuning.SeekRows*len(s.Hop.Tails)), st.Tuning.HopLongest)}
	for _, f := range filter.OfKeys(s.Filter) {
		if p := &t.hop.pace; s.Access != plan.SkipScan {
			p.longest, p.filtered = min(p.longest, p.HopPays), true
			if _, seeks := f.(filter.Fuzzy); seeks { // in one call to a region they also seek past the others
				p.most = min(p.most, fewLooks)
			}
		}
	}
}

// next returns the tasks for the next values, at least want values if there are so many. left is the rest of t, which is
// also to be read by hops, or nil.
func (h *hopper) next(ctx context.Context, t task, want int) (found []task, left *task, err error) {
	for values := 0; values < want; {
		end, err := h.pace.ends(h.scan, h.looks.Load(), h.st.Guard)
		if err != nil {
			return nil, nil, err
		}
		if end {
			t.hop = nil
			return appendPlain(found, t), nil, nil
		}
		keys, err := h.look(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		seen, full := t, len(keys) == h.pace.rows
		more := full
		fresh := 0
		var tasks []task
		last, before := 0, t // index of the first task of the last value, and the rest of t before it
		for _, key := range keys {
			if t.behind(key) {
				continue
			}
			n := h.scan.Layout.Key.PrefixLen(key, h.scan.Hop.Parts, false)
			ended := n < 0 && h.scan.Hop.Ends(h.scan.Layout, key)
			if n < 0 && !ended {
				continue // no matching row has such a key
			}
			fresh++
			last, before = len(tasks), t
			passed := false
			if ended {
				tasks = append(tasks, t.ofKey(key))
				passed = t.passKey(key)
			} else {
				tasks = h.appendTails(tasks, t, key[:n:n])
				passed = t.pass(key[:n:n])
			}
			if !passed {
				more = false
				break
			}
		}
		if more && fresh == 0 && !t.passKey(keys[len(keys)-1]) {
			more = false
		}
		if len(keys) > 0 && fresh*len(h.scan.Hop.Tails)*h.st.Tuning.SeekRows > len(keys) { // seeking costs more than reading
			if full {
				seen.cut(before)
				tasks = tasks[last:] // the number of rows with the last value is unknown
			} else {
				tasks = nil
			}
			if seen.hop = nil; !full || fresh > 1 {
				found = appendPlain(found, seen)
			}
		}
		found = append(found, tasks...)
		if !more {
			return found, nil, nil
		}
		values += fresh
		h.pace.next(len(keys), fresh)
		h.looks.Add(perValue(h.scan.Access, fresh))
	}
	return found, &t, nil
}

// pace chooses the length of each look of a table access: the number of keys that the look reads (see hopper).
type pace struct {
	*Tuning
	rows     int   // length of the next look in rows
	short    int   // length of a short look
	longest  int   // the longest look that is worth trying
	most     int64 // the number of looks allowed for the table access
	looks    int
	ones     int  // number of consecutive looks that ended among the rows of one value
	filtered bool // without hops the servers send only keys that match
	steady   bool // no look is long: a long one costs too much, see plan.Scan.Turned
}

// ends reports whether a table access should stop hopping after this number of looks, because hops have not paid for a
// long time. The access then reads the rest completely. If g does not allow that, ends permits more looks before it
// returns g's error.
func (p *pace) ends(s *plan.Scan, looks int64, g Guard) (bool, error) {
	if !p.tooMany(s.Access, looks) {
		return false, nil
	}
	err := g.TooMany(s)
	if err != nil && s.Access != plan.SkipScan && p.most < p.MaxHopsOnly {
		p.longest, p.most = max(p.longest, p.HopLongest), p.MaxHopsOnly
		if !p.tooMany(s.Access, looks) {
			return false, nil
		}
	}
	return true, err
}

// tooMany reports whether hops have not paid: the next look would be too long, or there were too many looks. In a
// SkipScan only the number of looks counts, which is too large if there are more values than the statistics said.
func (p *pace) tooMany(a plan.Access, looks int64) bool {
	if a == plan.SkipScan {
		p.rows = min(p.rows, p.longest)
	}
	return p.rows > p.longest || looks >= p.most
}

// perValue returns the number of looks to count for the values that one look found, in addition to the look itself. In
// a SkipScan each value counts as a look; otherwise the result is 0.
func perValue(a plan.Access, fresh int) int64 {
	if a == plan.SkipScan {
		return int64(max(0, fresh-1))
	}
	return 0
}

func newPace(t *Tuning, short, longest int) pace {
	return pace{Tuning: t, rows: short, short: short, longest: longest, most: t.MaxHops}
}

// next chooses the length of the next look, after a look at rows keys with fresh new values.
func (p *pace) next(rows, fresh int) {
	p.looks++
	if p.ones++; fresh > 1 {
		p.ones = 0
	}
	switch {
	case fresh == 0 && p.steady:
		p.rows *= 4
	case fresh == 0: // no new value: continue reading
		p.rows = max(p.rows, min(4*p.rows, p.HopLongest, p.longest))
	case fresh > 1 && p.filtered && rows < 2*p.SeekRows*fresh: // few rows have the same value
		p.rows = p.longest + 1
	case fresh > 1 && rows/fresh < min(rows, p.HopPays):
		p.rows *= 4
	case !p.steady && p.looks%p.HopLongLook == p.HopLongLook-1:
		p.rows = p.HopPays
	case p.ones > 2 && !p.steady: // each value has many rows
		p.rows = max(1, p.short/4)
	default:
		p.rows = p.short
	}
}

// look reads the next keys of t.
func (h *hopper) look(ctx context.Context, t task) (keys [][]byte, err error) {
	h.looks.Add(1)
	sr := hbase.ScanRange{Table: t.table, Start: t.start, Stop: t.stop, Reversed: t.reversed, Limit: h.pace.rows, BatchBytes: scanBytes}
	err = h.st.scan(ctx, h.stats, sr, h.opts, func(rows []hbase.Row) {
		for _, r := range rows {
			keys = append(keys, bytes.Clone(r.Key))
		}
	})
	if err == nil || errors.Is(err, hbase.ErrNoTable) && ComputedName(h.scan.Layout) {
		return keys, nil
	}
	return nil, ReadError(t.table, err)
}

// appendTails appends the tasks that read the keys of t with the prefix head, one task for each of Scan.Hop.Tails.
func (h *hopper) appendTails(tasks []task, t task, head []byte) []task {
	first := len(tasks)
	for _, tail := range h.scan.Hop.Tails {
		start := append(head, tail.Start...)
		if tail.Key {
			if bytes.Compare(start, t.start) >= 0 && (len(t.stop) == 0 || bytes.Compare(start, t.stop) < 0) {
				tasks = append(tasks, t.ofKey(start))
			}
			continue
		}
		x := t
		x.hop = nil
		stop := types.PrefixEnd(head)
		if len(tail.Stop) > 0 {
			stop = append(head, tail.Stop...)
		}
		if bytes.Compare(start, t.start) > 0 {
			x.start = start
		}
		if len(stop) > 0 && (len(t.stop) == 0 || bytes.Compare(stop, t.stop) < 0) {
			x.stop = stop
		}
		if len(x.stop) == 0 || bytes.Compare(x.start, x.stop) < 0 {
			tasks = append(tasks, x)
		}
	}
	if t.reversed {
		slices.Reverse(tasks[first:])
	}
	return tasks
}

// ofKey returns a task that reads only key, which is in the range of t.
func (t task) ofKey(key []byte) task {
	t.hop, t.start, t.stop, t.keys = nil, nil, nil, [][]byte{key}
	return t
}

// appendPlain appends t, or extends the last of tasks by t if that follows without a gap.
func appendPlain(tasks []task, t task) []task {
	if n := len(tasks); n > 0 && tasks[n-1].keys == nil && len(t.start) > 0 && len(t.stop) > 0 {
		switch last := &tasks[n-1]; {
		case t.reversed && bytes.Equal(t.stop, last.start):
			last.start = t.start
			return tasks
		case !t.reversed && bytes.Equal(t.start, last.stop):
			last.stop = t.stop
			return tasks
		}
	}
	return append(tasks, t)
}

// behind reports whether t has passed key.
func (t *task) behind(key []byte) bool {
	if t.reversed {
		return len(t.stop) > 0 && bytes.Compare(key, t.stop) >= 0
	}
	return bytes.Compare(key, t.start) < 0
}

// pass removes from t all keys up to the last one that begins with head. It returns false if nothing remains.
func (t *task) pass(head []byte) bool {
	if t.reversed {
		t.stop = head
		return bytes.Compare(t.start, t.stop) < 0
	}
	end := types.PrefixEnd(head)
	if end == nil || len(t.stop) > 0 && bytes.Compare(end, t.stop) >= 0 {
		return false
	}
	t.start = end
	return true
}

// passKey removes from t all keys up to key.
func (t *task) passKey(key []byte) bool {
	if t.reversed {
		t.stop = key
		return bytes.Compare(t.start, t.stop) < 0
	}
	t.start = append(key, 0)
	return len(t.stop) == 0 || bytes.Compare(t.start, t.stop) < 0
}

// cut removes left, the end of t, from t.
func (t *task) cut(left task) {
	if t.reversed {
		t.start = left.stop
	} else {
		t.stop = left.start
	}
}

// joinKeys joins consecutive tasks that read single keys.
func joinKeys(tasks []task) []task {
	out := tasks[:0]
	for _, t := range tasks {
		if n := len(out); n > 0 && t.keys != nil && out[n-1].keys != nil && out[n-1].table == t.table && len(out[n-1].keys) < GetChunk {
			out[n-1].keys = append(out[n-1].keys, t.keys...)
			continue
		}
		out = append(out, t)
	}
	return out
}

// hopScan finds the ranges of its tasks that are worth reading, then reads them.
type hopScan struct {
	group *group
	tasks []task
	read  func(ctx context.Context, tasks []task) operator.Operator
	in    operator.Operator
}

func (h *hopScan) Next(ctx context.Context) ([][]types.Value, error) {
	if h.in == nil {
		found, err := h.find(ctx)
		if err != nil {
			return nil, err
		}
		h.in = h.read(ctx, found)
	}
	return h.in.Next(ctx)
}

func (h *hopScan) find(ctx context.Context) (out []task, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.group.ctx, cancel)()
	for _, t := range h.tasks {
		if t.hop == nil {
			out = append(out, t)
			continue
		}
		found, _, err := t.hop.next(ctx, t, math.MaxInt)
		if err != nil {
			return nil, err
		}
		out = append(out, joinKeys(found)...)
	}
	return out, nil
}

func (h *hopScan) Close() error {
	h.group.close()
	if h.in != nil {
		return h.in.Close()
	}
	return nil
}
