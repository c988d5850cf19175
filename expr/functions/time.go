package functions

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

var timeFunctions = []expr.Function{
	{Name: "DATE", Group: "time", Signature: "date(timestamp) date", Doc: "The day.", MinArgs: 1, MaxArgs: 1, Result: returns(types.Date, func(t types.Type) bool { return t.IsMoment() || t.IsText() }),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return types.Cast(a[0], types.Date, nil) },
		Key: &expr.Algebra{Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
			if c.Args[0].Type().IsText() {
				return nil
			}
			return rises
		}}},
	{Name: "MILLIS_OF_DAY", Group: "time", Signature: "millis_of_day(timestamp) bigint", Doc: "Milliseconds since midnight UTC: 0 to 86399999.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(1), Key: ofDayAlgebra(1)},
	{Name: "SECOND_OF_DAY", Group: "time", Signature: "second_of_day(timestamp) bigint", Doc: "Seconds since midnight UTC.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(1000), Key: ofDayAlgebra(1000)},
	{Name: "MINUTE_OF_DAY", Group: "time", Signature: "minute_of_day(timestamp) bigint", Doc: "Minutes since midnight UTC: 0 to 1439.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(60_000), Key: ofDayAlgebra(60_000)},
	{Name: "HOUR_OF_DAY", Group: "time", Signature: "hour_of_day(timestamp) bigint", Doc: "Hours since midnight UTC: 0 to 23.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: ofDay(3_600_000), Key: ofDayAlgebra(3_600_000)},
	{Name: "DATE_BIN", Group: "time", Signature: "date_bin(width, timestamp [, origin]) timestamp", Doc: "The start of the timestamp's bin; bins of that width ('5 minutes') begin at the origin, or at 1970-01-01 UTC.", MinArgs: 2, MaxArgs: 3, Reads: []types.Type{types.Duration},
		Result: binResult(func(args []expr.Expr) types.Type { return args[1].Type().Moment() }), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			w, err := fixedWidth(a[0].Text())
			if err != nil {
				return types.Value{}, err
			}
			t, origin := millis(a[1]), int64(0)
			if len(a) == 3 {
				origin = types.FloorMod(millis(a[2]), w)
			}
			since, err := intOp("-", t, origin)
			if err != nil {
				return types.Value{}, err
			}
			start, err := intOp("*", types.FloorDiv(since, w), w)
			return types.NewIntOf(a[1].Type().Moment(), start+origin), err
		}, Key: binAlgebra},
	{Name: "BIN_OFFSET", Group: "time", Signature: "bin_offset(width, timestamp) bigint", Doc: "Milliseconds since the start of the timestamp's bin: t - date_bin(width, t).", MinArgs: 2, MaxArgs: 2,
		Result: binResult(func([]expr.Expr) types.Type { return types.BigInt }), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			w, err := fixedWidth(a[0].Text())
			if err != nil {
				return types.Value{}, err
			}
			return types.NewInt(types.FloorMod(millis(a[1]), w)), nil
		}, Key: periodAlgebra(func(c *expr.Call) (int64, int64, bool) {
			w, ok := binWidth(c)
			return w, 1, ok && timestampArg(c)
		})},
	{Name: "DATE_TRUNC", Group: "time", Signature: "date_trunc(unit, timestamp) timestamp", Doc: "Cut to the unit: millennium to microsecond; of an INTERVAL or a TIME an INTERVAL.", MinArgs: 2, MaxArgs: 2,
		Result: truncResult, Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if isSpan(a[1].Type()) {
				return truncateSpan(a[0].Text(), a[1])
			}
			ms := millis(a[1])
			t, err := truncate(a[0].Text(), time.UnixMilli(ms).UTC())
			if err == nil && t.UnixMilli() > ms {
				err = errMoment // its unit began before the first moment
			}
			return types.NewIntOf(a[1].Type().Moment(), t.UnixMilli()), err
		}, Key: &expr.Algebra{Arg: 1, Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
			if isSpan(c.Args[1].Type()) {
				return nil
			}
			return rises
		}}},
	{Name: "EXTRACT", Group: "time", Signature: "extract(field FROM timestamp) decimal", Doc: "year, quarter, month, week, day, hour, minute, second, milliseconds, microseconds, epoch, julian, dow, isodow, doy, isoyear, decade, century, millennium. `date_part(field, timestamp)` is a DOUBLE. In keys a BIGINT, a DOUBLE of second, epoch and julian. Also, BIGINTs, `year(timestamp)`, `quarter`, `month`, `day`, `dayofmonth`, `dayofyear`, `hour`, `minute`, `second`.", MinArgs: 2, MaxArgs: 3,
		Result: extractResult, Eval: extract, Key: extractAlgebra},
	{Name: "DATE_ADD_INTERVAL", Group: "time", Signature: "timestamp + interval", Doc: "Moved by an interval such as '1 month 2 days', '-5 minutes', '2 days ago' or 'P1DT2H'; a TIME goes round midnight.", MinArgs: 2, MaxArgs: 3,
		Result: intervalResult, Eval: addInterval, Key: intervalAlgebra},
	{Name: "TIMEZONE", Group: "time", Signature: "timestamp AT TIME ZONE zone", Doc: "The time that clocks in the zone show, a timestamp without time zone; of such a one the moment at which they show it.", MinArgs: 2, MaxArgs: 2,
		Result: zoneResult, Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			loc, err := types.ZoneAt(a[0].Text())
			if err != nil {
				return types.Value{}, err
			}
			return types.Cast(a[1], zoned(a[1].Type()), loc)
		}, Key: zoneAlgebra},
	{Name: "TO_TIMESTAMP", Group: "time", Signature: "to_timestamp(seconds) or to_timestamp(text, format) timestamp", Doc: "The moment so many seconds after 1970-01-01 UTC; the one that a text in the format of to_char tells.", MinArgs: 1, MaxArgs: 2,
		Result: func(args []expr.Expr) (types.Type, error) {
			if len(args) == 2 {
				return returns(types.Timestamp, isText)(args)
			}
			return returns(types.Timestamp, isNumber)(args)
		}, Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
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
		}, Key: &expr.Algebra{Inverse: invertFormat, Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
			if len(c.Args) > 1 { // of a text
				return nil
			}
			return solve.AroundZero(false, false)
		}}},
	{Name: "EPOCH_MS", Group: "time", Signature: "epoch_ms(timestamp) bigint", Doc: "Milliseconds since 1970-01-01 UTC.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isMoment), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return types.NewInt(millis(a[0])), nil }, Key: &expr.Algebra{Pieces: allPieces(follows)}},
	{Name: "TO_CHAR", Group: "time", Signature: "to_char(timestamp, interval or number, format) text", Doc: "Formatted with PostgreSQL's patterns: YYYY MM DD HH24 HH12 MI SS MS AM Mon Month Dy Day DDD IYYY IW ID Q J ...; FM before one drops padding. A number with 9 0 . , S MI PL SG PR RN TH V EEEE and FM.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.String, func(t types.Type) bool { return t.IsMoment() || isNumber(t) || isInterval(t) }, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if isInterval(a[0].Type()) {
				return types.NewString(formatInterval(a[0], a[1].Text())), nil
			}
			if isNumber(a[0].Type()) {
				s, err := formatNumber(a[0], a[1].Text())
				return types.NewString(s), err
			}
			t, err := clockAt(a[0], a)
			zone, _ := t.Zone()
			if a[0].Type() == types.LocalTimestamp {
				zone = ""
			}
			return types.NewString(formatTime(t, a[1].Text(), zone)), err
		}, Key: &expr.Algebra{Pieces: formatPieces, Inverse: invertCalendar}},
	{Name: "TO_DATE", Group: "time", Signature: "to_date(text, format) date", Doc: "The day that a text in the format of to_char tells.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Date, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			t, err := parseTime(a[0].Text(), a[1].Text())
			return types.NewDate(types.FloorDiv(t.Unix(), 86400)), err
		}, Key: &expr.Algebra{Inverse: invertFormat}},
	{Name: "OVERLAPS", Group: "time", Binds: "by comparing the starts and ends", Signature: "(start, end) OVERLAPS (start, end) boolean", Doc: "Whether two periods have a moment in common; an end may be an interval from the start on, and is not part of the period.", MinArgs: 4, MaxArgs: 4,
		Result: returns(types.Boolean, isTime), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			from, to := min(millis(a[0]), millis(a[1])), max(millis(a[0]), millis(a[1]))
			since, until := min(millis(a[2]), millis(a[3])), max(millis(a[2]), millis(a[3]))
			return types.NewBool(from == since || from < until && since < to), nil
		}},
	{Name: "CLOCK_TIMESTAMP", Group: "time", Unknown: "it differs each time", Signature: "clock_timestamp() timestamp", Doc: "The moment now, while the statement runs.", Volatile: true, Result: returns(types.Timestamp),
		Eval: func(*expr.Env, []types.Value) (types.Value, error) {
			return types.NewTimestamp(time.Now().UnixMilli()), nil
		}},
	{Name: "PG_SLEEP", Group: "time", Unknown: "it gives nothing", Signature: "pg_sleep(seconds) text", Doc: "Waits so long, and is an empty text.", Volatile: true, MinArgs: 1, MaxArgs: 1, Result: returns(types.String, isNumber),
		Eval: sleep},
	{Name: "ISFINITE", Group: "time", Unknown: "it is true of all moments", Signature: "isfinite(timestamp) boolean", Doc: "True: there are no infinite ones.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.Boolean, func(t types.Type) bool { return t.IsMoment() || t == types.Duration }), Eval: func(*expr.Env, []types.Value) (types.Value, error) { return types.NewBool(true), nil }},
	{Name: "MAKE_DATE", Group: "time", Unknown: "a day is made of several numbers", Signature: "make_date(year, month, day) date", Doc: "That day; an error where there is none.", MinArgs: 3, MaxArgs: 3,
		Result: returns(types.Date, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			t, err := makeDate(a)
			return types.NewDate(types.FloorDiv(t.Unix(), 86400)), err
		}},
	{Name: "MAKE_TIME", Group: "time", Unknown: "a time is made of several numbers", Signature: "make_time(hour, minute, seconds) time", Doc: "That time of day; seconds may have a fraction.", MinArgs: 3, MaxArgs: 3,
		Result: returns(types.Time, isInt, isInt, isNumber), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			ms, err := makeTime(a)
			if err == nil && ms >= types.MillisPerDay {
				err = fmt.Errorf("a TIME ends before 24:00")
			}
			return types.NewIntOf(types.Time, ms), err
		}},
	{Name: "MAKE_TIMESTAMP", Group: "time", Unknown: "a moment is made of several numbers", Signature: "make_timestamp(year, month, day, hour, minute, seconds) timestamp", Doc: "That timestamp without time zone; seconds may have a fraction.", MinArgs: 6, MaxArgs: 6,
		Result: returns(types.LocalTimestamp, isInt, isInt, isInt, isInt, isInt, isNumber), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			t, err := makeDate(a)
			if err != nil {
				return types.Value{}, err
			}
			ms, err := makeTime(a[3:])
			return types.NewIntOf(types.LocalTimestamp, t.UnixMilli()+ms), err
		}},
}

var errMoment = errors.New("TIMESTAMP out of range")

// addInterval returns the moment or the time a[0] moved by a[1]. Months and days are those of clocks in the zone a[2], if
// there is one.
func addInterval(env *expr.Env, a []types.Value) (types.Value, error) {
	months, days, ms := a[1].Duration()
	switch {
	case a[0].Type() == types.Time:
		return types.NewIntOf(types.Time, types.FloorMod(a[0].Int()+ms%types.MillisPerDay, types.MillisPerDay)), nil
	case len(a) == 3 && months|days != 0:
		loc, err := types.ZoneAt(a[2].Text())
		if err != nil {
			return types.Value{}, err
		}
		span, _ := types.NewDuration(months, days, 0)
		v, err := types.Cast(a[0], types.LocalTimestamp, loc)
		if err == nil {
			v, err = addInterval(env, []types.Value{v, span})
		}
		if err == nil {
			v, err = types.Cast(v, types.Timestamp, loc)
		}
		if err != nil {
			return v, err
		}
		a, months, days = []types.Value{v}, 0, 0
	}
	ms += days * types.MillisPerDay
	t := millis(a[0])
	if months != 0 {
		const most = solve.MaxCivil / (28 * types.MillisPerDay)
		if months < -most || months > most || t < -solve.MaxCivil || t > solve.MaxCivil {
			return types.Value{}, errMoment
		}
		t = addMonths(time.UnixMilli(t).UTC(), int(months)).UnixMilli()
	}
	sum, err := intOp("+", t, ms)
	if err != nil {
		err = errMoment
	}
	return types.NewIntOf(a[0].Type().Moment(), sum), err
}

// sleep waits for a[0] seconds, or until the statement ends.
func sleep(env *expr.Env, a []types.Value) (types.Value, error) {
	const step = 10 * time.Millisecond
	for end := time.Now().Add(time.Duration(number64(a[0]) * float64(time.Second))); time.Now().Before(end); time.Sleep(min(step, time.Until(end))) {
		if env.Stop != nil {
			if err := env.Stop(); err != nil {
				return types.Value{}, err
			}
		}
	}
	return types.NewString(""), nil
}

func makeDate(a []types.Value) (time.Time, error) {
	y, m, d := a[0].Int(), a[1].Int(), a[2].Int()
	if y >= 1 && y <= 9999 && m >= 1 && m <= 12 && d >= 1 && d <= 31 {
		if t := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC); t.Day() == int(d) {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("there is no day %04d-%02d-%02d", y, m, d)
}

// makeTime returns the time a[0]:a[1]:a[2] in milliseconds.
func makeTime(a []types.Value) (int64, error) {
	sec, err := types.Cast(a[2], types.Double, nil)
	if err != nil {
		return 0, err
	}
	h, m, f := a[0].Int(), a[1].Int(), sec.Double()
	if h < 0 || h > 23 || m < 0 || m > 59 || !(f >= 0 && f < 60) {
		return 0, fmt.Errorf("there is no time %02d:%02d:%v", h, m, a[2])
	}
	return (h*60+m)*60_000 + int64(math.Round(f*1000)), nil
}

// millis returns a TIMESTAMP or DATE in milliseconds since 1970-01-01.
func millis(v types.Value) int64 {
	if v.Type() == types.Date {
		return v.Int() * types.MillisPerDay
	}
	return v.Int()
}

func ofDay(unit int64) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		return types.NewInt(types.FloorMod(millis(a[0]), types.MillisPerDay) / unit), nil
	}
}

// zoned returns the type of t AT TIME ZONE.
func zoned(t types.Type) types.Type {
	if t == types.LocalTimestamp {
		return types.Timestamp
	}
	return types.LocalTimestamp
}

func zoneResult(args []expr.Expr) (types.Type, error) {
	return returns(zoned(args[1].Type()), isText, types.Type.IsTimestamp)(args)
}

func binResult(of func([]expr.Expr) types.Type) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		if k, ok := args[0].(*expr.Const); ok && k.Val.Type().IsText() {
			if _, err := fixedWidth(k.Val.Text()); err != nil {
				return 0, err
			}
		}
		return returns(of(args), isText, isMoment)(args)
	}
}

// isSpan reports whether DATE_TRUNC of t is an INTERVAL.
func isSpan(t types.Type) bool { return t == types.Time || t == types.Duration }

func truncResult(args []expr.Expr) (types.Type, error) {
	if isSpan(args[1].Type()) {
		return returns(types.Duration, isText, isSpan)(args)
	}
	return momentLike(1, isText, isMoment)(args)
}

// truncateSpan cuts an INTERVAL or a TIME to unit, towards zero.
func truncateSpan(unit string, v types.Value) (types.Value, error) {
	step, err := types.ParseInterval("1 " + unit)
	if err != nil || len(strings.Fields(unit)) != 1 { // '1 day 2 hours' is an interval, too
		return v, fmt.Errorf("unknown unit %q", unit)
	}
	if strings.EqualFold(unit, "week") || strings.EqualFold(unit, "weeks") {
		return v, fmt.Errorf("an interval is not cut to weeks, because months are not whole weeks: use days")
	}
	months, days, ms := int64(0), int64(0), v.Int()
	if v.Type() == types.Duration {
		months, days, ms = v.Duration()
	}
	switch m, d, t := step.Duration(); {
	case m > 0:
		months, days, ms = months-months%m, 0, 0
	case d > 0:
		ms = 0
	case t > 0:
		ms -= ms % t
	}
	v, _ = types.NewDuration(months, days, ms)
	return v, nil
}

func truncate(unit string, t time.Time) (time.Time, error) {
	y, m, d := t.Date()
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "millennium":
		return time.Date(int(types.FloorDiv(int64(y)-1, 1000))*1000+1, 1, 1, 0, 0, 0, 0, time.UTC), nil
	case "century":
		return time.Date(int(types.FloorDiv(int64(y)-1, 100))*100+1, 1, 1, 0, 0, 0, 0, time.UTC), nil
	case "decade":
		return time.Date(int(types.FloorDiv(int64(y), 10))*10, 1, 1, 0, 0, 0, 0, time.UTC), nil
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
	case "millisecond", "microsecond":
		return t, nil
	}
	return t, fmt.Errorf("unknown unit %q", unit)
}

func extractResult(args []expr.Expr) (types.Type, error) {
	t, err := returns(types.BigInt, isText, isTime, isText)(args)
	if k, ok := args[0].(*expr.Const); ok && k.Val.Type().IsText() {
		switch field(k.Val) {
		case "epoch", "second", "julian":
			t = types.Double
		}
	}
	return t, err
}

// field returns the name of a field of a time; v may have it in the plural.
func field(v types.Value) string {
	name := strings.ToLower(v.Text())
	if name == "centuries" {
		return "century"
	}
	return strings.TrimSuffix(name, "s")
}

// countedYears returns the number of the period that contains year, if each period has that many years. Numbers start
// at 1; the period before 1 is -1.
func countedYears(year, years int) int {
	if year > 0 {
		return (year-1)/years + 1
	}
	return year/years - 1
}

// clockAt returns the moment v in the zone args[2], or in UTC if there is none.
func clockAt(v types.Value, args []types.Value) (time.Time, error) {
	t := time.UnixMilli(millis(v)).UTC()
	if len(args) < 3 {
		return t, nil
	}
	loc, err := types.ZoneAt(args[2].Text())
	if err != nil {
		return t, err
	}
	return t.In(loc), nil
}

func extract(_ *expr.Env, a []types.Value) (types.Value, error) {
	ms := millis(a[1])
	t, err := clockAt(a[1], a)
	if err != nil {
		return types.Value{}, err
	}
	_, ahead := t.Zone()
	var n int
	switch field(a[0]) {
	case "millennium":
		n = countedYears(t.Year(), 1000)
	case "century":
		n = countedYears(t.Year(), 100)
	case "decade":
		n = int(types.FloorDiv(int64(t.Year()), 10))
	case "isoyear":
		y, _ := t.ISOWeek()
		n = countedYears(y, 1)
	case "julian":
		return types.NewDouble(float64(julianDay(t)) + float64(types.FloorMod(ms+int64(ahead)*1000, types.MillisPerDay))/types.MillisPerDay), nil
	case "year":
		n = countedYears(t.Year(), 1)
	case "dow":
		n = int(t.Weekday())
	case "second":
		return types.NewDouble(float64(t.Second()*1000+t.Nanosecond()/1e6) / 1000), nil
	case "millisecond":
		n = t.Second()*1000 + t.Nanosecond()/1e6
	case "microsecond":
		n = t.Second()*1e6 + t.Nanosecond()/1e3
	case "epoch":
		return types.NewDouble(float64(ms) / 1000), nil
	case "timezone":
		n = ahead
	case "timezone_hour":
		n = ahead / 3600
	case "timezone_minute":
		n = ahead % 3600 / 60
	default:
		of, ok := timeNumbers[extracted[field(a[0])]]
		if !ok {
			return types.Value{}, fmt.Errorf("unknown field %s", a[0].SQL())
		}
		n = of.of(t)
	}
	return types.NewInt(int64(n)), nil
}

// extracted maps fields of EXTRACT to patterns of TO_CHAR for the same numbers.
var extracted = map[string]string{"quarter": "Q", "month": "MM", "week": "IW", "day": "DD", "isodow": "ID", "doy": "DDD", "hour": "HH24", "minute": "MI"}
