// Package design finds the rowkey that serves a workload: a file of statements with their weights, and the sample of
// rows that ANALYZE keeps. It makes many definitions of a table in memory and plans the statements on each with the
// planner and the statistics. Then it replays the sample, in the order in which the rows were written, over the
// regions that the definition would have. Every figure that it prints comes from such a plan or such a replay.
package design
