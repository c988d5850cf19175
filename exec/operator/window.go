package operator

import (
	"cmp"
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

// windowOp computes window functions over its sorted input. It reads one partition at a time, which goes to a file if it
// does not fit in memory, and computes the calls row by row.
type windowOp struct {
	in    Operator
	node  *plan.Window
	env   *expr.Env
	batch [][]types.Value // rows that were read but not added to a partition
	key   []byte
	p     partition
	at    int       // number of rows of the partition that were returned
	aggs  []running // by call: the state of an aggregate
	out   [][]types.Value
	ended bool
}

func (b *build) window(in Operator, n *plan.Window) *windowOp {
	w := &windowOp{in: in, node: n, env: b.opt.Env()}
	w.p = partition{env: w.env, order: n.OrderBy, pages: pages{share: share{Budget: &b.budget}, dir: b.opt.SpillDir, what: "OVER"}}
	return w
}

func (w *windowOp) Next(ctx context.Context) ([][]types.Value, error) {
	if w.at == w.p.n {
		if err := w.fill(ctx); err != nil {
			return nil, err
		}
	}
	w.out = w.out[:0]
	for held := int64(0); len(w.out) < BatchRows && w.at < w.p.n && held < batchBytes; w.at++ {
		row, err := w.p.row(w.at)
		if err != nil {
			return nil, err
		}
		row = append(make([]types.Value, 0, len(row)+len(w.node.Calls)), row...)
		for i := range w.node.Calls {
			c := &w.node.Calls[i]
			var v types.Value
			if f, ok := windowFunctions[c.Func]; ok {
				v, err = f(&w.p, c, w.at)
			} else {
				v, err = w.aggs[i].value(ctx, &w.p, w.at)
			}
			if err != nil {
				return nil, err
			}
			row = append(row, v)
			held += sizeOf(&v)
		}
		w.out = append(w.out, row)
	}
	return w.out, ctx.Err()
}

// fill reads a partition; io.EOF after the last.
func (w *windowOp) fill(ctx context.Context) error {
	w.reset()
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
		if w.p.n == 0 {
			first = slices.Clone(w.key)
		} else if string(first) != string(w.key) {
			break
		}
		w.batch = w.batch[1:]
		if err := w.p.add(slices.Clone(row)); err != nil {
			return err
		}
	}
	if w.p.n == 0 {
		return io.EOF
	}
	w.p.start = append(w.p.start, int32(w.p.n))
	for i := range w.node.Calls {
		w.aggs = append(w.aggs, running{c: &w.node.Calls[i], own: share{Budget: w.p.share.Budget}})
	}
	return nil
}

// reset removes the partition.
func (w *windowOp) reset() {
	for i := range w.aggs {
		w.aggs[i].own.release()
	}
	w.at, w.aggs = 0, w.aggs[:0]
	w.p.reset()
	w.p.start, w.p.group, w.p.last = w.p.start[:0], 0, nil
}

func (w *windowOp) Close() error {
	w.ended, w.batch = true, nil
	w.reset()
	return w.in.Close()
}

// partition holds sorted rows. Rows that are equal in the order are peers.
type partition struct {
	pages
	env   *expr.Env
	order Order
	last  []types.Value // the values by which the last row is sorted
	start []int32       // by group of peers: the number of its first row; at the end, the number of rows
	group int           // the group that was asked for last
}

func (p *partition) add(row []types.Value) error {
	keys, err := p.order.Keys(make([]types.Value, 0, len(p.order)), p.env, row)
	if err != nil {
		return err
	}
	if p.n == 0 || p.order.Compare(p.last, keys) != 0 {
		if err := p.room(4); err != nil {
			return err
		}
		p.start = append(p.start, int32(p.n))
	}
	p.last = keys
	return p.pages.add(row)
}

// peers returns the number of the group of row i.
func (p *partition) peers(i int) int {
	if at := int32(i); p.start[p.group] > at || at >= p.start[p.group+1] {
		p.group = sort.Search(len(p.start), func(g int) bool { return p.start[g] > at }) - 1
	}
	return p.group
}

// from returns the number of the first row in the group that is away groups behind that of row i, or the number of rows.
func (p *partition) from(i, away int) int {
	return int(p.start[min(max(p.peers(i)+away, 0), len(p.start)-1)])
}

// eval evaluates e for row i.
func (p *partition) eval(e expr.Expr, i int) (v types.Value, err error) {
	if p.env.Row, err = p.row(i); err != nil {
		return v, err
	}
	return e.Eval(p.env)
}

// windowFunctions compute the value of a call for row i.
var windowFunctions = map[plan.Func]func(p *partition, c *plan.WindowCall, i int) (types.Value, error){
	"ROW_NUMBER": func(_ *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewInt(int64(i + 1)), nil
	},
	"RANK": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewInt(int64(p.from(i, 0) + 1)), nil
	},
	"DENSE_RANK": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewInt(int64(p.peers(i) + 1)), nil
	},
	"PERCENT_RANK": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewDouble(float64(p.from(i, 0)) / float64(max(p.n-1, 1))), nil
	},
	"CUME_DIST": func(p *partition, _ *plan.WindowCall, i int) (types.Value, error) {
		return types.NewDouble(float64(p.from(i, 1)) / float64(p.n)), nil
	},
	"NTILE": (*partition).ntile,
	"LAG": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		return p.neighbour(c, i, -1)
	},
	"LEAD": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		return p.neighbour(c, i, 1)
	},
	"FIRST_VALUE": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		return p.nth(c, i, func(int) int64 { return 1 })
	},
	"LAST_VALUE": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		return p.nth(c, i, func(rows int) int64 { return int64(rows) })
	},
	"NTH_VALUE": func(p *partition, c *plan.WindowCall, i int) (types.Value, error) {
		n, err := p.eval(c.Args[0], i)
		if err != nil || n.IsNull() {
			return types.Value{}, err
		}
		if n.Int() <= 0 {
			return types.Value{}, errors.New("NTH_VALUE takes a number greater than 0")
		}
		return p.nth(c, i, func(int) int64 { return n.Int() })
	},
}

// nth returns the argument of c for one row of the frame of row i, or NULL if the frame has no such row. which returns
// the number of that row in the frame, from 1; its argument is the number of rows in the frame.
func (p *partition) nth(c *plan.WindowCall, i int, which func(rows int) int64) (types.Value, error) {
	from, to, err := p.frame(c.Frame, i)
	if err != nil {
		return types.Value{}, err
	}
	parts := p.without(c.Frame, i, from, to)
	rows := 0
	for _, part := range parts {
		rows += part[1] - part[0]
	}
	n := which(rows)
	for _, part := range parts {
		size := int64(part[1] - part[0])
		if n <= size {
			return p.eval(c.Arg, part[0]+int(n)-1)
		}
		n -= size
	}
	return types.Value{}, nil
}

// without returns the ranges of the rows from..to, the frame of row i, that the frame's EXCLUDE leaves.
func (p *partition) without(f plan.Frame, i, from, to int) [][2]int {
	var holes [][2]int
	first, last := p.from(i, 0), p.from(i, 1)
	switch f.Exclude {
	case "CURRENT ROW":
		holes = [][2]int{{i, i + 1}}
	case "GROUP":
		holes = [][2]int{{first, last}}
	case "TIES":
		holes = [][2]int{{first, i}, {i + 1, last}}
	}
	var out [][2]int
	for _, hole := range append(holes, [2]int{to, to}) {
		if end := min(hole[0], to); from < end {
			out = append(out, [2]int{from, end})
		}
		from = max(from, hole[1])
	}
	return out
}

// ntile divides the rows into n parts and numbers them; if they cannot be of equal size, the first parts have one row
// more.
func (p *partition) ntile(c *plan.WindowCall, i int) (types.Value, error) {
	v, err := p.eval(c.Arg, 0) // the first row decides, as in PostgreSQL
	if err != nil || v.IsNull() {
		return types.Value{}, err
	}
	if v.Int() <= 0 {
		return types.Value{}, errors.New("NTILE takes a number greater than 0")
	}
	n := min(v.Int(), int64(p.n))
	size, more := int64(p.n)/n, int64(p.n)%n
	if at := int64(i); at >= more*(size+1) {
		return types.NewInt(more + (at-more*(size+1))/size + 1), nil
	}
	return types.NewInt(int64(i)/(size+1) + 1), nil
}

// neighbour returns the argument for another row: a number of rows before (sign -1) or after row i.
func (p *partition) neighbour(c *plan.WindowCall, i int, sign int64) (types.Value, error) {
	by := int64(1)
	if len(c.Args) > 0 {
		v, err := p.eval(c.Args[0], i)
		if err != nil || v.IsNull() {
			return types.Value{}, err
		}
		by = v.Int()
	}
	// An offset that overflows becomes negative, and selects no row.
	if at := int64(i) + sign*by; at >= 0 && at < int64(p.n) {
		return p.eval(c.Arg, int(at))
	}
	if len(c.Args) > 1 {
		return p.eval(c.Args[1], i)
	}
	return types.Value{}, nil
}

// frame returns the rows from (inclusive) and to (exclusive) of the frame of row i; to may be less than from.
func (p *partition) frame(f plan.Frame, i int) (from, to int, err error) {
	if from, err = p.bound(f, f.Start, i, 0); err != nil {
		return 0, 0, err
	}
	to, err = p.bound(f, f.End, i, 1)
	return from, to, err
}

// bound returns the row index of the bound b for row i. For the start (end 0) it is the frame's first row, for the end
// (end 1) the row after the last.
func (p *partition) bound(f plan.Frame, b plan.FrameBound, i, end int) (int, error) {
	switch b.Kind {
	case plan.UnboundedPreceding:
		return 0, nil
	case plan.UnboundedFollowing:
		return p.n, nil
	case plan.CurrentRow:
		if f.Mode == plan.RowsFrame {
			return i + end, nil
		}
		return p.from(i, end), nil
	}
	if f.Mode == plan.RangeFrame {
		return p.valued(b, i, end)
	}
	away := int(min(b.By.Int(), math.MaxInt32))
	if b.Kind == plan.Preceding {
		away = -away
	}
	if f.Mode == plan.RowsFrame {
		return min(max(i+away+end, 0), p.n), nil
	}
	return p.from(i, away+end), nil
}

// valued works like bound for a RANGE frame with a distance. For the start it returns the first row whose value is at b
// or after b in the order, for the end the first row whose value is after b. Rows with NULL are a frame of their own.
func (p *partition) valued(b plan.FrameBound, i, end int) (int, error) {
	key, err := p.eval(p.order[0].Expr, i)
	if err != nil {
		return 0, err
	}
	if key.IsNull() {
		return p.from(i, end), nil
	}
	desc := p.order[0].Desc
	limit, err := p.moved(b, key, (b.Kind == plan.Following) != desc, (end == 1) != desc)
	if err != nil {
		return 0, err
	}
	at := sort.Search(p.n, func(k int) bool {
		v, failed := p.eval(p.order[0].Expr, k)
		if v.IsNull() {
			err = cmp.Or(err, failed)
			return !p.order[0].NullsFirst
		}
		c, failed := types.Compare(position(v), limit)
		err = cmp.Or(err, failed)
		if desc {
			c = -c
		}
		return c > 0 || c == 0 && end == 0
	})
	return at, err
}

// position returns the value for comparisons with bounds: milliseconds for a moment, any other value unchanged.
func position(v types.Value) types.Value {
	switch v.Type() {
	case types.Date:
		return types.NewInt(v.Int() * 86_400_000)
	case types.Time, types.Timestamp, types.LocalTimestamp:
		return types.NewInt(v.Int())
	}
	return v
}

func isFloat(v types.Value) bool { return v.Type() == types.Double || v.Type() == types.Float }

// moved returns the position of the bound b for a row with the value key: b's distance above key if up is set,
// otherwise below key. A position outside the range of integers is replaced by the end of the range. If key and the
// distance are infinite and their sum is undefined, the result is positive infinity if all is set, otherwise negative
// infinity.
func (p *partition) moved(b plan.FrameBound, key types.Value, up, all bool) (types.Value, error) {
	if b.Moved != nil {
		p.env.Row = []types.Value{key}
		if v, err := b.Moved.Eval(p.env); err == nil {
			return position(v), nil
		}
		if up {
			return types.NewInt(math.MaxInt64), nil
		}
		return types.NewInt(math.MinInt64), nil
	}
	from, by := position(key), b.By
	switch {
	case isFloat(from) || isFloat(by):
		f, err1 := types.Cast(from, types.Double, nil)
		d, err2 := types.Cast(by, types.Double, nil)
		if err := errors.Join(err1, err2); err != nil || math.IsNaN(f.Double()) {
			return f, err
		}
		v := f.Double() - d.Double()
		if up {
			v = f.Double() + d.Double()
		}
		if math.IsNaN(v) && all {
			v = math.Inf(1)
		} else if math.IsNaN(v) {
			v = math.Inf(-1)
		}
		return types.NewDouble(v), nil
	case from.Type().IsInteger() && by.Type().IsInteger():
		n, d := from.Int(), by.Int()
		switch {
		case up && n > math.MaxInt64-d:
			n = math.MaxInt64
		case up:
			n += d
		case n < math.MinInt64+d:
			n = math.MinInt64
		default:
			n -= d
		}
		return types.NewInt(n), nil
	}
	x, err1 := types.Cast(from, types.Decimal, nil)
	y, err2 := types.Cast(by, types.Decimal, nil)
	if err := errors.Join(err1, err2); err != nil {
		return x, err
	}
	sum, how := new(apd.Decimal), types.Wide.Sub
	if up {
		how = types.Wide.Add
	}
	if _, err := how(sum, x.Decimal(), y.Decimal()); err != nil {
		return x, errDecimal
	}
	return types.NewDecimal(sum), nil
}

// running computes an aggregate over the frames of the rows, from the first row on. If a frame begins where the previous
// one began, it adds only the new rows. If the frame of a sum or count begins later, it also removes the first rows. All
// other frames are computed from their first row.
type running struct {
	c           *plan.WindowCall
	a           accumulator
	own         share
	first, next int // a has the rows from first up to, not including, next
	last        types.Value
}

// value returns the aggregate over the frame of row i.
func (r *running) value(ctx context.Context, p *partition, i int) (types.Value, error) {
	take := func(row int, how func() error) (err error) {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if p.env.Row, err = p.row(row); err != nil {
			return err
		}
		return how()
	}
	from, to, err := p.frame(r.c.Frame, i)
	if err != nil {
		return types.Value{}, err
	}
	to = max(from, to)
	parts, anew := [][2]int{{from, to}}, i == 0 || r.c.Frame.Exclude != ""
	if r.c.Frame.Exclude != "" {
		parts, from, to = p.without(r.c.Frame, i, from, to), 0, 0
	}
	changed := anew || from != r.first || to != r.next
	if anew || from < r.first || to < r.next || from > r.first && (!r.a.removes() || from >= r.next) {
		r.own.release()
		r.a = newAccumulator(&r.c.AggCall, p.env, &r.own)
		r.first, r.next = from, from
	}
	for ; r.first < from; r.first++ {
		if err := take(r.first, r.a.remove); err != nil {
			return types.Value{}, err
		}
	}
	for _, part := range parts {
		for row := max(r.next, part[0]); row < part[1]; row++ {
			if err := take(row, r.a.add); err != nil {
				return types.Value{}, err
			}
		}
	}
	r.next = to
	if changed {
		if r.last, err = r.a.result(); err != nil {
			return types.Value{}, err
		}
		if r.last.Type() == types.Decimal { // the accumulator changes it in place
			r.last = types.NewDecimal(new(apd.Decimal).Set(r.last.Decimal()))
		}
	}
	return r.last, nil
}
