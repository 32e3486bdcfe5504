#!/usr/bin/env bash
# Publishes tests/hosts/Corfu.AotClient as a native program, with every trim and AOT warning but MessagePack's own an error, and runs it on a
# cluster of processes. Needs a linker (clang or gcc) and zlib's headers, and installs them where it may (root, apt). The last line says
# what came of it; exit code 1 if it failed. --no-build takes the tool (corfu) as it is built.
set -u -o pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1 MSBUILDTERMINALLOGGER=off
cli=src/hosts/Corfu.Cli/bin/Release/net10.0/corfu.dll
work=$(mktemp -d)

finish() { # LINE CODE
    if [ -d "$work/cluster" ]; then dotnet "$cli" cluster down --dir "$work/cluster" >/dev/null 2>&1; fi
    rm -rf "$work"
    printf 'native client: %s\n' "$1"
    exit "$2"
}

linker() {
    local name
    for name in clang gcc; do command -v "$name" >/dev/null && { echo "$name"; return; }; done
}

has_zlib() { echo '#include <zlib.h>' | "$1" -E - >/dev/null 2>&1; }

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) rid=linux-x64 ;;
    Linux-aarch64) rid=linux-arm64 ;;
    *) finish "skipped: not tried on $(uname -s) $(uname -m)" 0 ;;
esac
if [ -z "$(linker)" ] || ! has_zlib "$(linker)"; then
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y -q clang zlib1g-dev >"$work/apt.log" 2>&1 ||
            { apt-get update -q && apt-get install -y -q clang zlib1g-dev; } >"$work/apt.log" 2>&1
    fi
fi
cc=$(linker)
if [ -z "$cc" ]; then finish 'skipped: no linker (clang or gcc), and none could be installed' 0; fi
if ! has_zlib "$cc"; then finish 'skipped: no headers of zlib, and none could be installed' 0; fi

if [ "${1:-}" != --no-build ]; then dotnet build -c Release -v quiet src/hosts/Corfu.Cli || finish 'FAILED: build' 1; fi
# A native program has packages of its own: lock files of its own too.
dotnet publish -c Release -r "$rid" -p:Native=true -p:NuGetLockFilePath=obj/packages.native.lock.json \
    -p:CppCompilerAndLinker="$cc" tests/hosts/Corfu.AotClient -o "$work/native" \
    >"$work/publish.log" 2>&1 || { cat "$work/publish.log"; finish 'FAILED: publish' 1; }
dotnet "$cli" cluster up --dir "$work/cluster" --units 2 --replicas 2 >"$work/up.log" 2>&1 ||
    { cat "$work/up.log"; finish 'FAILED: cluster up' 1; }
connection=$(grep -o 'corfu://[^ ]*' "$work/up.log" | head -n 1)
expected=$'rejected: 1 of \'tea\' are missing\nleft=6 order=tea*4\nnote=kept'
for run in 1 2; do
    said=$(timeout --kill-after=5 60 "$work/native/Corfu.AotClient" "$connection" 2>&1)
    if [ "$said" != "$expected" ]; then printf '%s\n' "$said"; finish "FAILED: run $run" 1; fi
done
finish "ok, $(($(stat -c %s "$work/native/Corfu.AotClient") >> 20)) MB" 0
