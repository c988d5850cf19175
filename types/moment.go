package types

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// toTime casts v to DATE, TIME or one of the TIMESTAMPs.
func toTime(v Value, to Type, loc *time.Location) (Value, error) {
	if v.typ.IsText() {
		return parseTime(v.s, to, loc)
	}
	switch {
	case v.typ.IsInteger() && to.IsTimestamp():
		return NewIntOf(to, v.i), nil
	case v.typ == Duration && to == Time:
		return NewIntOf(to, FloorMod(v.i, MillisPerDay)), nil
	case v.typ == Date && to == LocalTimestamp:
		return NewIntOf(to, v.i*MillisPerDay), nil
	case v.typ == Date && to == Timestamp:
		return momentAt(v.i*MillisPerDay, loc)
	case v.typ == LocalTimestamp && to == Timestamp:
		return momentAt(v.i, loc)
	case v.typ.IsTimestamp():
		wall, err := clock(v, loc)
		if err != nil {
			return v, err
		}
		switch to {
		case Date:
			if wall = FloorDiv(wall, MillisPerDay); wall < -MaxDate {
				return v, fmt.Errorf("DATE out of range: %s", v)
			}
		case Time:
			wall -= FloorDiv(wall, MillisPerDay) * MillisPerDay
		}
		return NewIntOf(to, wall), nil
	}
	return Value{}, fmt.Errorf("%s cannot be cast to %s", v.typ, to)
}

// clock returns the wall-clock time in loc at a TIMESTAMP, or a TIMESTAMP WITHOUT TIME ZONE itself, in milliseconds.
func clock(v Value, loc *time.Location) (int64, error) {
	if v.typ == LocalTimestamp {
		return v.i, nil
	}
	_, off := time.UnixMilli(v.i).In(loc).Zone()
	if v.HasClock() {
		off = int(v.months) - ownClock
	}
	wall := v.i + int64(off)*1000
	if off != 0 && (wall > v.i) != (off > 0) {
		return wall, fmt.Errorf("TIMESTAMP out of range: %s", v)
	}
	return wall, nil
}

// momentAt returns the TIMESTAMP at which the wall clock in loc shows wall.
func momentAt(wall int64, loc *time.Location) (Value, error) {
	if loc == time.UTC {
		return NewTimestamp(wall), nil
	}
	if wall < math.MinInt64+2*MillisPerDay || wall > math.MaxInt64-2*MillisPerDay {
		return Value{}, fmt.Errorf("TIMESTAMP out of range: %s", NewIntOf(LocalTimestamp, wall))
	}
	return NewTimestamp(inZone(time.UnixMilli(wall).UTC(), loc).UnixMilli()), nil
}

// ParseTimestamp parses 2006-01-02[ |T]15:04[:05[.000]][zone] as milliseconds since 1970, rounded. Without a zone it is a
// time in loc.
func ParseTimestamp(s string, loc *time.Location) (int64, error) {
	v, err := parseTime(s, Timestamp, loc)
	return v.i, err
}

// parseTime is ParseFar for the years 4713 BC to 294276, which PostgreSQL allows.
func parseTime(s string, to Type, loc *time.Location) (Value, error) {
	const first, last = -210_866_803_200_000, 9_224_318_015_999_999
	v, err := ParseFar(s, to, loc)
	if ms := v.i; err == nil && to != Time {
		if to == Date {
			ms *= MillisPerDay
		}
		if ms < first || ms > last {
			return Value{}, fmt.Errorf("%s out of range: %s", to, Short(s))
		}
	}
	return v, err
}

// ParseFar parses a DATE, TIME or TIMESTAMP of any year in the type's range: HBase may hold such values, and results print
// them.
func ParseFar(s string, to Type, loc *time.Location) (Value, error) {
	if loc == nil {
		loc = time.UTC
	}
	if r, ok := readTime(s); ok {
		wall := r.day*MillisPerDay + r.ms
		switch {
		case r.day > 0 && wall < 0, r.day < -1 && wall > 0: // overflow of 64 bits
		case to == Time && r.timed && r.ms < MillisPerDay:
			return NewIntOf(Time, r.ms), nil
		case to == Time || !r.dated:
		case to == Date && r.day >= -MaxDate:
			return NewDate(r.day), nil
		case to == Date:
		case to == LocalTimestamp:
			return NewIntOf(to, wall), nil
		case r.zoned && (wall-r.offset <= wall) == (r.offset >= 0):
			return NewTimestamp(wall - r.offset), nil
		case r.zoned:
		default:
			return momentAt(wall, loc)
		}
	}
	switch finite := !strings.EqualFold(strings.TrimLeft(s, "+-"), "infinity"); {
	case !finite && to != Time:
		return Value{}, fmt.Errorf("invalid date or timestamp %q: dates and moments are finite (leave the bound out, or use 9999-12-31)", s)
	case to == Date:
		return Value{}, fmt.Errorf("invalid date %q (use YYYY-MM-DD)", s)
	case to == Time:
		return Value{}, fmt.Errorf("invalid time %q (use HH:MM:SS, 23:59:59.999 at most)", s)
	}
	return Value{}, fmt.Errorf("invalid timestamp %q (use YYYY-MM-DD HH:MM:SS)", s)
}

// reading holds the date, the time of day and the zone that were read from a text.
type reading struct {
	day    int64 // days since 1970-01-01
	ms     int64 // milliseconds since midnight, up to 24:00
	offset int64 // milliseconds ahead of UTC

	dated, timed, zoned bool
}

// reader reads tokens from the start of a text.
type reader struct{ rest string }

// number reads at most nine digits.
func (r *reader) number() (n int64, digits int) {
	for digits < len(r.rest) && digits < 9 && r.rest[digits] >= '0' && r.rest[digits] <= '9' {
		n = 10*n + int64(r.rest[digits]-'0')
		digits++
	}
	r.rest = r.rest[digits:]
	return n, digits
}

// accept reads one character of set, and reports whether it did.
func (r *reader) accept(set string) bool {
	if r.rest == "" || strings.IndexByte(set, r.rest[0]) < 0 {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// readTime reads dates and times in the forms of ISO 8601, with T or spaces between them. A month or day may have one
// digit; a year may have a sign, or BC at the end of the text.
func readTime(s string) (out reading, ok bool) {
	r := reader{strings.TrimSpace(s)}
	before, bc := strings.CutSuffix(r.rest, " BC")
	r.rest = before
	if at := strings.IndexAny(r.rest, "-:"); at != 1 && at != 2 || r.rest[at] == '-' { // not 15:04
		if out.day, ok = r.date(bc); !ok {
			return out, false
		}
		out.dated = true
		switch {
		case r.rest == "":
			return out, true
		case r.accept("Tt"):
			ok = true
		default:
			ok = strings.HasPrefix(r.rest, " ")
			r.rest = strings.TrimLeft(r.rest, " ")
			ok = ok && strings.TrimLeft(r.rest, "+-") == r.rest // a zone follows a date of JDBC at once
		}
	}
	if ok || !out.dated {
		if out.ms, ok = r.clock(); !ok {
			return out, false
		}
		out.timed = true
	}
	r.rest = strings.TrimLeft(r.rest, " ")
	if r.rest == "" {
		return out, true
	}
	out.zoned = true
	if out.dated && strings.Contains(r.rest, "/") { // Europe/Berlin
		wall := out.day*MillisPerDay + out.ms
		loc, err := Zone(r.rest)
		if err != nil {
			return out, false
		}
		at, err := momentAt(wall, loc)
		out.offset = wall - at.i
		return out, err == nil
	}
	out.offset, ok = r.zone()
	return out, ok && r.rest == ""
}

// date reads 2006-01-02, 20060102, with seven digits 9991231 in the year 999, or the day of a year, 2006-002.
func (r *reader) date(bc bool) (day int64, ok bool) {
	negative := r.accept("-")
	year, digits := r.number()
	var month, date int64
	ofYear := false
	switch {
	case (digits == 7 || digits == 8) && !strings.HasPrefix(r.rest, "-"):
		year, month, date = year/10000, year/100%100, year%100
	case digits < 4 || !r.accept("-"):
		return 0, false
	default:
		var n, m int
		month, n = r.number()
		if n == 3 {
			month, date, ofYear = 1, month, true
			break
		}
		if !r.accept("-") {
			return 0, false
		}
		if date, m = r.number(); n > 2 || m > 2 {
			return 0, false
		}
	}
	if negative {
		year = -year
	}
	if bc {
		year = 1 - year
	}
	if month < 1 || month > 12 || date < 1 || date > 366 {
		return 0, false
	}
	t := time.Date(int(year), time.Month(month), int(date), 0, 0, 0, 0, time.UTC)
	day = FloorDiv(t.Unix(), 86400)
	return day, (t.Day() == int(date) || ofYear && t.Year() == int(year)) && day >= -MaxDate-1 && day <= MaxDate
}

// clock reads 15:04, 15:04:05.000, 1504 or 150405.
func (r *reader) clock() (ms int64, ok bool) {
	hour, digits := r.number()
	minute, second := int64(0), int64(0)
	switch {
	case digits <= 2 && r.accept(":"):
		var n int
		if minute, n = r.number(); n < 1 || n > 2 {
			return 0, false
		}
		if r.accept(":") {
			if second, n = r.number(); n < 1 || n > 2 {
				return 0, false
			}
		}
	case digits == 4:
		hour, minute = hour/100, hour%100
	case digits == 6:
		hour, minute, second = hour/10000, hour/100%100, hour%100
	default:
		return 0, false
	}
	var nanos int64
	if r.accept(".") {
		n, digits := r.number()
		for ; digits < 9; digits++ {
			n *= 10
		}
		for r.accept("0123456789") { // finer digits are ignored
		}
		nanos = n
	}
	ms = (hour*60+minute)*60_000 + second*1000 + (nanos+500_000)/1_000_000
	return ms, hour <= 24 && minute <= 59 && second <= 60 && ms <= MillisPerDay
}

// zone reads Z, UTC, +02, +0230, +02:30 or +02:30:15.
func (r *reader) zone() (offset int64, ok bool) {
	for _, name := range []string{"Z", "UTC", "GMT"} {
		if len(r.rest) >= len(name) && strings.EqualFold(r.rest[:len(name)], name) {
			r.rest = r.rest[len(name):]
			return 0, true
		}
	}
	west := strings.HasPrefix(r.rest, "-")
	if !r.accept("+-") {
		return 0, false
	}
	hour, digits := r.number()
	minute, second, n := int64(0), int64(0), 0
	switch {
	case digits == 0 || digits > 4:
		return 0, false
	case digits > 2:
		hour, minute = hour/100, hour%100
	case r.accept(":"):
		if minute, n = r.number(); n != 2 {
			return 0, false
		}
		if r.accept(":") {
			if second, n = r.number(); n != 2 {
				return 0, false
			}
		}
	}
	offset = ((hour*60+minute)*60 + second) * 1000
	if west {
		offset = -offset
	}
	return offset, hour <= 15 && minute <= 59 && second <= 59
}
