package solve

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Periodic divides in, an interval of numbers, into pieces that begin at start plus multiples of n. It returns nil if they
// would be too many.
func Periodic(in types.Interval, n, start int64) []expr.Piece {
	if in.Lo.IsNull() || in.Hi.IsNull() || n <= 0 {
		return nil
	}
	first, last := in.Ints()
	if first < -MaxCivil || last > MaxCivil || n > MaxCivil || (last-first)/n > MostPeriods {
		return nil
	}
	var out []expr.Piece
	for lo := types.FloorDiv(first-start, n)*n + start; lo <= last; lo += n {
		out = append(out, expr.Piece{In: types.IntInterval(in.Lo.Type(), lo, lo+n-1)})
	}
	return out
}

// MostPeriods bounds the number of pieces of a periodic function.
const MostPeriods = 400

// TimePieces works like Periodic for TIMESTAMPs and DATEs; n and start are in milliseconds.
func TimePieces(in types.Interval, n, start int64) []expr.Piece {
	if !in.Lo.IsNull() && in.Lo.Type() == types.Date {
		return Periodic(in, max(n/types.MillisPerDay, 1), start/types.MillisPerDay)
	}
	return Periodic(in, n, start)
}
