// Package types holds the SQL types and their values: how values compare, convert and print.
// A Set is an ordered set of values, a list of intervals; the planner reasons about WHERE with sets.
package types
