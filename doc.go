// Package hql runs SQL over existing HBase tables, whatever the layout of their rowkeys.
//
// A CREATE TABLE statement describes a table once; its ROW KEY lists the parts of the key as
// expressions. Queries then become Gets and bounded Scans:
//
//	db, err := hql.Open(ctx, "hbase://zk1,zk2:2181/hbase", hql.WithCatalogFile("tables.sql"))
//	rows, err := db.Query(ctx, "SELECT ts, op FROM user_ops WHERE uid = ? AND ts >= ?", uid, since)
//	for row, err := range rows.All() { ... }
//
// Open("mem:") and Open("dir:./data") open an embedded store that behaves like a cluster. The program must import it:
//
//	import _ "github.com/hql-db/hql/embedded"
//
// On a cluster hql refuses a statement that would read a whole table because nothing binds its rowkey
// (ErrFullScan), unless the statement says ALLOW FULL SCAN. Explain finds such a statement without running it:
//
//	plan, err := db.Explain(ctx, sql, args...)
//	plan.HitsPrefix()    // a test of a service can assert it
//	fmt.Println(plan)    // which keys are read, what the servers filter, what is left
//
// Connections to a cluster are read-only without WithWrites(true).
//
// Packages parser, catalog and planner can be used alone: they do no I/O.
package hql
