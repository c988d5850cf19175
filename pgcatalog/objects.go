package pgcatalog

import (
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Database is the name of the database in statements that come from no Client.
const Database = "hql"

// The OIDs of PostgreSQL's schemas, and the role that owns everything.
const (
	schemaCatalog = 11
	schemaPublic  = 2200
	owner         = 10
	ownerName     = "hql"
	methodBtree   = 403
)

// object is a table, view or index of hql, or a relation of PostgreSQL's catalog.
type object struct {
	oid       uint32
	schemaOID uint32
	schema    string
	name      string // without its schema
	kind      string // as in pg_class: r, v, m, i, S
	table     *catalog.Table
	view      *catalog.View
	layout    *catalog.Layout // of an index
	sequence  *catalog.Sequence
	of        *object // the table of an index, or of the column that a sequence belongs to
	column    int     // that column; from 1
	indexes   []*object
	checks    []uint32 // the OIDs of the CHECKs of a table
	relation  *Relation
	once      sync.Once
	known     []attribute
	classOnce sync.Once
	class     []types.Value // classRow
}

// columns returns the columns of x. Only the columns of a view depend on the statement.
func (x *object) columns(s *Session) []attribute {
	if x.view != nil {
		return viewColumns(s, x.view)
	}
	x.once.Do(func() {
		switch {
		case x.relation != nil:
			x.known = x.relation.attributes()
		case x.layout != nil:
			x.known = indexColumns(x)
		default:
			x.known = tableColumns(s.Catalog, x.table)
		}
	})
	return x.known
}

// attribute is a column of an object.
type attribute struct {
	name     string
	typ      types.Type
	limit    types.Limit
	notNull  bool
	comment  string
	fallback string // the DEFAULT
	identity string // of GENERATED AS IDENTITY: ALWAYS or BY DEFAULT
	sequence *catalog.Sequence
}

// schema is a namespace of HBase, or a schema of PostgreSQL's catalog.
type schema struct {
	oid  uint32
	name string
}

// objects holds all objects, in the order of their schemas and names.
type objects struct {
	tables  []*catalog.Table
	views   []*catalog.View // and the sequences
	schemas []schema
	all     []*object
	byOID   map[uint32]*object
	byName  map[[2]string]*object
}

// collect collects the objects of c.
func collect(c *catalog.Catalog) *objects {
	o := &objects{tables: c.Tables(), views: append(c.Views(), c.Sequences()...), schemas: []schema{{schemaCatalog, "pg_catalog"}, {schemaPublic, "public"}}, byOID: map[uint32]*object{}, byName: map[[2]string]*object{}}
	taken := map[uint32]bool{}
	o.schemas = append(o.schemas, schema{number("ninformation_schema", taken), "information_schema"})
	for _, t := range o.tables {
		kind := "r"
		if t.Def.Materialized {
			kind = "m"
		}
		x := o.add(&object{kind: kind, table: t}, t.Name, taken)
		for i, l := range t.Layouts {
			o.index(x, l, i, taken)
		}
		for _, c := range t.Checks {
			x.checks = append(x.checks, number("c"+x.schema+":"+x.name+":"+c.Name, taken))
		}
	}
	for _, v := range o.views {
		x := &object{kind: "v", view: v, sequence: v.Sequence()}
		if x.sequence != nil {
			x.kind = "S"
		}
		o.add(x, v.Name, taken)
	}
	o.own(c)
	for _, r := range relations() {
		if r.kind != "f" {
			o.put(&object{oid: r.oid, schema: r.Schema, name: r.Name, kind: r.kind, relation: r}, taken)
		}
	}
	slices.SortFunc(o.all, func(a, b *object) int {
		if c := strings.Compare(a.schema, b.schema); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return o
}

// own finds the columns to which sequences belong.
func (o *objects) own(c *catalog.Catalog) {
	for _, x := range o.all {
		for i := 0; x.table != nil && x.layout == nil && i < len(x.table.Columns); i++ {
			for _, s := range o.all {
				if of := c.SequenceOf(x.table.Columns[i]); s.sequence != nil && s.sequence.Owned && of != nil && of.Name == s.sequence.Name {
					s.of, s.column = x, i+1
				}
			}
		}
	}
}

// add adds x. name is its name in hql, which may begin with a namespace and a colon.
func (o *objects) add(x *object, name string, taken map[uint32]bool) *object {
	x.schema, x.name = "public", name
	if schema, rest, ok := strings.Cut(name, ":"); ok {
		x.schema, x.name = schema, rest
	}
	return o.put(x, taken)
}

func (o *objects) put(x *object, taken map[uint32]bool) *object {
	if x.oid == 0 {
		x.oid = number(x.kind+x.schema+":"+x.name, taken)
	}
	x.schemaOID = o.schemaNamed(x.schema, taken)
	o.all = append(o.all, x)
	o.byOID[x.oid] = x
	if key := [2]string{x.schema, x.name}; o.byName[key] == nil {
		o.byName[key] = x
	}
	return x
}

// schemaNamed returns the OID of the schema called name, and adds the schema if it is new.
func (o *objects) schemaNamed(name string, taken map[uint32]bool) uint32 {
	for _, s := range o.schemas {
		if s.name == name {
			return s.oid
		}
	}
	s := schema{number("n"+name, taken), name}
	o.schemas = append(o.schemas, s)
	return s.oid
}

// index adds the index of table x for its layout number i. The first layout is the primary key.
func (o *objects) index(x *object, l *catalog.Layout, i int, taken map[uint32]bool) {
	name := l.Name
	if i == 0 {
		name = x.name + "_pkey"
	}
	in := &object{kind: "i", schema: x.schema, name: name, table: x.table, layout: l, of: x}
	in.oid = number("i"+x.schema+":"+x.name+":"+name, taken)
	x.indexes = append(x.indexes, o.put(in, taken))
}

// temporary reports whether x is a temporary table or view, or an index of one, of any session.
func (x *object) temporary() bool { return strings.HasPrefix(x.schema, "pg_temp_") }

// rows reports whether x is a table or a materialized view of hql.
func (x *object) rows() bool { return x.table != nil && x.layout == nil }

// primary reports whether an index is the primary key of its table.
func (x *object) primary() bool { return x.layout == x.table.Layouts[0] }

// number returns an OID for the object called key, made from a hash of key. An object keeps its OID unless another object has
// taken it.
func number(key string, taken map[uint32]bool) uint32 {
	const first = 16384 // the first OID that PostgreSQL gives to users' objects
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	n := first + h.Sum32()%(1<<31-first)
	for taken[n] {
		n++
	}
	taken[n] = true
	return n
}

// keyPart is a column of an index, or an expression over columns.
type keyPart struct {
	column int // in the table; -1: an expression
	text   string
	typ    types.Type
	down   bool // DESC
}

// parts returns the columns of an index. A primary key has the columns that determine the rowkey; any other index has the parts of
// its key, without the columns at its end by which an entry leads to its row.
func (x *object) parts() (out []keyPart) {
	t := x.table
	if x.primary() {
		for _, i := range x.layout.PlaceColumns() {
			out = append(out, keyPart{i, t.Columns[i].Name, t.Columns[i].Type, false})
		}
		return out
	}
	for _, p := range x.layout.Key.Parts {
		if p.Literal != nil {
			continue
		}
		down := p.Encoding.Order()&catalog.Inverted != 0
		if c, ok := p.Column(); ok {
			out = append(out, keyPart{c, t.Columns[c].Name, t.Columns[c].Type, down})
		} else {
			text := p.Expr.String()
			if _, call := p.Def.Expr.(*parser.Call); !call {
				text = "(" + text + ")"
			}
			out = append(out, keyPart{-1, text, p.Expr.Type(), down})
		}
	}
	for n := len(out) - 1; n > 0 && out[n].column >= 0 && t.Layouts[0].PartOf(out[n].column) != nil; n-- {
		out = out[:n]
	}
	return out
}
