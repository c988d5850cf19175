// Package explain formats plans and their measurements for people and for programs. It plans nothing and runs nothing:
// its input is a planner.Plan, which is data, and Figures.
//
//	Text    lines of styled pieces: the verdict, the steps, each table's access with its key byte by byte
//	JSON    the object that EXPLAIN (FORMAT JSON) prints, a contract
//	HTML    a page: the text in colours
package explain
