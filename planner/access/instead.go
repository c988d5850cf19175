package access

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// whyNoRange explains why e, a condition on one column of the key, is not a range of keys, and suggests one that is.
//
//	INITCAP(host) = 'X'              it can't be a range, because many texts give the same; host = 'X' can
//	host LIKE '%x'                   it can't be a range; host LIKE 'x%' can
//	EXISTS (SELECT ... host ...)     its query runs for each row
func (w *spanBuilder) whyNoRange(e expr.Expr) string {
	if expr.Some(e, expr.IsSubquery) {
		return "its query runs for each row"
	}
	s := "it can't be a range"
	if why := unknown(e); why != "" {
		s += ", because " + why
	}
	if can := w.instead(e); can != "" {
		s += "; " + can + " can"
	}
	return s
}

// unknown returns the reason why a function in e cannot be analyzed; "" if there is none.
func unknown(e expr.Expr) (why string) {
	expr.Some(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Call); ok {
			why = c.Func.Unknown
		}
		return why != ""
	})
	return why
}

// instead returns a condition similar to e, on one column, that a part of the key can use; "" if none is known.
func (w *spanBuilder) instead(e expr.Expr) string {
	c := columnIn(e)
	if c == nil {
		return ""
	}
	as := func(t types.Type) bool { return t == c.Typ }
	var tries []expr.Expr
	of := "" // what is said in place of the constants, which are values of a function of c and not of c
	switch e := e.(type) {
	case *expr.Compare:
		if k, ok := e.Y.(*expr.Const); ok && as(k.Typ) {
			tries = append(tries, &expr.Compare{Pos: e.Pos, Op: e.Op, X: c, Y: k})
			if _, ok := e.X.(*expr.Column); !ok {
				of = c.String() + " " + e.Op.String() + " ..."
			}
		}
	case *expr.In:
		if !e.Not && !slices.ContainsFunc(e.List, func(v types.Value) bool { return !as(v.Type()) }) {
			tries = append(tries, &expr.In{Pos: e.Pos, X: c, List: e.List})
			if _, ok := e.X.(*expr.Column); !ok {
				of = c.String() + " IN (...)"
			}
		}
	case *expr.Like:
		if k, ok := e.Pattern.(*expr.Const); ok && e.Escape == nil && !e.Not && c.Typ == types.String && !k.Val.IsNull() {
			if text := strings.Trim(k.Val.Text(), "%_"); text != "" {
				tries = append(tries, like(c, text+"%"), like(c, "%"+text))
			}
		}
	}
	could := func(e expr.Expr) bool {
		is := w.columns.solver().Solve(e)
		return w.couldBind(&is, c.Index)
	}
	for _, t := range tries {
		if could(t) {
			return cmp.Or(of, t.String())
		}
	}
	if c.Typ == types.String {
		for _, pattern := range []string{"?%", "%?"} {
			if could(like(c, strings.Replace(pattern, "?", "x", 1))) {
				return like(c, strings.Replace(pattern, "?", "...", 1)).String()
			}
		}
	}
	if slices.ContainsFunc(w.layout.Key.Parts, func(p *catalog.Part) bool { return slices.Contains(p.Columns, c.Index) && !p.ManyScales() }) {
		return c.String() + " = ..."
	}
	return ""
}

// columnIn returns the first column in e.
func columnIn(e expr.Expr) (c *expr.Column) {
	expr.Some(e, func(x expr.Expr) (ok bool) {
		c, ok = x.(*expr.Column)
		return ok
	})
	return c
}

func like(c *expr.Column, pattern string) *expr.Like {
	l := &expr.Like{X: c, Pattern: &expr.Const{Val: types.NewString(pattern), Typ: types.String}}
	l.Fixed, _ = expr.ParsePattern(pattern, `\`)
	return l
}

// couldBind reports whether a part of the key could use is, a condition on column col. A range cannot be used after a part
// that separates neighbouring values of the column; single values can.
func (w *spanBuilder) couldBind(is *solve.Constraint, col int) bool {
	set, _, _ := is.Column(col)
	points := set.IsList()
	for i, p := range w.layout.Key.Parts {
		if !slices.Contains(p.Columns, col) {
			continue
		}
		if of := w.partOf(i); of >= 0 {
			if part, _, _ := is.Column(of); !part.IsAll() {
				return true
			}
		}
		switch {
		case len(p.Columns) > 1 || p.ManyScales():
		case points, !set.IsAll() && p.Monotone() != 0 && p.Order() != catalog.Unordered:
			return true
		}
		if !points && !w.enumerable(p) {
			return false
		}
	}
	return false
}
