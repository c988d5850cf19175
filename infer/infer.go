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

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// Proposal is one definition that reads the sampled keys.
type Proposal struct {
	Table *catalog.Table
	Parts []Evidence // one for each part of the key
	Cells []Evidence // of the cells whose bytes do not clearly determine their type
	// Fit is the number of the Sampled distinct keys that the definition reads and, if all columns are known, writes as
	// the same bytes again.
	Fit, Sampled int
	// Key is a sampled key that fits, and Values its columns in the key's order.
	Key    []byte
	Values []string
	Notes  []string // further findings of the sample
	// Doubts are assumptions of the definition that may be wrong.
	Doubts []string
	// Checked is the number of sampled keys that took no part in the search; Misfits are a few of the sampled keys that do
	// not fit.
	Checked int
	Misfits [][]byte
	bits    float64
	found   []uint64 // of each sampled key in order: a hash of the values read from it
	// computed reports whether the first part follows from the others in every sampled key.
	computed bool
}

// Evidence says why a part is read in this way.
type Evidence struct{ Part, Why string }

// Text returns a catalog file with the first proposal, and the others in comments.
func Text(ps []*Proposal) string {
	var b strings.Builder
	for i, p := range ps {
		if i == 0 {
			b.WriteString(p.String())
			continue
		}
		b.WriteString("\n-- Another way to read the keys:\n")
		for line := range strings.Lines(p.String()) {
			b.WriteString("-- " + strings.TrimPrefix(line, "-- "))
		}
	}
	return b.String()
}

// String returns the statement after comments with the evidence.
func (p *Proposal) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %d of %d sampled keys fit", p.Fit, p.Sampled)
	if p.Checked > 0 {
		fmt.Fprintf(&b, "; %d of them took no part in finding the definition", p.Checked)
	}
	b.WriteString("\n")
	for _, key := range p.Misfits {
		fmt.Fprintf(&b, "--   does not fit: %s\n", oneLine(types.NewBytes(string(key)).String()))
	}
	for _, d := range p.Doubts {
		fmt.Fprintf(&b, "-- not certain: %s\n", oneLine(d))
	}
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

// oneLine keeps text from the store within one comment line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return '.'
		}
		return r
	}, s)
}

// Limits of the search. It looks at searchKeys of the keys, and reads the others only at the end. For the rest of a key it
// keeps the keepTails best ways to read it; it reads whole keys in the keepTried best ways.
const (
	searchKeys = 256
	keepTails  = 6
	keepTried  = 40
)

// start returns the beginning of each key.
func (s *search) start() []int { return make([]int, len(s.keys)) }

// parses returns the ways to read whole keys, the cheapest first.
func (s *search) parses() []parse {
	out := slices.Clone(s.parse(s.start()))
	for _, lead := range s.spreads(s.start()) {
		for _, tail := range slices.Concat(s.parse(lead.next), s.whole(lead.next)) {
			out = append(out, tail.after(lead))
		}
	}
	best := out[0].segs
	for _, o := range s.options(s.start(), false) { // a hash behind the first part, as behind a tenant
		if n := len(o.segs); n >= len(best) || o.segs[0].part != best[0].part || best[n-1].part != o.segs[n-1].part {
			continue
		}
		for _, lead := range s.spreads(o.next) {
			if lead.segs[0].part != "" {
				continue // behind a part, it is a column rather than a salt
			}
			for _, tail := range s.parse(lead.next) {
				out = append(out, tail.after(lead).after(o))
			}
		}
		break
	}
	slices.SortStableFunc(out, parse.compare)
	return out
}

// Propose returns at most n definitions of an HBase table that fit at least half of the sampled keys. The definitions
// that fit most keys come first; among equals, the cheapest. The first definition has the table's name, the others a
// number after it. An empty sample is an error.
func Propose(name string, sampled *Sampled, n int) ([]*Proposal, error) {
	rows := distinct(sampled.Rows)
	if len(rows) == 0 {
		return nil, fmt.Errorf("table %s has no rows to learn from", name)
	}
	all := distinct(slices.Concat(rows, sampled.Check))
	out := proposals(name, rows, all)
	if len(rows) < len(all) && (len(out) == 0 || out[0].Fit < len(all)) { // search again, with the keys of the check
		out = proposals(name, all, all)
	}
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

// proposals returns the definitions that the search finds in rows and that fit at least half of all, in their order.
func proposals(name string, rows, all []hbase.Row) []*Proposal {
	s := newSearch(rows)
	prefix, daily := dayTable(name)
	s.daily = daily
	cells, notes := cellColumns(all)
	v := &verifier{name: name, rows: rows, all: all, cells: cells, notes: notes}
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
	tried := 0
	for _, p := range s.parses() {
		p = v.namedByCells(p.named(taken))
		if better, ok := v.relate(p); ok {
			consider(better)
		} else if tried < keepTried && !p.opaque() {
			tried++
			consider(p)
		}
	}
	if recomputed { // then it is neither a salt nor a column: writes by such a definition would give rows a second key
		out = slices.DeleteFunc(out, func(p *Proposal) bool { return !p.computed })
	}
	if !slices.ContainsFunc(out, func(p *Proposal) bool { return p.Fit == p.Sampled }) { // a definition that reads the key as one part always fits
		consider(parse{}.after(s.rest(s.start())[0]).named(taken))
		consider(parse{}.after(option{segs: []segment{{part: "{} AS BYTES", base: "id", typ: "BYTES", why: "the whole key", bits: 1e6}}}).named(taken))
	}
	slices.SortStableFunc(out, func(a, b *Proposal) int {
		return cmp.Or(b.Fit-a.Fit, compareFloat(a.bits, b.bits))
	})
	return withoutTwins(out)
}

// withoutTwins drops proposals that a better proposal makes redundant. The better proposal finds the same values in the
// sampled keys, or it needs fewer key columns because it computes the first part of the key from the others.
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

// sharesColumns compares the columns in the keys of two proposals by name and type. same reports that they are equal,
// subset that p has all of better's.
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

// hashOf returns a hash of a row's key columns that does not depend on their order.
func hashOf(t *catalog.Table, row []types.Value) (sum uint64) {
	for _, c := range t.Columns {
		if c.KeyPart {
			sum += maphash.Bytes(seed, row[c.Index].AppendBinary([]byte(c.Name+"\x00")))
		}
	}
	return sum
}

// keyOf returns the key of a proposal as text; two proposals with the same text are equal.
func keyOf(p *Proposal) string { return fmt.Sprint(p.Table.Def.Layouts[0].Parts, p.Table.Def.Columns) }

func compareFloat(a, b float64) int {
	switch {
	case a < b-1e-9:
		return -1
	case a > b+1e-9:
		return 1
	}
	return 0
}

// rename builds the proposal's table again under another name.
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
