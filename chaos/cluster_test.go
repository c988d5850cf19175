package chaos

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// clusterEnv names the directory of cluster.sh, which starts and breaks an HBase.
const clusterEnv = "HQL_CHAOS_CLUSTER"

// connectEnv is "rpc" for statements that reach the cluster without ZooKeeper. The cluster then has two masters, one of
// them active. "guarded" is the same with a cluster, of 2.6 or later, that accepts only sealed messages of Kerberos
// users within mutual TLS.
const connectEnv = "HQL_CHAOS_CONNECT"

// backup is the second master.
const backup = "m2"

// A cluster is one ZooKeeper, one or two masters, and some region servers, each in a process.
type cluster struct {
	t       testing.TB
	dir     string // a copy of the scripts; run below it holds data and logs
	base    int    // of the ports: ZooKeeper +181, master +600, the second +601, region server i +620+i
	servers int
	rpc     bool // see connectEnv
	guards  *guards
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

// startCluster starts a cluster that ends with the test, even if the test is killed. Its servers have the given
// properties, each "name value".
func startCluster(t testing.TB, servers int, given ...string) *cluster {
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
	c := &cluster{t: t, dir: dir, servers: servers, base: freeBase(t, servers)}
	properties, jars := strings.Join(append(given, ""), "\n"), ""
	switch os.Getenv(connectEnv) {
	case "guarded":
		g := guarding(t)
		t.Setenv("KRB5_CONFIG", g.krb5Conf)
		c.rpc, c.guards, jars = true, &g, g.jars
		for _, p := range g.properties {
			properties += p[0] + " " + p[1] + "\n"
		}
	case "rpc":
		c.rpc, jars = true, hbasetest.ClassPath(t, hbasetest.Plain())
	default:
		jars = hbasetest.ClassPath(t, hbasetest.Plain())
	}
	for _, name := range []string{"cluster.sh", "Chaos.java", "opens"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		b = bytes.ReplaceAll(b, []byte("((ClusterConnection) c)"), []byte("c")) // HBase 3 has no such class
		b = bytes.Replace(b, []byte("hbase.balancer.period "), []byte(properties+"hbase.balancer.period "), 1)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.jars(), []byte(jars), 0o644); err != nil {
		t.Fatal(err)
	}
	c.prepareConf()
	c.downWithTest()
	if out := c.script("up", strconv.Itoa(servers)); !strings.Contains(out, "up") {
		t.Fatalf("the cluster did not start: %s", out)
	}
	if !c.waitReady(time.Minute) || !c.waitServers(2*time.Minute) {
		t.Fatalf("the cluster did not start:\n%s\n%s", tail(c.log("m")), tail(c.log("chaos")))
	}
	if c.rpc {
		c.configureBackup()
		c.start(backup)
	}
	return c
}

// jars is the file of the class path.
func (c *cluster) jars() string { return filepath.Join(c.dir, "cp.txt") }

// prepareConf makes directories that are missing in the jars of HBase 2.6, and configures Hadoop for Kerberos.
func (c *cluster) prepareConf() {
	hadoop := "<configuration>"
	if c.guards != nil {
		for _, p := range c.guards.properties {
			hadoop += "<property><name>" + p[0] + "</name><value>" + p[1] + "</value></property>"
		}
	}
	hadoop += "</configuration>"
	for _, name := range append(c.masters(), "zk", "rs1", "rs2", "rs3") {
		conf := filepath.Join(c.dir, "run", "conf-"+name)
		for _, of := range []string{"master", "regionserver", "static"} {
			if err := os.MkdirAll(filepath.Join(conf, "hbase-webapps", of), 0o755); err != nil {
				c.t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(conf, "core-site.xml"), []byte(hadoop), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
}

// configureBackup writes the second master's configuration.
func (c *cluster) configureBackup() {
	for _, name := range []string{"hbase-site.xml", "log4j.properties"} {
		b, err := os.ReadFile(filepath.Join(c.dir, "run", "conf-m", name))
		if err == nil {
			b = bytes.ReplaceAll(b, fmt.Appendf(nil, ">%d<", c.base+600), fmt.Appendf(nil, ">%d<", c.base+601))
			err = os.WriteFile(filepath.Join(c.dir, "run", "conf-"+backup, name), b, 0o644)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// masters returns the names of the masters.
func (c *cluster) masters() []string {
	if c.rpc {
		return []string{"m", backup}
	}
	return []string{"m"}
}

// start starts a process. cluster.sh supports only one master.
func (c *cluster) start(name string) {
	if name != backup {
		c.script("start", name)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cmd := exec.Command("bash", "-c", `exec java $(cat ../opens) -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp conf-m2:$(cat ../cp.txt) org.apache.hadoop.hbase.master.HMaster start >/dev/null 2>>log/m2.err`)
	cmd.Dir, cmd.Env = filepath.Join(c.dir, "run"), c.env()
	if err := cmd.Start(); err != nil {
		c.t.Errorf("the second master: %v", err)
		return
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "log", backup+".pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
		c.t.Error(err)
	}
	go func() { _ = cmd.Wait() }()
}

// freeBase finds a base port from which all needed ports are free.
func freeBase(t testing.TB, servers int) int {
	for base := 24000 + 1000*(os.Getpid()%20); base < 60000; base += 1000 {
		ports := []int{base + 181, base + 600, base + 601}
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
	options := "JAVA_TOOL_OPTIONS=-Dzookeeper.admin.enableServer=false"
	if c.guards != nil {
		options += " -Djava.security.krb5.conf=" + c.guards.krb5Conf
	}
	return append(os.Environ(), options, "B="+filepath.Join(c.dir, "run"), "CPFILE="+c.jars(), "PB="+strconv.Itoa(c.base), fmt.Sprintf("LEASE=%d", lease.Milliseconds()), "RPCTO=10000")
}

// downWithTest starts a shell that ends the cluster when this process closes its pipe, because the test is over or the
// process died.
func (c *cluster) downWithTest() {
	cmd := exec.Command("bash", "-c", `read _; for i in rs1 rs2 rs3; do [ -f run/log/$i.pid ] && kill -CONT $(cat run/log/$i.pid); done; [ -f run/log/m2.pid ] && kill -KILL $(cat run/log/m2.pid); bash ./cluster.sh down wipe; cd /; rm -rf "$0"`, c.dir)
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

// script runs cluster.sh and returns its output.
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

// admin sends a command to the Java client; ok reports whether it succeeded.
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

// signal sends a signal to a process and reports whether it exists.
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

// port returns the port of the region server with that number.
func (c *cluster) port(i int) int { return c.base + 621 + i%c.servers }

// kill ends a process at once, calls meanwhile, and starts the process again. It reports whether the process was back,
// and known to the master, within two minutes.
func (c *cluster) kill(name string, meanwhile func()) bool {
	before, _ := c.admin("servers")
	if !c.signal(name, syscall.SIGKILL) {
		return false
	}
	meanwhile()
	c.start(name)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		now, ok := c.admin("servers")
		if ok && strings.Count(now, "localhost") == c.servers && (!strings.HasPrefix(name, "rs") || serverList(now) != serverList(before)) {
			return true
		}
	}
	return false
}

// serverList returns an answer without its duration.
func serverList(answer string) string {
	list, _, _ := strings.Cut(answer, "] [")
	return list
}

// waitServers waits until the master has all region servers.
func (c *cluster) waitServers(d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if out, ok := c.admin("servers"); ok && strings.Count(out, "localhost") == c.servers {
			return true
		}
	}
	return false
}

// waitServed waits until HBase's own client can read the test's tables.
func (c *cluster) waitServed(d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
		if !slices.ContainsFunc([]string{"hql_catalog", "events", "merged", "skipped", "groups", "indexed", "indexed_by_code", "high"}, func(table string) bool {
			_, ok := c.admin("count", table)
			return !ok
		}) {
			return true
		}
	}
	return false
}

// waitReady waits until the Java client answers.
func (c *cluster) waitReady(d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(c.dir, "run", "log", "chaos.out")); err == nil && bytes.Contains(b, []byte("ready")) {
			return true
		}
	}
	return false
}

// tail returns the end of a log.
func tail(log string) string { return log[max(0, len(log)-2000):] }

// log returns the output of a process.
func (c *cluster) log(name string) string {
	b, _ := os.ReadFile(filepath.Join(c.dir, "run", "log", name+".err"))
	return string(b)
}

// expired counts the scanners whose lease expired on the region servers.
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

// address returns the address for statements. It omits the second master, which the cluster reports.
func (c *cluster) address() string {
	switch {
	case c.guards != nil:
		return fmt.Sprintf("hbase+rpc://localhost:%d?%s", c.base+600, c.guards.params.Encode())
	case c.rpc:
		return fmt.Sprintf("hbase+rpc://localhost:%d", c.base+600)
	}
	return c.dsn()
}

func (c *cluster) dsn() string { return fmt.Sprintf("hbase://127.0.0.1:%d/hbase", c.base+181) }

// connections returns this process' connections to the region servers as file descriptors, or none on systems without
// /proc.
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

// cut breaks all connections to the region servers, in the middle of calls.
func (c *cluster) cut() int {
	fds := c.connections()
	for _, fd := range fds {
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
	}
	return len(fds)
}
