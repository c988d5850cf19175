package types

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var zones sync.Map // name to *time.Location

// offsetZone matches zones in the form of POSIX, whose sign is the opposite of ISO 8601's: UTC-02:00 is two hours ahead of UTC.
var offsetZone = regexp.MustCompile(`^(?:[A-Za-z]{3,}|<[^<>]*>)([+-])([01]?\d|2[0-3])(?::([0-5]\d))?$`)

// Zone returns the time zone with a name of the IANA database, such as UTC and Europe/Berlin, or in POSIX's form. The
// machine's local zone has no name.
func Zone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	switch strings.ToUpper(name) {
	case "UTC", "GMT", "Z":
		return time.UTC, nil
	}
	if m := offsetZone.FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[1] + m[2])
		minutes, _ := strconv.Atoi(m[1] + m[3])
		return time.FixedZone(strings.Clone(name), -hours*3600-minutes*60), nil
	}
	name = strings.Clone(name) // zones keeps name, whose memory may belong to a row
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || strings.EqualFold(name, "Local") {
		return nil, fmt.Errorf("unknown time zone %q (use UTC or a name like Europe/Berlin)", name)
	}
	zones.Store(name, loc)
	return loc, nil
}

// ZoneAt returns the time zone of AT TIME ZONE: an abbreviation such as PST or CET has the same offset all year, any other
// name is one of Zone.
func ZoneAt(name string) (*time.Location, error) {
	if hours, ok := zoneHours[strings.ToUpper(name)]; ok {
		return time.FixedZone(strings.ToUpper(name), hours*3600), nil
	}
	return Zone(name)
}

// inZone returns the moment at which the wall clock in loc shows the time of t in UTC. As in PostgreSQL, a time that the
// clock skips is read with the offset before the change, and a time that it shows twice with the offset after it.
func inZone(t time.Time, loc *time.Location) time.Time {
	if loc == time.UTC {
		return t
	}
	offset := func(t time.Time) time.Duration {
		_, s := t.In(loc).Zone()
		return time.Duration(s) * time.Second
	}
	const day = 24 * time.Hour
	before, after := t.Add(-offset(t.Add(-day))), t.Add(-offset(t.Add(day)))
	switch {
	case before.Equal(after):
		return before
	case before.Add(offset(before)).Equal(t) && !after.Add(offset(after)).Equal(t):
		return before
	case before.After(after) && !after.Add(offset(after)).Equal(t): // the wall clock skips this time
		return before
	}
	return after
}

// DaysAt returns the first day whose midnight in loc (nil: UTC) is not before v, one of the TIMESTAMPs, and the first day
// whose midnight is later than v. Midnight is computed like Cast.
func DaysAt(v Value, loc *time.Location) (from, after Value) {
	if loc == nil || v.typ == LocalTimestamp {
		loc = time.UTC
	}
	t := time.UnixMilli(v.i)
	midnight := func(day int64) time.Time { return inZone(time.Unix(day*86400, 0).UTC(), loc) }
	day := FloorDiv(v.i, MillisPerDay) - 1 // zones differ from UTC by less than a day, so this day's midnight is earlier
	for midnight(day).Before(t) {
		day++
	}
	from = NewDate(day)
	for !midnight(day).After(t) {
		day++
	}
	return from, NewDate(day)
}
