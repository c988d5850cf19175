package types

import (
	"testing"
	"time"
	"unsafe"
)

// TestZonesOwnTheirNames checks that a zone is kept with a name of its own: that of a row is overwritten when the row's
// time is over.
func TestZonesOwnTheirNames(t *testing.T) {
	row := []byte("Pacific/Tarawa")
	loc, err := Zone(unsafe.String(&row[0], len(row)))
	if err != nil {
		t.Fatal(err)
	}
	copy(row, "overwritten...")
	if loc.String() != "Pacific/Tarawa" {
		t.Errorf("the zone is called %s", loc)
	}
}

// An argument keeps its clock where it is written for another process.
func TestArgumentInBytes(t *testing.T) {
	v := NewArgument(time.Date(2024, 1, 1, 0, 30, 0, 0, time.FixedZone("", 2*3600)))
	back, rest, err := DecodeBinary(append(v.AppendBinary(nil), 'x'))
	if err != nil || back != v || string(rest) != "x" {
		t.Errorf("%v, %s, %q", err, back, rest)
	}
	if day, err := Cast(back, Date, nil); err != nil || day.String() != "2024-01-01" {
		t.Errorf("%v, %s", err, day)
	}
	if back.WithoutClock() != NewTimestamp(v.Int()) {
		t.Errorf("%s is not the moment", back)
	}
}
