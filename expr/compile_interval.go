package expr

import (
	"slices"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// moved compiles x + y or x - y if one of them is an INTERVAL; ok is false for other operands.
func (c compiler) moved(op string, x, y Expr, pos parser.Pos) (_ Expr, ok bool) {
	if op == "+" && x.Type() == types.Time && y.Type() == types.Date {
		x, y = y, x
	}
	if op == "+" && x.Type() == types.Date && y.Type() == types.Time { // that time of the day, without a time zone
		day := c.cast(x, types.LocalTimestamp, pos)
		time := c.cast(y, types.Duration, pos)
		x, y = day, time
	}
	if op == "-" && x.Type() == types.Time && y.Type() == types.Time {
		for _, side := range []*Expr{&x, &y} {
			span := c.cast(*side, types.Duration, pos)
			*side = span
		}
	}
	if op == "+" && (x.Type() == types.Duration || !x.Type().IsTimestamp() && y.Type().IsTimestamp()) {
		x, y = y, x
	}
	if t := x.Type(); y.Type() != types.Duration || t != types.Duration && t != types.Null && !t.IsTemporal() {
		return nil, false
	}
	if op == "-" {
		negative := c.negative(y, pos)
		y = negative
	}
	if x.Type() == types.Duration {
		out := c.apply("INTERVAL_ADD", pos, []Expr{x, y})
		return out, true
	}
	out := c.later(x, y, pos)
	return out, true
}

// hoursOnly reports whether the INTERVAL e is a constant without months and days, or a multiple of one.
func hoursOnly(e Expr) bool {
	if m, ok := e.(*Call); ok && m.Func.Name == "INTERVAL_MULTIPLY" {
		return hoursOnly(m.Args[0])
	}
	k, ok := e.(*Const)
	if !ok || k.Val.IsNull() || k.Typ != types.Duration {
		return false
	}
	months, days, _ := k.Val.Duration()
	return months|days == 0
}

// later compiles x, a moment or a time, moved by the INTERVAL y. Its months and days are those of clocks in the session's
// zone.
func (c compiler) later(x, y Expr, pos parser.Pos) Expr {
	const name = "DATE_ADD_INTERVAL"
	k, constant := y.(*Const)
	switch {
	case !c.zoned(x) || constant && k.Val.IsNull() || hoursOnly(y):
		return c.apply(name, pos, []Expr{x, y})
	case !constant:
		return c.apply(name, pos, []Expr{x, y, c.zoneName(pos)})
	}
	months, days, ms := k.Val.Duration()
	step := func(months, days, ms int64) Expr {
		v, _ := types.NewDuration(months, days, ms)
		return &Const{Pos: k.Pos, Val: v, Typ: types.Duration}
	}
	if months|days != 0 {
		x = c.onClock(x, pos, func(local Expr) Expr { return c.apply(name, pos, []Expr{local, step(months, days, 0)}) })
		if ms == 0 {
			return x
		}
	}
	return c.apply(name, pos, []Expr{x, step(0, 0, ms)})
}

func (c compiler) negative(x Expr, pos parser.Pos) Expr {
	return c.apply("INTERVAL_MULTIPLY", pos, []Expr{x, &Const{Pos: pos, Val: types.NewInt(-1), Typ: types.BigInt}})
}

// scaled compiles number * interval, interval * number or interval / number; ok is false for other operands.
func (c compiler) scaled(op string, x, y Expr, pos parser.Pos) (_ Expr, ok bool) {
	if op == "*" && y.Type() == types.Duration {
		x, y = y, x
	}
	if x.Type() != types.Duration {
		return nil, false
	}
	name := "INTERVAL_MULTIPLY"
	if op == "/" {
		name = "INTERVAL_DIVIDE"
	}
	out := c.apply(name, pos, []Expr{x, y})
	return out, true
}

// difference compiles x - y of two moments, an INTERVAL. In keys it is a number of milliseconds.
func (c compiler) difference(x, y Expr, pos parser.Pos) Expr {
	x, y = c.moments(x, y, pos)
	ms, ok := c.binOffset(x, y, pos)
	if !ok {
		ms = c.apply("-", pos, []Expr{x, y})
	}
	if c.s.Key {
		return ms
	}
	return c.apply("INTERVAL_MS", pos, []Expr{ms})
}

// inMillis returns x and ys, the two sides of a comparison, in milliseconds if x is the time between two moments and all
// ys are constants, so that keys and filters can use the comparison.
func (c compiler) inMillis(x Expr, ys []Expr) (Expr, []Expr) {
	between, ok := x.(*Call)
	if !ok || between.Func.Name != "INTERVAL_MS" {
		return x, ys
	}
	ys, millis := slices.Clone(ys), make([]Expr, len(ys))
	for i, y := range ys {
		ys[i] = c.place(y, types.Duration)
		k, constant := ys[i].(*Const)
		switch {
		case constant && k.Val.IsNull():
			millis[i] = &Const{Pos: k.Pos, Typ: types.BigInt}
		case constant && k.Typ == types.Duration:
			millis[i] = &Const{Pos: k.Pos, Val: types.NewInt(k.Val.Millis()), Typ: types.BigInt}
		default:
			return x, ys
		}
	}
	return between.Args[0], millis
}

// leading returns the first argument, or nil.
func leading(args []Expr) Expr {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}
