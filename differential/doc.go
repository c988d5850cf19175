// Package differential runs random statements on hql and on PostgreSQL, whose dialect hql follows, and compares the
// answers. It has only tests. The two share no code, so it also finds mistakes that are common to all of hql's ways to
// run a query.
//
// A world is a few random tables of random layouts with random rows and some views, the same in both. Queries are
// compared row by row. Statements that write are compared by their results and then by the whole tables, through each
// layout.
//
// A statement is written once, as text with marks where the dialects differ (see text). Intended differences are listed
// in testdata/differences, with their sentence in docs/sql.md. Any other difference is a failure: the test reduces it
// and prints the smallest statement on the fewest rows that shows it.
//
// The test starts a PostgreSQL if one is installed (apt-get install postgresql); HQL_REQUIRE_POSTGRES=1 makes its
// absence a failure. HQL_SEED and HQL_CHECKS replay worlds and set their number.
package differential
