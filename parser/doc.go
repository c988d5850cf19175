// Package parser reads hql's SQL.
//
//	text -> scan (tokens) -> grammar (private participle structs) -> lower -> AST
//
// The files, in that order: scan, lexer and keywords (words and signs); grammar, grammar_*
// and names (statements); expression, operand and call (expressions); lower, lower_*
// (grammar to AST); ast, walk (the tree and its walker); print, print_* (the tree as text);
// error, expected, diagnose, diagnose_context, hint and elsewhere (mistakes in the user's words).
//
// Four rules shape it:
//
//   - The grammar structs never leave the package: lower.go and its neighbours are their
//     only readers, so that the AST (ast.go) can be plain data.
//   - Statements are read by participle, expressions by precedence (expression.go), each of
//     them a node of the grammar that reads itself, straight into the tree. The depth of the Go
//     stack follows the nesting of the text, not the number of operators, and the height of
//     the tree is bounded for code that walks it.
//   - Error messages list what the grammar expects at a mistake, as the grammar itself
//     reports it (expected.go): there is no second description of the syntax.
//   - Printing is the inverse of parsing: String of every node parses to an equal node.
//
// Positions are byte offsets; line and column are computed when an Error is printed.
package parser
