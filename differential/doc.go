// Package differential runs random statements on hql and on PostgreSQL, whose
// dialect hql's is, and compares the answers. It is tests only. The two share
// nothing: what every engine of hql would get wrong alike is seen here.
//
// A world is a few random tables of random layouts with random rows and some views, the same in
// both. Queries are compared row by row; statements that write by what they say
// that they did and by the whole tables afterwards, through each layout.
//
// A statement is written once, as text with marks where the dialects differ
// (see text). What differs on purpose stands in testdata/differences with its
// sentence in docs/sql.md; anything else that differs is a failure, which is
// reduced and printed as the smallest statement on the fewest rows that shows it.
//
// PostgreSQL is started by the test where it is installed (apt-get install
// postgresql); HQL_REQUIRE_POSTGRES=1 makes its absence a failure. HQL_SEED and
// HQL_CHECKS replay worlds and say how many.
package differential
