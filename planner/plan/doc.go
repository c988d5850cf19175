// Package plan is what the planner makes of a query: a tree of nodes (plan.go), whose leaves read tables (scan.go) by spans of keys
// (span.go), with what is done with each part of a key (use.go). It is plain data, which packages exec runs, explain draws and design
// compares; only what depends on values that are not known yet, the inner side of a lookup join and a sub-query, is a function: see Lookup
// and Subplan for why.
package plan
