package parser

import (
	"cmp"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

func (l *lowerer) create(n *createNode) *CreateTable {
	out := &CreateTable{
		Pos: at(n.Pos), Replace: n.Replace, External: n.External, Temporary: n.Kind != nil && n.Kind.temporary, IfNotExists: n.IfNotExists, Materialized: n.View,
		Name: n.Table.name(), NamePos: pos(n.Table.A), NoData: n.NoData,
	}
	if out.Temporary && n.Table.inSchema() {
		panic(fail.With(Errorf(out.NamePos, "cannot create temporary relation in non-temporary schema").WithHint("leave out the schema")))
	}
	if n.Replace && (n.IfNotExists || !n.External) {
		panic(fail.With(Errorf(out.Pos, "CREATE OR REPLACE TABLE is for EXTERNAL tables, without IF NOT EXISTS").WithHint("ALTER TABLE changes the definition of a table that hql made")))
	}
	for _, it := range n.Items {
		l.item(out, it)
	}
	for _, c := range append(n.Clauses, n.KeyOf...) {
		l.clause(out, c)
	}
	ownColumns(out.Name, out.Checks, out.Layouts...)
	out.NameChecks()
	out.NameSequences(func(string) bool { return false })
	query := cmp.Or(n.Query, n.QueryOf, n.Named)
	if query == nil && n.View {
		panic(fail.With(Errorf(out.NamePos, "a materialized view needs its query: AS SELECT ...")))
	}
	if query == nil {
		return out
	}
	if out.Query = l.query(query); n.Names != nil {
		out.Query = AllOf(&Subquery{Pos: out.Query.Pos, Query: out.Query, Alias: "query", Columns: names(n.Names)})
	}
	return out
}

// ownColumns removes the name of the table from the columns in its checks and layouts.
func ownColumns(table string, checks []CheckDef, layouts ...LayoutDef) {
	var all []Expr
	for _, c := range checks {
		all = append(all, c.Expr)
	}
	for _, l := range layouts {
		all = append(all, l.Where)
		for _, p := range l.Parts {
			all = append(all, p.Expr)
		}
	}
	for _, x := range all {
		Walk(x, func(x Expr) bool {
			if ref, ok := x.(*ColumnRef); ok && (strings.EqualFold(ref.Table, table) || strings.EqualFold(ref.Table, table[strings.LastIndexByte(table, ':')+1:])) {
				ref.Table = ""
			}
			call, ok := x.(*Call)
			return !ok || call.Name != "LOOKUP" // it names a column of a table
		})
	}
}

func (l *lowerer) item(out *CreateTable, it *tableItem) {
	if it.Check != nil {
		out.Checks = append(out.Checks, l.check(it.Check))
		return
	}
	if it.Like != nil {
		like := ColumnDef{Pos: pos(it.Like.Table.A), Name: it.Like.Table.name(), Like: []string{}}
		for _, p := range it.Like.Parts {
			like.Like = append(like.Like, p.text)
		}
		out.Columns = append(out.Columns, like)
		return
	}
	if it.Column == nil {
		first := pos(it.PrimaryKey[0].Tok)
		if out.PrimaryKey != nil {
			panic(fail.With(Errorf(first, "there are two PRIMARY KEY clauses")))
		}
		for _, k := range it.PrimaryKey {
			out.PrimaryKey = append(out.PrimaryKey, Name{Pos: pos(k.Tok), Name: name(k.Tok)})
		}
		return
	}
	c := l.column(it.Column)
	if c.PrimaryKey {
		if out.PrimaryKey != nil {
			panic(fail.With(Errorf(c.Pos, "there are two PRIMARY KEY clauses").WithHint("a key of several columns is PRIMARY KEY (a, b)")))
		}
		out.PrimaryKey = []Name{{Pos: c.Pos, Name: c.Name}}
	}
	out.Columns, out.Checks = append(out.Columns, c), append(out.Checks, l.checks(it.Column)...)
}

func (l *lowerer) check(n *checkItem) CheckDef {
	out := CheckDef{Pos: at(n.Pos), Expr: l.expr(&n.Expr), NotValid: n.NotValid}
	if n.Name != nil {
		out.Name = name(n.Name.Tok)
	}
	return out
}

// checks lowers the CHECKs behind a column.
func (l *lowerer) checks(n *columnItem) (out []CheckDef) {
	var named *ident
	for _, p := range n.Parts {
		if p.Check != nil {
			p.Check.Name = cmp.Or(p.Check.Name, named)
			out = append(out, l.check(p.Check))
		}
		named = p.Constraint
	}
	return out
}

// NameChecks gives the CHECKs that have no name the names of PostgreSQL: of the table, of the column if there is one, and a number
// if the name is taken.
func (s *CreateTable) NameChecks() {
	for i := range s.Checks {
		if s.Checks[i].Name != "" {
			continue
		}
		columns := map[string]bool{}
		Walk(s.Checks[i].Expr, func(x Expr) bool {
			if ref, ok := x.(*ColumnRef); ok {
				columns[strings.ToLower(ref.Name)] = true
			}
			return true
		})
		_, base, spaced := strings.Cut(s.Name, ":")
		if !spaced {
			base = s.Name
		}
		if len(columns) == 1 {
			for c := range columns {
				base += "_" + c
			}
		}
		is := base + "_check"
		for n := 1; slices.ContainsFunc(s.Checks, func(c CheckDef) bool { return strings.EqualFold(c.Name, is) }); n++ {
			is = base + "_check" + strconv.Itoa(n)
		}
		s.Checks[i].Name = is
	}
}

func (l *lowerer) column(n *columnItem) ColumnDef {
	out := ColumnDef{Pos: pos(n.Name.Tok), Name: name(n.Name.Tok), Type: n.Type.Text}
	if t := serials[out.Type]; t != "" {
		out.Type, out.Identity, out.Sequence, out.NotNull = t, Serial, []Option{}, true
	}
	var given Expr
	for _, p := range n.Parts {
		switch {
		case p.Default != nil:
			if given != nil {
				panic(fail.With(Errorf(given.Position(), "column %s has two DEFAULTs", out.Name)))
			}
			if out.Identity != "" {
				panic(fail.With(Errorf(out.Pos, "multiple default values specified for column %q", out.Name)))
			}
			given = p.Default.value
		case p.From != nil:
			if out.From != nil {
				panic(fail.With(Errorf(pos(p.From.Family.Tok), "column %s has two FROM clauses", out.Name)))
			}
			out.From = l.source(p.From)
		case p.Encoding != nil:
			if out.Encoding != nil {
				panic(fail.With(Errorf(p.Encoding.def.Pos, "column %s has two encodings", out.Name)))
			}
			out.Encoding = p.Encoding.def
		case p.Identity != nil:
			if out.Identity != "" || given != nil {
				panic(fail.With(Errorf(out.Pos, "multiple default values specified for column %q", out.Name)))
			}
			out.identity(p.Identity)
		case p.NotNull:
			out.NotNull = true
		case p.PrimaryKey:
			out.PrimaryKey = true
		case p.Comment != nil:
			out.Comment = p.Comment.value()
		}
	}
	absent, constant := given.(*Literal)
	if given == nil || constant && absent.Kind == NullLiteral {
		return out
	}
	if !constant || out.NotNull || out.PrimaryKey { // no row is without the cell, or rows without it have no value
		out.Default = given
		return out
	}
	out.FillAbsent(absent)
	return out
}

// FillAbsent makes absent the value of c in rows without the cell.
func (c *ColumnDef) FillAbsent(absent *Literal) {
	args := []Expr{absent}
	if c.Encoding != nil {
		args = append(args, &Literal{Pos: c.Encoding.Pos, Kind: StringLiteral, Text: c.Encoding.String()})
	}
	c.Encoding = &EncodingDef{Pos: absent.Pos, Name: "DEFAULT", Args: args}
}

func (l *lowerer) source(n *sourceNode) *ColumnSource {
	out := &ColumnSource{Pos: pos(n.Family.Tok), Family: name(n.Family.Tok)}
	asBytes := n.Qualifier != nil && n.Qualifier.Tok.Type == tokBytes
	switch {
	case n.Parts != nil:
		out.Parts = l.parts(n.Parts)
	case asBytes:
		out.Qualifier = text(n.Qualifier.Tok)
	case n.Qualifier != nil:
		out.Qualifier = name(n.Qualifier.Tok)
	default:
		family, q, ok := strings.Cut(out.Family, ":")
		if !ok {
			panic(fail.With(Errorf(out.Pos, "expected family:qualifier after FROM").
				WithHint("the default is the first family and the column's own name")))
		}
		out.Family, out.Qualifier = family, q
	}
	if strings.Contains(out.Family, ":") || out.Family == "" {
		panic(fail.With(Errorf(out.Pos, "%q is not a family's name", out.Family)))
	}
	if !asBytes && escapedByte.MatchString(out.Qualifier) { // \xNN, as HBase's shell prints bytes
		panic(fail.With(Errorf(out.Pos, "%s in the qualifier is four characters, not a byte", escapedByte.FindString(out.Qualifier)).
			WithHint("write bytes as X'...': %s:%s; write these four characters as %s:X'%X'", QuoteName(out.Family), QuoteQualifier(unescaped(out.Qualifier)), QuoteName(out.Family), out.Qualifier)))
	}
	return out
}

var escapedByte = regexp.MustCompile(`\\x[0-9A-Fa-f]{2}`)

// unescaped replaces \xNN by the byte.
func unescaped(s string) string {
	return escapedByte.ReplaceAllStringFunc(s, func(x string) string {
		b, _ := hex.DecodeString(x[2:]) // the regular expression matches only hexadecimal digits
		return string(b)
	})
}

func (n *encodingNode) encoding() *EncodingDef {
	if n == nil {
		return nil
	}
	return n.def
}

// onlyLiterals returns an error if a list has other expressions than literals.
func onlyLiterals(list []Expr, what string) error {
	for _, x := range list {
		if _, ok := x.(*Literal); !ok {
			return Errorf(x.Position(), "%s must be a literal", what)
		}
	}
	return nil
}

func (l *lowerer) parts(in []*partDef) []PartDef {
	out := make([]PartDef, len(in))
	for i, n := range in {
		out[i] = PartDef{Pos: at(n.Pos), Expr: l.expr(&n.Expr.exprNode), Encoding: n.Encoding.encoding()}
		if n.Order != nil && n.Order.desc {
			e := EncodingDef{Pos: at(n.Pos)} // CREATE INDEX adds the encoding of the type
			if out[i].Encoding != nil {
				e = *out[i].Encoding
			}
			e.Name = strings.TrimSpace("INVERTED " + e.Name)
			out[i].Encoding = &e
		}
	}
	return out
}

func (l *lowerer) storage(n *storageNode) *PartList {
	if n == nil {
		return nil
	}
	out := &PartList{Pos: at(n.Pos)}
	if n.Name == nil {
		out.Parts = l.parts(n.Parts)
		return out
	}
	out.Parts = []PartDef{{Pos: out.Pos, Expr: &Literal{Pos: out.Pos, Kind: StringLiteral, Text: n.Name.value()}}}
	return out
}

func (l *lowerer) clause(out *CreateTable, c *clauseNode) {
	switch {
	case c.StoredIn != nil:
		if out.StoredIn != nil {
			panic(fail.With(Errorf(at(c.Pos), "there are two STORED IN clauses")))
		}
		out.StoredIn = l.storage(c.StoredIn)
	case c.Layout != nil:
		out.Layouts = append(out.Layouts, l.layout(c.Layout))
	case c.Family != nil:
		family := c.Family.Name.Tok
		out.Families = append(out.Families, FamilyDef{Pos: pos(family), Name: name(family), Options: l.options(c.Family.Options)})
	case c.Split != nil:
		d := l.split(c.Split, at(c.Pos))
		switch {
		case d.Index != "":
			out.Splits = append(out.Splits, d)
		case out.Split != nil:
			panic(fail.With(Errorf(at(c.Pos), "there are two SPLIT clauses")))
		default:
			out.Split = d
		}
	case c.Malformed != "":
		out.Options = append(out.Options, Option{Pos: at(c.Pos), Key: MalformedKey, Value: &Literal{Pos: at(c.Pos), Kind: StringLiteral, Text: c.Malformed}})
	default:
		out.Options = append(out.Options, l.options(c.With)...)
	}
}

func (l *lowerer) layout(n *layoutNode) LayoutDef {
	out := LayoutDef{Pos: at(n.Pos), Index: n.Index}
	if n.Name != nil {
		out.Name = name(n.Name.Tok)
	} else if n.Index {
		panic(fail.With(Errorf(out.Pos, "an INDEX needs a name").WithHint("INDEX by_phone (phone AS TEXT)")))
	}
	out.Parts, out.StoredIn = l.parts(n.Parts), l.storage(n.StoredIn)
	if out.Where = partial(l.expr(n.Where), out.Parts); out.Where != nil && !out.Index {
		panic(fail.With(Errorf(out.Where.Position(), "only an INDEX has a WHERE: a ROW KEY has all rows")))
	}
	return out
}

func (l *lowerer) split(n *splitNode, at Pos) *SplitDef {
	out := &SplitDef{Pos: at}
	if n.Index != nil {
		out.Index = name(n.Index.Tok)
	}
	switch {
	case n.Keys != nil:
		out.Kind, out.Keys = SplitAt, l.exprs(n.Keys)
		return out
	case n.File != nil:
		out.Kind, out.File = SplitFile, n.File.value()
		return out
	}
	switch n.By {
	case "HEX":
		out.Kind = SplitHex
	case "UNIFORM":
		out.Kind = SplitUniform
	case "KEY":
		out.Kind = SplitKey
	default:
		out.Kind, out.File = SplitSampleFile, n.SampleFile.value()
	}
	var err error
	if out.N, err = strconv.Atoi(n.N); err != nil || out.N < 1 || out.N > maxRegions {
		panic(fail.With(Errorf(at, "SPLIT INTO takes a number of regions from 1 to %d", maxRegions)))
	}
	return out
}

// maxRegions bounds n of SPLIT INTO n.
const maxRegions = 100000

// optionKey returns an option's key in upper case, or unchanged if it was in double quotes.
func optionKey(t *lexer.Token) string {
	if t.Type == tokQuoted {
		return name(t)
	}
	return strings.ToUpper(name(t))
}
