#!/usr/bin/env bash
# What many nodes cost: memory of a front end, its start from the checkpoints of the tree, and the disk under nodes that come and go.
#   bench/zookeeper-nodes.sh [--no-build] [--nodes N] [--rounds N] [--dir DIR]
# N nodes (1,000,000) of 100 bytes, in a real ZooKeeper and in ours, one after the other; each server is then ended and started again.
# Memory is the server's resident set; of the front end it is shown behind its start too, where nothing is left of the writes.
# Behind that, --rounds (26) rounds of 50,000 ephemeral sequential nodes each in a new service, made and deleted by sessions that end: each prints
# the disk used. Checkpoints and trims come by themselves. The log keeps 16,384 positions below a checkpoint, the span of spilled transactions, which
# are some 18 rounds: the disk is flat from the 20th on. disk_first is that of round 20.
# Needs gcc and Debian's packages zookeeper, default-jre-headless, libzookeeper-mt-dev, python3-kazoo.
# The last line: bytes_node=N zookeeper_bytes_node=N start_ms=N zookeeper_start_ms=N disk_first=N disk_last=N (MiB).
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDTERMINALLOGGER=off

build=yes nodes=1000000 rounds=26 folder=/var/tmp
while [ $# -gt 0 ]; do
    case $1 in
        --no-build) build=no ;;
        --nodes) nodes=$2; shift ;;
        --rounds) rounds=$2; shift ;;
        --dir) folder=$2; shift ;;
        *) printf 'unknown option %s\n' "$1" >&2; exit 2 ;;
    esac
    shift
done
for need in /usr/share/java/zookeeper.jar /usr/include/zookeeper/zookeeper.h /usr/lib/python3/dist-packages/kazoo; do
    [ -e "$need" ] || { printf '%s is missing: apt-get install zookeeper default-jre-headless libzookeeper-mt-dev python3-kazoo\n' "$need" >&2; exit 1; }
done

work=$(mktemp -d -p "$folder" corfu-zookeeper-XXXXXX)
corfu=(dotnet src/hosts/Corfu.Cli/bin/Release/net10.0/corfu.dll)
pid=''
end() { [ -z "$pid" ] || { kill -9 "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || true; pid=''; }
cluster_down() { [ ! -d "$work/cluster" ] || "${corfu[@]}" cluster down --dir "$work/cluster" >/dev/null 2>&1 || true; }
cluster_up() {
    cluster_down
    rm -rf "$work/cluster"
    "${corfu[@]}" cluster up --dir "$work/cluster" --units 1 --replicas 1 >"$work/up.log" || { cat "$work/up.log"; exit 1; }
    connect=$(grep -o 'corfu://[^ ]*' "$work/up.log" | head -n 1)
}
stop() {
    end
    cluster_down
    rm -rf "$work"
}
trap stop EXIT

[ "$build" = no ] || dotnet build -c Release -v quiet src/hosts/Corfu.Cli >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
gcc -O2 -DTHREADED bench/zookeeper/zkbench.c -o "$work/zkbench" -lzookeeper_mt -lpthread
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; } # KiB
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
# The server serves once it answers 'srvr' with its count of nodes.
serves() {
    python3 - "$1" <<'PYTHON'
import socket, sys
try:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as s:
        s.sendall(b"srvr")
        text = b""
        while part := s.recv(4096): text += part
except OSError:
    sys.exit(1)
sys.exit(0 if b"Node count" in text else 1)
PYTHON
}
await() { until serves "$port"; do kill -0 "$pid" || { cat "$work"/*.log >&2; exit 1; }; sleep 0.05; done; }

start_zookeeper() {
    java -Xmx4g -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/zoo.cfg" >"$work/zookeeper.log" 2>&1 &
    pid=$!
    await
}
start_corfu() {
    "${corfu[@]}" zookeeper serve --connect "$connect" --listen "127.0.0.1:$port" --connections-per-address 0 \
        >"$work/serve.out" 2>"$work/serve.log" &
    pid=$!
    await
}

# fill NAME: prints what the nodes cost; leaves 'per_node' and 'start_ms'.
fill() {
    local empty filled again began
    "start_$1"
    empty=$(resident "$pid")
    printf '%s: %s\n' "$1" "create: $("$work/zkbench" "127.0.0.1:$port" create "$nodes" 64 8 100 /many) (a second, p50 and p99 in ms, errors)"
    filled=$(resident "$pid")
    end
    began=$(milliseconds)
    "start_$1"
    start_ms=$(($(milliseconds) - began))
    again=$(resident "$pid")
    per_node=$(((again - empty) * 1024 / nodes))
    printf '%s: %s MiB empty, %s MiB behind the writes, %s MiB behind a start of %s ms: %s bytes a node\n' \
        "$1" $((empty / 1024)) $((filled / 1024)) $((again / 1024)) "$start_ms" "$per_node"
}

port=$(free_port)
mkdir "$work/data"
printf 'tickTime=2000\ndataDir=%s/data\nclientPort=%s\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n' \
    "$work" "$port" >"$work/zoo.cfg"
fill zookeeper
end
their_bytes=$per_node their_ms=$start_ms

port=$(free_port)
cluster_up
fill corfu
end
our_bytes=$per_node our_ms=$start_ms

disk() { du -sm "$work/cluster" | cut -f1; }
printf 'disk of the nodes: %s MiB\n' "$(disk)"
cluster_up
start_corfu
first=''
for ((round = 1; round <= rounds; round++)); do
    /usr/bin/python3 - "$port" <<'PYTHON'
import sys, threading
from kazoo.client import KazooClient
def session():
    client = KazooClient(f"127.0.0.1:{sys.argv[1]}")
    client.start(30)
    client.ensure_path("/churn")
    for _ in range(25):
        made = [client.create_async("/churn/n-", b"x" * 100, ephemeral=True, sequence=True) for _ in range(250)]
        paths = [each.get(60) for each in made]
        # Half are deleted; the session's end takes the others.
        for gone in [client.delete_async(path) for path in paths[::2]]: gone.get(60)
    client.stop()
    client.close()
threads = [threading.Thread(target=session) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
client = KazooClient(f"127.0.0.1:{sys.argv[1]}")
client.start(30)
left = len(client.get_children("/churn"))
client.stop()
sys.exit(f"{left} ephemeral nodes are left" if left else 0)
PYTHON
    last=$(disk)
    [ "$round" != 20 ] || first=$last
    printf 'round %s: disk %s MiB, front end %s MiB\n' "$round" "$last" $(($(resident "$pid") / 1024))
done
printf 'bytes_node=%s zookeeper_bytes_node=%s start_ms=%s zookeeper_start_ms=%s disk_first=%s disk_last=%s\n' \
    "$our_bytes" "$their_bytes" "$our_ms" "$their_ms" "${first:-$last}" "$last"
