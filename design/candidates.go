package design

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// candidate is a way to store a table's rows: the parts of its key, as written.
type candidate struct {
	columns []*catalog.Column // in the order of the key, without what is in front of them
	parts   []string
	stored  string            // parts of the names of its HBase tables; "": as today
	cells   []*catalog.Column // that the key holds as a hash alone, so that they need cells
	indexes []string          // INDEX name (...)
	why     string            // the purpose of the key's form
}

// id returns the text of the key, by which candidates are compared.
func (c *candidate) id() string { return c.key() + c.stored + strings.Join(c.indexes, "") }

func (c *candidate) key() string { return "ROW KEY (" + strings.Join(c.parts, ", ") + ")" }

// orders returns orders of columns for keys. An order begins with the columns that two statements, or one, compare by
// equality. The columns of that statement's range or ORDER BY follow, and then those that identify rows.
func (s *search) orders() (out []candidate) {
	seen := map[string]bool{}
	add := func(columns []*catalog.Column) {
		c := candidate{columns: s.whole(columns)}
		if c.parts = s.write(c.columns, nil); c.parts != nil && !seen[c.id()] && len(out) < maxOrders {
			seen[c.id()] = true
			out = append(out, c)
		}
	}
	var late []*catalog.Column
	for _, c := range s.identity {
		if !c.Type.IsTemporal() {
			late = append(late, c)
		}
	}
	add(late)
	for _, a := range s.needs {
		for _, b := range s.needs {
			both := slices.DeleteFunc(slices.Clone(a.equal), func(c *catalog.Column) bool { return !slices.Contains(b.equal, c) })
			for _, lead := range keyBeginnings(a) {
				add(append(slices.Clone(both), lead...))
			}
			add(append(slices.Clone(both), b.equal...))
		}
		for _, c := range a.suffix {
			add([]*catalog.Column{c})
		}
	}
	for _, c := range s.identity {
		add([]*catalog.Column{c})
	}
	return out
}

// keyBeginnings returns the columns with which a key may begin to serve n: those compared by equality, followed by one
// range column or by the ORDER BY columns.
func keyBeginnings(n need) (out [][]*catalog.Column) {
	for _, r := range n.ranges {
		if !slices.Contains(n.equal, r) {
			out = append(out, append(slices.Clone(n.equal), r))
		}
	}
	if len(n.order) > 0 {
		out = append(out, append(slices.Clone(n.equal), n.order...))
	}
	return append(out, n.equal)
}

// whole appends the columns that identify rows, and omits repeated columns.
func (s *search) whole(columns []*catalog.Column) (out []*catalog.Column) {
	for _, c := range append(slices.Clone(columns), s.identity...) {
		addColumn(&out, c)
	}
	return out
}

// forms returns the ways to write a key of columns: plain, and with each of the transforms that spread returns.
func (s *search) forms(c candidate) []candidate {
	lead, out := c.columns[0], []candidate{c}
	add := func(why string, front []string, columns []*catalog.Column) {
		if parts := s.write(columns, front); parts != nil {
			out = append(out, candidate{columns: columns, parts: parts, why: why})
		}
	}
	name := parser.QuoteName(lead.Name)
	if lead.Type.IsText() && !s.KeepOrder {
		if front := s.front("REVERSE(" + name + ") AS TEXT"); !slices.ContainsFunc(s.needs, func(n need) bool { return slices.Contains(n.ranges, lead) }) {
			if parts := s.write(c.columns[1:], front); parts != nil {
				out = append(out, candidate{columns: c.columns, parts: parts, why: lead.Name + " backwards: values that count up are spread by their last characters, and LIKE '%...' hits the prefix"})
			}
		}
	}
	if s.hashed = slices.DeleteFunc(slices.Clone(c.columns), func(c *catalog.Column) bool { return !s.longText(c) }); len(s.hashed) > 0 {
		if parts := s.write(c.columns, nil); parts != nil {
			out = append(out, candidate{columns: c.columns, parts: parts, cells: s.hashed, why: "a hash in place of a long text has 16 bytes whatever the length, and spreads; the text itself is a cell"})
		}
		s.hashed = nil
	}
	if len(s.rows) == 0 && lead != s.written {
		return out // nothing shows that the rows need spreading
	}
	out = append(out, s.daily(c)...)
	if s.KeepOrder {
		return out
	}
	if lead.Type == types.Timestamp {
		add(lead.Name+" in steps of an hour: one hour of all others is a range", []string{"DATE_BIN('1 hour', " + name + ") AS INT64"}, append(slices.Clone(c.columns[1:]), lead))
	}
	if lead.Type.IsInteger() || lead.Type == types.Timestamp {
		add(fmt.Sprintf("%s modulo %d spreads values that only grow; a range of %s is a scan in each bucket", lead.Name, s.Regions, lead.Name), []string{fmt.Sprintf("%s %% %d AS %s", name, s.Regions, s.bucket())}, c.columns)
	}
	for _, of := range s.identity {
		hashed := hashArgument(of)
		if hashed == "" || of != lead && !lead.Type.IsTemporal() {
			continue
		}
		where := fmt.Sprintf("the hash of %s spreads the rows; a statement that binds %s computes it", of.Name, of.Name)
		add(where, []string{fmt.Sprintf("LEFT(MD5(%s), 4)", hashed)}, c.columns)
		add(where, []string{fmt.Sprintf("CRC32(%s) %% %d AS %s", hashed, s.Regions, s.bucket())}, c.columns)
		if of == lead {
			add(where, []string{fmt.Sprintf("CRC32(%s) %% 65536 AS UINT16", hashed)}, c.columns)
		}
	}
	add("a random salt spreads any rows; each read is a scan for each salt", []string{fmt.Sprintf("SALT(0 TO %d) AS %s", s.Regions-1, s.bucket())}, c.columns)
	return out
}

// bucket is the encoding of a bucket's number.
func (s *search) bucket() string {
	if s.Regions > 256 {
		return "UINT16"
	}
	return "UINT8"
}

// hashArgument writes a column as the argument of a hash; "" if it cannot be one.
func hashArgument(c *catalog.Column) string {
	name := parser.QuoteName(c.Name)
	switch {
	case c.Type == types.String || c.Type == types.Bytes:
		return name
	case c.Type.IsInteger():
		return name + " AS INT64"
	}
	return ""
}

// daily returns the ways to store the rows of c in one HBase table per day. Within a day, four bytes are enough for the
// time.
func (s *search) daily(c candidate) (out []candidate) {
	if s.written == nil || s.written.Type != types.Timestamp || !slices.Contains(c.columns, s.written) || slices.ContainsFunc(s.needs, func(n need) bool {
		return !slices.Contains(n.equal, s.written) && !slices.Contains(n.ranges, s.written)
	}) {
		return nil // a statement without a day would read all tables, more of them each day
	}
	name := parser.QuoteName(s.written.Name)
	stored := types.NewString(storedName(s.table)+"_").SQL() + ", DATE(" + name + ") AS TEXT('yyyyMMdd')"
	s.day = true
	defer func() { s.day = false }()
	fronts := [][]string{nil}
	for _, of := range s.identity {
		if arg := hashArgument(of); arg != "" && !s.KeepOrder {
			fronts = append(fronts, []string{fmt.Sprintf("CRC32(%s) %% 65536 AS UINT16", arg)})
		}
	}
	for _, front := range fronts {
		if parts := s.write(c.columns, front); parts != nil {
			out = append(out, candidate{columns: c.columns, parts: parts, stored: stored,
				why: "a table a day: the key holds the time of the day alone, old days are dropped as tables"})
		}
	}
	return out
}

// front returns a key part for the start of a key, with a delimiter after it.
func (s *search) front(part string) []string { return []string{part, "X'00'"} }

// designed is the suffix of the names of proposed tables.
const designed = "_designed"

// storedName returns the beginning of the names of the HBase tables if t gets one HBase table per day.
func storedName(t *catalog.Table) string {
	prefix, whole := t.Layouts[0].Stored.Prefix()
	prefix = cmp.Or(strings.TrimRight(prefix, "_-."), t.Name)
	if !whole { // today's names are taken
		prefix += designed
	}
	return prefix
}

// write returns the parts of a key of columns after front; nil if a column cannot be in a key.
func (s *search) write(columns []*catalog.Column, front []string) []string {
	out := slices.Clone(front)
	for i, c := range columns {
		text, variable := s.part(c)
		if text == "" {
			return nil
		}
		if out = append(out, text); variable && i+1 < len(columns) {
			out = append(out, "X'00'")
		}
	}
	if len(columns) == 0 && len(out) > 1 {
		out = out[:1] // nothing follows a delimiter
	}
	return out
}

// part returns the key part for a column. It takes the part of today's key, if that key has exactly one part of fixed
// width for the column; otherwise it chooses an encoding that keeps the order. It returns "" if there is none.
func (s *search) part(c *catalog.Column) (part string, variable bool) {
	name := parser.QuoteName(c.Name)
	switch {
	case slices.Contains(s.hashed, c):
		return "UNHEX(MD5(" + name + "))", false
	case c == s.written && s.day:
		return "MILLIS_OF_DAY(" + name + ") AS UINT32", false
	case c.Type == types.Timestamp && s.newest:
		return "9223372036854775807 - " + name + " AS INT64", false
	}
	var own *catalog.Part
	users := 0
	for _, p := range s.table.Layouts[0].Key.Parts {
		if slices.Contains(p.Columns, c.Index) {
			users++
			if len(p.Columns) == 1 && p.Width() != catalog.Variable && p.Injective() {
				own = p
			}
		}
	}
	if users == 1 && own != nil && c.KeyPart && s.table.Layouts[0].Stored.IsLiteral() {
		return own.Source, false
	}
	switch {
	case c.Type == types.String:
		if n := s.fixedLength(c); n > 0 {
			return fmt.Sprintf("%s AS TEXT(%d)", name, n), false
		}
		return name + " AS TEXT", true
	case c.Type == types.Bytes:
		return name + " AS BYTES", true
	case c.Type == types.BigInt && s.small(c):
		return name + " AS UINT32", false
	case c.Type.IsInteger():
		return fmt.Sprintf("%s AS ORDERED INT%d", name, map[types.Type]int{types.TinyInt: 8, types.SmallInt: 16, types.Int: 32, types.BigInt: 64}[c.Type]), false
	case c.Type == types.Timestamp:
		return name + " AS INT64", false
	case c.Type == types.Date:
		return name + " AS TEXT('yyyyMMdd')", false
	case c.Type == types.Time:
		return name + " AS UINT32", false
	case c.Type == types.Double:
		return name + " AS ORDERED FLOAT64", false
	case c.Type == types.Float:
		return name + " AS ORDERED FLOAT32", false
	case c.Type == types.Boolean:
		return name + " AS BOOLEAN", false
	}
	return "", false
}

// fixedLength returns the length of all texts of a column, if the sample has many rows and the lengths agree; 0
// otherwise.
func (s *search) fixedLength(c *catalog.Column) int {
	const enough = 100
	n := 0
	for _, row := range s.rows {
		text := row[c.Index].Text()
		if n == 0 {
			n = len(text)
		}
		if len(text) != n || n == 0 || strings.HasSuffix(text, " ") {
			return 0
		}
	}
	if len(s.rows) < enough || n > 24 {
		return 0
	}
	return n
}

// small reports whether all numbers of a column in the sample fit four bytes, with room to grow.
func (s *search) small(c *catalog.Column) bool {
	return len(s.rows) > 0 && !slices.ContainsFunc(s.rows, func(row []types.Value) bool {
		n := row[c.Index].Int()
		return n < 0 || n >= 1<<28
	})
}

// longText reports whether the texts of a column are on average longer than a hash, and no statement wants a range of
// them.
func (s *search) longText(c *catalog.Column) bool {
	if !c.Type.IsText() {
		return false
	}
	sum := 0
	for _, row := range s.rows {
		sum += len(row[c.Index].Text())
	}
	return sum > 16*len(s.rows) && len(s.rows) > 0 && !slices.ContainsFunc(s.needs, func(n need) bool {
		return slices.Contains(n.ranges, c) || slices.Contains(n.suffix, c) || slices.Contains(n.order, c)
	})
}

// parsed returns the definition of the table with the candidate's layouts.
func (s *search) parsed(c *candidate) (*parser.CreateTable, error) {
	text := "CREATE EXTERNAL TABLE t (c INT) " + c.key()
	if c.stored != "" {
		text += " STORED IN (" + c.stored + ")"
	}
	stmt, err := parser.ParseStatement(text + " " + strings.Join(c.indexes, " "))
	if err != nil {
		return nil, err
	}
	made, def := stmt.(*parser.CreateTable), *s.table.Def
	def.PrimaryKey, def.Split, def.Splits, def.Columns = nil, nil, nil, slices.Clone(def.Columns)
	for i := range def.Columns {
		d := &def.Columns[i]
		d.PrimaryKey = false
		if d.From == nil && slices.ContainsFunc(c.cells, func(c *catalog.Column) bool { return c.Name == d.Name }) {
			d.From = &parser.ColumnSource{Pos: d.Pos, Family: s.table.Families[0].Name, Qualifier: d.Name}
		}
	}
	first := made.Layouts[0]
	if len(s.table.Def.Layouts) > 0 {
		first.Name = s.table.Def.Layouts[0].Name
		if c.stored == "" && s.table.Layouts[0].Stored.IsLiteral() {
			first.StoredIn = s.table.Def.Layouts[0].StoredIn
		}
	}
	def.Layouts = append([]parser.LayoutDef{first}, s.table.Def.Layouts[min(1, len(s.table.Def.Layouts)):]...)
	def.Layouts = append(def.Layouts, made.Layouts[1:]...)
	return &def, nil
}
