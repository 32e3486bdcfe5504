#!/usr/bin/env bash
# memcached's text protocol of a CRAQ node, by clients that nobody here wrote: memccapable (27 tests) and pymemcache, over three node processes.
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
out=$(memccapable -h 127.0.0.1 -p "$strong" -t 30 -a 2>&1 || true)
note 27 "$((27 - $(grep -o '\[pass\]' <<<"$out" | wc -l)))"
grep FAIL <<<"$out" || true
out=$(/usr/bin/python3 tests/memcached_client.py "$strong" "$eventual")
echo "$out"
note "$(grep -c . <<<"$out")" "$(grep -c '^FAILED' <<<"$out" || true)"
echo "memcached checks=$checks failed=$failed"
[ "$failed" = 0 ]
