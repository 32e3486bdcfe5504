#!/usr/bin/env bash
# HDFS' metadata calls, by Debian's hdfs client of another project (Go): a walk through its commands, then changes while
# the active of two namenodes is killed.
# Needs: apt-get install --no-install-recommends hdfs-cli. Exit code 77: the client is missing.
# KILLS: how often the active is killed; 5.
# Usage: tests/hdfs.sh [CORFU [NAMENODE]], the paths of the tool and of the sample, both built before.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
corfu=$(realpath "${1:-src/hosts/Corfu.Cli/bin/Release/net10.0/corfu}")
sample=$(realpath "${2:-samples/Namenode/bin/Release/net10.0/Namenode.dll}")
if ! hdfs help 2>&1 | grep -q OCTAL-MODE; then echo 'cannot run here: hdfs-cli is not installed'; exit 77; fi
dir=$(mktemp -d)
pids=(0 0)
end() {
  kill -9 ${pids[*]/#0/} 2>/dev/null || true
  "$corfu" cluster down --dir "$dir/cluster" >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap end EXIT
calls=0 failed=0
fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}
export HADOOP_USER_NAME=alice
"$corfu" cluster up --dir "$dir/cluster" >"$dir/up.txt"
log=$(grep -o -m 1 'corfu://[^ ]*' "$dir/up.txt")
# start N ADDRESS: namenode N; its address is in addresses[N], the same after a kill.
addresses=('' '')
start() {
  : >"$dir/address-$1"
  dotnet "$sample" serve --connect "$log" --listen "$2" --lease 1000 \
    >"$dir/address-$1" 2>>"$dir/namenode-$1.txt" </dev/null &
  pids[$1]=$!
  disown "$!"
  for _ in $(seq 600); do [ -s "$dir/address-$1" ] && break; kill -0 "${pids[$1]}"; sleep 0.1; done
  addresses[$1]=$(sed 's,^hdfs://,,' "$dir/address-$1")
}
start 0 127.0.0.1:0
start 1 127.0.0.1:0
export HADOOP_NAMENODE=${addresses[0]},${addresses[1]}
# until_done COMMAND: sends a command again until it succeeds, for a minute. Each command may be repeated.
until_done() {
  for _ in $(seq 120); do "$@" >"$dir/out.txt" 2>&1 && return; sleep 0.5; done
  return 1
}
# call COMMAND: a command that must succeed in the end.
call() {
  calls=$((calls + 1))
  until_done hdfs "$@" || { fail "hdfs $*"; cat "$dir/out.txt"; }
}
# check EXPECTED COMMAND: passes if a line of the command's output matches.
check() {
  local expected=$1
  shift
  calls=$((calls + 1))
  hdfs "$@" >"$dir/out.txt" 2>&1 || true
  if grep -Eq -- "$expected" "$dir/out.txt"; then echo "ok hdfs $*"; else fail "hdfs $*"; cat "$dir/out.txt"; fi
}
# absent COMMAND: passes if the command prints nothing.
absent() {
  calls=$((calls + 1))
  hdfs "$@" >"$dir/out.txt" 2>&1 || true
  if [ -s "$dir/out.txt" ]; then fail "hdfs $*"; cat "$dir/out.txt"; else echo "ok hdfs $*"; fi
}
call ls /
absent ls /
absent mkdir -p /a/b/c
check '^b$' ls /a
check 'file already exists' mkdir /a/b
check 'file does not exist' mkdir /none/b
absent touch /a/b/f
check '^-rw-r--r-- +alice +supergroup +0 .* f$' ls -l /a/b
check '^drwxr-xr-x +alice .* b$' ls -l /a
absent touch /a/b/f
absent chmod 600 /a/b/f
check '^-rw------- ' ls -l /a/b/f
absent chown -R bob:staff /a
check '^-rw------- +bob +staff ' ls -l /a/b/f
absent mv /a/b/f /a/b/c
check '^f$' ls /a/b/c
absent touch /a/g
absent mv -T /a/g /a/b/c/f
check '^-rw-r--r-- +alice ' ls -l /a/b/c/f
check 'directory' mv -T /a/b/c/f /a/b
check 'file does not exist' mv /none /a/h
check '^0 .*/a$' du -s /a
check '^0 .*/a/b/c/f$' du /a
check '^127.* 1099511627776 ' df
check 'file does not exist' ls /none
check 'file is a directory' rm /a
echo content >"$dir/content"
check 'java.lang.UnsupportedOperationException' put "$dir/content" /a/content
absent cat /a/b/c/f
absent rm -r /a/b
check '^content$' ls /a
absent rm -r /a
absent ls /
# More than one page of a listing.
mapfile -t many < <(seq -f '/many/%05g' 1100)
call mkdir -p "${many[@]}"
hdfs ls /many >"$dir/many.txt"
calls=$((calls + 1))
listed=$(sed 's,^,/many/,' "$dir/many.txt")
if [ "$listed" = "$(printf '%s\n' "${many[@]}")" ]; then echo 'ok hdfs ls of two pages'; else fail 'ls of two pages'; fi
call rm -r /many
# The active is killed under changes that are acknowledged one by one; all must be there at the end.
kills=${KILLS:-5}
call mkdir -p /kept
: >"$dir/acknowledged"
for round in $(seq "$kills"); do
  active=''
  for _ in $(seq 120); do
    for n in 0 1; do
      if HADOOP_NAMENODE=${addresses[n]} hdfs ls / >/dev/null 2>&1; then active=$n; fi
    done
    [ -n "$active" ] && break
    sleep 0.5
  done
  [ -n "$active" ] || { echo 'FAILED no namenode is the active'; exit 1; }
  (sleep 0.2; kill -9 "${pids[$active]}") &
  killer=$!
  for change in $(seq 25); do
    name=/kept/$round-$change
    call mkdir -p "$name"
    call touch "$name/f"
    call chmod 640 "$name/f"
    echo "$round-$change" >>"$dir/acknowledged"
  done
  wait $killer
  while kill -0 "${pids[$active]}" 2>/dev/null; do sleep 0.1; done
  start "$active" "${addresses[$active]}"
  echo "ok namenode $active was killed under 75 changes"
done
hdfs ls /kept | sort >"$dir/kept"
calls=$((calls + 1))
sort "$dir/acknowledged" | diff - "$dir/kept" || fail 'an acknowledged directory is missing'
for name in $(sort "$dir/acknowledged" | shuf -n 20); do check '^-rw-r----- ' ls -l "/kept/$name/f"; done
# A client that speaks no Hadoop RPC is cut off, and others go on.
python3 - "${addresses[0]}" <<'PYTHON'
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
with socket.create_connection((host, int(port)), 10) as garbage:
    garbage.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert garbage.recv(100) == b""
PYTHON
check '^kept$' ls /
echo "hdfs calls=$calls failed=$failed"
[ "$failed" = 0 ]
