package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/store"
)

// faultRows is the number of rows in each test under faults, faultSplits the starts of its regions.
const faultRows = 45

var faultSplits = [][]byte{[]byte("k15"), []byte("k30")}

// faultWorld returns the rows for all tests under faults, and the mutations that store them.
var faultWorld = sync.OnceValues(func() ([]Row, []Mutation) {
	var rows []Row
	var ms []Mutation
	for i := range faultRows {
		cells := []string{fmt.Sprintf("f:a=%d", i), "f:b=x", "f:c=y"}
		if i < 20 || i%9 > 1 {
			cells = append(cells, "f:d=z")
		}
		m := put(fmt.Sprintf("k%02d", i), 5, cells...)
		ms = append(ms, m)
		row := Row{Key: m.Key}
		for _, c := range m.Cells {
			row.Cells = append(row.Cells, Cell{c.Family, c.Qualifier, 5, c.Value})
		}
		rows = append(rows, row)
	}
	return rows, ms
})

// errWrongRows reports whether a scan gave other rows than are stored.
var errWrongRows = errors.New("wrong rows")

// splitStore gives a store with the table t of one family in three regions, and a client of it.
func splitStore(ctx context.Context, f Family) (*store.Store, *client, error) {
	s, err := store.Open(store.Options{CacheBytes: 1 << 20})
	if err != nil {
		return nil, nil, err
	}
	c := New(s, s).(*client)
	if err := c.CreateTable(ctx, "t", []Family{f}, faultSplits); err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, c, nil
}

// faultyScan reads rows in batches of a few through a store that loses answers,
// drops leases, moves, splits and merges regions and sends rows in parts. It counts in fig what befell
// the calls and what came of them, and fails when that differs from what is stored.
func faultyScan(seed uint64, noSeq bool, fig seeds.Figures) error {
	r := rand.New(rand.NewPCG(seed, 0))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, c, err := splitStore(ctx, Family{Name: "f"})
	if err != nil {
		return err
	}
	defer s.Close()
	c.noSeq = noSeq
	want, ms := faultWorld()
	if err := c.Mutate(ctx, "t", ms); err != nil {
		return err
	}
	s.SetFaults(store.Faults{Seed: int64(seed), AnswerLost: 0.1, RequestLost: 0.05, LeaseGone: 0.05, Move: 0.05, Split: 0.03, Merge: 0.03, Stray: 0.03, Throttle: 0.01, PartialRow: 0.3, Heartbeat: 0.1})
	rng := ScanRange{Table: "t", Reversed: r.IntN(2) == 0, BatchRows: 1 + r.IntN(8)}
	lo, hi := 0, len(want)
	if r.IntN(2) == 0 {
		lo, hi = r.IntN(len(want)/2), len(want)/2+1+r.IntN(len(want)/2)
		rng.Start, rng.Stop = want[lo].Key, want[hi].Key
	}
	want = slices.Clone(want[lo:hi])
	if rng.Reversed {
		slices.Reverse(want)
	}
	if r.IntN(3) == 0 {
		rng.Limit = 1 + r.IntN(len(want))
		want = want[:rng.Limit]
	}
	rng.Brief, rng.Ahead = r.IntN(3) == 0, r.IntN(2) == 0
	o := &ReadOptions{Encoded: r.IntN(2) == 0}
	if r.IntN(2) == 0 { // a column that some rows lack
		o.Families, o.Filter = []string{"f"}, filter.Columns{{Family: "f", Qualifier: "d"}}
		for i, row := range want {
			want[i].Cells = slices.DeleteFunc(slices.Clone(row.Cells), func(c Cell) bool { return string(c.Qualifier) != "a" && string(c.Qualifier) != "d" })
		}
	}
	sc, err := c.Scan(ctx, rng, o)
	if err != nil {
		return err
	}
	fig["scans"]++
	seen := map[string]bool{}
	n, wrong, doubled := 0, 0, 0
	for err == nil {
		var rows []Row
		rows, err = sc.Next(ctx)
		for _, row := range rows {
			row.Cells = append(row.Cells, decodeCells(nil, row.Encoded)...)
			if n >= len(want) || !sameRow(row, want[n]) {
				wrong++
			}
			if seen[string(row.Key)] {
				doubled++
			}
			seen[string(row.Key)] = true
			n++
		}
	}
	sc.Close()
	for kind, n := range s.FaultCounts() {
		fig[string(kind)] += n
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fig["hung"]++
		return err
	case err != io.EOF:
		return err
	}
	lost := 0
	for _, row := range want {
		if !seen[string(row.Key)] {
			lost++
		}
	}
	fig["rows"] += n
	fig["doubled"] += doubled
	fig["lost"] += lost
	if wrong+lost > 0 {
		return fmt.Errorf("%w: %+v gave %d, want %d: %d wrong or out of place, %d lost, %d doubled", errWrongRows, rng, n, len(want), wrong, lost, doubled)
	}
	if n := s.OpenScanners() - s.FaultCounts()[store.FaultOpenLost]; n > 0 {
		fig["leaked"] += n
		return fmt.Errorf("%+v: %d scanners stay open", rng, n)
	}
	return nil
}

func sameRow(a, b Row) bool {
	return bytes.Equal(a.Key, b.Key) && slices.EqualFunc(a.Cells, b.Cells, func(a, b Cell) bool {
		return bytes.Equal(a.Family, b.Family) && bytes.Equal(a.Qualifier, b.Qualifier) && a.Timestamp == b.Timestamp && bytes.Equal(a.Value, b.Value)
	})
}

// No row is lost, repeated or torn, and no scanner stays open, whatever happens to the calls.
func TestScanUnderFaults(t *testing.T) {
	seeds.Each(t, 300, func(t *testing.T, seed uint64, fig seeds.Figures) {
		for _, kind := range []string{"lost", "doubled", "hung", "leaked"} {
			fig[kind] += 0
		}
		if err := faultyScan(seed, false, fig); err != nil {
			t.Error(err)
		}
	})
}

// faultyWrites writes rows and deletes some of them through a misbehaving store, asks for each by key meanwhile, and
// then looks at what is stored: what was acknowledged is there, once, and what was refused is not. Batches are sent
// side by side, so that a seed does not give each of them the same faults every time.
func faultyWrites(seed uint64, fig seeds.Figures) error {
	r := rand.New(rand.NewPCG(seed, 2))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, c, err := splitStore(ctx, Family{Name: "f", Attributes: map[string]string{"VERSIONS": "5"}})
	if err != nil {
		return err
	}
	defer s.Close()
	all, ms := faultWorld()
	faults := store.Faults{Seed: int64(seed), AnswerLost: 0.1, RequestLost: 0.05, Move: 0.05, Split: 0.03, Merge: 0.03, Stray: 0.03, Throttle: 0.02}
	if r.IntN(2) == 0 {
		faults.Exception = 0.05
	}
	s.SetFaults(faults)
	const absent, present, unknown = 0, 1, 2
	state := make([]int, len(all))
	// apply sends the mutations of rows lo to hi; those applied leave the rows in a state.
	apply := func(lo, hi, then int, ms []Mutation) error {
		err := c.Mutate(ctx, "t", ms)
		var batch *BatchError
		if err != nil && !errors.As(err, &batch) {
			return err
		}
		for i := lo; i < hi; i++ {
			if batch == nil || batch.Failed[i-lo] == nil && !slices.Contains(batch.Unknown, i-lo) {
				state[i] = then
				fig["acknowledged"]++
			} else if batch.Failed[i-lo] != nil {
				fig["refused"]++
			} else {
				state[i] = unknown
				fig["unknown"]++
			}
		}
		return nil
	}
	for lo := 0; lo < len(ms); {
		hi := min(len(ms), lo+1+r.IntN(20))
		if err := apply(lo, hi, present, ms[lo:hi]); err != nil {
			return err
		}
		lo = hi
	}
	lo := r.IntN(len(ms) - 5)
	var gone []Mutation
	for _, m := range ms[lo : lo+5] {
		gone = append(gone, Mutation{Kind: DeleteRow, Key: m.Key, Timestamp: m.Timestamp})
	}
	if err := apply(lo, lo+5, absent, gone); err != nil {
		return err
	}
	// look compares rows with what is known of them.
	look := func(rows []Row, i int) error {
		switch {
		case state[i] == unknown:
		case state[i] == absent && len(rows) > 0:
			fig["wrong rows"]++
			return fmt.Errorf("%q is there, after it was deleted or refused", all[i].Key)
		case state[i] == present && len(rows) == 0:
			fig["lost"]++
			return fmt.Errorf("%q was acknowledged and is not there", all[i].Key)
		case state[i] == present && len(rows[0].Cells) > len(all[i].Cells):
			fig["doubled"]++
			return fmt.Errorf("%q has versions of its own: %v", all[i].Key, rows[0])
		case state[i] == present && !sameRow(rows[0], all[i]):
			fig["wrong rows"]++
			return fmt.Errorf("%q is %v", all[i].Key, rows[0])
		}
		return nil
	}
	keys := make([][]byte, len(all))
	for i := range all {
		keys[i] = all[i].Key
	}
	versions := &ReadOptions{Versions: 5}
	rows, err := c.Get(ctx, "t", keys, versions)
	if errors.Is(err, context.DeadlineExceeded) {
		fig["hung"]++
		return err
	}
	if err != nil && faults.Exception == 0 {
		return err
	}
	for kind, n := range s.FaultCounts() {
		fig[string(kind)] += n
	}
	if err != nil { // an exception is an answer, of which no row is to be had
		fig["clear errors"]++
		s.SetFaults(store.Faults{})
		if rows, err = c.Get(ctx, "t", keys, versions); err != nil {
			return err
		}
	}
	fig["gets"] += len(rows)
	for i, row := range rows {
		found := []Row{row}
		if len(row.Cells) == 0 {
			found = nil
		}
		if err := look(found, i); err != nil {
			return err
		}
	}
	return nil
}

// Acknowledged rows are there, once, whatever happens to the calls; refused ones are not.
func TestWritesUnderFaults(t *testing.T) {
	seeds.Each(t, 300, func(t *testing.T, seed uint64, fig seeds.Figures) {
		for _, kind := range []string{"lost", "doubled", "hung"} {
			fig[kind] += 0
		}
		if err := faultyWrites(seed, fig); err != nil {
			t.Error(err)
		}
	})
}
