// Package catalog describes the tables: their columns, the parts from which a rowkey, a physical table name and a
// packed qualifier are made, and the encodings of values. It turns CREATE TABLE into checked layouts, and rows into
// keys and back. It reads no store.
//
//	CREATE TABLE t (uid STRING, ts TIMESTAMP, v INT) ROW KEY (CRC32(uid) % 8 AS UINT8, uid AS TEXT, X'00', ts AS INT64)
//
//	Table      t: its columns and layouts
//	  Layout     one way in which the rows are stored: ROW KEY, and each INDEX and further ROW KEY
//	    Composite  the pattern of bytes of the key
//	      Part       CRC32(uid) % 8 AS UINT8: an expression over columns with an encoding, or the literal X'00'
//
// The planner asks a Part (part.go) for its value from the columns, for the columns from its value, for its order and
// for the bytes of a range of values. Each encoding and each function is an entry in a table (encodings.go, package
// expr), and a Part derives its answers from these entries.
package catalog
