// Package scan reads one table: the spans of a plan.Scan become rows of values.
//
//	spans      -> tasks: some keys, or a range, cut where regions begin (task.go, region.go)
//	           -> the parts of a range that are worth reading, by hops from value to value (hop.go)
//	tasks      -> readers: Gets and scanners that continue after an interruption (reader.go)
//	           -> decoders: keys and cells to values, and the client's filter (decode.go, points.go)
//	readers    -> workers, whose rows come as they come, in the order of the tasks, or merged (workers.go, merge.go)
//	rows       -> rows sorted within equal prefixes (prefix_order.go), the rows of an index's entries (index.go)
//
// The package knows no statements: Reads is the state that the accesses of a statement share. Reads are counted
// (stats.go), reported to a tracer (tracer.go) and followed region by region (progress.go).
package scan
