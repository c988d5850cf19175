package operator

import (
	"context"
	"io"
	"slices"

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
	in, err := a.spill.next()
	if err != nil {
		return err
	}
	a.in, a.groups, a.read = in, map[string]*group{}, false
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

func (a *aggregateOp) Close() error {
	a.spill.close()
	a.groups, a.order, a.read = map[string]*group{}, []*group{}, true
	return a.in.Close()
}
