package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// column is a column of a table, or of a query in FROM.
type column struct {
	name    string
	kind    kind
	declare string // the type in CREATE TABLE
	key     bool
	notNull bool
}

// table is a table in both.
type table struct {
	name    string
	columns []column
	layouts []string // names that the hint LAYOUT takes
	create  []string // for hql
	pg      string
	rows    [][]value // some that were stored once
	drawn   bool      // a salt of each row is drawn: the same key may stand there twice
}

func (t *table) keys() (out []string) {
	for _, c := range t.columns {
		if c.key {
			out = append(out, c.name)
		}
	}
	return out
}

// declared are the types of hql that a kind stands for, with their types in PostgreSQL. PostgreSQL adds 32 bits in 32
// bits where hql has 64: there all integers are of 64, and a CHECK bounds them.
var declared = [...][]string{kBool: {"BOOLEAN"}, kInt: {"BIGINT", "INT", "SMALLINT", "TINYINT"}, kDec: {"DECIMAL"}, kDbl: {"DOUBLE", "FLOAT"}, kText: {"STRING"},
	kBytes: {"BYTES"}, kDate: {"DATE"}, kTime: {"TIME"}, kTs: {"TIMESTAMP"}, kJSON: {"JSON"}}

func (c *column) pgDeclare() string {
	switch c.declare {
	case "FLOAT":
		return "real"
	case "INT":
		return "bigint CHECK (" + c.name + " BETWEEN -2147483648 AND 2147483647)"
	case "SMALLINT":
		return "bigint CHECK (" + c.name + " BETWEEN -32768 AND 32767)"
	case "TINYINT":
		return "bigint CHECK (" + c.name + " BETWEEN -128 AND 127)"
	}
	return pgType[c.kind]
}

// keyField is a column as it can stand in a key: its kind and parts, of which each is enough to tell rows apart.
type keyField struct {
	kind    kind
	declare string
	parts   []string // of %s; those that begin with ! need a delimiter behind, unless they are last
	hashes  []string // parts that may stand before, made of the column
}

var intHashes = []string{"FLOORMOD(%s, 3) AS UINT8", "LEFT(MD5(%s), 1)", "ABS(%s %% 3) AS UINT8", "CRC32(%s) %% 5 AS UINT8"}
var textHashes = []string{"LEFT(MD5(%s), 2)", "CRC32(%s) %% 3 AS TEXT(1)", "LEFT(SHA1(%s), 1)", "ABS(JAVA_HASH(%s)) %% 4 AS UINT8", "SUBSTRING(MD5(%s), 9, 2)", "UNHEX(MD5(%s))", "UPPER(LEFT(MD5(%s), 3))", "MURMUR3(%s) %% 7 AS TEXT(2)"}
var timeHashes = []string{"FLOORMOD(%s, 7) AS UINT8", "DATE(%s) AS TEXT('yyyyMMdd')", "LEFT(MD5(CAST(EPOCH_MS(%s) AS STRING)), 1)"}

var keyFields = []keyField{
	{kInt, "INT", []string{"%s AS TEXT(4)", "%s AS INT32", "%s AS UINT8", "%s AS ORDERED INT32", "%s AS INT16", "%s AS INT24", "%s AS LITTLE INT16", "%s AS REVERSED TEXT(3)", "%s AS HEX(3)", "!%s AS TEXT", "%s AS CROCKFORD(4)", "%s AS UPPER HEX(4)"}, intHashes},
	{kInt, "BIGINT", []string{"%s AS INT64", "%s AS ORDERED INT64", "%s AS UINT32", "%s AS TEXT(6)", "%s AS BASE36(4)", "%s AS ORDERED INT40", "%s AS VINT", "100 - %s AS INT64", "%s + 3 AS INT32", "9223372036854775807 - %s AS INT64", "-1 - %s AS ORDERED INT64", "!%s AS TEXT"}, intHashes},
	{kInt, "SMALLINT", []string{"%s AS INT16", "%s AS ORDERED INT16", "%s AS UINT16", "%s AS TEXT(5)"}, intHashes},
	{kInt, "TINYINT", []string{"%s AS INT8", "%s AS ORDERED INT8", "%s AS UINT8"}, intHashes},
	{kText, "STRING", []string{"%s AS TEXT(4)", "%s AS NUL TEXT(4)", "%s AS COUNT8 TEXT", "%s AS COUNT16 TEXT", "%s AS VINT TEXT", "!%s AS TEXT", "!%s AS TEXT", "!%s AS TEXT", "!REVERSE(%s) AS TEXT", "!REVERSE_DOMAIN(%s) AS TEXT"}, textHashes},
	{kBytes, "BYTES", []string{"%s AS COUNT8 TEXT", "%s AS BYTES(2)", "!%s AS BYTES"}, []string{"LEFT(MD5(HEX(%s)), 1)"}},
	{kTs, "TIMESTAMP", []string{"%s AS INT64", "%s AS INT64", "9223372036854775807 - %s AS INT64", "%s AS TEXT(13)", "%s AS TEXT('yyyyMMddHHmmssSSS')", "DATE(%s) AS TEXT('yyyyMMdd'), MILLIS_OF_DAY(%[1]s) AS UINT32", "DATE_BIN('5 minutes', %s) AS INT64, BIN_OFFSET('5 minutes', %[1]s) AS UINT32", "%s AS ORDERED INT64", "%s AS CROCKFORD(10)", "%s AS UINT48", "%s AS VINT", "%s AS REVERSED TEXT(13)"}, timeHashes},
	{kDate, "DATE", []string{"%s AS TEXT('yyyyMMdd')", "%s AS TEXT('yyyy-MM-dd')", "%s AS TEXT('ddMMyyyy')", "%s AS INT32", "%s AS ORDERED INT32"}, []string{"LEFT(MD5(%s), 1)"}},
	{kTime, "TIME", []string{"%s AS UINT32", "%s AS TEXT('HHmmssSSS')"}, []string{"LEFT(MD5(%s), 1)"}},
	{kDbl, "DOUBLE", []string{"%s AS FLOAT64", "%s AS ORDERED FLOAT64"}, []string{"LEFT(MD5(%s), 1)"}},
	{kBool, "BOOLEAN", []string{"%s AS BOOLEAN"}, nil},
}

var delimiters = []string{"X'00'", "'|'", "'::'", "'~'", "'ab'", "X'FFFF'"}

// tableMaker draws a table.
type tableMaker struct {
	*rand.Rand
	t      *table
	fields []keyField
	names  []string
}

func (g *tableMaker) pick(xs ...string) string { return xs[g.IntN(len(xs))] }

// newTable draws a table of that name; hql may find that its key is none.
func newTable(r *rand.Rand, name string) *table {
	g := &tableMaker{Rand: r, t: &table{name: name, layouts: []string{"main"}}}
	t := g.t
	for i := range 1 + r.IntN(3) {
		f := keyFields[r.IntN(len(keyFields))]
		n := fmt.Sprintf("k%d", i)
		g.fields, g.names = append(g.fields, f), append(g.names, n)
		t.columns = append(t.columns, column{name: n, kind: f.kind, declare: f.declare, key: true, notNull: true})
	}
	if r.IntN(3) > 0 { // else few values tell rows apart
		t.columns = append(t.columns, column{name: "id", kind: kInt, declare: "INT", key: true, notNull: true})
		g.fields, g.names = append(g.fields, keyFields[0]), append(g.names, "id")
	}
	keys := slices.Clone(t.columns)
	var cells []string
	for i, k := range []kind{kInt, kText, kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))], kJSON}[:2+r.IntN(5)] {
		c := column{name: fmt.Sprintf("c%d", i), kind: k, declare: g.pick(declared[k]...)}
		t.columns = append(t.columns, c)
		cells = append(cells, c.name+" "+c.declare+g.cell(c))
	}
	order := r.Perm(len(g.names))
	salted := r.IntN(6) == 0
	parts := g.key(order, salted)
	stored, packed := "", ""
	if ts := slices.IndexFunc(keys, func(c column) bool { return c.kind == kTs }); ts >= 0 && !salted && r.IntN(3) == 0 {
		n := keys[ts].name
		switch r.IntN(3) {
		case 0:
			stored = " STORED IN ('" + name + "_', " + g.pick("DATE("+n+") AS TEXT('yyyyMMdd')", "DATE_TRUNC('month', "+n+") AS TEXT('yyyyMM')", "DATE_TRUNC('year', "+n+") AS TEXT('yyyy')") + ")"
		case 1: // wide rows: the moment within the hour is the qualifier
			packed = n + " - DATE_BIN('1 hour', " + n + ") AS UINT32"
			t.columns = t.columns[:len(keys)+1]
			cells = []string{t.columns[len(keys)].name + " " + t.columns[len(keys)].declare + " FROM f:[" + packed + "]"}
			t.columns[len(keys)].notNull = true
			parts = nil
			for _, i := range order {
				if i != ts {
					parts = append(parts, g.part(i, false)...)
				}
			}
			parts = append(parts, "DATE_BIN('1 hour', "+n+") AS INT64")
		}
	}
	hidden := ""
	if packed == "" && r.IntN(8) == 0 { // a hash in place of the value, which is a cell
		for i, c := range keys {
			if c.kind == kText && !slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, "REVERSE") }) {
				hidden = c.name
				parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasPrefix(p, c.name+" AS ") })
				parts = slices.Insert(parts, r.IntN(len(parts)+1), "UNHEX(MD5("+c.name+"))")
				_ = i
				break
			}
		}
	}
	lookup := ""
	if packed == "" && stored == "" && hidden == "" && !salted && r.IntN(6) == 0 {
		for _, c := range keys {
			if i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, c.name+" AS ") }); i >= 0 && c.kind == kText {
				lookup = c.name
				parts[i] = "LOOKUP(dict_" + name + ".n, '" + c.name + "', " + c.name + ") AS INT64"
				t.create = append(t.create, "CREATE TABLE dict_"+name+" (kind STRING, name STRING, n BIGINT) ROW KEY (kind AS TEXT(4), name AS TEXT)")
				break
			}
		}
	}
	var cols []string
	for i, c := range keys {
		def := c.name + " " + c.declare
		if c.name == hidden {
			def += " FROM f:" + c.name
		}
		cols = append(cols, def)
		t.columns[i].notNull = true
	}
	ddl := "CREATE TABLE " + name + " (" + strings.Join(append(cols, cells...), ", ") + ")"
	switch {
	case r.IntN(12) == 0 && packed == "" && stored == "" && hidden == "" && lookup == "":
		ddl = ddl[:len(ddl)-1] + ", PRIMARY KEY (" + strings.Join(t.keys(), ", ") + "))"
	default:
		ddl += " ROW KEY main (" + strings.Join(parts, ", ") + ")"
		if stored == "" {
			stored = " STORED IN '" + name + "'"
		}
		ddl += stored
		if packed == "" && hidden == "" && !salted {
			if r.IntN(4) == 0 {
				copied := g.key(r.Perm(len(g.names)), false)
				ddl += " ROW KEY other (" + strings.Join(copied, ", ") + ") STORED IN '" + name + "_other'"
				t.layouts = append(t.layouts, "other")
			}
			if r.IntN(3) == 0 {
				var lead []string
				for range 1 + r.IntN(2) {
					lead = append(lead, g.indexed(t.columns[len(keys)+r.IntN(len(t.columns)-len(keys))])...)
				}
				ddl += " INDEX by_cell (" + strings.Join(append(lead, g.key(r.Perm(len(g.names)), false)...), ", ") + ") STORED IN '" + name + "_index'"
			}
		}
	}
	if !strings.Contains(ddl, "STORED IN (") && r.IntN(3) == 0 {
		ddl += g.pick(" SPLIT AT ('1', 'a', X'80')", " SPLIT AT (X'0001')", " SPLIT INTO 3 BY HEX")
	}
	t.create = append(t.create, ddl)
	t.drawn = strings.Contains(ddl, "(SALT")
	var pg []string
	for i := range t.columns {
		def := t.columns[i].name + " " + t.columns[i].pgDeclare()
		if t.columns[i].notNull {
			def += " NOT NULL"
		}
		pg = append(pg, def)
	}
	t.pg = "CREATE TABLE " + name + " (" + strings.Join(pg, ", ") + ", UNIQUE (" + strings.Join(t.keys(), ", ") + "))"
	return t
}

// cell is where and how a cell is stored.
func (g *tableMaker) cell(c column) string {
	out := g.pick("", "", " FROM g:"+c.name)
	switch {
	case g.IntN(3) > 0:
	case c.kind == kJSON || c.kind == kBytes:
	case c.declare == "INT":
		out += g.pick(" AS TEXT", " AS INT32", " AS ORDERED INT32", " AS LITTLE INT32", " AS VINT")
	case c.declare == "DOUBLE":
		out += g.pick(" AS TEXT", " AS FLOAT64", " AS ORDERED FLOAT64", " AS PHOENIX DOUBLE")
	case c.kind == kDec:
		out += g.pick(" AS TEXT", " AS BIGDECIMAL")
	default:
		out += " AS TEXT"
	}
	return out
}

// part is the key field i as parts, with a delimiter behind where it needs one.
func (g *tableMaker) part(i int, last bool) []string {
	p := g.pick(g.fields[i].parts...)
	open := strings.HasPrefix(p, "!")
	out := []string{fmt.Sprintf(strings.TrimPrefix(p, "!"), g.names[i])}
	if open && !last || g.IntN(8) == 0 {
		out = append(out, g.pick(delimiters...))
	}
	return out
}

// key writes a key of all fields in that order, behind hashes or a salt.
func (g *tableMaker) key(order []int, salted bool) (parts []string) {
	if salted {
		parts = append(parts, g.pick("SALT('a','b','c')", "SALT(0 TO 2) AS UINT8", "PHOENIX_SALT(4) AS UINT8", "PINPOINT_SALT(4, 1, 3) AS UINT8", "SALT HEX(2)", "HBASEWD_SALT(8) AS UINT8"))
	} else if g.IntN(2) == 0 {
		i := g.IntN(len(g.names))
		if hs := g.fields[i].hashes; len(hs) > 0 {
			parts = append(parts, fmt.Sprintf(g.pick(hs...), g.names[i]))
			if g.IntN(4) == 0 {
				parts = append(parts, g.pick("'-'", "'::'"))
			}
		}
	}
	for n, i := range order {
		parts = append(parts, g.part(i, n == len(order)-1)...)
	}
	return parts
}

// indexed is a cell as parts at the head of an index.
func (g *tableMaker) indexed(c column) []string {
	switch c.kind {
	case kInt:
		return []string{c.name + g.pick(" AS INT64", " AS ORDERED INT64", " AS INT32")}
	case kText:
		if g.IntN(3) == 0 {
			return []string{"LEFT(MD5(" + c.name + "), 2)", c.name + " AS TEXT", g.pick(delimiters...)}
		}
		return []string{c.name + " AS TEXT", g.pick(delimiters...)}
	case kBytes:
		return []string{c.name + " AS COUNT8 TEXT"}
	case kDate:
		return []string{c.name + " AS TEXT('yyyyMMdd')"}
	case kTs:
		return []string{c.name + " AS INT64"}
	case kDbl:
		return []string{c.name + " AS ORDERED FLOAT64"}
	case kTime:
		return []string{c.name + " AS UINT32"}
	case kBool:
		return []string{c.name + " AS BOOLEAN"}
	}
	return []string{c.name + " AS TEXT", "'|'"}
}
