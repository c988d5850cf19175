// Package expr has typed expressions over one row of values: it compiles them from the parser's tree, evaluates them and
// prints them. A Scope resolves their names, and its Registry has their functions.
//
// A Function is an entry of a registry. Package functions has the built-in ones. Its Algebra says what can be known of a
// call without evaluating it for each row; package solve makes of these answers those for whole expressions.
package expr
