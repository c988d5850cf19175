// Package worlds draws random tables for tests: definitions with every feature of CREATE TABLE, values that their
// columns can hold, and predicates on them.
package worlds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
)

// Table is a drawn definition.
type Table struct {
	Name string
	// Create are the statements that create it, its own last.
	Create  []string
	Columns []Column
	Layouts []string // names that the hint LAYOUT takes
	Drawn   bool     // a part of the key is drawn for each row, so that two rows may have the same values
	// pieces are the beginnings of delimiters: values that end with one are worth testing.
	pieces []string
	// Def is the table that a catalog builds.
	Def *catalog.Table
}

// Column is a column of a definition.
type Column struct {
	Name, Type   string
	Key, NotNull bool
}

// Versions makes a table keep old versions of rows, which can be read after a few writes.
const Versions = " FAMILY f (VERSIONS = 9) FAMILY g (VERSIONS = 9)"

// DDL returns the table's own statement.
func (t *Table) DDL() string { return t.Create[len(t.Create)-1] }

// Options restrict the drawn tables.
type Options struct {
	// Unique draws keys that differ for all different values of their columns, as PRIMARY KEY does: no beginnings of
	// texts, no NULLs. A DECIMAL with another scale is still another key.
	Unique bool
	// NoLookup draws no LOOKUP of other tables' numbers, NoCells no cells of the primary layout that other layouts have in
	// their keys.
	NoLookup bool
	// Default, if not nil, is called with each column of a cell and returns its DEFAULT, or "" for none.
	Default func(Column) string
}

// field is a type of column that can be in a key.
type field struct {
	typ string
	// parts are formats of key parts with %s for the column, each of which distinguishes rows; those that begin with !
	// vary in width and have no end. {n} is any encoding of integers of n bytes or more.
	parts  []string
	hashes []string // parts made from the column that may precede or follow
}

var (
	anyHashes  = []string{"LEFT(MD5(%s), 1)", "LEFT(MD5(CONCAT(%s)), 2)"}
	intHashes  = append([]string{"FLOORMOD(%s, 3) AS UINT8", "CRC32(%s) %% 5 AS UINT8", "ABS(%s %% 3) AS UINT8", "%s %% 4 AS INT8", "%s / 10 AS INT64", "RING(%s, 'a', 'b', 'c', 5)", "LENGTH(CONCAT(%s)) AS UINT8", "MURMUR3(%s) %% 7 AS TEXT(2)", "%s AS VINT"}, anyHashes...)
	textHashes = append([]string{"LEFT(SHA1(%s), 1)", "CRC32(%s) %% 3 AS TEXT(1)", "ABS(JAVA_HASH(%s)) %% 4 AS UINT8", "SUBSTRING(MD5(%s), 9, 2)", "UNHEX(MD5(%s))", "UPPER(LEFT(MD5(%s), 3))", "LOWER(RIGHT(SHA256(%s), 2))",
		"MURMUR3(%s) %% 7 AS TEXT(2)", "LEFT(SHA512(%s), 3)", "LEFT(SHA224(%s), 2)", "RIGHT(SHA384(%s), 1)", "RING(%s, 'a' TO 'd', 10)", "LENGTH(%s) AS UINT8", "REVERSE(LEFT(MD5(%s), 2)) AS TEXT(2)"}, anyHashes...)
	timeHashes = append([]string{"FLOORMOD(%s, 7) AS UINT8", "%s %% 10 AS INT8", "DATE(%s) AS TEXT('yyyyMMdd')", "CAST(%s AS DATE) AS TEXT('yyyy-MM-dd')", "DATE_TRUNC('month', %s) AS TEXT('yyyyMM')", "HOUR_OF_DAY(%s) AS UINT8", "MINUTE_OF_DAY(%s) AS UINT16",
		"SECOND_OF_DAY(%s) AS UINT24", "MILLIS_OF_DAY(%s) AS TEXT(8)", "DATE_BIN('1 hour', %s) AS INT64", "BIN_OFFSET('1 hour', %s) AS UINT32", "%s + INTERVAL '8 hours' AS INT64", "EXTRACT(dow FROM %s) AS UINT8", "LEFT(MD5(CAST(EPOCH_MS(%s) AS STRING)), 1)", "2147483647 - %s / 1000 AS INT64"}, anyHashes...)
)

var fields = []field{
	{"INT", []string{"%s AS {1}", "%s AS {1}", "%s AS {2}", "%s AS TEXT(4)", "%s AS REVERSED TEXT(3)", "%s AS HEX(3)", "%s AS UPPER HEX(4)", "%s AS CROCKFORD(4)", "%s AS BASE36(4)", "%s AS VINT", "!%s AS TEXT", "100 - %s AS {2}", "%s + 3 AS {2}"}, intHashes},
	{"BIGINT", []string{"%s AS {1}", "%s AS {4}", "%s AS {8}", "%s AS TEXT(6)", "%s AS REVERSED TEXT(7)", "%s AS HEX(4)", "%s AS BASE36(4)", "%s AS VINT", "!%s AS TEXT", "100 - %s AS {4}", "%s + 3 AS {4}", "9223372036854775807 - %s AS INT64", "-1 - %s AS ORDERED INT64"}, intHashes},
	{"SMALLINT", []string{"%s AS {1}", "%s AS {2}", "%s AS TEXT(5)", "%s AS VINT"}, intHashes},
	{"TINYINT", []string{"%s AS {1}", "%s AS TEXT(3)", "%s AS VINT"}, intHashes},
	{"STRING", []string{"%s AS TEXT(4)", "%s AS NUL TEXT(4)", "%s AS COUNT8 TEXT", "%s AS COUNT16 TEXT", "%s AS COUNT32 TEXT", "%s AS VINT TEXT", "%s AS BYTES(2)", "%s AS UUID", "!%s AS BYTES", "!%s AS TEXT", "!%s AS TEXT", "!%s AS TEXT", "!%s AS TEXT", "!REVERSE(%s) AS TEXT", "!REVERSE_DOMAIN(%s) AS TEXT", "REVERSE(%s) AS TEXT(4)"}, textHashes},
	{"BYTES", []string{"%s AS COUNT8 TEXT", "%s AS COUNT16 TEXT", "%s AS VINT TEXT", "%s AS BYTES(2)", "%s AS TEXT(2)", "!%s AS BYTES", "!%s AS BYTES"}, []string{"LEFT(MD5(HEX(%s)), 1)", "LENGTH(%s) AS UINT8", "LEFT(SHA1(%s), 2)"}},
	{"TIMESTAMP", []string{"%s AS INT64", "%s AS {6}", "9223372036854775807 - %s AS INT64", "%s AS TEXT(13)", "%s AS REVERSED TEXT(13)", "%s AS HEX(12)", "%s AS UPPER HEX(11)", "%s AS BASE36(9)", "%s AS CROCKFORD(10)", "%s AS VINT", "%s AS TEXT('yyyyMMddHHmmssSSS')", "%s AS EPOCH32", "!%s AS TEXT", "%s AS PHOENIX TIMESTAMP", "%s AS PHOENIX UNSIGNED TIMESTAMP",
		"DATE(%s) AS TEXT('yyyyMMdd'), MILLIS_OF_DAY(%[1]s) AS UINT32", "DATE_BIN('5 minutes', %s) AS INT64, BIN_OFFSET('5 minutes', %[1]s) AS UINT32", "DATE(%s) AS ORDERED INT32, SECOND_OF_DAY(%[1]s) AS UINT24", "CAST(%s AS DATE) AS TEXT('yyyyMMdd'), CAST(%[1]s AS TIME) AS TEXT('HHmmssSSS')", "TO_CHAR(%s, 'YYYYMM') AS TEXT(6), TO_CHAR(%[1]s, 'DDHH24') AS TEXT(4), TO_CHAR(%[1]s, 'MI:SS:MS') AS TEXT(9)", "2147483647 - %s / 1000 AS INT32", "%s + INTERVAL '8 hours' AS TEXT('yyyyMMddHHmmssSSS')", "%s - INTERVAL '1 hour' AS INT64"}, timeHashes},
	{"DATE", []string{"%s AS TEXT('yyyyMMdd')", "%s AS TEXT('yyyy-MM-dd')", "%s AS TEXT('ddMMyyyy')", "%s AS {4}", "%s AS {3}", "!%s AS TEXT"}, append([]string{"DATE_TRUNC('year', %s) AS TEXT('yyyy')", "LEFT(MD5(%s::TIMESTAMP), 1)", "EXTRACT(month FROM %s) AS UINT8"}, anyHashes...)},
	{"TIME", []string{"%s AS UINT32", "%s AS {4}", "%s AS TEXT('HHmmssSSS')", "!%s AS TEXT"}, anyHashes},
	{"DOUBLE", []string{"%s AS FLOAT64", "%s AS ORDERED FLOAT64", "%s AS PHOENIX DOUBLE", "%s AS FLOAT32", "%s AS ORDERED FLOAT32", "%s AS PHOENIX FLOAT", "!%s AS TEXT"}, append([]string{"%s - 5.0 AS ORDERED FLOAT64", "0.5 + %s AS FLOAT64", "1 - %s AS ORDERED FLOAT64"}, anyHashes...)},
	{"FLOAT", []string{"%s AS FLOAT32", "%s AS ORDERED FLOAT32", "%s AS PHOENIX FLOAT", "%s AS ORDERED FLOAT64", "!%s AS TEXT"}, anyHashes},
	{"BOOLEAN", []string{"%s AS BOOLEAN", "%s AS PHOENIX BOOLEAN", "!%s AS TEXT"}, anyHashes},
	{"DECIMAL", []string{"!%s AS TEXT", "!%s AS BIGDECIMAL", "!%s AS PHOENIX DECIMAL", "!%s AS PHOENIX DECIMAL", "%s AS PHOENIX TIMESTAMP", "%s AS PHOENIX UNSIGNED TIMESTAMP"}, anyHashes},
}

var integers = []string{"INT", "UINT", "ORDERED INT", "LITTLE INT"}

var delimiters = []string{"X'00'", "X'00'", "'|'", "'~'", "'::'", "'aa'", "X'FFFF'", "X'0000'", "'aba'", "'-a-'", "X'FF'"}

// cellEncodings are the encodings of cells by type, in addition to the type's own.
var cellEncodings = map[string][]string{
	"BOOLEAN": {"TEXT", "BOOLEAN", "PHOENIX BOOLEAN"}, "TINYINT": {"TEXT", "{1}", "TEXT(3)", "VINT"}, "SMALLINT": {"TEXT", "{2}", "VINT"},
	"INT": {"TEXT", "{4}", "VINT", "TEXT(10)", "HEX(8)"}, "BIGINT": {"TEXT", "{8}", "VINT", "BASE36(13)", "CROCKFORD(13)", "UPPER HEX(16)", "REVERSED TEXT(19)"},
	"FLOAT": {"TEXT", "FLOAT32", "FLOAT64", "ORDERED FLOAT32", "PHOENIX FLOAT"}, "DOUBLE": {"TEXT", "FLOAT64", "ORDERED FLOAT64", "PHOENIX DOUBLE"}, "DECIMAL": {"TEXT", "BIGDECIMAL", "PHOENIX DECIMAL", "PHOENIX TIMESTAMP"},
	"STRING": {"TEXT", "BYTES", "VINT TEXT", "COUNT8 TEXT", "COUNT16 TEXT", "COUNT32 TEXT"}, "BYTES": {"BYTES", "VINT TEXT", "COUNT8 TEXT", "COUNT16 TEXT", "COUNT32 TEXT"},
	"DATE": {"TEXT", "{4}", "TEXT('yyyyMMdd')"}, "TIME": {"TEXT", "{4}", "TEXT('HHmmssSSS')"}, "TIMESTAMP": {"TEXT", "{8}", "TEXT('yyyyMMddHHmmssSSS')", "VINT", "PHOENIX TIMESTAMP"}, "JSON": {"TEXT"},
}

// indexParts are the first parts of an index over a cell, by type; ! has the meaning that it has in field.parts.
var indexParts = map[string][]string{
	"DATE": {"%s AS TEXT('yyyyMMdd')", "%s AS INT32"}, "TIME": {"%s AS UINT32"}, "TIMESTAMP": {"%s AS INT64", "DATE(%s) AS TEXT('yyyyMMdd'), %[1]s AS ORDERED INT64"},
	"STRING": {"LEFT(MD5(%s), 2), %[1]s AS TEXT, '|'", "!%s AS TEXT", "%s AS COUNT8 TEXT", "!REVERSE(%s) AS TEXT", "LEFT(MD5(%s), 2)", "!UPPER(%s) AS TEXT", "LEFT(%s, 1) AS TEXT(1)"},
	"INT":    {"%s AS INT32", "%s AS ORDERED INT32", "FLOORMOD(%s, 3) AS UINT8", "CRC32(%s) %% 4 AS UINT8, %[1]s AS INT64", "%s AS VINT"},
}

// coarse has the types of columns whose key part may hold less than the value; a cell then holds the whole value.
var coarse = map[string]bool{"TIMESTAMP": true, "DOUBLE": true}

// computed are further parts made from a column, by type, with functions whose preimages are known.
var computed = map[string][]string{
	"INT": {"SIGN(%s) AS INT8", "TO_HEX(%s) AS TEXT(16)", "DIV(%s, 3) AS INT64", "ROUND(%s, -1) AS INT64", "TRUNC(%s, -1) AS INT64", "LPAD(CONCAT(%s), 3, '0') AS TEXT(3)"},
	"DOUBLE": {"ATAN(%s) AS FLOAT64", "ACOS(%s) AS FLOAT64", "ASIN(%s) AS FLOAT64", "CBRT(%s) AS ORDERED FLOAT64", "CEIL(%s) AS ORDERED FLOAT64", "FLOOR(%s) AS FLOAT64", "DEGREES(%s) AS FLOAT64", "RADIANS(%s) AS ORDERED FLOAT64", "EXP(%s) AS FLOAT64", "LN(%s) AS ORDERED FLOAT64", "LOG(%s) AS FLOAT64", "LOG10(%s) AS FLOAT64", "POWER(%s, 3) AS FLOAT64", "ROUND(%s) AS ORDERED FLOAT64", "TRUNC(%s) AS FLOAT64", "SQRT(%s) AS ORDERED FLOAT64", "SIGN(%s) AS INT8", "TO_TIMESTAMP(%s) AS INT64",
		"SINH(%s) AS ORDERED FLOAT64", "COSH(%s) AS ORDERED FLOAT64", "TANH(%s) AS FLOAT64", "ASINH(%s) AS ORDERED FLOAT64", "ACOSH(%s) AS FLOAT64", "ATANH(%s) AS ORDERED FLOAT64"},
	"DECIMAL":   {"TRIM_SCALE(%s) AS PHOENIX TIMESTAMP"},
	"STRING":    {"ASCII(%s) AS INT32", "LEFT(BTRIM(%s), 2) AS TEXT(2)", "LEFT(LTRIM(%s), 2) AS TEXT(2)", "LEFT(RTRIM(%s), 2) AS TEXT(2)", "OCTET_LENGTH(%s) AS UINT16", "POSITION('a' IN %s) AS UINT16", "REGEXP_LIKE(%s, '^a') AS BOOLEAN", "SIMILAR_TO(%s, '(a|b)%%') AS BOOLEAN", "STARTS_WITH(%s, 'a') AS BOOLEAN", "RPAD(%s, 3, '.') AS TEXT(3)", "LPAD(%s, 3, '.') AS TEXT(3)", "LEFT(SPLIT_PART(%s, '.', 1), 2) AS TEXT(2)"},
	"TIMESTAMP": {"TO_CHAR(%s, 'YYYYMM') AS TEXT(6)", "TIMEZONE('Asia/Tokyo', %s) AS INT64"},
}

type maker struct {
	*rand.Rand
	t      *Table
	fields []field
	names  []string
	nulls  []bool // which of them may be NULL
	opt    Options
}

// New draws a table with that name that a catalog accepts.
func New(r *rand.Rand, name string, opt Options) *Table {
	for {
		g := &maker{Rand: r, t: &Table{Name: name, Layouts: []string{"main"}}, opt: opt}
		g.draw()
		c := catalog.New()
		if c.Load(strings.Join(g.t.Create, ";\n")) != nil {
			continue
		}
		g.t.Def, _ = c.Table(name)
		if !slices.ContainsFunc(g.t.Def.Layouts, func(l *catalog.Layout) bool { _, err := l.SplitKeys(nil, nil); return err != nil }) {
			return g.t
		}
	}
}

func (g *maker) pick(xs ...string) string { return xs[g.IntN(len(xs))] }
func (g *maker) odds(n int) bool          { return g.IntN(n) == 0 }

// Types are the types of drawn columns.
var Types = []string{"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP", "JSON"}

// drawn holds the pieces of a CREATE TABLE. They must be drawn in this order, so that a seed draws the same table
// again.
type drawn struct {
	keys         int    // columns made for the key; those in cells follow
	variant      string // of the layout; "" for none
	parts, cells []string
	storedIn     string
	inCell       string // a key column that is stored in a cell, because the key holds only its hash
}

func (g *maker) draw() {
	t := g.t
	for i := range 1 + g.IntN(4) {
		g.add(fmt.Sprintf("k%d", i), fields[g.IntN(len(fields))])
	}
	if g.odds(2) { // otherwise rows share few values
		g.add("id", fields[0])
	}
	var wanted []string
	if g.odds(4) { // combine any functions
		wanted = []string{g.wanted(), g.wanted(), g.wanted()}
	}
	d := drawn{keys: len(t.Columns)}
	for i := range 1 + g.IntN(5) {
		c := Column{Name: fmt.Sprintf("c%d", i), Type: g.pick(Types...), NotNull: g.odds(5)}
		if i < 2 {
			c.Type = []string{"INT", "STRING"}[i]
		}
		t.Columns = append(t.Columns, c)
		d.cells = append(d.cells, g.cell(c))
	}
	order := g.Perm(d.keys)
	salted := g.odds(6)
	d.parts = g.key(order)
	if salted {
		d.parts = append([]string{g.pick("SALT('a','b','c')", "SALT(0 TO 2) AS UINT8", "PHOENIX_SALT(4) AS UINT8", "PINPOINT_SALT(4, 1, 3) AS UINT8", "HBASEWD_SALT(8) AS UINT8", "OPENTSDB_SALT(5) AS UINT8", "SALT HEX(2)", "SALT HEX(4)")}, d.parts...)
	}
	t.Drawn = salted && strings.HasPrefix(d.parts[0], "SALT")
	switch g.IntN(12) {
	case 0:
		d.variant = "primary key"
	case 1, 2:
		d.variant = "stored in"
	case 3:
		d.variant = "packed"
	case 4:
		d.variant = "hashed"
	case 5, 6:
		d.variant = "lookup"
	}
	if g.odds(2) {
		d.storedIn = " STORED IN '" + t.Name + "'"
	}
	g.vary(&d, order)
	front := 0
	if len(d.parts) > 0 && strings.Contains(d.parts[0], "SALT") {
		front = 1
	}
	d.parts = slices.Insert(d.parts, front, wanted...)
	t.Create = append(t.Create, g.create(&d))
}

// vary draws one of the key's columns, and applies the layout's variant to it. It changes nothing if the variant does
// not fit that column.
func (g *maker) vary(d *drawn, order []int) {
	t, at := g.t, g.IntN(d.keys)
	if i := slices.IndexFunc(g.fields[:d.keys], func(f field) bool { return f.typ == "STRING" }); d.variant == "lookup" && g.fields[at].typ != "STRING" && i >= 0 {
		at = i // only texts can have numbers
	}
	field, name := g.fields[at], g.names[at]
	others := func() []int { return slices.DeleteFunc(order, func(i int) bool { return i == at }) }
	switch {
	case d.variant == "stored in":
		d.storedIn = g.computedName(t.Name)
	case d.variant == "packed":
		switch {
		case field.typ == "TIMESTAMP": // wide rows: the moment within the bin is the qualifier
			d.parts = append(g.key(others()), "DATE_BIN('1 hour', "+name+") AS INT64")
			d.cells = []string{g.packedCell(d.keys, name+" - DATE_BIN('1 hour', "+name+") AS UINT32")}
		case d.keys > 1:
			rest, qualifier := others(), g.part(at, true)
			if len(rest) > 1 && g.odds(2) {
				qualifier = append(g.part(rest[0], false), qualifier...)
				rest = rest[1:]
			}
			d.parts = g.key(rest)
			d.cells = []string{g.packedCell(d.keys, strings.Join(qualifier, ", "))}
		}
	case d.variant == "hashed" && (field.typ == "STRING" || field.typ == "BYTES"): // instead of the value, which goes into a cell
		d.inCell = name
		d.parts = g.key(others())
		hash := "UNHEX(MD5(" + name + "))"
		if field.typ == "STRING" && !g.opt.Unique {
			hash = g.pick(hash, "LEFT("+name+", 3) AS TEXT", "SUBSTRING("+name+", 1, 2) AS TEXT", "LEFT(SHA256("+name+"), 20)")
		}
		d.parts = append(d.parts, hash)
		if len(d.parts) == 1 || g.odds(2) {
			break
		}
		d.parts = append([]string{hash, g.pick(delimiters...)}, d.parts[:len(d.parts)-1]...)
	case d.variant == "lookup" && field.typ == "STRING" && !g.opt.NoLookup:
		dict := "dict_" + t.Name
		t.Create = append(t.Create, "CREATE TABLE "+dict+" (kind STRING, name STRING, n BIGINT) ROW KEY (kind AS TEXT(4), name AS TEXT)")
		if d.parts = g.key(order); !g.odds(4) { // otherwise the key holds both the name and its number
			d.parts = g.key(others())
		}
		d.parts = slices.Insert(d.parts, g.IntN(len(d.parts)+1), "LOOKUP("+dict+".n, 'k', "+name+") AS "+g.pick("INT64", "UINT32", "ORDERED INT64", "VINT"))
	}
}

// create writes the CREATE TABLE.
func (g *maker) create(d *drawn) string {
	t := g.t
	var cols []string
	for i := range d.keys {
		c := &t.Columns[i]
		c.NotNull = !g.nulls[i]
		def := c.Name + " " + c.Type
		if c.Name == d.inCell || c.Type != "DECIMAL" && !(g.opt.Unique && coarse[c.Type]) && g.odds(12) {
			def += " FROM " + g.pick("f", "g") + ":" + c.Name
		}
		cols = append(cols, def)
	}
	ddl := "CREATE TABLE " + t.Name + " (" + strings.Join(append(cols, d.cells...), ", ") + ")"
	if g.odds(6) {
		ddl += " FAMILY f (" + g.pick("VERSIONS = 3", "BLOOMFILTER = 'ROWCOL'", "") + ")" + g.pick("", " FAMILY g (TTL = 100000000)")
	} else if g.odds(4) {
		ddl += Versions
	}
	if d.variant == "primary key" {
		ddl = "CREATE TABLE " + t.Name + " (" + strings.Join(append(cols, d.cells...), ", ") + ", PRIMARY KEY (" + strings.Join(g.names, ", ") + "))"
		t.Drawn = false
	} else {
		key, others := " ROW KEY main ("+strings.Join(d.parts, ", ")+")", ""
		if d.variant != "packed" && d.inCell == "" && !t.Drawn {
			others = g.others(d.keys)
		}
		if others == "" && g.odds(4) {
			ddl += d.storedIn + key
		} else {
			ddl += key + d.storedIn + others
		}
	}
	if d.variant != "stored in" && g.odds(3) {
		ddl += g.pick(" SPLIT AT ('1', 'a', X'80')", " SPLIT AT (X'0001')", " SPLIT INTO 3 BY HEX", " SPLIT INTO 4 BY UNIFORM", " SPLIT INTO 3 BY KEY", " SPLIT INTO 3 BY KEY")
	}
	if g.odds(10) {
		ddl += " ON MALFORMED KEY " + g.pick("ERROR", "SKIP")
	}
	return ddl
}

// madeParts lists all parts that are made from a column, each with the field that describes the column.
var madeParts = func() (out []madePart) {
	seen := map[string]bool{}
	for _, f := range fields {
		for _, p := range slices.Concat(f.hashes, computed[f.typ]) {
			if !seen[p] {
				seen[p] = true
				out = append(out, madePart{f, p})
			}
		}
	}
	return out
}()

type madePart struct {
	of   field
	text string
}

// wanted draws a part made from a column, and adds a column of its type if there is none.
func (g *maker) wanted() string {
	p := madeParts[g.IntN(len(madeParts))]
	i := slices.IndexFunc(g.fields, func(f field) bool { return f.typ == p.of.typ })
	if i < 0 {
		i = len(g.fields)
		g.add(fmt.Sprintf("k%d", i), p.of)
	}
	return fmt.Sprintf(p.text, g.names[i])
}

func (g *maker) add(name string, f field) {
	g.fields, g.names, g.nulls = append(g.fields, f), append(g.names, name), append(g.nulls, !g.opt.Unique && nullParts[f.typ] != nil && g.odds(5))
	g.t.Columns = append(g.t.Columns, Column{Name: name, Type: f.typ, Key: true, NotNull: true})
}

// others draws further layouts.
func (g *maker) others(keys int) (ddl string) {
	t := g.t
	where := func(kind string) string {
		if g.odds(4) {
			if s := g.computedName(t.Name + kind); s != "" {
				return s
			}
		}
		return g.pick("", " STORED IN '"+t.Name+kind+"'")
	}
	if g.odds(4) {
		ddl += " ROW KEY other (" + strings.Join(g.key(g.Perm(keys)), ", ") + ")" + where("_other")
		t.Layouts = append(t.Layouts, "other")
	}
	for n := range []int{0, 0, 1, 1, 2}[g.IntN(5)] {
		var lead []string
		for range 1 + g.IntN(2) {
			lead = append(lead, g.indexed(t.Columns[keys+g.IntN(len(t.Columns)-keys)])...)
		}
		if g.odds(4) {
			lead = g.key(g.Perm(keys)[:1])
			lead = append(lead, "'|'")
		}
		name := fmt.Sprint("by_cell", n)
		ddl += " INDEX " + name + " (" + strings.Join(append(lead, g.key(g.Perm(keys))...), ", ") + ")" + where("_"+name)
	}
	return ddl
}

// computedName draws a STORED IN with a name computed from a column; "" if no column has a suitable type.
func (g *maker) computedName(prefix string) string {
	i := g.IntN(len(g.names))
	n := g.names[i]
	switch g.fields[i].typ {
	case "TIMESTAMP":
		return " STORED IN ('" + prefix + "_', " + g.pick("DATE("+n+") AS TEXT('yyyyMMdd')", "DATE_TRUNC('month', "+n+") AS TEXT('yyyyMM')", "DATE_TRUNC('year', "+n+") AS TEXT('yyyy')", "DATE_BIN('1 hour', "+n+") AS TEXT('yyyyMMddHH')", "CAST("+n+" AS DATE) AS TEXT('yyyyMMdd')") + ")"
	case "DATE":
		return " STORED IN ('" + prefix + "_', " + n + " AS TEXT('yyyyMMdd'))"
	case "INT", "BIGINT", "SMALLINT", "TINYINT":
		return " STORED IN ('" + prefix + "_', " + g.pick("FLOORMOD("+n+", 3) AS TEXT(1)", "CRC32("+n+") % 4 AS TEXT(1)") + ")"
	case "STRING":
		return " STORED IN ('" + prefix + "_', LEFT(MD5(" + n + "), 1))"
	}
	return ""
}

// packedCell draws the one cell of a table whose qualifiers are made of parts.
func (g *maker) packedCell(keys int, qualifier string) string {
	c := &g.t.Columns[keys]
	g.t.Columns = g.t.Columns[:keys+1]
	c.NotNull = true
	return c.Name + " " + c.Type + " FROM f:[" + qualifier + "]" + g.encoding(*c)
}

// cell draws a column in a cell.
func (g *maker) cell(c Column) string {
	out := c.Name + " " + c.Type + g.pick("", "", " FROM g:"+c.Name, " FROM f:X'02"+fmt.Sprintf("%02x", c.Name[1])+"'") + g.encoding(c)
	if c.NotNull {
		out += " NOT NULL"
	}
	if g.opt.Default == nil {
		return out
	}
	if v := g.opt.Default(c); v != "" {
		out += " DEFAULT " + v
	}
	return out
}

func (g *maker) encoding(c Column) string {
	if !g.odds(3) {
		return ""
	}
	return g.inverted(" AS " + g.integers(g.pick(cellEncodings[c.Type]...)))
}

// integers replaces {n} by an encoding.
func (g *maker) integers(part string) string {
	i := strings.IndexByte(part, '{')
	if i < 0 {
		return part
	}
	least := int(part[i+1] - '0')
	return part[:i] + fmt.Sprint(g.pick(integers...), 8*(least+g.IntN(9-least))) + part[i+3:]
}

// inverted makes some encodings INVERTED.
func (g *maker) inverted(part string) string {
	if !g.odds(5) {
		return part
	}
	return strings.ReplaceAll(part, " AS ", " AS INVERTED ")
}

// part returns the parts of field i, with a delimiter after them if they need one.
func (g *maker) part(i int, last bool) []string {
	if g.nulls[i] {
		return g.nullable(g.fields[i].typ, g.names[i], last)
	}
	return g.delimited(g.pick(g.fields[i].parts...), g.names[i], last)
}

// nullParts are parts that may hold NULL, by type.
var nullParts = map[string][]string{
	"STRING": {"%s AS NULLABLE TEXT"}, "BYTES": {"%s AS NULLABLE BYTES"}, "INT": {"%s AS NULLABLE TEXT", "CAST(%s AS DECIMAL) AS NULLABLE PHOENIX DECIMAL"},
	"BIGINT": {"CAST(%s AS DECIMAL) AS NULLABLE PHOENIX DECIMAL"}, "DECIMAL": {"%s AS NULLABLE PHOENIX DECIMAL"},
	"TIMESTAMP": {"%s AS NULLABLE TEXT", "CAST(CAST(%s AS BIGINT) AS DECIMAL) AS NULLABLE PHOENIX DECIMAL"},
}

func (g *maker) nullable(typ, name string, last bool) []string {
	part := fmt.Sprintf(g.pick(nullParts[typ]...), name)
	switch {
	case last && (strings.HasSuffix(typ, "INT") || typ == "TIMESTAMP") && g.odds(2):
		return []string{g.pick(name+" AS NULLABLE INT64", name+" AS NULLABLE UINT32", name+" AS NULLABLE ORDERED INT64", name+" AS NULLABLE INVERTED INT64")}
	case g.odds(3):
		return []string{strings.Replace(part, "NULLABLE", "NULLABLE INVERTED", 1), "X'FF'"}
	case last:
		return []string{part}
	}
	return []string{part, "X'00'"}
}

func (g *maker) delimited(part, name string, last bool) []string {
	part, open := strings.CutPrefix(part, "!")
	out := []string{g.inverted(g.integers(fmt.Sprintf(part, name)))}
	if !open && g.odds(8) || open && (!last || g.odds(8)) && !g.odds(4) { // without a delimiter, parts of fixed width may follow
		d := g.pick(delimiters...)
		if strings.Contains(out[0], "INVERTED") && g.odds(2) {
			d = "X'FF'"
		}
		out = append(out, d)
		if literal := strings.Trim(d, "'"); d[0] == '\'' && len(literal) > 1 {
			g.t.pieces = append(g.t.pieces, literal[:1+g.IntN(len(literal)-1)])
		} else if d[0] == '\'' {
			g.t.pieces = append(g.t.pieces, literal)
		}
	}
	return out
}

// key draws a key of fields in that order, after parts made from one of them.
func (g *maker) key(order []int) (parts []string) {
	made := func() {
		i := g.IntN(len(g.names))
		if len(g.names) > 1 && g.odds(6) {
			j := g.IntN(len(g.names))
			a, b := g.names[i], g.names[j]
			if strings.HasSuffix(g.fields[i].typ, "INT") && strings.HasSuffix(g.fields[j].typ, "INT") {
				parts = append(parts, g.pick("ZORDER(ABS("+a+" % 64), "+b+" & 63, 6) AS UINT16", "GEOHASH("+a+" % 90, "+b+" % 180 / 7, 3)"))
				return
			}
			parts = append(parts, "LEFT(MD5(CONCAT("+a+", '-', "+b+")), 1)")
			return
		}
		if hs := g.fields[i].hashes; len(hs) > 0 {
			parts = append(parts, fmt.Sprintf(g.pick(hs...), g.names[i]))
			if g.odds(4) {
				parts = append(parts, g.pick("'-'", "'::'"))
			}
		}
	}
	if g.odds(2) {
		made()
	}
	for n, i := range order {
		parts = append(parts, g.part(i, n == len(order)-1)...)
		if g.odds(15) {
			made()
		}
	}
	return parts
}

// indexed draws the first parts of an index over a cell.
func (g *maker) indexed(c Column) []string {
	if nullParts[c.Type] != nil && g.odds(4) {
		return g.nullable(c.Type, c.Name, false)
	}
	parts := indexParts[c.Type]
	if parts == nil || g.odds(3) {
		for _, f := range fields {
			if f.typ == c.Type {
				parts = f.parts
			}
		}
	}
	if c.Type == "JSON" {
		parts = []string{"!%s AS TEXT"}
	}
	return g.delimited(g.pick(parts...), c.Name, false)
}
