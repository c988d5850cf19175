package access

import (
	"bytes"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/types"
)

// maxFilterIntervals bounds the number of parts of one filter.
const maxFilterIntervals = 128

// pushDown converts a predicate on cells to a filter that keeps every row for which the predicate is true; exact reports
// whether it drops all others.
func pushDown(e expr.Expr, t *catalog.Table) (f filter.Filter, exact, ok bool) {
	switch e := e.(type) {
	case *expr.And:
		var fs filter.And
		exact = true
		for _, x := range e.Terms {
			sub, ex, ok := pushDown(x, t)
			exact = exact && ex && ok
			if ok {
				fs = append(fs, sub)
			}
		}
		return fs, exact, len(fs) > 0
	case *expr.Or:
		if col, s, ex, ok := solve.Sarg(e); ok {
			return pushSet(col, s, ex, t)
		}
		var fs filter.Or
		exact = true
		for _, x := range e.Terms {
			sub, ex, ok := pushDown(x, t)
			if !ok {
				return nil, false, false
			}
			exact = exact && ex
			fs = append(fs, sub)
		}
		return fs, exact, len(fs) > 0
	case *expr.IsNull:
		c, ok := cellColumn(e.X, t)
		if !ok || !c.AnyBytes() && !e.Not {
			return nil, false, false
		}
		return filter.CellNull{Family: c.Family, Qualifier: c.Qualifier, Not: e.Not}, c.AnyBytes(), true
	}
	var set, setExact = types.Set(nil), false
	col, set, setExact, ok := solve.Sarg(e)
	if ok = ok && !set.IsAll(); ok {
		f, exact, ok = pushSet(col, set, setExact, t)
	}
	if l, isLike := e.(*expr.Like); isLike && !exact {
		if re, ok := pushLike(l, t); ok {
			return re, true, true
		}
	}
	if re, some := pushMatched(e, t); some && !exact {
		return re, false, true
	}
	return f, exact, ok
}

// pushMatched returns a filter that keeps the rows whose text matches a pattern of solve.Matched.
func pushMatched(e expr.Expr, t *catalog.Table) (filter.Filter, bool) {
	x, patterns, forms := solve.Matched(e)
	if len(patterns) == 0 || x.Type() != types.String {
		return nil, false
	}
	c, ok := cellColumn(x, t)
	if !ok || !c.AnyBytes() {
		return nil, false
	}
	var ways []string
	for _, p := range patterns {
		ways = append(ways, p.Regex(forms))
	}
	return filter.Regex{Family: c.Family, Qualifier: c.Qualifier, Pattern: `\A` + group(ways) + `\z`}, true
}

func cellColumn(e expr.Expr, t *catalog.Table) (*catalog.Column, bool) {
	c, ok := e.(*expr.Column)
	if !ok || c.Index >= len(t.Columns) {
		return nil, false
	}
	col := t.Columns[c.Index]
	return col, !col.KeyPart && col.Packed == nil && col.Encoding != nil && col.AbsentIsNull()
}

// pushSet returns a filter that keeps the rows whose column's value is in s.
func pushSet(col int, s types.Set, setExact bool, t *catalog.Table) (f filter.Filter, exact, ok bool) {
	if col >= len(t.Columns) || len(s) > maxFilterIntervals || len(s) == 0 {
		return nil, false, false
	}
	c, ok := cellColumn(&expr.Column{Index: col}, t)
	if !ok {
		return nil, false, false
	}
	switch c.Type {
	case types.Float, types.Double, types.Decimal, types.JSON, types.JSONB:
		return nil, false, false // equal values may have different bytes
	case types.Boolean:
		if c.OneFalse() {
			return pushBoolean(c, s)
		}
	}
	if c.Respells() {
		return nil, false, false
	}
	var out []catalog.ByteRange
	exact = setExact && c.AnyBytes()
	for _, iv := range s {
		var ex bool
		if out, ex, ok = c.Ranges(out, iv); !ok {
			return nil, false, false
		}
		exact = exact && ex
	}
	var any filter.Or
	for _, r := range out {
		cell := filter.Cell{Family: c.Family, Qualifier: c.Qualifier, Value: r.Lo}
		if r.Point {
			any = append(any, cell)
			continue
		}
		if r.Hi != nil && len(r.Hi) == 0 {
			continue // nothing sorts before the empty string
		}
		if r.Hi != nil && string(types.PrefixEnd(r.Lo)) == string(r.Hi) {
			cell.Op = filter.Prefix
			any = append(any, cell)
			continue
		}
		var both filter.And
		if len(bytes.Trim(r.Lo, "\x00")) > 0 || exact && len(r.Lo) > 0 { // otherwise almost nothing sorts before r.Lo, and the client checks it
			cell.Op = filter.GreaterOrEqual
			both = append(both, cell)
		}
		if r.Hi != nil {
			both = append(both, filter.Cell{Family: c.Family, Qualifier: c.Qualifier, Op: filter.Less, Value: r.Hi})
		}
		switch len(both) {
		case 0:
			any = append(any, filter.CellNull{Family: c.Family, Qualifier: c.Qualifier, Not: true})
		case 1:
			any = append(any, both[0])
		default:
			any = append(any, both)
		}
	}
	if len(any) == 1 {
		return any[0], exact, true
	}
	return any, exact, len(any) > 0
}

// pushBoolean returns a filter that keeps the rows whose one-byte column is in s: any byte other than FALSE's means TRUE.
func pushBoolean(c *catalog.Column, s types.Set) (f filter.Filter, exact, ok bool) {
	no, err := c.Encoding.Append(nil, types.NewBool(false))
	if err != nil || s.Contains(types.NewBool(false)) == s.Contains(types.NewBool(true)) {
		return nil, false, false
	}
	cell := filter.Cell{Family: c.Family, Qualifier: c.Qualifier, Value: no}
	if s.Contains(types.NewBool(true)) {
		cell.Op = filter.NotEqual
	}
	return cell, false, true
}

// pushLike returns a filter that keeps the rows whose text matches a pattern of literals and %. It matches single bytes,
// so that invalid UTF-8 does not matter.
func pushLike(l *expr.Like, t *catalog.Table) (filter.Filter, bool) {
	c, ok := cellColumn(l.X, t)
	if !ok || !c.AnyBytes() || l.Not || l.Lower != nil || l.Fixed == nil || c.Type.IsJSON() {
		return nil, false
	}
	pieces, ok := l.Fixed.Literals()
	if !ok {
		return nil, false
	}
	var b strings.Builder
	b.WriteString(`\A`)
	for i, p := range pieces {
		if i > 0 {
			b.WriteString(".*")
		}
		quote(&b, p)
	}
	b.WriteString(`\z`)
	return filter.Regex{Family: c.Family, Qualifier: c.Qualifier, Pattern: b.String()}, true
}

// quote writes p as a regular expression: each byte as the character with its number, escaped if it is special.
func quote(b *strings.Builder, p string) {
	for i := range len(p) {
		if strings.IndexByte(`\.+*?()|[]{}^$`, p[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteRune(rune(p[i]))
	}
}
