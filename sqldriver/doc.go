// Package sqldriver registers hql as a driver of database/sql, by the name "hql":
//
//	import _ "github.com/hql-db/hql/sqldriver"
//	db, err := sql.Open("hql", "hbase://zk1,zk2:2181/hbase?catalog=tables.sql")
//
// A data source name is what hql.Open takes; mem: and dir: need the import of package embedded. The store is opened when it is first used; NewConnector(db) takes one
// that is open already. All connections of a sql.DB share the store, and each has its own settings (SET). The pool
// needs no limits.
//
// Parameters are ? or $1, or @name with sql.Named. Arguments are those of hql.DB.Query, among them a slice in
// x IN (?) and hql.QueryOptions in the first place. Columns give int64, float64, bool, string, []byte (BYTES
// and JSON), time.Time (DATE and TIMESTAMP) and nil; DECIMAL and TIME give text.
//
// HBase has no transactions over several rows: Begin and BeginTx give ErrTransactions. Rows have no insert id.
// Errors are hql's own and never driver.ErrBadConn, so that database/sql sends no statement a second time.
package sqldriver
