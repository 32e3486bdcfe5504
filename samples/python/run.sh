#!/usr/bin/env bash
# Checks the gRPC front ends with a Python client: run.sh [--no-build] [--only TEXT] [--list]
# Starts a cluster of processes in a temporary folder and takes it down again, also after a failure or Ctrl-C.
# The last line is 'conformance N passed M failed'. Exit code 0: all passed, 1: some failed, 2: wrong options,
# 77: a Debian package is missing (it is named), 130: interrupted.
set -u -o pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
python=${PYTHON:-/usr/bin/python3}
tool="$root/src/hosts/Corfu.Cli/bin/Release/net10.0/corfu"

build=yes
checks=()
while [ $# -gt 0 ]; do
    case $1 in
        --no-build) build=no ;;
        --only) [ $# -ge 2 ] || { echo "--only needs a text." >&2; exit 2; }; checks+=(--only "$2"); shift ;;
        --list) checks+=(--list) ;;
        *) sed -n 's/^# //; 2p' "${BASH_SOURCE[0]}" >&2; echo "Unknown option: $1" >&2; exit 2 ;;
    esac
    shift
done

missing=()
"$python" -c 'import grpc' 2>/dev/null || missing+=(python3-grpcio)
"$python" -c 'import grpc_tools' 2>/dev/null || missing+=(python3-grpc-tools)
"$python" -c 'import google.protobuf' 2>/dev/null || missing+=(python3-protobuf)
command -v protoc >/dev/null || missing+=(protobuf-compiler)
if [ ${#missing[@]} -gt 0 ]; then
    echo "cannot run here: apt-get install ${missing[*]}"
    exit 77
fi

if [ "$build" = yes ]; then
    dotnet build "$root/src/hosts/Corfu.Cli" -c Release -v quiet || exit 1
elif [ ! -x "$tool" ]; then
    echo "Not built: $tool. Leave out --no-build." >&2
    exit 1
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/corfu-python-XXXXXX")
cleanup() {
    # A second Ctrl-C would leave the processes behind.
    trap '' INT TERM
    if [ -e "$work/cluster" ]; then "$tool" cluster down --dir "$work/cluster" >/dev/null; fi
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/stubs:$here"
"$python" "$here/make_stubs.py" "$work/stubs" "$here/protos" "$root/src/hosts/Corfu.Grpc.Protocol/protos" || exit 1
case " ${checks[*]-} " in *' --list '*) "$python" -m conformance "${checks[@]}"; exit ;; esac

# Any node may be killed: a spare takes the place of a unit, and another sequencer stands by.
"$tool" cluster up --dir "$work/cluster" --grpc --grpc-allow trims --units 3 --replicas 2 --spares 1 --sequencers 2 || exit 1
"$python" -m conformance --tool "$tool" --dir "$work/cluster" "${checks[@]}"
