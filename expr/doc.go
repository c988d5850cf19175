// Package expr holds typed expressions over one row of values. It compiles them from the parser's tree, evaluates them
// and answers the planner's questions: the values of an expression if its column is in a set (Image), the values of the
// column that give a result in a set (Preimage), and whether the order is kept.
//
// Each function answers these questions for itself, in its Algebra. An expression's answer is composed of them.
package expr
