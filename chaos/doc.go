// Package chaos holds tests of hql against a real HBase of several processes that
// are killed, paused, cut off and reorganised while statements run.
//
//	go test ./chaos -v                        the short form, about two minutes
//	HQL_CHAOS=2h go test ./chaos -v -timeout 0    for about that long
//	HQL_CHAOS=long                            the same as 30m
//	HQL_SOAK=1h go test ./chaos -v -timeout 0 -run TestSoak    everything at random, with flat memory
//	HQL_CHAOS_CONNECT=rpc                     reach the cluster without ZooKeeper, and give it a second master
//	HQL_CHAOS_CONNECT=guarded                 the same with mutual TLS, Kerberos and sealed messages, of 2.6 or later
//	HQL_HBASE_VERSION=2.6.4-hadoop3           of another version
//	HQL_CHAOS_CLUSTER=DIR                     where cluster.sh and Chaos.java are
//
// Every query reads rows that do not change. It must return exactly these rows, once each and in order, or an error by
// its deadline; after the fault it must work again. The test prints its figures at the end: queries run, faults
// injected by kind, rows wrong, lost and doubled, queries that hung, goroutines and connections left.
//
// .ci/nightly runs the long forms of these and of all random, differential and fuzz tests.
package chaos
