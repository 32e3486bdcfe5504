#!/usr/bin/env bash
# One client of ZooKeeper's C library against a real ZooKeeper and against 'corfu zookeeper serve', in turns, on this machine.
#   bench/zookeeper.sh [--quick] [--no-build] [--rounds N] [--dir DIR]
# Sets and gets of 100 bytes with 1, 64 and 512 outstanding; --rounds (5) rounds, in each both servers, in another order. ZooKeeper is one
# server, ours one unit, one sequencer and one front end, both with their data below DIR (default: a new folder of /var/tmp) and every
# write synced. Each round measures the machine beside them: a round trip of a bare echo, and fdatasync of 4 KiB in DIR.
# Needs gcc and Debian's packages zookeeper, default-jre-headless, libzookeeper-mt-dev. Figures count on a quiet machine only.
# The last line has ours as a part of ZooKeeper's, medians of the rounds: set_1=R set_64=R set_512=R get_1=R get_64=R get_512=R p50_set_1=R.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDTERMINALLOGGER=off

build=yes rounds=5 scale=1 folder=/var/tmp
while [ $# -gt 0 ]; do
    case $1 in
        --quick) rounds=1 scale=10 ;;
        --no-build) build=no ;;
        --rounds) rounds=$2; shift ;;
        --dir) folder=$2; shift ;;
        *) printf 'unknown option %s\n' "$1" >&2; exit 2 ;;
    esac
    shift
done
for need in /usr/share/java/zookeeper.jar /usr/include/zookeeper/zookeeper.h; do
    [ -e "$need" ] || { printf '%s is missing: apt-get install zookeeper default-jre-headless libzookeeper-mt-dev\n' "$need" >&2; exit 1; }
done

work=$(mktemp -d -p "$folder" corfu-zookeeper-XXXXXX)
corfu=(dotnet src/hosts/Corfu.Cli/bin/Release/net10.0/corfu.dll)
java_pid='' serve_pid=''
stop() {
    local pid
    for pid in $java_pid $serve_pid; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done || true
    [ ! -d "$work/cluster" ] || "${corfu[@]}" cluster down --dir "$work/cluster" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap stop EXIT

[ "$build" = no ] || dotnet build -c Release -v quiet src/hosts/Corfu.Cli >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
gcc -O2 -DTHREADED bench/zookeeper/zkbench.c -o "$work/zkbench" -lzookeeper_mt -lpthread

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
printf 'tickTime=2000\ndataDir=%s/data\nclientPort=%s\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n' \
    "$work" "$port" >"$work/zoo.cfg"
java -Xmx1g -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/zoo.cfg" >"$work/zookeeper.log" 2>&1 &
java_pid=$!
"${corfu[@]}" cluster up --dir "$work/cluster" --units 1 --replicas 1 >"$work/up.log" || { cat "$work/up.log"; exit 1; }
connect=$(grep -o 'corfu://[^ ]*' "$work/up.log" | head -n 1)
"${corfu[@]}" zookeeper serve --connect "$connect" --listen 127.0.0.1:0 --connections-per-address 0 >"$work/serve.out" 2>"$work/serve.log" &
serve_pid=$!
for _ in $(seq 300); do
    [ -s "$work/serve.out" ] && grep -q 'binding to port' "$work/zookeeper.log" && break
    sleep 0.1
done
ours=$(head -n 1 "$work/serve.out") theirs=127.0.0.1:$port
[ -n "$ours" ] || { cat "$work/serve.log"; exit 1; }

# Microseconds: the middle one of 2,000 echoes, and of 200 syncs.
machine() {
    python3 - "$work" <<'PYTHON'
import os, socket, statistics, sys, threading, time
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    peer, _ = listener.accept()
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := peer.recv(4096): peer.sendall(data)
threading.Thread(target=serve, daemon=True).start()
client = socket.create_connection(listener.getsockname())
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def timed(count, action):
    times = []
    for _ in range(count):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6
def echo():
    client.sendall(b"x" * 100)
    client.recv(4096)
file = os.open(os.path.join(sys.argv[1], "sync"), os.O_WRONLY | os.O_CREAT)
def sync():
    os.pwrite(file, b"x" * 4096, 0)
    os.fdatasync(file)
print(f"{timed(2000, echo):.0f} {timed(200, sync):.0f}")
PYTHON
}

# Windows with their sessions: 64 are 8 a session, 512 are 64.
declare -A windows=([1]='1 1' [64]='8 8' [512]='64 8')
declare -A counts=([set1]=4000 [set64]=80000 [set512]=160000 [get1]=10000 [get64]=160000 [get512]=160000)
measure() { # SYSTEM HOSTS ROUND
    local op outstanding count window sessions line
    for outstanding in 1 64 512; do
        read -r window sessions <<<"${windows[$outstanding]}"
        for op in create set get; do
            [ "$op" = create ] && count=${counts[get$outstanding]} || count=${counts[$op$outstanding]}
            count=$((count / scale))
            line=$("$work/zkbench" "$2" "$op" "$count" "$window" "$sessions" 100 "/r$3-$outstanding")
            [ "${line##* }" = 0 ] || { printf '%s %s at %s: %s errors\n' "$1" "$op" "$outstanding" "${line##* }" >&2; exit 1; }
            printf '%s %s %s %s\n' "$1" "$op" "$outstanding" "$line" >>"$work/figures"
        done
    done
}

for ((round = 1; round <= rounds; round++)); do
    read -r echo sync <<<"$(machine)"
    printf 'round %s: echo %s us, fdatasync %s us\n' "$round" "$echo" "$sync"
    printf 'machine echo 0 %s\nmachine fdatasync 0 %s\n' "$echo" "$sync" >>"$work/figures"
    if ((round % 2)); then measure zookeeper "$theirs" "$round"; measure corfu "$ours" "$round"
    else measure corfu "$ours" "$round"; measure zookeeper "$theirs" "$round"; fi
done

python3 - "$work/figures" <<'PYTHON'
import collections, statistics, sys
found = collections.defaultdict(list)
for line in open(sys.argv[1]):
    system, op, outstanding, *figures = line.split()
    found[system, op, int(outstanding)].append([float(figure) for figure in figures])
middle = lambda key, index: statistics.median(figures[index] for figures in found[key])
print(f"echo {middle(('machine', 'echo', 0), 0):.0f} us, fdatasync {middle(('machine', 'fdatasync', 0), 0):.0f} us")
print(f"{'operation':9} {'outstanding':>11}  {'ZooKeeper/s':>11} {'p50 ms':>8} {'p99 ms':>8}  {'Corfu/s':>9} {'p50 ms':>8} {'p99 ms':>8}  {'part':>5}")
parts = {}
for op in ("create", "set", "get"):
    for outstanding in (1, 64, 512):
        theirs, ours = ("zookeeper", op, outstanding), ("corfu", op, outstanding)
        parts[op, outstanding] = middle(ours, 0) / middle(theirs, 0)
        print(f"{op:9} {outstanding:11}  {middle(theirs, 0):11.0f} {middle(theirs, 1):8.3f} {middle(theirs, 2):8.3f}  "
              f"{middle(ours, 0):9.0f} {middle(ours, 1):8.3f} {middle(ours, 2):8.3f}  {parts[op, outstanding]:5.2f}")
print(" ".join(f"{op}_{outstanding}={parts[op, outstanding]:.2f}" for op in ("set", "get") for outstanding in (1, 64, 512)),
      f"p50_set_1={middle(('corfu', 'set', 1), 1) / middle(('zookeeper', 'set', 1), 1):.2f}")
PYTHON
