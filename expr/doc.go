// Package expr holds typed expressions over one row of values. It compiles them from the parser's tree, evaluates
// them and answers what the planner asks of them: which values an expression has when its column lies in a
// set (Image), which values of the column give a result in a set (Preimage), and whether the order is kept.
//
// Each function answers these questions for itself, in its Algebra. An expression's answer is composed of them.
package expr
