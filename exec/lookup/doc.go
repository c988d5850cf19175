// Package lookup implements dictionaries. Keys contain a number instead of a name, and a dictionary maps each name to its
// number. There are two kinds: the tables that LOOKUP names, and OpenTSDB's table of ids (OPENTSDB_UID). A Dictionary
// reads the number of a name and the names of numbers, and assigns the next number to a name without one.
//
//	write   row -> Allocate: its names get numbers -> key
//	plan    WHERE -> Get: a number that is not known -> Resolve -> planned again -> spans
//	read    key -> number -> Name -> row
//
// Numbers never change. An engine caches those that were read (Cache). A statement always uses the numbers that it read
// first (Numbers), even if others write meanwhile.
package lookup
