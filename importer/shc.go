package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// shcColumn is a column of an SHC catalog. Numbers may be written as strings.
type shcColumn struct {
	name             string
	CF, Col, Type    string
	Avro, SerDes     string
	Length           json.RawMessage
	width            int
	typ, cell, inKey string // hql's type, its cell encoding and its encoding in a key
	variable         bool
}

// shc reads the JSON catalog of Spark's HBase connector.
func shc(src string) ([]*table, error) {
	var c struct {
		Table struct {
			Namespace, Name, TableCoder string
		}
		RowKey  string
		Columns orderedColumns
	}
	if err := json.Unmarshal([]byte(src), &c); err != nil {
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, at(src, int(se.Offset), "%v", err)
		}
		if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, at(src, int(te.Offset), "unexpected JSON %s in %s", te.Value, cmp.Or(te.Field, "the catalog"))
		}
		return nil, err
	}
	if c.Table.Name == "" || c.RowKey == "" || len(c.Columns) == 0 {
		return nil, errors.New(`it needs "table" with "name", "rowkey" and "columns"`)
	}
	t := &table{name: c.Table.Name, stored: c.Table.Name}
	if ns := c.Table.Namespace; ns != "" && ns != "default" {
		t.stored = ns + ":" + c.Table.Name
	}
	phoenixCoded, avroCoded := false, false
	switch strings.ToLower(c.Table.TableCoder) {
	case "", "primitivetype":
	case "phoenix":
		phoenixCoded = true
	case "avro":
		avroCoded = true
	default:
		t.note("tableCoder %s is a Java class: the encodings below are those of PrimitiveType", c.Table.TableCoder)
	}
	byKey := map[string]*shcColumn{}
	for _, col := range c.Columns {
		if err := col.encodings(t, phoenixCoded, avroCoded); err != nil {
			return nil, fmt.Errorf("column %s: %w", col.name, err)
		}
		col.name = t.unique(col.name)
		if col.CF == "rowkey" {
			byKey[col.Col] = col
			t.column(col.name, col.typ, "", "")
		} else {
			t.column(col.name, col.typ, cell(col.CF, col.Col), col.cell)
		}
	}
	keys := strings.Split(c.RowKey, ":")
	for i, k := range keys {
		col := byKey[k]
		if col == nil {
			return nil, fmt.Errorf(`rowkey %q: no column has "cf":"rowkey" and "col":%q`, c.RowKey, k)
		}
		last := i+1 == len(keys)
		part := quoteAs(col.name, col.inKey)
		switch {
		case col.variable && col.width > 0:
			part = quoteAs(col.name, fmt.Sprintf("BYTES(%d)", col.width))
		case col.variable && !last && phoenixCoded:
			t.parts = append(t.parts, part)
			part = "X'00'"
		case col.variable && !last:
			return nil, fmt.Errorf(`column %s: a %s that is not last in the rowkey needs "length"`, col.name, col.Type)
		}
		t.parts = append(t.parts, part)
	}
	return []*table{t}, nil
}

// encodings sets the type and encodings of a column.
func (c *shcColumn) encodings(t *table, phoenixCoded, avroCoded bool) error {
	if c.CF == "" || c.Col == "" {
		return errors.New(`it needs "cf" and "col"`)
	}
	if len(c.Length) > 0 {
		n, err := strconv.Atoi(strings.Trim(string(c.Length), `"`))
		if err != nil || n < 1 {
			return fmt.Errorf(`"length" %s is not a number from 1`, c.Length)
		}
		c.width = n
	}
	if c.Avro != "" || avroCoded || c.SerDes != "" {
		what := "Avro"
		if c.SerDes != "" {
			what = "the Java class " + c.SerDes
		}
		t.note("column %s is written by %s: it is read as bytes", c.name, what)
		c.typ, c.inKey, c.variable = "BYTES", "BYTES", true
		return nil
	}
	if phoenixCoded {
		p, ok := phoenixTypes[shcToPhoenix[strings.ToLower(c.Type)]]
		if !ok {
			t.note("column %s: type %s of the Phoenix coder is read as bytes", c.name, c.Type)
			p = phoenixType{typ: "BYTES", key: "BYTES", variable: true}
		}
		if p.note != "" {
			t.note("column %s: %s", c.name, p.note)
		}
		c.typ, c.cell, c.inKey, c.variable = p.typ, p.cell, p.key, p.variable
		return nil
	}
	name := strings.ToLower(c.Type)
	switch h := hiveTypes[cmp.Or(map[string]string{"byte": "tinyint", "short": "smallint", "long": "bigint"}[name], name)]; {
	case h.binary != "":
		c.typ, c.inKey = h.typ, h.binary
	case name == "string":
		c.typ, c.inKey, c.variable = "STRING", "TEXT", true
	case name == "timestamp":
		c.typ, c.inKey = "TIMESTAMP", "INT64"
		t.note("column %s: check that the timestamp is 8 bytes of milliseconds since 1970", c.name)
	default:
		if name != "binary" {
			t.note("column %s: type %q is read as bytes", c.name, c.Type)
		}
		c.typ, c.inKey, c.variable = "BYTES", "BYTES", true
	}
	return nil
}

var shcToPhoenix = map[string]string{"string": "VARCHAR", "binary": "VARBINARY", "boolean": "BOOLEAN", "byte": "TINYINT", "tinyint": "TINYINT",
	"short": "SMALLINT", "smallint": "SMALLINT", "int": "INTEGER", "integer": "INTEGER", "long": "BIGINT", "bigint": "BIGINT", "double": "DOUBLE", "date": "DATE", "time": "TIME"}

// orderedColumns are the columns in the order of the JSON text, because SHC depends on that order.
type orderedColumns []*shcColumn

// UnmarshalJSON reads the object of columns.
func (cs *orderedColumns) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New(`"columns" is not an object`)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		c := &shcColumn{name: name.(string)}
		if err := d.Decode(c); err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
		*cs = append(*cs, c)
	}
	return nil
}
