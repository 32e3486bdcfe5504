#!/usr/bin/env bash
# etcd v3, by Debian's etcd and clients of other projects: 20,000 random calls to an etcd and to two front ends, equal field by field; etcdctl, python3-etcd3,
# Go's clientv3 and curl, over a cluster of node processes.
# Needs: apt-get install --no-install-recommends etcd-server etcd-client python3-etcd3 curl; for Go golang-go golang-etcd-server-dev.
# A check whose tool is missing is skipped, by name; exit code 77: all are. Usage: tests/etcd.sh [--quick] [CORFU], the tool's path, built before.
# --quick: 1,000 calls, without Go. SEED chooses the calls.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
calls=20000 quick=no
if [ "${1:-}" = --quick ]; then calls=1000 quick=yes; shift; fi
corfu=$(realpath "${1:-src/hosts/Corfu.Cli/bin/Release/net10.0/corfu}")
has_ctl=no has_python=no has_etcd=no has_go=no
if command -v etcdctl >/dev/null; then has_ctl=yes; fi
if /usr/bin/python3 -c 'import etcd3' 2>/dev/null; then has_python=yes; fi
if command -v etcd >/dev/null && [ $has_python = yes ]; then has_etcd=yes; fi
if [ $quick = no ] && command -v go >/dev/null && [ -d /usr/share/gocode/src/go.etcd.io/etcd/clientv3 ]; then has_go=yes; fi
if [ $has_ctl$has_python$has_go = nonono ]; then echo 'cannot run here: neither etcdctl, python3-etcd3 nor Go with the sources of clientv3 is installed'; exit 77; fi
dir=$(mktemp -d)
running=''
trap 'kill $running 2>/dev/null || true; "$corfu" cluster down --dir "$dir/cluster" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
clients=0 failed=0 different=0
note() { clients=$((clients + $1)) failed=$((failed + $2)); }
# check NAME EXPECTED COMMAND: passes if a line of the command's output matches.
check() {
  local name=$1 expected=$2
  shift 2
  "$@" >"$dir/out.txt" 2>&1 || true
  if grep -q -- "$expected" "$dir/out.txt"; then echo "ok $name"; note 1 0; else echo "FAILED $name"; cat "$dir/out.txt"; note 1 1; fi
}
"$corfu" cluster up --dir "$dir/cluster" --etcd >"$dir/up.txt"
log=$(grep -o -m 1 'corfu://[^ ]*' "$dir/up.txt")
nodes=$(sed -n 's/^etcd: //p' "$dir/up.txt")
# front NAME: a front end of the service NAME; its address in the file NAME.
front() {
  "$corfu" etcd -c "$log" -l 127.0.0.1:0 --service "${1%%-*}" >"$dir/$1" 2>>"$dir/serve.txt" </dev/null &
  running="$running $!"
  for _ in $(seq 600); do [ -s "$dir/$1" ] && return; kill -0 $!; sleep 0.1; done
  cat "$dir/serve.txt"; exit 1
}
front compared-1
front compared-2
one=$(cat "$dir/compared-1") two=$(cat "$dir/compared-2")
if [ $has_etcd = yes ]; then
  port=$(/usr/bin/python3 -c 'import socket
a, b = socket.socket(), socket.socket(); a.bind(("127.0.0.1", 0)); b.bind(("127.0.0.1", 0)); print(a.getsockname()[1], b.getsockname()[1])')
  own=http://127.0.0.1:${port% *} peer=http://127.0.0.1:${port#* }
  etcd --data-dir "$dir/etcd" --listen-client-urls "$own" --advertise-client-urls "$own" --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
    --initial-cluster "default=$peer" >"$dir/etcd.txt" 2>&1 </dev/null &
  running="$running $!"
  for _ in $(seq 100); do curl -sf "$own/health" >/dev/null && break; sleep 0.1; done
  /usr/bin/python3 tests/etcd_compare.py "${own#http://}" "$one,$two" $calls "${SEED:-$RANDOM}" >"$dir/compared.txt" 2>&1 || true
  tail -n 200 "$dir/compared.txt"
  different=$(sed -n 's/^calls=.* different=//p' "$dir/compared.txt")
  if [ -z "$different" ]; then echo 'FAILED the comparison did not end'; different=-1 calls=0; fi
else
  echo "skipped the comparison: etcd or python3-etcd3 is missing"
  calls=0
fi
if [ $has_ctl = yes ]; then
  ctl() { ETCDCTL_API=3 etcdctl --endpoints "$nodes" "$@"; }
  for _ in $(seq 300); do ctl get nothing >/dev/null 2>&1 && break; sleep 0.2; done
  check "etcdctl put" OK ctl put dir/a first
  check "etcdctl get --prefix" first ctl get --prefix dir/
  check "etcdctl txn" SUCCESS ctl txn <<<$'value("dir/a") = "first"\n\nput dir/b second\n\nput dir/b never\n\n'
  check "etcdctl get --rev" '"count":1' ctl get --prefix dir/ --rev 2 -w json
  check "etcdctl watch" '^PUT' timeout 10 bash -c "ETCDCTL_API=3 etcdctl --endpoints '$nodes' watch --rev 1 dir/a | head -n 1"
  lease=$(ctl lease grant 600 | grep -oE 'lease [0-9a-f]+' | sed 's/lease //')
  check "etcdctl put --lease" OK ctl put --lease "$lease" dir/leased x
  check "etcdctl lease timetolive --keys" 'dir/leased' ctl lease timetolive --keys "$lease"
  check "etcdctl lease keep-alive" 'keepalived' ctl lease keep-alive --once "$lease"
  check "etcdctl lease revoke" revoked ctl lease revoke "$lease"
  check "etcdctl lock" '^held$' ctl lock mutex echo held
  # The elected holds the office until it is killed.
  elected() {
    exec 3< <(ETCDCTL_API=3 exec timeout 20 etcdctl --endpoints "$nodes" elect office me)
    head -n 2 <&3
    kill $!
  }
  check "etcdctl elect" '^me$' elected
  check "etcdctl member list" started ctl member list
  check "etcdctl endpoint health" 'is healthy' ctl endpoint health
  check "etcdctl endpoint status" '3\.4' ctl endpoint status
  check "etcdctl alarm list" '^$' bash -c "ETCDCTL_API=3 etcdctl --endpoints '$nodes' alarm list && echo"
  check "etcdctl compaction" 'compacted revision 3' ctl compaction 3
  check "etcdctl del --prefix" '^[0-9]' ctl del --prefix dir/
  check "etcdctl snapshot is refused" 'corfu backup' timeout 10 env ETCDCTL_API=3 etcdctl --endpoints "${nodes%%,*}" snapshot save "$dir/snapshot"
  if [ $has_etcd = yes ]; then
    ETCDCTL_API=3 etcdctl --endpoints "$own" put mirrored/from-etcd yes >/dev/null
    ctl put mirrored/from-corfu yes >/dev/null
    # mirror FROM TO KEY: until the key is there.
    mirror() {
      ETCDCTL_API=3 timeout 20 etcdctl --endpoints "$1" make-mirror --prefix mirrored/ "$2" >/dev/null 2>&1 &
      local mirroring=$!
      while kill -0 $mirroring 2>/dev/null && ! ETCDCTL_API=3 etcdctl --endpoints "$2" get "$3" | grep .; do sleep 0.1; done
      kill $mirroring 2>/dev/null || true
    }
    check "etcdctl make-mirror from corfu" mirrored/from-corfu mirror "$nodes" "${own#http://}" mirrored/from-corfu
    check "etcdctl make-mirror to corfu" mirrored/from-etcd mirror "${own#http://}" "${nodes%%,*}" mirrored/from-etcd
  fi
else
  echo "skipped etcdctl: it is missing"
fi
if command -v curl >/dev/null; then
  web=${nodes%%,*}
  check "curl put" '"revision"' curl -s "$web/v3/kv/put" -d '{"key":"anNvbg==","value":"eQ=="}'
  check "curl range" '"eQ=="' curl -s "$web/v3/kv/range" -d '{"key":"anNvbg=="}'
  check "curl watch" '"eQ=="' timeout 5 curl -sN "$web/v3/watch" -d '{"create_request":{"key":"anNvbg==","start_revision":"4"}}'
  check "curl health" '"true"' curl -s "$web/health"
fi
if [ $has_python = yes ]; then
  check "python-etcd3" '^all$' /usr/bin/python3 tests/etcd_client.py "${one%:*}" "${one##*:}"
else
  echo "skipped python3-etcd3: it is missing"
fi
if [ $has_go = yes ]; then
  front compared-3
  stopped=$!
  go_client() {
    GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS= GOCACHE="$dir/gocache" go run tests/etcd_client.go $stopped "$(cat "$dir/compared-3")" "$one" "$two"
  }
  check "Go's clientv3: mutex, election, transactions in memory, a front end that stops" '^all$' go_client
else
  echo "skipped Go's clientv3: Go or its sources are missing"
fi
echo "etcd calls=$calls different=$different clients=$clients failed=$failed"
[ "$failed" = 0 ] && [ "$different" = 0 ]
