package expr

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

// isConst reports whether e is the constant TRUE or FALSE that b says.
func isConst(e Expr, b bool) bool {
	c, ok := e.(*Const)
	return ok && c.Val.Type() == types.Boolean && c.Val.Bool() == b
}

func boolConst(e Expr, b bool) *Const {
	return &Const{Pos: e.Position(), Val: types.NewBool(b), Typ: types.Boolean}
}

// flattened returns the terms of an AND or OR of terms. It omits those that are decides negated; a term that is decides is
// the only one. So is decides negated if no term is left.
func flattened(terms []Expr, decides bool) []Expr {
	out := make([]Expr, 0, len(terms))
	for _, t := range terms {
		and, isAnd := t.(*And)
		or, isOr := t.(*Or)
		switch {
		case isAnd && !decides:
			out = append(out, and.Terms...)
		case isOr && decides:
			out = append(out, or.Terms...)
		case isConst(t, decides):
			return []Expr{t}
		case !isConst(t, !decides):
			out = append(out, t)
		}
	}
	switch {
	case len(out) > 0:
		return out
	case len(terms) > 0:
		return []Expr{boolConst(terms[0], !decides)}
	}
	return []Expr{&Const{Val: types.NewBool(!decides), Typ: types.Boolean}}
}

// conjunction returns the flattened AND of terms. It omits TRUE terms; a FALSE term makes it FALSE. Terms with sub-queries,
// which cost most, come last.
func conjunction(terms ...Expr) Expr {
	out := flattened(terms, false)
	if len(out) == 1 {
		return out[0]
	}
	var asking []Expr
	out = slices.DeleteFunc(out, func(t Expr) bool {
		asks := Some(t, IsSubquery)
		if asks {
			asking = append(asking, t)
		}
		return asks
	})
	return &And{Terms: append(out, asking...)}
}

// disjunction returns the flattened OR of terms. It omits FALSE terms; a TRUE term makes it TRUE.
func disjunction(terms ...Expr) Expr {
	out := flattened(terms, true)
	if len(out) == 1 {
		return out[0]
	}
	return &Or{Terms: out}
}

// Conjunction returns the flattened AND of terms, TRUE if there are none.
func Conjunction(terms []Expr) Expr { return conjunction(terms...) }

// Conjuncts returns the terms of an AND, or e.
func Conjuncts(e Expr) []Expr {
	if a, ok := e.(*And); ok {
		return a.Terms
	}
	return []Expr{e}
}

// Negate returns NOT e. It moves NOT inside as far as three-valued logic allows: up to conditions that it cannot negate.
func Negate(e Expr) Expr {
	switch x := e.(type) {
	case *Const:
		if x.Val.IsNull() {
			return x
		}
		return boolConst(x, !x.Val.Bool())
	case *And:
		return disjunction(negateAll(x.Terms)...)
	case *Or:
		return conjunction(negateAll(x.Terms)...)
	case *Not:
		return x.X
	case *Compare:
		return with(x, func(c *Compare) { c.Op = x.Op.Negate() })
	case *In:
		return with(x, func(c *In) { c.Not = !x.Not })
	case *Like:
		return with(x, func(c *Like) { c.Not = !x.Not })
	case *IsNull:
		return with(x, func(c *IsNull) { c.Not = !x.Not })
	case interface{ Negate() Expr }:
		return x.Negate()
	}
	return &Not{X: e}
}

func negateAll(terms []Expr) []Expr {
	out := make([]Expr, len(terms))
	for i, t := range terms {
		out[i] = Negate(t)
	}
	return out
}

// FoldNode evaluates e if all of its operands are constant. If that fails, e stays unchanged, and fails only if it is
// evaluated later. loc is the time zone for the evaluation.
func FoldNode(e Expr, loc *time.Location) Expr {
	switch x := e.(type) {
	case *Const:
		return e
	case *Call:
		if x.Func.Volatile || x.Func.Group == "key" {
			return e
		}
		if x.Func.First {
			if first := firstGiven(x); first != e {
				return first
			}
		}
	case *And:
		return conjunction(x.Terms...)
	case *Or:
		return disjunction(x.Terms...)
	case *Case:
		if taken := reached(x); taken != e {
			return taken
		}
	case *Compare: // NULL on either side makes it NULL
		k, left := x.X.(*Const)
		o, right := x.Y.(*Const)
		if left && k.Val.IsNull() || right && o.Val.IsNull() {
			return &Const{Pos: x.Pos, Typ: types.Boolean}
		}
		if !left || !right {
			return e
		}
	case *Like:
		if k, ok := x.Pattern.(*Const); ok && x.Fixed == nil && !k.Val.IsNull() {
			e = fixedLike(x, k.Val.Text())
		}
	case *Column:
		return e
	}
	for _, c := range Children(e) {
		if _, ok := c.(*Const); !ok {
			return e
		}
	}
	switch e.(type) {
	case *Not, *Compare, *In, *Like, *IsNull, *Call, *Cast, *Case:
	default:
		return e
	}
	v, err := e.Eval(&Env{Loc: loc, Stop: tooLong, Memory: MaxText})
	if err != nil {
		return e
	}
	k := &Const{Pos: e.Position(), Val: v, Typ: e.Type()}
	if k.Typ == types.BigInt && Declared(e) != k.Typ {
		k.Limit = types.Untyped
	}
	return k
}

// reached returns c without the branches that no row takes: branches whose condition is never true, and all branches
// after one whose condition is always true.
func reached(c *Case) Expr {
	out := &Case{Pos: c.Pos, Else: c.Else, Typ: c.Typ}
	for _, w := range c.Whens {
		if _, known := w.Cond.(*Const); !known {
			out.Whens = append(out.Whens, w)
		} else if isConst(w.Cond, true) {
			out.Else = w.Then
			break
		}
	}
	switch {
	case len(out.Whens) == len(c.Whens):
		return c
	case len(out.Whens) > 0:
		return out
	case out.Else.Type() == c.Typ:
		return out.Else
	}
	return c
}

// firstGiven returns c, a COALESCE, without arguments that cannot be the result: NULL constants, and all arguments
// after one that is never NULL.
func firstGiven(c *Call) Expr {
	var args []Expr
	for i, a := range c.Args {
		k, ok := a.(*Const)
		if ok && k.Val.IsNull() && i < len(c.Args)-1 {
			continue
		}
		if args = append(args, a); ok {
			break
		}
	}
	switch {
	case len(args) == len(c.Args):
		return c
	case len(args) == 1 && args[0].Type() == c.Typ:
		return args[0]
	case len(args) < c.Func.MinArgs:
		return c
	}
	return with(c, func(c *Call) { c.Args = args })
}

// fixedLike returns l with its constant pattern. An invalid pattern fails when it is matched.
func fixedLike(l *Like, pattern string) Expr {
	if l.Lower != nil {
		pattern = strings.ToLower(pattern)
	}
	p, err := ParsePattern(pattern, l.escape())
	if err != nil {
		return l
	}
	return with(l, func(l *Like) { l.Fixed = p })
}

// tooLong stops the folding of a long evaluation: only the executor can cancel it.
func tooLong() error { return errors.New("it takes long") }

// Fold evaluates the constant parts of e, with loc as the time zone, except parts that take long.
func Fold(e Expr, loc *time.Location) Expr {
	return Map(e, func(e Expr) Expr { return FoldNode(e, loc) })
}
