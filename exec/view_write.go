package exec

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// throughView returns stmt with the table that a view reads in place of the view that stmt writes. As in PostgreSQL, the view picks
// rows and columns of one table. Other statements stay as they are.
func (r *run) throughView(stmt parser.Statement) (parser.Statement, error) {
	v, ok := r.engine.catalog.View(parser.Written(stmt))
	if !ok {
		return stmt, nil
	}
	stmt = parser.CopyOf(stmt)
	var set []parser.Assignment
	var where *parser.Expr
	joins, in, source := false, &parser.Insert{}, parser.Insert{}
	switch s := stmt.(type) {
	case *parser.Insert:
		in, source, set = s, *s, s.Set
		s.Query, s.Rows = nil, nil // they see no column of the view
	case *parser.Update:
		joins, set, where = s.From != nil, s.Set, &s.Where
	case *parser.Delete:
		if joins, where = s.Using != nil, &s.Where; s.Truncate {
			return stmt, nil
		}
	default:
		return stmt, nil
	}
	table, alias, returning, pos := parser.Target(stmt)
	*alias = cmp.Or(*alias, *table)
	w, err := r.readView(v.Def, *alias, pos)
	if err != nil {
		return nil, err
	}
	*table = w.table
	if in == stmt && in.Columns == nil {
		for _, n := range w.names[:min(given(&source), len(w.names))] {
			in.Columns = append(in.Columns, parser.Name{Pos: pos, Name: n})
		}
	}
	for _, list := range [][]parser.Name{in.Columns, in.Conflict} {
		for i, n := range list {
			list[i].Name = w.column(n.Name, n.Pos)
		}
	}
	for i := range set {
		set[i].Column.Name = w.column(set[i].Column.Name, set[i].Column.Pos)
	}
	var items []parser.SelectItem
	for _, it := range *returning {
		if it.Star && (it.Table == "" && !joins || strings.EqualFold(it.Table, *alias)) {
			for _, n := range w.names {
				items = append(items, parser.SelectItem{Pos: it.Pos, Expr: &parser.ColumnRef{Pos: it.Pos, Table: *alias, Name: n}, Alias: n})
			}
			continue
		}
		if ref, ok := it.Expr.(*parser.ColumnRef); ok {
			it.Alias = cmp.Or(it.Alias, ref.Name)
		} else if it.Star && it.Table == "" {
			return nil, parser.Errorf(it.Pos, "RETURNING * does not take a view and other tables: name the columns")
		}
		items = append(items, it)
	}
	*returning = items
	parser.Inspect(stmt, w.renamed(joins))
	if in.Query, in.Rows = source.Query, source.Rows; w.err != nil {
		return nil, w.err
	}
	if where != nil {
		*where = both(w.where, *where)
	}
	return r.throughView(parser.CopyWith(stmt, func(e parser.Expr) parser.Expr {
		ref, _ := e.(*parser.ColumnRef)
		return w.replaced[ref]
	}))
}

// writtenView is a view that a statement writes.
type writtenView struct {
	name  string // in the statement
	table string // the table, or the view, that it reads
	where parser.Expr
	names []string
	// of has the table's name for each column of the view, by its name in lower case, and "" for one that the view computes or leaves out.
	of       map[string]string
	computed map[string]parser.Expr            // by their names in lower case, the columns that the view computes
	replaced map[*parser.ColumnRef]parser.Expr // the references to these in the statement
	err      error
}

// readView reads the definition of a view, which the statement calls name.
func (r *run) readView(def *parser.CreateView, name string, pos parser.Pos) (*writtenView, error) {
	q := def.Query.At(pos)
	core := *q.Cores[0]
	picks := parser.SelectCore{Pos: core.Pos, Items: core.Items, From: core.From, Where: core.Where}
	plain := len(q.With)+len(q.Sets) == 0 && q.Limit == nil && q.Offset == nil && reflect.DeepEqual(core, picks) && len(core.From) == 1
	parser.Inspect(q, func(n parser.Node) bool {
		switch n := n.(type) {
		case *parser.Select:
			plain = plain && n == q
		case *parser.Call:
			f := r.env.Funcs.Lookup(n.Name)
			plain = plain && n.Over == nil && (f == nil || !f.Set && !f.Volatile && f.Group != "aggregate")
		case *parser.ColumnRef:
			n.Table = name
		}
		return true
	})
	var of *parser.TableName
	if plain {
		of, plain = core.From[0].(*parser.TableName)
	}
	if !plain || of.SystemTime != nil {
		return nil, parser.Errorf(pos, "%s is a view that does more than pick rows and columns of one table: no statement can write it", def.Name).
			WithHint("write the table; SHOW CREATE VIEW shows what the view reads")
	}
	of.Alias = name
	p, err := r.env.Select(q)
	if err != nil {
		return nil, err
	}
	all, err := r.env.Select(parser.AllOf(of))
	if err != nil {
		return nil, err
	}
	w := &writtenView{name: name, table: of.Name, where: core.Where, of: map[string]string{}, computed: map[string]parser.Expr{}, replaced: map[*parser.ColumnRef]parser.Expr{}}
	var items []parser.Expr
	for _, it := range core.Items {
		if items = append(items, it.Expr); it.Star {
			items = append(items, make([]parser.Expr, len(all.Columns)-1)...)
		}
	}
	for _, c := range all.Columns {
		w.of[strings.ToLower(c.Name)] = ""
	}
	for i, c := range p.Columns {
		if i < len(def.Columns) {
			c.Name = def.Columns[i]
		}
		w.names, w.of[strings.ToLower(c.Name)] = append(w.names, c.Name), ""
		if k := slices.IndexFunc(all.Columns, func(b plan.OutputColumn) bool { return b.Origin == c.Origin }); c.Origin.Column > 0 && k >= 0 {
			w.of[strings.ToLower(c.Name)] = all.Columns[k].Name
		} else {
			w.computed[strings.ToLower(c.Name)] = items[i]
		}
	}
	return w, nil
}

// column returns the table's name of a column of the view.
func (w *writtenView) column(name string, pos parser.Pos) string {
	of := w.of[strings.ToLower(name)]
	if of == "" && w.err == nil {
		w.err = parser.Errorf(pos, "%q is no column that the view %s takes from its table", name, w.name).Of(catalog.ErrUnknownColumn)
	}
	return of
}

// renamed returns a visitor that makes the columns of the view those of the table. If vague, a name without a table may belong to another
// table: the view's table must then call it the same.
func (w *writtenView) renamed(vague bool) func(parser.Node) bool {
	return func(n parser.Node) bool {
		if t, ok := n.(parser.TableExpr); ok && strings.EqualFold(t.Called(), w.name) && w.err == nil {
			w.err = parser.Errorf(t.Position(), "the statement writes %q, too: give one of the two an alias", w.name)
		}
		if q, ok := n.(*parser.Select); ok && !vague {
			parser.Inspect(q, w.renamed(true))
			return false
		}
		ref, ok := n.(*parser.ColumnRef)
		if !ok || ref.Table != "" && !strings.EqualFold(ref.Table, w.name) && !strings.EqualFold(ref.Table, "excluded") {
			return true
		}
		was, vague := ref.Name, vague && ref.Table == ""
		if of, known := w.of[strings.ToLower(was)]; (!known || of == "" && vague) && !(ref.Row && strings.EqualFold(was, w.name)) {
			return true
		}
		if x := w.computed[strings.ToLower(was)]; x != nil && !strings.EqualFold(ref.Table, "excluded") {
			w.replaced[ref] = x
		} else if ref.Name = w.column(was, ref.Pos); vague && !strings.EqualFold(was, ref.Name) && w.err == nil {
			w.err = parser.Errorf(ref.Pos, "%q may be a column of %s or of another table", was, w.name).WithHint("write %s.%s", w.name, was)
		}
		return true
	}
}
