// Package importer translates the catalogs of other tools into hql's: the JSON of SHC (Spark on HBase), the CREATE
// TABLE of Hive and that of Phoenix. The result has a comment "-- TODO" where the other catalog lacks a fact, refers to
// a Java class, or names a type that hql cannot store.
package importer
