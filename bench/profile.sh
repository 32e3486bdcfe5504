#!/usr/bin/env bash
# Where the processor time of a scenario goes: bench/profile.sh SCENARIO|all [FOLDER]
#
# Brings a cluster of processes up, loads it with one benchmark of bench/Corfu.Benchmarks, samples its processes with
# perf and counts their fdatasync calls. Writes one Markdown file into FOLDER; the last line says where.
# Needs perf, python3 and the right to sample the kernel (root, or kernel.perf_event_paranoid at most 1).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly program=bench/Corfu.Benchmarks/bin/Release/net10.0/Corfu.Benchmarks.dll
readonly warm_up=15 sampled=10 traced=3 rate=999

scenarios='append-1 AppendBenchmarks.Append128Bytes InFlight=1
append-64 AppendBenchmarks.Append128Bytes InFlight=64
append-512 AppendBenchmarks.Append128Bytes InFlight=512
grpc-append-64 GrpcAppendBenchmarks.Append128Bytes InFlight=64
multiappend-64 StreamBenchmarks.AppendToStreams InFlight=64 Streams=4
read-64 ReadBenchmarks.ReadOneEntry InFlight=64
check-64 CheckBenchmarks.CheckTail InFlight=64
object-read-64 ObjectReadBenchmarks.GetKey InFlight=64
object-update-64 ObjectUpdateBenchmarks.SetKey InFlight=64
transaction-uniform-64 TransactionBenchmarks.CommitThreeReadsThreeWrites InFlight=64 Choice=Uniform
transaction-zipf-64 TransactionBenchmarks.CommitThreeReadsThreeWrites InFlight=64 Choice=Zipf
open-checkpoint OpenBenchmarks.OpenFromCheckpoint Entries=100000'

wanted=${1:-}
chosen=$(grep -E "^$([ "$wanted" = all ] && echo '.*' || echo "$wanted") " <<<"$scenarios" || true)
if [ -z "$wanted" ] || [ -z "$chosen" ]; then
  printf 'usage: bench/profile.sh SCENARIO|all [FOLDER]\nscenarios:\n' >&2
  cut -d' ' -f1 <<<"$scenarios" | sed 's/^/  /' >&2
  exit 2
fi
for tool in perf python3; do
  command -v "$tool" >/dev/null || { echo "bench/profile.sh needs $tool" >&2; exit 1; }
done

folder=$(realpath -m "${2:-artifacts/profiles}")
mkdir -p "$folder"
work=$(mktemp -d)
driver=
finish() {
  # The nodes end with the driver.
  if [ -n "$driver" ]; then kill "$driver" 2>/dev/null || true; fi
  for pid in $(cut -d' ' -f1 "$work"/*.processes 2>/dev/null); do rm -f "/tmp/perf-$pid.map" "/tmp/perfinfo-$pid.map"; done
  rm -rf "$work"
}
trap finish EXIT

# The driver and its children, a line each: PID ROLE.
list_processes() {
  echo "$driver client"
  ps -o pid=,args= --ppid "$driver" | awk '
    / node / { n = split($NF, path, "/"); print $1, path[n - 1] }
    / grpc / { print $1, "front_end" }'
}

profile() {
  local name=$1 benchmark=$2
  shift 2
  local log=$work/$name.log processes=$work/$name.processes pids
  # 3: symbols of compiled methods, without the log of loaded images. Code mapped twice (W^X) would hide them from perf,
  # which looks for them in /tmp.
  TMPDIR=$work DOTNET_PerfMapJitDumpPath=/tmp DOTNET_PerfMapEnabled=3 DOTNET_EnableWriteXorExecute=0 \
    dotnet "$program" drive "$benchmark" $warm_up $((sampled + traced + 4)) "$@" >"$log" 2>&1 &
  driver=$!
  until grep -q '^measuring' "$log"; do
    kill -0 "$driver" 2>/dev/null || { cat "$log" >&2; driver=; return 1; }
    sleep 0.2
  done
  list_processes >"$processes"
  pids=$(cut -d' ' -f1 "$processes" | paste -sd,)
  perf record -q -e cpu-clock -F "$rate" -p "$pids" -o "$work/$name.data" -- sleep "$sampled" >/dev/null 2>&1
  perf trace -s -e fdatasync -p "$pids" -o "$work/$name.trace" -- sleep "$traced" >/dev/null 2>&1 || true
  wait "$driver"
  driver=
  perf script -i "$work/$name.data" -F pid,ip,sym,dso >"$work/$name.samples" 2>/dev/null
  python3 bench/profile_report.py "$name" "$benchmark $*" "$work" "$sampled" "$traced" "$rate" >>"$parts"
}

dotnet build -c Release -v q bench/Corfu.Benchmarks
report=$folder/$wanted.md
parts=$work/parts
while read -r line; do
  # shellcheck disable=SC2086
  profile $line </dev/null
  echo "${line%% *}"
done <<<"$chosen"
{
  echo "Commit $(git describe --always --dirty), $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1),"
  printf '%s, load average %s. Command: `bench/profile.sh %s`.\n\n' "$(uname -sr)" "$(cut -d' ' -f2 /proc/loadavg)" "$wanted"
  cat "$parts"
} >"$report"
echo "profiles=$(wc -l <<<"$chosen") report=$report"
