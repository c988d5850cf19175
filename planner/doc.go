// Package planner turns a query into a plan: the keys and key ranges of a layout to read, the conditions that the region
// servers and the client check, and the order of the rows. The planner does no I/O and does not depend on a client.
//
//	SELECT -> names resolved, nodes (select.go, resolve.go, from.go, output.go, aggregate.go, join.go, setop.go, subquery.go)
//	           |  each table's conjuncts, wanted columns and order (request.go)
//	           v
//	planner/access:  one table: boxes -> spans -> proof -> filters and cells -> plan.Scan
//	           |
//	           v
//	plan.Plan, plain data  -> run by package exec, drawn by package explain
//
// A point query is planned once for all its arguments (point.go).
//
// The invariant of the package: a planned query returns the same rows as a full scan that evaluates the WHERE for every
// row, each row once. A gap in the planner may cost time; it must not lose or add a row.
//
// docs/design.md follows one query through these steps.
package planner
