package exec

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// createSequence runs CREATE SEQUENCE.
func (r *run) createSequence(ctx context.Context, s *parser.CreateView) (*Rows, error) {
	q := &catalog.Sequence{Type: types.BigInt}
	if err := q.Set(s.Sequence, false); err != nil {
		return nil, err
	}
	if q.Counter == "" {
		q.Counter = "sequence/" + rand.Text()
	}
	if err := r.ensureCatalogTable(ctx); err != nil {
		return nil, err
	}
	now, err := r.counter(ctx, q.Counter)
	if err == nil && now.raw == nil { // STORED IN may name one that is in use
		r.session.drawn.mu.Lock()
		err = r.setSequence(ctx, q, q.Start, false)
		r.session.drawn.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	def, err := defined(s, q)
	if err != nil {
		return nil, err
	}
	return r.createView(ctx, def)
}

// defined returns s with the complete options of q, and the query of its state.
func defined(s *parser.CreateView, q *catalog.Sequence) (*parser.CreateView, error) {
	def := *s
	def.Sequence = q.Options()
	again, err := parser.ParseStatement(def.String())
	if err != nil {
		return nil, err
	}
	return parser.CopyOf(again.(*parser.CreateView)), nil
}

// alterSequence runs ALTER SEQUENCE, and what ALTER COLUMN does to the sequence of a column.
func (r *run) alterSequence(ctx context.Context, name string, at parser.Pos, options []parser.Option) error {
	v, ok := r.engine.catalog.View(name)
	q := v.Sequence()
	if !ok || q == nil {
		if _, _, err := r.engine.catalog.TableOrView(name, at); err != nil {
			return parser.Errorf(at, "relation %q does not exist", name).Of(catalog.ErrUnknownTable)
		}
		return parser.Errorf(at, "%q is not a sequence", name)
	}
	now, err := r.counter(ctx, q.Counter)
	if err != nil {
		return err
	}
	was := *q
	if err := q.Set(options, true); err != nil {
		return err
	}
	set := q.Increment != was.Increment && !now.called
	for _, o := range options {
		if o.Key == "RESTART" {
			if now.last, now.called, set = q.Start, false, true; o.Value != nil {
				restart := *q
				if err := restart.Set([]parser.Option{{Pos: o.Pos, Key: "START WITH", Value: o.Value}}, true); err != nil {
					return err
				}
				now.last = restart.Start
			}
		}
	}
	r.session.drawn.mu.Lock()
	defer r.session.drawn.mu.Unlock()
	*r.session.drawn.block(q.Counter) = block{}
	if set {
		if err := r.setSequence(ctx, q, now.last, now.called); err != nil {
			return err
		}
	}
	if was == *q {
		return nil
	}
	def, err := defined(v.Def, q)
	if err != nil {
		return err
	}
	return r.changeDefinition(ctx, v.Name, v, def.String(), at)
}

// sequenceRounds bounds the number of times that CREATE TABLE waits for a connection that has made a sequence for the same table.
const sequenceRounds = 200

// ownSequences makes the sequences of the columns of s that draw numbers, and returns s with these as their DEFAULTs. drop removes
// those that no table uses.
func (r *run) ownSequences(ctx context.Context, s *parser.CreateTable) (_ *parser.CreateTable, drop func(), err error) {
	var made []*catalog.Sequence
	drop = func() { _ = r.dropOwned(context.WithoutCancel(ctx), made) }
	out := *s
	out.Columns = slices.Clone(s.Columns)
	taken := func(name string) bool {
		_, _, err := r.engine.catalog.TableOrView(name, parser.NoPos)
		return err == nil
	}
	out.NameSequences(taken)
	for i := range out.Columns {
		c := &out.Columns[i]
		if c.Identity == "" {
			continue
		}
		if t, _ := types.ParseType(c.Type); !t.IsInteger() {
			return s, drop, parser.Errorf(c.Pos, "identity column type must be smallint, integer, or bigint")
		}
		options := slices.Clone(c.Sequence)
		if !slices.ContainsFunc(options, func(o parser.Option) bool { return strings.HasPrefix(o.Key, "AS ") }) {
			options = append(options, parser.Option{Pos: c.Pos, Key: "AS " + c.Type})
		}
		options = append(options, parser.Option{Pos: c.Pos, Key: "OWNED"})
		var name string
		for round := 0; ; round++ {
			name = (&catalog.Column{Default: c.Default}).Draws()
			_, err = r.createSequence(ctx, &parser.CreateView{Pos: s.Pos, Name: name, NamePos: c.Pos, Sequence: options})
			if _, there := r.engine.catalog.Table(s.Name); there || !errors.Is(err, errTableExists) || parser.SequenceOption(options, "SEQUENCE NAME") != "" {
				break
			}
			if round >= sequenceRounds {
				out.NameSequences(taken)
			} else if write.Pause(ctx, round) != nil || r.engine.reload(ctx) != nil { // another connection makes the same table
				break
			}
		}
		if err != nil {
			return s, drop, err
		}
		r.rec.ended.Store(nil) // the statement continues
		if v, ok := r.engine.catalog.View(name); ok {
			made = append(made, v.Sequence())
		}
		if c.Sequence = []parser.Option{{Key: "SEQUENCE NAME", Value: &parser.Literal{Kind: parser.StringLiteral, Text: name}}}; c.Identity == parser.Serial {
			c.Identity, c.Sequence = "", nil
		}
	}
	return &out, drop, nil
}

// drawsFrom returns the columns of tables whose DEFAULT draws from a sequence, as changes that drop it.
func (r *run) drawsFrom(name string) (out []*parser.Alter) {
	for _, t := range r.engine.catalog.Tables() {
		for _, c := range t.Columns {
			if strings.EqualFold(c.Draws(), name) {
				kind := parser.AlterDefault
				if c.Identity != "" {
					kind = parser.AlterIdentity
				}
				out = append(out, &parser.Alter{Pos: parser.NoPos, Verb: "ALTER TABLE", Name: t.Name, NamePos: parser.NoPos, Changes: []parser.Change{{Pos: parser.NoPos, Kind: kind, Name: c.Name}}})
			}
		}
	}
	return out
}

// drawFrom lets the columns that draw from a sequence do so by its new name.
func (r *run) drawFrom(ctx context.Context, name, to string) error {
	for _, a := range r.drawsFrom(name) {
		t, err := r.tableNamed(a.Name, parser.NoPos)
		if err != nil {
			return err
		}
		def := t.Def.At(parser.NoPos)
		for i := range def.Columns {
			if c := &def.Columns[i]; strings.EqualFold((&catalog.Column{Default: c.Default}).Draws(), name) {
				c.Named(to)
			}
		}
		now, err := r.engine.catalog.Build(def)
		if err == nil {
			_, err = r.redefine(ctx, t, now, parser.NoPos)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// undrawn refuses to drop the sequence called name while the DEFAULT of a column draws from it. With CASCADE it drops the DEFAULTs.
func (r *run) undrawn(ctx context.Context, s *parser.Drop) error {
	for _, a := range r.drawsFrom(s.Name) {
		if !s.Cascade {
			return parser.Errorf(s.NamePos, "cannot drop sequence %s because other objects depend on it", s.Name).
				WithHint("column %s of table %s draws its default value from it: CASCADE drops this default value, too", a.Changes[0].Name, a.Name)
		}
		if _, err := r.alter(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// dropOwned drops the sequences in list that no column draws from any more.
func (r *run) dropOwned(ctx context.Context, list []*catalog.Sequence) error {
	for _, s := range list {
		if _, ok := r.engine.catalog.View(s.Name); !ok || len(r.drawsFrom(s.Name)) > 0 {
			continue
		}
		if err := r.dropView(ctx, &parser.Drop{Pos: parser.NoPos, View: true, Sequence: true, Name: s.Name, NamePos: parser.NoPos, IfExists: true}); err != nil {
			return err
		}
	}
	return nil
}

// restartOwned restarts the sequences of t: TRUNCATE ... RESTART IDENTITY.
func (r *run) restartOwned(ctx context.Context, t *catalog.Table) error {
	for _, s := range r.engine.catalog.Owned(t) {
		if err := r.alterSequence(ctx, s.Name, parser.NoPos, []parser.Option{{Key: "RESTART"}}); err != nil {
			return err
		}
	}
	return nil
}

// isDrawn reports whether c concerns the sequence of a column, beyond its definition.
func isDrawn(c parser.Change) bool {
	return c.Kind == parser.AlterSequence || (c.Kind == parser.AddColumn || c.Kind == parser.AlterIdentity && c.Column.Sequence != nil) && c.Column.Identity != ""
}

// alterNumbers runs s, in which a column gets numbers of a sequence of its own, or a sequence of a column changes.
func (r *run) alterNumbers(ctx context.Context, t *catalog.Table, s *parser.Alter) error {
	all := *s
	all.Changes = nil
	for _, c := range s.Changes {
		col, there := t.Column(c.Name)
		switch {
		case !isDrawn(c):
			all.Changes = append(all.Changes, c)
			continue
		case c.Name != "" && !there:
			return parser.Errorf(c.Pos, "unknown column %q of table %s", c.Name, t.Name).Of(catalog.ErrUnknownColumn)
		case c.Kind == parser.AlterSequence && (col.Identity == "" || r.engine.catalog.SequenceOf(col) == nil):
			return parser.Errorf(c.Pos, "column %q of relation %q is not an identity column", c.Name, t.Name)
		case c.Kind == parser.AlterSequence:
			if err := r.alterSequence(ctx, col.Draws(), c.Pos, c.Options); err != nil {
				return err
			}
			continue
		}
		if _, there := t.Column(c.Column.Name); there && c.Kind == parser.AddColumn {
			all.Changes = append(all.Changes, c) // does nothing, or fails
			continue
		}
		def := c.Column
		if col != nil {
			def.Name, def.Type, def.Pos = col.Name, col.Type.String(), c.Pos
		}
		own, drop, err := r.ownSequences(ctx, &parser.CreateTable{Pos: s.Pos, Name: t.Name, NamePos: s.NamePos, Columns: []parser.ColumnDef{def}})
		defer drop()
		if err != nil {
			return err
		}
		if c.Column = own.Columns[0]; c.Kind == parser.AddColumn {
			c.Column.NotNull = true
		}
		all.Changes = append(all.Changes, c)
	}
	if len(all.Changes) == 0 {
		return nil
	}
	t, err := r.tableNamed(t.Name, s.NamePos)
	if err == nil {
		_, err = r.alterDefinition(ctx, t, &all)
	}
	return err
}

// alterOne returns s with the change c alone.
func alterOne(s *parser.Alter, c parser.Change) *parser.Alter {
	out := *s
	out.Changes = []parser.Change{c}
	return &out
}
