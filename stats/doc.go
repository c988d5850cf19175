// Package stats holds what ANALYZE found out about a table, and tells from it how many rows a condition or a range of
// keys is likely to have.
//
//	rows read in runs -> Collector -> Table -> Column.Share    the share of rows whose value lies in a set
//	                                        -> Key.InRange     the rows with keys in a range
//
// A Table is plain data: it is kept as JSON. All of it is about what is likely: plans that go by it cost more or less time, and
// give the same rows. What is not known is said to be so: the functions that tell figures report whether they know any.
package stats
