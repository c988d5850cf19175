package access

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// keyOrder describes how the bytes of one span relate to a wanted order.
type keyOrder struct {
	dir       int             // +1: forward, -1: reversed, 0: any, because all terms are constant
	fixed     []byte          // the span's table and the constant parts that are not terms; spans with different ones must be merged
	asked     []byte          // values that are equal in all wanted rows, but not in all rows of the span; spans with different ones may overlap
	nulls     []byte          // columns whose NULLs are wanted last but sort first, and whether they are NULL; spans with different ones are not in order
	signSplit []byte          // see Span.SignSplit
	prefixFix *catalog.Column // see Scan.PrefixFix; nil: none
	within    bool            // see Scan.SortWithin
	// uneven is set if values of a term do not sort exactly like their bytes (negative numbers, text before a delimiter),
	// so that several spans cannot be read one after the other.
	uneven bool
}

// ask records that all wanted rows have the value v in a column or in a part of the key: of is the index of the column,
// or ^i for part i.
func (o *keyOrder) ask(of int, v types.Value) {
	o.asked = v.AppendKey(binary.AppendVarint(o.asked, int64(of)))
}

// order decides whether the spans return the wanted order when they are read in key order, in reverse, or merged.
func (c *candidate) order(req *Request, off bool) {
	if len(req.OrderBy) == 0 || off || c.scan.CapHit || len(c.spans) == 0 { // spans that were widened overlap in any way
		return
	}
	if !c.inOrder(req, true) && !c.scan.ListTables {
		c.inOrder(req, false)
	}
}

// inOrder sets the order for order, and reports whether the spans can return it. If coarsely is set, it uses key parts
// and names of HBase tables that follow the order coarsely, such as the day of a time: the days are read one after the
// other, and the rows of each day must be in order. Otherwise it merges the rows of several days.
func (c *candidate) inOrder(req *Request, coarsely bool) bool {
	if slices.ContainsFunc(req.OrderBy, func(t plan.SortTerm) bool { return expr.Volatile(t.Expr) != "" }) {
		return false // a row has several values of it: those of a function that returns rows, even if it is the only row
	}
	dir, merge, within := 0, false, false
	terms := c.varying(req.OrderBy)
	byName := c.scan.ListTables || coarsely && slices.ContainsFunc(c.spans, func(s keySpan) bool { return s.Table != c.spans[0].Table })
	if byName && !coarsely {
		return false
	}
	var first keyOrder
	var fix *catalog.Column
	orders := make([]keyOrder, len(c.spans))
	for i := range c.spans {
		o, ok := c.spanOrder(&c.spans[i], terms, byName, coarsely)
		if !ok || dir != 0 && o.dir != 0 && o.dir != dir {
			return false
		}
		if o.dir != 0 {
			dir = o.dir
		}
		if i == 0 {
			first = o
		} else if !bytes.Equal(o.asked, first.asked) || !bytes.Equal(o.nulls, first.nulls) {
			return false
		} else if !bytes.Equal(o.fixed, first.fixed) {
			merge = true
		}
		merge = merge || o.uneven && len(c.spans) > 1
		if o.prefixFix != nil {
			fix = o.prefixFix
		}
		within = within || o.within
		orders[i] = o
	}
	if merge && (c.scan.ListTables || req.Unmerged || c.scan.Entries && (first.asked != nil || !c.entriesTell(req.OrderBy))) {
		return false // the merge would also contain entries of rows that do not match
	}
	if fix != nil && (dir > 0 || len(c.spans) > 1 || c.scan.ListTables) {
		return false
	}
	for i, o := range orders {
		c.spans[i].SignSplit = o.signSplit
	}
	c.scan.OrderBy, c.scan.PrefixFix, c.scan.SortWithin = req.OrderBy, fix, within
	switch {
	case merge:
		c.scan.Order = plan.MergeOrder
	case dir < 0:
		c.scan.Order = plan.ReverseOrder
	default:
		c.scan.Order = plan.KeyOrder
	}
	c.scan.Reversed = dir < 0
	return true
}

// entriesTell reports whether the entries of c's layout contain all columns of terms. Entries are merged before their
// rows are looked up.
func (c *candidate) entriesTell(terms []plan.SortTerm) bool {
	for _, t := range terms {
		for _, col := range expr.Columns(t.Expr) {
			if !c.scan.Layout.Tells(col) {
				return false
			}
		}
	}
	return true
}

// unordered discards the order that order has set.
func (c *candidate) unordered() {
	c.scan.Order, c.scan.OrderBy, c.scan.PrefixFix, c.scan.Reversed, c.scan.SortWithin = plan.NoOrder, nil, nil, false, false
	for i := range c.spans {
		c.spans[i].SignSplit = nil
	}
}

// along is the relation of a key part to a term of ORDER BY: which of the two values determines the other.
type along uint8

const (
	unrelated along = iota
	equal           // they determine each other
	finer           // the part determines the term: ORDER BY DATE(ts) and the part ts
	coarser         // the term determines the part: ORDER BY ts and the part DATE(ts)
)

// follows returns the relation f of key part p to e, a term of ORDER BY. m is +1 if the bytes of p rise with e, -1 if
// they fall, and 0 if f is unrelated. reads says that the value of p determines the value of its column.
func follows(p *catalog.Part, e expr.Expr, reads bool) (m int, f along) {
	if len(p.Columns) != 1 || p.Monotone() == 0 {
		return 0, unrelated
	}
	reads = reads || p.Injective()
	number, widened := e.(*expr.Cast) // such as floor(n), which keys have as an integer
	switch c, column := e.(*expr.Column); {
	case column && c.Index != p.Columns[0], !column && p.Nullable():
		return 0, unrelated
	case column && reads:
		return p.Rises(), equal
	case column && !p.Nullable():
		return p.Rises(), coarser
	case expr.Same(e, p.Expr):
		return p.Rises() * p.Monotone(), equal
	case widened && expr.Same(number.X, p.Expr) && number.X.Type().IsInteger() && number.Typ.IsNumeric() && !number.Typ.IsInteger():
		if number.Typ == types.Decimal {
			return p.Rises() * p.Monotone(), equal
		}
		return p.Rises() * p.Monotone(), finer
	case column || !reads:
		return 0, unrelated
	}
	dir, strict := solve.Monotone(e, p.Columns[0], solve.Stored{})
	switch {
	case dir == 0:
		return 0, unrelated
	case strict:
		return dir * p.Rises(), equal
	}
	return dir * p.Rises(), finer
}

// varying returns terms from the first one on that is not known to have one value in all rows.
func (c *candidate) varying(terms []plan.SortTerm) []plan.SortTerm {
	for len(terms) > 0 {
		col, ok := termColumn(terms[0])
		if !ok || slices.ContainsFunc(c.spans, func(s keySpan) bool {
			return !isConstant(&s, col) || !s.proven.of(col).SubsetOf(c.spans[0].proven.of(col))
		}) {
			break
		}
		terms = terms[1:]
	}
	return terms
}

// nameOrder begins the order of a span with the names of the HBase tables, and returns the other terms. ok is false if the names do not
// follow the first term that has different values.
func (c *candidate) nameOrder(o *keyOrder, terms []plan.SortTerm) (rest []plan.SortTerm, ok bool) {
	at := slices.IndexFunc(c.scan.Layout.Stored.Parts, func(p *catalog.Part) bool { return p.Literal == nil })
	p := c.scan.Layout.Stored.Parts[at]
	if len(terms) == 0 {
		return nil, true
	}
	if p.Width() == catalog.Variable || p.Order() != catalog.Ascending || p.Nullable() ||
		slices.ContainsFunc(c.scan.Layout.Stored.Parts[at+1:], func(p *catalog.Part) bool { return p.Literal == nil }) {
		return nil, false
	}
	m, f := follows(p, terms[0].Expr, false)
	if o.dir = m; terms[0].Desc {
		o.dir = -m
	}
	switch {
	case f == equal, f == finer && len(terms) == 1:
		return terms[1:], true
	case f == coarser:
		return terms, true
	}
	return nil, false
}

// spanOrder compares the terms with the order of the key's parts within one span. coarsely means the same as in
// inOrder.
func (c *candidate) spanOrder(s *keySpan, terms []plan.SortTerm, byName, coarsely bool) (o keyOrder, ok bool) {
	if !byName {
		o.fixed = append([]byte(s.Table), 0)
	} else if terms, ok = c.nameOrder(&o, terms); !ok {
		return o, false
	}
	if len(terms) > 0 {
		if col, ok := termColumn(terms[0]); ok && col == len(c.scan.Table.Columns) && c.scan.Layout.Kind == catalog.Primary { // _key
			if o.dir = 1; terms[0].Desc {
				o.dir = -1
			}
			o.within = packed(c.scan.Table)
			return o, !c.scan.AllVersions
		}
	}
	parts := c.scan.Layout.Key.Parts
	open := false // a previous part is not constant
	held := -1    // the part that is finer than the previous term
	for i := 0; i < len(parts); {
		if len(terms) == 0 {
			break
		}
		p := parts[i]
		if p.Literal != nil {
			i++
			continue
		}
		constant := s.Key || s.begun > i+1
		col, isCol := termColumn(terms[0])
		f := c.matchPart(&o, s, i, terms[0], constant, open, coarsely)
		switch {
		case f == equal:
			terms = terms[1:]
			open = open || !constant
			i++
		case f == finer:
			if terms = terms[1:]; !constant {
				held = i
			}
		case f == coarser:
			open = open || !constant
			i++
		case isCol && isConstant(s, col) && (held == i || !constant):
			terms = terms[1:]
		case held == i:
			return o, false
		case constant:
			o.fixed = append(o.fixed, s.partBytes(c.scan.Layout.Key, i)...)
			i++
		default: // rows of the span differ in this part, but the wanted rows may not
			if v, ok := s.sets.single(col); isCol && ok {
				o.ask(col, v)
				terms = terms[1:]
				continue
			}
			v, ok := p.Compute(s.sets.single, c.builder.number)
			if !ok || p.ManyScales() || p.UsesLookup() {
				return o, false
			}
			o.ask(^i, v)
			open = true
			i++
		}
	}
	for i, t := range terms {
		if col, ok := termColumn(t); ok && isConstant(s, col) {
			continue
		}
		// All parts are matched or constant, so the remaining terms order rows with equal keys.
		o.within = packed(c.scan.Table) && !c.byQualifier(terms[i:])
		return o, !c.scan.AllVersions
	}
	return o, true
}

// packed reports whether an HBase row may hold several rows of t.
func packed(t *catalog.Table) bool {
	return t.Layouts[0].Packed != nil
}

func termColumn(t plan.SortTerm) (int, bool) {
	c, ok := t.Expr.(*expr.Column)
	if !ok {
		return 0, false
	}
	return c.Index, true
}

func isConstant(s *keySpan, col int) bool {
	p := s.proven.of(col)
	return len(p) == 1 && p[0].IsPoint()
}

// partBytes returns the bytes of the constant part i of k, or more bytes if its end cannot be found.
func (s *keySpan) partBytes(k *catalog.Composite, i int) []byte {
	start, end := k.PrefixLen(s.Start, i, s.Key), k.PrefixLen(s.Start, i+1, s.Key)
	if start < 0 || end < 0 {
		return s.Start // it is no shorter than the part's bytes, so that more spans are merged
	}
	return s.Start[start:end]
}

// matchPart returns the relation of part i to term. It adds to o what reading in that order requires.
func (c *candidate) matchPart(o *keyOrder, s *keySpan, i int, term plan.SortTerm, constant, open, coarsely bool) along {
	p := c.scan.Layout.Key.Parts[i]
	if len(p.Columns) != 1 {
		return unrelated
	}
	col := p.Columns[0]
	m, f := follows(p, term.Expr, c.scan.Layout.ReadFrom(col, i))
	if f == unrelated || f == coarser && !coarsely {
		return unrelated
	}
	dir := m
	if term.Desc {
		dir = -m
	}
	if p.Nullable() && term.NullsFirst != (dir > 0) { // NULL sorts before all values
		null := s.sets.of(col) == nil
		if !constant && (null || c.scan.Entries && s.proven.of(col) == nil) {
			return unrelated // entries of rows that do not match would be merged, too
		}
		o.nulls = strconv.AppendBool(binary.AppendVarint(o.nulls, int64(col)), null)
	}
	if o.dir != 0 && o.dir != dir {
		return unrelated
	}
	switch p.Order() {
	case catalog.Unordered:
		return unrelated
	case catalog.TwosComplement:
		if !nonNegative(p, col, s) {
			if open || p.Nullable() || p.Rises() != p.Monotone() {
				return unrelated
			}
			o.uneven = true
			if !constant {
				o.signSplit = c.signSplit(s, i)
			}
		}
	case catalog.Lexical:
		if !p.PrefixFirst() {
			return unrelated
		}
	case catalog.Terminated:
		if !p.PrefixFirst() {
			if p.Rises() != p.Monotone() || f != equal {
				return unrelated
			}
			o.uneven = true
			if constant {
				break
			}
			if open || dir > 0 || p.FixedTail() > 0 {
				return unrelated
			}
			_, column := termColumn(term)
			if _, ok := p.Column(); !ok || !column {
				return unrelated
			}
			o.prefixFix = c.scan.Table.Columns[col]
		}
	}
	o.dir = dir
	return f
}

// nonNegative reports whether p is not negative for any of the values that col can have.
func nonNegative(p *catalog.Part, col int, s *keySpan) bool {
	set := s.sets.setOf(col)
	img := set
	if _, ok := p.Column(); !ok {
		if img, ok = p.Image(set); !ok {
			return false
		}
	}
	return len(img) == 0 || !img[0].Lo.IsNull() && img[0].Lo.Int() >= 0
}

// signSplit returns the start of the negative values of part i, if it is inside s.
func (c *candidate) signSplit(s *keySpan, i int) []byte {
	p := slices.Concat(s.Start[:s.fixed], c.scan.Layout.Key.Parts[i].Negatives())
	if bytes.Compare(p, s.Start) <= 0 || len(s.Stop) > 0 && bytes.Compare(p, s.Stop) >= 0 {
		return nil
	}
	return p
}
