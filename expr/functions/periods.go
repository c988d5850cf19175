package functions

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// periodAlgebra returns the algebra of functions that rise from 0 in each period. of returns the length of the period,
// and of the unit that the function counts, in milliseconds.
func periodAlgebra(of func(*expr.Call) (period, unit int64, ok bool)) *expr.Algebra {
	return &expr.Algebra{Arg: expr.AnyArg, Pieces: func(c *expr.Call, in types.Interval) []expr.Piece {
		if n, _, ok := of(c); ok {
			return solve.TimePieces(in, n, 0)
		}
		return nil
	}, Domain: func(c *expr.Call) (types.Set, bool) {
		n, unit, ok := of(c)
		return types.SetOf(span{0, (n - 1) / max(unit, 1)}.interval(types.BigInt)), ok
	}}
}

// ofDayAlgebra returns the algebra of functions that count units since midnight; unit is in milliseconds.
func ofDayAlgebra(unit int64) *expr.Algebra {
	return periodAlgebra(func(c *expr.Call) (int64, int64, bool) { return types.MillisPerDay, unit, timestampArg(c) })
}
