#!/usr/bin/env bash
# memcached's protocols of a CRAQ node, by clients that nobody here wrote: memccapable (27 tests of each protocol), pymemcache (text) and libmemcached's tools (binary), over three node processes.
# Needs: apt-get install --no-install-recommends libmemcached-tools python3-pymemcache. Usage: tests/memcached.sh [CORFU], the tool's path, built before.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
corfu=${1:-src/hosts/Corfu.Cli/bin/Release/net10.0/corfu}
dir=$(mktemp -d)
trap '"$corfu" craq down --dir "$dir" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
strong=$(port) eventual=$(port)
"$corfu" craq up --dir "$dir" --memcached "$strong=strong" --memcached "$eventual=eventual" >"$dir/up.txt"
checks=0 failed=0
note() { checks=$((checks + $1)) failed=$((failed + $2)); }
for protocol in -a -b; do
  out=$(memccapable -h 127.0.0.1 -p "$strong" -t 30 "$protocol" 2>&1 || true)
  note 27 "$((27 - $(grep -o '\[pass\]' <<<"$out" | wc -l)))"
  grep FAIL <<<"$out" || true
done
# check NAME STATUS COMMAND: one of libmemcached's tools, and the status that it ends with.
check() {
  local name=$1 expected=$2 status=0
  shift 2
  "$@" >"$dir/out.txt" 2>&1 || status=$?
  if [ "$status" = "$expected" ]; then echo "ok $name"; note 1 0; else echo "FAILED $name"; cat "$dir/out.txt"; note 1 1; fi
}
head -c 300000 /dev/urandom >"$dir/object"
server="--servers=127.0.0.1:$strong"
check "memccp" 0 memccp "$server" --binary "$dir/object"
check "memcexist of an object" 0 memcexist "$server" --binary object
check "memctouch" 0 memctouch "$server" --binary --expire 100 object
check "memccat" 0 memccat "$server" --binary --file "$dir/copy" object
check "memccat has the bytes" 0 cmp "$dir/object" "$dir/copy"
check "memcrm" 0 memcrm "$server" --binary object
check "memcexist of nothing" 1 memcexist "$server" --binary object
check "memcflush" 0 memcflush "$server" --binary
out=$(/usr/bin/python3 tests/memcached_client.py "$strong" "$eventual")
echo "$out"
note "$(grep -c . <<<"$out")" "$(grep -c '^FAILED' <<<"$out" || true)"
echo "memcached checks=$checks failed=$failed"
[ "$failed" = 0 ]
