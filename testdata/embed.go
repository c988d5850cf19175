// Package testdata holds the layouts and sample rows that tests and the demo use.
package testdata

import _ "embed" // the files below

// Layouts are the CREATE TABLE statements of every rowkey layout that hql serves.
//
//go:embed layouts.sql
var Layouts string

// Files are ten files of four owners, with a header line: file_id,create_time,name,category,user_id.
//
//go:embed data/files.csv
var Files string

// Messages are 34 messages, an object a line, with the rowkey that each was stored under.
//
//go:embed data/messages.jsonl
var Messages string

// Ring are message ids with their hash and region number on a ring of the nodes
// 0001 to 0010 with 100 virtual nodes each, tab-separated with a header line.
//
//go:embed data/ring100_sample.tsv
var Ring string

// Queries lists queries on the layouts with the plan that EXPLAIN must show, a query a line: layout, query, access,
// gets, scans, ranges, order; "-" where it is free.
//
//go:embed queries.tsv
var Queries string
