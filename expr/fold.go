package expr

import (
	"errors"
	"time"

	"github.com/hql-db/hql/types"
)

func isTrueConst(e Expr) bool {
	c, ok := e.(*Const)
	return ok && c.Val.Type() == types.Boolean && c.Val.Bool()
}

func isFalseConst(e Expr) bool {
	c, ok := e.(*Const)
	return ok && c.Val.Type() == types.Boolean && !c.Val.Bool()
}

func boolConst(e Expr, b bool) *Const {
	return &Const{Pos: e.Position(), Val: types.NewBool(b), Typ: types.Boolean}
}

// conjunction is the flattened AND of terms: TRUE terms go, a FALSE one decides.
func conjunction(terms ...Expr) Expr {
	out := make([]Expr, 0, len(terms))
	for _, t := range terms {
		switch x := t.(type) {
		case *And:
			out = append(out, x.Terms...)
		default:
			if isFalseConst(t) {
				return t
			}
			if !isTrueConst(t) {
				out = append(out, t)
			}
		}
	}
	switch len(out) {
	case 0:
		if len(terms) == 0 {
			return &Const{Val: trueValue, Typ: types.Boolean}
		}
		return boolConst(terms[0], true)
	case 1:
		return out[0]
	}
	return &And{Terms: out}
}

// disjunction is the flattened OR of terms: FALSE terms go, a TRUE one decides.
func disjunction(terms ...Expr) Expr {
	var out []Expr
	for _, t := range terms {
		switch x := t.(type) {
		case *Or:
			out = append(out, x.Terms...)
		default:
			if isTrueConst(t) {
				return t
			}
			if !isFalseConst(t) {
				out = append(out, t)
			}
		}
	}
	switch len(out) {
	case 0:
		if len(terms) == 0 {
			return &Const{Val: falseValue, Typ: types.Boolean}
		}
		return boolConst(terms[0], false)
	case 1:
		return out[0]
	}
	return &Or{Terms: out}
}

// Conjunction is the flattened AND of terms, TRUE for none.
func Conjunction(terms []Expr) Expr { return conjunction(terms...) }

// Conjuncts splits e into terms that must all be true.
func Conjuncts(e Expr) []Expr {
	if a, ok := e.(*And); ok {
		return a.Terms
	}
	return []Expr{e}
}

// Negate is NOT e, pushed down as far as three-valued logic lets it: all of it but opaque conditions.
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
		c := *x
		c.Op = x.Op.Negate()
		return &c
	case *In:
		c := *x
		c.Not = !x.Not
		return &c
	case *Like:
		c := *x
		c.Not = !x.Not
		return &c
	case *IsNull:
		c := *x
		c.Not = !x.Not
		return &c
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

// fold computes e now if all below it is constant. An expression that fails stays
// as it is, to fail only if it is evaluated. loc is the zone of what is evaluated later: see Env.
func fold(e Expr, loc *time.Location) Expr {
	switch x := e.(type) {
	case *Const:
		return e
	case *Call:
		if x.Func.Volatile || x.Func.Group == "key" {
			return e
		}
	case *And:
		return conjunction(x.Terms...)
	case *Or:
		return disjunction(x.Terms...)
	case *Compare: // NULL on either side decides
		for _, s := range []Expr{x.X, x.Y} {
			if k, ok := s.(*Const); ok && k.Val.IsNull() {
				return &Const{Pos: x.Pos, Typ: types.Boolean}
			}
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
	v, err := e.Eval(&Env{Loc: loc, Stop: tooLong})
	if err != nil {
		return e
	}
	return &Const{Pos: e.Position(), Val: v, Typ: e.Type()}
}

// tooLong leaves what takes long to those who can stop it: planning does not wait for it.
func tooLong() error { return errors.New("it takes long") }

// Fold computes the constant parts of e, in the zone in which the rest is evaluated, but for those that take long.
func Fold(e Expr, loc *time.Location) Expr {
	return Map(e, func(e Expr) Expr { return fold(e, loc) })
}
