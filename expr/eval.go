package expr

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

func (c *Const) Eval(*Env) (types.Value, error)      { return c.Val, nil }
func (c *Column) Eval(env *Env) (types.Value, error) { return env.Row[c.Index], nil }

func (a *And) Eval(env *Env) (types.Value, error) { return junction(a.Terms, false, env) }
func (o *Or) Eval(env *Env) (types.Value, error)  { return junction(o.Terms, true, env) }

// junction evaluates an AND or OR. One term with the value decides (FALSE for AND, TRUE for OR) determines the result;
// a term's error matters only if there is no such term. So the result depends neither on the order of the terms nor on
// which of them the key has decided already.
func junction(terms []Expr, decides bool, env *Env) (types.Value, error) {
	out := types.NewBool(!decides)
	var failed error
	for _, t := range terms {
		switch v, err := t.Eval(env); {
		case err != nil:
			if failed == nil {
				failed = err
			}
		case v.IsNull():
			out = types.Value{}
		case v.Bool() == decides:
			return v, nil
		}
	}
	return out, failed
}

func (n *Not) Eval(env *Env) (types.Value, error) {
	v, err := n.X.Eval(env)
	if err != nil || v.IsNull() {
		return v, err
	}
	return types.NewBool(!v.Bool()), nil
}

func (c *Compare) Eval(env *Env) (types.Value, error) {
	x, err := c.X.Eval(env)
	if err != nil || x.IsNull() {
		return types.Value{}, err
	}
	held := env.Held
	if err := env.Hold(x); err != nil {
		return x, parser.Errorf(c.Pos, "%s", err).Of(err)
	}
	y, err := c.Y.Eval(env)
	env.Held = held
	if err != nil || y.IsNull() {
		return types.Value{}, err
	}
	r, err := types.Compare(x, y)
	if err != nil {
		return types.Value{}, parser.Errorf(c.Pos, "%v", err)
	}
	return types.NewBool(c.Op.Holds(r)), nil
}

// integers compares a column with a constant, if both are integers: the most frequent condition.
func (c *Compare) integers(row []types.Value) (is, ok bool) {
	x, isColumn := c.X.(*Column)
	y, isConst := c.Y.(*Const)
	if !isColumn || !isConst {
		return false, false
	}
	_, v, isInteger := row[x.Index].Integer()
	_, w, ok := y.Val.Integer()
	return c.Op.Holds(cmp.Compare(v, w)), ok && isInteger
}

func (i *In) Eval(env *Env) (types.Value, error) {
	x, err := i.X.Eval(env)
	if err != nil || x.IsNull() {
		return types.Value{}, err
	}
	_, found := slices.BinarySearchFunc(i.List, x, func(a, b types.Value) int {
		c, cerr := types.Compare(a, b)
		if cerr != nil {
			err = parser.Errorf(i.Pos, "%v", cerr)
		}
		return c
	})
	switch {
	case err != nil:
		return types.Value{}, err
	case found:
		return types.NewBool(!i.Not), nil
	case i.HasNull:
		return types.Value{}, nil
	}
	return types.NewBool(i.Not), nil
}

func (l *Like) Eval(env *Env) (types.Value, error) {
	x, err := l.X.Eval(env)
	if err != nil || x.IsNull() {
		return types.Value{}, err
	}
	p := l.Fixed
	text := x.Text()
	if p == nil {
		held := env.Held
		if err := env.Hold(x); err != nil {
			return x, parser.Errorf(l.Pos, "%s", err).Of(err)
		}
		v, err := l.Pattern.Eval(env)
		env.Held = held
		if err != nil || v.IsNull() {
			return types.Value{}, err
		}
		s := v.Text()
		if l.Lower != nil {
			s = strings.ToLower(s)
		}
		if p, err = ParsePattern(s, l.escape()); err != nil {
			return types.Value{}, parser.Errorf(l.Pos, "%v", err)
		}
	}
	if len(text) > longText {
		if err := env.Stopped(); err != nil {
			return types.Value{}, err
		}
	}
	if l.Lower != nil {
		text = strings.ToLower(text)
	}
	return types.NewBool(p.Match(text) != l.Not), nil
}

func (l *Like) escape() string {
	if l.Escape == nil {
		return `\`
	}
	return *l.Escape
}

func (i *IsNull) Eval(env *Env) (types.Value, error) {
	v, err := i.X.Eval(env)
	if err != nil {
		return v, err
	}
	return types.NewBool(v.IsNull() != i.Not), nil
}

func (c *Call) Eval(env *Env) (types.Value, error) {
	var buf [4]types.Value
	args, held := buf[:0], env.Held
	for _, a := range c.Args {
		v, err := a.Eval(env)
		if err != nil {
			return v, err
		}
		if v.IsNull() && !c.Func.NullArgs || !v.IsNull() && c.Func.First {
			env.Held = held
			return v, nil
		}
		if err := env.holdArgument(v); err != nil {
			return v, parser.Errorf(c.Pos, "%s", err).Of(err)
		}
		args = append(args, v)
	}
	v, err := c.Func.Eval(env, args)
	env.Held = held
	if err != nil || len(v.Text()) > longText {
		if stop := env.Stopped(); stop != nil {
			return types.Value{}, stop
		}
	}
	if err != nil {
		if _, ok := err.(*parser.Error); !ok {
			err = parser.Errorf(c.Pos, "%s", err).Of(err)
		}
		return types.Value{}, err
	}
	if len(v.Text()) > MaxText {
		return types.Value{}, parser.Errorf(c.Pos, "%s", ErrTooLong)
	}
	return v, nil
}

func (c *Cast) Eval(env *Env) (types.Value, error) {
	v, err := c.X.Eval(env)
	if err != nil {
		return v, err
	}
	if len(v.Text()) > longText && c.Typ.IsArray() {
		n := v.Len()
		if !v.Type().IsArray() {
			n = strings.Count(v.Text(), ",") + 1
		}
		if err := env.RoomForItems(n); err != nil {
			return types.Value{}, parser.Errorf(c.Pos, "%s", err).Of(err)
		}
	}
	loc := env.Loc
	if c.Key {
		loc = c.Zone
	}
	out, err := types.Cast(v, c.Typ, loc)
	if err != nil {
		return types.Value{}, parser.Errorf(c.Pos, "%s", err)
	}
	return out, nil
}

func (c *Case) Eval(env *Env) (types.Value, error) {
	for _, w := range c.Whens {
		v, err := w.Cond.Eval(env)
		if err != nil {
			return v, err
		}
		if !v.IsNull() && v.Bool() {
			return w.Then.Eval(env)
		}
	}
	return c.Else.Eval(env)
}

// IsTrue reports whether e, a condition, is true for env.Row, that is, neither false nor unknown. An error of a term of AND
// matters only if no other term is false or unknown.
func IsTrue(e Expr, env *Env) (bool, error) {
	if a, ok := e.(*And); ok {
		var failed error
		for _, t := range a.Terms {
			is, err := IsTrue(t, env)
			if !is && err == nil {
				return false, nil
			}
			failed = cmp.Or(failed, err)
		}
		return failed == nil, failed
	}
	if c, ok := e.(*Compare); ok {
		if is, ok := c.integers(env.Row); ok {
			return is, nil
		}
	}
	v, err := e.Eval(env)
	if err != nil || v.IsNull() {
		return false, err
	}
	return v.Bool(), nil
}

// MaxText bounds the bytes of a text that a function may return; Call.Eval checks each result. Functions that repeat or
// concatenate their arguments check it in advance.
const MaxText = 64 << 20

var ErrTooLong = errors.New("the text would be longer than 64 MiB")
