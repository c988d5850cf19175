// Package sqllogic runs a part of SQLite's sqllogictest corpus on embedded tables, as an independent check of SELECT.
// It has only tests.
package sqllogic
