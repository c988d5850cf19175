package scan

import (
	"slices"
	"sort"
	"sync"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// GetChunk is the number of keys requested in one Client.Get: enough for several regions, few enough to return the first
// rows early.
const GetChunk = 1000

// task is a unit of reading: some keys, or one key range.
type task struct {
	table       string
	keys        [][]byte // a multi-get, in the wanted order; nil for a range
	start, stop []byte
	reversed    bool
	server      string           // the server of the range; "": several, or unknown
	ranges      filter.KeyRanges // the parts of [start, stop) to read; nil: all
	hop         *hopper          // finds the parts of the range that are worth reading; nil: all
}

// packed returns o with a filter for the ranges of t, if it has several.
func (t *task) packed(o *hbase.ReadOptions) *hbase.ReadOptions {
	if t.ranges == nil {
		return o
	}
	out := *o
	out.Filter = allOf(t.ranges, flat(o.Filter)...)
	return &out
}

// taskQueue hands out tasks. Each time it chooses a server with the fewest running tasks and, among these, the one with
// the most tasks left. It limits the running tasks of one server, to leave capacity for other statements. It is safe
// for concurrent use.
type taskQueue struct {
	mu      sync.Mutex
	most    int
	left    int // number of tasks that are not completely read
	servers []*serverTasks
}

type serverTasks struct {
	name    string
	tasks   []task // in the given order
	reading int
}

func newTaskQueue(tasks []task, most int) *taskQueue {
	q := &taskQueue{most: most, left: len(tasks)}
	byName := map[string]*serverTasks{}
	for _, t := range tasks {
		s := byName[t.server]
		if s == nil {
			s = &serverTasks{name: t.server}
			byName[t.server] = s
			q.servers = append(q.servers, s)
		}
		s.tasks = append(s.tasks, t)
	}
	return q
}

// atOnce returns the number of tasks that can be read concurrently.
func (q *taskQueue) atOnce() (n int) {
	for _, s := range q.servers {
		if s.name == "" {
			n += len(s.tasks)
		} else {
			n += min(len(s.tasks), q.most)
		}
	}
	return n
}

// next returns a task, and the argument for done when the task was read. from is nil if no task is left for the caller:
// workers that now read from the same servers will take the rest.
func (q *taskQueue) next() (t task, from *serverTasks) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.servers {
		if len(s.tasks) == 0 || s.name != "" && s.reading >= q.most {
			continue
		}
		if from == nil || s.reading < from.reading || s.reading == from.reading && len(s.tasks) > len(from.tasks) {
			from = s
		}
	}
	if from == nil {
		return t, nil
	}
	t, from.tasks = from.tasks[0], from.tasks[1:]
	from.reading++
	return t, from
}

// done records that a task was completely read. It reports whether all tasks are.
func (q *taskQueue) done(from *serverTasks) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	from.reading--
	q.left--
	return q.left == 0
}

// cutTasks converts the spans of s to tasks in the order in which their rows are wanted: by table and key, or reversed. If
// an order is wanted, a span with a SignSplit becomes two tasks:
//
//	[lo, hi) split at p   ->  [p, hi) [lo, p)    the negative numbers come first
//	the same reversed     ->  [lo, p) [p, hi)    each read from its end
//
// chunk bounds the keys of a multi-get.
func cutTasks(s *plan.Scan, spans []plan.Span, chunk int) []task {
	var out []task
	if s.Order == plan.NoOrder && !s.Lazy() { // all keys first: then ranges that follow each other become one scan
		spans = slices.Clone(spans)
		sort.SliceStable(spans, func(i, j int) bool { return spans[i].Key && !spans[j].Key })
	}
	for i := 0; i < len(spans); {
		sp := spans[i]
		if !sp.Key {
			if cap(out) == len(out) {
				out = slices.Grow(out, len(spans)-i)
			}
			out = appendRange(out, s, sp)
			i++
			continue
		}
		t := task{table: sp.Table, reversed: s.Reversed}
		for ; i < len(spans) && spans[i].Key && spans[i].Table == sp.Table && len(t.keys) < chunk; i++ {
			t.keys = append(t.keys, spans[i].Start)
		}
		if s.Reversed {
			slices.Reverse(t.keys)
		}
		out = append(out, t)
	}
	if s.Reversed {
		slices.Reverse(out)
	}
	return out
}

// appendRange appends the one or two tasks of a range in forward order: cutTasks reverses the whole list for Reversed.
func appendRange(out []task, s *plan.Scan, sp plan.Span) []task {
	t := task{table: sp.Table, start: sp.Start, stop: sp.Stop, reversed: s.Reversed}
	if len(sp.SignSplit) == 0 || s.Order == plan.NoOrder {
		return append(out, t)
	}
	upper, lower := t, t
	upper.start, lower.stop = sp.SignSplit, sp.SignSplit
	return append(out, upper, lower)
}

// cutStreams converts the spans of s to streams for a merge, each of which is sorted. Keys that are to be read together
// are one stream, whose reader sorts it.
func cutStreams(s *plan.Scan, spans []plan.Span) [][]task {
	var out [][]task
	var keys []plan.Span
	for _, sp := range spans {
		if sp.Key {
			keys = append(keys, sp)
			continue
		}
		tasks := appendRange(nil, s, sp)
		if s.Reversed {
			slices.Reverse(tasks)
		}
		out = append(out, tasks)
	}
	for _, t := range cutTasks(s, keys, GetChunk) {
		out = append(out, []task{t})
	}
	return out
}
