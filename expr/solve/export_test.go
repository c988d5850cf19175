package solve

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

var (
	ExactPreimage = preimage
	InverseOf     = inverse
	SoleColumn    = soleColumn
)

// Axis is an axis with its methods, for tests.
type Axis struct {
	Lo, Hi int64
	Apart  []int64
	Rank   func(types.Value) int64
	Value  func(int64) types.Value
}

func AxisOf(t types.Type) (Axis, bool) {
	a, ok := axisOf(t)
	return Axis{a.lo, a.hi, a.apart, a.rank, a.value}, ok
}

// Among is among with its methods, for tests.
type Among struct {
	Set  types.Set
	Null bool
}

func (a Among) Holds(v types.Value) bool { return among{a.Set, a.Null}.holds(v) }

func TruthsOf(t, f, n bool) Among {
	a := truthsOf(t, f, n)
	return Among{a.set, a.null}
}

// Where returns the Constraint that e is in out.
func Where(e expr.Expr, out Among) Constraint {
	f := &finder{Solver: new(Solver)}
	return f.where(e, among{out.Set, out.Null})
}

// TruthIn returns the values of the only column of e for which it can be true, for rows whose column is in window.
func TruthIn(e expr.Expr, window types.Set) (set types.Set, exact bool) {
	c := (&Solver{Window: func(int) types.Set { return window }}).Solve(e)
	set, _, exact = c.Column(expr.Columns(e)[0])
	return set, exact
}

// Can reports whether c can hold in row, and sure whether it says so for certain.
func (c *Constraint) Can(row []types.Value) (can, sure bool) {
	switch c.Kind {
	case One:
		v := row[c.Col]
		can = (among{set: c.Set, null: c.Null}).holds(v)
		return can, can && c.Exact
	case Unknown:
		return true, false
	case Any:
		for i := range c.Of {
			can1, sure1 := c.Of[i].Can(row)
			can, sure = can || can1, sure || sure1
		}
		return can, sure
	}
	can, sure = true, true
	some := false
	for i := range c.Of {
		can1, sure1 := c.Of[i].Can(row)
		can, sure, some = can && can1, sure && sure1, some || sure1
	}
	return can, sure || c.Kind == Either && some
}
