package pgcatalog

import (
	"regexp"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

func tableColumns(of *catalog.Catalog, t *catalog.Table) []attribute {
	out := make([]attribute, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = attribute{name: c.Name, typ: c.Type, limit: c.Limit, notNull: c.NotNull || c.KeyPart && !c.NullKey, fallback: defaultText(c.DefaultSQL()), comment: columnComment(t, c), identity: c.Identity, sequence: of.SequenceOf(c)}
		if c.Identity != "" {
			out[i].fallback = ""
		}
	}
	return out
}

// defaultText returns the text of a DEFAULT as PostgreSQL prints it, and as tools compare it: now(), true, '{}'::json.
func defaultText(sql string) string {
	out, end := "", 0
	for _, t := range parser.Tokens(sql) {
		text := t.Text
		if (t.Kind == parser.NameToken && text[0] != '"' || t.Kind == parser.KeywordToken) && !strings.HasPrefix(text, "CURRENT_") && !strings.HasPrefix(text, "LOCALTIME") {
			text = strings.ToLower(text)
		}
		out += sql[end:t.Pos] + text
		end = int(t.Pos) + len(t.Text)
	}
	out = defaultClock.ReplaceAllString(out, "$1")
	if typed := defaultCast.FindStringSubmatch(out); typed != nil {
		return typed[1] + typed[4] + "::" + strings.Replace(typed[2]+typed[3], "string", "text", 1)
	}
	return out
}

var (
	defaultClock = regexp.MustCompile(`^(CURRENT_\w+|LOCALTIME\w*)\(\)$`)
	defaultCast  = regexp.MustCompile(`^(?:cast\(('[^']*') as ([\w\[\]]+)\)|(timestamp|date|time) ('[^']*'))$`)
)

// columnComment returns the comment on c; if there is none, it returns where the values of c are stored.
func columnComment(t *catalog.Table, c *catalog.Column) string {
	if c.Comment != "" {
		return c.Comment
	}
	if c.HasCell && !c.KeyPart {
		return "cell " + c.Family + ":" + c.Qualifier
	}
	if p := t.Layouts[0].PartOf(c.Index); p != nil {
		return "part of the rowkey: " + p.Source
	}
	return ""
}

// tableComment returns the comment on t; if there is none, it returns how the rowkey of t is made.
func tableComment(t *catalog.Table) string {
	if t.Comment != "" {
		return t.Comment
	}
	l := t.Layouts[0]
	out := "rowkey (" + l.Key.Source() + ")"
	if name, ok := l.Stored.Prefix(); ok && l.Stored.IsLiteral() {
		return out + ", stored in " + name
	}
	return out + ", stored in (" + l.Stored.Source() + ")"
}

func viewColumns(s *Session, v *catalog.View) (out []attribute) {
	for _, c := range s.Planner.ViewColumns(v) {
		out = append(out, attribute{name: c.Name, typ: c.Type, limit: c.Limit})
	}
	return out
}

func indexColumns(x *object) (out []attribute) {
	for _, p := range x.parts() {
		a := attribute{name: "expr", typ: p.typ}
		if p.column >= 0 {
			a.name = p.text
		}
		out = append(out, a)
	}
	return out
}

// typeNames are PostgreSQL's names of hql's types.
var typeNames = map[types.Type]string{
	types.Boolean: "bool", types.TinyInt: "int2", types.SmallInt: "int2", types.Int: "int4", types.BigInt: "int8", types.Float: "float4", types.Double: "float8",
	types.Decimal: "numeric", types.String: "text", types.Bytes: "bytea", types.Date: "date", types.Time: "time", types.Timestamp: "timestamptz",
	types.LocalTimestamp: "timestamp", types.Duration: "interval", types.JSON: "json", types.JSONB: "jsonb", types.UUID: "uuid", types.Null: "text", types.OID: "oid", types.Name: "name",
	types.Char: "char", types.RegClass: "regclass", types.RegType: "regtype", types.RegProc: "regproc", types.RegNamespace: "regnamespace",
	types.Int2Vector: "int2vector", types.OIDVector: "oidvector",
}

// typeFact is a row of pg_type.
type typeFact struct {
	oid        uint32
	name       string
	length     types.Value
	byValue    types.Value
	align      types.Value
	storage    types.Value
	collation  types.Value
	elem       uint32
	array      uint32     // the type of its arrays; 0: none
	values     types.Type // that hql has for it; Null: none
	dimensions int
	modifier   int // of the column; -1: none
}

// typeOf returns the type of a column.
func typeOf(t types.Type, limit types.Limit) typeFact {
	name, dimensions := typeNames[t], 0
	if name == "" {
		name, dimensions = "_"+typeNames[t.Elem()], 1
	}
	modifier := limit.Modifier()
	if name == "text" && modifier >= 0 {
		if name = "varchar"; limit.Blank() {
			name = "bpchar"
		}
	}
	out := typeByName()[name]
	out.dimensions, out.modifier = dimensions, modifier
	return out
}

// Type is a type of PostgreSQL for values of hql.
type Type struct {
	OID    uint32
	Array  uint32 // the type of its arrays; 0: none
	Size   int16  // in bytes; negative: it varies
	Values types.Type
	// Modifier is the limit, such as a length, as pg_attribute has it; -1 for none.
	Modifier int32
}

// TypeOf returns the type of results with values of t that have limit.
func TypeOf(t types.Type, limit types.Limit) Type {
	f := typeOf(t, limit)
	return Type{f.oid, f.array, int16(f.length.Int()), t, int32(f.modifier)}
}

// TypeByOID returns the type with this OID or, if that is an array type, the type of its elements; ok is false if hql has no
// values for it.
func TypeByOID(oid uint32) (t Type, array, ok bool) {
	f := typeByOID()[oid]
	if array = strings.HasPrefix(f.name, "_"); array {
		f = typeByOID()[f.elem]
	}
	return Type{f.oid, f.array, int16(f.length.Int()), f.values, -1}, array, f.values != types.Null
}

// valuesOf returns hql's type for the values of a type of PostgreSQL, or Null.
func valuesOf(name string) types.Type {
	switch name {
	case "char":
		return types.Char
	case "timestamp":
		return types.LocalTimestamp
	case "unknown":
		return types.String
	}
	t, _ := types.ParseType(name)
	return t
}

// sqlNames maps names in pg_type to the names that SQL has for the same types.
var sqlNames = map[string]string{
	"bool": "boolean", "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision", "bpchar": "character",
	"varchar": "character varying", "time": "time without time zone", "timestamp": "timestamp without time zone", "timestamptz": "timestamp with time zone", "char": `"char"`,
}

// sqlName is the name of a type in SQL.
func (t typeFact) sqlName() string {
	name := strings.TrimPrefix(t.name, "_")
	if out := sqlNames[name]; out != "" {
		name = out
	}
	if strings.HasPrefix(t.name, "_") {
		name += "[]"
	}
	return name
}
