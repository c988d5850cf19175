// Command hql answers SQL over Apache HBase tables: at a prompt, from -c or -f, or from standard input.
//
//	hql --demo -c "SELECT ..."     on an embedded store with sample tables
//	hql --connect URL ...          on a cluster or a directory
//	hql infer, import, design      finds, converts and improves table definitions
//	hql hot                        shows where the requests of a table fall
//	hql -h                         lists flags, formats and exit codes
//
// The prompt's commands are one table (commands.go), from which help and completion are made.
package main
