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
var Versions = rules["versions"][0]

// DDL returns the table's own statement.
func (t *Table) DDL() string { return t.Create[len(t.Create)-1] }

// Options restrict the drawn tables.
type Options struct {
	// Unique draws keys that differ for all different values of their columns, as PRIMARY KEY does: no beginnings of
	// texts, no NULLs. A DECIMAL with another scale is still another key. No column is a JSONB.
	Unique bool
	// NoLookup draws no LOOKUP of other tables' numbers, NoCells no cells of the primary layout that other layouts have in
	// their keys.
	NoLookup bool
	// Default, if not nil, is called with each column of a cell and returns its DEFAULT, or "" for none.
	Default func(Column) string
}

// coarse has the types of columns whose key part may hold less than the value; a cell then holds the whole value.
var coarse = map[string]bool{"TIMESTAMP": true, "DOUBLE": true}

type maker struct {
	*rand.Rand
	t     *Table
	nulls []bool // which of the columns made for the key may be NULL
	opt   Options
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

func (g *maker) odds(n int) bool { return g.IntN(n) == 0 }

// text draws a text of a rule for column c.
func (g *maker) text(rule string, c Column) string {
	return draw(g.Rand, rule, c.Type, func(word string) (string, bool) {
		switch word {
		case "c":
			return c.Name, true
		case "hex":
			return fmt.Sprintf("%02x", c.Name[1]), true
		}
		return "", false
	})
}

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
		g.add(fmt.Sprintf("k%d", i), g.text("key type", Column{}))
	}
	if g.odds(2) { // otherwise rows share few values
		g.add("id", "INT")
	}
	var wanted []string
	if g.odds(4) { // combine any functions
		wanted = []string{g.wanted(), g.wanted(), g.wanted()}
	}
	d := drawn{keys: len(t.Columns)}
	for i := range 1 + g.IntN(5) {
		c := Column{Name: fmt.Sprintf("c%d", i), Type: g.text("type", Column{}), NotNull: g.odds(5)}
		if g.opt.Unique && c.Type == "JSONB" {
			c.Type = "JSON"
		}
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
		d.parts = append([]string{g.text("salt", Column{})}, d.parts...)
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
	if i := slices.IndexFunc(t.Columns[:d.keys], func(c Column) bool { return c.Type == "STRING" }); d.variant == "lookup" && t.Columns[at].Type != "STRING" && i >= 0 {
		at = i // only texts can have numbers
	}
	col := t.Columns[at]
	name := col.Name
	others := func() []int { return slices.DeleteFunc(order, func(i int) bool { return i == at }) }
	switch {
	case d.variant == "stored in":
		d.storedIn = g.computedName(t.Name)
	case d.variant == "packed":
		switch {
		case col.Type == "TIMESTAMP": // wide rows: the moment within the bin is the qualifier
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
	case d.variant == "hashed" && (col.Type == "STRING" || col.Type == "BYTES"): // instead of the value, which goes into a cell
		d.inCell = name
		d.parts = g.key(others())
		hash := "UNHEX(MD5(" + name + "))"
		if col.Type == "STRING" && !g.opt.Unique {
			hash = g.text("hashed", col)
		}
		d.parts = append(d.parts, hash)
		if len(d.parts) == 1 || g.odds(2) {
			break
		}
		d.parts = append([]string{hash, g.text("delimiter", col)}, d.parts[:len(d.parts)-1]...)
	case d.variant == "lookup" && col.Type == "STRING" && !g.opt.NoLookup:
		dict := "dict_" + t.Name
		t.Create = append(t.Create, "CREATE TABLE "+dict+" (kind STRING, name STRING, n BIGINT) ROW KEY (kind AS TEXT(4), name AS TEXT)")
		if d.parts = g.key(order); !g.odds(4) { // otherwise the key holds both the name and its number
			d.parts = g.key(others())
		}
		d.parts = slices.Insert(d.parts, g.IntN(len(d.parts)+1), "LOOKUP("+dict+".n, 'k', "+name+") AS "+g.text("lookup encoding", col))
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
			def += " FROM " + pick(g.Rand, []string{"f", "g"}) + ":" + c.Name
		}
		cols = append(cols, def)
	}
	ddl := "CREATE TABLE " + t.Name + " (" + strings.Join(append(cols, d.cells...), ", ") + ")"
	if families := g.text("families", Column{}); families != "" {
		ddl += " " + families
	}
	if d.variant == "primary key" {
		ddl = "CREATE TABLE " + t.Name + " (" + strings.Join(append(cols, d.cells...), ", ") + ", PRIMARY KEY (" + strings.Join(g.names(d.keys), ", ") + "))"
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
	if d.variant != "stored in" {
		ddl += " " + g.text("splits", Column{})
	}
	return ddl + " " + g.text("malformed", Column{})
}

// names returns the names of the first n columns.
func (g *maker) names(n int) (out []string) {
	for _, c := range g.t.Columns[:n] {
		out = append(out, c.Name)
	}
	return out
}

// wanted draws a part made from a column, and adds a column of its type if there is none.
func (g *maker) wanted() string {
	typ := g.text("key type", Column{})
	i := slices.IndexFunc(g.t.Columns, func(c Column) bool { return c.Type == typ })
	if i < 0 {
		i = len(g.t.Columns)
		g.add(fmt.Sprintf("k%d", i), typ)
	}
	return g.text("wanted", g.t.Columns[i])
}

func (g *maker) add(name, typ string) {
	g.nulls = append(g.nulls, !g.opt.Unique && rules["null "+typ] != nil && g.odds(5))
	g.t.Columns = append(g.t.Columns, Column{Name: name, Type: typ, Key: true, NotNull: true})
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
		return pick(g.Rand, []string{"", " STORED IN '" + t.Name + kind + "'"})
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
	c := g.t.Columns[g.IntN(len(g.nulls))]
	if rules["stored in "+c.Type] == nil {
		return ""
	}
	return " STORED IN ('" + prefix + "_', " + g.text("stored in", c) + ")"
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
	out := c.Name + " " + c.Type + " " + g.text("cell name", c) + g.encoding(c)
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
	return g.inverted(" AS " + g.text("cell", c))
}

// inverted makes some encodings INVERTED.
func (g *maker) inverted(part string) string {
	if !g.odds(5) {
		return part
	}
	return strings.ReplaceAll(part, " AS ", " AS INVERTED ")
}

// part returns the parts of a column of the key, with a delimiter after them if they need one.
func (g *maker) part(i int, last bool) []string {
	if c := g.t.Columns[i]; !g.nulls[i] {
		return g.delimited(g.text("key", c), last)
	}
	return g.nullable(g.t.Columns[i], last)
}

func (g *maker) nullable(c Column, last bool) []string {
	part := g.text("null", c)
	switch {
	case last && rules["null last "+c.Type] != nil && g.odds(2):
		return []string{g.text("null last", c)}
	case g.odds(3):
		return []string{strings.Replace(part, "NULLABLE", "NULLABLE INVERTED", 1), "X'FF'"}
	case last:
		return []string{part}
	}
	return []string{part, "X'00'"}
}

func (g *maker) delimited(part string, last bool) []string {
	part, open := strings.CutPrefix(part, "!")
	out := []string{g.inverted(part)}
	if !open && g.odds(8) || open && (!last || g.odds(8)) && !g.odds(4) { // without a delimiter, parts of fixed width may follow
		d := g.text("delimiter", Column{})
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

// key draws a key of columns in that order, after parts made from one of them.
func (g *maker) key(order []int) (parts []string) {
	cols := g.t.Columns[:len(g.nulls)]
	made := func() {
		a, b := pick(g.Rand, cols), pick(g.Rand, cols)
		switch integers := strings.HasSuffix(a.Type, "INT") && strings.HasSuffix(b.Type, "INT"); {
		case len(cols) == 1 || !g.odds(6):
			parts = append(parts, g.text("made", a))
			if d := g.text("after hash", a); d != "" {
				parts = append(parts, d)
			}
		case integers && g.odds(2):
			parts = append(parts, "ZORDER(ABS("+a.Name+" % 64), "+b.Name+" & 63, 6) AS UINT16")
		case integers:
			parts = append(parts, "GEOHASH("+a.Name+" % 90, "+b.Name+" % 180 / 7, 3)")
		default:
			parts = append(parts, "LEFT(MD5(CONCAT("+a.Name+", '-', "+b.Name+")), 1)")
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
	switch {
	case rules["null "+c.Type] != nil && g.odds(4):
		return g.nullable(c, false)
	case rules["index "+c.Type] == nil || rules["key "+c.Type] != nil && g.odds(3):
		return g.delimited(g.text("key", c), false)
	}
	return g.delimited(g.text("index", c), false)
}
