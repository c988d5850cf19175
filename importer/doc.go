// Package importer turns the catalogs of other tools into hql's: the JSON of SHC (Spark on HBase), Hive's CREATE
// TABLE and Phoenix's. The result has a comment "-- TODO" where the other catalog does not say enough, says it
// in Java, or names something that hql cannot store.
package importer
