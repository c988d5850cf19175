package differential

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/types"
)

// column is a column of a table, or of a query in FROM.
type column struct {
	name    string
	kind    kind
	declare string // the type in CREATE TABLE
	key     bool
	notNull bool
	draw    func(*rand.Rand) types.Value // of a table's column: a value at the ends of its type, or that its encoding is drawn with
	only    bool                         // no other values fit
}

// table is a table in both databases.
type table struct {
	*worlds.Table
	columns []column
	hints   []string // layouts and indexes, as hints name them
	pg      string
	rows    [][]value // some that were stored once
	past    string    // how its rows of before are read, under the alias %s; PostgreSQL has them in another table
}

func (t *table) keys() (out []string) {
	for _, c := range t.columns {
		if c.key {
			out = append(out, c.name)
		}
	}
	return out
}

// kindOf maps hql's types to kinds.
var kindOf = map[string]kind{"BOOLEAN": kBool, "BIGINT": kInt, "INT": kInt, "SMALLINT": kInt, "TINYINT": kInt, "DECIMAL": kDec, "DOUBLE": kDbl, "FLOAT": kDbl,
	"STRING": kText, "BYTES": kBytes, "DATE": kDate, "TIME": kTime, "TIMESTAMP": kTs, "JSON": kJSON}

// pgDeclare returns the type in PostgreSQL. PostgreSQL adds 32-bit integers in 32 bits, hql in 64. So all integers have
// 64 bits in PostgreSQL, with a CHECK that bounds them.
func (c *column) pgDeclare() string {
	switch c.declare {
	case "FLOAT":
		return "real"
	case "INT":
		return "bigint CHECK (" + c.name + " BETWEEN -2147483648 AND 2147483647)"
	case "SMALLINT":
		return "bigint CHECK (" + c.name + " BETWEEN -32768 AND 32767)"
	case "TINYINT":
		return "bigint CHECK (" + c.name + " BETWEEN -128 AND 127)"
	}
	return pgType[c.kind]
}

// newTable draws a table with that name.
func newTable(r *rand.Rand, name string) *table {
	defaults := map[string]value{}
	t := &table{Table: worlds.New(r, name, worlds.Options{Unique: true, Default: func(c worlds.Column) string {
		own := column{kind: kindOf[c.Type], declare: c.Type}
		v := someValue(r, own.kind)
		if c.NotNull || !own.holds(v) || r.IntN(3) > 0 {
			delete(defaults, c.Name)
			return ""
		}
		defaults[c.Name] = v
		return v.inDefinition()
	}})}
	var pg []string
	for _, c := range t.Columns {
		def, _ := t.Def.Column(c.Name)
		own := column{name: c.Name, kind: kindOf[c.Type], declare: c.Type, key: c.Key, notNull: c.NotNull,
			draw: func(r *rand.Rand) types.Value { return t.Value(r, def) }, only: t.IsUUID(def)}
		t.columns = append(t.columns, own)
		line := c.Name + " " + own.pgDeclare()
		if v, ok := defaults[c.Name]; ok && !t.packed() {
			line += " DEFAULT " + render(v.literal(), true, nil, nil)
		}
		if c.NotNull {
			line += " NOT NULL"
		}
		pg = append(pg, line)
	}
	t.pg = "CREATE TABLE " + name + " (" + strings.Join(pg, ", ") + ", UNIQUE (" + strings.Join(t.keys(), ", ") + "))"
	if zeros := t.zeros(); zeros != "" {
		t.pg += "; CREATE FUNCTION zeros_" + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + zeros + "RETURN NEW; END $$" +
			"; CREATE TRIGGER zeros BEFORE INSERT OR UPDATE ON " + name + " FOR EACH ROW EXECUTE FUNCTION zeros_" + name + "()"
	}
	for _, l := range t.Def.Layouts {
		if l.Kind == catalog.Index {
			t.hints = append(t.hints, "INDEX("+l.Name+")")
		} else {
			t.hints = append(t.hints, "LAYOUT("+l.Name+")")
		}
	}
	return t
}

// packed reports whether the one cell of t has a qualifier made of parts, and so cannot have a DEFAULT.
func (t *table) packed() bool { return t.Def.Layouts[0].Packed != nil }

// zeros returns assignments that replace -0 by 0 in key columns.
func (t *table) zeros() (sql string) {
	for i, c := range t.columns {
		inKey := slices.ContainsFunc(t.Def.Layouts, func(l *catalog.Layout) bool {
			return slices.ContainsFunc([]*catalog.Composite{l.Key, l.Stored, l.Packed}, func(p *catalog.Composite) bool {
				return p != nil && slices.ContainsFunc(p.Parts, func(p *catalog.Part) bool { return slices.Contains(p.Columns, i) })
			})
		})
		if inKey && c.kind == kDbl {
			sql += "NEW." + c.name + " := NEW." + c.name + " + 0; "
		}
	}
	return sql
}
