package stats

import (
	"slices"
	"sync"

	"github.com/hql-db/hql/types"
)

// orders keeps how the sample's rows are sorted by columns.
type orders struct {
	mu sync.Mutex
	of map[orderedBy]*ordered
}

type orderedBy struct {
	column int
	typ    types.Type
}

type ordered struct {
	rows []int
	all  bool
}

// SampleOrder gives the rows of the sample whose value of a column is of type typ, in the order of these values: they are sorted once. all is
// false where another row has a value of another type, as the column may once have been.
func (t *Table) SampleOrder(column int, typ types.Type) (rows []int, all bool) {
	t.orders.mu.Lock()
	defer t.orders.mu.Unlock()
	by := orderedBy{column, typ}
	o := t.orders.of[by]
	if o == nil {
		o = &ordered{all: true}
		values := t.Sample[column]
		for row, v := range values {
			if v.Type() == typ {
				o.rows = append(o.rows, row)
			} else if !v.IsNull() {
				o.all = false
			}
		}
		slices.SortFunc(o.rows, func(a, b int) int { return order(values[a], values[b]) })
		if t.orders.of == nil {
			t.orders.of = map[orderedBy]*ordered{}
		}
		t.orders.of[by] = o
	}
	return o.rows, o.all
}
