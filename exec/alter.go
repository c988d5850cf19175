package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// alter runs ALTER TABLE, COMMENT ON, CREATE INDEX and DROP INDEX. They change the definition in the store. HBase's
// tables stay as they are, except those of an INDEX that is added or dropped.
func (r *run) alter(ctx context.Context, s *parser.Alter) (*Rows, error) {
	if err := r.engine.reload(ctx); err != nil {
		return nil, err
	}
	_, isView := r.engine.catalog.View(s.Name)
	switch c := s.Changes[0]; {
	case c.Kind == parser.AlterSequence && s.Verb == "ALTER SEQUENCE":
		err := r.alterSequence(ctx, s.Name, s.NamePos, c.Options)
		if s.IfExists && errors.Is(err, catalog.ErrUnknownTable) {
			err = nil
		}
		return r.done(-1), err
	case len(s.Changes) == 1 && c.Kind == parser.RenameTable:
		return r.rename(ctx, s)
	case c.Kind == parser.Refresh:
		return r.refreshView(ctx, s)
	case isView && c.Kind == parser.RenameColumn:
		return r.renameViewColumn(ctx, s)
	case c.Kind == parser.NoEffect && (isView || s.Verb == "ALTER INDEX"):
		return r.done(-1), nil
	}
	if s.Verb == "DROP INDEX" && s.Name == "" && len(s.Changes) > 1 {
		return r.dropEach(ctx, s)
	}
	t, err := r.altered(s)
	if s.IfExists && errors.Is(err, catalog.ErrUnknownTable) {
		return r.done(-1), nil
	}
	if err != nil || t == nil {
		return r.done(-1), err
	}
	if slices.ContainsFunc(s.Changes, isDrawn) {
		return r.done(-1), r.alterNumbers(ctx, t, s)
	}
	return r.alterDefinition(ctx, t, s)
}

// alterDefinition changes the definition of t.
func (r *run) alterDefinition(ctx context.Context, t *catalog.Table, s *parser.Alter) (_ *Rows, err error) {
	changes := slices.Clone(s.Changes)
	for i, c := range changes {
		switch {
		case c.Unnamed:
			changes[i].Index.Name = t.FreeIndexName(c.Index.Name)
		case c.Kind == parser.AlterNotNull && c.Column.NotNull:
			err = r.noNulls(ctx, t, c)
		}
		if err != nil {
			return nil, err
		}
	}
	def, err := r.engine.catalog.Altered(t, changes, s.NamePos)
	if err != nil || def == t.Def {
		return r.done(-1), err
	}
	now, err := r.engine.catalog.Build(def)
	if err == nil {
		err = keepsTypes(t, now, changes)
	}
	var later []filling
	if err == nil {
		now, later, err = r.filledRows(t, def, now, changes)
	}
	if err == nil {
		err = r.timelessChecks(now, t.Checks)
	}
	if err != nil {
		return nil, err
	}
	unread := unvalidated(t, now)
	for _, c := range unread { // the other connections check new rows before this one reads those that exist
		c.NotValid = true
	}
	if err := r.keepsRows(ctx, t, now, s.Pos); err != nil {
		return nil, err
	}
	for _, l := range now.Layouts {
		if !l.Building {
			continue
		}
		if err := r.makeIndex(ctx, t, now, l); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(changes, func(c parser.Change) bool { return c.Cascade }) {
		if err := r.readable(ctx, t, now, s.NamePos, true); err != nil {
			return nil, err
		}
	}
	old := t
	if t, err = r.redefine(ctx, t, now, s.NamePos); err != nil {
		return nil, err
	}
	if t, err = r.fillRows(ctx, old, t, later, unread); err != nil {
		return nil, err
	}
	for _, c := range changes {
		if c.Kind == parser.AddIndex {
			if err = r.fillIndex(ctx, t, c.Index.Name); err != nil {
				return nil, err
			}
			r.noteIndexes(t)
		}
	}
	if slices.ContainsFunc(changes, func(c parser.Change) bool { return c.Kind == parser.DropColumn || c.Kind == parser.AlterIdentity }) {
		if err := r.dropOwned(ctx, r.engine.catalog.Owned(old)); err != nil {
			return nil, err
		}
	}
	return r.done(-1), r.dropIndexes(ctx, old, t)
}

// dropEach runs DROP INDEX for several indexes. All must exist before the first is dropped.
func (r *run) dropEach(ctx context.Context, s *parser.Alter) (*Rows, error) {
	var each []*parser.Alter
	for _, c := range s.Changes {
		one := alterOne(s, c)
		if _, err := r.altered(one); err != nil {
			return nil, err
		}
		each = append(each, one)
	}
	for _, one := range each {
		if _, err := r.alter(ctx, one); err != nil {
			return nil, err
		}
	}
	return r.done(-1), nil
}

// rename runs ALTER TABLE or VIEW ... RENAME TO: it saves the definition under the new name and then deletes it under the old
// one. In between it changes the views that read it. A crash in between leaves both, over the same HBase tables.
func (r *run) rename(ctx context.Context, s *parser.Alter) (*Rows, error) {
	c, cat := s.Changes[0], r.engine.catalog
	schema, base, spaced := strings.Cut(s.Name, ":")
	if !spaced {
		schema, base = "", schema
	}
	if c.To == "" { // SET SCHEMA
		schema = c.Name
	} else {
		base = c.To
	}
	to := base
	if schema != "" && !strings.EqualFold(schema, "public") {
		to = schema + ":" + base
	}
	if strings.EqualFold(to, s.Name) && c.To == "" {
		return r.done(-1), nil
	}
	var sql string
	if v, ok := cat.View(s.Name); ok {
		def := *v.Def
		def.Name = to
		sql = def.String()
	} else {
		t, err := r.tableNamed(s.Name, s.NamePos)
		if s.IfExists && errors.Is(err, catalog.ErrUnknownTable) {
			return r.done(-1), nil
		}
		if kind := strings.TrimPrefix(s.Verb, "ALTER "); err == nil && kind != "TABLE" && kind != t.Def.Kind() {
			err = notA(strings.ToLower(kind), t.Name, s.NamePos)
		}
		var now *catalog.Table
		if err == nil {
			now, err = cat.Build(t.Renamed(to))
		}
		if err != nil {
			return nil, err
		}
		sql = now.SQL()
	}
	taken := parser.Errorf(c.Pos, "relation %q already exists", to)
	_, isTable := cat.Table(to)
	if _, isView := cat.View(to); isView || isTable {
		return nil, taken
	}
	views, err := r.renamedIn(ctx, s.Name, to, s.NamePos)
	if err != nil {
		return nil, err
	}
	if err := r.unclaimed(ctx, to, c.Pos); err != nil {
		return nil, err
	}
	known, err := r.changeable(ctx, s.Name, s.NamePos)
	if err == nil {
		err = r.saveDefinition(ctx, to, "", sql, taken)
	}
	for _, v := range views {
		if err == nil {
			err = r.saveDefinition(ctx, v.name, v.was, v.sql, changedMeanwhile(v.name, s.NamePos))
		}
	}
	if err == nil {
		err = r.drawFrom(ctx, s.Name, to)
	}
	if err == nil {
		err = r.forgetDefinition(ctx, s.Name, known.sql)
	}
	if err == nil {
		err = r.engine.reload(ctx)
	}
	if err == nil {
		if known, _, err = r.engine.definitionOf(ctx, s.Name); err == nil && known.sql != "" { // redefined meanwhile
			err = cmp.Or(r.forgetDefinition(ctx, to, sql), r.engine.reload(ctx), error(changedMeanwhile(s.Name, s.NamePos)))
		}
	}
	if err != nil {
		return nil, err
	}
	return r.done(-1), r.engine.awaitRefresh(ctx)
}

// renameViewColumn runs ALTER VIEW ... RENAME COLUMN. The names of the view's columns stand in front of its query afterwards.
func (r *run) renameViewColumn(ctx context.Context, s *parser.Alter) (*Rows, error) {
	c := s.Changes[0]
	v, _ := r.engine.catalog.View(s.Name)
	def, names := parser.CopyOf(v.Def), []string(nil)
	for _, column := range r.env.ViewColumns(v) {
		names = append(names, column.Name)
	}
	is := func(name string) func(string) bool { return func(o string) bool { return strings.EqualFold(o, name) } }
	i := slices.IndexFunc(names, is(c.Name))
	switch {
	case i < 0:
		return nil, parser.Errorf(c.Pos, "unknown column %q", c.Name).Of(catalog.ErrUnknownColumn)
	case slices.ContainsFunc(names, is(c.To)):
		return nil, parser.Errorf(c.Pos, "column %q already exists", c.To)
	}
	names[i], def.Columns = c.To, names
	if err := r.unread(ctx, "view", v.Name, s.NamePos, false); err != nil {
		return nil, err
	}
	return r.done(-1), r.changeDefinition(ctx, v.Name, v, def.String(), s.NamePos)
}

// redefinedView is a view whose definition changes from was to sql.
type redefinedView struct{ name, was, sql string }

// renamedIn returns the views that read the table or view called name with its new name. There it has the old one as its alias. It
// fails if the definition of such a view is not in the store, or if keys of a table have numbers from it.
func (r *run) renamedIn(ctx context.Context, name, to string, at parser.Pos) (out []redefinedView, err error) {
	for _, o := range r.engine.catalog.Tables() {
		for _, u := range o.Lookups() {
			if strings.EqualFold(u.Table, name) {
				return nil, parser.Errorf(at, "%s keeps its name: %s of table %s names it", name, u.Source, o.Name)
			}
		}
	}
	for _, v := range r.engine.catalog.Readers() {
		def, reads := parser.CopyOf(v.Def), false
		for _, t := range parser.Tables(def.Query) {
			if strings.EqualFold(t.Name, name) {
				t.Alias, t.Name, reads = t.Called()[strings.LastIndexByte(t.Called(), ':')+1:], to, true
			}
		}
		if reads {
			known, err := r.changeable(ctx, v.Name, at)
			if err != nil {
				return nil, err
			}
			sql := def.String()
			if v.Rows != nil {
				rows := *v.Rows.Def
				rows.Query = def.Query
				sql = rows.String()
			}
			out = append(out, redefinedView{v.Name, known.sql, sql})
		}
	}
	return out, nil
}

// keepsTypes returns an error if the new type of a column, in now, would not read the bytes that t stores, or some would not
// fit it.
func keepsTypes(t, now *catalog.Table, changes []parser.Change) error {
	for _, c := range changes {
		if c.Kind != parser.AlterType {
			continue
		}
		was, _ := t.Column(c.Name)
		is, _ := now.Column(c.Name)
		if was == nil || is == nil || is.Type != was.Type && !(is.Type.IsJSON() && was.Type.IsJSON()) || !is.Limit.Includes(was.Limit, is.Type) {
			return parser.Errorf(c.Column.Pos, "ALTER TABLE changes no stored value, and not all values of column %s are sure to be a %s", c.Name, c.Column.Type).
				WithHint("VARCHAR(n) can become longer, or TEXT, NUMERIC(p, s) longer, or NUMERIC, JSON can become JSONB; for another type ALTER TABLE %[1]s ADD COLUMN %[2]s_new %[3]s; "+
					"UPDATE %[1]s SET %[2]s_new = %[2]s; ALTER TABLE %[1]s DROP COLUMN %[2]s; ALTER TABLE %[1]s RENAME COLUMN %[2]s_new TO %[2]s", t.Name, c.Name, c.Column.Type)
		}
	}
	return nil
}

// noNulls returns an error if a row of t has no value in the column that c makes NOT NULL.
func (r *run) noNulls(ctx context.Context, t *catalog.Table, c parser.Change) error {
	if _, ok := t.Column(c.Name); !ok {
		return nil // Altered returns the error
	}
	absent := &parser.Is{Pos: c.Pos, X: &parser.ColumnRef{Pos: c.Pos, Name: c.Name, Quoted: true}, What: "NULL"}
	return r.noRow(ctx, t, absent, parser.Errorf(c.Pos, "column %q of table %s contains null values: queries would not find these rows", c.Name, t.Name).
		WithHint("UPDATE %s SET %s = value WHERE %[2]s IS NULL gives them one", parser.QuoteName(t.Name), parser.QuoteName(c.Name)))
}

// noRow returns refused if where is true for a row of t.
func (r *run) noRow(ctx context.Context, t *catalog.Table, where parser.Expr, refused *parser.Error) error {
	at := refused.Pos
	r.allowFull = true
	s, err := parser.ParseStatement("SELECT 1 FROM " + parser.QuoteName(t.Name) + " LIMIT 1 ALLOW FULL SCAN")
	if err != nil {
		return err
	}
	one := s.(*parser.Select).At(at)
	one.Cores[0].Where = where
	p, err := r.planSelect(ctx, one)
	if err != nil {
		return err
	}
	return r.eachRow(ctx, p, asRead, func(rows [][]types.Value) error {
		if len(rows) == 0 {
			return nil
		}
		return refused
	})
}

// unvalidated returns the CHECKs of now, the new definition of t, with which the rows of t must be compared.
func unvalidated(t, now *catalog.Table) (out []catalog.Check) {
	for _, c := range now.Checks {
		known := slices.ContainsFunc(t.Checks, func(o catalog.Check) bool { return strings.EqualFold(o.Name, c.Name) && !o.NotValid })
		if !known && !c.NotValid {
			out = append(out, c)
		}
	}
	return out
}

// altered returns the table that s changes. It returns nil for a DROP INDEX IF EXISTS whose index no table has.
func (r *run) altered(s *parser.Alter) (*catalog.Table, error) {
	if s.Name != "" {
		return r.tableNamed(s.Name, s.NamePos)
	}
	var found *catalog.Table
	index := s.Changes[0]
	for _, t := range r.engine.catalog.Tables() {
		for _, l := range t.Layouts {
			if l.Kind != catalog.Index || !strings.EqualFold(l.Name, index.Name) {
				continue
			}
			if found != nil {
				return nil, parser.Errorf(index.Pos, "%s and %s have an INDEX %s", found.Name, t.Name, l.Name).WithHint("DROP INDEX name ON table names one")
			}
			found = t
		}
	}
	if found == nil && !index.If {
		return nil, parser.Errorf(index.Pos, "no table has an INDEX %s", index.Name)
	}
	return found, nil
}

// keepsRows checks now, the new definition of t. It returns an error if some rows of t would no longer be found, or if
// an HBase table of t lacks a family that the new definition uses.
func (r *run) keepsRows(ctx context.Context, t, now *catalog.Table, at parser.Pos) error {
	families := now.RowFamilies()
	for _, f := range t.RowFamilies() {
		if families != nil && !slices.Contains(families, f) {
			return parser.Errorf(at, "no column of %s would be in family %s: rows that have cells there alone would not be found", t.Name, f).
				WithHint("keep one column of each family, or define an EXTERNAL table again with CREATE OR REPLACE EXTERNAL TABLE")
		}
	}
	for _, l := range t.Layouts {
		if !l.Stored.IsLiteral() {
			continue
		}
		have, err := r.Client.Families(ctx, storedName(l))
		if errors.Is(err, hbase.ErrDenied) || errors.Is(err, hbase.ErrNoTable) {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range now.Families {
			if !slices.ContainsFunc(have, func(h hbase.Family) bool { return h.Name == f.Name }) {
				return parser.Errorf(at, "the HBase table %s has no family %s, and ALTER TABLE changes only the definition", storedName(l), f.Name).
					WithHint("add it in HBase's shell: alter '%s', '%s'", storedName(l), f.Name)
			}
		}
	}
	return nil
}

// redefine replaces the definition t in the store by now, the new definition, and returns the catalog's new table. It
// fails if a view or table that reads t cannot use the new definition. After success, no statement uses the old
// definition any more.
func (r *run) redefine(ctx context.Context, t, now *catalog.Table, at parser.Pos) (*catalog.Table, error) {
	if err := r.readable(ctx, t, now, at, false); err != nil {
		return nil, err
	}
	if err := r.changeDefinition(ctx, t.Name, t, now.SQL(), at); err != nil {
		return nil, err
	}
	current, ok := r.engine.catalog.Table(t.Name)
	if !ok {
		return nil, changedMeanwhile(t.Name, at)
	}
	return current, nil
}

// changeDefinition changes was, a table or view, to the one that sql defines, and waits until every connection knows it.
func (r *run) changeDefinition(ctx context.Context, name string, was any, sql string, at parser.Pos) error {
	known, err := r.changeable(ctx, name, at)
	if err != nil {
		return err
	}
	t, _ := r.engine.catalog.Table(name)
	if v, _ := r.engine.catalog.View(name); was != any(t) && was != any(v) {
		return changedMeanwhile(name, at)
	}
	if err = r.saveDefinition(ctx, name, known.sql, sql, changedMeanwhile(name, at)); err != nil {
		return err
	}
	if err = r.settle(ctx); err != nil {
		return keptError{err}
	}
	return nil
}

// changeable returns the definition of name in the store, which a statement may change.
func (r *run) changeable(ctx context.Context, name string, at parser.Pos) (definition, error) {
	known, _, err := r.engine.definitionOf(ctx, name)
	if err == nil && known.sql == "" {
		err = parser.Errorf(at, "%s is defined by a catalog file, or for this connection alone: its definition changes there", name)
	}
	return known, err
}

func changedMeanwhile(name string, at parser.Pos) *parser.Error {
	return parser.Errorf(at, "another connection has changed or dropped %s meanwhile: run it again", name)
}

// readable returns an error if a view or the LOOKUP of another table could not use now, the new definition of t. With cascade it
// drops such views.
func (r *run) readable(ctx context.Context, t, now *catalog.Table, at parser.Pos, cascade bool) error {
	cat := r.engine.catalog.With(now)
	before, after := *r.env, *r.env
	after.Catalog = cat
	for _, v := range cat.Readers() {
		if !r.reads(v.Def.Query, t.Name, map[string]bool{}) {
			continue
		}
		if _, err := before.Select(v.Def.Query.At(at)); err != nil {
			continue
		}
		if _, err := after.Select(v.Def.Query.At(at)); err != nil && cascade {
			if err := r.dropReader(ctx, v, at); err != nil {
				return err
			}
		} else if err != nil {
			return parser.Errorf(at, materialized(v)+"view %s could not read %s any more: %s", v.Name, t.Name, message(err)).
				WithHint("SHOW CREATE VIEW %s prints the view: drop it, and define it again afterwards", parser.QuoteName(v.Name))
		}
	}
	for _, o := range cat.Tables() {
		for _, u := range o.Lookups() {
			if !strings.EqualFold(u.Table, t.Name) {
				continue
			}
			if _, err := cat.Build(o.Def.At(at)); err != nil {
				return parser.Errorf(at, "%s of table %s could not be computed any more: %s", u.Source, o.Name, message(err))
			}
		}
	}
	return nil
}

// message returns an error's text without its position.
func message(err error) string {
	var at *parser.Error
	if errors.As(err, &at) {
		return at.Msg
	}
	return err.Error()
}

// makeIndex makes the HBase table of an INDEX that is added to t.
func (r *run) makeIndex(ctx context.Context, t, now *catalog.Table, l *catalog.Layout) error {
	if err := write.Writable(now, now.Def.NamePos); err != nil && !now.Def.Materialized || !l.Stored.IsLiteral() {
		return err
	}
	resumed := slices.ContainsFunc(t.Layouts, func(o *catalog.Layout) bool { return o.Name == l.Name })
	made, err := r.createPhysical(ctx, now, storedName(l))
	if err == nil && !made && !resumed {
		err = r.mayTake(ctx, t, storedName(l))
	}
	return err
}

// fillIndex writes the entries of t's rows to an INDEX that was added, while other statements may write rows. Afterwards
// queries may read the index.
func (r *run) fillIndex(ctx context.Context, t *catalog.Table, name string) error {
	i := slices.IndexFunc(t.Layouts, func(l *catalog.Layout) bool { return strings.EqualFold(l.Name, name) })
	if i < 0 || !t.Layouts[i].Building {
		return nil
	}
	name = t.Layouts[i].Name
	_, err := r.newWriter(t).CheckLayout(ctx, i, true)
	if err == nil {
		err = r.checkUnchanged(ctx, t)
	}
	if err == nil {
		var filled *catalog.Table
		if filled, err = r.engine.catalog.Build(t.Filled(name)); err == nil {
			_, err = r.redefine(ctx, t, filled, parser.NoPos)
		}
	}
	if err != nil {
		return fmt.Errorf("index %s of %s is not complete: writes maintain it, queries do not use it yet (repeat the same CREATE INDEX to continue): %w", name, t.Name, err)
	}
	return nil
}

// dropIndexes drops the HBase tables that hql made of the INDEXes of old, a table's definition, that now, the new one, does not
// have.
func (r *run) dropIndexes(ctx context.Context, old, now *catalog.Table) error {
	d := &drop{run: r, table: now, kept: now}
	for _, l := range old.Layouts {
		kept := slices.ContainsFunc(now.Layouts, func(o *catalog.Layout) bool { return storedName(o) == storedName(l) })
		if l.Kind != catalog.Index || kept {
			continue
		}
		if err := d.dropPhysical(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// replaceTable runs CREATE OR REPLACE EXTERNAL TABLE of a table that exists.
func (r *run) replaceTable(ctx context.Context, s *parser.CreateTable, t *catalog.Table) (*Rows, error) {
	if !t.External {
		return nil, parser.Errorf(s.NamePos, "table %s is not EXTERNAL: hql made it", t.Name).WithHint("ALTER TABLE changes its definition, DROP TABLE drops it with its rows")
	}
	now, err := r.build(s)
	if err != nil {
		return nil, err
	}
	if file, err := r.namesIn(ctx, now); err != nil || file != "" {
		if err == nil {
			err = parser.Errorf(s.NamePos, "table %s cannot name %s, which only a catalog file of this connection defines", t.Name, file)
		}
		return nil, err
	}
	if _, readOnly := r.engine.client.(write.ReadOnlyClient); readOnly {
		if err := r.readable(ctx, t, now, s.NamePos, false); err != nil {
			return nil, err
		}
		r.Warn.Add(warning.ReadOnly, fmt.Sprintf("the connection is read-only: this definition of %s is known until it ends", t.Name))
		r.engine.catalog.Replace(now)
		return r.done(-1), nil
	}
	if t, err = r.redefine(ctx, t, now, s.NamePos); err == nil {
		r.noteIndexes(t)
	}
	return r.done(-1), err
}
