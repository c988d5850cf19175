// Package hbasetest starts a real HBase for tests: master, region server and ZooKeeper in one JVM, on free
// loopback ports, with jars that Maven resolves. The test binaries of a machine lend each other the HBases that they
// have started, one user at a time: see keeper.go.
//
// HQL_TEST_HBASE names the ZooKeeper quorum of an HBase that runs already, or is "none" for no HBase at all.
// HQL_REQUIRE_HBASE=1 makes a missing HBase a failure, where tests skip otherwise.
package hbasetest
