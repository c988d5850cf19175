package solve

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Constraint is a restriction of a row's columns that follows from a condition: it is true in all rows in which the
// condition is true, and may be true in others.
//
//	a || '|' || b = 'x|y'                    All(a = 'x', b = 'y')
//	CASE WHEN a = 1 THEN b ELSE c END = 2    Any(All(a = 1, b = 2), All(a <> 1 or NULL, c = 2))
//	RIGHT(domain, 4) = '.org'                REVERSE(domain) from 'gro.' to 'gro/', where that is a part of the key
type Constraint struct {
	Kind Kind
	// Col, Set, Null and Exact belong to kind One: the column has a value in Set or, if Null is set, may be NULL. A
	// Constraint is exact if Exact is set: the condition is true in all rows in which the Constraint is true.
	Col         int
	Set         types.Set
	Null, Exact bool
	Of          []Constraint
}

// Kind is the kind of a Constraint.
type Kind uint8

// The kinds. An All without members is true in each row, an Any without members in no row.
const (
	All     Kind = iota // all of Of are true
	Any                 // at least one of Of is true
	Either              // all of Of are true; each of them alone is equivalent to the condition
	One                 // restricts column Col
	Unknown             // nothing is known: the condition may be true in any row
)

var (
	everywhere = Constraint{}
	nowhere    = Constraint{Kind: Any}
	somewhere  = Constraint{Kind: Unknown}
)

// IsEverywhere reports whether c is true in each row.
func (c *Constraint) IsEverywhere() bool { return c.Kind == All && len(c.Of) == 0 }

// IsNowhere reports whether c is true in no row.
func (c *Constraint) IsNowhere() bool { return c.Kind == Any && len(c.Of) == 0 }

// IsTight reports whether the condition is true in all rows in which c is true.
func (c *Constraint) IsTight() bool {
	switch c.Kind {
	case One:
		return c.Exact
	case Unknown:
		return false
	}
	for i := range c.Of {
		if c.Of[i].IsTight() == (c.Kind == Either) {
			return c.Kind == Either
		}
	}
	return c.Kind != Either
}

// size returns the number of intervals in c.
func (c *Constraint) size() int {
	n := 1 + len(c.Set)
	for i := range c.Of {
		n += c.Of[i].size()
	}
	return n
}

// ofColumn returns the Constraint that the value of column col is in a.
func ofColumn(col int, a among, exact bool) Constraint {
	switch {
	case a.set.IsEmpty() && !a.null:
		return nowhere
	case a.null && a.set.IsAll() && exact:
		return everywhere
	case a.null && a.set.IsAll():
		return somewhere
	}
	return Constraint{Kind: One, Col: col, Set: a.set, Null: a.null, Exact: exact}
}

// but returns c, marked as not exact unless exact is set.
func (c Constraint) but(exact bool) Constraint {
	switch {
	case exact || c.IsNowhere():
		return c
	case c.Kind == One:
		return ofColumn(c.Col, among{set: c.Set, null: c.Null}, false)
	}
	return allOf(c, somewhere)
}

// merger combines the members of an All or Any. The members of kind One that restrict the same column become a single
// member, at the position of the first.
type merger struct {
	kind    Kind
	cs      []Constraint
	ones    []int         // indexes in cs of the Constraints of kind One
	sets    [][]types.Set // for each of ones: the sets to be combined; nil if there is only its Set
	unknown bool
}

// add adds cs. It returns false if one of them decides the result alone: in an All, one that is true in no row; in an
// Any, one that is true in each row.
func (m *merger) add(cs []Constraint) bool {
	m.cs = slices.Grow(m.cs, len(cs))
	for i := range cs {
		switch c := &cs[i]; {
		case c.Kind == m.kind:
			if !m.add(c.Of) {
				return false
			}
		case c.Kind <= Any && len(c.Of) == 0: // an empty Any in an All, or an empty All in an Any
			return false
		case c.Kind == Unknown:
			m.unknown = true
		case c.Kind != One || !m.merge(c):
			m.cs = append(m.cs, *c)
		}
	}
	return true
}

// merge combines c, which has kind One, with the Constraint of kind One in m for the same column; it returns false if
// there is none. In an Any, it combines exact Constraints only with exact ones, and inexact ones only with inexact
// ones.
func (m *merger) merge(c *Constraint) bool {
	for n, at := range m.ones {
		o := &m.cs[at]
		if o.Col != c.Col || m.kind == Any && o.Exact != c.Exact {
			continue
		}
		if m.sets[n] == nil {
			m.sets[n] = []types.Set{o.Set}
		}
		m.sets[n] = append(m.sets[n], c.Set)
		if o.Exact = o.Exact && c.Exact; m.kind == All {
			o.Null = o.Null && c.Null
		} else {
			o.Null = o.Null || c.Null
		}
		return true
	}
	m.ones, m.sets = append(m.ones, len(m.cs)), append(m.sets, nil)
	return false
}

func (m *merger) merged() Constraint {
	for n, at := range m.ones {
		if o := &m.cs[at]; m.sets[n] != nil {
			set := types.IntersectAll(m.sets[n])
			if m.kind == Any {
				set = types.SetOf(slices.Concat(m.sets[n]...)...)
			}
			*o = ofColumn(o.Col, among{set: set, null: o.Null}, o.Exact)
		}
	}
	out := m.cs[:0]
	for i := range m.cs {
		switch c := &m.cs[i]; {
		case c.Kind <= Any && c.Kind != m.kind && len(c.Of) == 0:
			return *c
		case c.Kind == Unknown:
			m.unknown = true
		case m.kind == Any && c.Kind == One && !c.Exact && slices.ContainsFunc(m.cs, c.impliedBy): // an exact one implies it
		default:
			out = append(out, *c)
		}
	}
	if m.unknown {
		out = append(out, somewhere)
	}
	if len(out) == 1 {
		return out[0]
	}
	return Constraint{Kind: m.kind, Of: out}
}

// impliedBy reports whether o is exact, restricts the same column as c, and is true wherever c is.
func (c *Constraint) impliedBy(o Constraint) bool {
	return o.Kind == One && o.Exact && o.Col == c.Col && (o.Null || !c.Null) && c.Set.SubsetOf(o.Set)
}

// allOf returns the Constraint that all of cs are true.
func allOf(cs ...Constraint) Constraint {
	m := merger{kind: All}
	if !m.add(cs) {
		return nowhere
	}
	return m.merged()
}

// anyOf returns the Constraint that one of cs is true.
func anyOf(cs ...Constraint) Constraint {
	m := merger{kind: Any}
	if !m.add(cs) {
		return everywhere
	}
	return m.merged()
}

// Column returns the values of column col in rows in which c, which must restrict no other column, is true. exact
// reports that the condition is true in all rows with one of these values.
func (c *Constraint) Column(col int) (set types.Set, null, exact bool) {
	switch c.Kind {
	case One:
		if c.Col == col {
			return c.Set, c.Null, c.Exact
		}
	case All, Either:
		set, null, exact = types.All(), true, c.Kind == All
		for i := range c.Of {
			s, n, ex := c.Of[i].Column(col)
			set, null = set.Intersect(s), null && n
			if exact = exact && ex; c.Kind == Either {
				exact = exact || ex
			}
		}
		return set, null, exact || set.IsEmpty() && !null
	case Any:
		sets := make([]types.Set, len(c.Of))
		exact = true
		for i := range c.Of {
			s, n, ex := c.Of[i].Column(col)
			sets[i], null, exact = s, null || n, exact && ex
		}
		return types.SetOf(slices.Concat(sets...)...), null, exact
	}
	return types.All(), true, false
}

// allowsNull reports whether c can be true in a row in which column col is NULL.
func (c *Constraint) allowsNull(col int) bool {
	allows := func(o Constraint) bool { return o.allowsNull(col) }
	switch c.Kind {
	case One:
		return c.Null || c.Col != col
	case Any:
		return slices.ContainsFunc(c.Of, allows)
	}
	return !slices.ContainsFunc(c.Of, func(o Constraint) bool { return !allows(o) })
}

// Solver finds the Constraints of conditions. A nil field means that the information is not available.
type Solver struct {
	// Parts are expressions that may be restricted like columns. Their column numbers begin with First.
	Parts   []expr.Expr
	First   int
	Columns interface {
		NotNull(col int) bool     // reports whether no row has NULL in the column
		NoBlankEnd(col int) bool  // reports whether no text in the column ends with a space
		Width(col int) int        // greatest number of bytes of a text in the column; 0: any number
		Held(col int) []types.Set // sets that contain the values that keys can hold; none: all
	}
	// Window returns a set that contains the column's values: the Constraint applies to no other rows.
	Window func(col int) types.Set
	// Tick is called often. It may panic to stop.
	Tick func()
}

// Solve returns the Constraint of the condition e.
func (s *Solver) Solve(e expr.Expr) Constraint {
	f := finder{Solver: s}
	return f.where(e, onlyTrue)
}

// SolveAll returns the Constraints of conditions that must all be true.
func (s *Solver) SolveAll(es []expr.Expr) []Constraint {
	f := finder{Solver: s}
	return f.conjunction(es)
}

// conjunction returns the Constraints of terms that must all be true. If a Constraint is not tight, it solves the term
// again, only for the values that the other terms and the keys allow. That helps a condition on the month if another
// one fixes the year.
func (f *finder) conjunction(terms []expr.Expr) []Constraint {
	cs := f.each(terms, onlyTrue)
	loose := func(i int) bool { return i < len(cs) && !cs[i].IsTight() }
	if all := (Constraint{Of: cs}); f.depth > 8 || all.IsTight() {
		return cs
	}
	for i := range terms {
		if loose(i) && loose(i+1) {
			if is, ok := f.both(terms[i], terms[i+1]); ok && !is.IsTight() {
				cs[i], cs[i+1] = is, is
			}
		}
	}
	w := f.given(cs)
	defer func() { f.Solver = w.outer }()
	for i, e := range terms {
		c := &cs[i]
		if !loose(i) || c.Kind == One && !c.Null && !c.Set.IsAll() || !expr.SomeColumn(e, func(col int) bool { return w.of(col) != nil }) {
			continue
		}
		is, both := Constraint{}, false
		if loose(i + 1) {
			is, both = f.both(e, terms[i+1])
		}
		if !both {
			is = f.where(e, onlyTrue)
		}
		if is.Kind == One && w.of(is.Col) != nil && w.of(is.Col).SubsetOf(is.Set) {
			continue
		}
		if *c = is; both {
			cs[i+1] = is
		}
		if is.Kind == One {
			delete(w.known, is.Col)
		}
	}
	return cs
}

// given limits what f solves next to rows in which all of cs are true, until the caller sets f.Solver to outer again.
func (f *finder) given(cs []Constraint) *windows {
	w, within := &windows{outer: f.Solver, terms: cs, known: map[int]types.Set{}}, *f.Solver
	within.Window = w.of
	f.Solver = &within
	return w
}

// windows has the values that columns can have in rows in which all of terms are true. It also applies the limits of
// outer.
type windows struct {
	outer *Solver
	terms []Constraint
	known map[int]types.Set // nil: all values
}

func (w *windows) of(col int) types.Set {
	set, known := w.known[col]
	if known {
		return set
	}
	var sets []types.Set
	if w.outer.Window != nil {
		if s := w.outer.Window(col); s != nil {
			sets = append(sets, s)
		}
	} else if w.outer.Columns != nil {
		sets = w.outer.Columns.Held(col)
	}
	for i := range w.terms {
		if is := &w.terms[i]; is.Kind == One || is.Kind == Either {
			if s, null, _ := is.Column(col); !null && !s.IsAll() {
				sets = append(sets, s)
			}
		}
	}
	if len(sets) > 0 {
		set = types.IntersectAll(sets)
	}
	w.known[col] = set
	return set
}

// both returns the Constraint of two comparisons of the same expression with constants, which may be narrower than their
// conjunction: the numbers from 500 to 700 have texts of three digits, while each half has texts of any length.
func (f *finder) both(a, b expr.Expr) (Constraint, bool) {
	var x expr.Expr
	all := among{set: types.All()}
	for _, e := range []expr.Expr{a, b} {
		c, ok := e.(*expr.Compare)
		if !ok {
			return somewhere, false
		}
		k, ok := c.Y.(*expr.Const)
		if !ok || k.Val.IsNull() || mixed(c.X.Type(), k.Val) || x != nil && !expr.Same(x, c.X) {
			return somewhere, false
		}
		x, all.set = c.X, all.set.Intersect(compareSet(c.Op, k.Val, c.X.Type()))
	}
	return f.where(x, all), true
}

// value returns the Constraint that the value of column col is in out. It omits restrictions that the column's window
// implies.
func (f *finder) value(col int, out among) Constraint {
	if out.null && f.Columns != nil && f.Columns.NotNull(col) {
		out.null = false
	}
	if f.Window != nil {
		if w := f.Window(col); w != nil && w.SubsetOf(out.set) {
			return ofColumn(col, notNull, out.set.IsAll())
		} else if w != nil {
			out = among{set: out.set.Intersect(w)}
		}
	}
	return ofColumn(col, out, true)
}

// ending returns Constraints that follow if the text x matches p. They restrict those of f.Parts that reverse x, since
// the end of p is the beginning of such a part. It returns none if there are no such parts.
func (f *finder) ending(x expr.Expr, p *expr.Pattern) (found []Constraint) {
	for i, part := range f.Parts {
		if q, ok := LikeImage(part, x, p); ok {
			if lit, whole, tail := q.Prefix(); lit != "" && !whole {
				found = append(found, ofColumn(f.First+i, among{set: types.SetOf(types.PrefixInterval(types.String, lit))}, tail))
			}
		}
	}
	return found
}

// either returns the Constraint that all of cs are true; each of them alone is equivalent to the condition.
func either(cs []Constraint) Constraint {
	if len(cs) == 1 {
		return cs[0]
	}
	return Constraint{Kind: Either, Of: cs}
}

// parts returns the Constraints on f.Parts that follow if the value of e is in out. It restricts parts that are equal
// to e or computed only from e, such as 'p' || n % 6 for n % 6.
func (f *finder) parts(e expr.Expr, out among) (found []Constraint) {
	for i, p := range f.Parts {
		c, none := everywhere, out.set.IsAll() || out.null
		switch {
		case expr.Same(e, p):
			c = f.value(f.First+i, out)
		case none || !contains(p, e):
		default:
			inner := &expr.Column{Index: f.First + len(f.Parts), Typ: e.Type()}
			of := expr.Map(p, func(x expr.Expr) expr.Expr {
				if expr.Same(x, e) {
					return inner
				}
				return x
			})
			if image, ok := Image(of, inner.Index, out.set, Stored{}); ok {
				c = ofColumn(f.First+i, among{set: image}, false)
			}
		}
		if c.IsNowhere() || c.Kind == One && !c.Null && !c.Set.IsAll() {
			found = append(found, c)
		}
	}
	return found
}

// contains reports whether e, neither a column nor a constant, occurs in x.
func contains(x, e expr.Expr) bool {
	switch e.(type) {
	case *expr.Column, *expr.Const:
		return false
	}
	return expr.Same(x, e) || slices.ContainsFunc(expr.Children(x), func(y expr.Expr) bool { return contains(y, e) })
}

// Concerns reports whether a condition may restrict the expression part: whether part contains an expression of the
// condition other than a column or constant.
func Concerns(cond, part expr.Expr) bool {
	if l, ok := cond.(*expr.Like); ok && l.Lower != nil {
		return Concerns(lowered(l), part)
	}
	if as := reworded(cond); as != cond {
		return Concerns(as, part)
	}
	return contains(part, cond) || slices.ContainsFunc(expr.Children(cond), func(x expr.Expr) bool { return Concerns(x, part) })
}

// lowered returns LOWER of the text that an ILIKE compares with its pattern in lower case.
func lowered(l *expr.Like) expr.Expr {
	return &expr.Call{Pos: l.X.Position(), Func: l.Lower, Args: []expr.Expr{l.X}, Typ: types.String}
}

// limits returns the Window of x.
func (f *finder) limits(x expr.Expr) expr.Window {
	w := expr.Window{In: func() types.Set { return f.among(x) }}
	switch x := x.(type) {
	case *expr.Column:
		if f.Columns != nil {
			w.Width = f.Columns.Width(x.Index)
		}
	case *expr.Call:
		if a := x.Func.Key; a != nil && a.Most != nil {
			w.Width = a.Most(x)
		}
	}
	return w
}

// among returns the values that x can have if the column of x has a value in its Window. For floats it returns all
// values, since a set does not distinguish 0 and -0, whose texts differ.
func (f *finder) among(x expr.Expr) types.Set {
	if t := x.Type(); f.Window != nil && t != types.Double && t != types.Float {
		if col, ok := soleColumn(x); ok {
			if w := f.Window(col); w != nil {
				if s, ok := listed(x, col, w); ok {
					return s
				}
			}
		}
	}
	return types.All()
}

// soleColumn returns the column of an expression that has only one.
func soleColumn(e expr.Expr) (int, bool) {
	switch x := e.(type) { // a copy of Columns that is fast for a WHERE with many terms
	case *expr.Compare:
		c, ok := x.X.(*expr.Column)
		if _, constant := x.Y.(*expr.Const); ok && constant {
			return c.Index, true
		}
	case *expr.In:
		if c, ok := x.X.(*expr.Column); ok {
			return c.Index, true
		}
	}
	cols := expr.Columns(e)
	if len(cols) != 1 {
		return 0, false
	}
	return cols[0], true
}
