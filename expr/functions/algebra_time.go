package functions

import (
	"sort"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// timestampArg reports whether the algebra's argument is one of the TIMESTAMPs; the algebra applies only to them.
func timestampArg(c *expr.Call) bool { return momentType(c).IsTimestamp() }

// momentType returns the type of the algebra's argument.
func momentType(c *expr.Call) types.Type { return c.Args[c.Argument()].Type() }

// intervalAlgebra is the algebra of adding an interval to a moment or day, such as keys with the time of a zone with a
// fixed offset.
var intervalAlgebra = &expr.Algebra{
	Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
		if _, ok := fixedInterval(c); ok {
			return follows
		}
		if c.Args[0].Type() != types.Date {
			return nil
		}
		epoch := types.NewDate(0) // adding months to days near both ends of the range fails
		return []expr.Piece{{In: types.Interval{Hi: epoch}}, {In: types.Interval{Lo: epoch}}}
	},
	Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
		if _, fixed := fixedInterval(c); !fixed {
			pre, ok = beforeMonths(c, out)
		}
		return pre, ok, ok
	},
}

// zoneAlgebra is the algebra of AT TIME ZONE.
var zoneAlgebra = &expr.Algebra{Arg: 1, Image: func(c *expr.Call, in types.Set) (walls types.Set, ok bool) {
	loc := expr.ConstZone(c.Args[0])
	switch {
	case loc == nil || in.IsAll():
		return nil, false
	case momentType(c) == types.LocalTimestamp:
		return solve.FromWall(in, loc), true
	}
	walls, _ = solve.ToWall(in, loc)
	return walls, true
}, Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	loc := expr.ConstZone(c.Args[0])
	switch {
	case loc == nil:
		return nil, true, false
	case momentType(c) == types.LocalTimestamp:
		pre, exact = solve.ToWall(out, loc)
		return pre, exact, true
	}
	return solve.FromWall(out, loc), true, true
}}

// beforeMonths returns the TIMESTAMPs for which adding the call's months gives a value in out. Days keep their order,
// but all days that the resulting month does not have become its last day.
func beforeMonths(c *expr.Call, out types.Set) (types.Set, bool) {
	k, ok := c.Args[1].(*expr.Const)
	if !ok || k.Val.IsNull() || !timestampArg(c) || len(c.Args) != 2 {
		return nil, false
	}
	months, ms := k.Val.Months()
	const most = solve.MaxCivil / (28 * types.MillisPerDay)
	if months < -most || months > most || ms < -solve.MaxCivil || ms > solve.MaxCivil {
		return nil, false
	}
	const day = types.MillisPerDay
	moved := func(d int64) int64 { return addMonths(time.UnixMilli(d*day).UTC(), int(months)).UnixMilli() + ms } // the moved midnight
	var pre []types.Interval
	for _, iv := range out {
		s := spanOf(iv)
		from, to := int64(-solve.MaxCivil/day)-1, int64(solve.MaxCivil/day)+1
		// firstDay returns the first day from which on ok is true.
		firstDay := func(ok func(d int64) bool) int64 {
			return from + int64(sort.Search(int(to-from), func(i int) bool { return ok(from + int64(i)) }))
		}
		lo := firstDay(func(d int64) bool { return moved(d) >= types.SubClamp(s.lo, day-1) })
		hi := firstDay(func(d int64) bool { return moved(d) > s.hi }) - 1
		part := func(d int64) {
			at := moved(d)
			if a, b := max(s.lo, at), min(s.hi, at+day-1); a <= b {
				pre = append(pre, span{max(d*day+a-at, -solve.MaxCivil), min(d*day+b-at, solve.MaxCivil)}.interval(momentType(c)))
			}
		}
		// part adds the days at both ends, of which only a part may be in out; the days between them are in out as a
		// whole. Up to four days may be moved to the same day.
		a, b := lo, hi
		for ; a <= hi && moved(a) < s.lo; a++ {
			part(a)
		}
		for ; b >= a && moved(b) > types.SubClamp(s.hi, day-1); b-- {
			part(b)
		}
		if a <= b {
			pre = append(pre, span{max(a*day, -solve.MaxCivil), min(b*day+day-1, solve.MaxCivil)}.interval(momentType(c)))
		}
	}
	return types.SetOf(pre...), true
}

// fixedInterval returns the milliseconds that the call adds to a TIMESTAMP; ok is false if they vary.
func fixedInterval(c *expr.Call) (ms int64, ok bool) {
	k, isConst := c.Args[1].(*expr.Const)
	if !isConst || k.Val.IsNull() || !timestampArg(c) {
		return 0, false
	}
	months, days, _ := k.Val.Duration()
	_, ms = k.Val.Months()
	return ms, months == 0 && (days == 0 || len(c.Args) == 2) // days of clocks in a zone vary
}

// binWidth returns the bin width of a DATE_BIN or BIN_OFFSET call in milliseconds.
func binWidth(c *expr.Call) (int64, bool) {
	k, ok := c.Args[0].(*expr.Const)
	if !ok || !k.Val.Type().IsText() || len(c.Args) > 2 { // the algebra applies only to bins that start at 1970-01-01
		return 0, false
	}
	w, err := fixedWidth(k.Val.Text())
	return w, err == nil
}

var binAlgebra = &expr.Algebra{Arg: 1, Pieces: allPieces(rises)}

// extractAlgebra is the algebra of EXTRACT.
var extractAlgebra = &expr.Algebra{Arg: 1, Domain: func(c *expr.Call) (types.Set, bool) {
	k, ok := c.Args[0].(*expr.Const)
	if !ok {
		return nil, false
	}
	of, ok := fieldDomain[field(k.Val)]
	return types.SetOf(of.interval(types.BigInt)), ok
}, Pieces: func(c *expr.Call, in types.Interval) []expr.Piece {
	k, ok := c.Args[0].(*expr.Const)
	if !ok {
		return nil
	}
	switch field(k.Val) {
	case "millennium", "century", "decade", "year", "isoyear", "julian", "epoch":
		return rises
	case "quarter", "month", "doy":
		return calendarPieces(in, 12)
	case "week":
		return isoYearPieces(in)
	case "day":
		return calendarPieces(in, 1)
	case "dow":
		return solve.TimePieces(in, 7*types.MillisPerDay, 3*types.MillisPerDay) // weeks from Sunday on
	case "isodow":
		return solve.TimePieces(in, 7*types.MillisPerDay, 4*types.MillisPerDay)
	case "hour":
		return solve.TimePieces(in, types.MillisPerDay, 0)
	case "minute":
		return solve.TimePieces(in, 3_600_000, 0)
	case "second", "millisecond", "microsecond":
		return solve.TimePieces(in, 60_000, 0)
	}
	return nil
}}

// fieldDomain are the values of the periodic fields.
var fieldDomain = map[string]span{"quarter": {1, 4}, "month": {1, 12}, "week": {1, 53}, "doy": {1, 366}, "day": {1, 31}, "dow": {0, 6}, "isodow": {1, 7}, "hour": {0, 23}, "minute": {0, 59}}

// calendarPieces divides in into units of a number of months; units of years begin in January.
func calendarPieces(in types.Interval, months int) []expr.Piece {
	return unitPieces(in, int64(months)*28*types.MillisPerDay, func(t time.Time) time.Time {
		return time.Date(t.Year(), (t.Month()-1)/time.Month(months)*time.Month(months)+1, 1, 0, 0, 0, 0, time.UTC)
	}, func(t time.Time) time.Time { return t.AddDate(0, months, 0) })
}

// isoYear returns the start of a year of ISO 8601's weeks, the week that contains January 4.
func isoYear(year int) time.Time {
	t := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	return t.AddDate(0, 0, -int(t.Weekday()+6)%7)
}

// isoYearPieces divides in into years of ISO 8601's weeks.
func isoYearPieces(in types.Interval) []expr.Piece {
	return unitPieces(in, 364*types.MillisPerDay, func(t time.Time) time.Time { y, _ := t.ISOWeek(); return isoYear(y) },
		func(t time.Time) time.Time { y, _ := t.ISOWeek(); return isoYear(y + 1) })
}

// unitPieces divides in, TIMESTAMPs or DATEs, into units that last at least least milliseconds.
func unitPieces(in types.Interval, least int64, start, next func(time.Time) time.Time) (out []expr.Piece) {
	if in.Lo.IsNull() || in.Hi.IsNull() {
		return nil
	}
	lo, hi := millis(in.Lo), millis(in.Hi)
	if lo < -solve.MaxCivil || hi > solve.MaxCivil || (hi-lo)/least > solve.MostPeriods {
		return nil
	}
	of := func(t time.Time) types.Value { return solve.MomentAs(in.Lo.Type(), t.UnixMilli()) }
	for t := start(time.UnixMilli(lo).UTC()); t.UnixMilli() <= hi; t = next(t) {
		out = append(out, expr.Piece{In: types.Interval{Lo: of(t), Hi: of(next(t)), HiOpen: true}})
	}
	return out
}
