package solve

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/types"
)

// blur returns how many neighbours of the inner value with number n noise may make indistinguishable from it.
func (c *chain) blur(n int64) int64 {
	if len(c.apart) > 0 {
		return 1 << 22
	}
	return max(n, types.SubClamp(0, n))>>30 + 1
}

// noisy works like where for a chain whose values have an error (see Algebra.Noise): it returns the stretches whose
// values may be in iv. It evaluates uncertain values one by one if they are few; otherwise it adds them to rest.
func (c *chain) noisy(r run, iv types.Interval) (found []stretch) {
	n := len(c.links)
	relative, absolute := c.links[n-1].noise()
	moved := true // whether both bounds could be moved
	move := func(v types.Value, by float64) types.Value {
		if v.IsNull() || !v.IsFinite() {
			return v
		}
		if v.Decimal() == nil {
			f := v.Double()
			return types.NewDouble(f + by*(math.Abs(f)*relative+absolute+math.SmallestNonzeroFloat64))
		}
		d, err := movedDecimal(v, by*relative)
		moved = moved && err == nil
		return d
	}
	wide, ok := c.where(n, r, types.Interval{Lo: move(iv.Lo, -1), Hi: move(iv.Hi, 1)}) // unbounded where the bound could not be moved
	if !ok {
		return nil
	}
	narrow := types.Interval{Lo: move(iv.Lo, 1), Hi: move(iv.Hi, -1), LoOpen: iv.LoOpen, HiOpen: iv.HiOpen}
	sure, ok := c.where(n, r, narrow)
	ok = ok && moved
	edges := []stretch{wide}
	if ok {
		found = append(found, sure)
		edges = wide.without(found)
	}
	const few = 64
	for _, e := range edges {
		if uint64(e.hi)-uint64(e.lo) >= few {
			c.rest = append(c.rest, e)
			continue
		}
		for x := e.lo; ; x++ {
			if v, ok := c.eval(n, x); ok && iv.Side(v) == 0 {
				found = append(found, stretch{x, x})
			}
			if x == e.hi {
				break
			}
		}
	}
	return found
}

// movedDecimal returns v plus share times its absolute value.
func movedDecimal(v types.Value, share float64) (types.Value, error) {
	of, err := types.Cast(types.NewDouble(share), types.Decimal, nil)
	if err != nil {
		return types.Value{}, err
	}
	by, out := new(apd.Decimal), new(apd.Decimal)
	if _, err := types.Wide.Mul(by, new(apd.Decimal).Abs(v.Decimal()), of.Decimal()); err != nil {
		return types.Value{}, err
	}
	_, err = types.Wide.Add(out, v.Decimal(), by)
	return types.NewDecimal(out), err
}
