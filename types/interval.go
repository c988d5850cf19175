package types

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// MaxMonths, MaxDays and MaxSpan bound the parts of an INTERVAL: months, days, and both days and time in milliseconds.
const (
	MaxMonths = math.MaxInt32
	MaxDays   = 1<<23 - 1
	MaxSpan   = 1 << 57 // about PostgreSQL's greatest number of days
)

// monthMillis is the length of a month in a comparison of intervals.
const monthMillis = 30 * MillisPerDay

// NewDuration returns an INTERVAL of months, days and milliseconds. Days beyond MaxDays become milliseconds. ok is false
// if months exceed MaxMonths, or the rest MaxSpan.
func NewDuration(months, days, ms int64) (v Value, ok bool) {
	if months < -MaxMonths || months > MaxMonths || days < -MaxSpan/MillisPerDay || days > MaxSpan/MillisPerDay || ms < -MaxSpan || ms > MaxSpan {
		return Value{}, false
	}
	v = Value{typ: Duration, months: int32(months), i: days*MillisPerDay + ms}
	days = min(max(days, -MaxDays), MaxDays)
	v.high, v.low = int8(days>>16), uint16(days)
	return v, v.i >= -MaxSpan && v.i <= MaxSpan
}

// Duration returns the parts of an INTERVAL: months, days and milliseconds.
func (v Value) Duration() (months, days, ms int64) {
	days = int64(v.high)<<16 + int64(v.low)
	return int64(v.months), days, v.i - days*MillisPerDay
}

// Months returns the months of an INTERVAL, and its days of 24 hours and its time in milliseconds.
func (v Value) Months() (months, ms int64) { return int64(v.months), v.i }

// Millis returns an INTERVAL in milliseconds, with months of 30 days, as comparisons do.
func (v Value) Millis() int64 { return int64(v.months)*monthMillis + v.i }

// formatInterval writes an interval as PostgreSQL does.
func formatInterval(months, days, ms int64) string {
	var out []string
	negative := false // the previous field was negative
	for _, f := range []struct {
		n    int64
		unit string
	}{{months / 12, "year"}, {months % 12, "mon"}, {days, "day"}} {
		if f.n == 0 {
			continue
		}
		sign, s := "", "s"
		if negative && f.n > 0 {
			sign = "+"
		}
		if f.n == 1 {
			s = ""
		}
		out = append(out, fmt.Sprintf("%s%d %s%s", sign, f.n, f.unit, s))
		negative = f.n < 0
	}
	if ms != 0 || len(out) == 0 {
		sign := ""
		switch {
		case ms < 0:
			sign, ms = "-", -ms
		case negative:
			sign = "+"
		}
		text := FormatTime(ms)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(text, "0")
		}
		out = append(out, sign+text)
	}
	return strings.Join(out, " ")
}

var unitMillis = map[string]int64{"millisecond": 1, "ms": 1, "second": 1000, "sec": 1000, "s": 1000, "minute": 60_000, "min": 60_000, "m": 60_000,
	"hour": 3_600_000, "h": 3_600_000}

var unitDays = map[string]int64{"day": 1, "d": 1, "week": 7, "w": 7}

var unitMonths = map[string]int64{"month": 1, "mon": 1, "quarter": 3, "year": 12, "y": 12, "decade": 120, "century": 1200, "centurie": 1200, "millennium": 12_000, "millennia": 12_000}

// compiled returns a function that compiles expr at its first call, since most programs never need it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// clockInterval matches 12:30 or -01:02:03.5; yearMonthInterval matches 1-2, years and months.
var (
	clockInterval     = compiled(`^([-+]?)(\d{1,9}):(\d\d?)(?::(\d\d?(?:\.\d*)?))?$`)
	yearMonthInterval = compiled(`^([-+]?)(\d{1,6})-(\d\d?)$`)
)

// isoInterval matches an interval in ISO 8601: P1Y2M3DT4H5M6S.
var isoInterval = compiled(`^p(?:([-+]?\d+)y)?(?:([-+]?\d+)m)?(?:([-+]?\d+)w)?(?:([-+]?\d+)d)?(?:t(?:([-+]?\d+)h)?(?:([-+]?\d+)m)?(?:([-+]?[0-9.]+)s)?)?$`)

// ParseInterval reads '1 year 2 months 3 days 4 hours', '-5 minutes', '1h',
// '01:30:00', '1-2', '2 days ago', 'P1DT2H'. Fractions of a month assume 30 days.
func ParseInterval(s string) (Value, error) {
	sum, err := readInterval(s)
	if err != nil {
		return Value{}, err
	}
	v, ok := NewDuration(sum.months, sum.days, sum.ms)
	if !ok {
		return v, fmt.Errorf("INTERVAL out of range: %s", Short(s))
	}
	return v, nil
}

// parts are the parts of an INTERVAL.
type parts struct{ months, days, ms int64 }

func readInterval(s string) (sum parts, err error) {
	if m := isoInterval().FindStringSubmatch(strings.ToLower(strings.TrimSpace(s))); m != nil {
		var words []string
		for i, unit := range []string{"year", "month", "week", "day", "hour", "minute", "second"} {
			if m[i+1] != "" {
				words = append(words, m[i+1], unit)
			}
		}
		if len(words) > 0 {
			return readInterval(strings.Join(words, " "))
		}
	}
	if before, ok := strings.CutSuffix(strings.TrimSpace(strings.ToLower(s)), " ago"); ok {
		sum, err = readInterval(before)
		return parts{-sum.months, -sum.days, -sum.ms}, err
	}
	s = strings.TrimPrefix(strings.TrimSpace(s), "@")
	bad := fmt.Errorf("invalid interval %q (use '5 minutes', '1 day 2 hours', '1 month')", s)
	f := strings.Fields(strings.ToLower(s))
	if len(f) == 0 {
		return sum, bad
	}
	for i := 0; i < len(f); i++ {
		word := f[i]
		if (word == "-" || word == "+") && i+1 < len(f) {
			i++
			word += f[i]
		}
		if m := clockInterval().FindStringSubmatch(word); m != nil {
			t, ok := clockMillis(m)
			if !ok {
				return sum, bad
			}
			sum.ms += t
			continue
		}
		if m := yearMonthInterval().FindStringSubmatch(word); m != nil {
			y, _ := strconv.ParseInt(m[2], 10, 64)
			n, _ := strconv.ParseInt(m[3], 10, 64)
			n += 12 * y
			if m[1] == "-" {
				n = -n
			}
			sum.months += n
			continue
		}
		n := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
		unit := word[len(n):]
		switch {
		case unit != "":
		case i+1 == len(f):
			unit = "second"
		case clockInterval().MatchString(f[i+1]):
			unit = "day"
		default:
			i++
			unit = f[i]
		}
		v, err := strconv.ParseFloat(n, 64)
		if err != nil || !sum.add(v, unit) {
			return sum, bad
		}
	}
	return sum, nil
}

// clockMillis reads a match of clockInterval: a sign, hours, minutes, and perhaps seconds.
func clockMillis(m []string) (ms int64, ok bool) {
	h, _ := strconv.ParseInt(m[2], 10, 64)
	min, _ := strconv.ParseInt(m[3], 10, 64)
	sec, _ := strconv.ParseFloat(cmp.Or(m[4], "0"), 64)
	if min > 59 || sec >= 60 {
		return 0, false
	}
	ms = h*3_600_000 + min*60_000 + int64(math.Round(sec*1000))
	if m[1] == "-" {
		ms = -ms
	}
	return ms, true
}

// add adds v units, such as 1.5 years or 2 hours. A part of a month is days, and a part of a day is time.
func (p *parts) add(v float64, unit string) bool {
	if len(unit) > 2 {
		unit = strings.TrimSuffix(unit, "s")
	}
	switch unit {
	case "us", "usec", "microsecond":
		v, unit = v/1000, "ms"
	}
	months, days, ms := unitMonths[unit], unitDays[unit], unitMillis[unit]
	if months+days+ms == 0 || !(math.Abs(v) <= 1e12 && math.Abs(v)*float64(max(days*MillisPerDay, ms)) <= 9e15) {
		return false
	}
	whole, part := math.Modf(v)
	if months > 1 {
		p.months += int64(whole)*months + int64(math.RoundToEven(part*float64(months)))
		return true
	}
	p.months += int64(whole) * months
	if months == 1 {
		whole, part = math.Modf(part * 30)
		days = 1
	} else if days > 1 {
		whole, part = math.Modf(v * float64(days))
		days = 1
	}
	p.days += int64(whole) * days
	p.ms += int64(math.Round(v*float64(ms))) + int64(math.Round(part*float64(days)*MillisPerDay))
	return true
}
