package write

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Row is a row to be written, with its position in the statement.
type Row struct {
	Values  []types.Value
	Pos     parser.Pos
	Set     []bool // by column: named for this row; nil: Inserter.Set applies
	Drawn   bool   // the key has a number of a sequence: another row with the key is an error
	undrawn *place // the place with the drawn part zero, see Writer.undrawn; nil: not computed yet
	at      *place // in the primary layout; nil: not computed yet
}

// Inserter writes rows that may exist. Columns that the statement does not name stay unchanged.
type Inserter struct {
	*Writer
	Set     []bool // by column: named by the statement
	Written int64  // number of rows written
	New     []Row  // with IfNew: the rows that the last Write stored
	// Once refuses a batch in which two rows have the same key.
	Once bool
	// Reads makes Write read the current rows, because the result of the statement needs them.
	Reads bool
}

// Write writes a batch of rows. It encodes all of them before it sends one.
func (in *Inserter) Write(ctx context.Context, rows []Row) error {
	if err := in.Allocate(ctx, rows); err != nil {
		return err
	}
	if in.IfNew {
		return in.flushNew(ctx, rows)
	}
	drawn := func(p Row) bool { return p.Drawn }
	if !slices.ContainsFunc(rows, drawn) {
		return in.replace(ctx, rows)
	}
	for _, p := range rows { // all, before the first is written
		if err := in.Check(p.Values, in.Named(p), true); err != nil {
			return in.Refuse(err, p.Pos)
		}
	}
	defer func() { in.IfNew = false }()
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(p Row) bool { return p.Drawn != rows[0].Drawn })
		if n < 0 {
			n = len(rows)
		}
		write := in.replace
		if in.IfNew = rows[0].Drawn; in.IfNew {
			write = in.flushNew
		}
		if err := write(ctx, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// replace writes rows over those that exist.
func (in *Inserter) replace(ctx context.Context, rows []Row) error {
	for _, p := range rows {
		in.drawHiddenKey(p.Values)
	}
	given := len(rows)
	rows, err := in.lastOfEach(rows)
	if err != nil {
		return err
	}
	var old [][]types.Value
	if in.Reads || in.checksOthers(rows) {
		old, err = in.stored(ctx, in.table.Layouts[0], rows)
	} else {
		old, err = in.present(ctx, rows)
	}
	if err != nil {
		return err
	}
	for i, p := range rows {
		set := in.Named(p)
		var was []types.Value
		if old != nil && old[i] != nil { // other columns keep their values, in every layout
			was = old[i]
			for c := range set {
				if !set[c] {
					p.Values[c] = was[c]
				}
			}
		}
		if err := in.put(ctx, p.Values, set, true, p.at, was); err != nil {
			return in.Refuse(err, p.Pos)
		}
	}
	return in.finish(ctx, given)
}

// checksOthers reports whether a CHECK reads columns that one of rows does not name: a row that exists has values in them.
func (in *Inserter) checksOthers(rows []Row) bool {
	if in.table.HiddenKey || in.table.Layouts[0].Key.Drawn() != nil {
		return false
	}
	return slices.ContainsFunc(in.table.Checks, func(c catalog.Check) bool {
		return slices.ContainsFunc(rows, func(p Row) bool {
			return slices.ContainsFunc(c.Columns, func(col int) bool { return !in.Named(p)[col] })
		})
	})
}

// Keys is a set of places of rows in the primary layout.
type Keys map[[2]string]bool

// Keys returns the places of rows in the primary layout, with 0 in place of the salts that writing will draw. It
// returns nil if the table draws a hidden key, which makes every row new.
func (in *Inserter) Keys(rows []Row) (Keys, error) {
	if in.table.HiddenKey {
		return nil, nil
	}
	out := make(Keys, len(rows))
	for i, p := range rows {
		at, err := in.undrawn(p.Values)
		if err != nil {
			return nil, in.Refuse(err, p.Pos)
		}
		rows[i].undrawn = &at
		out[[2]string{at.table, string(at.key)}] = true
	}
	return out, nil
}

// Meet reports whether k and o have a row in common.
func (k Keys) Meet(o Keys) bool {
	for key := range k {
		if o[key] {
			return true
		}
	}
	return false
}

// Numbers reports whether writing a row may draw a number from a dictionary, or add one to it.
func (in *Inserter) Numbers() bool { return in.lookups || len(in.numbered) > 0 }

func (in *Inserter) finish(ctx context.Context, rows int) error {
	if err := in.Flush(ctx); err != nil {
		return err
	}
	in.Written += int64(rows - len(in.refused))
	clear(in.refused)
	return nil
}

// Named marks the columns that the statement names for row p.
func (in *Inserter) Named(p Row) []bool {
	if p.Set != nil {
		return p.Set
	}
	return in.Set
}

// lastOfEach joins rows with the same place. Each column gets its value from the last row that names it. All rows are
// written with one timestamp, so a cell that one of them deletes would hide a cell that another writes. Rows that are
// replaced must fit the table, too.
func (in *Inserter) lastOfEach(rows []Row) ([]Row, error) {
	if len(rows) < 2 || in.table.HiddenKey {
		return rows, nil // every row is new
	}
	last := make(map[rowID]int, len(rows))
	ids := make([]rowID, len(rows))
	drawn := in.table.Layouts[0].Key.Drawn() != nil
	for i, p := range rows {
		at := p.undrawn
		if at == nil {
			is, err := in.undrawn(p.Values)
			if err != nil {
				return nil, in.Refuse(err, p.Pos)
			}
			at = &is
		}
		if ids[i] = at.id(); !drawn {
			rows[i].at, p.at = at, at
		}
		if earlier, ok := last[ids[i]]; ok {
			if in.Once {
				return nil, TwiceInConflict(p.Pos)
			}
			if err := in.Check(rows[earlier].Values, in.Named(rows[earlier]), false); err != nil {
				return nil, in.Refuse(err, rows[earlier].Pos)
			}
			rows[i] = in.over(p, rows[earlier])
		}
		last[ids[i]] = i
	}
	if len(last) == len(rows) {
		return rows, nil
	}
	out := rows[:0]
	for i, p := range rows {
		if last[ids[i]] == i {
			out = append(out, p)
		}
	}
	return out, nil
}

// TwiceInConflict is the error for two rows of an ON CONFLICT DO UPDATE with the same key.
func TwiceInConflict(at parser.Pos) error {
	return parser.Errorf(at, "ON CONFLICT DO UPDATE cannot change a row twice: an earlier row of the statement has the same key")
}

// over returns row p; columns that it does not name are taken from an earlier row.
func (in *Inserter) over(p, earlier Row) Row {
	before := in.Named(earlier)
	p.Set = slices.Clone(in.Named(p))
	for c, named := range p.Set {
		if before[c] && !named {
			p.Values[c], p.Set[c] = earlier.Values[c], true
		}
	}
	return p
}

// missing returns the rows for IF NOT EXISTS whose key does not exist in the table, under any salt. If several rows have
// the same key, it returns the first.
func (w *Writer) missing(ctx context.Context, rows []Row) ([]Row, error) {
	drawn := w.table.Layouts[0].Key.Drawn() != nil
	seen := map[rowID]bool{}
	if drawn {
		if err := w.underAnySalt(ctx, rows, seen); err != nil {
			return nil, err
		}
	}
	out := rows[:0]
	for _, p := range rows {
		id, err := w.identity(p.Values)
		if err != nil {
			return nil, w.Refuse(err, p.Pos)
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, p)
		} else if p.Drawn {
			return nil, w.taken(p)
		}
	}
	if drawn {
		return out, nil
	}
	old, err := w.stored(ctx, w.table.Layouts[0], out)
	if err != nil {
		return nil, err
	}
	rows, out = out, out[:0]
	for i, p := range rows {
		if old[i] == nil {
			out = append(out, p)
		} else if p.Drawn {
			return nil, w.taken(p)
		}
	}
	return out, nil
}

// taken is the error for row p, in whose key is a number of a sequence that another row has.
func (w *Writer) taken(p Row) error {
	t := w.table
	var names, values []string
	hint := "setval sets the sequence behind the numbers that the table has"
	for _, i := range t.Layouts[0].PlaceColumns() {
		c := t.Columns[i]
		names, values = append(names, c.Name), append(values, p.Values[i].String())
		if name := c.Draws(); name != "" {
			hint = fmt.Sprintf("SELECT setval('%s', (SELECT MAX(%s) FROM %s)) continues the sequence behind the numbers that the table has",
				strings.ReplaceAll(name, ":", "."), parser.QuoteName(c.Name), parser.QuoteName(t.Name))
		}
	}
	broken := &ConstraintError{Table: t.Name, Constraint: t.Name + "_pkey", Key: fmt.Sprintf("(%s)=(%s)", strings.Join(names, ", "), strings.Join(values, ", "))}
	return parser.Errorf(p.Pos, "duplicate key value violates unique constraint %q: a row of %s has the drawn key %s", broken.Constraint, t.Name, broken.Key).
		Of(broken).WithHint("%s", hint)
}

// underAnySalt adds to seen the identities of the table's rows that have the keys of rows, under any salt.
func (w *Writer) underAnySalt(ctx context.Context, rows []Row, seen map[rowID]bool) error {
	for part := range slices.Chunk(rows, keysPerPlan) {
		where, args, err := w.haveKeys(part)
		if err != nil {
			return err
		}
		err = w.st.Where(ctx, w.table, where, args, func(found [][]types.Value) error {
			for _, row := range found {
				id, err := w.identity(row)
				if err != nil {
					return err
				}
				seen[id] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keysPerPlan bounds the number of keys that one query looks for.
const keysPerPlan = 200

// haveKeys returns the condition that a row has one of the keys of rows, ignoring drawn parts: a = ? AND COALESCE(b, 0) =
// ? OR ...
func (w *Writer) haveKeys(rows []Row) (where parser.Expr, args []types.Value, err error) {
	for _, p := range rows {
		var same parser.Expr
		for _, t := range keyTerms(w.table) {
			v, err := t.value.Eval(&expr.Env{Row: p.Values})
			if err != nil {
				return nil, nil, w.Refuse(err, p.Pos)
			}
			args = append(args, v)
			var is parser.Expr = &parser.Binary{Op: "=", X: t.written, Y: &parser.Param{Index: len(args)}}
			if v.IsNull() {
				is = &parser.Is{X: t.written, What: "NULL"}
			}
			same = joined(same, "AND", is)
		}
		where = joined(where, "OR", same)
	}
	return where, args, nil
}

// joined returns x op y, or y if x is nil.
func joined(x parser.Expr, op string, y parser.Expr) parser.Expr {
	if x == nil {
		return y
	}
	return &parser.Binary{Op: op, X: x, Y: y}
}

// keyTerm is an expression with equal values for rows with the same key: parsed, for the planner, and compiled.
type keyTerm struct {
	written parser.Expr
	value   expr.Expr
}

// keyTerms returns the terms that identify t's rows: the columns that are read from the key, and the key parts that are
// computed from other columns. A part may be equal for rows with different values.
func keyTerms(t *catalog.Table) []keyTerm {
	var out []keyTerm
	var seen []int
	for _, p := range t.Layouts[0].AllParts() {
		known := !slices.ContainsFunc(p.Columns, func(c int) bool { return !t.Columns[c].KeyPart })
		if !known && !p.UsesLookup() {
			out = append(out, keyTerm{p.Def.Expr, p.Expr})
			continue
		}
		for _, c := range p.Columns {
			if !slices.Contains(seen, c) {
				seen = append(seen, c)
				col := t.Columns[c]
				out = append(out, keyTerm{&parser.ColumnRef{Name: col.Name, Quoted: true}, &expr.Column{Index: c, Name: col.Name, Typ: col.Type}})
			}
		}
	}
	return out
}
