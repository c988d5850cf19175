// Package functions has the built-in functions and operators, one entry each: name, signature, types, evaluation, and
// what it answers about conditions on a call (expr.Algebra). Files are named by the kind of the functions; the answers of
// several functions of a kind are in algebra_*.go.
package functions
