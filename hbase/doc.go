// Package hbase talks to HBase. It is the only package that calls gohbase.
//
// It offers what gohbase lacks or does wrong, as calls of its own sent through gohbase.RPCClient: a scanner that
// survives lost answers, expired leases and moved regions; multi-gets in one RPC; batched mutations; table
// descriptions and creation; and cells decoded without a heap object each.
//
// Retries, restarts, timeouts of attempts and the replacement of a stuck client are here, above the single RPC to
// a region. The embedded store takes the place of gohbase below them, so that tests on the store run the code that
// production runs.
package hbase
