package plan

import "time"

// Estimate is what a plan is likely to read: rows and bytes that leave the region servers.
type Estimate struct {
	Rows, Bytes float64
	At          time.Time // of the oldest statistics that it is made from
}
