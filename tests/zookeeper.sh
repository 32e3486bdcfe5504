#!/usr/bin/env bash
# ZooKeeper's protocol, by clients that nobody here wrote: four-letter words, zkCli, and kazoo's own tests, over a cluster of node processes and one front end.
# Needs: apt-get install --no-install-recommends zookeeper default-jre-headless python3-kazoo python3-pytest python3-pytest-timeout python3-mock python3-objgraph python3-gevent python3-eventlet.
# A check whose tool is missing is skipped, by name; exit code 77: all are. Usage: tests/zookeeper.sh [--quick | --three] [CORFU], the tool's path, built before.
# --quick: of kazoo's tests those that wait for no clock, within a minute. --three: kazoo's tests alone, over three front ends that they kill and start.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Left out by design: reconfig (-6) and SASL (-115).
some='not TestReconfig and not test_connect_sasl_auth'
if [ "${1:-}" = --quick ]; then
  some="($some) and (test_counter or test_queue or test_party or TestClientTransactions or TestAuthentication or TestNonChrootClient)"
  shift
fi
servers=1
if [ "${1:-}" = --three ]; then servers=3; shift; fi
corfu=$(realpath "${1:-src/hosts/Corfu.Cli/bin/Release/net10.0/corfu}")
cli=/usr/share/zookeeper/bin/zkCli.sh
if [ ! -x /usr/bin/python3 ]; then echo 'cannot run here: apt-get install python3'; exit 77; fi
has_cli=no has_kazoo=no
if [ -x $cli ] && command -v java >/dev/null; then has_cli=yes; fi
if /usr/bin/python3 -c 'import kazoo.tests, pytest, pytest_timeout, mock, objgraph' 2>/dev/null; then has_kazoo=yes; fi
if [ $has_cli$has_kazoo = nono ]; then echo 'cannot run here: neither zkCli with Java nor kazoo with its tests is installed'; exit 77; fi
dir=$(mktemp -d)
secure=''
trap 'xargs kill -CONT <"$dir/nodes" || true; kill $(cat "$dir"/*.pid) $secure 2>/dev/null || true; "$corfu" cluster down --dir "$dir/cluster" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
"$corfu" cluster up --dir "$dir/cluster" >"$dir/up.txt"
log=$(grep -o -m 1 'corfu://[^ ]*' "$dir/up.txt")
"$corfu" cluster status --dir "$dir/cluster" --json | grep -oE '"processId": [0-9]+' | grep -oE '[0-9]+' | sort -u >"$dir/nodes"
# control start|stop N: front end N, at the port that it had before. A program of its own: kazoo's tests call it.
# Where ZooKeeper's third server would be without a majority, the nodes of the log are paused: the front end that is left only reads.
cat >"$dir/control" <<END
#!/usr/bin/env bash
set -eu
if [ "\$1" = stop ]; then
  kill -9 "\$(cat "$dir/\$2.pid")"
  rm "$dir/\$2.pid"
  if [ $servers = 3 ] && [ "\$(ls "$dir"/*.pid | wc -l)" = 1 ]; then xargs kill -STOP <"$dir/nodes"; fi
  exit
fi
xargs kill -CONT <"$dir/nodes"
port=\$(sed 's/.*://' "$dir/\$2.address" 2>/dev/null || echo 0)
rm -f "$dir/\$2.address"
"$corfu" zookeeper serve -c "$log" -l "127.0.0.1:\$port" --connections-per-address 0 --read-only >"$dir/\$2.address" 2>>"$dir/serve.txt" </dev/null &
echo \$! >"$dir/\$2.pid"
for _ in \$(seq 300); do [ -s "$dir/\$2.address" ] && exit; kill -0 \$!; sleep 0.1; done
exit 1
END
chmod +x "$dir/control"
for i in $(seq 0 $((servers - 1))); do "$dir/control" start "$i"; done
addresses=$(cat "$dir"/*.address | paste -s -d ,)
address=${addresses%%,*}
port=${address##*:}
checks=0 failed=0
note() { checks=$((checks + $1)) failed=$((failed + $2)); }
# check NAME EXPECTED COMMAND: passes if a line of the command's output matches.
check() {
  local name=$1 expected=$2
  shift 2
  "$@" >"$dir/out.txt" 2>&1 || true
  if grep -q -- "$expected" "$dir/out.txt"; then echo "ok $name"; note 1 0; else echo "FAILED $name"; cat "$dir/out.txt"; note 1 1; fi
}
word() { /usr/bin/python3 -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[2])), 10); s.sendall(sys.argv[1].encode())
while (data := s.recv(8192)): sys.stdout.write(data.decode())' "$1" "$port"; }
kazoo_tests() {
  local status=0 passed
  PYTHONPATH=tests FOREIGN_ZK=$addresses FOREIGN_ZK_CTL="$dir/control" ZOOKEEPER_VERSION=3.9.0 /usr/bin/python3 -m pytest -p zookeeper_kazoo -p no:cacheprovider \
    --pyargs kazoo.tests -q -ra --timeout=100 -k "$some" >"$dir/kazoo.txt" 2>&1 || status=$?
  grep -E '^(FAILED|ERROR)' "$dir/kazoo.txt" || true
  grep -E '[0-9]+ passed.* in ' "$dir/kazoo.txt" || tail -n 20 "$dir/kazoo.txt"
  passed=$(grep -oE '[0-9]+ passed' "$dir/kazoo.txt" | grep -oE '[0-9]+' || echo 0)
  note "$((passed + 1))" "$([ "$status" = 0 ] && echo 0 || echo 1)"
}
if [ $servers = 3 ]; then
  if [ $has_kazoo = no ]; then echo "cannot run here: python3-kazoo, pytest or its plugins are missing"; exit 77; fi
  kazoo_tests
  echo "zookeeper servers=3 checks=$checks failed=$failed"
  [ "$failed" = 0 ]
  exit
fi
check "ruok" imok word ruok
check "isro" rw word isro
check "srvr" "Mode: standalone" word srvr
check "mntr" zk_znode_count word mntr
check "conf" minSessionTimeout=4000 word conf
check "a word that is not open" "not in the whitelist" word dump
if [ $has_cli = yes ]; then
  zk() { $cli -server "127.0.0.1:$port" "$@"; }
  check "zkCli create" "Created /cli" zk create /cli first
  check "zkCli get" first zk get /cli
  check "zkCli set" "dataVersion = 1" zk set -s /cli second
  check "zkCli create of a node with null data" "Created /cli/null" zk create /cli/null
  check "zkCli create of a container" "Created /cli/box" zk create -c /cli/box
  check "zkCli ls" "\[box, null\]" zk ls /cli
  zk deleteall /cli >"$dir/out.txt" 2>&1 || true
  check "zkCli get behind deleteall" "Node does not exist: /cli" zk get /cli
else
  echo "skipped zkCli: no $cli, or no java"
fi
if [ $has_kazoo = yes ]; then
  "$corfu" cert init --dir "$dir/ca" >/dev/null
  "$corfu" cert issue --ca "$dir/ca" --role node --name node --host 127.0.0.1 --to "$dir/node" >/dev/null
  for role in client caller; do "$corfu" cert issue --ca "$dir/ca" --role $role --name $role --to "$dir/$role" >/dev/null; done
  "$corfu" zookeeper serve -c "$log" -l 127.0.0.1:0 --certs "$dir/node" >"$dir/secure" 2>>"$dir/serve.txt" &
  secure=$!
  for _ in $(seq 300); do [ -s "$dir/secure" ] && break; kill -0 $secure; sleep 0.1; done
  # tls ROLE: whether a client with a certificate of the role makes a node, and one of the name in its certificate alone.
  tls() {
    if /usr/bin/python3 -c 'import sys
from kazoo.client import KazooClient
from kazoo.security import make_acl
identity = sys.argv[2] + "/identity.pem"
client = KazooClient(sys.argv[1], use_ssl=True, ca=sys.argv[2] + "/ca.pem", certfile=identity, keyfile=identity)
client.start(5)
path = client.create("/tls-", b"mine", [make_acl("x509", "CN=client", all=True)], sequence=True)
assert client.get(path)[0] == b"mine"' "$(cat "$dir/secure")" "$dir/$1" 2>"$dir/tls.txt"; then echo served; else echo refused; tail -n 1 "$dir/tls.txt"; fi
  }
  plain() { port=$(sed 's/.*://' "$dir/secure") word ruok 2>/dev/null || true; echo " is the answer"; }
  check "kazoo over TLS, and its certificate in an ACL" served tls client
  check "kazoo over TLS with a certificate that has no right" refused tls caller
  check "a plain client at the port of TLS" "^ is the answer" plain
  kill $secure
  kazoo_tests
else
  echo "skipped kazoo's tests: python3-kazoo, pytest or its plugins are missing"
fi
echo "zookeeper checks=$checks failed=$failed"
[ "$failed" = 0 ]
