package chaos

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// guards is the configuration of servers that accept sealed messages, within mutual TLS, from clients that Kerberos
// authenticates. The caller starts the servers.
type guards struct {
	// properties belong in the servers' hbase-site.xml and into Hadoop's core-site.xml; HBase's own client accepts them
	// too.
	properties [][2]string
	// krb5Conf is the configuration of the realm, for the servers and for hql.
	krb5Conf string
	// params are the parameters of hql's address.
	params url.Values
	// jars is the servers' class path.
	jars string
}

// guarding makes such a configuration; its KDC runs until the test is over. It skips like Quorum.
func guarding(tb testing.TB) guards {
	tb.Helper()
	dir := tb.TempDir()
	ca, own := hbasetest.Certificates(tb, dir, "localhost")
	p := hbasetest.Plain().WithKDC()
	cp := hbasetest.ClassPath(tb, p)
	port, err := hbasetest.FreePorts(1)
	if err != nil {
		tb.Fatal(err)
	}
	args := append(strings.Fields(hbasetest.Opens), "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", cp, filepath.Join(hbasetest.Testdata(p.Dir), "WithKDC.java"), dir, fmt.Sprint(port[0]), "alone")
	hbasetest.Run(tb, exec.Command("java", args...), dir, "the KDC runs")
	props := append(hbasetest.KerberosProperties(dir), hbasetest.TLSProperties(ca, own, true)...)
	return guards{krb5Conf: filepath.Join(dir, "krb5.conf"), jars: cp,
		properties: append(props, [][2]string{{"hbase.rpc.protection", "privacy"}, {"hbase.client.keytab.principal", "hbase/localhost@HQL.TEST"}, {"hbase.client.keytab.file", filepath.Join(dir, "hbase.keytab")}}...),
		params:     url.Values{"kerberos": {"alice@HQL.TEST"}, "keytab": {filepath.Join(dir, "alice.keytab")}, "protection": {"privacy"}, "tls": {""}, "tls_ca": {ca}, "tls_cert": {own}, "tls_key": {own}}}
}
