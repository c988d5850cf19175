package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/types"
)

// state computes an aggregate for which the accumulator has no fields. The second argument is NULL if the aggregate has
// only one.
type state interface {
	add(x, y types.Value) error
	result() (types.Value, error)
}

// ratio returns a / b; ok is false if b is 0.
func ratio(a, b float64) (float64, bool) { return a / b, b != 0 }

// extremeBy keeps the x of the greatest y (sign 1) or of the least y (sign -1).
type extremeBy struct {
	sign int
	x, y types.Value
}

func (e *extremeBy) add(x, y types.Value) error {
	if y.IsNull() {
		return nil
	}
	if !e.y.IsNull() {
		if r, err := types.Compare(y, e.y); err != nil || r*e.sign <= 0 {
			return err
		}
	}
	e.x, e.y = x, y
	return nil
}

func (e *extremeBy) size() int64 { return int64(len(e.x.Text()) + len(e.y.Text())) }

func (e *extremeBy) result() (types.Value, error) { return e.x, nil }

// intervals is the sum or the mean of INTERVALs.
type intervals struct {
	mean bool
	n    int64
	sum  types.Value
}

func (s *intervals) add(x, _ types.Value) (err error) {
	if s.n++; s.n == 1 {
		s.sum = x
		return nil
	}
	s.sum, err = onInterval("INTERVAL_ADD", s.sum, x)
	return err
}

func (s *intervals) result() (types.Value, error) {
	if !s.mean || s.n == 0 {
		return s.sum, nil
	}
	return onInterval("INTERVAL_DIVIDE", s.sum, types.NewInt(s.n))
}

func onInterval(function string, x, y types.Value) (types.Value, error) {
	return functions.Builtins().Lookup(function).Eval(nil, []types.Value{x, y})
}

// between returns the INTERVAL that is a part of the way from low to high.
func between(low, high types.Value, part float64) (types.Value, error) {
	span, err := onInterval("INTERVAL_MULTIPLY", low, types.NewInt(-1))
	if err == nil {
		span, err = onInterval("INTERVAL_ADD", high, span)
	}
	if err == nil {
		span, err = onInterval("INTERVAL_MULTIPLY", span, types.NewDouble(part))
	}
	if err != nil {
		return span, err
	}
	return onInterval("INTERVAL_ADD", low, span)
}

type bits struct {
	of  func(a, b int64) int64
	v   int64
	any bool
}

func (b *bits) add(x, _ types.Value) error {
	if !b.any {
		b.v, b.any = x.Int(), true
		return nil
	}
	b.v = b.of(b.v, x.Int())
	return nil
}

func (b *bits) result() (types.Value, error) {
	if !b.any {
		return types.Value{}, nil
	}
	return types.NewInt(b.v), nil
}

// variance computes the variance with the divisor n - less, or its square root. Integers and DECIMALs are summed exactly.
type variance struct {
	less int64
	root bool

	n            int64
	exact        bool
	sum, squares apd.Decimal
	doubles      moments
}

func (s *variance) add(x, _ types.Value) error {
	s.n++
	if t := x.Type(); t == types.Double || t == types.Float {
		n := float64(s.n)
		d := s.doubles.add(x.Double(), n)
		s.doubles.squares += d * d / max(n*(n-1), 1)
		return nil
	}
	s.exact = true
	v, err := types.Cast(x, types.Decimal, nil)
	if err != nil {
		return err
	}
	var square apd.Decimal
	_, err1 := types.Wide.Mul(&square, v.Decimal(), v.Decimal())
	_, err2 := types.Wide.Add(&s.squares, &s.squares, &square)
	_, err3 := types.Wide.Add(&s.sum, &s.sum, v.Decimal())
	if errors.Join(err1, err2, err3) != nil {
		return errDecimal
	}
	return nil
}

var errDecimal = errors.New("DECIMAL out of range")

func (s *variance) result() (types.Value, error) {
	if s.n <= s.less {
		return types.Value{}, nil
	}
	if !s.exact {
		v := s.doubles.squares / float64(s.n-s.less)
		if s.root {
			v = math.Sqrt(v)
		}
		return s.doubles.double(v)
	}
	// (n * sum of squares - square of sum) / (n * (n - less))
	var n, scaled, square, by apd.Decimal
	n.SetInt64(s.n)
	by.SetInt64(s.n - s.less)
	_, err1 := types.Wide.Mul(&scaled, &n, &s.squares)
	_, err2 := types.Wide.Mul(&square, &s.sum, &s.sum)
	_, err3 := types.Wide.Sub(&scaled, &scaled, &square)
	_, err4 := types.Wide.Mul(&by, &by, &n)
	if errors.Join(err1, err2, err3, err4) != nil {
		return types.Value{}, errDecimal
	}
	out := types.Quotient(&scaled, &by)
	if s.root {
		scale := types.QuotientScale(&scaled, &by)
		context := apd.BaseContext.WithPrecision(uint32(out.NumDigits() + scale + 4))
		if _, err := context.Sqrt(out, out); err != nil {
			return types.Value{}, errDecimal
		}
		context.Rounding = apd.RoundHalfUp
		if _, err := context.Quantize(out, out, int32(-scale)); err != nil {
			return types.Value{}, errDecimal
		}
		out.Reduce(out)
	}
	return types.NewDecimal(out), nil
}

// moments holds the sum of DOUBLEs, and the sum of the squared distances from their mean. Each value updates both (Youngs
// and Cramer 1971), which is more exact than the difference of two sums.
type moments struct {
	sum, squares float64
	infinite     bool // a value was infinite or NaN, so squares is NaN
}

// add adds v as value number n to the sum. It returns the distance of v from the mean of all values, times n. The caller
// adds its square over n * (n - 1) to squares, rounded like PostgreSQL.
func (m *moments) add(v, n float64) (distance float64) {
	m.infinite = m.infinite || math.IsNaN(v) || math.IsInf(v, 0)
	m.sum += v
	if m.infinite {
		return math.NaN()
	}
	return v*n - m.sum // 0 for the first value
}

// double returns v, which was computed from m. It fails if v is out of range, unless a value was infinite or NaN.
func (m *moments) double(v float64) (types.Value, error) {
	if !m.infinite && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return types.Value{}, errors.New("DOUBLE out of range")
	}
	return types.NewDouble(v), nil
}

// regression holds the sums over pairs of numbers.
type regression struct {
	of       func(*regression) (float64, bool) // nil: REGR_COUNT, the number of pairs
	n        float64
	x, y     moments
	products float64 // sum of products of the distances of x and y from their means
}

func regressionOf(f func(*regression) (float64, bool)) func() state {
	return func() state { return &regression{of: f} }
}

func (r *regression) add(y, x types.Value) error {
	if x.IsNull() {
		return nil
	}
	fx, err := types.Cast(x, types.Double, nil)
	if err != nil {
		return err
	}
	fy, err := types.Cast(y, types.Double, nil)
	if err != nil {
		return err
	}
	r.n++
	dx, dy := r.x.add(fx.Double(), r.n), r.y.add(fy.Double(), r.n)
	by := 1 / max(r.n*(r.n-1), 1)
	r.x.squares += dx * dx * by
	r.y.squares += dy * dy * by
	r.products += dx * dy * by
	return nil
}

func (r *regression) correlation() (float64, bool) {
	if r.x.squares == 0 || r.y.squares == 0 {
		return 0, false
	}
	return ratio(r.products, math.Sqrt(r.x.squares*r.y.squares))
}

// determination returns the square of the correlation. It is 1 if all y are equal, because any line explains them.
func (r *regression) determination() (float64, bool) {
	if r.x.squares != 0 && r.y.squares == 0 {
		return 1, true
	}
	return ratio(r.products*r.products, r.x.squares*r.y.squares)
}

func (r *regression) result() (types.Value, error) {
	if r.of == nil {
		return types.NewInt(int64(r.n)), nil
	}
	if r.n == 0 {
		return types.Value{}, nil
	}
	v, ok := r.of(r)
	if !ok || r.x.squares == 0 && math.IsNaN(v) { // REGR_INTERCEPT if all x are equal
		return types.Value{}, nil
	}
	both := moments{infinite: r.x.infinite || r.y.infinite}
	return both.double(v)
}

// mode returns the most frequent value in the sorted rows, or the first if several are equally frequent.
func (a *accumulator) mode() (types.Value, error) {
	var best types.Value
	var first keyed // of its equals
	n, most := 0, 0
	err := a.each(func(i int, k keyed) error {
		if n++; i == 0 || Order(a.call.OrderBy).Compare(k.keys, first.keys) != 0 {
			first, n = k, 1
		}
		if n > most {
			best, most = first.row[0], n
		}
		return nil
	})
	return best, err
}

// percentile returns the value at the fraction of the sorted rows that the argument gives. It interpolates between two
// rows if needed.
func (a *accumulator) percentile() (types.Value, error) {
	return a.parts(func(p float64, at map[float64]types.Value) (types.Value, error) {
		p *= float64(a.n - 1)
		part, below, above := p-math.Floor(p), at[math.Floor(p)], at[math.Ceil(p)]
		if below.Type() == types.Duration {
			return between(below, above, part)
		}
		first, err := types.Cast(below, types.Double, nil)
		if err != nil {
			return types.Value{}, err
		}
		second, err := types.Cast(above, types.Double, nil)
		if err != nil {
			return types.Value{}, err
		}
		lo, hi := first.Double(), second.Double()
		if lo == hi {
			return first, nil
		}
		return types.NewDouble(lo + part*(hi-lo)), nil
	})
}

// percentileOfValues returns the first value whose position in the sorted rows is at or after the fraction.
func (a *accumulator) percentileOfValues() (types.Value, error) {
	return a.parts(func(p float64, at map[float64]types.Value) (types.Value, error) {
		return at[max(math.Ceil(p*float64(a.n))-1, 0)], nil
	})
}

// parts calls of with the argument of a percentile, from 0 to 1, or with each element of an array, and with the values at
// the positions for it. NULL gives NULL: then, too, all values are read, since those of other aggregates may follow them.
func (a *accumulator) parts(of func(p float64, at map[float64]types.Value) (types.Value, error)) (types.Value, error) {
	v, err := a.call.Args[0].Eval(a.env)
	if err != nil {
		return types.Value{}, err
	}
	items := []types.Value{v}
	if v.Type().IsArray() {
		items = v.Items()
	}
	at := map[float64]types.Value{}
	for i, x := range items {
		if x.IsNull() {
			continue
		}
		p, err := types.Cast(x, types.Double, nil)
		if err == nil && !(p.Double() >= 0 && p.Double() <= 1) {
			err = fmt.Errorf("percentile value %s is not between 0 and 1", p)
		}
		if err != nil {
			return types.Value{}, err
		}
		items[i] = p
		last := p.Double() * float64(a.n-1)
		for _, position := range []float64{math.Floor(last), math.Ceil(last), max(math.Ceil(p.Double()*float64(a.n))-1, 0)} {
			at[position] = types.Value{}
		}
	}
	err = a.each(func(i int, k keyed) error {
		if _, ok := at[float64(i)]; ok {
			at[float64(i)] = k.row[0]
		}
		return nil
	})
	for i := 0; i < len(items) && err == nil; i++ {
		if !items[i].IsNull() {
			items[i], err = of(items[i].Double(), at)
		}
	}
	if v.Type().IsArray() {
		return types.NewArrayOf(a.call.Typ, v.Dims(), items), err
	}
	return items[0], err
}
