package importer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/parser"
)

// Values of INDEX_TYPE and INDEX_STATE.
const (
	globalIndex    = 1
	localIndex     = 2
	uncoveredIndex = 3
	activeIndex    = "a"
)

// addIndexes adds the indexes of the table o that hql reads by; why it does not read by the others is noted.
func (s *phoenixSystem) addIndexes(d *phoenixDef, o *phoenixObject, served map[*phoenixObject]bool) {
	for _, name := range o.links[indexLink] {
		index := s.object(phoenixID{o.id.tenant, o.id.schema, name})
		if index == nil {
			continue
		}
		served[index] = true
		parts, err := indexParts(d, o, index)
		if err == nil {
			err = s.lasting(o)
		}
		var included []string
		if err == nil {
			included, err = d.included(o, index)
		}
		if err == nil {
			err = d.index(d.unique(lower(name)), index.stored(), parts, included)
		}
		if err != nil {
			d.note("index %s is left out: %s", index, oneLine(err))
		}
	}
	if d.indexes != nil {
		d.with = append(d.with, "INDEX_STATES = "+text(s.table))
	}
}

var errLocal = errors.New("it is local: its entries stand in each region of the table")

// unserved says why the index o, which is of no table that is described, is left out.
func (o *phoenixObject) unserved() string {
	switch in := o.links[physicalLink]; {
	case o.header.count("INDEX_TYPE") == localIndex:
		return errLocal.Error()
	case len(o.links[viewIndexLink]) > 0 && len(in) > 0:
		return "it is of a view: the rows that are written through its table have no entry in " + in[0]
	}
	return "its table is"
}

var errTTL = errors.New("the cells of a row go at other times than its entry, by their TTL")

// lasting refuses a table whose cells go by themselves.
func (s *phoenixSystem) lasting(o *phoenixObject) error {
	families, err := s.families(o.stored())
	if err != nil {
		return err
	}
	for _, f := range families {
		if ttl := f.Attributes["TTL"]; ttl != "" && ttl != "FOREVER" && ttl != strconv.Itoa(math.MaxInt32) {
			return errTTL
		}
	}
	return nil
}

// indexParts are the parts of the keys of an index of the table o. Each row of o has an entry: Phoenix writes it before the row, and
// removes it after.
func indexParts(d *phoenixDef, o, index *phoenixObject) ([]string, error) {
	h := index.header
	switch kind := h.count("INDEX_TYPE"); {
	case kind == localIndex:
		return nil, errLocal
	case kind != globalIndex && kind != uncoveredIndex:
		return nil, fmt.Errorf("its INDEX_TYPE is %d", kind)
	case h.text("INDEX_STATE") != activeIndex:
		return nil, fmt.Errorf("its INDEX_STATE is %q, not ACTIVE", h.text("INDEX_STATE"))
	case h.number("INDEX_DISABLE_TIMESTAMP") != 0:
		return nil, errors.New("a part of it is still being built")
	case h["INDEX_WHERE"] != nil:
		return nil, errors.New("it has entries for some of the rows only")
	case h["VIEW_INDEX_ID"] != nil:
		return nil, errors.New("it is of a view")
	}
	keys := slices.DeleteFunc(slices.Clone(index.columns), func(c phoenixCell) bool { return c.number("KEY_SEQ") == 0 })
	slices.SortFunc(keys, func(a, b phoenixCell) int { return cmp.Compare(a.number("KEY_SEQ"), b.number("KEY_SEQ")) })
	parts := saltPart(strconv.FormatInt(h.number("SALT_BUCKETS"), 10))
	for i, k := range keys {
		c := d.columnOf(k)
		if c == nil || !isName(k.text("COLUMN_DEF"), c.name) {
			return nil, fmt.Errorf("it is of %s, which is no column", cmp.Or(k.text("COLUMN_DEF"), k.name))
		}
		expr, p, err := indexed(c, k)
		if err != nil {
			return nil, err
		}
		parts = append(parts, keyParts(expr, p, k.number("SORT_ORDER") == 1, i+1 == len(keys))...)
	}
	return parts, nil
}

// columnOf is the column of d that one of an index is made of, whose name has that of its family in front; nil where it is none.
func (d *phoenixDef) columnOf(k phoenixCell) *phoenixColumn {
	family, name, _ := strings.Cut(k.name, ":")
	if at := slices.IndexFunc(d.cols, func(c *phoenixColumn) bool { return c.family == family && c.name == name }); at >= 0 {
		return d.cols[at]
	}
	return nil
}

// included are the columns that the entries of an index of o carry in cells, and where. What the cells do not tell as surely as the rows is
// left away. It is nil where Phoenix itself takes no entry without its row.
func (d *phoenixDef) included(o, index *phoenixObject) ([]string, error) {
	if index.header.count("INDEX_TYPE") == uncoveredIndex {
		return nil, nil // all entries are marked as verified, those of what a row was once, too
	}
	if index.encoded() != o.encoded() {
		return nil, nil // of such an index Phoenix 5.2.1 says other qualifiers than it writes
	}
	out := []string{}
	columns := slices.DeleteFunc(slices.Clone(index.columns), func(c phoenixCell) bool { return c.number("KEY_SEQ") != 0 })
	slices.SortFunc(columns, func(a, b phoenixCell) int {
		return cmp.Compare(a.number("ORDINAL_POSITION"), b.number("ORDINAL_POSITION"))
	})
	for _, k := range columns {
		typ, array, err := phoenixTypeOf(k.number("DATA_TYPE"))
		if err != nil {
			return nil, err
		}
		c := d.columnOf(k)
		if c == nil || c.filled || c.typ != typ || c.array != array {
			continue
		}
		carried := *c
		if err := carried.placed(k, index); err != nil {
			return nil, err
		}
		p, err := c.stored("", &table{})
		if err != nil {
			return nil, err
		}
		from, encoding := carried.cell(cmp.Or(k.family, d.family), p)
		carry := parser.QuoteName(c.hql) + " FROM " + from
		if c.element > 0 || carried.element > 0 { // else as in the rows
			carry += " AS " + encoding
		}
		out = append(out, carry)
	}
	return out, nil
}

// isName reports whether an expression is a column's name, which may be quoted and behind that of its family.
func isName(expression, name string) bool {
	return expression == name || expression == `"`+name+`"` || strings.HasSuffix(expression, "."+name) || strings.HasSuffix(expression, `."`+name+`"`)
}

// indexed says how the column c stands in an index, where k describes it. What may be NULL is there in a form of varying width.
func indexed(c *phoenixColumn, k phoenixCell) (expr string, p phoenixType, err error) {
	typ, array, err := phoenixTypeOf(k.number("DATA_TYPE"))
	if err != nil {
		return "", p, err
	}
	own, err := c.stored("", &table{})
	refuse := func() (string, phoenixType, error) {
		return "", p, fmt.Errorf("hql does not look for a %s that is kept as a %s, as %s is", c.typ, typ, c.name)
	}
	switch expr = parser.QuoteName(c.hql); {
	case err != nil:
		return "", p, err
	case array || c.array:
		return "", p, fmt.Errorf("%s is an array", c.name)
	case c.filled:
		return "", p, fmt.Errorf("%s has a DEFAULT", c.name)
	case typ == c.typ:
		p = own
	case typ == "DECIMAL" && slices.Contains([]string{"TINYINT", "SMALLINT", "INT", "BIGINT"}, own.typ):
		expr, p = "CAST("+expr+" AS DECIMAL)", phoenixTypes[typ]
	case typ == "DECIMAL" && own.typ == "TIMESTAMP":
		expr, p = "CAST(CAST("+expr+" AS BIGINT) AS DECIMAL)", phoenixTypes[typ]
	default:
		return refuse()
	}
	if p.nullable = k.number("NULLABLE") == 1; p.nullable && !p.variable {
		return refuse()
	}
	return expr, p, nil
}
