package pgcatalog

import (
	"strconv"
	"strings"
	"sync"

	"github.com/hql-db/hql/types"
)

// rowsOf makes the rows of the relations that have any.
var rowsOf = map[string]func(*writer, *objects){
	"pg_catalog.pg_namespace":                            namespaces,
	"pg_catalog.pg_class":                                classes,
	"pg_catalog.pg_attribute":                            attributes,
	"pg_catalog.pg_type":                                 typeRows,
	"pg_catalog.pg_tables":                               tables,
	"pg_catalog.pg_database":                             databases,
	"information_schema.schemata":                        schemata,
	"information_schema.tables":                          informationTables,
	"information_schema.columns":                         informationColumns,
	"information_schema.information_schema_catalog_name": func(w *writer, _ *objects) { w.add(row{"catalog_name": Database}) },
}

// typeLines are the lines of types.tsv: oid, name, length, by value, kind, category, preferred, delimiter, element, array, alignment,
// storage and collation.
var typeLines = sync.OnceValue(func() (out [][]string) {
	for _, line := range strings.Split(strings.TrimSpace(typesText), "\n") {
		out = append(out, strings.Split(line, "\t"))
	}
	return out
})

var typeFacts = sync.OnceValue(func() map[string]typeInfo {
	out := map[string]typeInfo{}
	for _, f := range typeLines() {
		oid, _ := strconv.Atoi(f[0])
		length, _ := strconv.Atoi(f[2])
		collation, _ := strconv.Atoi(f[12])
		out[f[1]] = typeInfo{oid: uint32(oid), name: f[1], length: length, byValue: f[3] == "true", align: f[10], storage: f[11], collation: collation}
	}
	return out
})

func namespaces(w *writer, o *objects) {
	w.add(row{"oid": schemaCatalog, "nspname": "pg_catalog", "nspowner": owner})
	for _, s := range o.schemas {
		w.add(row{"oid": o.oids[s], "nspname": s, "nspowner": owner})
	}
}

func classes(w *writer, o *objects) {
	for _, x := range o.all {
		w.add(row{"oid": x.oid, "relname": x.name, "relnamespace": o.oids[x.schema], "reltype": 0, "reloftype": 0, "relowner": owner, "relam": 0, "relfilenode": 0,
			"reltablespace": 0, "relpages": 0, "reltuples": -1, "relallvisible": 0, "reltoastrelid": 0, "relhasindex": x.indexed, "relisshared": false,
			"relpersistence": "p", "relkind": x.kind, "relnatts": len(x.columns), "relchecks": 0, "relhasrules": x.kind == "v", "relhastriggers": false,
			"relhassubclass": false, "relrowsecurity": false, "relforcerowsecurity": false, "relispopulated": true, "relreplident": "d", "relispartition": false,
			"relrewrite": 0, "relfrozenxid": 0, "relminmxid": 0})
	}
}

func attributes(w *writer, o *objects) {
	for _, x := range o.all {
		for i, c := range x.columns {
			t := infoOf(c.Type)
			w.add(row{"attrelid": x.oid, "attname": c.Name, "atttypid": t.oid, "attstattarget": -1, "attlen": t.length, "attnum": i + 1, "attndims": t.dimensions,
				"attcacheoff": -1, "atttypmod": -1, "attbyval": t.byValue, "attalign": t.align, "attstorage": t.storage, "attcompression": "",
				"attnotnull": c.NotNull || c.KeyPart && !c.NullKey, "atthasdef": false, "atthasmissing": false, "attidentity": "", "attgenerated": "",
				"attisdropped": false, "attislocal": true, "attinhcount": 0, "attcollation": t.collation})
		}
	}
}

func typeRows(w *writer, _ *objects) {
	for _, f := range typeLines() {
		number := func(i int) types.Value {
			v, _ := types.Cast(types.NewString(f[i]), types.BigInt, nil)
			return v
		}
		w.add(row{"oid": number(0), "typname": f[1], "typnamespace": schemaCatalog, "typowner": owner, "typlen": number(2), "typbyval": f[3] == "true", "typtype": f[4],
			"typcategory": f[5], "typispreferred": f[6] == "true", "typisdefined": true, "typdelim": f[7], "typrelid": 0, "typelem": number(8), "typarray": number(9),
			"typalign": f[10], "typstorage": f[11], "typnotnull": false, "typbasetype": 0, "typtypmod": -1, "typndims": 0, "typcollation": number(12)})
	}
}

func tables(w *writer, o *objects) {
	for _, x := range o.all {
		if x.kind == "r" {
			w.add(row{"schemaname": x.schema, "tablename": x.name, "tableowner": "hql", "hasindexes": true, "hasrules": false, "hastriggers": false, "rowsecurity": false})
		}
	}
}

func databases(w *writer, _ *objects) {
	const utf8 = 6
	w.add(row{"oid": 5, "datname": Database, "datdba": owner, "encoding": utf8, "datlocprovider": "c", "datistemplate": false, "datallowconn": true, "datconnlimit": -1,
		"datfrozenxid": 0, "datminmxid": 0, "dattablespace": 0, "datcollate": "C", "datctype": "C"})
}

func schemata(w *writer, o *objects) {
	for _, s := range append([]string{"pg_catalog", "information_schema"}, o.schemas...) {
		w.add(row{"catalog_name": Database, "schema_name": s, "schema_owner": "hql"})
	}
}

func informationTables(w *writer, o *objects) {
	for _, x := range o.all {
		r := row{"table_catalog": Database, "table_schema": x.schema, "table_name": x.name, "table_type": "BASE TABLE", "is_insertable_into": "YES", "is_typed": "NO"}
		if x.kind == "v" {
			r["table_type"], r["is_insertable_into"] = "VIEW", "NO"
		}
		w.add(r)
	}
}

// dataTypes are the names that information_schema has for types that it does not call by their catalog's names.
var dataTypes = map[string]string{
	"bool": "boolean", "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision",
	"time": "time without time zone", "timestamptz": "timestamp with time zone",
}

func informationColumns(w *writer, o *objects) {
	for _, x := range o.all {
		for i, c := range x.columns {
			t := infoOf(c.Type)
			r := row{"table_catalog": Database, "table_schema": x.schema, "table_name": x.name, "column_name": c.Name, "ordinal_position": i + 1, "is_nullable": "YES",
				"data_type": t.name, "udt_catalog": Database, "udt_schema": "pg_catalog", "udt_name": t.name, "dtd_identifier": strconv.Itoa(i + 1),
				"is_self_referencing": "NO", "is_identity": "NO", "is_generated": "NEVER", "is_updatable": "YES"}
			if name := dataTypes[t.name]; name != "" {
				r["data_type"] = name
			} else if t.dimensions > 0 {
				r["data_type"] = "ARRAY"
			}
			if c.NotNull || c.KeyPart && !c.NullKey {
				r["is_nullable"] = "NO"
			}
			w.add(r)
		}
	}
}
