package hbasetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
)

// The test binaries of a machine lend each other the HBases that they have started. For each HBase a file in a common
// directory describes it. The process that locks the file uses the HBase until it ends. A process of its own, the keeper,
// has started the HBase; it stops the HBase when nobody has locked the file and the go commands of all users have ended.

// keeperEnv makes a test binary keep an HBase instead of running tests: its value is the file for the HBase.
const keeperEnv = "HQL_HBASE_KEEPER"

func init() {
	if file := os.Getenv(keeperEnv); file != "" {
		keep(file)
		os.Exit(0)
	}
}

// lent is the content of the file for an HBase.
type lent struct {
	Quorum, Info string
	PID          int
	Commands     []int  // the go commands of its users
	Error        string // why the keeper could not start it
}

// borrow returns an HBase without tables that no other process uses until this one ends. It starts one if all others are
// in use.
func borrow() (h lent, err error) {
	p := Plain()
	cp, err := classPath(p)
	if err != nil {
		return h, err
	}
	alike := crc32.ChecksumIEEE(append(site("", make([]int, 5), false, p.Props), cp+p.Heap...))
	pool := filepath.Join(os.TempDir(), fmt.Sprintf("hql-hbases-%d-%x", os.Getuid(), alike))
	if err := os.MkdirAll(pool, 0o700); err != nil {
		return h, err
	}
	for i := 0; shared.file == nil; i++ {
		if shared.file, err = lock(filepath.Join(pool, strconv.Itoa(i)), syscall.LOCK_NB); err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
			return h, err
		}
	}
	known := json.NewDecoder(shared.file).Decode(&h) == nil && syscall.Kill(h.PID, 0) == nil
	if !known || dropAll(h.Quorum) != nil {
		if h, err = startKeeper(shared.file.Name()); err != nil {
			return h, err
		}
	}
	h.Commands = append(h.Commands, os.Getppid())
	b, err := json.Marshal(h)
	if err != nil {
		return h, err
	}
	return h, os.WriteFile(shared.file.Name(), b, 0o600)
}

// startKeeper starts a keeper and waits until its HBase serves.
func startKeeper(file string) (h lent, err error) {
	self, err := os.Executable()
	if err != nil {
		return h, err
	}
	keeper := exec.Command(self)
	keeper.Env = append(os.Environ(), keeperEnv+"="+file)
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interrupt is for the tests
	answer, err := keeper.StdoutPipe()
	if err == nil {
		err = keeper.Start()
	}
	if err == nil {
		err = json.NewDecoder(answer).Decode(&h)
	}
	if err == nil && h.Error != "" {
		err = errors.New(h.Error)
	}
	return h, err
}

// keep starts an HBase, writes its description to standard output, and stops it when nobody needs it any more.
func keep(file string) {
	r, err := start(Plain(), false)
	h := lent{Quorum: r.quorum, Info: r.info, PID: r.pid}
	if err != nil {
		h.Error = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(h)
	for idle := 0; err == nil; idle++ {
		time.Sleep(time.Second)
		b, _ := os.ReadFile(file)
		_ = json.Unmarshal(b, &h) // if it is being written, the old commands count
		if h.PID == r.pid && slices.ContainsFunc(h.Commands, runsGo) {
			idle = 0
			continue
		}
		f, locked := lock(file, syscall.LOCK_NB)
		switch {
		case locked != nil && h.PID == r.pid:
			idle = 0
		case idle > 2 || h.PID != r.pid:
			if h.PID == r.pid {
				_ = os.Truncate(file, 0)
			}
			r.stop()
			return
		}
		f.Close()
	}
}

// runsGo reports whether a process is a go command. Only Linux says it.
func runsGo(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(stat), " (go) ") && !strings.Contains(string(stat), " (go) Z")
}

// dropAll drops the tables of HBase, several at a time.
func dropAll(quorum string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	var conns []net.Conn // gohbase does not close those of an admin client, and tests look for goroutines that stay
	admin := gohbase.NewAdminClient(quorum, gohbase.RegionDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
		}
		return c, err
	}))
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
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
