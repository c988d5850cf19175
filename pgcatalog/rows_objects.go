package pgcatalog

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// indexes adds the rows of pg_index.
func indexes(w *writer) {
	if _, ok := w.wanted("indexrelid"); ok {
		for _, x := range w.objects("indexrelid", "") {
			if x.kind == "i" {
				w.index(x)
			}
		}
		return
	}
	for _, x := range w.objects("indrelid", "") {
		for _, in := range x.indexes {
			w.index(in)
		}
	}
}

func (w *writer) index(x *object) {
	var columns, options []int
	var classes, collations, texts []string
	for _, p := range x.parts() {
		option := 0
		if p.down {
			option = 3 // DESC NULLS FIRST
		}
		columns, options = append(columns, p.column+1), append(options, option)
		t := typeOf(p.typ, types.Limit{})
		classes, collations = append(classes, operatorClass(t.oid)), append(collations, t.collation.String())
		if p.column < 0 {
			texts = append(texts, p.text)
		}
	}
	out := w.row()
	for name, v := range map[string]any{"indexrelid": x.oid, "indrelid": x.of.oid, "indnatts": len(columns), "indnkeyatts": len(columns), "indisunique": x.primary(),
		"indisprimary": x.primary(), "indkey": columns, "indoption": options, "indclass": classes, "indcollation": collations} {
		w.set(out, name, v)
	}
	if pred := x.where(""); pred != "" {
		w.set(out, "indpred", pred)
	}
	if texts != nil {
		w.set(out, "indexprs", strings.Join(texts, ", "))
	}
}

// operatorClass returns the OID, as text, of the B-tree operator class for a type; "0" if there is none.
func operatorClass(typ uint32) string {
	r := Find("pg_opclass")
	for _, row := range r.facts() {
		if uint32(row[r.at["opcintype"]].Int()) == typ {
			return row[r.at["oid"]].String()
		}
	}
	return "0"
}

// constraints adds the primary keys and the CHECKs. The OID of a primary key follows the OID of its index.
func constraints(w *writer) {
	for _, x := range w.objects("conrelid", "") {
		if !x.rows() {
			continue
		}
		for i, c := range x.table.Checks {
			var columns []int
			for _, col := range c.Columns {
				columns = append(columns, col+1)
			}
			w.add("oid", x.checks[i], "conname", c.Name, "connamespace", x.schemaOID, "contype", "c", "convalidated", !c.NotValid, "conrelid", x.oid, "conkey", columns)
		}
		if len(x.indexes[0].parts()) == 0 {
			continue
		}
		in := x.indexes[0]
		w.add("oid", in.oid+1, "conname", in.name, "connamespace", x.schemaOID, "contype", "p", "conrelid", x.oid, "conindid", in.oid, "conkey", in.keyNumbers())
	}
}

// dependencies adds the rows about what tables, views, indexes and primary keys depend on.
func dependencies(w *writer) {
	oids, some := w.wanted("objid")
	add := func(class, oid, refClass, ref uint32, column int, kind string) {
		if !some || slices.ContainsFunc(oids, func(v types.Value) bool { return uint32(v.Int()) == oid }) {
			w.add("classid", class, "objid", oid, "refclassid", refClass, "refobjid", ref, "refobjsubid", column, "deptype", kind)
		}
	}
	for _, x := range w.userObjects("") {
		if x.layout == nil {
			add(classOfClasses, x.oid, classOfNamespaces, x.schemaOID, 0, "n")
			if x.of != nil { // the column of a sequence
				kind := "a"
				if x.of.columns(w.session)[x.column-1].identity != "" {
					kind = "i"
				}
				add(classOfClasses, x.oid, classOfClasses, x.of.oid, x.column, kind)
				add(classOfDefaults, x.of.oid+uint32(x.column), classOfClasses, x.oid, 0, "n")
			}
			continue
		}
		class, oid := uint32(classOfClasses), x.oid
		if x.primary() {
			class, oid = classOfConstraints, x.oid+1
			add(classOfClasses, x.oid, class, oid, 0, "i")
		}
		for _, n := range x.keyNumbers() {
			if n > 0 {
				add(class, oid, classOfClasses, x.of.oid, n, "a")
			}
		}
	}
}

// viewRules adds the rewrite rule that each view has in PostgreSQL.
func viewRules(w *writer) {
	for _, x := range w.objects("ev_class", "") {
		if x.definedBy() != nil {
			w.add("oid", x.oid+1, "rulename", "_RETURN", "ev_class", x.oid, "ev_type", "1", "ev_enabled", "O", "is_instead", true)
		}
	}
}

// keyNumbers returns the numbers of the columns of an index; 0 for an expression.
func (x *object) keyNumbers() (out []int) {
	for _, p := range x.parts() {
		out = append(out, p.column+1)
	}
	return out
}

// keyText returns the columns of an index, separated by commas.
func (x *object) keyText() string {
	return words.Join(x.parts(), ", ", func(p keyPart) string {
		if p.down {
			return p.sql() + " DESC"
		}
		return p.sql()
	})
}

func (p keyPart) sql() string {
	if p.column >= 0 {
		return functions.QuoteIdent(p.text)
	}
	return p.text
}

// qualified is the name of x with its schema.
func (x *object) qualified() string {
	return functions.QuoteIdent(x.schema) + "." + functions.QuoteIdent(x.name)
}

// definition returns the CREATE INDEX statement of an index; with short, without the table's schema.
func (x *object) definition(short bool) string {
	unique, table := "", x.of.qualified()
	if short {
		table = functions.QuoteIdent(x.of.name)
	}
	if x.primary() {
		unique = "UNIQUE "
	}
	return "CREATE " + unique + "INDEX " + functions.QuoteIdent(x.name) + " ON " + table + " USING btree (" + x.keyText() + ")" + x.where(" WHERE ")
}

// where returns before and the condition of an index on its rows; "" if it has none.
func (x *object) where(before string) string {
	if x.layout == nil || x.layout.Where == nil {
		return ""
	}
	return before + "(" + expr.Conjunction(x.layout.Where).String() + ")"
}

// query is the text of a view.
func (x *object) query() string { return " " + x.definedBy().String() + ";" }

// definedBy returns the query of a view or materialized view; nil for other objects.
func (x *object) definedBy() *parser.Select {
	switch {
	case x.view != nil && x.sequence == nil:
		return x.view.Def.Query
	case x.kind == "m":
		return x.table.Def.Query
	}
	return nil
}

func tables(w *writer) {
	for _, x := range w.objects("", "tablename") {
		if x.kind == "r" {
			w.add("schemaname", x.schema, "tablename", x.name, "tableowner", ownerName, "hasindexes", len(x.indexes) > 0, "hasrules", false, "hastriggers", false, "rowsecurity", false)
		}
	}
}

func views(w *writer) {
	for _, x := range w.userObjects("v") {
		w.add("schemaname", x.schema, "viewname", x.name, "viewowner", ownerName, "definition", x.query())
	}
}

func materializedViews(w *writer) {
	for _, x := range w.userObjects("m") {
		w.add("schemaname", x.schema, "matviewname", x.name, "matviewowner", ownerName, "hasindexes", len(x.indexes) > 0, "ispopulated", !x.table.Def.NoData, "definition", x.query())
	}
}

func indexDefinitions(w *writer) {
	for _, x := range w.userObjects("i") {
		w.add("schemaname", x.schema, "tablename", x.of.name, "indexname", x.name, "indexdef", x.definition(false))
	}
}

// procedures adds hql's functions that PostgreSQL lacks. Functions that a program registered are in the schema public.
func procedures(w *writer) {
	for _, p := range w.session.procedures() {
		w.add("oid", p.oid, "proname", p.name, "pronamespace", p.schema, "pronargs", p.of.MinArgs, "prokind", p.kind(), "prorettype", 25, "prosrc", p.of.Signature,
			"proargtypes", slices.Repeat([]int{25}, p.of.MinArgs), "proretset", p.of.Set)
	}
}

// procedure is a function.
type procedure struct {
	oid, schema             uint32
	name, arguments, result string
	of                      *expr.Function // nil: one of PostgreSQL
}

func (p procedure) kind() string {
	switch p.of.Group {
	case "aggregate":
		return "a"
	case "window":
		return "w"
	}
	return "f"
}

// knownProcedures are the functions of PostgreSQL.
var knownProcedures = sync.OnceValue(func() (out []procedure) {
	r := Find("pg_proc")
	for _, row := range r.facts() {
		get := func(name string) types.Value { return row[r.at[name]] }
		typeName := func(oid types.Value) string { return typeByOID()[uint32(oid.Int())].sqlName() }
		p := procedure{oid: uint32(get("oid").Int()), name: get("proname").Text(), arguments: words.Join(get("proargtypes").Items(), ", ", typeName), result: typeName(get("prorettype"))}
		if get("proretset").Bool() {
			p.result = "SETOF " + p.result
		}
		out = append(out, p)
	}
	return out
})

// procedures returns the functions of hql that PostgreSQL does not have.
func (s *Session) procedures() (out []procedure) {
	known, taken := map[string]bool{}, map[uint32]bool{}
	for _, p := range knownProcedures() {
		known[p.name] = true
	}
	for _, f := range cmp.Or(s.Funcs, functions.Builtins()).All() {
		p := procedure{schema: schemaPublic, name: strings.ToLower(f.Name), of: f}
		if known[p.name] || f.Group == "operator" || f.Group == "key" || strings.HasPrefix(p.name, "_") {
			continue
		}
		p.oid = number("f"+p.name, taken)
		_, p.arguments, _ = strings.Cut(f.Signature, "(")
		p.arguments, _, _ = strings.Cut(p.arguments, ")")
		p.result = strings.TrimSpace(f.Signature[strings.LastIndex(f.Signature, ")")+1:])
		if functions.Builtins().Lookup(f.Name) != nil {
			p.schema = schemaCatalog
		}
		out = append(out, p)
	}
	return out
}

// keywords adds the rows of pg_get_keywords().
func keywords(w *writer) {
	for _, k := range parser.Keywords() {
		word, code, about := strings.ToLower(k), "U", "unreserved"
		if parser.QuoteName(k) != k {
			code, about = "R", "reserved"
		}
		w.add("word", word, "catcode", code, "barelabel", code == "U", "catdesc", about)
	}
}
