// Package access finds the best way to read one table under a WHERE.
//
//	conjuncts  -> terms: what each says of one column, or of one part of a key (term.go)
//	           -> boxes: one set of values for each column (box.go)
//	of each layout (candidate.go):
//	boxes      -> spans of bytes, by a walk through the key's parts (walk.go, fanout.go, span.go)
//	           -> the order in which they can be read (order.go), and where to hop within them (hop.go)
//	spans      -> proof: the conjuncts that hold for every key of every span (proof.go)
//	           -> a price
//	of the cheapest:
//	the rest   -> the region servers' filter (pushdown.go, fuzzy.go, packed.go), the client's, the cells to read (fetch.go)
//	           -> why each part and predicate is used as it is, for EXPLAIN (why.go)
//
// A walk asks each part of the key what catalog.Part answers, and nothing else: no layout, function or encoding has code here.
//
//	ROW KEY (LEFT(MD5(host), 2), host AS TEXT, X'00', ts AS INT64)
//	host = 'a' AND ts >= 5      {host: ['a' - 'a'], ts: [5 - )}      one span, from 0ca\x00 and the bytes of 5 on
package access
