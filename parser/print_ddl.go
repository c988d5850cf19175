package parser

import "strings"

// String returns the statement with one clause per line.
func (s *CreateTable) String() string {
	var p printer
	p.put("CREATE ", when(s.Replace, "OR REPLACE "), when(s.External, "EXTERNAL "), when(s.Temporary, "TEMPORARY "), s.Kind(), " ", when(s.IfNotExists, "IF NOT EXISTS "), QuoteName(s.Name))
	if s.Columns != nil || s.PrimaryKey != nil {
		p.put(" (")
		p.put(s.columnList(maxLine-p.Len()), ")")
	}
	for _, f := range s.Families {
		p.put("\n  FAMILY ", QuoteName(f.Name), " (", commas(f.Options), ")")
	}
	if s.StoredIn != nil {
		p.put("\n  STORED IN ", s.StoredIn)
	}
	for _, l := range s.Layouts {
		p.put("\n  ", when(l.Index, "INDEX "), when(!l.Index, "ROW KEY "))
		if l.Name != "" {
			p.put(QuoteName(l.Name), " ")
		}
		p.put(l)
	}
	for _, d := range append([]*SplitDef{s.Split}, s.Splits...) {
		p.put(d)
	}
	p.tableOptions(s.Options)
	if s.Query != nil {
		p.put("\n  AS ", s.Query, when(s.NoData, " WITH NO DATA"))
	}
	return p.Builder.String()
}

// maxLine is the number of bytes above which the columns of a table are written one per line.
const maxLine = 120

// columnList returns the list of columns, on one line if that has at most room bytes.
func (s *CreateTable) columnList(room int) string {
	var items []string
	inline, size := false, 0
	for _, c := range s.Columns {
		items = append(items, sql(c))
		inline = inline || c.PrimaryKey
	}
	if s.PrimaryKey != nil && !inline {
		items = append(items, sql(some("PRIMARY KEY (", s.PrimaryKey, ")")))
	}
	for _, c := range s.Checks {
		items = append(items, sql(c))
	}
	for _, it := range items {
		size += len(it) + len(", ")
	}
	if size <= room {
		return strings.Join(items, ", ")
	}
	return "\n    " + strings.Join(items, ",\n    ")
}

func (c CheckDef) print(p *printer) {
	if c.Name != "" {
		p.put("CONSTRAINT ", QuoteName(c.Name), " ")
	}
	p.put("CHECK (", c.Expr, ")", when(c.NotValid, " NOT VALID"))
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
		p.put("\n  WITH (", commas(options[i:end]), ")")
		i = end
	}
}

func (c ColumnDef) print(p *printer) {
	if c.Like != nil {
		p.put(strings.TrimSpace("LIKE " + QuoteName(c.Name) + " " + strings.Join(c.Like, " ")))
		return
	}
	p.put(QuoteName(c.Name), " ")
	if c.Identity == Serial {
		p.put(serialTypes[c.Type])
	} else {
		p.put(c.Type)
	}
	if c.From != nil {
		p.put(" FROM ", QuoteName(c.From.Family), ":")
		if c.From.Parts != nil {
			p.put("[", commas(c.From.Parts), "]")
		} else {
			p.put(QuoteQualifier(c.From.Qualifier))
		}
	}
	p.put(encoded(c.Encoding))
	switch {
	case c.Identity != "" && c.Identity != Serial:
		p.put(" ", c.generated())
	case c.Default != nil && c.Identity == "":
		p.put(" DEFAULT ", bounded(c.Default))
	}
	p.put(when(c.NotNull && c.Identity == "", " NOT NULL"), when(c.PrimaryKey, " PRIMARY KEY"))
	if c.Comment != "" {
		p.put(" COMMENT ", quoteText(c.Comment))
	}
}

// encoded returns AS and the encoding, or "" for nil.
func encoded(e *EncodingDef) string {
	if e == nil {
		return ""
	}
	return " AS " + e.String()
}

// String returns the encoding as in AS: TEXT(6), ORDERED INT64.
func (e *EncodingDef) String() string { return sql(e.Name, some("(", e.Args, ")")) }

func (d PartDef) print(p *printer) { p.put(d.Expr, encoded(d.Encoding)) }

// String returns the part as in a layout: ts % 100 AS UINT8.
func (d PartDef) String() string { return sql(d) }

// print writes the parts of a layout, and STORED IN.
func (l LayoutDef) print(p *printer) {
	p.put("(", commas(l.Parts), ")")
	if l.StoredIn != nil {
		p.put(" STORED IN ", l.StoredIn)
	}
	if l.Where != nil {
		p.put(" WHERE ", l.Where)
	}
}

func (s *PartList) print(p *printer) {
	if len(s.Parts) == 1 && s.Parts[0].Encoding == nil {
		if lit, ok := s.Parts[0].Expr.(*Literal); ok && lit.Kind == StringLiteral {
			p.put(quoteText(lit.Text))
			return
		}
	}
	p.put("(", commas(s.Parts), ")")
}

// String returns 'name' or (part, part), as in STORED IN.
func (s *PartList) String() string { return sql(s) }

func (s *SplitDef) print(p *printer) {
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
		p.put("AT (", commas(s.Keys), ")")
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
func (c ColumnDef) String() string { return strings.TrimSpace(sql(c)) }

// Condition returns the CHECK without its name.
func (c CheckDef) Condition() string {
	c.Name = ""
	return sql(c)
}
