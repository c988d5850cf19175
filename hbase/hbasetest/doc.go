// Package hbasetest starts a real HBase for tests: master, region server and ZooKeeper in one JVM, on free
// loopback ports, with jars that Maven resolves.
//
// HQL_TEST_HBASE names the ZooKeeper quorum of an HBase that runs already, or is "none" for no HBase at all.
// HQL_REQUIRE_HBASE=1 makes a missing HBase a failure, where tests skip otherwise.
package hbasetest
