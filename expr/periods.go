package expr

import "github.com/hql-db/hql/types"

// periodAlgebra returns the algebra of functions that rise from 0 in each period; of returns the period, and how many
// milliseconds count as one.
func periodAlgebra(of func(*Call) (period, unit int64, ok bool)) *Algebra {
	return &Algebra{Arg: AnyArg, Pieces: func(c *Call, in types.Interval) []Piece {
		if n, _, ok := of(c); ok {
			return timePieces(in, n, 0)
		}
		return nil
	}, Domain: func(c *Call) (types.Set, bool) {
		n, unit, ok := of(c)
		return types.SetOf(span{0, (n - 1) / max(unit, 1)}.interval(types.BigInt)), ok
	}}
}

// ofDayAlgebra returns the algebra of the units of a day.
func ofDayAlgebra(unit int64) *Algebra {
	return periodAlgebra(func(c *Call) (int64, int64, bool) { return types.MillisPerDay, unit, timestampArg(c) })
}
