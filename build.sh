#!/usr/bin/env bash
# build.sh [FILE]: builds the program, hql by default, as one static binary. With a C compiler in reach Go
# would link a C library for the embedded store's compression, and with it the machine's libc.
set -euo pipefail
out=$(realpath -m "${1:-hql}")
cd "$(dirname "$0")"
CGO_ENABLED=0 go build -trimpath -o "$out" ./cmd/hql
