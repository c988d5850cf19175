package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// aggregate describes how an aggregate function is executed. Its name, types and description are in package functions.
type aggregate struct {
	kind   aggKind
	nulls  bool         // its state also receives rows whose first argument is NULL
	state  func() state // for kind stateful
	result func(*accumulator) (types.Value, error)
}

// aggKind is the kind of state that an accumulator keeps.
type aggKind uint8

const (
	stateful aggKind = iota // a value of type state
	counting                // the number of values
	summing                 // the number and the sum of values
	least                   // one of the values
	greatest
	anyOf
	allTrue
	anyTrue
	collecting // all values, sorted at the end
)

var aggregates = map[plan.Func]*aggregate{
	plan.Count:          {kind: counting, result: (*accumulator).count},
	plan.Sum:            {kind: summing, result: (*accumulator).total},
	plan.Avg:            {kind: summing, result: (*accumulator).mean},
	plan.Min:            {kind: least, result: (*accumulator).one},
	plan.Max:            {kind: greatest, result: (*accumulator).one},
	plan.BoolAnd:        {kind: allTrue, result: (*accumulator).one},
	plan.BoolOr:         {kind: anyTrue, result: (*accumulator).one},
	"STRING_AGG":        {kind: collecting, result: (*accumulator).text},
	plan.ArrayAgg:       {kind: collecting, nulls: true, result: (*accumulator).array},
	"JSON_AGG":          {kind: collecting, nulls: true, result: (*accumulator).list},
	"JSON_OBJECT_AGG":   {kind: collecting, nulls: true, result: (*accumulator).object},
	"JSONB_AGG":         {kind: collecting, nulls: true, result: (*accumulator).list},
	"JSONB_OBJECT_AGG":  {kind: collecting, nulls: true, result: (*accumulator).object},
	"MODE":              {kind: collecting, result: (*accumulator).mode},
	plan.PercentileCont: {kind: collecting, result: (*accumulator).percentile},
	"PERCENTILE_DISC":   {kind: collecting, result: (*accumulator).percentileOfValues},

	"ANY_VALUE":   {kind: anyOf, result: (*accumulator).one},
	"MIN_BY":      byNulls(func() state { return &extremeBy{sign: -1} }),
	"MAX_BY":      byNulls(func() state { return &extremeBy{sign: 1} }),
	"BIT_AND":     by(func() state { return &bits{of: func(a, b int64) int64 { return a & b }} }),
	"BIT_OR":      by(func() state { return &bits{of: func(a, b int64) int64 { return a | b }} }),
	"BIT_XOR":     by(func() state { return &bits{of: func(a, b int64) int64 { return a ^ b }} }),
	"VAR_POP":     by(func() state { return &variance{} }),
	"VAR_SAMP":    by(func() state { return &variance{less: 1} }),
	"STDDEV_POP":  by(func() state { return &variance{root: true} }),
	"STDDEV_SAMP": by(func() state { return &variance{less: 1, root: true} }),

	"REGR_COUNT":     by(regressionOf(nil)),
	"REGR_AVGX":      by(regressionOf(func(r *regression) (float64, bool) { return ratio(r.x.sum, r.n) })),
	"REGR_AVGY":      by(regressionOf(func(r *regression) (float64, bool) { return ratio(r.y.sum, r.n) })),
	"REGR_SXX":       by(regressionOf(func(r *regression) (float64, bool) { return r.x.squares, true })),
	"REGR_SYY":       by(regressionOf(func(r *regression) (float64, bool) { return r.y.squares, true })),
	"REGR_SXY":       by(regressionOf(func(r *regression) (float64, bool) { return r.products, true })),
	"COVAR_POP":      by(regressionOf(func(r *regression) (float64, bool) { return ratio(r.products, r.n) })),
	"COVAR_SAMP":     by(regressionOf(func(r *regression) (float64, bool) { return ratio(r.products, r.n-1) })),
	"REGR_SLOPE":     by(regressionOf(func(r *regression) (float64, bool) { return ratio(r.products, r.x.squares) })),
	"REGR_INTERCEPT": by(regressionOf(func(r *regression) (float64, bool) { return ratio(r.y.sum-r.x.sum*r.products/r.x.squares, r.n) })),
	"REGR_R2":        by(regressionOf((*regression).determination)),
	"CORR":           by(regressionOf((*regression).correlation)),
}

// by returns an aggregate that computes its result with the state made by s. byNulls returns an aggregate whose state
// also receives NULLs.
func by(s func() state) *aggregate {
	return &aggregate{state: s, result: func(a *accumulator) (types.Value, error) { return a.state.result() }}
}

func byNulls(s func() state) *aggregate {
	a := by(s)
	a.nulls = true
	return a
}

// accumulator computes one aggregate for one group.
type accumulator struct {
	call  *plan.AggCall
	of    *aggregate
	env   *expr.Env
	share *share
	held  int64 // bytes taken from share
	n     int64
	best  types.Value         // for least, greatest, anyOf, allTrue and anyTrue
	whole int64               // summing: the sum of integers, until exact adds it to dec
	dec   *apd.Decimal        // summing: the sum of exact numbers without whole; nil if there is none
	float float64             // summing: the sum of other numbers
	seen  map[string]struct{} // values seen, for DISTINCT
	rows  []keyed             // collecting: the values in order
	state state
	// beyond has the values for which there is no memory, unless it is nil: the collected ones, or values of DISTINCT that
	// seen may lack. op provides it; without op such values are an error.
	beyond        *spilledValues
	op            *aggregateOp
	group, number int // of the group, and of the aggregate
}

func newAccumulator(c *plan.AggCall, env *expr.Env, s *share) accumulator {
	a := accumulator{call: c, of: aggregates[c.Func], env: env, share: s}
	if c.Distinct {
		a.seen = map[string]struct{}{}
	}
	if a.of.kind == summing && c.Arg.Type() == types.Duration {
		a.of = by(func() state { return &intervals{mean: c.Func == plan.Avg} })
	}
	if a.of.state != nil {
		a.state = a.of.state()
	}
	return a
}

// orderOf returns the order in which an aggregate needs its values. Equal ones follow one another for DISTINCT.
func orderOf(c *plan.AggCall) Order {
	if c.Distinct && len(c.OrderBy) == 0 { // PostgreSQL sorts, too
		return Order{{Expr: c.Arg}}
	}
	return c.OrderBy
}

// value returns the aggregate's argument for the row in env; ok is false if the row does not count.
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
	return v, err == nil && (!v.IsNull() || a.of.nulls), err
}

// add adds the row in env.
func (a *accumulator) add() error {
	v, ok, err := a.value()
	if err != nil || !ok {
		return err
	}
	var more types.Value
	if len(a.call.Args) > 0 {
		if more, err = a.call.Args[0].Eval(a.env); err != nil {
			return err
		}
	}
	if a.seen != nil {
		k := string(v.AppendKey(nil))
		if _, dup := a.seen[k]; dup {
			return nil
		}
		if a.beyond == nil {
			full := a.take(int64(len(k))+64, "(DISTINCT)")
			if full == nil {
				a.seen[k] = struct{}{}
				return a.accept(v, more)
			}
			if err := a.overflow(full); err != nil {
				return err
			}
		}
		return a.collect(v, more) // even if memory is free again: an equal value may be beyond
	}
	return a.accept(v, more)
}

// accept adds the value v and the second argument.
func (a *accumulator) accept(v, more types.Value) error {
	a.n++
	switch a.of.kind {
	case counting:
	case summing:
		return a.sum(v)
	case least, greatest:
		if a.best.IsNull() {
			return a.keep(v)
		}
		r, err := types.Compare(v, a.best)
		if err == nil && r != 0 && (a.of.kind == least) == (r < 0) {
			return a.keep(v)
		}
		return err
	case anyOf:
		if a.best.IsNull() {
			return a.keep(v)
		}
	case allTrue, anyTrue:
		if a.best.IsNull() || v.Bool() == (a.of.kind == anyTrue) {
			a.best = v
		}
	case collecting:
		return a.collect(v, more)
	default:
		return a.pass(v, more)
	}
	return nil
}

// take takes n more bytes from the share.
func (a *accumulator) take(n int64, more string) error {
	a.held += n
	return a.share.take(n, string(a.call.Func)+more)
}

// keep makes v the best value.
func (a *accumulator) keep(v types.Value) error {
	more := len(v.Text()) - len(a.best.Text())
	a.best = v
	return a.grow(int64(more))
}

// grow reserves n more bytes of the share, and fails if the whole budget exceeds twice the limit. Between the limit and
// twice the limit, rows of new groups wait in files, but existing groups still grow.
func (a *accumulator) grow(n int64) error {
	a.held += n
	return a.share.grow(n, string(a.call.Func))
}

// fits returns an error if a result of n bytes exceeds the limit.
func (a *accumulator) fits(n int) error {
	if int64(n) > a.share.Limit {
		return fmt.Errorf("%s: %w", a.call.Func, expr.BeyondMemory(a.share.Limit))
	}
	return nil
}

// pass adds v and the second argument to the state.
func (a *accumulator) pass(v, more types.Value) error {
	e, keeps := a.state.(*extremeBy)
	if !keeps {
		return a.state.add(v, more)
	}
	before := e.size()
	if err := e.add(v, more); err != nil {
		return err
	}
	return a.grow(e.size() - before)
}

// removes reports whether remove exactly reverses add. It does not for DOUBLEs, whose sums are rounded, nor for DECIMALs,
// whose sum keeps the largest number of decimals.
func (a *accumulator) removes() bool {
	return a.seen == nil && (a.of.kind == counting || a.of.kind == summing && a.call.Arg.Type().IsInteger())
}

// remove removes the row in env, which was added before.
func (a *accumulator) remove() error {
	v, ok, err := a.value()
	if err != nil || !ok {
		return err
	}
	a.n--
	if a.of.kind == counting {
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
	if v.Type().IsInteger() && a.sumInteger(v.Int()) {
		return nil
	}
	return a.sumExact(v)
}

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

// collect keeps v and the second argument, with the values by which they are sorted.
func (a *accumulator) collect(v, more types.Value) (err error) {
	k := keyed{row: []types.Value{v}, seq: len(a.rows)}
	if len(a.call.Args) > 0 {
		k.row = append(k.row, more)
	}
	if len(a.call.OrderBy) == 0 && a.call.Distinct {
		k.keys = k.row[:1]
	} else if len(a.call.OrderBy) > 0 {
		if k.keys, err = Order(a.call.OrderBy).Keys(nil, a.env, a.env.Row); err != nil {
			return err
		}
	}
	if a.beyond == nil {
		if err = a.take(SizeOf(k.row)+SizeOf(k.keys), ""); err == nil {
			a.rows = append(a.rows, k)
			return nil
		}
		if err = a.overflow(err); err != nil {
			return err
		}
	}
	return a.beyond.add(a, k)
}

// overflow sends the collected values where there is room. Without one it returns the error full.
func (a *accumulator) overflow(full error) error {
	if a.op == nil {
		return full
	}
	a.beyond = a.op.valuesBeyond()
	for _, k := range a.rows {
		if err := a.beyond.add(a, k); err != nil {
			return err
		}
		n := SizeOf(k.row) + SizeOf(k.keys)
		a.held -= n
		a.share.give(n)
	}
	a.rows = nil
	return nil
}

// each calls f with the collected values in their order, and with the number of those before.
func (a *accumulator) each(f func(i int, k keyed) error) error {
	if a.beyond == nil {
		slices.SortFunc(a.rows, orderOf(a.call).less)
		for i, k := range a.rows {
			if err := f(i, k); err != nil {
				return err
			}
		}
		return nil
	}
	var last, key []byte
	for i := 0; ; {
		k, err := a.beyond.next(a)
		if err != nil || k.row == nil {
			return err
		}
		if a.seen != nil {
			if key = k.row[0].AppendKey(key[:0]); i > 0 && string(key) == string(last) {
				continue
			}
			last, key = key, last
		}
		if err := f(i, k); err != nil {
			return err
		}
		i++
	}
}

func (a *accumulator) result() (types.Value, error) {
	if a.of.kind == collecting {
		if len(a.rows) == 0 && a.beyond == nil {
			return types.Value{}, nil
		}
	} else if a.beyond != nil { // DISTINCT
		if err := a.each(func(_ int, k keyed) error { return a.accept(k.row[0], append(k.row, types.Value{})[1]) }); err != nil {
			return types.Value{}, err
		}
	}
	return a.of.result(a)
}

func (a *accumulator) count() (types.Value, error) { return types.NewInt(a.n), nil }

func (a *accumulator) one() (types.Value, error) { return a.best, nil }

// exact adds the sum of integers to dec.
func (a *accumulator) exact() error {
	if a.whole == 0 {
		return nil
	}
	err := a.sumExact(types.NewInt(a.whole))
	a.whole = 0
	return err
}

func (a *accumulator) total() (types.Value, error) {
	if err := a.exact(); err != nil || a.n == 0 {
		return types.Value{}, err
	}
	v := types.NewDouble(a.float)
	if a.dec != nil {
		v = types.NewDecimal(a.dec)
	}
	v, err := types.Cast(v, a.call.Typ, nil)
	if err != nil {
		return v, fmt.Errorf("SUM is out of the range of %s", a.call.Typ)
	}
	return v, nil
}

func (a *accumulator) mean() (types.Value, error) {
	if err := a.exact(); err != nil || a.n == 0 {
		return types.Value{}, err
	}
	if a.dec == nil {
		return types.NewDouble(a.float / float64(a.n)), nil
	}
	return types.NewDecimal(types.Quotient(a.dec, apd.New(a.n, 0))), nil
}

func (a *accumulator) text() (types.Value, error) {
	var b strings.Builder
	binary := a.call.Arg.Type() == types.Bytes
	err := a.each(func(i int, k keyed) error {
		if i > 0 && len(k.row) > 1 {
			b.WriteString(k.row[1].Text())
		}
		if v := k.row[0]; binary {
			b.WriteString(v.Text())
		} else {
			b.WriteString(v.String())
		}
		return a.fits(b.Len())
	})
	if binary {
		return types.NewBytes(b.String()), err
	}
	return types.NewString(b.String()), err
}

func (a *accumulator) array() (types.Value, error) {
	items, size := make([]types.Value, 0, len(a.rows)), int64(0)
	err := a.each(func(_ int, k keyed) error {
		size += sizeOf(&k.row[0])
		items = append(items, k.row[0])
		return a.fits(int(size))
	})
	if err != nil {
		return types.Value{}, err
	}
	if a.call.Arg.Type().IsArray() {
		return types.Stack(a.call.Typ.Elem(), items)
	}
	return types.NewArray(a.call.Typ.Elem(), items), nil
}

func (a *accumulator) list() (types.Value, error) {
	out := []byte{'['}
	err := a.each(func(i int, k keyed) error {
		if i > 0 {
			out = append(out, ',')
		}
		out = k.row[0].AppendJSON(out)
		return a.fits(len(out))
	})
	return types.NewJSONOf(a.call.Typ, string(append(out, ']'))), err
}

func (a *accumulator) object() (types.Value, error) {
	out := []byte{'{'}
	err := a.each(func(i int, k keyed) error {
		if k.row[0].IsNull() {
			return errors.New("a key of an object cannot be NULL")
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = types.NewString(k.row[0].String()).AppendJSON(out)
		out = k.row[1].AppendJSON(append(out, ':'))
		return a.fits(len(out))
	})
	return types.NewJSONOf(a.call.Typ, string(append(out, '}'))), err
}
