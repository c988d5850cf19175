package estimate

import (
	"math"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// Statistics returns the statistics of a table, or nil.
type Statistics func(*catalog.Table) *stats.Table

// Estimator estimates the steps of one statement's plans. It caches the estimates of table accesses. It is not safe for
// concurrent use.
type Estimator struct {
	find  Statistics
	scans map[*plan.Scan]*plan.Estimate // nil: unknown
}

// New makes an Estimator with the statistics of find.
func New(find Statistics) *Estimator { return &Estimator{find, map[*plan.Scan]*plan.Estimate{}} }

// Node estimates the reads for all rows of n. It returns nil if they are unknown.
func (r *Estimator) Node(n plan.Node) *plan.Estimate {
	e, ok := r.read(n, true)
	if !ok || e.At.IsZero() || !sane(&e) { // no table is read, or none with statistics
		return nil
	}
	return &e
}

// scan estimates one table access. It returns nil if the estimate is unknown.
func (r *Estimator) scan(s *plan.Scan) *plan.Estimate {
	if e, ok := r.scans[s]; ok {
		return e
	}
	var known *plan.Estimate
	if t := r.find(s.Table); t != nil {
		if e, ok := Scan(s, t); ok {
			e.At, known = t.At, &e
		}
	}
	r.scans[s] = known
	return known
}

// readAhead is the approximate number of rows of a table that are read before its reader can stop.
const readAhead = 1000

// read estimates the reads for n and its number of rows. all reports whether all rows are wanted. If not, it is unknown
// when the reader stops; the reads are then known only if the whole input is read ahead.
func (r *Estimator) read(n plan.Node, all bool) (e plan.Estimate, ok bool) {
	switch n := n.(type) {
	case *plan.Scan:
		if n.Access == plan.Empty {
			return plan.Estimate{}, true
		}
		known := r.scan(n)
		if known == nil || !all && !n.Limit.Set && known.Rows > readAhead {
			return e, false
		}
		return *known, true
	case *plan.Values:
		return plan.Estimate{Result: float64(n.Len())}, true
	case *plan.Reuse: // its rows are read once: see Of
		return plan.Estimate{Result: plan.Unknown}, true
	case *plan.Virtual:
		return plan.Estimate{Result: plan.Unknown}, true
	case *plan.Join:
		return r.join(n, all)
	case *plan.Limit:
		return r.limit(n, all)
	case *plan.Sort:
		e, ok = r.read(n.Input, true)
		if e.Cost += Sorting(e.Result); ok && n.Limit.Set {
			e.Result = min(e.Result, float64(n.Limit.Rows))
		}
		return e, ok
	case *plan.Aggregate:
		if e, ok = r.read(n.Input, all || !n.Ordered); ok {
			if sets, ok := n.Input.(*plan.Expand); ok {
				e.Result = r.groupsOf(sets, e.Result)
			} else {
				e.Result = r.groups(n.Input, n.GroupBy, e.Result)
			}
		}
		return e, ok
	case *plan.Distinct:
		if e, ok = r.read(n.Input, all); ok {
			e.Result = r.groups(n.Input, columnsOf(n.Input), e.Result)
		}
		return e, ok
	case *plan.Project:
		return r.read(n.Input, all)
	case *plan.Unnest:
		if e, ok = r.read(n.Input, all); ok {
			e.Result = plan.Unknown
		}
		return e, ok
	case *plan.Expand: // the number of its rows is counted as that of its input
		return r.read(n.Input, all)
	case *plan.Union:
		for _, in := range n.Parts {
			part, ok := r.read(in, all)
			if !ok {
				return e, false
			}
			e = sum(e, part, e.Result+part.Result)
			if part.Result < 0 {
				e.Result = plan.Unknown
			}
		}
		return e, true
	}
	for _, in := range n.Inputs() { // the number of rows of other nodes is unknown
		part, ok := r.read(in, all)
		if !ok {
			return e, false
		}
		e = sum(e, part, plan.Unknown)
	}
	return e, true
}

// sum adds the reads of a and b. The result's age is that of the older statistics.
func sum(a, b plan.Estimate, result float64) plan.Estimate {
	if a.At.IsZero() || !b.At.IsZero() && b.At.Before(a.At) {
		a.At = b.At
	}
	a.Rows, a.Bytes, a.RPCs, a.Cost, a.Result = a.Rows+b.Rows, a.Bytes+b.Bytes, a.RPCs+b.RPCs, a.Cost+b.Cost, result
	return a
}

// Sorting returns the cost of sorting a number of rows, in microseconds.
func Sorting(rows float64) float64 { return rows * math.Log2(max(rows, 1)) * 0.1 }

func (r *Estimator) limit(n *plan.Limit, all bool) (e plan.Estimate, ok bool) {
	if e, ok = r.read(n.Input, all && !n.Count.Set); ok && e.Result >= 0 {
		e.Result = max(0, e.Result-float64(n.Offset))
		if n.Count.Set {
			e.Result = min(e.Result, float64(n.Count.Rows))
		}
	}
	return e, ok
}

// The cost of a join in addition to its reads, in microseconds per row.
const (
	perBuilt  = 0.5 // a row that is stored in the hash table
	perProbed = 0.2
)

// lookupRows is the number of left rows for which a join looks up right rows at a time: operator.BatchRows.
const lookupRows = 256

func (r *Estimator) join(n *plan.Join, all bool) (plan.Estimate, bool) {
	left, ok := r.read(n.Left, all)
	if !ok {
		return left, false
	}
	side := n.Right
	if n.Lookup != nil {
		side = n.Lookup.Whole
	}
	right, ok := r.read(side, true)
	if !ok {
		return left, false
	}
	result := plan.Unknown
	leftValues, rightValues := r.distinct(n.Left, n.LeftKeys, left.Result), r.distinct(side, n.RightKeys, right.Result)
	if most := max(leftValues, rightValues); most > 0 && left.Result >= 0 && right.Result >= 0 && n.On == nil {
		result = left.Result * right.Result / most
	} else if most == 0 {
		result = 0
	}
	if n.Semi { // at most all left rows
		result = left.Result
	}
	if n.Outer && result >= 0 {
		result = max(result, left.Result)
	}
	if n.Full && result >= 0 {
		result = max(result, right.Result)
	}
	if n.Lookup == nil {
		e := sum(left, right, result)
		if right.Result >= 0 && left.Result >= 0 {
			e.Cost += right.Result*perBuilt + left.Result*perProbed
		}
		return e, true
	}
	if left.Result < 0 || rightValues < 0 || !all && left.Result > lookupRows {
		return left, false
	}
	looked, ok := r.lookups(n, left.Result, leftValues, right, rightValues)
	return sum(left, looked, result), ok
}

// lookups estimates the reads of looking up the right rows of the join n by key. The left side has a number of rows
// with a number of distinct keys (values). right is the estimate for reading the whole right side, which has
// rightValues distinct keys.
func (r *Estimator) lookups(n *plan.Join, rows, values float64, right plan.Estimate, rightValues float64) (e plan.Estimate, ok bool) {
	s, isScan := n.Right.(*plan.Scan)
	if !isScan || len(n.Lookup.By) > 0 {
		return e, false
	}
	t := r.find(s.Table)
	k := t.Key(s.Layout.Name)
	if k == nil || s.Hop != nil {
		return e, false
	}
	batches := math.Max(1, math.Ceil(rows/lookupRows))
	inBatch := math.Min(rows, lookupRows)
	if values > 0 { // each distinct value is looked up once
		inBatch = math.Min(inBatch, seen(values, inBatch))
		batches = math.Max(1, math.Min(rows, seen(values, rows))/math.Max(1, inBatch))
	}
	gets, ranges := s.Counts()
	byServers := decided(s, n.RightKeys, inBatch*float64(gets+ranges) <= plan.MaxPatterns)
	asked := r.distinct(n.Lookup.Whole, byServers, right.Result)
	if right.Result < 0 || asked < 0 {
		return e, false
	}
	found := math.Min(right.Result, inBatch*right.Result/math.Max(1, asked))
	if values > rightValues && values > 0 { // some values have no right row
		found *= rightValues / values
	}
	w := work{gets: inBatch * float64(gets), found: inBatch * float64(ranges), ranges: int(math.Min(1e9, inBatch*float64(ranges)))}
	if gets > 0 {
		w.found += math.Min(found, w.gets)
	}
	w.look(s, t, k, math.Max(found, math.Min(found*math.Max(1, k.Rows/math.Max(1, right.Result)), k.Rows)))
	w.send(found, sentOf(s, t, k, s.Entries))
	if s.Entries {
		w.follow(t, found)
	}
	e = w.estimate(k)
	e.Rows, e.Bytes, e.RPCs, e.Cost, e.At = e.Rows*batches, e.Bytes*batches, e.RPCs*batches, e.Cost*batches+rows*perBuilt, t.At
	return e, true
}

// decided returns those of keys, expressions over rows of s, that the servers check: keys that bind the rowkey, those in a
// fuzzy filter, and those that the filter compares with cells. The client checks the others in the rows that it receives.
func decided(s *plan.Scan, keys []expr.Expr, patterns bool) (out []expr.Expr) {
	by := map[int]bool{}
	for _, p := range s.Key {
		for _, c := range p.Part.Columns {
			by[c] = by[c] || p.Use == plan.Bound || p.Use == plan.Enumerated || patterns && fuzzy(s.Filter)
		}
	}
	for _, f := range s.Fates {
		for _, c := range expr.Columns(f.Expr) {
			by[c] = by[c] || f.By == plan.ByServer || f.By == plan.ByBoth
		}
	}
	for _, x := range keys {
		if !expr.SomeColumn(x, func(c int) bool { return !by[c] }) {
			out = append(out, x)
		}
	}
	return out
}

// columnsOf returns the columns of n's rows as expressions.
func columnsOf(n plan.Node) (out []expr.Expr) {
	for i := range n.Width() {
		out = append(out, &expr.Column{Index: i})
	}
	return out
}

// groups estimates the number of groups of n's rows by some expressions.
func (r *Estimator) groups(n plan.Node, by []expr.Expr, rows float64) float64 {
	if len(by) == 0 {
		return 1
	}
	values := r.distinct(n, by, rows)
	if values >= 0 && rows >= 0 {
		values = math.Min(values, rows)
	}
	return values
}

// groupsOf estimates the number of groups of n's rows over all grouping sets.
func (r *Estimator) groupsOf(n *plan.Expand, rows float64) float64 {
	all := 0.0
	for _, s := range n.Sets {
		var by []expr.Expr
		for i, has := range s.Has {
			if has {
				by = append(by, n.GroupBy[i])
			}
		}
		groups := r.groups(n.Input, by, rows)
		if groups < 0 {
			return groups
		}
		all += groups
	}
	return all
}

// distinct estimates the number of distinct values of expressions over the rows of n. It returns plan.Unknown if one of
// them is not a column of a table.
func (r *Estimator) distinct(n plan.Node, exprs []expr.Expr, rows float64) float64 {
	type of struct {
		scan    *plan.Scan
		columns []int
	}
	var tables []of
	for _, e := range exprs {
		if _, is := e.(*expr.Const); is {
			continue
		}
		if c, is := e.(*expr.Cast); is && c.X.Type().IsInteger() {
			e = c.X
		}
		c, is := e.(*expr.Column)
		if !is {
			return plan.Unknown
		}
		s, col := source(n, c.Index)
		if s == nil || col >= len(s.Table.Columns) {
			return plan.Unknown
		}
		i := slices.IndexFunc(tables, func(t of) bool { return t.scan == s })
		if i < 0 {
			i, tables = len(tables), append(tables, of{scan: s})
		}
		tables[i].columns = append(tables[i].columns, col)
	}
	values := 1.0
	for _, t := range tables {
		of := r.scan(t.scan)
		if of == nil || of.Result < 0 {
			return plan.Unknown
		}
		d := distinct(t.scan, r.find(t.scan.Table), t.columns, of.Result)
		if d < 0 {
			return plan.Unknown
		}
		values *= d
	}
	if rows >= 0 {
		values = math.Min(values, rows)
	}
	return values
}

// source returns the table access and the column from which the i-th value of n's rows comes; nil if there is none.
func source(n plan.Node, i int) (*plan.Scan, int) {
	switch n := n.(type) {
	case *plan.Scan:
		return n, i
	case *plan.Project:
		if c, ok := n.Exprs[i].(*expr.Column); ok {
			return source(n.Input, c.Index)
		}
	case *plan.Join:
		if i < n.Left.Width() {
			return source(n.Left, i)
		}
		if n.Lookup != nil {
			return source(n.Lookup.Whole, i-n.Left.Width())
		}
		return source(n.Right, i-n.Left.Width())
	case *plan.Filter:
		return source(n.Input, i)
	case *plan.Sort:
		return source(n.Input, i)
	case *plan.Distinct:
		return source(n.Input, i)
	}
	return nil, 0
}

// distinct estimates the number of distinct values that columns have together in a part of the result of s, which has
// the given number of rows.
func distinct(s *plan.Scan, t *stats.Table, columns []int, rows float64) float64 {
	product, most := 1.0, 1.0
	for _, i := range columns {
		c := t.Column(i)
		if c == nil {
			return plan.Unknown
		}
		values := c.Distinct
		for _, f := range s.Fates {
			col, set, _, ok := solve.Sarg(f.Expr)
			if !ok || col != i {
				continue
			}
			if set.IsList() {
				values = math.Min(values, float64(len(set)))
			} else if share, ok := c.Share(set); ok && c.Nulls < 1 {
				values = math.Min(values, math.Max(1, values*share/(1-c.Nulls)))
			}
		}
		values = seen(values, rows)
		if c.Nulls > 0 {
			values++
		}
		product, most = product*values, math.Max(most, values)
	}
	if len(columns) > 1 {
		if together := sampled(s, t, columns); together > 0 {
			return math.Min(math.Min(product, rows), math.Max(most, together))
		}
	}
	return math.Min(product, math.Max(rows, 0))
}

// seen estimates how many of a number of equally frequent values occur in a number of rows.
func seen(values, rows float64) float64 {
	if values < 1 || rows <= 0 {
		return math.Max(0, math.Min(values, rows))
	}
	return values * -math.Expm1(-rows/values)
}

// sampled estimates from the sample how many distinct values columns have together in the rows that match the conditions
// of s. It adds those that the sample lacks, by Chao's estimator. It returns 0 if the sample has too few rows.
func sampled(s *plan.Scan, t *stats.Table, columns []int) float64 {
	of := allRows(s.Table, t)
	for _, f := range s.Fates {
		if !of.where(f.Expr) {
			return 0
		}
	}
	if of.left.count() < leastSample {
		return 0
	}
	counts := map[string]int{}
	var key []byte
	for i := range of.left.each() {
		key = key[:0]
		for _, c := range columns {
			key = t.Sample[c][i].AppendKey(key)
		}
		counts[string(key)]++
	}
	once, twice := 0.0, 0.0
	for _, n := range counts {
		switch n {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	return float64(len(counts)) + once*(once-1)/(2*(twice+1))
}
