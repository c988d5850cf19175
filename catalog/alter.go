package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Altered returns the definition of t after changes, or t.Def if they change nothing. Syntax nodes that come from t.Def
// get the position at; nodes that come from changes keep their positions.
func (c *Catalog) Altered(t *Table, changes []parser.Change, at parser.Pos) (*parser.CreateTable, error) {
	a := alteration{c: c, table: t, def: t.Def.At(at)}
	for _, change := range changes {
		if err := a.apply(change); err != nil {
			return nil, err
		}
	}
	if !a.changed {
		return t.Def, nil
	}
	a.def.NameChecks()
	if family := t.Families[0].Name; len(a.def.Families) == 0 && defaultFamily(a.def) != family {
		a.def.Families = []parser.FamilyDef{{Pos: at, Name: family}}
	}
	return a.def, nil
}

// alteration is a definition that is being changed.
type alteration struct {
	c       *Catalog
	table   *Table
	def     *parser.CreateTable
	changed bool
}

func (a *alteration) apply(c parser.Change) error {
	i, there := a.column(c.Name)
	if a.def.Materialized && slices.Contains([]parser.ChangeKind{parser.AddColumn, parser.DropColumn, parser.AlterDefault, parser.AlterNotNull, parser.AlterType, parser.AddCheck}, c.Kind) {
		return parser.Errorf(c.Pos, "ALTER action %s cannot be performed on relation %q", c.Kind, a.def.Name).WithHint("This operation is not supported for materialized views.")
	}
	switch c.Kind {
	case parser.DropColumn, parser.RenameColumn, parser.CommentColumn, parser.AlterDefault, parser.AlterNotNull, parser.AlterType, parser.AlterIdentity:
		if !there && c.If && c.Kind != parser.AlterIdentity {
			return nil
		}
		if !there {
			return expr.Suggest(parser.Errorf(c.Pos, "unknown column %q", c.Name), c.Name, a.table.ColumnNames())
		}
	}
	switch c.Kind {
	case parser.AddColumn:
		return a.addColumn(c)
	case parser.AddCheck:
		a.def.Checks = append(a.def.Checks, c.Checks...)
	case parser.DropConstraint, parser.ValidateCheck, parser.RenameConstraint:
		return a.constraint(c)
	case parser.DropColumn:
		for _, part := range a.uses(c.Name) {
			if index, ok := strings.CutPrefix(part, "INDEX "); ok { // as in PostgreSQL
				if err := a.apply(parser.Change{Pos: c.Pos, Kind: parser.DropIndex, Name: index, If: true}); err != nil {
					return err
				}
				continue
			}
			return parser.Errorf(c.Pos, "column %s is in %s", c.Name, part).WithHint("a key cannot change: CREATE TABLE ... AS query copies the rows under another key")
		}
		a.def.Columns = slices.Delete(a.def.Columns, i, i+1)
		a.def.Checks = slices.DeleteFunc(a.def.Checks, func(k parser.CheckDef) bool { return names(k.Expr, c.Name) })
	case parser.RenameColumn:
		return a.rename(i, c)
	case parser.AlterType:
		a.def.Columns[i].Type = types.WrittenType(c.Column.Type)
	case parser.CommentColumn:
		a.def.Columns[i].Comment = c.To
	case parser.AlterIdentity:
		return a.setIdentity(&a.def.Columns[i], c)
	case parser.AlterDefault, parser.AlterNotNull:
		is, ok := a.table.Column(c.Name)
		switch col := &a.def.Columns[i]; {
		case !ok:
			return parser.Errorf(c.Pos, "column %s is added or renamed in the same statement: change it in a statement of its own", col.Name)
		case col.Identity != "" && !c.Column.NotNull:
			return parser.Errorf(c.Pos, "column %q of relation %q is an identity column", col.Name, a.table.Name).WithHint("ALTER COLUMN %s DROP IDENTITY makes it another one", parser.QuoteName(col.Name))
		case c.Kind == parser.AlterDefault:
			return a.setDefault(col, is, c)
		default:
			return a.setNotNull(col, is, c)
		}
	case parser.CommentTable:
		a.unset("COMMENT")
		if c.To != "" {
			a.def.Options = append(a.def.Options, parser.Option{Pos: c.Pos, Key: "COMMENT", Value: &parser.Literal{Pos: c.Pos, Kind: parser.StringLiteral, Text: c.To}})
		}
	case parser.SetOptions, parser.ResetOptions:
		for _, o := range c.Options {
			if o.Key == building {
				return parser.Errorf(o.Pos, "CREATE INDEX sets and resets %s", building)
			}
			if !a.unset(o.Key) && c.Kind == parser.ResetOptions {
				return parser.Errorf(o.Pos, "table %s has no option %s", a.table.Name, o.Key)
			}
			if c.Kind == parser.SetOptions {
				a.def.Options = append(a.def.Options, o)
			}
		}
	case parser.RenameTable:
		return parser.Errorf(c.Pos, "RENAME TO stands alone: make the other changes in a statement of their own")
	case parser.NoEffect:
		return nil
	case parser.RenameIndex:
		return a.renameIndex(c)
	case parser.AddIndex:
		return a.addIndex(c)
	case parser.DropIndex:
		at := slices.IndexFunc(a.def.Layouts, func(l parser.LayoutDef) bool { return l.Index && strings.EqualFold(l.Name, c.Name) })
		if at < 0 && c.If {
			return nil
		}
		if at < 0 {
			return parser.Errorf(c.Pos, "table %s has no INDEX %s", a.table.Name, c.Name)
		}
		a.def.Options = withoutBuilding(a.def.Options, a.def.Layouts[at].Name)
		a.def.Layouts = slices.Delete(a.def.Layouts, at, at+1)
		a.def.Splits = slices.DeleteFunc(slices.Clone(a.def.Splits), func(d *parser.SplitDef) bool { return strings.EqualFold(d.Index, c.Name) })
	}
	a.changed = true
	return nil
}

func (a *alteration) column(name string) (int, bool) {
	i := slices.IndexFunc(a.def.Columns, func(c parser.ColumnDef) bool { return strings.EqualFold(c.Name, name) })
	return i, i >= 0
}

// unset removes the option key and reports whether the definition had it.
func (a *alteration) unset(key string) bool {
	n := len(a.def.Options)
	a.def.Options = slices.DeleteFunc(a.def.Options, func(o parser.Option) bool { return o.Key == key })
	return len(a.def.Options) < n
}

func (a *alteration) addColumn(c parser.Change) error {
	if _, there := a.column(c.Column.Name); there {
		if c.If {
			return nil
		}
		return parser.Errorf(c.Column.Pos, "column %q already exists", c.Column.Name)
	}
	c.Column.Type = types.WrittenType(c.Column.Type)
	if l, constant := c.Column.Default.(*parser.Literal); constant && !c.Column.PrimaryKey {
		c.Column.FillAbsent(l)
		c.Column.Default = nil
	}
	if c.Column.PrimaryKey || c.Column.NotNull && c.Column.Default == nil && (c.Column.Encoding == nil || c.Column.Encoding.Name != defaultName) {
		return parser.Errorf(c.Column.Pos, "rows that exist have no %s: a column that is added may be NULL and is in no key", c.Column.Name).
			WithHint("a DEFAULT gives them one")
	}
	a.def.Columns, a.def.Checks, a.changed = append(a.def.Columns, c.Column), append(a.def.Checks, c.Checks...), true
	return nil
}

// constraint drops, renames or validates a CHECK.
func (a *alteration) constraint(c parser.Change) error {
	i := slices.IndexFunc(a.def.Checks, func(k parser.CheckDef) bool { return strings.EqualFold(k.Name, c.Name) })
	switch {
	case i >= 0 && c.Kind == parser.RenameConstraint:
		a.def.Checks[i].Name = c.To
	case i >= 0 && c.Kind == parser.ValidateCheck:
		a.def.Checks[i].NotValid = false
	case i >= 0:
		a.def.Checks = slices.Delete(a.def.Checks, i, i+1)
	case strings.EqualFold(c.Name, a.table.Name+"_pkey"):
		return parser.Errorf(c.Pos, "%s is the key of table %s, by which its rows are stored", c.Name, a.table.Name).
			WithHint("CREATE TABLE ... AS query copies the rows under another key")
	case !c.If:
		return parser.Errorf(c.Pos, "constraint %q of relation %q does not exist", c.Name, a.table.Name)
	default:
		return nil
	}
	a.changed = true
	return nil
}

// names reports whether x names a column.
func names(x parser.Expr, column string) bool {
	return parser.Some(x, func(x parser.Expr) bool {
		ref, ok := x.(*parser.ColumnRef)
		return ok && strings.EqualFold(ref.Name, column)
	})
}

// setDefault changes the value that INSERT writes. Rows that exist keep theirs.
func (a *alteration) setDefault(col *parser.ColumnDef, is *Column, c parser.Change) error {
	value, always := c.Column.Default, col.NotNull || is.KeyPart
	if value == nil && col.Encoding != nil && col.Encoding.Name == defaultName { // rows without the cell keep their value: INSERT writes NULL
		value, always = &parser.Literal{Pos: c.Pos, Kind: parser.NullLiteral}, false
	}
	col.Default, a.changed = insertedDefault(value, always), true
	return nil
}

// setIdentity adds, changes or drops GENERATED AS IDENTITY.
func (a *alteration) setIdentity(col *parser.ColumnDef, c parser.Change) error {
	adds := c.Column.Sequence != nil
	switch {
	case col.Identity == "" && !adds && c.If:
		return nil
	case col.Identity == "" && !adds:
		return parser.Errorf(c.Pos, "column %q of relation %q is not an identity column", col.Name, a.table.Name)
	case adds && col.Identity != "":
		return parser.Errorf(c.Pos, "column %q of relation %q is already an identity column", col.Name, a.table.Name)
	case adds && (col.Default != nil && col.Default.String() != c.Column.Default.String() || col.Encoding != nil && col.Encoding.Name == defaultName):
		return parser.Errorf(c.Pos, "column %q of relation %q already has a default value", col.Name, a.table.Name)
	}
	if is, _ := a.table.Column(col.Name); adds && !col.NotNull && !is.KeyPart {
		return parser.Errorf(c.Pos, "column %q of relation %q must be declared NOT NULL before identity can be added", col.Name, a.table.Name)
	}
	if adds {
		col.Sequence, col.Default = c.Column.Sequence, c.Column.Default
	}
	if col.Identity, a.changed = c.Column.Identity, true; col.Identity == "" {
		col.Sequence, col.Default, col.NotNull = nil, nil, true
	}
	return nil
}

func (a *alteration) setNotNull(col *parser.ColumnDef, is *Column, c parser.Change) error {
	if is.KeyPart && !c.Column.NotNull {
		return parser.Errorf(c.Pos, "column %s is in the key, which has a value in every row", col.Name)
	}
	a.changed = a.changed || col.NotNull != c.Column.NotNull
	col.NotNull, col.Default = c.Column.NotNull, insertedDefault(col.Default, c.Column.NotNull || is.KeyPart)
	return nil
}

// insertedDefault returns the DEFAULT x in a form that INSERT writes: a constant alone would be the value of all rows without
// the cell, unless no row is without it.
func insertedDefault(x parser.Expr, always bool) parser.Expr {
	if l, constant := x.(*parser.Literal); constant && !always {
		return &parser.Call{Pos: l.Pos, Name: "COALESCE", Args: []parser.Expr{l}}
	}
	return x
}

// DefaultSQL returns the value that INSERT writes if it does not name c, as SQL; "" if there is none.
func (c *Column) DefaultSQL() string {
	x := c.Default
	if call, ok := x.(*parser.Call); ok && call.Name == "COALESCE" && len(call.Args) == 1 { // see insertedDefault
		x = call.Args[0]
	}
	if l, ok := x.(*parser.Literal); ok && l.Kind == parser.NullLiteral {
		return ""
	}
	if name := c.Draws(); name != "" {
		return strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(x.String(), "NEXTVAL(", "nextval("), "'::REGCLASS", "'"), "')", "'::regclass)")
	}
	if x != nil {
		return x.String()
	}
	if v := c.Absent(); !v.IsNull() {
		return v.SQL()
	}
	return ""
}

// FreeIndexName returns name, or name with the lowest number behind it that no finished layout of t has.
func (t *Table) FreeIndexName(name string) string {
	free := name
	for n := 1; slices.ContainsFunc(t.Layouts, func(l *Layout) bool { return strings.EqualFold(l.Name, free) && !l.Building }); n++ {
		free = name + strconv.Itoa(n)
	}
	return free
}

// Renamed returns the definition of t under another name. Its rows stay in the same HBase tables.
func (t *Table) Renamed(name string) *parser.CreateTable {
	def := *t.Def
	def.Name = name
	if def.StoredIn == nil {
		def.StoredIn = parser.StoredIn(t.Name)
	}
	return &def
}

// Refilled returns the definition of t over HBase tables that do not exist yet, and whose names end with suffix.
func (t *Table) Refilled(suffix string) *parser.CreateTable {
	def := parser.CopyOf(t.Def)
	def.StoredIn = parser.StoredIn(t.Name + "_" + suffix)
	for i := range def.Layouts {
		def.Layouts[i].StoredIn = nil
	}
	def.Options = slices.DeleteFunc(def.Options, func(o parser.Option) bool { return o.Key == building }) // the rows come with their entries
	return def
}

// renameIndex gives an INDEX another name. Its entries stay in the same HBase table.
func (a *alteration) renameIndex(c parser.Change) error {
	var is *Layout
	for _, l := range a.table.Layouts {
		if strings.EqualFold(l.Name, c.To) {
			return parser.Errorf(c.Pos, "index %q already exists", c.To)
		}
		if l.Kind == Index && strings.EqualFold(l.Name, c.Name) {
			is = l
		}
	}
	stored, whole := is.Stored.Prefix()
	if is.Building || !whole {
		return parser.Errorf(c.Pos, "index %s of %s is not complete, or has several HBase tables: it keeps its name", is.Name, a.table.Name)
	}
	for i := range a.def.Layouts {
		if d := &a.def.Layouts[i]; d.Name == is.Name {
			d.Name, d.StoredIn, a.changed = c.To, parser.StoredIn(stored), true
		}
	}
	for _, s := range a.def.Splits {
		if strings.EqualFold(s.Index, is.Name) {
			s.Index = c.To
		}
	}
	return nil
}

// rename gives column i another name. The column's cell keeps its family and qualifier.
func (a *alteration) rename(i int, c parser.Change) error {
	col := &a.def.Columns[i]
	if j, there := a.column(c.To); there && j != i {
		return parser.Errorf(c.Pos, "column %q already exists", c.To)
	}
	if is, ok := a.table.Column(col.Name); ok && col.From == nil && !is.KeyPart {
		col.From = &parser.ColumnSource{Pos: c.Pos, Family: is.Family, Qualifier: is.Qualifier}
	}
	for _, x := range a.references() {
		if strings.EqualFold(*x.name, c.Name) {
			*x.name = c.To
		}
	}
	col.Name, a.changed = c.To, true
	if q := a.def.Query; q != nil { // of a materialized view: the names stand in front of it
		in := *q
		in.AllowFullScan = false
		of := &parser.Subquery{Pos: q.Pos, Query: &in, Alias: "query"}
		for _, d := range a.def.Columns {
			of.Columns = append(of.Columns, d.Name)
		}
		a.def.Query = parser.AllOf(of)
		a.def.Query.AllowFullScan = q.AllowFullScan
	}
	return nil
}

func (a *alteration) addIndex(c parser.Change) error {
	for _, l := range a.table.Layouts {
		if strings.EqualFold(l.Name, c.Index.Name) && !(l.Building && l.Kind == Index) {
			if c.If {
				return nil
			}
			return parser.Errorf(c.Index.Pos, "table %s has a layout %s already", a.table.Name, l.Name)
		}
	}
	if len(a.def.Layouts) == 0 && !a.table.HiddenKey { // its first layout follows from PRIMARY KEY
		a.def.Layouts = append(a.def.Layouts, a.table.primary)
		a.def.PrimaryKey = nil
		for i, d := range a.def.Columns {
			c, _ := a.table.Column(d.Name)
			a.def.Columns[i].PrimaryKey, a.def.Columns[i].NotNull = false, d.NotNull || c.KeyPart
		}
	}
	index := c.Index
	index.Parts = a.indexParts(c.Index.Parts)
	at := slices.IndexFunc(a.def.Layouts, func(l parser.LayoutDef) bool { return strings.EqualFold(l.Name, index.Name) })
	if at < 0 {
		a.def.Layouts = append(a.def.Layouts, index)
		a.def.Options = append(a.def.Options, parser.Option{Pos: c.Pos, Key: building, Value: &parser.Literal{Pos: c.Pos, Kind: parser.StringLiteral, Text: index.Name}})
	} else if printed(a.def.Layouts[at]) != printed(index) {
		return parser.Errorf(c.Index.Pos, "index %s of %s is being built with another definition", index.Name, a.table.Name).
			WithHint("DROP INDEX %s ON %s drops it", parser.QuoteName(index.Name), parser.QuoteName(a.table.Name))
	}
	a.changed = true
	return nil
}

// indexParts completes the parts of an INDEX: a column without an encoding gets one that keeps the order of its values,
// and the parts that the primary key needs to find the row are added at the end.
func (a *alteration) indexParts(parts []parser.PartDef) (out []parser.PartDef) {
	var known []int
	add := func(p parser.PartDef) {
		if n := len(out); n > 0 && out[n-1].Encoding != nil && out[n-1].Encoding.Args == nil {
			name, down := uprightName(strings.TrimPrefix(out[n-1].Encoding.Name, nullableName+" "))
			if l, ok := p.Expr.(*parser.Literal); (!ok || p.Encoding != nil || l.Text == "") && slices.Contains([]string{"TEXT", "BYTES", "PHOENIX DECIMAL"}, name) {
				end := endOfText(p.Pos)
				if down {
					end.Expr.(*parser.Literal).Text = "\xff"
				}
				out = append(out, end)
			}
		}
		out = append(out, p)
	}
	for _, p := range parts {
		col := a.columnOf(p)
		if desc := p.Encoding != nil && p.Encoding.Name == invertedName; desc || p.Encoding == nil {
			p.Encoding = a.defaultEncoding(p, col)
			if desc && p.Encoding != nil {
				p.Encoding.Name = invertedName + " " + p.Encoding.Name
			}
		}
		if col != nil {
			known = append(known, col.Index)
		}
		add(p)
	}
	primary := a.table.Layouts[0]
	for _, p := range a.table.primary.Parts {
		if col := a.columnOf(p); col != nil && !slices.Contains(known, col.Index) {
			known = append(known, col.Index)
			add(p)
		}
	}
	for _, col := range primary.PlaceColumns() { // one that the key holds only in an expression
		if part := primary.PartOf(col); !slices.Contains(known, col) {
			known = append(known, part.Columns...)
			add(part.Def)
		}
	}
	return out
}

// defaultEncoding returns the encoding that keeps the order of the values of p, whose column is col if it is one; nil if
// newEncoding chooses it, or refuses p.
func (a *alteration) defaultEncoding(p parser.PartDef, col *Column) *parser.EncodingDef {
	if _, literal := p.Expr.(*parser.Literal); literal {
		return nil
	}
	if col == nil {
		x, err := expr.Compile(p.Expr, (&builder{c: a.c, t: a.table}).scope())
		if err != nil || expr.Width(x) > 0 {
			return nil
		}
		col = &Column{Type: x.Type()}
	}
	if col.Type == types.Decimal { // an entry leads to the row, which has the scale
		return &parser.EncodingDef{Pos: p.Pos, Name: "PHOENIX DECIMAL"}
	}
	enc, _ := keyEncoding(col, p.Pos)
	return enc
}

// columnOf returns the column if the part is a plain column; nil if the part is another expression.
func (a *alteration) columnOf(p parser.PartDef) *Column {
	if ref, ok := p.Expr.(*parser.ColumnRef); ok && ref.Table == "" {
		if i, ok := a.column(ref.Name); ok {
			c, _ := a.table.Column(a.def.Columns[i].Name)
			return c
		}
	}
	return nil
}

func printed(l parser.LayoutDef) string {
	return (&parser.CreateTable{Layouts: []parser.LayoutDef{l}}).String()
}

// reference is a place in a definition, outside the list of columns, that names a column.
type reference struct {
	name *string
	in   string // "": a CHECK
}

func (a *alteration) references() (out []reference) {
	parts := func(in string, list []parser.PartDef) {
		for _, p := range list {
			parser.Walk(p.Expr, func(x parser.Expr) bool {
				if ref, ok := x.(*parser.ColumnRef); ok && ref.Table == "" {
					out = append(out, reference{&ref.Name, in})
				}
				return true
			})
		}
	}
	for i := range a.def.PrimaryKey {
		out = append(out, reference{&a.def.PrimaryKey[i].Name, "the PRIMARY KEY"})
	}
	if s := a.def.StoredIn; s != nil {
		parts("STORED IN", s.Parts)
	}
	for i := range a.def.Layouts {
		l := &a.def.Layouts[i]
		in := "the ROW KEY"
		if l.Name != "" {
			in = map[bool]string{false: "ROW KEY ", true: "INDEX "}[l.Index] + l.Name
		}
		parts(in, l.Parts)
		if l.Where != nil {
			parts(in, []parser.PartDef{{Expr: l.Where}})
		}
		if l.StoredIn != nil {
			parts(in, l.StoredIn.Parts)
		}
	}
	for _, c := range a.def.Columns {
		if c.From != nil {
			parts("the qualifier of "+c.Name, c.From.Parts)
		}
	}
	for _, k := range a.def.Checks {
		parts("", []parser.PartDef{{Expr: k.Expr}})
	}
	return out
}

// uses lists where the definition names a column.
func (a *alteration) uses(name string) (out []string) {
	for _, x := range a.references() {
		if strings.EqualFold(*x.name, name) && x.in != "" {
			out = append(out, x.in)
		}
	}
	if i, _ := a.column(name); a.def.Columns[i].PrimaryKey {
		out = append(out, "the PRIMARY KEY")
	}
	return out
}

// building is the option of a table that names an INDEX which CREATE INDEX has not filled yet.
const building = "BUILDING"

// Filled returns the definition of t with the INDEX name no longer being built.
func (t *Table) Filled(name string) *parser.CreateTable {
	def := *t.Def
	def.Options = withoutBuilding(def.Options, name)
	return &def
}

func withoutBuilding(options []parser.Option, name string) []parser.Option {
	return slices.DeleteFunc(slices.Clone(options), func(o parser.Option) bool {
		l, ok := o.Value.(*parser.Literal)
		return ok && o.Key == building && l.Text == name
	})
}

// With returns a copy of the catalog in which t replaces the table of the same name.
func (c *Catalog) With(t *Table) *Catalog {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := &Catalog{tables: maps.Clone(c.tables), views: maps.Clone(c.views), broken: maps.Clone(c.broken), funcs: c.funcs, encs: c.encs}
	out.tables[strings.ToLower(t.Name)] = t
	return out
}
