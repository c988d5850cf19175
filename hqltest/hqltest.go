// Package hqltest helps a program's tests to keep its statements on the prefix of their rowkeys.
package hqltest

import (
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/check"
)

// AssertHits fails the test if a statement misses the prefix of a rowkey, hits it by a skip scan only, or cannot be
// planned. The statement is judged as hql check judges it: its parameters may have any values, and nothing is read.
// ALLOW FULL SCAN at its end, and a LIMIT without a WHERE, let it pass.
func AssertHits(t testing.TB, db *hql.DB, sql string) {
	t.Helper()
	if r := check.New(db.Catalog()).Statement(t.Context(), sql); r.Fails() || r.Verdict == check.Failed {
		t.Errorf("%s: %s\n%s", r.Verdict, r.Text, sql)
	}
}
