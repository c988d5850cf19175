// Package filter describes the filters that region servers evaluate, as plain data. The planner builds
// them, package hbase turns them into HBase's messages, and EXPLAIN prints them. Nothing here evaluates
// anything.
//
// A filter keeps every row, and every cell, that its predicate needs. It may keep more: the planner knows
// whether the client must check the predicate again.
package filter
