package operator

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/keyset"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// joinOp holds right rows in a hash table by the values of their keys, and joins each left row with those that have its
// keys. Without keys it compares every pair.
//
// In a lookup join, the hash table has the right rows for a batch of left rows; otherwise it has all right rows. If these
// do not fit in memory, both sides are divided into files by a hash of their keys, and each pair of files is joined.
type joinOp struct {
	left, right Operator
	node        *plan.Join
	build       *build
	env         *expr.Env
	share       share
	table       *joinTable
	loaded      bool
	late        bool // right is opened after the first left rows: see narrow
	unopened    bool // left is opened after the right rows are read: see narrowLeft
	pending     []spilledJoin
	rest        []int32 // after the left rows: right rows that are still to be returned, see unmatched
	lookups     lookups
	known       *plan.Set // the left rows, if each right row needs only to be found in them: see knownRows
	turned      bool      // with known: the right columns come before the left ones
	found       *found    // if known is set and the right side was read whole
	asked       bool      // table has the keys that were looked up
	from        int       // number of the first of them that belongs to the present batch
	level       int
	set         *plan.SetOp     // the join is one of its kind; nil: it is a JOIN
	key         []byte          // scratch
	pairs       slab            // of the rows in out
	width       int             // of the right rows
	rows        [][]types.Value // left rows that were not joined yet
	later       [][]types.Value // those behind them whose right rows are looked up later
	wanted      int64           // number of left rows to look up next, unless it is 0
	out         [][]types.Value
}

// joinTable holds right rows by their keys. The rows of a key are a list in the order in which they came; lists end at -1.
type joinTable struct {
	keys        keyset.Set
	first, last []int32 // rows of each key
	rows        types.Rows
	next        []int32 // by row: the next one of the key, or -1; of EXCEPT ALL and INTERSECT ALL minus the equal rows that are left
	matched     []bool  // by row
}

// number returns the number of a key. It adds the key, without rows, if t does not have it.
func (t *joinTable) number(key []byte) int {
	k, fresh := t.keys.Add(key)
	if fresh {
		t.first, t.last = append(keyset.Grown(t.first, 1), -1), append(keyset.Grown(t.last, 1), -1)
	}
	return k
}

// add adds a row of a key and returns the bytes that it takes. If listed is false, the row is in the list of no key.
func (t *joinTable) add(key []byte, row []types.Value, listed bool) int64 {
	n, size := int32(t.rows.Len()), t.rows.Add(row)+24
	t.next, t.matched = append(keyset.Grown(t.next, 1), -1), append(keyset.Grown(t.matched, 1), false)
	if !listed {
		return size
	}
	k := t.number(key)
	if t.first[k] < 0 {
		t.first[k] = n
	} else {
		t.next[t.last[k]] = n
	}
	t.last[k] = n
	return size + int64(len(key))
}

// of returns the first row of a key, or -1.
func (t *joinTable) of(key []byte) int32 {
	if k := t.keys.Find(key); k >= 0 {
		return t.first[k]
	}
	return -1
}

// spilledJoin is a pair of files to be joined. One of them is nil if its side has no row with such keys.
type spilledJoin struct {
	left, right *spillFile
	level       int
}

func (b *build) join(ctx context.Context, n *plan.Join) (Operator, error) {
	known := knownRows(n)
	late := known == nil && (n.Narrow != nil && !n.Full || virtualSide(n) != nil && n.Lookup == nil)
	var left Operator = None{}
	var err error
	if n.NarrowLeft == nil || late { // otherwise narrowLeft opens it
		if left, err = b.node(ctx, n.Left); err != nil {
			return nil, err
		}
	}
	j := &joinOp{left: left, late: late, unopened: n.NarrowLeft != nil && !late, right: None{}, node: n, build: b, wanted: n.Wanted, env: b.opt.Env(), share: share{Budget: &b.budget}, width: n.Right.Width(), known: known}
	if n.Lookup != nil {
		if j.lookups.after = rowsForSpan * minLookups; len(n.RightKeys) == 0 {
			j.lookups.after = minFound
		} else if v, ok := n.Left.(*plan.Values); ok {
			j.lookups.spans = v.Len()
		}
		if n.Semi {
			return &semiLookupOp{joinOp: j}, nil
		}
		return j, nil
	}
	if late {
		return j, nil
	}
	if j.right, err = b.node(ctx, n.Right); err != nil {
		left.Close()
		return nil, err
	}
	return j, nil
}

// keyOf returns the key of a row, valid until the following call. ok is false if the row has a NULL in it and matches none.
func (j *joinOp) keyOf(exprs []expr.Expr, row []types.Value) (key []byte, ok bool, err error) {
	if j.set != nil {
		key, ok = RowKey(j.key[:0], row), true
	} else {
		key, ok, err = keyOf(j.key[:0], j.env, exprs, row)
	}
	j.key = key
	return key, ok, err
}

// counts reports whether each right row matches one left row only: EXCEPT ALL and INTERSECT ALL.
func (j *joinOp) counts() bool { return j.set != nil && j.set.All }

// load reads right into the hash table. If the rows do not fit, it writes both sides to files, and the table stays nil.
func (j *joinOp) load(ctx context.Context, right Operator) error {
	if !j.asked {
		j.table = &joinTable{}
		j.share.release()
	}
	var parts *partitions
	nulls := 0
	err := Drain(ctx, right, func(rows [][]types.Value) error {
		for _, r := range rows {
			key, ok, err := j.keyOf(j.node.RightKeys, r)
			if err != nil {
				return err
			}
			if !ok && !j.node.Full || j.asked && j.table.keys.Find(key) < j.from {
				continue
			}
			if j.node.Semi && j.node.On == nil && j.table != nil {
				if at := j.table.of(key); at >= 0 {
					if j.counts() {
						j.table.next[at]--
					}
					continue
				}
			}
			if parts == nil {
				if err = j.share.take(j.table.add(key, r, ok), j.operation()); err == nil {
					continue
				}
				if len(j.node.RightKeys) == 0 && j.set == nil || j.node.Lookup != nil || j.level == maxSpillLevel {
					return err
				}
				if parts, err = j.divideTable(); err != nil {
					return err
				}
				j.build.unordered = true
				continue
			}
			if !ok {
				nulls++
				key = spread(nulls)
			}
			if err := parts.add(key, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		parts.close()
	} else if parts != nil {
		err = j.divideLeft(ctx, parts)
	}
	return err
}

// divideTable writes the right rows in memory to files.
func (j *joinOp) divideTable() (*partitions, error) {
	p := newPartitions(j.build.opt.SpillDir)
	t, listed := j.table, make([]bool, j.table.rows.Len())
	add := func(key []byte, at int32) error {
		j.pairs.reset()
		listed[at] = true
		return p.add(key, j.pair(nil, at))
	}
	for k, at := range t.first {
		for ; at >= 0; at = t.next[at] {
			for n := min(t.next[at], -1); n < 0; n++ {
				if err := add(t.keys.Key(k), at); err != nil {
					p.close()
					return nil, err
				}
			}
		}
	}
	for at, is := range listed {
		if !is { // its key has a NULL
			if err := add(spread(at), int32(at)); err != nil {
				p.close()
				return nil, err
			}
		}
	}
	j.table = nil
	j.share.release()
	return p, nil
}

// spread returns a made-up key for the i-th row that has a NULL in its key. Such rows match no row and may be in any
// file; the made-up keys distribute them among the files.
func spread(i int) []byte { return strconv.AppendInt(nil, int64(i), 10) }

// divideLeft divides the left side among files like the right side, and adds the pairs of files to pending.
func (j *joinOp) divideLeft(ctx context.Context, right *partitions) error {
	if err := j.openLeft(ctx); err != nil {
		return err
	}
	left := newPartitions(j.build.opt.SpillDir)
	left.seed = right.seed
	err := Drain(ctx, j.left, func(rows [][]types.Value) error {
		for _, r := range rows {
			key, ok, err := j.keyOf(j.node.LeftKeys, r)
			if err == nil && (ok || j.node.Outer || j.node.Anti) {
				err = left.add(key, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err = cmp.Or(err, left.rewind(), right.rewind()); err != nil {
		left.close()
		right.close()
		return err
	}
	var pairs []spilledJoin
	for i, f := range left.files {
		if f == nil && (!j.node.Full || right.files[i] == nil) {
			right.files[i].close()
			continue
		}
		pairs = append(pairs, spilledJoin{f, right.files[i], j.level + 1})
	}
	j.pending = append(pairs, j.pending...) // first: otherwise all files of a level would be open at the same time, each with a buffer
	return nil
}

// nextPair continues with the next pair of files; io.EOF after the last.
func (j *joinOp) nextPair(ctx context.Context) error {
	for len(j.pending) > 0 {
		p := j.pending[0]
		j.pending = j.pending[1:]
		j.left, j.level = None{}, p.level
		if p.left != nil {
			j.left = &spillOp{file: p.left}
		}
		var right Operator = None{}
		if p.right != nil {
			right = &spillOp{file: p.right}
		}
		if err := j.load(ctx, right); err != nil || j.table != nil {
			return err
		}
	}
	return io.EOF
}

// fetch reads the right rows for a batch of left ones, unless the table already has all right rows. It keeps the rows of
// previous batches while these take little memory.
func (j *joinOp) fetch(ctx context.Context, left [][]types.Value) error {
	if j.lookups.whole {
		return nil
	}
	batch, err := lookupKeys(j.node, j.env, left)
	if err != nil {
		return err
	}
	if len(j.node.Lookup.By) > 0 || j.share.held > j.share.Limit/keptShare {
		j.asked = false
	}
	if !j.asked {
		j.asked, j.table = true, &joinTable{}
		j.share.release()
	}
	j.from = j.table.keys.Len()
	batch = slices.DeleteFunc(batch, func(keys []types.Value) bool {
		j.key = RowKey(j.key[:0], keys[:len(j.node.RightKeys)])
		return j.table.number(j.key) < j.from
	})
	if len(batch) == 0 {
		return nil
	}
	right, err := j.lookUp(ctx, batch)
	if err != nil || right == nil {
		return err
	}
	defer right.Close()
	if err := j.load(ctx, right); err != nil {
		return err
	}
	for k := j.from; k < j.table.keys.Len(); k++ {
		if j.table.first[k] < 0 {
			if err := j.share.take(int64(len(j.table.keys.Key(k)))+48, j.operation()); err != nil {
				return err
			}
		}
	}
	return nil
}

// keptShare is the part of the memory limit, as a divisor, that right rows of previous batches may take.
const keptShare = 16

// lookup plans the read of the right rows for a batch, with the LOOKUPs of its key resolved.
func (b *build) lookup(ctx context.Context, l *plan.Lookup, batch [][]types.Value) (*plan.Plan, error) {
	if b.opt.Resolve == nil {
		return l.Plan(batch)
	}
	return b.opt.Resolve(ctx, func() (*plan.Plan, error) { return l.Plan(batch) })
}

func (j *joinOp) Next(ctx context.Context) ([][]types.Value, error) {
	if j.node.Lookup == nil && !j.loaded && j.known == nil {
		j.loaded = true
		if err := j.narrow(ctx); err != nil {
			return nil, err
		}
		if err := j.load(ctx, j.right); err != nil {
			return nil, err
		}
		if err := j.narrowLeft(ctx); err != nil {
			return nil, err
		}
		if j.table == nil {
			if err := j.nextPair(ctx); err != nil {
				return nil, err
			}
		}
	}
	j.pairs.reset()
	for j.out = j.out[:0]; len(j.out) < BatchRows; {
		if len(j.rest) > 0 {
			row, n := j.pairs.row(j.node.Width()), j.node.Left.Width()
			j.table.rows.Get(int(j.rest[0]), row[n:])
			j.out, j.rest = append(j.out, row), j.rest[1:]
			continue
		}
		if row, ok := j.given(); ok {
			j.out = append(j.out, row)
			continue
		}
		if len(j.rows) == 0 {
			if len(j.out) > 0 {
				return j.out, nil // return what there is instead of waiting for more
			}
			if err := j.nextLeft(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := j.rows[0]
		j.rows = j.rows[1:]
		if err := j.match(ctx, l); err != nil {
			return nil, err
		}
	}
	return j.out, nil
}

// nextLeft reads the next left rows, and the right rows to join with them.
func (j *joinOp) nextLeft(ctx context.Context) (err error) {
	if j.known != nil && j.node.Lookup == nil {
		return j.nextKnown(ctx)
	}
	if j.known != nil && !j.lookups.whole {
		if err := j.readWhole(ctx); err != nil || j.lookups.whole {
			return cmp.Or(err, j.countLeft(ctx)) // found has the right rows of all left rows
		}
	}
	if j.rows, j.later = j.later, nil; len(j.rows) == 0 {
		j.rows, err = j.left.Next(ctx)
	}
	if err == nil && j.node.Lookup != nil {
		if n := int64(len(j.rows)); j.wanted > 0 && j.wanted < n { // LIMIT may end the join before the others are looked up
			j.rows, j.later = j.rows[:j.wanted], append(slices.Clip(j.rows[j.wanted:]), j.later...)
			j.wanted *= 4
		}
		for err = j.fetch(ctx, j.rows); errors.Is(err, expr.ErrMemoryLimit) && len(j.rows) > 1; err = j.fetch(ctx, j.rows) {
			half := len(j.rows) / 2
			j.rows, j.later, j.asked = j.rows[:half], append(slices.Clip(j.rows[half:]), j.later...), false
		}
		return err
	}
	if err != io.EOF || j.node.Lookup != nil {
		return err
	}
	if err := j.left.Close(); err != nil {
		return err
	}
	if j.node.Full && j.table != nil && j.rest == nil {
		j.unmatched()
		return nil
	}
	j.table, j.rest = nil, nil
	return j.nextPair(ctx)
}

// unmatched ends the left side of a FULL JOIN. It sets rest to the right rows in memory without a match.
func (j *joinOp) unmatched() {
	j.left, j.rest = None{}, make([]int32, 0, len(j.table.matched))
	for at, is := range j.table.matched {
		if !is {
			j.rest = append(j.rest, int32(at))
		}
	}
}

// pair returns a row of a left row and the right one with number at; -1 stands for NULLs.
func (j *joinOp) pair(l []types.Value, at int32) []types.Value {
	row, left, right := j.joined(len(l))
	copy(left, l)
	if at >= 0 {
		j.table.rows.Get(int(at), right)
	}
	return row
}

// joined returns a row of NULLs, and its parts for the columns of a left row, of the given width, and of a right one.
func (j *joinOp) joined(width int) (row, left, right []types.Value) {
	row = j.pairs.row(width + j.width)
	if j.turned {
		return row, row[j.width:], row[:j.width]
	}
	return row, row[:width], row[width:]
}

func (j *joinOp) match(ctx context.Context, l []types.Value) error {
	key, ok, err := j.keyOf(j.node.LeftKeys, l)
	if err != nil {
		return err
	}
	matched := false
	if ok {
		for at, n := j.table.of(key), 1; at >= 0; at, n = j.table.next[at], n+1 {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if j.node.Semi && j.node.On == nil {
				if matched = j.table.next[at] != 0; matched && j.counts() {
					j.table.next[at]++
				}
				break
			}
			pair := j.pair(l, at)
			if j.node.On != nil {
				j.env.Row = pair
				t, err := expr.IsTrue(j.node.On, j.env)
				if err != nil {
					return err
				}
				if !t {
					j.pairs.drop(pair)
					continue
				}
			}
			if matched = true; j.node.Semi {
				break
			}
			j.table.matched[at] = true
			j.out = append(j.out, pair)
		}
	}
	if j.node.Semi && matched != j.node.Anti {
		j.out = append(j.out, l)
	}
	if !matched && j.node.Outer {
		j.out = append(j.out, j.pair(l, -1))
	}
	return nil
}

func (j *joinOp) Close() error {
	for _, p := range j.pending {
		p.left.close()
		p.right.close()
	}
	j.pending = nil
	return cmp.Or(j.left.Close(), j.right.Close())
}
