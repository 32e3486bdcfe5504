#!/usr/bin/env bash
# NBD of Salus, by clients that nobody here wrote: libnbd's nbdinfo, nbdcopy and Python module, QEMU's qemu-io and qemu-img, fio.
# Needs: apt-get install --no-install-recommends libnbd-bin python3-libnbd qemu-utils fio openssl. A check whose tool is missing is skipped, by name.
# Usage: tests/nbd.sh [HOST], the test host's program, built before: its volumes are in memory.
#        tests/nbd.sh --cluster [CORFU], the tool: the same checks on volumes of three node processes, one of which serves them; then on nodes with TLS.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cluster='' host=tests/stores/Salus.NbdHost/bin/Release/net10.0/Salus.NbdHost
if [ "${1:-}" = --cluster ]; then cluster=$(realpath "${2:-src/hosts/Corfu.Cli/bin/Release/net10.0/corfu}"); else host=$(realpath "${1:-$host}"); fi
dir=$(mktemp -d)
server='' secure=''
down() { for nodes in salus tls; do if [ -d "$dir/$nodes" ]; then "$cluster" salus down --dir "$dir/$nodes" >/dev/null; fi; done; }
trap 'kill $server $secure 2>/dev/null || true; [ -z "$cluster" ] || down || true; rm -rf "$dir"' EXIT
M=$((1 << 20))
listening() { for _ in $(seq 100); do [ -s "$1" ] && break; sleep 0.1; done; head -n 1 "$1"; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# salus FOLDER PORT OPTION...: nodes in a folder, the first of which serves every volume; sets log.
salus() {
  "$cluster" salus up --dir "$dir/$1" --servers 3 --listen-nbd "127.0.0.1:$2" "${@:3}" >"$dir/up.txt"
  log=$(head -n 1 "$dir/up.txt")
}
# Blocks of 4 KiB and of 64 KiB, replies before the commit, and a volume whose calls take a while.
if [ -n "$cluster" ]; then
  port=$(free_port)
  salus salus "$port"
  for volume in vol early slow; do "$cluster" volume create -c "$log" "$volume" --size 64M >"$dir/created.txt"; done
  "$cluster" volume create -c "$log" wide --size 64M --block 64K >"$dir/created.txt"
  "$cluster" volume snapshot -c "$log" vol first >"$dir/created.txt"
  uri=nbd://127.0.0.1:$port view=vol@first
  # The node that serves follows the log: the snapshot is an export in a moment.
  for _ in $(seq 100); do nbdinfo "$uri/$view" >"$dir/ready.txt" 2>&1 && break; sleep 0.2; done
else
"$host" 0 "vol=$((64 * M))" "view=0,ro" "wide=$((64 * M)),block=65536" "early=$((64 * M)),ordered,delay=3" "slow=$((64 * M)),delay=3" >"$dir/uri" 2>"$dir/host.txt" &
server=$!
uri=$(listening "$dir/uri") view=view
fi
checks=0 failed=0
# check NAME TOOL COMMAND...: passes if the command does. A missing tool is named once for each check.
check() {
  local name=$1 tool=$2 status=0
  shift 2
  if ! command -v "$tool" >/dev/null; then echo "skipped $name: no $tool"; return; fi
  checks=$((checks + 1))
  timeout 120 "$@" >"$dir/out.txt" 2>&1 || status=$?
  if [ "$status" = 0 ]; then echo "ok $name"; else failed=$((failed + 1)); echo "FAILED $name ($status)"; cat "$dir/out.txt"; fi
}
# has PATTERN COMMAND...: the command passes and its output has a line with the pattern.
has() {
  local pattern=$1
  shift
  "$@" >"$dir/has.txt" 2>&1 && grep -Eq -- "$pattern" "$dir/has.txt" || { cat "$dir/has.txt"; return 1; }
}
# refuses COMMAND...: the command fails.
refuses() { ! "$@"; }
# io VOLUME COMMAND...: qemu-io ends with 0 even where a pattern differs, but says so.
io() {
  local volume=$1 commands=()
  shift
  for command in "$@"; do commands+=(-c "$command"); done
  qemu-io -f raw "$uri/$volume" "${commands[@]}" >"$dir/io.txt" 2>&1 || { cat "$dir/io.txt"; return 1; }
  if grep -Eqi 'fail|error|invalid' "$dir/io.txt"; then cat "$dir/io.txt"; return 1; fi
}
map() { nbdinfo --map "$uri/$1" | tr -s ' ' | sed 's/^ //'; }
same_map() { diff <(map "$1") <(printf '%s\n' "${@:2}"); }
export -f has refuses io map same_map
export uri dir view

check "nbdinfo" nbdinfo bash -c 'has "export-size: 67108864" nbdinfo "$uri/vol"'
check "nbdinfo of a read-only export" nbdinfo bash -c 'has "is_read_only: true" nbdinfo "$uri/$view"'
check "nbdinfo of the preferred block" nbdinfo bash -c 'has "block_size_preferred: 65536" nbdinfo "$uri/wide"'
check "nbdinfo --list" nbdinfo bash -c 'nbdinfo --list "$uri" >"$dir/list"; [ "$(grep -c ^export= "$dir/list")" = 5 ]'
check "nbdinfo --json" nbdinfo bash -c 'nbdinfo --json "$uri/vol" | python3 -c "import json, sys; e = json.load(sys.stdin)[\"exports\"][0]; assert e[\"can_multi_conn\"] and e[\"can_fast_zero\"] and e[\"contexts\"] == [\"base:allocation\"], e"'
check "nbdinfo --can" nbdinfo bash -c 'for can in cache df fast-zero flush fua multi-conn trim zero; do nbdinfo --can $can "$uri/vol"; done; ! nbdinfo --can write "$uri/$view"'
check "nbdinfo of an unknown export" nbdinfo bash -c 'refuses nbdinfo "$uri/nothing"'
check "nbdinfo of no name among several" nbdinfo bash -c 'refuses nbdinfo "$uri"'
check "nbdinfo --map of an empty volume" nbdinfo bash -c 'same_map wide "0 67108864 3 hole,zero"'

check "qemu-io write and read" qemu-io bash -c 'io vol "write -P 0xab 0 1M" "read -P 0xab 0 1M" "write -P 0xcd 1M 3M" "read -P 0xcd 1M 3M" flush'
check "qemu-io parts of blocks" qemu-io bash -c 'io vol "write -P 1 100 1000" "write -P 2 4000 200" "write -P 3 8191 4098" "read -P 0xab 0 100" "read -P 1 100 1000" "read -P 0xab 1100 2900" "read -P 2 4000 200" "read -P 0xab 4200 3991" "read -P 3 8191 4098" "read -P 0xab 12289 1000"'
check "qemu-io parts of large blocks" qemu-io bash -c 'io wide "write -P 7 0 256k" "write -P 1 512 512" "write -P 2 64k 4k" "write -P 3 131000 200" "read -P 7 0 512" "read -P 1 512 512" "read -P 7 1024 64512" "read -P 2 64k 4k" "read -P 3 131000 200" "read -P 7 131200 127k"'
check "qemu-io write -f" qemu-io bash -c 'io vol "write -f -P 0x11 2M 64k" "read -P 0x11 2M 64k"'
check "qemu-io write -z keeps the space" qemu-io bash -c 'io wide "write -z 128k 64k" "read -P 0 128k 64k"; same_map wide "0 262144 0 data" "262144 66846720 3 hole,zero"'
check "qemu-io write -z -u leaves a hole" qemu-io bash -c 'io wide "write -z -u 64k 64k" "read -P 0 64k 64k"; same_map wide "0 65536 0 data" "65536 65536 3 hole,zero" "131072 131072 0 data" "262144 66846720 3 hole,zero"'
check "qemu-io write -z -u of parts of blocks" qemu-io bash -c 'io vol "write -P 5 8M 64k" "write -z -u 8389608 20000" "read -P 5 8M 1000" "read -P 0 8389608 20000" "read -P 5 8409608 44000"'
check "qemu-io discard" qemu-io bash -c 'io wide "discard 0 64k" "read -P 0 0 64k" "discard 192k 64k" "read -P 0 192k 64k" "read -P 0 128k 64k"; same_map wide "0 131072 3 hole,zero" "131072 65536 0 data" "196608 66912256 3 hole,zero"'
check "qemu-io many at once" qemu-io bash -c 'io slow "aio_write -P 1 0 1M" "aio_write -P 2 1M 1M" "aio_write -P 3 2M 100" "aio_write -P 4 3M 4M" aio_flush "read -P 1 0 1M" "read -P 2 1M 1M" "read -P 3 2M 100" "read -P 4 3M 4M"'
check "qemu-io of a volume that answers early" qemu-io bash -c 'io early "write -P 9 0 1M" "write -P 8 100 100" "read -P 9 0 100" "read -P 8 100 100" "write -f -P 7 1M 4k" flush "read -P 7 1M 4k"'
check "qemu-io beyond the end" qemu-io bash -c 'refuses io vol "read 64M 512"'
check "qemu-io write to a read-only export" qemu-io bash -c 'refuses qemu-io -f raw "$uri/$view" -c "write 0 512"'
if [ -n "$cluster" ]; then
  "$cluster" volume snapshot -c "$log" vol second >"$dir/created.txt"
  view=vol@second
  for _ in $(seq 100); do nbdinfo "$uri/$view" >"$dir/ready.txt" 2>&1 && break; sleep 0.2; done
fi
check "qemu-io of a read-only view" qemu-io bash -c 'qemu-io -r -f raw "$uri/$view" -c "read -P 0x11 2M 64k" >"$dir/view.txt"; ! grep -i fail "$dir/view.txt"'

head -c $((24 * M)) /dev/urandom >"$dir/image"
truncate -s $((64 * M)) "$dir/image"
check "qemu-img convert into a volume" qemu-img qemu-img convert -n -f raw -O raw "$dir/image" "$uri/vol"
check "qemu-img compare" qemu-img qemu-img compare -f raw -F raw "$dir/image" "$uri/vol"
check "qemu-img convert out of a volume" qemu-img qemu-img convert -f raw -O raw "$uri/vol" "$dir/copy"
check "qemu-img convert has the bytes" qemu-img cmp "$dir/image" "$dir/copy"
check "qemu-img map" qemu-img bash -c 'has "\"zero\": true, \"data\": false" qemu-img map -f raw --output=json "$uri/vol"'
check "qemu-img bench" qemu-img qemu-img bench -f raw -w -c 2000 -d 32 -s 4096 --flush-interval=64 "$uri/slow"
check "nbdcopy into a volume" nbdcopy nbdcopy --connections=4 --requests=32 "$dir/image" "$uri/wide"
check "nbdcopy out of a volume" nbdcopy nbdcopy --connections=4 "$uri/wide" "$dir/copy2"
check "nbdcopy has the bytes" nbdcopy cmp "$dir/image" "$dir/copy2"
check "nbdcopy from volume to volume" nbdcopy nbdcopy --connections=4 --flush "$uri/wide" "$uri/slow"
check "qemu-img compare of volumes" qemu-img qemu-img compare -f raw -F raw "$uri/wide" "$uri/slow"

# fio NAME VOLUME OPTION...
fio_check() {
  local name=$1 volume=$2
  shift 2
  # fio leaves its state of a verification in the working folder.
  check "fio $name" fio env -C "$dir" fio --name=check --ioengine=nbd --uri="$uri/$volume" --size=16M --iodepth=16 --randrepeat=1 --verify=crc32c --verify_fatal=1 "$@"
}
fio_check "of random writes" vol --rw=randwrite --bs=4k
fio_check "of writes of parts of blocks" vol --rw=randwrite --bs=512 --size=2M
fio_check "of parts of large blocks" wide --rw=randwrite --bs=4k --size=8M
fio_check "of sizes from 512 to 128 KiB" vol --rw=randwrite --bsrange=512-128k --bs_unaligned=0
fio_check "of reads and writes" slow --rw=randrw --bs=4k --size=2M
fio_check "of sequential writes of 1 MiB" slow --rw=write --bs=1M
fio_check "of trims" vol --rw=randtrim --bs=4k --verify=0
fio_check "of an early volume" early --rw=randwrite --bs=4k --size=4M --fsync=32

if /usr/bin/python3 -c 'import nbd' 2>/dev/null; then
  out=$(timeout 120 /usr/bin/python3 tests/nbd_client.py "$uri" "$view" || echo "FAILED nbd_client.py: it ended early")
  echo "$out"
  checks=$((checks + $(grep -c . <<<"$out"))) failed=$((failed + $(grep -c '^FAILED' <<<"$out" || true)))
else
  echo "skipped tests/nbd_client.py: no python3-libnbd"
fi

# TLS: clients with a certificate of the authority are served, others and plain ones are not.
pem() { # NAME ISSUER EXTENSION
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" -keyout "$dir/$1-key.pem" -out "$dir/$1-cert.pem" ${2:+-CA "$dir/$2-cert.pem" -CAkey "$dir/$2-key.pem"} -addext "$3" 2>/dev/null
}
# issue ROLE: a certificate of the nodes' authority, under the names that clients of NBD look for.
issue() {
  "$cluster" cert issue --ca "$dir/tls/log/ca" --role "$1" --name "of-a-$1" --to "$dir/issued/$1" >"$dir/issued.txt"
  mkdir -p "$dir/$1"
  cp "$dir/issued/$1/ca.pem" "$dir/$1/ca-cert.pem"
  for part in cert key; do cp "$dir/issued/$1/identity.pem" "$dir/$1/client-$part.pem"; done
}
if command -v openssl >/dev/null; then
  mkdir "$dir/own" "$dir/stranger"
  (dir="$dir/own"; pem ca '' keyUsage=critical,keyCertSign; pem client ca extendedKeyUsage=clientAuth)
  cp "$dir/own/client-cert.pem" "$dir/own/client-key.pem" "$dir/stranger"
  if [ -n "$cluster" ]; then
    port=$(free_port)
    salus tls "$port" --tls
    "$cluster" volume create -c "$log" vol --size 64M >"$dir/created.txt"
    mkdir "$dir/issued"
    issue client && issue caller
    at=127.0.0.1:$port certs=$dir/client
    for _ in $(seq 100); do nbdinfo "nbds://$at/vol?tls-certificates=$certs" >"$dir/ready.txt" 2>&1 && break; sleep 0.2; done
    check "nbdinfo with a certificate of a caller" nbdinfo bash -c "refuses nbdinfo 'nbds://$at/vol?tls-certificates=$dir/caller'"
  else
    pem ca '' keyUsage=critical,keyCertSign && pem server ca subjectAltName=DNS:localhost,IP:127.0.0.1 && pem client ca extendedKeyUsage=clientAuth
    "$host" 0 "tls=$dir" "vol=$((64 * M))" >"$dir/secure" 2>"$dir/secure.txt" &
    secure=$!
    at=$(listening "$dir/secure") at=${at#nbd://} certs=$dir
  fi
  cp "$certs/ca-cert.pem" "$dir/stranger"
  export at certs
  check "nbdinfo over TLS" nbdinfo bash -c 'has "protocol: newstyle-fixed with TLS" nbdinfo "nbds://$at/vol?tls-certificates=$certs"'
  check "nbdcopy over TLS" nbdcopy nbdcopy --connections=4 "$dir/image" "nbds://$at/vol?tls-certificates=$certs"
  check "nbdcopy back over TLS" nbdcopy nbdcopy --connections=4 "nbds://$at/vol?tls-certificates=$certs" "$dir/copy3"
  check "nbdcopy over TLS has the bytes" nbdcopy cmp "$dir/image" "$dir/copy3"
  check "qemu-io over TLS" qemu-io bash -c 'qemu-io --object tls-creds-x509,id=t,dir="$certs",endpoint=client --image-opts "driver=nbd,host=${at%:*},port=${at#*:},export=vol,tls-creds=t" -c "write -P 5 0 1M" -c "read -P 5 0 1M" >"$dir/tls.txt"; ! grep -i fail "$dir/tls.txt"'
  check "nbdinfo without TLS" nbdinfo bash -c 'refuses nbdinfo "nbd://$at/vol"'
  check "nbdinfo with a stranger's certificate" nbdinfo bash -c 'refuses nbdinfo "nbds://$at/vol?tls-certificates=$dir/stranger"'
  if [ -n "$secure" ]; then kill "$secure"; fi
else
  echo "skipped TLS: no openssl"
fi

checks=$((checks + 1)) status=0
if [ -n "$cluster" ]; then
  down || status=$?
  : >"$dir/host.txt"
else
  kill "$server"
  wait "$server" || status=$?
fi
if [ "$status" = 0 ] && [ ! -s "$dir/host.txt" ]; then echo "ok end of the host"; else failed=$((failed + 1)); echo "FAILED end of the host ($status)"; cat "$dir/host.txt"; fi
echo "nbd checks=$checks failed=$failed"
[ "$failed" = 0 ]
