package operator

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// windowOp computes window functions over its input, which is sorted: it holds one partition at a time.
type windowOp struct {
	in    Operator
	node  *plan.Window
	env   *expr.Env
	share share

	batch [][]types.Value // rows read and not yet taken
	key   []byte
	rest  [][]types.Value // of the partition in hand, with the values of all calls
	ended bool
}

func (w *windowOp) Next(ctx context.Context) ([][]types.Value, error) {
	if len(w.rest) == 0 {
		if err := w.fill(ctx); err != nil {
			return nil, err
		}
	}
	n := min(BatchRows, len(w.rest))
	out := w.rest[:n]
	w.rest = w.rest[n:]
	return out, nil
}

// fill reads a partition and computes its calls; io.EOF when there is none.
func (w *windowOp) fill(ctx context.Context) error {
	w.share.release()
	p := &partition{env: w.env, order: w.node.OrderBy}
	var first []byte
	for !w.ended {
		if len(w.batch) == 0 {
			rows, err := w.in.Next(ctx)
			if err == io.EOF {
				w.ended = true
				break
			}
			if err != nil {
				return err
			}
			w.batch = rows
			continue
		}
		row := w.batch[0]
		var err error
		if w.key, err = valuesKey(w.key[:0], w.node.PartitionBy, w.env, row); err != nil {
			return err
		}
		if p.rows == nil {
			first = slices.Clone(w.key)
		} else if string(first) != string(w.key) {
			break
		}
		w.batch = w.batch[1:]
		if err := p.add(row, len(w.node.Calls), &w.share); err != nil {
			return err
		}
	}
	if p.rows == nil {
		return io.EOF
	}
	p.group()
	width := len(p.rows[0])
	for i := range w.node.Calls {
		if err := p.compute(ctx, &w.node.Calls[i], &w.share, func(row int, v types.Value) { p.rows[row] = append(p.rows[row], v) }); err != nil {
			return err
		}
	}
	for _, r := range p.rows {
		if len(r) != width+len(w.node.Calls) {
			return errors.New("a window function left out a row")
		}
	}
	w.rest = p.rows
	return nil
}

func (w *windowOp) Close() error {
	w.ended, w.rest, w.batch = true, nil, nil
	return w.in.Close()
}

// partition is rows in order. Rows that are equal in the order are peers.
type partition struct {
	env   *expr.Env
	order Order
	rows  [][]types.Value
	keys  [][]types.Value // what each row is sorted by
	peers []int           // by row: the number of its group of peers
	start []int           // by group: its first row; in the end the number of rows
}

func (p *partition) add(row []types.Value, calls int, s *share) error {
	r := append(make([]types.Value, 0, len(row)+calls), row...)
	keys, err := p.order.Keys(make([]types.Value, 0, len(p.order)), p.env, r)
	if err != nil {
		return err
	}
	p.rows, p.keys = append(p.rows, r), append(p.keys, keys)
	return s.take(SizeOf(r)+SizeOf(keys)+int64(48*calls+16), "OVER")
}

func (p *partition) group() {
	p.peers = make([]int, len(p.rows))
	for i := range p.rows {
		if i == 0 || p.order.Compare(p.keys[i-1], p.keys[i]) != 0 {
			p.start = append(p.start, i)
		}
		p.peers[i] = len(p.start) - 1
	}
	p.start = append(p.start, len(p.rows))
}

// eval computes e over row i.
func (p *partition) eval(e expr.Expr, i int) (types.Value, error) {
	p.env.Row = p.rows[i]
	return e.Eval(p.env)
}

// compute gives the value of c for each row.
func (p *partition) compute(ctx context.Context, c *plan.WindowCall, s *share, give func(row int, v types.Value)) error {
	f, ok := windowFunctions[c.Func]
	if !ok {
		return p.aggregate(ctx, c, s, give)
	}
	for i := range p.rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		v, err := f(p, c, i)
		if err != nil {
			return err
		}
		give(i, v)
	}
	return nil
}

// windowFunctions gives the value of a call for row i.
var windowFunctions = map[string]func(p *partition, c *plan.WindowCall, i int) (types.Value, error){
	"ROW_NUMBER": func(_ *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewInt(int64(i + 1)), nil
	},
	"RANK": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewInt(int64(p.start[p.peers[i]] + 1)), nil
	},
	"DENSE_RANK": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewInt(int64(p.peers[i] + 1)), nil
	},
	"PERCENT_RANK": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewDouble(float64(p.start[p.peers[i]]) / float64(max(len(p.rows)-1, 1))), nil
	},
	"CUME_DIST": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewDouble(float64(p.start[p.peers[i]+1]) / float64(len(p.rows))), nil
	},
	"NTILE": (*partition).ntile,
	"LAG": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		return p.neighbour(c, i, -1)
	},
	"LEAD": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		return p.neighbour(c, i, 1)
	},
	"FIRST_VALUE": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		from, to, err := p.frame(c.Frame, i)
		if err != nil || from >= to {
			return types.Value{}, err
		}
		return p.eval(c.Arg, from)
	},
	"LAST_VALUE": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		from, to, err := p.frame(c.Frame, i)
		if err != nil || from >= to {
			return types.Value{}, err
		}
		return p.eval(c.Arg, to-1)
	},
	"NTH_VALUE": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		n, err := p.eval(c.Args[0], i)
		if err != nil || n.IsNull() {
			return types.Value{}, err
		}
		if n.Int() <= 0 {
			return types.Value{}, errors.New("NTH_VALUE takes a number greater than 0")
		}
		from, to, err := p.frame(c.Frame, i)
		if err != nil || n.Int() > int64(to-from) {
			return types.Value{}, err
		}
		return p.eval(c.Arg, from+int(n.Int())-1)
	},
}

// ntile numbers n parts of the rows, the first of which have one row more where they cannot be of one size.
func (p *partition) ntile(c *plan.WindowCall, i int) (types.Value, error) {
	v, err := p.eval(c.Arg, 0) // of the first row, as PostgreSQL has it
	if err != nil || v.IsNull() {
		return types.Value{}, err
	}
	if v.Int() <= 0 {
		return types.Value{}, errors.New("NTILE takes a number greater than 0")
	}
	n := min(v.Int(), int64(len(p.rows)))
	size, more := int64(len(p.rows))/n, int64(len(p.rows))%n
	if at := int64(i); at >= more*(size+1) {
		return types.NewInt(more + (at-more*(size+1))/size + 1), nil
	}
	return types.NewInt(int64(i)/(size+1) + 1), nil
}

// neighbour is the argument over another row: that many before (sign -1) or behind row i.
func (p *partition) neighbour(c *plan.WindowCall, i int, sign int64) (types.Value, error) {
	by := int64(1)
	if len(c.Args) > 0 {
		v, err := p.eval(c.Args[0], i)
		if err != nil || v.IsNull() {
			return types.Value{}, err
		}
		by = max(v.Int(), -math.MaxInt32) // its negation is in range
		by = min(by, math.MaxInt32)
	}
	if at := int64(i) + sign*by; at >= 0 && at < int64(len(p.rows)) {
		return p.eval(c.Arg, int(at))
	}
	if len(c.Args) > 1 {
		return p.eval(c.Args[1], i)
	}
	return types.Value{}, nil
}

// frame gives the rows from (inclusive) and to (exclusive) of the frame of row i; to may be below from.
func (p *partition) frame(f plan.Frame, i int) (from, to int, err error) {
	if from, err = p.bound(f, f.Start, i, 0); err != nil {
		return 0, 0, err
	}
	to, err = p.bound(f, f.End, i, 1)
	return from, to, err
}

// bound gives the row at which b lies for row i: of the start (end 0) the frame's first row, of the end (1) the one behind its last.
func (p *partition) bound(f plan.Frame, b plan.FrameBound, i, end int) (int, error) {
	n := len(p.rows)
	switch b.Kind {
	case plan.UnboundedPreceding:
		return 0, nil
	case plan.UnboundedFollowing:
		return n, nil
	case plan.CurrentRow:
		if f.Mode == plan.RowsFrame {
			return i + end, nil
		}
		return p.start[p.peers[i]+end], nil
	}
	by, err := p.eval(b.By, i)
	if err != nil {
		return 0, err
	}
	if f.Mode == plan.RangeFrame {
		return p.valued(by, i, end)
	}
	away := int(min(by.Int(), math.MaxInt32))
	if b.Kind == plan.Preceding {
		away = -away
	}
	if f.Mode == plan.RowsFrame {
		return min(max(i+away+end, 0), n), nil
	}
	return p.start[min(max(p.peers[i]+away+end, 0), len(p.start)-1)], nil
}

// valued gives the first row whose value in the order is v or comes after it, for an end the first that comes after it.
// Rows with NULL are a frame of their own.
func (p *partition) valued(v types.Value, i, end int) (int, error) {
	if v.IsNull() {
		return p.start[p.peers[i]+end], nil
	}
	var failed error
	limit := []types.Value{v}
	at := sort.Search(len(p.rows), func(k int) bool {
		key := p.keys[k]
		if t := key[0].Type(); t != v.Type() && !key[0].IsNull() && t.IsTemporal() { // a DATE beside a TIMESTAMP
			moment, err := types.Cast(key[0], v.Type(), p.env.Loc)
			failed = errors.Join(failed, err)
			key = []types.Value{moment}
		}
		c := p.order.Compare(key, limit)
		return c > 0 || c == 0 && end == 0
	})
	return at, failed
}

// aggregate gives the value of an aggregate over the frame of each row. A frame that begins where the one before began has
// the new rows added to what is known, and one of a sum or count that begins later has the first ones taken out; any other
// is computed anew.
func (p *partition) aggregate(ctx context.Context, c *plan.WindowCall, s *share, give func(row int, v types.Value)) error {
	own := share{Budget: s.Budget}
	defer own.release()
	a := newAccumulator(&c.AggCall, p.env, &own)
	var last types.Value
	first, next, steps := 0, 0, 0 // a has taken the rows from first up to next
	take := func(row int, how func() error) error {
		if steps++; steps%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p.env.Row = p.rows[row]
		return how()
	}
	for i := range p.rows {
		from, to, err := p.frame(c.Frame, i)
		if err != nil {
			return err
		}
		to = max(from, to)
		changed := i == 0 || from != first || to != next
		if from < first || to < next || from > first && (!a.removes() || from >= next) {
			own.release()
			a = newAccumulator(&c.AggCall, p.env, &own)
			first, next = from, from
		}
		for ; first < from; first++ {
			if err := take(first, a.remove); err != nil {
				return err
			}
		}
		for ; next < to; next++ {
			if err := take(next, a.add); err != nil {
				return err
			}
		}
		if changed {
			if last, err = a.result(); err != nil {
				return err
			}
			if last.Type() == types.Decimal { // the accumulator goes on adding to it
				last = types.NewDecimal(new(apd.Decimal).Set(last.Decimal()))
			}
		}
		if err := take(i, func() error { give(i, last); return nil }); err != nil {
			return err
		}
	}
	return nil
}
