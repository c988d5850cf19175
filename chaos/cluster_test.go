package chaos

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// clusterEnv names the directory of cluster.sh, which starts and breaks an HBase.
const clusterEnv = "HQL_CHAOS_CLUSTER"

// A cluster is one ZooKeeper, one master and some region servers, each a process.
type cluster struct {
	t       testing.TB
	dir     string // a copy of the scripts; run below it holds data and logs
	base    int    // of the ports: ZooKeeper +181, master +600, region server i +620+i
	servers int
	mu      sync.Mutex // held while processes are started, stopped or asked something
}

// scripts finds cluster.sh in ../shared/chaos of the project or of a directory above it.
func scripts() (string, bool) {
	if dir := os.Getenv(clusterEnv); dir != "" {
		return dir, true
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		found := filepath.Join(dir, "shared", "chaos")
		if _, err := os.Stat(filepath.Join(found, "cluster.sh")); err == nil {
			return found, true
		}
	}
	return "", false
}

// startCluster starts a cluster that ends with the test, also when the test is killed.
func startCluster(t testing.TB, servers int) *cluster {
	t.Helper()
	from, ok := scripts()
	if !ok {
		t.Skipf("no shared/chaos/cluster.sh above this directory: %s can name its directory", clusterEnv)
	}
	for _, tool := range []string{"bash", "java", "javac", "mvn", "flock"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is needed to run an HBase", tool)
		}
	}
	// Not t.TempDir: the directory must last until the last process is gone.
	dir, err := os.MkdirTemp("", "hql-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cluster.sh", "Chaos.java", "opens"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{t: t, dir: dir, servers: servers, base: freeBase(t, servers)}
	c.downWithTest()
	if out := c.script("up", strconv.Itoa(servers)); !strings.Contains(out, "up") {
		t.Fatalf("the cluster did not start: %s", out)
	}
	if !c.waitReady(time.Minute) || !c.waitServers(2*time.Minute) {
		t.Fatalf("the cluster did not start:\n%s\n%s", tail(c.log("m")), tail(c.log("chaos")))
	}
	return c
}

// freeBase finds a base all of whose ports are free now.
func freeBase(t testing.TB, servers int) int {
	for base := 24000 + 1000*(os.Getpid()%20); base < 60000; base += 1000 {
		ports := []int{base + 181, base + 600}
		for i := range servers {
			ports = append(ports, base+621+i)
		}
		free := true
		for _, p := range ports {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return base
		}
	}
	t.Fatal("no free ports")
	return 0
}

func (c *cluster) env() []string {
	// ZooKeeper's administration server would take port 8080, and end the process if it is taken.
	return append(os.Environ(), "JAVA_TOOL_OPTIONS=-Dzookeeper.admin.enableServer=false", "B="+filepath.Join(c.dir, "run"), "PB="+strconv.Itoa(c.base), fmt.Sprintf("LEASE=%d", lease.Milliseconds()), "RPCTO=10000")
}

// downWithTest leaves a shell behind that ends the cluster when this process closes its
// pipe, be it because the test is over or because the process died.
func (c *cluster) downWithTest() {
	cmd := exec.Command("bash", "-c", `read _; for i in rs1 rs2 rs3; do [ -f run/log/$i.pid ] && kill -CONT $(cat run/log/$i.pid); done; bash ./cluster.sh down wipe; cd /; rm -rf "$0"`, c.dir)
	cmd.Dir, cmd.Env = c.dir, c.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C ends the test, not the tidying
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		pipe.Close()
		_ = cmd.Wait()
	})
}

// script runs cluster.sh and gives what it prints.
func (c *cluster) script(args ...string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	cmd := exec.Command("bash", append([]string{"./cluster.sh"}, args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("err %v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// admin asks the Java client to do something; ok reports whether it did.
func (c *cluster) admin(args ...string) (answer string, ok bool) {
	out := c.script(append([]string{"c"}, args...)...)
	return out, strings.HasPrefix(out, "ok")
}

func (c *cluster) pid(name string) int {
	b, err := os.ReadFile(filepath.Join(c.dir, "run", "log", name+".pid"))
	if err != nil {
		c.t.Errorf("no such process: %v", err)
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		c.t.Errorf("process %s: %v", name, err)
	}
	return pid
}

// signal reports whether the process got it.
func (c *cluster) signal(name string, s syscall.Signal) bool {
	pid := c.pid(name)
	return pid > 0 && syscall.Kill(pid, s) == nil
}

// pause freezes a process for d.
func (c *cluster) pause(name string, d time.Duration) bool {
	ok := c.signal(name, syscall.SIGSTOP)
	time.Sleep(d)
	return c.signal(name, syscall.SIGCONT) && ok
}

func (c *cluster) server(i int) string { return fmt.Sprintf("rs%d", i%c.servers+1) }

// port of the region server with that number.
func (c *cluster) port(i int) int { return c.base + 621 + i%c.servers }

// kill ends a process at once and starts it again after some time. It reports whether it
// was back, and the master knew, within a minute.
func (c *cluster) kill(name string, away time.Duration) bool {
	before, _ := c.admin("servers")
	if !c.signal(name, syscall.SIGKILL) {
		return false
	}
	time.Sleep(away)
	c.script("start", name)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		now, ok := c.admin("servers")
		if ok && strings.Count(now, "localhost") == c.servers && (!strings.HasPrefix(name, "rs") || serverList(now) != serverList(before)) {
			return true
		}
	}
	return false
}

// serverList is an answer without how long it took.
func serverList(answer string) string {
	list, _, _ := strings.Cut(answer, "] [")
	return list
}

// waitServers waits until the master has as many region servers as were started.
func (c *cluster) waitServers(d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if out, ok := c.admin("servers"); ok && strings.Count(out, "localhost") == c.servers {
			return true
		}
	}
	return false
}

// waitReady waits until the Java client can be asked.
func (c *cluster) waitReady(d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(c.dir, "run", "log", "chaos.out")); err == nil && bytes.Contains(b, []byte("ready")) {
			return true
		}
	}
	return false
}

// tail is the end of a log.
func tail(log string) string { return log[max(0, len(log)-2000):] }

// log is what the process name wrote.
func (c *cluster) log(name string) string {
	b, _ := os.ReadFile(filepath.Join(c.dir, "run", "log", name+".err"))
	return string(b)
}

// expired counts the scanners that the region servers had to close themselves.
func (c *cluster) expired() (n int) {
	for i := range c.servers {
		for line := range strings.Lines(c.log(c.server(i))) {
			if strings.Contains(line, "lease") && strings.Contains(line, "expired") {
				n++
			}
		}
	}
	return n
}

func (c *cluster) dsn() string { return fmt.Sprintf("hbase://127.0.0.1:%d/hbase", c.base+181) }

// connections gives this process' connections to the region servers as file descriptors.
// There are none to be found on systems without /proc.
func (c *cluster) connections() (fds []int) {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return nil
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(100)
		for _, name := range names {
			fd, _ := strconv.Atoi(name)
			peer, err := syscall.Getpeername(fd)
			if err != nil {
				continue
			}
			port := 0
			switch a := peer.(type) {
			case *syscall.SockaddrInet4:
				port = a.Port
			case *syscall.SockaddrInet6:
				port = a.Port
			}
			if port > c.base+620 && port <= c.base+620+c.servers {
				fds = append(fds, fd)
			}
		}
		if err == io.EOF || err != nil {
			return fds
		}
	}
}

// cut breaks all connections to the region servers, whatever is under way on them.
func (c *cluster) cut() int {
	fds := c.connections()
	for _, fd := range fds {
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
	}
	return len(fds)
}
