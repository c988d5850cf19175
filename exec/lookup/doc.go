// Package lookup is about dictionaries: keys hold a number in place of a name, and a dictionary gives each name its number.
// There are two: the tables that LOOKUP names, and OpenTSDB's table of ids (OPENTSDB_UID). A Dictionary reads the number
// of a name and the names of numbers, and gives a name that has no number the next one.
//
//	write   row -> Allocate: its names get numbers -> key
//	plan    WHERE -> Get: a number that is not known -> Resolve -> planned again -> spans
//	read    key -> number -> Name -> row
//
// Numbers never change. An engine keeps those that were read (Cache). A statement keeps the numbers that it read first
// (Numbers), even if others write meanwhile.
package lookup
