package access

import (
	"github.com/hql-db/hql/types"
)

// facts are sets of values by column: those of base, except the columns learnt later. They are shared and never
// changed.
type facts struct {
	base []types.Set // nil: nothing is known
	last *fact
}

type fact struct {
	col    int
	set    types.Set
	before *fact
}

// of gives the set of column col, nil when nothing is known of it.
func (f facts) of(col int) types.Set {
	for x := f.last; x != nil; x = x.before {
		if x.col == col {
			return x.set
		}
	}
	if f.base == nil {
		return nil
	}
	return f.base[col]
}

// single gives the only value that column col can have.
func (f facts) single(col int) (types.Value, bool) {
	if s := f.of(col); len(s) == 1 && s[0].IsPoint() {
		return s[0].Lo, true
	}
	return types.Value{}, false
}

// setOf is of, with All for a column without facts.
func (f facts) setOf(col int) types.Set {
	if s := f.of(col); s != nil {
		return s
	}
	return types.All()
}

// with is f, with column col in s.
func (f facts) with(col int, s types.Set) facts {
	f.last = &fact{col, s, f.last}
	return f
}
