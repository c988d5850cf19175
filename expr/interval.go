package expr

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

func intervalResult(args []Expr) (types.Type, error) {
	if args[0].Type() == types.Time {
		return returns(types.Time, isTime, isText)(args)
	}
	return returns(types.Timestamp, isMoment, isText)(args)
}

// fixedWidth reads an interval without months as milliseconds, above 0.
func fixedWidth(s string) (int64, error) {
	months, ms, err := ParseInterval(s)
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

// signedInterval is ParseInterval of what may stand behind "- ": the interval that is taken away.
func signedInterval(s string) (months int, ms int64, err error) {
	s, back := strings.CutPrefix(s, "- ")
	months, ms, err = ParseInterval(s)
	if back {
		months, ms = -months, -ms
	}
	return months, ms, err
}

type interval struct {
	months int
	ms     int64
}

var intervals kept[interval]

// ParseInterval reads '1 year 2 months 3 days 4 hours', '-5 minutes', '1h',
// '01:30:00', '1-2', '2 days ago', 'P1DT2H'. A day is 24 hours, a part of a month one of 30 days.
func ParseInterval(s string) (months int, ms int64, err error) {
	i, err := intervals.get(s, func() (i interval, err error) {
		i.months, i.ms, err = readInterval(s)
		return i, err
	})
	return i.months, i.ms, err
}

func readInterval(s string) (months int, ms int64, err error) {
	if m := isoInterval.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s))); m != nil {
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
