package stats

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hql-db/hql/types"
)

// Build makes the statistics of a table from collectors. complete means that the collectors have read all rows of the
// table.
func Build(name string, at time.Time, complete bool, cs ...*Collector) *Table {
	b := builder{shape: cs[0].shape, complete: complete}
	b.c = NewCollector(b.shape)
	for _, c := range cs {
		b.c.runs = append(b.c.runs, c.runs...)
		for i, s := range c.values {
			_ = b.c.values[i].Merge(s) // it fails only for sketches of different precision
		}
		for k, starts := range c.starts {
			for i, s := range starts {
				_ = b.c.starts[k][i].Merge(s)
			}
		}
	}
	for _, r := range b.c.runs {
		if r.Rows == 0 {
			continue
		}
		for i := range r.kept {
			r.kept[i].weight = r.Stands / float64(len(r.kept))
		}
		b.sample = append(b.sample, r.kept...)
		b.rows += r.Stands
		b.read += r.Rows
	}
	b.thin()
	b.chooseEven()
	t := &Table{Version: Version, Name: name, At: at.UTC().Truncate(time.Millisecond), Rows: math.Round(b.rows), Read: b.read, Complete: complete}
	t.Bytes = b.mean(func(r *Run) int64 { return r.bytes })
	t.Cells = b.mean(func(r *Run) int64 { return r.cells })
	if stored := b.mean(func(r *Run) int64 { return r.stored }); stored > 0 && stored < 1 {
		b.packed = 1 / stored
		t.Packed = b.packed
	}
	for i := range b.shape.Columns {
		t.Columns = append(t.Columns, b.column(i))
	}
	for i := range b.shape.Keys {
		t.Keys = append(t.Keys, b.key(i))
	}
	b.keepSample(t)
	return t
}

// keepSample sets t.Sample to rows of the sample that each represent equally many rows of the table.
func (b *builder) keepSample(t *Table) {
	size := 0
	for _, k := range b.sample {
		size += sizeOf(k.values)
	}
	if size == 0 {
		return
	}
	n := min(keptSample, len(b.sample), keptSampleSize/(size/len(b.sample)))
	columns := make([]Values, len(b.shape.Columns))
	add := func(k kept) {
		for i, v := range k.values {
			columns[i] = append(columns[i], short(v, maxValueLength))
		}
	}
	if n == len(b.sample) && b.believed(1) { // all rows of the table
		for _, k := range b.sample {
			add(k)
		}
		t.Sample = columns
		return
	}
	systematic(b.sample, b.rows, n, rand.New(rand.NewPCG(3, 3)), func(k kept, times int) {
		for range times {
			add(k)
		}
	})
	if n > 0 {
		t.Sample = columns
	}
}

// sizeOf returns the approximate size of values in bytes.
func sizeOf(values []types.Value) int {
	n := 0
	for _, v := range values {
		n += 8 + min(len(v.Text()), maxValueLength)
	}
	return n
}

type builder struct {
	shape    Shape
	c        *Collector // all collectors merged
	complete bool
	sample   []kept
	rows     float64
	read     int64
	packed   float64 // Table.Packed
}

// thin reduces the sample to at most sampleRows rows, each chosen with a probability proportional to its weight.
func (b *builder) thin() {
	if len(b.sample) <= sampleRows {
		return
	}
	out := make([]kept, 0, sampleRows)
	systematic(b.sample, b.rows, sampleRows, rand.New(rand.NewPCG(1, 1)), func(k kept, times int) {
		k.weight = float64(times) * b.rows / sampleRows
		out = append(out, k)
	})
	b.sample = out
}

// systematic divides the rows that sample represents into n equal shares and draws one row at random from each. So
// regularities among the rows do not change how often a row is drawn. It calls take with each drawn row and the number
// of times that it was drawn.
func systematic(sample []kept, rows float64, n int, rng *rand.Rand, take func(k kept, times int)) {
	step := rows / float64(n)
	next, at, share := step*rng.Float64(), 0.0, 0.0
	for _, k := range sample {
		at += k.weight
		times := 0
		for ; next < at && int(share) < n; next = step * (share + rng.Float64()) {
			times++
			share++
		}
		if times > 0 {
			take(k, times)
		}
	}
}

// chooseEven sets even in some rows of the sample, so that each row of the table has the same chance to be one of them.
func (b *builder) chooseEven() {
	rng := rand.New(rand.NewPCG(2, 2))
	most := 0.0
	for _, k := range b.sample {
		most = max(most, k.weight)
	}
	for i := range b.sample {
		b.sample[i].even = rng.Float64()*most < b.sample[i].weight
	}
}

// mean returns the mean per row of a count, such as bytes, that f returns in total for each run; runs count by the rows
// that they represent.
func (b *builder) mean(f func(*Run) int64) float64 {
	if b.rows == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range b.c.runs {
		if r.Rows > 0 {
			sum += r.Stands * float64(f(r)) / float64(r.Rows)
		}
	}
	return sum / b.rows
}

// even counts values, or prefixes of keys, in a sample that holds each row of the table with the same chance: the rows,
// the distinct values, and the values that occur once and twice.
type even struct{ rows, seen, once, twice float64 }

// add counts a value that occurs so many times in the sample.
func (e *even) add(times int) {
	e.rows += float64(times)
	e.seen += float64(types.Bit(times > 0))
	e.once += float64(types.Bit(times == 1))
	e.twice += float64(types.Bit(times == 2))
}

// distinct estimates the number of distinct values in a table of rows rows; read is their number in the rows that were
// read, and e counts the sample. The estimator of Haas and Stokes, as in PostgreSQL, is right if all values are about
// equally frequent, and far too low otherwise. Chao's estimator is too low if nearly all values occur once, but works
// for any distribution.
func (b *builder) distinct(read uint64, rows float64, e even) float64 {
	if b.complete {
		return float64(read)
	}
	out := e.seen + e.once*(e.once-1)/(2*(e.twice+1))
	if below := e.rows - e.once + e.once*e.rows/max(rows, e.rows, 1); below > 0 {
		out = max(out, e.rows*e.seen/below)
	}
	return max(min(out, rows), float64(read))
}

func (b *builder) column(i int) Column {
	c := Column{Name: b.shape.Columns[i], Nulls: b.mean(func(r *Run) int64 { return r.nulls[i] })}
	cells := b.mean(func(r *Run) int64 { return r.cellCount[i] })
	if cells > 0 {
		c.Bytes = b.mean(func(r *Run) int64 { return r.cellBytes[i] }) / cells
	}
	type seen struct {
		v      types.Value
		weight float64
		times  int
		even   int // times
	}
	all := make([]seen, 0, len(b.sample))
	for _, k := range b.sample {
		if v := k.values[i]; !v.IsNull() {
			all = append(all, seen{v, k.weight, 1, types.Bit(k.even)})
		}
	}
	slices.SortFunc(all, func(x, y seen) int { return order(x.v, y.v) })
	groups := all[:0]
	for _, s := range all {
		if n := len(groups); n > 0 && order(groups[n-1].v, s.v) == 0 {
			groups[n-1].weight += s.weight
			groups[n-1].times++
			groups[n-1].even += s.even
		} else {
			groups = append(groups, s)
		}
	}
	var e even
	for _, g := range groups {
		e.add(g.even)
	}
	c.Distinct = math.Round(b.distinct(b.c.values[i].Estimate(), b.rows*(1-c.Nulls), e))
	// A value is frequent if it is clearly above the mean, or if there are few enough values to list them all.
	mean := b.rows * (1 - c.Nulls) / max(1, c.Distinct)
	frequent := []seen{}
	for _, g := range groups {
		if b.believed(g.times) && (g.weight > 1.25*mean || c.Distinct <= maxFrequent) && len(g.v.Text()) <= maxValueLength {
			frequent = append(frequent, g)
		}
	}
	slices.SortStableFunc(frequent, func(x, y seen) int { return cmp.Compare(y.weight, x.weight) })
	frequent = frequent[:min(len(frequent), maxFrequent)]
	for _, f := range frequent {
		c.Frequent = append(c.Frequent, Frequent{Value{f.v}, f.weight / b.rows})
	}
	var rest []seen
	sum := 0.0
	for _, g := range groups {
		if !c.isFrequent(g.v) {
			rest = append(rest, g)
			sum += g.weight
		}
	}
	for _, j := range cuts(len(rest), columnPieces, func(j int) float64 { return rest[j].weight / sum }) {
		c.Bounds = append(c.Bounds, Value{short(rest[j].v, maxBoundLength)})
	}
	return c
}

// believed reports whether a value occurs often enough in the sample, times, to conclude that it is about as frequent
// in the table.
func (b *builder) believed(times int) bool {
	return times >= minSeen || b.complete && int64(len(b.sample)) == b.read
}

// cuts divides n elements, whose shares sum up to 1, into at most the given number of pieces, each with a similar
// share. It returns the bounds: 0 and the end of each piece.
func cuts(n, pieces int, share func(i int) float64) []int {
	if n == 0 {
		return nil
	}
	pieces = min(pieces, n)
	out := []int{0}
	at := 0.0
	for i := range n {
		at += share(i)
		for len(out) <= pieces && at >= float64(len(out))/float64(pieces)-1e-9 {
			out = append(out, i)
		}
	}
	for len(out) <= pieces {
		out = append(out, n-1)
	}
	return out
}

// short cuts long texts.
func short(v types.Value, most int) types.Value {
	text := v.Text()
	if len(text) <= most || v.Type().IsArray() {
		return v
	}
	switch v.Type() {
	case types.Bytes:
		return types.NewBytes(text[:most])
	case types.JSON, types.JSONB:
		return types.NewJSONOf(v.Type(), text[:most])
	}
	return types.NewString(text[:most])
}

// keyEntry is the entry of a sampled row in one layout: its place, and the row's weight and even.
type keyEntry struct {
	Place
	weight float64
	even   bool
}

func (b *builder) key(i int) Key {
	shape := b.shape.Keys[i]
	k := Key{Layout: shape.Layout, Rows: math.Round(b.rows * b.mean(func(r *Run) int64 { return r.entries[i] }))}
	if k.Rows > 0 {
		k.Bytes = b.rows * b.mean(func(r *Run) int64 { return r.keyBytes[i] }) / k.Rows
	}
	all := make([]keyEntry, 0, len(b.sample))
	for _, s := range b.sample {
		if s.places[i].Key != nil {
			all = append(all, keyEntry{s.places[i], s.weight, s.even})
		}
	}
	slices.SortFunc(all, func(x, y keyEntry) int {
		return cmp.Or(cmp.Compare(x.Table, y.Table), bytes.Compare(x.Key, y.Key))
	})
	k.Stored = storedTables(all)
	for part := range shape.Parts {
		k.Prefixes = append(k.Prefixes, b.prefix(i, part, k.Rows, all))
	}
	return k
}

// storedTables returns the HBase tables of the entries, which are sorted, and the keys that cut each table into pieces
// of similar size.
func storedTables(all []keyEntry) (out []Stored) {
	for from := 0; from < len(all); {
		to, sum := from, 0.0
		for ; to < len(all) && all[to].Table == all[from].Table; to++ {
			sum += all[to].weight
		}
		s := Stored{Table: all[from].Table, Rows: math.Round(sum)}
		for _, j := range cuts(to-from, keyPieces, func(j int) float64 { return all[from+j].weight / sum }) {
			s.Bounds = append(s.Bounds, all[from+j].Key)
		}
		out = append(out, s)
		from = to
	}
	return out
}

// prefix counts the values of the first part+1 parts in the keys of layout i, and finds the frequent ones. all is the
// sample's entries of the layout, sorted; rows is the number of entries in the table.
func (b *builder) prefix(i, part int, rows float64, all []keyEntry) Prefix {
	p := Prefix{Parts: join(b.shape.Keys[i].Parts[:part+1])}
	believed, e := b.believedPrefixes(all, part, rows)
	hll := b.c.starts[i][part].Estimate()
	if p.Distinct = b.distinct(hll, rows, e); part == len(b.shape.Keys[i].Parts)-1 && i == 0 {
		p.Distinct = rows / max(1, b.packed) // each key is a row of the store
	}
	p.Distinct = math.Round(p.Distinct)
	mean := rows / max(1, p.Distinct)
	for _, f := range believed {
		if f.Share*rows > 1.25*mean || p.Distinct <= maxFrequentPrefix {
			p.Frequent = append(p.Frequent, f.FrequentPrefix)
		}
	}
	slices.SortFunc(p.Frequent, func(x, y FrequentPrefix) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), bytes.Compare(x.Prefix, y.Prefix))
	})
	p.Frequent = p.Frequent[:min(len(p.Frequent), maxFrequentPrefix)]
	slices.SortFunc(p.Frequent, func(x, y FrequentPrefix) int { return bytes.Compare(x.Prefix, y.Prefix) })
	rest, tables := 1.0, 0
	for _, f := range p.Frequent {
		rest, tables = rest-f.Share, tables+believed[string(f.Prefix)].tables
	}
	if n := p.Distinct - float64(tables); n >= 1 {
		p.Rare = max(0, rest) * rows / n
	}
	return p
}

// believedPrefix is a prefix whose share of the rows is reliable.
type believedPrefix struct {
	FrequentPrefix     // over all HBase tables
	tables         int // that have it
}

// believedPrefixes returns the prefixes of part+1 parts whose share of the rows is reliable, by their bytes, and the
// counts of all sampled prefixes.
func (b *builder) believedPrefixes(all []keyEntry, part int, rows float64) (map[string]believedPrefix, even) {
	byBytes := map[string]believedPrefix{}
	var e even
	for from := 0; from < len(all); {
		to, sum, times := from, 0.0, 0
		at := prefixOf(all[from].Place, part)
		for ; to < len(all) && all[to].Table == all[from].Table && bytes.Equal(prefixOf(all[to].Place, part), at); to++ {
			sum += all[to].weight
			times += types.Bit(all[to].even)
		}
		e.add(times)
		if b.believed(to - from) {
			f := byBytes[string(at)]
			byBytes[string(at)] = believedPrefix{FrequentPrefix{at, f.Share + sum/max(1, rows)}, f.tables + 1}
		}
		from = to
	}
	return byBytes, e
}

// prefixOf returns the bytes of p up to the end of a part.
func prefixOf(p Place, part int) []byte {
	if part >= len(p.Ends) {
		return p.Key
	}
	return p.Key[:p.Ends[part]]
}

func join(parts []string) string {
	var b []byte
	for i, p := range parts {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, p...)
	}
	return string(b)
}
