// Package gocode finds the SQL statements in Go sources: texts that are passed to hql or to database/sql, directly, as
// constants and variables, or through functions of the same module. It needs neither the go command nor the packages
// that the sources import: go/types checks what is there.
package gocode
