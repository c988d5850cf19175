package exec

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// MadeFor is an attribute of the families of HBase tables that hql created. Its value is the name of the table for which
// the HBase table was created. DROP TABLE drops only such HBase tables, and CREATE TABLE reuses only such ones.
const MadeFor = "HQL_TABLE"

// createTable runs CREATE TABLE: it checks the definition, creates the missing HBase tables, and saves the definition
// in the store. If several connections define a table, one succeeds. A crash in between leaves empty HBase tables,
// which a repeated statement uses.
func (r *run) createTable(ctx context.Context, s *parser.CreateTable) (*Rows, error) {
	if s = written(s); s.Temporary || strings.HasPrefix(s.Name, "pg_temp:") {
		return r.createTemporary(ctx, s)
	}
	cat := r.engine.catalog
	if err := r.engine.reload(ctx); err != nil {
		return nil, err
	}
	taken := parser.Errorf(s.NamePos, "%s %q already exists", strings.ToLower(s.Kind()), s.Name).Of(errTableExists)
	if t, ok := cat.Table(s.Name); ok {
		if s.Replace {
			return r.replaceTable(ctx, s, t)
		}
		if s.IfNotExists {
			return r.done(-1), r.makeAgain(ctx, t)
		}
		return nil, parser.Errorf(s.NamePos, "%s %q already exists", strings.ToLower(t.Def.Kind()), s.Name).Of(errTableExists)
	}
	if v, ok := cat.View(s.Name); ok {
		return nil, parser.Errorf(s.NamePos, "view %q already exists", v.Name)
	}
	if err := r.unclaimed(ctx, s.Name, s.NamePos); err != nil {
		return nil, err
	}
	if s.Query != nil {
		return r.createTableAs(ctx, s, taken)
	}
	s, err := cat.Liked(s)
	if err != nil {
		return nil, err
	}
	own, drop, err := r.ownSequences(ctx, s)
	defer drop()
	if _, there := cat.Table(s.Name); there && errors.Is(err, errTableExists) { // another connection was faster
		return r.createTable(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	return r.define(ctx, own, taken)
}

// define makes the HBase tables of s, a new table, and saves its definition. It returns the error taken if another connection is faster.
func (r *run) define(ctx context.Context, s *parser.CreateTable, taken error) (*Rows, error) {
	cat := r.engine.catalog
	t, err := r.build(s)
	if err != nil {
		return nil, err
	}
	file, err := r.namesIn(ctx, t)
	if err != nil {
		return nil, err
	}
	if l := t.Layouts[0]; !t.External && !storedBy(t.Def) && l.Stored.IsLiteral() {
		if o := r.sharing(t, storedName(l)); o != nil && !o.External { // o had the name of t before it was renamed
			if t, err = r.build(t.Refilled(strings.ToLower(rand.Text()[:10]))); err != nil {
				return nil, err
			}
		}
	}
	var made []string
	if !t.External && !t.Layouts[0].Stored.IsLiteral() { // its HBase tables are created later
		_, err = r.splitKeys(ctx, t, t.Layouts[0])
	}
	if err == nil {
		made, err = r.makeTables(ctx, t, false)
	}
	if err == nil && file != "" {
		r.noteUnkept(t.Name, file)
		return r.done(-1), cat.Add(t)
	}
	if err == nil {
		err = r.saveDefinition(ctx, t.Name, "", t.SQL(), taken)
	} else if r.engine.reload(ctx) == nil {
		if _, ok := cat.Table(s.Name); ok { // another connection was faster, and has written to the HBase table since
			return r.createTable(ctx, s)
		}
	}
	switch {
	case errors.Is(err, ErrReadOnly) && t.External:
		r.Warn.Add(warning.ReadOnly, fmt.Sprintf("the connection is read-only: %s is known until it ends", t.Name))
		return r.done(-1), cat.Add(t)
	case err != nil:
		if err = errors.Join(err, r.unmake(ctx, t, made)); s.IfNotExists && errors.Is(err, errTableExists) { // another connection was faster
			return r.createTable(ctx, s)
		}
		return nil, err
	}
	err = r.engine.reload(ctx)
	if now, ok := cat.Table(t.Name); ok && err == nil { // the HBase table was another connection's, which may have dropped it before it saw this definition
		err = r.makeAgain(ctx, now)
	}
	if err == nil && len(t.Lookups()) > 0 { // users who write numbers themselves must keep them from being drawn
		err = r.engine.awaitRefresh(ctx)
	}
	if err == nil {
		r.noteIndexes(t)
		err = r.noteRegions(ctx, t)
	}
	if err != nil {
		return nil, keptError{err}
	}
	return r.done(-1), nil
}

// namesIn checks that each table named by a LOOKUP of t exists. If only a catalog file of this connection defines such
// a table, namesIn returns the table's name: then t cannot be saved in the store for other connections.
func (r *run) namesIn(ctx context.Context, t *catalog.Table) (file string, err error) {
	for _, u := range t.Lookups() {
		if _, ok := r.engine.catalog.Table(u.Table); !ok {
			return "", parser.Errorf(u.Pos, "LOOKUP in %s: there is no such table", u.Table).WithHint("create it first")
		}
		known, _, err := r.engine.definitionOf(ctx, u.Table)
		switch {
		case err != nil:
			return "", err
		case known.sql == "" && !t.External:
			return "", parser.Errorf(u.Pos, "table %s is kept in the store: its LOOKUP cannot name %s, which only a catalog file of this connection defines", t.Name, u.Table).
				WithHint("define the table in that file, too")
		case known.sql == "":
			file = u.Table
		}
	}
	return file, nil
}

// written returns s with the types that its columns mean. The cells of an EXTERNAL table are there, with the width that they had.
func written(s *parser.CreateTable) *parser.CreateTable {
	if s.External {
		return s
	}
	out := *s
	out.Columns = slices.Clone(s.Columns)
	for i, c := range out.Columns {
		out.Columns[i].Type = types.WrittenType(c.Type)
	}
	return &out
}

// noteUnkept warns that a definition lasts as long as the connection.
func (r *run) noteUnkept(name, file string) {
	r.Warn.Add(warning.ReadOnly, fmt.Sprintf("%s is known until the connection ends, as it reads %s, which only a catalog file defines: that file can define it, too", name, file))
}

// build builds the table that s defines in the session, and checks its DEFAULTs.
func (r *run) build(s *parser.CreateTable) (*catalog.Table, error) {
	s = r.inZone(s)
	t, err := r.engine.catalog.Build(s)
	if err == nil && slices.ContainsFunc(t.Layouts, (*catalog.Layout).SplitsAtMoments) {
		t, err = r.engine.catalog.Build(r.splitsInUTC(s, t))
	}
	if err == nil {
		_, _, err = r.defaultsOf(t)
	}
	if err == nil {
		err = r.timelessChecks(t, nil)
	}
	return t, err
}

// timelessChecks adds the session's time zone to the constants that are read as moments in the CHECKs of t, except in known ones.
func (r *run) timelessChecks(t *catalog.Table, known []catalog.Check) error {
	for _, c := range t.Checks {
		if slices.ContainsFunc(known, func(o catalog.Check) bool { return o.Name == c.Name }) {
			continue
		}
		moments := map[parser.Pos]types.Value{}
		scope := r.scope()
		scope.Column, scope.Moment = t.Resolve, func(at parser.Pos, v types.Value) { moments[at] = v }
		if _, err := expr.CompileCondition(c.Expr, scope); err != nil {
			return err
		}
		parser.Walk(c.Expr, func(x parser.Expr) bool {
			if l, ok := x.(*parser.Literal); ok {
				r.inSessionZone(l, moments)
			}
			return true
		})
	}
	return nil
}

// splitsInUTC returns s, the definition of t, with the dates and times of SPLIT AT converted to UTC.
func (r *run) splitsInUTC(s *parser.CreateTable, t *catalog.Table) *parser.CreateTable {
	out := *s
	out.Splits = slices.Clone(s.Splits)
	for _, l := range t.Layouts {
		if !l.SplitsAtMoments() {
			continue
		}
		split := *l.Split
		split.Keys = slices.Clone(split.Keys)
		for i, x := range split.Keys {
			split.Keys[i] = r.momentInUTC(x)
		}
		if i := slices.Index(out.Splits, l.Split); i >= 0 {
			out.Splits[i] = &split
		} else {
			out.Split = &split
		}
	}
	return &out
}

// inZone converts DEFAULTs that are dates or times from the session's time zone to UTC, so that the saved definition
// means the same in every session.
func (r *run) inZone(s *parser.CreateTable) *parser.CreateTable {
	out := *s
	out.Replace, out.Columns = false, slices.Clone(s.Columns)
	for i, c := range s.Columns {
		if t, ok := types.ParseType(c.Type); !ok || t != types.Timestamp || c.Encoding == nil || c.Encoding.Name != "DEFAULT" || len(c.Encoding.Args) == 0 {
			continue
		}
		enc := *c.Encoding
		enc.Args = slices.Clone(enc.Args)
		enc.Args[0] = r.momentInUTC(enc.Args[0])
		out.Columns[i].Encoding = &enc
	}
	return &out
}

// momentInUTC converts x, a date or time in the session's time zone, to UTC. It returns other expressions unchanged;
// the definition's reader refuses them.
func (r *run) momentInUTC(x parser.Expr) parser.Expr {
	l, ok := x.(*parser.Literal)
	if !ok || l.Kind != parser.StringLiteral && l.Kind != parser.TimestampLiteral && l.Kind != parser.DateLiteral {
		return x
	}
	v, err := types.Cast(types.NewString(l.Text), types.Timestamp, r.settings.loc)
	if err != nil {
		return x
	}
	return &parser.Literal{Pos: l.Pos, Kind: parser.StringLiteral, Text: v.String()}
}

// makeTables creates the HBase tables of t that are missing, except for those that are created when a row is written.
// known reports that the catalog already has t; otherwise makeTables fails if mayTake refuses an existing HBase table.
// It returns the names of the tables that it created.
func (r *run) makeTables(ctx context.Context, t *catalog.Table, known bool) (made []string, err error) {
	if t.External {
		return nil, nil
	}
	for _, l := range t.Layouts {
		if !l.Stored.IsLiteral() {
			continue
		}
		name := storedName(l)
		ok, err := r.createPhysical(ctx, t, name)
		if ok {
			made = append(made, name)
		} else if err == nil && !known {
			err = r.mayTake(ctx, t, name)
		}
		if err != nil {
			return made, errors.Join(err, r.unmake(ctx, t, made))
		}
	}
	return made, nil
}

// makeAgain creates the missing HBase tables of t, which is already known.
func (r *run) makeAgain(ctx context.Context, t *catalog.Table) error {
	made, err := r.makeTables(ctx, t, true)
	if err != nil {
		return err
	}
	return r.stillWanted(ctx, t, made)
}

// stillWanted fails if t was dropped meanwhile. It then drops made, the HBase tables created for t, because DROP TABLE
// has not seen them.
func (r *run) stillWanted(ctx context.Context, t *catalog.Table, made []string) error {
	if len(made) == 0 {
		return nil
	}
	err := r.engine.reload(ctx)
	if err == nil {
		err = r.checkUnchanged(ctx, t)
	}
	if err != nil {
		err = errors.Join(err, r.unmake(ctx, t, made))
	}
	return err
}

// makeMissing creates the HBase tables that a write to the table name needs, including those of look-up tables. It
// creates them only for a definition that is not in the store, such as one from a catalog file. The HBase tables of a
// definition in the store existed once. If one is missing, a concurrent DROP TABLE may have dropped it, and would not
// drop a new one. again reports whether makeMissing created a table; otherwise it returns err, the error of the write.
func (r *run) makeMissing(ctx context.Context, name string, err error) (again bool, _ error) {
	if e := r.engine.reload(ctx); e != nil { // a table that another connection dropped must not come back
		return false, e
	}
	t, ok := r.engine.catalog.Table(name)
	if !ok {
		return false, err
	}
	stored, _, e := r.engine.definitionOf(ctx, name)
	if e != nil {
		return false, e
	}
	var made []string
	if stored.sql == "" {
		if made, e = r.makeTables(ctx, t, true); e != nil {
			return false, e
		}
	}
	for _, u := range t.Lookups() {
		ok, e := r.makeMissing(ctx, u.Table, nil)
		if e != nil {
			return false, e
		}
		again = again || ok
	}
	again = again || len(made) > 0
	if again {
		return true, nil
	}
	return false, err
}

// storedBy reports whether def names the HBase table of a layout by STORED IN.
func storedBy(def *parser.CreateTable) bool {
	return def.StoredIn != nil || slices.ContainsFunc(def.Layouts, func(d parser.LayoutDef) bool { return d.StoredIn != nil })
}

// mayTake refuses to use the existing HBase table name for t, which is being defined. It allows two cases: another table
// that hql created is stored there (several record types share it), or hql created the HBase table and it is empty.
func (r *run) mayTake(ctx context.Context, t *catalog.Table, name string) error {
	o := r.sharing(t, name)
	if o != nil && !o.External && !storedBy(t.Def) { // o had the name of t before it was renamed
		return parser.Errorf(t.Def.NamePos, "the HBase table %s holds rows of table %s", name, o.Name).WithHint("STORED IN names another one")
	}
	if o != nil && !o.External {
		return nil
	}
	refused := parser.Errorf(t.Def.NamePos, "the HBase table %s already exists", name).
		WithHint("CREATE EXTERNAL TABLE maps a table that exists; STORED IN names another one")
	if ours, err := r.made(ctx, name); err != nil || !ours {
		return cmp.Or[error](err, refused)
	}
	sc, err := r.Client.Scan(ctx, hbase.ScanRange{Table: name, Limit: 1}, nil)
	if err != nil {
		return err
	}
	defer sc.Close()
	switch _, err := sc.Next(ctx); err {
	case io.EOF:
		return nil
	case nil:
		return refused
	default:
		return err
	}
}

// made reports whether hql made the HBase table name.
func (r *run) made(ctx context.Context, name string) (bool, error) {
	families, err := r.Client.Families(ctx, name)
	return slices.ContainsFunc(families, func(f hbase.Family) bool { return f.Attributes[MadeFor] != "" }), err
}

// unmake drops the HBase tables that a failed CREATE TABLE created, except those that another definition uses by now.
func (r *run) unmake(ctx context.Context, t *catalog.Table, made []string) error {
	if len(made) == 0 || ctx.Err() != nil {
		return nil
	}
	for _, name := range made {
		unnamed := func(ctx context.Context) error {
			err := r.engine.reload(ctx)
			if err == nil && r.sharing(t, name) != nil {
				err = errNamed
			}
			return err
		}
		err := unnamed(ctx)
		if err == nil {
			err = r.Client.DropTable(ctx, name, unnamed)
		}
		if err != nil && !errors.Is(err, errNamed) && !errors.Is(err, hbase.ErrNoTable) {
			return err
		}
	}
	return nil
}

var errNamed = errors.New("another definition names it")

// storedName returns the name of the physical table of l, which must be a literal.
func storedName(l *catalog.Layout) string {
	name, _ := l.Stored.Prefix()
	return name
}

// createPhysical creates the HBase table name for t and reports whether it did. An existing HBase table, which several
// record types may share, must have the families of t.
func (r *run) createPhysical(ctx context.Context, t *catalog.Table, name string) (made bool, err error) {
	have, err := r.Client.Families(ctx, name)
	if errors.Is(err, hbase.ErrNoTable) {
		if err = r.makePhysical(ctx, t, name); err == nil {
			return true, nil
		}
		if errors.Is(err, hbase.ErrTableExists) { // another connection was faster
			have, err = r.Client.Families(ctx, name)
		}
	}
	if err != nil {
		return false, err
	}
	for _, f := range t.Families {
		if !slices.ContainsFunc(have, func(h hbase.Family) bool { return h.Name == f.Name }) {
			return false, parser.Errorf(t.Def.NamePos, "the HBase table %s exists and has no family %q", name, f.Name)
		}
	}
	return false, nil
}

func (r *run) makePhysical(ctx context.Context, t *catalog.Table, name string) (err error) {
	l := t.Layouts[0]
	for _, o := range t.Layouts {
		if o.Stored.IsLiteral() && storedName(o) == name {
			l = o
		}
	}
	splits, err := r.splitKeys(ctx, t, l)
	if err != nil {
		return err
	}
	var families []hbase.Family
	for _, f := range t.Families {
		attributes := maps.Clone(f.Attributes)
		attributes[MadeFor] = t.Name
		families = append(families, hbase.Family{Name: f.Name, Attributes: attributes})
	}
	return r.Client.CreateTable(ctx, name, families, splits)
}

// splitKeys returns the split points of a new HBase table of layout l.
func (r *run) splitKeys(ctx context.Context, t *catalog.Table, l *catalog.Layout) ([][]byte, error) {
	return l.SplitKeys(r.engine.cfg.ReadFile, func(file string) ([][]byte, error) { return r.sampleKeys(ctx, t, l, file) })
}

// physical lists the HBase tables of one layout.
func (r *run) physical(ctx context.Context, l *catalog.Layout) ([]string, error) {
	name, whole := l.Stored.Prefix()
	if whole {
		return []string{name}, nil
	}
	return r.Tables(ctx, l, name)
}

// sharing returns another table that has rows in the HBase table name, or nil.
func (r *run) sharing(t *catalog.Table, name string) *catalog.Table {
	for _, o := range r.engine.catalog.Tables() {
		if o == t {
			continue
		}
		for _, l := range o.Layouts {
			if l.Stored.Fits(name) {
				return o
			}
		}
	}
	return nil
}
