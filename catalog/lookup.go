package catalog

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// AllParts returns the parts of l's table name, key and packed qualifier.
func (l *Layout) AllParts() []*Part {
	var out []*Part
	for _, p := range l.patterns() {
		if p != nil {
			out = append(out, p.Parts...)
		}
	}
	return out
}

// PartOf returns the first of l's parts that is made of column col, or nil.
//
//	ROW KEY (LEFT(MD5(uid), 2), uid AS TEXT), uid     LEFT(MD5(uid), 2)
func (l *Layout) PartOf(col int) *Part {
	for _, p := range l.AllParts() {
		if slices.Contains(p.Columns, col) {
			return p
		}
	}
	return nil
}

// Lacks reports whether row has no entry in l because one of l's columns is NULL, or a condition of its WHERE is not true. A row on
// which a condition fails has one: queries with the condition fail on it, too.
func (l *Layout) Lacks(row []types.Value) bool {
	for _, x := range l.Where {
		if v, err := x.Eval(&expr.Env{Row: row}); err == nil && (v.IsNull() || !v.Bool()) {
			return true
		}
	}
	return slices.ContainsFunc(l.Sparse, func(c *Column) bool { return row[c.Index].IsNull() })
}

// KeyColumns returns the columns of l's key in the order of its parts.
func (l *Layout) KeyColumns() []int { return columnsOf(l.Key.Parts) }

// PlaceColumns returns the columns that determine the place of a row under l: those of the table's name, the key and
// the packed qualifier, in the order of the parts.
func (l *Layout) PlaceColumns() []int { return columnsOf(l.AllParts()) }

func columnsOf(parts []*Part) []int {
	var out []int
	for _, p := range parts {
		for _, c := range p.Columns {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Lookup is a LOOKUP in the keys of a table: it reads a number from Column of the look-up table Table, in the row whose
// key columns have the values of Args.
type Lookup struct {
	Table, Column string
	Args          []expr.Expr
	Source        string // the part that contains it
	Pos           parser.Pos
}

// LookupParts returns the parts of t's keys and names that use a dictionary.
func (t *Table) LookupParts() []*Part {
	var parts []*Part
	for _, l := range t.Layouts {
		for _, p := range l.AllParts() {
			if p.UsesLookup() {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// Lookups lists the LOOKUPs in t's keys and table names.
func (t *Table) Lookups() []Lookup {
	var out []Lookup
	for _, l := range t.Layouts {
		for _, p := range l.AllParts() {
			if p.Expr == nil {
				continue
			}
			expr.Some(p.Expr, func(e expr.Expr) bool {
				if c, ok := e.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.Lookup == expr.TableDictionary {
					if k, ok := c.Args[0].(*expr.Const); ok {
						table, column, _ := strings.Cut(k.Val.Text(), ".")
						out = append(out, Lookup{table, column, c.Args[1:], p.Source, p.Def.Pos})
					}
				}
				return false
			})
		}
	}
	return out
}

// Numbered returns the columns of t, a look-up table, that hold the numbers which LOOKUPs of other tables read.
func (c *Catalog) Numbered(t *Table) []*Column {
	var out []*Column
	for _, o := range c.Tables() {
		for _, u := range o.Lookups() {
			if !strings.EqualFold(u.Table, t.Name) {
				continue
			}
			if col, ok := t.Column(u.Column); ok && !slices.Contains(out, col) {
				out = append(out, col)
			}
		}
	}
	return out
}

// lookups refuses LOOKUPs that cannot work. It ignores unknown look-up tables: a file may define them later.
func (b *builder) lookups() {
	for _, u := range b.t.Lookups() {
		if strings.EqualFold(u.Table, b.t.Name) || b.c.leads(u.Table, b.t.Name, map[string]bool{}) {
			panic(fail.With(parser.Errorf(u.Pos, "LOOKUP in %s: its own keys need numbers of %s", u.Table, b.t.Name).
				WithHint("break the cycle: a look-up table's key must not depend on the numbers that it gives")))
		}
		if t, ok := b.c.Table(u.Table); ok {
			fail.On(t.numbers(u))
		}
	}
}

// leads reports whether numbers of table to are used in the keys of table from, directly or through other tables.
func (c *Catalog) leads(from, to string, seen map[string]bool) bool {
	t, ok := c.Table(from)
	if !ok || seen[t.Name] {
		return false
	}
	seen[t.Name] = true
	return slices.ContainsFunc(t.Lookups(), func(u Lookup) bool { return strings.EqualFold(u.Table, to) || c.leads(u.Table, to, seen) })
}

// numbers returns an error unless t can be the look-up table of u.
func (t *Table) numbers(u Lookup) error {
	refuse := func(format string, args ...any) error {
		return parser.Errorf(u.Pos, "LOOKUP in %s: "+format, append([]any{t.Name}, args...)...)
	}
	primary := t.Layouts[0]
	col, ok := t.Column(u.Column)
	if !ok {
		return expr.Suggest(parser.Errorf(u.Pos, "LOOKUP in %s: it has no column %q", t.Name, u.Column), u.Column, t.ColumnNames())
	}
	switch key := primary.KeyColumns(); {
	case !col.Type.IsInteger() || col.KeyPart || col.Packed != nil:
		return refuse("column %s cannot hold numbers: it must be a BIGINT (or another integer) in a cell", col.Name)
	case len(t.Layouts) > 1 || primary.Packed != nil:
		return refuse("a look-up table must have one ROW KEY and no columns FROM f:[...], because hql writes each new name to that key only")
	case slices.ContainsFunc(primary.AllParts(), func(p *Part) bool { return p.Drawn() }):
		return refuse("its key is drawn at random: a name does not determine it")
	case len(key) != len(u.Args):
		return refuse("its key has %d columns, %d are given", len(key), len(u.Args))
	}
	for i, a := range u.Args {
		c, of := t.Columns[primary.KeyColumns()[i]], a.Type()
		if k, ok := a.(*expr.Const); ok {
			if _, err := types.Cast(k.Val, c.Type, nil); err != nil {
				return refuse("column %s of its key: %v", c.Name, err)
			}
		} else if of != c.Type && !(of.IsText() && c.Type.IsText()) && !(of.IsInteger() && c.Type.IsInteger()) {
			return refuse("column %s of its key is %s, %s is %s: they must have the same type", c.Name, c.Type, a, of)
		}
	}
	return nil
}

// Names finds names by their numbers: Name returns the name to which call, a LOOKUP, assigned number. ok is false if no
// name has the number.
type Names interface {
	Name(call *expr.Call, number types.Value) (name types.Value, ok bool, err error)
}

// numbered is a part of the key that holds the number of the name in column col.
type numbered struct {
	part, col int
	call      *expr.Call
	known     bool // the key also holds the name itself, and the reader compares them
}

// findNumbered sets numbered.
func (l *Layout) findNumbered() {
	for i, p := range l.Key.Parts {
		for _, c := range p.Columns {
			if call, ok := l.numberOf(c, partRef{1, i}); ok && l.Key.table.Columns[c].KeyPart {
				known := l.Holds(c) || slices.ContainsFunc(l.numbered, func(n numbered) bool { return n.col == c })
				l.numbered = append(l.numbered, numbered{i, c, call, known})
			}
		}
	}
}

// numberOf reports whether a part is the number that call, a LOOKUP, assigns to the unchanged name in column col, so
// that the name can be read back. Only numbers in keys are read back.
//
//	LOOKUP(hosts.id, host) AS INT32             ok
//	LOOKUP(metrics.id, 'cpu', host) AS INT32    ok
//	LOOKUP(hosts.id, LOWER(host)) AS INT32      not ok
func (l *Layout) numberOf(col int, ref partRef) (call *expr.Call, ok bool) {
	if ref.from != 1 {
		return nil, false
	}
	p := l.Key.Parts[ref.part]
	call, ok = p.Expr.(*expr.Call)
	if !ok || call.Func.Key == nil || call.Func.Key.Lookup == expr.NoDictionary {
		return nil, false
	}
	for _, a := range call.Args {
		switch a := a.(type) {
		case *expr.Const:
		case *expr.Column:
			ok = ok && a.Index == col && len(p.Columns) == 1
		default:
			return nil, false
		}
	}
	return call, ok
}
