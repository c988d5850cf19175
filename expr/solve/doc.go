// Package solve answers the planner's questions about expressions, without rows.
//
// Of a condition: for which values of the columns can it be true? A Solver returns a Constraint, which is that truth or
// wider, never narrower.
//
// Of an expression of one column, such as a part of a key: its results for a set of the column's values (Image), the
// column's values for a set of results (Preimage), whether it keeps the order (Monotone), and the values that it can have
// at all (Domain).
//
// The answers for a call come from its function's expr.Algebra: no function is named here. Monotone functions only tell
// on which pieces of their argument they rise or fall; Preimage bisects these. The package also has what several
// functions need to answer: pieces, texts by their beginning, wall clocks.
package solve
