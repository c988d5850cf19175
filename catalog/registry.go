package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
)

// New makes an empty catalog with the built-in functions and encodings.
func New() *Catalog {
	c := &Catalog{tables: map[string]*Table{}, views: map[string]*View{}, funcs: functions.Builtins().Clone()}
	c.funcs.Encode = c.encode
	return c
}

// Expressions that are compiled without a catalog know the built-in encodings.
func init() { functions.Builtins().Encode = (&Catalog{}).encode }

// Funcs returns the registry with which key expressions are compiled. Add functions to it before tables.
func (c *Catalog) Funcs() *expr.Registry { return c.funcs }

// Load adds the tables and views of a catalog file: CREATE TABLE and CREATE VIEW statements.
func (c *Catalog) Load(src string) error {
	stmts, err := parser.Parse(src)
	if err != nil {
		return err
	}
	for _, s := range stmts {
		var err error
		switch def := s.(type) {
		case *parser.CreateTable:
			var t *Table
			if t, err = c.Build(def); err == nil {
				err = c.Add(t)
			}
		case *parser.CreateView:
			err = c.addView(&View{Name: def.Name, Def: def})
		default:
			err = parser.Errorf(s.Position(), "a catalog holds CREATE TABLE and CREATE VIEW statements only")
		}
		if err != nil {
			if pe, ok := err.(*parser.Error); ok {
				return pe.In(src)
			}
			return err
		}
	}
	return nil
}

// Add adds a table under a new name.
func (c *Catalog) Add(t *Table) error {
	return c.add(t.Name, t.Def.NamePos, func(name string) { c.tables[name] = t })
}

// Replace adds a table and removes the table or view with the same name, if any.
func (c *Catalog) Replace(t *Table) { c.replace(t.Name, func(name string) { c.tables[name] = t }) }

// addView adds a view under a new name.
func (c *Catalog) addView(v *View) error {
	return c.add(v.Name, v.Def.NamePos, func(name string) { c.views[name] = v })
}

// ReplaceView adds a view and removes the table or view with the same name, if any.
func (c *Catalog) ReplaceView(v *View) { c.replace(v.Name, func(name string) { c.views[name] = v }) }

// add calls put with the lower-case name, unless a table or view has it.
func (c *Catalog) add(name string, at parser.Pos, put func(name string)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = strings.ToLower(name)
	if t := c.tables[name]; t != nil {
		return parser.Errorf(at, "table %q already exists", t.Name)
	}
	if v := c.views[name]; v != nil {
		return parser.Errorf(at, "view %q already exists", v.Name)
	}
	put(name)
	return nil
}

// replace removes the table, view or broken definition with the name, and then calls put with the lower-case name. It
// reports whether a table or view had the name.
func (c *Catalog) replace(name string, put func(name string)) (known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = strings.ToLower(name)
	known = c.tables[name] != nil || c.views[name] != nil
	delete(c.tables, name)
	delete(c.views, name)
	delete(c.broken, name)
	put(name)
	return known
}

// View finds a view; the case of letters does not matter.
func (c *Catalog) View(name string) (*View, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.views[strings.ToLower(name)]
	return v, ok
}

// Views lists the views by name.
func (c *Catalog) Views() []*View { return c.listed(false) }

// Sequences lists the sequences, as views of their states, by name.
func (c *Catalog) Sequences() []*View { return c.listed(true) }

func (c *Catalog) listed(sequences bool) []*View {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := slices.DeleteFunc(slices.Collect(maps.Values(c.views)), func(v *View) bool { return (v.Def.Sequence != nil) != sequences })
	slices.SortFunc(out, func(a, b *View) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Readers lists the views and the materialized views.
func (c *Catalog) Readers() []*View {
	out := c.Views()
	for _, t := range c.Tables() {
		if t.Def.Materialized {
			out = append(out, &View{t.Name, &parser.CreateView{Pos: t.Def.Pos, Name: t.Name, NamePos: t.Def.NamePos, Query: t.Def.Query}, t})
		}
	}
	return out
}

// Drop removes a table or view and reports whether it existed.
func (c *Catalog) Drop(name string) bool { return c.replace(name, func(string) {}) }

// Break removes a table or view whose stored definition cannot be used. Statements that name it fail with the reason
// why.
func (c *Catalog) Break(name string, why error) {
	c.replace(name, func(name string) {
		if c.broken == nil {
			c.broken = map[string]error{}
		}
		c.broken[name] = why
	})
}

// Table finds a table; the case of letters does not matter.
func (c *Catalog) Table(name string) (*Table, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, ok := c.tables[strings.ToLower(name)]
	return t, ok
}

// TableAt finds the table that a statement names at pos. The error for an unknown name wraps ErrUnknownTable.
func (c *Catalog) TableAt(name string, pos parser.Pos) (*Table, error) {
	t, v, err := c.TableOrView(name, pos)
	if v != nil {
		return nil, parser.Errorf(pos, "%s is a view, not a table", v.Name).WithHint("SHOW CREATE VIEW shows what it reads")
	}
	return t, err
}

// TableOrView finds the table or else the view that a statement names at pos. It holds one lock for both searches,
// because another connection may add definitions between two searches. The error wraps ErrUnknownTable.
func (c *Catalog) TableOrView(name string, pos parser.Pos) (*Table, *View, error) {
	c.mu.RLock()
	lower := strings.ToLower(name)
	t, v := c.tables[lower], c.views[lower]
	c.mu.RUnlock()
	if t == nil && v == nil {
		return nil, nil, c.unknown(name, pos)
	}
	return t, v, nil
}

// unknown returns the error for an unknown name.
func (c *Catalog) unknown(name string, pos parser.Pos) error {
	c.mu.RLock()
	why := c.broken[strings.ToLower(name)]
	c.mu.RUnlock()
	if why != nil {
		return parser.Errorf(pos, "the definition of %q cannot be used: %v", name, why).Of(ErrUnknownTable).
			WithHint("a newer version of hql may have written it; DROP TABLE %s drops only the definition and keeps the HBase tables", parser.QuoteName(name))
	}
	err := parser.Errorf(pos, "unknown table %q", name).Of(ErrUnknownTable)
	lower := strings.ToLower(name)
	switch schema, _, _ := strings.Cut(lower, ":"); {
	case lower == "dual":
		return err.WithHint("a SELECT without FROM gives one row")
	case schema == "information_schema" || strings.HasPrefix(lower, "pg_") || strings.HasPrefix(lower, "sqlite_") || strings.HasPrefix(lower, "duckdb_"):
		return err.WithHint("SHOW TABLES lists the tables, DESCRIBE table shows one's columns") // fast: PostgreSQL's catalog has them after all
	}
	var names []string
	for _, t := range c.Tables() {
		names = append(names, t.Name)
	}
	for _, v := range c.Views() {
		names = append(names, v.Name)
	}
	return expr.Suggest(err, name, names)
}

// Tables lists the tables by name.
func (c *Catalog) Tables() []*Table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]*Table, 0, len(c.tables))
	for _, t := range c.tables {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	return out
}
