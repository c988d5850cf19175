// Package access finds the best way to read one table for a WHERE.
//
//	conjuncts  -> terms: the solve.Constraint of each, over columns and over parts of a key (term.go)
//	           -> boxes: one set of values for each column (box.go)
//	for each layout (candidate.go):
//	boxes      -> spans of bytes, by a walk through the key's parts (walk.go, fanout.go, span.go)
//	           -> the order in which they can be read (order.go), and where to hop within them (hop.go)
//	spans      -> proof: the conjuncts that hold for every key of every span (proof.go)
//	           -> a price
//	for the cheapest:
//	the rest   -> the region servers' filter (pushdown.go, fuzzy.go, packed.go), the client's, the cells to read (fetch.go)
//	           -> why each part and predicate is used as it is, for EXPLAIN (why.go)
//
// A walk uses only the answers of catalog.Part about each part of the key: no layout, function or encoding has code of its
// own here.
//
// Boxes and spans have a notation (see plan.Span.Over), which testdata/spans uses:
//
//	(host STRING, n INT, v INT FROM f:v) ROW KEY (LEFT(MD5(host), 2), host AS TEXT, X'00', n AS ORDERED INT32)
//	host = 'a' AND n >= 5 AND v = 7     {host: ['a' - 'a'], n: [5 - ), v: [7 - 7]}
//	                                    [/'0c'/'a'/0x00/5 - /'0c'/'a'/0x00]    residual v = 7
package access
