package operator

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"sync"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/keyset"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// lookups counts the cost of a join's look-ups. A table may be smaller than estimated, and a row may need many Gets. If
// the look-ups have cost as much as reading the whole right side may cost, the join reads the whole right side instead.
type lookups struct {
	spans int   // number of spans requested; all of the left rows from the start if these are in memory
	rows  int64 // number of rows found
	after int64 // the cost, in rows of a scan, at which readWhole tries again
	whole bool  // the join's hash table has the whole right side
}

const (
	minLookups, minFound = 4096, 1024
	// rowsForSpan is the cost of looking up one span, in rows of a scan.
	rowsForSpan = 4
	// foundAgain is a factor: look-ups without a key cost as much as a scan when they have found this many times the rows
	// of the right side. With the whole right side in memory, each left row is compared with all of it.
	foundAgain = 4
)

// spent returns the cost of the look-ups so far, in rows of a scan.
func (l *lookups) spent(n *plan.Join) int64 {
	if len(n.RightKeys) == 0 {
		return l.rows / foundAgain
	}
	return int64(rowsForSpan) * int64(l.spans)
}

// lookUp opens the right rows for a batch of keys. If it has read all right rows into the hash table instead, it returns
// nil.
func (j *joinOp) lookUp(ctx context.Context, batch [][]types.Value) (Operator, error) {
	_, known := j.node.Left.(*plan.Values)
	if known {
		if err := j.readWhole(ctx); err != nil || j.lookups.whole {
			return nil, err
		}
	}
	p, err := j.build.lookup(ctx, j.node.Lookup, batch)
	if err != nil {
		return nil, err
	}
	if !known {
		for _, s := range plan.Scans(p.Root) {
			j.lookups.spans += len(s.Spans)
		}
		if err := j.readWhole(ctx); err != nil || j.lookups.whole {
			return nil, err
		}
	}
	right, err := New(ctx, p.Root, j.build.src, j.build.opt)
	if err != nil {
		return nil, err
	}
	return &countedOp{Operator: right, rows: &j.lookups.rows}, nil
}

// readWhole reads the whole right side into the hash table if that fits in memory and may be cheaper than the look-ups. If
// it fails, the look-ups go on.
func (j *joinOp) readWhole(ctx context.Context) error {
	l := &j.lookups
	most := l.spent(j.node)
	if most < l.after {
		return nil
	}
	whole, err := j.node.Lookup.Unfiltered()
	if err != nil {
		return err
	}
	read := int64(0)
	opt := j.build.opt
	src := func(ctx context.Context, s *plan.Scan) (Operator, error) {
		one, where := *s, s.Residual
		one.Residual = nil
		if !plain(&one) || opt.MayRead == nil || !opt.MayRead(&one) {
			return nil, errors.New("the table is not read whole")
		}
		one.Limit = plan.AtMost(most + 1)
		op, err := j.build.src(ctx, &one)
		if err != nil {
			return nil, err
		}
		op = &countedOp{Operator: op, rows: &read}
		if where != nil {
			op = filter(op, where, opt.Env())
		}
		return op, nil
	}
	asked, table, held := j.asked, j.table, j.share.held
	j.asked = false
	right, err := New(ctx, whole, src, opt)
	if err == nil {
		if j.known != nil {
			err = j.loadKnown(ctx, right)
		} else {
			err = j.load(ctx, right)
		}
	}
	if err == nil && read <= most {
		l.whole = true
		return nil
	}
	j.found = nil
	j.share.release()
	j.asked, j.table = asked, table
	_ = j.share.take(held, "")                              // an eighth of the limit at most, which is always granted
	if l.after = 4 * most; err != nil && ctx.Err() == nil { // there is no memory, or a row that no left row matches has an error
		l.after, err = math.MaxInt64, nil
	}
	return err
}

// knownRows returns the rows of the left side of n, if n is an inner join by the values of a set alone. If the right side is
// read whole, its rows are found in the set, and need no hash table.
func knownRows(n *plan.Join) *plan.Set {
	v, ok := n.Left.(*plan.Values)
	if !ok || v.Set == nil || n.Semi || n.Outer || n.On != nil || len(n.LeftKeys) != v.N || n.Lookup == nil && virtualSide(n) != nil {
		return nil
	}
	for i, k := range n.LeftKeys {
		if c, ok := k.(*expr.Column); !ok || c.Index != i {
			return nil
		}
	}
	return v.Set
}

// turns reports whether n joins with known rows, and exprs are its right columns and then its left ones.
func turns(n *plan.Join, exprs []expr.Expr) bool {
	for i, e := range exprs {
		if c, ok := e.(*expr.Column); !ok || c.Index != (i+n.Left.Width())%n.Width() {
			return false
		}
	}
	return len(exprs) == n.Width() && knownRows(n) != nil
}

// found has the right rows that were found among the known left ones, and the numbers of these.
type found struct {
	rows types.Rows
	left []int32
	next int // number of the rows that were returned
}

const maxKept = 1 << 16 // rows

// foundRows has the memory of joins that have ended.
var foundRows = sync.Pool{New: func() any { return &found{} }}

// given returns the next row; ok is false after the last one.
func (j *joinOp) given() (row []types.Value, ok bool) {
	f := j.found
	if f == nil {
		return nil, false
	}
	if f.next == len(f.left) {
		j.found = nil
		if len(f.left) <= maxKept {
			f.rows.Reset()
			f.left, f.next = f.left[:0], 0
			foundRows.Put(f)
		}
		return nil, false
	}
	if f.next%BatchRows == 0 {
		j.pairs.reserve(min(len(f.left), BatchRows), j.node.Width())
	}
	row, l, r := j.joined(j.node.Left.Width())
	j.known.Get(int(f.left[f.next]), l)
	f.rows.Get(f.next, r)
	f.next++
	return row, true
}

// loadKnown reads the whole right side and keeps the rows that are found among the known left ones.
func (j *joinOp) loadKnown(ctx context.Context, right Operator) error {
	j.found = foundRows.Get().(*found)
	j.share.release()
	return Drain(ctx, right, func(rows [][]types.Value) error {
		size := int64(0)
		err := j.eachKnown(rows, func(left int, r []types.Value) {
			j.found.left = append(keyset.Grown(j.found.left, 1), int32(left))
			size += j.found.rows.Add(r) + 4
		})
		return cmp.Or(err, j.share.take(size, j.operation()))
	})
}

// nextKnown reads the next right rows and appends those that are found among the known left ones to out.
func (j *joinOp) nextKnown(ctx context.Context) error {
	rows, err := j.right.Next(ctx)
	if err == io.EOF {
		return cmp.Or(j.countLeft(ctx), err)
	}
	if err != nil {
		return err
	}
	n := j.node.Left.Width()
	j.pairs.reserve(len(rows), j.node.Width())
	return j.eachKnown(rows, func(left int, r []types.Value) {
		row, known, found := j.joined(n)
		j.known.Get(left, known)
		copy(found, r)
		j.out = append(j.out, row)
	})
}

// countLeft ends the left side, whose rows are known. It reads them if they are counted.
func (j *joinOp) countLeft(ctx context.Context) (err error) {
	if j.build.opt.Wrap != nil {
		err = Drain(ctx, j.left, func([][]types.Value) error { return nil })
	}
	j.left = None{}
	return err
}

// eachKnown calls f with the right rows that are found among the known left ones, and the numbers of these.
func (j *joinOp) eachKnown(rows [][]types.Value, f func(left int, r []types.Value)) error {
	column, _ := j.node.RightKeys[0].(*expr.Column)
	if len(j.node.RightKeys) > 1 {
		column = nil
	}
	for _, r := range rows {
		left, err := j.amongKnown(column, r)
		if err != nil {
			return err
		}
		if left >= 0 {
			f(left, r)
		}
	}
	return nil
}

// amongKnown returns the number of the known left row with the key of r, or -1. column, unless it is nil, is this key.
func (j *joinOp) amongKnown(column *expr.Column, r []types.Value) (int, error) {
	if column != nil {
		if first, number, ok := r[column.Index].NumberKey(); ok {
			return j.known.Keys.FindNumber(first, number), nil
		}
	}
	key, ok, err := j.keyOf(j.node.RightKeys, r)
	if !ok || err != nil {
		return -1, err
	}
	return j.known.Keys.Find(key), nil
}

// plain reports whether s returns all rows that it reads, so that a limit of rows also limits its reads.
func plain(s *plan.Scan) bool {
	return s.Filter == nil && s.Hop == nil && !s.Entries && !s.ByTime && !s.Limit.Set && len(s.Lookups) == 0 && s.DistinctPrefix == 0
}

// countedOp counts the rows of an operator in rows.
type countedOp struct {
	Operator
	rows *int64
}

func (c *countedOp) Next(ctx context.Context) ([][]types.Value, error) {
	rows, err := c.Operator.Next(ctx)
	*c.rows += int64(len(rows))
	return rows, err
}

// keyOf appends bytes to key that are equal for equal keys; ok is false if one of the values is NULL.
func keyOf(key []byte, env *expr.Env, exprs []expr.Expr, row []types.Value) (_ []byte, ok bool, err error) {
	env.Row = row
	for _, e := range exprs {
		v, err := e.Eval(env)
		if err != nil || v.IsNull() {
			return key, false, err
		}
		key = v.AppendKey(key)
	}
	return key, true, nil
}

// lookupKeys returns the distinct values by which the right rows are looked up: the keys of the left rows, and operands of
// On.
func lookupKeys(n *plan.Join, env *expr.Env, left [][]types.Value) (batch [][]types.Value, err error) {
	var seen keyset.Set
	var key []byte
	var by []expr.Expr
	if n.Lookup != nil {
		by = n.Lookup.By
	}
rows:
	for _, l := range left {
		env.Row = l
		keys := make([]types.Value, len(n.LeftKeys), len(n.LeftKeys)+len(by))
		for i, e := range n.LeftKeys {
			v, err := e.Eval(env)
			if err != nil {
				return nil, err
			}
			if v, err = types.Cast(v, n.RightKeys[i].Type(), env.Loc); err != nil || v.IsNull() {
				continue rows // no right value is equal to one outside the type's range
			}
			keys[i] = v
		}
		for _, e := range by {
			v, err := e.Eval(env)
			if err != nil {
				return nil, err
			}
			keys = append(keys, v.Clone())
		}
		key = RowKey(key[:0], keys)
		if _, fresh := seen.Add(key); fresh {
			batch = append(batch, keys)
		}
	}
	return batch, nil
}
