package stats

import (
	"slices"
	"sync"

	"github.com/hql-db/hql/types"
)

// orders caches the results of SampleOrder and of Follows.
type orders struct {
	mu      sync.Mutex
	of      map[orderedBy]*ordered
	follows map[[2]int]bool
}

type orderedBy struct {
	column int
	typ    types.Type
}

type ordered struct {
	rows []int
	all  bool
}

// SampleOrder returns the rows of the sample whose value of a column has type typ, in the order of these values; they
// are sorted once. all is false if some row has a value of another type, which the column may once have had.
func (t *Table) SampleOrder(column int, typ types.Type) (rows []int, all bool) {
	t.orders.mu.Lock()
	defer t.orders.mu.Unlock()
	return t.sampleOrder(column, typ)
}

func (t *Table) sampleOrder(column int, typ types.Type) (rows []int, all bool) {
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

// Follows reports whether a column's value depends on that of another, as a country depends on a city: rows of the
// sample with equal values of the latter have equal values of the former, more often than by chance.
func (t *Table) Follows(column int, typ types.Type, from int, fromType types.Type) bool {
	t.orders.mu.Lock()
	defer t.orders.mu.Unlock()
	pair := [2]int{from, column}
	follows, known := t.orders.follows[pair]
	if !known {
		follows = t.follows(column, typ, from, fromType)
		if t.orders.follows == nil {
			t.orders.follows = map[[2]int]bool{}
		}
		t.orders.follows[pair] = follows
	}
	return follows
}

func (t *Table) follows(column int, typ types.Type, from int, fromType types.Type) bool {
	const enough, exceptions = 20, 0.02
	values, others := t.Sample[column], t.Sample[from]
	rows, all := t.sampleOrder(column, typ)
	byOther, allOthers := t.sampleOrder(from, fromType)
	if !all || !allOthers {
		return false
	}
	nulls := float64(len(values) - len(rows))
	alike := nulls * nulls // pairs of rows
	for start, i := 0, 1; i <= len(rows); i++ {
		if i == len(rows) || order(values[rows[i]], values[rows[start]]) != 0 {
			alike += float64((i - start) * (i - start))
			start = i
		}
	}
	byChance := alike / float64(len(values)*len(values))
	pairs, unlike := 0.0, 0.0
	for i := 1; i < len(byOther); i++ {
		if a, b := byOther[i-1], byOther[i]; order(others[a], others[b]) == 0 {
			pairs++
			if values[a].IsNull() != values[b].IsNull() || !values[a].IsNull() && order(values[a], values[b]) != 0 {
				unlike++
			}
		}
	}
	expected := pairs * (1 - byChance)
	return expected >= enough && unlike <= exceptions*expected
}
