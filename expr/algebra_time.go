package expr

import (
	"math"
	"time"

	"github.com/hql-db/hql/types"
)

// timestampArg reports whether the algebra's argument is one of the TIMESTAMPs; the algebra applies only to them.
func timestampArg(c *Call) bool { return c.moment().IsTimestamp() }

// moment returns the type of the algebra's argument.
func (c *Call) moment() types.Type { return c.Args[c.argument()].Type() }

// intervalAlgebra is the algebra of adding an interval to a moment or day, such as keys with the time of a zone with a
// fixed offset.
var intervalAlgebra = &Algebra{
	Pieces: func(c *Call, _ types.Interval) []Piece {
		if _, ok := c.fixedInterval(); ok {
			return follows
		}
		if c.Args[0].Type() != types.Date {
			return nil
		}
		epoch := types.NewDate(0) // adding months to days near both ends of the range fails
		return []Piece{{In: types.Interval{Hi: epoch}}, {In: types.Interval{Lo: epoch}}}
	},
	Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
		if _, fixed := c.fixedInterval(); !fixed {
			pre, ok = c.beforeMonths(out)
		}
		return pre, ok, ok
	},
}

// zoneAlgebra is the algebra of AT TIME ZONE.
var zoneAlgebra = &Algebra{Arg: 1, Image: func(c *Call, in types.Set) (walls types.Set, ok bool) {
	loc, ok := c.zone()
	switch {
	case !ok || in.IsAll():
		return nil, false
	case c.moment() == types.LocalTimestamp:
		return fromWall(in, loc), true
	}
	walls, _ = toWall(in, loc)
	return walls, true
}, Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
	loc, ok := c.zone()
	if ok && c.moment() == types.LocalTimestamp {
		pre, exact = toWall(out, loc)
		return pre, exact, true
	} else if ok {
		pre = fromWall(out, loc)
	}
	return pre, true, ok
}}

// zone returns the time zone of AT TIME ZONE.
func (c *Call) zone() (*time.Location, bool) {
	k, ok := c.Args[0].(*Const)
	if !ok || k.Val.IsNull() {
		return nil, false
	}
	loc, err := types.Zone(k.Val.Text())
	return loc, err == nil
}

// toWall returns wall-clock times in loc, among them all those that Cast converts to a moment in out. exact reports that
// there are no others: no clock changes near the ends of out.
func toWall(out types.Set, loc *time.Location) (walls types.Set, exact bool) {
	const near = 2 * types.MillisPerDay
	exact = true
	// offsets returns the least and the greatest offset around a moment.
	offsets := func(ms int64) (least, most int64) {
		least, most = offset(ms, loc), offset(ms, loc)
		for t, to := time.UnixMilli(subClamp(ms, near)).In(loc), addClamp(ms, near); t.UnixMilli() <= to; t = t.Add(time.Hour) {
			off := offset(t.UnixMilli(), loc)
			least, most = min(least, off), max(most, off)
		}
		exact = exact && least == most
		return least, most
	}
	walls = mapSpans(out, types.LocalTimestamp, func(s span) (span, bool) {
		if s.lo > math.MinInt64 {
			least, _ := offsets(s.lo)
			s.lo = addClamp(s.lo, least)
		}
		if s.hi < math.MaxInt64 {
			_, most := offsets(s.hi)
			s.hi = addClamp(s.hi, most)
		}
		return s, true
	})
	return walls, exact
}

// fromWall returns the moments at which the wall clock in loc shows a time in wall.
func fromWall(wall types.Set, loc *time.Location) types.Set {
	const most = 2 * types.MillisPerDay // offsets from UTC are smaller
	var out []types.Interval
	for _, iv := range wall {
		s := spanOf(iv)
		// Moments far enough from both ends are all included. Around the ends, near checks each stretch between two clock
		// changes.
		near := func(from, to int64) {
			for t := from; ; {
				until := to
				switch _, end := time.UnixMilli(t).In(loc).ZoneBounds(); {
				case end.IsZero() || end.Unix() > floorDiv(to, 1000):
				case end.UnixMilli() > t:
					until = end.UnixMilli() - 1
				default: // package time reports a change on the last day of leap years; clocks do not change then
					until = min(to, t+types.MillisPerDay-1)
				}
				off := offset(t, loc)
				there := span{subClamp(s.lo, off), subClamp(s.hi, off)}
				if addClamp(there.lo, off) <= s.hi && addClamp(there.hi, off) >= s.lo && there.lo <= until && there.hi >= t {
					out = append(out, span{max(t, there.lo), min(until, there.hi)}.interval(types.Timestamp))
				}
				if until == to {
					return
				}
				t = until + 1
			}
		}
		first, second := addClamp(s.lo, most), subClamp(s.hi, most)
		if first >= second {
			near(subClamp(s.lo, most), addClamp(s.hi, most))
			continue
		}
		near(subClamp(s.lo, most), first)
		out = append(out, span{first, second}.interval(types.Timestamp))
		near(second, addClamp(s.hi, most))
	}
	return types.SetOf(out...)
}

// beforeMonths returns the preimage of adding months to a TIMESTAMP. Days keep their order, except that days that the
// resulting month does not have become its last day.
func (c *Call) beforeMonths(out types.Set) (types.Set, bool) {
	k, ok := c.Args[1].(*Const)
	if !ok || k.Val.IsNull() || !timestampArg(c) {
		return nil, false
	}
	months, ms := k.Val.Duration()
	const most = maxCivil / (28 * types.MillisPerDay)
	if months < -most || months > most || ms < -maxCivil || ms > maxCivil {
		return nil, false
	}
	const day = types.MillisPerDay
	moved := func(d int64) int64 { return addMonths(time.UnixMilli(d*day).UTC(), int(months)).UnixMilli() + ms } // the moved midnight
	var pre []types.Interval
	for _, iv := range out {
		s := spanOf(iv)
		from, to := int64(-maxCivil/day)-1, int64(maxCivil/day)+1
		lo := first(from, to, func(d int64) bool { return moved(d) >= subClamp(s.lo, day-1) })
		hi := last(from, to, func(d int64) bool { return moved(d) <= s.hi })
		part := func(d int64) {
			at := moved(d)
			if a, b := max(s.lo, at), min(s.hi, at+day-1); a <= b {
				pre = append(pre, span{max(d*day+a-at, -maxCivil), min(d*day+b-at, maxCivil)}.interval(c.moment()))
			}
		}
		// Whole days lie between the ends; up to four days may be moved to the same day.
		a, b := lo, hi
		for ; a <= hi && moved(a) < s.lo; a++ {
			part(a)
		}
		for ; b >= a && moved(b) > subClamp(s.hi, day-1); b-- {
			part(b)
		}
		if a <= b {
			pre = append(pre, span{max(a*day, -maxCivil), min(b*day+day-1, maxCivil)}.interval(c.moment()))
		}
	}
	return types.SetOf(pre...), true
}

// momentAs returns the DATE or TIMESTAMP of type t at ms milliseconds after 1970.
func momentAs(t types.Type, ms int64) types.Value {
	if t == types.Date {
		ms = floorDiv(ms, types.MillisPerDay)
	}
	return types.NewIntOf(t, ms)
}

// fixedInterval returns the milliseconds that the call adds to a TIMESTAMP; ok is false if they vary.
func (c *Call) fixedInterval() (ms int64, ok bool) {
	k, isConst := c.Args[1].(*Const)
	if !isConst || k.Val.IsNull() || !timestampArg(c) {
		return 0, false
	}
	months, ms := k.Val.Duration()
	return ms, months == 0
}

// width returns the bin width of a DATE_BIN or BIN_OFFSET call in milliseconds.
func (c *Call) width() (int64, bool) {
	k, ok := c.Args[0].(*Const)
	if !ok || !k.Val.Type().IsText() || len(c.Args) > 2 { // the algebra applies only to bins that start at 1970-01-01
		return 0, false
	}
	w, err := fixedWidth(k.Val.Text())
	return w, err == nil
}

var binAlgebra = &Algebra{Arg: 1, Pieces: allPieces(rises)}

// maxCivil bounds the milliseconds that are converted to years, months and days: about 270,000 years in both directions.
const maxCivil = 8_640_000_000_000_000

// extractAlgebra is the algebra of EXTRACT.
var extractAlgebra = &Algebra{Arg: 1, Domain: func(c *Call) (types.Set, bool) {
	k, ok := c.Args[0].(*Const)
	if !ok {
		return nil, false
	}
	of, ok := fieldDomain[field(k.Val)]
	return types.SetOf(of.interval(types.BigInt)), ok
}, Pieces: func(c *Call, in types.Interval) []Piece {
	k, ok := c.Args[0].(*Const)
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
		return timePieces(in, 7*types.MillisPerDay, 3*types.MillisPerDay) // weeks from Sunday on
	case "isodow":
		return timePieces(in, 7*types.MillisPerDay, 4*types.MillisPerDay)
	case "hour":
		return timePieces(in, types.MillisPerDay, 0)
	case "minute":
		return timePieces(in, 3_600_000, 0)
	case "second", "millisecond", "microsecond":
		return timePieces(in, 60_000, 0)
	}
	return nil
}}

// fieldDomain are the values of the periodic fields.
var fieldDomain = map[string]span{"quarter": {1, 4}, "month": {1, 12}, "week": {1, 53}, "doy": {1, 366}, "day": {1, 31}, "dow": {0, 6}, "isodow": {1, 7}, "hour": {0, 23}, "minute": {0, 59}}

// timePieces is periodic for TIMESTAMPs and DATEs; n and start are in milliseconds.
func timePieces(in types.Interval, n, start int64) []Piece {
	if !in.Lo.IsNull() && in.Lo.Type() == types.Date {
		return periodic(in, max(n/types.MillisPerDay, 1), start/types.MillisPerDay)
	}
	return periodic(in, n, start)
}

// calendarPieces divides in into units of a number of months; units of years begin in January.
func calendarPieces(in types.Interval, months int) []Piece {
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
func isoYearPieces(in types.Interval) []Piece {
	return unitPieces(in, 364*types.MillisPerDay, func(t time.Time) time.Time { y, _ := t.ISOWeek(); return isoYear(y) },
		func(t time.Time) time.Time { y, _ := t.ISOWeek(); return isoYear(y + 1) })
}

// unitPieces divides in, TIMESTAMPs or DATEs, into units that last at least least milliseconds.
func unitPieces(in types.Interval, least int64, start, next func(time.Time) time.Time) (out []Piece) {
	if in.Lo.IsNull() || in.Hi.IsNull() {
		return nil
	}
	lo, hi := millis(in.Lo), millis(in.Hi)
	if lo < -maxCivil || hi > maxCivil || (hi-lo)/least > mostPeriods {
		return nil
	}
	of := func(t time.Time) types.Value { return momentAs(in.Lo.Type(), t.UnixMilli()) }
	for t := start(time.UnixMilli(lo).UTC()); t.UnixMilli() <= hi; t = next(t) {
		out = append(out, Piece{In: types.Interval{Lo: of(t), Hi: of(next(t)), HiOpen: true}})
	}
	return out
}
