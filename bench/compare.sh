#!/usr/bin/env bash
# Runs the workloads as Phoenix (P), hand-written gohbase (G), a hand-written Java client (J) and hql (H) on one
# server, and prints the ratios.
#
#   bench/compare.sh [REPETITIONS [WORKLOADS]]     3 and all; WORKLOADS is a regular expression: '^W[17]b?:'
#
# At the end come the tables of docs/speed.md: hql against the quickest way of each peer (W3m among those of W3), several clients, and
# what no peer has.
#
# PEERS_DIR   the peers' programs and the server's scripts (default ../shared/bench beside the project)
# WORK        where they are copied to, with the server's data; a folder that is already there is used again, tables
#             and all (default: a new temporary one, deleted at the end)
# CLUSTER_DIR the scripts that start a cluster of several servers, for one of the workloads of MORE (default ../shared/chaos beside the
#             project; without them it is left out). Its data go into WORK, its ports are 23181 and 23600 to 23623
# MORE        1: also with 8, 32 and 128 clients, and what more_test.go has (default); 0: not
# RESULTS     a file for the measurements; those that it has already go into the tables as well (default: a new one in WORK)
# PEERS       which run, "P G H" unless told; also WARM, DUR, WARM_P, WARM_J and RETRY as the peers' README tells
set -euo pipefail
[ -z "${RESULTS:-}" ] || RESULTS=$(realpath "$RESULTS")
root=$(cd "$(dirname "$0")/.." && pwd)
peers=$(cd "${PEERS_DIR:-$root/../shared/bench}" && pwd)
stop() {
  "$WORK/srv/stop.sh" >/dev/null 2>&1 || true
  "$WORK/three/cluster.sh" down wipe >/dev/null 2>&1 || true
}
if [ -z "${WORK:-}" ]; then
  WORK=$(mktemp -d)
  trap 'stop; rm -rf "$WORK"' EXIT
else
  mkdir -p "$WORK"
  WORK=$(cd "$WORK" && pwd)
  trap stop EXIT
fi
[ -e "$WORK/run.sh" ] || cp -r "$peers/." "$WORK"
(cd "$root" && go test -c -o "$WORK/hqlbench" ./bench)
cd "$WORK"
echo 'peer_H() { EXEC_NS=$(date +%s%N) timeout $LIMIT ./hqlbench "$@"; }' >peers.sh
srv/start.sh
[ -e tmp/gbench ] || ./build.sh
if [ ! -e loaded ]; then
  ./setup.sh
  touch loaded
fi
# three_servers runs the workload servers on a cluster of three region servers, which ends with it.
three_servers() {
  local from=${CLUSTER_DIR:-$root/../shared/chaos}
  [ -e "$from/cluster.sh" ] || return 0
  mkdir -p three
  cp "$from/cluster.sh" "$from/Chaos.java" "$from/opens" three
  three/cluster.sh up 3 >&2
  for _ in $(seq 60); do
    [ "$(three/cluster.sh c servers | grep -o localhost | wc -l)" = 3 ] && break
    sleep 1
  done
  ZK=localhost:23181 SPID=$(cat three/run/log/rs?.pid | tr '\n' ' ') timeout 300 ./hqlbench servers
  three/cluster.sh down wipe >&2
}

results=${RESULTS:-$(mktemp "$WORK/results.XXXXXX")}
OUT=$results PEERS=${PEERS:-P G H} ./run.sh "$@"
if [ "${MORE:-1}" = 1 ]; then
  SPID=$(cat srv/pid)
  export SPID
  for clients in 8 32 128; do
    for w in W1 W2; do
      { tmp/gbench $w $clients; ./hqlbench $w $clients; } | tee -a "$results" || true
    done
  done
  three_servers | tee -a "$results" || true
  for w in idle sql join spill copyout copyin memread memwrite cols large regions; do
    ./hqlbench $w | tee -a "$results" || true
  done
fi
./hqlbench document "$results"
