package main

import "testing"

func TestParseSite(t *testing.T) {
	property := func(name, value string) string {
		return "<property><name>" + name + "</name><value>" + value + "</value></property>"
	}
	for _, c := range []struct{ properties, want, err string }{
		{"", "hbase://127.0.0.1:2181/hbase", ""},
		{property("hbase.zookeeper.quorum", "zk1, zk2:2200,\n zk3"), "hbase://zk1:2181,zk2:2200,zk3:2181/hbase", ""},
		{property("hbase.zookeeper.quorum", "zk1") + property("hbase.zookeeper.property.clientPort", "2222") + property("zookeeper.znode.parent", "/a/b/"), "hbase://zk1:2222/a/b", ""},
		{property("hbase.security.authentication", "Simple"), "hbase://127.0.0.1:2181/hbase", ""},
		{property("hbase.security.authentication", "kerberos") + property("hbase.regionserver.kerberos.principal", "hb/_HOST@R.COM"), "hbase://127.0.0.1:2181/hbase?kerberos=&service=hb%2F_HOST%40R.COM", ""},
		{property("hbase.security.authentication", "kerberos") + property("hbase.rpc.protection", "privacy,integrity"), "hbase://127.0.0.1:2181/hbase?kerberos=&service=&protection=privacy%2Cintegrity", ""},
		{property("hbase.meta.table.suffix", "x"), "", "hbase.meta.table.suffix is x: hql cannot read hbase:meta under another name; connect to a cluster without that setting"},
		{property("hbase.client.netty.tls.enabled", "true"), "hbase://127.0.0.1:2181/hbase?tls&tls_site=%2Fc%2Fhbase-site.xml", ""},
		{property("hbase.zookeeper.quorum", "${env.ZK}"), "", "hbase://${env.ZK}:2181/hbase: references to other properties are not followed"},
		{property("zookeeper.znode.parent", "/a b?write=1"), "hbase://127.0.0.1:2181/a%20b%3Fwrite=1", ""},
		{property("hbase.zookeeper.quorum", "zk1/?write=1"), "", `hbase.zookeeper.quorum is "zk1/?write=1:2181", not HOST:PORT[,HOST:PORT]`},
		{property("hbase.zookeeper.quorum", ", ,"), "", `hbase.zookeeper.quorum is "", not HOST:PORT[,HOST:PORT]`},
		{property("hbase.client.bootstrap.servers", "m1, rs1:16020"), "hbase+rpc://m1:16000,rs1:16020", ""},
		{property("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry") + property("hbase.masters", "m1,m2") + property("hbase.master.port", "60000") +
			property("hbase.client.netty.tls.enabled", "true"), "hbase+rpc://m1:60000,m2:60000?tls&tls_site=%2Fc%2Fhbase-site.xml", ""},
		{property("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry"), "hbase+rpc://localhost:16000", ""},
		{property("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.ZKConnectionRegistry") + property("hbase.client.bootstrap.servers", "m1"), "hbase://127.0.0.1:2181/hbase", ""},
		{property("hbase.client.bootstrap.servers", "m1/?write"), "", `hbase.client.bootstrap.servers is "m1/?write:16000", not HOST:PORT[,HOST:PORT]`},
		{"<property>", "", "XML syntax error on line 1: element <property> closed by </configuration>"},
	} {
		got, err := parseSite("/c/hbase-site.xml", []byte("<configuration>"+c.properties+"</configuration>"))
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != c.want || msg != c.err {
			t.Errorf("%s: %q %q", c.properties, got, msg)
		}
	}
}
