package types

import (
	"fmt"
	"strings"
	"time"
)

var typesByName = map[string]Type{
	"BOOLEAN": Boolean, "BOOL": Boolean, "TINYINT": TinyInt, "SMALLINT": SmallInt, "INT2": SmallInt,
	"INT": Int, "INTEGER": Int, "INT4": Int, "BIGINT": BigInt, "INT8": BigInt, "LONG": BigInt,
	"FLOAT": Float, "REAL": Float, "FLOAT4": Float, "DOUBLE": Double, "DOUBLE PRECISION": Double, "FLOAT8": Double,
	"DECIMAL": Decimal, "NUMERIC": Decimal, "STRING": String, "VARCHAR": String, "CHAR": String, "TEXT": String,
	"CHARACTER": String, "CHARACTER VARYING": String, "BYTES": Bytes, "VARBINARY": Bytes, "BINARY": Bytes, "BLOB": Bytes, "BYTEA": Bytes,
	"DATE": Date, "TIME": Time, "TIMESTAMP": Timestamp, "DATETIME": Timestamp, "TIMESTAMPTZ": Timestamp, "JSON": JSON, "JSONB": JSON, "INTERVAL": Duration,
}

// ParseType finds a type by any of its usual names; a length in parentheses is ignored.
func ParseType(name string) (Type, bool) {
	name = strings.ToUpper(name)
	if i := strings.IndexByte(name, '('); i >= 0 {
		name = strings.TrimSpace(name[:i])
	}
	t, ok := typesByName[name]
	return t, ok
}

var dateLayouts = []string{"2006-01-02", "2006-1-2", "20060102"}

// ParseDate reads 2006-01-02 or 20060102 as days since 1970-01-01. A time of day after it is cut off.
func ParseDate(s string) (int64, error) {
	s = strings.TrimSpace(s)
	for _, l := range dateLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return t.Unix() / 86400, nil
		}
	}
	if t, err := parseTimestamp(s, time.UTC); err == nil {
		return floorDiv(t.Unix(), 86400), nil
	}
	return 0, fmt.Errorf("invalid date %q (use YYYY-MM-DD)", s)
}

// ParseTime reads 15:04, 15:04:05 or 15:04:05.000 as milliseconds since midnight; what is finer is rounded.
func ParseTime(s string) (int64, error) {
	s = strings.TrimSpace(s)
	for _, l := range []string{"15:04:05.999999999", "15:04"} {
		if t, err := time.Parse(l, s); err == nil {
			if ms := t.Sub(t.Truncate(24 * time.Hour)).Round(time.Millisecond).Milliseconds(); ms < MillisPerDay {
				return ms, nil
			}
		}
	}
	return 0, fmt.Errorf("invalid time %q (use HH:MM:SS)", s)
}

var timestampLayouts = []string{"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02", "20060102"}
var zonedLayouts = []string{"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 Z07:00", "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04Z07:00"}

// ParseTimestamp reads 2006-01-02[ |T]15:04[:05[.000]][zone] as milliseconds since
// 1970, rounded where it is finer; without a zone it is a time in loc.
func ParseTimestamp(s string, loc *time.Location) (int64, error) {
	t, err := parseTimestamp(s, loc)
	return t.Round(time.Millisecond).UnixMilli(), err
}

func parseTimestamp(s string, loc *time.Location) (time.Time, error) {
	if loc == nil {
		loc = time.UTC
	}
	x := strings.TrimSpace(s)
	if len(x) > 10 && (x[10] == 'T' || x[10] == 't') {
		x = x[:10] + " " + x[11:]
	}
	for _, l := range timestampLayouts {
		if t, err := time.Parse(l, x); err == nil {
			return inZone(t, loc), nil
		}
	}
	for _, l := range zonedLayouts {
		if t, err := time.Parse(l, x); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("invalid timestamp %q (use YYYY-MM-DD HH:MM:SS)", s)
}
