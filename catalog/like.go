package catalog

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
)

// Liked returns def with the columns, and what else it includes, of the tables that its LIKEs name.
func (c *Catalog) Liked(def *parser.CreateTable) (*parser.CreateTable, error) {
	if !slices.ContainsFunc(def.Columns, func(c parser.ColumnDef) bool { return c.Like != nil }) {
		return def, nil
	}
	out := *def
	out.Columns = nil
	for _, k := range def.Columns {
		if k.Like == nil {
			out.Columns = append(out.Columns, k)
			continue
		}
		t, err := c.TableAt(k.Name, k.Pos)
		if err == nil {
			err = t.copyTo(c, &out, k)
		}
		if err != nil {
			return nil, err
		}
	}
	out.NameSequences(func(string) bool { return false })
	return &out, nil
}

// copyTo adds to def the columns of t and what k, a LIKE, includes.
func (t *Table) copyTo(in *Catalog, def *parser.CreateTable, k parser.ColumnDef) error {
	including := func(word string) bool {
		in, all := slices.Contains(k.Like, "INCLUDING "+word), slices.Contains(k.Like, "INCLUDING ALL")
		return in || all && !slices.Contains(k.Like, "EXCLUDING "+word)
	}
	from, keyed := t.Def.At(k.Pos), including("INDEXES")
	for _, c := range from.Columns {
		is, _ := t.Column(c.Name)
		c.NotNull, c.PrimaryKey = c.NotNull || is.KeyPart, c.PrimaryKey && keyed
		if c.Identity != "" {
			if c.Sequence = in.SequenceOf(is).copied(); !including("IDENTITY") {
				c.Identity, c.Default, c.Sequence = "", nil, nil
			}
		}
		if !including("COMMENTS") {
			c.Comment = ""
		}
		if !including("DEFAULTS") && c.Identity == "" {
			if c.Default = nil; c.Encoding != nil && c.Encoding.Name == defaultName {
				c.Encoding = nil
			}
		}
		def.Columns = append(def.Columns, c)
	}
	if including("CONSTRAINTS") {
		def.Checks = append(slices.Clone(def.Checks), from.Checks...)
	}
	if !keyed {
		return nil
	}
	if def.PrimaryKey != nil || def.Layouts != nil {
		return parser.Errorf(k.Pos, "multiple primary keys for table %q are not allowed", def.Name).WithHint("EXCLUDING INDEXES leaves out the one of %s", t.Name)
	}
	for i := range from.Layouts {
		d := &from.Layouts[i]
		if d.StoredIn = nil; d.Index {
			d.Name = def.Name + "_" + strings.TrimPrefix(d.Name, t.Name+"_")
		}
	}
	def.PrimaryKey, def.Layouts = from.PrimaryKey, from.Layouts
	return nil
}
