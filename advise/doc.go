// Package advise reads a workload, a file of statements. It says what each statement costs on the tables as they
// are, which INDEX or key order would bind it, and what that INDEX costs to write. Every layout that it proposes
// was planned against: it prints plans, not guesses.
package advise
