// Package operator runs the steps of a plan: filters, projections, joins, sorts, groups and set operations, over batches
// of rows that they pull from one another. It knows neither statements nor HBase: the caller provides a Source, which
// opens the scans at the leaves as operators.
//
//	Sort              op.Next  ->  the rows in order, 256 at a time
//	  Join               pulls both sides; one is held in memory
//	    Filter             pulls
//	      Scan               of the Source
//	    Scan
//
// The operators of a query share one memory limit (budget.go). Beyond it they write rows to unnamed files (spill.go), and
// read them back when there is room. A window reads its rows by their numbers (pages.go).
package operator
