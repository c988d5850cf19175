package scan

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// indexScan looks up the rows of an INDEX or a copy in the primary layout, a batch at a time and in the index's order.
// It skips an entry whose row is missing or has changed: a crash between the two writes leaves such entries.
type indexScan struct {
	in    operator.Operator // rows of the index, with the columns of its key
	st    *Reads
	stats *Counts
	scan  *plan.Scan
	dec   *Decoder
	opts  *hbase.ReadOptions
	env   expr.Env
	batch *rowBatch
}

func newIndexScan(st *Reads, s *plan.Scan, stats *Counts, in operator.Operator) *indexScan {
	primary := s.Table.Layouts[0]
	// The entry is compared with its row, so the columns of the index are needed.
	whole := *s
	whole.Fetch, whole.Filter = plan.FetchAll, nil
	whole.Needed = slices.Clone(s.Needed)
	for _, p := range s.Layout.Key.Parts {
		for _, c := range p.Columns {
			whole.Needed[c] = true
		}
	}
	opts := ReadOptions(&whole, primary)
	opts.NoCacheBlocks = false
	opts.Region, opts.Slots = stats.regions, st.Slots
	env := st.KeyEnv()
	env.Lookup = st.Numbers.Known
	return &indexScan{in: in, st: st, stats: stats, scan: s, dec: NewDecoder(st, &whole, primary), opts: &opts,
		env: env, batch: newRowBatch(s.Width())}
}

func (x *indexScan) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		entries, err := x.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		x.batch.reset()
		if err := x.lookUp(ctx, entries); err != nil {
			return nil, err
		}
		if len(x.batch.rows) > 0 {
			return x.batch.rows, nil
		}
	}
}

func (x *indexScan) lookUp(ctx context.Context, entries [][]types.Value) error {
	primary := x.scan.Table.Layouts[0]
	var table string
	var keys [][]byte
	var of [][]types.Value
	x.dec.ctx = ctx
	flush := func() error {
		if len(keys) == 0 {
			return nil
		}
		rows, err := x.st.Client.Get(ctx, table, keys, x.opts)
		if err != nil {
			return fmt.Errorf("look up the rows of %s in %s: %w", x.scan.Layout.Name, table, err)
		}
		x.stats.gets.Add(int64(len(keys)))
		x.dec.ctx, x.dec.seen = ctx, time.Now()
		from, entries := len(x.batch.rows), of[:0]
		for i := range rows {
			if rows[i].Key == nil {
				continue
			}
			x.stats.read.Add(1)
			n := len(x.batch.rows)
			if err := x.dec.appendRows(x.batch, table, &rows[i]); err != nil {
				return err
			}
			if len(x.batch.rows) > n {
				entries = append(entries, of[i])
			}
		}
		if err := x.keepAgreeing(ctx, from, entries); err != nil {
			return err
		}
		keys, of = keys[:0], of[:0]
		return nil
	}
	if err := x.st.Numbers.ResolveNames(ctx, x.scan.Table, entries); err != nil {
		return err
	}
	for _, e := range entries {
		x.env.Row = e
		name, err := primary.Stored.Append(nil, e, &x.env)
		if err != nil {
			return err
		}
		key, err := primary.Key.Append(nil, e, &x.env)
		if err != nil {
			return err
		}
		if string(name) != table {
			if err := flush(); err != nil {
				return err
			}
			table = string(name)
		}
		keys, of = append(keys, key), append(of, e)
	}
	return flush()
}

// keepAgreeing drops rows of the batch, from index from on, that have changed since their entry was written: their
// current entry is at another place. entries[i] led to row from+i.
func (x *indexScan) keepAgreeing(ctx context.Context, from int, entries [][]types.Value) error {
	rows := x.batch.rows[from:]
	if err := x.st.Numbers.ResolveNames(ctx, x.scan.Table, rows); err != nil {
		return err
	}
	kept := x.batch.rows[:from]
	for i, row := range rows {
		if x.agrees(entries[i], row) {
			kept = append(kept, row)
		}
	}
	x.batch.rows = kept
	return nil
}

// agrees reports whether row has an entry at the place of entry.
func (x *indexScan) agrees(entry, row []types.Value) bool {
	l := x.scan.Layout
	key, err := l.Key.Append(nil, row, &x.env)
	if err != nil {
		x.notCompared(entry, err)
		return false
	}
	if string(key) != entry[len(x.scan.Table.Columns)].Text() {
		return false
	}
	if l.Stored.IsLiteral() {
		return true
	}
	is, err := l.Stored.Append(nil, row, &x.env)
	if err != nil {
		return false
	}
	was, err := l.Stored.Append(nil, entry, &x.env)
	return err == nil && bytes.Equal(is, was)
}

// notCompared counts an entry that cannot be compared with its row: a name in the row has lost its number, or another
// program wrote a value that fits no entry.
func (x *indexScan) notCompared(entry []types.Value, err error) {
	t, l := x.scan.Table, x.scan.Layout
	first := HexBytes([]byte(entry[len(t.Columns)].Text()))
	x.st.Warn.Count(warning.Key, x.scan, func() func(int64) string {
		return func(n int64) string {
			return fmt.Sprintf("%s of %s not read by %s: the key cannot be computed from the row, first entry %s (%v)", words.Count(n, "row"),
				t.Name, l.Name, first, err)
		}
	})
}

func (x *indexScan) Close() error { return x.in.Close() }
