package infer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// numberHash is a hash that gives a number.
type numberHash struct {
	sql     string // with %s for the hashed expression
	signed  bool   // of 32 bits, as in Java
	wide    bool   // of 64 bits
	numbers bool   // hashes only numbers
}

var numberHashes = []numberHash{
	{sql: "%s", wide: true, numbers: true}, {sql: "CRC32(%s)"}, {sql: "MURMUR3(%s)"}, {sql: "JAVA_HASH(%s)", signed: true},
	{sql: "JAVA_BYTES_HASH(%s)", signed: true}, {sql: "JAVA_LONG_HASH(%s)", signed: true, numbers: true}, {sql: "MURMUR2(%s)"},
	{sql: "MURMUR2(%s, 2538058380)"}, {sql: "XXHASH32(%s)"}, {sql: "XXHASH64(%s)", wide: true}, {sql: "FNV1A_32(%s)"}, {sql: "FNV1_32(%s)"},
	{sql: "DJB2(%s)"}, {sql: "CRC16(%s)"}, {sql: "ADLER32(%s)"},
}

// probe tests whether the bytes of a key part follow from other columns. It holds rows that are read without the part,
// and the part's bytes in each row.
type probe struct {
	t      *catalog.Table
	rows   [][]types.Value
	lead   []string
	width  int // of the widest
	binary bool
	digits bool
	hex    bool
	padded bool // digits of one width
}

// probed is the number of rows of a probe: a function that gives the right bytes for so many rows does so for all.
const probed = 96

// probe reads rows with part i of p as bytes. It returns nil if no definition can be built from p, or too few rows can
// be read.
func (v *verifier) probe(p parse, i int) *probe {
	g := p.segs[i]
	pr := &probe{width: segmentWidth(g), binary: g.lead == binaryLead, digits: true, hex: true, padded: true}
	const name = "lead_of_key"
	q := parse{segs: slices.Clone(p.segs), same: p.same, day: p.day}
	q.segs[i] = segment{part: fmt.Sprintf("{} AS BYTES(%d)", pr.width), column: name, typ: "BYTES"}
	if pr.width == 0 || g.delimited {
		q.segs[i].part = "{} AS BYTES"
	}
	if pr.t = v.build(q); pr.t == nil {
		return nil
	}
	at, _ := pr.t.Column(name)
	for k := 0; k < len(v.rows); k += max(1, len(v.rows)/probed) {
		row := make([]types.Value, len(pr.t.Columns)+2)
		if !v.fits(pr.t, v.rows[k], row, false) {
			continue
		}
		addCells(pr.t, v.rows[k], row)
		b := row[at.Index].Text()
		pr.rows, pr.lead = append(pr.rows, row), append(pr.lead, b)
		pr.digits = pr.digits && isDigits([]byte(b)) && len(b) <= 18
		pr.hex = pr.hex && isHex([]byte(b))
		pr.padded = pr.padded && len(b) == pr.width
	}
	if len(pr.rows) < 3 {
		return nil
	}
	return pr
}

// each calls f with the value of the expression sql in each row, until f returns false. ok is false if f returned
// false, or if sql has no value.
func (pr *probe) each(sql string, f func(k int, v types.Value) bool) (ok bool) {
	e, err := parser.ParseExpr(sql)
	if err != nil {
		return false
	}
	fn, err := expr.Compile(e, &expr.Scope{Key: true, Funcs: functions.Builtins(), Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
		col, ok := pr.t.Column(ref.Name)
		if !ok {
			return nil, parser.Errorf(ref.Pos, "unknown column %s", ref.Name)
		}
		return &expr.Column{Pos: ref.Pos, Index: col.Index, Name: col.Name, Typ: col.Type}, nil
	}})
	if err != nil {
		return false
	}
	for k, row := range pr.rows {
		v, err := fn.Eval(&expr.Env{Row: row})
		if err != nil || v.IsNull() || !f(k, v) {
			return false
		}
	}
	return true
}

// digest returns the key part that computes the probe's bytes as a digest of sql: hexadecimal or binary, whole or only
// its beginning. It returns "" if there is none.
func (pr *probe) digest(sql string) string {
	if !pr.binary && !pr.hex || distinctOf(pr.lead) < 2 || distinctOf(pr.lead)*pr.width < 6 { // chance
		return ""
	}
	for _, hash := range []string{"MD5", "SHA1", "SHA256"} {
		call, part := hash+"("+sql+")", ""
		whole := map[string]int{"MD5": 32, "SHA1": 40, "SHA256": 64}[hash]
		upper := !pr.binary && slices.ContainsFunc(pr.lead, func(s string) bool { return strings.ToUpper(s) != strings.ToLower(s) && s == strings.ToUpper(s) })
		w := pr.width
		if pr.binary {
			w *= 2
		}
		if w > whole || !pr.each(call, func(k int, v types.Value) bool {
			lead := strings.ToLower(pr.lead[k])
			if pr.binary {
				lead = fmt.Sprintf("%x", pr.lead[k])
			}
			return v.Text()[:w] == lead
		}) {
			continue
		}
		if part = call; upper {
			part = "UPPER(" + call + ")"
		}
		if w < whole {
			part = fmt.Sprintf("LEFT(%s, %d)", part, w)
		}
		if pr.binary {
			part = "UNHEX(" + part + ")"
		}
		return part
	}
	return ""
}

// number explains the probe's bytes, read as a number, as the hash h of sql, or as that hash modulo n; the hash may be made
// positive or cut to 32 bits before. It returns the key part that fits all sampled keys, with n (0: no modulo), or "".
func (pr *probe) number(h numberHash, sql string) (part string, n int64) {
	var bucket []int64
	var most int64
	hex := pr.hex && pr.padded && pr.width <= 8 && !pr.binary && !pr.digits // as by String.format("%08x")
	for _, b := range pr.lead {
		x := bigEndian(b)
		switch {
		case pr.binary && pr.width <= 4:
		case pr.digits:
			x, _ = strconv.ParseInt(b, 10, 64)
		case hex && b == strings.ToLower(b):
			x, _ = strconv.ParseInt(b, 16, 64)
		default:
			return "", 0
		}
		bucket, most = append(bucket, x), max(most, x)
	}
	as := fmt.Sprintf("TEXT(%d)", pr.width)
	if pr.binary {
		as = fmt.Sprintf("UINT%d", 8*pr.width)
	} else if hex {
		as = fmt.Sprintf("HEX(%d)", pr.width)
	} else if !pr.padded {
		as = "TEXT"
	}
	call := fmt.Sprintf(h.sql, sql)
	values := make([]int64, 0, len(pr.rows))
	seen := map[int64]bool{}
	// The ways in which programs change a hash before they take the remainder modulo n. For each way, n divides the
	// number in gs.
	ways := []struct {
		sql string
		of  func(int64) int64
	}{
		{"%s", func(x int64) int64 { return x }},
		{"ABS(%s)", func(x int64) int64 { return max(x, -x) }},
		{"(%s & 2147483647)", func(x int64) int64 { return x & 0x7fffffff }},
		{"ABS(JAVA_INT(%s))", func(x int64) int64 { return max(int64(int32(x)), -int64(int32(x))) }},
		{"JAVA_INT(%s)", func(x int64) int64 { return int64(int32(x)) }},
	}
	gs, negative := make([]int64, len(ways)), make([]bool, len(ways))
	if !pr.each(call, func(k int, v types.Value) bool {
		x := v.Int()
		values, seen[x] = append(values, x), true
		open := false
		for w, way := range ways {
			gs[w] = gcd(gs[w], way.of(x)-bucket[k])
			negative[w] = negative[w] || way.of(x) < 0
			open = open || gs[w] != 1
		}
		return open
	}) || len(seen) < 4 { // two or three numbers agree with some n by chance
		return "", 0
	}
	for w, way := range ways {
		if h.sql == "%s" && w > 0 || w == 1 && !h.signed && !h.wide || w >= 3 && h.signed {
			continue
		}
		g := gs[w]
		if many := float64(most + 1); float64(distinctOf(pr.lead)) < many*(1-math.Exp(-float64(len(pr.lead))/many))/8 {
			continue // a hash fills its buckets, but neighbouring keys of a sample share theirs
		}
		made := fmt.Sprintf(way.sql, call)
		if g == 0 && (pr.binary && pr.width == 4 || hex && pr.width == 8) && !h.numbers && w == 0 {
			return made + " AS " + as, 0
		}
		for d := max(2, most+1); d <= min(g, 2*most+1); d++ { // buckets are filled up to the last one or so
			if g%d != 0 {
				continue
			}
			if negative[w] {
				return fmt.Sprintf("FLOORMOD(%s, %d) AS %s", made, d, as), d
			}
			return fmt.Sprintf("%s %% %d AS %s", made, d, as), d
		}
	}
	return "", 0
}
