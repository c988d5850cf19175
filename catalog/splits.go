package catalog

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// maxRegions bounds the regions a table is created with.
const maxRegions = 10_000

// SplitKeys gives the sorted keys that a new table of layout l is split at.
// readFile reads the file of SPLIT FROM FILE, a key a line; sample gives the keys of the rows of a file.
func (t *Table) SplitKeys(l *Layout, readFile func(name string) ([]byte, error), sample func(file string) ([][]byte, error)) ([][]byte, error) {
	d := t.Split
	if d == nil {
		return nil, nil
	}
	var keys [][]byte
	if d.Kind != parser.SplitAt && d.Kind != parser.SplitFile && (d.N < 2 || d.N > maxRegions) {
		return nil, parser.Errorf(d.Pos, "a table is split into 2 to %d regions", maxRegions)
	}
	switch d.Kind {
	case parser.SplitAt:
		for _, e := range d.Keys {
			lit, ok := e.(*parser.Literal)
			if !ok || lit.Text == "" {
				return nil, parser.Errorf(e.Position(), "a split key is a text or X'..'")
			}
			keys = append(keys, []byte(lit.Text))
		}
	case parser.SplitFile:
		b, err := readFile(d.File)
		if err != nil {
			return nil, parser.Errorf(d.Pos, "split file: %v", err).Of(err)
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				keys = append(keys, []byte(line))
			}
		}
	case parser.SplitHex:
		for i := 1; i < d.N; i++ {
			keys = append(keys, fmt.Appendf(nil, "%08x", hexSplit(i, d.N)))
		}
	case parser.SplitUniform:
		for i := 1; i < d.N; i++ {
			keys = append(keys, uniformSplit(i, d.N))
		}
	case parser.SplitKey:
		var err error
		if keys, err = splitByKey(l, d); err != nil {
			return nil, err
		}
	case parser.SplitSampleFile:
		all, err := sample(d.File)
		if err != nil {
			return nil, parser.Errorf(d.Pos, "sample file: %v", err).Of(err)
		}
		slices.SortFunc(all, bytes.Compare)
		for i := 1; i < d.N && len(all) > 0; i++ {
			keys = append(keys, all[i*len(all)/d.N])
		}
		if distinct := len(slices.CompactFunc(slices.Clone(all), bytes.Equal)); distinct < d.N {
			return nil, parser.Errorf(d.Pos, "sample file: its rows have %d different keys, too few for %d regions", distinct, d.N)
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal), nil
}

// hexSplit is HBase's HexStringSplit: the range 00000000 to FFFFFFFF in n even pieces.
func hexSplit(i, n int) uint64 {
	return uint64(1) << 32 / uint64(n) * uint64(i)
}

// uniformSplit is HBase's UniformSplit over eight-byte keys.
func uniformSplit(i, n int) []byte {
	size, _ := bits.Div64(1, 0, uint64(n)) // 2^64 / n
	u := size * uint64(i)
	b := make([]byte, 8)
	for k := range b {
		b[k] = byte(u >> (56 - 8*k))
	}
	return b
}

// splitByKey spreads n regions over the values of the key's first part.
func splitByKey(l *Layout, d *parser.SplitDef) ([][]byte, error) {
	p := l.Key.Parts[0]
	if p.Literal != nil {
		return nil, parser.Errorf(d.Pos, "SPLIT BY KEY: the key starts with the same bytes in every row")
	}
	if dom, ok := p.Domain(); ok {
		if vals, ok := dom.Values(1 << 16); ok {
			return splitValues(p, vals, d)
		}
	}
	var lo, hi types.Value
	switch p.Encoding.Order() {
	case Ascending, TwosComplement:
		iv, ok := p.Encoding.Clip(types.Interval{})
		if ok && !iv.Lo.IsNull() && p.Encoding.Type().IsInteger() {
			lo, hi = iv.Lo, iv.Hi
		}
	}
	if w := p.Encoding.Width(); w != Variable && w <= 8 {
		if digits := expr.HexDigits(p.Expr); digits != "" {
			return splitHex(digits, w, d.N), nil
		}
	}
	if lo.IsNull() {
		return nil, parser.Errorf(d.Pos, "SPLIT BY KEY: the values of %s are not known", p.Source)
	}
	var keys [][]byte
	step := (uint64(hi.Int()) - uint64(lo.Int())) / uint64(d.N)
	for i := 1; i < d.N; i++ {
		b, err := p.Encoding.Append(nil, types.NewIntOf(lo.Type(), lo.Int()+int64(step*uint64(i))))
		if err != nil {
			return nil, parser.Errorf(d.Pos, "%v", err)
		}
		keys = append(keys, b)
	}
	return keys, nil
}

// splitHex spreads n regions over the numbers of width hexadecimal digits, 8 at most.
func splitHex(digits string, width, n int) [][]byte {
	total := uint64(1) << (4 * width)
	var keys [][]byte
	for i := 1; i < n; i++ {
		key, number := make([]byte, width), total*uint64(i)/uint64(n)
		for k := width - 1; k >= 0; k-- {
			key[k] = digits[number%16]
			number /= 16
		}
		keys = append(keys, key)
	}
	return keys
}

// splitValues cuts a list of values into n even runs.
func splitValues(p *Part, vals []types.Value, d *parser.SplitDef) ([][]byte, error) {
	var all [][]byte
	for _, v := range vals {
		if b, err := p.Encoding.Append(nil, v); err == nil {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, bytes.Compare)
	if d.N > len(all) {
		return nil, parser.Errorf(d.Pos, "SPLIT BY KEY: %s has only %d values", p.Source, len(all))
	}
	var keys [][]byte
	for i := 1; i < d.N; i++ {
		keys = append(keys, all[i*len(all)/d.N])
	}
	return keys, nil
}
