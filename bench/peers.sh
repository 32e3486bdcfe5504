#!/usr/bin/env bash
# The same durable writes and linearizable reads on redis, etcd, ZooKeeper and this project, on this machine, each alone.
#   bench/peers.sh [--quick] [--no-install] [--no-build] [options of bench/Corfu.Peers: --help]
# Missing peers are installed from Debian's packages where that is allowed; without them the rest runs. The services that such a
# package may start are neither used nor touched: every server here is started anew, on free ports and new data.
# The last line is peers=N compared=N: peers found, and peers measured in full. Exit code 1 if a system could not be measured.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDTERMINALLOGGER=off

command="bench/peers.sh${*:+ $*}"
install=yes build=yes arguments=()
for argument in "$@"; do
    case $argument in
        --no-install) install=no ;;
        --no-build) build=no ;;
        *) arguments+=("$argument") ;;
    esac
done

missing() { # PACKAGE FILE...: none of the files is there
    local package=$1 file
    shift
    for file in "$@"; do [ -e "$file" ] && return 1; done
    printf '%s\n' "$package"
}

# One by one: a package that cannot be had keeps none of the others away.
install_missing() {
    local packages package updated=no
    packages=$(
        missing redis-server /usr/bin/redis-server /usr/local/bin/redis-server
        missing etcd-server /usr/bin/etcd /usr/local/bin/etcd
        missing zookeeper /usr/share/java/zookeeper.jar
        missing strace /usr/bin/strace
    )
    [ -n "$packages" ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        printf 'not installed: %s (that needs root and apt-get)\n' "${packages//$'\n'/, }"
        return 0
    fi
    for package in $packages; do
        if [ "$updated" = no ]; then apt-get update -qq >/dev/null 2>&1; updated=yes; fi
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >"$work/apt.log" 2>&1 ||
            printf 'not installed: %s (%s)\n' "$package" "$(tail -n 1 "$work/apt.log")"
    done
}

# Servers end with the program. Where that was killed, those that name this run's own folder are left.
clean() {
    local entry
    for entry in /proc/[0-9]*; do
        if [ "${entry#/proc/}" != $$ ] && tr '\0' '\n' 2>/dev/null <"$entry/cmdline" | grep -qF -- "$work/"; then
            kill -TERM "${entry#/proc/}" 2>/dev/null
        fi
    done
    rm -rf "$work"
}

work=$(mktemp -d -t corfu-peers-XXXXXX) || exit 1
trap clean EXIT
[ "$install" = no ] || install_missing
if [ "$build" = yes ]; then
    dotnet build -c Release -v quiet bench/Corfu.Peers >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
fi
mkdir "$work/data"
bench/Corfu.Peers/bin/Release/net10.0/Corfu.Peers --dir "$work/data" --command "$command" ${arguments[@]+"${arguments[@]}"}
