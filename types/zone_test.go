package types

import (
	"testing"
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
