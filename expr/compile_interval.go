package expr

import (
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// moved compiles x + y or x - y if one of them is an INTERVAL; ok is false for other operands.
func (c compiler) moved(op string, x, y Expr, pos parser.Pos) (_ Expr, ok bool, _ error) {
	if op == "+" && x.Type() == types.Time && y.Type() == types.Date {
		x, y = y, x
	}
	if op == "+" && x.Type() == types.Date && y.Type() == types.Time { // that time of the day, without a time zone
		day, err := c.cast(x, types.LocalTimestamp, pos)
		if err != nil {
			return nil, true, err
		}
		time, err := c.cast(y, types.Duration, pos)
		if err != nil {
			return nil, true, err
		}
		x, y = day, time
	}
	switch {
	case x.Type() == types.Duration, x.Type().IsTimestamp() && !c.s.Key: // in keys moments are numbers
		y = c.asInterval(y)
	case y.Type() == types.Duration, y.Type().IsTimestamp() && !c.s.Key:
		x = c.asInterval(x)
	}
	if op == "+" && (x.Type() == types.Duration || !x.Type().IsTimestamp() && y.Type().IsTimestamp()) {
		x, y = y, x
	}
	if t := x.Type(); y.Type() != types.Duration || t != types.Duration && t != types.Null && !t.IsTemporal() {
		return nil, false, nil
	}
	if op == "-" {
		negative, err := c.negative(y, pos)
		if err != nil {
			return nil, true, err
		}
		y = negative
	}
	name := "DATE_ADD_INTERVAL"
	if x.Type() == types.Duration {
		name = "INTERVAL_ADD"
	}
	out, err := c.apply(name, pos, []Expr{x, y})
	return out, true, err
}

func (c compiler) negative(x Expr, pos parser.Pos) (Expr, error) {
	return c.apply("INTERVAL_MULTIPLY", pos, []Expr{x, &Const{Pos: pos, Val: types.NewInt(-1), Typ: types.BigInt}})
}

// scaled compiles number * interval, interval * number or interval / number; ok is false for other operands.
func (c compiler) scaled(op string, x, y Expr, pos parser.Pos) (_ Expr, ok bool, _ error) {
	if op == "*" && y.Type() == types.Duration {
		x, y = y, x
	}
	if x.Type() != types.Duration {
		return nil, false, nil
	}
	name := "INTERVAL_MULTIPLY"
	if op == "/" {
		name = "INTERVAL_DIVIDE"
	}
	out, err := c.apply(name, pos, []Expr{x, y})
	return out, true, err
}

// asInterval returns x as an INTERVAL if it is a number of milliseconds between two moments.
func (c compiler) asInterval(x Expr) Expr {
	if betweenMoments(x) {
		return &Call{Pos: x.Position(), Func: c.registry().Lookup("INTERVAL_MS"), Args: []Expr{x}, Typ: types.Duration}
	}
	return x
}

// betweenMoments reports whether x is the difference of two TIMESTAMPs, which is a number of milliseconds.
func betweenMoments(x Expr) bool {
	switch x := x.(type) {
	case *Const:
		return x.between
	case *Call:
		switch x.Func.Name {
		case "BIN_OFFSET":
			return true
		case "-":
			return x.Args[0].Type().IsTimestamp() && x.Args[1].Type().IsTimestamp()
		}
	}
	return false
}

// sameUnit converts an INTERVAL and a number of milliseconds between moments to the same unit for a comparison. A constant
// becomes milliseconds, so that keys and filters can use it.
func (c compiler) sameUnit(x, y Expr) (Expr, Expr) {
	switch k, ok := y.(*Const); {
	case ok && k.Typ == types.Duration && betweenMoments(x) && !k.Val.IsNull():
		return x, &Const{Pos: k.Pos, Val: types.NewInt(k.Val.Millis()), Typ: types.BigInt}
	case x.Type() == types.Duration:
		y = c.asInterval(y)
	case y.Type() == types.Duration:
		x = c.asInterval(x)
	}
	return x, y
}

// leading returns the first argument, or nil.
func leading(args []Expr) Expr {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}
