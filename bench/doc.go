// Package bench has the workloads W1 to W11 as SQL through the public API over the table that Phoenix wrote (layout
// phoenix_events): hql's side of a comparison with Phoenix, a hand-written gohbase program and a hand-written Java
// client. compare.sh runs them all. The workloads are in the test files: go test -c makes the program.
//
//	bench WORKLOAD [CLIENTS]     prints one line of JSON
//	bench document FILE          prints the lines in FILE as the tables of docs/speed.md
//
// The environment sets ZK (quorum), WARM and DUR (seconds), SPID (the servers' process ids, for their CPU time), WARMRUNS,
// EXEC_NS (when the process was started) and H0 (first host of W11).
package bench
