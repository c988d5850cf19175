package plan

import "time"

// Estimate is the estimated reads of a plan: the rows and bytes that the region servers send, and the number of calls.
type Estimate struct {
	Rows, Bytes, RPCs float64
	// Result is the number of rows that the plan or step returns; Unknown if it cannot be estimated.
	Result float64
	// Cost is the approximate CPU time of servers and client in microseconds. The planner compares alternatives by it.
	Cost float64
	At   time.Time // time of the oldest statistics used
}

// Unknown is the value of an unknown figure.
const Unknown = -1.0

// Alternative is a way to read a table that the planner has not chosen.
type Alternative struct {
	Layout   string
	Access   Access
	How      string // the difference from the usual way; "" if there is none
	Estimate Estimate
	Why      string
}
