package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/parser"
)

// phoenixType is how Phoenix stores an SQL type.
type phoenixType struct {
	typ      string // hql's type
	cell     string // encoding of a cell, "" for the type's own
	key      string // encoding in a key
	desc     string // DESC, where a key can say it: an expression over {} with its encoding
	variable bool   // a separator follows in a key
	note     string
}

const twice = "is 8 bytes of milliseconds and 4 of nanoseconds"

// phoenixTypes are Phoenix's types. Signed numbers have their sign bit flipped; DESC
// inverts every byte, which of a number x is the encoding of -1 - x.
var phoenixTypes = map[string]phoenixType{
	"TINYINT":           {typ: "TINYINT", cell: "ORDERED INT8", key: "ORDERED INT8", desc: "-1 - {} AS ORDERED INT8"},
	"SMALLINT":          {typ: "SMALLINT", cell: "ORDERED INT16", key: "ORDERED INT16", desc: "-1 - {} AS ORDERED INT16"},
	"INTEGER":           {typ: "INT", cell: "ORDERED INT32", key: "ORDERED INT32", desc: "-1 - {} AS ORDERED INT32"},
	"BIGINT":            {typ: "BIGINT", cell: "ORDERED INT64", key: "ORDERED INT64", desc: "-1 - {} AS ORDERED INT64"},
	"UNSIGNED_TINYINT":  {typ: "TINYINT", key: "UINT8", desc: "255 - {} AS UINT8"},
	"UNSIGNED_SMALLINT": {typ: "SMALLINT", key: "UINT16", desc: "65535 - {} AS UINT16"},
	"UNSIGNED_INT":      {typ: "INT", key: "UINT32", desc: "4294967295 - {} AS UINT32"},
	"UNSIGNED_LONG":     {typ: "BIGINT", key: "UINT64", desc: "-1 - {} AS INT64"},
	"DOUBLE":            {typ: "DOUBLE", cell: "PHOENIX DOUBLE", key: "PHOENIX DOUBLE"},
	"UNSIGNED_DOUBLE":   {typ: "DOUBLE", key: "FLOAT64"},
	"UNSIGNED_FLOAT":    {typ: "FLOAT", key: "FLOAT32"},
	"FLOAT":             {typ: "FLOAT", cell: "PHOENIX FLOAT", key: "PHOENIX FLOAT"},
	"DECIMAL":           {typ: "BYTES", key: "BYTES", variable: true, note: "Phoenix's DECIMAL is read as its bytes"},
	"BOOLEAN":           {typ: "BOOLEAN", cell: "PHOENIX BOOLEAN", key: "PHOENIX BOOLEAN"},
	"DATE":              {typ: "TIMESTAMP", cell: "ORDERED INT64", key: "ORDERED INT64", desc: "-1 - {} AS ORDERED INT64"},
	"TIME":              {typ: "TIMESTAMP", cell: "ORDERED INT64", key: "ORDERED INT64", desc: "-1 - {} AS ORDERED INT64"},
	"UNSIGNED_DATE":     {typ: "TIMESTAMP", key: "INT64", desc: "-1 - {} AS INT64"},
	"UNSIGNED_TIME":     {typ: "TIMESTAMP", key: "INT64", desc: "-1 - {} AS INT64"},
	"TIMESTAMP":         {typ: "BYTES", cell: "BYTES(12)", key: "BYTES(12)", note: twice},
	"VARCHAR":           {typ: "STRING", key: "TEXT", variable: true},
	"VARBINARY":         {typ: "BYTES", key: "BYTES", variable: true},
}

// phoenix reads Phoenix's CREATE TABLE and CREATE VIEW statements.
func phoenix(src string) ([]*table, error) {
	stmts, err := statements(src)
	if err != nil {
		return nil, err
	}
	var out []*table
	for _, r := range stmts {
		t, err := phoenixTable(r)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// phoenixColumn is a column definition.
type phoenixColumn struct {
	family, name string // as Phoenix keeps them: upper case unless quoted
	hql          string
	typ          string
	length       int
	array        bool
	notNull      bool
	filled       bool // it has a DEFAULT
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

// lower is how an upper-case name is called in hql; a name of mixed case stays.
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
	t := &table{name: lower(name), stored: name}
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
		return nil, at(r.src, pos, "the view %s has its rows in the table that it selects from: import that table's statement", name)
	}
	options := phoenixOptions(r)
	immutable = immutable || strings.EqualFold(options["IMMUTABLE_ROWS"], "true")
	var cols []*phoenixColumn
	var keys []keyColumn
	for _, item := range items {
		// The constraint may follow the last column without a comma.
		if i := slices.IndexFunc(item, func(t token) bool { return t.is("CONSTRAINT") }); i >= 0 {
			cr := &reader{r.src, item[i+1:]}
			cr.next()
			if keys, err = primaryKey(cr); err != nil {
				return nil, err
			}
			item = item[:i]
		}
		if len(item) == 0 {
			continue
		}
		ir := &reader{r.src, item}
		col, key, err := phoenixColumnDef(ir)
		if err != nil {
			return nil, err
		}
		cols = append(cols, col)
		if key != nil {
			keys = append(keys, *key)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("table %s has no PRIMARY KEY", name)
	}
	inKey := map[string]*phoenixColumn{}
	for _, k := range keys {
		inKey[k.name] = nil
	}
	encoded := strings.ToUpper(options["COLUMN_ENCODED_BYTES"])
	named := view || encoded == "NONE" || encoded == "0"
	family := "0"
	if f := options["DEFAULT_COLUMN_FAMILY"]; f != "" {
		family = f
	}
	cells := 0
	for _, c := range cols {
		c.hql = t.unique(lower(c.name))
		p, err := c.stored(r.src, t)
		if err != nil {
			return nil, err
		}
		if _, key := inKey[c.name]; key && c.family == "" {
			inKey[c.name] = c
			t.column(c.hql, p.typ, "", "")
			continue
		}
		f := c.family
		if f == "" {
			f = family
		}
		if c.filled {
			t.note("column %s: where Phoenix shows its DEFAULT nothing is stored, and it is NULL here", c.hql)
		}
		if named {
			t.column(c.hql, p.typ, cell(f, c.name), p.cell)
		} else {
			t.unknown(c.hql, p.typ, f, qualifierNumber(encoded, firstQualifier+cells), p.cell)
		}
		cells++
	}
	if n := options["SALT_BUCKETS"]; n != "" && n != "0" {
		t.parts = append(t.parts, "PHOENIX_SALT("+n+") AS UINT8")
	}
	variable := make([]bool, len(keys)) // of the key's columns
	absent := 0                         // at the key's end, columns that may be NULL
	for i, k := range keys {
		c := inKey[k.name]
		if c == nil {
			return nil, fmt.Errorf("table %s: the key column %s is not defined", name, k.name)
		}
		if variable[i], err = t.phoenixPart(r.src, c, k.desc, i+1 == len(keys)); err != nil {
			return nil, err
		}
		absent++
		if c.notNull || !variable[i] || len(keys) == 1 { // Phoenix refuses NULL in a part of fixed width
			absent = 0
			continue
		}
		t.note("the key column %s may be NULL: that reads as an empty value here, which Phoenix takes for NULL, too", c.hql)
	}
	if n := len(keys); absent > 1 || absent == 1 && (keys[n-1].desc || variable[n-2]) {
		t.note("Phoenix leaves NULLs at the end of a key away, with the bytes between them: hql does not read such keys; so that no row is passed over, a query that meets one fails (ON MALFORMED KEY ERROR)")
		t.options = "ON MALFORMED KEY ERROR"
	}
	if cells == 0 {
		t.family(family)
	}
	switch {
	case cells == 0 || named:
	case immutable && !strings.EqualFold(options["IMMUTABLE_STORAGE_SCHEME"], "ONE_CELL_PER_COLUMN"):
		t.note("the columns that are not in the key are left out: an immutable table has all of them in one cell, which hql does not read, unless ENCODING_SCHEME in SYSTEM.CATALOG is 0 (then add COLUMN_ENCODED_BYTES = NONE to the statement and import it again) or IMMUTABLE_STORAGE_SCHEME is 1 (then add IMMUTABLE_STORAGE_SCHEME = ONE_CELL_PER_COLUMN)")
		t.later = nil
	default:
		t.note("the columns that are not in the key are left out: their qualifiers are not known, and the wrong ones would read as NULL. A statement does not tell how they are encoded, unless it says COLUMN_ENCODED_BYTES = NONE; SYSTEM.CATALOG does, in the row with TABLE_NAME = %s and no COLUMN_NAME", text(name))
		t.note("where ENCODING_SCHEME is 0 there, add COLUMN_ENCODED_BYTES = NONE to the statement and import it again; elsewhere add the columns below, each with its COLUMN_QUALIFIER: what stands there is right for the default encoding if the table was never altered. Do not write through such a definition: Phoenix would not show the rows")
	}
	return t, nil
}

// firstQualifier is the number of a table's first encoded column.
const firstQualifier = 11

// qualifierNumber is the qualifier of the column with that number; "?" where it is not known.
func qualifierNumber(encoded string, n int) string {
	switch encoded {
	case "", "2":
		return fmt.Sprintf("X'%04X'", 1<<15|n)
	case "4":
		return fmt.Sprintf("X'%08X'", 1<<31|n)
	}
	return "?"
}

// phoenixPart adds a key column's part, and the separator after it, which a part of variable
// width has unless it is the last one and ascends.
func (t *table) phoenixPart(src string, c *phoenixColumn, desc, last bool) (variable bool, err error) {
	p, err := c.stored(src, &table{})
	if err != nil {
		return false, err
	}
	separator := "X'00'"
	part := quoteAs(c.hql, p.key)
	if desc {
		separator = "X'FF'"
		switch {
		case p.desc != "":
			part = strings.ReplaceAll(p.desc, "{}", parser.QuoteName(c.hql))
		default:
			t.note("column %s is DESC: every byte of it is inverted, and it is read so", c.hql)
			t.retype(c.hql, "BYTES")
			switch {
			case p.variable:
				part = quoteAs(c.hql, "BYTES")
			case c.length > 0:
				part = quoteAs(c.hql, fmt.Sprintf("BYTES(%d)", c.length))
			default:
				part = quoteAs(c.hql, fmt.Sprintf("BYTES(%d)", widths[p.key]))
			}
		}
	}
	t.parts = append(t.parts, part)
	if p.variable && (!last || desc) {
		t.parts = append(t.parts, separator)
	}
	return p.variable, nil
}

// widths of the encodings that DESC has no expression for.
var widths = map[string]int{"PHOENIX DOUBLE": 8, "FLOAT64": 8, "PHOENIX FLOAT": 4, "FLOAT32": 4, "BYTES(12)": 12, "PHOENIX BOOLEAN": 1}

// retype changes a key column's type.
func (t *table) retype(name, typ string) {
	prefix := parser.QuoteName(name) + " "
	for i, c := range t.columns {
		if strings.HasPrefix(c, prefix) {
			t.columns[i] = prefix + typ
		}
	}
}

// stored says how a column is stored; what is lost is noted in t.
func (c *phoenixColumn) stored(src string, t *table) (phoenixType, error) {
	switch {
	case c.array:
		t.note("column %s is an array: its bytes are read as they are", c.hql)
		return phoenixType{typ: "BYTES", key: "BYTES", variable: true}, nil
	case c.typ == "CHAR" || c.typ == "BINARY":
		if c.length < 1 {
			return phoenixType{}, at(src, c.pos, "column %s: %s needs a length", c.name, c.typ)
		}
		if c.typ == "CHAR" {
			padded := fmt.Sprintf("TEXT(%d)", c.length)
			return phoenixType{typ: "STRING", cell: padded, key: padded}, nil
		}
		return phoenixType{typ: "BYTES", cell: fmt.Sprintf("BYTES(%d)", c.length), key: fmt.Sprintf("BYTES(%d)", c.length)}, nil
	case c.typ == "UNSIGNED_TIMESTAMP":
		t.note("column %s %s", c.hql, twice)
		return phoenixTypes["TIMESTAMP"], nil
	}
	name := c.typ
	if alias := map[string]string{"INT": "INTEGER", "LONG": "BIGINT"}[name]; alias != "" {
		name = alias
	}
	p, ok := phoenixTypes[name]
	if !ok {
		return p, at(src, c.pos, "column %s has the unknown type %s", c.name, c.typ)
	}
	switch p.note {
	case "":
	case twice:
		t.note("column %s %s", c.hql, p.note)
	default:
		t.note("column %s: %s", c.hql, p.note)
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
				return nil, nil, at(r.src, args[0][0].pos, "column %s: %q is no length", c.name, args[0][0].text)
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

// phoenixOptions reads NAME = value, ... after the columns; names are without their family.
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

// quoteAs writes a part.
func quoteAs(column, encoding string) string { return parser.QuoteName(column) + " AS " + encoding }
