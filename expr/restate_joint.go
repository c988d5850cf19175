package expr

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/types"
)

// A joint is texts, one after the other, under a condition.
type joint struct {
	parts []Expr // constants and others, of texts
	when  Expr
	// lenient: a part may be NULL and counts for nothing then, as in CONCAT.
	lenient bool
}

// joined gives the ways in which x puts texts together; ok is false for what does not.
func joined(x Expr) ([]joint, bool) {
	c, ok := x.(*Call)
	if !ok || c.Typ != types.String {
		return nil, false
	}
	when := Expr(boolConst(x, true))
	switch c.Func.Name {
	case "||":
		var parts []Expr
		var flatten func(x Expr)
		flatten = func(x Expr) {
			if c, ok := x.(*Call); ok && c.Func.Name == "||" && c.Typ == types.String {
				flatten(c.Args[0])
				flatten(c.Args[1])
				return
			}
			parts = append(parts, x)
		}
		flatten(c)
		parts, ok = allTexts(parts)
		null := func(x Expr) bool { k, constant := x.(*Const); return constant && k.Val.IsNull() }
		return []joint{{parts: parts, when: when}}, ok && !slices.ContainsFunc(parts, null)
	case "CONCAT":
		parts, ok := allTexts(c.Args)
		return []joint{{parts, when, true}}, ok
	case "CONCAT_WS":
		args := c.Args[1:]
		sep, constant := c.Args[0].(*Const)
		if !constant || sep.Val.IsNull() || len(args) > 5 {
			return nil, false
		}
		args, ok = allTexts(args)
		var ways []joint
		for nulls := range 1 << len(args) {
			var terms, parts []Expr
			some := true
			for i, x := range args {
				k, constant := x.(*Const)
				isNullHere := nulls&(1<<i) > 0
				switch {
				case constant && k.Val.IsNull() != isNullHere:
					some = false
				case constant && isNullHere:
				case isNullHere:
					terms = append(terms, isNull(x))
				default:
					if len(parts) > 0 {
						parts = append(parts, sep)
					}
					if parts = append(parts, x); !constant {
						terms = append(terms, notNullOf(x))
					}
				}
			}
			if some {
				ways = append(ways, joint{parts: parts, when: conjunction(append(terms, when)...)})
			}
		}
		return ways, ok
	}
	return nil, false
}

// allTexts gives xs as texts; ok is false where the text of one is not that of a cast, or depends on the zone.
func allTexts(xs []Expr) ([]Expr, bool) {
	out := make([]Expr, len(xs))
	for i, x := range xs {
		switch t := x.Type(); {
		case t == types.String || t == types.Null:
			out[i] = x
		case t.IsInteger():
			out[i] = fold(&Cast{Pos: x.Position(), X: x, Typ: types.String}, nil)
		default:
			return nil, false
		}
	}
	return out, true
}

func textConst(x Expr, s string) *Const {
	return &Const{Pos: x.Position(), Val: types.NewString(s), Typ: types.String}
}

func comparison(op CompareOp, x Expr, s string) Expr {
	return fold(&Compare{Pos: x.Position(), Op: op, X: x, Y: textConst(x, s)}, nil)
}

// head takes constant texts off the parts.
func (j joint) head() (text string, rest joint) {
	for len(j.parts) > 0 {
		k, ok := j.parts[0].(*Const)
		if !ok {
			break
		}
		text += k.Val.Text()
		j.parts = j.parts[1:]
	}
	return text, j
}

// equal is the condition that part x is s.
func (j joint) equal(x Expr, s string) Expr {
	eq := comparison(EQ, x, s)
	if j.lenient && s == "" {
		return disjunction(eq, isNull(x))
	}
	return eq
}

// whole is the condition that all parts are not NULL, where they must not be.
func (j joint) whole() Expr {
	terms := []Expr{boolConst(textConst(j.when, ""), true)}
	for _, x := range j.parts {
		if _, constant := x.(*Const); !constant && !j.lenient {
			terms = append(terms, notNullOf(x))
		}
	}
	return conjunction(terms...)
}

// order restates the comparison of the joined texts with s.
func (r *restater) order(j joint, op CompareOp, s string) (Expr, bool) {
	if len(s) > maxCuts || op == NE {
		return nil, false
	}
	e, ok := r.ordered(j, op, s)
	return conjunction(j.when, e), ok
}

func (r *restater) ordered(j joint, op CompareOp, s string) (Expr, bool) {
	if r.left--; r.left <= 0 {
		return boolConst(j.when, true), false
	}
	text, rest := j.head()
	truth := func(b bool) Expr { return boolConst(j.when, b) }
	if text != "" || len(rest.parts) == 0 {
		tail, ok := strings.CutPrefix(s, text)
		switch {
		case !ok: // they differ within both, or text goes on behind s
			if !op.Holds(strings.Compare(text, s)) {
				return truth(false), true
			}
			return rest.whole(), true
		case len(rest.parts) == 0:
			return truth(op.Holds(strings.Compare("", tail))), true
		}
		return r.ordered(rest, op, tail)
	}
	x := rest.parts[0]
	behind := joint{parts: rest.parts[1:], when: j.when, lenient: j.lenient}
	if len(behind.parts) == 0 {
		if j.lenient && op.Holds(strings.Compare("", s)) {
			return disjunction(comparison(op, x, s), isNull(x)), true
		}
		return comparison(op, x, s), true
	}
	var alts []Expr
	var beginnings []types.Value // of s, for which what is behind decides
	for i := range len(s) + 1 {
		e, ok := r.ordered(behind, op, s[i:])
		if !ok {
			return truth(true), false
		}
		if beginnings = append(beginnings, types.NewString(s[:i])); !isFalseConst(e) {
			alts = append(alts, conjunction(j.equal(x, s[:i]), e))
		}
	}
	switch op { // where x is no beginning of s, it decides
	case GT, GE:
		alts = append(alts, conjunction(comparison(GT, x, s), behind.whole()))
	case LT, LE:
		alts = append(alts, conjunction(comparison(LT, x, s), fold(&In{Pos: x.Position(), X: x, List: beginnings, Not: true}, nil), behind.whole()))
	}
	return disjunction(alts...), true
}

// begins restates that joined texts begin with p.
func (r *restater) begins(x Expr, p string) (Expr, bool) {
	ways, ok := joined(x)
	if !ok || len(p) > maxCuts {
		return nil, false
	}
	var alts []Expr
	for _, j := range ways {
		e, ok := r.beginning(j, p)
		if !ok {
			return nil, false
		}
		alts = append(alts, conjunction(j.when, e))
	}
	return disjunction(alts...), true
}

func (r *restater) beginning(j joint, p string) (Expr, bool) {
	if r.left--; r.left <= 0 {
		return boolConst(j.when, true), false
	}
	text, rest := j.head()
	switch tail, ok := strings.CutPrefix(p, text); {
	case !ok && !strings.HasPrefix(text, p):
		return boolConst(j.when, false), true
	case !ok || tail == "":
		return rest.whole(), true
	case len(rest.parts) == 0:
		return boolConst(j.when, false), true
	default:
		p = tail
	}
	x := rest.parts[0]
	behind := joint{parts: rest.parts[1:], when: j.when, lenient: j.lenient}
	alts := []Expr{conjunction(startsWith(x, p), behind.whole())}
	for i := range len(p) {
		e, ok := r.beginning(behind, p[i:])
		if !ok {
			return boolConst(j.when, true), false
		}
		if !isFalseConst(e) {
			alts = append(alts, conjunction(j.equal(x, p[:i]), e))
		}
	}
	return disjunction(alts...), true
}

func startsWith(x Expr, p string) Expr { return likeExpr(x, likeText(p)+"%") }

func likeExpr(x Expr, pattern string) Expr {
	l := &Like{Pos: x.Position(), X: x, Pattern: textConst(x, pattern)}
	var err error
	if l.Fixed, err = ParsePattern(pattern, l.escape()); err != nil {
		panic("expr: " + err.Error()) // it was escaped
	}
	return l
}

// fixedPrefix is what a text begins with that a LIKE matches, see Pattern.Prefix.
func fixedPrefix(l *Like) (lit string, whole, tail bool) {
	if l.Not || l.Fold || l.Fixed == nil {
		return "", true, false
	}
	return l.Fixed.Prefix()
}
