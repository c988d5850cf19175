package operator

import (
	"testing"

	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/planner/plan"
)

// Every aggregate and window function that statements may name is computed by an entry here.
func TestEveryAggregate(t *testing.T) {
	for _, f := range functions.Builtins().All() {
		switch name := plan.Func(f.Name); {
		case f.Name == "GROUPING", f.Name == "MEDIAN": // the planner makes something else of them
		case f.Group == "aggregate" && aggregates[name] == nil, f.Group == "window" && windowFunctions[name] == nil:
			t.Errorf("%s has no entry", f.Name)
		}
	}
}
