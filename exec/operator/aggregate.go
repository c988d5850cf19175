package operator

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// aggregateOp groups its input in a hash table. If the input is ordered by group, it holds one group at a time.
type aggregateOp struct {
	in    Operator
	node  *plan.Aggregate
	env   *expr.Env
	share share
	spill spilledRows // rows of groups that did not fit in memory; read after the current groups were returned

	groups map[string]*group
	last   *group   // the group of the previous row
	order  []*group // in order of arrival
	key    []byte
	vals   []types.Value
	rows   [][]types.Value // of the input, not added yet
	read   bool
	out    [][]types.Value
	ctx    context.Context  // of the present call of Next
	n      int              // number of groups that were held so far
	beyond []*spilledValues // of aggregates; if the groups are not ordered, one for all
}

type group struct {
	key    string
	values []types.Value
	accs   []accumulator
}

func (a *aggregateOp) Next(ctx context.Context) ([][]types.Value, error) {
	if a.ctx = ctx; a.groups == nil {
		a.begin()
	}
	for !a.read {
		if a.node.Ordered && len(a.order) > 1 { // the last group may have more rows
			return a.emit(len(a.order) - 1)
		}
		var err error
		if len(a.rows) == 0 {
			a.rows, err = a.in.Next(ctx)
		}
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
		if len(a.node.GroupBy) == 0 && len(a.order) == 1 {
			for i := range a.order[0].accs {
				if err := a.order[0].accs[i].addRows(a.rows); err != nil {
					return nil, err
				}
			}
			a.rows = nil
		}
		for len(a.rows) > 0 && !(a.node.Ordered && len(a.order) > 1 && a.share.held > batchBytes) {
			if err := a.add(a.rows[0]); err != nil {
				return nil, err
			}
			a.rows = a.rows[1:]
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

// begin creates the groups that exist even without rows: the totals. They stay in memory, so that none of their rows goes
// to a file.
func (a *aggregateOp) begin() {
	a.groups = map[string]*group{}
	totals := a.node.Totals
	if len(a.node.GroupBy) == 0 {
		totals = [][]types.Value{nil} // without GROUP BY there is always one group
	}
	for _, values := range totals {
		a.hold(string(RowKey(nil, values)), values)
	}
}

// hold creates a group with these values.
func (a *aggregateOp) hold(key string, values []types.Value) *group {
	g := a.newGroup(values)
	g.key = key
	a.groups[key] = g
	a.order = append(a.order, g)
	return g
}

// reread continues with the next file of rows whose groups did not fit in memory; io.EOF after the last.
func (a *aggregateOp) reread() error {
	a.share.release()
	if err := a.closeBeyond(); err != nil {
		return err
	}
	in, err := a.spill.next()
	if err != nil {
		return err
	}
	a.in, a.groups, a.read = in, map[string]*group{}, false
	return nil
}

func (a *aggregateOp) newGroup(values []types.Value) *group {
	g := &group{values: slices.Clone(values), accs: make([]accumulator, len(a.node.Aggs))}
	for i := range g.accs {
		g.accs[i] = newAccumulator(&a.node.Aggs[i], a.env, &a.share)
		g.accs[i].op, g.accs[i].group, g.accs[i].number = a, a.n, i
	}
	a.n++
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
	if g == nil || !slices.Equal(g.values, a.vals) { // rows of the same group often follow one another
		a.key = RowKey(a.key[:0], a.vals)
		g = a.groups[string(a.key)]
	}
	if g == nil {
		if !a.node.Ordered {
			if a.spill.parts != nil { // its group may be in a file, even if memory is free again
				return a.spill.parts.add(a.key, row)
			}
			if err := a.share.take(SizeOf(a.vals)+int64(len(a.key))+int64(128*len(a.node.Aggs)), "GROUP BY"); err != nil {
				if len(a.groups) == 0 || a.spill.level == maxSpillLevel {
					return err
				}
				a.spill.parts = newPartitions(a.spill.dir)
				return a.spill.parts.add(a.key, row)
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

// addRows adds rows. It counts them and sums up integers of a column with less work than add does.
func (a *accumulator) addRows(rows [][]types.Value) error {
	c := a.call
	plain := a.seen == nil && c.Filter == nil && len(c.Args) == 0
	if plain && c.Arg == nil && a.of.kind == counting {
		a.n += int64(len(rows))
		return nil
	}
	column, ok := c.Arg.(*expr.Column)
	plain = plain && ok && a.of.kind == summing
	for _, row := range rows {
		if plain {
			if _, n, ok := row[column.Index].Integer(); ok && a.sumInteger(n) {
				a.n++
				continue
			}
		}
		a.env.Row = row
		if err := a.add(); err != nil {
			return err
		}
	}
	return nil
}

// sumInteger adds n to whole, if the sum has room there.
func (a *accumulator) sumInteger(n int64) bool {
	sum := a.whole + n
	if (sum > a.whole) != (n > 0) {
		return false
	}
	if a.whole = sum; a.dec == nil {
		a.dec = new(apd.Decimal)
	}
	return true
}

// emit returns the first n groups, or fewer if their results are long.
func (a *aggregateOp) emit(n int) ([][]types.Value, error) {
	a.out, a.last = a.out[:0], nil
	made := int64(0)
	for _, g := range a.order[:n] {
		row := make([]types.Value, 0, a.node.Width())
		row = append(row, g.values...)
		for i := range g.accs {
			v, err := g.accs[i].result()
			if err != nil {
				return nil, err
			}
			row = append(row, v)
			made += int64(len(v.Text()))
			a.share.give(g.accs[i].held)
		}
		a.out = append(a.out, row)
		delete(a.groups, g.key)
		if made > batchBytes {
			break
		}
	}
	clear(a.order[:len(a.out)])
	a.order = a.order[len(a.out):]
	if len(a.order) == 0 {
		a.order = []*group{}
	}
	return a.out, nil
}

// spilledValues are the values of aggregates for which there is no memory: sorted by group and aggregate, and then as the
// aggregate needs them. They are read in this order.
type spilledValues struct {
	op     *aggregateOp
	sort   *sortOp
	orders []Order // by aggregate
	n      int
	rows   [][]types.Value // read, but not returned yet
}

// valuesBeyond returns the spilledValues for one more aggregate of a group.
func (a *aggregateOp) valuesBeyond() *spilledValues {
	if !a.node.Ordered && len(a.beyond) > 0 {
		return a.beyond[0]
	}
	s := &spilledValues{op: a, sort: &sortOp{in: None{}, share: share{Budget: a.share.Budget}, dir: a.spill.dir}}
	for i := range a.node.Aggs {
		s.orders = append(s.orders, orderOf(&a.node.Aggs[i]))
	}
	s.sort.compare = s.compare
	a.beyond = append(a.beyond, s)
	return s
}

func (a *aggregateOp) closeBeyond() (err error) {
	for _, s := range a.beyond {
		err = cmp.Or(err, s.sort.Close())
	}
	a.beyond = nil
	return err
}

func (s *spilledValues) compare(x, y []types.Value) int {
	if c := cmp.Or(cmp.Compare(x[0].Int(), y[0].Int()), cmp.Compare(x[1].Int(), y[1].Int())); c != 0 {
		return c
	}
	n := x[1].Int()
	c, at := s.orders[n].Compare(x[2:], y[2:]), 2+len(s.orders[n])
	if c == 0 && s.op.node.Aggs[n].Distinct {
		return bytes.Compare(x[at].AppendKey(nil), y[at].AppendKey(nil))
	}
	return c
}

// add adds a value of an aggregate.
func (s *spilledValues) add(a *accumulator, k keyed) error {
	row := slices.Concat([]types.Value{types.NewInt(int64(a.group)), types.NewInt(int64(a.number))}, k.keys, k.row)
	s.n++
	return s.sort.add(s.op.ctx, keyed{keys: row, row: row, seq: s.n})
}

// next returns the next value of an aggregate, without a row after the last.
func (s *spilledValues) next(a *accumulator) (k keyed, err error) {
	if len(s.rows) == 0 {
		if s.rows, err = s.sort.Next(s.op.ctx); err != nil {
			if err == io.EOF {
				err = s.sort.Close()
			}
			return k, err
		}
	}
	row := s.rows[0]
	if row[0].Int() != int64(a.group) || row[1].Int() != int64(a.number) {
		return k, nil
	}
	s.rows = s.rows[1:]
	keys := 2 + len(s.orders[a.number])
	return keyed{keys: row[2:keys], row: row[keys:]}, nil
}

func (a *aggregateOp) Close() error {
	a.spill.close()
	a.groups, a.order, a.read = map[string]*group{}, []*group{}, true
	return cmp.Or(a.closeBeyond(), a.in.Close())
}
