package estimate

import (
	"slices"
	"sort"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// rows are the rows of a table that match some conditions: the matching rows of the sample, and the estimated share of
// all rows that match.
//
//	a = 1 AND b = 2    share of a = 1, by its histogram, times that of b = 2 among the sample's rows with a = 1
//
// Dependent columns are thus recognized as long as the sample has rows. Without rows, columns are assumed to be
// independent.
type rows struct {
	stats *stats.Table
	table *catalog.Table
	whole bool   // the sample has all rows of the table
	left  bitset // matching rows of the sample; nil if unknown
	share float64
	least float64 // the smallest share that a condition has by itself: an upper bound for all conditions together
	fixed []fixed
	row   []types.Value
	env   expr.Env
}

// fixed is a column that has a single value in the rows, and the share of the table's rows with that value.
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

// where keeps those rows for which e is true. It reports whether e could be estimated.
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
		if _, _, exact, ok := solve.Sarg(e); known && ok && exact && !r.whole && of == len(r.stats.Sample[0]) {
			guess = by // the first condition: the histogram counts more rows than the sample
		}
		by = r.following(e, by, known, guess, left.count(), of)
		r.left = left
	} else {
		r.left = nil
	}
	r.share *= by
	return true
}

// unlikely is the assumed share of rows that break a dependency: the value of the dependent column is not the one that
// follows from the first column.
const unlikely = 0.01

// following estimates the share of rows for which e is true, if e requires a value of a column that depends on a fixed
// column, or on which a fixed column depends. alone is e's share of the whole table, if known. by is its share guessed
// from a number (of) of sampled rows, of which kept match.
//
//	city = 'Rome' AND country = 'Italy'    as many rows as the city has
//	city = 'Rome' AND country = 'Peru'     hardly any, if the sample has a row of Rome
func (r *rows) following(e expr.Expr, alone float64, known bool, by float64, kept, of int) float64 {
	col, set, exact, ok := solve.Sarg(e)
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
		default: // nothing shows that the values exclude each other
			by = fits
		}
		break
	}
	r.fixed = append(r.fixed, fixed{col, set, alone})
	return by
}

// leastSample is the least number of sampled rows for a share that is known only from the sample.
const leastSample = 30

// given returns the share of rows that a condition keeps. before is the share by the histogram, if known. of is the
// number of sampled rows, and kept the number of those that match. A small sample changes the known share little,
// unless many more rows match than expected. A sample without a match does not mean that no row matches.
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
// come from an older definition, and lack columns that e needs.
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
	if col, set, exact, ok := solve.Sarg(e); ok && exact {
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

// within returns the remaining rows whose column is in set. all is false if some rows have values of another type.
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
