package hbasetest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// quorumEnv names a running HBase ("localhost:2181") to use instead of starting one; "none" skips the tests that need
// one.
const quorumEnv = "HQL_TEST_HBASE"

// requireEnv makes a missing Java or Maven a failure.
const requireEnv = "HQL_REQUIRE_HBASE"

// versionEnv names the version of hbase-server to start.
const versionEnv = "HQL_HBASE_VERSION"

var shared struct {
	once sync.Once
	lent
	file *os.File // locked while this process uses the HBase; nil: it was not borrowed
	err  error
}

// running is an HBase that the function start has started.
type running struct {
	quorum, dir string
	info        string // the address of the region server's web pages; "" if unknown
	pid         int
	stop        func()
}

// errNoJava says that this machine cannot run HBase.
var errNoJava = errors.New("java, javac and mvn are needed to run HBase")

// errUnwanted is the error if quorumEnv is none.
var errUnwanted = errors.New("no HBase: " + quorumEnv + " is none")

// Quorum returns the ZooKeeper quorum of an HBase without tables, which no other process uses until this one ends.
// Without Java or Maven it skips the test, or fails it if HQL_REQUIRE_HBASE is set.
func Quorum(tb testing.TB) string {
	tb.Helper()
	shared.once.Do(func() {
		switch q := os.Getenv(quorumEnv); q {
		case "":
			shared.lent, shared.err = borrow()
		case "none":
			shared.err = errUnwanted
		default:
			shared.Quorum = q
		}
	})
	check(tb, shared.err)
	return shared.Quorum
}

// PID returns the process id of the HBase that Quorum returned, master and region server in one; 0 if the tests of this
// machine did not start it.
func PID() int { return shared.PID }

// Scanners returns how many scanners are open on the region server of the HBase that Quorum returned, and how many it
// closed because they were not read for a minute. Call it after Quorum. It takes two seconds or more, because the
// server counts once a second. It skips a test on an HBase that HQL_TEST_HBASE names.
func Scanners(tb testing.TB) (open, expired int) {
	tb.Helper()
	if shared.Info == "" {
		tb.Skip("the scanners of another HBase are not counted")
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 10 {
		time.Sleep(2 * time.Second)
		r, err := client.Get("http://" + shared.Info + "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server")
		if err != nil {
			tb.Fatal(err)
		}
		var metrics struct {
			Beans []struct {
				ActiveScanners           *int
				ScannerLeaseExpiredCount *int
			}
		}
		err = json.NewDecoder(r.Body).Decode(&metrics)
		r.Body.Close()
		if err != nil {
			tb.Fatal(err)
		}
		for _, b := range metrics.Beans { // absent for a while after a region was opened
			if b.ActiveScanners != nil && b.ScannerLeaseExpiredCount != nil {
				return *b.ActiveScanners, *b.ScannerLeaseExpiredCount
			}
		}
	}
	tb.Fatal("the region server does not count its scanners")
	return 0, 0
}

// check skips or ends a test that lacks its HBase.
func check(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, errUnwanted) || errors.Is(err, errNoJava) && os.Getenv(requireEnv) == "" {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Product is a program to run: the jars that testdata/Dir/pom.xml names, with this version of the first one, and the
// properties that it needs in hbase-site.xml.
type Product struct {
	Dir, Version string
	Kerby        string         // the version of the KDC; "": the default
	Keep         *regexp.Regexp // the jars wanted; nil: all
	Props        [][2]string
	Heap         string   // of Java's heap; "": small
	Main         []string // the main class and arguments; nil: HBase's own
}

// Plain is the HBase that Quorum starts.
func Plain() Product {
	p := Product{Dir: "hbase", Version: cmp.Or(os.Getenv(versionEnv), "2.5.10-hadoop3")}
	if os.Getenv("HQL_LARGE") == "1" { // tables of a million rows
		p.Heap = "-Xmx2g"
	}
	return p
}

// Testdata returns a directory in the project's testdata. It looks for go.mod above the working directory: a test binary
// built with -trimpath does not know where its sources are.
func Testdata(dir string) string {
	root, err := os.Getwd()
	for err == nil && root != filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	return filepath.Join(root, "testdata", dir)
}

// Start runs p, an HBase, until the test is over, and returns its ZooKeeper quorum and the directory of its files. It
// skips like Quorum.
func Start(tb testing.TB, p Product, kerberos bool) (quorum, dir string) {
	tb.Helper()
	r, err := start(p, kerberos)
	check(tb, err)
	tb.Cleanup(r.stop)
	return r.quorum, r.dir
}

// start runs HBase in a directory of its own and waits until it serves.
func start(p Product, kerberos bool) (running, error) {
	if os.Getenv(quorumEnv) == "none" {
		return running{}, errUnwanted
	}
	if _, err := exec.LookPath("javac"); kerberos && err != nil {
		return running{}, errNoJava
	}
	cp, err := classPath(p)
	if err != nil {
		return running{}, err
	}
	dir, err := os.MkdirTemp("", "hql-hbase-")
	if err != nil {
		return running{}, err
	}
	ports, err := FreePorts(5)
	if err != nil {
		return running{}, err
	}
	conf := filepath.Join(dir, "conf")
	for _, name := range []string{"master", "regionserver", "static"} { // the jars of 2.6 and later do not contain the web pages, and their servers need the directories
		if err := os.MkdirAll(filepath.Join(conf, "hbase-webapps", name), 0o755); err != nil {
			return running{}, err
		}
	}
	info, props := "", p.Props
	if p.Keep == nil { // its jars can serve web pages
		info = fmt.Sprintf("127.0.0.1:%d", ports[4])
		props = append(slices.Clone(props), [][2]string{{"hbase.regionserver.info.port", fmt.Sprint(ports[4])}, {"hbase.regionserver.info.bindAddress", "127.0.0.1"}}...)
	}
	properties := site(dir, ports, kerberos, props)
	for name, content := range map[string][]byte{"hbase-site.xml": properties, "core-site.xml": properties, "log4j.properties": []byte(Logging), "hadoop-metrics2-hbase.properties": []byte("*.period=1\n")} {
		if err := os.WriteFile(filepath.Join(conf, name), content, 0o644); err != nil {
			return running{}, err
		}
	}
	args := append(strings.Fields(Opens), cmp.Or(p.Heap, "-Xmx768m"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", conf+":"+cp)
	switch {
	case kerberos:
		args = append(args, filepath.Join(Testdata(p.Dir), "WithKDC.java"), dir, fmt.Sprint(ports[3]))
	case p.Main != nil:
		args = append(args, p.Main...)
	default:
		args = append(args, "org.apache.hadoop.hbase.master.HMaster", "start")
	}
	java := exec.Command("java", args...)
	stop, err := run(java, dir, "Master has completed initialization")
	if err != nil {
		_ = os.RemoveAll(dir)
		return running{}, err
	}
	return running{fmt.Sprintf("localhost:%d", ports[0]), dir, info, java.Process.Pid, func() { stop(); _ = os.RemoveAll(dir) }}, nil
}

// Run starts a command in dir, which runs until the test is over, and waits until its log has a text.
func Run(tb testing.TB, cmd *exec.Cmd, dir, ready string) {
	tb.Helper()
	stop, err := run(cmd, dir, ready)
	check(tb, err)
	tb.Cleanup(stop)
}

// run starts a command in dir and waits until its log has a text.
func run(cmd *exec.Cmd, dir, ready string) (stop func(), err error) {
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill() // it holds no data to keep
		_ = cmd.Wait()
	}
	up := make(chan error, 1)
	go watch(bufio.NewScanner(log), ready, up)
	select {
	case err = <-up:
	case <-time.After(2 * time.Minute):
		err = fmt.Errorf("two minutes without %q", ready)
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// watch reads the log until it has a text, and then on, so that it never blocks.
func watch(sc *bufio.Scanner, ready string, up chan<- error) {
	sc.Buffer(nil, 1<<20)
	var tail []string
	for sc.Scan() {
		if strings.Contains(sc.Text(), ready) {
			up <- nil
		}
		if tail = append(tail, sc.Text()); len(tail) > 20 {
			tail = tail[1:]
		}
	}
	select {
	case up <- fmt.Errorf("it ended:\n%s", strings.Join(tail, "\n")):
	default:
	}
}

// FreePorts returns free ports of this host.
func FreePorts(n int) ([]int, error) {
	var out []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}

// ClassPath returns the jars of p; it does not start it. It skips like Quorum.
func ClassPath(tb testing.TB, p Product) string {
	tb.Helper()
	cp, err := classPath(p)
	check(tb, err)
	return cp
}

// Jars returns the jars of the product that testdata/DIR/pom.xml names, such as Hive, in a version, and the path of
// testdata/DIR. It skips like Quorum.
func Jars(tb testing.TB, dir, version string) (jars, path string) {
	tb.Helper()
	return ClassPath(tb, Product{Dir: dir, Version: version}), Testdata(dir)
}

// classPath resolves the jars of p with Maven, once per machine.
func classPath(p Product) (string, error) {
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", errNoJava
		}
	}
	pom := filepath.Join(Testdata(p.Dir), "pom.xml")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "hql")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	one, err := lock(filepath.Join(cache, "lock"), 0) // one process at a time resolves jars
	if err != nil {
		return "", err
	}
	defer one.Close()
	name, versions := p.Dir+"-"+p.Version, []string{"-D" + p.Dir + ".version=" + p.Version}
	if p.Kerby != "" {
		name, versions = name+"-kerby-"+p.Kerby, append(versions, "-Dkerby.version="+p.Kerby)
	}
	file := filepath.Join(cache, name+".classpath")
	if b, err := os.ReadFile(file); err == nil && jarsExist(string(b)) {
		return string(b), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	args := append([]string{"-q", "-B", "-f", pom, "dependency:build-classpath", "-Dmdep.outputFile=" + file}, versions...)
	out, err := exec.CommandContext(ctx, "mvn", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("resolving HBase with Maven: %v\n%s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	jars := strings.Split(strings.TrimSpace(string(b)), ":")
	if p.Keep != nil {
		jars = slices.DeleteFunc(jars, func(jar string) bool { return !p.Keep.MatchString(jar) })
	}
	cp := strings.Join(jars, ":")
	return cp, os.WriteFile(file, []byte(cp), 0o644)
}

// lock opens and locks a file, until the file is closed or the process ends. how may be LOCK_NB.
func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func jarsExist(cp string) bool {
	for _, jar := range strings.Split(strings.TrimSpace(cp), ":") {
		if _, err := os.Stat(jar); err != nil {
			return false
		}
	}
	return cp != ""
}

func site(dir string, ports []int, kerberos bool, more [][2]string) []byte {
	props := [][2]string{
		{"hbase.cluster.distributed", "false"},
		{"hbase.rootdir", "file://" + dir + "/hbase"},
		{"hbase.zookeeper.property.dataDir", dir + "/zk"},
		{"hbase.zookeeper.property.clientPort", fmt.Sprint(ports[0])},
		{"hbase.zookeeper.quorum", "localhost"},
		{"hbase.tmp.dir", dir + "/tmp"},
		{"hbase.master.port", fmt.Sprint(ports[1])},
		{"hbase.regionserver.port", fmt.Sprint(ports[2])},
		{"hbase.master.info.port", "-1"},
		{"hbase.regionserver.info.port", "-1"},
		{"hbase.master.hostname", "localhost"},
		{"hbase.regionserver.hostname", "localhost"},
		{"hbase.unsafe.stream.capability.enforce", "false"},
		{"hbase.wal.provider", "filesystem"},
		{"hbase.regionserver.handler.count", "16"},
		{"hbase.assignment.dispatch.wait.msec", "5"},
		{"hbase.procedure.remote.dispatcher.delay.msec", "5"},
	}
	if kerberos {
		props = append(props, KerberosProperties(dir)...)
	}
	var b strings.Builder
	b.WriteString("<configuration>\n")
	for _, p := range append(props, more...) {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", p[0], p[1])
	}
	b.WriteString("</configuration>\n")
	return []byte(b.String())
}

// Logging is a configuration of log4j that writes warnings to the standard error.
const Logging = `log4j.rootLogger=WARN,c
log4j.appender.c=org.apache.log4j.ConsoleAppender
log4j.appender.c.target=System.err
log4j.appender.c.layout=org.apache.log4j.PatternLayout
log4j.appender.c.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
log4j.logger.org.apache.hadoop.hbase.master.HMaster=INFO
`

// Opens are the options with which HBase 2.5 runs on JDK 17.
const Opens = `--add-modules jdk.unsupported --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED
--add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/jdk.internal.ref=ALL-UNNAMED
--add-opens java.base/java.lang.reflect=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED
--add-opens java.base/java.util.concurrent=ALL-UNNAMED --add-exports java.base/jdk.internal.misc=ALL-UNNAMED
--add-exports java.security.jgss/sun.security.krb5=ALL-UNNAMED --add-exports java.base/sun.net.dns=ALL-UNNAMED
--add-exports java.base/sun.net.util=ALL-UNNAMED`
