package exec

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// The numbers of a sequence come from a counter in hql_catalog, which all clients increment. Its cell d:n has the number that was
// drawn last. Cell d:first has 16 bytes as long as nextval was not called since setval(s, n, false): the value of d:n, and n.
const firstQualifier = "first"

// block is a run of numbers that were drawn and not used yet.
type block struct{ next, left int64 }

// drawn is the state of the sequences in a session, or those blocks of a statement that end with it.
type drawn struct {
	mu     sync.Mutex
	blocks map[string]*block // by counter
	last   map[string]int64  // the results of nextval
	of     string            // the counter of the last one
	rows   int64             // of the statement that will draw numbers; a block has no more
	grows  bool              // rows is a guess that doubles
}

func (d *drawn) block(counter string) *block {
	if d.blocks == nil {
		d.blocks, d.last = map[string]*block{}, map[string]int64{}
	}
	if d.blocks[counter] == nil {
		d.blocks[counter] = &block{}
	}
	return d.blocks[counter]
}

// sequenceNamed returns the sequence that the text of a statement names.
func (r *run) sequenceNamed(text string) (*catalog.Sequence, error) {
	name := catalog.SequenceName(text)
	if rest, ok := strings.CutPrefix(name, "pg_temp:"); ok {
		name = r.session.temporaryTables() + rest
	}
	names := []string{name}
	if !strings.Contains(name, ":") {
		names = []string{r.session.temporaryTables() + name}
		for _, schema := range r.session.path() {
			names = append(names, strings.TrimPrefix(schema+":", "public:")+name)
		}
		names = append(names, name)
	}
	for _, name := range names {
		if v, ok := r.engine.catalog.View(name); ok && v.Sequence() != nil {
			return v.Sequence(), nil
		} else if _, _, err := r.engine.catalog.TableOrView(name, parser.NoPos); err == nil {
			return nil, fmt.Errorf("%q is not a sequence", text)
		}
	}
	return nil, parser.Errorf(parser.NoPos, "relation %q does not exist", text).Of(catalog.ErrUnknownTable)
}

// callSequence runs a function of sequences.
func (r *run) callSequence(ctx context.Context, function string, args []types.Value) (types.Value, error) {
	if slices.ContainsFunc(args, types.Value.IsNull) {
		return types.Value{}, nil
	}
	own := &r.session.drawn
	if function == "HQL_SEQUENCE" {
		c, err := r.counter(ctx, args[0].Text())
		if args[1].Text() == "is_called" {
			c.last = map[bool]int64{true: 1}[c.called]
		}
		return types.NewInt(c.last), err
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	if function == "LASTVAL" {
		if n, ok := own.last[own.of]; ok {
			return types.NewInt(n), nil
		}
		return types.Value{}, errors.New("lastval is not yet defined in this session")
	}
	s, err := r.sequenceNamed(args[0].String())
	if err != nil {
		return types.Value{}, err
	}
	switch own.block(s.Counter); function {
	case "CURRVAL":
		if n, ok := own.last[s.Counter]; ok {
			return types.NewInt(n), nil
		}
		return types.Value{}, fmt.Errorf("currval of sequence %q is not yet defined in this session", s.Name)
	case "SETVAL":
		n, err := types.Cast(args[1], types.BigInt, nil)
		if err == nil {
			err = r.setSequence(ctx, s, n.Int(), len(args) < 3 || args[2].Bool())
		}
		if err == nil && (len(args) < 3 || args[2].Bool()) {
			own.last[s.Counter] = n.Int()
		}
		return n, err
	}
	n, err := r.nextOf(ctx, s)
	if err == nil {
		own.last[s.Counter], own.of = n, s.Counter
	}
	return types.NewInt(n), err
}

// nextOf returns the next number of s. The session's numbers are locked.
func (r *run) nextOf(ctx context.Context, s *catalog.Sequence) (int64, error) {
	if r.trial {
		return s.Start, nil
	}
	b := r.drawn.block(s.Counter)
	if s.Cache > 1 {
		b = r.session.drawn.block(s.Counter)
	}
	if b.left == 0 {
		if err := r.engine.refresh(ctx); err != nil {
			return 0, err
		}
		v, _ := r.engine.catalog.View(s.Name)
		if now := v.Sequence(); now == nil || now.Counter != s.Counter {
			return 0, parser.Errorf(parser.NoPos, "relation %q does not exist", s.Name).Of(catalog.ErrUnknownTable)
		} else {
			s = now
		}
		if r.drawn.grows {
			r.drawn.rows = max(1, min(2*r.drawn.rows, write.Batch))
		}
		var err error
		if b.next, b.left, err = r.drawBlock(ctx, s, max(s.Cache, r.drawn.rows)); err != nil {
			return 0, err
		}
	}
	n := b.next
	b.next, b.left = n+s.Increment, b.left-1
	return n, nil
}

// drawBlock draws n numbers of s, or fewer at its end: a single increment on the server, so that no other client gets one of them.
func (r *run) drawBlock(ctx context.Context, s *catalog.Sequence, n int64) (first, got int64, err error) {
	n = s.Block(n)
	for {
		last, err := lookupStatement{r}.Add(ctx, s.Counter, n*s.Increment)
		if err != nil {
			return 0, 0, err
		}
		before := last - n*s.Increment
		if got = s.Room(before, n); got == n {
			return before + s.Increment, n, nil
		}
		to, first := max(s.Min, min(before+got*s.Increment, s.Max)), before+s.Increment
		if got == 0 && s.Cycle {
			if first = s.Min; s.Increment < 0 {
				first = s.Max
			}
			to = first + (n-1)*s.Increment
		}
		// The counter is set back, so that it never overflows, unless another client has done so.
		now, err := r.counter(ctx, s.Counter)
		done := false
		if err == nil && now.n == last {
			done, err = r.setCounter(ctx, s.Counter, now, to, nil)
		}
		switch {
		case err != nil:
			return 0, 0, err
		case got > 0:
			return first, got, nil
		case s.Cycle && done:
			return first, n, nil
		case !s.Cycle && s.Increment > 0:
			return 0, 0, fmt.Errorf("nextval: reached maximum value of sequence %q (%d)", s.Name, s.Max)
		case !s.Cycle:
			return 0, 0, fmt.Errorf("nextval: reached minimum value of sequence %q (%d)", s.Name, s.Min)
		}
	}
}

// counter is the state of a counter.
type counter struct {
	n      int64
	called bool
	last   int64  // the number that was drawn last, or the next one unless called is set
	raw    []byte // the cell with n; nil: none
	at     int64  // its timestamp
}

// counter reads the counter called name.
func (r *run) counter(ctx context.Context, name string) (c counter, err error) {
	rows, err := r.Client.Get(ctx, catalogTable, [][]byte{[]byte(counterPrefix + name)}, &hbase.ReadOptions{Families: []string{catalogFamily}})
	if err != nil || rows[0].Key == nil {
		return c, err
	}
	var first []byte
	for _, cell := range rows[0].Cells {
		if string(cell.Qualifier) == firstQualifier {
			first = cell.Value
		} else {
			c.raw, c.at = cell.Value, cell.Timestamp
		}
	}
	c.n = counted(hbase.Row{Cells: []hbase.Cell{{Value: c.raw}}})
	if c.last, c.called = c.n, len(first) != 16 || string(first[:8]) != string(c.raw); !c.called {
		c.last = int64(binary.BigEndian.Uint64(first[8:]))
	}
	return c, nil
}

// setCounter sets a counter to n if it still is as was, and reports whether it did. The timestamps of increments may be ahead of the
// server's clock.
func (r *run) setCounter(ctx context.Context, name string, was counter, n int64, first []byte) (bool, error) {
	put := hbase.Mutation{Kind: hbase.Put, Key: []byte(counterPrefix + name), Timestamp: max(r.engine.clock.Next(), was.at+1)}
	for qualifier, value := range map[string][]byte{counterQualifier: binary.BigEndian.AppendUint64(nil, uint64(n)), firstQualifier: first} {
		put.Cells = append(put.Cells, hbase.Cell{Family: []byte(catalogFamily), Qualifier: []byte(qualifier), Value: value})
	}
	slices.SortFunc(put.Cells, func(a, b hbase.Cell) int { return len(a.Qualifier) - len(b.Qualifier) })
	return r.Client.PutIf(ctx, catalogTable, was.raw, put)
}

// setSequence sets the last number of s, or its next one unless called is set.
func (r *run) setSequence(ctx context.Context, s *catalog.Sequence, n int64, called bool) error {
	if n < s.Min || n > s.Max {
		return fmt.Errorf("setval: value %d is out of bounds for sequence %q (%d..%d)", n, s.Name, s.Min, s.Max)
	}
	*r.session.drawn.block(s.Counter), *r.drawn.block(s.Counter) = block{}, block{}
	to, first := n, []byte(nil)
	if !called {
		to = n - s.Increment
		first = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(to)), uint64(n))
	}
	for {
		was, err := r.counter(ctx, s.Counter)
		if err != nil {
			return err
		}
		if done, err := r.setCounter(ctx, s.Counter, was, to, first); done || err != nil {
			return err
		}
	}
}

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
	if err := r.setSequence(ctx, q, q.Start, false); err != nil {
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
				restart := catalog.Sequence{Type: types.BigInt, Increment: 1}
				if err := restart.Set([]parser.Option{{Pos: o.Pos, Key: "START WITH", Value: o.Value}, {Key: "NO MINVALUE"}}, false); err != nil {
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
	known, err := r.changeable(ctx, v.Name, at)
	if err != nil {
		return err
	}
	def, err := defined(v.Def, q)
	if err == nil {
		err = r.saveDefinition(ctx, v.Name, known.sql, def.String(), changedMeanwhile(v.Name, at))
	}
	if err == nil {
		err = r.engine.reload(ctx)
	}
	if err == nil {
		err = r.engine.awaitRefresh(ctx)
	}
	return err
}

// ownSequences makes the sequences of the columns of s that draw numbers, and returns s with these as their DEFAULTs. drop removes
// those that no table uses.
func (r *run) ownSequences(ctx context.Context, s *parser.CreateTable) (_ *parser.CreateTable, drop func(), err error) {
	var made []string
	drop = func() {
		for _, name := range made {
			if v, ok := r.engine.catalog.View(name); ok && len(r.drawsFrom(v.Name)) == 0 {
				_ = r.dropView(context.WithoutCancel(ctx), &parser.Drop{View: true, Sequence: true, Name: name, IfExists: true})
			}
		}
	}
	out := *s
	out.Columns = slices.Clone(s.Columns)
	out.NameSequences(func(name string) bool {
		_, _, err := r.engine.catalog.TableOrView(name, parser.NoPos)
		return err == nil
	})
	for i := range out.Columns {
		c := &out.Columns[i]
		if c.Identity == "" {
			continue
		}
		name := (&catalog.Column{Default: c.Default}).Draws()
		options := slices.Clone(c.Sequence)
		if !slices.ContainsFunc(options, func(o parser.Option) bool { return strings.HasPrefix(o.Key, "AS ") }) {
			options = append(options, parser.Option{Pos: c.Pos, Key: "AS " + c.Type})
		}
		options = append(options, parser.Option{Pos: c.Pos, Key: "OWNED"})
		if _, err := r.createSequence(ctx, &parser.CreateView{Pos: s.Pos, Name: name, NamePos: c.Pos, Sequence: options}); err != nil {
			return s, drop, err
		}
		r.rec.ended.Store(nil) // the statement continues
		made = append(made, name)
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
			return parser.Errorf(s.NamePos, "cannot drop sequence %s because other objects depend on it: default value for column %s of table %s", s.Name, a.Changes[0].Name, a.Name).
				WithHint("CASCADE drops the default value, too")
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
		if len(r.drawsFrom(s.Name)) > 0 {
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

// alterNumbers runs the changes of s one after the other. A new column that draws numbers gets one for each row that exists.
func (r *run) alterNumbers(ctx context.Context, t *catalog.Table, s *parser.Alter) error {
	for _, c := range s.Changes {
		col, there := t.Column(c.Name)
		if c.Name != "" && !there {
			return parser.Errorf(c.Pos, "unknown column %q of table %s", c.Name, t.Name).Of(catalog.ErrUnknownColumn)
		}
		if c.Kind == parser.AlterSequence {
			if col == nil || col.Identity == "" || r.engine.catalog.SequenceOf(col) == nil {
				return parser.Errorf(c.Pos, "column %q of relation %q is not an identity column", c.Name, t.Name)
			}
			if err := r.alterSequence(ctx, col.Draws(), c.Pos, c.Options); err != nil {
				return err
			}
			continue
		}
		one := *s
		if one.Changes = []parser.Change{c}; !isDrawn(c) {
			if _, err := r.alter(ctx, &one); err != nil {
				return err
			}
			continue
		}
		if err := r.addNumbers(ctx, t, &one, col); err != nil {
			return err
		}
	}
	return nil
}

// addNumbers adds a column of numbers to t, or makes col one.
func (r *run) addNumbers(ctx context.Context, t *catalog.Table, s *parser.Alter, col *catalog.Column) error {
	c := s.Changes[0]
	adds := c.Kind == parser.AddColumn
	if _, there := t.Column(c.Column.Name); adds && there {
		if c.If {
			return nil
		}
		return parser.Errorf(c.Column.Pos, "column %q already exists", c.Column.Name)
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
	steps := []parser.Statement{s}
	if c.Column = own.Columns[0]; adds {
		first := c
		first.Column.Identity, first.Column.NotNull = "", false
		name, column := parser.QuoteName(t.Name), parser.QuoteName(def.Name)
		fill, err := parser.ParseStatement("UPDATE " + name + " SET " + column + " = DEFAULT WHERE " + column + " IS NULL ALLOW FULL SCAN")
		if err != nil {
			return err
		}
		last := parser.Change{Pos: c.Pos, Kind: parser.AlterNotNull, Name: def.Name, Column: parser.ColumnDef{NotNull: true}}
		steps = []parser.Statement{alterOne(s, first), fill, alterOne(s, last)}
		if def := c.Column; def.Identity != "" {
			steps = append(steps, alterOne(s, parser.Change{Pos: c.Pos, Kind: parser.AlterIdentity, Name: def.Name, Column: def}))
		}
	} else {
		steps[0] = alterOne(s, c)
	}
	for _, step := range steps {
		next := r.engine.newRun(r.args, r.rec.began)
		next.prepare(ctx, step)
		if alter, ok := step.(*parser.Alter); ok {
			if t, err = r.tableNamed(t.Name, s.NamePos); err == nil {
				_, err = next.alterDefinition(ctx, t, alter)
			}
		} else {
			_, err = next.do(ctx, step, nil)
		}
		next.subqueries.end()
		if err != nil {
			return err
		}
	}
	return nil
}

func alterOne(s *parser.Alter, c parser.Change) *parser.Alter {
	out := *s
	out.Changes = []parser.Change{c}
	return &out
}
