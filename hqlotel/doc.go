// Package hqlotel reports what an hql.DB does as OpenTelemetry spans:
//
//	db, err := hql.Open(ctx, dsn, hql.WithTracer(hqlotel.New()))
//
// A statement is a span. Below it each access to a table is one, and below that each call to a server. Names and
// attributes follow the semantic conventions of database clients. Those that the conventions lack begin with hql:
//
//	statement   db.system.name, db.operation.name, db.query.text (WithQueryText), db.response.returned_rows,
//	            hql.access, hql.rows_read, hql.rows_written, hql.gets, hql.scans, hql.rpcs, hql.retries, hql.bytes
//	table       db.system.name, db.collection.name, hql.layout, hql.access, hql.ranges, hql.gets, hql.scans,
//	            hql.rows_read, hql.rows_kept
//	call        db.system.name, db.collection.name (the HBase table), rpc.method, hql.rows_read, hql.bytes;
//	            where a region server answered, its server.address and server.port
//
// The error.type of a failed span is its hql.Outcome.
package hqlotel
