// Package solve answers the planner's questions about expressions, without rows.
//
// A Solver answers for a condition: for which values of the columns can it be true? It returns a Constraint, which may
// include more values than these, never fewer.
//
// Other functions answer for an expression of one column, such as a part of a key. They return its results for a set of
// the column's values (Image), the column's values for a set of results (Preimage), whether it keeps the order
// (Monotone), and all values that it can have (Domain).
//
// The answers for a call come from its function's expr.Algebra: no function is named here. A monotone function only
// says on which pieces of its argument it rises or falls; Preimage searches these pieces by bisection. The package also
// has helpers for several functions: for pieces, for texts by their beginning, and for wall clocks.
package solve
