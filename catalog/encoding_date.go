package catalog

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

// datePattern is TEXT('pattern') with a Java date pattern of fixed width, in UTC: yyyy yy MM dd HH mm ss SSS and
// literal characters ('...' quotes letters). yy means the years 2000 to 2099.
type datePattern struct {
	*traits
	source string
	fields []dateField
	// step is the pattern's finest unit in the type's own unit (days or milliseconds); lo and hi are the first and the
	// last value that the pattern can hold.
	step, lo, hi int64
	months       int // the finest unit in months if it is a month or a year; otherwise 0
}

type dateField struct {
	unit byte // 'y', 'M', 'd', 'H', 'm', 's', 'S'; 0: a literal
	n    int
	lit  string
}

const significance = "yMdHmsS"

func newDatePattern(t types.Type, source string) (Encoding, error) {
	e := datePattern{traits: &traits{t: t, name: "TEXT('" + strings.ReplaceAll(source, "'", "''") + "')"}, source: source}
	for i := 0; i < len(source); {
		c := source[i]
		j := i + 1
		if c == '\'' {
			end := strings.IndexByte(source[j:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("pattern %q has an open quote", source)
			}
			lit := source[j : j+end]
			if lit == "" {
				lit = "'"
			}
			e.fields = append(e.fields, dateField{lit: lit, n: len(lit)})
			i = j + end + 1
			continue
		}
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			for j < len(source) && source[j] == c {
				j++
			}
			f := dateField{unit: c, n: j - i}
			if want := map[byte]string{'y': "24", 'M': "2", 'd': "2", 'H': "2", 'm': "2", 's': "2", 'S': "3"}[c]; !strings.Contains(want, fmt.Sprint(f.n)) || want == "" {
				return nil, fmt.Errorf("pattern %q: %s is not supported (use yyyy yy MM dd HH mm ss SSS)", source, source[i:j])
			}
			e.fields = append(e.fields, f)
			i = j
			continue
		}
		e.fields = append(e.fields, dateField{lit: source[i:j], n: 1})
		i = j
	}
	return e.analyse()
}

// analyse computes width, granularity, order and limits.
func (e datePattern) analyse() (Encoding, error) {
	seen := ""
	last := -1
	ordered, yy := true, false
	for _, f := range e.fields {
		e.width += f.n
		if f.unit == 0 {
			continue
		}
		at := strings.IndexByte(significance, f.unit)
		if strings.IndexByte(seen, f.unit) >= 0 {
			return nil, fmt.Errorf("pattern %q names a field twice", e.source)
		}
		seen += string(f.unit)
		ordered = ordered && at == last+1
		last = max(last, at)
		yy = yy || f.unit == 'y' && f.n == 2
	}
	for i := range last + 1 {
		if strings.IndexByte(seen, significance[i]) < 0 && !(e.t == types.Time && i < 3) {
			return nil, fmt.Errorf("pattern %q lacks a field, so that values could not be read back", e.source)
		}
	}
	if e.t == types.Time && strings.ContainsAny(seen, "yMd") || e.t == types.Date && strings.ContainsAny(seen, "HmsS") || last < 0 {
		return nil, fmt.Errorf("pattern %q does not fit a %s", e.source, e.t)
	}
	if ordered || e.t == types.Time && strings.HasPrefix("HmsS", seen) {
		e.order = Ascending
	}
	e.step = [...]int64{types.MillisPerDay, types.MillisPerDay, types.MillisPerDay, 3_600_000, 60_000, 1000, 1}[last]
	if last < 2 {
		e.months = [...]int{12, 1}[last]
	}
	from, to := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if yy {
		from, to = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	e.lo, e.hi = from.UnixMilli(), to.UnixMilli()-e.step
	switch e.t {
	case types.Date:
		e.lo, e.hi, e.step = e.lo/types.MillisPerDay, e.hi/types.MillisPerDay, 1
	case types.Time:
		e.lo, e.hi = 0, types.MillisPerDay-e.step
	}
	e.hi = e.floor(e.hi)
	return e, nil
}

// day returns the length of a day in the type's own unit.
func (e datePattern) day() int64 {
	if e.t == types.Date {
		return 1
	}
	return types.MillisPerDay
}

// floor returns the last value up to n that the pattern can hold.
func (e datePattern) floor(n int64) int64 {
	if e.months == 0 {
		return n - types.FloorMod(n, e.step)
	}
	y, m, _ := time.Unix((n-types.FloorMod(n, e.day()))/e.day()*86400, 0).UTC().Date()
	return time.Date(y, m-(m-1)%time.Month(e.months), 1, 0, 0, 0, 0, time.UTC).Unix() / 86400 * e.day()
}

// after returns the value that follows n; the pattern can hold n.
func (e datePattern) after(n int64) int64 {
	if e.months == 0 {
		return n + e.step
	}
	return time.Unix(n/e.day()*86400, 0).UTC().AddDate(0, e.months, 0).Unix() / 86400 * e.day()
}

// Unit returns the pattern's finest unit.
func (e datePattern) Unit() string {
	switch {
	case e.months > 0:
		return map[int]string{12: "year", 1: "month"}[e.months]
	case e.step == e.day():
		return "day"
	}
	return map[int64]string{3_600_000: "hour", 60_000: "minute", 1000: "second", 1: "millisecond"}[e.step]
}

func (e datePattern) Append(dst []byte, v types.Value) ([]byte, error) {
	n := v.Int()
	if n < e.lo || n > e.hi {
		return dst, fmt.Errorf("%s does not fit the pattern '%s'", v, e.source)
	}
	if n != e.floor(n) {
		return dst, fmt.Errorf("%s is finer than the pattern '%s'", v, e.source)
	}
	ms := n
	if e.t == types.Date {
		ms *= types.MillisPerDay
	}
	t := time.UnixMilli(ms).UTC()
	for _, f := range e.fields {
		k := 0
		switch f.unit {
		case 'y':
			k = t.Year()
			if f.n == 2 {
				k %= 100
			}
		case 'M':
			k = int(t.Month())
		case 'd':
			k = t.Day()
		case 'H':
			k = t.Hour()
		case 'm':
			k = t.Minute()
		case 's':
			k = t.Second()
		case 'S':
			k = t.Nanosecond() / 1e6
		default:
			dst = append(dst, f.lit...)
			continue
		}
		dst = fmt.Appendf(dst, "%0*d", f.n, k)
	}
	return dst, nil
}

func (e datePattern) Decode(src []byte) (types.Value, error) {
	if len(src) != e.width {
		return types.Value{}, errWidth
	}
	year, month, day := 1970, 1, 1
	var part [4]int // hour, minute, second, millisecond
	for _, f := range e.fields {
		b := src[:f.n]
		src = src[f.n:]
		if f.unit == 0 {
			if string(b) != f.lit {
				return types.Value{}, fmt.Errorf("%q is missing", f.lit)
			}
			continue
		}
		n := 0
		for _, c := range b {
			if c < '0' || c > '9' {
				return types.Value{}, errors.New("a character is not a digit")
			}
			n = n*10 + int(c-'0')
		}
		switch f.unit {
		case 'y':
			year = n
			if f.n == 2 {
				year += 2000
			}
		case 'M':
			month = n
		case 'd':
			day = n
		default:
			part[strings.IndexByte("HmsS", f.unit)] = n
		}
	}
	t := time.Date(year, time.Month(month), day, part[0], part[1], part[2], part[3]*1e6, time.UTC)
	if int(t.Month()) != month || t.Day() != day || t.Hour() != part[0] || t.Minute() != part[1] || t.Second() != part[2] {
		return types.Value{}, errors.New("there is no such date or time")
	}
	switch e.t {
	case types.Date:
		return types.NewDate(t.Unix() / 86400), nil
	case types.Time:
		return types.NewIntOf(types.Time, t.UnixMilli()), nil
	}
	return types.NewIntOf(e.t, t.UnixMilli()), nil
}

func (e datePattern) Clip(iv types.Interval) (types.Interval, bool) {
	iv, ok := clipInts(iv, e.t, e.lo, e.hi, 1)
	if !ok {
		return iv, false
	}
	lo, hi := iv.Lo.Int(), e.floor(iv.Hi.Int())
	if first := e.floor(lo); first != lo {
		lo = e.after(first)
	}
	return types.Interval{Lo: types.NewIntOf(e.t, lo), Hi: types.NewIntOf(e.t, hi)}, lo <= hi
}

// List returns the values in iv, an interval from Clip, if there are at most limit.
func (e datePattern) List(iv types.Interval, limit int) (vs []types.Value, ok bool) {
	for n := iv.Lo.Int(); n <= iv.Hi.Int(); n = e.after(n) {
		if len(vs) == limit {
			return nil, false
		}
		vs = append(vs, types.NewIntOf(e.t, n))
	}
	return vs, true
}
