package catalog

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// spread returns the keys of SPLIT INTO n for keys that begin with p.
func (p *Part) spread(d *parser.SplitDef) (keys [][]byte, err error) {
	of := p.leading()
	empty := func(by, why string) error {
		return parser.Errorf(d.Pos, "SPLIT BY %s would leave regions empty: %s %s", by, p.Source, why).WithHint("SPLIT INTO %d BY KEY", d.N)
	}
	switch {
	case p.Literal != nil:
		return nil, parser.Errorf(d.Pos, "SPLIT BY KEY: all keys are the same bytes")
	case d.Kind == parser.SplitKey:
		return p.spreadByKey(d, of)
	case d.Kind == parser.SplitUniform:
		if of.N > 0 && of.Chars != solve.AllBytes {
			return nil, empty("UNIFORM", fmt.Sprintf("begins with one of %q", of.Chars))
		}
		for i := 1; i < d.N; i++ {
			keys = append(keys, uniformSplit(i, d.N))
		}
		return keys, nil
	}
	format := "%08x"
	switch e, ok := p.Encoding.(digits); {
	case ok && len(e.alphabet) == 16:
		of.Chars = e.alphabet
	case !p.HoldsText() || of.N > 0 && len(of.Chars) != 16:
		return nil, empty("HEX", "does not begin with hexadecimal digits")
	}
	if of.Chars != "" && of.Chars[10] == 'A' {
		format = "%08X"
	}
	for i := 1; i < d.N; i++ {
		keys = append(keys, fmt.Appendf(nil, format, hexSplit(i, d.N)))
	}
	return keys, nil
}

// hexSplit returns key i of HBase's HexStringSplit: the range 00000000 to FFFFFFFF in n even pieces.
func hexSplit(i, n int) uint64 {
	return uint64(1) << 32 / uint64(n) * uint64(i)
}

// uniformSplit returns key i of HBase's UniformSplit over eight-byte keys.
func uniformSplit(i, n int) []byte {
	size, _ := bits.Div64(1, 0, uint64(n)) // 2^64 / n
	u := size * uint64(i)
	b := make([]byte, 8)
	for k := range b {
		b[k] = byte(u >> (56 - 8*k))
	}
	return b
}

// leading returns the characters that the first bytes of p can be, and the number of these bytes, as solve.Lead does
// for an expression. It returns the zero value if they are not known.
//
//	LEFT(MD5(uid), 6)           0123456789abcdef, 6
//	phone AS REVERSED TEXT(11)  0123456789, 11
//	n AS LITTLE INT32           all bytes, 4
//	n AS INT32                  not known
func (p *Part) leading() (of expr.Leading) {
	if p.Literal != nil {
		return of
	}
	switch e := upright(p.Encoding).(type) {
	case digits:
		if e.reversed {
			of = expr.Leading{Chars: e.alphabet, N: e.width}
		}
	case *integer:
		if e.kind == little {
			of = expr.Leading{Chars: solve.AllBytes, N: e.width}
		}
	case text, padded, rawBytes:
		of = solve.Lead(p.Expr)
	}
	if p.inverted() {
		b := []byte(of.Chars)
		invertBytes(b)
		slices.Reverse(b)
		of.Chars = string(b)
	}
	return of
}

// spreadByKey spreads the regions evenly over the values of p, in the order of their bytes.
func (p *Part) spreadByKey(d *parser.SplitDef, of expr.Leading) ([][]byte, error) {
	dom, ok := p.Domain()
	if ok {
		if vals, ok := dom.Values(1 << 16); ok {
			return splitValues(p, vals, d)
		}
	}
	if of.N > 0 {
		return p.spreadChars(d, of)
	}
	var in types.Interval
	if ok && len(dom) == 1 {
		in = dom[0]
	}
	iv, ok := p.Encoding.Clip(in)
	if order := p.Order(); !ok || iv.Lo.IsNull() || iv.Hi.IsNull() || !p.Encoding.Type().IsInteger() || order != Ascending && order != TwosComplement {
		return nil, parser.Errorf(d.Pos, "SPLIT BY KEY: the possible values of %s are unknown", p.Source).
			WithHint("name the keys with SPLIT AT, or take them from rows with SPLIT INTO %d BY SAMPLE OF FILE", d.N)
	}
	return p.spreadIntegers(d, iv.Lo.Int(), iv.Hi.Int())
}

// tooFew returns the error for a split into more regions than p has values.
func (p *Part) tooFew(d *parser.SplitDef, values uint64) error {
	return parser.Errorf(d.Pos, "SPLIT BY KEY: %s has only %d values", p.Source, values)
}

// spreadChars spreads the regions over the texts of p's leading characters.
func (p *Part) spreadChars(d *parser.SplitDef, of expr.Leading) (keys [][]byte, err error) {
	width, base, total := 0, uint64(len(of.Chars)), uint64(1)
	for ; width < of.N && total*base <= 1<<32; width++ {
		total *= base
	}
	if uint64(d.N) > total {
		return nil, p.tooFew(d, total)
	}
	for i := 1; i < d.N; i++ {
		key, number := make([]byte, width), total*uint64(i)/uint64(d.N)
		for k := width - 1; k >= 0; k-- {
			key[k] = of.Chars[number%base]
			number /= base
		}
		if p.HoldsText() && expr.Width(p.Expr) == 0 { // shorter texts sort among them
			key = bytes.TrimRight(key, of.Chars[:1])
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// spreadIntegers spreads the regions over the numbers from lo to hi, in the order of their bytes in p.
func (p *Part) spreadIntegers(d *parser.SplitDef, lo, hi int64) (keys [][]byte, err error) {
	span := uint64(hi) - uint64(lo)
	if span < uint64(d.N)-1 {
		return nil, p.tooFew(d, span+1)
	}
	for i := uint64(1); i < uint64(d.N); i++ {
		most, least := bits.Mul64(span, i) // i * (span+1) / n
		least, carry := bits.Add64(least, i, 0)
		rank, _ := bits.Div64(most+carry, least, uint64(d.N))
		if p.inverted() {
			rank = span - rank
		}
		number := int64(uint64(lo) + rank)
		if p.Order() == TwosComplement && lo < 0 && hi >= 0 { // 0 to hi, then lo to -1
			if number = int64(rank); rank > uint64(hi) {
				number = int64(rank - uint64(hi) - 1 + uint64(lo))
			}
		}
		key, err := p.Encoding.Append(nil, types.NewIntOf(p.Encoding.Type(), number))
		if err != nil {
			return nil, parser.Errorf(d.Pos, "%v", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// splitValues divides a list of values into n even runs.
func splitValues(p *Part, vals []types.Value, d *parser.SplitDef) ([][]byte, error) {
	var all [][]byte
	for _, v := range vals {
		if b, err := p.Encoding.Append(nil, v); err == nil {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, bytes.Compare)
	if d.N > len(all) {
		return nil, p.tooFew(d, uint64(len(all)))
	}
	var keys [][]byte
	for i := 1; i < d.N; i++ {
		keys = append(keys, all[i*len(all)/d.N])
	}
	return keys, nil
}
