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

// MaxMonths and MaxSpan bound the two parts of an INTERVAL: months and milliseconds.
const (
	MaxMonths = math.MaxInt32
	MaxSpan   = 1 << 57 // about PostgreSQL's greatest number of days
)

// monthMillis is the length of a month in a comparison of intervals.
const monthMillis = 30 * MillisPerDay

// NewDuration returns an INTERVAL of months and milliseconds; ok is false if one exceeds MaxMonths or MaxSpan.
func NewDuration(months, ms int64) (v Value, ok bool) {
	if months < -MaxMonths || months > MaxMonths || ms < -MaxSpan || ms > MaxSpan {
		return Value{}, false
	}
	return Value{typ: Duration, months: int32(months), i: ms}, true
}

// Duration returns the two parts of an INTERVAL: months and milliseconds.
func (v Value) Duration() (months, ms int64) { return int64(v.months), v.i }

// Millis returns an INTERVAL in milliseconds, with months of 30 days, as comparisons do.
func (v Value) Millis() int64 { return int64(v.months)*monthMillis + v.i }

// formatInterval writes an interval as PostgreSQL does, with days of 24 hours.
func formatInterval(months, ms int64) string {
	var out []string
	negative := false // the previous field was negative
	for _, f := range []struct {
		n    int64
		unit string
	}{{months / 12, "year"}, {months % 12, "mon"}, {ms / MillisPerDay, "day"}} {
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
	if ms %= MillisPerDay; ms != 0 || len(out) == 0 {
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
	"hour": 3_600_000, "h": 3_600_000, "day": 86_400_000, "d": 86_400_000, "week": 7 * 86_400_000, "w": 7 * 86_400_000}

var unitMonths = map[string]int{"month": 1, "mon": 1, "quarter": 3, "year": 12, "y": 12, "decade": 120, "century": 1200, "centurie": 1200, "millennium": 12_000, "millennia": 12_000}

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
// '01:30:00', '1-2', '2 days ago', 'P1DT2H'. A day is 24 hours, fractions of a month assume 30 days.
func ParseInterval(s string) (Value, error) {
	months, ms, err := readInterval(s)
	if err != nil {
		return Value{}, err
	}
	v, ok := NewDuration(int64(months), ms)
	if !ok {
		return v, fmt.Errorf("INTERVAL out of range: %s", Short(s))
	}
	return v, nil
}

func readInterval(s string) (months int, ms int64, err error) {
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
		months, ms, err = readInterval(before)
		return -months, -ms, err
	}
	s = strings.TrimPrefix(strings.TrimSpace(s), "@")
	bad := fmt.Errorf("invalid interval %q (use '5 minutes', '1 day 2 hours', '1 month')", s)
	f := strings.Fields(strings.ToLower(s))
	if len(f) == 0 {
		return 0, 0, bad
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
				return 0, 0, bad
			}
			ms += t
			continue
		}
		if m := yearMonthInterval().FindStringSubmatch(word); m != nil {
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
		case clockInterval().MatchString(f[i+1]):
			unit = "day"
		default:
			i++
			unit = f[i]
		}
		v, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return 0, 0, bad
		}
		m, t, ok := unitsOf(v, unit)
		if !ok {
			return 0, 0, bad
		}
		months, ms = months+m, ms+t
	}
	return months, ms, nil
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

// unitsOf returns the months and milliseconds of v units, such as 1.5 years or 2 hours.
func unitsOf(v float64, unit string) (months int, ms int64, ok bool) {
	if math.IsNaN(v) || math.Abs(v) > 1e12 || math.Abs(v)*float64(unitMonths[unit]) > 1e12 {
		return 0, 0, false
	}
	if len(unit) > 2 {
		unit = strings.TrimSuffix(unit, "s")
	}
	if n, ok := unitMonths[unit]; ok {
		whole, part := math.Modf(v)
		if n > 1 {
			return int(whole)*n + int(math.RoundToEven(part*float64(n))), 0, true
		}
		return int(whole) * n, int64(math.Round(part * 30 * 86_400_000)), true // of a month of 30 days
	}
	switch unit {
	case "us", "usec", "microsecond":
		v, unit = v/1000, "ms"
	}
	u, ok := unitMillis[unit]
	if !ok || math.Abs(v)*float64(u) > 9e15 {
		return 0, 0, false
	}
	return 0, int64(math.Round(v * float64(u))), true
}
