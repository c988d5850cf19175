package functions

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// A grid numbers the cells of a plane along a Z-order curve: the bits of two coordinates take turns, from the highest
// on, and the second argument's come first.
type grid struct {
	bits  func(size int64) (total int)                      // the number of bits of a cell's number; size is the third argument
	cell  func(arg, bits int, v types.Value) (int64, error) // v's place along the axis of argument arg; with an error, the nearest
	value func(n, size int64) types.Value                   // the result for the cell with number n
}

// maxCells bounds the number of ranges of cells that cover a rectangle of the plane.
const maxCells = 64

// shares returns how many of the highest n bits of a cell's number come from the first and from the second argument.
func shares(n int) [2]int { return [2]int{n / 2, (n + 1) / 2} }

func (g *grid) eval(_ *expr.Env, a []types.Value) (types.Value, error) {
	total := g.bits(a[2].Int())
	left := shares(total)
	var at [2]int64
	for i := range at {
		var err error
		if at[i], err = g.cell(i, left[i], a[i]); err != nil {
			return types.Value{}, err
		}
	}
	n := int64(0)
	for bit := range total {
		i := 1 - bit%2
		left[i]--
		n = n<<1 | at[i]>>left[i]&1
	}
	return g.value(n, a[2].Int()), nil
}

// box is the Algebra.Box of a grid: it returns the cells in which both coordinates may lie in their sets.
func (g *grid) box(c *expr.Call, in []types.Set) (types.Set, bool) {
	size, _ := c.ConstInt(2)
	total := g.bits(size)
	var wanted [2][]span
	for i, bits := range shares(total) {
		for _, iv := range in[i] {
			s := span{0, 1<<bits - 1}
			most, below, above := s.hi, error(nil), error(nil)
			if !iv.Lo.IsNull() {
				s.lo, above = g.cell(i, bits, iv.Lo)
			}
			if !iv.Hi.IsNull() {
				s.hi, below = g.cell(i, bits, iv.Hi)
			}
			if (above == nil || s.lo < most) && (below == nil || s.hi > 0) {
				wanted[i] = append(wanted[i], s)
			}
		}
		if n := len(wanted[i]); n > maxCells {
			wanted[i] = []span{{wanted[i][0].lo, wanted[i][n-1].hi}}
		}
	}
	var out []types.Interval
	for _, s := range cover(wanted, total) {
		out = append(out, types.Interval{Lo: g.value(s.lo, size), Hi: g.value(s.hi, size)})
	}
	return types.SetOf(out...), !in[0].IsAll() || !in[1].IsAll()
}

// half is a part of the plane that results from halving it several times. n has the first bits of the numbers of its
// cells, and at the first bits of their coordinates.
type half struct {
	n  int64
	at [2]int64
}

// cover returns at most maxCells ranges of cells that contain all wanted cells; wanted has the ranges of both
// coordinates. It halves the plane again and again, as the curve does.
func cover(wanted [2][]span, total int) (out []span) {
	some, bit := []half{{}}, 0 // the parts that contain wanted cells and others
	for ; bit < total && len(some) > 0 && len(out)+2*len(some) <= maxCells; bit++ {
		var next []half
		for _, h := range some {
			for b := range int64(2) {
				to := half{h.n<<1 | b, h.at}
				to.at[1-bit%2] = to.at[1-bit%2]<<1 | b
				if touches, whole := to.meets(wanted, bit+1, total); whole {
					out = append(out, cells(to.n, total-bit-1))
				} else if touches {
					next = append(next, to)
				}
			}
		}
		some = next
	}
	for _, h := range some {
		out = append(out, cells(h.n, total-bit))
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	joined := out[:0]
	for _, s := range out {
		if n := len(joined); n > 0 && joined[n-1].hi+1 == s.lo {
			joined[n-1].hi = s.hi
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// cells returns the range of the numbers that consist of the bits of n and more further bits.
func cells(n int64, more int) span { return span{n << more, (n+1)<<more - 1} }

// meets reports whether h contains wanted cells (touches), and whether it contains only wanted ones (whole). known is
// the number of bits of h.n, total the number of bits of a cell's number.
func (h *half) meets(wanted [2][]span, known, total int) (touches, whole bool) {
	whole = true
	for i, bits := range shares(total) {
		s := cells(h.at[i], bits-shares(known)[i])
		if !slices.ContainsFunc(wanted[i], func(w span) bool { return w.lo <= s.hi && s.lo <= w.hi }) {
			return false, false
		}
		whole = whole && slices.ContainsFunc(wanted[i], func(w span) bool { return w.lo <= s.lo && s.hi <= w.hi })
	}
	return true, whole
}

// function completes f, a function that returns the cell of two coordinates; most is the greatest size that it accepts.
func (g *grid) function(f expr.Function, t types.Type, coordinate class, size string, most int64) expr.Function {
	f.MinArgs, f.MaxArgs, f.Eval = 3, 3, g.eval
	f.Binds = "by ranges of both columns: a key has at most 64 ranges for them"
	f.Result = func(args []expr.Expr) (types.Type, error) {
		if k, ok := args[2].(*expr.Const); !ok || !k.Typ.IsInteger() || k.Val.IsNull() || k.Val.Int() < 1 || k.Val.Int() > most {
			return 0, fmt.Errorf("%s takes a constant number of %s from 1 to %d", f.Name, size, most)
		}
		return returns(t, coordinate)(args)
	}
	f.Key = &expr.Algebra{Arg: expr.NoArg, Box: g.box}
	if t == types.String {
		f.Key.Width = func(c *expr.Call) int { n, _ := c.ConstInt(2); return int(n) }
	}
	return f
}

var zOrder = &grid{bits: func(size int64) int { return 2 * int(size) },
	cell: func(_, bits int, v types.Value) (int64, error) {
		if most := int64(1)<<bits - 1; v.Int() < 0 || v.Int() > most {
			return min(max(v.Int(), 0), most), fmt.Errorf("ZORDER takes numbers from 0 to %d, not %s", most, v.SQL())
		}
		return v.Int(), nil
	},
	value: func(n, _ int64) types.Value { return types.NewInt(n) }}

var geohash = &grid{bits: func(size int64) int { return 5 * int(size) },
	cell: func(arg, bits int, v types.Value) (n int64, err error) {
		d, err := types.Cast(v, types.Double, nil)
		if err != nil {
			return 0, err
		}
		x, hi := d.Double(), []float64{90, 180}[arg]
		if lo := -hi; math.IsNaN(x) || x < lo || x > hi {
			err = errors.New([]string{"GEOHASH takes a latitude from -90 to 90, not ", "GEOHASH takes a longitude from -180 to 180, not "}[arg] + v.SQL())
		}
		for lo := -hi; bits > 0; bits-- {
			mid := (lo + hi) / 2
			if n <<= 1; x < mid {
				hi = mid
			} else { // NaN too, which is greater than all numbers
				n, lo = n|1, mid
			}
		}
		return n, err
	},
	value: func(n, size int64) types.Value {
		text := make([]byte, size)
		for i := range text {
			text[len(text)-1-i] = "0123456789bcdefghjkmnpqrstuvwxyz"[n>>(5*i)&31]
		}
		return types.NewString(string(text))
	}}

var gridFunctions = []expr.Function{
	geohash.function(expr.Function{Name: "GEOHASH", Group: "string", Signature: "geohash(latitude, longitude, n) text",
		Doc: "The geohash of a place, in n characters of its base 32; a place on the border of two cells is in the eastern and the northern one."}, types.String, isNumber, "characters", 12),
	zOrder.function(expr.Function{Name: "ZORDER", Group: "number", Signature: "zorder(x, y, bits) bigint",
		Doc: "The number of a cell along a Z-order (Morton) curve: the lowest bit is that of x, the next one that of y; both are from 0 up to 2^bits."}, types.BigInt, isInt, "bits", 31),
}
