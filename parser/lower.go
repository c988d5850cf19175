package parser

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// lowerer turns grammar nodes into the AST. It knows the source, from which the spelling
// of names comes: the grammar sees keywords in upper case.
type lowerer struct {
	src string
}

func pos(t *lexer.Token) Pos { return Pos(t.Pos.Offset) }

// name gives a word's spelling, or what stands in a name's double quotes.
func (l *lowerer) name(t *lexer.Token) string {
	if t == nil {
		return ""
	}
	if t.Type == tokQuoted {
		return unquote(t.Value)
	}
	return l.src[t.Pos.Offset : t.Pos.Offset+len(t.Value)]
}

func (l *lowerer) alias(n *alias) string {
	if n == nil {
		return ""
	}
	return l.name(n.Tok)
}

func (l *lowerer) names(in []*ident) []string {
	if in == nil {
		return nil
	}
	out := make([]string, len(in))
	for i, n := range in {
		out[i] = l.name(n.Tok)
	}
	return out
}

func (l *lowerer) placed(n *qname) Name { return Name{Pos: pos(n.A), Name: l.qname(n)} }

func (l *lowerer) placedAll(in []*qname) []Name {
	if in == nil {
		return nil
	}
	out := make([]Name, len(in))
	for i, n := range in {
		out[i] = l.placed(n)
	}
	return out
}

// qname gives name or name:name.
func (l *lowerer) qname(n *qname) string {
	if n.B == nil {
		return l.name(n.A)
	}
	return l.name(n.A) + ":" + l.name(n.B)
}

func (l *lowerer) statement(n *statementNode) (Statement, error) {
	switch {
	case n.Select != nil:
		return statement(l.query(n.Select))
	case n.Insert != nil:
		return statement(l.insert(n.Insert))
	case n.Update != nil:
		return statement(l.update(n.Update))
	case n.Delete != nil:
		return statement(l.delete(n.Delete))
	case n.Explain != nil:
		return statement(l.explain(n.Explain))
	case n.Create != nil:
		return statement(l.create(n.Create))
	case n.Drop != nil:
		d := n.Drop
		return &DropTable{Pos: at(d.Pos), IfExists: d.IfExists, Name: l.qname(&d.Table), NamePos: pos(d.Table.A)}, nil
	case n.Show != nil:
		return l.show(n.Show), nil
	case n.Describe != nil:
		d := n.Describe
		return &Show{Pos: at(d.Pos), Kind: ShowColumns, Name: l.qname(&d.Table), NamePos: pos(d.Table.A)}, nil
	case n.Set != nil:
		return statement(l.set(n.Set))
	case n.Copy != nil:
		return statement(l.copy(n.Copy))
	default:
		c := n.Check
		return &CheckTable{Pos: at(c.Pos), Name: l.qname(&c.Table), NamePos: pos(c.Table.A), Repair: c.Repair}, nil
	}
}

// statement drops the typed nil of a failed lowering.
func statement[S Statement](s S, err error) (Statement, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func at(p lexer.Position) Pos { return Pos(p.Offset) }

func (l *lowerer) insert(n *insertNode) (*Insert, error) {
	out := &Insert{
		Pos: at(n.Pos), Upsert: n.Verb == "UPSERT", IfNotExists: n.IfBefore || n.IfBehind,
		Table: l.qname(&n.Table), TablePos: pos(n.Table.A), Columns: l.placedAll(n.Columns),
	}
	var err error
	if n.Query != nil {
		out.Query, err = l.query(n.Query)
	} else {
		out.Rows, err = l.rows(n.Rows)
	}
	return out, err
}

func (l *lowerer) update(n *updateNode) (*Update, error) {
	out := &Update{Pos: at(n.Pos), Table: l.qname(&n.Table), TablePos: pos(n.Table.A), Alias: l.alias(n.Alias), AllowFullScan: n.Allow}
	for _, a := range n.Set {
		x, err := l.expr(&a.Expr)
		if err != nil {
			return nil, err
		}
		out.Set = append(out.Set, Assignment{Column: l.placed(&a.Column), Expr: x})
	}
	var err error
	out.Where, err = l.expr(n.Where)
	return out, err
}

func (l *lowerer) delete(n *deleteNode) (*Delete, error) {
	where, err := l.expr(n.Where)
	return &Delete{Pos: at(n.Pos), Table: l.qname(&n.Table), TablePos: pos(n.Table.A), Alias: l.alias(n.Alias), Where: where, AllowFullScan: n.Allow}, err
}

func (l *lowerer) explain(n *explainNode) (*Explain, error) {
	out := &Explain{Pos: at(n.Pos), Analyze: n.Analyze, Format: "TEXT"}
	for _, o := range n.Options {
		if o.Format != "" {
			out.Format = o.Format
		} else {
			out.Analyze = !o.Off
		}
	}
	s := n.Statement
	var err error
	out.Statement, err = l.statement(&statementNode{Select: s.Select, Insert: s.Insert, Update: s.Update, Delete: s.Delete, Copy: s.Copy})
	return out, err
}

func (l *lowerer) show(n *showNode) *Show {
	out := &Show{Pos: at(n.Pos), Kind: ShowSettings, NamePos: NoPos}
	table := n.Create
	switch {
	case n.Tables:
		out.Kind = ShowTables
	case n.Create != nil:
		out.Kind = ShowCreateTable
	case n.Splits != nil:
		out.Kind, table = ShowSplits, n.Splits
	case n.Functions:
		out.Kind = ShowFunctions
	case n.Setting != nil:
		out.Name, out.NamePos = l.dotted(n.Setting), pos(n.Setting.First.Tok)
	}
	if table != nil {
		out.Name, out.NamePos = l.qname(table), pos(table.A)
	}
	return out
}

func (l *lowerer) dotted(n *dotted) string {
	s := l.name(n.First.Tok)
	for _, r := range n.Rest {
		s += "." + l.name(r.Tok)
	}
	return s
}

func (l *lowerer) set(n *setNode) (*Set, error) {
	v, err := l.value(&n.Value)
	if n.Zone {
		return &Set{Pos: at(n.Pos), Name: "timezone", Value: v}, err
	}
	return &Set{Pos: at(n.Pos), Name: l.dotted(&n.Name), Value: v}, err
}

// value lowers a setting; a bare word is a string.
func (l *lowerer) value(n *valueNode) (Expr, error) {
	switch {
	case n.Word != nil:
		return &Literal{Pos: pos(n.Word.Tok), Kind: StringLiteral, Text: l.name(n.Word.Tok)}, nil
	case n.On != "":
		start := n.Pos.Offset // ON is a reserved word: its spelling is in the source
		return &Literal{Pos: at(n.Pos), Kind: StringLiteral, Text: l.src[start : start+len(n.On)]}, nil
	}
	return l.expr(n.Expr)
}

func (l *lowerer) options(in []*optionNode) ([]Option, error) {
	var out []Option
	for _, n := range in {
		o := Option{Pos: at(n.Pos)}
		var err error
		if n.Text != nil {
			if o.Key, err = l.text(n.Text); err == nil && (o.Key == "" || !utf8.ValidString(o.Key) || strings.ContainsRune(o.Key, 0)) {
				err = Errorf(o.Pos, "%q is not an option's name", o.Key)
			}
		} else {
			o.Key = l.optionKey(n.Name.Tok)
		}
		if err == nil && n.Value != nil {
			o.Value, err = l.value(n.Value)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (l *lowerer) text(n *textNode) (string, error) {
	return text(&lexer.Token{Value: n.Text, Pos: n.Pos})
}

func (l *lowerer) copy(n *copyNode) (*Copy, error) {
	out := &Copy{Pos: at(n.Pos), To: n.Dir == "TO"}
	var err error
	if n.Query != nil {
		if !out.To {
			return nil, Errorf(at(n.Query.Pos), "a query can be copied TO a file, not FROM one")
		}
		if out.Query, err = l.query(n.Query); err != nil {
			return nil, err
		}
	} else {
		out.Table, out.Columns = l.qname(&n.Table), l.placedAll(n.Columns)
	}
	if n.File != nil {
		if out.File, err = l.text(n.File); err != nil {
			return nil, err
		}
	}
	out.Options, err = l.options(n.Options)
	return out, err
}
