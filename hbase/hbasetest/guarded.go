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
	"os"
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
	return kerberized(tb, Plain())
}

// Sealed starts an HBase 2.6 that requires Kerberos, TLS and sealed messages, with HBase's own cipher if the client
// supports it, and stops it after the test. It takes half a minute and skips unless HQL_TEST_TLS is set.
func Sealed(tb testing.TB) Cluster {
	tb.Helper()
	p, ca, _ := secured(tb, false, localhost)
	p.Props = append(p.Props, [2]string{"hbase.rpc.protection", "privacy"}, [2]string{"hbase.rpc.crypto.encryption.aes.enabled", "true"})
	c := kerberized(tb, p)
	c.CA = ca
	return c
}

// WithKDC returns p with a KDC among its jars: HBase 2.6 and later do not start with that of the default version.
func (p Product) WithKDC() Product {
	if !strings.HasPrefix(p.Version, "2.4.") && !strings.HasPrefix(p.Version, "2.5.") {
		p.Kerby = "2.0.3"
	}
	return p
}

func kerberized(tb testing.TB, p Product) Cluster {
	tb.Helper()
	quorum, dir := Start(tb, p.WithKDC(), true)
	in := func(name string) string { return filepath.Join(dir, name) }
	return Cluster{Quorum: quorum, Krb5Conf: in("krb5.conf"), Keytab: in("alice.keytab"), CCache: in("alice.ccache")}
}

// Guarded starts an HBase that grants permissions only to the user who runs it, and stops it after the test. It takes
// half a minute and skips unless HQL_TEST_GUARDED is set.
func Guarded(tb testing.TB) (quorum string) {
	tb.Helper()
	if os.Getenv(guardedEnv) == "" {
		tb.Skipf("set %s=1 to check against an HBase with permissions", guardedEnv)
	}
	p := Plain()
	p.Props = [][2]string{{"hbase.security.authorization", "true"}}
	for _, of := range []string{"master", "region", "regionserver"} {
		p.Props = append(p.Props, [2]string{"hbase.coprocessor." + of + ".classes", "org.apache.hadoop.hbase.security.access.AccessController"})
	}
	quorum, _ = Start(tb, p, false)
	return quorum
}

// Several starts an HBase with several region servers and with more properties, and stops it after the test.
func Several(tb testing.TB, servers int, props ...[2]string) (quorum string) {
	tb.Helper()
	p := Plain()
	p.Main = []string{"org.apache.hadoop.hbase.master.HMaster", fmt.Sprintf("--localRegionServers=%d", servers), fmt.Sprintf("--minRegionServers=%d", servers), "start"}
	p.Props = append(props, [][2]string{{"hbase.regionserver.port", "0"}, {"hbase.regionserver.info.port.auto", "true"}}...)
	quorum, _ = Start(tb, p, false)
	return quorum
}

// Secured starts an HBase 2.6 that speaks only TLS, and stops it after the test. It takes half a minute and skips
// unless HQL_TEST_TLS is set. The servers' certificate is for host, which is not their address unless it is localhost;
// the authority in the PEM file ca signed it. mutual: clients must show a certificate of that authority, which the PEM
// file client holds with its key.
func Secured(tb testing.TB, mutual bool, host string) (quorum, ca, client string) {
	tb.Helper()
	p, ca, client := secured(tb, mutual, host)
	quorum, _ = Start(tb, p, false)
	return quorum, ca, client
}

// secured describes an HBase with TLS.
func secured(tb testing.TB, mutual bool, host string) (p Product, ca, client string) {
	tb.Helper()
	if os.Getenv(securedEnv) == "" {
		tb.Skipf("set %s=1 to check against an HBase with TLS", securedEnv)
	}
	dir := tb.TempDir()
	ca, client = Certificates(tb, dir, host)
	p = Plain()
	p.Version = cmp.Or(os.Getenv(versionEnv), "2.6.4-hadoop3")
	p.Props = append(TLSProperties(ca, client, mutual), [2]string{"hbase.client.netty.tls.verify.server.hostname", fmt.Sprint(host == localhost)})
	return p, ca, client
}

// TLSProperties make servers speak only TLS.
func TLSProperties(ca, own string, mutual bool) (props [][2]string) {
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

// Certificates writes the certificate of an authority, and one it signed for host name with its key, as PEM files into
// dir.
func Certificates(tb testing.TB, dir, name string) (ca, client string) {
	tb.Helper()
	until := time.Now().Add(24 * time.Hour)
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hql's tests"}, NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	host := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: until, DNSNames: []string{name},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if name == localhost {
		host.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	caKey, err := rsa.GenerateKey(rand.Reader, 2048)
	check(tb, err)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check(tb, err)
	caBytes, err := x509.CreateCertificate(rand.Reader, authority, authority, &caKey.PublicKey, caKey)
	check(tb, err)
	hostBytes, err := x509.CreateCertificate(rand.Reader, host, authority, &key.PublicKey, caKey)
	check(tb, err)
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	check(tb, err)
	ca, client = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "client.pem")
	block := func(typ string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: b}) }
	check(tb, errors.Join(os.WriteFile(ca, block("CERTIFICATE", caBytes), 0o600),
		os.WriteFile(client, append(block("PRIVATE KEY", keyBytes), block("CERTIFICATE", hostBytes)...), 0o600)))
	return ca, client
}

// KerberosProperties make servers require Kerberos, with the files that WithKDC wrote into dir.
func KerberosProperties(dir string) [][2]string {
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
