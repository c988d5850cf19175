// Package hql answers SQL over HBase tables whatever their rowkey looks like.
//
// A table is described once, by a CREATE TABLE statement whose ROW KEY lists the parts of the
// key as expressions. Queries then become Gets and bounded Scans:
//
//	db, err := hql.Open(ctx, "hbase://zk1,zk2:2181/hbase", hql.WithCatalogFile("tables.sql"))
//	rows, err := db.Query(ctx, "SELECT ts, op FROM user_ops WHERE uid = ? AND ts >= ?", uid, since)
//	for row, err := range rows.All() { ... }
//
// Open("mem:") and Open("dir:./data") give an embedded store in place of a cluster, with the same behaviour. The program
// must import it:
//
//	import _ "github.com/hql-db/hql/embedded"
//
// A statement that would read a whole table because nothing binds its rowkey is
// refused on a cluster (ErrFullScan) unless it says ALLOW FULL SCAN; Explain tells beforehand:
//
//	plan, err := db.Explain(ctx, sql, args...)
//	plan.HitsPrefix()    // a test of a service can assert it
//	fmt.Println(plan)    // which keys are read, what the servers filter, what is left
//
// Connections to a cluster are read-only unless WithWrites(true).
//
// The packages below are usable alone: parser, catalog and planner do no I/O.
package hql
