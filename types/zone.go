package types

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

var zones sync.Map // name to *time.Location

// Zone finds a time zone by its name in the IANA database: UTC, Europe/Berlin. The machine's own zone has no name.
func Zone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	switch strings.ToUpper(name) {
	case "UTC", "GMT", "Z":
		return time.UTC, nil
	}
	name = strings.Clone(name) // zones keeps it, and a row may own its memory
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || strings.EqualFold(name, "Local") {
		return nil, fmt.Errorf("unknown time zone %q (use UTC or a name like Europe/Berlin)", name)
	}
	zones.Store(name, loc)
	return loc, nil
}

// inZone returns the moment at which clocks in loc show the time that t shows in UTC. A time that they skip is read as
// before the change, a time that they show twice as after it, as in PostgreSQL.
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
	case before.After(after) && !after.Add(offset(after)).Equal(t): // skipped
		return before
	}
	return after
}

// DaysAt returns the first day whose midnight in loc (nil: UTC) is not before v, one of the TIMESTAMPs, and the first
// day whose midnight is later than v. Midnight is Cast's.
func DaysAt(v Value, loc *time.Location) (from, after Value) {
	if loc == nil || v.typ == LocalTimestamp {
		loc = time.UTC
	}
	t := time.UnixMilli(v.i)
	midnight := func(day int64) time.Time { return inZone(time.Unix(day*86400, 0).UTC(), loc) }
	day := floorDiv(v.i, MillisPerDay) - 1 // no zone differs by a day from UTC, so this day's midnight is earlier
	for midnight(day).Before(t) {
		day++
	}
	from = NewDate(day)
	for !midnight(day).After(t) {
		day++
	}
	return from, NewDate(day)
}
