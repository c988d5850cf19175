package hbasetest

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// securedEnv enables the tests that run an HBase with TLS, or with sealed messages only.
const securedEnv = "HQL_TEST_TLS"

// guardedEnv enables the tests that run an HBase with permissions.
const guardedEnv = "HQL_TEST_GUARDED"

// Cluster is an HBase that authenticates with Kerberos; the KDC runs in the same JVM.
type Cluster struct {
	Quorum string
	// Krb5Conf is the configuration of realm HQL.TEST. The user alice is in the keytab and the ticket cache; the
	// servers' principal is hbase/localhost.
	Krb5Conf, Keytab, CCache string
	// CA is the PEM file of the authority that signed the servers' certificate; "" if they speak clear text.
	CA string
}

// Kerberos starts an HBase that requires Kerberos, and stops it after the test. It skips like Quorum.
func Kerberos(tb testing.TB) Cluster {
	tb.Helper()
	return kerberized(tb, plain())
}

// Sealed starts an HBase 2.6 that requires Kerberos, TLS and sealed messages, with HBase's own cipher if the client
// supports it, and stops it after the test. It takes half a minute and skips unless HQL_TEST_TLS is set.
func Sealed(tb testing.TB) Cluster {
	tb.Helper()
	p, ca, _ := secured(tb, false, localhost)
	p.props = append(p.props, [2]string{"hbase.rpc.protection", "privacy"}, [2]string{"hbase.rpc.crypto.encryption.aes.enabled", "true"})
	c := kerberized(tb, p)
	c.CA = ca
	return c
}

// kerbyFor is the version of the KDC for an HBase: HBase 2.6 and later do not start with the default version.
func kerbyFor(hbase string) string {
	if strings.HasPrefix(hbase, "2.4.") || strings.HasPrefix(hbase, "2.5.") {
		return ""
	}
	return "2.0.3"
}

func kerberized(tb testing.TB, p product) Cluster {
	tb.Helper()
	p.kerby = kerbyFor(p.version)
	r, err := start(p, true)
	check(tb, err)
	tb.Cleanup(r.stop)
	in := func(name string) string { return filepath.Join(r.dir, name) }
	return Cluster{Quorum: r.quorum, Krb5Conf: in("krb5.conf"), Keytab: in("alice.keytab"), CCache: in("alice.ccache")}
}

// Guarded starts an HBase that grants permissions only to the user who runs it, and stops it after the test. It takes
// half a minute and skips unless HQL_TEST_GUARDED is set.
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

// PairTakes is the largest request, in bytes, that the servers of Pair accept.
const PairTakes = 1 << 20

// Pair starts an HBase of two region servers with quotas, and stops it after the test. It takes half a minute and skips
// unless HQL_TEST_GUARDED is set.
func Pair(tb testing.TB) (quorum string) {
	tb.Helper()
	if os.Getenv(guardedEnv) == "" {
		tb.Skipf("set %s=1 to check against an HBase of two region servers", guardedEnv)
	}
	return Several(tb, 2, [2]string{"hbase.quota.enabled", "true"}, [2]string{"hbase.quota.refresh.period", "200"}, [2]string{"hbase.ipc.max.request.size", fmt.Sprint(PairTakes)})
}

// Several starts an HBase with several region servers and with more properties, and stops it after the test.
func Several(tb testing.TB, servers int, props ...[2]string) (quorum string) {
	tb.Helper()
	p := plain()
	p.main = []string{"org.apache.hadoop.hbase.master.HMaster", fmt.Sprintf("--localRegionServers=%d", servers), fmt.Sprintf("--minRegionServers=%d", servers), "start"}
	p.props = append(props, [][2]string{{"hbase.regionserver.port", "0"}, {"hbase.regionserver.info.port.auto", "true"}}...)
	r, err := start(p, false)
	check(tb, err)
	tb.Cleanup(r.stop)
	return r.quorum
}

// Secured starts an HBase 2.6 that speaks only TLS, and stops it after the test. It takes half a minute and skips
// unless HQL_TEST_TLS is set. The servers' certificate is for host, which is not their address unless it is localhost;
// the authority in the PEM file ca signed it. mutual: clients must show a certificate of that authority, which the PEM
// file client holds with its key.
func Secured(tb testing.TB, mutual bool, host string) (quorum, ca, client string) {
	tb.Helper()
	p, ca, client := secured(tb, mutual, host)
	r, err := start(p, false)
	check(tb, err)
	tb.Cleanup(r.stop)
	return r.quorum, ca, client
}

// Guards is the configuration of servers that accept sealed messages, within mutual TLS, from clients that Kerberos
// authenticates. The caller starts the servers.
type Guards struct {
	// Properties belong in the servers' hbase-site.xml and into Hadoop's core-site.xml; HBase's own client accepts them
	// too.
	Properties [][2]string
	// Krb5Conf is the configuration of the realm, for the servers and for hql.
	Krb5Conf string
	// Params are the parameters of hql's address.
	Params url.Values
	// Jars is the servers' class path.
	Jars string
}

// Guarding makes such a configuration; its KDC runs until the test is over. It skips like Quorum.
func Guarding(tb testing.TB) Guards {
	tb.Helper()
	dir := tb.TempDir()
	ca, own, err := certificates(dir, localhost)
	check(tb, err)
	p := plain()
	p.kerby = kerbyFor(p.version)
	cp, err := classPath(p)
	check(tb, err)
	port, err := freePorts(1)
	check(tb, err)
	args := append(strings.Fields(Opens), "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", cp, filepath.Join(testdata(p.dir), "WithKDC.java"), dir, fmt.Sprint(port[0]), "alone")
	stop, err := run(exec.Command("java", args...), dir, "the KDC runs")
	check(tb, err)
	tb.Cleanup(stop)
	props := append(kerberosProperties(dir), tlsProperties(ca, own, true)...)
	return Guards{Krb5Conf: filepath.Join(dir, "krb5.conf"), Jars: cp,
		Properties: append(props, [][2]string{{"hbase.rpc.protection", "privacy"}, {"hbase.client.keytab.principal", "hbase/localhost@HQL.TEST"}, {"hbase.client.keytab.file", filepath.Join(dir, "hbase.keytab")}}...),
		Params:     url.Values{"kerberos": {"alice@HQL.TEST"}, "keytab": {filepath.Join(dir, "alice.keytab")}, "protection": {"privacy"}, "tls": {""}, "tls_ca": {ca}, "tls_cert": {own}, "tls_key": {own}}}
}

// SecuredZooKeeper starts a ZooKeeper that accepts only TLS, and one that requires SASL of its clients, and stops them
// after the test. It skips unless HQL_TEST_GUARDED is set.
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
	ca, own, err := certificates(dir, localhost)
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

// secured describes an HBase with TLS.
func secured(tb testing.TB, mutual bool, host string) (p product, ca, client string) {
	tb.Helper()
	if os.Getenv(securedEnv) == "" {
		tb.Skipf("set %s=1 to check against an HBase with TLS", securedEnv)
	}
	dir := tb.TempDir()
	ca, client, err := certificates(dir, host)
	check(tb, err)
	p = plain()
	p.version = cmp.Or(os.Getenv(versionEnv), "2.6.4-hadoop3")
	p.props = append(tlsProperties(ca, client, mutual), [2]string{"hbase.client.netty.tls.verify.server.hostname", fmt.Sprint(host == localhost)})
	return p, ca, client
}

// tlsProperties make servers speak only TLS.
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

// localhost is the name of all servers.
const localhost = "localhost"

// certificates writes the certificate of an authority, and one it signed for host name with its key, as PEM files into
// dir.
func certificates(dir, name string) (ca, client string, err error) {
	until := time.Now().Add(24 * time.Hour)
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hql's tests"}, NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	host := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: until, DNSNames: []string{name},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if name == localhost {
		host.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
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

// kerberosProperties make servers require Kerberos, with the files that WithKDC wrote into dir.
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
	}
}
