// Package write stores rows: it turns each row into mutations of all layouts of its table.
//
//	row        -> its place in each layout: HBase table, key, packed qualifier (place.go)
//	           -> cells to put and to delete there (cells.go, points.go), at one time for all of them (clock.go)
//	mutations  -> sent in batches: entries before their rows, deletions of entries after them (send.go)
//
// A crash in between leaves at most an entry without a row. A Writer (writer.go) overwrites and deletes rows; an
// Inserter (insert.go) writes rows that may or may not exist. race.go handles statements that write one row at the same
// time. CheckLayout compares a layout with the rows and repairs it (check.go).
//
// It plans no reads: the statement determines the rows and their values. Env is the writer's interface to the statement.
package write
