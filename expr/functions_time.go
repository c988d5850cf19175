package expr

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

var timeFunctions = []Function{
	{Name: "DATE", Group: "time", Signature: "date(timestamp) date", Doc: "The day, in UTC.", MinArgs: 1, MaxArgs: 1, Result: returns(types.Date, func(t types.Type) bool { return isMoment(t) || t.IsText() }),
		Eval: func(_ *Env, a []types.Value) (types.Value, error) { return types.Cast(a[0], types.Date, nil) },
		Key:  scaled(types.MillisPerDay, types.Date)},
	{Name: "MILLIS_OF_DAY", Group: "time", Signature: "millis_of_day(timestamp) bigint", Doc: "Milliseconds since midnight UTC: 0 to 86399999.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(1), Key: ofDayAlgebra(1)},
	{Name: "SECOND_OF_DAY", Group: "time", Signature: "second_of_day(timestamp) bigint", Doc: "Seconds since midnight UTC.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(1000), Key: ofDayAlgebra(1000)},
	{Name: "MINUTE_OF_DAY", Group: "time", Signature: "minute_of_day(timestamp) bigint", Doc: "Minutes since midnight UTC: 0 to 1439.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(60_000), Key: ofDayAlgebra(60_000)},
	{Name: "HOUR_OF_DAY", Group: "time", Signature: "hour_of_day(timestamp) bigint", Doc: "Hours since midnight UTC: 0 to 23.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(3_600_000), Key: ofDayAlgebra(3_600_000)},
	{Name: "DATE_BIN", Group: "time", Signature: "date_bin(width, timestamp [, origin]) timestamp", Doc: "The start of the timestamp's bin; bins of that width ('5 minutes') begin at the origin, or at 1970-01-01 UTC.", MinArgs: 2, MaxArgs: 3,
		Result: binResult(types.Timestamp), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			w, err := fixedWidth(a[0].Text())
			if err != nil {
				return types.Value{}, err
			}
			t, origin := millis(a[1]), int64(0)
			if len(a) == 3 {
				origin = floorMod(millis(a[2]), w)
			}
			since, err := intOp("-", t, origin)
			if err != nil {
				return types.Value{}, err
			}
			start, err := intOp("*", floorDiv(since, w), w)
			return types.NewTimestamp(start + origin), err
		}, Key: binAlgebra},
	{Name: "BIN_OFFSET", Group: "time", Signature: "bin_offset(width, timestamp) bigint", Doc: "Milliseconds since the start of the timestamp's bin: t - date_bin(width, t).", MinArgs: 2, MaxArgs: 2,
		Result: binResult(types.BigInt), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			w, err := fixedWidth(a[0].Text())
			if err != nil {
				return types.Value{}, err
			}
			return types.NewInt(floorMod(millis(a[1]), w)), nil
		}, Key: offsetAlgebra(1, func(c *Call) int64 { w, _ := c.width(); return w })},
	{Name: "DATE_TRUNC", Group: "time", Signature: "date_trunc(unit, timestamp) timestamp", Doc: "Cut to the unit: millennium to millisecond, in UTC.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Timestamp, isText, isMoment), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			ms := millis(a[1])
			t, err := truncate(a[0].Text(), time.UnixMilli(ms).UTC())
			if err == nil && t.UnixMilli() > ms {
				err = errMoment // its unit began before the first one
			}
			return types.NewTimestamp(t.UnixMilli()), err
		}, Key: truncAlgebra},
	{Name: "EXTRACT", Group: "time", Signature: "extract(field FROM timestamp) bigint", Doc: "year, quarter, month, week, day, hour, minute, milliseconds, microseconds, dow, isodow, doy, isoyear, decade, century, millennium, julian; a DOUBLE of second and epoch. In UTC. Also `year(timestamp)`, `quarter`, `month`, `day`, `dayofmonth`, `dayofyear`, `hour`, `minute`, `second`.", MinArgs: 2, MaxArgs: 2,
		Result: extractResult, Eval: extract, Key: extractAlgebra},
	{Name: "DATE_ADD_INTERVAL", Group: "time", Signature: "timestamp + INTERVAL '...'", Doc: "Moved by an interval such as '1 month 2 days', '-5 minutes', '2 days ago' or 'P1DT2H'; a TIME goes round midnight.", MinArgs: 2, MaxArgs: 2,
		Result: intervalResult, Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			months, ms, err := signedInterval(a[1].Text())
			if err != nil {
				return types.Value{}, err
			}
			if a[0].Type() == types.Time {
				return types.NewIntOf(types.Time, floorMod(a[0].Int()+ms%types.MillisPerDay, types.MillisPerDay)), nil
			}
			t := millis(a[0])
			if months != 0 {
				const most = maxCivil / (28 * types.MillisPerDay)
				if months < -most || months > most || t < -maxCivil || t > maxCivil {
					return types.Value{}, errMoment
				}
				t = addMonths(time.UnixMilli(t).UTC(), months).UnixMilli()
			}
			sum, err := intOp("+", t, ms)
			if err != nil {
				err = errMoment
			}
			return types.NewTimestamp(sum), err
		}, Key: intervalAlgebra},
	{Name: "TIMEZONE", Group: "time", Signature: "timestamp AT TIME ZONE zone", Doc: "The wall-clock time in the zone, as a timestamp.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Timestamp, isText, isMoment), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			loc, err := types.Zone(a[0].Text())
			if err != nil {
				return types.Value{}, err
			}
			wall, err := intOp("+", millis(a[1]), offset(millis(a[1]), loc))
			if err != nil {
				err = errMoment
			}
			return types.NewTimestamp(wall), err
		}, Key: zoneAlgebra},
	{Name: "TO_TIMESTAMP", Group: "time", Signature: "to_timestamp(seconds) or to_timestamp(text, format) timestamp", Doc: "The moment so many seconds after 1970-01-01 UTC; the one that a text in the format of to_char tells, in UTC.", MinArgs: 1, MaxArgs: 2,
		Result: func(args []Expr) (types.Type, error) {
			if len(args) == 2 {
				return returns(types.Timestamp, isText)(args)
			}
			return returns(types.Timestamp, isNumber)(args)
		}, Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			if len(a) == 2 {
				t, err := parseTime(a[0].Text(), a[1].Text())
				return types.NewTimestamp(t.UnixMilli()), err
			}
			d, err := types.Cast(a[0], types.Double, nil)
			if err != nil {
				return d, err
			}
			ms := math.Round(d.Double() * 1000)
			if math.IsNaN(ms) || math.Abs(ms) > 1e17 {
				return types.Value{}, fmt.Errorf("TIMESTAMP out of range: %s", a[0])
			}
			return types.NewTimestamp(int64(ms)), nil
		}, Key: &Algebra{Pieces: func(c *Call, _ types.Interval) []Piece {
			if len(c.Args) > 1 { // of a text
				return nil
			}
			return aroundZero(false, false)
		}}},
	{Name: "EPOCH_MS", Group: "time", Signature: "epoch_ms(timestamp) bigint", Doc: "Milliseconds since 1970-01-01 UTC.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: func(_ *Env, a []types.Value) (types.Value, error) { return types.NewInt(millis(a[0])), nil }, Key: &Algebra{Pieces: allPieces(rises)}},
	{Name: "TO_CHAR", Group: "time", Signature: "to_char(timestamp, format) text", Doc: "Formatted, in UTC, with PostgreSQL's patterns: YYYY MM DD HH24 HH12 MI SS MS AM Mon Month Dy Day DDD IYYY IW ID Q J ...; FM before one drops padding.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isMoment, isText), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			return types.NewString(formatTime(time.UnixMilli(millis(a[0])).UTC(), a[1].Text())), nil
		}, Key: &Algebra{Pieces: formatPieces}},
	{Name: "TO_DATE", Group: "time", Unknown: "several texts stand for the same day", Signature: "to_date(text, format) date", Doc: "The day that a text in the format of to_char tells.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Date, isText), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			t, err := parseTime(a[0].Text(), a[1].Text())
			return types.NewDate(floorDiv(t.Unix(), 86400)), err
		}},
	{Name: "MAKE_DATE", Group: "time", Unknown: "a day is made of several numbers", Signature: "make_date(year, month, day) date", Doc: "That day; an error where there is none.", MinArgs: 3, MaxArgs: 3,
		Result: returns(types.Date, isInt), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			t, err := makeDate(a)
			return types.NewDate(floorDiv(t.Unix(), 86400)), err
		}},
	{Name: "MAKE_TIMESTAMP", Group: "time", Unknown: "a moment is made of several numbers", Signature: "make_timestamp(year, month, day, hour, minute, seconds) timestamp", Doc: "That moment, in UTC; seconds may have a fraction.", MinArgs: 6, MaxArgs: 6,
		Result: returns(types.Timestamp, isInt, isInt, isInt, isInt, isInt, isNumber), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			t, err := makeDate(a)
			if err != nil {
				return types.Value{}, err
			}
			sec, err := types.Cast(a[5], types.Double, nil)
			if err != nil {
				return sec, err
			}
			h, m, f := a[3].Int(), a[4].Int(), sec.Double()
			if h < 0 || h > 23 || m < 0 || m > 59 || !(f >= 0 && f < 60) {
				return types.Value{}, fmt.Errorf("there is no time %02d:%02d:%v", h, m, a[5])
			}
			return types.NewTimestamp(t.UnixMilli() + (h*60+m)*60_000 + int64(math.Round(f*1000))), nil
		}},
}

var errMoment = errors.New("TIMESTAMP out of range")

func intervalResult(args []Expr) (types.Type, error) {
	if args[0].Type() == types.Time {
		return returns(types.Time, isTime, isText)(args)
	}
	return returns(types.Timestamp, isMoment, isText)(args)
}

// makeDate gives the day a[0]-a[1]-a[2].
func makeDate(a []types.Value) (time.Time, error) {
	y, m, d := a[0].Int(), a[1].Int(), a[2].Int()
	if y >= 1 && y <= 9999 && m >= 1 && m <= 12 && d >= 1 && d <= 31 {
		if t := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC); t.Day() == int(d) {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("there is no day %04d-%02d-%02d", y, m, d)
}

// millis gives a TIMESTAMP's or DATE's milliseconds since 1970.
func millis(v types.Value) int64 {
	if v.Type() == types.Date {
		return v.Int() * types.MillisPerDay
	}
	return v.Int()
}

// timestampArg reports whether the algebra's argument is a TIMESTAMP, the only type it is about.
func timestampArg(c *Call) bool { return c.Args[c.argument()].Type() == types.Timestamp }

// intervalAlgebra is for a TIMESTAMP moved by an interval without months: keys that
// hold the time of a zone with a fixed offset.
var intervalAlgebra = &Algebra{
	ExactPreimage: true, Pieces: func(c *Call, _ types.Interval) []Piece {
		if c.Args[0].Type() != types.Date {
			return nil
		}
		return atZero(false, false)
	},
	Injective: func(c *Call) bool { _, ok := c.fixedInterval(); return ok },
	Monotone: func(c *Call) int {
		if _, ok := c.fixedInterval(); ok {
			return 1
		}
		return 0
	},
	Image: func(c *Call, in types.Set) (types.Set, bool) {
		ms, ok := c.fixedInterval()
		if !ok {
			return nil, false
		}
		return mapSpans(in, types.Timestamp, func(s span) (span, bool) { return shift("+", s, ms, true) }), true
	},
	Preimage: func(c *Call, out, within types.Set) (types.Set, bool) {
		ms, ok := c.fixedInterval()
		if !ok {
			return c.beforeMonths(out, within)
		}
		return mapSpans(out, types.Timestamp, func(s span) (span, bool) { return unshift("+", s, ms, true) }).Intersect(within), true
	},
}

// offset is how far, in milliseconds, clocks in loc are ahead of UTC at a moment.
func offset(ms int64, loc *time.Location) int64 {
	_, s := time.UnixMilli(ms).In(loc).Zone()
	return int64(s) * 1000
}

// zoneAlgebra is that of AT TIME ZONE.
var zoneAlgebra = &Algebra{Arg: 1, ExactPreimage: true, Preimage: func(c *Call, out, within types.Set) (types.Set, bool) {
	k, ok := c.Args[0].(*Const)
	if !ok || k.Val.IsNull() || !timestampArg(c) {
		return nil, false
	}
	loc, err := types.Zone(k.Val.Text())
	if err != nil {
		return nil, false
	}
	return fromWall(out, loc).Intersect(within), true
}}

// fromWall gives the moments at which clocks in loc show a time in wall.
func fromWall(wall types.Set, loc *time.Location) types.Set {
	const most = 2 * types.MillisPerDay // no zone is so far from UTC
	var out []types.Interval
	for _, iv := range wall {
		s := spanOf(iv)
		// Between the days around either end all moments are in it. Around them one stretch without a change of the clocks
		// comes after the other.
		near := func(from, to int64) {
			for t := from; ; {
				until := to
				switch _, end := time.UnixMilli(t).In(loc).ZoneBounds(); {
				case end.IsZero() || end.Unix() > floorDiv(to, 1000):
				case end.UnixMilli() > t:
					until = end.UnixMilli() - 1
				default: // on the last day of leap years time says so; clocks do not change on it
					until = min(to, t+types.MillisPerDay-1)
				}
				if there, ok := shift("-", s, offset(t, loc), true); ok && there.lo <= until && there.hi >= t {
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

// beforeMonths is the preimage of moving a TIMESTAMP by months: days follow one another as before, but for those that the
// month before its last ones has not, which go to its last day.
func (c *Call) beforeMonths(out, within types.Set) (types.Set, bool) {
	k, ok := c.Args[1].(*Const)
	if !ok || k.Val.IsNull() || !timestampArg(c) {
		return nil, false
	}
	months, ms, err := signedInterval(k.Val.Text())
	const most = maxCivil / (28 * types.MillisPerDay)
	if err != nil || months < -most || months > most || ms < -maxCivil || ms > maxCivil {
		return nil, false
	}
	const day = types.MillisPerDay
	moved := func(d int64) int64 { return addMonths(time.UnixMilli(d*day).UTC(), months).UnixMilli() + ms } // the midnight
	var pre []types.Interval
	for _, iv := range out {
		s := spanOf(iv)
		from, to := int64(-maxCivil/day)-1, int64(maxCivil/day)+1
		lo := first(from, to, func(d int64) bool { return moved(d) >= subClamp(s.lo, day-1) })
		hi := last(from, to, func(d int64) bool { return moved(d) <= s.hi })
		part := func(d int64) {
			at := moved(d)
			if a, b := max(s.lo, at), min(s.hi, at+day-1); a <= b {
				pre = append(pre, span{max(d*day+a-at, -maxCivil), min(d*day+b-at, maxCivil)}.interval(types.Timestamp))
			}
		}
		// Whole days lie between those at the ends, of which four may go to one.
		a, b := lo, hi
		for ; a <= hi && moved(a) < s.lo; a++ {
			part(a)
		}
		for ; b >= a && moved(b) > subClamp(s.hi, day-1); b-- {
			part(b)
		}
		if a <= b {
			pre = append(pre, span{max(a*day, -maxCivil), min(b*day+day-1, maxCivil)}.interval(types.Timestamp))
		}
	}
	return types.SetOf(pre...).Intersect(within), true
}

// fixedInterval gives the milliseconds that the call adds to a TIMESTAMP; ok is false where they vary.
func (c *Call) fixedInterval() (ms int64, ok bool) {
	k, isConst := c.Args[1].(*Const)
	if !isConst || k.Val.IsNull() || !timestampArg(c) {
		return 0, false
	}
	months, ms, err := signedInterval(k.Val.Text())
	return ms, err == nil && months == 0
}

// scaled is the algebra of floor(x / unit), as values of type t.
func scaled(unit int64, t types.Type) *Algebra {
	return &Algebra{
		ExactPreimage: true,
		Pieces: func(c *Call, _ types.Interval) []Piece {
			if c.Args[0].Type().IsText() {
				return nil
			}
			return rises
		},
		Monotone: func(c *Call) int {
			if c.Args[c.argument()].Type().IsText() {
				return 0 // of '2024-1-9' and '2024-01-10' the first is the greater text
			}
			return 1
		},
		Image: func(c *Call, in types.Set) (types.Set, bool) {
			if !timestampArg(c) {
				return nil, false
			}
			return mapSpans(in, t, func(s span) (span, bool) { return span{floorDiv(s.lo, unit), floorDiv(s.hi, unit)}, true }), true
		},
		Preimage: func(c *Call, out, within types.Set) (types.Set, bool) {
			if !timestampArg(c) {
				return nil, false
			}
			if t == types.Date {
				out = out.Intersect(allDates)
			}
			return mapSpans(out, types.Timestamp, func(s span) (span, bool) {
				return span{mulClamp(s.lo, unit), addClamp(mulClamp(s.hi, unit), unit-1)}, reachable(s, unit)
			}).Intersect(within), true
		},
	}
}

// reachable reports whether some x / unit lies in s, for an x of 64 bits.
func reachable(s span, unit int64) bool {
	return s.lo <= floorDiv(math.MaxInt64, unit) && s.hi >= floorDiv(math.MinInt64, unit)
}

func ofDay(unit int64) evalFunc {
	return func(_ *Env, a []types.Value) (types.Value, error) {
		return types.NewInt(floorMod(millis(a[0]), types.MillisPerDay) / unit), nil
	}
}

func ofDayAlgebra(unit int64) *Algebra {
	return offsetAlgebra(unit, func(*Call) int64 { return types.MillisPerDay })
}

// offsetAlgebra is the algebra of floor((x mod period) / unit).
func offsetAlgebra(unit int64, period func(*Call) int64) *Algebra {
	// arg is the index of the timestamp: the last argument
	a := &Algebra{Arg: AnyArg}
	a.Image = func(c *Call, in types.Set) (types.Set, bool) {
		p := period(c)
		if !timestampArg(c) || p <= 0 {
			return nil, false
		}
		var out []types.Interval
		for _, iv := range in {
			for _, r := range residues(spanOf(iv), p) {
				s := spanOf(r)
				out = append(out, span{s.lo / unit, s.hi / unit}.interval(types.BigInt))
			}
		}
		return types.SetOf(out...), true
	}
	a.Preimage = func(c *Call, out, within types.Set) (types.Set, bool) {
		const most = 512 // periods that are looked at one by one
		p := period(c)
		if !timestampArg(c) || p <= 0 {
			return nil, false
		}
		var pre []types.Interval
		for _, iv := range within {
			if iv.Lo.IsNull() || iv.Hi.IsNull() {
				return within, true
			}
			w := spanOf(iv)
			first, last := floorDiv(w.lo, p), floorDiv(w.hi, p)
			if last-first > most || last-first < 0 || first <= math.MinInt64/p || last >= math.MaxInt64/p-1 {
				return within, true
			}
			for n := first; n <= last; n++ {
				for _, o := range out {
					s := spanOf(o)
					s.lo, s.hi = max(s.lo, 0), min(s.hi, (p-1)/unit)
					if s.lo > s.hi {
						continue
					}
					pre = append(pre, span{n*p + s.lo*unit, min(n*p+s.hi*unit+unit-1, n*p+p-1)}.interval(types.Timestamp))
				}
			}
		}
		return types.SetOf(pre...).Intersect(within), true
	}
	return a
}

// width is the bin width of a DATE_BIN or BIN_OFFSET call.
func (c *Call) width() (int64, bool) {
	k, ok := c.Args[0].(*Const)
	if !ok || !k.Val.Type().IsText() || len(c.Args) > 2 { // the algebra is of bins from 1970 on
		return 0, false
	}
	w, err := fixedWidth(k.Val.Text())
	return w, err == nil
}

var binAlgebra = &Algebra{
	Arg: 1, ExactPreimage: true, Monotone: slope(1), Pieces: allPieces(rises),
	Image: func(c *Call, in types.Set) (types.Set, bool) {
		w, ok := c.width()
		if !ok || !timestampArg(c) {
			return nil, false
		}
		return mapSpans(in, types.Timestamp, func(s span) (span, bool) {
			return span{mulClamp(floorDiv(s.lo, w), w), mulClamp(floorDiv(s.hi, w), w)}, true
		}), true
	},
	Preimage: func(c *Call, out, within types.Set) (types.Set, bool) {
		w, ok := c.width()
		if !ok || !timestampArg(c) {
			return nil, false
		}
		return mapSpans(out, types.Timestamp, func(s span) (span, bool) {
			lo, hi := -floorDiv(-max(s.lo, -math.MaxInt64), w), floorDiv(s.hi, w)
			return span{mulClamp(lo, w), addClamp(mulClamp(hi, w), w-1)}, lo <= hi
		}).Intersect(within), true
	},
}

// truncAlgebra is that of DATE_TRUNC by units from a year to a millisecond, in the years that a time.Time counts in.
var truncAlgebra = &Algebra{
	Arg: 1, Pieces: allPieces(rises),
	Monotone: func(c *Call) int {
		if _, ok := c.unitEnd(0); ok {
			return 1
		}
		return 0
	},
	Image: func(c *Call, in types.Set) (types.Set, bool) {
		if _, ok := c.unitEnd(0); !ok || !timestampArg(c) {
			return nil, false
		}
		return mapSpans(in, types.Timestamp, func(s span) (span, bool) {
			if s.lo < -maxCivil { // no later than where its unit begins
				s.lo = math.MinInt64
			} else {
				s.lo = c.unitStart(s.lo)
			}
			if s.hi <= maxCivil {
				s.hi = c.unitStart(s.hi)
			}
			return s, true
		}), true
	},
}

// maxCivil bounds the milliseconds that are taken for years, months and days: some 270000 years either way.
const maxCivil = 8_640_000_000_000_000

func (c *Call) unit() string {
	k, ok := c.Args[0].(*Const)
	if !ok || !k.Val.Type().IsText() {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(k.Val.Text()), "s")
}

// unitStart gives the first millisecond of DATE_TRUNC's unit that ms lies in.
func (c *Call) unitStart(ms int64) int64 {
	t, _ := truncate(c.unit(), time.UnixMilli(ms).UTC())
	return t.UnixMilli()
}

// unitEnd gives the first millisecond of the unit after that in which ms lies; ok is false for other units.
func (c *Call) unitEnd(ms int64) (end int64, ok bool) {
	t := time.UnixMilli(c.unitStart(ms)).UTC()
	switch c.unit() {
	case "year":
		t = t.AddDate(1, 0, 0)
	case "quarter":
		t = t.AddDate(0, 3, 0)
	case "month":
		t = t.AddDate(0, 1, 0)
	case "week":
		t = t.AddDate(0, 0, 7)
	case "day":
		t = t.AddDate(0, 0, 1)
	case "hour":
		t = t.Add(time.Hour)
	case "minute":
		t = t.Add(time.Minute)
	case "second":
		t = t.Add(time.Second)
	case "millisecond":
		t = t.Add(time.Millisecond)
	default:
		return 0, false
	}
	return t.UnixMilli(), true
}

func binResult(t types.Type) resultFunc {
	return func(args []Expr) (types.Type, error) {
		if k, ok := args[0].(*Const); ok && k.Val.Type().IsText() {
			if _, err := fixedWidth(k.Val.Text()); err != nil {
				return 0, err
			}
		}
		return returns(t, isText, isMoment)(args)
	}
}

// fixedWidth reads an interval without months as milliseconds, above 0.
func fixedWidth(s string) (int64, error) {
	months, ms, err := parseInterval(s)
	if err != nil {
		return 0, err
	}
	if months != 0 || ms <= 0 {
		return 0, fmt.Errorf("the width of a bin must be a fixed time above 0, not %q", s)
	}
	return ms, nil
}

var unitMillis = map[string]int64{"millisecond": 1, "ms": 1, "second": 1000, "sec": 1000, "s": 1000, "minute": 60_000, "min": 60_000, "m": 60_000,
	"hour": 3_600_000, "h": 3_600_000, "day": 86_400_000, "d": 86_400_000, "week": 7 * 86_400_000, "w": 7 * 86_400_000}

var unitMonths = map[string]int{"month": 1, "mon": 1, "quarter": 3, "year": 12, "y": 12, "decade": 120, "century": 1200, "centurie": 1200, "millennium": 12_000, "millennia": 12_000}

// clockInterval is 12:30 or -01:02:03.5, yearMonthInterval SQL's 1-2.
var (
	clockInterval     = regexp.MustCompile(`^([-+]?)(\d{1,9}):(\d\d?)(?::(\d\d?(?:\.\d*)?))?$`)
	yearMonthInterval = regexp.MustCompile(`^([-+]?)(\d{1,6})-(\d\d?)$`)
)

// isoInterval is an interval in the notation of ISO 8601: P1Y2M3DT4H5M6S.
var isoInterval = regexp.MustCompile(`^p(?:([-+]?\d+)y)?(?:([-+]?\d+)m)?(?:([-+]?\d+)w)?(?:([-+]?\d+)d)?(?:t(?:([-+]?\d+)h)?(?:([-+]?\d+)m)?(?:([-+]?[0-9.]+)s)?)?$`)

// signedInterval is parseInterval of what may stand behind "- ": the interval that is taken away.
func signedInterval(s string) (months int, ms int64, err error) {
	s, back := strings.CutPrefix(s, "- ")
	months, ms, err = parseInterval(s)
	if back {
		months, ms = -months, -ms
	}
	return months, ms, err
}

// parseInterval reads '1 year 2 months 3 days 4 hours', '-5 minutes', '1h',
// '01:30:00', '1-2', '2 days ago', 'P1DT2H'. A day is 24 hours, a part of a month one of 30 days.
func parseInterval(s string) (months int, ms int64, err error) {
	if m := isoInterval.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s))); m != nil {
		var words []string
		for i, unit := range []string{"year", "month", "week", "day", "hour", "minute", "second"} {
			if m[i+1] != "" {
				words = append(words, m[i+1], unit)
			}
		}
		if len(words) > 0 {
			return parseInterval(strings.Join(words, " "))
		}
	}
	if before, ok := strings.CutSuffix(strings.TrimSpace(strings.ToLower(s)), " ago"); ok {
		months, ms, err = parseInterval(before)
		return -months, -ms, err
	}
	bad := fmt.Errorf("invalid interval %q (use '5 minutes', '1 day 2 hours', '1 month')", s)
	f := strings.Fields(strings.ToLower(s))
	if len(f) == 0 {
		return 0, 0, bad
	}
	for i := 0; i < len(f); i++ {
		word := f[i]
		if m := clockInterval.FindStringSubmatch(word); m != nil {
			h, _ := strconv.ParseInt(m[2], 10, 64)
			min, _ := strconv.ParseInt(m[3], 10, 64)
			sec, _ := strconv.ParseFloat(cmp.Or(m[4], "0"), 64)
			if min > 59 || sec >= 60 {
				return 0, 0, bad
			}
			t := h*3_600_000 + min*60_000 + int64(math.Round(sec*1000))
			if m[1] == "-" {
				t = -t
			}
			ms += t
			continue
		}
		if m := yearMonthInterval.FindStringSubmatch(word); m != nil {
			y, _ := strconv.Atoi(m[2])
			n, _ := strconv.Atoi(m[3])
			n += 12 * y
			if m[1] == "-" {
				n = -n
			}
			months += n
			continue
		}
		n := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
		unit := word[len(n):]
		switch {
		case unit != "":
		case i+1 == len(f):
			unit = "second"
		case clockInterval.MatchString(f[i+1]):
			unit = "day"
		default:
			i++
			unit = f[i]
		}
		v, err := strconv.ParseFloat(n, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e12 || math.Abs(v)*float64(unitMonths[unit]) > 1e12 {
			return 0, 0, bad
		}
		if len(unit) > 2 {
			unit = strings.TrimSuffix(unit, "s")
		}
		if n, ok := unitMonths[unit]; ok {
			whole, part := math.Modf(v)
			months += int(whole) * n
			if n > 1 {
				months += int(math.RoundToEven(part * float64(n)))
			} else { // of a month of 30 days
				ms += int64(math.Round(part * 30 * 86_400_000))
			}
			continue
		}
		u, ok := unitMillis[unit]
		if !ok || math.Abs(v)*float64(u) > 9e15 {
			return 0, 0, bad
		}
		ms += int64(math.Round(v * float64(u)))
	}
	return months, ms, nil
}

// addMonths moves t by months, to the month's last day where the day does not exist.
func addMonths(t time.Time, n int) time.Time {
	if n == 0 {
		return t
	}
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

func truncate(unit string, t time.Time) (time.Time, error) {
	y, m, d := t.Date()
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "millennium":
		return time.Date(int(floorDiv(int64(y)-1, 1000))*1000+1, 1, 1, 0, 0, 0, 0, time.UTC), nil
	case "century":
		return time.Date(int(floorDiv(int64(y)-1, 100))*100+1, 1, 1, 0, 0, 0, 0, time.UTC), nil
	case "decade":
		return time.Date(int(floorDiv(int64(y), 10))*10, 1, 1, 0, 0, 0, 0, time.UTC), nil
	case "year":
		return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), nil
	case "quarter":
		return time.Date(y, (m-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC), nil
	case "month":
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC), nil
	case "week":
		return time.Date(y, m, d-int(t.Weekday()+6)%7, 0, 0, 0, 0, time.UTC), nil
	case "day":
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC), nil
	case "hour":
		return t.Truncate(time.Hour), nil
	case "minute":
		return t.Truncate(time.Minute), nil
	case "second":
		return t.Truncate(time.Second), nil
	case "millisecond":
		return t.Truncate(time.Millisecond), nil
	}
	return t, fmt.Errorf("unknown unit %q", unit)
}

func extractResult(args []Expr) (types.Type, error) {
	t, err := returns(types.BigInt, isText, isTime)(args)
	if k, ok := args[0].(*Const); ok && k.Val.Type().IsText() {
		switch field(k.Val) {
		case "epoch", "second":
			t = types.Double
		}
	}
	return t, err
}

// field is the name of a part of a time, which may be in the plural.
func field(v types.Value) string {
	name := strings.ToLower(v.Text())
	if name == "centuries" {
		return "century"
	}
	return strings.TrimSuffix(name, "s")
}

// extractAlgebra is that of EXTRACT.
var extractAlgebra = &Algebra{Arg: 1, Pieces: func(c *Call, in types.Interval) []Piece {
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
		return timePieces(in, 7*types.MillisPerDay, 3*types.MillisPerDay) // from a Sunday on
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

// timePieces are periodic, of TIMESTAMPs and DATEs, in milliseconds.
func timePieces(in types.Interval, n, start int64) []Piece {
	if !in.Lo.IsNull() && in.Lo.Type() == types.Date {
		return periodic(in, max(n/types.MillisPerDay, 1), start/types.MillisPerDay)
	}
	return periodic(in, n, start)
}

// calendarPieces are the units of so many months of in, those of years from January on.
func calendarPieces(in types.Interval, months int) []Piece {
	return unitPieces(in, int64(months)*28*types.MillisPerDay, func(t time.Time) time.Time {
		return time.Date(t.Year(), (t.Month()-1)/time.Month(months)*time.Month(months)+1, 1, 0, 0, 0, 0, time.UTC)
	}, func(t time.Time) time.Time { return t.AddDate(0, months, 0) })
}

// isoYearPieces are the years of ISO 8601's weeks.
func isoYearPieces(in types.Interval) []Piece {
	start := func(year int) time.Time { // of the week in which January 4 is
		t := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
		return t.AddDate(0, 0, -int(t.Weekday()+6)%7)
	}
	return unitPieces(in, 364*types.MillisPerDay, func(t time.Time) time.Time { y, _ := t.ISOWeek(); return start(y) },
		func(t time.Time) time.Time { y, _ := t.ISOWeek(); return start(y + 1) })
}

// unitPieces are the units of in, TIMESTAMPs or DATEs, that last at least so long.
func unitPieces(in types.Interval, least int64, start, next func(time.Time) time.Time) (out []Piece) {
	if in.Lo.IsNull() || in.Hi.IsNull() {
		return nil
	}
	lo, hi := millis(in.Lo), millis(in.Hi)
	if lo < -maxCivil || hi > maxCivil || (hi-lo)/least > mostPeriods {
		return nil
	}
	of := func(t time.Time) types.Value {
		if in.Lo.Type() == types.Date {
			return types.NewDate(floorDiv(t.Unix(), 86400))
		}
		return types.NewTimestamp(t.UnixMilli())
	}
	for t := start(time.UnixMilli(lo).UTC()); t.UnixMilli() <= hi; t = next(t) {
		out = append(out, Piece{In: types.Interval{Lo: of(t), Hi: of(next(t)), HiOpen: true}})
	}
	return out
}

func extract(_ *Env, a []types.Value) (types.Value, error) {
	ms := millis(a[1])
	t := time.UnixMilli(ms).UTC()
	var n int
	switch field(a[0]) {
	case "millennium":
		n = (t.Year()-1)/1000 + 1
	case "century":
		n = (t.Year()-1)/100 + 1
	case "decade":
		n = t.Year() / 10
	case "isoyear":
		n, _ = t.ISOWeek()
	case "julian":
		n = julianDay(t)
	case "year":
		n = t.Year()
	case "quarter":
		n = int(t.Month()-1)/3 + 1
	case "month":
		n = int(t.Month())
	case "week":
		_, n = t.ISOWeek()
	case "day":
		n = t.Day()
	case "dow":
		n = int(t.Weekday())
	case "isodow":
		n = int(t.Weekday()+6)%7 + 1
	case "doy":
		n = t.YearDay()
	case "hour":
		n = t.Hour()
	case "minute":
		n = t.Minute()
	case "second":
		return types.NewDouble(float64(t.Second()*1000+t.Nanosecond()/1e6) / 1000), nil
	case "millisecond":
		n = t.Second()*1000 + t.Nanosecond()/1e6
	case "microsecond":
		n = t.Second()*1e6 + t.Nanosecond()/1e3
	case "epoch":
		return types.NewDouble(float64(ms) / 1000), nil
	default:
		return types.Value{}, fmt.Errorf("unknown field %s", a[0].SQL())
	}
	return types.NewInt(int64(n)), nil
}
