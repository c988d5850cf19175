package infer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Proposal is one definition that reads the sampled keys.
type Proposal struct {
	Table *catalog.Table
	Parts []Evidence // one for each part of the key
	Cells []Evidence // of the cells whose type their bytes do not tell at once: how sure it is
	// Fit of Sampled distinct keys are read by the definition, and where all columns
	// are known, written as the same bytes again.
	Fit, Sampled int
	// Key is a sampled key that fits, and Values its columns in the key's order.
	Key    []byte
	Values []string
	Notes  []string // what else the sample tells
	bits   float64
	found  []uint64 // of each sampled key in order: a hash of the values read from it
	// computed reports whether the first part follows from the others in every sampled key.
	computed bool
}

// Evidence says why a part was read as it was.
type Evidence struct{ Part, Why string }

// String is the statement, the evidence before it as comments.
func (p *Proposal) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %d of %d sampled keys fit\n", p.Fit, p.Sampled)
	list := func(es []Evidence) {
		width := 0
		for _, e := range es {
			width = max(width, len(e.Part))
		}
		for _, e := range es {
			fmt.Fprintf(&b, "--   %-*s  %s\n", width, oneLine(e.Part), oneLine(e.Why))
		}
	}
	list(p.Parts)
	if len(p.Values) > 0 {
		fmt.Fprintf(&b, "--   for example %s is %s\n", types.NewBytes(string(p.Key)).String(), oneLine(strings.Join(p.Values, ", ")))
	}
	list(p.Cells)
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "-- %s\n", oneLine(n))
	}
	b.WriteString(p.Table.SQL())
	b.WriteString(";\n")
	return b.String()
}

// oneLine keeps text from the store inside its comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return '.'
		}
		return r
	}, s)
}

// Limits of the search: how many keys it looks at (all are read in the end), how
// many ways to read the rest of a key it keeps, and how many it reads keys with.
const (
	searchKeys = 256
	keepTails  = 6
	keepTried  = 40
)

// start is where each key begins.
func (s *search) start() []int { return make([]int, len(s.keys)) }

// parses are the ways to read whole keys, the most telling first.
func (s *search) parses() []parse {
	out := slices.Clone(s.parse(s.start()))
	for _, lead := range s.leads(s.start()) {
		for _, tail := range slices.Concat(s.parse(lead.next), s.whole(lead.next)) {
			out = append(out, tail.after(lead))
		}
	}
	slices.SortStableFunc(out, parse.compare)
	return out
}

// Propose gives the definitions of the HBase table name that fit at least half of
// the sampled keys, the most telling first, at most n; of a system that is known, one. It fails when the sample is
// empty. The first is named as the table, the others with a number after it.
func Propose(name string, rows []hbase.Row, n int) ([]*Proposal, error) {
	rows = distinct(rows)
	if len(rows) == 0 {
		return nil, fmt.Errorf("table %s has no rows to learn from", name)
	}
	if p := cmp.Or(openTSDB(name, rows), nutch(name, rows)); p != nil {
		return []*Proposal{p}, nil
	}
	s := newSearch(rows)
	prefix, daily := dayTable(name)
	s.daily = daily
	cells, notes := cellColumns(rows)
	v := &verifier{name: name, rows: rows, cells: cells, notes: notes}
	if daily {
		v.prefix = &prefix
	}
	var out []*Proposal
	seen := map[string]bool{}
	recomputed := false // the first part of some proposal is a function of the others
	consider := func(p parse) {
		p = v.withDay(p)
		if pr := v.verify(p); pr != nil && !seen[keyOf(pr)] {
			seen[keyOf(pr)] = true
			out = append(out, pr)
			pr.computed = p.segs[0].computed && pr.Fit == pr.Sampled
			recomputed = recomputed || pr.computed
		}
	}
	taken := map[string]bool{}
	for _, c := range cells {
		taken[c.name] = true
	}
	for i, p := range s.parses() {
		p = v.namedByCells(p.named(taken))
		if better, ok := v.relate(p); ok {
			consider(better)
		} else if i < keepTried && !p.opaque() {
			consider(p)
		}
	}
	if len(out) == 0 { // too many parts, say
		consider(parse{}.after(s.rest(s.start())[0]).named(taken))
	}
	if recomputed { // then it is no salt and no column: who writes as if it were gives rows a second key
		out = slices.DeleteFunc(out, func(p *Proposal) bool { return !p.computed })
	}
	slices.SortStableFunc(out, func(a, b *Proposal) int {
		return compareFloat(a.cost(), b.cost())
	})
	out = withoutTwins(out)
	out = out[:min(len(out), n)]
	for i, p := range out {
		if i > 0 {
			if err := p.rename(fmt.Sprintf("%s_%d", p.Table.Name, i+1)); err != nil {
				return nil, err
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no definition fits the sampled keys")
	}
	return out, nil
}

// withoutTwins leaves out the proposals that add nothing to a better one: they find the same values in the sampled keys, or have a
// column more although the first part of the better one follows from the columns that both have.
func withoutTwins(sorted []*Proposal) []*Proposal {
	var out []*Proposal
	for _, p := range sorted {
		if !slices.ContainsFunc(out, func(better *Proposal) bool {
			if better.Fit < p.Fit {
				return false
			}
			same, subset := p.sharesColumns(better)
			return same && slices.Equal(better.found, p.found) || subset && better.computed
		}) {
			out = append(out, p)
		}
	}
	return out
}

// sharesColumns reports whether the keys of both proposals have the same columns, of the same types, or better's are some of p's.
func (p *Proposal) sharesColumns(better *Proposal) (same, subset bool) {
	n := 0
	for _, c := range better.Table.Columns {
		if !c.KeyPart {
			continue
		}
		mine, ok := p.Table.Column(c.Name)
		if !ok || !mine.KeyPart || mine.Type != c.Type {
			return false, false
		}
		n++
	}
	for _, c := range p.Table.Columns {
		if c.KeyPart {
			n--
		}
	}
	return n == 0, true
}

var seed = maphash.MakeSeed()

// hashOf tells rows of key columns apart, whatever their order.
func hashOf(t *catalog.Table, row []types.Value) (sum uint64) {
	for _, c := range t.Columns {
		if c.KeyPart {
			sum += maphash.Bytes(seed, row[c.Index].AppendBinary([]byte(c.Name+"\x00")))
		}
	}
	return sum
}

// keyOf is what makes a proposal differ from another: its key.
func keyOf(p *Proposal) string { return fmt.Sprint(p.Table.Def.Layouts[0].Parts, p.Table.Def.Columns) }

// cost is the bits left to say of all sampled keys; a key that does not fit is said whole.
func (p *Proposal) cost() float64 {
	missing := float64(p.Sampled-p.Fit) / float64(p.Sampled)
	return p.bits + missing*400
}

func compareFloat(a, b float64) int {
	switch {
	case a < b-1e-9:
		return -1
	case a > b+1e-9:
		return 1
	}
	return 0
}

// rename makes the proposal's table again under another name.
func (p *Proposal) rename(name string) error {
	def := *p.Table.Def
	def.Name = name
	t, err := catalog.New().Build(&def)
	if err == nil {
		p.Table = t
	}
	return err
}

// distinct drops rows with the same key and sorts them.
func distinct(rows []hbase.Row) []hbase.Row {
	out := slices.Clone(rows)
	sort.SliceStable(out, func(i, j int) bool { return bytes.Compare(out[i].Key, out[j].Key) < 0 })
	out = slices.CompactFunc(out, func(a, b hbase.Row) bool { return bytes.Equal(a.Key, b.Key) })
	return slices.DeleteFunc(out, func(r hbase.Row) bool { return len(r.Key) == 0 })
}

// verifier builds definitions and reads the sampled rows with them.
type verifier struct {
	name  string
	rows  []hbase.Row
	cells []cellColumn
	notes []string
	// prefix is the text before the day in name; nil where name has none.
	prefix *string
}

// dayTable reports whether an HBase table's name ends with a day, and the text before it.
func dayTable(name string) (prefix string, ok bool) {
	if len(name) < 9 {
		return "", false
	}
	prefix = name[:len(name)-8]
	day, err := time.Parse("20060102", name[len(prefix):])
	return prefix, err == nil && day.UnixMilli() >= earliest && day.UnixMilli() < latest && !isDigits([]byte(prefix[len(prefix)-1:]))
}

// withDay gives p the column whose day is in the table's name, where the sample agrees.
func (v *verifier) withDay(p parse) parse {
	if v.prefix == nil || p.day != "" {
		return p
	}
	for _, g := range p.segs {
		if g.column == "" || g.typ != "TIMESTAMP" && g.typ != "DATE" {
			continue
		}
		try := p
		try.day = g.column
		if v.holds(try) {
			return try
		}
	}
	return p
}

// sql is the definition that p stands for.
func (v *verifier) sql(p parse) string {
	var cols, parts []string
	for _, g := range p.segs {
		parts = append(parts, g.sql())
		if g.column != "" {
			cols = append(cols, parser.QuoteName(g.column)+" "+g.typ)
		}
	}
	for _, c := range v.cells {
		if p.same[c.name] {
			continue
		}
		cols = append(cols, parser.QuoteName(c.name)+" "+c.def)
	}
	name, stored := v.name, types.NewString(v.name).SQL()
	if p.day != "" {
		name = strings.TrimRight(*v.prefix, "_-.")
		stored = fmt.Sprintf("(%s, DATE(%s) AS TEXT('yyyyMMdd'))", types.NewString(*v.prefix).SQL(), parser.QuoteName(p.day))
	}
	return fmt.Sprintf("CREATE EXTERNAL TABLE %s (%s) STORED IN %s ROW KEY (%s)", parser.QuoteName(tableName(name)),
		strings.Join(cols, ", "), stored, strings.Join(parts, ", "))
}

// tableName is the SQL name of an HBase table: its name without the namespace.
func tableName(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

func (v *verifier) build(p parse) *catalog.Table {
	c := catalog.New()
	if c.Load(v.sql(p)) != nil {
		return nil
	}
	return c.Tables()[0]
}

// namedByCells calls columns of the key as the cells that hold the same values, and drops those cells.
func (v *verifier) namedByCells(p parse) parse {
	q := parse{segs: slices.Clone(p.segs), day: p.day}
	for i, g := range q.segs {
		if g.part == "" { // not known yet
			q.segs[i].part = fmt.Sprintf("{} AS BYTES(%d)", segmentWidth(g))
			q.segs[i].column, q.segs[i].typ = "unknown_part", "BYTES"
		}
	}
	t := v.build(q)
	if t == nil {
		return p
	}
	var rows [][]types.Value
	for i := 0; i < len(v.rows); i += max(1, len(v.rows)/64) {
		row := make([]types.Value, len(t.Columns)+2)
		if v.fits(t, v.rows[i], row, false) {
			addCells(t, v.rows[i], row)
			rows = append(rows, row)
		}
	}
	p.same = map[string]bool{}
	for i, g := range p.segs {
		key, ok := t.Column(g.column)
		if !ok || g.column == "" {
			continue
		}
		for _, cell := range v.cells {
			c, ok := t.Column(cell.name)
			if ok && !p.same[cell.name] && alike(rows, key.Index, c.Index) {
				p.segs[i].column = cell.name
				p.segs[i].why += "; the cell " + c.Family + ":" + c.Qualifier + " holds the same"
				p.same[cell.name] = true
				if p.day == g.column {
					p.day = cell.name
				}
				break
			}
		}
	}
	return p
}

// alike reports whether two columns hold the same in all rows, and not always the same value.
func alike(rows [][]types.Value, a, b int) bool {
	values := map[string]bool{}
	for _, row := range rows {
		if row[b].IsNull() || row[a].String() != row[b].String() {
			return false
		}
		values[row[a].String()] = true
	}
	return len(values) > 1
}

// verify reads every row with p; nil when p makes no definition or fits less than half of the keys.
func (v *verifier) verify(p parse) *Proposal {
	t := v.build(p)
	if t == nil {
		return nil
	}
	out := &Proposal{Table: t, Sampled: len(v.rows), Notes: v.notes, bits: p.bits}
	if p.day != "" {
		out.Notes = append(slices.Clone(v.notes), fmt.Sprintf("the day in the table's name is that of %s: one definition for all tables %syyyyMMdd", p.day, *v.prefix))
	}
	l := t.Layouts[0]
	for i, part := range l.Key.Parts {
		out.Parts = append(out.Parts, Evidence{part.Source, p.segs[i].why})
	}
	for _, c := range v.cells {
		if c.why != "" && !p.same[c.name] {
			out.Cells = append(out.Cells, Evidence{c.name + " " + c.def, c.why})
		}
	}
	row := make([]types.Value, len(t.Columns)+2)
	for _, r := range v.rows {
		if !v.fits(t, r, row, p.hasCells()) {
			out.found = append(out.found, 0)
			continue
		}
		out.Fit++
		out.found = append(out.found, hashOf(t, row))
		if out.Key == nil {
			out.Key = r.Key
			for _, c := range t.Columns {
				if c.KeyPart {
					out.Values = append(out.Values, c.Name+" = "+row[c.Index].SQL())
				}
			}
		}
	}
	if 2*out.Fit < out.Sampled {
		return nil
	}
	return out
}

// fits reads r's key into row. With cells, the key must also follow from the row with its cells.
func (v *verifier) fits(t *catalog.Table, r hbase.Row, row []types.Value, cells bool) bool {
	clear(row)
	l := t.Layouts[0]
	if l.DecodeRow(v.name, r.Key, nil, row) != nil {
		return false
	}
	if !cells {
		return true
	}
	addCells(t, r, row)
	key, err := l.Key.Append(nil, row, &expr.Env{})
	return err == nil && bytes.Equal(key, r.Key)
}

// relate replaces the parts of p that look random by a function of other columns
// that gives the same bytes for nearly all keys; ok reports whether it found one.
func (v *verifier) relate(p parse) (_ parse, ok bool) {
	for i := range p.segs {
		if p.segs[i].lead == noLead {
			continue
		}
		found := false
		for _, h := range v.hypotheses(p, i) {
			try := p.with(i, h)
			if v.holds(try) {
				p, ok, found = try, true, true
				break
			}
		}
		if !found && p.segs[i].part == "" {
			return p, false
		}
	}
	return p, ok
}

// holds reports whether a definition fits most of a few keys spread over the sample.
func (v *verifier) holds(p parse) bool {
	t := v.build(p)
	if t == nil {
		return false
	}
	row := make([]types.Value, len(t.Columns)+2)
	n, fit := 0, 0
	for i := 0; i < len(v.rows); i += max(1, len(v.rows)/24) {
		n++
		if v.fits(t, v.rows[i], row, p.hasCells()) {
			fit++
		}
	}
	return n >= 3 && 10*fit >= 8*n
}
