package pgcatalog

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hql-db/hql/types"
)

//go:embed columns.tsv
var columnsText string

//go:embed facts/*.tsv
var files embed.FS

// Column is a column of a relation.
type Column struct {
	Name  string
	Type  types.Type
	Limit types.Limit
}

// Relation is a relation of the schemas pg_catalog and information_schema.
type Relation struct {
	Schema, Name string
	Columns      []Column
	Hidden       int // the last of Columns, which * does not show: tableoid and xmin
	oid          uint32
	kind         string        // as in pg_class: r, v; f: a function in FROM
	template     []types.Value // a row that sets nothing
	at           map[string]int
	facts        func() [][]types.Value // rows, which no one changes
}

// relations maps "schema:name" to each relation.
var relations = sync.OnceValue(func() map[string]*Relation {
	out := map[string]*Relation{}
	for _, line := range strings.Split(strings.TrimSpace(columnsText), "\n") {
		f := strings.Split(line, "\t")
		oid, _ := strconv.ParseUint(f[1], 10, 32)
		r := &Relation{oid: uint32(oid), kind: f[2], at: map[string]int{}}
		r.Schema, r.Name, _ = strings.Cut(f[0], ".")
		r.facts = sync.OnceValue(r.readFacts)
		for i, c := range strings.Split(f[3], ",") {
			r.column(i, c)
		}
		if r.kind == "r" {
			n := len(r.Columns)
			r.column(n, "tableoid oid="+f[1])
			r.column(n+1, "xmin xid=1")
			r.Hidden = 2
		}
		out[r.Schema+":"+r.Name] = r
	}
	return out
})

// column adds column number i. text is "name type", followed by ! if the column is never NULL, or by = and its default value.
func (r *Relation) column(i int, text string) {
	name, typ, _ := strings.Cut(text, " ")
	typ, fallback, given := strings.Cut(typ, "=")
	typ, never := strings.CutSuffix(typ, "!")
	t, ok := types.ParseType(typ)
	if !ok {
		t = types.String
	}
	var v types.Value
	switch {
	case given && strings.HasSuffix(fallback, "c") && len(fallback) > 1: // a character by its number
		n, _ := strconv.Atoi(strings.TrimSuffix(fallback, "c"))
		v = valueOf(string(rune(n)), t)
	case given:
		v = valueOf(fallback, t)
	case never && (t.IsOID() || t.IsNumeric()):
		v = valueOf(0, t)
	case never && t == types.Boolean:
		v = valueOf(false, t)
	case never && t.IsArray():
		v = arrayOf(t, nil)
	case never:
		v = valueOf("", t)
	}
	r.Columns, r.template, r.at[name] = append(r.Columns, Column{Name: name, Type: t}), append(r.template, v), i
}

// attributes returns the columns of r as attributes of an object.
func (r *Relation) attributes() []attribute {
	out := make([]attribute, len(r.Columns)-r.Hidden)
	for i, c := range r.Columns[:len(out)] {
		out[i] = attribute{name: c.Name, typ: c.Type, notNull: !r.template[i].IsNull()}
	}
	return out
}

// Find returns the relation called name, or nil. The name is schema:name; without a schema it is looked for in pg_catalog. The
// name of a function in FROM ends with ().
func Find(name string) *Relation {
	name = strings.ToLower(name)
	if r := relations()[name]; r != nil {
		return r
	}
	return relations()["pg_catalog:"+name]
}

// Wanted returns the values of a column to which a statement limits the rows; ok is false if it wants all values.
type Wanted func(column string) (values []types.Value, ok bool)

// Rows returns the rows of r. It may leave out rows with other values than wanted returns.
func (r *Relation) Rows(s *Session, wanted Wanted) [][]types.Value {
	w := &writer{relation: r, session: s, wanted: wanted, rows: slices.Clip(r.facts())}
	if add := rowsOf[r.Schema+"."+r.Name]; add != nil {
		add(w)
	}
	return w.rows
}

// writer collects rows.
type writer struct {
	relation *Relation
	session  *Session
	wanted   Wanted
	rows     [][]types.Value
}

// readFacts reads the rows of r that are the same in every database. The first line of their file has the names of columns; an
// empty field leaves the column's default.
func (r *Relation) readFacts() [][]types.Value {
	b, err := files.ReadFile("facts/" + r.Name + ".tsv")
	if err != nil || r.Schema != "pg_catalog" {
		return nil
	}
	w := &writer{relation: r}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	names := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		out := w.row()
		for i, f := range strings.Split(line, "\t") {
			if at := r.at[names[i]]; f != "" {
				out[at] = factOf(f, r.Columns[at].Type)
			}
		}
	}
	return w.rows
}

// factOf returns the value in a field of a file. For a function the field has its OID and its name.
func factOf(f string, t types.Type) types.Value {
	if t != types.RegProc {
		return valueOf(f, t)
	}
	number, name, _ := strings.Cut(f, " ")
	oid, _ := strconv.ParseUint(number, 10, 32)
	return types.NewNamedOID(t, uint32(oid), strings.TrimPrefix(name, "-"))
}

// row adds a row with the default of each column, and returns it.
func (w *writer) row() []types.Value {
	out := append([]types.Value(nil), w.relation.template...)
	w.rows = append(w.rows, out)
	return out
}

// Row maps names of columns to a row's values: bool, int, uint32, float64, string, time.Time or types.Value; nil for NULL.
type Row map[string]any

// add adds a row. pairs are names of columns, each followed by a value as in Row.
func (w *writer) add(pairs ...any) {
	out := w.row()
	for i := 0; i < len(pairs); i += 2 {
		w.set(out, pairs[i].(string), pairs[i+1])
	}
}

func (w *writer) set(row []types.Value, name string, x any) {
	i, ok := w.relation.at[name]
	if !ok {
		panic("pgcatalog: " + w.relation.Name + " has no column " + name)
	}
	row[i] = valueOf(x, w.relation.Columns[i].Type)
}

// addRows adds rows that a Client gave.
func (w *writer) addRows(rows []Row) {
	for _, r := range rows {
		out := w.row()
		for name, x := range r {
			w.set(out, name, x)
		}
	}
}
