// Package expr has typed expressions over one row of values. It compiles them from the parser's tree and evaluates them.
// It also answers the planner's questions about an expression of a column: the results for a set of the column's values
// (Image), the column's values for a set of results (Preimage), and whether the expression keeps the order.
//
// Each function answers these questions in its Algebra. The answer for an expression is composed from those of its
// functions.
package expr
