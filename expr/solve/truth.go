package solve

import (
	"slices"
	"strconv"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// The functions in this file find the rows in which an expression has given values: in which a predicate is true, false
// or NULL. The Constraints of NOT, IS TRUE, CASE, COALESCE and the like follow from this.

// among is a set of values: those of set and, if null is set, NULL.
type among struct {
	set  types.Set
	null bool
}

var (
	notNull  = among{set: types.All()}
	onlyNull = among{null: true}
	onlyTrue = among{set: types.Points(types.NewBool(true))}
)

// holds reports whether v is in a.
func (a among) holds(v types.Value) bool {
	if v.IsNull() {
		return a.null
	}
	if len(a.set) > 0 { // its values may have another type
		for _, end := range []types.Value{a.set[0].Lo, a.set[0].Hi} {
			if !end.IsNull() {
				if _, err := types.Compare(end, v); err != nil {
					return true
				}
			}
		}
	}
	return a.set.Contains(v)
}

// truths reports which of TRUE, FALSE and NULL are in a, the values of a condition.
func (a among) truths() (t, f, n bool) {
	if len(a.set) == 1 && a.set[0].IsPoint() {
		t = a.set[0].Lo.Bool()
		return t, !t, a.null
	}
	return a.set.Contains(types.NewBool(true)), a.set.Contains(types.NewBool(false)), a.null
}

func truthsOf(t, f, n bool) among {
	var ivs []types.Interval
	if t {
		ivs = append(ivs, types.Point(types.NewBool(true)))
	}
	if f {
		ivs = append(ivs, types.Point(types.NewBool(false)))
	}
	return among{set: types.SetOf(ivs...), null: n}
}

// finder finds the rows in which expressions have given values.
type finder struct {
	*Solver
	depth, steps, copied int
	ticks                int // number of expressions for which a Constraint was sought
	// joints counts the prefixes that joint tries; joint gives up when the count exceeds most.
	joints, most int
	joining      bool
}

// maxFinds bounds the work for nested conditionals; an inverted expression counts as inversion steps. maxCopied bounds the
// copies of the conditions of a CASE: each condition occurs in all branches from its own on.
const (
	maxFinds  = 1 << 14
	inversion = 64
	maxCopied = 1 << 17
)

// where returns the Constraint for the rows in which e is in out.
func (f *finder) where(e expr.Expr, out among) Constraint {
	switch {
	case out.set.IsEmpty() && !out.null:
		return nowhere
	case out.set.IsAll() && out.null:
		return everywhere
	}
	if len(f.Parts) > 0 {
		if parts := f.parts(e, out); len(parts) > 0 {
			return either(append(parts, f.deeper(e, out)))
		}
	}
	return f.deeper(e, out)
}

// deeper calls within, counts the depth of these calls, and calls Tick once in a while.
func (f *finder) deeper(e expr.Expr, out among) Constraint {
	f.depth++
	if f.ticks++; f.ticks%64 == 0 && f.Tick != nil {
		f.Tick()
	}
	c := f.within(e, out)
	f.depth--
	return c
}

// within does the work of where, except for key parts that are equal to e.
func (f *finder) within(e expr.Expr, out among) Constraint {
	if f.depth > 8 {
		if f.steps++; f.steps > maxFinds {
			return somewhere
		}
	}
	switch e := e.(type) {
	case *expr.Const:
		if out.holds(e.Val) {
			return everywhere
		}
		return nowhere
	case *expr.Column:
		return f.value(e.Index, out)
	case *expr.Not:
		t, no, n := out.truths()
		return f.where(e.X, truthsOf(no, t, n))
	case *expr.IsNull:
		t, no, _ := out.truths()
		if e.Not {
			t, no = no, t
		}
		switch {
		case t && no:
			return everywhere
		case t:
			return f.where(e.X, onlyNull)
		case no:
			return f.where(e.X, notNull)
		}
		return nowhere
	case *expr.Compare:
		return f.compare(e, out)
	case *expr.In:
		return f.in(e, out)
	case *expr.Like:
		return f.like(e, out)
	case *expr.And:
		t, no, n := out.truths()
		return f.junction(e.Terms, t, no, n, truthsOf)
	case *expr.Or:
		t, no, n := out.truths()
		return f.junction(e.Terms, no, t, n, func(yes, never, null bool) among { return truthsOf(never, yes, null) })
	case *expr.Case:
		return f.branches(e, out)
	case *expr.Cast:
		return f.cast(e, out)
	case *expr.Call:
		if as := reworded(e); as != expr.Expr(e) {
			return f.where(as, out)
		}
		return f.call(e, out)
	}
	return somewhere
}

// branches does the work of where for a CASE: a branch applies if its condition is TRUE and the previous ones are not.
// If there are too many previous conditions, it omits them, so that the Constraint may include rows that do not match.
func (f *finder) branches(e *expr.Case, out among) Constraint {
	var found, before []Constraint
	size := 0
	add := func(cs ...Constraint) {
		if slices.ContainsFunc(cs, func(c Constraint) bool { return c.IsNowhere() }) {
			return
		}
		if f.copied += size; f.copied > maxCopied {
			cs = append(cs, somewhere)
		} else {
			cs = append(cs, before...)
		}
		found = append(found, allOf(cs...))
	}
	for _, w := range e.Whens {
		if f.Tick != nil {
			f.Tick()
		}
		add(f.where(w.Then, out), f.where(w.Cond, onlyTrue))
		not := f.where(w.Cond, truthsOf(false, true, true))
		before, size = append(before, not), size+not.size()
	}
	add(f.where(e.Else, out))
	return anyOf(found...)
}

// junction does the work of where for an AND of terms. The AND may be TRUE if yes is set, FALSE if never is set, and
// NULL if null is set. For an OR the caller exchanges yes and never; truths returns the wanted values of a term.
func (f *finder) junction(terms []expr.Expr, yes, never, null bool, truths func(yes, never, null bool) among) Constraint {
	switch {
	case yes && never && null:
		return everywhere
	case !yes && !never && !null:
		return nowhere
	case yes && never:
		return anyOf(f.junction(terms, true, false, false, truths), f.junction(terms, false, true, false, truths))
	case yes:
		if want := truths(true, false, null); null || !want.holds(types.NewBool(true)) {
			return allOf(f.each(terms, want)...)
		}
		return allOf(f.conjunction(terms)...)
	case never:
		return anyOf(f.each(terms, truths(false, true, null))...)
	}
	return allOf(allOf(f.each(terms, truths(true, false, true))...), anyOf(f.each(terms, truths(false, false, true))...))
}

// each applies where to each of xs.
func (f *finder) each(xs []expr.Expr, out among) []Constraint {
	cs := make([]Constraint, len(xs))
	for i, x := range xs {
		cs[i] = f.where(x, out)
	}
	return cs
}

// opaque does the work of where for an unknown function of xs; strict reports that the function is NULL exactly if one
// of xs is NULL.
func (f *finder) opaque(xs []expr.Expr, strict bool, typ types.Type, out among) Constraint {
	some := out.set.IsAll() || typ == types.Boolean && out.set.Contains(types.NewBool(true)) && out.set.Contains(types.NewBool(false))
	switch {
	case out.null && out.set.IsEmpty() && strict:
		return anyOf(f.each(xs, onlyNull)...)
	case out.null:
		return somewhere
	}
	return allOf(f.each(xs, notNull)...).but(some && strict)
}

func (f *finder) compare(e *expr.Compare, out among) Constraint {
	if x, ok := e.X.(*expr.Column); ok && expr.Same(x, e.Y) && !x.Typ.IsJSON() { // a value equals itself
		t, no, n := out.truths()
		of := among{null: n}
		if e.Op.Holds(0) && t || !e.Op.Holds(0) && no {
			of.set = types.All()
		}
		return f.where(x, of)
	}
	k, isConst := e.Y.(*expr.Const)
	if !isConst || !k.Val.IsNull() && mixed(e.X.Type(), k.Val) {
		is := f.opaque([]expr.Expr{e.X, e.Y}, true, types.Boolean, out)
		if t, no, n := out.truths(); t && !no && !n && !isConst {
			is = allOf(is, f.beside(e.X, e.Op, e.Y), f.beside(e.Y, e.Op.Flip(), e.X))
		}
		return is
	}
	if k.Val.IsNull() {
		return f.where(k, out)
	}
	t, no, n := out.truths()
	of := among{null: n}
	switch {
	case t && no:
		of.set = types.All()
	case t:
		of.set = compareSet(e.Op, k.Val, e.X.Type())
	case no:
		of.set = compareSet(e.Op.Negate(), k.Val, e.X.Type())
	}
	return f.where(e.X, of)
}

// beside returns the Constraint on x that follows from x op y and from the values that y can have.
//
//	k + 1 = g, g IN (2, 3)      k + 1 IN (2, 3)
//	k < g * 2, g <= 10          k < 20
func (f *finder) beside(x expr.Expr, op expr.CompareOp, y expr.Expr) Constraint {
	ys := f.among(y)
	if ys.IsAll() || ys.IsEmpty() || op == expr.NE || len(ys) > MaxListed || len(expr.Columns(x)) == 0 {
		return everywhere
	}
	if op != expr.EQ {
		ys = types.Set{{Lo: ys[0].Lo, LoOpen: ys[0].LoOpen, Hi: ys[len(ys)-1].Hi, HiOpen: ys[len(ys)-1].HiOpen}}
	}
	above, below := op == expr.EQ || op == expr.GT || op == expr.GE, op == expr.EQ || op == expr.LT || op == expr.LE
	var xs []types.Interval
	for _, iv := range ys {
		of := types.All()
		for _, end := range []struct {
			v         types.Value
			has, open bool
			op, next  expr.CompareOp
		}{{iv.Lo, above, iv.LoOpen || op == expr.GT, expr.GE, expr.GT}, {iv.Hi, below, iv.HiOpen || op == expr.LT, expr.LE, expr.LT}} {
			switch {
			case !end.has || end.v.IsNull():
				continue
			case mixed(x.Type(), end.v):
				return everywhere
			case end.open:
				end.op = end.next
			}
			of = of.Intersect(compareSet(end.op, end.v, x.Type()))
		}
		xs = append(xs, of...)
	}
	return f.where(x, among{set: types.SetOf(xs...)}).but(false)
}

func (f *finder) in(e *expr.In, out among) Constraint {
	t, no, n := out.truths()
	if e.Not {
		t, no = no, t
	}
	listed, ok := inSet(e)
	if !ok {
		return f.opaque([]expr.Expr{e.X}, !e.HasNull, types.Boolean, out)
	}
	others := no && !e.HasNull || n && e.HasNull // rows in which X is not in the list are wanted
	of := among{null: n}
	switch {
	case t && others:
		of.set = types.All()
	case t:
		of.set = listed
	case others:
		of.set = listed.Complement()
	}
	return f.where(e.X, of)
}

// inSet returns the values in e's list.
func inSet(e *expr.In) (types.Set, bool) {
	s := make([]types.Interval, 0, len(e.List))
	t := e.X.Type()
	lo, hi := types.IntRange(t)
	for _, v := range e.List {
		if mixed(t, v) {
			return nil, false
		}
		switch { // like compareSet, for speed: a list may be long
		case t.IsInteger() && v.Type().IsInteger():
			if i := v.Int(); i >= lo && i <= hi {
				s = append(s, types.Point(types.NewIntOf(t, i)))
			}
		case t == v.Type():
			s = append(s, types.Point(v))
		default:
			s = append(s, compareSet(expr.EQ, v, t)...)
		}
	}
	return types.SetOf(s...), true
}

func (f *finder) like(e *expr.Like, out among) Constraint {
	if e.Fixed == nil || e.X.Type() != types.String {
		return f.opaque([]expr.Expr{e.X, e.Pattern}, true, types.Boolean, out)
	}
	t, no, n := out.truths()
	if e.Not {
		t, no = no, t
	}
	lit, whole, tail := e.Fixed.Prefix()
	iv := types.PrefixInterval(types.String, lit)
	if whole {
		iv = types.Point(types.NewString(lit))
	}
	x := e.X
	if e.Lower != nil {
		x = lowered(e)
	}
	exact := whole || tail
	set, sure := WhereTrue(types.SetOf(iv), exact, t, no)
	is := f.where(x, among{set: set, null: n}).but(sure)
	if t && !no && !n && !exact && !e.Not {
		if c, ok := x.(*expr.Cast); ok && c.X.Type().IsInteger() {
			if n, blank := e.Fixed.Characters(); n > 0 { // 12_ begins with 12 and has three digits
				return allOf(f.where(x, among{set: set}).but(blank), f.where(c.X, among{set: ofLength(n, c.X.Type())}))
			}
		}
		return either(append([]Constraint{is}, f.ending(x, e.Fixed)...))
	}
	return is
}

// ofLength returns the integers of type t whose texts have n characters.
func ofLength(n int, t types.Type) types.Set {
	var out []types.Interval
	first, last := types.IntRange(t)
	for least, most := range SameDigits {
		if least, most = max(least, first), min(most, last); least <= most && len(strconv.FormatInt(least, 10)) == n {
			out = append(out, types.IntInterval(t, least, most))
		}
	}
	return types.SetOf(out...)
}

// WhereTrue returns the values of an argument for which a condition on it is TRUE (t) or FALSE (no). The condition is
// TRUE only for values in set; exact reports that it is TRUE for all of them.
func WhereTrue(set types.Set, exact, t, no bool) (types.Set, bool) {
	switch {
	case t && no:
		return types.All(), true
	case t:
		return set, exact
	case no && exact:
		return set.Complement(), true
	case no:
		return types.All(), false
	}
	return nil, true
}

func (f *finder) cast(e *expr.Cast, out among) Constraint {
	if e.X.Type() == types.Boolean {
		return f.ofBoolean(e.X, false, out, func(v types.Value) (types.Value, error) { return types.Cast(v, e.Typ, nil) })
	}
	return f.invert(e, 0, true, out)
}

// invert does the work of where for a call or cast in which only the argument at is not constant; strict reports that
// the call is NULL exactly if that argument is NULL.
func (f *finder) invert(e expr.Expr, at int, strict bool, out among) Constraint {
	if all, ok := Domain(e); ok {
		switch {
		case all.SubsetOf(out.set):
			out.set = types.All()
		case all.Intersect(out.set).IsEmpty() && !out.null:
			return nowhere
		case all.Intersect(out.set).IsEmpty():
			out.set = nil
		}
	}
	if out.set.IsEmpty() || out.set.IsAll() || out.null && !strict {
		return f.opaque(expr.Children(e), strict, e.Type(), out)
	}
	if f.depth > 5 {
		if f.steps += inversion; f.steps > maxFinds {
			return somewhere
		}
	}
	x, pre, exact, ok := inverse(e, out.set, f.limits)
	if c, isCall := e.(*expr.Call); isCall && at >= 0 && at < len(c.Args) && !(ok && exact) {
		if some, sure, few := f.tried(c, at, out.set); few {
			x, pre, exact, ok = c.Args[at], some, sure, true
		}
	}
	if !ok || !exact && pre.IsAll() {
		if c, ok := f.ends(e, out); ok {
			return c
		}
	}
	if !ok {
		return f.opaque(expr.Children(e), strict, e.Type(), out)
	}
	return f.where(x, among{set: pre, null: out.null}).but(exact)
}

// ofBoolean does the work of where for a function eval of a condition x. nulls reports that eval is also called for
// NULL; otherwise the result for NULL is NULL.
func (f *finder) ofBoolean(x expr.Expr, nulls bool, out among, eval func(types.Value) (types.Value, error)) Constraint {
	is := func(v types.Value) bool {
		if v.IsNull() && !nulls {
			return out.null
		}
		w, err := eval(v)
		return err == nil && out.holds(w)
	}
	return f.where(x, truthsOf(is(types.NewBool(true)), is(types.NewBool(false)), is(types.Value{})))
}

func (f *finder) call(e *expr.Call, out among) Constraint {
	switch {
	case e.Func.Volatile && !e.Func.NullArgs:
		return f.opaque(e.Args, false, e.Typ, out)
	case e.Func.Volatile:
		return somewhere
	case e.Func.Key != nil && e.Func.Key.Present != nil && (out.set.IsAll() || out.set.IsEmpty()):
		return f.where(e.Func.Key.Present(e), truthsOf(out.set.IsAll(), out.null, out.null))
	case e.Func.First:
		var found []Constraint
		rest := everywhere
		for _, x := range e.Args {
			found = append(found, allOf(rest, f.where(x, among{set: out.set})))
			rest = allOf(rest, f.where(x, onlyNull))
		}
		if out.null {
			found = append(found, rest)
		}
		return anyOf(found...)
	case e.Func.Extreme != 0:
		return f.extreme(e.Args, out, e.Func.Extreme)
	case e.Func.Joins != nil:
		if ways, ok := joined(e); ok {
			return f.join(e.Typ, ways, out)
		}
	}
	if len(e.Args) == 0 {
		return somewhere
	}
	at := -1 // the index of the argument that is not constant
	for i, x := range e.Args {
		k, constant := x.(*expr.Const)
		switch {
		case !constant && at >= 0:
			at = len(e.Args)
		case !constant:
			at = i
		case k.Val.IsNull() && !e.Func.NullArgs:
			return f.where(k, out)
		}
	}
	if at >= 0 && at < len(e.Args) && e.Args[at].Type() == types.Boolean {
		return f.ofBoolean(e.Args[at], e.Func.NullArgs, out, func(v types.Value) (types.Value, error) { return e.EvalAt(at, v) })
	}
	if e.Func.NullArgs {
		return somewhere
	}
	if a := e.Func.Key; at == len(e.Args) && at == 2 && a != nil && a.Side != nil && f.Window != nil && !out.null && !expr.Same(e.Args[0], e.Args[1]) {
		return f.sides(e, out.set)
	}
	if a := e.Func.Key; at == 0 && a != nil && a.WithoutEnd != nil && f.Columns != nil {
		if col, ok := e.Args[0].(*expr.Column); ok && f.Columns.NoBlankEnd(col.Index) {
			if x, ok := a.WithoutEnd(e); ok {
				return f.where(x, out)
			}
		}
	}
	return f.invert(e, at, e.Func.Strict, out)
}

// sides returns the Constraint for the rows in which e, a call of two arguments, is in out. The values of each argument
// limit the values of the other one.
func (f *finder) sides(e *expr.Call, out types.Set) Constraint {
	cs := []Constraint{f.opaque(e.Args, e.Func.Strict, e.Typ, among{set: out})}
	outer := f.Solver
	defer func() { f.Solver = outer }()
	for i, x := range e.Args {
		if s, ok := e.Func.Key.Side(e, i, out, f.among(e.Args[1-i])); ok {
			cs = append(cs, f.where(x, among{set: s}).but(false))
			f.Solver = outer
			f.given(cs)
		}
	}
	return allOf(cs...)
}

// tried returns the values of argument at of c for which c is in out. It evaluates c for each value of the argument;
// the other arguments are constants. ok is false if the argument has too many values.
func (f *finder) tried(c *expr.Call, at int, out types.Set) (pre types.Set, exact, ok bool) {
	if c.Func.NullArgs || c.Func.Volatile || expr.UsesLookup(c) {
		return nil, false, false
	}
	in := f.among(c.Args[at])
	if all, ok := Domain(c.Args[at]); ok {
		in = in.Intersect(all)
	}
	vs, few := in.Values(MostPeriods)
	exact = true
	var found []types.Value
	for _, v := range vs {
		r, err := c.EvalAt(at, v)
		if exact = exact && err == nil; err != nil || !r.IsNull() && out.Contains(r) {
			found = append(found, v)
		}
	}
	return types.Points(found...), exact, few
}

// extreme returns the Constraint for the rows in which the greatest of xs (the least if way is -1) is in out. The
// greatest is in an interval if one of xs is, and all others are in the interval extended without its lower bound. For
// the least, the upper bound is dropped instead.
func (f *finder) extreme(xs []expr.Expr, out among, way int) Constraint {
	var found []Constraint
	for _, iv := range out.set {
		in := anyOf(f.each(xs, among{set: types.SetOf(iv)})...)
		if way > 0 {
			iv.Lo, iv.LoOpen = types.Value{}, false
		} else {
			iv.Hi, iv.HiOpen = types.Value{}, false
		}
		found = append(found, allOf(append(f.each(xs, among{set: types.SetOf(iv), null: true}), in)...))
	}
	if out.null {
		found = append(found, allOf(f.each(xs, onlyNull)...))
	}
	return anyOf(found...)
}
