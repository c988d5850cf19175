package infer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// leads are the ways to read the first bytes as a salt, a bucket or a hash's prefix.
func (s *search) leads(at []int) []option {
	var out []option
	for _, w := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 40, 64} {
		bs, next, ok := s.slice(at, w)
		if !ok || alive(next) < 3 {
			continue
		}
		if _, most := s.left(next); most == 0 {
			continue
		}
		kind := textLead
		if !isText(bs[0]) {
			kind = binaryLead
		}
		mixed := slices.ContainsFunc(bs, func(b []byte) bool { return !isHex(b) })
		if kind == binaryLead && w != 1 && w != 2 && w != 4 {
			continue
		}
		g := segment{lead: kind, values: valuesOf(at, next, s.keys), bits: 4*float64(w) + partBits}
		if distinctOf(bs) == 1 {
			continue
		}
		if salt, ok := saltOf(bs, kind); ok && s.independent(at, next) && s.saltEnds(bs, next) {
			g = salt
			g.lead, g.values = kind, valuesOf(at, next, s.keys)
		} else if kind == textLead && mixed {
			continue
		} else if kind == textLead && w >= 4 && w <= 8 && letters(bs) && !slices.ContainsFunc(bs, func(b []byte) bool { return !isHexCase(b, 'a') }) && 10*distinctOf(bs) > 9*len(bs) {
			g.part, g.why = fmt.Sprintf("SALT HEX(%d)", w), fmt.Sprintf("%d hex digits, %d values in %d keys: a hash of nothing that the sample shows", w, distinctOf(bs), len(bs))
		}
		o := option{segs: []segment{g}, next: next}
		if d, after, ok := s.slice(next, 1); ok && !isAlnum(d[0][0]) && distinctOf(d) == 1 && kind == textLead {
			o.segs[0].bits -= 3
			o.segs, o.next = append(o.segs, literal(d[0], "in every key")), after
		}
		out = append(out, o)
	}
	return out
}

// whole gives the cuts that leave a text at the beginning whole, which may look like several parts:
// a salt or bucket is computed from all of it.
func (s *search) whole(at []int) []parse {
	out := []parse{parse{}.after(s.rest(at)[0])}
	for _, o := range s.delimited(at) {
		for _, tail := range s.parse(o.next)[:1] {
			out = append(out, tail.after(o))
		}
	}
	return out
}

// saltEnds reports whether a salt can end at next: a word or a number would not be cut there.
func (s *search) saltEnds(bs [][]byte, next []int) bool {
	switch {
	case !isText(bs[0]):
		return true
	case len(bs[0]) > 4 || slices.ContainsFunc(bs, func(b []byte) bool { return bytes.IndexByte(b, ' ') >= 0 }):
		return false
	case isDigits(bs[0]):
		return !s.digitNext(next) || len(s.times(next)) > 0
	}
	d, _, ok := s.slice(next, 1)
	return len(bs[0]) <= 2 && ok && !isAlnum(d[0][0]) && distinctOf(d) == 1
}

// independent reports whether the bytes between at and next do not follow from those
// after them: among keys in the order of the rest, neighbours differ as often as any two do.
func (s *search) independent(at, next []int) bool {
	type pair struct{ lead, rest string }
	var pairs []pair
	counts := map[string]int{}
	for i := range at {
		if next[i] >= 0 {
			p := pair{string(s.keys[i][at[i]:next[i]]), string(s.keys[i][next[i]:])}
			pairs = append(pairs, p)
			counts[p.lead]++
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.rest, b.rest) })
	differ := 0
	for i := range pairs[1:] {
		if pairs[i].lead != pairs[i+1].lead {
			differ++
		}
	}
	same := 0.0
	for _, n := range counts {
		p := float64(n) / float64(len(pairs))
		same += p * p
	}
	return float64(differ) >= (1-same)*float64(len(pairs)-1)/2
}

func distinctOf(bs [][]byte) int {
	values := map[string]bool{}
	for _, b := range bs {
		values[string(b)] = true
	}
	return len(values)
}

// saltOf reads first bytes that take few values, each about equally often, as a salt.
func saltOf(bs [][]byte, kind leadKind) (segment, bool) {
	counts := map[string]int{}
	for _, b := range bs {
		counts[string(b)]++
	}
	k := len(counts)
	if k < 2 || k > 256 || len(bs) < 3*k || kind == binaryLead && len(bs[0]) > 2 { // an INT, rather
		return segment{}, false
	}
	values := make([]string, 0, k)
	least := len(bs)
	for v, n := range counts {
		values = append(values, v)
		least = min(least, n)
	}
	if 4*least*k < len(bs) {
		return segment{}, false // a value that is rare: no draw
	}
	slices.Sort(values)
	lo, hi := values[0], values[k-1]
	g := segment{bits: entropyOf(counts, len(bs)) + partBits + 2}
	consecutive := false
	if kind == binaryLead {
		from, to := bigEndian(lo), bigEndian(hi)
		if from <= 1 && to-from+1 <= int64(2*k) {
			consecutive = true
			g.part = fmt.Sprintf("SALT(%d TO %d) AS UINT%d", from, to, 8*len(lo))
		} else {
			list := make([]string, k)
			for i, v := range values {
				list[i] = strconv.FormatInt(bigEndian(v), 10)
			}
			g.part = fmt.Sprintf("SALT(%s) AS UINT%d", strings.Join(list, ", "), 8*len(lo))
		}
	} else {
		list := make([]string, k)
		for i, v := range values {
			list[i] = types.NewString(v).SQL()
		}
		g.part = "SALT(" + strings.Join(list, ", ") + ")"
		if isDigits([]byte(lo)) && isDigits([]byte(hi)) {
			from, _ := strconv.Atoi(lo)
			to, _ := strconv.Atoi(hi)
			if from <= 1 && to-from+1 <= 2*k {
				consecutive = true
				g.part = fmt.Sprintf("SALT(%s TO %s)", list[0], list[k-1])
			}
		} else if len(lo) == 1 && int(hi[0])-int(lo[0])+1 == k {
			consecutive = true
		}
	}
	if consecutive {
		g.bits -= 3
	}
	g.why = fmt.Sprintf("%d values, each in about as many keys: a salt", k)
	return g, true
}

func entropyOf(counts map[string]int, total int) float64 {
	ns := make([]int, 0, len(counts))
	for _, n := range counts {
		ns = append(ns, n)
	}
	return entropy(ns, total)
}

func bigEndian(s string) int64 {
	var n int64
	for i := range len(s) {
		n = n<<8 | int64(s[i])
	}
	return n
}

// hypothesis is a function of other columns that a part may be.
type hypothesis struct {
	part, why string
	cell      bool    // the column is a cell
	bonus     float64 // bits: what recomputing proves
}

// hypotheses are the functions that could give part i of p.
func (v *verifier) hypotheses(p parse, i int) []hypothesis {
	g := p.segs[i]
	var values []string
	for _, s := range g.values {
		if s != "" {
			values = append(values, s)
		}
	}
	if len(values) == 0 {
		return nil
	}
	w := len(values[0])
	var out []hypothesis
	add := func(part, column string, cell bool) {
		why := "computed from " + column + ": the same bytes in the sampled keys"
		if cell {
			why = "computed from the cell " + column + ": the same bytes in the sampled keys"
		}
		out = append(out, hypothesis{part: part, why: why, cell: cell, bonus: 20})
	}
	sources := v.sources(p, i)
	for _, src := range sources {
		c := parser.QuoteName(src.name)
		for _, hash := range []string{"MD5", "SHA1", "SHA256"} {
			whole := map[string]int{"MD5": 32, "SHA1": 40, "SHA256": 64}[hash]
			if g.lead == textLead && w <= whole && allHex(values) {
				for _, f := range []string{"%s", "UPPER(%s)"} {
					if w == whole {
						add(fmt.Sprintf(f, hash+"("+c+")"), src.name, src.cell)
					} else {
						add(fmt.Sprintf("LEFT("+f+", %d)", hash+"("+c+")", w), src.name, src.cell)
					}
				}
			}
			if g.lead == binaryLead && w == whole/2 {
				add("UNHEX("+hash+"("+c+"))", src.name, src.cell)
			} else if g.lead == binaryLead && (w == 2 || w == 4) && src.typ == "STRING" {
				add(fmt.Sprintf("UNHEX(LEFT(%s(%s), %d))", hash, c, 2*w), src.name, src.cell)
			}
		}
	}
	if w <= 4 {
		out = append(out, v.buckets(p, i, sources)...)
	}
	if g.lead == binaryLead && w == 1 {
		most := bigEndian(slices.Max(values))
		for n := max(2, most+1); n <= min(256, most+4); n++ {
			out = append(out, hypothesis{part: fmt.Sprintf("PHOENIX_SALT(%d) AS UINT8", n), why: "Phoenix's salt of the bytes after it, in the sampled keys", bonus: 20})
		}
	}
	if g.lead == textLead && strings.Contains(g.part, " TO ") {
		for _, src := range sources {
			for _, replicas := range []int{100, 160, 10, 50, 200} {
				add(fmt.Sprintf("RING(%s, %s TO %s, %d)", parser.QuoteName(src.name), types.NewString(slices.Min(values)).SQL(), types.NewString(slices.Max(values)).SQL(), replicas), src.name, src.cell)
			}
		}
	}
	return out
}

func allHex(values []string) bool {
	return !slices.ContainsFunc(values, func(s string) bool { return !isHex([]byte(s)) })
}

// source is a column that a hash may be of.
type source struct {
	name, typ string
	cell      bool
}

func (v *verifier) sources(p parse, i int) []source {
	var out []source
	for j, g := range p.segs {
		if j != i && g.column != "" && g.lead == noLead {
			out = append(out, source{g.column, g.typ, false})
		}
	}
	for _, c := range v.cells {
		if c.source && !p.same[c.name] {
			out = append(out, source{c.name, "STRING", true})
		}
	}
	return out
}

// buckets are the functions f % n: n divides f - bucket in every key, so that it is
// their greatest common divisor, or a divisor of it.
func (v *verifier) buckets(p parse, i int, sources []source) []hypothesis {
	g := p.segs[i]
	w := 0
	for _, s := range g.values {
		w = max(w, len(s))
	}
	var out []hypothesis
	for _, src := range sources {
		c := parser.QuoteName(src.name)
		fs := []string{"CRC32(" + c + ")", "MURMUR3(" + c + ")", "JAVA_HASH(" + c + ")"}
		if src.typ == "BIGINT" || src.typ == "TIMESTAMP" {
			fs = append([]string{c}, fs...)
		}
		for _, f := range fs {
			n, negative := v.modulus(p, i, f)
			if n < 2 || n > 1<<32 {
				continue
			}
			mod := fmt.Sprintf("%s %% %d", f, n)
			if negative {
				mod = fmt.Sprintf("FLOORMOD(%s, %d)", f, n)
			}
			enc := fmt.Sprintf("TEXT(%d)", w)
			if g.lead == binaryLead {
				enc = fmt.Sprintf("UINT%d", 8*w)
			}
			out = append(out, hypothesis{part: mod + " AS " + enc, cell: src.cell, bonus: 12,
				why: fmt.Sprintf("%s modulo %d in the sampled keys", f, n)})
		}
	}
	return out
}

// modulus gives the n for which part i of p is f % n in every key; 0 for none.
// negative reports whether f has negative values.
func (v *verifier) modulus(p parse, i int, f string) (n int64, negative bool) {
	g := p.segs[i]
	kind := fmt.Sprintf("{} AS TEXT(%d)", segmentWidth(g))
	if g.lead == binaryLead {
		kind = fmt.Sprintf("{} AS UINT%d", 8*segmentWidth(g))
	} else if slices.ContainsFunc(g.values, func(s string) bool { return !isDigits([]byte(s)) }) {
		return 0, false
	}
	const bucket = "bucket_of_key"
	q := parse{segs: slices.Clone(p.segs), same: p.same, day: p.day}
	q.segs[i] = segment{part: kind, base: bucket, column: bucket, typ: "BIGINT"}
	t := v.build(q)
	if t == nil {
		return 0, false
	}
	e, err := parser.ParseExpr(f)
	if err != nil {
		return 0, false
	}
	fn, err := expr.Compile(e, &expr.Scope{Key: true, Funcs: catalog.New().Funcs(), Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
		col, ok := t.Column(ref.Name)
		if !ok {
			return nil, parser.Errorf(ref.Pos, "unknown column %s", ref.Name)
		}
		return &expr.Column{Pos: ref.Pos, Index: col.Index, Name: col.Name, Typ: col.Type}, nil
	}})
	if err != nil {
		return 0, false
	}
	at, _ := t.Column(bucket)
	row := make([]types.Value, len(t.Columns)+2)
	var most int64
	seen := map[int64]bool{}
	for _, r := range v.rows {
		if !v.fits(t, r, row, false) {
			continue
		}
		addCells(t, r, row)
		val, err := fn.Eval(&expr.Env{Row: row})
		if err != nil || val.IsNull() {
			return 0, false
		}
		b := row[at.Index].Int()
		n = gcd(n, val.Int()-b)
		negative = negative || val.Int() < 0
		most = max(most, b)
		seen[val.Int()] = true
		if n == 1 {
			return 0, false
		}
	}
	if len(seen) < 4 { // two or three numbers agree with some n by chance
		return 0, false
	}
	for d := max(2, most+1); d <= min(n, 2*most); d++ { // buckets are filled up to the last one or so
		if n%d == 0 {
			return d, negative
		}
	}
	return 0, false
}

func segmentWidth(g segment) int {
	w := 0
	for _, s := range g.values {
		w = max(w, len(s))
	}
	return w
}
