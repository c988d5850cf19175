package solve

import (
	"math"
	"time"

	"github.com/hql-db/hql/types"
)

// ToWall returns wall-clock times in loc, among them all those that Cast converts to a moment in out. exact reports that
// there are no others: no clock changes near the ends of out.
func ToWall(out types.Set, loc *time.Location) (walls types.Set, exact bool) {
	const near = int64(2 * types.MillisPerDay)
	exact = true
	// offsets returns the least and the greatest offset around a moment.
	offsets := func(ms int64) (least, most int64) {
		least, most = offset(ms, loc), offset(ms, loc)
		for at := -near; at <= near; at += 3_600_000 {
			off := offset(types.AddClamp(ms, at), loc)
			least, most = min(least, off), max(most, off)
		}
		exact = exact && least == most
		return least, most
	}
	for _, iv := range out {
		lo, hi := iv.Ints()
		if lo > math.MinInt64 {
			least, _ := offsets(lo)
			lo = types.AddClamp(lo, least)
		}
		if hi < math.MaxInt64 {
			_, most := offsets(hi)
			hi = types.AddClamp(hi, most)
		}
		walls = append(walls, types.IntInterval(types.LocalTimestamp, lo, hi))
	}
	return types.SetOf(walls...), exact
}

// FromWall returns the moments at which the wall clock in loc shows a time in wall.
func FromWall(wall types.Set, loc *time.Location) types.Set {
	const most = 2 * types.MillisPerDay // offsets from UTC are smaller
	var out []types.Interval
	for _, iv := range wall {
		lo, hi := iv.Ints()
		// All moments that are more than most away from both ends are included. Around the ends, near checks each
		// stretch between two clock changes.
		near := func(from, to int64) {
			for t := from; ; {
				until := to
				switch _, end := time.UnixMilli(t).In(loc).ZoneBounds(); {
				case end.IsZero() || end.Unix() > types.FloorDiv(to, 1000):
				case end.UnixMilli() > t:
					until = end.UnixMilli() - 1
				default: // package time reports a change on the last day of leap years; clocks do not change then
					until = min(to, t+types.MillisPerDay-1)
				}
				off := offset(t, loc)
				there := stretch{types.SubClamp(lo, off), types.SubClamp(hi, off)}
				if types.AddClamp(there.lo, off) <= hi && types.AddClamp(there.hi, off) >= lo && there.lo <= until && there.hi >= t {
					out = append(out, types.IntInterval(types.Timestamp, max(t, there.lo), min(until, there.hi)))
				}
				if until == to {
					return
				}
				t = until + 1
			}
		}
		first, second := types.AddClamp(lo, most), types.SubClamp(hi, most)
		if first >= second {
			near(types.SubClamp(lo, most), types.AddClamp(hi, most))
			continue
		}
		near(types.SubClamp(lo, most), first)
		out = append(out, types.IntInterval(types.Timestamp, first, second))
		near(second, types.AddClamp(hi, most))
	}
	return types.SetOf(out...)
}

// MomentAs returns the DATE or TIMESTAMP of type t at ms milliseconds after 1970.
func MomentAs(t types.Type, ms int64) types.Value {
	if t == types.Date {
		ms = types.FloorDiv(ms, types.MillisPerDay)
	}
	return types.NewIntOf(t, ms)
}

// MaxCivil bounds the milliseconds that are converted to years, months and days: about 270,000 years in both directions.
const MaxCivil = 8_640_000_000_000_000

// offset returns the offset of loc from UTC at a moment, in milliseconds.
func offset(ms int64, loc *time.Location) int64 {
	_, s := time.UnixMilli(ms).In(loc).Zone()
	return int64(s) * 1000
}
