// Package pgwire serves a hql.DB to clients of PostgreSQL: psql, JDBC, psycopg, DBeaver and the like speak its wire
// protocol, version 3.
//
//	db, err := hql.Open(ctx, "hbase://zk1:2181/hbase", hql.WithoutFiles())
//	srv, err := pgwire.NewServer(db, pgwire.Options{})
//	err = srv.Serve(listener)
//
// A connection is a session of the DB. Statements may only read unless Options.Write or the role says otherwise, and the
// full-scan policy of the DB holds. A listener that other hosts reach needs Options.TLS and Options.Users.
//
// How a message travels:
//
//	conn.go       a connection: its loop, its statements, what ends them
//	frame.go      bytes to messages and back, with limits on length and memory
//	startup.go    TLS, passwords, parameters, requests to cancel
//	simple.go     Query: several statements in one message
//	extended.go   Parse, Bind, Describe, Execute, Close
//	answer.go     a statement as rows and a tag
//	command.go    statements about the session, which the DB does not know: BEGIN, SET, DECLARE, PREPARE ...
//	copy_out.go   COPY TO STDOUT; copy_in.go has COPY FROM STDIN
//	pgtype.go     types: oids, texts, binary forms
//	errors.go     errors as SQLSTATE, position and hint
//	admission.go  how many statements run at a time, and how much memory they have
package pgwire
