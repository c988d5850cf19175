// Package stats holds the results of ANALYZE for a table, and estimates from them how many rows a condition or a range
// of keys has.
//
//	rows read in runs -> Collector -> Table -> Column.Share    the share of rows whose value lies in a set
//	                                        -> Key.InRange     the rows with keys in a range
//
// A Table is plain data and is stored as JSON. All of it is estimates: they change the cost of plans, never the rows.
// Functions that return estimates report whether they know any.
package stats
