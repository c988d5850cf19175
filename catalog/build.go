package catalog

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/expr"
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

// RowFamilies returns the families that decide whether a row of HBase is a row of t: it is if it has a cell in one of
// them. They are the families of the columns in cells; without such columns, the families that the definition names;
// nil for any family.
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
}

// phoenixMarker is the qualifier of the cell that Phoenix adds to each row, except in tables whose qualifiers are
// numbers.
const phoenixMarker = "_0"

// Build checks a definition and makes the table, but does not add it to the catalog.
func (c *Catalog) Build(def *parser.CreateTable) (*Table, error) {
	if def.Query != nil {
		return nil, parser.Errorf(def.Query.Pos, "a definition has no query: CREATE TABLE %s AS is a statement that writes rows", def.Name)
	}
	b := &builder{c: c, def: def, t: &Table{Name: def.Name, External: def.External, Split: def.Split, Def: def}}
	for _, step := range []func() error{b.options, b.families, b.columns, b.layouts, b.readable, b.lookups, b.included} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	switch packed := b.t.Layouts[0].Packed != nil; {
	case b.t.Verified != "" && (b.t.Marker == "" || b.t.ReadOnly == ""):
		return nil, parser.Errorf(def.NamePos, "VERIFIED_ENTRIES is about the cell that ROW_MARKER names, of a table that is READ_ONLY: hql writes no such entries")
	case packed && b.t.Marker != "":
		return nil, parser.Errorf(def.NamePos, "ROW_MARKER names a cell that would be read as one of %s, whose qualifiers are computed", def.Name)
	case b.phoenix && b.t.Marker == "" && !packed: // Phoenix does not have tables with computed qualifiers
		b.t.Marker = phoenixMarker
	}
	return b.t, nil
}

func (b *builder) options() error {
	for _, o := range b.def.Options {
		var err error
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
			err = textOption(o, &name)
			b.building = append(b.building, name)
		case "COMMENT":
			err = textOption(o, &b.t.Comment)
		case "READ_ONLY":
			err = textOption(o, &b.t.ReadOnly)
		case "ROW_MARKER":
			err = textOption(o, &b.t.Marker)
		case "INDEX_STATES":
			err = textOption(o, &b.t.IndexStates)
		case "VERIFIED_ENTRIES":
			err = textOption(o, &b.t.Verified)
		default:
			err = parser.Errorf(o.Pos, "unknown table option %s", o.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// textOption sets *to to the text of an option, which must not be empty.
func textOption(o parser.Option, to *string) error {
	l, ok := o.Value.(*parser.Literal)
	if !ok || l.Kind != parser.StringLiteral && l.Kind != parser.BytesLiteral || l.Text == "" {
		return parser.Errorf(o.Pos, "table option %s takes a text", o.Key)
	}
	*to = l.Text
	return nil
}

func (b *builder) families() error {
	for _, f := range b.def.Families {
		if b.family(f.Name) != nil {
			return parser.Errorf(f.Pos, "family %q is defined twice", f.Name)
		}
		if err := checkFamilyName(f.Name); err != nil {
			return parser.Errorf(f.Pos, "%s", err)
		}
		fam := Family{Name: f.Name, Attributes: map[string]string{}}
		for _, o := range f.Options {
			l, ok := o.Value.(*parser.Literal)
			if !ok {
				return parser.Errorf(o.Pos, "family attribute %s takes a constant", o.Key)
			}
			fam.Attributes[o.Key] = l.Text
		}
		b.t.Families = append(b.t.Families, fam)
	}
	if len(b.t.Families) == 0 {
		b.t.Families = []Family{{Name: defaultFamily(b.def), Attributes: map[string]string{}}}
	}
	return nil
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

func (b *builder) columns() error {
	for _, d := range b.def.Columns {
		if _, dup := b.t.Column(d.Name); dup {
			return parser.Errorf(d.Pos, "column %q is defined twice", d.Name)
		}
		if d.Name == KeyColumn || d.Name == TimestampColumn {
			return parser.Errorf(d.Pos, "%s is the name of a pseudo-column", d.Name)
		}
		t, ok := types.ParseType(d.Type)
		if !ok {
			err := parser.Errorf(d.Pos, "column %q has the unknown type %s", d.Name, d.Type)
			return err.WithHint("types: STRING BYTES BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL DATE TIME TIMESTAMP JSON")
		}
		limit, err := types.ParseLimit(d.Type)
		if err != nil {
			return parser.Errorf(d.Pos, "column %q: %s", d.Name, err)
		}
		col := &Column{Index: len(b.t.Columns), Name: d.Name, Type: t, Limit: limit, NotNull: d.NotNull, Comment: d.Comment, Family: b.t.Families[0].Name, Qualifier: d.Name, Pos: d.Pos}
		if d.From != nil {
			col.Family, col.Qualifier, col.HasCell = d.From.Family, d.From.Qualifier, true
			if err := checkFamilyName(col.Family); err != nil {
				return parser.Errorf(d.From.Pos, "%s", err)
			}
			if b.family(col.Family) == nil {
				b.t.Families = append(b.t.Families, Family{Name: col.Family, Attributes: map[string]string{}})
			}
		}
		enc, err := b.c.newEncoding(d.Encoding, t, nil, d.Pos)
		if err != nil {
			return err
		}
		if e, ok := enc.(text); ok && limit.Blank() {
			enc = char{e}
		}
		col.Encoding, col.noScale = enc, oneScale(enc)
		b.phoenix = b.phoenix || b.c.phoenix(d.Encoding)
		b.t.Columns = append(b.t.Columns, col)
	}
	for i, d := range b.def.Columns { // all columns are known by now
		if d.From != nil && d.From.Parts != nil {
			p, err := b.pattern(d.From.Parts, false)
			if err != nil {
				return err
			}
			b.t.Columns[i].Packed = p
			b.t.Columns[i].Qualifier = ""
		}
		if _, ok := b.t.Columns[i].Encoding.(openTSDBValue); ok && (!isOpenTSDB(b.t.Columns[i].Packed) || len(b.def.Layouts) > 1) {
			return parser.Errorf(d.Pos, "column %q: OPENTSDB_VALUE is for cells of one ROW KEY under an OpenTSDB qualifier", d.Name).
				WithHint("%s %s FROM t:[OPENTSDB_QUALIFIER(ts)] AS OPENTSDB_VALUE", d.Name, d.Type)
		}
	}
	return nil
}

func (b *builder) scope() *expr.Scope {
	return &expr.Scope{Key: true, Funcs: b.c.funcs, Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
		col, ok := b.t.Column(ref.Name)
		if !ok || ref.Table != "" {
			return nil, expr.Suggest(parser.Errorf(ref.Pos, "unknown column %q", ref.Name), ref.Name, b.t.ColumnNames())
		}
		return &expr.Column{Pos: ref.Pos, Index: col.Index, Name: col.Name, Typ: col.Type}, nil
	}}
}

// pattern compiles a list of parts and checks that their bytes are unambiguous.
func (b *builder) pattern(defs []parser.PartDef, key bool) (*Composite, error) {
	p := &Composite{table: b.t}
	if len(defs) > maxParts {
		return nil, parser.Errorf(defs[0].Pos, "at most %d parts", maxParts)
	}
	for _, d := range defs {
		part, err := b.part(d)
		if err != nil {
			return nil, err
		}
		p.Parts = append(p.Parts, part)
	}
	if err := checkParts(p.Parts, key); err != nil {
		return nil, err
	}
	return p, p.checkNullable(key)
}

func (b *builder) part(d parser.PartDef) (*Part, error) {
	part := &Part{Def: d, Source: d.String()}
	if l, ok := d.Expr.(*parser.Literal); ok && d.Encoding == nil {
		switch l.Kind {
		case parser.StringLiteral, parser.BytesLiteral:
			part.Literal = []byte(l.Text)
			return part, checkLiteral(part)
		}
		return nil, parser.Errorf(l.Pos, "a literal part is a text or X'..'")
	}
	e, err := expr.Compile(d.Expr, b.scope())
	if err != nil {
		return nil, err
	}
	if k, ok := e.(*expr.Const); ok {
		enc, err := b.c.newEncoding(d.Encoding, k.Typ, nil, d.Pos)
		if err != nil {
			return nil, err
		}
		if part.Literal, err = enc.Append(nil, k.Val); err != nil {
			return nil, parser.Errorf(d.Pos, "%s", err)
		}
		return part, checkLiteral(part)
	}
	if name := expr.Volatile(e); name != "" {
		return nil, parser.Errorf(d.Expr.Position(), "%s differs each time: a key with it could not be found again", name)
	}
	if e.Type() == types.LocalTimestamp { // the local time of clocks is written as if it were UTC
		e = &expr.Cast{Pos: d.Pos, X: e, Typ: types.Timestamp, Zone: time.UTC}
	}
	part.Expr, part.Columns = e, expr.Columns(e)
	def, nullable := withoutNullable(d.Encoding)
	part.nullable = nullable
	if part.Encoding, err = b.c.newEncoding(def, e.Type(), e, d.Pos); err != nil {
		return nil, err
	}
	part.scales = (part.Encoding.Order() == Unordered || e.Type() != types.Decimal) && !expr.IsCell(e) && !expr.ScaleFree(e) &&
		slices.ContainsFunc(part.Columns, func(col int) bool { return b.t.Columns[col].Type == types.Decimal })
	if e, ok := upright(part.Encoding).(CellsOnly); ok && e.CellsOnly() {
		return nil, parser.Errorf(d.Pos, "%s is for cells", part.Encoding)
	}
	if oneScale(part.Encoding) {
		for _, col := range part.Columns {
			b.t.Columns[col].noScale = true
		}
	}
	part.ends, _ = part.Encoding.(Delimited)
	part.needsCanonicalCheck = respells(part.Encoding)
	if c, ok := e.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.Phoenix || b.c.phoenix(d.Encoding) {
		b.phoenix = true
	}
	part.fromRest, part.draw, part.lookup = expr.FromRest(e), expr.Draw(e), expr.UsesLookup(e)
	part.know()
	if len(part.Columns) == 0 && part.fromRest == nil {
		part.domain = part.every
		if part.draw == nil {
			return nil, parser.Errorf(d.Pos, "this part is neither a constant nor made from columns")
		}
		for _, iv := range part.domain {
			for _, v := range []types.Value{iv.Lo, iv.Hi} {
				if _, err := part.Encoding.Append(nil, v); err != nil {
					return nil, parser.Errorf(d.Pos, "%s can be drawn: %s", v.SQL(), err)
				}
			}
		}
	}
	if part.fromRest != nil && part.Encoding.Width() == Variable {
		return nil, parser.Errorf(d.Pos, "a part computed from the rest of the key needs a fixed width")
	}
	return part, nil
}

func (b *builder) layouts() error {
	defs := b.def.Layouts
	if len(defs) == 0 {
		d, err := b.primaryKey()
		if err != nil {
			return err
		}
		defs = []parser.LayoutDef{d}
	} else if len(b.def.PrimaryKey) > 0 {
		return parser.Errorf(b.def.PrimaryKey[0].Pos, "a table has either PRIMARY KEY or ROW KEY")
	}
	packed, err := b.packed()
	if err != nil {
		return err
	}
	for i, d := range defs {
		l := &Layout{Name: d.Name, Kind: Copy, Pos: d.Pos, Packed: packed, Building: slices.Contains(b.building, d.Name)}
		if i == 0 {
			l.Kind, b.t.primary = Primary, d
			if d.Index {
				return parser.Errorf(d.Pos, "the first layout must be a ROW KEY: an INDEX points at it")
			}
		} else if d.Index {
			l.Kind = Index
		}
		if l.Name == "" {
			l.Name = "primary"
		}
		for _, o := range b.t.Layouts {
			if o.Name == l.Name {
				return parser.Errorf(d.Pos, "two layouts are called %q", l.Name).WithHint("name each after the first: ROW KEY by_column (...), INDEX by_column (...)")
			}
		}
		if l.Key, err = b.pattern(d.Parts, true); err != nil {
			return err
		}
		if l.Stored, err = b.storedIn(l, d); err != nil {
			return err
		}
		for _, o := range b.t.Layouts {
			if !namesApart(o.Stored, l.Stored) && !apart(o.Key, l.Key) {
				return parser.Errorf(d.Pos, "layouts %s and %s may be stored in one table, where their rows cannot be distinguished", o.Name, l.Name).
					WithHint("give each its own STORED IN, with a name that the other cannot have, or begin their keys with different literals")
			}
		}
		name, whole := l.Stored.Prefix()
		l.storedName, l.storedParts = name, !whole
		b.t.Layouts = append(b.t.Layouts, l)
		if err := b.refuseDrawn(l); err != nil {
			return err
		}
	}
	return nil
}

// included finds the columns that the entries of an INDEX carry in cells, and the places of those cells.
func (b *builder) included() error {
	for i, d := range b.def.Layouts {
		l := b.t.Layouts[i]
		if d.Include != nil && (l.Kind != Index || b.t.ReadOnly == "") {
			return parser.Errorf(d.Pos, "INCLUDE is about the entries of an INDEX of a table that is READ_ONLY: hql writes no such entries")
		}
		if d.Include != nil {
			l.Included = []*Column{}
		}
		for _, in := range d.Include {
			of, ok := b.t.Column(in.Name)
			switch {
			case !ok:
				return expr.Suggest(parser.Errorf(in.Pos, "unknown column %q", in.Name), in.Name, b.t.ColumnNames())
			case slices.ContainsFunc(l.Included, func(c *Column) bool { return c.Index == of.Index }):
				return parser.Errorf(in.Pos, "column %q is included twice", in.Name)
			case in.From != nil && in.From.Parts != nil:
				return parser.Errorf(in.From.Pos, "the qualifier of a column in INCLUDE cannot be made of parts")
			}
			c := *of
			if in.From != nil {
				c.Family, c.Qualifier = in.From.Family, in.From.Qualifier
			}
			if in.Encoding != nil {
				var err error
				if c.Encoding, err = b.c.newEncoding(in.Encoding, c.Type, nil, in.Pos); err != nil {
					return err
				}
				of.noScale = of.noScale || oneScale(c.Encoding)
			}
			if !of.Absent().IsNull() || !c.Absent().IsNull() {
				return parser.Errorf(in.Pos, "column %s: what rows without the cell have, their entries need not have", in.Name)
			}
			l.Included = append(l.Included, &c)
		}
	}
	return nil
}

// packed returns the parts in the qualifiers of the table's packed column, or nil if it has none.
func (b *builder) packed() (packed *Composite, err error) {
	for _, c := range b.t.Columns {
		if c.Packed != nil {
			if packed != nil {
				return nil, parser.Errorf(c.Pos, "a table has one packed column at most")
			}
			packed = c.Packed
		}
	}
	return packed, nil
}

// storedIn returns the pattern for the names of the HBase tables that hold l: the layout's STORED IN, else the table's,
// else the table's name.
func (b *builder) storedIn(l *Layout, d parser.LayoutDef) (*Composite, error) {
	def := d.StoredIn
	if def == nil {
		def = b.def.StoredIn
	}
	stored := &Composite{table: b.t, Parts: []*Part{{Literal: []byte(b.t.Name), Source: "'" + b.t.Name + "'"}}}
	if def != nil {
		var err error
		if stored, err = b.pattern(def.Parts, false); err != nil {
			return nil, err
		}
	}
	if l.Kind != Primary && d.StoredIn == nil { // rows of two layouts in one table would be read as each other's
		stored.Parts = append(slices.Clip(stored.Parts), &Part{Literal: []byte("_" + l.Name), Source: "'_" + l.Name + "'"})
	}
	stored.Parts = withoutDefault(stored.Parts)
	return stored, checkTableName(stored, d.Pos)
}

// refuseDrawn refuses parts that are drawn at random if an entry must lead to a row: in an INDEX, in the ROW KEY to
// which it points, and in a copy, which is compared with the rows of the first ROW KEY. It also refuses further layouts
// of a table with several rows in one HBase row, since their entries could not lead to a single row.
func (b *builder) refuseDrawn(l *Layout) error {
	if l.Kind == Primary {
		return nil
	}
	for _, p := range slices.Concat(l.Stored.Parts, l.Key.Parts) {
		if p.Drawn() {
			return parser.Errorf(p.Def.Pos, "%s is drawn at random: the entries of %s could not be found again by their rows", p.Source, l.Name).
				WithHint("spread them by a part that is computed from the row: LEFT(MD5(column), 1), or CRC32(column) %% 8 AS UINT8")
		}
	}
	primary := b.t.Layouts[0]
	if l.Packed != nil {
		return parser.Errorf(l.Pos, "%s %s cannot lead to its rows: a row of HBase holds several of %s, each in a cell", l.Kind, l.Name, b.t.Name).
			WithHint("write the rows into a second table, with a ROW KEY of its own, too")
	}
	for _, p := range slices.Concat(primary.Stored.Parts, primary.Key.Parts) {
		if p.Drawn() {
			return parser.Errorf(l.Pos, "%s %s cannot lead to its rows: part %s of their ROW KEY is drawn at random", l.Kind, l.Name, p.Source).
				WithHint("spread them by a part that is computed from the row: LEFT(MD5(column), 1), or CRC32(column) %% 8 AS UINT8")
		}
	}
	return nil
}

// namesApart reports whether no name of an HBase table fits both patterns, judged by their lengths, beginnings and
// ends: ('t_', day AS TEXT) and ('t_', day AS TEXT, '_c') both fit t_a_c, but not if day has 8 bytes.
func namesApart(a, b *Composite) bool {
	x, y := shapeOf(a), shapeOf(b)
	n, m := min(len(x.begin), len(y.begin)), min(len(x.end), len(y.end))
	return x.most < y.least || y.most < x.least || x.begin[:n] != y.begin[:n] || x.end[len(x.end)-m:] != y.end[len(y.end)-m:]
}

// shape describes the names that fit a pattern.
type shape struct {
	least, most int    // bytes
	begin, end  string // literals
}

func shapeOf(p *Composite) shape {
	var s shape
	literals := true // all parts so far are literals
	for _, part := range p.Parts {
		width := len(part.Literal)
		if part.Literal != nil {
			s.end += string(part.Literal)
		} else if s.end, literals = "", false; part.Encoding.Width() != Variable {
			width = part.Encoding.Width()
		} else {
			s.most = math.MaxInt32 // and for all parts after it
		}
		if literals {
			s.begin = s.end
		}
		s.least += width
		s.most += width
	}
	return s
}

// apart reports whether two keys begin with literals of which neither is a prefix of the other.
func apart(a, b *Composite) bool {
	x, y := a.Parts[0].Literal, b.Parts[0].Literal
	return x != nil && y != nil && !bytes.HasPrefix(x, y) && !bytes.HasPrefix(y, x)
}

// primaryKey makes the ROW KEY of PRIMARY KEY (a, b): order-preserving encodings chosen by type. A table without any
// key gets a hidden one.
func (b *builder) primaryKey() (parser.LayoutDef, error) {
	names := slices.Clone(b.def.PrimaryKey)
	for _, d := range b.def.Columns {
		if d.PrimaryKey && !slices.ContainsFunc(names, func(n parser.Name) bool { return n.Name == d.Name }) {
			names = append(names, parser.Name{Pos: d.Pos, Name: d.Name})
		}
	}
	layout := parser.LayoutDef{Pos: b.def.Pos}
	if len(names) == 0 {
		b.t.HiddenKey = true
		b.t.Columns = append(b.t.Columns, &Column{Index: len(b.t.Columns), Name: HiddenColumn, Type: types.Bytes, Encoding: text{types.Bytes}, Family: b.t.Families[0].Name, Qualifier: HiddenColumn})
		names = []parser.Name{{Pos: b.def.Pos, Name: HiddenColumn}}
	}
	for i, n := range names {
		col, ok := b.t.Column(n.Name)
		if !ok {
			return layout, parser.Errorf(n.Pos, "unknown column %q", n.Name)
		}
		col.NotNull = true
		last := i == len(names)-1
		enc, err := keyEncoding(col, n.Pos)
		if err != nil {
			return layout, err
		}
		layout.Parts = append(layout.Parts, parser.PartDef{Pos: n.Pos, Expr: &parser.ColumnRef{Pos: n.Pos, Name: col.Name}, Encoding: enc})
		if (col.Type == types.String || col.Type == types.Bytes) && !last {
			layout.Parts = append(layout.Parts, endOfText(n.Pos))
		}
	}
	return layout, nil
}

// endOfText is the literal part that ends a text in front of another part.
func endOfText(at parser.Pos) parser.PartDef {
	return parser.PartDef{Pos: at, Expr: &parser.Literal{Pos: at, Kind: parser.BytesLiteral, Text: "\x00"}}
}

// keyEncoding returns the encoding of a column in a key for which nobody has said one: it keeps the column's order.
func keyEncoding(col *Column, at parser.Pos) (*parser.EncodingDef, error) {
	enc := &parser.EncodingDef{Pos: at}
	switch {
	case col.Name == HiddenColumn:
		enc.Name, enc.Args = "BYTES", []parser.Expr{&parser.Literal{Kind: parser.NumberLiteral, Text: "16"}}
	case col.Type.IsInteger() || col.Type == types.Timestamp:
		enc.Name = map[types.Type]string{types.TinyInt: "ORDERED INT8", types.SmallInt: "ORDERED INT16", types.Int: "ORDERED INT32"}[col.Type]
		if enc.Name == "" {
			enc.Name = "ORDERED INT64"
		}
	case col.Type == types.Date:
		enc.Name, enc.Args = "TEXT", []parser.Expr{&parser.Literal{Kind: parser.StringLiteral, Text: "yyyyMMdd"}}
	case col.Type == types.Time:
		enc.Name = "UINT32"
	case col.Type == types.Double || col.Type == types.Float:
		enc.Name = "ORDERED FLOAT64"
	case col.Type == types.Boolean:
		enc.Name = "BOOLEAN"
	case col.Type == types.String:
		enc.Name = "TEXT"
	case col.Type == types.Bytes:
		enc.Name = "BYTES"
	case col.Type == types.UUID:
		enc.Name = "UUID"
	default:
		return nil, parser.Errorf(at, "a %s cannot be in a key", col.Type)
	}
	return enc, nil
}
