package access

import (
	"github.com/hql-db/hql/types"
)

// facts holds a set of values for each column: the set of the latest fact about it, or its set in base if there is no
// such fact. Facts are shared and never modified.
type facts struct {
	base []types.Set // nil: nothing is known about any column
	last *fact
}

type fact struct {
	col    int
	set    types.Set
	before *fact
}

// of returns the set of column col; nil if nothing is known.
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

// single returns the only value that column col can have, or false if it can have several.
func (f facts) single(col int) (types.Value, bool) {
	if s := f.of(col); len(s) == 1 && s[0].IsPoint() {
		return s[0].Lo, true
	}
	return types.Value{}, false
}

// setOf returns the values that column col can have: all, if no fact about it is known.
func (f facts) setOf(col int) types.Set {
	if s := f.of(col); s != nil {
		return s
	}
	return types.All()
}

// with returns f with the set s for column col.
func (f facts) with(col int, s types.Set) facts {
	f.last = &fact{col, s, f.last}
	return f
}
