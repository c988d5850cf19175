// Package write stores rows: each becomes mutations of every layout of its table. It is package scan the other way round.
//
//	row        -> its place in each layout: HBase table, key, packed qualifier (place.go)
//	           -> cells to put and to delete there (cells.go, points.go), at one time for all of them (clock.go)
//	mutations  -> sent in batches: entries before their rows, deletions of entries after them (send.go)
//
// A crash in between leaves at most an entry whose row is not found. A Writer (writer.go) writes over rows and deletes
// them; an Inserter (insert.go) writes rows of which it is not known whether they are there. What keeps apart statements
// that write one row at the same time is in race.go. CheckLayout compares a layout with the rows and mends it (check.go).
//
// It plans nothing: which rows get which values is the statement's affair. Env is what it asks of the statement.
package write
