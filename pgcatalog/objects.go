package pgcatalog

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/types"
)

// Database is the name of the one database.
const Database = "hql"

// The numbers of PostgreSQL's schemas and of the role that owns everything.
const (
	schemaCatalog = 11
	schemaPublic  = 2200
	owner         = 10
)

// object is a table or view of hql.
type object struct {
	oid     uint32
	schema  string
	name    string // without its schema
	kind    string // of pg_class: r, v
	columns []*catalog.Column
	indexed bool
}

// objects are what the rows are made of.
type objects struct {
	schemas []string // of objects, sorted; public first
	oids    map[string]uint32
	all     []object
}

// read collects the objects of c, in the order of their names.
func read(c *catalog.Catalog) *objects {
	o := &objects{oids: map[string]uint32{"public": schemaPublic}, schemas: []string{"public"}}
	taken := map[uint32]bool{}
	for _, t := range c.Tables() {
		o.all = append(o.all, object{name: t.Name, kind: "r", columns: t.Columns, indexed: true})
	}
	for _, v := range c.Views() {
		o.all = append(o.all, object{name: v.Name, kind: "v"})
	}
	slices.SortFunc(o.all, func(a, b object) int { return strings.Compare(a.name, b.name) })
	for i := range o.all {
		x := &o.all[i]
		x.oid = number(x.kind+x.name, taken)
		x.schema = "public"
		if schema, name, ok := strings.Cut(x.name, ":"); ok {
			x.schema, x.name = schema, name
		}
		if _, known := o.oids[x.schema]; !known {
			o.oids[x.schema] = number("n"+x.schema, taken)
			o.schemas = append(o.schemas, x.schema)
		}
	}
	return o
}

// number is the OID of the object called key: as long as it has that name, and no other takes it, it keeps it.
func number(key string, taken map[uint32]bool) uint32 {
	const first = 16384 // of PostgreSQL's users
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	n := first + h.Sum32()%(1<<31-first)
	for taken[n] {
		n++
	}
	taken[n] = true
	return n
}

// typeInfo is what PostgreSQL says of a type.
type typeInfo struct {
	oid        uint32
	length     int
	byValue    bool
	align      string
	storage    string
	collation  int
	name       string
	dimensions int
}

// typeNames are PostgreSQL's names of hql's types where ParseType does not tell them apart.
var typeNames = map[types.Type]string{
	types.Boolean: "bool", types.TinyInt: "int2", types.SmallInt: "int2", types.Int: "int4", types.BigInt: "int8", types.Float: "float4", types.Double: "float8",
	types.Decimal: "numeric", types.String: "text", types.Bytes: "bytea", types.Date: "date", types.Time: "time", types.Timestamp: "timestamptz", types.JSON: "json",
	types.UUID: "uuid", types.Null: "text",
}

// infoOf is the type of a column of t.
func infoOf(t types.Type) typeInfo {
	elem, name := t, ""
	if t.IsArray() {
		elem, name = t.Elem(), "_"
	}
	info := typeFacts()[name+typeNames[elem]]
	if name != "" {
		info.dimensions = 1
	}
	return info
}
