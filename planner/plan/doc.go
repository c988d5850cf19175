// Package plan is the result of planning: a tree of nodes (plan.go), whose leaves read tables (scan.go) by spans of keys
// (span.go), with the use of each part of a key (use.go). Package exec runs it and package explain draws it. It is plain
// data, except for the parts that depend on unknown values: the inner side of a lookup join and a sub-query are functions
// (see Lookup and Subplan for the reason).
package plan
