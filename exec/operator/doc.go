// Package operator runs the steps of a plan: filters, projections, joins, sorts, groups and set operations, over
// batches of rows that they pull from one another. It knows no statement and no HBase: whoever runs a plan hands in a
// Source, which opens the scans at the leaves as operators too.
//
//	Sort              op.Next  ->  the rows in order, 256 at a time
//	  Join               pulls both sides; one is held in memory
//	    Filter             pulls
//	      Scan               of the Source
//	    Scan
//
// What a query's operators hold is counted against one limit (budget.go). A sort, a grouping, a DISTINCT and a join
// beyond it write rows to files without names (spill.go) and read them back when there is room.
package operator
