#!/usr/bin/env bash
# Volumes of Salus from end to end: processes by 'corfu salus up', NBD clients that nobody here wrote (nbdinfo, qemu-io, nbdcopy), nodes and the serving process killed by their pids under load.
# Needs: apt-get install --no-install-recommends libnbd-bin qemu-utils python3. Usage: tests/salus.sh [CORFU], the tool's path, built before.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
corfu=$(realpath "${1:-src/hosts/Corfu.Cli/bin/Release/net10.0/corfu}")
dir=$(mktemp -d)
serving=''
end() {
  if [ -n "$serving" ]; then kill "$serving" 2>/dev/null || true; fi
  "$corfu" salus down --dir "$dir/salus" >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap end EXIT
M=$((1 << 20))
checks=0 failed=0
# check NAME COMMAND...: passes if the command does.
check() {
  local name=$1 status=0
  shift
  checks=$((checks + 1))
  timeout 120 bash -c '"$@"' _ "$@" >"$dir/out.txt" 2>&1 || status=$?
  if [ "$status" = 0 ]; then echo "ok $name"; return; fi
  failed=$((failed + 1))
  echo "FAILED $name ($status)"
  cat "$dir/out.txt"
}
# io VOLUME COMMAND...: qemu-io ends with 0 even where a pattern differs, but says so.
io() {
  local volume=$1 commands=()
  shift
  for command in "$@"; do commands+=(-c "$command"); done
  qemu-io -f raw "$uri/$volume" "${commands[@]}" >"$dir/io.txt" 2>&1 || { cat "$dir/io.txt"; return 1; }
  if grep -Eqi 'fail|error|invalid' "$dir/io.txt"; then cat "$dir/io.txt"; return 1; fi
}
refuses() { ! "$@"; }
# serve VOLUME...: begins to serve, and sets uri.
serve() {
  "$corfu" volume serve -c "$log" "$@" --listen 127.0.0.1:0 >"$dir/uri.txt" 2>"$dir/serve.txt" &
  serving=$!
  for _ in $(seq 300); do [ -s "$dir/uri.txt" ] && break; sleep 0.1; done
  uri=$(head -n 1 "$dir/uri.txt")
  uri=${uri%/*}
}
# pid NODE: the process of a node.
pid() { "$corfu" salus status --dir "$dir/salus" | awk -v node="$1" '$1 == node { print $NF }'; }
export -f io refuses
export dir uri

"$corfu" salus up --dir "$dir/salus" --servers 3 >"$dir/up.txt"
log=$(head -n 1 "$dir/up.txt")
export log corfu
check "status of new nodes" "$corfu" salus status --dir "$dir/salus"
check "volume create" "$corfu" volume create -c "$log" v --size 64M
check "volume create of a taken name" refuses "$corfu" volume create -c "$log" v --size 64M
check "volume list" bash -c '"$corfu" volume list -c "$log" | grep -E "^v +64M"'
serve v
check "nbdinfo" bash -c 'nbdinfo "$uri/v" | grep "export-size: 67108864"'
check "qemu-io write and read" io v "write -P 0xab 0 1M" "read -P 0xab 0 1M" "write -P 1 100 1000" "read -P 1 100 1000" flush
check "qemu-io many at once" io v "aio_write -P 1 8M 1M" "aio_write -P 2 9M 1M" "aio_write -P 3 20M 100" "aio_write -P 4 48M 4M" aio_flush "read -P 1 8M 1M" "read -P 2 9M 1M" "read -P 3 20M 100" "read -P 4 48M 4M"
check "qemu-io discard" io v "discard 8M 1M" "read -P 0 8M 1M" "read -P 2 9M 1M"
head -c $((24 * M)) /dev/urandom >"$dir/image"
truncate -s $((64 * M)) "$dir/image"
check "nbdcopy into the volume" nbdcopy --connections=4 --flush "$dir/image" "$uri/v"
check "nbdcopy out of the volume" nbdcopy --connections=4 "$uri/v" "$dir/copy"
check "nbdcopy has the bytes" cmp "$dir/image" "$dir/copy"

# A node dies under load, and comes back: the client hears nothing of it.
head -c $((24 * M)) /dev/urandom >"$dir/image"
truncate -s $((64 * M)) "$dir/image"
nbdcopy --connections=4 --flush "$dir/image" "$uri/v" >"$dir/copying.txt" 2>&1 &
copying=$!
kill -9 "$(pid salus2)"
sleep 2
# The node comes back with a port for figures.
http=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 - "$dir/salus/salus2/node.json" "$http" <<'END'
import json, sys
node = json.load(open(sys.argv[1]))
node["http"] = {"listen": "127.0.0.1:" + sys.argv[2]}
json.dump(node, open(sys.argv[1], "w"), indent=2)
END
"$corfu" salus up --dir "$dir/salus" --servers 3 >"$dir/up.txt"
copied=0
wait "$copying" || copied=$?
check "nbdcopy while a node dies and comes back" [ "$copied" = 0 ]
check "nbdcopy out of the volume after that" nbdcopy --connections=4 "$uri/v" "$dir/copy"
check "the bytes after that" cmp "$dir/image" "$dir/copy"
figures() { python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "http://127.0.0.1:$http/metrics" >"$dir/figures.txt"; }
# has_figures NAME...: the node may have come back behind the last write, so each look follows a write to every region.
has_figures() {
  local missing=''
  for _ in $(seq 30); do
    io v "write -P 1 0 4k" "write -P 1 16M 4k" "write -P 1 32M 4k" "write -P 1 48M 4k" || return 1
    figures || return 1
    missing=''
    for name in "$@"; do grep -q "^$name" "$dir/figures.txt" || missing+=" $name"; done
    [ -n "$missing" ] || return 0
    sleep 1
  done
  echo "no$missing"
  cat "$dir/figures.txt"
  return 1
}
export -f figures has_figures
export http
check "figures of a node" has_figures salus_node_registered salus_region_batch_committed_total salus_region_recovery_duration_seconds_count salus_store_log_size_bytes 'salus_volume_health{.*salus_health="Ready",salus_volume="v"} 1'

# A node dies for good: the fourth takes its place.
"$corfu" salus up --dir "$dir/salus" --servers 4 >"$dir/up.txt"
kill -9 "$(pid salus1)"
check "qemu-io after a node has died for good" io v "write -P 0x21 4M 1M" "read -P 0x21 4M 1M" flush

# The serving process dies: another one has what was acknowledged.
kill -9 "$serving"
wait "$serving" 2>/dev/null || true
serve v
check "qemu-io after the serving process has died" io v "read -P 0x21 4M 1M" "write -P 0x22 5M 1M" "read -P 0x22 5M 1M"
kill "$serving"
stopped=0
wait "$serving" || stopped=$?
serving=''
check "end of the serving process" [ "$stopped" = 0 ]
"$corfu" salus up --dir "$dir/salus" --servers 4 >"$dir/up.txt"
check "volume check" "$corfu" volume check -c "$log" v
check "volume delete" "$corfu" volume delete -c "$log" v
echo "salus checks=$checks failed=$failed"
[ "$failed" = 0 ]
