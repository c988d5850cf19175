package catalog

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Sequence is the definition of a sequence.
type Sequence struct {
	Name                              string
	Type                              types.Type
	Increment, Min, Max, Start, Cache int64
	Cycle                             bool
	Owned                             bool   // it belongs to the column whose DEFAULT draws from it
	Counter                           string // names the counter in the store
}

// Sequence returns the sequence that v is; nil if it is none.
func (v *View) Sequence() *Sequence {
	if v == nil || v.Def.Sequence == nil {
		return nil
	}
	s := &Sequence{Name: v.Name, Type: types.BigInt, Increment: 1}
	if s.Set(v.Def.Sequence, false) != nil {
		return nil
	}
	return s
}

// Set changes s by options. If known is set, s is a complete definition.
func (s *Sequence) Set(options []parser.Option, known bool) error {
	given := map[string]int64{}
	has := map[string]bool{}
	for _, o := range options {
		has[o.Key] = true
		if err := s.set(o, given); err != nil {
			return err
		}
	}
	take := func(to *int64, key string, usual int64, reset bool) {
		if n, ok := given[key]; ok {
			*to = n
		} else if reset {
			*to = usual
		}
	}
	take(&s.Increment, "INCREMENT BY", 1, !known)
	name, most := "bigint", int64(math.MaxInt64)
	switch s.Type {
	case types.SmallInt:
		name, most = "smallint", math.MaxInt16
	case types.Int:
		name, most = "integer", math.MaxInt32
	}
	least := -most - 1
	lowest, highest := int64(1), most
	if s.Increment < 0 {
		lowest, highest = least, -1
	}
	take(&s.Min, "MINVALUE", lowest, !known || has["NO MINVALUE"])
	take(&s.Max, "MAXVALUE", highest, !known || has["NO MAXVALUE"])
	begin := s.Min
	if s.Increment < 0 {
		begin = s.Max
	}
	take(&s.Start, "START WITH", begin, !known)
	take(&s.Cache, "CACHE", 1, !known)
	return s.check(options, name, least, most)
}

// check returns an error unless the numbers of s are in order. Its type is called name, and has the numbers from least to most.
func (s *Sequence) check(options []parser.Option, name string, least, most int64) error {
	at := parser.NoPos
	if len(options) > 0 {
		at = options[0].Pos
	}
	switch {
	case s.Min < least || s.Min > most:
		return parser.Errorf(at, "MINVALUE (%d) is out of range for sequence data type %s", s.Min, name)
	case s.Max < least || s.Max > most:
		return parser.Errorf(at, "MAXVALUE (%d) is out of range for sequence data type %s", s.Max, name)
	case s.Min >= s.Max:
		return parser.Errorf(at, "MINVALUE (%d) must be less than MAXVALUE (%d)", s.Min, s.Max)
	case uint64(s.Max)-uint64(s.Min) > math.MaxUint64-s.step():
		return parser.Errorf(at, "a sequence of all numbers of BIGINT has no end").Of(parser.ErrUnsupported)
	case s.Start < s.Min:
		return parser.Errorf(at, "START value (%d) cannot be less than MINVALUE (%d)", s.Start, s.Min)
	case s.Start > s.Max:
		return parser.Errorf(at, "START value (%d) cannot be greater than MAXVALUE (%d)", s.Start, s.Max)
	}
	return nil
}

// set takes an option. Numbers go into given.
func (s *Sequence) set(o parser.Option, given map[string]int64) error {
	if l, ok := o.Value.(*parser.Literal); ok && l.Kind == parser.NumberLiteral {
		n, err := strconv.ParseInt(l.Text, 10, 64)
		if err != nil {
			return parser.Errorf(o.Pos, "value %q is out of range for type bigint", l.Text)
		}
		given[o.Key] = n
	}
	if name, ok := strings.CutPrefix(o.Key, "AS "); ok {
		t, ok := types.ParseType(name)
		if !ok || !t.IsInteger() || t == types.TinyInt {
			return parser.Errorf(o.Pos, "sequence type must be smallint, integer, or bigint")
		}
		s.Type = t
	}
	switch o.Key {
	case "OWNED", "OWNED BY":
		s.Owned = true
	case "OWNED BY NONE":
		s.Owned = false
	case "CYCLE", "NO CYCLE":
		s.Cycle = o.Key == "CYCLE"
	case "STORED IN":
		s.Counter = parser.SequenceOption([]parser.Option{o}, o.Key)
	}
	if (o.Key == "INCREMENT BY" && given[o.Key] == 0) || o.Key == "CACHE" && given[o.Key] < 1 {
		if o.Key == "CACHE" {
			return parser.Errorf(o.Pos, "CACHE (%d) must be greater than zero", given[o.Key])
		}
		return parser.Errorf(o.Pos, "INCREMENT must not be zero")
	}
	return nil
}

// Options returns the complete options of s.
func (s *Sequence) Options() []parser.Option {
	number := func(key string, n int64) parser.Option {
		return parser.Option{Key: key, Value: &parser.Literal{Kind: parser.NumberLiteral, Text: strconv.FormatInt(n, 10)}}
	}
	out := []parser.Option{{Key: "AS " + s.Type.String()}, number("INCREMENT BY", s.Increment), number("MINVALUE", s.Min), number("MAXVALUE", s.Max), number("START WITH", s.Start), number("CACHE", s.Cache)}
	if s.Cycle {
		out = append(out, parser.Option{Key: "CYCLE"})
	}
	if s.Owned {
		out = append(out, parser.Option{Key: "OWNED"})
	}
	return append(out, parser.Option{Key: "STORED IN", Value: &parser.Literal{Kind: parser.StringLiteral, Text: s.Counter}})
}

// copied returns the options of another sequence that counts as s does.
func (s *Sequence) copied() []parser.Option {
	if s == nil {
		return []parser.Option{}
	}
	return slices.DeleteFunc(s.Options(), func(o parser.Option) bool { return o.Key == "OWNED" || o.Key == "STORED IN" })
}

// SequenceOf returns the sequence from which the DEFAULT of c draws; nil if there is none.
func (c *Catalog) SequenceOf(col *Column) *Sequence {
	v, _ := c.View(col.Draws())
	return v.Sequence()
}

// Owned returns the sequences that belong to columns of t.
func (c *Catalog) Owned(t *Table) (out []*Sequence) {
	for _, col := range t.Columns {
		if s := c.SequenceOf(col); s != nil && s.Owned {
			out = append(out, s)
		}
	}
	return out
}

// Draws returns the name of the sequence from which the DEFAULT of c draws; "" if it draws from none.
func (c *Column) Draws() (name string) {
	if c.Default == nil {
		return ""
	}
	parser.Walk(c.Default, func(x parser.Expr) bool {
		if call, ok := x.(*parser.Call); ok && call.Name == "NEXTVAL" && len(call.Args) == 1 {
			arg := call.Args[0]
			if cast, ok := arg.(*parser.Cast); ok {
				arg = cast.X
			}
			if l, ok := arg.(*parser.Literal); ok {
				name = SequenceName(l.Text)
			}
		}
		return true
	})
	return name
}

// SequenceName returns the name in the catalog of a sequence that a text names, as nextval does; "" if the text is not a name.
func SequenceName(text string) string {
	path, err := functions.ParseIdent(text, true)
	if err != nil {
		return ""
	}
	if n := len(path); n > 1 && path[n-2] != "public" && path[n-2] != "default" {
		return path[n-2] + ":" + path[n-1]
	}
	return path[len(path)-1]
}

// Room returns how many of the n numbers behind last s has. The counter of a sequence that begins at the end of BIGINT begins at the
// other end.
func (s *Sequence) Room(last, n int64) int64 {
	next := last + s.Increment
	if next < s.Min || next > s.Max {
		return 0
	}
	room := uint64(s.Max) - uint64(next)
	if s.Increment < 0 {
		room = uint64(next) - uint64(s.Min)
	}
	return int64(min(uint64(n)-1, room/s.step())) + 1
}

// step returns the distance of two numbers.
func (s *Sequence) step() uint64 { return uint64(max(s.Increment, -s.Increment)) }

// Block returns n, or the most numbers that are drawn at once.
func (s *Sequence) Block(n int64) int64 {
	return max(1, min(n, int64((uint64(s.Max)-uint64(s.Min))/s.step()>>1)))
}
