package estimate

import (
	"slices"
	"sort"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// rows are those of a table for which some conditions hold: how many of the sample, and what share of all.
//
//	a = 1 AND b = 2    share of a = 1, by its histogram, times that of b = 2 among the rows of the sample in which a = 1
//
// So columns that follow from one another are told as such as far as the sample has rows; where it has none, they are taken to be
// independent.
type rows struct {
	stats *stats.Table
	table *catalog.Table
	whole bool   // the sample is all of the table
	left  bitset // rows of the sample
	share float64
	least float64 // the least share of the table that a condition has by itself: together they have no more
	fixed []fixed
	row   []types.Value
	env   expr.Env
}

// fixed is a column that has one value in the rows, and the share of the table's rows with it.
type fixed struct {
	column int
	value  types.Set
	share  float64
}

func allRows(t *catalog.Table, s *stats.Table) *rows {
	r := &rows{stats: s, table: t, share: 1, least: 1, row: make([]types.Value, len(t.Columns)+2)}
	r.env.Row, r.env.Rand = r.row, func() uint64 { return 1 << 63 }
	if len(s.Sample) == len(t.Columns) && !slices.ContainsFunc(s.Sample, func(v stats.Values) bool { return len(v) != len(s.Sample[0]) }) {
		n := len(s.Sample[0])
		r.left, r.whole = allOf(n), s.Complete && float64(n) == s.Rows
	}
	return r
}

// where keeps the rows for which e is true too. It reports whether anything is known of e.
func (r *rows) where(e expr.Expr) bool {
	by, known := shareOf(e, r.stats)
	if known {
		r.least = min(r.least, by)
	}
	left, sampled := r.matching(e)
	of := r.left.count()
	if !known && (!sampled || of < leastSample) {
		return false
	}
	if sampled {
		guess := given(by, known, left.count(), of, r.whole)
		if _, _, exact, ok := expr.Sarg(e); known && ok && exact && !r.whole && of == len(r.stats.Sample[0]) {
			guess = by // no condition came before: the column's values are counted over more rows than the sample has
		}
		by = r.following(e, by, known, guess, left.count(), of)
		r.left = left
	} else {
		r.left = nil
	}
	r.share *= by
	return true
}

// unlikely is the share of rows that have other values of two columns than those which the one makes of the other.
const unlikely = 0.01

// following gives the share of rows for which e is true, of which alone is the share of the table and by the one that is guessed from a
// sample of so many rows, if it asks for one value of a column that another, fixed, follows from, or that follows from it.
//
//	city = 'Rome' AND country = 'Italy'    as many rows as the city has
//	city = 'Rome' AND country = 'Peru'     hardly any, if the sample has a row of Rome
func (r *rows) following(e expr.Expr, alone float64, known bool, by float64, kept, of int) float64 {
	col, set, exact, ok := expr.Sarg(e)
	if !ok || !exact || !known || len(set) != 1 || !set[0].IsPoint() {
		return by
	}
	typ := func(c int) types.Type { return r.table.Columns[c].Type }
	for _, f := range r.fixed {
		if r.whole || f.column == col {
			continue
		}
		seen, fits := of, 1.0
		switch {
		case r.stats.Follows(col, typ(col), f.column, typ(f.column)):
		case r.stats.Follows(f.column, typ(f.column), col, typ(col)):
			rows := *r
			rows.left = allOf(len(r.stats.Sample[col]))
			rows.left, _ = rows.within(col, set)
			both, _ := rows.within(f.column, f.value)
			seen, kept, fits = rows.left.count(), both.count(), min(1, alone/max(f.share, alone))
		default:
			continue
		}
		switch {
		case kept > 0:
			by = max(by, fits)
		case seen > 0:
			by *= unlikely
		default: // nothing tells that they do not fit
			by = fits
		}
		break
	}
	r.fixed = append(r.fixed, fixed{col, set, alone})
	return by
}

// leastSample is the least number of sampled rows for a share that only the sample gives.
const leastSample = 30

// given returns the share of rows that a condition keeps, from the share before, if known, and a sample in which kept
// of of rows match. A few rows change the known share little, unless many more match than it says, and no matching row
// does not mean that there is none.
func given(before float64, known bool, kept, of int, whole bool) float64 {
	const little, manyMore = 0.5, 4
	n, k := float64(of), float64(kept)
	switch {
	case whole && of > 0, known && of > 0 && k > manyMore*before*n:
		return k / n
	case !known:
		return (k + little) / (n + 1)
	case before == 0:
		return 0
	}
	return min(1, (k+little)/(n+little/before))
}

// matching returns the remaining rows of the sample for which e is true. ok is false if that is unknown: the sample may
// have an older definition, and e may need columns that it lacks.
func (r *rows) matching(e expr.Expr) (left bitset, ok bool) {
	if r.left == nil {
		return nil, false
	}
	columns := expr.Columns(e)
	for _, c := range columns {
		if c >= len(r.table.Columns) {
			return nil, false
		}
	}
	if col, set, exact, ok := expr.Sarg(e); ok && exact {
		if left, all := r.within(col, set); all {
			return left, true
		}
	}
	left = make(bitset, len(r.left))
	for i := range r.left.each() {
		for _, c := range columns {
			if r.row[c] = r.stats.Sample[c][i]; !r.row[c].IsNull() && r.row[c].Type() != r.table.Columns[c].Type {
				return nil, false
			}
		}
		is, err := expr.IsTrue(e, &r.env)
		if err != nil {
			return nil, false
		}
		if is {
			left.add(i)
		}
	}
	return left, true
}

// within gives the rows that are left whose column lies in set. all is false where values of another type were left out.
func (r *rows) within(col int, set types.Set) (left bitset, all bool) {
	left = make(bitset, len(r.left))
	rows, all := r.stats.SampleOrder(col, r.table.Columns[col].Type)
	values := r.stats.Sample[col]
	for _, iv := range set {
		rows = rows[sort.Search(len(rows), func(i int) bool { return iv.Side(values[rows[i]]) >= 0 }):]
		end := sort.Search(len(rows), func(i int) bool { return iv.Side(values[rows[i]]) > 0 })
		for _, row := range rows[:end] {
			if r.left.has(row) {
				left.add(row)
			}
		}
		if rows = rows[end:]; len(rows) == 0 {
			break
		}
	}
	return left, all
}
