// Package store is an HBase inside the process: tables, regions, cells, scans and the
// filters that hql sends, with HBase 2's semantics over an ordered key-value store
// (Pebble), in memory or in a persistent directory.
//
// A Store replaces a cluster below gohbase's RPCs: it implements gohbase.RPCClient. SendRPC
// serves the calls that hql sends to region servers and masters from their messages, with
// the same answers, errors and limits as a cluster. It refuses what hql does not send:
//
//	SendRPC                    route by table and key, retry as gohbase does, inject faults
//	  Get, Mutate, Multi,      the region server: row locks, batches, scanners with leases
//	  Scan
//	    regionScanner          joins the families of a row, applies limits and row filters
//	      storeScanner         walks one family: deletes, versions, time range, cell filters
//	  CreateTable, ...         the master
//
// Cells live in one ordered key space, see key.go. hbase:meta is a table like any
// other and is kept in step with the list of regions. The cells of regions that are scanned
// again are also kept in memory, see cellCache.
//
// SetFaults makes a Store misbehave as clusters do (answers lost after execution,
// expired leases, regions that split or move), reproducibly from a seed.
package store
