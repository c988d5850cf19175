package planner

import (
	"bytes"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/types"
)

// finish fills in what does not depend on the layout's spans alone: filters,
// residual, columns, limit, the plan's explanation.
func (e *Env) finish(s *Scan, req *accessRequest, c *candidate) {
	push := !e.Options.NoPushdown && !req.noPushdown && !req.allVersions && req.maxTime == 0 && !packed(s.Table) && !s.Entries
	var filters filter.And
	var client []expr.Expr
	k := 0
	for i := range c.fates {
		f := &c.fates[i]
		if f.By == ByKey {
			continue
		}
		p := c.residual[k]
		k++
		f.Why = c.walker.whyNotKey(p, s.Table)
		if push {
			if sf, exact, ok := pushDown(p, s.Table); ok {
				filters = append(filters, sf)
				f.By = ByBoth
				if exact {
					f.By = ByServer
					continue
				}
			}
		}
		client = append(client, p)
	}
	if !e.Options.NoPushdown && !req.noPushdown && !s.Reversed && !s.Entries {
		if f := c.fuzzy(); f != nil {
			filters = append(filter.And{f}, filters...)
		}
	}
	if !e.Options.NoPushdown && !req.noPushdown && !s.Reversed && len(filters) == 0 {
		if f := c.qualifiers(c.boxes); f != nil {
			filters = append(filters, f)
		}
	}
	s.Fates = c.fates
	switch len(filters) {
	case 0:
	case 1:
		s.Filter = filters[0]
	default:
		s.Filter = filters
	}
	s.Residual = conjoin(client)
	s.read(req, client, c.residual)
	if s.Access == Empty {
		s.Filter, s.Residual = nil, nil
	}
	if len(req.orderBy) == 0 || s.Order != NoOrder {
		s.Limit = req.limit
	}
	c.walker.spans = nil
	s.walker = c.walker
	if s.CapHit {
		s.Warnings = append(s.Warnings, "the predicate gives more key ranges than the limit: some were widened and are checked row by row")
	}
}

func conjoin(terms []expr.Expr) expr.Expr {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return &expr.And{Terms: terms}
}

// read decides which cells are read.
func (s *Scan) read(req *accessRequest, client, residual []expr.Expr) {
	n := len(s.Table.Columns)
	s.Needed = make([]bool, n+2)
	copy(s.Needed, req.needed)
	for _, e := range client {
		for _, col := range expr.Columns(e) {
			s.Needed[col] = true
		}
	}
	for _, t := range s.OrderBy {
		for _, col := range expr.Columns(t.Expr) {
			s.Needed[col] = true
		}
	}
	fetch := make([]bool, n)
	copy(fetch, s.Needed[:n])
	for _, e := range residual { // what the server's filter looks at must be read
		for _, col := range expr.Columns(e) {
			if col < n {
				fetch[col] = true
			}
		}
	}
	s.Families = s.Table.RowFamilies()
	all := true
	for i, col := range s.Table.Columns {
		if col.KeyPart || col.Family == "" {
			continue
		}
		if !fetch[i] {
			all = false
		} else if col.Packed == nil {
			s.Columns = append(s.Columns, filter.Column{Family: col.Family, Qualifier: col.Qualifier})
		}
	}
	switch {
	case packed(s.Table) || s.Needed[n+1] || s.AllVersions: // _ts is the newest of all cells
		s.Fetch = FetchAll
	case len(s.Columns) == 0:
		s.Fetch = FetchKeys
	case all:
		s.Fetch = FetchAll
	case rejectsMissing(residual, s.Table):
		s.Fetch = FetchColumns
	default:
		s.Fetch = FetchFirst
	}
}

// rejectsMissing tells that one of the predicates is not true for a row that
// lacks all cells, so that such rows need not be seen.
func rejectsMissing(preds []expr.Expr, t *catalog.Table) bool {
	for _, e := range preds {
		if rejectsNull(e, t) {
			return true
		}
	}
	return false
}

// rejectsNull tells that e is not true when the cells it looks at are missing.
func rejectsNull(e expr.Expr, t *catalog.Table) bool {
	cell := func(x expr.Expr) bool {
		c, ok := x.(*expr.Column)
		return ok && c.Index < len(t.Columns) && !t.Columns[c.Index].KeyPart
	}
	switch e := e.(type) {
	case *expr.Compare:
		return cell(e.X) || cell(e.Y)
	case *expr.In:
		return cell(e.X)
	case *expr.Like:
		return cell(e.X)
	case *expr.IsNull:
		return e.Not && cell(e.X)
	case *expr.And:
		for _, x := range e.Terms {
			if rejectsNull(x, t) {
				return true
			}
		}
	case *expr.Or:
		for _, x := range e.Terms {
			if !rejectsNull(x, t) {
				return false
			}
		}
		return true
	}
	return false
}

// maxFilterIntervals bounds the members of one filter.
const maxFilterIntervals = 128

// pushDown turns a predicate on cells into a filter that keeps every row for
// which it is true; exact tells that it keeps no other.
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
		if col, s, ex, ok := expr.Sarg(e); ok {
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
		if !ok || !anyBytes(c) && !e.Not {
			return nil, false, false
		}
		return filter.CellNull{Family: c.Family, Qualifier: c.Qualifier, Not: e.Not}, anyBytes(c), true
	}
	var set, setExact = types.Set(nil), false
	col, set, setExact, ok := expr.Sarg(e)
	if ok && !set.IsAll() {
		f, exact, ok = pushSet(col, set, setExact, t)
		if l, isLike := e.(*expr.Like); isLike && !exact {
			if re, ok2 := pushLike(l, t); ok2 {
				return re, true, true
			}
		}
		return f, exact, ok
	}
	if l, isLike := e.(*expr.Like); isLike {
		f, ok = pushLike(l, t)
		return f, ok, ok
	}
	return nil, false, false
}

func cellColumn(e expr.Expr, t *catalog.Table) (*catalog.Column, bool) {
	c, ok := e.(*expr.Column)
	if !ok || c.Index >= len(t.Columns) {
		return nil, false
	}
	col := t.Columns[c.Index]
	return col, !col.KeyPart && col.Packed == nil && col.Encoding != nil
}

// anyBytes tells that every byte string is a value of c: nothing is malformed.
func anyBytes(c *catalog.Column) bool {
	return c.Encoding.Order() == catalog.Terminated
}

// pushSet keeps the rows whose column lies in s.
func pushSet(col int, s types.Set, setExact bool, t *catalog.Table) (f filter.Filter, exact, ok bool) {
	if col >= len(t.Columns) || len(s) > maxFilterIntervals || len(s) == 0 {
		return nil, false, false
	}
	c, ok := cellColumn(&expr.Column{Index: col}, t)
	if !ok {
		return nil, false, false
	}
	switch c.Type {
	case types.Float, types.Double, types.Decimal, types.JSON:
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
	exact = setExact && anyBytes(c)
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
		if len(bytes.Trim(r.Lo, "\x00")) > 0 || exact && len(r.Lo) > 0 { // else next to nothing sorts before lo, and the client checks it
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

// pushBoolean keeps the rows whose column of one byte lies in s: whatever is not FALSE is TRUE.
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

// pushLike keeps the rows whose text matches a pattern of literals and %: the
// bytes are matched one by one, so that what UTF-8 they make does not matter.
func pushLike(l *expr.Like, t *catalog.Table) (filter.Filter, bool) {
	c, ok := cellColumn(l.X, t)
	if !ok || !anyBytes(c) || l.Not || l.Fold || l.Fixed == nil || c.Type == types.JSON {
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

// quote writes p, each byte as the character of that number, escaped where it
// means something in a regular expression.
func quote(b *strings.Builder, p string) {
	for i := range len(p) {
		if strings.IndexByte(`\.+*?()|[]{}^$`, p[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteRune(rune(p[i]))
	}
}
