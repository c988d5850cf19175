package design

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Options are the inputs of a design.
type Options struct {
	// Statistics returns the statistics of a table, or nil if it has none. If Statistics is nil, no table has any.
	Statistics func(*catalog.Table) *stats.Table
	Now        time.Time // of NOW()
	Table      string    // to design; "": each that the statements read
	Regions    int       // that each table is to have; 0: as many as today, 16 at least
	Rows       float64   // that the table will have; 0: as today
	Writes     float64   // rows written, in the unit of the weights; 0: by the statements that write, or one for each read
	WrittenBy  string    // the column that holds when a row was written; "": found by type
	KeepOrder  bool      // no hash, salt or bucket in front
	Progress   func(table string, tried int)
	Stop       func() error // why the search is to end, nil to go on; it may be nil
}

// Report is the outcome.
type Report struct {
	Statements []Statement `json:"statements"`
	Tables     []Table     `json:"tables"`
}

// Table is the outcome for one table.
type Table struct {
	Name    string  `json:"table"`
	Tried   int     `json:"layouts_tried"`
	Regions int     `json:"regions"`
	Even    float64 `json:"even_share"`
	Rows    float64 `json:"rows"`   // -1: not known
	Sample  int     `json:"sample"` // rows
	// Order is the column by which the sample was sorted before the replay; "" if the order of writing is unknown.
	Order string `json:"written_by"`
	Fine  bool   `json:"fine"` // no proposal is clearly better than today's key
	// Proposals begins with the best proposal; the key of today is among them.
	Proposals []Proposal `json:"proposals"`
	Notes     []string   `json:"notes,omitempty"`
}

// Proposal is one way to store a table.
type Proposal struct {
	Today   bool     `json:"today"`
	Key     string   `json:"key"`
	Indexes []string `json:"indexes,omitempty"`
	Why     string   `json:"why,omitempty"`
	Hits    int      `json:"statements_that_hit"`
	Of      int      `json:"statements"`
	// Rows, Calls and Micros are weighted means over the statements; -1 means unknown.
	Rows   float64 `json:"rows_read"`
	Calls  float64 `json:"calls"`
	Micros float64 `json:"microseconds"`
	// Share is the part of the writes that the busiest region takes; -1 means unknown.
	Share float64 `json:"busiest_share"`
	// IndexShare is the largest such part among the INDEXes; 0 if there is no INDEX.
	IndexShare float64  `json:"busiest_index_share,omitempty"`
	Bytes      float64  `json:"key_bytes"`
	Puts       int      `json:"puts_a_row"`
	Cost       float64  `json:"cost"` // in which reads and writes are put together
	Misses     []string `json:"misses,omitempty"`
	Notes      []string `json:"notes,omitempty"`
	Create     string   `json:"create,omitempty"`
	Copy       string   `json:"copy,omitempty"`
	Plans      []string `json:"explain,omitempty"` // by statement; "" for one that does not read the table

	// Split is the SPLIT clause of the table, and Splits has those of its INDEXes; the figures above assume them. nil
	// means that no clause can be written.
	Split  *parser.SplitDef   `json:"-"`
	Splits []*parser.SplitDef `json:"-"`
}

// designer designs the tables of a workload.
type designer struct {
	Options
	catalog *catalog.Catalog
	stmts   []Statement
	at      float64 // the position in the sorted sample from which parameters take their values, from 0 up to 1
}

// Bounds of the search. worthwhile is the greatest share of today's cost at which a design is proposed for its cost.
const (
	maxOrders  = 64
	keptOrders = 8
	maxIndexes = 3
	maxIndexed = 8 // layouts for which they are tried
	proposals  = 3
	worthwhile = 0.7
	longKey    = 64 // bytes, from which on a shorter key is a reason by itself
)

// Workload designs the tables of c for the statements of src. It returns an error with the position of a statement that
// does not parse. The report has the errors of statements that cannot be planned.
func Workload(c *catalog.Catalog, src string, o Options) (*Report, error) {
	stmts, err := statements(src)
	if err != nil {
		return nil, err
	}
	d := &designer{Options: o, catalog: c, stmts: stmts, at: 0.5}
	var names []string
	for i := range stmts {
		d.read(&stmts[i])
		for _, name := range append(stmts[i].reads, stmts[i].writes) {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if o.Table != "" {
		t, ok := c.Table(o.Table)
		if !ok {
			return nil, fmt.Errorf("unknown table %q", o.Table)
		}
		names = []string{t.Name}
	}
	r := &Report{Statements: stmts}
	for _, name := range names {
		if t, ok := c.Table(name); ok {
			of, err := d.table(t)
			if err != nil {
				return nil, err
			}
			r.Tables = append(r.Tables, *of)
		}
	}
	return r, nil
}

// search is the search for the key of one table.
type search struct {
	*designer
	table    *catalog.Table
	known    *stats.Table
	rows     [][]types.Value   // of the sample, in the order in which they were written, if that is known
	identity []*catalog.Column // they identify rows
	needs    []need
	written  *catalog.Column   // when a row was written; nil: not known
	newest   bool              // the newest rows are wanted first
	day      bool              // write writes times of the day,
	hashed   []*catalog.Column // and hashes in place of these
	reading  []int             // statements that read the table,
	cheapest []float64         // the least cost of each,
	byIndex  []float64         // and that with an INDEX of today's layout; 0: none was tried for it
	puts     float64           // rows written for the sum of the weights
	today    *trial
	tried    int
}

// fewRows is the size of a table up to which reading all of it is about as fast as reading by key.
const fewRows = 100_000

// table designs one table.
func (d *designer) table(t *catalog.Table) (*Table, error) {
	s := &search{designer: d, table: t, known: d.find(t)}
	out := &Table{Name: t.Name, Rows: -1}
	if t.HiddenKey || t.Layouts[0].Packed != nil || len(t.LookupParts()) > 0 {
		out.Fine, out.Notes = true, []string{"no key is designed: " + undesigned(t)}
		return out, nil
	}
	if d.WrittenBy != "" {
		if _, ok := t.Column(d.WrittenBy); !ok {
			return nil, fmt.Errorf("--written-by %s: table %s has no such column", d.WrittenBy, t.Name)
		}
	}
	own := *d
	s.designer = &own
	s.prepare()
	all, err := s.run()
	if err != nil {
		return nil, err
	}
	out.Tried, out.Regions, out.Even, out.Sample = s.tried, s.Regions, 1/float64(s.Regions), len(s.rows)
	if s.known != nil {
		out.Rows = max(s.known.Rows, d.Rows)
	}
	if s.written != nil && len(s.rows) > 0 {
		out.Order = s.written.Name
	}
	out.Notes = s.notes()
	if d.Rows == 0 && len(s.rows) > 0 && out.Rows < fewRows {
		out.Notes = append(out.Notes, fmt.Sprintf("reads cost what they do with the %s of today: --rows says how many there will be", words.Count(int(out.Rows), "row")))
	}
	best := slices.DeleteFunc(all, func(t *trial) bool { return !s.worthwhile(t) })
	best = best[:min(len(best), proposals)]
	if out.Fine = len(best) == 0; out.Fine {
		if s.today.share > max(0.5, 3*out.Even) {
			out.Notes = append(out.Notes, fmt.Sprintf("one region takes %s of the writes: if they are many for each read, another key pays; --writes says how many they are", percent(s.today.share)))
		}
	}
	for i, t := range best {
		out.Proposals = append(out.Proposals, s.proposal(t, i == 0))
	}
	out.Proposals = append(out.Proposals, s.proposal(s.today, out.Fine))
	return out, nil
}

// worthwhile reports whether t is clearly better than today's layout: by its cost, or by much shorter keys at the same
// cost.
func (s *search) worthwhile(t *trial) bool {
	if len(s.rows) == 0 && t.hits() <= s.today.hits() && t.skew >= s.today.skew {
		return false // the rules compare ways to read: they do not measure them
	}
	return t.total < worthwhile*s.today.total || s.today.bytes > longKey && t.bytes < worthwhile*s.today.bytes && t.total < 1.05*s.today.total
}

// undesigned says why a table's key is not designed.
func undesigned(t *catalog.Table) string {
	switch {
	case t.HiddenKey:
		return t.Name + " has no columns that tell its rows apart: name them with PRIMARY KEY (...), load rows, and run it again"
	case t.Layouts[0].Packed != nil:
		return "a row of HBase holds several rows of " + t.Name
	}
	return "the key of " + t.Name + " holds numbers that a look-up table gives"
}

// prepare collects the needs of the statements, and the order in which the table's rows were written.
func (s *search) prepare() {
	if s.Regions == 0 {
		s.Regions = 16
		if k := s.known.Key(s.table.Layouts[0].Name); k != nil {
			for _, stored := range k.Stored {
				s.Regions = max(s.Regions, stored.Regions)
			}
		}
	}
	s.Regions = max(s.Regions, 2)
	for _, c := range s.table.Layouts[0].PlaceColumns() {
		s.identity = append(s.identity, s.table.Columns[c])
	}
	newest, reads, puts := 0.0, 0.0, 0.0
	for i := range s.stmts {
		st := &s.stmts[i]
		if st.writes == s.table.Name {
			puts += st.Weight
		}
		if st.Error != "" || !slices.Contains(st.reads, s.table.Name) {
			continue
		}
		s.reading = append(s.reading, i)
		reads += st.Weight
		for _, n := range st.needs {
			if n.table != s.table {
				continue
			}
			s.needs = append(s.needs, n)
			if n.newest {
				newest += st.Weight
			} else if len(n.order) > 0 {
				newest -= st.Weight
			}
		}
	}
	s.newest = newest > 0
	if s.puts = cmp.Or(s.Writes, puts, reads); s.puts == 0 {
		s.puts = 1
	}
	s.sample()
}

// run tries layouts and returns those that are worth showing, the best first.
func (s *search) run() ([]*trial, error) {
	s.today = s.try(nil)
	if s.today == nil {
		return nil, fmt.Errorf("table %s: its rows do not fit its definition", s.table.Name)
	}
	s.judge(s.today)
	var plain, all []*trial
	try := s.trier()
	for _, c := range s.orders() {
		if c.id() == s.today.id() {
			again := *s.today
			again.candidate = &c
			plain = append(plain, &again)
			continue
		}
		t, err := try(c)
		if err != nil {
			return nil, err
		}
		if t != nil {
			plain = append(plain, t)
		}
	}
	slices.SortStableFunc(plain, func(a, b *trial) int { return cmp.Compare(a.reads, b.reads) })
	all = slices.DeleteFunc(slices.Clone(plain), func(t *trial) bool { return t.id() == s.today.id() })
	for _, p := range plain[:min(len(plain), keptOrders)] {
		for _, c := range s.forms(*p.candidate)[1:] {
			t, err := try(c)
			if err != nil {
				return nil, err
			}
			if t != nil {
				all = append(all, t)
			}
		}
	}
	s.least(append(all, s.today))
	best, err := s.indexed(s.today, try)
	if err != nil {
		return nil, err
	}
	if best != s.today {
		all = append(all, best)
	}
	for _, t := range all {
		s.expect(t)
		if t.total < best.total {
			best = t
		}
	}
	slices.SortStableFunc(all, func(a, b *trial) int {
		return cmp.Or(cmp.Compare(a.expected, b.expected), cmp.Compare(a.total, b.total))
	})
	for i, t := range all[:min(len(all), maxIndexed)] {
		if t.expected >= best.total {
			continue // no INDEX makes it better
		}
		with, err := s.indexed(t, try)
		if err != nil {
			return nil, err
		}
		if all[i] = with; with.total < best.total {
			best = with
		}
	}
	slices.SortStableFunc(all, func(a, b *trial) int { return cmp.Compare(a.total, b.total) })
	return undominated(all), nil
}

// least sets s.cheapest: the least cost of each statement among the trials in which it hits the prefix of a key.
func (s *search) least(all []*trial) {
	s.cheapest, s.byIndex = make([]float64, len(s.reading)), make([]float64, len(s.reading))
	for _, t := range all {
		for n, p := range t.prices {
			if cost := s.cost(n, p); len(p.misses) == 0 && (s.cheapest[n] == 0 || cost < s.cheapest[n]) {
				s.cheapest[n] = cost
			}
		}
	}
}

// expect sets the total cost that t probably has with the INDEXes that pay most. Each INDEX adds at least one Put per
// row. A statement for which no INDEX was tried is expected to cost twice its least cost, because it reads each row
// twice.
func (s *search) expect(t *trial) {
	var gains []float64
	for n, i := range s.reading {
		gain := s.stmts[i].Weight*(s.cost(n, t.prices[n])-cmp.Or(s.byIndex[n], 2*s.cheapest[n])) - s.puts*t.put()/t.skew
		gains = append(gains, max(gain, 0))
	}
	slices.Sort(gains)
	t.expected = t.total
	for _, gain := range gains[max(len(gains)-maxIndexes+len(t.indexes), 0):] {
		t.expected -= gain
	}
}

// trier returns a function that tries and judges a candidate. The function returns nil for a candidate that was tried
// before or is invalid.
func (s *search) trier() func(candidate) (*trial, error) {
	seen := map[string]bool{s.today.id(): true}
	return func(c candidate) (*trial, error) {
		again := c.key() == s.today.key() && c.indexes == nil && (c.stored == "") == (s.today.stored == "") // under another name
		if again || seen[c.id()] {
			return nil, nil
		}
		seen[c.id()] = true
		s.tried++
		if s.Progress != nil {
			s.Progress(s.table.Name, s.tried)
		}
		if s.Stop != nil {
			if err := s.Stop(); err != nil {
				return nil, err
			}
		}
		t := s.try(&c)
		if t != nil {
			s.judge(t)
		}
		return t, nil
	}
}

// undominated omits layouts for which another one is at least as good in reads, writes and bytes. all is sorted by cost.
func undominated(all []*trial) (out []*trial) {
	for _, t := range all {
		if !slices.ContainsFunc(out, func(o *trial) bool {
			return o.reads <= 1.02*t.reads && o.share <= t.share+0.01 && o.bytes <= t.bytes && o.puts <= t.puts
		}) {
			out = append(out, t)
		}
	}
	return out
}

// indexed adds to t the INDEXes that pay, one after the other.
func (s *search) indexed(t *trial, try func(candidate) (*trial, error)) (*trial, error) {
	for len(t.indexes) < maxIndexes {
		best := t
		for n, i := range s.reading {
			if len(t.prices[n].misses) == 0 && worthwhile*s.cost(n, t.prices[n]) <= s.cheapest[n] {
				continue
			}
			for _, need := range s.stmts[i].needs {
				if need.table != s.table {
					continue
				}
				for _, def := range s.indexesFor(t, need) {
					c := *t.candidate
					c.indexes = append(slices.Clone(c.indexes), def)
					with, err := try(c)
					if err != nil {
						return nil, err
					}
					if with == nil {
						continue
					}
					if cost := s.cost(n, with.prices[n]); t == s.today && (s.byIndex[n] == 0 || cost < s.byIndex[n]) {
						s.byIndex[n] = cost
					}
					if with.total < best.total && s.helps(with, t) {
						best = with
					}
				}
			}
		}
		if best == t {
			return t, nil
		}
		t = best
	}
	return t, nil
}

// helps reports whether some statement gains clearly by the last index of with.
func (s *search) helps(with, without *trial) bool {
	for n := range s.reading {
		if s.cost(n, with.prices[n]) < worthwhile*s.cost(n, without.prices[n]) {
			return true
		}
	}
	return false
}

// indexesFor returns the definitions of INDEXes that serve n, the need of a statement.
func (s *search) indexesFor(t *trial, n need) (out []string) {
	add := func(columns []*catalog.Column, front []string, name string) {
		if len(columns) == 0 && front == nil {
			return
		}
		for _, c := range columns {
			name += "_" + strings.ToLower(c.Name)
		}
		for i, of := 2, "by"+name; ; i++ {
			if !slices.ContainsFunc(t.table.Layouts, func(l *catalog.Layout) bool { return l.Name == of }) {
				name = of
				break
			}
			of = fmt.Sprintf("by%s_%d", name, i)
		}
		for _, c := range t.table.Layouts[0].PlaceColumns() { // entries lead to their rows
			columns = append(slices.Clip(columns), s.table.Columns[c])
		}
		if parts := s.write(s.whole(columns), front); parts != nil {
			out = append(out, fmt.Sprintf("INDEX %s (%s)", parser.QuoteName(name), strings.Join(parts, ", ")))
		}
	}
	for _, lead := range keyBeginnings(n) {
		add(lead, nil, "")
	}
	for _, c := range n.suffix {
		add(nil, s.front("REVERSE("+parser.QuoteName(c.Name)+") AS TEXT"), "_reversed_"+strings.ToLower(c.Name))
	}
	return out
}
