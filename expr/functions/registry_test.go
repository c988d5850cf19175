package functions

import (
	"testing"

	"github.com/hql-db/hql/expr"
)

// A new function says how conditions on it bind a key, or why they do not. Aggregates have no conditions in a WHERE, and what stands in
// key parts alone has none either.
func TestEveryFunctionAnswers(t *testing.T) {
	for _, f := range Builtins().All() {
		if f.Group == "aggregate" || f.Group == "window" || f.Group == "key" {
			continue
		}
		said := 0
		for _, is := range []bool{inverts(f), f.Binds != "", f.Unknown != ""} {
			if is {
				said++
			}
		}
		if said != 1 {
			t.Errorf("%s: one of its Key's answers, Binds and Unknown is wanted, %d are given", f.Name, said)
		}
	}
}

// inverts reports whether Key tells which arguments give a result: what conditions on a call of f bind a key by.
func inverts(f *expr.Function) bool {
	k := f.Key
	return k != nil && (k.Inverse != nil || k.Pieces != nil || k.Like != nil)
}
