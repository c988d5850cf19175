package pgcatalog

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/types"
)

// rowsOf has a function for each relation with rows about hql's objects or sessions. The function adds these rows.
var rowsOf map[string]func(*writer)

func init() {
	rowsOf = map[string]func(*writer){
		"pg_catalog.pg_namespace": namespaces, "pg_catalog.pg_class": classes, "pg_catalog.pg_attribute": attributes, "pg_catalog.pg_index": indexes,
		"pg_catalog.pg_constraint": constraints, "pg_catalog.pg_attrdef": defaults, "pg_catalog.pg_description": descriptions, "pg_catalog.pg_proc": procedures,
		"pg_catalog.pg_depend": dependencies, "pg_catalog.pg_rewrite": viewRules,
		"pg_catalog.pg_database": databases, "pg_catalog.pg_roles": roles, "pg_catalog.pg_authid": roles, "pg_catalog.pg_user": users, "pg_catalog.pg_settings": settings, "pg_catalog.pg_show_all_settings()": settings,
		"pg_catalog.pg_tables": tables, "pg_catalog.pg_views": views, "pg_catalog.pg_matviews": materializedViews, "pg_catalog.pg_indexes": indexDefinitions, "pg_catalog.pg_stat_user_tables": tableStatistics,
		"pg_catalog.pg_stat_all_tables": tableStatistics, "pg_catalog.pg_statio_user_tables": tableStatistics, "pg_catalog.pg_statio_all_tables": tableStatistics,
		"pg_catalog.pg_stat_user_indexes": indexStatistics, "pg_catalog.pg_stat_all_indexes": indexStatistics, "pg_catalog.pg_statio_user_indexes": indexStatistics,
		"pg_catalog.pg_statio_all_indexes": indexStatistics, "pg_catalog.pg_stat_activity": ofClient, "pg_catalog.hql_queries": ofClient,
		"pg_catalog.pg_get_keywords()": keywords, "pg_catalog.pg_stat_database": databaseStatistics,
		"information_schema.schemata": schemata, "information_schema.tables": informationTables, "information_schema.columns": informationColumns,
		"pg_catalog.pg_sequence": sequences, "pg_catalog.pg_sequences": sequences, "information_schema.sequences": sequences,
		"information_schema.views": informationViews, "information_schema.table_constraints": tableConstraints, "information_schema.check_constraints": checkConstraints,
		"information_schema.key_column_usage": keyColumns, "information_schema.constraint_column_usage": constraintColumns,
		"information_schema.information_schema_catalog_name": func(w *writer) { w.add("catalog_name", w.session.database()) },
		"information_schema.enabled_roles":                   func(w *writer) { w.add("role_name", w.session.user()) },
	}
}

// objects returns the objects that the statement may want, by its limits on the columns oid and name. name may be "".
func (w *writer) objects(oid, name string) (out []*object) {
	o := w.session.objects()
	if oids, ok := w.wanted(oid); ok {
		for _, v := range oids {
			if x := o.byOID[uint32(v.Int())]; x != nil {
				out = append(out, x)
			}
		}
		return out
	}
	names, ok := w.wanted(name)
	if !ok {
		return o.all
	}
	for _, s := range o.schemas {
		for _, v := range names {
			if x := o.byName[[2]string{s.name, v.Text()}]; x != nil {
				out = append(out, x)
			}
		}
	}
	return out
}

// userObjects returns the objects of the given kind that are not in PostgreSQL's schemas; "" means all kinds.
func (w *writer) userObjects(kinds string) (out []*object) {
	for _, x := range w.objects("", "") {
		if (x.table != nil || x.view != nil) && (kinds == "" || strings.Contains(kinds, x.kind)) {
			out = append(out, x)
		}
	}
	return out
}

func namespaces(w *writer) {
	for _, s := range w.session.objects().schemas {
		w.add("oid", s.oid, "nspname", s.name)
	}
}

func classes(w *writer) {
	kinds, some := w.wanted("relkind")
	for _, x := range w.objects("oid", "relname") {
		if some && !slices.ContainsFunc(kinds, func(k types.Value) bool { return k.Text() == x.kind }) {
			continue
		}
		row := x.classRow(w)
		if x.rows() {
			if st := w.session.statistics(x.table); st != nil && !st.Unscaled {
				row = slices.Clone(row)
				w.set(row, "reltuples", st.Rows)
				w.set(row, "relpages", int(min(w.session.size(x)/pageSize, 1<<31-1)))
			}
		}
		w.rows = append(w.rows, row)
	}
}

// classRow returns the row of pg_class for x, without statistics. It makes the row at the first call.
func (x *object) classRow(w *writer) []types.Value {
	x.classOnce.Do(func() {
		x.class = slices.Clone(w.relation.template)
		set := func(name string, v any) { w.set(x.class, name, v) }
		set("oid", x.oid)
		set("relname", x.name)
		set("relnamespace", x.schemaOID)
		set("relkind", x.kind)
		if x.view == nil {
			set("relnatts", len(x.columns(w.session)))
		}
		if x.temporary() {
			set("relpersistence", "t")
		}
		set("relhasindex", len(x.indexes) > 0)
		set("relchecks", len(x.checks))
		set("relhasrules", x.kind == "v" || x.kind == "m")
		set("relispopulated", x.kind != "m" || !x.table.Def.NoData)
		switch x.kind {
		case "i":
			set("relam", methodBtree)
		case "r", "m":
			set("relam", 2)
		}
		if x.kind != "v" {
			set("relfilenode", x.oid)
		}
		if x.kind != "r" && x.kind != "m" {
			set("relreplident", "n")
		}
	})
	return x.class
}

func attributes(w *writer) {
	for _, x := range w.objects("attrelid", "") {
		for i, c := range x.columns(w.session) {
			t := typeOf(c.typ, c.limit)
			w.add("attrelid", x.oid, "attname", c.name, "atttypid", t.oid, "attlen", t.length, "attnum", i+1, "attndims", t.dimensions, "atttypmod", t.modifier,
				"attbyval", t.byValue, "attalign", t.align, "attstorage", t.storage, "attnotnull", c.notNull, "atthasdef", c.fallback != "", "attcollation", t.collation, "attidentity", map[string]string{"ALWAYS": "a", "BY DEFAULT": "d"}[c.identity])
		}
	}
}

func defaults(w *writer) {
	for _, x := range w.objects("adrelid", "") {
		if !x.rows() {
			continue
		}
		for i, c := range x.columns(w.session) {
			if c.fallback != "" {
				w.add("oid", x.oid+uint32(i)+1, "adrelid", x.oid, "adnum", i+1, "adbin", c.fallback)
			}
		}
	}
}

func descriptions(w *writer) {
	for _, x := range w.objects("objoid", "") {
		if !x.rows() {
			continue
		}
		w.add("objoid", x.oid, "classoid", classOfClasses, "objsubid", 0, "description", tableComment(x.table))
		for i, c := range x.columns(w.session) {
			if c.comment != "" {
				w.add("objoid", x.oid, "classoid", classOfClasses, "objsubid", i+1, "description", c.comment)
			}
		}
	}
}

// The OIDs of catalogs.
const (
	classOfClasses     = 1259
	classOfDefaults    = 2604
	classOfConstraints = 2606
	classOfNamespaces  = 2615
)

func databases(w *writer) {
	w.add("oid", 5, "datname", w.session.database(), "dattablespace", 1663, "datcollate", "C", "datctype", "C.UTF-8", "datistemplate", false)
}

func databaseStatistics(w *writer) { w.add("datid", 5, "datname", w.session.database()) }

func roles(w *writer) {
	for _, r := range w.session.roles() {
		super := r.oid == owner
		w.add("oid", r.oid, "rolname", r.name, "rolsuper", super, "rolinherit", true, "rolcreaterole", super, "rolcreatedb", super, "rolcanlogin", true, "rolreplication", super,
			"rolbypassrls", super, "rolconnlimit", -1)
	}
}

func users(w *writer) {
	for _, r := range w.session.roles() {
		super := r.oid == owner
		w.add("usename", r.name, "usesysid", r.oid, "usecreatedb", super, "usesuper", super, "userepl", super, "usebypassrls", super)
	}
}

func settings(w *writer) {
	c := w.session.Client
	if c == nil || c.Settings == nil {
		return
	}
	for _, s := range c.Settings() {
		w.add("name", s[0], "setting", s[1], "short_desc", s[2], "context", "user", "vartype", "string", "source", "default", "category", "hql", "pending_restart", false)
	}
}

// ofClient adds the rows that the client's server returns.
func ofClient(w *writer) {
	if c := w.session.Client; c != nil && c.Rows != nil {
		w.addRows(c.Rows(w.relation.Name))
	}
}

func tableStatistics(w *writer) {
	for _, x := range w.userObjects("rm") {
		out := w.row()
		w.set(out, "relid", x.oid)
		w.set(out, "schemaname", x.schema)
		w.set(out, "relname", x.name)
		if _, ok := w.relation.at["last_analyze"]; !ok {
			continue
		}
		if st := w.session.statistics(x.table); st != nil {
			w.set(out, "last_analyze", st.At)
			if !st.Unscaled {
				w.set(out, "n_live_tup", int64(st.Rows))
			}
		}
	}
}

func indexStatistics(w *writer) {
	for _, x := range w.userObjects("i") {
		w.add("relid", x.of.oid, "indexrelid", x.oid, "schemaname", x.schema, "relname", x.of.name, "indexrelname", x.name)
	}
}

// typeByName has the rows of pg_type by name.
var typeByName = sync.OnceValue(func() map[string]typeFact {
	r := Find("pg_type")
	out := map[string]typeFact{}
	for _, row := range r.facts() {
		get := func(name string) types.Value { return row[r.at[name]] }
		name := get("typname").Text()
		out[name] = typeFact{oid: uint32(get("oid").Int()), name: name, length: get("typlen"), byValue: get("typbyval"), align: get("typalign"), storage: get("typstorage"),
			collation: get("typcollation"), elem: uint32(get("typelem").Int()), array: uint32(get("typarray").Int()), values: valuesOf(name)}
	}
	return out
})

// typeByOID has the rows of pg_type by OID.
var typeByOID = sync.OnceValue(func() map[uint32]typeFact {
	out := map[uint32]typeFact{}
	for _, t := range typeByName() {
		out[t.oid] = t
	}
	return out
})

// began returns when the server began.
func (s *Session) began() time.Time {
	if s.Client != nil {
		return s.Client.Began
	}
	return processBegan
}

var processBegan = time.Now()
