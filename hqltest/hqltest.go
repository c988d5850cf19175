// Package hqltest checks in a program's tests that its statements hit the prefix of their rowkeys.
package hqltest

import (
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/check"
)

// AssertHits fails the test if a statement misses the prefix of a rowkey, hits it only by a skip scan, or cannot be
// planned. It judges the statement like hql check: parameters may have any values, and nothing is read. ALLOW FULL SCAN at
// the statement's end, and a LIMIT without a WHERE, are accepted.
func AssertHits(t testing.TB, db *hql.DB, sql string) {
	t.Helper()
	if r := check.New(db.Catalog()).Statement(t.Context(), sql); r.Fails() || r.Verdict == check.Failed {
		t.Errorf("%s: %s\n%s", r.Verdict, r.Text, sql)
	}
}
