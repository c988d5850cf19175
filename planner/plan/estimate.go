package plan

import "time"

// Estimate is what a plan is likely to read: rows and bytes that leave the region servers, and the calls for them.
type Estimate struct {
	Rows, Bytes, RPCs float64
	// Result is how many rows the plan or a step of it gives; Unknown: nothing tells.
	Result float64
	// Cost is about the time that servers and client work on it, in microseconds: what alternatives are compared by.
	Cost float64
	At   time.Time // of the oldest statistics that it is made from
}

// Unknown is what no figure is known of.
const Unknown = -1.0

// Alternative is a way to read a table that was not taken.
type Alternative struct {
	Layout   string
	Access   Access
	How      string // what it does unlike the usual; "": nothing
	Estimate Estimate
	Why      string
}
