package operator

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// aggregateOp groups its input in a hash table; where rows of a group come
// together it holds one group at a time.
type aggregateOp struct {
	in    Operator
	node  *plan.Aggregate
	env   *expr.Env
	share share
	dir   string

	// Rows of new groups that do not fit go to files, to be read when the groups held are given.
	parts   *partitions
	pending []spilled
	level   int

	groups map[string]*group
	last   *group   // of the row before
	order  []*group // in order of arrival
	key    []byte
	vals   []types.Value
	read   bool
	out    [][]types.Value
}

type group struct {
	key    string
	values []types.Value
	accs   []accumulator
}

func (a *aggregateOp) Next(ctx context.Context) ([][]types.Value, error) {
	if a.groups == nil {
		a.begin()
	}
	for !a.read {
		rows, err := a.in.Next(ctx)
		if err == io.EOF {
			a.read = true
			if err := a.in.Close(); err != nil {
				return nil, err
			}
			break
		}
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if err := a.add(r); err != nil {
				return nil, err
			}
		}
		if a.node.Ordered && len(a.order) > 1 { // the last group may go on
			return a.emit(len(a.order) - 1)
		}
	}
	if len(a.order) == 0 {
		if err := a.reread(); err != nil {
			return nil, err
		}
		return a.Next(ctx)
	}
	return a.emit(min(len(a.order), BatchRows))
}

// begin makes the groups that there are even without rows. They are held from the start, so that no row of them is in a file.
func (a *aggregateOp) begin() {
	a.groups = map[string]*group{}
	totals := a.node.Totals
	if len(a.node.GroupBy) == 0 {
		totals = [][]types.Value{nil} // one row, always
	}
	for _, values := range totals {
		a.hold(string(rowKey(nil, values)), values)
	}
}

// hold makes a group of these values.
func (a *aggregateOp) hold(key string, values []types.Value) *group {
	g := a.newGroup(values)
	g.key = key
	a.groups[key] = g
	a.order = append(a.order, g)
	return g
}

// reread begins with the next file of rows whose groups did not fit; io.EOF when there is none.
func (a *aggregateOp) reread() error {
	a.share.release()
	if a.parts != nil {
		a.pending = append(a.parts.pending(a.level+1), a.pending...)
		err := a.parts.rewind()
		a.parts = nil
		if err != nil {
			return err
		}
	}
	if len(a.pending) == 0 {
		return io.EOF
	}
	next := a.pending[0]
	a.in, a.level, a.pending = &spillOp{file: next.file}, next.level, a.pending[1:]
	a.groups, a.read = map[string]*group{}, false
	return nil
}

func (a *aggregateOp) newGroup(values []types.Value) *group {
	g := &group{values: slices.Clone(values)}
	for i := range a.node.Aggs {
		g.accs = append(g.accs, newAccumulator(&a.node.Aggs[i], a.env, &a.share))
	}
	return g
}

func (a *aggregateOp) add(row []types.Value) error {
	a.env.Row = row
	a.vals = a.vals[:0]
	for _, e := range a.node.GroupBy {
		v, err := e.Eval(a.env)
		if err != nil {
			return err
		}
		a.vals = append(a.vals, v)
	}
	g := a.last
	if g == nil || !slices.Equal(g.values, a.vals) { // rows of a group often follow one another
		a.key = rowKey(a.key[:0], a.vals)
		g = a.groups[string(a.key)]
	}
	if g == nil {
		if !a.node.Ordered {
			if a.parts != nil { // a group is either held or in a file, even when memory is free again
				return a.parts.add(a.key, row)
			}
			if err := a.share.take(SizeOf(a.vals)+int64(len(a.key))+int64(128*len(a.node.Aggs)), "GROUP BY"); err != nil {
				if len(a.groups) == 0 || a.level == maxSpillLevel {
					return err
				}
				a.parts = newPartitions(a.dir)
				return a.parts.add(a.key, row)
			}
		}
		g = a.hold(string(a.key), a.vals)
	}
	a.last = g
	for i := range g.accs {
		if err := g.accs[i].add(); err != nil {
			return err
		}
	}
	return nil
}

// emit gives the first n groups.
func (a *aggregateOp) emit(n int) ([][]types.Value, error) {
	a.out, a.last = a.out[:0], nil
	for _, g := range a.order[:n] {
		row := make([]types.Value, 0, a.node.Width())
		row = append(row, g.values...)
		for i := range g.accs {
			v, err := g.accs[i].result()
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		a.out = append(a.out, row)
		delete(a.groups, g.key)
	}
	a.order = a.order[n:]
	if len(a.order) == 0 {
		a.order = []*group{}
	}
	return a.out, nil
}

func (a *aggregateOp) Close() error {
	a.parts.close()
	closeSpilled(a.pending)
	a.pending, a.parts = nil, nil
	a.groups, a.order, a.read = map[string]*group{}, []*group{}, true
	return a.in.Close()
}

// aggKind says how an aggregate is computed.
type aggKind uint8

const (
	other aggKind = iota // what otherAggregates has
	counting
	summing // SUM, AVG
	least
	greatest
	allTrue
	anyTrue
	collecting // STRING_AGG, ARRAY_AGG, JSON_AGG, and of sorted values MODE and percentiles
)

var aggKinds = map[string]aggKind{"COUNT": counting, "SUM": summing, "AVG": summing, "MIN": least, "MAX": greatest, "BOOL_AND": allTrue, "BOOL_OR": anyTrue,
	"STRING_AGG": collecting, "ARRAY_AGG": collecting, "JSON_AGG": collecting, "MODE": collecting, "PERCENTILE_CONT": collecting, "PERCENTILE_DISC": collecting}

// takesNulls has the aggregates that are told of rows whose first argument is NULL.
var takesNulls = map[string]bool{"ARRAY_AGG": true, "JSON_AGG": true, "MIN_BY": true, "MAX_BY": true}

// accumulator computes one aggregate of one group.
type accumulator struct {
	call  *plan.AggCall
	kind  aggKind
	env   *expr.Env
	share *share
	n     int64
	best  types.Value  // MIN, MAX, BOOL_AND, BOOL_OR
	whole int64        // SUM, AVG of integers, until result
	dec   *apd.Decimal // SUM, AVG of exact numbers, but for whole; nil: there was none
	float float64
	seen  map[string]struct{} // DISTINCT
	rows  []keyed             // collecting: the values in order
	other state
}

func newAccumulator(c *plan.AggCall, env *expr.Env, s *share) accumulator {
	a := accumulator{call: c, kind: aggKinds[c.Func], env: env, share: s}
	if c.Distinct {
		a.seen = map[string]struct{}{}
	}
	if a.kind == other {
		a.other = otherAggregates[c.Func]()
	}
	return a
}

// value gives the argument over the row in env; ok is false for a row that does not count.
func (a *accumulator) value() (v types.Value, ok bool, err error) {
	c := a.call
	if c.Filter != nil {
		if ok, err := expr.IsTrue(c.Filter, a.env); err != nil || !ok {
			return v, false, err
		}
	}
	if c.Arg == nil {
		return v, true, nil
	}
	v, err = c.Arg.Eval(a.env)
	return v, err == nil && (!v.IsNull() || takesNulls[c.Func]), err
}

// add takes the row in env.
func (a *accumulator) add() error {
	c := a.call
	v, ok, err := a.value()
	if err != nil || !ok {
		return err
	}
	if a.seen != nil {
		k := string(v.AppendKey(nil))
		if _, dup := a.seen[k]; dup {
			return nil
		}
		if err := a.share.take(int64(len(k))+64, c.Func+"(DISTINCT)"); err != nil {
			return err
		}
		a.seen[k] = struct{}{}
	}
	a.n++
	switch a.kind {
	case counting:
	case summing:
		return a.sum(v)
	case least, greatest:
		if a.best.IsNull() {
			a.best = v
			return nil
		}
		r, err := types.Compare(v, a.best)
		if err == nil && r != 0 && (a.kind == least) == (r < 0) {
			a.best = v
		}
		return err
	case allTrue, anyTrue:
		if a.best.IsNull() || v.Bool() == (a.kind == anyTrue) {
			a.best = v
		}
	case collecting:
		return a.collect(v)
	default:
		return a.pass(v)
	}
	return nil
}

// pass gives other v and the further arguments.
func (a *accumulator) pass(v types.Value) error {
	var more types.Value
	if len(a.call.Args) > 0 {
		var err error
		if more, err = a.call.Args[0].Eval(a.env); err != nil {
			return err
		}
	}
	return a.other.add(v, more)
}

// removes reports whether remove is the reverse of add: DOUBLEs do not add up to what they were, and a DECIMAL's digits
// behind the point stay.
func (a *accumulator) removes() bool {
	return a.seen == nil && (a.kind == counting || a.kind == summing && a.call.Arg.Type().IsInteger())
}

// remove takes the row in env out, which was added.
func (a *accumulator) remove() error {
	v, ok, err := a.value()
	if err != nil || !ok {
		return err
	}
	a.n--
	if a.kind == counting {
		return nil
	}
	if v.Int() == math.MinInt64 {
		return a.sumExact(types.NewDecimal(apd.NewWithBigInt(new(apd.BigInt).Neg(apd.NewBigInt(math.MinInt64)), 0)))
	}
	return a.sum(types.NewInt(-v.Int()))
}

func (a *accumulator) sum(v types.Value) error {
	if v.Type() == types.Double || v.Type() == types.Float {
		a.float += v.Double()
		return nil
	}
	if v.Type().IsInteger() {
		n := v.Int()
		if sum := a.whole + n; (sum > a.whole) == (n > 0) {
			a.whole = sum
			if a.dec == nil {
				a.dec = new(apd.Decimal)
			}
			return nil
		}
	}
	return a.sumExact(v)
}

// sumExact adds v to dec.
func (a *accumulator) sumExact(v types.Value) error {
	d, err := types.Cast(v, types.Decimal, nil)
	if err != nil {
		return err
	}
	if a.dec == nil {
		a.dec = new(apd.Decimal)
	}
	if _, err := types.Wide.Add(a.dec, a.dec, d.Decimal()); err != nil {
		return errors.New("DECIMAL out of range")
	}
	return nil
}

func (a *accumulator) collect(v types.Value) error {
	k := keyed{row: []types.Value{v}, seq: len(a.rows)}
	if len(a.call.Args) > 0 {
		sep, err := a.call.Args[0].Eval(a.env)
		if err != nil {
			return err
		}
		k.row = append(k.row, sep)
	}
	if len(a.call.OrderBy) > 0 {
		keys, err := Order(a.call.OrderBy).Keys(nil, a.env, a.env.Row)
		if err != nil {
			return err
		}
		k.keys = keys
	}
	a.rows = append(a.rows, k)
	return a.share.take(SizeOf(k.row)+SizeOf(k.keys), a.call.Func)
}

func (a *accumulator) result() (types.Value, error) {
	switch a.call.Func {
	case "COUNT":
		return types.NewInt(a.n), nil
	case "MIN", "MAX", "BOOL_AND", "BOOL_OR":
		return a.best, nil
	}
	if a.other != nil {
		return a.other.result()
	}
	if a.n == 0 {
		return types.Value{}, nil
	}
	if a.whole != 0 {
		if err := a.sumExact(types.NewInt(a.whole)); err != nil {
			return types.Value{}, err
		}
		a.whole = 0
	}
	switch a.call.Func {
	case "SUM":
		if a.dec == nil {
			return types.NewDouble(a.float), nil
		}
		v, err := types.Cast(types.NewDecimal(a.dec), a.call.Typ, nil)
		if err != nil {
			return v, errors.New("SUM is out of the range of BIGINT")
		}
		return v, nil
	case "AVG":
		if a.dec == nil {
			return types.NewDouble(a.float / float64(a.n)), nil
		}
		return types.NewDecimal(types.Quotient(a.dec, apd.New(a.n, 0))), nil
	}
	slices.SortFunc(a.rows, Order(a.call.OrderBy).less)
	switch a.call.Func {
	case "MODE":
		return a.mode(), nil
	case "PERCENTILE_CONT", "PERCENTILE_DISC":
		return a.percentile()
	case "STRING_AGG":
		var b strings.Builder
		for i, k := range a.rows {
			if i > 0 && len(k.row) > 1 {
				b.WriteString(k.row[1].Text())
			}
			b.WriteString(k.row[0].String())
		}
		return types.NewString(b.String()), nil
	}
	out := []byte{'['}
	for i, k := range a.rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = k.row[0].AppendJSON(out)
	}
	return types.NewJSON(string(append(out, ']'))), nil
}
