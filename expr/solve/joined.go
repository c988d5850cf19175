package solve

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// joint is one way in which a call concatenates texts: in rows in which all of nulls are NULL, it concatenates parts.
type joint struct {
	parts     []expr.Expr // constants, never two in a row, and other expressions
	nulls     []expr.Expr
	skipsNull bool
}

// maxSkipped bounds the number of arguments that may be omitted together with their separators.
const maxSkipped = 5

// joined returns the ways in which c concatenates texts: without a separator one way, otherwise one for each choice of
// arguments that are NULL. ok is false if the text of an argument is unknown.
func joined(c *expr.Call) (ways []joint, ok bool) {
	if c.Typ != types.String && c.Typ != types.Bytes {
		return nil, false
	}
	args, separator := c.Args, ""
	if c.Func.Joins.Separated {
		k, constant := args[0].(*expr.Const)
		if !constant || k.Val.IsNull() {
			return nil, false
		}
		args, separator = args[1:], k.Val.Text()
	}
	if args, ok = textsOf(c, args); !ok {
		return nil, false
	}
	if separator == "" {
		return []joint{{parts: spaced(c, args, ""), skipsNull: c.Func.Joins.SkipsNull}}, true
	}
	var variable []int
	for i, x := range args {
		if _, constant := x.(*expr.Const); !constant {
			variable = append(variable, i)
		}
	}
	if len(variable) > maxSkipped {
		return nil, false
	}
	for nulls := range 1 << len(variable) {
		var way joint
		var here []expr.Expr
		for i, x := range args {
			if at := slices.Index(variable, i); at >= 0 && nulls&(1<<at) > 0 {
				way.nulls = append(way.nulls, x)
			} else {
				here = append(here, x)
			}
		}
		way.parts = spaced(c, here, separator)
		ways = append(ways, way)
	}
	return ways, true
}

// textsOf returns args as texts, without NULL constants, and with the arguments of nested calls of the same function in
// place of the calls.
func textsOf(c *expr.Call, args []expr.Expr) (out []expr.Expr, ok bool) {
	for _, x := range args {
		if in, isCall := x.(*expr.Call); isCall && in.Func == c.Func && in.Typ == c.Typ && !c.Func.Joins.Separated {
			some, ok := textsOf(c, in.Args)
			if !ok {
				return nil, false
			}
			out = append(out, some...)
			continue
		}
		k, constant := x.(*expr.Const)
		t := x.Type()
		switch {
		case constant && k.Val.IsNull():
			if !c.Func.Joins.SkipsNull {
				return nil, false
			}
			continue
		case constant && t != types.String && t != c.Typ && !t.IsInteger(), t == types.Boolean && c.Func.Joins.SkipsNull:
			return nil, false // its text may depend on the time zone; CONCAT takes the first letter of TRUE and FALSE
		case constant && t.IsInteger(), !constant && t != c.Typ:
			x = expr.FoldNode(&expr.Cast{Pos: x.Position(), X: x, Typ: c.Typ}, nil)
		}
		out = append(out, x)
	}
	return out, true
}

// EndsConstant reports whether the text that c concatenates ends with a constant; ok is false if that is unknown.
func EndsConstant(c *expr.Call) (constant, ok bool) {
	ways, ok := joined(c)
	if !ok {
		return false, false
	}
	_, constant = ways[0].parts[len(ways[0].parts)-1].(*expr.Const)
	return constant, true
}

// spaced returns parts with the separator between them; consecutive constants are combined.
func spaced(c *expr.Call, parts []expr.Expr, separator string) (out []expr.Expr) {
	text := func(s string) {
		if n := len(out) - 1; n >= 0 {
			if k, constant := out[n].(*expr.Const); constant {
				s, out = k.Val.Text()+s, out[:n]
			}
		}
		if s != "" {
			out = append(out, &expr.Const{Pos: c.Pos, Val: types.NewTextOf(c.Typ, s), Typ: c.Typ})
		}
	}
	for i, x := range parts {
		if i > 0 {
			text(separator)
		}
		if k, constant := x.(*expr.Const); constant {
			text(k.Val.Text())
		} else {
			out = append(out, x)
		}
	}
	return out
}

// MaxCuts is the greatest length of a constant whose prefixes are all tried; maxJoints bounds the total number of
// prefixes that are tried.
const (
	MaxCuts   = 256
	maxJoints = 1 << 17
)

// join returns the Constraint for texts of type t that are concatenated in one of several ways.
func (f *finder) join(t types.Type, ways []joint, out among) Constraint {
	if outer := f.joining; !outer {
		f.joining, f.most = true, min(f.joints+max(len(out.set), 1)<<10, maxJoints)
		defer func() { f.joining = false }()
	}
	var found []Constraint
	for _, j := range ways {
		found = append(found, allOf(append(f.each(j.nulls, onlyNull), f.joint(t, j, out.set))...))
		if out.null && !j.skipsNull && len(ways) == 1 {
			found = append(found, anyOf(f.each(j.parts, onlyNull)...))
		}
	}
	return anyOf(found...)
}

// joint returns the Constraint that the concatenation of the texts of j, of type t, is in set.
func (f *finder) joint(t types.Type, j joint, set types.Set) Constraint {
	if f.joints++; f.joints > f.most {
		return somewhere
	}
	if len(j.parts) > 0 {
		if k, constant := j.parts[0].(*expr.Const); constant {
			set, j.parts = BehindAll(set, t, k.Val.Text()), j.parts[1:]
		}
	}
	empty := types.NewTextOf(t, "")
	switch {
	case set.IsEmpty():
		return nowhere
	case len(j.parts) == 0 && set.Contains(empty):
		return everywhere
	case len(j.parts) == 0:
		return nowhere
	}
	x := j.parts[0]
	j.parts = j.parts[1:]
	if len(j.parts) == 1 {
		if k, constant := j.parts[0].(*expr.Const); constant {
			set, j.parts = before(set, t, k.Val.Text()), nil
		}
	}
	if len(j.parts) == 0 {
		return f.where(x, among{set: set, null: j.skipsNull && set.Contains(empty)})
	}
	present := everywhere // the Constraint for the parts after x
	if !j.skipsNull {
		present = allOf(f.each(j.parts, notNull)...)
	}
	if set.IsAll() {
		return allOf(f.where(x, among{set: set, null: j.skipsNull}), present)
	}
	if set[0].Lo.IsNull() && set[len(set)-1].Hi.IsNull() { // set excludes only a few values, and so restricts no key
		return allOf(f.where(x, among{set: types.All(), null: j.skipsNull}), present, somewhere)
	}
	var found []Constraint
	for _, iv := range set {
		cuts, apart, ok := cutsOf(iv, t)
		if !ok {
			return somewhere
		}
		for _, p := range cuts {
			if rest, ok := behind(iv, t, p); ok {
				first := f.where(x, among{set: types.Points(types.NewTextOf(t, p)), null: j.skipsNull && p == ""})
				if first.Kind == One && !first.Null && f.Columns != nil { // it may help with other parts of the same text
					w := f.given([]Constraint{first})
					found = append(found, allOf(first, f.joint(t, j, types.SetOf(rest))))
					f.Solver = w.outer
				} else if !first.IsNowhere() {
					found = append(found, allOf(first, f.joint(t, j, types.SetOf(rest))))
				}
			}
		}
		found = append(found, allOf(f.where(x, among{set: apart}), present))
	}
	return anyOf(found...)
}

// cutsOf says for which texts x the text x || y is in iv. If x is one of cuts, the prefixes of the ends of iv, that
// depends on y; for any other x, it is so exactly if x is in apart. ok is false if an end is longer than MaxCuts.
func cutsOf(iv types.Interval, t types.Type) (cuts []string, apart types.Set, ok bool) {
	lo, hi := iv.Lo.Text(), iv.Hi.Text()
	if len(lo) > MaxCuts || len(hi) > MaxCuts {
		return nil, nil, false
	}
	if !iv.Lo.IsNull() {
		for i := range len(lo) + 1 {
			cuts = append(cuts, lo[:i])
		}
	}
	apart = types.SetOf(types.Interval{Lo: iv.Lo, LoOpen: true, Hi: iv.Hi, HiOpen: true})
	if !iv.Hi.IsNull() && !iv.IsPoint() {
		var ends []types.Value
		for i := range len(hi) + 1 {
			if ends = append(ends, types.NewTextOf(t, hi[:i])); iv.Lo.IsNull() || !strings.HasPrefix(lo, hi[:i]) {
				cuts = append(cuts, hi[:i])
			}
		}
		apart = apart.Intersect(types.Points(ends...).Complement())
	}
	return cuts, apart, true
}

// before returns the texts x of type t for which x || after is in set.
func before(set types.Set, t types.Type, after string) types.Set {
	if after == "" {
		return set
	}
	var ivs []types.Interval
	for _, iv := range set {
		if iv.IsPoint() {
			if s, ok := strings.CutSuffix(iv.Lo.Text(), after); ok {
				ivs = append(ivs, types.Point(types.NewTextOf(t, s)))
			}
			continue
		}
		s := types.All()
		if !iv.Lo.IsNull() {
			s = extended(t, iv.Lo.Text(), after, iv.LoOpen)
		}
		if !iv.Hi.IsNull() {
			s = s.Intersect(extended(t, iv.Hi.Text(), after, !iv.HiOpen).Complement())
		}
		ivs = append(ivs, s...)
	}
	return types.SetOf(ivs...)
}

// extended returns the x for which x || after is at least k or, if open, greater than k: those that are greater than k
// themselves, and prefixes of k that after extends far enough.
func extended(t types.Type, k, after string, open bool) types.Set {
	ivs := []types.Interval{{Lo: types.NewTextOf(t, k), LoOpen: true}}
	for i := range len(k) + 1 {
		if c := strings.Compare(after, k[i:]); c > 0 || c == 0 && !open {
			ivs = append(ivs, types.Point(types.NewTextOf(t, k[:i])))
		}
	}
	return types.SetOf(ivs...)
}

// BehindAll returns the texts x for which before || x is in set.
func BehindAll(set types.Set, t types.Type, before string) types.Set {
	ivs := make([]types.Interval, 0, len(set))
	for _, iv := range set {
		if iv, ok := behind(iv, t, before); ok {
			ivs = append(ivs, iv)
		}
	}
	return types.SetOf(ivs...)
}

// behind returns the interval of the x for which before || x is in iv; ok is false if it is empty.
func behind(iv types.Interval, t types.Type, before string) (out types.Interval, ok bool) {
	if !iv.Lo.IsNull() {
		lo := iv.Lo.Text()
		if s, ok := strings.CutPrefix(lo, before); ok {
			out.Lo, out.LoOpen = types.NewTextOf(t, s), iv.LoOpen
		} else if before < lo {
			return out, false
		}
	}
	if !iv.Hi.IsNull() {
		hi := iv.Hi.Text()
		if s, ok := strings.CutPrefix(hi, before); ok {
			out.Hi, out.HiOpen = types.NewTextOf(t, s), iv.HiOpen
		} else if before > hi {
			return out, false
		}
	}
	return out, true
}
