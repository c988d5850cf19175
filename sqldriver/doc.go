// Package sqldriver registers hql as a driver of database/sql, by the name "hql":
//
//	import _ "github.com/hql-db/hql/sqldriver"
//	db, err := sql.Open("hql", "hbase://zk1,zk2:2181/hbase?catalog=tables.sql")
//
// A data source name is the argument of hql.Open; mem: and dir: need the import of package embedded. The store is
// opened when it is first used; NewConnector(db) takes one that is already open. All connections of a sql.DB share the
// store, and each has its own settings (SET). The pool needs no limits.
//
// Parameters are ? or $1, or @name with sql.Named. Arguments are those of hql.DB.Query, including a slice in x IN (?)
// and hql.QueryOptions as the first argument. Columns return int64, float64, bool, string, []byte (BYTES and JSON),
// time.Time (DATE and TIMESTAMP) and nil; DECIMAL and TIME return text.
//
// HBase has no transactions over several rows: Begin and BeginTx return ErrTransactions. Rows have no insert id. Errors
// are hql's own and never driver.ErrBadConn, so that database/sql sends no statement a second time.
package sqldriver
