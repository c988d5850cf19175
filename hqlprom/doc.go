// Package hqlprom counts what an hql.DB does as Prometheus metrics:
//
//	tracer, err := hqlprom.New(prometheus.DefaultRegisterer)
//	db, err := hql.Open(ctx, dsn, hql.WithTracer(tracer))
//
// The metrics, each with the labels named:
//
//	hql_queries_total              operation, access, outcome   statements that ended
//	hql_query_duration_seconds     operation, access            from the start to the last row or Close
//	hql_rows_read_total            table, access                rows that servers sent
//	hql_rows_kept_total            table, access                those of them that passed the client's filter
//	hql_rows_returned_total        operation                    rows given to callers
//	hql_rows_written_total         operation
//	hql_full_scans_refused_total                                statements that the full-scan policy stopped
//	hql_rpcs_total                 method, outcome              calls to servers, repetitions among them
//	hql_rpc_duration_seconds       method
//
// access is EXPLAIN's word for how the rowkey was used ("get", "scan", "full scan", "empty"), "none" where no
// table was read; outcome is the hql.Outcome. Rows read far above rows kept or returned are work that a
// better rowkey, or a predicate that binds it, would save.
package hqlprom
