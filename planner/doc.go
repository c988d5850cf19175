// Package planner turns a query into a plan: which keys and key ranges of which layout to read, what the region
// servers check, what the client checks, and in which order the rows come. A plan is plain data. The planner does
// no I/O and knows no client.
//
//	SELECT -> names resolved, nodes (select.go, from.go, aggregate.go, join.go, subquery.go)
//	           |  each table's conjuncts, wanted columns and order (accessRequest)
//	           v
//	access:  conjuncts -> boxes (box.go)
//	         -> of each layout: key spans (span.go), order (order.go), residual by proof, cost (access.go)
//	         -> of the cheapest: server filter, client filter, columns (pushdown.go)
//	           |
//	           v
//	Plan  -> run by package exec, drawn by package explain
//
// A point query is planned once for all its arguments (point.go).
//
// The law of the package: a planned query gives the rows that a full scan with the WHERE evaluated on every row
// gives, each row once. A gap in the planner may cost time; it must not cost or add a row.
//
// docs/design.md follows one query through all of this.
package planner
