package solve

import (
	"cmp"
	"slices"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// The functions in this file describe how the values of a key part, an expression e of column col, depend on the column.
// If e has other columns, too, they return "unknown".

// MaxListed bounds the number of values that are evaluated one by one to find an image.
const MaxListed = 4096

// Stored describes the values of an expression that an encoding can hold: those in In (NULL: unbounded), and texts of at
// most Width bytes (0: unbounded). No key has other values.
type Stored struct {
	In    types.Interval
	Width int
}

// along returns the chain from e down to column col; its last link is stored.
func along(e expr.Expr, col int, stored Stored) (*chain, bool) {
	c, inner, ok := newChain(e, func(x expr.Expr) bool { _, is := x.(*expr.Column); return is })
	if !ok {
		return nil, false
	}
	of, isCol := inner.(*expr.Column)
	if c.links = append(c.links, link{stored: &stored}); !isCol || of.Index != col {
		return nil, false
	}
	return c, true
}

// Image returns the storable values of e for the values of column col in in.
func Image(e expr.Expr, col int, in types.Set, stored Stored) (types.Set, bool) {
	if c, ok := e.(*expr.Column); ok {
		return in, c.Index == col
	}
	if len(in) <= MaxListed && in.IsList() {
		vs, _ := in.Values(MaxListed)
		return imageOf(e, col, vs)
	}
	if c, ok := along(e, col, stored); ok {
		if s, ok := c.image(in); ok {
			return s, true
		}
	}
	if call, ok := e.(*expr.Call); ok {
		if arg, a, ok := algebraOf(call); ok {
			if sub, ok := Image(arg, col, in, Stored{}); ok {
				if out, ok := callImage(a, call, sub); ok {
					return out, true
				}
			}
		}
	}
	if arg, ok := piecewise(e); ok && arg.Type() != types.Double && arg.Type() != types.Float {
		if sub, ok := Image(arg, col, in, Stored{}); ok {
			l := newLink(e)
			return l.over(sub)
		}
	}
	return nil, false
}

// listed is Image, with a fallback for few values: it evaluates e for each value in in.
func listed(e expr.Expr, col int, in types.Set) (types.Set, bool) {
	if s, ok := Image(e, col, in, Stored{}); ok {
		return s, true
	}
	if vs, ok := in.Values(MaxListed); ok {
		return imageOf(e, col, vs)
	}
	return nil, false
}

// imageOf evaluates e for each value of column col. It omits values for which e fails, since these cannot be stored.
func imageOf(e expr.Expr, col int, vs []types.Value) (types.Set, bool) {
	if cols := expr.Columns(e); len(cols) != 1 || cols[0] != col || expr.UsesLookup(e) || expr.Draw(e) != nil {
		return nil, false
	}
	env, out := expr.Env{Row: make([]types.Value, col+1), Loc: zoneOf(e)}, make([]types.Value, 0, len(vs))
	for _, v := range vs {
		env.Row[col] = v
		if r, err := e.Eval(&env); err == nil && !r.IsNull() {
			out = append(out, r)
		}
	}
	return types.Points(out...), true
}

// zoneOf returns the time zone of the casts in e; nil for UTC.
func zoneOf(e expr.Expr) *time.Location {
	if c, ok := e.(*expr.Cast); ok && c.Zone != nil && c.Zone != time.UTC {
		return c.Zone
	}
	for _, x := range expr.Children(e) {
		if z := zoneOf(x); z != nil {
			return z
		}
	}
	return nil
}

// Step is a value of an expression, with the values of its column for which the expression has that value.
type Step struct {
	Value types.Value
	Of    types.Set
}

// Steps returns the values of e, which rises or falls with column col, for the column's values in in. ok is false if there
// are more than limit, or if they are unknown.
//
//	DATE(ts), ts from noon of May 1 to noon of May 2     May 1 with ts from noon on, May 2 with ts up to noon
func Steps(e expr.Expr, col int, in types.Set, limit int) (steps []Step, ok bool) {
	if slices.ContainsFunc(in, func(iv types.Interval) bool { return iv.Lo.IsNull() || iv.Hi.IsNull() }) {
		return nil, false
	}
	c, ok := along(e, col, Stored{})
	if !ok || len(c.apart) > 0 || !c.through(in) || len(c.rest) > 0 || len(c.mixed) > 0 {
		return nil, false
	}
	n := len(c.links)
	slices.SortFunc(c.runs, func(a, b run) int { return cmp.Compare(a.lo, b.lo) })
	width := int64(0)
	for _, r := range c.runs {
		for x := r.lo; ; {
			v, ok := c.eval(n, x)
			if !ok || len(steps) == limit {
				return nil, false
			}
			same := func(y int64) bool {
				w, ok := c.eval(n, y)
				d, err := types.Compare(v, w)
				return ok && err == nil && d == 0
			}
			end := r.hi
			switch guess := types.AddClamp(x, width-1); { // as wide as the previous step
			case same(end):
			case width > 0 && guess < end && same(guess) && !same(guess+1):
				end = guess
			default:
				end = last(x, end, same)
			}
			width = types.AddClamp(types.SubClamp(end, x), 1)
			of := types.SetOf(types.Interval{Lo: c.value(x), Hi: c.value(end)})
			if k := len(steps) - 1; k >= 0 && steps[k].Value.Identical(v) {
				steps[k].Of = steps[k].Of.Union(of)
			} else {
				steps = append(steps, Step{v, of})
			}
			if end == r.hi {
				break
			}
			// Steps have similar widths, so the last width predicts how many remain. Give up early if these are more than twice
			// the limit.
			if len(steps) > 2 && (float64(r.hi)-float64(end))/float64(width) > 2*float64(limit) {
				return nil, false
			}
			x = end + 1
		}
	}
	return steps, true
}

// Bins returns the values of Steps.
func Bins(e expr.Expr, col int, in types.Set, limit int) ([]types.Value, bool) {
	steps, ok := Steps(e, col, in, limit)
	if !ok {
		return nil, false
	}
	vs := make([]types.Value, len(steps))
	for i, s := range steps {
		vs[i] = s.Value
	}
	return types.Points(vs...).Values(limit)
}

// Coarser looks inside e for subexpressions that depend on column col alone, and through which all uses of col in e pass:
// the day of a moment inside a hash of that day. It returns the Steps of the one that has the fewest values while col is
// in in. It returns none if each has more than limit.
//
//	LEFT(MD5(u || TO_CHAR(ts, 'YYYYMMDD')), 4), ts in a week     seven steps, of TO_CHAR(ts, 'YYYYMMDD')
func Coarser(e expr.Expr, col int, in types.Set, limit int) (fewest []Step) {
	for e != nil {
		if cols := expr.Columns(e); len(cols) == 1 && cols[0] == col && limit > 0 {
			if steps, ok := Steps(e, col, in, limit); ok {
				fewest, limit = steps, len(steps)-1
			}
		}
		var next expr.Expr
		for _, x := range expr.Children(e) {
			switch {
			case !slices.Contains(expr.Columns(x), col):
			case next != nil && !expr.Same(next, x):
				return fewest
			default:
				next = x
			}
		}
		e = next
	}
	return fewest
}

// Monotone returns +1 if e does not fall as column col rises, -1 if it does not rise, and 0 if that is unknown; it
// considers only storable values. strict reports that e differs for different values of the column.
func Monotone(e expr.Expr, col int, stored Stored) (dir int, strict bool) {
	if c, ok := e.(*expr.Column); ok {
		if c.Index == col {
			return 1, true
		}
		return 0, false
	}
	if c, ok := along(e, col, stored); ok {
		return c.slope()
	}
	arg, ok := piecewise(e)
	if !ok {
		return 0, false
	}
	l := newLink(e)
	switch p := l.pieces(types.Interval{}); {
	case len(p) != 1 || p[0] != (expr.Piece{Falls: p[0].Falls, Even: p[0].Even, Strict: p[0].Strict}):
		return 0, false
	default:
		dir, strict = Monotone(arg, col, Stored{})
		if p[0].Falls {
			dir = -dir
		}
		return dir, strict && p[0].Strict
	}
}

// Injective reports whether different values of column col give different values of e.
func Injective(e expr.Expr, col int, stored Stored) bool {
	if dir, strict := Monotone(e, col, stored); dir != 0 {
		return strict
	}
	if e, ok := e.(*expr.Call); ok {
		arg, a, ok := algebraOf(e)
		return ok && a.Injective != nil && a.Injective(e) && Injective(arg, col, Stored{})
	}
	return false
}

// Domain returns all values that e can have for any values of its columns.
func Domain(e expr.Expr) (types.Set, bool) {
	switch e := e.(type) {
	case *expr.Const:
		return types.Points(e.Val), !e.Val.IsNull()
	case *expr.Column:
		if e.Typ == types.Boolean {
			return types.Points(types.NewBool(false), types.NewBool(true)), true
		}
		return nil, false
	case *expr.Call:
		if a := e.Func.Key; a != nil && a.Domain != nil {
			if s, ok := a.Domain(e); ok {
				return s, true
			}
		}
		if e.Func.Volatile || expr.UsesLookup(e) {
			return nil, false
		}
	}
	if s, ok := spelled(e); ok {
		return s, true
	}
	var args []arg
	for _, x := range expr.Children(e) {
		_, isConst := x.(*expr.Const)
		if !isConst && !slices.ContainsFunc(args, func(a arg) bool { return expr.Same(a.x, x) }) {
			s, ok := Domain(x)
			args = append(args, arg{x, s, ok})
		}
	}
	if s, ok := combined(e, args); ok || len(args) != 1 {
		return s, ok
	}
	in := args[0]
	if x, ok := piecewise(e); ok && in.ok && expr.Same(x, in.x) {
		if c, _, ok := newChain(e, func(expr.Expr) bool { return true }); ok {
			if s, ok := c.image(in.domain); ok && !s.IsAll() {
				return s, true
			}
		}
	}
	if e, ok := e.(*expr.Call); ok {
		if _, a, ok := algebraOf(e); ok {
			if !in.ok {
				in.domain = types.All()
			}
			if s, ok := callImage(a, e, in.domain); ok && !s.IsAll() {
				return s, true
			}
		}
	}
	return nil, false
}

// arg is an argument of an expression with its Domain.
type arg struct {
	x      expr.Expr
	domain types.Set
	ok     bool
}

// spelled returns the Domain of a text of few characters, each of which has few possible values: the first digits of a
// hash.
func spelled(e expr.Expr) (types.Set, bool) {
	lead := Lead(e)
	if lead.N == 0 || e.Type() != types.String || lead.N != expr.Width(e) {
		return nil, false
	}
	texts := []string{""}
	for range lead.N {
		if len(texts)*len(lead.Chars) > MaxListed {
			return nil, false
		}
		next := make([]string, 0, len(texts)*len(lead.Chars))
		for _, t := range texts {
			for i := range len(lead.Chars) {
				next = append(next, t+lead.Chars[i:i+1])
			}
		}
		texts = next
	}
	vs := make([]types.Value, len(texts))
	for i, t := range texts {
		vs[i] = types.NewString(t)
	}
	return types.Points(vs...), true
}

// combined returns the Domain of an expression whose args have few values each, by evaluating all combinations.
func combined(e expr.Expr, args []arg) (types.Set, bool) {
	domains, ways := make([][]types.Value, len(args)), 1
	for i, a := range args {
		vs, few := a.domain.Values(MaxListed)
		if !a.ok || !few || ways*(len(vs)+1) > MaxListed {
			return nil, false
		}
		if domains[i] = slices.Clone(vs); len(expr.Columns(a.x)) > 0 {
			domains[i] = append(domains[i], types.Value{}) // the argument may be NULL
		}
		ways *= len(domains[i])
	}
	of := expr.Map(e, func(x expr.Expr) expr.Expr {
		if i := slices.IndexFunc(args, func(a arg) bool { return expr.Same(x, a.x) }); i >= 0 {
			return &expr.Column{Pos: x.Position(), Index: i, Typ: x.Type()}
		}
		return x
	})
	env, out := expr.Env{Row: make([]types.Value, len(args)), Loc: zoneOf(e)}, make([]types.Value, 0, ways)
	for way := range ways {
		for i, vs := range domains {
			env.Row[i], way = vs[way%len(vs)], way/len(vs)
		}
		if v, err := of.Eval(&env); err == nil && !v.IsNull() {
			out = append(out, v)
		}
	}
	return types.Points(out...), len(args) > 0
}

// Box returns the values of e, a call with Algebra.Box, for columns whose values are in the sets that in returns. It
// returns false if e is no such call, or if nothing is known.
func Box(e expr.Expr, in func(col int) types.Set) (types.Set, bool) {
	c, ok := e.(*expr.Call)
	if !ok || c.Func.Key == nil || c.Func.Key.Box == nil {
		return nil, false
	}
	sets := make([]types.Set, len(c.Args))
	for i, x := range c.Args {
		sets[i] = types.All()
		if k, ok := x.(*expr.Const); ok && !k.Val.IsNull() {
			sets[i] = types.Points(k.Val)
		} else if cols := expr.Columns(x); len(cols) == 1 && !in(cols[0]).IsAll() {
			if s, ok := Image(x, cols[0], in(cols[0]), Stored{}); ok {
				sets[i] = s
			}
		}
	}
	return c.Func.Key.Box(c, sets)
}

// IsCell reports whether e is a call of a grid function, one with Algebra.Box, whose arguments are columns or
// constants. Such a call maps 1.5 and 1.50 to the same cell of the grid.
func IsCell(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	return ok && c.Func.Key != nil && c.Func.Key.Box != nil && !slices.ContainsFunc(c.Args, func(x expr.Expr) bool { return len(expr.Children(x)) > 0 })
}

// callImage returns the values of c, whose algebra is a, for arguments in in. It uses Image or, if a has no Image,
// Begun.
func callImage(a *expr.Algebra, c *expr.Call, in types.Set) (types.Set, bool) {
	if a.Image != nil {
		return a.Image(c, in)
	}
	if c.Args[c.Argument()].Type() != types.String || len(in) > MaxListed {
		return nil, false
	}
	var all types.Set
	for _, iv := range in {
		if iv.IsPoint() { // values that fail are not stored
			if v, err := c.EvalWith(iv.Lo); err == nil && !v.IsNull() {
				all = append(all, types.Point(v))
			}
			continue
		}
		if a.Begun == nil {
			return nil, false
		}
		p, _ := CommonPrefix(iv)
		s, ok := a.Begun(c, p)
		if !ok {
			return nil, false
		}
		all = append(all, s...)
	}
	return types.SetOf(all...), true
}
