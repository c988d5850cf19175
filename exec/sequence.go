package exec

import (
	"context"
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

// forget drops all that a session knows of sequences.
func (d *drawn) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.blocks, d.last, d.of = nil, nil, ""
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
