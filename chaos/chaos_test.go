package chaos

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/internal/poison"
)

func TestMain(m *testing.M) { os.Exit(poison.Tests(m).Run()) }

// runEnv sets the duration: empty for the short form, "long", or a duration.
const runEnv = "HQL_CHAOS"

// length returns how long each case injects faults.
func length(t *testing.T, cases int) (each time.Duration, long bool) {
	switch s := os.Getenv(runEnv); s {
	case "":
		return 2 * time.Second, false
	case "long":
		return 30 * time.Minute / time.Duration(cases), true
	default:
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			t.Fatalf("%s: %q is neither long nor a duration", runEnv, s)
		}
		return d / time.Duration(cases), true
	}
}

func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	each, long := length(t, len(cases))
	servers, readers := 2, 4
	if long {
		servers, readers = 3, 8
	}
	began := time.Now()
	w := newWorld(t, servers)
	idle := runtime.NumGoroutine()
	for _, cs := range cases {
		t.Run(cs.name, func(t *testing.T) {
			if cs.long && !long && !w.c.rpc {
				t.Skipf("%s=long", runEnv)
			}
			before, start := w.fig.broken(), time.Now()
			stop := w.readers(readers)
			cs.run(t, w, each)
			stop()
			w.recovered(t)
			w.settled(t, idle)
			if w.fig.broken() > before {
				t.Error("a promise was broken: see the report")
			}
			t.Logf("%v", time.Since(start).Round(100*time.Millisecond))
		})
	}
	w.report(t, began)
}

// newWorld starts a cluster and loads the tables.
func newWorld(t *testing.T, servers int) *world {
	began := time.Now()
	c := startCluster(t, servers)
	t.Logf("cluster of %d region servers up after %v", servers, time.Since(began).Round(time.Second))
	ctx := context.Background()
	db, err := hql.Open(ctx, c.address(), hql.WithWrites(true), hql.WithFullScan(hql.FullScanAllow))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: c, db: db, fig: &figures{}}
	w.load(ctx)
	w.explained(t)
	w.recovered(t)
	t.Logf("tables loaded after %v", time.Since(began).Round(time.Second))
	return w
}

// report closes the DB and prints the figures.
func (w *world) report(t *testing.T, began time.Time) {
	s := w.db.Client().Stats()
	w.closed(t)
	t.Logf("%v in all\n%sRPCs %d, scans resumed %d, calls repeated %d, clients replaced %d",
		time.Since(began).Round(time.Second), w.fig, s.RPCs, s.Reopens, s.Retries, s.Replaced)
	for _, d := range w.fig.details {
		t.Error(d)
	}
}

// connectionGoroutines is the number of goroutines that may come and go with connections.
const connectionGoroutines = 12

// settled waits until there are no more goroutines than before the faults.
func (w *world) settled(t *testing.T, idle int) {
	n := 0
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if n = runtime.NumGoroutine(); n <= idle+connectionGoroutines {
			return
		}
	}
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	w.fig.do(func() {
		w.fig.leaked += n - idle
		w.fig.bad("%s: %d goroutines, %d before\n%s", t.Name(), n, idle, buf)
	})
}

// closed closes the DB and checks that no connection to a region server is left.
func (w *world) closed(t *testing.T) {
	if err := w.db.Close(); err != nil {
		t.Error(err)
	}
	n := 0
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if n = len(w.c.connections()); n == 0 {
			return
		}
	}
	w.fig.do(func() {
		w.fig.leaked += n
		w.fig.bad("%d connections are left after Close", n)
	})
}

// during repeats f, at least once, until d is over.
func during(d time.Duration, f func(i int, r *rand.Rand)) {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for i, end := 0, time.Now().Add(d); i == 0 || time.Now().Before(end); i++ {
		f(i, r)
	}
}
