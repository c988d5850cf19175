package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase"
)

// background repeats f until stop is called; stop waits for it.
func background(f func(r *rand.Rand)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			f(r)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// A fate is the state of a row as its writer knows it.
type fate struct {
	id       int
	attempts int // statements that wrote it
	acked    bool
}

// write repeats a statement for the rows from to to of a table until all are acknowledged, or for a minute, and returns
// the fate of each. value is the text of one row.
func (w *world) write(table string, from, to int, value func(id int) string) []fate {
	fates := make([]fate, to-from)
	var left []int
	for i := range fates {
		fates[i].id = from + i
		left = append(left, i)
	}
	w.fig.do(func() { w.fig.writes += len(fates) })
	for end := time.Now().Add(time.Minute); len(left) > 0 && time.Now().Before(end); {
		var vs []string
		for _, i := range left {
			fates[i].attempts++
			vs = append(vs, value(fates[i].id))
		}
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		began := time.Now()
		_, err := w.db.Exec(ctx, "UPSERT INTO "+table+" VALUES "+strings.Join(vs, ","))
		cancel()
		took := time.Since(began)
		w.fig.do(func() {
			w.fig.slowestWrite = max(w.fig.slowestWrite, took)
			if took > deadline+grace {
				w.fig.hung++
				w.fig.bad("an UPSERT into %s returned after %v", table, took)
			}
		})
		var batch *hbase.BatchError
		switch {
		case err == nil:
			for _, i := range left {
				fates[i].acked = true
			}
		case errors.As(err, &batch):
			for _, i := range left {
				fates[i].acked = true
			}
			for n := range batch.Failed {
				fates[left[n]].acked = false
			}
			for _, n := range batch.Unknown {
				fates[left[n]].acked = false
			}
			w.fig.do(func() {
				w.fig.refused += len(batch.Failed)
				w.fig.unknown += len(batch.Unknown)
				w.fig.errors[shape(err)]++
			})
		default:
			w.fig.do(func() { w.fig.unknown += len(left); w.fig.errors[shape(err)]++ })
		}
		again := left[:0]
		for _, i := range left {
			if !fates[i].acked {
				again = append(again, i)
			}
		}
		w.fig.do(func() { w.fig.acked += len(left) - len(again) })
		left = again
	}
	return fates
}

// UPSERT writes a linked list while connections are cut and a server is killed: every acknowledged row exists, each
// version was written by a statement, no link is broken.
func writeUnderFaults(t *testing.T, w *world, d time.Duration) {
	w.exec(context.Background(), "CREATE TABLE list (id BIGINT, prev BIGINT) FAMILY f (VERSIONS = 9) ROW KEY (id AS TEXT(8)) SPLIT AT ('20000000', '40000000', '60000000')")
	defer w.exec(context.Background(), "DROP TABLE list")
	const batch = 40
	var wg sync.WaitGroup
	told := make([][]fate, 4)
	for i := range told {
		wg.Add(1)
		go func() {
			defer wg.Done()
			during(d+time.Second, func(n int, _ *rand.Rand) {
				from := i*20_000_000 + n*batch
				told[i] = append(told[i], w.write("list", from, from+batch, func(id int) string { return fmt.Sprintf("(%d,%d)", id, id-1) })...)
			})
		}()
	}
	stop := w.cutting(110 * time.Millisecond)
	time.Sleep(d / 2)
	stop()
	w.fig.fault("kill -9 region server", 1)
	if !w.c.kill(w.c.server(0), func() { time.Sleep(time.Second) }) {
		t.Error("the server did not come back")
	}
	wg.Wait()
	var got []string
	for p := w.patience(); ; {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		var err error
		got, err = w.read(ctx, "SELECT id, prev FROM list FOR SYSTEM_TIME ALL", 0, 0)
		cancel()
		if err == nil {
			break
		}
		if !p.left() {
			t.Fatal(err)
		}
	}
	versions := map[string]int{}
	for _, r := range got {
		versions[r]++
	}
	w.fig.do(func() {
		for _, fates := range told {
			for _, f := range fates {
				n := versions[fmt.Sprintf("%d|%d", f.id, f.id-1)]
				if f.acked && n == 0 {
					w.fig.lost++
					w.fig.bad("row %d was acknowledged and is not there", f.id)
				}
				if n > f.attempts {
					w.fig.doubled++
					w.fig.bad("row %d has %d versions of %d statements", f.id, n, f.attempts)
				}
				delete(versions, fmt.Sprintf("%d|%d", f.id, f.id-1))
			}
		}
		if len(versions) > 0 {
			w.fig.wrong += len(versions)
			w.fig.bad("%d rows that nobody wrote", len(versions))
		}
	})
}

// A region that refuses writes while it flushes makes writers wait, not fail.
func tooBusy(t *testing.T, w *world, d time.Duration) {
	if out, ok := w.c.admin("createbusy", "busy", "f"); !ok {
		t.Fatal(out)
	}
	defer w.c.admin("drop", "busy")
	w.exec(context.Background(), "CREATE EXTERNAL TABLE busy (id BIGINT, v STRING) ROW KEY (id AS TEXT(8))")
	defer w.exec(context.Background(), "DROP TABLE busy")
	big := strings.Repeat("b", 100<<10)
	before := strings.Count(w.c.log("rs1")+w.c.log("rs2"), "RegionTooBusyException")
	retries := w.db.Client().Stats().Retries
	var wg sync.WaitGroup
	var acked atomic.Int64
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			during(min(d, 10*time.Second), func(n int, _ *rand.Rand) {
				from := i*1_000_000 + n*4
				for _, f := range w.write("busy", from, from+4, func(id int) string { return fmt.Sprintf("(%d,'%s')", id, big) }) {
					if f.acked {
						acked.Add(1)
					}
				}
			})
		}()
	}
	wg.Wait()
	w.fig.fault("region too busy", strings.Count(w.c.log("rs1")+w.c.log("rs2"), "RegionTooBusyException")-before+int(w.db.Client().Stats().Retries-retries))
	q := query{kind: "after too busy", sql: "SELECT count(*) FROM busy WHERE length(v) = 102400", want: []string{fmt.Sprint(acked.Load())}}
	if err := w.ask(q, 0); err != nil {
		t.Error(err)
	}
}

// wide writes the rows with many columns.
func (w *world) wide(t *testing.T) {
	c := w.db.Client()
	ctx := context.Background()
	if _, err := c.Families(ctx, "wide"); err == nil {
		return
	}
	if err := c.CreateTable(ctx, "wide", []hbase.Family{{Name: "f"}}, [][]byte{[]byte("w0004"), []byte("w0008")}); err != nil {
		t.Fatal(err)
	}
	for i := range wideN {
		m := hbase.Mutation{Kind: hbase.Put, Key: fmt.Appendf(nil, "w%04d", i), Timestamp: 1}
		for j := range wideC {
			m.Cells = append(m.Cells, hbase.Cell{Family: []byte("f"), Qualifier: fmt.Appendf(nil, "q%06d", j), Value: fmt.Appendf(nil, "%d.%d", i, j)})
		}
		if err := c.Mutate(ctx, "wide", []hbase.Mutation{m}); err != nil {
			t.Fatal(err)
		}
	}
}

// Rows that arrive in parts, forward and reversed, with cut connections, are complete, and each comes once.
func wideRows(t *testing.T, w *world, d time.Duration) {
	w.wide(t)
	stop := w.cutting(500 * time.Millisecond) // a row that is cut short is read again from its start
	defer stop()
	during(d, func(_ int, r *rand.Rand) {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		rng := hbase.ScanRange{Table: "wide", Reversed: r.IntN(2) == 0, BatchBytes: []int{16 << 10, 64 << 10, 256 << 10}[r.IntN(3)]}
		seen, torn, err := w.scanWide(ctx, rng)
		w.fig.do(func() {
			w.fig.queries["wide rows"]++
			w.fig.rows += len(seen)
			if err != nil {
				w.fig.failed["wide rows"]++
				w.fig.errors[shape(err)]++
				return
			}
			w.fig.wrong += torn
			if torn > 0 {
				w.fig.bad("%+v: %d rows torn", rng, torn)
			}
		})
		if err == nil {
			var want []string
			for i := range wideN {
				if rng.Reversed {
					i = wideN - 1 - i
				}
				want = append(want, fmt.Sprintf("w%04d", i))
			}
			w.fig.do(func() { _ = w.fig.compare(query{kind: "wide rows", sql: fmt.Sprintf("%+v", rng), want: want}, seen) })
		}
	})
}

func (w *world) scanWide(ctx context.Context, rng hbase.ScanRange) (keys []string, torn int, err error) {
	sc, err := w.db.Client().Scan(ctx, rng, nil)
	if err != nil {
		return nil, 0, err
	}
	defer sc.Close()
	for {
		batch, err := sc.Next(ctx)
		if err == io.EOF {
			return keys, torn, nil
		}
		if err != nil {
			return keys, torn, err
		}
		for _, r := range batch {
			keys = append(keys, string(r.Key))
			whole := len(r.Cells) == wideC
			for j, c := range r.Cells {
				whole = whole && bytes.Equal(c.Qualifier, fmt.Appendf(nil, "q%06d", j))
			}
			if !whole {
				torn++
			}
		}
	}
}

func reversedHigh(t *testing.T, w *world, d time.Duration) {
	stop := w.cutting(110 * time.Millisecond)
	defer stop()
	during(d, func(_ int, r *rand.Rand) {
		for _, k := range kinds {
			if k.name == "reversed over 0xff" {
				q := k.make(r)
				q.kind = k.name
				_ = w.ask(q, 0) // counted
			}
		}
	})
}
