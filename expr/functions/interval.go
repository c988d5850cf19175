package functions

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

func intervalResult(args []expr.Expr) (types.Type, error) {
	if args[0].Type() == types.Time {
		return returns(types.Time, isTime, isInterval)(args)
	}
	return momentLike(0, isMoment, isInterval, isText)(args)
}

var widths kept[types.Value]

// fixedWidth parses a positive interval without months as milliseconds.
func fixedWidth(s string) (int64, error) {
	v, err := widths.get(s, func() (types.Value, error) { return types.ParseInterval(s) })
	if err != nil {
		return 0, err
	}
	months, ms := v.Months()
	if months != 0 || ms <= 0 {
		return 0, fmt.Errorf("the width of a bin must be a fixed time above 0, not %q", s)
	}
	return ms, nil
}

// addMonths adds n months to t. If the day does not exist in that month, the result is the month's last day.
func addMonths(t time.Time, n int) time.Time {
	if n == 0 {
		return t
	}
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// intervalFunctions implement operators and EXTRACT for INTERVALs.
var intervalFunctions = []expr.Function{
	{Name: "INTERVAL_ADD", Group: "time", Unknown: intervalsUnknown, Signature: "interval + interval", Doc: "The sum.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Duration, isInterval), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			m, days, ms := a[0].Duration()
			n, more, rest := a[1].Duration()
			return newInterval(m+n, days+more, ms+rest)
		}},
	{Name: "INTERVAL_MULTIPLY", Group: "time", Unknown: intervalsUnknown, Signature: "interval * number", Doc: "So many times the interval; a part of a month is days, 30 to the month, and a part of a day is time.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Duration, isInterval, isNumber), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return scaleInterval(a[0], a[1], false)
		}},
	{Name: "INTERVAL_DIVIDE", Group: "time", Unknown: intervalsUnknown, Signature: "interval / number", Doc: "That part of the interval.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Duration, isInterval, isNumber), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return scaleInterval(a[0], a[1], true)
		}},
	{Name: "INTERVAL_MS", Group: "time", Unknown: intervalsUnknown, Signature: "interval_ms(milliseconds) interval", Doc: "That many milliseconds; 24 hours are a day.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.Duration, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return newInterval(0, a[0].Int()/types.MillisPerDay, a[0].Int()%types.MillisPerDay)
		}},
	{Name: "AGE", Group: "time", Unknown: "an age counts 30 days for each month and is not in the order of moments; their difference is", Signature: "age([timestamp,] timestamp) interval", Doc: "The time from the second to the first (the start of today) in years, months, days and parts of one.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Duration, isMoment), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return age(time.UnixMilli(millis(a[0])).UTC(), time.UnixMilli(millis(a[1])).UTC())
		}},
	{Name: "JUSTIFY_HOURS", Group: "time", Unknown: intervalsUnknown, Signature: "justify_hours(interval) interval", Doc: "The interval with a day for each 24 hours.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.Duration, isInterval), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			m, days, ms := a[0].Duration()
			days, ms = carry(days, ms, types.MillisPerDay)
			return newInterval(m, days, ms)
		}},
	{Name: "JUSTIFY_DAYS", Group: "time", Unknown: intervalsUnknown, Signature: "justify_days(interval) interval", Doc: "The interval with a month for each 30 days.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.Duration, isInterval), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			m, days, ms := a[0].Duration()
			m, days = carry(m, days, 30)
			return newInterval(m, days, ms)
		}},
	{Name: "JUSTIFY_INTERVAL", Group: "time", Unknown: intervalsUnknown, Signature: "justify_interval(interval) interval", Doc: "As justify_hours and justify_days, with one sign for all parts.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.Duration, isInterval), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			m, ms := a[0].Months()
			m, ms = carry(m, ms, 30*types.MillisPerDay)
			return newInterval(m, ms/types.MillisPerDay, ms%types.MillisPerDay)
		}},
	{Name: "MAKE_INTERVAL", Group: "time", Unknown: intervalsUnknown, Signature: "make_interval(years [, months, weeks, days, hours, minutes, seconds]) interval", Doc: "The interval of so many of each.", MinArgs: 1, MaxArgs: 7,
		Result: returns(types.Duration, isInt, isInt, isInt, isInt, isInt, isInt, isNumber), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			var months, days, ms float64
			for i, v := range a {
				months += number64(v) * []float64{12, 1, 0, 0, 0, 0, 0}[i]
				days += number64(v) * []float64{0, 0, 7, 1, 0, 0, 0}[i]
				ms += math.RoundToEven(number64(v) * []float64{0, 0, 0, 0, 3_600_000, 60_000, 1000}[i])
			}
			return rounded(months, days, ms)
		}},
	{Name: "INTERVAL_FIELD", Group: "time", Unknown: intervalsUnknown, Signature: "extract(field FROM interval) decimal", Doc: "year, month, day, hour, minute, second, milliseconds, microseconds, and epoch, to which a year counts 365.25 days and a month 30.", MinArgs: 2, MaxArgs: 2,
		Result: func(args []expr.Expr) (types.Type, error) {
			if _, err := returns(types.Null, isText, isInterval)(args); err != nil {
				return types.Null, err
			}
			return extractResult(args[:1])
		}, Eval: intervalField},
}

// age returns the interval from b to a, computed field by field: missing days are borrowed from the month of the earlier
// moment.
func age(a, b time.Time) (types.Value, error) {
	if a.Before(b) {
		v, err := age(b, a)
		if err != nil {
			return v, err
		}
		months, days, ms := v.Duration()
		return newInterval(-months, -days, -ms)
	}
	sinceMidnight := func(t time.Time) int64 { return types.FloorMod(t.UnixMilli(), types.MillisPerDay) }
	months, days := 12*int64(a.Year()-b.Year())+int64(a.Month()-b.Month()), int64(a.Day()-b.Day())
	ms := sinceMidnight(a) - sinceMidnight(b)
	if ms < 0 {
		ms, days = ms+types.MillisPerDay, days-1
	}
	if days < 0 {
		months--
		days += int64(time.Date(b.Year(), b.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
	}
	return newInterval(months, days, ms)
}

const intervalsUnknown = "intervals are in no key"

func newInterval(months, days, ms int64) (types.Value, error) {
	v, ok := types.NewDuration(months, days, ms)
	if !ok {
		return v, errInterval
	}
	return v, nil
}

// rounded returns the interval of whole months and days, and of ms rounded.
func rounded(months, days, ms float64) (types.Value, error) {
	if !(math.Abs(months) <= types.MaxMonths && math.Abs(days) <= types.MaxSpan && math.Abs(ms) <= types.MaxSpan) {
		return types.Value{}, errInterval
	}
	return newInterval(int64(months), int64(days), int64(math.RoundToEven(ms)))
}

// carry moves whole units of so many parts from parts to units, so that both have one sign.
func carry(units, parts, size int64) (int64, int64) {
	units, parts = units+parts/size, parts%size
	switch {
	case units > 0 && parts < 0:
		return units - 1, parts + size
	case units < 0 && parts > 0:
		return units + 1, parts - size
	}
	return units, parts
}

var errInterval = errors.New("INTERVAL out of range")

// scaleInterval returns v * by, or v / by if divide is set. As in PostgreSQL, a fraction of a month becomes days, and one of a day time.
func scaleInterval(v, by types.Value, divide bool) (types.Value, error) {
	months, days, ms := v.Duration()
	if !divide && by.Type().IsInteger() {
		m, err1 := intOp("*", months, by.Int())
		n, err2 := intOp("*", days, by.Int())
		rest, err3 := intOp("*", ms, by.Int())
		if err1 != nil || err2 != nil || err3 != nil {
			return types.Value{}, errInterval
		}
		return newInterval(m, n, rest)
	}
	d, err := types.Cast(by, types.Double, nil)
	if err != nil {
		return d, err
	}
	f := d.Double()
	if divide && f == 0 {
		return types.Value{}, errDivZero
	}
	scaled := func(x int64) float64 {
		if divide {
			return float64(x) / f
		}
		return float64(x) * f
	}
	round := func(x float64) float64 { const steps = 1e6; return math.RoundToEven(x*steps) / steps } // smaller differences are errors of the division
	whole, month := math.Modf(scaled(months))
	more, part := math.Modf(round(month * 30))
	day, rest := math.Modf(scaled(days))
	over, rest := math.Modf(round((rest+part)*86_400) / 86_400)
	return rounded(whole, day+more+over, scaled(ms)+rest*types.MillisPerDay)
}

func intervalField(_ *expr.Env, a []types.Value) (types.Value, error) {
	months, days, ms := a[1].Duration()
	n := int64(0)
	switch field(a[0]) {
	case "millennium":
		n = months / 12 / 1000
	case "century":
		n = months / 12 / 100
	case "decade":
		n = months / 12 / 10
	case "year":
		n = months / 12
	case "quarter":
		n = months%12/3 + 1
	case "month":
		n = months % 12
	case "day":
		n = days
	case "hour":
		n = ms / 3_600_000
	case "minute":
		n = ms % 3_600_000 / 60_000
	case "second":
		return types.NewDouble(float64(ms%60_000) / 1000), nil
	case "millisecond":
		n = ms % 60_000
	case "microsecond":
		n = ms % 60_000 * 1000
	case "epoch":
		return types.NewDouble(float64(months/12)*365.25*86400 + float64(months%12)*30*86400 + float64(days)*86400 + float64(ms)/1000), nil
	default:
		return types.Value{}, fmt.Errorf("unknown field %s of an INTERVAL", a[0].SQL())
	}
	return types.NewInt(n), nil
}
