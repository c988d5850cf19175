package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// createView runs CREATE VIEW: it plans the query to check it, and saves the view in the store like a table.
func (r *run) createView(ctx context.Context, s *parser.CreateView) (_ *Rows, err error) {
	cat, def := r.engine.catalog, *s
	s = &def
	if own := r.session.temporaryTables(); own != "" { // as in PostgreSQL, a view that reads a temporary table is temporary
		s.Temporary = s.Temporary || slices.ContainsFunc(parser.Tables(s.Query), func(t *parser.TableName) bool { return strings.HasPrefix(t.Name, own) })
	}
	if s.Temporary {
		if s.Name, err = r.session.temporaryName(s.Name, s.NamePos); err != nil {
			return nil, err
		}
		s.Temporary = false
	}
	if err := r.engine.reload(ctx); err != nil {
		return nil, err
	}
	if t, ok := cat.Table(s.Name); ok {
		return nil, parser.Errorf(s.NamePos, "%s %q already exists", strings.ToLower(t.Def.Kind()), t.Name)
	}
	stored, _, err := r.engine.definitionOf(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	old, exists := cat.View(s.Name)
	if !exists {
		if err := r.unclaimed(ctx, s.Name, s.NamePos); err != nil {
			return nil, err
		}
	}
	switch {
	case exists && s.IfNotExists:
		if s.Sequence != nil {
			r.Warn.Add(warning.Absent, fmt.Sprintf("relation %q already exists, skipping", old.Name))
		}
		return r.done(-1), nil
	case exists && s.Sequence != nil:
		return nil, parser.Errorf(s.NamePos, "relation %q already exists", old.Name).Of(errTableExists)
	case exists && !s.Replace:
		return nil, parser.Errorf(s.NamePos, "view %q already exists", old.Name).WithHint("CREATE OR REPLACE VIEW replaces it")
	case exists && r.reads(s.Query, s.Name, map[string]bool{}):
		return nil, parser.Errorf(s.NamePos, "view %q would read itself", s.Name)
	case s.Query.AllowFullScan:
		return nil, parser.Errorf(s.Query.Pos, "a view takes no ALLOW FULL SCAN: the statement that reads it does")
	}
	if p := parser.FirstParam(s.Query); p != nil {
		return nil, parser.Errorf(p.Pos, "a view takes no arguments")
	}
	kept, err := r.timeless(s)
	if err != nil {
		return nil, err
	}
	v := &catalog.View{Name: s.Name, Def: kept}
	taken := parser.Errorf(s.NamePos, "%q already exists", v.Name).Of(errTableExists)
	if exists {
		if err := r.keepsColumns(old, v, s.NamePos); err != nil {
			return nil, err
		}
		taken = parser.Errorf(s.NamePos, "view %q was dropped or redefined by another connection: run it again", v.Name)
	}
	file, err := r.readsFile(ctx, s.Query)
	switch {
	case err != nil:
		return nil, err
	case file != "" && stored.sql != "":
		return nil, parser.Errorf(s.NamePos, "view %s is kept in the store: it cannot read %s, which only a catalog file of this connection defines", v.Name, file).
			WithHint("define the view in that file")
	case file != "":
		r.noteUnkept(v.Name, file)
		cat.ReplaceView(v)
		return r.done(-1), nil
	}
	err = r.saveDefinition(ctx, v.Name, stored.sql, kept.String(), taken)
	if errors.Is(err, ErrReadOnly) {
		r.Warn.Add(warning.ReadOnly, fmt.Sprintf("the connection is read-only: %s is known until it ends", v.Name))
		cat.ReplaceView(v)
		return r.done(-1), nil
	}
	if err == taken && !exists && (s.IfNotExists || s.Replace) { // another connection was faster
		return r.createView(ctx, s)
	}
	if err == nil {
		err = r.engine.reload(ctx)
	}
	if err == nil && exists { // other connections may still use the earlier query
		err = r.engine.awaitRefresh(ctx)
	}
	return r.done(-1), err
}

// keepsColumns returns an error unless the columns of was, a view, are the first ones of now, which replaces it.
func (r *run) keepsColumns(was, now *catalog.View, at parser.Pos) error {
	is := r.env.ViewColumns(now)
	for i, c := range r.env.ViewColumns(was) {
		switch {
		case i >= len(is):
			return parser.Errorf(at, "cannot drop columns from view").WithHint("DROP VIEW %s drops the view before another is created", parser.QuoteName(was.Name))
		case !strings.EqualFold(c.Name, is[i].Name):
			return parser.Errorf(at, "cannot change name of view column %q to %q", c.Name, is[i].Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		case c.Type != is[i].Type && !(c.Type.IsInteger() && is[i].Type.IsInteger()):
			return parser.Errorf(at, "cannot change data type of view column %q from %s to %s", c.Name, c.Type, is[i].Type).WithHint("CAST(... AS %s) keeps it", c.Type)
		}
	}
	return nil
}

// timeless checks the definition of a view, and returns it as it is saved. It adds time zones to the text constants that are
// read as moments, so that sessions in other zones read the same moments.
func (r *run) timeless(s *parser.CreateView) (*parser.CreateView, error) {
	moments := map[parser.Pos]types.Value{}
	env := *r.env
	env.Moment = func(at parser.Pos, v types.Value) { moments[at] = v }
	p, err := env.Select(s.Query)
	if err == nil {
		err = namedColumns("view", s.Name, s.NamePos, s.Query, s.Columns, p.Columns)
	}
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseStatement(s.String())
	if err != nil {
		return nil, err
	}
	var places []parser.Pos
	literals := func(s *parser.CreateView, see func(i int, l *parser.Literal)) {
		i := 0
		parser.Inspect(s, func(n parser.Node) bool {
			if l, ok := n.(*parser.Literal); ok {
				see(i, l)
				i++
			}
			return true
		})
	}
	literals(s, func(_ int, l *parser.Literal) { places = append(places, l.Pos) })
	def := parsed.(*parser.CreateView)
	def.Replace, def.IfNotExists = false, false
	literals(def, func(i int, l *parser.Literal) {
		if i >= len(places) {
			return
		}
		l.Pos = places[i]
		r.inSessionZone(l, moments)
	})
	return def, nil
}

// inSessionZone adds the session's time zone to l if it is one of moments, the constants that are read as moments.
func (r *run) inSessionZone(l *parser.Literal, moments map[parser.Pos]types.Value) {
	if v, ok := moments[l.Pos]; ok {
		if is, err := types.ParseTimestamp(l.Text, r.env.Loc); err == nil && is == v.Int() {
			l.Text = v.Format(r.env.Loc)
		}
	}
}

// namedColumns returns an error if columns of a named query have equal names; names are the names of the first columns.
func namedColumns(kind, name string, at parser.Pos, query *parser.Select, names []string, cols []plan.OutputColumn) error {
	if len(names) > len(cols) {
		return parser.Errorf(at, "%s has %d columns, not %d", name, len(cols), len(names))
	}
	if len(cols) == 0 {
		return parser.Errorf(query.Pos, "the query of %s %s has no columns", kind, name)
	}
	seen := map[string]bool{}
	for i, c := range cols {
		column := c.Name
		if i < len(names) {
			column = names[i]
		}
		if seen[strings.ToLower(column)] {
			return parser.Errorf(query.Pos, "%s %s has two columns called %q", kind, name, column).WithHint("expression AS name gives one another name")
		}
		seen[strings.ToLower(column)] = true
	}
	return nil
}

// reads reports whether s reads the table or view called name, directly or through views other than those in seen.
func (r *run) reads(s *parser.Select, name string, seen map[string]bool) bool {
	for _, t := range parser.Tables(s) {
		if strings.EqualFold(t.Name, name) {
			return true
		}
		if v, ok := r.engine.catalog.View(t.Name); ok && !seen[v.Name] {
			if seen[v.Name] = true; r.reads(v.Def.Query, name, seen) {
				return true
			}
		} else if m, ok := r.engine.catalog.Table(t.Name); ok && m.Def.Materialized && r.reads(m.Def.Query, name, seen) {
			return true
		}
	}
	return false
}

// readsFile returns the name of a table or view that s reads and that only a catalog file of this connection defines; ""
// if there is none.
func (r *run) readsFile(ctx context.Context, s *parser.Select) (string, error) {
	for _, t := range parser.Tables(s) {
		if known, _, err := r.engine.definitionOf(ctx, t.Name); err != nil || known.sql == "" {
			return t.Name, err
		}
	}
	return "", nil
}

// unread refuses to drop the table or view called name while a view reads it. With cascade it drops the views.
func (r *run) unread(ctx context.Context, what, name string, at parser.Pos, cascade bool) error {
	for _, v := range r.engine.catalog.Readers() {
		switch {
		case strings.EqualFold(v.Name, name) || !r.reads(v.Def.Query, name, map[string]bool{}):
		case cascade:
			if err := r.dropReader(ctx, v, at); err != nil {
				return err
			}
		default:
			return parser.Errorf(at, "%s %s is read by %sview %s", what, name, materialized(v), v.Name).WithHint("drop %s first, or write CASCADE", v.Name)
		}
	}
	return nil
}

// dropReader drops v, and the views that read it.
func (r *run) dropReader(ctx context.Context, v *catalog.View, at parser.Pos) (err error) {
	s := &parser.Drop{Pos: at, View: v.Rows == nil, Materialized: v.Rows != nil, NamePos: at, Name: v.Name, IfExists: true, Cascade: true}
	if s.View {
		return r.dropView(ctx, s)
	}
	_, err = r.dropTable(ctx, s)
	return err
}

func materialized(v *catalog.View) string {
	if v.Rows != nil {
		return "materialized "
	}
	return ""
}

// drops runs DROP for one or several tables, views or sequences. All must exist before the first is dropped.
func (r *run) drops(ctx context.Context, s *parser.Drop) (*Rows, error) {
	if err := r.engine.reload(ctx); err != nil {
		return nil, err
	}
	all := append([]*parser.Drop{s}, s.More...)
	for _, one := range all {
		is, err := r.dropKind(one)
		if err == nil && is == "" && !s.IfExists && len(all) > 1 {
			_, err = r.tableNamed(one.Name, one.NamePos)
		}
		if err != nil {
			return nil, err
		}
	}
	for n := range all {
		if i := slices.IndexFunc(all[n:], func(one *parser.Drop) bool { return !r.readIn(all[n:], one.Name) }); i > 0 { // readers first
			all[n], all[n+i] = all[n+i], all[n]
		}
	}
	for _, one := range all {
		var err error
		if s.View {
			err = r.dropView(ctx, one)
		} else {
			_, err = r.dropTable(ctx, one)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.done(-1), nil
}

// readIn reports whether one of the views in list reads another one called name.
func (r *run) readIn(list []*parser.Drop, name string) bool {
	return slices.ContainsFunc(r.engine.catalog.Readers(), func(v *catalog.View) bool {
		listed := slices.ContainsFunc(list, func(s *parser.Drop) bool { return strings.EqualFold(s.Name, v.Name) })
		return listed && !strings.EqualFold(v.Name, name) && r.reads(v.Def.Query, name, map[string]bool{})
	})
}

// dropKind returns what s drops, such as VIEW; "" if there is nothing of the name. It fails if the name is of another kind.
func (r *run) dropKind(s *parser.Drop) (is string, err error) {
	if t, ok := r.engine.catalog.Table(s.Name); ok {
		is = t.Def.Kind()
	} else if v, ok := r.engine.catalog.View(s.Name); ok {
		is = strings.TrimPrefix(v.Def.Command(), "CREATE ")
	}
	kind := strings.TrimPrefix(s.Command(), "DROP ")
	switch {
	case is != "" && is != kind:
		err = notA(strings.ToLower(kind), s.Name, s.NamePos).WithHint("DROP %s drops it", is)
	case is == "" && s.View && !s.IfExists:
		err = parser.Errorf(s.NamePos, "%s %q does not exist", strings.ToLower(kind), s.Name).Of(catalog.ErrUnknownTable)
	}
	return is, err
}

func (r *run) dropView(ctx context.Context, s *parser.Drop) error {
	if err := r.engine.reload(ctx); err != nil {
		return err
	}
	is, err := r.dropKind(s)
	if err != nil {
		return err
	}
	if is == "" {
		if s.Sequence {
			r.Warn.Add(warning.Absent, fmt.Sprintf("sequence %q does not exist, skipping", s.Name))
		}
		return nil
	}
	cat := r.engine.catalog
	v, _ := cat.View(s.Name)
	if err := r.unread(ctx, "view", v.Name, s.NamePos, s.Cascade); err != nil {
		return err
	}
	var counters [][]byte
	if q := v.Sequence(); q != nil {
		if err := r.undrawn(ctx, s); err != nil {
			return err
		}
		counters = append(counters, []byte(counterPrefix+q.Counter))
	}
	stored, _, err := r.engine.definitionOf(ctx, v.Name)
	if err == nil && stored.sql != "" {
		err = r.forgetDefinition(ctx, v.Name, stored.sql, counters...)
	}
	if err != nil && !errors.Is(err, ErrReadOnly) {
		return err
	}
	if now, ok := cat.View(v.Name); ok && now == v {
		cat.Drop(v.Name)
	}
	return r.settle(ctx)
}

// showView runs SHOW CREATE VIEW and DESCRIBE.
func (r *run) showView(s *parser.Show, v *catalog.View) (*Rows, error) {
	if s.Kind == parser.ShowCreateTable {
		rows := r.table(textColumns("statement"), textRows([]string{v.Def.String() + ";\n"}))
		rows.Document = true
		return rows, nil
	}
	p, err := r.env.Select(parser.AllOf(&parser.TableName{Pos: s.NamePos, Name: v.Name}))
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, c := range p.Columns {
		rows = append(rows, []string{c.Name, c.Type.String(), "yes", "view", ""})
	}
	return r.table(textColumns("column", "type", "null", "stored in", "encoding"), textRows(rows...)), nil
}
