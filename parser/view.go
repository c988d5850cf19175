package parser

import (
	"reflect"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// CreateView is CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] AS query, or CREATE SEQUENCE, which defines
// a view of its state as well.
type CreateView struct {
	Pos
	Replace     bool
	Temporary   bool
	IfNotExists bool
	Name        string
	NamePos     Pos
	Columns     []string
	Query       *Select
	Sequence    []Option // nil: a view
}

func (s *CreateView) Command() string {
	if s.Sequence != nil {
		return "CREATE SEQUENCE"
	}
	return "CREATE VIEW"
}

func (s *CreateView) String() string {
	if s.Sequence != nil {
		return sql("CREATE ", when(s.Temporary, "TEMPORARY "), "SEQUENCE ", when(s.IfNotExists, "IF NOT EXISTS "), QuoteName(s.Name), sequenceText(s.Sequence))
	}
	return sql("CREATE ", when(s.Replace, "OR REPLACE "), when(s.Temporary, "TEMPORARY "), "VIEW ", when(s.IfNotExists, "IF NOT EXISTS "), QuoteName(s.Name), nameList(s.Columns), " AS ", s.Query)
}

// At returns a copy of the query in which all positions are pos, so that errors in a view point to its name.
func (s *Select) At(pos Pos) *Select {
	return copyAt(reflect.ValueOf(s), pos, nil).Interface().(*Select)
}

// CopyOf returns a copy of n with the same positions.
func CopyOf[T Node](n T) T { return CopyWith(n, func(Expr) Expr { return nil }) }

// CopyWith returns a copy of n with in(e) in place of each expression e of which that is not nil.
func CopyWith[T Node](n T, in func(Expr) Expr) T {
	v := reflect.ValueOf(n)
	if !v.IsValid() {
		return n
	}
	return copyAt(v, -1, in).Interface().(T)
}

// copyAt returns a copy of a tree in which every Pos is pos, or as it was if pos is negative. See CopyWith for in, which may be nil.
func copyAt(v reflect.Value, pos Pos, in func(Expr) Expr) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copyAt(v.Elem(), pos, in))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		if e, ok := v.Interface().(Expr); ok && in != nil {
			if x := in(e); x != nil {
				return reflect.ValueOf(x)
			}
		}
		return copyAt(v.Elem(), pos, in)
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copyAt(v.Index(i), pos, in))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			out.Field(i).Set(copyAt(v.Field(i), pos, in))
		}
		return out
	case reflect.Int:
		if pos >= 0 && v.Type() == reflect.TypeFor[Pos]() {
			return reflect.ValueOf(pos)
		}
	}
	return v
}

// viewNode is CREATE VIEW, which begins like CREATE TABLE.
type viewNode struct {
	Pos     lexer.Position
	Own     *otherView     `parser:"( @@"`
	Replace bool           `parser:"| (?= 'CREATE' ( 'OR' 'REPLACE' )? 'VIEW' ) 'CREATE' ( @'OR' 'REPLACE' 'VIEW'"`
	If      bool           `parser:"| 'VIEW' ( @'IF' 'NOT' 'EXISTS' )? ) )"`
	Name    tableName      `parser:"@@"`
	Columns []*columnIdent `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	Options []*optionNode  `parser:"( 'WITH' '(' @@ ( ',' @@ )* ')' )?"`
	Query   *selectNode    `parser:"'AS' @@"`
}

// otherView begins CREATE TEMPORARY VIEW and CREATE RECURSIVE VIEW. Messages do not list it.
type otherView struct{ replace, temporary, recursive bool }

func (n *otherView) Parse(lex *lexer.PeekingLexer) error {
	const own = "TEMP|TEMPORARY"
	text := phrase(lex, "CREATE OR REPLACE "+own+" VIEW", "CREATE "+own+" VIEW", "CREATE OR REPLACE "+own+" RECURSIVE VIEW", "CREATE "+own+" RECURSIVE VIEW",
		"CREATE OR REPLACE RECURSIVE VIEW", "CREATE RECURSIVE VIEW")
	if text == "" {
		return participle.NextMatch
	}
	n.replace, n.temporary, n.recursive = strings.Contains(text, "REPLACE"), strings.Contains(text, "TEMP"), strings.Contains(text, "RECURSIVE")
	return nil
}

func (l *lowerer) view(n *viewNode) *CreateView {
	options := l.options(n.Options)
	for _, o := range options { // HBase always checks the rights of the user that runs the query
		if o.Key != "SECURITY_BARRIER" && o.Key != "SECURITY_INVOKER" {
			panic(fail.With(Errorf(o.Pos, "unknown view option %s", o.Key)))
		}
	}
	query := l.query(n.Query)
	out := &CreateView{Pos: at(n.Pos), Replace: n.Replace, IfNotExists: n.If, Name: n.Name.name(), NamePos: pos(n.Name.A), Columns: names(n.Columns), Query: query}
	if n.Own == nil {
		return out
	}
	out.Replace, out.Temporary = n.Own.replace, n.Own.temporary
	if n.Own.recursive { // WITH RECURSIVE name (columns) AS (query) SELECT * FROM name
		if out.Columns == nil {
			panic(fail.With(Errorf(out.NamePos, "a RECURSIVE view needs the names of its columns: %s (a, b)", out.Name)))
		}
		own := &TableName{Pos: out.NamePos, Name: out.Name[strings.IndexByte(out.Name, ':')+1:]}
		out.Query = AllOf(own)
		out.Query.With = []CTE{{Pos: out.NamePos, Name: own.Name, Columns: out.Columns, Query: query, Recursive: true}}
	}
	return out
}
