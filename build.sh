#!/usr/bin/env bash
# build.sh [FILE]: builds the program, hql by default, as one static binary.
# build.sh --release DIR: builds it for all platforms, with SHA256SUMS beside them.
# With a C compiler in reach Go would link a C library for the embedded store's compression, and with it the machine's
# libc. --version tells the tag and the commit that it was built of.
set -euo pipefail
release= out=hql
case ${1:-} in
--release) release=$(realpath -m "${2:?build.sh --release DIR}") ;;
?*) out=$1 ;;
esac
out=$(realpath -m "$out")
cd "$(dirname "$0")"
version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || true)
flags="-s -w -X main.release=$version -X main.commit=$commit"
export CGO_ENABLED=0
tags="-tags=arrow_json_stdlib" # Arrow without a JSON library of its own, which hql does not use: 1.3 MB
if [ -z "$release" ]; then
	exec go build $tags -trimpath -ldflags "$flags" -o "$out" ./cmd/hql
fi
mkdir -p "$release"
for os in linux darwin windows; do
	for arch in amd64 arm64; do
		name=hql_${version}_${os}_$arch
		[ $os != windows ] || name=$name.exe
		echo "$name"
		GOOS=$os GOARCH=$arch go build $tags -trimpath -ldflags "$flags" -o "$release/$name" ./cmd/hql
	done
done
cd "$release"
if command -v sha256sum >/dev/null; then sha256sum hql_"${version}"_*; else shasum -a 256 hql_"${version}"_*; fi >SHA256SUMS
