package bench

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/types"
)

const tables = `
CREATE EXTERNAL TABLE events (host STRING, ts BIGINT, level STRING FROM "0":LEVEL, msg STRING FROM "0":MSG,
    val DOUBLE NOT NULL FROM "0":VAL AS PHOENIX DOUBLE, cnt BIGINT FROM "0":CNT AS ORDERED INT64)
  STORED IN 'EVENTS'
  ROW KEY (PHOENIX_SALT(8) AS UINT8, host AS TEXT, X'00', ts AS ORDERED INT64);
CREATE EXTERNAL TABLE evload (host STRING, ts BIGINT, mark STRING FROM "0":_0, level STRING FROM "0":LEVEL, msg STRING FROM "0":MSG,
    val DOUBLE FROM "0":VAL AS PHOENIX DOUBLE, cnt BIGINT FROM "0":CNT AS ORDERED INT64)
  STORED IN 'EVLOAD'
  ROW KEY (PHOENIX_SALT(8) AS UINT8, host AS TEXT, X'00', ts AS ORDERED INT64);
`

// The data of EVENTS: hosts x perHost rows.
var (
	hosts   = envInt("HOSTS", 200)
	perHost = envInt("PER", 5000)
)

const (
	firstTime = int64(1700000000000)
	step      = int64(1000)
)

func host(h int) string       { return fmt.Sprintf("host%04d", h) }
func timeOf(j int) int64      { return firstTime + step*int64(j) }
func levelOf(h, j int) string { return [4]string{"INFO", "WARN", "ERROR", "DEBUG"}[(h*7+j)&3] }
func messageOf(h, j int, c int64) string {
	return fmt.Sprintf("request %08d served by host%04d in %06d us, status=200 ok", j, h, c)[:52] + "........"
}

func countOf(h, j int) int64 {
	z := (uint64(h)*1000003 + uint64(j)) * 0x9E3779B97F4A7C15
	z ^= z >> 29
	z *= 0xBF58476D1CE4E5B9
	z ^= z >> 32
	return int64(z % 1000000)
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	return v
}

func check(ok bool, got any) {
	if !ok {
		must(0, fmt.Errorf("wrong result: %v", got))
	}
}

// row checks the values of a row of SELECT host, ts, level, msg, val, cnt.
func row(r []types.Value) {
	cnt := r[5].Int()
	if len(r[0].Text()) != 8 || r[1].Int() <= 0 || r[2].Text() == "" || len(r[3].Text()) != 60 || r[4].Double() != float64(cnt)/7 {
		check(false, r)
	}
}

func drain(rows *hql.Rows, err error, each func([]types.Value)) (n int64) {
	must(rows, err)
	for rows.Next() {
		each(rows.Raw())
		n++
	}
	must(0, rows.Err())
	return n
}

const columns = "host, ts, level, msg, val, cnt"

// TestMain runs what the arguments name; without any, go test only compiles the workloads.
func TestMain(*testing.M) {
	flag.Parse()
	clients := 1
	switch flag.NArg() {
	case 0:
		return
	case 2:
		if flag.Arg(0) == "document" {
			document(os.Stdout, must(measured(flag.Arg(1))))
			return
		}
		clients = must(strconv.Atoi(flag.Arg(1)))
	}
	ctx := context.Background()
	quorum := os.Getenv("ZK")
	if quorum == "" {
		quorum = "localhost:2183"
	}
	db := must(hql.Open(ctx, "hbase://"+quorum+"/hbase", hql.WithCatalog(tables), hql.WithFullScan(hql.FullScanAllow), hql.WithWrites(true)))
	defer db.Close()
	if f := os.Getenv("CPUPROF"); f != "" {
		pf := must(os.Create(f))
		must(0, pprof.StartCPUProfile(pf))
		defer pprof.StopCPUProfile()
	}
	if !shaped(ctx, db, quorum, flag.Arg(0)) {
		run(ctx, db, flag.Arg(0), clients)
	}
	if f := os.Getenv("MEMPROF"); f != "" {
		pf := must(os.Create(f))
		must(0, pprof.Lookup("allocs").WriteTo(pf, 0))
	}
}

// run runs one workload; each is one case.
func run(ctx context.Context, db *hql.DB, w string, clients int) {
	total := int64(hosts) * int64(perHost)
	random := func(client int) *rand.Rand { return rand.New(rand.NewSource(int64(client) + 1)) }
	prepare := func(sql string) *hql.Stmt { return must(db.Prepare(ctx, sql)) }
	switch w {
	case "W1": // one row by key
		s := prepare("SELECT " + columns + " FROM events WHERE host = ? AND ts = ?")
		loop(w, clients, func(c int) op {
			r := random(c)
			return func() int64 {
				rows, err := s.Query(ctx, host(r.Intn(hosts)), timeOf(r.Intn(perHost)))
				n := drain(rows, err, row)
				check(n == 1, n)
				return n
			}
		})
	case "W2": // a range of 100 rows over all salts
		s := prepare("SELECT " + columns + " FROM events WHERE host = ? AND ts >= ? AND ts < ?")
		loop(w, clients, func(c int) op {
			r := random(c)
			return func() int64 {
				j := r.Intn(perHost - 100)
				rows, err := s.Query(ctx, host(r.Intn(hosts)), timeOf(j), timeOf(j+100))
				n := drain(rows, err, row)
				check(n == 100, n)
				return n
			}
		})
	case "W3": // 500 rows by key
		s := prepare("SELECT " + columns + " FROM events WHERE (host, ts) IN (" + strings.TrimSuffix(strings.Repeat("(?, ?), ", 500), ", ") + ")")
		loop(w, clients, func(c int) op {
			r := random(c)
			return func() int64 {
				seen := map[int]bool{}
				args := make([]any, 0, 1000)
				for len(args) < 1000 {
					h, j := r.Intn(hosts), r.Intn(perHost)
					if !seen[h*perHost+j] {
						seen[h*perHost+j] = true
						args = append(args, host(h), timeOf(j))
					}
				}
				rows, err := s.Query(ctx, args...)
				n := drain(rows, err, row)
				check(n == 500, n)
				return n
			}
		})
	case "W4": // all rows
		s := prepare("SELECT " + columns + " FROM events")
		once(w, envInt("WARMRUNS", 0), func() int64 {
			rows, err := s.Query(ctx)
			n := drain(rows, err, row)
			check(n == total, n)
			return n
		})
	case "W5":
		s := prepare("SELECT count(*) FROM events")
		loop(w, clients, func(int) op {
			return func() int64 {
				var n int64
				rows, err := s.Query(ctx)
				drain(rows, err, func(r []types.Value) { n = r[0].Int() })
				check(n == total, n)
				return n
			}
		})
	case "W6": // a filter that keeps one row in a thousand
		s := prepare("SELECT " + columns + " FROM events WHERE cnt < 1000")
		loop(w, clients, func(int) op {
			return func() int64 {
				rows, err := s.Query(ctx)
				return drain(rows, err, row)
			}
		})
	case "W7": // the newest ten rows of a host
		s := prepare("SELECT " + columns + " FROM events WHERE host = ? ORDER BY ts DESC LIMIT 10")
		loop(w, clients, func(c int) op {
			r := random(c)
			return func() int64 {
				last := int64(0)
				rows, err := s.Query(ctx, host(r.Intn(hosts)))
				n := drain(rows, err, func(r []types.Value) { row(r); last = r[1].Int() })
				check(n == 10 && last == timeOf(perHost-10), n)
				return n
			}
		})
	case "W8": // ten rows for each of twenty hosts
		s := prepare("SELECT " + columns + " FROM events WHERE host IN (" + strings.TrimSuffix(strings.Repeat("?, ", 20), ", ") + ") AND ts >= ? AND ts < ?")
		loop(w, clients, func(c int) op {
			r := random(c)
			return func() int64 {
				h, j := r.Intn(hosts), r.Intn(perHost-10)
				var args []any
				for x := range 20 {
					args = append(args, host((h+x*7)%hosts))
				}
				rows, err := s.Query(ctx, append(args, timeOf(j), timeOf(j+10))...)
				n := drain(rows, err, row)
				check(n == 200, n)
				return n
			}
		})
	case "W9":
		s := prepare("SELECT host, count(*), avg(val) FROM events GROUP BY host")
		loop(w, clients, func(int) op {
			return func() int64 {
				var sum int64
				rows, err := s.Query(ctx)
				n := drain(rows, err, func(r []types.Value) { sum += r[1].Int() })
				check(n == int64(hosts) && sum == total, sum)
				return sum
			}
		})
	case "W10": // from the start of the process to the first row
		rows, err := db.Query(ctx, "SELECT "+columns+" FROM events WHERE host = ? AND ts = ?", host(7), timeOf(7))
		n := drain(rows, err, row)
		check(n == 1, n)
		began := time.Unix(0, int64(envInt("EXEC_NS", int(time.Now().UnixNano()))))
		d := time.Since(began)
		report(w, 1, 1, 1, d.Seconds(), []time.Duration{d}, 0, ownCPU())
	case "W11":
		load(ctx, db, w)
	default:
		if !more(ctx, db, w, clients) {
			fmt.Fprintln(os.Stderr, "bench: unknown workload", w)
			os.Exit(2)
		}
	}
}

// load writes 200,000 rows in statements of 1,000.
func load(ctx context.Context, db *hql.DB, w string) {
	const batch, writers, loadHosts, loadRows = 1000, 4, 40, 5000
	s := must(db.Prepare(ctx, "INSERT INTO evload (host, ts, mark, level, msg, val, cnt) VALUES "+
		strings.TrimSuffix(strings.Repeat("(?, ?, 'x', ?, ?, ?, ?), ", batch), ", ")))
	first := envInt("H0", 0)
	once(w, 0, func() int64 {
		work := make(chan [2]int)
		var wg sync.WaitGroup
		for range writers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for at := range work {
					args := make([]any, 0, 6*batch)
					for j := at[1]; j < at[1]+batch; j++ {
						h, c := at[0], countOf(at[0], j)
						args = append(args, host(h), timeOf(j), levelOf(h, j), messageOf(h, j, c), float64(c)/7, c)
					}
					must(s.Exec(ctx, args...))
				}
			}()
		}
		for h := first; h < first+loadHosts; h++ {
			for j := 0; j < loadRows; j += batch {
				work <- [2]int{h, j}
			}
		}
		close(work)
		wg.Wait()
		return loadHosts * loadRows
	})
}
