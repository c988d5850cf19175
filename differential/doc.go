// Package differential runs random statements on hql and on PostgreSQL, whose dialect hql follows, and compares the
// answers. It has only tests. The two share no code, so it also finds mistakes that are common to all of hql's ways to
// run a query.
//
// Each seed determines some tables with random layouts and rows, and some views, which are the same in both systems.
// Queries are compared row by row. Statements that write are compared by their results and then by the whole tables,
// through each layout.
//
// A statement is written once, as text with marks where the dialects differ (see text). Intended differences are listed
// in testdata/differences, with their sentence in docs/sql.md. Any other difference is a failure: the test reduces it
// and prints the smallest statement on the fewest rows that shows it.
//
// The test starts a PostgreSQL if one is installed (apt-get install postgresql); HQL_REQUIRE_POSTGRES=1 makes its
// absence a failure. HQL_SEED replays a seed, and HQL_CHECKS sets the number of seeds.
package differential
