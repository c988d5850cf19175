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

// addIndexes adds the indexes of the table o that hql can read by, and notes why it cannot use the others.
func (s *phoenixSystem) addIndexes(d *phoenixDef, o *phoenixObject, served map[*phoenixObject]bool) {
	for _, name := range o.links[indexLink] {
		index := s.object(phoenixID{o.id.tenant, o.id.schema, name})
		if index == nil {
			continue
		}
		served[index] = true
		parts, err := indexParts(d, index)
		if err == nil {
			err = s.lasting(o)
		}
		if err == nil {
			err = d.index(d.unique(lower(name)), index.stored(), parts)
		}
		if err != nil {
			d.note("index %s is left out: %s", index, oneLine(err))
		}
	}
	if d.indexes != nil {
		d.with = append(d.with, "INDEX_STATES = "+text(s.table))
	}
}

var errLocal = errors.New("it is local: each region of the table has its own entries")

// unserved explains why the index o, which belongs to no described table, is left out.
func (o *phoenixObject) unserved() string {
	switch in := o.links[physicalLink]; {
	case o.header.count("INDEX_TYPE") == localIndex:
		return errLocal.Error()
	case len(o.links[viewIndexLink]) > 0 && len(in) > 0:
		return "it belongs to a view: rows written through the view's table have no entry in " + in[0]
	}
	return "its table is"
}

var errTTL = errors.New("by its TTL, the cells of a row expire at another time than its entry")

// lasting refuses a table whose cells expire.
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

// indexParts returns the parts of the keys of an index. Each row of its table has an entry: Phoenix writes it before the
// row, and removes it after the row.
func indexParts(d *phoenixDef, index *phoenixObject) ([]string, error) {
	h := index.header
	switch kind := h.count("INDEX_TYPE"); {
	case kind == localIndex:
		return nil, errLocal
	case kind != globalIndex && kind != uncoveredIndex:
		return nil, fmt.Errorf("its INDEX_TYPE is %d", kind)
	case h.text("INDEX_STATE") != activeIndex:
		return nil, fmt.Errorf("its INDEX_STATE is %q, not ACTIVE", h.text("INDEX_STATE"))
	case h.number("INDEX_DISABLE_TIMESTAMP") != 0:
		return nil, errors.New("it is not completely built")
	case h["INDEX_WHERE"] != nil:
		return nil, errors.New("it is partial: some rows have no entry")
	case h["VIEW_INDEX_ID"] != nil:
		return nil, errors.New("it belongs to a view")
	}
	keys := slices.DeleteFunc(slices.Clone(index.columns), func(c phoenixCell) bool { return c.number("KEY_SEQ") == 0 })
	slices.SortFunc(keys, func(a, b phoenixCell) int { return cmp.Compare(a.number("KEY_SEQ"), b.number("KEY_SEQ")) })
	parts := saltPart(strconv.FormatInt(h.number("SALT_BUCKETS"), 10))
	for i, k := range keys {
		c := d.columnOf(k)
		if c == nil || !isName(k.text("COLUMN_DEF"), c.name) {
			return nil, fmt.Errorf("it contains %s, which is not a column", cmp.Or(k.text("COLUMN_DEF"), k.name))
		}
		expr, p, err := indexed(c, k)
		if err != nil {
			return nil, err
		}
		parts = append(parts, keyParts(expr, p, k.number("SORT_ORDER") == 1, i+1 == len(keys))...)
	}
	return parts, nil
}

// columnOf returns the column of d that the index column k holds, or nil. The name of an index column begins with the
// family.
func (d *phoenixDef) columnOf(k phoenixCell) *phoenixColumn {
	family, name, _ := strings.Cut(k.name, ":")
	if at := slices.IndexFunc(d.cols, func(c *phoenixColumn) bool { return c.family == family && c.name == name }); at >= 0 {
		return d.cols[at]
	}
	return nil
}

// isName reports whether an expression is a column's name, which may be quoted and may begin with its family.
func isName(expression, name string) bool {
	return expression == name || expression == `"`+name+`"` || strings.HasSuffix(expression, "."+name) || strings.HasSuffix(expression, `."`+name+`"`)
}

// indexed returns how an index stores the column c of its table; k is the index column. A column that may be NULL is
// stored in a form of varying width.
func indexed(c *phoenixColumn, k phoenixCell) (expr string, p phoenixType, err error) {
	typ, array, err := phoenixTypeOf(k.number("DATA_TYPE"))
	if err != nil {
		return "", p, err
	}
	own, err := c.stored("", &table{})
	refuse := func() (string, phoenixType, error) {
		return "", p, fmt.Errorf("it stores a %s as a %s, which hql cannot search (column %s)", c.typ, typ, c.name)
	}
	switch expr = parser.QuoteName(c.hql); {
	case err != nil:
		return "", p, err
	case array || c.array:
		return "", p, fmt.Errorf("hql cannot search an index of an array (column %s)", c.name)
	case c.filled:
		return "", p, fmt.Errorf("hql cannot tell what it stores for rows without a cell of column %s, which has a DEFAULT", c.name)
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
