package parser

import "strings"

// String returns the statement with one clause per line.
func (s *CreateTable) String() string {
	var p printer
	p.put("CREATE ")
	if s.Replace {
		p.put("OR REPLACE ")
	}
	if s.External {
		p.put("EXTERNAL ")
	}
	p.put("TABLE ")
	if s.IfNotExists {
		p.put("IF NOT EXISTS ")
	}
	p.put(QuoteName(s.Name))
	if s.Columns != nil || s.PrimaryKey != nil {
		p.put(" (")
		p.put(s.columnList(maxLine - p.Len()))
		p.put(")")
	}
	for _, f := range s.Families {
		p.put("\n  FAMILY ", QuoteName(f.Name), " (")
		p.options(f.Options)
		p.put(")")
	}
	p.storedIn("\n  ", s.StoredIn)
	for _, l := range s.Layouts {
		p.layout(l)
	}
	for _, d := range append([]*SplitDef{s.Split}, s.Splits...) {
		p.split(d)
	}
	p.tableOptions(s.Options)
	if s.Query != nil {
		p.put("\n  AS ")
		p.query(s.Query)
		if s.NoData {
			p.put(" WITH NO DATA")
		}
	}
	return p.Builder.String()
}

// maxLine is the number of bytes above which the columns of a table are written one per line.
const maxLine = 120

// columnList returns the list of columns, on one line if that has at most room bytes.
func (s *CreateTable) columnList(room int) string {
	var items []string
	inline, size := false, 0
	add := func(write func(p *printer)) {
		var p printer
		write(&p)
		items = append(items, p.Builder.String())
		size += p.Len() + len(", ")
	}
	for _, c := range s.Columns {
		add(func(p *printer) { p.column(c) })
		inline = inline || c.PrimaryKey
	}
	if s.PrimaryKey != nil && !inline {
		add(func(p *printer) { p.put("PRIMARY KEY"); p.columns(s.PrimaryKey) })
	}
	for _, c := range s.Checks {
		add(func(p *printer) { p.check(c) })
	}
	if size <= room {
		return strings.Join(items, ", ")
	}
	return "\n    " + strings.Join(items, ",\n    ")
}

func (p *printer) check(c CheckDef) {
	if c.Name != "" {
		p.put("CONSTRAINT ", QuoteName(c.Name), " ")
	}
	p.put("CHECK (")
	p.expr(c.Expr, bindNone)
	p.put(")")
	if c.NotValid {
		p.put(" NOT VALID")
	}
}

// tableOptions writes ON MALFORMED KEY and WITH in the order of the options.
func (p *printer) tableOptions(options []Option) {
	for i := 0; i < len(options); {
		if lit, ok := options[i].Value.(*Literal); ok && options[i].Key == MalformedKey {
			p.put("\n  ", MalformedKey, " ", lit.Text)
			i++
			continue
		}
		end := i + 1
		for end < len(options) && options[end].Key != MalformedKey {
			end++
		}
		p.put("\n  WITH (")
		p.options(options[i:end])
		p.put(")")
		i = end
	}
}

func (p *printer) column(c ColumnDef) {
	p.put(QuoteName(c.Name), " ", c.Type)
	p.cell(c.From, c.Encoding)
	if c.Default != nil {
		p.put(" DEFAULT ")
		p.expr(c.Default, bindRange+1)
	}
	if c.NotNull {
		p.put(" NOT NULL")
	}
	if c.PrimaryKey {
		p.put(" PRIMARY KEY")
	}
	if c.Comment != "" {
		p.put(" COMMENT ", quoteText(c.Comment))
	}
}

// cell writes FROM and AS as far as they exist.
func (p *printer) cell(from *ColumnSource, e *EncodingDef) {
	if from != nil {
		p.put(" FROM ", QuoteName(from.Family), ":")
		if from.Parts != nil {
			p.put("[")
			p.parts(from.Parts)
			p.put("]")
		} else {
			p.put(QuoteQualifier(from.Qualifier))
		}
	}
	if e != nil {
		p.put(" AS ")
		p.encoding(e)
	}
}

func (p *printer) encoding(e *EncodingDef) {
	p.put(e.Name)
	if e.Args != nil {
		p.put("(")
		p.exprs(e.Args)
		p.put(")")
	}
}

// String returns the encoding as in AS: TEXT(6), ORDERED INT64.
func (e *EncodingDef) String() string {
	var p printer
	p.encoding(e)
	return p.Builder.String()
}

func (p *printer) parts(parts []PartDef) {
	p.list(len(parts), func(i int) { p.part(parts[i]) })
}

func (p *printer) part(d PartDef) {
	p.expr(d.Expr, bindNone)
	if d.Encoding != nil {
		p.put(" AS ")
		p.encoding(d.Encoding)
	}
}

// String returns the part as in a layout: ts % 100 AS UINT8.
func (d PartDef) String() string {
	var p printer
	p.part(d)
	return p.Builder.String()
}

func (p *printer) layout(l LayoutDef) {
	word := "\n  ROW KEY "
	if l.Index {
		word = "\n  INDEX "
	}
	p.put(word)
	if l.Name != "" {
		p.put(QuoteName(l.Name), " ")
	}
	p.layoutBody(l)
}

func (p *printer) layoutBody(l LayoutDef) {
	p.put("(")
	p.parts(l.Parts)
	p.put(")")
	p.storedIn(" ", l.StoredIn)
}

func (p *printer) storedIn(before string, s *PartList) {
	if s == nil {
		return
	}
	p.put(before, "STORED IN ", s.String())
}

// String returns 'name' or (part, part), as in STORED IN.
func (s *PartList) String() string {
	if len(s.Parts) == 1 && s.Parts[0].Encoding == nil {
		if lit, ok := s.Parts[0].Expr.(*Literal); ok && lit.Kind == StringLiteral {
			return quoteText(lit.Text)
		}
	}
	var p printer
	p.put("(")
	p.parts(s.Parts)
	p.put(")")
	return p.Builder.String()
}

func (p *printer) split(s *SplitDef) {
	if s == nil {
		return
	}
	p.put("\n  SPLIT ")
	if s.Index != "" {
		p.put("INDEX ", QuoteName(s.Index), " ")
	}
	into := "INTO " + itoa(s.N) + " BY "
	switch s.Kind {
	case SplitAt:
		p.put("AT (")
		p.exprs(s.Keys)
		p.put(")")
	case SplitFile:
		p.put("FROM FILE ", quoteText(s.File))
	case SplitHex:
		p.put(into, "HEX")
	case SplitUniform:
		p.put(into, "UNIFORM")
	case SplitKey:
		p.put(into, "KEY")
	case SplitSampleFile:
		p.put(into, "SAMPLE OF FILE ", quoteText(s.File))
	}
}

// String returns the column as in CREATE TABLE.
func (c ColumnDef) String() string {
	var p printer
	p.column(c)
	return strings.TrimSpace(p.Builder.String())
}

// Condition returns the CHECK without its name.
func (c CheckDef) Condition() string {
	c.Name = ""
	var p printer
	p.check(c)
	return p.Builder.String()
}
