package hbasetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
)

// keeperEnv makes a test binary keep an HBase instead of running tests.
const keeperEnv = "HQL_HBASE_KEEPER"

func init() {
	if os.Getenv(keeperEnv) == "" {
		return
	}
	l, err := net.FileListener(os.NewFile(3, "socket"))
	if err != nil {
		os.Exit(1)
	}
	keep(l.(*net.UnixListener))
	os.Exit(0)
}

// lent is the keeper's answer to a user: an HBase, or why there is none.
type lent struct {
	Quorum, Info string
	PID          int
	Error        string
}

// borrow returns an HBase that no other process uses until this one ends. It starts one if all others are in use.
func borrow() (lent, error) {
	p := Plain()
	cp, err := classPath(p)
	if err != nil {
		return lent{}, err
	}
	alike := crc32.ChecksumIEEE(append(site("", make([]int, 5), false, p.Props), cp+p.Heap...))
	pool := filepath.Join(os.TempDir(), fmt.Sprintf("hql-hbase-%d-%x", os.Getuid(), alike))
	if err := os.MkdirAll(pool, 0o700); err != nil {
		return lent{}, err
	}
	conn, err := connect(pool)
	if err != nil {
		return lent{}, err
	}
	shared.conn = conn // it stays open until this process ends
	var h lent
	if err := json.NewDecoder(conn).Decode(&h); err != nil {
		return lent{}, fmt.Errorf("the process that keeps HBase has ended: %w", err)
	}
	if h.Error != "" {
		return lent{}, errors.New(h.Error)
	}
	return h, nil
}

// connect returns a connection to a keeper whose HBase has no other user.
func connect(pool string) (net.Conn, error) {
	unlock, err := lock(filepath.Join(pool, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	sockets, err := filepath.Glob(filepath.Join(pool, "*.socket"))
	if err != nil {
		return nil, err
	}
	for _, socket := range sockets {
		conn, err := ask(socket)
		if conn != nil {
			return conn, nil
		}
		if err != nil {
			_ = os.Remove(socket) // its keeper has ended
		}
	}
	socket := filepath.Join(pool, fmt.Sprintf("%d.socket", os.Getpid()))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	f, err := l.File()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	keeper := exec.Command(self)
	keeper.Env = append(os.Environ(), keeperEnv+"=1")
	keeper.ExtraFiles = []*os.File{f}
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interrupt is for the tests
	if err := keeper.Start(); err != nil {
		return nil, err
	}
	return ask(socket)
}

// ask borrows the HBase of the keeper at socket. It returns the connection, which holds that HBase until it is closed, or
// nil if another test process uses the HBase.
func ask(socket string) (net.Conn, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	free := make([]byte, 1)
	_, err = fmt.Fprintln(conn, goCommand())
	if err == nil {
		_, err = io.ReadFull(conn, free)
	}
	if err != nil || free[0] != 'y' {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// goCommand returns the process of the go command that runs these tests, 0 if none does. Only Linux says it.
func goCommand() int {
	if pid := os.Getppid(); runsGo(pid) {
		return pid
	}
	return 0
}

func runsGo(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(stat), " (go) ") && !strings.Contains(string(stat), " (go) Z")
}

// keeper is the process that keeps an HBase. The test binaries of a machine lend each other the HBases that they have
// started. One test binary at a time uses an HBase, and it finds no tables there. The keeper starts an HBase, listens on a
// socket in the pool's directory, and gives the HBase to the process that connects, until that process closes the
// connection or ends. Then it drops the tables. It ends HBase and itself when there is no user any more and the go
// commands that started the users have ended.
type keeper struct {
	started chan struct{}
	hbase   running
	err     error      // why it did not start
	empty   sync.Mutex // held while tables are dropped

	mu       sync.Mutex // guards what follows
	used     bool
	commands []int // the go commands of all users
}

// keep starts an HBase and lends it to the processes that connect, until nobody needs it any more.
func keep(l *net.UnixListener) {
	k := &keeper{started: make(chan struct{})}
	l.SetUnlinkOnClose(true)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go k.lend(conn)
		}
	}()
	k.hbase, k.err = start(Plain(), false)
	close(k.started)
	for idle := 0; idle < 3; idle++ {
		time.Sleep(time.Second)
		if k.needed() {
			idle = 0
		}
	}
	l.Close()
	if k.err == nil {
		k.hbase.stop()
	}
}

// needed reports whether a process uses the HBase, or whether a go command that started a user still runs.
func (k *keeper) needed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.used {
		return true
	}
	for _, pid := range k.commands {
		if runsGo(pid) {
			return k.err == nil
		}
	}
	return false
}

// lend gives HBase to the process at the other end of the connection.
func (k *keeper) lend(conn net.Conn) {
	defer conn.Close()
	command := 0
	if _, err := fmt.Fscanln(conn, &command); err != nil {
		return
	}
	if !k.take(command) {
		_, _ = conn.Write([]byte("n"))
		return
	}
	_, _ = conn.Write([]byte("y"))
	<-k.started
	k.empty.Lock()
	h := lent{Quorum: k.hbase.quorum, Info: k.hbase.info, PID: k.hbase.pid}
	if k.err != nil {
		h.Error = k.err.Error()
	}
	_ = json.NewEncoder(conn).Encode(h)
	_, _ = io.Copy(io.Discard, conn) // until the user ends
	k.mu.Lock()
	k.used = false // the next user waits until HBase is empty
	k.mu.Unlock()
	if k.err == nil && dropAll(k.hbase.quorum) != nil {
		k.hbase.stop() // such an HBase is of no use to anybody
		os.Exit(1)
	}
	k.empty.Unlock()
}

// take reports whether HBase had no user, and makes the caller its user.
func (k *keeper) take(command int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.used {
		return false
	}
	k.used = true
	if command > 0 {
		k.commands = append(k.commands, command)
	}
	return true
}

// dropAll drops the tables of HBase, several at a time.
func dropAll(quorum string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin := gohbase.NewAdminClient(quorum)
	list, err := hrpc.NewListTableNames(ctx)
	if err != nil {
		return err
	}
	names, err := admin.ListTableNames(list)
	if err != nil {
		return err
	}
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, n := range names {
		wg.Go(func() {
			_ = admin.DisableTable(hrpc.NewDisableTable(ctx, n.Qualifier)) // it may be disabled
			errs[i] = admin.DeleteTable(hrpc.NewDeleteTable(ctx, n.Qualifier))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
