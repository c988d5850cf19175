package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/parser"
)

// phoenixType describes how Phoenix stores an SQL type.
type phoenixType struct {
	typ      string // hql's type
	cell     string // encoding of a cell, "" for the type's own
	key      string // encoding in a key; the key of a DESC column has it INVERTED
	variable bool   // a separator follows in a key
	nullable bool   // in a key it may be NULL
	note     string
}

const nanoseconds = "is in seconds since 1970, with nanoseconds as decimals; without nanoseconds it may be a TIMESTAMP"

// phoenixTypes are Phoenix's types. Signed numbers have their sign bit flipped.
var phoenixTypes = map[string]phoenixType{
	"TINYINT":            {typ: "TINYINT", cell: "ORDERED INT8", key: "ORDERED INT8"},
	"SMALLINT":           {typ: "SMALLINT", cell: "ORDERED INT16", key: "ORDERED INT16"},
	"INTEGER":            {typ: "INT", cell: "ORDERED INT32", key: "ORDERED INT32"},
	"BIGINT":             {typ: "BIGINT", cell: "ORDERED INT64", key: "ORDERED INT64"},
	"UNSIGNED_TINYINT":   {typ: "TINYINT", key: "UINT8"},
	"UNSIGNED_SMALLINT":  {typ: "SMALLINT", key: "UINT16"},
	"UNSIGNED_INT":       {typ: "INT", key: "UINT32"},
	"UNSIGNED_LONG":      {typ: "BIGINT", key: "UINT64"},
	"DOUBLE":             {typ: "DOUBLE", cell: "PHOENIX DOUBLE", key: "PHOENIX DOUBLE"},
	"UNSIGNED_DOUBLE":    {typ: "DOUBLE", key: "FLOAT64"},
	"UNSIGNED_FLOAT":     {typ: "FLOAT", key: "FLOAT32"},
	"FLOAT":              {typ: "FLOAT", cell: "PHOENIX FLOAT", key: "PHOENIX FLOAT"},
	"DECIMAL":            {typ: "DECIMAL", cell: "PHOENIX DECIMAL", key: "PHOENIX DECIMAL", variable: true},
	"BOOLEAN":            {typ: "BOOLEAN", cell: "PHOENIX BOOLEAN", key: "PHOENIX BOOLEAN"},
	"DATE":               {typ: "TIMESTAMP", cell: "ORDERED INT64", key: "ORDERED INT64"},
	"TIME":               {typ: "TIMESTAMP", cell: "ORDERED INT64", key: "ORDERED INT64"},
	"UNSIGNED_DATE":      {typ: "TIMESTAMP", key: "UINT64"},
	"UNSIGNED_TIME":      {typ: "TIMESTAMP", key: "UINT64"},
	"TIMESTAMP":          {typ: "DECIMAL", cell: "PHOENIX TIMESTAMP", key: "PHOENIX TIMESTAMP", note: nanoseconds},
	"UNSIGNED_TIMESTAMP": {typ: "DECIMAL", cell: "PHOENIX UNSIGNED TIMESTAMP", key: "PHOENIX UNSIGNED TIMESTAMP", note: nanoseconds},
	"VARCHAR":            {typ: "STRING", key: "TEXT", variable: true},
	"VARBINARY":          {typ: "BYTES", key: "BYTES", variable: true},
}

// phoenixColumn is a column definition.
type phoenixColumn struct {
	family, name string // as Phoenix keeps them: upper case unless quoted
	hql          string
	typ          string
	length       int
	array        bool
	notNull      bool
	filled       bool   // it has a DEFAULT
	def          string // the DEFAULT as Phoenix keeps it
	qualifier    string // of its cell
	storesNull   bool   // a NULL is an empty cell
	element      int64  // its number in the cell that holds all columns; 0: it has its own
}

// keyColumn is a column of the primary key.
type keyColumn struct {
	name string
	desc bool
}

// phoenixName reads name or a.name; Phoenix keeps names in upper case unless they are quoted.
func phoenixName(r *reader) (qualifier, name string, err error) {
	one := func() (string, error) {
		t := r.next()
		switch t.kind {
		case quoted:
			return t.text, nil
		case word:
			return strings.ToUpper(t.text), nil
		}
		return "", at(r.src, t.pos, "expected a name, found %q", t.text)
	}
	if name, err = one(); err != nil {
		return "", "", err
	}
	if r.accept(".") {
		qualifier = name
		name, err = one()
	}
	return qualifier, name, err
}

// lower returns hql's name for a Phoenix name in upper case; a name of mixed case stays.
func lower(name string) string {
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	return name
}

// phoenixDef is a table of Phoenix that is being translated.
type phoenixDef struct {
	*table
	name   string // Phoenix's
	cols   []*phoenixColumn
	keys   []keyColumn
	salt   string // buckets; "" or "0": none
	family string // of cells whose column has no family
	// constants are the values of key columns that are equal in all rows.
	constants map[string]string
}

// isKey reports whether c is a column of the primary key.
func (d *phoenixDef) isKey(c *phoenixColumn) bool {
	return c.family == "" && slices.ContainsFunc(d.keys, func(k keyColumn) bool { return k.name == c.name })
}

// describe adds the columns and the key's parts.
func (d *phoenixDef) describe() error {
	t, inKey := d.table, map[string]*phoenixColumn{}
	cells := 0
	for _, c := range d.cols {
		c.hql = t.unique(lower(c.name))
		p, err := c.stored(t)
		if err != nil {
			return err
		}
		if d.isKey(c) {
			inKey[c.name] = c
			if c.array {
				t.note("column %s is an array in the key: it is read as bytes", c.hql)
				p.typ = "BYTES"
			}
			if constant, ok := d.constants[c.name]; ok {
				t.note("column %s is left out: it is %s in all rows", c.hql, text(constant))
			} else {
				t.column(c.hql, p.typ, "", "")
			}
			continue
		}
		f := cmp.Or(c.family, d.family)
		from, encoding := c.cell(f, p)
		def, known := c.absent(p)
		switch {
		case known:
			encoding = "DEFAULT(" + def + ", " + text(encoding) + ")"
		case c.element > 0:
		case c.storesNull:
			encoding = "NULLABLE " + encoding
		default:
			encoding = p.cell
		}
		if c.filled && !known {
			t.note("column %s is left out (see below): hql would show NULL where Phoenix shows the DEFAULT, because no cell is stored", c.hql)
			t.family(f)
			t.later = append(t.later, columnDef(c.hql, p.typ, from, encoding))
		} else {
			t.column(c.hql, p.typ, from, encoding)
		}
		cells++
	}
	t.parts = append(t.parts, saltPart(d.salt)...)
	for i, k := range d.keys {
		c := inKey[k.name]
		if c == nil {
			return fmt.Errorf("table %s: the key column %s is not defined", d.name, k.name)
		}
		if err := d.keyColumn(c, k.desc, i); err != nil {
			return err
		}
	}
	if cells == 0 {
		t.family(d.family)
	}
	return nil
}

// cell returns the cell of a column in family, and its encoding.
func (c *phoenixColumn) cell(family string, p phoenixType) (from, encoding string) {
	switch {
	case c.element == 0:
		return cell(family, c.qualifier), cmp.Or(p.cell, p.key)
	case p.cell == "":
		return cell(family, singleCell), fmt.Sprintf("PHOENIX ELEMENT(%d)", c.element)
	}
	return cell(family, singleCell), fmt.Sprintf("PHOENIX ELEMENT(%d, %s)", c.element, text(p.cell))
}

// saltPart returns the key part for the salt of a table with this number of buckets; nil for "" and "0", which mean no
// salt.
func saltPart(buckets string) []string {
	if buckets == "" || buckets == "0" {
		return nil
	}
	return []string{"PHOENIX_SALT(" + buckets + ") AS UINT8"}
}

// absent returns the DEFAULT of c, which rows without a cell of c have. ok is false if c has no DEFAULT, or a DEFAULT
// that is not a plain number, text or boolean.
func (c *phoenixColumn) absent(p phoenixType) (literal string, ok bool) {
	toks, err := tokens(c.def)
	if err != nil || len(toks) == 0 {
		return "", false
	}
	one, is := toks[0], strings.ReplaceAll(c.def, " ", "")
	isNumber := one.kind != str && strings.Trim(is, "+-.0123456789eE") == ""
	switch p.typ {
	case "STRING":
		return text(one.text), len(toks) == 1 && one.kind == str && one.text != "" && len(one.text) == len(strings.TrimRight(one.text, " "))
	case "TINYINT", "SMALLINT", "INT", "BIGINT":
		_, err := strconv.ParseInt(is, 10, 64)
		return text(is), isNumber && err == nil
	case "DOUBLE", "FLOAT", "DECIMAL":
		_, err := strconv.ParseFloat(is, 64)
		return text(is), isNumber && err == nil && p.cell != "PHOENIX TIMESTAMP" && p.key != "PHOENIX UNSIGNED TIMESTAMP"
	case "BOOLEAN":
		return strings.ToUpper(is), strings.EqualFold(is, "true") || strings.EqualFold(is, "false")
	}
	return "", false
}

// singleCell is the qualifier of a cell that holds all columns.
const singleCell = "1"

// firstQualifier is the number of a table's first encoded column.
const firstQualifier = 11

// keyColumn adds the key part of c, the i-th column of the key. If a view fixes the value of c, the part is that
// constant.
func (d *phoenixDef) keyColumn(c *phoenixColumn, desc bool, i int) error {
	p, err := c.stored(&table{})
	if err != nil {
		return err
	}
	if c.array {
		p = phoenixTypes["VARBINARY"]
	}
	expr := parser.QuoteName(c.hql)
	if constant, ok := d.constants[c.name]; ok {
		switch p.typ {
		case "STRING":
			expr = text(constant)
		case "TINYINT", "SMALLINT", "INT", "BIGINT":
			expr = "CAST(" + constant + " AS " + p.typ + ")"
		default:
			return fmt.Errorf("column %s is a constant of type %s, which hql cannot bind", c.name, c.typ)
		}
	} else {
		p.nullable = p.variable && !c.notNull && len(d.keys) > 1 // Phoenix refuses NULL in a part of fixed width
	}
	d.parts = append(d.parts, keyParts(expr, p, desc, i+1 == len(d.keys))...)
	return nil
}

// keyParts returns a part of a key and, if it varies in width, the separator after it. The last part has no separator
// if it ascends.
func keyParts(expr string, p phoenixType, desc, last bool) []string {
	separator, encoding := "X'00'", p.key
	if desc {
		separator, encoding = "X'FF'", "INVERTED "+encoding
	}
	if p.nullable {
		encoding = "NULLABLE " + encoding
	}
	parts := []string{expr + " AS " + encoding}
	if p.variable && (!last || desc) {
		parts = append(parts, separator)
	}
	return parts
}

// stored returns how a column is stored, and notes in t if hql cannot read all of it.
func (c *phoenixColumn) stored(t *table) (phoenixType, error) {
	switch {
	case c.array:
		of := *c
		of.array = false
		p, err := of.stored(t)
		if err != nil {
			return p, err
		}
		array := "PHOENIX ARRAY"
		if p.cell != "" {
			array += "(" + text(p.cell) + ")"
		}
		return phoenixType{typ: p.typ + "[]", cell: array}, nil
	case c.typ == "CHAR" || c.typ == "BINARY":
		if c.length < 1 {
			return phoenixType{}, fmt.Errorf("column %s: %s needs a length", c.name, c.typ)
		}
		if c.typ == "CHAR" {
			padded := fmt.Sprintf("TEXT(%d)", c.length)
			return phoenixType{typ: "STRING", cell: padded, key: padded}, nil
		}
		return phoenixType{typ: "BYTES", cell: fmt.Sprintf("BYTES(%d)", c.length), key: fmt.Sprintf("BYTES(%d)", c.length)}, nil
	}
	p, ok := phoenixTypes[c.typ]
	if !ok {
		return p, fmt.Errorf("column %s has the unknown type %s", c.name, c.typ)
	}
	if p.note != "" {
		t.note("column %s %s", c.hql, p.note)
	}
	return p, nil
}

// quoteAs returns a key part in SQL.
func quoteAs(column, encoding string) string { return parser.QuoteName(column) + " AS " + encoding }
