package catalog

import (
	"bytes"
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

func (b *builder) layouts() {
	defs := b.def.Layouts
	if len(defs) == 0 || defs[0].Index && b.keyless() {
		defs = append([]parser.LayoutDef{b.primaryKey()}, defs...)
	} else if len(b.def.PrimaryKey) > 0 {
		panic(fail.With(parser.Errorf(b.def.PrimaryKey[0].Pos, "a table has either PRIMARY KEY or ROW KEY")))
	}
	packed := b.packed()
	for i, d := range defs {
		l := &Layout{Name: d.Name, Kind: Copy, Pos: d.Pos, Packed: packed, Building: slices.Contains(b.building, d.Name)}
		if i == 0 {
			l.Kind, b.t.primary = Primary, d
			if d.Index {
				panic(fail.With(parser.Errorf(d.Pos, "the first layout must be a ROW KEY: an INDEX points at it")))
			}
		} else if d.Index {
			l.Kind = Index
		}
		if l.Name == "" {
			l.Name = "primary"
		}
		for _, o := range b.t.Layouts {
			if o.Name == l.Name {
				panic(fail.With(parser.Errorf(d.Pos, "two layouts are called %q", l.Name).WithHint("name each after the first: ROW KEY by_column (...), INDEX by_column (...)")))
			}
		}
		b.entries = l.Kind == Index
		l.Key = b.pattern(d.Parts, true)
		b.entries = false
		if l.Stored = b.storedIn(l, d); d.Where != nil {
			l.Where = b.where(d.Where)
		}
		for _, o := range b.t.Layouts {
			if !namesApart(o.Stored, l.Stored) && !apart(o.Key, l.Key) {
				panic(fail.With(parser.Errorf(d.Pos, "layouts %s and %s may be stored in one table, where their rows cannot be distinguished", o.Name, l.Name).
					WithHint("give each its own STORED IN, with a name that the other cannot have, or begin their keys with different literals")))
			}
		}
		name, whole := l.Stored.Prefix()
		l.storedName, l.storedParts = name, !whole
		b.t.Layouts = append(b.t.Layouts, l)
		b.refuseDrawn(l)
	}
}

// where compiles the WHERE of an INDEX. Moments would depend on the zone of the session.
func (b *builder) where(x parser.Expr) []expr.Expr {
	list := expr.Conjuncts(fail.Must(expr.CompileCondition(x, b.scope())))
	timed := func(e expr.Expr) bool {
		t := e.Type()
		return (t.IsTemporal() || t.Elem().IsTemporal()) && len(expr.Columns(e)) > 0
	}
	for _, e := range list {
		of := e
		if n, ok := e.(*expr.IsNull); ok {
			of = n.X
		}
		if _, column := of.(*expr.Column); len(expr.Columns(e)) == 0 || expr.Volatile(e) != "" || !column && expr.Some(e, timed) {
			panic(fail.With(parser.Errorf(x.Position(), "the WHERE of an INDEX compares columns with constants, and no moments: %s", e)))
		}
	}
	return list
}

// keyless reports whether a definition with INDEXes alone is one of CREATE INDEX on a table that was made without a key: only that
// writes the hidden key into the INDEX.
func (b *builder) keyless() bool {
	parts := b.def.Layouts[0].Parts
	ref, ok := parts[len(parts)-1].Expr.(*parser.ColumnRef)
	return ok && ref.Name == HiddenColumn
}

// packed returns the parts in the qualifiers of the table's packed column, or nil if it has none.
func (b *builder) packed() (packed *Composite) {
	for _, c := range b.t.Columns {
		if c.Packed != nil {
			if packed != nil {
				panic(fail.With(parser.Errorf(c.Pos, "a table has one packed column at most")))
			}
			packed = c.Packed
		}
	}
	return packed
}

// storedIn returns the pattern for the names of the HBase tables that hold l: the layout's STORED IN, else the table's,
// else the table's name.
func (b *builder) storedIn(l *Layout, d parser.LayoutDef) *Composite {
	def := d.StoredIn
	if def == nil {
		def = b.def.StoredIn
	}
	stored := &Composite{table: b.t, Parts: []*Part{{Literal: []byte(b.t.Name), Source: "'" + b.t.Name + "'"}}}
	if def != nil {
		stored = b.pattern(def.Parts, false)
	}
	if l.Kind != Primary && d.StoredIn == nil { // rows of two layouts in one table would be read as each other's
		stored.Parts = append(slices.Clip(stored.Parts), &Part{Literal: []byte("_" + l.Name), Source: "'_" + l.Name + "'"})
	}
	stored.Parts = withoutDefault(stored.Parts)
	checkTableName(stored, d.Pos)
	return stored
}

// refuseDrawn refuses parts that are drawn at random in an INDEX or a copy, and in the first ROW KEY of a table that
// has an INDEX or a copy: an entry and its row could not be found from each other. It also refuses an INDEX or a copy
// of a table with several rows in one HBase row, since its entries could not lead to a single row.
func (b *builder) refuseDrawn(l *Layout) {
	if l.Kind == Primary {
		return
	}
	for _, p := range slices.Concat(l.Stored.Parts, l.Key.Parts) {
		if p.Drawn() {
			panic(fail.With(parser.Errorf(p.Def.Pos, "%s is drawn at random: the entries of %s could not be found again by their rows", p.Source, l.Name).
				WithHint("spread them by a part that is computed from the row: LEFT(MD5(column), 1), or CRC32(column) %% 8 AS UINT8")))
		}
	}
	primary := b.t.Layouts[0]
	if l.Packed != nil {
		panic(fail.With(parser.Errorf(l.Pos, "%s %s cannot lead to its rows: a row of HBase holds several of %s, each in a cell", l.Kind, l.Name, b.t.Name).
			WithHint("write the rows into a second table, with a ROW KEY of its own, too")))
	}
	for _, p := range slices.Concat(primary.Stored.Parts, primary.Key.Parts) {
		if p.Drawn() {
			panic(fail.With(parser.Errorf(l.Pos, "%s %s cannot lead to its rows: part %s of their ROW KEY is drawn at random", l.Kind, l.Name, p.Source).
				WithHint("spread them by a part that is computed from the row: LEFT(MD5(column), 1), or CRC32(column) %% 8 AS UINT8")))
		}
	}
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
func (b *builder) primaryKey() parser.LayoutDef {
	names := slices.Clone(b.def.PrimaryKey)
	for _, d := range b.def.Columns {
		if d.PrimaryKey && !slices.ContainsFunc(names, func(n parser.Name) bool { return n.Name == d.Name }) {
			names = append(names, parser.Name{Pos: d.Pos, Name: d.Name})
		}
	}
	layout := parser.LayoutDef{Pos: b.def.Pos}
	if len(names) == 0 {
		b.t.HiddenKey = true
		b.t.Columns = append(b.t.Columns, &Column{Index: len(b.t.Columns), Name: HiddenColumn, Type: types.Bytes, Encoding: newText(types.Bytes), Family: b.t.Families[0].Name, Qualifier: HiddenColumn})
		names = []parser.Name{{Pos: b.def.Pos, Name: HiddenColumn}}
	}
	for i, n := range names {
		col, ok := b.t.Column(n.Name)
		if !ok {
			panic(fail.With(parser.Errorf(n.Pos, "unknown column %q", n.Name)))
		}
		col.NotNull = true
		last := i == len(names)-1
		enc := fail.Must(keyEncoding(col, n.Pos))
		layout.Parts = append(layout.Parts, parser.PartDef{Pos: n.Pos, Expr: &parser.ColumnRef{Pos: n.Pos, Name: col.Name}, Encoding: enc})
		if (col.Type == types.String || col.Type == types.Bytes) && !last {
			layout.Parts = append(layout.Parts, endOfText(n.Pos))
		}
	}
	return layout
}

// endOfText returns the literal part X'00', which ends a text that another part follows.
func endOfText(at parser.Pos) parser.PartDef {
	return parser.PartDef{Pos: at, Expr: &parser.Literal{Pos: at, Kind: parser.BytesLiteral, Text: "\x00"}}
}

// keyEncoding returns the default encoding of a column in a key. Its bytes have the order of the column's values.
func keyEncoding(col *Column, at parser.Pos) (*parser.EncodingDef, error) {
	enc := &parser.EncodingDef{Pos: at}
	switch {
	case col.Name == HiddenColumn:
		enc.Name, enc.Args = "BYTES", []parser.Expr{&parser.Literal{Kind: parser.NumberLiteral, Text: "16"}}
	case col.Type.IsInteger() || col.Type.IsTimestamp():
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
