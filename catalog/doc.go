// Package catalog knows the tables: their columns, how a rowkey, a physical table name and a packed qualifier are put
// together from parts, and how values are stored as bytes. It turns CREATE TABLE into checked layouts, and rows into
// keys and back. It reads no store.
//
//	CREATE TABLE t (uid STRING, ts TIMESTAMP, v INT) ROW KEY (CRC32(uid) % 8 AS UINT8, uid AS TEXT, X'00', ts AS INT64)
//
//	Table      t: its columns and layouts
//	  Layout     one way in which the rows are stored: ROW KEY, and each INDEX and further ROW KEY
//	    Composite  the pattern of bytes of the key
//	      Part       CRC32(uid) % 8 AS UINT8: an expression over columns with an encoding, or the literal X'00'
//
// The planner asks a Part what it knows (part.go): its value from the columns, the columns from its value, what
// order and which bytes a range of values has. An encoding and a function are an entry in a table each (encodings.go,
// package expr), and the answers of a Part follow from theirs.
package catalog
