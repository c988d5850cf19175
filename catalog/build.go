package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// SQL returns the CREATE TABLE statement that defines the table.
func (t *Table) SQL() string { return t.Def.String() }

// ColumnNames returns the names of the table's columns, in order.
func (t *Table) ColumnNames() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// RowFamilies returns the families that decide whether a row of HBase is a row of t: it is one if it has a cell in any
// of these families. RowFamilies returns the families of the columns that are stored in cells, or, if there are no such
// columns, the families that the definition names. nil means that a cell in any family counts.
func (t *Table) RowFamilies() []string {
	var out []string
	for _, c := range t.Columns {
		if c.InCell() && c.Family != "" && !slices.Contains(out, c.Family) {
			out = append(out, c.Family)
		}
	}
	if out == nil {
		for _, f := range t.Def.Families {
			out = append(out, f.Name)
		}
	}
	return out
}

// OwnFamilies returns the families that the definition of t names. DELETE removes a row's cells in all of them; other
// families of the HBase table do not belong to t. It is nil if the definition names none: a row of t is then a whole
// row of HBase.
func (t *Table) OwnFamilies() []string {
	out := t.RowFamilies()
	if out == nil {
		return nil
	}
	for _, f := range t.Def.Families {
		if !slices.Contains(out, f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// Column finds a column; the case of letters does not matter.
func (t *Table) Column(name string) (*Column, bool) {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return nil, false
}

// builder builds one table.
type builder struct {
	c        *Catalog
	def      *parser.CreateTable
	t        *Table
	building []string // layouts
	// phoenix is set if a part or column has an encoding of Phoenix.
	phoenix bool
	entries bool // the parts are those of an INDEX, whose entries lead to rows: these keep the scale of a DECIMAL
}

// phoenixMarker is the qualifier of the cell that Phoenix adds to each row, except in tables whose qualifiers are
// numbers.
const phoenixMarker = "_0"

// Build checks a definition and makes the table, but does not add it to the catalog.
func (c *Catalog) Build(def *parser.CreateTable) (_ *Table, err error) {
	defer fail.Catch(&err)
	if def.Query != nil && !def.Materialized {
		return nil, parser.Errorf(def.Query.Pos, "a definition has no query: CREATE TABLE %s AS is a statement that writes rows", def.Name)
	}
	if def.Temporary {
		return nil, parser.Errorf(def.NamePos, "a TEMPORARY table belongs to a session, not to a file of definitions")
	}
	def = fail.Must(c.Liked(def))
	b := &builder{c: c, def: def, t: &Table{Name: def.Name, External: def.External, Def: def}}
	for _, step := range []func(){b.options, b.families, b.columns, b.layouts, b.readable, b.lookups, b.checks} {
		step()
	}
	b.t.Layouts[0].Split = def.Split
	for _, d := range def.Splits {
		i := slices.IndexFunc(b.t.Layouts, func(l *Layout) bool { return l.Kind == Index && strings.EqualFold(l.Name, d.Index) && l.Split == nil })
		if i < 0 {
			return nil, parser.Errorf(d.Pos, "SPLIT INDEX %s: table %s has no such INDEX, or the INDEX has a second SPLIT", d.Index, def.Name)
		}
		b.t.Layouts[i].Split = d
	}
	switch packed := b.t.Layouts[0].Packed != nil; {
	case packed && b.t.Marker != "":
		return nil, parser.Errorf(def.NamePos, "ROW_MARKER names a cell that would be read as one of %s, whose qualifiers are computed", def.Name)
	case b.phoenix && b.t.Marker == "" && !packed: // Phoenix does not have tables with computed qualifiers
		b.t.Marker = phoenixMarker
	}
	return b.t, nil
}

func (b *builder) options() {
	for _, o := range b.def.Options {
		val := ""
		if l, ok := o.Value.(*parser.Literal); ok {
			val = strings.ToUpper(l.Text)
		} else if r, ok := o.Value.(*parser.ColumnRef); ok {
			val = strings.ToUpper(r.Name)
		}
		switch o.Key {
		case "ON MALFORMED KEY", "MALFORMED_KEY":
			b.t.MalformedKeyError = val == "ERROR"
		case "CREATE_TABLES", "CREATE TABLES":
			b.t.CreateTables = val == "" || val == "TRUE"
		case building:
			var name string
			textOption(o, &name)
			b.building = append(b.building, name)
		case "COMMENT":
			textOption(o, &b.t.Comment)
		case "READ_ONLY":
			textOption(o, &b.t.ReadOnly)
		case "ROW_MARKER":
			textOption(o, &b.t.Marker)
		case "INDEX_STATES":
			textOption(o, &b.t.IndexStates)
		case "FILLFACTOR", "PARALLEL_WORKERS", "TOAST_TUPLE_TARGET", "USER_CATALOG_TABLE", "LOG_AUTOVACUUM_MIN_DURATION", "VACUUM_INDEX_CLEANUP", "VACUUM_TRUNCATE": // of PostgreSQL's disks
		default:
			if !strings.HasPrefix(o.Key, "AUTOVACUUM_") {
				panic(fail.With(parser.Errorf(o.Pos, "unknown table option %s", o.Key)))
			}
		}
	}
}

// textOption sets *to to the text of an option, which must not be empty.
func textOption(o parser.Option, to *string) {
	l, ok := o.Value.(*parser.Literal)
	if !ok || l.Kind != parser.StringLiteral && l.Kind != parser.BytesLiteral || l.Text == "" {
		panic(fail.With(parser.Errorf(o.Pos, "table option %s takes a text", o.Key)))
	}
	*to = l.Text
}

func (b *builder) families() {
	for _, f := range b.def.Families {
		if b.family(f.Name) != nil {
			panic(fail.With(parser.Errorf(f.Pos, "family %q is defined twice", f.Name)))
		}
		if err := checkFamilyName(f.Name); err != nil {
			panic(fail.With(parser.Errorf(f.Pos, "%s", err)))
		}
		fam := Family{Name: f.Name, Attributes: map[string]string{}}
		for _, o := range f.Options {
			l, ok := o.Value.(*parser.Literal)
			if !ok {
				panic(fail.With(parser.Errorf(o.Pos, "family attribute %s takes a constant", o.Key)))
			}
			fam.Attributes[o.Key] = l.Text
		}
		b.t.Families = append(b.t.Families, fam)
	}
	if len(b.t.Families) == 0 {
		b.t.Families = []Family{{Name: defaultFamily(b.def), Attributes: map[string]string{}}}
	}
}

// defaultFamily returns the default family of a definition that lists none: the first one that a column names.
func defaultFamily(def *parser.CreateTable) string {
	for _, c := range def.Columns {
		if c.From != nil && c.From.Family != "" {
			return c.From.Family
		}
	}
	return "f"
}

func checkFamilyName(name string) error {
	if name == "" || len(name) > 127 || strings.ContainsAny(name, ":/") || name[0] == '.' {
		return fmt.Errorf("%q is not a valid family name (1 to 127 bytes, no ':' or '/')", name)
	}
	return nil
}

func (b *builder) family(name string) *Family {
	for i := range b.t.Families {
		if b.t.Families[i].Name == name {
			return &b.t.Families[i]
		}
	}
	return nil
}

func (b *builder) columns() {
	for _, d := range b.def.Columns {
		if _, dup := b.t.Column(d.Name); dup {
			panic(fail.With(parser.Errorf(d.Pos, "column %q is defined twice", d.Name)))
		}
		if d.Name == KeyColumn || d.Name == TimestampColumn {
			panic(fail.With(parser.Errorf(d.Pos, "%s is the name of a pseudo-column", d.Name)))
		}
		t, ok := types.ParseType(d.Type)
		if !ok {
			err := parser.Errorf(d.Pos, "column %q has the unknown type %s", d.Name, d.Type)
			if other := expr.UnknownType(d.Type, d.Pos); other.Hint != "" {
				panic(fail.With(err.Of(other.Kind).WithHint("%s", other.Hint)))
			}
			panic(fail.With(err.WithHint("types: STRING BYTES BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL DATE TIME TIMESTAMP JSON")))
		}
		t = t.Kept()
		if d.Identity != "" && (!t.IsInteger() || t == types.TinyInt) {
			panic(fail.With(parser.Errorf(d.Pos, "identity column type must be smallint, integer, or bigint")))
		}
		limit, err := types.ParseLimit(d.Type)
		if err != nil {
			panic(fail.With(parser.Errorf(d.Pos, "column %q: %s", d.Name, err)))
		}
		col := &Column{Index: len(b.t.Columns), Name: d.Name, Type: t, Limit: limit, NotNull: d.NotNull, Default: d.Default, Identity: d.Identity, Comment: d.Comment, Family: b.t.Families[0].Name, Qualifier: d.Name, Pos: d.Pos}
		if d.From != nil {
			col.Family, col.Qualifier, col.HasCell = d.From.Family, d.From.Qualifier, true
			if err := checkFamilyName(col.Family); err != nil {
				panic(fail.With(parser.Errorf(d.From.Pos, "%s", err)))
			}
			if b.family(col.Family) == nil {
				b.t.Families = append(b.t.Families, Family{Name: col.Family, Attributes: map[string]string{}})
			}
		}
		enc := fail.Must(b.c.newEncoding(d.Encoding, t, nil, d.Pos))
		if e, ok := enc.(text); ok && limit.Blank() {
			enc = char{e}
		}
		col.Encoding, col.noScale = enc, oneScale(enc)
		b.phoenix = b.phoenix || b.c.phoenix(d.Encoding)
		b.t.Columns = append(b.t.Columns, col)
	}
	for i, d := range b.def.Columns { // all columns are known by now
		if d.From != nil && d.From.Parts != nil {
			b.t.Columns[i].Packed = b.pattern(d.From.Parts, false)
			b.t.Columns[i].Qualifier = ""
		}
		if _, ok := b.t.Columns[i].Encoding.(openTSDBValue); ok && (!isOpenTSDB(b.t.Columns[i].Packed) || len(b.def.Layouts) > 1) {
			panic(fail.With(parser.Errorf(d.Pos, "column %q: OPENTSDB_VALUE is for cells of one ROW KEY under an OpenTSDB qualifier", d.Name).
				WithHint("%s %s FROM t:[OPENTSDB_QUALIFIER(ts)] AS OPENTSDB_VALUE", d.Name, d.Type)))
		}
	}
}

func (b *builder) scope() *expr.Scope {
	return &expr.Scope{Key: true, Funcs: b.c.funcs, Column: b.t.Resolve}
}

// Resolve finds the column of an expression of the definition of t.
func (t *Table) Resolve(ref *parser.ColumnRef) (expr.Expr, error) {
	col, ok := t.Column(ref.Name)
	if !ok || ref.Table != "" {
		return nil, expr.Suggest(parser.Errorf(ref.Pos, "unknown column %q", ref.Name).Of(ErrUnknownColumn), ref.Name, t.ColumnNames())
	}
	return &expr.Column{Pos: ref.Pos, Index: col.Index, Name: col.Name, Typ: col.Type}, nil
}

func (b *builder) checks() {
	for i := range b.def.Checks {
		d := &b.def.Checks[i]
		if slices.ContainsFunc(b.t.Checks, func(c Check) bool { return strings.EqualFold(c.Name, d.Name) }) || strings.EqualFold(d.Name, b.t.Name+"_pkey") {
			panic(fail.With(parser.Errorf(d.Pos, "constraint %q for relation %q already exists", d.Name, b.t.Name)))
		}
		x := fail.Must(expr.CompileCondition(d.Expr, &expr.Scope{Funcs: b.c.funcs, Column: b.t.Resolve}))
		b.t.Checks = append(b.t.Checks, Check{d, expr.Columns(x)})
	}
	slices.SortFunc(b.t.Checks, func(c, o Check) int { return strings.Compare(c.Name, o.Name) }) // PostgreSQL checks rows in this order
}

// pattern compiles a list of parts and checks that their bytes are unambiguous.
func (b *builder) pattern(defs []parser.PartDef, key bool) *Composite {
	p := &Composite{table: b.t}
	if len(defs) > maxParts {
		panic(fail.With(parser.Errorf(defs[0].Pos, "at most %d parts", maxParts)))
	}
	for _, d := range defs {
		p.Parts = append(p.Parts, b.part(d))
	}
	fail.On(checkParts(p.Parts, key))
	fail.On(p.checkNullable(key))
	return p
}

func (b *builder) part(d parser.PartDef) *Part {
	part := &Part{Def: d, Source: d.String()}
	if l, ok := d.Expr.(*parser.Literal); ok && d.Encoding == nil {
		switch l.Kind {
		case parser.StringLiteral, parser.BytesLiteral:
			part.Literal = []byte(l.Text)
			fail.On(checkLiteral(part))
			return part
		}
		panic(fail.With(parser.Errorf(l.Pos, "a literal part is a text or X'..'")))
	}
	e := fail.Must(expr.Compile(d.Expr, b.scope()))
	if k, ok := e.(*expr.Const); ok {
		enc := fail.Must(b.c.newEncoding(d.Encoding, k.Typ, nil, d.Pos))
		var err error
		if part.Literal, err = enc.Append(nil, k.Val); err != nil {
			panic(fail.With(parser.Errorf(d.Pos, "%s", err)))
		}
		fail.On(checkLiteral(part))
		return part
	}
	if name := expr.Volatile(e); name != "" {
		panic(fail.With(parser.Errorf(d.Expr.Position(), "%s differs each time: a key with it could not be found again", name)))
	}
	if _, ok := e.(*expr.Column); !ok && e.Type() == types.LocalTimestamp { // the local time of clocks is written as if it were UTC
		e = &expr.Cast{Pos: d.Pos, X: e, Typ: types.Timestamp, Zone: time.UTC, Key: true}
	}
	part.Expr, part.Columns = e, expr.Columns(e)
	def, nullable := withoutNullable(d.Encoding)
	part.nullable = nullable
	part.Encoding = fail.Must(b.c.newEncoding(def, e.Type(), e, d.Pos))
	part.scales = (part.Encoding.Order() == Unordered || e.Type() != types.Decimal) && !solve.IsCell(e) && !solve.ScaleFree(e) &&
		slices.ContainsFunc(part.Columns, func(col int) bool { return b.t.Columns[col].Type == types.Decimal })
	if e, ok := upright(part.Encoding).(CellsOnly); ok && e.CellsOnly() {
		panic(fail.With(parser.Errorf(d.Pos, "%s is for cells", part.Encoding)))
	}
	if oneScale(part.Encoding) && !b.entries {
		for _, col := range part.Columns {
			b.t.Columns[col].noScale = true
		}
	}
	if part.ends, _ = part.Encoding.(delimited); part.EndsKey() {
		part.ends = fixedLength(part.Encoding.Width())
	}
	part.needsCanonicalCheck = respells(part.Encoding)
	if c, ok := e.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.Phoenix || b.c.phoenix(d.Encoding) {
		_, cast := e.(*expr.Cast)
		b.phoenix = b.phoenix || !b.entries || cast
	}
	part.fromRest, part.draw, part.lookup = expr.FromRest(e), expr.Draw(e), expr.UsesLookup(e)
	part.know()
	if len(part.Columns) == 0 && part.fromRest == nil {
		part.domain = part.every
		if part.draw == nil {
			panic(fail.With(parser.Errorf(d.Pos, "this part is neither a constant nor made from columns")))
		}
		for _, iv := range part.domain {
			for _, v := range []types.Value{iv.Lo, iv.Hi} {
				if _, err := part.Encoding.Append(nil, v); err != nil {
					panic(fail.With(parser.Errorf(d.Pos, "%s can be drawn: %s", v.SQL(), err)))
				}
			}
		}
	}
	if part.fromRest != nil && part.Encoding.Width() == Variable {
		panic(fail.With(parser.Errorf(d.Pos, "a part computed from the rest of the key needs a fixed width")))
	}
	return part
}
