package parser

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

func (l *lowerer) create(n *createNode) (*CreateTable, error) {
	out := &CreateTable{
		Pos: at(n.Pos), External: n.External, IfNotExists: n.IfNotExists,
		Name: l.qname(&n.Table), NamePos: pos(n.Table.A),
	}
	for _, it := range n.Items {
		if err := l.item(out, it); err != nil {
			return nil, err
		}
	}
	for _, c := range n.Clauses {
		if err := l.clause(out, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *lowerer) item(out *CreateTable, it *tableItem) error {
	if it.Column == nil {
		first := pos(it.PrimaryKey[0].Tok)
		if out.PrimaryKey != nil {
			return Errorf(first, "there are two PRIMARY KEY clauses")
		}
		for _, k := range it.PrimaryKey {
			out.PrimaryKey = append(out.PrimaryKey, Name{Pos: pos(k.Tok), Name: l.name(k.Tok)})
		}
		return nil
	}
	c, err := l.column(it.Column)
	if err != nil {
		return err
	}
	if c.PrimaryKey {
		if out.PrimaryKey != nil {
			return Errorf(c.Pos, "there are two PRIMARY KEY clauses").WithHint("a key of several columns is PRIMARY KEY (a, b)")
		}
		out.PrimaryKey = []Name{{Pos: c.Pos, Name: c.Name}}
	}
	out.Columns = append(out.Columns, c)
	return nil
}

func (l *lowerer) column(n *columnItem) (ColumnDef, error) {
	out := ColumnDef{Pos: pos(n.Name.Tok), Name: l.name(n.Name.Tok), Type: n.Type.Text}
	var err error
	for _, p := range n.Parts {
		switch {
		case p.From != nil:
			if out.From != nil {
				return out, Errorf(pos(p.From.Family.Tok), "column %s has two FROM clauses", out.Name)
			}
			out.From, err = l.source(p.From)
		case p.Encoding != nil:
			if out.Encoding != nil {
				return out, Errorf(pos(p.Encoding.Start), "column %s has two encodings", out.Name)
			}
			out.Encoding, err = l.encoding(p.Encoding)
		case p.NotNull:
			out.NotNull = true
		case p.PrimaryKey:
			out.PrimaryKey = true
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (l *lowerer) source(n *sourceNode) (*ColumnSource, error) {
	out := &ColumnSource{Pos: pos(n.Family.Tok), Family: l.name(n.Family.Tok)}
	asBytes := n.Qualifier != nil && n.Qualifier.Tok.Type == tokBytes
	switch {
	case n.Parts != nil:
		var err error
		if out.Parts, err = l.parts(n.Parts); err != nil {
			return nil, err
		}
	case asBytes:
		var err error
		if out.Qualifier, err = bytesText(n.Qualifier.Tok); err != nil {
			return nil, err
		}
	case n.Qualifier != nil:
		out.Qualifier = l.name(n.Qualifier.Tok)
	default:
		family, q, ok := strings.Cut(out.Family, ":")
		if !ok {
			return nil, Errorf(out.Pos, "expected family:qualifier after FROM").
				WithHint("the default is the first family and the column's own name")
		}
		out.Family, out.Qualifier = family, q
	}
	if strings.Contains(out.Family, ":") || out.Family == "" {
		return nil, Errorf(out.Pos, "%q is not a family's name", out.Family)
	}
	if !asBytes && escapedByte.MatchString(out.Qualifier) { // as HBase's shell prints bytes
		return nil, Errorf(out.Pos, "%s in the qualifier is four characters, not a byte", escapedByte.FindString(out.Qualifier)).
			WithHint("bytes are X'...': %s:%s; the characters themselves are %s:X'%X'", QuoteName(out.Family), QuoteQualifier(unescaped(out.Qualifier)), QuoteName(out.Family), out.Qualifier)
	}
	return out, nil
}

var escapedByte = regexp.MustCompile(`\\x[0-9A-Fa-f]{2}`)

// unescaped reads \xNN as bytes.
func unescaped(s string) string {
	return escapedByte.ReplaceAllStringFunc(s, func(x string) string {
		b, _ := hex.DecodeString(x[2:]) // which the expression saw to
		return string(b)
	})
}

func (l *lowerer) encoding(n *encodingNode) (*EncodingDef, error) {
	if n == nil {
		return nil, nil
	}
	out := &EncodingDef{Pos: pos(n.Start), Name: n.Name}
	if n.Args.items == nil {
		return out, nil
	}
	var err error
	if out.Args, err = l.literals(&n.Args, "an encoding's argument"); err != nil {
		return nil, err
	}
	return out, nil
}

// literals lowers a list that may hold nothing but literals.
func (l *lowerer) literals(n *exprList, what string) ([]Expr, error) {
	out, err := l.exprs(n)
	if err != nil {
		return nil, err
	}
	for _, x := range out {
		if _, ok := x.(*Literal); !ok {
			return nil, Errorf(x.Position(), "%s must be a literal", what)
		}
	}
	return out, nil
}

func (l *lowerer) parts(in []*partDef) ([]PartDef, error) {
	out := make([]PartDef, len(in))
	for i, n := range in {
		x, err := l.expr(&n.Expr)
		if err != nil {
			return nil, err
		}
		enc, err := l.encoding(n.Encoding)
		if err != nil {
			return nil, err
		}
		out[i] = PartDef{Pos: at(n.Pos), Expr: x, Encoding: enc}
	}
	return out, nil
}

func (l *lowerer) storage(n *storageNode) (*PartList, error) {
	if n == nil {
		return nil, nil
	}
	out := &PartList{Pos: at(n.Pos)}
	if n.Name == nil {
		var err error
		out.Parts, err = l.parts(n.Parts)
		return out, err
	}
	name, err := l.text(n.Name)
	out.Parts = []PartDef{{Pos: out.Pos, Expr: &Literal{Pos: out.Pos, Kind: StringLiteral, Text: name}}}
	return out, err
}

func (l *lowerer) clause(out *CreateTable, c *clauseNode) error {
	switch {
	case c.StoredIn != nil:
		if out.StoredIn != nil {
			return Errorf(at(c.Pos), "there are two STORED IN clauses")
		}
		s, err := l.storage(c.StoredIn)
		out.StoredIn = s
		return err
	case c.Layout != nil:
		d, err := l.layout(c.Layout)
		out.Layouts = append(out.Layouts, d)
		return err
	case c.Family != nil:
		opts, err := l.options(c.Family.Options)
		name := c.Family.Name.Tok
		out.Families = append(out.Families, FamilyDef{Pos: pos(name), Name: l.name(name), Options: opts})
		return err
	case c.Split != nil:
		if out.Split != nil {
			return Errorf(at(c.Pos), "there are two SPLIT clauses")
		}
		d, err := l.split(c.Split, at(c.Pos))
		out.Split = d
		return err
	case c.Malformed != "":
		out.Options = append(out.Options, Option{Pos: at(c.Pos), Key: MalformedKey, Value: &Literal{Pos: at(c.Pos), Kind: StringLiteral, Text: c.Malformed}})
		return nil
	}
	opts, err := l.options(c.With)
	out.Options = append(out.Options, opts...)
	return err
}

func (l *lowerer) layout(n *layoutNode) (LayoutDef, error) {
	out := LayoutDef{Pos: at(n.Pos), Index: n.Index}
	if n.Name != nil {
		out.Name = l.name(n.Name.Tok)
	} else if n.Index {
		return out, Errorf(out.Pos, "an INDEX needs a name").WithHint("INDEX by_phone (phone AS TEXT)")
	}
	var err error
	if out.Parts, err = l.parts(n.Parts); err != nil {
		return out, err
	}
	out.StoredIn, err = l.storage(n.StoredIn)
	return out, err
}

func (l *lowerer) split(n *splitNode, at Pos) (*SplitDef, error) {
	out := &SplitDef{Pos: at}
	var err error
	switch {
	case n.Keys != nil:
		out.Kind = SplitAt
		out.Keys, err = l.literals(n.Keys, "a split key")
		return out, err
	case n.File != nil:
		out.Kind = SplitFile
		out.File, err = l.text(n.File)
		return out, err
	}
	switch n.By {
	case "HEX":
		out.Kind = SplitHex
	case "UNIFORM":
		out.Kind = SplitUniform
	case "KEY":
		out.Kind = SplitKey
	default:
		out.Kind = SplitSampleFile
		if out.File, err = l.text(n.SampleFile); err != nil {
			return nil, err
		}
	}
	if out.N, err = strconv.Atoi(n.N); err != nil || out.N < 1 || out.N > maxRegions {
		return nil, Errorf(at, "SPLIT INTO takes a number of regions from 1 to %d", maxRegions)
	}
	return out, nil
}

// maxRegions bounds SPLIT INTO n.
const maxRegions = 100000

// optionKey is an option's key in upper case; in double quotes it stays as it is.
func (l *lowerer) optionKey(t *lexer.Token) string {
	if t.Type == tokQuoted {
		return l.name(t)
	}
	return strings.ToUpper(l.name(t))
}
