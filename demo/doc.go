// Package demo opens an embedded store with sample tables: one for each kind of rowkey, small enough to look
// through, ready to query.
package demo
