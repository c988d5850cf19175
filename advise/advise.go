package advise

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Report is the advice for a workload.
type Report struct {
	Statements []Statement
	// Layouts are what to add, the most useful first.
	Layouts []Layout
}

// Statement is one statement of the workload.
type Statement struct {
	N    int    // from 1
	Text string // on one line
	// Reads says how each of its tables is read; nil for a statement that reads none.
	Reads []Read
	Puts  int              // of an INSERT: the Puts that each row takes, one a layout
	Err   error            // why it cannot be planned
	costs map[string]price // by table
	needs []need
	ast   parser.Statement
}

// Read is how a statement reads one table.
type Read struct {
	Table, Layout string
	Access        plan.Access
	Gets, Ranges  int
	Parts         []plan.PartUse
	// Server and Client are the predicates left to filters, Why what to add to bind the key.
	Server, Client []string
	Why            string
}

// Layout is one more layout of a table.
type Layout struct {
	Table string
	Def   string // INDEX name (...) STORED IN '...'
	// Serves lists the statements that use it and how each reads the table then.
	Serves []Served
	// EntryBytes is what one row adds to the store, about: a text counts 16 bytes where no statistics tell its length.
	EntryBytes int
	// Entries are about how many it would have, by statistics; -1: not known.
	Entries int64
	// Copy is the same key as a full copy of the rows, and CopyBytes what one row adds then.
	Copy      string
	CopyBytes int
	// Moves lists its columns that are not in the row's key: an UPDATE of one replaces the entry.
	Moves []string
	Notes []string
}

// Served is a statement before and after.
type Served struct {
	N            int
	Access       plan.Access
	Gets, Ranges int
	Bound        []string // the parts that are bound or a range
	// Was and Now are what the statement's reads of the table cost without the layout and with it, by statistics; nil: not known.
	Was, Now *plan.Estimate
}

// An Option changes how a workload is analysed.
type Option func(*adviser)

// WithStatistics bases advice on statistics: the cost of a statement now and with a layout, and the cost of the layout.
// find returns the statistics of a table, nil for none.
func WithStatistics(find func(*catalog.Table) *stats.Table) Option {
	return func(a *adviser) { a.statistics = find }
}

// Workload plans the statements of src against the tables of c. now is the time of
// NOW(). A statement that does not parse is an error with its place; one that cannot be
// planned is reported as such.
func Workload(c *catalog.Catalog, src string, now time.Time, options ...Option) (*Report, error) {
	stmts, err := parser.Parse(src)
	if err != nil {
		return nil, err
	}
	if len(stmts) == 0 {
		return nil, fmt.Errorf("there is no statement")
	}
	a := &adviser{catalog: c, now: now}
	for _, o := range options {
		o(a)
	}
	r := &Report{}
	for i, s := range stmts {
		r.Statements = append(r.Statements, a.statement(i+1, s))
	}
	r.Layouts = a.layouts(r.Statements)
	return r, nil
}

type adviser struct {
	catalog    *catalog.Catalog
	now        time.Time
	statistics func(*catalog.Table) *stats.Table // nil: nothing is known
}

// statement plans one statement as the tables are.
func (a *adviser) statement(n int, ast parser.Statement) Statement {
	if e, ok := ast.(*parser.Explain); ok {
		ast = e.Statement
	}
	s := Statement{N: n, Text: strings.Join(strings.Fields(ast.String()), " "), ast: ast, costs: map[string]price{}}
	scans, err := a.plan(a.catalog, ast, a.statistics)
	if err != nil {
		s.Err = err
		return s
	}
	for _, sc := range scans {
		s.Reads = append(s.Reads, readOf(sc))
		s.costs[sc.Table.Name] = s.costs[sc.Table.Name].and(sc)
	}
	if in, ok := ast.(*parser.Insert); ok {
		t, ok := a.catalog.Table(in.Table)
		if !ok {
			s.Err = parser.Errorf(in.TablePos, "unknown table %q", in.Table)
			return s
		}
		s.Puts = len(t.Layouts)
	}
	s.needs = a.needs(ast)
	return s
}

// plan gives the scans of a statement over the tables of c, of which known tells what statistics do.
func (a *adviser) plan(c *catalog.Catalog, ast parser.Statement, known func(*catalog.Table) *stats.Table) ([]*plan.Scan, error) {
	args, named := a.samples(ast)
	env := &planner.Env{Catalog: c, Funcs: a.catalog.Funcs(), Args: args, Named: named, Loc: time.UTC, Now: a.now.UnixMilli(), Statistics: known,
		Lookups: func(k plan.LookupKey) (types.Value, bool) { // any number does: what matters is that it is one
			if strings.EqualFold(k.Table, expr.UIDTable) {
				return types.NewBytes("\x00\x00\x01"), true
			}
			return types.NewInt(1), true
		}}
	where := func(name, alias string, pos parser.Pos, cond parser.Expr) ([]*plan.Scan, error) {
		t, ok := c.Table(name)
		if !ok {
			return nil, parser.Errorf(pos, "unknown table %q", name)
		}
		p, _, err := env.Where(t, alias, cond, nil)
		if err != nil {
			return nil, err
		}
		return p.Reads(), nil
	}
	switch s := ast.(type) {
	case *parser.Select:
		p, err := env.Select(s)
		if err != nil {
			return nil, err
		}
		return p.Reads(), nil
	case *parser.Insert:
		if s.Query == nil {
			return nil, nil
		}
		return a.plan(c, s.Query, known)
	case *parser.CreateTable:
		if s.Query == nil {
			return nil, nil
		}
		return a.plan(c, s.Query, known)
	case *parser.Update:
		if s.From != nil {
			return a.plan(c, s.Joined(), known)
		}
		return where(s.Table, s.Alias, s.TablePos, s.Where)
	case *parser.Delete:
		if s.Using != nil {
			return a.plan(c, s.Joined(), known)
		}
		return where(s.Table, s.Alias, s.TablePos, s.Where)
	}
	return nil, nil
}

func readOf(s *plan.Scan) Read {
	r := Read{Table: s.Table.Name, Layout: s.Layout.Name, Access: s.Access, Parts: s.Key, Why: s.Advice}
	for _, sp := range s.Spans {
		if sp.Key {
			r.Gets++
		} else {
			r.Ranges++
		}
	}
	for _, f := range s.Fates {
		switch {
		case f.By == plan.ByServer || f.By == plan.ByBoth:
			r.Server = append(r.Server, f.Expr.String())
		case f.By == plan.ByClient:
			r.Client = append(r.Client, f.Expr.String())
		}
	}
	return r
}

// price is the cost of reads of a table: by the planner's rules and, if statistics cover all of them, by statistics.
type price struct {
	reads, known int
	rules        float64
	figures      plan.Estimate
}

// and adds s.
func (p price) and(s *plan.Scan) price {
	p.reads++
	if len(s.Candidates) > 0 {
		p.rules += s.Candidates[0].Cost
	}
	if e := s.Estimate; e != nil {
		p.known++
		p.figures = plan.Estimate{Rows: p.figures.Rows + e.Rows, Bytes: p.figures.Bytes + e.Bytes, RPCs: p.figures.RPCs + e.RPCs, Cost: p.figures.Cost + e.Cost, At: e.At}
	}
	return p
}

// estimate returns the cost of p by statistics; nil: unknown.
func (p price) estimate() *plan.Estimate {
	if p.known < p.reads {
		return nil
	}
	return &p.figures
}

// gain returns how much cheaper p is than was: by statistics in microseconds, otherwise as a share, which is small in
// comparison. 0: not clearly cheaper.
func (p price) gain(was price) float64 {
	if p.estimate() != nil && was.estimate() != nil {
		if p.figures.Cost < worthwhile*was.figures.Cost {
			return was.figures.Cost - p.figures.Cost
		}
		return 0
	}
	if p.rules < worthwhile*was.rules {
		return 1 - p.rules/was.rules
	}
	return 0
}

// candidate is a layout to try.
type candidate struct {
	table *catalog.Table
	parts []string
	name  string
}

func (k *candidate) id() string { return k.table.Name + "\x00" + strings.Join(k.parts, "\x00") }

func (k *candidate) stored() string {
	return types.NewString(storedName(k.table) + "_" + k.name).SQL()
}

// def is the layout as written.
func (k *candidate) def(kind string) string {
	return fmt.Sprintf("%s %s (%s) STORED IN %s", kind, parser.QuoteName(k.name), strings.Join(k.parts, ", "), k.stored())
}

// storedName is the literal beginning of the name of a table's primary HBase table.
func storedName(t *catalog.Table) string {
	prefix, _ := t.Layouts[0].Stored.Prefix()
	return cmp.Or(strings.TrimRight(prefix, "_-."), t.Name)
}

// with is the catalog with one more layout of the candidate's table; nil when it makes no layout.
func (a *adviser) with(k *candidate, kind string) (*catalog.Catalog, *catalog.Layout) {
	stmt, err := parser.ParseStatement("CREATE EXTERNAL TABLE t (c INT) ROW KEY (c AS INT32) " + k.def(kind))
	if err != nil {
		return nil, nil
	}
	def := *k.table.Def
	if len(def.Layouts) == 0 { // PRIMARY KEY: the same as a ROW KEY
		var parts []parser.PartDef
		for _, p := range k.table.Layouts[0].Key.Parts {
			parts = append(parts, p.Def)
		}
		def.Layouts, def.PrimaryKey, def.Columns = []parser.LayoutDef{{Parts: parts}}, nil, slices.Clone(def.Columns)
		for i := range def.Columns {
			def.Columns[i].PrimaryKey = false
		}
	}
	def.Layouts = append(slices.Clone(def.Layouts), stmt.(*parser.CreateTable).Layouts[1])
	t, err := a.catalog.Build(&def)
	if err != nil {
		return nil, nil
	}
	c := catalog.New()
	for _, o := range a.catalog.Tables() {
		if o == k.table {
			o = t
		}
		if c.Add(o) != nil {
			return nil, nil
		}
	}
	return c, t.Layouts[len(t.Layouts)-1]
}

// trial is a candidate planned against the workload.
type trial struct {
	*candidate
	layout *catalog.Layout
	known  *stats.Table  // of the table with the layout; nil: nothing is known
	costs  map[int]price // of reading the table, by the index of a statement that uses the layout
	served map[int]Served
}

// Bounds of the search: candidates, and by how much a statement must gain.
const (
	maxCandidates = 60
	worthwhile    = 0.7
)

// layouts finds the layouts that serve the statements best, one after the other.
func (a *adviser) layouts(stmts []Statement) []Layout {
	seen := map[string]bool{}
	var trials []*trial
	for i := range stmts {
		for _, n := range stmts[i].needs {
			for _, k := range a.candidates(n) {
				if seen[k.id()] || len(trials) >= maxCandidates {
					continue
				}
				seen[k.id()] = true
				if t := a.try(k, stmts); t != nil {
					trials = append(trials, t)
				}
			}
		}
	}
	now := make([]map[string]price, len(stmts))
	for i := range stmts {
		now[i] = maps.Clone(stmts[i].costs)
	}
	var out []Layout
	for {
		var best *trial
		gain := 0.0
		for _, t := range trials {
			g := 0.0
			for i, c := range t.costs {
				g += c.gain(now[i][t.table.Name])
			}
			if g > gain+1e-9 {
				best, gain = t, g
			}
		}
		if best == nil {
			return out
		}
		l := a.layout(best)
		for i, c := range best.costs {
			was := now[i][best.table.Name]
			if c.gain(was) == 0 {
				continue
			}
			now[i][best.table.Name] = c
			s := best.served[i]
			if c.estimate() != nil && was.estimate() != nil {
				s.Was, s.Now = was.estimate(), c.estimate()
			}
			l.Serves = append(l.Serves, s)
		}
		slices.SortFunc(l.Serves, func(a, b Served) int { return a.N - b.N })
		out = append(out, l)
	}
}

// try plans every statement that reads the candidate's table with it; nil when it is none's choice.
func (a *adviser) try(k *candidate, stmts []Statement) *trial {
	c, layout := a.with(k, "INDEX")
	if c == nil {
		return nil
	}
	t := &trial{k, layout, a.knownWith(k.table, layout), map[int]price{}, map[int]Served{}}
	known := func(of *catalog.Table) *stats.Table {
		switch {
		case of.Name == k.table.Name:
			return t.known
		case a.statistics == nil:
			return nil
		}
		return a.statistics(of)
	}
	for i := range stmts {
		if !slices.ContainsFunc(stmts[i].Reads, func(r Read) bool { return r.Table == k.table.Name }) {
			continue
		}
		scans, err := a.plan(c, stmts[i].ast, known)
		if err != nil {
			continue
		}
		var cost price
		var served *Served
		for _, s := range scans {
			if s.Table.Name != k.table.Name {
				continue
			}
			cost = cost.and(s)
			if s.Layout.Name == k.name {
				r := readOf(s)
				served = &Served{N: stmts[i].N, Access: r.Access, Gets: r.Gets, Ranges: r.Ranges}
				for _, p := range s.Key {
					if p.Use == plan.Bound || p.Use == plan.Ranged {
						served.Bound = append(served.Bound, p.Part.Source)
					}
				}
			}
		}
		if served != nil {
			t.costs[i], t.served[i] = cost, *served
		}
	}
	if len(t.costs) == 0 {
		return nil
	}
	return t
}

// knownWith returns the statistics of a table that also has l, computed from the sample; nil: none.
func (a *adviser) knownWith(t *catalog.Table, l *catalog.Layout) *stats.Table {
	if a.statistics == nil {
		return nil
	}
	known := a.statistics(t)
	if known == nil || len(known.Sample) != len(t.Columns) {
		return nil
	}
	places := make([]stats.Place, len(known.Sample[0]))
	row := make([]types.Value, len(t.Columns))
	for i := range places {
		for c := range row {
			row[c] = types.Value{}
			if i < len(known.Sample[c]) {
				row[c] = known.Sample[c][i]
			}
		}
		p := &places[i]
		p.Table, p.Key, p.Ends = l.Entry(row)
	}
	shape := stats.KeyShape{Layout: l.Name}
	for _, p := range l.Key.Parts {
		shape.Parts = append(shape.Parts, p.Source)
	}
	return known.WithKey(shape, places)
}

// layout describes a candidate and what it costs to write.
func (a *adviser) layout(t *trial) Layout {
	l := Layout{Table: t.table.Name, Def: t.def("INDEX"), Copy: t.def("ROW KEY"), Entries: -1}
	key := 0
	for _, p := range t.layout.Key.Parts {
		key += bytesOf(p.Width())
	}
	if k := t.known.Key(t.layout.Name); k != nil && k.Rows > 0 {
		key, l.Entries = int(math.Round(k.Bytes)), int64(min(k.Rows, 1e18))
	}
	family := len(t.table.Families[0].Name)
	l.EntryBytes = key + family + cellBytes
	l.CopyBytes = 0
	for _, c := range t.table.Columns {
		if !c.InCell() {
			continue
		}
		l.CopyBytes += key + len(c.Family) + len(c.Qualifier) + cellBytes + bytesOf(c.Encoding.Width())
	}
	l.CopyBytes = max(l.CopyBytes, l.EntryBytes)
	var optional []string
	for _, c := range t.layout.Sparse {
		l.Moves = append(l.Moves, c.Name)
		if !c.NotNull {
			optional = append(optional, c.Name)
		}
	}
	if len(optional) > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("a row in which %s is NULL has no entry: a statement uses the index where its WHERE rules NULL out; a copy takes no such row at all", strings.Join(optional, " or ")))
	}
	if first := t.layout.Key.Parts[0]; len(first.Columns) == 1 {
		if typ := t.table.Columns[first.Columns[0]].Type; typ.IsTemporal() {
			l.Notes = append(l.Notes, fmt.Sprintf("keys begin with %s: where that is the time of writing, all new rows go to one region", first.Source))
		}
	}
	return l
}

// cellBytes is the size that HBase stores for a cell in addition to row, family, qualifier and value: their lengths,
// the timestamp and the type.
const cellBytes = 4 + 4 + 2 + 1 + 8 + 1

// textBytes is the assumed size of a text of unknown width.
const textBytes = 16

// bytesOf counts what is width bytes long, as a text where it varies.
func bytesOf(width int) int {
	if width == catalog.Variable {
		return textBytes
	}
	return width
}
