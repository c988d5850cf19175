package infer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// spreads returns the ways to read the first bytes as a salt, a bucket or the prefix of a hash.
func (s *search) spreads(at []int) []option {
	var out []option
	if bs, _, ok := s.slice(at, 36); ok && !slices.ContainsFunc(bs, func(b []byte) bool { return !isUUID(b) }) {
		return nil // the digits of a UUID are not a salt
	}
	for _, w := range []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 32, 40, 64} {
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
		if kind == binaryLead && w > 8 && w != 16 && w != 20 && w != 32 {
			continue
		}
		g := segment{lead: kind, values: valuesOf(at, next, s.keys), bits: 4*float64(w) + partBits}
		if kind == binaryLead {
			g.bits += 4 * float64(w)
		}
		if distinctOf(bs) == 1 {
			continue
		}
		if salt, ok := saltOf(bs, kind); ok && s.independent(at, next) && s.saltEnds(bs, next) {
			g = salt
			g.lead, g.values = kind, valuesOf(at, next, s.keys)
		} else if kind == textLead && mixed {
			continue
		} else if kind == textLead && w >= 4 && w <= 8 && letters(bs) && !slices.ContainsFunc(bs, func(b []byte) bool { return !isHexCase(b, 'a') }) && 10*distinctOf(bs) > 9*len(bs) {
			g.part, g.why = fmt.Sprintf("SALT HEX(%d)", w), fmt.Sprintf("%d hex digits, %d values in %d keys: a hash, but not of a value in the sample", w, distinctOf(bs), len(bs))
		}
		o := option{segs: []segment{g}, next: next}
		if d, after, ok := s.slice(next, 1); ok && d[0][0] > ' ' && !isAlnum(d[0][0]) && distinctOf(d) == 1 && kind == textLead {
			o.segs[0].bits -= 3
			o.segs, o.next = append(o.segs, literal(d[0], "in every key")), after
		}
		out = append(out, o)
	}
	for _, o := range s.delimited(at) {
		if g := &o.segs[0]; g.small { // perhaps a bucket
			g.lead, g.delimited, g.values = textLead, true, valuesOf(at, o.next, s.keys)
			out = append(out, o)
		}
	}
	return out
}

// whole returns ways to read keys in which the text at the beginning is one part, even if it looks like several parts:
// a salt or bucket is computed from the whole text.
func (s *search) whole(at []int) []parse {
	out := []parse{parse{}.after(s.rest(at)[0])}
	for _, o := range s.delimited(at) {
		for _, tail := range s.parse(o.next)[:1] {
			out = append(out, tail.after(o))
		}
	}
	return out
}

// saltEnds reports whether a salt can end at next: it cannot if a word or a number continues there.
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

// independent reports whether the bytes between at and next cannot follow from the bytes after them: among keys sorted
// by the bytes after next, neighbours differ as often as any two keys do.
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

func distinctOf[B []byte | string](list []B) int {
	values := map[string]bool{}
	for _, b := range list {
		values[string(b)] = true
	}
	return len(values)
}

// saltOf reads first bytes with few values, all about equally frequent, as a salt.
func saltOf(bs [][]byte, kind leadKind) (segment, bool) {
	counts := map[string]int{}
	for _, b := range bs {
		counts[string(b)]++
	}
	k := len(counts)
	if k < 2 || k > 256 || len(bs) < 3*k || kind == binaryLead && len(bs[0]) > 2 { // more likely an INT
		return segment{}, false
	}
	values := make([]string, 0, k)
	least := len(bs)
	for v, n := range counts {
		values = append(values, v)
		least = min(least, n)
	}
	if 8*least*k < len(bs) {
		return segment{}, false // a rare value: they are not drawn
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
			list := words.Join(values, ", ", func(v string) string { return strconv.FormatInt(bigEndian(v), 10) })
			g.part = fmt.Sprintf("SALT(%s) AS UINT%d", list, 8*len(lo))
		}
	} else {
		quoted := func(v string) string { return types.NewString(v).SQL() }
		g.part = "SALT(" + words.Join(values, ", ", quoted) + ")"
		if isDigits([]byte(lo)) && isDigits([]byte(hi)) {
			from, _ := strconv.Atoi(lo)
			to, _ := strconv.Atoi(hi)
			if from <= 1 && to-from+1 <= 2*k {
				consecutive = true
				g.part = fmt.Sprintf("SALT(%s TO %s)", quoted(lo), quoted(hi))
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

// hypothesis is a function of other columns that may compute a key part.
type hypothesis struct {
	part, why string
	cell      bool    // a column is a cell
	bonus     float64 // bits: what recomputing proves
}

// source is an SQL expression over columns of the key and cells. A key part may be the hash of its value.
type source struct {
	sql  string
	name string // for display
	typ  string // of a column; "" for bytes
	cell bool
}

// hypotheses returns the functions that compute the bytes of part i of p in the keys of the probe.
func (v *verifier) hypotheses(p parse, i int) []hypothesis {
	pr := v.probe(p, i)
	if pr == nil {
		return nil
	}
	var out []hypothesis
	add := func(part, why string, cell bool, bonus float64) {
		if strings.Contains(part, "CONCAT(") { // a simpler reading of the same bytes is more likely
			bonus -= 10
		}
		out = append(out, hypothesis{part: part, why: why + " in the sampled keys", cell: cell, bonus: bonus})
	}
	g := p.segs[i]
	if g.lead == binaryLead && pr.width == 1 {
		most := bigEndian(slices.Max(pr.lead))
		for n := max(2, most+1); n <= min(256, most+4); n++ {
			add(fmt.Sprintf("PHOENIX_SALT(%d) AS UINT8", n), "Phoenix's salt of the bytes after it,", false, 20)
		}
	}
	sources := v.sources(p, i)
	for _, src := range sources {
		if part := pr.digest(src.sql); part != "" {
			add(part, "computed from "+src.name+": the same bytes", src.cell, 20)
		}
		if pr.width > 8 {
			continue
		}
		for _, h := range numberHashes {
			if h.numbers != (src.typ == "BIGINT" || src.typ == "INT" || src.typ == "TIMESTAMP") && h.numbers {
				continue
			}
			if part, n := pr.number(h, src.sql); part != "" {
				why := fmt.Sprintf("%s of %s modulo %d", strings.TrimSuffix(h.sql, "(%s)"), src.name, n)
				if n == 0 {
					why = fmt.Sprintf("%s of %s", strings.TrimSuffix(h.sql, "(%s)"), src.name)
				} else if h.sql == "%s" {
					why = fmt.Sprintf("%s modulo %d", src.name, n)
				}
				add(part, why, src.cell, 12)
			}
		}
	}
	if g.lead == textLead && strings.Contains(g.part, " TO ") {
		for _, src := range sources {
			for _, replicas := range []int{100, 160, 10, 50, 200} {
				if src.typ != "" {
					add(fmt.Sprintf("RING(%s, %s TO %s, %d)", src.sql, types.NewString(slices.Min(pr.lead)).SQL(), types.NewString(slices.Max(pr.lead)).SQL(), replicas), "the ring's node of "+src.name, src.cell, 20)
				}
			}
		}
	}
	return out
}

// sources returns the expressions whose hash may be part i: columns, the usual bytes of numbers, and concatenations of
// parts after part i.
func (v *verifier) sources(p parse, i int) []source {
	var out []source
	for j, g := range p.segs {
		if j == i || g.column == "" || g.lead != noLead && g.typ != "UUID" && g.lead != binaryLead {
			continue
		}
		c := parser.QuoteName(g.column)
		out = append(out, source{c, g.column, g.typ, false})
		if g.typ == "STRING" {
			continue
		}
		of, as, ok := strings.Cut(g.sql(), " AS ")
		bytes := []string{}
		if ok {
			bytes = append(bytes, of+" AS "+as)
		}
		if g.typ == "BIGINT" || g.typ == "INT" || g.typ == "TIMESTAMP" {
			for _, as := range []string{"INT64", "INT32", "LITTLE INT64", "LITTLE INT32"} {
				bytes = append(bytes, c+" AS "+as)
			}
		}
		for k, b := range bytes {
			if !slices.Contains(bytes[:k], b) {
				out = append(out, source{b, "the bytes of " + b, "", false})
			}
		}
	}
	for _, c := range v.cells {
		if p.same[c.name] {
			continue
		}
		name := parser.QuoteName(c.name)
		if c.source {
			out = append(out, source{name, "the cell " + c.name, "STRING", true})
		} else if c.fixed != "" {
			out = append(out, source{name, "the cell " + c.name, "BIGINT", true}, source{name + " AS " + c.fixed, "the bytes of the cell " + c.name, "", true})
		}
	}
	return append(out, runs(p, i)...)
}

// runs returns sources that concatenate parts after part i, in the order of the key. Part i may be computed from them.
func runs(p parse, i int) []source {
	var out []source
	from := i + 1
	if from < len(p.segs) && p.segs[from].column == "" && p.segs[from].lead == noLead {
		from++
	}
	for ; from > i; from-- {
		var args []string
		moment := false // runs of texts only are covered by the function whole
		for j := from; j < len(p.segs); j++ {
			g := p.segs[j]
			switch {
			case g.part == "" || g.computed || strings.HasPrefix(g.part, "SALT"):
				return out
			case g.typ == "STRING" && g.part == "{} AS TEXT":
				args = append(args, parser.QuoteName(g.column))
			case g.column == "" || strings.Contains(g.part, " AS "):
				args = append(args, g.sql())
			default:
				return out
			}
			moment = moment || g.typ == "TIMESTAMP" || g.typ == "DATE" || g.column != "" && g.typ != "STRING" && !strings.Contains(g.part, "TEXT")
			if len(args) > 1 && g.column != "" && moment {
				out = append(out, source{"CONCAT(" + strings.Join(args, ", ") + ")", fmt.Sprintf("the %d parts after it", len(args)), "", false})
			}
		}
	}
	return out
}

func segmentWidth(g segment) int {
	w := 0
	for _, s := range g.values {
		w = max(w, len(s))
	}
	return w
}
