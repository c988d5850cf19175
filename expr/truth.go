package expr

import (
	"slices"

	"github.com/hql-db/hql/types"
)

// The functions here say at which values of its only column an expression has which values: where a predicate is true,
// where it is false and where it is NULL. What NOT, IS TRUE, CASE, COALESCE and the like bind follows from these.

// among are values: those of set, and with null NULL. As an answer it may hold more than the truth, never less;
// exact: it holds just that. Values at which the expression fails may be in it or not.
type among struct {
	set   types.Set
	null  bool
	exact bool
}

var (
	nowhere    = among{exact: true}
	everywhere = among{set: types.All(), null: true, exact: true}
	somewhere  = among{set: types.All(), null: true} // nothing is known
	notNull    = among{set: types.All(), exact: true}
	onlyNull   = among{null: true, exact: true}
	onlyTrue   = among{set: types.Points(trueValue), exact: true}
)

// holds reports whether v is among a.
func (a among) holds(v types.Value) bool {
	if v.IsNull() {
		return a.null
	}
	if len(a.set) > 0 { // its values may be of another type
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

// truths tells which of TRUE, FALSE and NULL are among a, the values of a condition.
func (a among) truths() (t, f, n bool) {
	if len(a.set) == 1 && a.set[0].IsPoint() {
		t = a.set[0].Lo.Bool()
		return t, !t, a.null
	}
	return a.set.Contains(trueValue), a.set.Contains(falseValue), a.null
}

func truthsOf(t, f, n bool) among {
	var ivs []types.Interval
	if t {
		ivs = append(ivs, types.Point(trueValue))
	}
	if f {
		ivs = append(ivs, types.Point(falseValue))
	}
	return among{set: types.SetOf(ivs...), null: n, exact: true}
}

func anyOf(as ...among) among {
	out := among{exact: true}
	sets := make([]types.Set, 0, len(as))
	for _, a := range as {
		sets = append(sets, a.set)
		out.null, out.exact = out.null || a.null, out.exact && a.exact
	}
	if out.set = types.SetOf(slices.Concat(sets...)...); out.set.IsAll() && out.null && slices.ContainsFunc(as, among.everything) {
		out.exact = true
	}
	return out
}

func allOf(as ...among) among {
	out := among{null: true, exact: true}
	sets := make([]types.Set, 0, len(as))
	for _, a := range as {
		sets = append(sets, a.set)
		out.null, out.exact = out.null && a.null, out.exact && a.exact
	}
	if out.set = types.IntersectAll(sets); out.set.IsEmpty() && !out.null {
		out.exact = true // not less than the truth
	}
	return out
}

func (a among) everything() bool { return a.exact && a.null && a.set.IsAll() }

// but makes a inexact unless exact.
func (a among) but(exact bool) among {
	a.exact = a.exact && exact || !a.null && a.set.IsEmpty()
	return a
}

// finder finds the values of column col at which expressions have given values.
type finder struct {
	col, depth, steps int
	window            types.Set // nil: all; values of the column beyond are of no account
}

// maxFinds bounds the work on conditionals that stand in conditionals, of which what is inverted counts for inversion.
const (
	maxFinds  = 1 << 14
	inversion = 64
)

// where gives the values of the column for which e is among out.
func (f *finder) where(e Expr, out among) among {
	switch {
	case out.set.IsEmpty() && !out.null:
		return nowhere
	case out.set.IsAll() && out.null:
		return everywhere
	}
	f.depth++
	defer func() { f.depth-- }()
	if f.depth > 8 {
		if f.steps++; f.steps > maxFinds {
			return somewhere
		}
	}
	switch e := e.(type) {
	case *Const:
		if out.holds(e.Val) {
			return everywhere
		}
		return nowhere
	case *Column:
		if e.Index == f.col {
			return among{set: out.set, null: out.null, exact: true}
		}
	case *Not:
		t, no, n := out.truths()
		return f.where(e.X, truthsOf(no, t, n))
	case *IsNull:
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
	case *Compare:
		return f.compare(e, out)
	case *In:
		return f.in(e, out)
	case *Like:
		return f.like(e, out)
	case *And:
		t, no, n := out.truths()
		return f.junction(e.Terms, t, no, n, func(yes, never, null bool) among { return truthsOf(yes, never, null) })
	case *Or:
		t, no, n := out.truths()
		return f.junction(e.Terms, no, t, n, func(yes, never, null bool) among { return truthsOf(never, yes, null) })
	case *Case:
		var found []among
		rest := everywhere
		for _, w := range e.Whens {
			found = append(found, allOf(rest, f.where(w.Cond, onlyTrue), f.where(w.Then, out)))
			rest = allOf(rest, f.where(w.Cond, truthsOf(false, true, true)))
		}
		return anyOf(append(found, allOf(rest, f.where(e.Else, out)))...)
	case *Cast:
		return f.cast(e, out)
	case *Call:
		return f.call(e, out)
	}
	return somewhere
}

// junction is where for an AND of terms that is to be TRUE (yes), FALSE (never) or NULL. For an OR the two change places, and
// truths makes what is wanted of a term of them.
func (f *finder) junction(terms []Expr, yes, never, null bool, truths func(yes, never, null bool) among) among {
	each := func(want among) []among {
		out := make([]among, len(terms))
		for i, t := range terms {
			out[i] = f.where(t, want)
		}
		return out
	}
	switch {
	case yes && never && null:
		return everywhere
	case !yes && !never && !null:
		return nowhere
	case yes && never:
		return anyOf(f.junction(terms, true, false, false, truths), f.junction(terms, false, true, false, truths))
	case yes:
		return allOf(each(truths(true, false, null))...)
	case never:
		return anyOf(each(truths(false, true, null))...)
	}
	return allOf(allOf(each(truths(true, false, true))...), anyOf(each(truths(false, false, true))...))
}

// opaque is where for what is computed of xs in a way that is not known; strict: it is NULL where one of xs is, and nowhere else.
func (f *finder) opaque(xs []Expr, strict bool, typ types.Type, out among) among {
	some := out.set.IsAll() || typ == types.Boolean && out.set.Contains(trueValue) && out.set.Contains(falseValue)
	switch {
	case out.null && out.set.IsEmpty() && strict:
		nulls := make([]among, len(xs))
		for i, x := range xs {
			nulls[i] = f.where(x, onlyNull)
		}
		return anyOf(nulls...)
	case out.null:
		return somewhere
	}
	bare := make([]among, len(xs))
	for i, x := range xs {
		bare[i] = f.where(x, notNull)
	}
	return allOf(bare...).but(some && strict)
}

func (f *finder) compare(e *Compare, out among) among {
	k, isConst := e.Y.(*Const)
	if !isConst || !k.Val.IsNull() && mixed(e.X.Type(), k.Val) {
		return f.opaque([]Expr{e.X, e.Y}, true, types.Boolean, out)
	}
	if k.Val.IsNull() {
		return f.where(k, out)
	}
	t, no, n := out.truths()
	of := among{null: n, exact: true}
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

func (f *finder) in(e *In, out among) among {
	t, no, n := out.truths()
	if e.Not {
		t, no = no, t
	}
	listed, ok := inSet(e)
	if !ok {
		return f.opaque([]Expr{e.X}, !e.HasNull, types.Boolean, out)
	}
	others := no && !e.HasNull || n && e.HasNull // what is wanted where X is not in the list
	of := among{null: n, exact: true}
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

// inSet gives the values that are in e's list.
func inSet(e *In) (types.Set, bool) {
	s := make([]types.Interval, 0, len(e.List))
	t := e.X.Type()
	lo, hi := types.IntRange(t)
	for _, v := range e.List {
		if mixed(t, v) {
			return nil, false
		}
		switch { // as compareSet, for a list may be long
		case t.IsInteger() && v.Type().IsInteger():
			if i := v.Int(); i >= lo && i <= hi {
				s = append(s, types.Point(types.NewIntOf(t, i)))
			}
		case t == v.Type():
			s = append(s, types.Point(v))
		default:
			s = append(s, compareSet(EQ, v, t)...)
		}
	}
	return types.SetOf(s...), true
}

func (f *finder) like(e *Like, out among) among {
	if e.Fixed == nil || e.X.Type() != types.String {
		return f.opaque([]Expr{e.X, e.Pattern}, true, types.Boolean, out)
	}
	t, no, n := out.truths()
	if e.Not {
		t, no = no, t
	}
	lit, whole, tail := e.Fixed.Prefix()
	iv := PrefixInterval(lit)
	if whole {
		iv = types.Point(types.NewString(lit))
	}
	matching, exact := types.SetOf(iv), whole || tail
	if e.Fold {
		var full bool
		if matching, full = unfold(matching, lowerForms()); !full {
			exact = false
		}
	}
	of := of3(matching, exact, t, no, n)
	return f.where(e.X, of).but(of.exact)
}

// of3 gives the values of an argument for which a condition on it is TRUE (t), FALSE (no) or NULL (n): it is TRUE for those in
// set, and exact: for no other.
func of3(set types.Set, exact, t, no, n bool) among {
	switch {
	case t && no:
		return among{set: types.All(), null: n, exact: true}
	case t:
		return among{set: set, null: n, exact: exact}.but(exact)
	case no && exact:
		return among{set: set.Complement(), null: n, exact: true}
	case no:
		return among{set: types.All(), null: n}
	}
	return among{null: n, exact: true}
}

func (f *finder) cast(e *Cast, out among) among {
	if e.X.Type() == types.Boolean {
		return f.ofBoolean(e.X, false, out, func(v types.Value) (types.Value, error) { return types.Cast(v, e.Typ, nil) })
	}
	return f.invert(e, true, out)
}

// invert is where for a call or cast whose arguments are constant but for one; strict: it is NULL where that is, and nowhere else.
func (f *finder) invert(e Expr, strict bool, out among) among {
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
		return f.opaque(Children(e), strict, e.Type(), out)
	}
	if f.depth > 5 {
		if f.steps += inversion; f.steps > maxFinds {
			return somewhere
		}
	}
	x, pre, exact, ok := inverse(e, out.set, f.within)
	if !ok {
		return f.opaque(Children(e), strict, e.Type(), out)
	}
	return f.where(x, among{set: pre, null: out.null}).but(exact)
}

// ofBoolean is where for what eval makes of x, a condition; nulls: of NULL, too, which otherwise gives NULL.
func (f *finder) ofBoolean(x Expr, nulls bool, out among, eval func(types.Value) (types.Value, error)) among {
	is := func(v types.Value) bool {
		if v.IsNull() && !nulls {
			return out.null
		}
		w, err := eval(v)
		return err == nil && out.holds(w)
	}
	return f.where(x, truthsOf(is(trueValue), is(falseValue), is(types.Value{})))
}

func (f *finder) call(e *Call, out among) among {
	if e.Func.Volatile {
		return somewhere
	}
	switch {
	case e.Func.First:
		var found []among
		rest := everywhere
		for _, x := range e.Args {
			found = append(found, allOf(rest, f.where(x, among{set: out.set})))
			rest = allOf(rest, f.where(x, onlyNull))
		}
		if out.null {
			found = append(found, rest)
		}
		return anyOf(found...)
	case e.Func.Name == "GREATEST":
		return f.extreme(e.Args, out, func(iv types.Interval) types.Interval { iv.Lo, iv.LoOpen = types.Value{}, false; return iv })
	case e.Func.Name == "LEAST":
		return f.extreme(e.Args, out, func(iv types.Interval) types.Interval { iv.Hi, iv.HiOpen = types.Value{}, false; return iv })
	}
	if len(e.Args) == 0 {
		return somewhere
	}
	at := -1 // the argument that is not constant
	for i, x := range e.Args {
		k, constant := x.(*Const)
		switch {
		case !constant && at >= 0:
			at = len(e.Args)
		case !constant:
			at = i
		case k.Val.IsNull() && (!e.Func.NullArgs || i == 0 && e.Func.Name == "CONCAT_WS"):
			return f.where(k, out)
		}
	}
	switch {
	case (at < 0 || at == len(e.Args)) && e.Func.NullArgs:
		return somewhere
	case at < 0 || at == len(e.Args):
		return f.invert(e, e.Func.strict, out)
	}
	x := e.Args[at]
	eval := func(v types.Value) (types.Value, error) { return e.at(at, v) }
	if x.Type() == types.Boolean {
		return f.ofBoolean(x, e.Func.NullArgs, out, eval)
	}
	if before, after, ok := around(e, at); ok {
		of := among{set: affixed(out.set, e.Typ, before, after), null: out.null}
		if e.Func.NullArgs {
			v, err := eval(types.Value{})
			of.null = err == nil && out.holds(v)
		}
		if x.Type() != e.Typ {
			x = &Cast{Pos: e.Pos, X: x, Typ: e.Typ}
		}
		return f.where(x, of)
	}
	if e.Func.NullArgs {
		return somewhere
	}
	return f.invert(e, e.Func.strict, out)
}

// at evaluates c with v for argument i.
func (c *Call) at(i int, v types.Value) (types.Value, error) {
	args := make([]types.Value, len(c.Args))
	for j, x := range c.Args {
		if j == i {
			args[j] = v
		} else {
			args[j] = x.(*Const).Val
		}
	}
	return c.Func.Eval(&Env{}, args)
}

// extreme is where for the greatest of xs, when open takes the lower end off an interval, or for the least, when it takes the upper one:
// it lies in an interval where one of them does and all lie in the opened one.
func (f *finder) extreme(xs []Expr, out among, open func(types.Interval) types.Interval) among {
	var found []among
	for _, iv := range out.set {
		in, all := make([]among, len(xs)), make([]among, len(xs))
		for i, x := range xs {
			in[i] = f.where(x, among{set: types.SetOf(iv)})
			all[i] = f.where(x, among{set: types.SetOf(open(iv)), null: true})
		}
		found = append(found, allOf(append(all, anyOf(in...))...))
	}
	if out.null {
		nulls := make([]among, len(xs))
		for i, x := range xs {
			nulls[i] = f.where(x, onlyNull)
		}
		found = append(found, allOf(nulls...))
	}
	return anyOf(found...)
}

// Truth gives the values of the only column of e, a condition, for which it can be true, NULL among them or not; exact: it
// is true for these and no other. ok is false where nothing is known, or e has several columns or none.
func Truth(e Expr) (col int, s types.Set, null, exact, ok bool) {
	if c, ok := soleColumn(e); ok {
		f := &finder{col: c}
		a := f.where(e, onlyTrue)
		_, pattern := e.(*Like)
		return c, a.set, a.null, a.exact, a.exact || pattern || !a.set.IsAll()
	}
	return 0, nil, false, false, false
}

// TruthWithin is Truth where the column's value is known to lie in window: the condition is true within it at most for the values
// in s; exact: for all of them.
//
//	EXTRACT(month FROM ts) = 2, ts in 2026     February 2026, where Truth knows nothing
func TruthWithin(e Expr, window types.Set) (s types.Set, exact, ok bool) {
	c, ok := soleColumn(e)
	if !ok {
		return nil, false, false
	}
	f := &finder{col: c, window: window}
	a := f.where(e, onlyTrue)
	return a.set.Intersect(window), a.exact, true
}

// within gives the values that x can have where the column lies in the window. A set does not tell 0 from -0, whose texts differ: of
// floats it says nothing.
func (f *finder) within(x Expr) types.Set {
	if t := x.Type(); f.window != nil && t != types.Double && t != types.Float {
		if s, ok := listed(x, f.col, f.window); ok {
			return s
		}
	}
	return types.All()
}

// soleColumn is the column of an expression that has one.
func soleColumn(e Expr) (int, bool) {
	switch x := e.(type) { // as Columns, for a WHERE may have many of these
	case *Compare:
		c, ok := x.X.(*Column)
		if _, constant := x.Y.(*Const); ok && constant {
			return c.Index, true
		}
	case *In:
		if c, ok := x.X.(*Column); ok {
			return c.Index, true
		}
	}
	cols := Columns(e)
	if len(cols) != 1 {
		return 0, false
	}
	return cols[0], true
}
