package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hql-db/hql/internal/proc"
	"github.com/hql-db/hql/internal/python"
)

// sparkEnv sets how long Spark is disturbed.
const sparkEnv = "HQL_CHAOS_SPARK"

// Spark's jobs return each row once while region servers are killed, regions move, split and merge, Spark's executors
// and the hql of its tasks are killed, and slow tasks run a second time in parallel.
func TestSpark(t *testing.T) {
	s := os.Getenv(sparkEnv)
	if s == "" {
		t.Skipf("%s says for how long", sparkEnv)
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.Fatalf("%s: %q is no duration", sparkEnv, s)
	}
	began := time.Now()
	w := newWorld(t, 2)
	var conf []string
	for _, c := range []string{"executor.memory=512m", "task.maxFailures=50", "deploy.maxExecutorRetries=-1", "speculation=true", "speculation.multiplier=1.1",
		"speculation.quantile=0.2", "speculation.interval=50ms", "speculation.minTaskRuntime=1ms", "excludeOnFailure.enabled=false"} {
		conf = append(conf, "--conf spark."+c)
	}
	spark := python.StartSpark(t, "..", w.c.address(), "local-cluster[2,1,512]", conf...)
	questions := []struct {
		kind     string
		question python.Question
		want     []string
	}{
		{"rows", python.Question{Options: map[string]string{"query": "SELECT id, grp, n FROM events"}}, ids(0, rows, row)},
		{"range", python.Question{Options: map[string]string{"query": "SELECT id, grp, n FROM events WHERE id >= 5000 AND id < 20000"}}, ids(5000, 20000, row)},
		{"merged", python.Question{Options: map[string]string{"query": "SELECT id, n FROM merged"}}, ids(0, rows/4, func(i int) string { return fmt.Sprintf("%d|%d", i, nOf(i)) })},
		{"groups", python.Question{Query: "SELECT grp, count(*) AS c, sum(n) AS s FROM events GROUP BY grp"}, groupSums()},
	}
	ask := func(i int) {
		q := questions[i%len(questions)]
		a := spark.Ask(t, q.question)
		got := joined(a)
		want := slices.Sorted(slices.Values(q.want))
		w.fig.do(func() {
			w.fig.queries["Spark: "+q.kind]++
			w.fig.rows += len(got)
			switch {
			case a.Error != "":
				w.fig.failed["Spark: "+q.kind]++
				w.fig.errors[strings.SplitN(a.Error, "\n", 2)[0]]++
			case !slices.Equal(got, want):
				w.fig.wrong++
				w.fig.lost += max(0, len(want)-len(got))
				w.fig.doubled += max(0, len(got)-len(want))
				w.fig.bad("%s: %d rows, want %d", q.kind, len(got), len(want))
			}
		})
	}
	for i := range questions { // undisturbed; executors start
		ask(i)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	often := func(seed uint64, pause time.Duration, f func(i int, r *rand.Rand)) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(began.UnixNano()), seed))
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(pause/2 + time.Duration(r.Int64N(int64(pause)))):
					f(i, r)
				}
			}
		})
	}
	often(1, 500*time.Millisecond, func(i int, r *rand.Rand) {
		if i%4 == 0 {
			w.killOne(t, r, i/4)
		} else {
			w.reorganise(i, r)
		}
	})
	often(2, 30*time.Second, func(_ int, r *rand.Rand) { // another one takes its time to start
		w.fig.fault("kill -9 executor", killed(r, spark.Pid, "CoarseGrainedExecutorBackend"))
	})
	often(3, 4*time.Second, func(_ int, r *rand.Rand) {
		for range 100 { // until there is one
			if n := killed(r, spark.Pid, "/hql\x00piece\x00"); n > 0 {
				w.fig.fault("kill -9 hql of a task", n)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	during(d, func(i int, _ *rand.Rand) { ask(i) })
	close(stop)
	wg.Wait()
	w.recovered(t)
	for i := range questions { // what is there is all there
		ask(i)
	}
	w.fig.do(func() {
		if ok := byKindTotal(w.fig.queries) - byKindTotal(w.fig.failed); ok < 2*len(questions)+1 {
			t.Errorf("%d jobs came to an end", ok)
		}
		for _, kind := range []string{"kill -9 executor", "kill -9 hql of a task", "kill -9 region server"} {
			if w.fig.faults[kind] == 0 {
				t.Errorf("no %s", kind)
			}
		}
	})
	w.report(t, began)
}

// joined returns the rows of an answer without NULLs, in order.
func joined(a python.Answer) (out []string) {
	for _, r := range a.Rows {
		var values []string
		for _, v := range r {
			values = append(values, *v)
		}
		out = append(out, strings.Join(values, "|"))
	}
	slices.Sort(out)
	return out
}

func byKindTotal(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

func groupSums() (out []string) {
	for g := range groups {
		n, sum := 0, 0
		for id := g; id < rows; id += groups {
			n++
			sum += nOf(id)
		}
		out = append(out, fmt.Sprintf("%d|%d|%d", g, n, sum))
	}
	return out
}

// killed kills one of the descendants of pid whose command line contains a text. It returns the number of matching
// processes.
func killed(r *rand.Rand, pid int, text string) int {
	found := slices.DeleteFunc(family(pid), func(p process) bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.id))
		return !strings.Contains(string(line), text)
	})
	if len(found) == 0 || syscall.Kill(found[r.IntN(len(found))].id, syscall.SIGKILL) != nil {
		return 0
	}
	return 1
}

// process is a running process; cpu is in seconds, including its ended children.
type process struct {
	id, parent int
	cpu        float64
}

// family returns the process pid and its descendants.
func family(pid int) (out []process) {
	all := map[int]process{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		p, err := proc.Read(id)
		if err != nil {
			continue // it is gone
		}
		all[id] = process{id, p.Parent, p.CPU + p.Children}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		for of := id; of > 1; of = all[of].parent {
			if of == pid {
				out = append(out, all[id])
				break
			}
		}
	}
	return out
}
