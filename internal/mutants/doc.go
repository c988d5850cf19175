// Command mutants measures what the tests notice: it changes the code in small ways, one place at a
// time, and runs the tests on each change.
//
//	go run ./internal/mutants -n 500                 a random sample of the places that can be changed
//	go run ./internal/mutants -only 'operator/spill' those whose line of the report matches
//	go run ./internal/mutants -run 'Data|Spans'      by the tests that match alone
//	go run ./internal/mutants -mends                 each mend that is kept in mends/ taken back
//
// The places are comparisons, conditions, integer constants, sums, calls, assignments, arguments,
// returned errors and flags of the packages that can give a wrong answer (-packages). Not drawn is what by its kind
// changes nothing that can be seen: capacities, and what is returned beside an error. All
// mutants of the sample are compiled into one set of test binaries and switched on one at a time by
// an environment variable, which package active reads; the tree is not touched (go build -overlay).
// A run without mutants tells which tests come past which place, and what each test costs: a mutant
// is tried on those tests only, the cheap ones of its own package first, and those over -longest are
// left out. What the cheap ones do not notice is tried on the others when all mutants had their turn.
//
// A mutant is noticed when a test fails, hangs or crashes, twice if it does not hang, and hangs only with the mutant. The last lines are the share that was noticed
// and the survivors: each is a case that is missing, or code that is not needed, or changes nothing
// that can be seen.
//
// A file of mends/ is a txtar archive: what went wrong once in its comment, a file "now" with a piece
// of the code as it is and a file "reverted" with that piece as it was, any number of such pairs. Those that change
// what functions do are taken back in one set of binaries, as mutants are; each of the others is compiled by itself.
package main
