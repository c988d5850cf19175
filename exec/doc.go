// Package exec runs statements. An Engine ties a catalog to a client of the store.
//
//	query   plan -> operators that pull batches of rows from one another (package operator)
//	               -> at the leaves: Gets and scans of key ranges (package scan)
//	write   values -> rows (insert.go, update_delete.go, copy.go)
//	               -> keys and cells of every layout of their table (package write)
//	define  CREATE and DROP TABLE, the definitions kept in the store (ddl.go, store_catalog.go)
package exec
