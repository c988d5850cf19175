package hbasetest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// quorumEnv names a running HBase ("localhost:2181") to use in place of a new one; "none" skips the
// tests that need one.
const quorumEnv = "HQL_TEST_HBASE"

// requireEnv makes a missing Java or Maven a failure.
const requireEnv = "HQL_REQUIRE_HBASE"

// versionEnv names the version of hbase-server to start.
const versionEnv = "HQL_HBASE_VERSION"

// securedEnv asks for the tests that run an HBase with TLS, or with sealed messages alone.
const securedEnv = "HQL_TEST_TLS"

// guardedEnv asks for the tests that run an HBase with permissions.
const guardedEnv = "HQL_TEST_GUARDED"

var shared struct {
	once sync.Once
	running
	err error
}

// running is an HBase that start started.
type running struct {
	quorum, dir string
	info        string // the address of the region server's pages; "" where it is not known
	stop        func()
}

// Cluster is an HBase that authenticates with Kerberos, and the KDC in the same JVM.
type Cluster struct {
	Quorum string
	// Krb5Conf is the configuration of realm HQL.TEST; the user alice is in the keytab and the ticket
	// cache, and the servers are hbase/localhost.
	Krb5Conf, Keytab, CCache string
	// Tokens are files with a delegation token of alice's, one of each form in which Hadoop writes them.
	Tokens []string
	// CA is the PEM file of the authority that signed the servers' certificate; "" where they speak clear text.
	CA string
}

// errNoJava says that this machine cannot run HBase.
var errNoJava = errors.New("java, javac and mvn are needed to run HBase")

// errUnwanted says that no HBase shall run.
var errUnwanted = errors.New("no HBase: " + quorumEnv + " is none")

// Quorum gives the ZooKeeper quorum of an HBase, started on first use. Where there
// is no Java or Maven the test is skipped, or fails if HQL_REQUIRE_HBASE is set. TestMain calls Stop at the end.
func Quorum(tb testing.TB) string {
	tb.Helper()
	shared.once.Do(func() {
		if q := os.Getenv(quorumEnv); q != "" && q != "none" {
			shared.quorum = q
			return
		}
		shared.running, shared.err = start(plain(), false)
	})
	check(tb, shared.err)
	return shared.quorum
}

// Kerberos starts an HBase that wants Kerberos, and stops it after the test. It is skipped as with Quorum.
func Kerberos(tb testing.TB) Cluster {
	tb.Helper()
	return kerberized(tb, plain())
}

// Sealed starts an HBase 2.6 that wants Kerberos with sealed messages, by HBase's own cipher where a client knows it, within TLS, and stops
// it after the test, which is skipped unless HQL_TEST_TLS is set: it takes half a minute.
func Sealed(tb testing.TB) Cluster {
	tb.Helper()
	p, ca, _ := secured(tb, false)
	p.kerby = "2.0.3" // with the one that it brings it does not start
	p.props = append(p.props, [2]string{"hbase.rpc.protection", "privacy"}, [2]string{"hbase.rpc.crypto.encryption.aes.enabled", "true"})
	c := kerberized(tb, p)
	c.CA = ca
	return c
}

func kerberized(tb testing.TB, p product) Cluster {
	tb.Helper()
	r, err := start(p, true)
	check(tb, err)
	tb.Cleanup(r.stop)
	in := func(name string) string { return filepath.Join(r.dir, name) }
	return Cluster{Quorum: r.quorum, Krb5Conf: in("krb5.conf"), Keytab: in("alice.keytab"), CCache: in("alice.ccache"), Tokens: []string{in("writable.tokens"), in("protobuf.tokens")}}
}

// Suffixed starts an HBase whose hbase:meta has a suffix, and stops it after the test, which is skipped unless HQL_TEST_GUARDED is set.
func Suffixed(tb testing.TB, suffix string) (quorum string) {
	tb.Helper()
	if os.Getenv(guardedEnv) == "" {
		tb.Skipf("set %s=1 to check against an HBase whose hbase:meta has a suffix", guardedEnv)
	}
	p := plain()
	p.main = []string{filepath.Join(testdata(p.dir), "WithSuffix.java"), suffix}
	r, err := start(p, false)
	check(tb, err)
	tb.Cleanup(r.stop)
	return r.quorum
}

// Guarded starts an HBase that permits nothing to anybody but the user who runs it, and stops it after the test, which is
// skipped unless HQL_TEST_GUARDED is set: it takes half a minute.
func Guarded(tb testing.TB) (quorum string) {
	tb.Helper()
	if os.Getenv(guardedEnv) == "" {
		tb.Skipf("set %s=1 to check against an HBase with permissions", guardedEnv)
	}
	p := plain()
	p.props = [][2]string{{"hbase.security.authorization", "true"}}
	for _, of := range []string{"master", "region", "regionserver"} {
		p.props = append(p.props, [2]string{"hbase.coprocessor." + of + ".classes", "org.apache.hadoop.hbase.security.access.AccessController"})
	}
	r, err := start(p, false)
	check(tb, err)
	tb.Cleanup(r.stop)
	return r.quorum
}

// Secured starts an HBase 2.6 that speaks nothing but TLS, and stops it after the test, which is skipped unless HQL_TEST_TLS is set:
// it takes half a minute. Its certificate, for localhost, is signed by the authority in the PEM file ca; mutual: it wants one of that
// authority's from clients, which the PEM file client holds with its key.
func Secured(tb testing.TB, mutual bool) (quorum, ca, client string) {
	tb.Helper()
	p, ca, client := secured(tb, mutual)
	r, err := start(p, false)
	check(tb, err)
	tb.Cleanup(r.stop)
	return r.quorum, ca, client
}

// Guards are what servers that the caller starts need to take sealed messages of those that Kerberos knows, within mutual TLS.
type Guards struct {
	// Properties belong into the servers' hbase-site.xml, and into Hadoop's core-site.xml; HBase's own client gets along with them too.
	Properties [][2]string
	// Krb5Conf is the configuration of the realm, for the servers and for hql.
	Krb5Conf string
	// Params are those of hql's address.
	Params url.Values
	// Jars is the servers' class path.
	Jars string
}

// Guarding makes such guards, of which a KDC runs until the test is over. It is skipped as with Quorum.
func Guarding(tb testing.TB) Guards {
	tb.Helper()
	dir := tb.TempDir()
	ca, own, err := certificates(dir)
	check(tb, err)
	p := plain()
	p.kerby = "2.0.3"
	cp, err := classPath(p)
	check(tb, err)
	port, err := freePorts(1)
	check(tb, err)
	args := append(strings.Fields(opens), "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", cp, filepath.Join(testdata(p.dir), "WithKDC.java"), dir, fmt.Sprint(port[0]), "alone")
	stop, err := run(exec.Command("java", args...), dir, "the KDC runs")
	check(tb, err)
	tb.Cleanup(stop)
	props := append(kerberosProperties(dir), tlsProperties(ca, own, true)...)
	return Guards{Krb5Conf: filepath.Join(dir, "krb5.conf"), Jars: cp,
		Properties: append(props, [][2]string{{"hbase.rpc.protection", "privacy"}, {"hbase.client.keytab.principal", "hbase/localhost@HQL.TEST"}, {"hbase.client.keytab.file", filepath.Join(dir, "hbase.keytab")}}...),
		Params:     url.Values{"kerberos": {"alice@HQL.TEST"}, "keytab": {filepath.Join(dir, "alice.keytab")}, "protection": {"privacy"}, "tls": {""}, "tls_ca": {ca}, "tls_cert": {own}, "tls_key": {own}}}
}

// SecuredZooKeeper starts a ZooKeeper that takes nothing but TLS, and one that wants SASL of its clients, and stops them after the test,
// which is skipped unless HQL_TEST_GUARDED is set.
func SecuredZooKeeper(tb testing.TB) (tls, sasl string) {
	tb.Helper()
	if os.Getenv(guardedEnv) == "" {
		tb.Skipf("set %s=1 to check against ZooKeepers with TLS and SASL", guardedEnv)
	}
	cp, err := classPath(plain())
	check(tb, err)
	ports, err := freePorts(2)
	check(tb, err)
	dir := tb.TempDir()
	ca, own, err := certificates(dir)
	check(tb, err)
	jaas := filepath.Join(dir, "jaas.conf")
	check(tb, os.WriteFile(jaas, []byte(`Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_hbase="secret"; };`), 0o600))
	for name, lines := range map[string]string{
		"tls": fmt.Sprintf("secureClientPort=%d\nserverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\nssl.keyStore.location=%s\nssl.trustStore.location=%s\n", ports[0], own, ca),
		"sasl": fmt.Sprintf("clientPort=%d\nauthProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"+
			"enforce.auth.enabled=true\nenforce.auth.schemes=sasl\nsessionRequireClientSASLAuth=true\n", ports[1]),
	} {
		conf := filepath.Join(dir, name)
		check(tb, os.MkdirAll(conf, 0o755))
		check(tb, os.WriteFile(filepath.Join(conf, "zoo.cfg"), []byte("dataDir="+conf+"\nadmin.enableServer=false\n"+lines), 0o600))
		check(tb, os.WriteFile(filepath.Join(conf, "log4j.properties"), []byte(strings.Replace(logging, "WARN", "INFO", 1)), 0o600))
		args := []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.security.auth.login.config=" + jaas, "-cp", conf + ":" + cp,
			"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(conf, "zoo.cfg")}
		stop, err := run(exec.Command("java", args...), dir, "PrepRequestProcessor (sid:0) started")
		check(tb, err)
		tb.Cleanup(stop)
	}
	return fmt.Sprintf("localhost:%d", ports[0]), fmt.Sprintf("localhost:%d", ports[1])
}

// secured is an HBase with TLS, to be started.
func secured(tb testing.TB, mutual bool) (p product, ca, client string) {
	tb.Helper()
	if os.Getenv(securedEnv) == "" {
		tb.Skipf("set %s=1 to check against an HBase with TLS", securedEnv)
	}
	dir := tb.TempDir()
	ca, client, err := certificates(dir)
	check(tb, err)
	p = plain()
	p.version = cmp.Or(os.Getenv(versionEnv), "2.6.4-hadoop3")
	p.props = tlsProperties(ca, client, mutual)
	return p, ca, client
}

// tlsProperties make servers speak nothing but TLS.
func tlsProperties(ca, own string, mutual bool) (props [][2]string) {
	mode := "NONE"
	if mutual {
		mode = "NEED"
	}
	for _, of := range []string{"server", "client"} {
		props = append(props, [2]string{"hbase." + of + ".netty.tls.enabled", "true"})
	}
	return append(props, [][2]string{{"hbase.server.netty.tls.supportplaintext", "false"}, {"hbase.server.netty.tls.client.auth.mode", mode},
		{"hbase.rpc.tls.keystore.location", own}, {"hbase.rpc.tls.keystore.type", "PEM"}, {"hbase.rpc.tls.keystore.password", ""},
		{"hbase.rpc.tls.truststore.location", ca}, {"hbase.rpc.tls.truststore.type", "PEM"}, {"hbase.rpc.tls.truststore.password", ""}}...)
}

// certificates writes an authority's certificate, and one of its for localhost with its key, as PEM files into dir.
func certificates(dir string) (ca, client string, err error) {
	until := time.Now().Add(24 * time.Hour)
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hql's tests"}, NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	host := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: until, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	caKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", "", err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", "", err
	}
	caBytes, err := x509.CreateCertificate(rand.Reader, authority, authority, &caKey.PublicKey, caKey)
	if err != nil {
		return "", "", err
	}
	hostBytes, err := x509.CreateCertificate(rand.Reader, host, authority, &key.PublicKey, caKey)
	if err != nil {
		return "", "", err
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	ca, client = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "client.pem")
	block := func(typ string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: b}) }
	return ca, client, errors.Join(os.WriteFile(ca, block("CERTIFICATE", caBytes), 0o600),
		os.WriteFile(client, append(block("PRIVATE KEY", keyBytes), block("CERTIFICATE", hostBytes)...), 0o600))
}

// Scanners says how many scanners are open on the region server of the HBase that Quorum started, and how many it
// closed because nobody read them for a minute. It is called after Quorum and takes two seconds or more, as the server counts
// once a second. Tests on an HBase that HQL_TEST_HBASE names are skipped.
func Scanners(tb testing.TB) (open, expired int) {
	tb.Helper()
	if shared.info == "" {
		tb.Skip("the scanners of another HBase are not counted")
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 10 {
		time.Sleep(2 * time.Second)
		r, err := client.Get("http://" + shared.info + "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server")
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
		for _, b := range metrics.Beans { // none for a while after a region was opened
			if b.ActiveScanners != nil && b.ScannerLeaseExpiredCount != nil {
				return *b.ActiveScanners, *b.ScannerLeaseExpiredCount
			}
		}
	}
	tb.Fatal("the region server does not count its scanners")
	return 0, 0
}

// check skips or ends a test without its HBase.
func check(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, errUnwanted) || errors.Is(err, errNoJava) && os.Getenv(requireEnv) == "" {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Stop ends the HBase that Quorum started, if any.
func Stop() {
	if shared.stop != nil {
		shared.stop()
	}
}

// product is something to run: jars that testdata/dir/pom.xml names, with this version of what it names first, and what it needs
// in hbase-site.xml.
type product struct {
	dir, version string
	kerby        string         // the version of the KDC; "": the usual one
	keep         *regexp.Regexp // the jars wanted; nil: all
	props        [][2]string
	heap         string   // of Java; "": little
	main         []string // what Java runs; nil: HBase's own
}

func plain() product {
	return product{dir: "hbase", version: cmp.Or(os.Getenv(versionEnv), "2.5.10-hadoop3")}
}

// testdata is a directory in the project's testdata.
func testdata(dir string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "testdata", dir)
}

// start runs HBase in a directory of its own and waits until it serves.
func start(p product, kerberos bool) (running, error) {
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
	ports, err := freePorts(5)
	if err != nil {
		return running{}, err
	}
	conf := filepath.Join(dir, "conf")
	for _, name := range []string{"master", "regionserver", "static"} { // the jars of 2.6 and later have no pages, and their servers miss them
		if err := os.MkdirAll(filepath.Join(conf, "hbase-webapps", name), 0o755); err != nil {
			return running{}, err
		}
	}
	info, props := "", p.props
	if p.keep == nil { // its jars can serve pages
		info = fmt.Sprintf("127.0.0.1:%d", ports[4])
		props = append(slices.Clone(props), [][2]string{{"hbase.regionserver.info.port", fmt.Sprint(ports[4])}, {"hbase.regionserver.info.bindAddress", "127.0.0.1"}}...)
	}
	properties := site(dir, ports, kerberos, props)
	for name, content := range map[string][]byte{"hbase-site.xml": properties, "core-site.xml": properties, "log4j.properties": []byte(logging), "hadoop-metrics2-hbase.properties": []byte("*.period=1\n")} {
		if err := os.WriteFile(filepath.Join(conf, name), content, 0o644); err != nil {
			return running{}, err
		}
	}
	args := append(strings.Fields(opens), cmp.Or(p.heap, "-Xmx768m"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", conf+":"+cp)
	switch {
	case kerberos:
		args = append(args, filepath.Join(testdata(p.dir), "WithKDC.java"), dir, fmt.Sprint(ports[3]))
	case p.main != nil:
		args = append(args, p.main...)
	default:
		args = append(args, "org.apache.hadoop.hbase.master.HMaster", "start")
	}
	stop, err := run(exec.Command("java", args...), dir, "Master has completed initialization")
	if err != nil {
		_ = os.RemoveAll(dir)
		return running{}, err
	}
	return running{fmt.Sprintf("localhost:%d", ports[0]), dir, info, func() { stop(); _ = os.RemoveAll(dir) }}, nil
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
		_ = cmd.Process.Kill() // nothing in it is to last
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

func freePorts(n int) ([]int, error) {
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

// ClassPath gives the jars of the HBase that Quorum starts, which is not. The test is skipped as with Quorum.
func ClassPath(tb testing.TB) string {
	tb.Helper()
	cp, err := classPath(plain())
	check(tb, err)
	return cp
}

// classPath resolves the jars of p with Maven, once a machine.
func classPath(p product) (string, error) {
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", errNoJava
		}
	}
	pom := filepath.Join(testdata(p.dir), "pom.xml")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "hql")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(cache, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	name, versions := p.dir+"-"+p.version, []string{"-D" + p.dir + ".version=" + p.version}
	if p.kerby != "" {
		name, versions = name+"-kerby-"+p.kerby, append(versions, "-Dkerby.version="+p.kerby)
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
	if p.keep != nil {
		jars = slices.DeleteFunc(jars, func(jar string) bool { return !p.keep.MatchString(jar) })
	}
	cp := strings.Join(jars, ":")
	return cp, os.WriteFile(file, []byte(cp), 0o644)
}

// lock lets one process at a time resolve the jars.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
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
	}
	if kerberos {
		props = append(props, kerberosProperties(dir)...)
	}
	var b strings.Builder
	b.WriteString("<configuration>\n")
	for _, p := range append(props, more...) {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", p[0], p[1])
	}
	b.WriteString("</configuration>\n")
	return []byte(b.String())
}

// kerberosProperties make servers want Kerberos, with what WithKDC wrote into dir.
func kerberosProperties(dir string) [][2]string {
	const principal = "hbase/localhost@HQL.TEST"
	keys := filepath.Join(dir, "hbase.keytab")
	return [][2]string{
		{"hadoop.security.authentication", "kerberos"},
		{"hadoop.security.authorization", "true"},
		{"hbase.security.authentication", "kerberos"},
		{"hbase.rpc.protection", "authentication,integrity,privacy"},
		{"hbase.master.kerberos.principal", principal},
		{"hbase.regionserver.kerberos.principal", principal},
		{"hbase.master.keytab.file", keys},
		{"hbase.regionserver.keytab.file", keys},
		{"hbase.coprocessor.region.classes", "org.apache.hadoop.hbase.security.token.TokenProvider"},
	}
}

const logging = `log4j.rootLogger=WARN,c
log4j.appender.c=org.apache.log4j.ConsoleAppender
log4j.appender.c.target=System.err
log4j.appender.c.layout=org.apache.log4j.PatternLayout
log4j.appender.c.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
log4j.logger.org.apache.hadoop.hbase.master.HMaster=INFO
`

// opens are what HBase 2.5 needs of JDK 17.
const opens = `--add-modules jdk.unsupported --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED
--add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/jdk.internal.ref=ALL-UNNAMED
--add-opens java.base/java.lang.reflect=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED
--add-opens java.base/java.util.concurrent=ALL-UNNAMED --add-exports java.base/jdk.internal.misc=ALL-UNNAMED
--add-exports java.security.jgss/sun.security.krb5=ALL-UNNAMED --add-exports java.base/sun.net.dns=ALL-UNNAMED
--add-exports java.base/sun.net.util=ALL-UNNAMED`
