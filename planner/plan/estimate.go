package plan

import "time"

// Estimate is the estimated reads of a plan: rows and bytes that leave the region servers, and the calls for them.
type Estimate struct {
	Rows, Bytes, RPCs float64
	// Result is the number of rows of the plan or of one of its steps; Unknown: it cannot be estimated.
	Result float64
	// Cost is the approximate CPU time of servers and client, in microseconds, by which alternatives are compared.
	Cost float64
	At   time.Time // of the oldest statistics that it is made from
}

// Unknown is the value of a figure that is not known.
const Unknown = -1.0

// Alternative is a way to read a table that was not taken.
type Alternative struct {
	Layout   string
	Access   Access
	How      string // what it does unlike the usual; "": nothing
	Estimate Estimate
	Why      string
}
