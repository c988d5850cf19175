package chaos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql"
)

// A chaosCase injects faults for about the given time while readers run.
type chaosCase struct {
	name string
	run  func(t *testing.T, w *world, d time.Duration)
	long bool // takes too long for the short form
}

var cases = []chaosCase{
	{"C0 a hundred at once, half of them closed early", crowd, false},
	{"C1 cut connections", cutConnections, false},
	{"C2 scanners expire", expireScanners, false},
	{"C3 regions move, split, merge, compact, flush", reorganise, false},
	{"C4 a table is disabled", disableTable, false},
	{"C5 kill -9 a region server", killServer, false},
	{"C6 pause region servers", pauseServers, false},
	{"C7 a large write to a paused server", writeToPaused, false},
	{"C8 everything at random", monkey, false},
	{"C9 kill the master", killMaster, true},
	{"C10 pause ZooKeeper", pauseZooKeeper, false},
	{"C11 malformed root znode", malformedRoot, false},
	{"C12 cancel a scan that finds nothing", cancelScans, false},
	{"C13 the region is too busy", tooBusy, false},
	{"C14 wide rows in small answers", wideRows, false},
	{"C15 writers under cuts and kills", writeUnderFaults, false},
	{"C16 reversed scans over 0xff keys under cuts", reversedHigh, false},
}

// Without any fault the servers close no scanner because it was not read: hql reads all scanners to their end or closes
// them.
func crowd(_ *testing.T, w *world, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 100 {
		r := rand.New(rand.NewPCG(uint64(i), 0))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil {
				k := kinds[r.IntN(len(kinds))]
				if r.IntN(2) == 0 {
					q := k.make(r)
					q.kind = k.name
					_ = w.ask(q, 0) // counted
					continue
				}
				w.giveUp(k.make(r).sql, r.IntN(500))
			}
		}()
	}
	wg.Wait()
	before := w.c.expired() // of queries that came to no turn for longer than the lease
	time.Sleep(lease * 3 / 2)
	if n := w.c.expired() - before; n > 0 {
		w.fig.do(func() {
			w.fig.leaked += n
			w.fig.bad("the servers closed %d scanners that were left open", n)
		})
	}
}

// giveUp closes a query after some rows.
func (w *world) giveUp(sql string, after int) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	rows, err := w.db.Query(ctx, sql)
	if err == nil {
		for i := 0; i < after && rows.Next(); i++ {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	w.fig.do(func() {
		w.fig.queries["closed early"]++
		if err != nil {
			w.fig.failed["closed early"]++
			w.fig.errors[shape(err)]++
		}
	})
}

// cutting cuts all connections repeatedly, after pauses of half to one and a half of every, until stop is called.
func (w *world) cutting(every time.Duration) (stop func()) {
	return background(func(r *rand.Rand) {
		if n := w.c.cut(); n > 0 {
			w.fig.fault("connection cut", n)
		}
		time.Sleep(every/2 + rand.N(every))
	})
}

func cutConnections(_ *testing.T, w *world, d time.Duration) {
	stop := w.cutting(110 * time.Millisecond)
	time.Sleep(d)
	stop()
}

// Slow consumers pause twice in a scan, for longer than the server keeps a scanner.
func expireScanners(t *testing.T, w *world, _ time.Duration) {
	done := make(chan error)
	slow := []query{}
	for _, k := range kinds {
		if k.name == "full scan" || k.name == "reversed" {
			q := k.make(rand.New(rand.NewPCG(5, 5)))
			q.kind = k.name
			slow = append(slow, q)
		}
	}
	before := w.c.expired()
	for _, q := range slow {
		go func() { done <- w.ask(q, lease*14/10) }()
	}
	for range slow {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	w.fig.fault("scanner expired", w.c.expired()-before)
}

func reorganise(_ *testing.T, w *world, d time.Duration) {
	during(max(d, 6*time.Second), func(i int, r *rand.Rand) { w.reorganise(i, r) })
}

// reorganise makes one change to a table's regions.
func (w *world) reorganise(i int, r *rand.Rand) {
	table, key := "events", fmt.Sprintf("%08d", r.IntN(rows))
	switch r.IntN(4) {
	case 0:
		table, key = "merged", fmt.Sprintf(`\x%02x`, r.IntN(8))
	case 1:
		table, key = "skipped", fmt.Sprintf("%04d", r.IntN(sites))
	}
	do := func(kind string, args ...string) {
		if _, ok := w.c.admin(args...); ok {
			w.fig.fault(kind, 1)
		}
	}
	switch i % 8 {
	case 1:
		do("split", "split", table, key)
	case 3: // neighbours, unless one was split; never forced, which would break hbase:meta
		borders := []string{"00000000", "00008000", "00016000"}
		n := r.IntN(len(borders) - 1)
		do("merge", "merge", "events", borders[n], borders[n+1])
	case 5:
		do("flush", "flush", table)
	case 7:
		do("major compaction", "majorcompact", table)
	case 6:
		do("move of hbase:meta", "move", "hbase:meta", "x", fmt.Sprint(w.c.port(r.IntN(w.c.servers))))
	default:
		do("move", "move", table, key, fmt.Sprint(w.c.port(r.IntN(w.c.servers))))
	}
}

// A query waits until its table is enabled again; if that does not happen, the error names the table.
func disableTable(t *testing.T, w *world, _ time.Duration) {
	if _, ok := w.c.admin("disable", "indexed"); !ok {
		t.Fatal("not disabled")
	}
	w.fig.fault("table disabled", 1)
	told := false
	for _, sql := range []string{"SELECT count(*) FROM indexed", "SELECT n FROM indexed WHERE id = 7", "SELECT n FROM indexed WHERE id IN (7, 70, 700)"} {
		const patience = time.Second
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		began := time.Now()
		_, err := w.read(ctx, sql, 0, 0)
		cancel()
		if !missed(err) && (err == nil || !strings.Contains(err.Error(), "indexed is disabled")) {
			t.Errorf("%s on a disabled table: %v", sql, err)
		}
		told = told || err != nil && strings.Contains(err.Error(), "indexed is disabled")
		if took := time.Since(began); took > patience+grace {
			t.Errorf("%s on a disabled table took %v", sql, took)
		}
	}
	if !told { // a busy cluster tells it later
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		_, err := w.read(ctx, "SELECT n FROM indexed WHERE id = 7", 0, 0)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "indexed is disabled") {
			t.Errorf("no error told that the table is disabled: %v", err)
		}
	}
	if _, ok := w.c.admin("enable", "indexed"); !ok {
		t.Error("not enabled")
	}
	q := query{kind: "enabled again", sql: "SELECT count(*) FROM indexed", want: []string{"2000"}}
	if err := w.ask(q, 0); err != nil {
		t.Error(err)
	}
}

func killServer(t *testing.T, w *world, d time.Duration) {
	during(d, func(i int, r *rand.Rand) {
		time.Sleep(500 * time.Millisecond)
		w.killOne(t, r, i)
	})
}

// killOne kills a region server. Every second time the server stays away until its session with ZooKeeper has expired;
// otherwise the master notices that it is back.
func (w *world) killOne(t *testing.T, r *rand.Rand, i int) {
	away := time.Second
	if i%2 == 1 {
		away = 9 * time.Second
	}
	w.fig.fault("kill -9 region server", 1)
	if name := w.c.server(r.IntN(w.c.servers)); !w.c.kill(name, func() { time.Sleep(away) }) {
		t.Errorf("%s did not come back", name)
	}
}

// monkey cuts connections, and injects a worse fault at the same time.
func monkey(t *testing.T, w *world, d time.Duration) {
	stop := w.cutting(700 * time.Millisecond)
	defer stop()
	during(d, func(i int, r *rand.Rand) {
		switch r.IntN(6) {
		case 0:
			w.killOne(t, r, r.IntN(2))
		case 1, 2:
			w.pauseOne(r)
		default:
			w.reorganise(r.IntN(8), r)
		}
		time.Sleep(rand.N(500 * time.Millisecond))
	})
}

func pauseServers(_ *testing.T, w *world, d time.Duration) {
	during(d, func(i int, r *rand.Rand) {
		w.pauseOne(r)
		time.Sleep(300 * time.Millisecond)
	})
}

func (w *world) pauseOne(r *rand.Rand) {
	if w.c.pause(w.c.server(r.IntN(w.c.servers)), 300*time.Millisecond+rand.N(900*time.Millisecond)) {
		w.fig.fault("pause region server", 1)
	}
}

// A write that the server does not read returns at its deadline.
func writeToPaused(t *testing.T, w *world, _ time.Duration) {
	w.exec(context.Background(), "CREATE TABLE IF NOT EXISTS large (id BIGINT, v STRING) ROW KEY (id AS TEXT(8))")
	w.exec(context.Background(), "UPSERT INTO large VALUES (0, 'warm')")
	at, _ := w.c.admin("where", "large", "00000000")
	name := ""
	for i := range w.c.servers {
		if strings.Contains(at, fmt.Sprint(w.c.port(i))) {
			name = w.c.server(i)
		}
	}
	if name == "" {
		t.Fatalf("where is the table? %s", at)
	}
	w.c.signal(name, syscall.SIGSTOP)
	defer w.c.signal(name, syscall.SIGCONT)
	w.fig.fault("pause region server", 1)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	began := time.Now()
	_, err := w.db.Exec(ctx, "UPSERT INTO large VALUES (?, ?)", 1, strings.Repeat("x", 8<<20))
	took := time.Since(began)
	w.fig.do(func() {
		w.fig.writes++
		w.fig.unknown++
		if !missed(err) || took > 2*time.Second+grace {
			w.fig.hung++
			w.fig.bad("an UPSERT of 8 MiB to a paused server returned after %v: %v", took, err)
		}
	})
}

// Reads do not need the master; statements that do wait for it. If there are two masters, one is killed and comes back
// only after the other has finished the requested work; the address names only one of them.
func killMaster(t *testing.T, w *world, _ time.Duration) {
	ask := func() {
		for _, sql := range []string{"CREATE TABLE IF NOT EXISTS after_master (id BIGINT, v STRING) ROW KEY (id AS TEXT(8))", "DROP TABLE IF EXISTS after_master"} {
			_, err := w.db.Exec(context.Background(), sql)
			for end := time.Now().Add(3 * time.Minute); missed(err) && time.Now().Before(end); { // on a busy machine a master takes long to be active
				_, err = w.db.Exec(context.Background(), sql)
			}
			if err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	for _, name := range w.c.masters() {
		w.fig.fault("kill -9 master", 1)
		if !w.c.kill(name, func() {
			time.Sleep(time.Second)
			if w.c.rpc {
				ask()
			}
		}) {
			t.Error("the master did not come back")
		}
		ask()
	}
}

// While ZooKeeper does not answer, no client that asks it can connect, and must get an error within its time limit. The
// servers that are asked instead of ZooKeeper can answer.
func pauseZooKeeper(t *testing.T, w *world, _ time.Duration) {
	w.fig.fault("pause ZooKeeper", 1)
	w.c.signal("zk", syscall.SIGSTOP)
	defer w.c.signal("zk", syscall.SIGCONT)
	began := time.Now()
	db, err := hql.Open(context.Background(), w.c.address(), hql.WithConnectTimeout(3*time.Second))
	if err == nil {
		db.Close()
	}
	if w.c.rpc && err != nil {
		t.Errorf("while ZooKeeper is paused: %v", err)
	}
	if !w.c.rpc && !errors.Is(err, hql.ErrUnreachable) {
		t.Errorf("connected to a paused ZooKeeper: %v", err)
	}
	if took := time.Since(began); took > 3*time.Second+grace {
		t.Errorf("it took %v to notice a paused ZooKeeper", took)
	}
}

// The content of a root znode is not trusted: a malformed one is an error that names it, not a crash.
func malformedRoot(t *testing.T, w *world, _ time.Duration) {
	conn, _, err := zk.Connect([]string{fmt.Sprintf("127.0.0.1:%d", w.c.base+181)}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	create := func(root string, content []byte) {
		t.Helper()
		if _, err := conn.Create(root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Create(root+"/meta-region-server", content, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	random := make([]byte, 64)
	for i := range random {
		random[i] = byte(rand.IntN(256))
	}
	for i, content := range [][]byte{nil, {0}, {0xff, 0, 0}, random} {
		root := fmt.Sprintf("/malformed%d", i)
		create(root, content)
		w.fig.fault("malformed znode", 1)
		began := time.Now()
		db, err := hql.Open(context.Background(), strings.Replace(w.c.dsn(), "/hbase", root, 1), hql.WithConnectTimeout(3*time.Second))
		if err == nil {
			db.Close()
		}
		if !errors.Is(err, hql.ErrUnreachable) || !strings.Contains(err.Error(), root) {
			t.Errorf("znode of %d bytes: %v", len(content), err)
		}
		if took := time.Since(began); took > 3*time.Second+grace {
			t.Errorf("znode of %d bytes: error after %v", len(content), took)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go refuse(l)
	addr := l.Addr().(*net.TCPAddr)
	meta, err := proto.Marshal(&pb.MetaRegionServer{Server: &pb.ServerName{HostName: proto.String("127.0.0.1"), Port: proto.Uint32(uint32(addr.Port))}})
	if err != nil {
		t.Fatal(err)
	}
	create("/refusing", append([]byte("\xff\x00\x00\x00\x01xPBUF"), meta...))
	w.fig.fault("connection refused by a secure server", 1)
	db, err := hql.Open(context.Background(), strings.Replace(w.c.dsn(), "/hbase", "/refusing", 1))
	if err == nil {
		db.Close()
	}
	if !errors.Is(err, hql.ErrUnreachable) || !strings.Contains(err.Error(), "the cluster requires Kerberos") {
		t.Errorf("a server that wants another authentication: %v", err)
	}
}

// refuse answers connections like a server that requires authentication.
func refuse(l net.Listener) {
	const class = "org.apache.hadoop.hbase.security.AccessDeniedException"
	header, err := proto.Marshal(&pb.ResponseHeader{CallId: proto.Uint32(math.MaxUint32),
		Exception: &pb.ExceptionResponse{ExceptionClassName: proto.String(class), StackTrace: proto.String(class + ": Authentication is required\n\tat x")}})
	if err != nil {
		return
	}
	answer := protowire.AppendBytes(nil, header)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 6))
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...))
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // a reset could overtake the answer
		}
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}
}

// A scan that finds nothing ends within a second after it is cancelled.
func cancelScans(t *testing.T, w *world, d time.Duration) {
	during(d, func(_ int, r *rand.Rand) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+r.IntN(100))*time.Millisecond)
		defer cancel()
		began := time.Now()
		got, err := w.read(ctx, "SELECT id FROM events WHERE pad = 'nothing'", 0, 0)
		took := time.Since(began)
		w.fig.fault("query cancelled", 1)
		w.fig.do(func() {
			if len(got) > 0 || err != nil && !missed(err) {
				w.fig.wrong++
				w.fig.bad("a cancelled scan: %d rows, %v", len(got), err)
			}
			if took > 100*time.Millisecond+grace {
				w.fig.hung++
				w.fig.bad("a cancelled scan returned after %v", took)
			}
		})
	})
}
