package parser

import (
	"reflect"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// CreateView is CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(columns)] AS query.
type CreateView struct {
	Pos
	Replace     bool
	IfNotExists bool
	Name        string
	NamePos     Pos
	Columns     []string
	Query       *Select
}

// DropView is DROP VIEW [IF EXISTS] name, ... [CASCADE].
type DropView struct {
	Pos
	IfExists bool
	Cascade  bool // drop the views that read it, too
	More     []*DropView
	Name     string
	NamePos  Pos
}

func (*CreateView) statement() {}
func (*DropView) statement()   {}

func (s *CreateView) String() string {
	var p printer
	p.put("CREATE ")
	if s.Replace {
		p.put("OR REPLACE ")
	}
	p.put("VIEW ")
	if s.IfNotExists {
		p.put("IF NOT EXISTS ")
	}
	p.put(QuoteName(s.Name))
	p.nameList(s.Columns)
	p.put(" AS ")
	p.query(s.Query)
	return p.Builder.String()
}

func (s *DropView) String() string {
	names := []string{s.Name}
	for _, v := range s.More {
		names = append(names, v.Name)
	}
	return dropText("DROP VIEW ", s.IfExists, s.Cascade, names)
}

func dropText(verb string, ifExists, cascade bool, names []string) string {
	if ifExists {
		verb += "IF EXISTS "
	}
	for i, n := range names {
		if i > 0 {
			verb += ", "
		}
		verb += QuoteName(n)
	}
	if cascade {
		verb += " CASCADE"
	}
	return verb
}

// At returns a copy of the query in which all positions are pos, so that errors in a view point to its name.
func (s *Select) At(pos Pos) *Select {
	return copyAt(reflect.ValueOf(s), pos).Interface().(*Select)
}

// copyAt returns a copy of a tree in which every Pos is pos.
func copyAt(v reflect.Value, pos Pos) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copyAt(v.Elem(), pos))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return copyAt(v.Elem(), pos)
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copyAt(v.Index(i), pos))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			out.Field(i).Set(copyAt(v.Field(i), pos))
		}
		return out
	case reflect.Int:
		if v.Type() == reflect.TypeFor[Pos]() {
			return reflect.ValueOf(pos)
		}
	}
	return v
}

// viewNode is CREATE VIEW or DROP VIEW. It parses itself, since these begin like CREATE TABLE and DROP TABLE.
type viewNode struct {
	create  *CreateView
	drop    *DropView
	query   *selectNode
	columns []*columnIdent
}

func (n *viewNode) Parse(lex *lexer.PeekingLexer) (err error) {
	start, name := pos(lex.Peek()), tableName{}
	switch {
	case accept(lex, "DROP", "VIEW"):
		n.drop = &DropView{Pos: start, IfExists: wanted(lex, "IF", "EXISTS")}
		for v := n.drop; ; v = (&DropView{Pos: start, IfExists: n.drop.IfExists}) {
			name := tableName{}
			if err = name.Parse(lex); err == participle.NextMatch {
				err = unexpected(lex)
			}
			v.Name, v.NamePos = nameAt(&name)
			if v != n.drop {
				n.drop.More = append(n.drop.More, v)
			}
			if err != nil {
				return err
			}
			if !wanted(lex, ",") {
				break
			}
		}
		n.drop.Cascade = wanted(lex, "CASCADE")
		if !n.drop.Cascade {
			wanted(lex, "RESTRICT")
		}
		for _, v := range n.drop.More {
			v.Cascade = n.drop.Cascade
		}
		return nil
	case accept(lex, "CREATE", "VIEW"):
		n.create = &CreateView{Pos: start}
	case accept(lex, "CREATE", "OR", "REPLACE", "VIEW"):
		n.create = &CreateView{Pos: start, Replace: true}
	default:
		return participle.NextMatch
	}
	if n.create.IfNotExists = !n.create.Replace && wanted(lex, "IF", "NOT", "EXISTS"); name.Parse(lex) != nil {
		return unexpected(lex)
	}
	n.create.Name, n.create.NamePos = nameAt(&name)
	if wanted(lex, "(") {
		for {
			c := &columnIdent{}
			if c.Parse(lex) != nil {
				return unexpected(lex)
			}
			if n.columns = append(n.columns, c); !wanted(lex, ",") {
				break
			}
		}
		if !wanted(lex, ")") {
			return unexpected(lex)
		}
	}
	if !wanted(lex, "AS") {
		return unexpected(lex)
	}
	n.query, err = read(selectParser, lex, participle.AllowTrailing(true))
	return err
}

func nameAt(n *tableName) (string, Pos) {
	if n.A == nil {
		return "", NoPos
	}
	return n.name(), pos(n.A)
}

func (l *lowerer) view(n *viewNode) (Statement, error) {
	if n.drop != nil {
		return n.drop, nil
	}
	var err error
	n.create.Columns = names(n.columns)
	n.create.Query, err = l.query(n.query)
	return n.create, err
}
