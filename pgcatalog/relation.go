package pgcatalog

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/types"
)

//go:embed columns.tsv
var columnsText string

//go:embed types.tsv
var typesText string

// Column is a column of a relation.
type Column struct {
	Name string
	Type types.Type
}

// Relation is a relation of the schemas pg_catalog and information_schema.
type Relation struct {
	Schema, Name string
	Columns      []Column
}

// relations are all of them, by schema and name.
var relations = sync.OnceValue(func() map[string]*Relation {
	out := map[string]*Relation{}
	for _, line := range strings.Split(strings.TrimSpace(columnsText), "\n") {
		name, list, _ := strings.Cut(line, "\t")
		r := &Relation{}
		r.Schema, r.Name, _ = strings.Cut(name, ".")
		for _, c := range strings.Split(list, ",") {
			name, typ, _ := strings.Cut(c, " ")
			t, ok := types.ParseType(typ)
			if !ok {
				t = types.String
			}
			r.Columns = append(r.Columns, Column{name, t})
		}
		out[r.Schema+":"+r.Name] = r
	}
	return out
})

// Find finds a relation by its name, with its schema and a colon in front or, in pg_catalog, without; nil where there is none.
func Find(name string) *Relation {
	name = strings.ToLower(name)
	if r := relations()[name]; r != nil {
		return r
	}
	return relations()["pg_catalog:"+name]
}

// Rows gives the rows of r, of the definitions of c.
func (r *Relation) Rows(c *catalog.Catalog) [][]types.Value {
	make := rowsOf[r.Schema+"."+r.Name]
	if make == nil {
		return nil
	}
	w := &writer{relation: r, at: map[string]int{}}
	for i, c := range r.Columns {
		w.at[c.Name] = i
	}
	make(w, read(c))
	return w.rows
}

// writer collects rows.
type writer struct {
	relation *Relation
	at       map[string]int
	rows     [][]types.Value
}

// row is a row's values by the names of their columns: bool, int, string, OIDs or types.Values.
type row map[string]any

// add adds a row; what it does not have is NULL.
func (w *writer) add(r row) {
	out := make([]types.Value, len(w.relation.Columns))
	for name, x := range r {
		i, ok := w.at[name]
		if !ok {
			panic("pgcatalog: " + w.relation.Name + " has no column " + name)
		}
		out[i] = valueOf(x, w.relation.Columns[i].Type)
	}
	w.rows = append(w.rows, out)
}

func valueOf(x any, t types.Type) types.Value {
	var v types.Value
	switch x := x.(type) {
	case nil:
		return v
	case bool:
		v = types.NewBool(x)
	case int:
		v = types.NewInt(int64(x))
	case uint32:
		v = types.NewInt(int64(x))
	case string:
		v = types.NewString(x)
	case types.Value:
		v = x
	}
	out, err := types.Cast(v, t, nil)
	if err != nil {
		panic("pgcatalog: " + err.Error()) // of facts and definitions: no user's value is cast
	}
	return out
}
