package expr

import (
	"slices"
	"time"

	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// SubqueryKind is the use of a sub-query's rows.
type SubqueryKind uint8

// The kinds: (SELECT ...) as a value, EXISTS (SELECT ...), X IN (SELECT ...) and X op ANY (SELECT ...), ARRAY(SELECT ...).
const (
	ScalarSubquery SubqueryKind = iota
	ExistsSubquery
	InSubquery
	ArraySubquery
)

// Subquery is a query inside an expression. Env.Subquery runs the query; Answer converts its rows to a value.
type Subquery struct {
	parser.Pos
	Kind SubqueryKind
	Not  bool      // for EXISTS and IN; x op ALL (...) is NOT x ANY (...) with the opposite operator
	Op   CompareOp // for ANY; EQ for IN
	X    []Expr    // for IN and ANY: one expression, or the items of a row value
	// Columns is the number of columns of a query whose row is assigned, and Column the index of the one that is the value.
	// It is 0 for other queries.
	Columns, Column int
	Outer           []Expr       // the values that the query takes from the outer row
	Types           []types.Type // the types of the query's columns
	// Limits are the limits of the query's columns, such as VARCHAR(20); nil: none is known.
	Limits []types.Limit
	Query  any    // the plan for Env.Subquery
	Text   string // the query as written
	Failed error  // of the query, which has run
	funcs  *Registry
}

// Type returns the type of the query's column for a scalar, an array type for ARRAY, otherwise BOOLEAN.
func (s *Subquery) Type() types.Type {
	switch s.Kind {
	case ScalarSubquery:
		return s.Types[s.Column]
	case ArraySubquery:
		return types.ArrayOf(s.elem())
	}
	return types.Boolean
}

func (s *Subquery) limit(column int) types.Limit {
	if column >= len(s.Limits) {
		return types.Limit{}
	}
	return s.Limits[column]
}

// elem returns the type of the elements of an array of the query's rows.
func (s *Subquery) elem() types.Type {
	if t := s.Types[0].ElemOrSelf(); t != types.Null {
		return t
	}
	return types.String
}

// String returns the expression as SQL.
func (s *Subquery) String() string {
	switch s.Kind {
	case ArraySubquery:
		return "ARRAY(" + s.Text + ")"
	case ExistsSubquery:
		return not(s.Not) + "EXISTS (" + s.Text + ")"
	case InSubquery:
		x := operand(s.X[0])
		if len(s.X) > 1 {
			x = "(" + Texts(s.X) + ")"
		}
		switch {
		case s.Op == EQ:
			return x + " " + not(s.Not) + "IN (" + s.Text + ")"
		case s.Not:
			return x + " " + s.Op.Negate().String() + " ALL (" + s.Text + ")"
		}
		return x + " " + s.Op.String() + " ANY (" + s.Text + ")"
	}
	return "(" + s.Text + ")"
}

// Negate returns NOT s.
func (s *Subquery) Negate() Expr {
	if s.Kind == ScalarSubquery {
		return &Not{X: s}
	}
	return with(s, func(s *Subquery) { s.Not = !s.Not })
}

// Eval runs the query for the row, or returns the cached result for equal outer values.
func (s *Subquery) Eval(env *Env) (types.Value, error) {
	if s.Failed != nil {
		return types.Value{}, s.Failed
	}
	if env.Subquery == nil {
		return types.Value{}, parser.Errorf(s.Pos, "a sub-query is not allowed here")
	}
	outer := make([]types.Value, len(s.Outer))
	for i, x := range s.Outer {
		v, err := x.Eval(env)
		if err != nil {
			return v, err
		}
		outer[i] = v
	}
	answer, err := env.Subquery(s, outer)
	if err != nil {
		return types.Value{}, err
	}
	if _, known := answer.(*Const); !known {
		of := *env
		of.Row = make([]types.Value, len(s.X))
		for i, x := range s.X {
			if of.Row[i], err = x.Eval(env); err != nil {
				return types.Value{}, err
			}
		}
		env = &of
	}
	v, err := answer.Eval(env)
	if err != nil || v.IsNull() || !s.Not {
		return v, err
	}
	return types.NewBool(!v.Bool()), nil
}

// Bare returns s without NOT, and with each X replaced by a column of the same index. So expressions that differ only
// in NOT and X share one cached answer.
func (s *Subquery) Bare() *Subquery {
	out := *s
	out.Not = false
	out.X = make([]Expr, len(s.X))
	for i, x := range s.X {
		out.X[i] = &Column{Pos: x.Position(), Index: i, Typ: x.Type()}
	}
	return &out
}

// Width returns the number of the query's columns that matter: one for each X or assigned column, but at least one.
func (s *Subquery) Width() int { return max(1, len(s.X), s.Columns) }

// Answer returns the value of s for the rows of its query; values has the columns of all rows, one row after the other.
func (s *Subquery) Answer(values []types.Value, loc *time.Location) (_ Expr, err error) {
	defer fail.Catch(&err)
	switch s.Kind {
	case ExistsSubquery:
		return boolConst(s, len(values) > 0 != s.Not), nil
	case InSubquery:
		if len(values) == 0 {
			return boolConst(s, s.Not), nil
		}
		items := make([]Expr, len(values))
		for i, v := range values {
			items[i] = &Const{Pos: s.Pos, Val: v, Typ: s.Types[i%len(s.X)], Limit: s.limit(i % len(s.X))}
		}
		c := compiler{&Scope{Funcs: s.funcs, Loc: loc}}
		if len(s.X) > 1 {
			return c.anyRow(s.Pos, s.Op, s.X, s.Not, items), nil
		}
		return c.anyOf(s.Pos, s.Op, s.X[0], s.Not, items), nil
	case ArraySubquery:
		k := &Const{Pos: s.Pos, Val: types.NewArray(s.elem(), values), Typ: s.Type()}
		if s.Types[0].IsArray() {
			if k.Val, err = types.Stack(s.elem(), values); err != nil {
				return nil, parser.Errorf(s.Pos, "%s", err)
			}
		}
		return k, nil
	}
	k := &Const{Pos: s.Pos, Typ: s.Type(), Limit: s.limit(s.Column)}
	switch len(values) {
	case 0:
	case s.Width():
		k.Val = values[s.Column]
	default:
		return nil, parser.Errorf(s.Pos, "a sub-query used as a value gave more than one row")
	}
	return k, nil
}

// NewSubquery returns the expression for s, or an error if s compares values that cannot be compared. Comparisons with
// the query's rows take their functions from scope.
func NewSubquery(s Subquery, scope *Scope) (_ *Subquery, err error) {
	defer fail.Catch(&err)
	s.funcs, s.X = scope.Funcs, slices.Clone(s.X)
	c := compiler{scope}
	for i, t := range s.Types[:len(s.X)] {
		s.X[i] = c.place(s.X[i], t)
		c.comparable(s.X[i].Type(), t, s.Pos)
	}
	return &s, nil
}
