package importer

import (
	"fmt"
	"strings"
)

// hiveColumn is a column of a Hive table: its type in lower case, and a struct's fields.
type hiveColumn struct {
	name, typ string
	fields    []hiveColumn
	pos       int
}

// hiveType describes how Hive's HBase handler stores a type.
type hiveType struct {
	typ    string // hql's type
	binary string // encoding of #binary in a key; "" if Hive writes text in any case
}

var hiveTypes = map[string]hiveType{
	"tinyint": {"TINYINT", "INT8"}, "smallint": {"SMALLINT", "INT16"}, "int": {"INT", "INT32"}, "integer": {"INT", "INT32"}, "bigint": {"BIGINT", "INT64"},
	"float": {"FLOAT", "FLOAT32"}, "double": {"DOUBLE", "FLOAT64"}, "boolean": {"BOOLEAN", "BOOLEAN"},
	"string": {"STRING", ""}, "varchar": {"STRING", ""}, "char": {"STRING", ""}, "date": {"DATE", ""}, "decimal": {"DECIMAL", ""}, "binary": {"BYTES", ""},
	"timestamp": {"TIMESTAMP", ""},
}

// hive reads Hive's CREATE TABLE statements for tables stored by its HBase handler.
func hive(src string) ([]*table, error) {
	return tablesOf(src, hiveTable)
}

// hiveName reads CREATE TABLE and the name of the table; full is the name with its database.
func hiveName(r *reader) (name, full string, err error) {
	if !r.accept("CREATE") {
		return "", "", r.errorf("only CREATE TABLE is read, not %q", r.peek().text)
	}
	r.accept("EXTERNAL")
	if !r.accept("TABLE") {
		return "", "", r.errorf("only CREATE TABLE is read, not CREATE %s", r.peek().text)
	}
	r.accept("IF", "NOT", "EXISTS")
	t := r.next()
	full = t.text
	if r.accept(".") {
		t = r.next()
		full += "." + t.text
	}
	if t.kind != word && t.kind != quoted {
		return "", "", at(r.src, t.pos, "expected a table's name, found %q", t.text)
	}
	return t.text, full, nil
}

func hiveTable(r *reader) (*table, error) {
	name, full, err := hiveName(r)
	if err != nil {
		return nil, err
	}
	items, err := r.inParens()
	if err != nil {
		return nil, err
	}
	var cols []hiveColumn
	for _, item := range items {
		c, err := hiveColumnDef(&reader{r.src, item})
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	delimiter, given := "\x02", false
	if d := (&reader{r.src, r.toks}); d.find("COLLECTION", "ITEMS", "TERMINATED", "BY") {
		delimiter, given = d.next().text, true
	}
	props, err := hiveProperties(r)
	if err != nil {
		return nil, err
	}
	mapping := props["hbase.columns.mapping"]
	if mapping == "" {
		return nil, fmt.Errorf("table %s has no hbase.columns.mapping: it is not stored in HBase", full)
	}
	sources := strings.Split(mapping, ",")
	if len(sources) != len(cols) {
		return nil, fmt.Errorf("table %s has %d columns, but hbase.columns.mapping names %d", full, len(cols), len(sources))
	}
	t := &table{name: name, stored: full}
	if s := props["hbase.table.name"]; s != "" {
		t.stored = s
	}
	binary := strings.EqualFold(props["hbase.table.default.storage.type"], "binary")
	keys := 0
	for i, c := range cols {
		source, storage, _ := strings.Cut(strings.TrimSpace(sources[i]), "#")
		bin := binary
		switch {
		case strings.HasPrefix("binary", storage) && storage != "":
			bin = true
		case strings.HasPrefix("string", storage) && storage != "":
			bin = false
		}
		if source == ":key" {
			keys++
			t.hiveKey(c, bin, delimiter, given, props)
		} else {
			err = t.hiveMapped(r.src, c, source, bin)
		}
		if err != nil {
			return nil, err
		}
	}
	if keys != 1 {
		return nil, fmt.Errorf("table %s: hbase.columns.mapping names :key %d times", full, keys)
	}
	return t, nil
}

// hiveProperties reads SERDEPROPERTIES and TBLPROPERTIES from the rest of r.
func hiveProperties(r *reader) (map[string]string, error) {
	props := map[string]string{}
	for _, clause := range []string{"SERDEPROPERTIES", "TBLPROPERTIES"} {
		p := &reader{r.src, r.toks}
		if !p.find(clause) {
			continue
		}
		items, err := p.inParens()
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if len(item) == 3 && item[1].is("=") {
				props[strings.ToLower(item[0].text)] = item[2].text
			}
		}
	}
	return props, nil
}

// hiveMapped adds column c, which is not in the key: the mapping reads it from source, such as f:q.
func (t *table) hiveMapped(src string, c hiveColumn, source string, binary bool) error {
	switch {
	case source == ":timestamp":
		t.note("column %s is the time of the cells: hql reads it as _ts", c.name)
		return nil
	case strings.HasSuffix(source, ":") || strings.HasSuffix(source, ".*"):
		t.note("column %s maps all qualifiers %s: name the ones that you need as columns, or define a table with a row for each cell: FROM family:[name AS TEXT]", c.name, source)
		return nil
	}
	family, qualifier, ok := strings.Cut(source, ":")
	if !ok || family == "" {
		return fmt.Errorf("hbase.columns.mapping: %q is neither :key nor family:qualifier", source)
	}
	typ, enc, err := t.hiveCell(src, c, binary)
	if err != nil {
		return err
	}
	t.column(t.unique(c.name), typ, cell(family, qualifier), enc)
	return nil
}

// hiveColumnDef reads name type [COMMENT '...'].
func hiveColumnDef(r *reader) (hiveColumn, error) {
	name := r.next()
	if name.kind == punct || name.kind == str {
		return hiveColumn{}, at(r.src, name.pos, "expected a column's name, found %q", name.text)
	}
	c := hiveColumn{name: name.text, pos: name.pos}
	r.accept(":")
	typ := r.next()
	if typ.kind != word {
		return c, at(r.src, typ.pos, "column %s: expected a type, found %q", c.name, typ.text)
	}
	c.typ = strings.ToLower(typ.text)
	if c.typ == "struct" && r.accept("<") {
		var field []token
		depth := 0
		for len(r.toks) > 0 {
			t := r.next()
			if depth == 0 && (t.is(",") || t.is(">")) {
				f, err := hiveColumnDef(&reader{r.src, field})
				if err != nil {
					return c, err
				}
				c.fields, field = append(c.fields, f), nil
				if t.is(">") {
					return c, nil
				}
				continue
			}
			switch {
			case t.is("<"), t.is("("):
				depth++
			case t.is(">"), t.is(")"):
				depth--
			}
			field = append(field, t)
		}
		return c, at(r.src, name.pos, "column %s: the > that ends its struct is missing", c.name)
	}
	return c, nil
}

// hiveKey adds the key's columns and parts.
func (t *table) hiveKey(c hiveColumn, bin bool, delimiter string, given bool, props map[string]string) {
	for _, class := range []string{"hbase.composite.key.class", "hbase.composite.key.factory"} {
		if props[class] == "" {
			continue
		}
		t.note("the Java class %s makes the key: write its parts in ROW KEY", props[class])
		for _, f := range c.fields {
			t.note("the key has the field %s %s", f.name, f.typ)
		}
		name := t.unique(c.name)
		t.column(name, "BYTES", "", "")
		t.parts = append(t.parts, quoteAs(name, "BYTES"))
		return
	}
	fields := c.fields
	if fields == nil {
		fields = []hiveColumn{c}
	} else if !given {
		t.note("COLLECTION ITEMS TERMINATED BY is not given: check that the byte 2, Hive's default, separates the key's fields")
	}
	for i, f := range fields {
		h, ok := hiveTypes[f.typ]
		if !ok {
			t.note("key column %s has the type %s: it is read as bytes", f.name, f.typ)
			h = hiveTypes["binary"]
		}
		name := t.unique(f.name)
		last := i+1 == len(fields)
		if f.typ == "timestamp" {
			t.note("key column %s is a timestamp in text: TEXT('yyyy-MM-dd HH:mm:ss') if it has no fraction", name)
			h.typ = "STRING"
		}
		t.column(name, h.typ, "", "")
		switch {
		case bin && h.binary != "" && c.fields == nil:
			t.parts = append(t.parts, quoteAs(name, h.binary))
		default:
			t.parts = append(t.parts, quoteAs(name, map[bool]string{false: "TEXT", true: "BYTES"}[h.typ == "BYTES"]))
		}
		if !last {
			t.parts = append(t.parts, text(delimiter))
		}
	}
}

// hiveCell returns the type and encoding of a cell.
func (t *table) hiveCell(src string, c hiveColumn, bin bool) (typ, encoding string, err error) {
	h, ok := hiveTypes[c.typ]
	switch {
	case c.typ == "struct" || c.typ == "array" || c.typ == "map" || c.typ == "uniontype":
		t.note("column %s has the type %s, in Hive's delimited text: it is read as text", c.name, c.typ)
		return "STRING", "", nil
	case !ok:
		return "", "", at(src, c.pos, "column %s has the unknown type %s", c.name, c.typ)
	case c.typ == "timestamp":
		t.note("column %s is a timestamp in text, up to nanoseconds: it is read as text", c.name)
		return "STRING", "", nil
	case h.binary != "" && !bin:
		return h.typ, "TEXT", nil
	}
	return h.typ, "", nil
}
