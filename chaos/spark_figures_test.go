package chaos

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/python"
)

// figuresEnv sets the number of rows of the table of TestSparkFigures.
const figuresEnv = "HQL_SPARK_ROWS"

const (
	figureRegions = 12
	figureGroups  = 100
	figureFillers = 4 // COPYs at a time
)

// TestSparkFigures reads a table of three region servers with hql alone, with Spark through hql and with Spark through
// HBase's own input format, with 1, 2 and 4 concurrent tasks, and prints the cost of a row for each. All answers must
// be equal.
func TestSparkFigures(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(figuresEnv))
	if err != nil || n < 1000 {
		t.Skipf("%s says how many rows, 1000 or more", figuresEnv)
	}
	jars, path := hbasetest.Jars(t, "mapreduce", "2.5.3-hadoop3") // HBase's input format for Hadoop
	source := filepath.Join(path, "TableInput.java")              // gives Spark a table through it
	py := python.With(t, "pyspark", "pyarrow")
	home, err := exec.Command(py, "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))").Output()
	if err != nil {
		t.Fatal(err)
	}
	classes, binary := t.TempDir(), filepath.Join(t.TempDir(), "hql")
	for _, cmd := range [][]string{{"javac", "-nowarn", "-d", classes, "-cp", filepath.Join(strings.TrimSpace(string(home)), "jars", "*") + ":" + jars, source}, {"go", "build", "-o", binary, "../cmd/hql"}} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	t.Setenv("RSMEM", "1g")
	// The master must not consider servers dead that get no CPU for a while.
	c := startCluster(t, 3, "zookeeper.session.timeout 90000", "hbase.zookeeper.property.tickTime 5000", "hbase.client.scanner.timeout.period 60000", "hbase.rpc.timeout 60000")
	f := &figuresOf{t: t, c: c, rows: n}
	f.fill("warm", figureRegions)
	f.fill("big", n)
	const all, groupedThere = "SELECT count(*), sum(id), sum(grp), sum(n) FROM t", "SELECT grp, count(*), sum(n) FROM t GROUP BY grp"
	scan := func(table string) string { return "SELECT id, grp, n FROM " + table }
	grouped := func(table string) string {
		return "SELECT grp, count(*) AS c, sum(n) AS s FROM " + table + " GROUP BY grp"
	}
	total, groups := figureAnswers(n)
	var cpu float64
	alone := func(format, sql string) string {
		cmd := exec.Command(binary, "--connect", c.address(), "--full-scan", "allow", "--format", format, "-c", sql)
		var out, errs bytes.Buffer
		if cmd.Stderr = &errs; format != "arrow" {
			cmd.Stdout = &out
		}
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", sql, err, errs.Bytes())
		}
		cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		return out.String()
	}
	ownCPU := func() float64 { return cpu }
	f.measure("hql alone, written as Arrow", "scan", ownCPU, func(table string) { alone("arrow", scan(table)) })
	f.measure("hql alone", "GROUP BY", ownCPU, func(table string) {
		lines := strings.Fields(strings.ReplaceAll(alone("csv", grouped(table)), ",", "|"))[1:]
		if slices.Sort(lines); table == "big" && !slices.Equal(lines, groups) {
			t.Fatalf("got %v\nwant %v", lines, groups)
		}
	})
	for _, tasks := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("local[%d]", tasks), func(t *testing.T) {
			// HBase reports no size for a small region, which Spark would take for an empty one.
			spark := python.StartSpark(t, "..", c.address(), fmt.Sprintf("local[%d]", tasks), "--conf spark.hadoopRDD.ignoreEmptySplits=false --driver-class-path "+classes+":"+jars)
			measure := func(by, what string, q func(table string) python.Question, want []string) {
				f.measure(fmt.Sprintf("Spark by %s, %d at a time", by, tasks), what, func() (cpu float64) {
					for _, p := range family(spark.Pid) {
						cpu += p.cpu
					}
					return cpu
				}, func(table string) {
					if a := spark.Ask(t, q(table)); a.Error != "" || table == "big" && !slices.Equal(joined(a), want) {
						t.Fatalf("%+v: %s\n got %v\nwant %v", q(table), a.Error, joined(a), want)
					}
				})
			}
			byHQL := func(sql string) func(string) python.Question {
				return func(table string) python.Question {
					return python.Question{Options: map[string]string{"table": table}, Spark: sql}
				}
			}
			byInput := func(sql string) func(string) python.Question {
				return func(table string) python.Question {
					return python.Question{Input: []string{"127.0.0.1", strconv.Itoa(c.base + 181), table}, Spark: sql}
				}
			}
			measure("hql", "scan", byHQL(all), total)
			measure("hql", "GROUP BY", func(table string) python.Question { return python.Question{Query: grouped(table)} }, groups)
			measure("hql", "GROUP BY of Spark", byHQL(groupedThere), groups)
			measure("TableInputFormat", "scan", byInput(all), total)
			measure("TableInputFormat", "GROUP BY of Spark", byInput(groupedThere), groups)
		})
	}
	t.Logf("%d rows in %d regions; CPU in microseconds a row, bytes that the region servers wrote a row\n%s\n%s", n, figureRegions,
		"| | | rows a second | seconds | CPU of the client | of the servers | bytes |", strings.Join(f.lines, "\n"))
}

type figuresOf struct {
	t     *testing.T
	c     *cluster
	rows  int
	lines []string
}

// fill fills a table with n rows by several COPYs, then flushes and compacts it.
func (f *figuresOf) fill(table string, n int) {
	t, ctx, began := f.t, context.Background(), time.Now()
	db, err := hql.Open(ctx, f.c.address(), hql.WithWrites(true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var borders []string
	for i := 1; i < figureRegions; i++ {
		borders = append(borders, fmt.Sprintf("'%08d'", n*i/figureRegions))
	}
	if _, err := db.Exec(ctx, "CREATE TABLE "+table+" (id BIGINT, grp INT FROM f:g AS INT32, n BIGINT FROM f:n AS INT64) ROW KEY (id AS TEXT(8)) SPLIT AT ("+strings.Join(borders, ", ")+")"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	dir := t.TempDir()
	for w := range figureFillers {
		wg.Go(func() {
			var b bytes.Buffer
			b.WriteString("id,grp,n\n")
			for id := n * w / figureFillers; id < n*(w+1)/figureFillers; id++ {
				fmt.Fprintf(&b, "%d,%d,%d\n", id, id%figureGroups, nOf(id))
			}
			file := filepath.Join(dir, fmt.Sprintf("%d.csv", w))
			err := os.WriteFile(file, b.Bytes(), 0o644)
			if err == nil {
				_, err = db.Exec(ctx, "COPY "+table+" FROM '"+file+"'")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	filled := time.Since(began)
	f.c.admin("flush", table)
	f.c.admin("majorcompact", table)
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		if out, _ := f.c.admin("cstate", table); strings.Contains(out, "NONE") {
			break
		}
	}
	if out, ok := f.c.admin("servers"); !ok || strings.Count(out, "localhost") != f.c.servers {
		t.Fatalf("the region servers that are left: %s", out)
	}
	t.Logf("%s: %d rows filled by %d COPYs in %v (%.0f rows a second), flushed and compacted after %v", table, n, figureFillers, filled.Round(time.Second),
		float64(n)/filled.Seconds(), time.Since(began).Round(time.Second))
}

// figureAnswers returns the expected answers for n rows.
func figureAnswers(n int) (total, groups []string) {
	var ids, grps, ns int
	counts, sums := make([]int, figureGroups), make([]int, figureGroups)
	for id := range n {
		g := id % figureGroups
		ids, grps, ns = ids+id, grps+g, ns+nOf(id)
		counts[g]++
		sums[g] += nOf(id)
	}
	for g := range counts {
		groups = append(groups, fmt.Sprintf("%d|%d|%d", g, counts[g], sums[g]))
	}
	slices.Sort(groups)
	return []string{fmt.Sprintf("%d|%d|%d|%d", n, ids, grps, ns)}, groups
}

// measure measures a run over the table big, after one over a table with a row in each region. cpu measures the client.
func (f *figuresOf) measure(who, what string, cpu func() float64, run func(table string)) {
	run("warm")
	client, server, sent, began := cpu(), 0.0, 0.0, time.Now()
	serverCPU, serverSent := f.servers()
	run("big")
	took := time.Since(began).Seconds()
	client = cpu() - client
	server, sent = f.servers()
	a := float64(f.rows)
	line := fmt.Sprintf("| %s | %s | %.0f | %.1f | %.2f | %.2f | %.0f |", who, what, a/took, took, client/a*1e6, (server-serverCPU)/a*1e6, (sent-serverSent)/a)
	f.lines = append(f.lines, line)
	f.t.Log(line)
}

// servers returns the CPU of the region servers, and the bytes that they sent, which are nearly all answers.
func (f *figuresOf) servers() (cpu, sent float64) {
	for i := range f.c.servers {
		pid := f.c.pid(f.c.server(i))
		cpu += family(pid)[0].cpu
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		if err != nil {
			f.t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(b), "wchar: ")
		n, _ := strconv.ParseFloat(strings.Fields(text)[0], 64)
		sent += n
	}
	return cpu, sent
}
