// Package expr has typed expressions over one row of values: it compiles them from the parser's tree, evaluates them and
// prints them. A Scope resolves their names, and its Registry has their functions.
//
// A Function is an entry of a registry. Package functions has the built-in ones. The Algebra of a Function says what is
// known of a call without evaluating it for each row. Package solve derives from it what is known of whole expressions.
package expr
