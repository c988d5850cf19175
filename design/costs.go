package design

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// trial is a layout with its figures.
type trial struct {
	*candidate
	table      *catalog.Table
	catalog    *catalog.Catalog   // with it
	known      *stats.Table       // nil: nothing is known
	prices     []price            // by search.reading
	split      *parser.SplitDef   // nil: none can be written
	splits     []*parser.SplitDef // of INDEXes
	share      float64            // of the writes that the busiest region takes; -1: not known
	indexShare float64            // the greatest of the INDEXes
	skew       float64            // by how much the busiest regions of all layouts make a write dearer, in writes
	bytes      float64            // of a key of the rows, in the mean
	puts       int                // of a row, one a layout
	reads      float64            // microseconds that the statements take, by weight
	total      float64            // the same including the writes
	expected   float64            // total that it probably has with INDEXes
}

// find returns a function that returns the statistics of a table: those of the trial for the table that is designed.
func (t *trial) find(s *search) func(*catalog.Table) *stats.Table {
	return func(of *catalog.Table) *stats.Table {
		if of.Name == t.table.Name {
			return t.known
		}
		return s.find(of)
	}
}

// The costs of writes in microseconds: of a Put, and of each byte of its keys. See planner/estimate for reads.
const (
	perPut     = 50
	perKeyByte = 0.1
	perPart    = 20  // a part more, or a form of a part: of two keys of one cost the simpler one wins
	manyTables = 1.1 // a table a day is more to run than one table: it must be worth that
)

// leastSample is the least number of rows that a sample of a large table must have.
const leastSample = 200

// sample sets s.rows to the rows of the sample, in the order in which they were written; if that is unknown, in random
// order.
func (s *search) sample() {
	s.written = s.writtenBy()
	if s.known == nil || len(s.known.Sample) != len(s.table.Columns) || len(s.known.Sample[0]) < leastSample {
		return
	}
	for i := range s.known.Sample[0] {
		row := make([]types.Value, len(s.table.Columns))
		for c, values := range s.known.Sample {
			if i < len(values) {
				row[c] = values[i]
			}
		}
		s.rows = append(s.rows, row)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
	if s.written != nil {
		at := s.written.Index
		slices.SortStableFunc(s.rows, func(a, b []types.Value) int {
			c, _ := types.Compare(a[at], b[at])
			return c
		})
	}
}

// writtenBy returns the column that holds when a row was written: the column WrittenBy of the options, a TIMESTAMP or
// DATE of the key, or another TIMESTAMP that all rows have.
func (s *search) writtenBy() *catalog.Column {
	if s.WrittenBy != "" {
		c, _ := s.table.Column(s.WrittenBy)
		return c
	}
	for _, typ := range []types.Type{types.Timestamp, types.Date} {
		for _, c := range s.identity {
			if c.Type == typ {
				return c
			}
		}
	}
	for _, c := range s.table.Columns {
		if c.Type == types.Timestamp && (s.known == nil || s.known.Columns[c.Index].Nulls == 0) {
			return c
		}
	}
	return nil
}

// try builds the layout c in memory, with the statistics that it would have; nil means today's layout. It returns nil if
// the layout is invalid, or if it cannot hold the rows of the sample.
func (s *search) try(c *candidate) *trial {
	t := &trial{candidate: c, table: s.table, catalog: s.catalog, share: -1}
	if c == nil {
		t.candidate = s.present()
	} else if !s.build(t) {
		return nil
	}
	t.puts = len(t.table.Layouts)
	if len(s.rows) == 0 {
		t.guess()
		_, t.split = s.splits(t.table.Layouts[0], nil)
		return t
	}
	// with Options.Rows the sample stands for a larger table
	known := s.known.Clone()
	known.Rows, known.Complete, known.Keys = max(known.Rows, s.Rows), known.Complete && s.Rows <= known.Rows, nil
	rng := rand.New(rand.NewPCG(2, 2))
	for i, l := range t.table.Layouts {
		places := s.places(l, &expr.Env{Rand: rng.Uint64})
		if i == 0 && !s.fits(places) && c != nil {
			return nil
		}
		if known = known.WithKey(stats.KeyShape{Layout: l.Name, Parts: l.Key.Sources()}, places); known == nil {
			return nil
		}
		k := &known.Keys[i]
		for j := range k.Stored {
			k.Stored[j].Regions = s.Regions
		}
		share, split := s.replay(l, places)
		if i == 0 {
			t.share, t.split, t.bytes = share, split, k.Bytes
		} else if split != nil && l.Kind == catalog.Index {
			split.Index = l.Name
			t.splits = append(t.splits, split)
		}
		if i > 0 {
			t.indexShare = max(t.indexShare, share)
		}
		t.skew += math.Max(1, share*float64(s.Regions))
	}
	s.resize(t, known)
	t.known = known
	return t
}

// present is the candidate that today's layouts are.
func (s *search) present() *candidate {
	c := &candidate{parts: s.table.Layouts[0].Key.Sources()}
	if of := s.table.Layouts[0].Stored; !of.IsLiteral() {
		c.stored = of.Source()
	}
	for _, i := range s.table.Layouts[0].KeyColumns() {
		c.columns = append(c.columns, s.table.Columns[i])
	}
	return c
}

// build makes the definition of t, and a catalog with it.
func (s *search) build(t *trial) bool {
	def, err := s.parsed(t.candidate)
	if err != nil {
		return false
	}
	if t.table, err = s.catalog.Build(def); err != nil || len(t.table.Columns) != len(s.table.Columns) {
		return false
	}
	t.catalog = s.catalog.With(t.table)
	return true
}

// places returns the HBase table and key of each row under l; a zero Place for a row that has no entry in l.
func (s *search) places(l *catalog.Layout, env *expr.Env) []stats.Place {
	out := make([]stats.Place, len(s.rows))
	reader := catalog.NewKeyReader(l)
	for i, row := range s.rows {
		if l.Lacks(row) {
			continue
		}
		if table, key, _, err := reader.EncodeRow(row, env); err == nil {
			if ends := l.Key.Ends(key, true); len(ends) == len(l.Key.Parts) {
				out[i] = stats.Place{Table: table, Key: key, Ends: ends}
			}
		}
	}
	return out
}

// fits reports whether all rows have a key, and rows that differ have different keys.
func (s *search) fits(places []stats.Place) bool {
	seen := map[string]int{}
	for i, p := range places {
		if p.Key == nil {
			return false
		}
		at := p.Table + "\x00" + string(p.Key)
		if j, ok := seen[at]; ok && !slices.EqualFunc(s.rows[i], s.rows[j], same) {
			return false
		}
		seen[at] = i
	}
	return true
}

func same(a, b types.Value) bool {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() && b.IsNull()
	}
	return a.Text() == b.Text() && a.SQL() == b.SQL()
}

// resize adapts the sizes of rows in known to the key of t: each cell repeats the key, and a column that is no longer
// in the key is in a cell.
func (s *search) resize(t *trial, known *stats.Table) {
	was := t.bytes
	if k := s.known.Key(s.table.Layouts[0].Name); k != nil {
		was = k.Bytes
	}
	for i, c := range t.table.Columns {
		of := &known.Columns[i]
		switch old := s.table.Columns[i]; {
		case c.InCell() && !old.InCell():
			of.Bytes = t.bytes + cellBytes + float64(len(c.Family)+len(c.Qualifier)+textBytes)
			known.Cells++
			known.Bytes += of.Bytes
		case c.InCell() && of.Bytes > 0:
			of.Bytes += t.bytes - was
		}
	}
	known.Bytes = math.Max(known.Bytes+known.Cells*(t.bytes-was), 1)
}

// The size that HBase stores for a cell in addition to row, family, qualifier and value; and the assumed size of a text.
const (
	cellBytes = 4 + 4 + 2 + 1 + 8 + 1
	textBytes = 16
)

// guess judges the keys of a table of which no row is known, by their first part.
func (t *trial) guess() {
	for _, p := range t.table.Layouts[0].Key.Parts {
		if p.Width() == catalog.Variable {
			t.bytes += textBytes
		} else {
			t.bytes += float64(p.Width())
		}
	}
	for _, l := range t.table.Layouts {
		if l.OnlyGrows() {
			t.skew += unknownSkew
		} else {
			t.skew++
		}
	}
}

// unknownSkew is the factor by which a key that only grows makes writes more expensive, if no sample shows it.
const unknownSkew = 16

// replay divides the table into regions by the earlier half of the rows, and distributes the later half to them in the
// order in which they were written. It returns the share of the rows that the busiest region takes, as the mean over
// sliding windows, and the SPLIT clause.
func (s *search) replay(l *catalog.Layout, places []stats.Place) (share float64, split *parser.SplitDef) {
	past, now := places[:len(places)/2], places[len(places)/2:]
	if s.written == nil {
		past, now = places, places
	}
	splits, split := s.splits(l, past)
	if s.written != nil && l.OnlyGrows() {
		return 1, split
	}
	size := max(len(now)/16, min(len(now), 64))
	if s.written == nil {
		size = len(now)
	}
	regions := make([]string, 0, len(now))
	for _, p := range now {
		if p.Key != nil {
			i, found := slices.BinarySearchFunc(splits, p.Key, bytes.Compare)
			if found {
				i++
			}
			regions = append(regions, p.Table+"\x00"+strconv.Itoa(i))
		}
	}
	return s.busiest(regions, size), split
}

// busiest returns the share of the rows that the busiest region takes, as the mean over windows of size rows; regions
// has the region of each row in the order of writing. If consecutive rows are in the same region far more often than
// the shares of the regions explain, the load moves from region to region, and only one region is busy at a time.
func (s *search) busiest(regions []string, size int) float64 {
	sum, windows, chance, again := 0.0, 0, 0.0, 0
	for at := 0; at+size <= len(regions) && size > 0; at += max(1, size/2) {
		counts, most := map[string]int{}, 0
		for _, r := range regions[at : at+size] {
			counts[r]++
			most = max(most, counts[r])
		}
		for _, n := range counts {
			chance += float64(n) / float64(size) * float64(n) / float64(size)
		}
		sum, windows = sum+s.corrected(float64(most)/float64(size), size), windows+1
	}
	if windows == 0 {
		return 0
	}
	for i := 1; i < len(regions); i++ {
		if regions[i] == regions[i-1] {
			again++
		}
	}
	share := sum / float64(windows)
	if same := float64(again) / float64(max(1, len(regions)-1)); s.written != nil && same > 0.5 && same > 1.5*chance/float64(windows) {
		return math.Max(share, same)
	}
	return share
}

// corrected removes the effect of chance from the share of the busiest region in a window of n rows: in a few rows one
// region has more than the others even if all are alike.
func (s *search) corrected(share float64, n int) float64 {
	even := 1 / float64(s.Regions)
	chance := math.Sqrt(2 * math.Log(float64(s.Regions)) * even / float64(n))
	return math.Max(even, share-chance*math.Min(1, even/share+chance))
}

// splits returns the first keys of the regions that l gets, and the SPLIT clause for them. If the first key part is
// computed, the regions divide its values evenly; otherwise each region gets equally many of the rows in past.
func (s *search) splits(l *catalog.Layout, past []stats.Place) ([][]byte, *parser.SplitDef) {
	first := l.Key.Parts[0]
	if _, column := first.Column(); !column && first.Literal == nil && first.Monotone() == 0 {
		by := *l
		by.Split = &parser.SplitDef{Kind: parser.SplitKey, N: s.Regions}
		if keys, err := by.SplitKeys(nil, nil); err == nil {
			return keys, by.Split
		}
	}
	var keys, out [][]byte
	for _, p := range past {
		if p.Key != nil {
			keys = append(keys, p.Key)
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	split := &parser.SplitDef{Kind: parser.SplitAt}
	for i := 1; i < s.Regions && len(keys) > 0; i++ {
		lo, hi := keys[max(0, i*len(keys)/s.Regions-1)], keys[i*len(keys)/s.Regions]
		key := shortest(l, lo, hi)
		if len(out) > 0 && bytes.Compare(key, out[len(out)-1]) <= 0 {
			continue
		}
		out = append(out, key)
		split.Keys = append(split.Keys, &parser.Literal{Kind: parser.BytesLiteral, Text: string(key)})
		if text := l.Begins(key); !strings.HasPrefix(text, "X'") {
			if e, err := parser.ParseExpr(text); err == nil {
				split.Keys[len(split.Keys)-1] = e
			}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, split
}

// shortest returns the shortest key after lo that is not after hi. It is no shorter than the first part, if that has a
// fixed width and differs between the two.
func shortest(l *catalog.Layout, lo, hi []byte) []byte {
	n := 0
	for n < len(lo) && n < len(hi) && lo[n] == hi[n] {
		n++
	}
	if ends := l.Key.Ends(hi, true); l.Key.Parts[0].Width() != catalog.Variable && len(ends) > 0 && n < ends[0] {
		return hi[:ends[0]]
	}
	return hi[:min(n+1, len(hi))]
}

// judge plans the statements on t, and sets t.total to the cost of the statements and of the writes.
func (s *search) judge(t *trial) {
	weights := 0.0
	for n, i := range s.reading {
		st := &s.stmts[i]
		p := s.priced(t, st.ast)
		t.prices = append(t.prices, p)
		t.reads += st.Weight * s.cost(n, p)
		weights += st.Weight
	}
	t.total = t.reads + s.puts*t.put() + perPart*float64(len(t.parts)+types.Bit(t.why != ""))*cmp.Or(weights, 1)
	if t.stored != "" {
		t.total *= manyTables
	}
}

// put is the cost of writing a row.
func (t *trial) put() float64 { return (perPut + perKeyByte*t.bytes*t.cells()) * t.skew }

// places are the positions in the sorted sample from which a priced statement takes the values of its parameters. There
// are several, because a single position may hit a frequent value.
var places = []float64{1.0 / 6, 5.0 / 6, 0.5}

// priced returns the price of a statement on t: the mean over several values of its parameters.
func (s *search) priced(t *trial, ast parser.Statement) (p price) {
	at := places
	if parser.FirstParam(ast) == nil {
		at = at[2:]
	}
	defer func(usual float64) { s.at = usual }(s.at)
	var sum *plan.Estimate
	for i := range at {
		s.at = at[i]
		of, err := s.plan(t.catalog, ast, t.find(s))
		if err != nil {
			return price{rules: math.Inf(1), misses: []string{err.Error()}}
		}
		p = priceOf(of, t.table.Name, t.find(s))
		switch {
		case p.known == nil:
			return p
		case sum == nil:
			sum = p.known
		default:
			sum.Rows, sum.RPCs, sum.Cost = sum.Rows+p.known.Rows, sum.RPCs+p.known.RPCs, sum.Cost+p.known.Cost
		}
	}
	n := float64(len(at))
	p.known = &plan.Estimate{Rows: sum.Rows / n, RPCs: sum.RPCs / n, Cost: sum.Cost / n}
	return p
}

// hits counts the statements that hit the prefix.
func (t *trial) hits() (n int) {
	for _, p := range t.prices {
		if len(p.misses) == 0 {
			n++
		}
	}
	return n
}

// cells is how many cells a row has, in the mean.
func (t *trial) cells() float64 {
	if t.known == nil {
		return 1
	}
	return math.Max(1, t.known.Cells)
}

// cost returns the cost of the n-th reading statement in microseconds. If statistics do not give it, today's cost is
// multiplied by the ratio of the costs that the planner's rules give.
func (s *search) cost(n int, p price) float64 {
	if s.today == nil || n >= len(s.today.prices) {
		if p.known != nil {
			return p.known.Cost
		}
		return byRules
	}
	was := s.today.prices[n]
	switch {
	case p.known != nil && was.known != nil:
		return p.known.Cost
	case was.rules == 0:
		return byRules
	case was.known != nil:
		return was.known.Cost * p.rules / was.rules
	}
	return byRules * p.rules / was.rules
}

// byRules is the cost in microseconds assumed for a statement whose cost with today's key is unknown.
const byRules = 1000
