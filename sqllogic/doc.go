// Package sqllogic runs a part of SQLite's sqllogictest corpus over embedded tables: an outside yardstick of what
// SELECT means. It is tests only.
package sqllogic
