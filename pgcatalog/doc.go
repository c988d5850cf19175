// Package pgcatalog has the relations of PostgreSQL's pg_catalog and information_schema, made of hql's definitions.
//
// columns.tsv and types.tsv are facts of PostgreSQL 15: the columns of all these relations, and the types that hql has. Rows that
// nothing in hql corresponds to are not there; a column that nothing corresponds to is NULL.
package pgcatalog
