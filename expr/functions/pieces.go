package functions

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

var (
	rises    = []expr.Piece{{}}
	falls    = []expr.Piece{{Falls: true}}
	follows  = []expr.Piece{{Strict: true, Even: true}}
	zero     = types.NewInt(0)
	plusOne  = types.NewInt(1)
	minusOne = types.NewInt(-1)
)

// allPieces returns Algebra.Pieces for pieces that are the same for all calls.
func allPieces(p []expr.Piece) func(*expr.Call, types.Interval) []expr.Piece {
	return func(*expr.Call, types.Interval) []expr.Piece { return p }
}
