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

// phoenix reads Phoenix's CREATE TABLE and CREATE VIEW statements.
func phoenix(src string) ([]*table, error) {
	return tablesOf(src, phoenixTable)
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
	def          string // the DEFAULT as Phoenix keeps it; "" if unknown
	qualifier    string // of its cell; "" if unknown
	storesNull   bool   // a NULL is an empty cell
	element      int64  // its number in the cell that holds all columns; 0: it has its own
	guess        string // the qualifier if the table was never altered
	pos          int
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

func phoenixTable(r *reader) (*table, error) {
	if !r.accept("CREATE") {
		return nil, r.errorf("only CREATE TABLE and CREATE VIEW are read, not %q", r.peek().text)
	}
	immutable := r.accept("IMMUTABLE")
	view := r.accept("VIEW")
	if !view && !r.accept("TABLE") {
		return nil, r.errorf("only CREATE TABLE and CREATE VIEW are read, not CREATE %s", r.peek().text)
	}
	r.accept("IF", "NOT", "EXISTS")
	schema, name, err := phoenixName(r)
	if err != nil {
		return nil, err
	}
	t := &table{name: phoenixID{schema: schema, name: name}.hql(), stored: name}
	if schema != "" {
		t.stored = schema + "." + name
		t.note("with phoenix.schema.isNamespaceMappingEnabled the table is stored in %s", text(schema+":"+name))
	}
	pos := r.peek().pos
	var items [][]token
	if r.peek().is("(") || !view {
		if items, err = r.inParens(); err != nil {
			return nil, err
		}
	}
	if view && r.find("AS", "SELECT") {
		return nil, at(r.src, pos, "the rows of the view %s are in the table that it selects from: import that table's statement", name)
	}
	options := phoenixOptions(r)
	immutable = immutable || strings.EqualFold(options["IMMUTABLE_ROWS"], "true")
	cols, keys, err := phoenixItems(r.src, items)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("table %s has no PRIMARY KEY", name)
	}
	d := phoenixDef{table: t, src: r.src, name: name, cols: cols, keys: keys, salt: options["SALT_BUCKETS"], family: cmp.Or(options["DEFAULT_COLUMN_FAMILY"], "0")}
	encoded := strings.ToUpper(options["COLUMN_ENCODED_BYTES"])
	named := view || encoded == "NONE" || encoded == "0"
	cells := 0
	for _, c := range cols {
		if d.isKey(c) {
			continue
		}
		if named {
			c.qualifier = c.name
		} else {
			c.guess = qualifierNumber(encoded, firstQualifier+cells)
		}
		cells++
	}
	if err := d.describe(); err != nil {
		return nil, err
	}
	switch {
	case cells == 0 || named:
	case immutable && !strings.EqualFold(options["IMMUTABLE_STORAGE_SCHEME"], "ONE_CELL_PER_COLUMN"):
		t.note("the columns that are not in the key are left out: an immutable table has all of them in one cell, unless SYSTEM.CATALOG says otherwise. Use hql import phoenix --connect URL, which reads SYSTEM.CATALOG")
		t.later = nil
	default:
		t.note("the columns that are not in the key are left out: a statement without COLUMN_ENCODED_BYTES = NONE does not contain their qualifiers, and wrong qualifiers would read as NULL. Use hql import phoenix --connect URL, which reads SYSTEM.CATALOG")
		t.note("by hand: where ENCODING_SCHEME is 0 in the row of SYSTEM.CATALOG with TABLE_NAME = %s and no COLUMN_NAME, add COLUMN_ENCODED_BYTES = NONE to the statement and import it again; otherwise add the columns below, each with its COLUMN_QUALIFIER (the ones below are right for the default encoding if the table was never altered), and WITH (ROW_MARKER = X'00000000'), without which Phoenix would not show the rows that hql writes", text(name))
	}
	return t, nil
}

// phoenixItems reads the columns of a table and the columns of its key.
func phoenixItems(src string, items [][]token) (cols []*phoenixColumn, keys []keyColumn, err error) {
	for _, item := range items {
		// The constraint may follow the last column without a comma.
		if i := slices.IndexFunc(item, func(t token) bool { return t.is("CONSTRAINT") }); i >= 0 {
			r := &reader{src, item[i+1:]}
			r.next()
			if keys, err = primaryKey(r); err != nil {
				return nil, nil, err
			}
			item = item[:i]
		}
		if len(item) == 0 {
			continue
		}
		col, key, err := phoenixColumnDef(&reader{src, item})
		if err != nil {
			return nil, nil, err
		}
		cols = append(cols, col)
		if key != nil {
			keys = append(keys, *key)
		}
	}
	return cols, keys, nil
}

// phoenixDef is a table of Phoenix that is being translated.
type phoenixDef struct {
	*table
	src    string // of the statement, for errors
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
		p, err := c.stored(d.src, t)
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
		switch {
		case c.qualifier == "" && c.element == 0:
			if c.filled {
				t.note("column %s: hql shows NULL where Phoenix shows the DEFAULT, because no cell is stored", c.hql)
			}
			t.unknown(c.hql, p.typ, f, c.guess, p.cell)
		case c.filled && !known:
			t.note("column %s is left out (see below): hql would show NULL where Phoenix shows the DEFAULT, because no cell is stored", c.hql)
			t.family(f)
			t.later = append(t.later, columnDef(c.hql, p.typ, from, encoding))
		default:
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

// qualifierNumber returns the qualifier of the column with number n, or "?" if it is unknown.
func qualifierNumber(encoded string, n int) string {
	switch encoded {
	case "", "2":
		return fmt.Sprintf("X'%04X'", 1<<15|n)
	case "4":
		return fmt.Sprintf("X'%08X'", 1<<31|n)
	}
	return "?"
}

// keyColumn adds the key part of c, the i-th column of the key. If a view fixes the value of c, the part is that
// constant.
func (d *phoenixDef) keyColumn(c *phoenixColumn, desc bool, i int) error {
	p, err := c.stored(d.src, &table{})
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
	d.keyPart(expr, p, desc, i+1 == len(d.keys))
	return nil
}

// keyPart adds a part of the ROW KEY.
func (t *table) keyPart(expr string, p phoenixType, desc, last bool) {
	t.parts = append(t.parts, keyParts(expr, p, desc, last)...)
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
func (c *phoenixColumn) stored(src string, t *table) (phoenixType, error) {
	switch {
	case c.array:
		of := *c
		of.array = false
		p, err := of.stored(src, t)
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
			return phoenixType{}, at(src, c.pos, "column %s: %s needs a length", c.name, c.typ)
		}
		if c.typ == "CHAR" {
			padded := fmt.Sprintf("TEXT(%d)", c.length)
			return phoenixType{typ: "STRING", cell: padded, key: padded}, nil
		}
		return phoenixType{typ: "BYTES", cell: fmt.Sprintf("BYTES(%d)", c.length), key: fmt.Sprintf("BYTES(%d)", c.length)}, nil
	}
	name := c.typ
	if alias := map[string]string{"INT": "INTEGER", "LONG": "BIGINT"}[name]; alias != "" {
		name = alias
	}
	p, ok := phoenixTypes[name]
	if !ok {
		return p, at(src, c.pos, "column %s has the unknown type %s", c.name, c.typ)
	}
	if p.note != "" {
		t.note("column %s %s", c.hql, p.note)
	}
	return p, nil
}

// phoenixColumnDef reads [family.]name TYPE [(n)] [ARRAY] ... [PRIMARY KEY [DESC]].
func phoenixColumnDef(r *reader) (*phoenixColumn, *keyColumn, error) {
	c := &phoenixColumn{pos: r.peek().pos}
	var err error
	if c.family, c.name, err = phoenixName(r); err != nil {
		return nil, nil, err
	}
	typ := r.next()
	if typ.kind != word {
		return nil, nil, at(r.src, typ.pos, "column %s: expected a type, found %q", c.name, typ.text)
	}
	c.typ = strings.ToUpper(typ.text)
	if r.peek().is("(") {
		args, err := r.inParens()
		if err != nil {
			return nil, nil, err
		}
		if len(args) > 0 && len(args[0]) > 0 {
			if c.length, err = strconv.Atoi(args[0][0].text); err != nil {
				return nil, nil, at(r.src, args[0][0].pos, "column %s: %q is not a length", c.name, args[0][0].text)
			}
		}
	}
	c.array = r.accept("ARRAY") || r.accept("[")
	has := func(words ...string) bool { return (&reader{r.src, r.toks}).find(words...) }
	c.notNull, c.filled = has("NOT", "NULL"), has("DEFAULT") && !has("DEFAULT", "NULL")
	if r.find("PRIMARY", "KEY") {
		return c, &keyColumn{c.name, r.accept("DESC")}, nil
	}
	return c, nil, nil
}

// primaryKey reads PRIMARY KEY (a [ASC|DESC] [ROW_TIMESTAMP], ...).
func primaryKey(r *reader) ([]keyColumn, error) {
	if !r.accept("PRIMARY", "KEY") {
		return nil, r.errorf("expected PRIMARY KEY, found %q", r.peek().text)
	}
	items, err := r.inParens()
	if err != nil {
		return nil, err
	}
	var keys []keyColumn
	for _, item := range items {
		ir := &reader{r.src, item}
		_, name, err := phoenixName(ir)
		if err != nil {
			return nil, err
		}
		keys = append(keys, keyColumn{name, ir.find("DESC")})
	}
	return keys, nil
}

// phoenixOptions reads NAME = value, ... after the columns; names have no family.
func phoenixOptions(r *reader) map[string]string {
	out := map[string]string{}
	toks := r.toks
	for i := 1; i+1 < len(toks); i++ {
		if toks[i].is("=") {
			out[strings.ToUpper(toks[i-1].text)] = toks[i+1].text
		}
	}
	return out
}

// quoteAs returns a key part in SQL.
func quoteAs(column, encoding string) string { return parser.QuoteName(column) + " AS " + encoding }
