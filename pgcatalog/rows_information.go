package pgcatalog

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hql-db/hql/types"
)

func schemata(w *writer) {
	for _, s := range w.session.objects().schemas {
		w.add("catalog_name", w.session.database(), "schema_name", s.name, "schema_owner", ownerName)
	}
}

func informationTables(w *writer) {
	for _, x := range w.objects("", "table_name") {
		kind, writable := "BASE TABLE", "YES"
		switch {
		case x.kind == "i", x.kind == "m", x.kind == "S", x.temporary() && x.schema != w.session.temporary():
			continue
		case x.kind == "v":
			kind, writable = "VIEW", "NO"
		case x.table != nil && x.table.ReadOnly != "":
			writable = "NO"
		case x.temporary():
			kind = "LOCAL TEMPORARY"
		}
		w.add("table_catalog", w.session.database(), "table_schema", x.schema, "table_name", x.name, "table_type", kind, "is_insertable_into", writable, "is_typed", "NO")
	}
}

func informationViews(w *writer) {
	for _, x := range w.userObjects("v") {
		w.add("table_catalog", w.session.database(), "table_schema", x.schema, "table_name", x.name, "view_definition", x.query(), "check_option", "NONE", "is_updatable", "NO",
			"is_insertable_into", "NO", "is_trigger_updatable", "NO", "is_trigger_deletable", "NO", "is_trigger_insertable_into", "NO")
	}
}

// numericFacts maps types of numbers to their precision, its radix, and their scale.
var numericFacts = map[string][3]any{"int2": {16, 2, 0}, "int4": {32, 2, 0}, "int8": {64, 2, 0}, "float4": {24, 2, nil}, "float8": {53, 2, nil}, "numeric": {nil, 10, nil}}

func informationColumns(w *writer) {
	for _, x := range w.objects("", "table_name") {
		if x.kind == "i" || x.kind == "m" || x.kind == "S" {
			continue
		}
		for i, c := range x.columns(w.session) {
			w.column(x, i, c)
		}
	}
}

// column adds column number i of x.
func (w *writer) column(x *object, i int, c attribute) {
	t := typeOf(c.typ, c.limit)
	out, database := w.row(), w.session.database()
	set := func(pairs ...any) {
		for k := 0; k < len(pairs); k += 2 {
			w.set(out, pairs[k].(string), pairs[k+1])
		}
	}
	set("table_catalog", database, "table_schema", x.schema, "table_name", x.name, "column_name", c.name, "ordinal_position", i+1, "is_nullable", "YES", "data_type", t.sqlName(),
		"udt_catalog", database, "udt_schema", "pg_catalog", "udt_name", t.name, "dtd_identifier", strconv.Itoa(i+1), "is_self_referencing", "NO", "is_identity", "NO",
		"is_generated", "NEVER", "is_updatable", "YES", "identity_cycle", "NO")
	if t.dimensions > 0 {
		set("data_type", "ARRAY")
	}
	if x.kind == "v" {
		set("is_updatable", "NO")
	}
	if c.notNull {
		set("is_nullable", "NO")
	}
	if c.fallback != "" {
		set("column_default", c.fallback)
	}
	if q := c.sequence; q != nil && c.identity != "" {
		set("is_identity", "YES", "identity_generation", c.identity, "identity_start", q.Start, "identity_increment", q.Increment, "identity_maximum", q.Max,
			"identity_minimum", q.Min, "identity_cycle", yes(q.Cycle))
	}
	numeric := numericFacts[t.name]
	set("numeric_precision", numeric[0], "numeric_precision_radix", numeric[1], "numeric_scale", numeric[2])
	switch t.name {
	case "numeric":
		if m := t.modifier - 4; m >= 0 {
			set("numeric_precision", m>>16, "numeric_scale", m&0x7ff)
		}
	case "varchar", "bpchar":
		set("character_maximum_length", t.modifier-4, "character_octet_length", 4*(t.modifier-4))
	case "text":
		set("character_octet_length", 1<<30)
	case "date":
		set("datetime_precision", 0)
	case "time", "timestamp", "timestamptz", "interval":
		set("datetime_precision", 6)
	}
}

// primaryKeys calls f for each table that has a primary key.
func (w *writer) primaryKeys(f func(x, in *object)) {
	for _, x := range w.objects("", "table_name") {
		if x.kind == "r" && x.table != nil && len(x.indexes[0].parts()) > 0 {
			f(x, x.indexes[0])
		}
	}
}

func tableConstraints(w *writer) {
	database := w.session.database()
	add := func(x *object, name, kind string) {
		w.add("constraint_catalog", database, "constraint_schema", x.schema, "constraint_name", name, "table_catalog", database, "table_schema", x.schema, "table_name", x.name,
			"constraint_type", kind, "is_deferrable", "NO", "initially_deferred", "NO", "enforced", "YES")
	}
	w.primaryKeys(func(x, in *object) { add(x, in.name, "PRIMARY KEY") })
	for _, x := range w.objects("", "table_name") {
		for i := range x.checks {
			add(x, x.table.Checks[i].Name, "CHECK")
		}
	}
}

func checkConstraints(w *writer) {
	for _, x := range w.userObjects("") {
		for i := range x.checks {
			c := x.table.Checks[i]
			w.add("constraint_catalog", w.session.database(), "constraint_schema", x.schema, "constraint_name", c.Name, "check_clause", c.Expr.String())
		}
	}
}

func keyColumns(w *writer) {
	database := w.session.database()
	w.primaryKeys(func(x, in *object) {
		for i, p := range in.parts() {
			w.add("constraint_catalog", database, "constraint_schema", x.schema, "constraint_name", in.name, "table_catalog", database, "table_schema", x.schema,
				"table_name", x.name, "column_name", p.text, "ordinal_position", i+1)
		}
	})
}

func constraintColumns(w *writer) {
	database := w.session.database()
	w.primaryKeys(func(x, in *object) {
		for _, p := range in.parts() {
			w.add("table_catalog", database, "table_schema", x.schema, "table_name", x.name, "column_name", p.text, "constraint_catalog", database, "constraint_schema", x.schema,
				"constraint_name", in.name)
		}
	})
}

func yes(is bool) string {
	if is {
		return "YES"
	}
	return "NO"
}

// sequences adds the rows of pg_sequence, pg_sequences and information_schema.sequences.
func sequences(w *writer) {
	for _, x := range w.userObjects("S") {
		q := x.sequence
		t := typeOf(q.Type, types.Limit{})
		switch w.relation.Name {
		case "pg_sequence":
			w.add("seqrelid", x.oid, "seqtypid", t.oid, "seqstart", q.Start, "seqincrement", q.Increment, "seqmax", q.Max, "seqmin", q.Min, "seqcache", q.Cache, "seqcycle", q.Cycle)
		case "pg_sequences":
			last, _ := lastValue(w.session, []types.Value{types.NewOID(x.oid)})
			w.add("schemaname", x.schema, "sequencename", x.name, "sequenceowner", ownerName, "data_type", types.NewNamedOID(types.RegType, t.oid, t.sqlName()), "start_value", q.Start,
				"min_value", q.Min, "max_value", q.Max, "increment_by", q.Increment, "cycle", q.Cycle, "cache_size", q.Cache, "last_value", last)
		default:
			if x.of != nil && x.of.columns(w.session)[x.column-1].identity != "" {
				continue
			}
			facts := numericFacts[t.name]
			w.add("sequence_catalog", w.session.database(), "sequence_schema", x.schema, "sequence_name", x.name, "data_type", t.sqlName(), "numeric_precision", facts[0],
				"numeric_precision_radix", facts[1], "numeric_scale", 0, "start_value", q.Start, "minimum_value", q.Min, "maximum_value", q.Max, "increment", q.Increment, "cycle_option", yes(q.Cycle))
		}
	}
}

// lastValue returns the number that was drawn last from a sequence; NULL if there is none.
func lastValue(s *Session, a []types.Value) (types.Value, error) {
	if x := s.object(a[0]); x != nil && x.sequence != nil && s.LastValue != nil {
		if n, ok := s.LastValue(x.sequence.Counter); ok {
			return number64(n)
		}
	}
	return null, nil
}

// serialSequence returns the name of the sequence that belongs to a column of a table; NULL if there is none.
func serialSequence(s *Session, a []types.Value) (types.Value, error) {
	of, err := s.named(types.RegClass, a[0])
	table, column := s.object(of), a[1].Text()
	if err != nil || table == nil {
		return null, err
	}
	i := slices.IndexFunc(table.columns(s), func(c attribute) bool { return c.name == column })
	if i < 0 {
		return null, fmt.Errorf("column %q of relation %q does not exist", column, table.name)
	}
	for _, x := range s.objects().all {
		if x.sequence != nil && x.of == table && x.column == i+1 {
			return text(x.qualified())
		}
	}
	return null, nil
}
