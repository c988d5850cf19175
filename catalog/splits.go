package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// maxRegions is the greatest number of regions of a new table.
const maxRegions = 10_000

// SplitKeys returns the sorted keys that split a new table of l. readFile reads the file of SPLIT FROM FILE, which has a key
// on each line; sample returns the keys that the rows of a file have under l.
func (l *Layout) SplitKeys(readFile func(name string) ([]byte, error), sample func(file string) ([][]byte, error)) ([][]byte, error) {
	d := l.Split
	if d == nil {
		return nil, nil
	}
	var keys [][]byte
	if d.Kind != parser.SplitAt && d.Kind != parser.SplitFile && (d.N < 2 || d.N > maxRegions) {
		return nil, parser.Errorf(d.Pos, "a table can be split into 2 to %d regions", maxRegions)
	}
	first, before := l.firstPart()
	var err error
	switch d.Kind {
	case parser.SplitAt:
		for _, e := range d.Keys {
			key, err := first.splitKey(before, e)
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
	case parser.SplitFile:
		if keys, err = first.splitLines(before, d, readFile); err != nil {
			return nil, err
		}
	case parser.SplitHex, parser.SplitUniform, parser.SplitKey:
		if keys, err = first.spread(d); err != nil {
			return nil, err
		}
		for i, key := range keys {
			keys[i] = append(slices.Clip(before), key...)
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

// firstPart returns the first part of l's keys that is not a literal, or the last part if all are literals, and the
// bytes of the literals before it.
func (l *Layout) firstPart() (first *Part, before []byte) {
	for i, p := range l.Key.Parts {
		if first = p; p.Literal == nil || i == len(l.Key.Parts)-1 {
			break
		}
		before = append(before, p.Literal...)
	}
	return first, before
}

// SplitsAtMoments reports whether texts in SPLIT AT are moments, which depend on the session's time zone.
func (l *Layout) SplitsAtMoments() bool {
	first, before := l.firstPart()
	return l.Split != nil && len(before) == 0 && first.Literal == nil && first.Encoding.Type() == types.Timestamp
}

// splitKey returns the key that SPLIT AT names: X'..' and text unchanged, other values in the encoding of p, the first
// part of the key, after the literals before.
//
//	uid AS TEXT, 'm'                    m
//	id AS INT32, 2000 or '2000'         00 00 07 d0
//	DATE(ts) AS TEXT('yyyyMMdd'), '2024-05-01' or DATE '2024-05-01'      20240501
func (p *Part) splitKey(before []byte, e parser.Expr) ([]byte, error) {
	x, err := expr.Compile(e, &expr.Scope{Funcs: functions.Builtins()})
	if err != nil {
		return nil, err
	}
	k, ok := x.(*expr.Const)
	switch {
	case !ok || k.Val.IsNull() || k.Val.Text() == "" && (k.Typ == types.Bytes || k.Typ.IsText()):
		return nil, parser.Errorf(e.Position(), "a split key is a constant that is not NULL and not empty")
	case k.Typ == types.Bytes:
		return []byte(k.Val.Text()), nil
	case k.Typ.IsText() && (len(before) > 0 || p.takesText(k.Val.Text())):
		return []byte(k.Val.Text()), nil
	case p.Literal != nil:
		return nil, parser.Errorf(e.Position(), "%s cannot be a split key: the keys begin with %s", k.Val.SQL(), p.Source).WithHint("give the key itself, as a text or X'..'")
	}
	t := p.Encoding.Type()
	v, err := types.Cast(k.Val, t, nil)
	if err == nil && !k.Typ.IsText() {
		c := 0
		if k.Typ.IsNumeric() && t.IsNumeric() { // 1.5 is not an INT
			c, err = types.Compare(v, k.Val)
		}
		if err == nil && (c != 0 || !alikeTypes(k.Typ, t)) {
			err = fmt.Errorf("it is not a valid %s", t)
		}
	}
	var key []byte
	if err == nil {
		key, err = p.Append(slices.Clip(before), v)
	}
	if err != nil || len(key) == 0 {
		return nil, parser.Errorf(e.Position(), "%s cannot be a split key: the keys begin with %s: %v", k.Val.SQL(), p.Source, err).
			WithHint("give a value of that part, or the key itself as X'..'")
	}
	return key, nil
}

func alikeTypes(a, b types.Type) bool {
	switch {
	case b.IsText():
		return true
	case a.IsNumeric():
		return b.IsNumeric()
	case a.IsTemporal():
		return b.IsTemporal()
	}
	return a == b
}

// HoldsText reports whether the bytes of p are the value's text.
func (p *Part) HoldsText() bool {
	switch p.Encoding.(type) {
	case text, padded, rawBytes:
		return p.Encoding.Type().IsText() || p.Encoding.Type() == types.Bytes
	}
	return false
}

// takesText reports whether the bytes of some value of p begin with s.
//
//	uid AS TEXT(6), 'a'                       true
//	DATE(ts) AS TEXT('yyyyMMdd'), '2024'      true
//	id AS INT32, '2000'                       false: it is not a number of four bytes
func (p *Part) takesText(s string) bool {
	if p.Literal != nil {
		return true
	}
	switch e := p.Encoding.(type) {
	case digits, datePattern:
		like, err := e.Append(nil, types.NewIntOf(e.Type(), 0))
		if err != nil || len(s) > len(like) {
			return false
		}
		_, err = e.Decode(append([]byte(s), like[len(s):]...))
		return err == nil
	}
	return p.HoldsText()
}

// splitLines returns the keys of a file, which has one on each line: texts as in SPLIT AT, or bytes written as \xNN, as
// in HBase's SPLITS_FILE.
func (p *Part) splitLines(before []byte, d *parser.SplitDef, readFile func(name string) ([]byte, error)) (keys [][]byte, err error) {
	b, err := readFile(d.File)
	if err != nil {
		return nil, parser.Errorf(d.Pos, "split file: %v", err).Of(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		key, ok := unescape(line)
		if !ok {
			if key, err = p.splitKey(before, &parser.Literal{Pos: d.Pos, Kind: parser.StringLiteral, Text: line}); err != nil {
				var pe *parser.Error
				errors.As(err, &pe)
				return nil, parser.Errorf(d.Pos, "split file: line %d: %s", n, pe.Msg)
			}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

var escaped = regexp.MustCompile(`\\x[0-9A-Fa-f]{2}`)

// unescape returns the bytes of a text in which some are written as \xNN.
func unescape(s string) (b []byte, ok bool) {
	return escaped.ReplaceAllFunc([]byte(s), func(hex []byte) []byte {
		n, _ := strconv.ParseUint(string(hex[2:]), 16, 8)
		return []byte{byte(n)}
	}), escaped.MatchString(s)
}

// Begins describes the start of a region of l, whose first key is start, as a value: "'40'", "-5"; as X'..' if it is
// not a value of the key's first part.
func (l *Layout) Begins(start []byte) string {
	first, before := l.firstPart()
	rest, ok := bytes.CutPrefix(start, before)
	var v types.Value
	var err error
	switch {
	case len(start) == 0:
		return "the first key"
	case !ok || first.Literal != nil || len(rest) == 0:
		return types.NewBytes(string(start)).SQL()
	case first.HoldsText() && utf8.Valid(rest) && !bytes.ContainsFunc(rest, unicode.IsControl):
		return types.NewString(string(rest)).SQL()
	case first.Width() == Variable && !first.Encoding.Type().IsText() || len(rest) == first.Width(): // a text may end in front of them
		v, err = first.Decode(rest)
	default:
		return types.NewBytes(string(start)).SQL()
	}
	switch {
	case err != nil:
		return types.NewBytes(string(start)).SQL()
	case v.Type() == types.Timestamp: // with its zone
		return "TIMESTAMP " + types.NewString(v.String()).SQL()
	}
	return v.SQL()
}
