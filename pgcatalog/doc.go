// Package pgcatalog has PostgreSQL's catalog for the definitions of hql: the relations of pg_catalog and information_schema, and the
// functions that ask for objects, privileges, sizes and settings.
//
// columns.tsv, functions.tsv and the files of facts are facts of PostgreSQL 15: all relations with their columns, the functions with
// their types, and those rows of types, operators and functions that apply to hql. A relation that nothing in hql corresponds to has
// no rows. A column that nothing corresponds to is NULL, or zero where PostgreSQL allows no NULL.
package pgcatalog
