package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// maxRestated bounds the alternatives that a condition becomes, maxCompared those that a list becomes: each of its values is one
// condition. maxCopied bounds what is written again of the conditions of CASEs: each stands in all branches from its own on.
const (
	maxRestated = 1 << 10
	maxCompared = 1 << 17
	maxCopied   = 1 << 13
)

// Restate gives a condition that is true for the same rows as e, put together by AND and OR of conditions that bound one
// column each, where e says something of several columns or of the end of a text:
//
//	a || '|' || b = 'x|y'                    a = 'x' AND b = 'y'
//	CASE WHEN a = 1 THEN b ELSE c END = 2    a = 1 AND b = 2 OR (a <> 1 OR a IS NULL) AND c = 2
//	RIGHT(domain, 4) = '.org'                domain LIKE '%.org'
func Restate(e Expr) Expr {
	r := restater{left: maxRestated, copies: maxCopied}
	return r.restate(e)
}

type restater struct{ left, copies int }

func (r *restater) each(es []Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = r.restate(e)
	}
	return out
}

func (r *restater) restate(e Expr) Expr {
	switch e := e.(type) {
	case *And:
		return conjunction(r.each(e.Terms)...)
	case *Or:
		return disjunction(r.each(e.Terms)...)
	case *Const:
		return e
	}
	if _, ok := soleColumn(e); ok {
		return endings(e)
	}
	if r.left <= 0 {
		return e
	}
	var out Expr
	ok := false
	switch e := e.(type) {
	case *Not:
		if n := Negate(e.X); !isNot(n) {
			out, ok = n, true
		}
	case *Case:
		out, ok = r.branches(e)
	case *Compare:
		out, ok = r.compared(e)
	case *In:
		out, ok = r.listed(e)
	case *Like:
		if lit, whole, tail := fixedPrefix(e); (lit != "" || tail) && !whole {
			if out, ok = r.begins(e.X, lit); ok && !tail {
				out = conjunction(out, e)
			}
		}
	case *IsNull:
		if c, isCase := conditional(e.X); isCase {
			out, ok = applied(c, func(x Expr) Expr { return &IsNull{Pos: e.Pos, X: x, Not: e.Not} }), true
		}
	case *Call:
		if k, isConst := e.Args[len(e.Args)-1].(*Const); isConst && e.Func.Name == "STARTS_WITH" && !k.Val.IsNull() {
			out, ok = r.begins(e.Args[0], k.Val.Text())
		} else if c, isCase := conditional(e); isCase {
			out, ok = c, true
		}
	}
	if !ok || r.left <= 0 {
		return e
	}
	if r.left--; out == e {
		return e
	}
	return r.restate(out)
}

func isNot(e Expr) bool { _, ok := e.(*Not); return ok }

func isNull(x Expr) Expr { return &IsNull{Pos: x.Position(), X: x} }

func notNullOf(x Expr) Expr { return &IsNull{Pos: x.Position(), X: x, Not: true} }

// branches is the condition that c, a CASE of conditions, is; ok is false where that is too long.
func (r *restater) branches(c *Case) (out Expr, ok bool) {
	for i, w := range c.Whens {
		if r.copies -= size(w.Cond) * (len(c.Whens) - i); r.copies < 0 {
			return nil, false
		}
	}
	var alts, before []Expr
	for _, w := range c.Whens {
		alts = append(alts, conjunction(append(slices.Clone(before), w.Cond, w.Then)...))
		before = append(before, disjunction(Negate(w.Cond), isNull(w.Cond)))
	}
	return disjunction(append(alts, conjunction(append(before, c.Else)...))...), true
}

// size counts the nodes of e, and the values in its lists.
func size(e Expr) int {
	n := 1
	if in, ok := e.(*In); ok {
		n += len(in.List)
	}
	for _, x := range Children(e) {
		n += size(x)
	}
	return n
}

// conditional gives the CASE that e is, if it is one in other words.
func conditional(e Expr) (*Case, bool) {
	switch e := e.(type) {
	case *Case:
		return e, true
	case *Call:
		if !e.Func.First {
			return nil, false
		}
		c := &Case{Pos: e.Pos, Typ: e.Typ, Else: e.Args[len(e.Args)-1]}
		for _, x := range e.Args[:len(e.Args)-1] {
			c.Whens = append(c.Whens, When{notNullOf(x), x})
		}
		return c, true
	}
	return nil, false
}

// applied is c with f of each of its values, conditions.
func applied(c *Case, f func(Expr) Expr) Expr {
	of := func(x Expr) Expr { return fold(f(x), nil) }
	out := &Case{Pos: c.Pos, Typ: types.Boolean, Else: of(c.Else)}
	for _, w := range c.Whens {
		out.Whens = append(out.Whens, When{w.Cond, of(w.Then)})
	}
	return out
}

// compared restates a comparison of what is made of several columns with a constant.
func (r *restater) compared(e *Compare) (Expr, bool) {
	k, ok := e.Y.(*Const)
	if !ok || k.Val.IsNull() || mixed(e.X.Type(), k.Val) {
		return nil, false
	}
	if e.X.Type() == types.Boolean {
		t, f := e.Op.Holds(1-btoi(k.Val.Bool())), e.Op.Holds(0-btoi(k.Val.Bool()))
		switch {
		case t && !f:
			return e.X, true
		case f && !t:
			return Negate(e.X), true
		}
		return nil, false
	}
	if c, isCase := conditional(e.X); isCase {
		return applied(c, func(x Expr) Expr { return &Compare{Pos: e.Pos, Op: e.Op, X: x, Y: e.Y} }), true
	}
	if c, isCall := e.X.(*Call); isCall && (c.Func.Name == "GREATEST" || c.Func.Name == "LEAST") {
		return extremes(e, c)
	}
	ways, ok := joined(e.X)
	if !ok {
		return nil, false
	}
	var alts []Expr
	for _, w := range ways {
		some, ok := r.order(w, e.Op, k.Val.Text())
		if !ok {
			return nil, false
		}
		alts = append(alts, some)
	}
	return disjunction(alts...), true
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// extremes restates a comparison of c, the greatest or least of some, with a constant.
func extremes(e *Compare, c *Call) (Expr, bool) {
	op := func(op CompareOp, x Expr) Expr { return fold(&Compare{Pos: e.Pos, Op: op, X: x, Y: e.Y}, nil) }
	within, beyond := LE, GE
	if c.Func.Name == "LEAST" {
		within, beyond = GE, LE
	}
	var any, all []Expr
	for _, x := range c.Args {
		if x.Type() != e.X.Type() {
			return nil, false
		}
		any = append(any, op(e.Op, x))
		o := e.Op
		if o == EQ {
			o = within
		}
		all = append(all, disjunction(op(o, x), isNull(x)))
	}
	switch e.Op {
	case NE:
		return nil, false
	case beyond, map[CompareOp]CompareOp{GE: GT, LE: LT}[beyond]:
		return disjunction(any...), true
	}
	return conjunction(append(all, disjunction(any...))...), true
}

func (r *restater) listed(e *In) (Expr, bool) {
	if e.Not {
		return nil, false
	}
	if c, isCase := conditional(e.X); isCase {
		return applied(c, func(x Expr) Expr { in := *e; in.X = x; return &in }), true
	}
	ways, ok := joined(e.X)
	if !ok {
		return nil, false
	}
	var alts []Expr
	left := maxCompared
	for _, v := range e.List {
		for _, w := range ways {
			one := restater{left: min(left, maxRestated)}
			left -= one.left
			if v.Type() != types.String {
				return nil, false
			}
			some, ok := one.order(w, EQ, v.Text())
			if !ok {
				return nil, false
			}
			left += one.left
			alts = append(alts, some)
		}
	}
	return disjunction(alts...), true
}

// endings restates a condition on the end of a column's text as LIKEs.
func endings(e Expr) Expr {
	var alts []Expr
	exact := true
	switch e := e.(type) {
	case *Compare:
		if k, ok := e.Y.(*Const); ok && e.Op == EQ && !k.Val.IsNull() {
			alts = endsWith(e.X, []types.Value{k.Val})
		}
	case *In:
		if !e.Not && len(e.List) <= maxHeads {
			alts = endsWith(e.X, e.List)
		}
	case *Like: // REVERSE(x) LIKE 'gro.%'
		c, isCall := e.X.(*Call)
		if lit, whole, tail := fixedPrefix(e); isCall && c.Func.Name == "REVERSE" && lit != "" && !whole && utf8.ValidString(lit) && !strings.ContainsRune(lit, utf8.RuneError) {
			if col, ok := c.Args[0].(*Column); ok && col.Typ == types.String {
				alts, exact = []Expr{likeExpr(col, "%"+likeText(reverseString(lit)))}, tail
			}
		}
	case *Call:
		alts, exact = matchedEnd(e)
	}
	switch {
	case len(alts) == 0:
		return e
	case !exact:
		return conjunction(disjunction(alts...), e)
	}
	return disjunction(alts...)
}

// endsWith gives the conditions of which one is true where x, the end of a column's text, is one of vs; none where it is something else.
func endsWith(x Expr, vs []types.Value) (alts []Expr) {
	c, ok := x.(*Call)
	if !ok || len(c.Args) < 2 {
		return nil
	}
	col, ok := c.Args[0].(*Column)
	if !ok || col.Typ != types.String {
		return nil
	}
	for _, v := range vs {
		s := v.Text()
		if v.Type() != types.String || !utf8.ValidString(s) {
			return nil
		}
		switch c.Func.Name {
		case "RIGHT":
			n, ok := c.constInt(1)
			if !ok || n < 0 {
				return nil
			}
			switch k := units(types.String, s); {
			case k == n:
				alts = append(alts, likeExpr(col, "%"+likeText(s)))
			case k < n:
				alts = append(alts, comparison(EQ, col, s))
			default:
				alts = append(alts, boolConst(c, false))
			}
		case "SPLIT_PART":
			n, ok := c.constInt(2)
			if k, constant := c.Args[1].(*Const); !ok || !constant || n != -1 || len(k.Val.Text()) != 1 || strings.Contains(s, k.Val.Text()) {
				return nil
			}
			alts = append(alts, comparison(EQ, col, s), likeExpr(col, "%"+likeText(c.constText(1)+s)))
		default:
			return nil
		}
	}
	return alts
}

// matchedEnd gives the conditions of which one is true where c, a regular expression, matches a column's text, if it says how that
// ends and not how it begins. exact: it matches where one is true.
func matchedEnd(c *Call) (alts []Expr, exact bool) {
	if c.Func.Key == nil || c.Func.Key.Pattern == nil || len(c.Args) < 2 {
		return nil, false
	}
	col, ok := c.Args[0].(*Column)
	if !ok || col.Typ != types.String || slices.ContainsFunc(c.Args[1:], func(x Expr) bool { k, ok := x.(*Const); return !ok || k.Val.IsNull() }) {
		return nil, false
	}
	pattern, ok := c.Func.Key.Pattern(c)
	if !ok {
		return nil, false
	}
	if set, _, ok := matched(pattern); !ok || !set.IsAll() {
		return nil, false
	}
	heads, _ := headsOf(pattern, true)
	exact = true
	for _, h := range heads {
		if h.text == "" && h.state != ended {
			return nil, false
		}
		if exact = exact && h.state != cut; h.state == ended {
			alts = append(alts, comparison(EQ, col, h.reversed()))
		} else {
			alts = append(alts, likeExpr(col, "%"+likeText(h.reversed())))
		}
	}
	return alts, exact
}
